"""Make a small model of a run, to keep or to hand on: configuration and half-precision weights.

Example: stdiffeye export runs/mine --out mine
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class ExportArgs:
    run: Positional[Path]
    """The run's folder."""
    out: Path
    """Folder of the model."""


def run(args: ExportArgs) -> None:
    from stdiffeye.training.release import export

    folder = export(args.run, args.out)
    print(f"The model is in {folder}: try `stdiffeye generate PICTURE --model {folder}`")
