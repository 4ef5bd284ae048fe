"""A run: a folder with its configuration (run.yaml) and one folder per stage."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import yaml

from stdiffeye.border import reading
from stdiffeye.data.store import Store
from stdiffeye.encoders import FeatureCache, picture_encoder, text_encoder
from stdiffeye.encoders.choose import located
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write, reserved, write_text
from stdiffeye.systems.base import BatchPlan, Sources, TrainableSystem
from stdiffeye.systems.presets import (
    SYSTEMS,
    SystemConfig,
    TrainConfig,
    changed,
    load_preset,
    parse_yaml,
    system_config,
    to_plain,
)
from stdiffeye.systems.step_random import Ranks
from stdiffeye.training.borrowed_stage import (
    copy_trajectory_stage,
    lacks_samples,
    lender_of,
    with_trajectory_stage,
    without_trajectory_stage,
)
from stdiffeye.training.card import write_card
from stdiffeye.training.checkpoint import load_weights
from stdiffeye.training.loop import LAST_FILE, Setting, fit
from stdiffeye.training.near_duplicates import leave_out
from stdiffeye.training.shipped import RUN_FILE, find_model, models_folder
from stdiffeye.training.validation import validator
from stdiffeye.version import __version__, commit

ENCODER_FILE = "encoder.safetensors"


def train(
    preset: str,
    stores: Sequence[str | Path],
    out: str | Path,
    changes: Iterable[str] = (),
    resume: bool = False,
    minutes: float | None = None,
    cpu_time: bool = False,
    only: str | None = None,
    start_from: str | Path | None = None,
    left_out: str | Path | None = None,
    cache: str | Path | None = None,
    device: str = "auto",
    tensorboard: bool = False,
    quiet: bool = False,
) -> Path:
    """Train a preset on stores.

    Parameters
    ----------
    preset : str
        Name or YAML file.
    stores : sequence of paths
        Stores that `prepare` made.
    out : path
        Folder of the run.
    changes : iterable of str
        `key=value`, as `train.scanpath.steps=500`.
    resume : bool
        Go on with the run in `out`; its own configuration is used, with `changes`.
    minutes : float, optional
        Budget of training, shared among the stages by their `share`; steps end it earlier. Validation is not counted;
        what a resumed run trained before is.
    cpu_time : bool
        Minutes of the processor instead of the clock, for fair comparisons on a busy machine.
    only : str, optional
        Train this stage alone ("scanpath", "trajectory").
    start_from : path or str, optional
        A run or shipped model whose weights the stages begin with (default: the preset's own); data sets new to it are
        added to its own.
    left_out : path, optional
        A file of `duplicates`: near-duplicates of held-out pictures, which are not trained on.
    cache : path, optional
        Where pictures' features are kept.
    device : str
        Where torch computes: "cpu", "cuda", or "auto" for a graphics card where there is one.
    tensorboard : bool
        Write the log for TensorBoard too.
    quiet : bool
        Show no progress.

    Returns
    -------
    Path
        The run's folder, which `load` takes.

    Raises
    ------
    InputError
        When there is no such preset, store, key or stage, or `out` holds a run that is not to be resumed.
    """
    out = Path(out)
    opened = _opened(stores, left_out)
    where, ranks = _device(device), _join_ranks()
    config = _with_own_encoder(_configuration(preset, opened, out, changes, resume, start_from), out, resume)
    opened = _learned_from(config, opened)
    config, names, notes = _with_borrowed(config, _trained_stages(config, only), opened, out)
    torch.manual_seed(config.train[names[0]].seed)  # the weights' first values
    stages = config.build()
    sources_of = _sources(config, opened, {name: stages[name] for name in names}, out, cache)
    for name in names:  # what does not fit is said before hours are spent on another stage
        notes += _check_fit(name, stages[name], sources_of[name], config.train[name], ranks)
        _load_beginning(name, stages[name], config.start_from, out)
    _wait_for_all(ranks)  # nobody may find the run file that another process has just written
    clock = time.process_time if cpu_time else time.monotonic
    with reserved(out, "training") if ranks.rank == 0 else nullcontext():
        if ranks.rank == 0:
            _write_run(out, config, preset, opened, notes, quiet)
        _fit(config, stages, sources_of, Setting(out, minutes, clock, ranks, where, quiet, tensorboard))
        if ranks.rank == 0:
            write_card(out, config, _with_weights(stages, out), opened, notes)
    _leave_ranks(ranks)
    return out


def _opened(stores: Sequence[str | Path], left_out: str | Path | None) -> list[Store]:
    opened = leave_out((Store.open(path) for path in stores), left_out)
    if not opened:
        raise InputError("name at least one store: `stdiffeye prepare` makes them of data sets")
    return opened


def _fit(
    config: SystemConfig, stages: Mapping[str, TrainableSystem], sources_of: Mapping[str, Sources], whole: Setting
) -> None:
    """Train one stage after the other, each for its share of the minutes."""
    shares = sum(config.train[name].share for name in sources_of)
    for name, sources in sources_of.items():
        stage, settings = stages[name], config.train[name]
        minutes = None if whole.minutes is None else whole.minutes * settings.share / shares
        setting = replace(whole, folder=whole.folder / name, minutes=minutes)
        fit(name, stage, sources, settings, setting, validator(stage, sources, settings))


def _with_weights(stages: Mapping[str, TrainableSystem], out: Path) -> dict[str, TrainableSystem]:
    return {name: stage for name, stage in stages.items() if (out / name).is_dir()}


def _trained_stages(config: SystemConfig, only: str | None) -> list[str]:
    if only and only not in config.stages:
        raise InputError(f"{config.system} has no stage {only!r}: it has {', '.join(config.stages)}")
    return [only] if only else list(config.stages)


def _load_beginning(name: str, stage: TrainableSystem, start_from: str, out: Path) -> None:
    """The weights that training begins with, where a run or model is named and this one has none yet."""
    if start_from and not (out / name / LAST_FILE).is_file():
        load_weights(_begun_in(find_model(start_from), name, stage.begins_as), stage, grown=True)


def _with_borrowed(
    config: SystemConfig, names: list[str], stores: Sequence[Store], out: Path
) -> tuple[SystemConfig, list[str], list[str]]:
    """Configuration, stages to train and notes, where a stage is taken from a shipped model for want of samples."""
    if names == ["scanpath"] or not lacks_samples(config, stores):
        return config, names, []
    names, lender = without_trajectory_stage(names, stores), lender_of(config)
    return with_trajectory_stage(config, read_run(lender)), names, [copy_trajectory_stage(lender, out)]


def _check_fit(name: str, stage: TrainableSystem, sources: Sources, config: TrainConfig, ranks: Ranks) -> list[str]:
    """Whether a stage can be trained on these stores; and what is worth saying of them (synthesised samples)."""
    if config.stimuli % ranks.world:
        raise InputError(
            f"{ranks.world} processes cannot share {config.stimuli} stimuli evenly: "
            f"set train.{name}.stimuli to a multiple of {ranks.world}"
        )
    plan = BatchPlan(config.stimuli, config.viewers, config.seed, ranks)
    return list(getattr(stage.batches(sources, "train", plan, augment=True), "notes", []))


def read_run(folder: Path, changes: Iterable[str] = ()) -> SystemConfig:
    """The configuration of a run or of a shipped model, with `key=value` changes."""
    path = folder / RUN_FILE
    if not path.is_file():
        raise InputError(f"{folder} is no run: it has no {RUN_FILE}; `stdiffeye train` makes one")
    with reading(path):
        values = parse_yaml(path.read_text(encoding="utf-8"), str(path))
        values = {key: value for key, value in values.items() if key != "made"}
        return system_config(changed(values, changes))


def weights_file(folder: Path, stage: str) -> Path:
    """A stage's best weights, or its last ones, or those of a shipped model."""
    choices = [
        folder / stage / "best.safetensors",
        folder / stage / "last.safetensors",
        folder / f"{stage}.safetensors",
    ]
    for path in choices:
        if path.is_file():
            return path
    raise InputError(f"{folder} has no weights of {stage!r}: expected {choices[0]}; was its training broken off early?")


def _begun_in(folder: Path, stage: str, begins_as: str) -> Path:
    """The weights that a stage begins with: its own, or those of the stage that it has grown from."""
    try:
        return weights_file(folder, stage)
    except InputError:
        if not begins_as:
            raise
        return weights_file(folder, begins_as)


def _configuration(
    preset: str,
    stores: Sequence[Store],
    out: Path,
    changes: Iterable[str],
    resume: bool,
    start_from: str | Path | None,
) -> SystemConfig:
    if resume:
        return read_run(out, changes)
    if (out / RUN_FILE).is_file():
        raise InputError(f"{out} holds a run already: go on with --resume, or choose another --out")
    changes = list(changes)
    config = load_preset(preset, changes)
    before: dict[str, Any] = {}
    if start_from or config.start_from:
        begun_in = find_model(start_from or config.start_from)
        begun = read_run(begun_in)
        config, before = replace(config, start_from=str(start_from or config.start_from)), begun.stages
        if config.encoder == SystemConfig.encoder:  # neither the preset nor a change names one
            config = replace(config, encoder=located(begun.encoder, begun_in))
    stages = {}
    stores = _learned_from(config, stores)
    for name, stage in config.stages.items():
        fills = hasattr(stage, "sets") and not stage.sets
        begun_as = before.get(name) or before.get(SYSTEMS[config.system][name].begins_as)
        stages[name] = _with_sets(stage, begun_as, stores) if fills else stage
    return replace(config, stages=stages)


def _learned_from(config: SystemConfig, stores: Sequence[Store]) -> list[Store]:
    """The stores without those that lack what the system learns: the order of fixations."""
    needs_order = any(SYSTEMS[config.system][stage].needs_order for stage in config.stages)
    learns_density = any(SYSTEMS[config.system][stage].learns_density for stage in config.stages)
    found = [store for store in stores if store.ordered or learns_density or not needs_order]
    if not any(store.ordered or not needs_order for store in found):
        names = ", ".join(store.dataset for store in stores)
        raise InputError(f"{config.system} learns the order of fixations, which {names} lacks: add a store that has it")
    return found


def _with_own_encoder(config: SystemConfig, out: Path, resume: bool) -> SystemConfig:
    """Tuned blocks of the encoder are kept with the run, which has no other encoder ever after."""
    kind, _, file = located(config.encoder, out if resume else Path()).partition(":")
    if kind != "efficientnet-lite0" or not file:
        return config
    choices = [
        Path(file),
        models_folder() / file,
    ]  # a preset names a shipped model's encoder as MODEL/encoder.safetensors
    tuned = next((path for path in choices if path.is_file()), None)
    if tuned is None:
        raise InputError(f"there is no {file}: expected an encoder's tuned blocks there")
    if not resume:
        with atomic_write(out / ENCODER_FILE) as temporary:
            shutil.copyfile(tuned, temporary)
    return replace(config, encoder=f"{kind}:{ENCODER_FILE}")


def _with_sets(stage: Any, before: Any, stores: Sequence[Store]) -> Any:
    """A stage's configuration with the sets that it knows already, those of these stores and viewing times."""

    def of_each(field: str, unknown: float, found: Callable[[Store], float]) -> dict[str, float]:
        sets: Sequence[str] = getattr(before, "sets", ())
        recorded = dict(zip(sets, [*getattr(before, field, ()), *[unknown] * len(sets)], strict=False))
        return recorded | {store.dataset: found(store) for store in stores}

    if hasattr(stage, "density_sets"):
        pooled = dict.fromkeys([*getattr(before, "density_sets", ()), *(s.dataset for s in stores if not s.ordered)])
        stage = replace(stage, density_sets=tuple(pooled))
        stores = [store for store in stores if store.ordered]
    viewing_s = of_each("viewing_s", np.nan, usual_viewing_s)
    filled = replace(stage, sets=tuple(viewing_s))
    if hasattr(stage, "viewing_s") and all(map(np.isfinite, viewing_s.values())):
        recorded_s = of_each("recorded_s", 0.0, usual_recording_s)
        filled = replace(filled, viewing_s=tuple(viewing_s.values()), recorded_s=tuple(recorded_s.values()))
    return filled


def usual_viewing_s(store: Store) -> float:
    given = store.columns["viewing_ms"][np.isfinite(store.columns["viewing_ms"])]
    return round(float(np.median(given)) / 1000, 3) if len(given) else float("nan")


def usual_recording_s(store: Store) -> float:
    """The usual length of recordings, most of which end with the viewing time; 0 where there are none."""
    points = store.columns["n_points"][np.asarray(store.columns["has_trajectory"] & ~store.columns["synthesised"])]
    return round(float(np.bincount(points).argmax()) / store.rate_hz, 4) if len(points) and store.rate_hz else 0.0


def _write_run(
    out: Path, config: SystemConfig, preset: str, stores: Sequence[Store], notes: Sequence[str], quiet: bool
) -> None:
    made: dict[str, Any] = {"by": f"stdiffeye {__version__}", "commit": commit(), "preset": str(preset)}
    made["stores"] = [{"dataset": store.dataset, "trials": len(store)} for store in stores]
    made["targets"] = sorted({task for store in stores for task in store.words["task"] if task})
    if notes:
        made["notes"] = list(notes)
    write_text(out / RUN_FILE, yaml.safe_dump(to_plain(config) | {"made": made}, sort_keys=False, allow_unicode=True))
    if not quiet:
        print("\n".join(f"note: {note}" for note in notes), end="\n" if notes else "", file=sys.stderr)


def _sources(
    config: SystemConfig,
    stores: Sequence[Store],
    stages: Mapping[str, TrainableSystem],
    out: Path,
    cache: str | Path | None,
) -> dict[str, Sources]:
    """What each stage learns from."""
    config = replace(config, encoder=located(config.encoder, out))
    return {name: data_sources(config, stores, cache, stage.needs_pictures) for name, stage in stages.items()}


def data_sources(config: SystemConfig, stores: Sequence[Store], cache: str | Path | None, pictures: bool) -> Sources:
    if not pictures:
        return Sources(stores)
    tasks = any(word for store in stores for word in store.words["task"])
    features = FeatureCache(picture_encoder(config.encoder), cache)
    return Sources(stores, features, text_encoder(config.text) if tasks else None)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):  # torch was built without it, or does not know the word
        raise InputError(f"there is no device {name!r} here: choose cpu, cuda or auto") from None
    return device


def _join_ranks() -> Ranks:
    """As torchrun and accelerate start processes: RANK and WORLD_SIZE in the environment."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return Ranks()
    if not dist.is_initialized():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return Ranks(dist.get_rank(), world)


def _wait_for_all(ranks: Ranks) -> None:
    if ranks.world > 1:
        dist.barrier()


def _leave_ranks(ranks: Ranks) -> None:
    if ranks.world > 1:
        dist.destroy_process_group()
