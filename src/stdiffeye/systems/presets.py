"""One configuration: a preset (YAML), changed by `key=value`, checked against the dataclasses that it fills.

A preset names its system, sets fields of the system's stages, and says how each stage is trained:

    system: coarse-to-fine
    about: Coarse to fine, the form that ships.
    stages: {scanpath: {sampling_steps: 25}}
    train: {scanpath: {learning_rate: 7.0e-4}}
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib.resources
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from stdiffeye import yaml_files
from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.systems.base import TrainableSystem
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.coarse_to_fine.trajectory_stage import TrajectoryStage
from stdiffeye.systems.deepgaze3 import DeepGaze3
from stdiffeye.systems.encoder_tuning import EncoderTuning
from stdiffeye.systems.gazeformer import Gazeformer
from stdiffeye.systems.gazexplain import GazeXplain
from stdiffeye.systems.hat import HAT
from stdiffeye.systems.st_diffeye.aligned import AlignedSTDiffEye
from stdiffeye.systems.st_diffeye.model import STDiffEye
from stdiffeye.systems.tpp_gaze import TPPGaze

Config = TypeVar("Config")

SYSTEMS: dict[str, dict[str, type[TrainableSystem]]] = {
    "coarse-to-fine": {"scanpath": ScanpathStage, "trajectory": TrajectoryStage},
    "st-diffeye": {"gaze": STDiffEye},
    "st-diffeye-aligned": {"gaze": AlignedSTDiffEye},
    "encoder": {"encoder": EncoderTuning},
    "deepgaze3": {"scanpath": DeepGaze3},
    "tpp-gaze": {"scanpath": TPPGaze},
    "hat": {"scanpath": HAT},
    "gazeformer": {"scanpath": Gazeformer},
    "gazexplain": {"scanpath": GazeXplain},
}
"""System → stage → the class that is trained; its configuration is the annotation of its constructor's `config`."""


@dataclass(frozen=True)
class TrainConfig:
    """How one stage is trained."""

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
    dataset_exponent: float = 0.5
    """How stores are mixed: each in proportion to (its pictures) to this power: 1 mixes by picture, 0 all alike."""
    accumulate: int = 1
    """Batches per step of the optimiser; on a processor every core is busy with one."""
    ema: float = 0.999
    """Memory of the running mean of the weights, which is what is validated and shipped."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    share: float = 1.0
    """This stage's share of a `--minutes` budget."""
    checkpoint_every: int = 200
    validate_every: int = 1000
    validate_stimuli: int = 20
    """Pictures that a validation takes; 0 for none, and the last weights are the ones that count."""
    validate_samples: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "learning_rate", "stimuli", "viewers", "accumulate", "checkpoint_every"):
            if not getattr(self, name) > 0:
                raise InputError(f"train.{name} must be positive, got {getattr(self, name)!r}")


@dataclass(frozen=True)
class SystemConfig:
    """Everything that makes a run: what is trained, how, and its encoder."""

    system: str
    about: str = ""
    encoder: str = "efficientnet-lite0"
    """The encoder of pictures (`stdiffeye features --encoder …`)."""
    text: str = "words"
    """What reads the task's words: the shipped table with the sentence encoder, or clip:FOLDER."""
    start_from: str = ""
    """A shipped model or a run whose weights training begins with."""
    default_style: str = ""
    """Viewing style where none is requested; the first that was trained on by default."""
    stages: dict[str, Any] = field(default_factory=dict)
    """Stage → its configuration."""
    train: dict[str, TrainConfig] = field(default_factory=dict)
    """Stage → how it is trained."""

    def build(self) -> dict[str, TrainableSystem]:
        """The networks, fresh."""
        return {name: SYSTEMS[self.system][name](config) for name, config in self.stages.items()}


def presets() -> list[str]:
    """Names of the presets in the package."""
    folder = importlib.resources.files("stdiffeye") / "presets"
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_preset(name_or_path: str | Path, changes: Iterable[str] = ()) -> SystemConfig:
    """A preset by name or file, with `key=value` changes such as `stages.scanpath.sampling_steps=10`."""
    path = Path(name_or_path)
    with reading(path):
        if path.suffix == ".yaml" and path.is_file():
            text = path.read_text(encoding="utf-8")
        elif str(name_or_path) in presets():
            shipped = importlib.resources.files("stdiffeye") / "presets" / f"{name_or_path}.yaml"
            text = shipped.read_text(encoding="utf-8")
        else:
            raise InputError(f"there is no preset {str(name_or_path)!r}: {_near(str(name_or_path), presets())}")
        return system_config(changed(parse_yaml(text, str(name_or_path)), changes))


def changed(values: dict[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Plain values with `key=value` changes."""
    for change in changes:
        _set(values, change)
    return values


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    values = yaml_files.parse_yaml(text, where)
    if not isinstance(values, dict):
        raise InputError(f"{where} must be a mapping of keys to values")
    return values


def system_config(values: Mapping[str, Any]) -> SystemConfig:
    """Check plain values and fill the dataclasses."""
    system = values.get("system")
    if system not in SYSTEMS:
        raise InputError(f"there is no system {system!r}: {_near(str(system), SYSTEMS)}")
    keys = {name.name for name in dataclasses.fields(SystemConfig)}
    for key in values:
        if key not in keys:
            raise InputError(f"unknown key {key!r}: {_near(key, keys)}")
    stages, train = {}, {}
    for kind in ("stages", "train"):
        for stage in values.get(kind) or {}:
            if stage not in SYSTEMS[system]:
                raise InputError(f"{system!r} has no stage {stage!r} ({kind}): {_near(stage, SYSTEMS[system])}")
    for stage in SYSTEMS[system]:
        default = _config_class(SYSTEMS[system][stage])()
        stages[stage] = overlay(default, (values.get("stages") or {}).get(stage) or {}, f"stages.{stage}")
        train[stage] = overlay(TrainConfig(), (values.get("train") or {}).get(stage) or {}, f"train.{stage}")
    plain = {
        key: str(values[key]) for key in ("about", "encoder", "text", "start_from", "default_style") if key in values
    }
    return SystemConfig(system=system, stages=stages, train=train, **plain)


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
    keys = [f.name for f in dataclasses.fields(default)]  # type: ignore[arg-type]
    changed = {}
    for key, value in values.items():
        if key not in keys:
            raise InputError(f"unknown key {where}.{key}: {_near(str(key), keys)}")
        current = getattr(default, key)
        if dataclasses.is_dataclass(current):
            changed[key] = overlay(current, value, f"{where}.{key}")
        else:
            changed[key] = _as(types[key], value, f"{where}.{key}")
    return dataclasses.replace(default, **changed)  # type: ignore[type-var]


def _config_class(stage: Any) -> Any:
    return typing.get_type_hints(stage.__init__)["config"]


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
        raise InputError(f"--set takes key=value, such as train.scanpath.steps=500, not {change!r}")
    *path, last = key.strip().split(".")
    for name in path:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise InputError(f"--set {change}: {name} has no keys below it")
    values[last] = yaml_files.parse_yaml(text, f"--set {key.strip()}")


def _near(word: str, words: Iterable[str]) -> str:
    words = sorted(words)
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(words)}"
