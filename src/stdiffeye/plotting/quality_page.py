"""Data quality as a page for a paper's supplement: what was measured, per viewer, file and trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stdiffeye.plotting.canvas import new_figure, png_bytes, style
from stdiffeye.plotting.html_page import facts, figure, page, paragraph, section, table

COLUMNS = {
    "file": "file",
    "subject": "viewer",
    "name": "trial",
    "trials": "trials",
    "kept": "kept",
    "eye": "eye",
    "rates_hz": "rate (Hz)",
    "rate_hz": "rate (Hz)",
    "effective_rate_hz": "effective (Hz)",
    "missing_share": "lost (%)",
    "rms_s2s_deg": "RMS-S2S (deg)",
    "sd_deg": "SD (deg)",
    "bcea_deg2": "BCEA (deg²)",
    "validation_mean_deg": "validation, mean (deg)",
    "validation_max_deg": "validation, max (deg)",
    "drift_deg": "drift (deg)",
    "dropped": "dropped because",
}
DIGITS = {
    "effective (Hz)": 1,
    "lost (%)": 1,
    "RMS-S2S (deg)": 3,
    "SD (deg)": 3,
    "BCEA (deg²)": 4,
    "validation, mean (deg)": 2,
    "validation, max (deg)": 2,
    "drift (deg)": 2,
}
PLOTTED = {"missing_share": "lost (%)", "rms_s2s_deg": "RMS-S2S (deg)", "validation_mean_deg": "validation (deg)"}
VALIDATION_COLUMNS = {
    "file": "file",
    "time_ms": "at (s of the tracker)",
    "eye": "eye",
    "kind": "targets",
    "verdict": "verdict",
    "mean_deg": "mean (deg)",
    "max_deg": "max (deg)",
    "offset_deg": "offset (deg)",
}
VALIDATION_DIGITS = {"at (s of the tracker)": 1, "mean (deg)": 2, "max (deg)": 2, "offset (deg)": 2}
RULES = {
    "max_missing_share": "largest share of lost samples",
    "max_out_of_frame_share": "largest share off the screen",
    "impossible_speed_deg_s": "impossible speed (deg/s)",
    "max_impossible_speed_count": "most steps of impossible speed",
    "min_duration_ms": "shortest trial (ms)",
    "max_rms_s2s_deg": "worst RMS-S2S (deg)",
    "max_validation_deg": "worst validation (deg)",
}
LEAST_FIGURE_REM = 36
MOST_VALIDATIONS, VALIDATION_COLUMNS_DRAWN = 6, 3
DEFINITIONS = (
    "RMS-S2S is the root mean square of the steps from sample to sample. SD is the square root of the variances of x "
    "and y together. BCEA is the area of the ellipse that holds 68 % of the samples. All three are measured within "
    "fixations, on samples as they were recorded, without the first and last 20 ms. A trial has the median over its "
    "fixations.",
    "Lost samples include missing rows. The effective rate counts samples in which the eye was seen. The validation "
    "error is what the tracker wrote into the recording at the last validation before a trial.",
)


def quality_page(quality: Mapping[str, Any], title: str = "Data quality") -> str:
    """The page of a quality.json.

    Parameters
    ----------
    quality : dict
        What `RecordingQuality.as_dict` returns, or the file holds.
    title : str
        Of the page.

    Returns
    -------
    str
        HTML, one file with everything inside.
    """
    dropped = [{"reason": reason, "trials": count} for reason, count in quality["dropped"].items()]
    return page(
        title,
        [
            paragraph(f"{quality['kept']:,} of {quality['total']:,} trials were kept."),
            section("Overall", facts(_known(_shown(quality["overall"])), DIGITS), *_figures(quality["viewers"])),
            section("Viewers", _rows(quality["viewers"])),
            section("Files", _rows(quality["files"])),
            *_validations(quality.get("validations", [])),
            section("Trials", _rows(quality["trials"])),
            section(
                "Rules",
                facts({RULES.get(key, key): _limit(value) for key, value in quality["thresholds"].items()}),
                *([table(dropped)] if dropped else [paragraph("No trial was dropped.")]),
            ),
            section("Definitions", *(paragraph(text) for text in DEFINITIONS)),
        ],
    )


def _rows(rows: Sequence[Mapping[str, Any]]) -> str:
    shown = [_shown(row) for row in rows]
    known = [key for key in dict.fromkeys(key for row in shown for key in row) if any(row.get(key) for row in shown)]
    return table([{key: row.get(key) for key in known} for row in shown], DIGITS)


def _limit(value: Any) -> Any:
    return "off" if value is None else value


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        label: 100 * row[key] if key == "missing_share" else row[key] for key, label in COLUMNS.items() if key in row
    }


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _figures(viewers: Sequence[Mapping[str, Any]]) -> list[str]:
    """One row of dots per measure: a viewer each."""
    known = {
        label: np.array([row[key] for row in viewers if row.get(key) is not None], dtype=float)
        for key, label in PLOTTED.items()
    }
    drawn = {label: values for label, values in known.items() if len(values) > 1 and values.any()}
    if not drawn:
        return []
    with style():
        made = new_figure(7.5, 0.4 + 0.95 * len(drawn))
        for number, (label, values) in enumerate(drawn.items(), start=1):
            ax = made.add_subplot(len(drawn), 1, number)
            shown = 100 * values if label == "lost (%)" else values
            ax.plot(shown, np.zeros(len(shown)), "o", alpha=0.55, markersize=7)
            ax.axvline(float(np.median(shown)), color="black", linewidth=1)
            ax.set_yticks([])
            ax.set_xlim(0, 1.05 * float(shown.max()))  # the last dot whole
            ax.set_xlabel(label)
        png = png_bytes(made)
    return [_at_width(46, figure(png, "A dot per viewer; the line is the median."))]


def _at_width(most_rem: int, figure_html: str) -> str:
    """A figure that keeps its words readable: on a narrow screen it scrolls sideways."""
    least_rem = min(most_rem, LEAST_FIGURE_REM)
    return (
        f'<div class="wide"><div style="min-width: {least_rem}rem; max-width: {most_rem}rem">{figure_html}</div></div>'
    )


def _validations(validations: Sequence[Mapping[str, Any]]) -> list[str]:
    """A table of all validations, and a drawing of the targets of the first ones."""
    if not validations:
        return []
    rows = [
        {label: row[key] / 1000 if key == "time_ms" else row[key] for key, label in VALIDATION_COLUMNS.items()}
        for row in validations
    ]
    with_targets = [row for row in validations if row["points"]]
    parts = [table(rows, VALIDATION_DIGITS)]
    if with_targets:
        drawn = with_targets[:MOST_VALIDATIONS]
        few = f" {len(drawn)} of {len(with_targets)} validations are drawn." if len(drawn) < len(with_targets) else ""
        caption = f"Targets (+) and gaze on them (dots), in px of the screen.{few}"
        parts.append(_at_width(20 * min(len(drawn), VALIDATION_COLUMNS_DRAWN), figure(_targets(drawn), caption)))
    return [section("Validations", *parts)]


def _targets(validations: Sequence[Mapping[str, Any]]) -> bytes:
    columns = min(len(validations), VALIDATION_COLUMNS_DRAWN)
    rows = -(-len(validations) // columns)
    with style():
        made = new_figure(3.2 * columns, 2.8 * rows)
        for number, one in enumerate(validations, start=1):
            ax = made.add_subplot(rows, columns, number)
            at = np.array([[point["x_px"], point["y_px"]] for point in one["points"]])
            off = np.array([[point["offset_x_px"], point["offset_y_px"]] for point in one["points"]])
            ax.plot(*at.T, "+", color="black", markersize=8)
            ax.plot(*(at + off).T, "o", alpha=0.7, markersize=4)
            ax.set_title(f"{one['file']}\n{one['eye']} eye, mean {one['mean_deg']:.2f} deg", fontsize=8)
            ax.set_aspect("equal")
            ax.invert_yaxis()
        return png_bytes(made)
