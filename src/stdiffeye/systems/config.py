"""One configuration: a preset (YAML), changed by `key=value`, checked against the dataclasses that it fills.

A preset names its system, sets fields of the system's parts, and says how each part is trained:

    system: compact
    about: Coarse to fine, the form that ships.
    parts: {coarse: {sampling_steps: 25}}
    train: {coarse: {learning_rate: 7.0e-4}}
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.resources
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from stdiffeye.errors import InputError
from stdiffeye.systems.part import Part

Config = TypeVar("Config")

# system → part → the class that is trained; its `Config` is read from its constructor's annotation.
SYSTEMS: dict[str, dict[str, str]] = {
    "compact": {"coarse": "stdiffeye.systems.coarse:Coarse", "fine": "stdiffeye.systems.fine:Fine"},
    "tokens": {"tokens": "stdiffeye.systems.tokens:Tokens"},
    "encoder": {"looking": "stdiffeye.systems.looking:Looking"},
    "deepgaze3": {"scanpath": "stdiffeye.baselines.deepgaze3:DeepGaze3"},
    "tpp-gaze": {"scanpath": "stdiffeye.baselines.tpp_gaze:TPPGaze"},
    "hat": {"scanpath": "stdiffeye.baselines.hat:HAT"},
    "gazeformer": {"scanpath": "stdiffeye.baselines.gazeformer:Gazeformer"},
    "gazexplain": {"scanpath": "stdiffeye.baselines.gazexplain:GazeXplain"},
}


@dataclass(frozen=True)
class TrainConfig:
    """How one part is trained."""

    steps: int = 20_000
    learning_rate: float = 7e-4
    weight_decay: float = 0.01
    warm_up: int = 100
    """Steps over which the learning rate rises, or a tenth of the training where that is shorter."""
    decay_share: float = 0.25
    """Last share of the training over which the learning rate falls to zero (a half cosine)."""
    stimuli: int = 16
    """Pictures per step."""
    viewers: int = 9
    """Trials per picture; they share its keys and values."""
    balance: float = 0.5
    """How stores are mixed: each in proportion to (its pictures) ** balance, so 1 mixes by picture and 0 all alike."""
    accumulate: int = 1
    """Batches per step of the optimiser; on a processor every core is busy with one."""
    ema: float = 0.999
    """Memory of the running mean of the weights, which is what is validated and shipped."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    share: float = 1.0
    """This part's share of a `--minutes` budget."""
    checkpoint_every: int = 200
    validate_every: int = 1000
    validate_stimuli: int = 20
    validate_samples: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "learning_rate", "stimuli", "viewers", "accumulate", "checkpoint_every"):
            if not getattr(self, name) > 0:
                raise InputError(f"train.{name} must be positive, got {getattr(self, name)!r}")


@dataclass(frozen=True)
class SystemConfig:
    """Everything that makes a run: what is trained, how, and what it looks with."""

    system: str
    about: str = ""
    encoder: str = "efficientnet-lite0"
    """What looks at pictures (`stdiffeye features --encoder …`)."""
    text: str = "words"
    """What reads the task's words: the shipped table with the sentence encoder, or clip:FOLDER."""
    parts: dict[str, Any] = field(default_factory=dict)
    """Part → its configuration."""
    train: dict[str, TrainConfig] = field(default_factory=dict)
    """Part → how it is trained."""

    def build(self) -> dict[str, Part]:
        """The networks, fresh."""
        return {name: part_class(self.system, name)(config) for name, config in self.parts.items()}


def part_class(system: str, part: str) -> Any:
    module, name = SYSTEMS[system][part].split(":")
    return getattr(importlib.import_module(module), name)


def presets() -> list[str]:
    """Names of the presets in the package."""
    folder = importlib.resources.files("stdiffeye") / "presets"
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_preset(name_or_path: str | Path, changes: Iterable[str] = ()) -> SystemConfig:
    """A preset by name or file, with `key=value` changes such as `parts.coarse.sampling_steps=10`."""
    path = Path(name_or_path)
    if path.suffix == ".yaml" and path.is_file():
        text = path.read_text(encoding="utf-8")
    elif str(name_or_path) in presets():
        text = (importlib.resources.files("stdiffeye") / "presets" / f"{name_or_path}.yaml").read_text(encoding="utf-8")
    else:
        raise InputError(f"there is no preset {str(name_or_path)!r}: {_near(str(name_or_path), presets())}")
    return system_config(changed(parse_yaml(text, str(name_or_path)), changes))


def changed(values: dict[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Plain values with `key=value` changes."""
    for change in changes:
        _set(values, change)
    return values


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{where} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise InputError(f"{where} must be a mapping of keys to values")
    return values


def system_config(values: Mapping[str, Any]) -> SystemConfig:
    """Check plain values and fill the dataclasses."""
    system = values.get("system")
    if system not in SYSTEMS:
        raise InputError(f"there is no system {system!r}: {_near(str(system), SYSTEMS)}")
    known = {name.name for name in dataclasses.fields(SystemConfig)}
    for key in values:
        if key not in known:
            raise InputError(f"unknown key {key!r}: {_near(key, known)}")
    parts, train = {}, {}
    for kind in ("parts", "train"):
        for part in values.get(kind) or {}:
            if part not in SYSTEMS[system]:
                raise InputError(f"{system!r} has no part {part!r} ({kind}): {_near(part, SYSTEMS[system])}")
    for part in SYSTEMS[system]:
        default = _config_class(part_class(system, part))()
        parts[part] = overlay(default, (values.get("parts") or {}).get(part) or {}, f"parts.{part}")
        train[part] = overlay(TrainConfig(), (values.get("train") or {}).get(part) or {}, f"train.{part}")
    plain = {key: str(values[key]) for key in ("about", "encoder", "text") if key in values}
    return SystemConfig(system=system, parts=parts, train=train, **plain)


def to_plain(config: SystemConfig) -> dict[str, Any]:
    """The same as plain values, for YAML."""

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return list(value) if isinstance(value, tuple) else value

    return dict(plain(config))


def overlay(default: Config, values: Mapping[str, Any], where: str) -> Config:
    """`default` with some fields replaced, nested ones included; unknown keys and wrong types are errors."""
    if not isinstance(values, Mapping):
        raise InputError(f"{where} must be a mapping of keys to values, got {values!r}")
    types = typing.get_type_hints(type(default))
    known = [f.name for f in dataclasses.fields(default)]  # type: ignore[arg-type]
    changed = {}
    for key, value in values.items():
        if key not in known:
            raise InputError(f"unknown key {where}.{key}: {_near(str(key), known)}")
        current = getattr(default, key)
        if dataclasses.is_dataclass(current):
            changed[key] = overlay(current, value, f"{where}.{key}")
        else:
            changed[key] = _as(types[key], value, f"{where}.{key}")
    return dataclasses.replace(default, **changed)  # type: ignore[type-var]


def _config_class(part: Any) -> Any:
    return typing.get_type_hints(part.__init__)["config"]


def _as(kind: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is Literal:
        choices = typing.get_args(kind)
        if value in choices:
            return value
        raise InputError(f"{where} is one of {', '.join(map(str, choices))}, not {value!r}")
    if origin is tuple:
        inner = typing.get_args(kind)[0]
        if isinstance(value, list | tuple):
            return tuple(_as(inner, item, where) for item in value)
    elif kind is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)  # YAML reads 1e-4, without a point, as text
        except ValueError:
            pass
    elif isinstance(kind, type) and isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise InputError(f"{where} takes {getattr(kind, '__name__', kind)}, not {value!r}")


def _set(values: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals:
        raise InputError(f"--set takes key=value, such as train.coarse.steps=500, not {change!r}")
    *path, last = key.strip().split(".")
    for name in path:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise InputError(f"--set {change}: {name} has no keys below it")
    values[last] = yaml.safe_load(text)


def _near(word: str, words: Iterable[str]) -> str:
    words = sorted(words)
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(words)}"
