"""Checkpoints: weights, their running mean and the optimiser's memory in one safetensors file, never a pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.optim import Optimizer

from stdiffeye.errors import InputError
from stdiffeye.systems.base import TrainableSystem
from stdiffeye.weight_files import read_weights, write_weights

FORMAT, VERSION = "stdiffeye-checkpoint", "1"


@dataclass
class Progress:
    """How far a system's training is."""

    step: int = 0
    seconds: float = 0.0
    best: float = float("-inf")


def save_checkpoint(
    path: Path, system: TrainableSystem, mean: TrainableSystem, optimiser: Optimizer, progress: Progress
) -> None:
    """All that a run needs to go on as if it had never stopped."""
    tensors = {f"weights.{name}": tensor for name, tensor in system.state_dict().items()}
    tensors |= {f"mean.{name}": tensor for name, tensor in mean.state_dict().items()}
    tensors |= {f"extra.{name}": tensor for name, tensor in system.extra_state().items()}
    names = [name for name, _ in system.named_parameters()]
    for index, memory in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{key}.{names[index]}": value for key, value in memory.items()}
    about = {"step": progress.step, "seconds": progress.seconds, "best": str(progress.best)}
    _save(path, tensors, about)


def load_checkpoint(path: Path, system: TrainableSystem, mean: TrainableSystem, optimiser: Optimizer) -> Progress:
    """Take a run up where it was."""
    tensors, about = _load(path)
    for prefix, network in (("weights.", system), ("mean.", mean)):
        _fill(path, network, _below(tensors, prefix))
    system.load_extra_state(_below(tensors, "extra."))
    memory = _below(tensors, "optimiser.")
    state = optimiser.state_dict()
    for index, (name, _) in enumerate(system.named_parameters()):
        entry = {key: memory[f"{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq") if f"{key}.{name}" in memory}
        if entry:
            state["state"][index] = entry
    optimiser.load_state_dict(state)
    return Progress(int(about["step"]), float(about["seconds"]), float(about["best"]))


def save_weights(
    path: Path, system: TrainableSystem, about: Mapping[str, object] | None = None, float16: bool = False
) -> None:
    """The weights alone, as a model is shipped; `float16` stores them in half precision."""
    state = {n: (t.half() if float16 and t.is_floating_point() else t) for n, t in system.state_dict().items()}
    _save(path, state, about or {})


def load_weights(path: Path, system: TrainableSystem, grown: bool = False) -> dict[str, str]:
    """Fill a system with weights; returns what the file says of itself.

    `grown` lets the system have more than the file: rows of further data sets, after those it has, and further layers
    keep their first values. The tuned blocks of a shipped model's encoder say nothing of themselves, and will do then.
    """
    tensors, about = _load(path, bare=grown)
    if any(name.startswith("mean.") for name in tensors):
        tensors = _below(tensors, "mean.")
    _fill(path, system, _with_new_rows(system, system.grown_from(tensors)) if grown else tensors)
    return about


def _with_new_rows(system: TrainableSystem, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    expected = system.state_dict()
    longer = {
        name: torch.cat([tensor.to(expected[name].dtype), expected[name][len(tensor) :]])
        for name, tensor in tensors.items()
        if name in expected and tensor.ndim and tensor.shape[1:] == expected[name].shape[1:]
    }
    return expected | tensors | longer


def _fill(path: Path, system: TrainableSystem, tensors: dict[str, Tensor]) -> None:
    expected = system.state_dict()
    for name in sorted(expected.keys() ^ tensors.keys()):
        what = "lacks" if name in expected else "has an unknown"
        raise InputError(f"{path} does not fit its configuration: it {what} {name}; it was made with another one")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape:
            shapes = f"{tuple(tensor.shape)} instead of {tuple(expected[name].shape)}"
            raise InputError(f"{path} does not fit its configuration: {name} has shape {shapes}")
    system.load_state_dict({name: tensor.to(expected[name].dtype) for name, tensor in tensors.items()})


def _save(path: Path, tensors: dict[str, Tensor], about: Mapping[str, object]) -> None:
    write_weights(path, tensors, {"format": FORMAT, "version": VERSION, "about": json.dumps(about)})


def _load(path: Path, bare: bool = False) -> tuple[dict[str, Tensor], dict[str, str]]:
    if not path.is_file():
        raise InputError(f"there is no checkpoint {path}")
    tensors, metadata = read_weights(path)
    if bare and "format" not in metadata:
        return tensors, {}
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        found = f"{metadata.get('format')} {metadata.get('version')}"
        raise InputError(f"{path} is of another kind ({found}), this program reads {FORMAT} {VERSION}: train it again")
    return tensors, json.loads(metadata["about"])


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
