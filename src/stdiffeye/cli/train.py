"""Train a preset on one or several stores; the run can be given to `generate`, `animate` and `evaluate`.

Example: stdiffeye train coarse-to-fine stores/osie stores/doves --out runs/mine --minutes 60
         stdiffeye train --list
         stdiffeye train freeview --show

Broken off, the same command with --resume goes on. Several processes: torchrun --nproc-per-node 2 -m stdiffeye train …
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class TrainArgs:
    preset: Positional[str] = ""
    """Name of a preset, or a YAML file like those in stdiffeye/presets."""
    stores: Positional[tuple[Path, ...]] = ()
    """Stores made by `stdiffeye prepare`; they may lack durations, raw samples or pictures."""
    out: Path | None = None
    """Folder of the run."""
    list: bool = False
    """Print the presets and what they are, and train nothing."""
    show: bool = False
    """Print the keys of the preset with their values and sentences, and train nothing."""
    set: tuple[str, ...] = ()
    """Changes to the preset: key=value …, as train.scanpath.steps=500."""
    resume: bool = False
    """Go on with the run in --out."""
    minutes: float | None = None
    """Stop after so many minutes of training, shared among the stages; those before --resume count, validation not."""
    only: str | None = None
    """Train this stage alone: scanpath or trajectory."""
    start_from: str | None = None
    """A shipped model or a run whose weights to begin with; by default the preset's own."""
    left_out: Path | None = None
    """A file made by `stdiffeye duplicates`: near-duplicates of held-out pictures are not trained on."""
    cache: Path | None = None
    """Where pictures' features are kept (default: the user's cache folder)."""
    device: str = "auto"
    """cpu, cuda, or auto."""
    tensorboard: bool = False
    """Also write TensorBoard logs (extra `log`)."""
    quiet: bool = False
    """Print nothing but errors."""


def after_interrupt(words: list[str], args: TrainArgs) -> str:
    """How an interrupted training goes on: with the command that is printed."""
    from stdiffeye.training.shipped import RUN_FILE

    if args.out is None or not (args.out / RUN_FILE).is_file():
        return "nothing was trained yet; run the same command again"
    command = shlex.join(["stdiffeye", "train", *words, *(() if args.resume else ("--resume",))])
    return f"a checkpoint is kept; go on with: {command}"


def run(args: TrainArgs) -> None:
    from stdiffeye.errors import InputError
    from stdiffeye.systems.preset_help import list_presets, show_preset
    from stdiffeye.systems.presets import load_preset
    from stdiffeye.training.run import train

    if args.list:
        print(list_presets())
        return
    if not args.preset:
        raise InputError("name a preset: `stdiffeye train --list` shows them")
    if args.show:
        print(show_preset(load_preset(args.preset, args.set)))
        return
    if args.out is None:
        raise InputError("say where the run goes: --out FOLDER")
    folder = train(
        args.preset,
        args.stores,
        args.out,
        changes=args.set,
        resume=args.resume,
        minutes=args.minutes,
        only=args.only,
        start_from=args.start_from,
        left_out=args.left_out,
        cache=args.cache,
        device=args.device,
        tensorboard=args.tensorboard,
        quiet=args.quiet,
    )
    if not args.quiet:
        print(f"The run is in {folder}: try `{next_command(folder, args.stores)}`")


def next_command(run: Path, stores: Sequence[Path]) -> str:
    """A command that works with the run as it is: a picture of the stores, and what the run can generate."""
    from stdiffeye.generation import load

    tuned = run / "encoder" / "best.safetensors"
    if tuned.is_file():
        return f"stdiffeye train coarse-to-fine {stores[0]} --set encoder=efficientnet-lite0:{tuned} --out runs/mine"
    words = ["stdiffeye", "generate", *_picture_and_task(stores), "--model", str(run), "--out", "gaze"]
    return shlex.join(words if load(run).generates_trajectories else [*words, "--no-trajectories"])


def _picture_and_task(stores: Sequence[Path]) -> list[str]:
    from stdiffeye.data.batches import stimuli_of
    from stdiffeye.data.store import Store

    stimuli = (one for store in stores for one in stimuli_of(Store.open(store), None) if one.picture is not None)
    first = next(stimuli, None)
    if first is None:
        return ["PICTURE"]
    return [str(first.picture), *(["--task", first.task] if first.task else [])]
