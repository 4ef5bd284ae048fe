"""Draw gaze: over its picture, as a density, over time, or people and systems side by side.

FILE is a gaze file (JSON, CSV, Parquet …) or a store. Give NAME=FILE several times to compare systems.

Example: stdiffeye plot gaze.json --picture photo.jpg --out gaze.png
         stdiffeye plot gaze.json --kind trace --name photo.jpg --subject 3 --out trace.pdf
         stdiffeye plot human=human.json ours=ours.json --picture stimuli --out multiples.pdf
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tyro.conf import Positional

from stdiffeye.errors import InputError

if TYPE_CHECKING:
    from stdiffeye.gaze import Trial

MOST_VIEWERS = {"scanpath": 1, "trajectory": 1, "trace": 1, "density": None, "multiples": 1}


@dataclass
class Args:
    gaze: Positional[tuple[str, ...]]
    """FILE, or NAME=FILE of several systems."""
    picture: Path | None = None
    """The picture, or a folder of pictures named like the stimuli."""
    kind: Literal["scanpath", "trajectory", "density", "trace", "multiples"] | None = None
    """What to draw (default: trajectory where there is one, else scanpath; several files: multiples)."""
    name: str | None = None
    """Stimulus to show (default: the first; multiples: the first six)."""
    task: str | None = None
    """Task of the stimulus, where it has several."""
    subject: tuple[str, ...] = ()
    """Only these viewers."""
    viewers: int | None = None
    """How many viewers at once (default: one; density: all)."""
    colour: Literal["time", "sample"] | None = None
    """Colour by time or by viewer."""
    fit: Literal["stretch", "letterbox", "centre"] | None = None
    """How the picture lies in the gaze's frame, where their shapes differ."""
    split: str | None = None
    """Only this split (train, validation, test)."""
    dpi: float = 150
    """Resolution of PNG."""
    out: Path = Path("gaze.png")
    """File to write: .png, .pdf or .svg."""


def run(args: Args) -> int:
    from stdiffeye.data.read import read_trials
    from stdiffeye.plot import save

    files = named_files(args.gaze)
    kind = args.kind or ("multiples" if len(files) > 1 else None)
    if kind != "multiples" and len(files) > 1:
        raise InputError(f"--kind {kind} draws one file, got {len(files)}: use --kind multiples")
    trials = {name: read_trials(path, args.split) for name, path in files.items()}
    figure = _multiples(args, trials) if kind == "multiples" else _single(args, kind, next(iter(trials.values())))
    print(f"Look at {save(figure, args.out, args.dpi)}")
    return 0


def named_files(words: tuple[str, ...]) -> dict[str, Path]:
    """`NAME=FILE` or `FILE`, which is named after the file."""
    if not words:
        raise InputError("which gaze? Give FILE or NAME=FILE")
    found: dict[str, Path] = {}
    for word in words:
        name, equals, path = word.partition("=")
        if not equals or Path(word).exists():
            name, path = Path(word).stem, word
        if name in found:
            raise InputError(f"two files are called {name!r}: name them apart with NAME=FILE")
        found[name] = Path(path)
    return found


def _single(args: Args, kind: str | None, trials: list[Trial]) -> Any:
    from stdiffeye.plot import draw, trace, traces
    from stdiffeye.plot.choice import choose
    from stdiffeye.plot.multiples import picture_of

    viewers = args.viewers if args.viewers is not None else MOST_VIEWERS.get(kind or "scanpath")
    if args.subject and args.viewers is None:
        viewers = None
    chosen = choose(trials, args.name, args.task, viewers, args.subject)
    if kind == "trace":
        return trace(chosen[0]) if len(chosen) == 1 else traces(chosen, titles=[trial.subject for trial in chosen])
    return draw(chosen, picture_of(args.picture, chosen[0].name), kind=kind, colour=args.colour, fit=args.fit)


def _multiples(args: Args, systems: dict[str, list[Trial]]) -> Any:
    from stdiffeye.plot import multiples

    stimuli = None
    if args.name is not None:
        keys = [trial.key for trial in next(iter(systems.values())) if trial.name == args.name]
        stimuli = [key for key in dict.fromkeys(keys) if args.task in (None, key[1])]
        if not stimuli:
            raise InputError(f"there is no stimulus {args.name!r} in {next(iter(systems))}")
    return multiples(
        systems,
        args.picture,
        stimuli,
        args.viewers or 1,
        fit=args.fit,
        **({"colour": args.colour} if args.colour else {}),
    )
