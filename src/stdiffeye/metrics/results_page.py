"""Several results files as one page of tables: systems that were judged on the same frozen split, by the same settings.

Rows are ordered by CRPS under the proper metric (KTD) where all have it, else by the mean gap closed. Results that were
not made with `--split-id` are refused: their numbers cannot be compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stdiffeye.border import reading
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_text
from stdiffeye.metrics.result import Estimate
from stdiffeye.metrics.spec import METRICS, PROPER_METRICS
from stdiffeye.metrics.tables import ABSENT, DECIMALS, stated_gap
from stdiffeye.rounding import known_decimals

COMPARED = ("split_id", "estimator", "mode", "average", "max_fixations", "compat", "rate_hz")
"""Settings that two results must share to stand in one table."""
HEAD = """# Leaderboard

Made by `stdiffeye leaderboard`. A table per frozen split: CRPS with 95 % intervals over pictures, best first. Rows in
italics are references. A gap closed is stated where its interval is narrower than 40 points.
"""


@dataclass(frozen=True)
class LeaderboardRow:
    """One system of one results file.

    Attributes
    ----------
    name : str
        The system.
    file : str
        Results file that it stands in.
    crps : dict of str to Estimate
        Metric → CRPS.
    gap : Estimate, optional
        Mean gap closed; None for a reference.
    reference : bool
        Whether it is a reference row: human, shuffled or centre.
    """

    name: str
    file: str
    crps: dict[str, Estimate]
    gap: Estimate | None
    reference: bool = False


def leaderboard(results: Sequence[str | Path], out: str | Path = "leaderboard.md") -> Path:
    """Make a page of tables from several results files.

    Parameters
    ----------
    results : sequence of paths
        JSON files that `evaluate` wrote, each made with `split_id`.
    out : path
        Markdown file to write.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        Where a file is no result, was made without a split's id, or judges the humans differently.

    Examples
    --------
    >>> leaderboard(["ours.json", "theirs.json"], "leaderboard.md")  # doctest: +SKIP
    """
    if not results:
        raise InputError("name at least one results file: `stdiffeye evaluate … --split-id SET@hash` makes one")
    groups: dict[tuple[str, ...], list[tuple[Path, dict[str, Any]]]] = {}
    for path in map(Path, results):
        with reading(path):
            content = _read(path)
            _section([(path, content)]).encode()  # a file that makes no table by itself is refused by its name
        groups.setdefault(tuple(str(content["settings"].get(key)) for key in COMPARED), []).append((path, content))
    write_text(out, "\n\n".join([HEAD.strip(), *(_section(files) for files in groups.values())]) + "\n")
    return Path(out)


def _read(path: Path) -> dict[str, Any]:
    content = read_json(path)
    if not isinstance(content, dict) or not {"systems", "settings", "gap_closed"} <= content.keys():
        raise InputError(f"{path} is no results file: `stdiffeye evaluate --out` writes one")
    if not content["settings"].get("split_id"):
        raise InputError(f"{path} was made without --split-id, so its stimuli are unknown: evaluate it again")
    if "crps" not in content["settings"]["protocols"]:
        raise InputError(f"{path} has no CRPS: evaluate it again with the protocol crps")
    return content


def _section(files: Sequence[tuple[Path, dict[str, Any]]]) -> str:
    first_path, first = files[0]
    rows = [row for path, content in files for row in _rows(path, content)]
    for path, content in files[1:]:
        if _humans_differ(content, first):
            raise InputError(f"{path} and {first_path} judge the humans of one split differently: evaluate both again")
    systems = [row for row in rows if not row.reference]
    references = list({row.name: row for row in rows if row.reference}.values())
    metrics = [name for name in METRICS if any(name in row.crps for row in systems)]
    settings = first["settings"]
    fair = "fair CRPS" if settings["estimator"] == "fair" else "CRPS as printed"
    title = f"## {settings['split_id']}"
    said = f"{first['stimuli']} stimuli × {first['viewers']:.3g} viewers, {settings['mode']}, {fair}."
    heads = ["system", "file", "gap closed", *(METRICS[name].title + METRICS[name].arrow for name in metrics)]
    lines = [heads, ["---", "---", "---", *["---:"] * len(metrics)]]
    lines += [_line(row, metrics) for row in [*_ordered(systems), *references]]
    return "\n\n".join([title, said, "\n".join(f"| {' | '.join(line)} |" for line in lines)])


def _rows(path: Path, content: dict[str, Any]) -> list[LeaderboardRow]:
    rows = []
    for name in content["systems"]:
        gap = content["gap_closed"].get(name, {}).get("crps", {}).get("mean")
        reference = name in content["references"]
        estimate = None if gap is None else _estimate(gap)
        rows.append(LeaderboardRow(name, "" if reference else path.name, _crps(content, name), estimate, reference))
    return rows


def _crps(content: dict[str, Any], name: str) -> dict[str, Estimate]:
    return {metric: _estimate(one) for metric, one in content["systems"].get(name, {}).get("crps", {}).items()}


def _humans_differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the row of humans differs in a metric that both files have."""
    rows = [content["systems"].get("human", {}).get("crps", {}) for content in (one, other)]
    return any(rows[0][name]["value"] != rows[1][name]["value"] for name in rows[0].keys() & rows[1].keys())


def _estimate(one: dict[str, Any]) -> Estimate:
    value, low, high = (math.nan if one[key] is None else float(one[key]) for key in ("value", "low", "high"))
    return Estimate(value, low, high, int(one["n"]), int(one["undefined"]))


def _ordered(rows: Sequence[LeaderboardRow]) -> list[LeaderboardRow]:
    proper = next((name for name in PROPER_METRICS if all(name in row.crps for row in rows)), None)
    if proper is not None:
        return sorted(rows, key=lambda row: row.crps[proper].value)
    return sorted(rows, key=lambda row: -row.gap.value if row.gap is not None else math.inf)


def _line(row: LeaderboardRow, metrics: Sequence[str]) -> list[str]:
    name = f"*{row.name}*" if row.reference else row.name
    gap = ABSENT if row.gap is None else stated_gap(row.gap)
    return [name, row.file, gap, *(_cell(row.crps.get(metric)) for metric in metrics)]


def _cell(one: Estimate | None) -> str:
    if one is None or math.isnan(one.value):
        return ABSENT
    known = known_decimals([(one.high - one.low) / 2], DECIMALS)
    span = "" if math.isnan(one.low) else f" ({one.low:z.{known}f} to {one.high:z.{known}f})"
    return f"{one.value:z.{known}f}{span}"
