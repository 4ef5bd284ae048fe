"""The trajectory stage of a shipped model, for a run on sets that have no raw samples to learn one from."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.systems.coarse_to_fine.trajectory_stage import TrajectoryStage
from stdiffeye.systems.presets import SYSTEMS, SystemConfig
from stdiffeye.training.shipped import DEFAULT, find_model

STAGE = "trajectory"


def lacks_samples(config: SystemConfig, stores: Sequence[Store]) -> bool:
    """Whether the system has a trajectory stage, which learns from raw samples, and no store has any."""
    if SYSTEMS[config.system].get(STAGE) is not TrajectoryStage:
        return False
    return not any((store.columns["has_trajectory"] & ~store.columns["synthesised"]).any() for store in stores)


def without_trajectory_stage(names: Sequence[str], stores: Sequence[Store]) -> list[str]:
    """The stages that are trained where the trajectory stage is borrowed."""
    if list(names) == [STAGE]:
        sets = ", ".join(store.dataset for store in stores)
        raise InputError(
            f"the trajectory stage learns from raw samples, which {sets} lacks: add a store that has them (as doves), "
            "or train --only scanpath"
        )
    return [name for name in names if name != STAGE]


def with_trajectory_stage(config: SystemConfig, lender: SystemConfig) -> SystemConfig:
    """The configuration with the trajectory stage of another run, whose weights it takes."""
    return replace(config, stages=config.stages | {STAGE: lender.stages[STAGE]})


def lender_of(config: SystemConfig) -> Path:
    """The model whose trajectory stage is borrowed: the one that the run begins with, else the shipped one."""
    begun = find_model(config.start_from) if config.start_from else None
    return begun if begun is not None and (begun / f"{STAGE}.safetensors").is_file() else find_model(DEFAULT)


def copy_trajectory_stage(lender: Path, out: Path) -> str:
    """Put the weights into a run, where `generate` finds them; returns the note on it."""
    with atomic_write(out / f"{STAGE}.safetensors") as temporary:
        shutil.copyfile(lender / f"{STAGE}.safetensors", temporary)
    return (
        "the stores have no raw samples, so the scanpath stage alone is trained; "
        f"the trajectory stage is that of the shipped model {lender.name}"
    )
