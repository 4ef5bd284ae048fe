"""Train a preset on one or several stores; the run can be given to `generate`, `animate` and `evaluate`.

Example: stdiffeye train compact stores/osie stores/doves --out runs/mine --minutes 60

Broken off, the same command with --resume goes on. Several processes: torchrun --nproc-per-node 2 -m stdiffeye train …
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class Args:
    preset: Positional[str]
    """Name of a preset, or a YAML file like those in stdiffeye/presets."""
    stores: Positional[tuple[Path, ...]]
    """Stores made by `stdiffeye prepare`; they may lack durations, raw samples or pictures."""
    out: Path
    """Folder of the run."""
    set: tuple[str, ...] = ()
    """Changes to the preset: key=value …, as train.coarse.steps=500."""
    resume: bool = False
    """Go on with the run in --out."""
    minutes: float | None = None
    """Stop after so many minutes of training, shared among the parts; validation comes on top."""
    only: str | None = None
    """Train this part alone: coarse or fine."""
    start_from: Path | None = None
    """A run whose weights to begin with."""
    cache: Path | None = None
    """Where pictures' features are kept (default: the user's cache folder)."""
    device: str = "auto"
    """cpu, cuda, or auto."""
    tensorboard: bool = False
    """Also write TensorBoard logs (extra `log`)."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: Args) -> None:
    from stdiffeye.train.run import train

    folder = train(
        args.preset,
        args.stores,
        args.out,
        changes=args.set,
        resume=args.resume,
        minutes=args.minutes,
        only=args.only,
        start_from=args.start_from,
        cache=args.cache,
        device=args.device,
        tensorboard=args.tensorboard,
        quiet=args.quiet,
    )
    if not args.quiet:
        tuned = folder / "looking" / "best.safetensors"
        use = f"generate PICTURE --model {folder}"
        if tuned.is_file():
            use = f"train compact STORE --set encoder=efficientnet-lite0:{tuned}"
        print(f"The run is in {folder}: try `stdiffeye {use}`")
