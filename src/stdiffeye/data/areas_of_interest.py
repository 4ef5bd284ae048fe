"""The verb `aoi`: gaze files and a file of areas in; tables and figures of the areas of interest out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stdiffeye.data.area_options import AoiOptions
from stdiffeye.data.read import read_trials
from stdiffeye.errors import InputError
from stdiffeye.files import write_json
from stdiffeye.gaze import Trial
from stdiffeye.gaze.areas import Areas
from stdiffeye.io.area_files import read_areas
from stdiffeye.io.pictures import find_picture
from stdiffeye.io.tidy_csv import write_rows
from stdiffeye.plotting.area_figures import area_figures, design_differences
from stdiffeye.plotting.canvas import save
from stdiffeye.progress import track
from stdiffeye.statistics.aoi import AreaReport, DesignDifference, measure_areas

File = str | Path
MOST_DRAWN = 20  # pictures that get figures


def aoi(
    gaze: File | Sequence[Trial] | Mapping[str, File | Sequence[Trial]],
    areas: File | Areas | Mapping[str, Areas],
    out: File | None = None,
    picture: File | None = None,
    options: AoiOptions | None = None,
    quiet: bool = True,
    **fields: Any,
) -> AreaReport:
    """Measure what viewers do with areas of interest, people beside generated viewers.

    Parameters
    ----------
    gaze : path, sequence of Trial, or dict of str to either
        Gaze files or stores by the name of their viewers, {"human": …, "ours": …}; others are compared with the first.
    areas : path, Areas, or dict of str to Areas
        A JSON file, a label mask, a folder of these; or areas in memory, for all pictures or by picture.
    out : path, optional
        Folder for tables (CSV), aoi.json and figures.
    picture : path, optional
        The picture, or a folder of pictures, to draw on; by default the trials' own.
    options : AoiOptions, optional
        Two designs to compare, a difference to plan for, split, bootstrap, figures.
    quiet : bool
        No progress.
    **fields
        Fields of `AoiOptions` that differ, as `designs=("old.png", "new.png"), needed="dwell_ms=200"`.

    Returns
    -------
    AreaReport
        Prints as tables; its methods give rows.

    Raises
    ------
    InputError
        Where a file cannot be read, no picture has areas, or a design or measure is not known.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath
    >>> path = Scanpath([[20, 30], [70, 50]], Frame(100, 80), [200, 300])
    >>> trials = [Trial("a.png", subject, path) for subject in "12"]
    >>> report = aoi({"human": trials}, Areas.boxes({"left": (0, 0, 50, 80)}))
    >>> report.summary()[0]["measure"], report.summary()[0]["value"]
    ('hit', 1.0)
    """
    options = replace(options or AoiOptions(), **fields)
    sources: Mapping[str, Any] = gaze if isinstance(gaze, Mapping) else {_name(gaze): gaze}
    groups = {name: read_trials(one, options.split) if isinstance(one, File) else one for name, one in sources.items()}
    shapes = read_areas(areas) if isinstance(areas, File) else areas
    report = measure_areas(groups, shapes, replicates=options.replicates, seed=options.seed)
    if out is not None:
        write_tables(report, Path(out), options)
    if out is not None and options.plots:
        trials = [trial for several in groups.values() for trial in several]
        _draw(report, Path(out), trials, None if picture is None else Path(picture), quiet)
        if options.designs is not None:
            save(design_differences(report.designs(*options.designs), *options.designs), Path(out) / "designs.png")
    return report


def write_tables(report: AreaReport, out: Path, options: AoiOptions) -> None:
    """Write aoi.json and the tables as CSV: summary, compared, long, wide, transitions, designs, viewers needed."""
    tables = {"summary": report.summary(), "compared": report.compared(), "transitions": report.transitions()}
    if options.designs is not None:
        tables["designs"] = [_design_row(one) for one in report.designs(*options.designs)]
    if options.needed is not None:
        tables["viewers_needed"] = [asdict(one) for one in report.viewers_needed(*options.to_see())]
    kept = {name: rows for name, rows in tables.items() if rows}
    write_json(out / "aoi.json", {name: [_plain(row) for row in rows] for name, rows in kept.items()})
    for name, rows in (kept | {"long": report.long(), "wide": report.wide()}).items():
        write_rows(out / f"{name.replace('_', '-')}.csv", rows)


def _draw(report: AreaReport, out: Path, trials: Sequence[Trial], picture: Path | None, quiet: bool) -> None:
    first = {trial.key: trial for trial in reversed(trials)}
    several = len(report.stimuli) > 1
    for name, task in track(report.stimuli[:MOST_DRAWN], "drawing", quiet=quiet):
        trial = first[name, task]
        shown = _picture(picture, trial)
        stem = f"{Path(name).stem}-{task}".replace(" ", "-").strip("-")
        for kind, figure in area_figures(report, name, task, trial.frame, shown).items():
            save(figure, out / (f"{stem}-{kind}.png" if several else f"{kind}.png"))


def _picture(picture: Path | None, trial: Trial) -> Path | None:
    if picture is None:
        return trial.picture if trial.picture is not None and trial.picture.is_file() else None
    if picture.is_dir():
        return find_picture(picture, trial.name)
    if not picture.is_file():
        raise InputError(f"{picture} does not exist: give a picture or a folder of pictures")
    return picture


def _name(gaze: Any) -> str:
    return Path(gaze).stem if isinstance(gaze, File) else "gaze"


def _design_row(one: DesignDifference) -> dict[str, Any]:
    row = asdict(one)
    gap = row.pop("difference")
    return row | {"b_minus_a": gap["value"], "low": gap["low"], "high": gap["high"], "wins": one.winner.strip("–")}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no word for NaN."""
    return {key: None if value != value else value for key, value in row.items()}
