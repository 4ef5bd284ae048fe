"""One page for a batch of gaze: of each picture scanpaths, heat map, a table of viewers and areas; and the settings.

The page is written picture by picture, so that memory does not grow with their number. It needs no other file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.files import atomic_write
from stdiffeye.gaze import Scanpath, Trial
from stdiffeye.gaze.area_visits import LABELS
from stdiffeye.gaze.areas import Areas, areas_for
from stdiffeye.gaze.types import by_stimulus
from stdiffeye.plotting.area_figures import area_figures
from stdiffeye.plotting.canvas import png_bytes
from stdiffeye.plotting.drawing import draw
from stdiffeye.plotting.html_page import facts, figure, page, paragraph, section, small_png, table
from stdiffeye.statistics.aoi import measure_areas
from stdiffeye.statistics.aoi.area_text import PRINTED, in_words

MOST_DRAWN = 20  # viewers in one drawing; more hide each other
LONGEST_PX = 900
MARK = "<!-- pictures -->"
FIGURES = {"areas": "Areas", "scarf": "Which area was fixated when; a row per viewer"}
DIGITS = {
    "mean duration (ms)": 0,
    "mean amplitude (deg)": 2,
    "mean amplitude (px)": 0,
    "ends at (ms)": 0,
}


def write_report(
    path: str | Path,
    blocks: Iterable[Sequence[Trial]],
    settings: Mapping[str, Any] | None = None,
    areas: Areas | Mapping[str, Areas] | None = None,
    title: str = "Gaze",
) -> Path:
    """Write the report of a batch, whole or not at all.

    Parameters
    ----------
    path : path
        The page, .html.
    blocks : iterable of sequence of Trial
        Trials of one picture after the other.
    settings : dict, optional
        What the gaze was made with, name → value.
    areas : Areas or dict of str to Areas, optional
        Areas of interest, for all pictures or by the picture's name.
    title : str
        Of the page.

    Returns
    -------
    Path
        The page.
    """
    before, after = page(title, [paragraph(ABOUT), _settings(settings), MARK]).split(MARK)
    with atomic_write(Path(path)) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(before)
        for block in blocks:
            for section in _sections(block, areas):
                file.write(section + "\n")
        file.write(after)
    return Path(path)


ABOUT = (
    "Scanpaths show fixations as discs, numbered where there is one viewer. The heat map is the density of all "
    "fixations, smoothed by one degree. Generated viewers are samples of a model, not people."
)


def _settings(settings: Mapping[str, Any] | None) -> str:
    known = {key: value for key, value in (settings or {}).items() if value not in (None, "")}
    return section("Settings", facts(known)) if known else ""


def _sections(block: Sequence[Trial], areas: Areas | Mapping[str, Areas] | None) -> Iterator[str]:
    for (name, task), group in by_stimulus(block).items():
        paths = [trial.scanpath for trial in group if trial.scanpath is not None]
        if not paths:
            continue
        picture = group[0].picture if group[0].picture is not None and group[0].picture.is_file() else None
        count = f"{len(paths)} viewer{'s' * (len(paths) > 1)}"
        some = f" (the first {MOST_DRAWN} drawn)" if len(paths) > MOST_DRAWN else ""
        drawn = draw(paths[:MOST_DRAWN] if len(paths) > 1 else paths[0], picture=picture)
        figures = [
            figure(small_png(png_bytes(drawn), LONGEST_PX), f"Scanpaths of {count}{some}"),
            figure(small_png(png_bytes(draw(paths, picture=picture, kind="density")), LONGEST_PX), "Heat map"),
        ]
        own = None if areas is None else areas_for(areas, name)
        yield section(
            f"{name}, looking for {task}" if task else name,
            f'<div class="figures">{"".join(figures)}</div>',
            "<h3>Viewers</h3>",
            table([_viewer(trial) for trial in group if trial.scanpath is not None], DIGITS),
            *([] if own is None else _areas(group, own, picture)),
        )


def _viewer(trial: Trial) -> dict[str, Any]:
    path = trial.scanpath
    assert path is not None
    scale = path.frame.px_per_degree
    row: dict[str, Any] = {"viewer": trial.subject, "fixations": len(path)}
    row["mean duration (ms)"] = None if path.duration_ms is None else float(path.duration_ms.mean())
    amplitude = _amplitude_px(path)
    row[f"mean amplitude ({'px' if scale is None else 'deg'})"] = amplitude if scale is None else amplitude / scale
    timed = path.onset_ms is not None and path.duration_ms is not None
    row["ends at (ms)"] = float((path.onset_ms + path.duration_ms)[-1]) if timed else None  # type: ignore[operator]
    return row


def _amplitude_px(path: Scanpath) -> float:
    return float(np.hypot(*np.diff(path.xy_px, axis=0).T).mean()) if len(path) > 1 else float("nan")


def _areas(group: Sequence[Trial], areas: Areas, picture: Path | None) -> list[str]:
    report = measure_areas({"viewers": list(group)}, areas)
    name, task = report.stimuli[0]
    found = report.estimates(report.of(name, task)[0])
    rows = [
        {"area": area} | {LABELS[key]: in_words(key, found[key][column]) if key in found else "–" for key in PRINTED}
        for column, area in enumerate(areas.names)
    ]
    drawn = area_figures(report, name, task, group[0].frame, picture)
    shown = [
        figure(small_png(png_bytes(drawn[kind]), LONGEST_PX), text) for kind, text in FIGURES.items() if kind in drawn
    ]
    return [
        "<h3>Areas of interest</h3>",
        table(rows),
        paragraph("Means over viewers, with the 95 % interval over viewers.", "soft"),
        f'<div class="figures">{"".join(shown)}</div>',
    ]
