"""Compare how people and systems move their eyes: distributions, distances, figures.

Always: saccade amplitude and direction, angle between saccades, fixation duration, number of fixations. Where all
sides have raw gaze: kinematics with the main sequence. Where trials have target boxes: visual search.

Example: stdiffeye stats --human human.json --generated ours=ours.json theirs=theirs.json --out stats
         stdiffeye stats --human store --split test --generated ours=ours.json --saliency --skip-first 1
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from stdiffeye.gaze import Trial

Sides = dict[str, list["Trial"]]


@dataclass
class Args:
    human: Path
    """Gaze of people: a file or a store."""
    generated: tuple[str, ...] = ()
    """NAME=FILE of each system."""
    out: Path = Path("stats")
    """Folder for statistics.json, statistics.md and the figures (PNG and PDF)."""
    unit: Literal["auto", "deg", "px"] = "auto"
    """Unit of lengths; auto = degrees where all frames know them, else px of 512×384."""
    kinematics: bool = False
    """Insist on the movements of raw gaze, which are there anyway where all sides have raw gaze at one rate."""
    search: bool = False
    """Insist on visual search, which is there anyway where the humans' trials have target boxes."""
    saliency: bool = False
    """The same gaze as a saliency map: NSS, CC, AUC-Judd, KLdiv, IG."""
    skip_first: int = 0
    """Leading fixations that the saliency view leaves out, 1 where the first is central by design."""
    split: str | None = None
    """Only this split of the humans (train, validation, test)."""
    json: bool = False
    """Print the numbers as JSON."""
    quiet: bool = False
    """Print only where the results are."""


def run(args: Args) -> int:
    from stdiffeye.cli.evaluate import read
    from stdiffeye.cli.plot import named_files
    from stdiffeye.files import write_json, write_text
    from stdiffeye.plot import save

    files = named_files(args.generated) if args.generated else {}
    human = read(args.human, split=args.split)
    generated = {name: read(path, human) for name, path in files.items()}
    numbers, figures, table = statistics(human, generated, args)
    write_json(args.out / "statistics.json", numbers)
    write_text(args.out / "statistics.md", table + "\n")
    for name, figure in figures.items():
        for suffix in (".png", ".pdf"):
            save(figure, args.out / f"{name}{suffix}")
    if args.json:
        print(json.dumps(numbers, ensure_ascii=False, allow_nan=False))
        return 0
    if not args.quiet:
        print(table)
    print(f"Look at {args.out / 'distributions.png'}; the numbers are in {args.out / 'statistics.json'}")
    return 0


def statistics(human: list[Trial], generated: Sides, args: Args) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Everything that was asked for: numbers for JSON, figures by name, a table in Markdown."""
    from stdiffeye import plot, stats

    comparison = stats.compare(human, generated, args.unit)
    numbers: dict[str, Any] = {"distributions": comparison.to_json()}
    figures: dict[str, Any] = {"distributions": plot.distributions(comparison)}
    parts = [comparison.to_markdown()]
    if args.kinematics or _all_raw({"human": human, **generated}):
        sides = {name: stats.kinematics(trials) for name, trials in {"human": human, **generated}.items()}
        distances = {name: without_nan(sides[name].distance_to(sides["human"])) for name in generated}
        numbers["kinematics"] = {name: one.to_json() for name, one in sides.items()}
        numbers["kinematics_distance"] = distances
        figures["kinematics"] = plot.motion(sides)
        parts.append(_rows("kinematics, distance to humans", distances))
    if args.search or any(trial.target_box_px for trial in human):
        found = stats.search.compare(human, generated)
        numbers["search"] = {name: one.to_json() for name, one in found.items()}
        figures["search"] = plot.search_curves(found)
        parts.append(_rows("visual search", numbers["search"]))
    if args.saliency:
        scores = stats.saliency.compare(human, generated, args.skip_first)
        numbers["saliency"] = {name: one.to_json() for name, one in scores.items()}
        parts.append(_rows("saliency view", numbers["saliency"]))
    return numbers, figures, "\n\n".join(part for part in parts if part)


def without_nan(row: dict[str, float]) -> dict[str, float | None]:
    """JSON has no word for NaN."""
    return {name: None if value != value else value for name, value in row.items()}


def _all_raw(sides: Sides) -> bool:
    """Whether kinematics can be measured: raw gaze everywhere, at one rate, with degrees known."""
    raw = [trial.trajectory for trials in sides.values() for trial in trials]
    rates = {trajectory.rate_hz for trajectory in raw if trajectory is not None}
    return len(rates) == 1 and all(one is not None and one.frame.px_per_degree is not None for one in raw)


def _rows(title: str, rows: dict[str, Any]) -> str:
    """A table of the plain numbers, one row per side; curves are left to the figures."""
    if not rows:
        return ""
    names = [name for name, value in next(iter(rows.values())).items() if not isinstance(value, list)]
    lines = [f"| {title} | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    lines += [f"| {side} | {' | '.join(_cell(row[name]) for name in names)} |" for side, row in rows.items()]
    return "\n".join(lines)


def _cell(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{round(value, 6) + 0.0:.4g}"
