"""Calibrate a diffusion model's density of the next fixation, for likelihoods; what it generates does not change.

Example: stdiffeye calibrate runs/mine stores/osie stores/crowd
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg


@dataclass
class CalibrateArgs:
    model: Positional[Annotated[str, arg(metavar="MODEL")]]
    """A run's folder, or a shipped model; its run.yaml is changed."""
    stores: Positional[Annotated[tuple[Path, ...], arg(metavar="STORE …")]]
    """Stores whose validation trials are used."""
    pictures: int = 40
    """Pictures of each store."""
    viewers: int = 3
    """Viewers of each picture."""
    quiet: bool = False
    """Print only where the result is."""


def run(args: CalibrateArgs) -> None:
    from stdiffeye.generation.calibration import calibrate
    from stdiffeye.training.shipped import RUN_FILE

    made = calibrate(args.model, args.stores, args.pictures, args.viewers, args.quiet)
    if not args.quiet:
        print(made)
    print(f"The calibration is in {made.folder / RUN_FILE}")
