"""The paper's printed rows for COCO-Search18, target present, beside ours; and whether both are on one scale.

Source: Zhao, Kara, Kim and Rehg 2026 (arXiv 2606.15486): Table 1 (CRPS), its appendix's mean protocol and KLD.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from stdiffeye.metrics import Result
from stdiffeye.metrics.references import REFERENCES
from stdiffeye.metrics.spec import METRICS
from stdiffeye.metrics.tables import ABSENT, DECIMALS

SET = "coco-search18-tp"
PRINTED_METRICS = ("LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur", "SS", "SS_dur")
Row = tuple[float, ...]
NAN = math.nan
CRPS: Mapping[str, Row] = {
    "GazeFormer": (15.115, 181.157, 284.039, 0.099, 0.327, 0.044, 0.008, 0.540, 0.052),
    "GazeXplain": (13.808, 184.248, 283.833, 0.094, 0.334, 0.066, 0.066, 0.535, 0.102),
    "HAT": (10.784, 122.199, 227.450, 0.080, 0.398, 0.201, NAN, 0.197, NAN),
    "TPP-Gaze": (25.299, 179.339, 476.733, 0.121, 0.348, -0.014, -0.049, 0.180, -0.088),
    "ScanDiff": (9.653, 124.455, 219.855, 0.076, 0.371, 0.165, 0.104, 0.521, 0.148),
    "ST-DiffEye": (8.716, 110.038, 196.631, 0.074, 0.381, 0.206, 0.146, 0.504, 0.180),
}
MEAN: Mapping[str, Row] = {
    "GazeFormer": (15.114, 181.152, 284.021, 0.099, 0.827, 0.545, 0.508, 0.614, 0.552),
    "GazeXplain": (15.926, 200.329, 307.095, 0.104, 0.807, 0.508, 0.476, 0.591, 0.532),
    "HAT": (18.652, 224.163, 433.123, 0.144, 0.651, 0.467, NAN, 0.565, NAN),
    "TPP-Gaze": (44.976, 254.692, 851.326, 0.166, 0.755, 0.173, 0.145, 0.230, 0.190),
    "ScanDiff": (17.325, 192.211, 332.698, 0.117, 0.804, 0.485, 0.413, 0.583, 0.479),
    "ST-DiffEye": (15.382, 200.597, 359.013, 0.137, 0.788, 0.472, 0.357, 0.610, 0.441),
}
KLD: Mapping[str, Row] = {
    "GazeFormer": (0.169, 0.039, 0.097, 0.164, 0.111, 0.107, 0.063, 0.109, 0.104),
    "GazeXplain": (0.324, 0.061, 0.135, 0.238, 0.119, 0.149, 0.018, 0.176, 0.061),
    "HAT": (0.147, 0.149, 0.183, 0.176, 3.835, 0.170, NAN, 0.151, NAN),
    "TPP-Gaze": (2.893, 2.265, 3.736, 3.209, 0.715, 5.206, 5.886, 3.170, 3.137),
    "ScanDiff": (0.090, 0.047, 0.078, 0.095, 0.051, 0.109, 0.065, 0.085, 0.022),
    "ST-DiffEye": (0.028, 0.068, 0.066, 0.081, 0.042, 0.152, 0.206, 0.045, 0.048),
}
NEAR = 0.2  # KLD below which a system's distances to people are spread as people's among each other
SLACK = 0.1  # of a value, by which people's may lie outside the range that is implied

TEXT = """The paper's rows are its Table 1 (Zhao, Kara, Kim and Rehg 2026, arXiv 2606.15486), CRPS as printed there.
They are no competition with ours, since these differ:

* the pictures: the public validation split, {pictures} pairs of picture and task, instead of the paper's test split,
  which is not public; ours are made smaller than shown;
* the samples: DiffEye, trajectory only and joint learn from lifted (synthesised) samples, the paper from recordings;
* the budget: {minutes:g} processor minutes of one core instead of hours of a graphics card, at small sizes;
* the encoder: tuned EfficientNet-Lite0 instead of each system's own;
* the definitions: the paper's LD exceeds what at most 16 fixations of two symbols allow, its TDE is on a scale that is
  not published, and its SS has a fault in the self-term
  ([more]({faults})).

SSS and SSS† are left out: they need a segmentation of the pictures, which is not public with the set."""

FAULTS = "../paper-and-code.md#numbers-of-the-paper-that-cannot-be-calibrated-against"
SCALE = """Is it one scale? A system whose KLD is below {near:g} in the paper has distances to people that are spread
nearly as people's among each other. So the mean distance of people to each other must lie near the range of these
systems' means. Here are the range that the paper's appendix implies, and people's mean on our split.

{table}

{verdict}"""


def beside_paper(result: Result, minutes: float) -> str:
    """The paper's rows, ours, what differs, and the check of scale. `result` has CRPS as printed, and the means."""
    ours = {name: name for name in result.systems if name not in REFERENCES} | {"human": "people"}
    text = TEXT.format(pictures=len(result.stimuli), minutes=minutes, faults=FAULTS)
    return "\n\n".join([text, rows_beside(result, ours), scale_check(result)])


def rows_beside(result: Result, ours: Mapping[str, str]) -> str:
    """The paper's rows, then those of ours that are named, by what they are called on the page."""
    heads = ["method", *(METRICS[metric].title + METRICS[metric].arrow for metric in PRINTED_METRICS)]
    lines = [heads, ["---", *["---:"] * len(PRINTED_METRICS)]]
    lines += [[f"paper: {name}", *map(_number, row)] for name, row in CRPS.items()]
    for name, shown in ours.items():
        lines.append([shown, *(_number(_value(result, name, "crps", metric)) for metric in PRINTED_METRICS)])
    return _table(lines)


def scale_check(result: Result) -> str:
    """People's mean distance to each other, against the range that the paper's numbers imply."""
    lines, off = [["metric", "implied by the paper", "people here", "verdict"], ["---", "---:", "---:", "---"]], []
    for metric in PRINTED_METRICS:
        low, high = implied(metric)
        here = _value(result, "human", "mean", metric)
        margin = SLACK * abs(high)
        if math.isnan(low) or math.isnan(here):
            verdict = "not decidable"
        elif low - margin <= here <= high + margin:
            verdict = "agrees"
        else:
            verdict = f"does not agree: {here / (low if here < low else high):.2f} times the nearer end"
            off.append(METRICS[metric].title)
        title = METRICS[metric].title
        lines.append([title, f"{_number(low)} to {_number(high)}", _number(here), verdict])
    said = "All metrics agree."
    if off:
        said = (
            f"{', '.join(off)} do not agree: there the paper's pictures, people or units are other than ours. Values "
            "of these may not be held against each other across the two; orders within each may."
        )
    return SCALE.format(near=NEAR, table=_table(lines), verdict=said)


def implied(metric: str) -> tuple[float, float]:
    """Range of the paper's means of the systems that are near people by KLD; NaN where there is none."""
    column = PRINTED_METRICS.index(metric)
    near = [MEAN[name][column] for name in MEAN if KLD[name][column] < NEAR]
    return (min(near), max(near)) if near else (NAN, NAN)


def _value(result: Result, name: str, protocol: str, metric: str) -> float:
    one = result.systems[name].get(protocol, {}).get(metric)
    return NAN if one is None else one.value


def _number(value: float) -> str:
    return ABSENT if math.isnan(value) else f"{value:.{DECIMALS}f}"


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
