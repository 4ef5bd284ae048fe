"""A `Result` as text, Markdown and LaTeX, rounded to what is known. Systems are ranked; reference rows are not."""

from __future__ import annotations

import math
from collections.abc import Callable

from stdiffeye.metrics.result import GAP, Difference, Estimate, Result
from stdiffeye.metrics.spec import METRICS
from stdiffeye.rounding import known_decimals

DECIMALS = 3
ABSENT = "—"
PROTOCOL_TITLES = {"crps": "CRPS", "mean": "Mean", "best": "Best-of-N", "kld": "KLD"}
MODE_TITLES = {"scanpath": "Scanpath", "extracted": "Trajectory (extracted)", "pointwise": "Trajectory (pointwise)"}
DECIDABLE = 0.4
"""Widest interval of a gap closed that is stated. The ratio explodes where shuffled humans score almost like humans."""
UNDECIDED = "not decidable here"
Mark = Callable[[str, int], str]


def stated_gap(one: Estimate) -> str:
    """State a gap closed in per cent with its interval, or that it is not decidable.

    Parameters
    ----------
    one : Estimate
        A gap closed, 0 … 1.

    Returns
    -------
    str
        Value and interval in per cent; "not decidable here" where the interval is 40 points wide or wider.

    Examples
    --------
    >>> stated_gap(Estimate(0.61, 0.52, 0.7, n=60, undefined=0))
    '61 % (52 to 70)'
    >>> stated_gap(Estimate(1.99, 1.58, 3.26, n=60, undefined=0))
    'not decidable here (158 to 326)'
    """
    if math.isnan(one.value):
        return ABSENT
    if math.isnan(one.low):
        return f"{100 * one.value:z.0f} % (no interval)"
    interval = f"({100 * one.low:z.0f} to {100 * one.high:z.0f})"
    return f"{100 * one.value:z.0f} % {interval}" if decidable(one) else f"{UNDECIDED} {interval}"


def decidable(one: Estimate) -> bool:
    """Tell whether a gap closed can be stated: its interval is narrower than 40 points.

    Parameters
    ----------
    one : Estimate
        Gap closed with its interval; an absent interval is not wide.

    Returns
    -------
    bool
        Whether the interval is narrow enough, to a billionth.
    """
    return not one.high - one.low >= DECIDABLE - 1e-9


def columns(result: Result, protocol: str) -> list[str]:
    """Return the metrics that any system has under a protocol, in the order of the settings.

    Parameters
    ----------
    result : Result
        Result of an evaluation.
    protocol : str
        As "crps".

    Returns
    -------
    list of str
        Names of metrics.
    """
    present = {metric for rows in result.systems.values() for metric in rows.get(protocol, {})}
    return [metric for metric in result.settings["metrics"] if metric in present]


def protocols(result: Result) -> list[str]:
    """Return the protocols under which any system has a number.

    Parameters
    ----------
    result : Result
        Result of an evaluation.

    Returns
    -------
    list of str
        In the order of the settings.
    """
    return [protocol for protocol in result.settings["protocols"] if columns(result, protocol)]


def decimals_of(result: Result, protocol: str, metric: str) -> int:
    """Return how many decimals of a column are known.

    Parameters
    ----------
    result : Result
        What `evaluate` returned.
    protocol, metric : str
        Which column.

    Returns
    -------
    int
        Those that show two digits of the column's narrowest interval; 3 where there is none.
    """
    found = [rows[protocol][metric] for rows in result.systems.values() if metric in rows.get(protocol, {})]
    return known_decimals(((one.high - one.low) / 2 for one in found), DECIMALS)


def rank(result: Result, protocol: str, metric: str, decimals: int = DECIMALS) -> dict[str, int]:
    """Rank systems by a metric.

    Parameters
    ----------
    result : Result
        What `evaluate` returned.
    protocol, metric : str
        Which column. Lower KLD is always better.
    decimals : int
        Those that are printed.

    Returns
    -------
    dict of str to int
        System → 1 (best) or 2 (second); equal printed numbers share a rank. Empty for a single system.
    """
    lower = protocol == "kld" or METRICS[metric].direction == "lower"
    values = {
        name: round(rows[protocol][metric].value, decimals)
        for name, rows in result.systems.items()
        if name not in result.references and metric in rows.get(protocol, {})
    }
    values = {name: value for name, value in values.items() if not math.isnan(value)}
    if len(values) < 2:
        return {}
    steps = sorted(set(values.values()), reverse=not lower)[:2]
    return {name: steps.index(value) + 1 for name, value in values.items() if value in steps}


def text(result: Result) -> str:
    """Return a plain table per protocol, then gap closed, comparisons and notes, for the terminal.

    Parameters
    ----------
    result : Result
        Result of an evaluation.

    Returns
    -------
    str
        Lines of text.
    """
    blocks = [_head(result)]
    for protocol in protocols(result):
        rows = [[PROTOCOL_TITLES[protocol], *(_title(metric, protocol) for metric in columns(result, protocol))]]
        rows += _cells(result, protocol, lambda cell, rank: cell + {1: "*", 2: "'"}.get(rank, ""), intervals=False)
        blocks.append(_aligned(rows))
    blocks += [_gaps(result, protocol) for protocol in protocols(result) if result.gap_closed]
    blocks += _footers(result)
    return "\n\n".join(block for block in blocks if block)


def markdown(result: Result, intervals: bool = True) -> str:
    """Return a Markdown table per protocol; best in bold, second underlined.

    Parameters
    ----------
    result : Result
        Result of an evaluation.
    intervals : bool
        Print confidence intervals.

    Returns
    -------
    str
        Markdown.
    """
    blocks = [_head(result)]
    for protocol in protocols(result):
        titles = [PROTOCOL_TITLES[protocol], *(_title(metric, protocol) for metric in columns(result, protocol))]
        rows = _cells(
            result, protocol, lambda cell, rank: {1: f"**{cell}**", 2: f"<u>{cell}</u>"}.get(rank, cell), intervals
        )
        lines = [titles, ["---", *["---:"] * (len(titles) - 1)], *rows]
        blocks.append("\n".join("| " + " | ".join(line) + " |" for line in lines))
    blocks += [f"```text\n{_gaps(result, protocol)}\n```" for protocol in protocols(result) if result.gap_closed]
    blocks += [f"```text\n{block}\n```" for block in _footers(result)]
    return "\n\n".join(blocks) + "\n"


def latex(result: Result) -> str:
    """Return a LaTeX table per protocol in the paper's layout: Comparison | Method | metrics.

    Parameters
    ----------
    result : Result
        Result of an evaluation.

    Returns
    -------
    str
        LaTeX, which needs booktabs and multirow.
    """
    return "\n".join(_latex_table(result, protocol) for protocol in protocols(result))


def _latex_table(result: Result, protocol: str) -> str:
    metrics = columns(result, protocol)
    marks = {1: r"\textbf{%s}", 2: r"\underline{%s}"}
    rows = _cells(result, protocol, lambda cell, rank: marks.get(rank, "%s") % _latex_number(cell), intervals=False)
    comparison = rf"\multirow{{{len(rows)}}}{{*}}{{\textit{{{MODE_TITLES[result.settings['mode']]}}}}}"
    body = []
    for number, (name, *cells) in enumerate(rows):
        if name in result.references and number and rows[number - 1][0] not in result.references:
            body.append(rf"\cmidrule(l){{2-{len(metrics) + 2}}}")
        body.append(" & ".join([comparison if number == 0 else "", _latex_name(name), *cells]) + r" \\")
    heads = [_latex_title(metric, protocol) for metric in metrics]
    return "\n".join(
        [
            r"\begin{table*}[t]",
            r"\centering",
            rf"\caption{{{PROTOCOL_TITLES[protocol]} over {len(result.stimuli)} stimuli.}}",
            rf"\begin{{tabular}}{{l l {'c' * len(metrics)}}}",
            r"\toprule",
            " & ".join([r"\textbf{Comparison}", r"\textbf{Method}", *heads]) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
            "",
        ]
    )


def _cells(result: Result, protocol: str, mark: Mark, intervals: bool) -> list[list[str]]:
    decimals = {metric: decimals_of(result, protocol, metric) for metric in columns(result, protocol)}
    ranks = {metric: rank(result, protocol, metric, decimals[metric]) for metric in decimals}
    return [
        [
            name,
            *(
                mark(_cell(rows.get(protocol, {}).get(metric), known, intervals), ranks[metric].get(name, 0))
                for metric, known in decimals.items()
            ),
        ]
        for name, rows in result.systems.items()
    ]


def _cell(one: Estimate | None, decimals: int, intervals: bool) -> str:
    if one is None or math.isnan(one.value):
        return ABSENT
    span = f" [{one.low:z.{decimals}f}, {one.high:z.{decimals}f}]" if intervals and not math.isnan(one.low) else ""
    return f"{one.value:z.{decimals}f}{span}"


def _head(result: Result) -> str:
    mode = MODE_TITLES[result.settings["mode"]]
    rate = f" at {result.settings['rate_hz']:g} Hz" if result.settings.get("rate_hz") else ""
    compat = f", conventions of {result.settings['compat']}" if result.settings["compat"] else ""
    cut = result.settings["max_fixations"]
    first = f", first {cut} fixations" if cut and result.settings["mode"] != "pointwise" else ""
    average = "mean over stimuli" if result.settings["average"] == "stimulus" else "pooled over stimuli"
    fair = ", fair CRPS" if result.settings["estimator"] == "fair" else ""
    viewers = "" if math.isnan(result.viewers) else f" × {result.viewers:.3g} viewers"
    counts = f"{len(result.stimuli)} stimuli{viewers}"
    frozen = f"{result.settings['split_id']}: " if result.settings.get("split_id") else ""
    return f"{frozen}{mode}{rate} comparison on {counts}, 512×384 px{first}, {average}{fair}{compat}"


def _gaps(result: Result, protocol: str) -> str:
    metrics = columns(result, protocol)
    rows = [[f"gap closed, {PROTOCOL_TITLES[protocol]}", *(METRICS[metric].title for metric in metrics), "mean"]]
    for name, gaps in result.gap_closed.items():
        found = gaps.get(protocol, {})
        mean = found.get("mean")
        rows.append([name, *(_gap_cell(found.get(metric)) for metric in metrics)])
        rows[-1].append(ABSENT if mean is None else stated_gap(mean))
    undecided = any("n.d." in row for row in rows)
    note = f"\nn.d.: {UNDECIDED}, an interval of {100 * DECIDABLE:.0f} points or wider" if undecided else ""
    return _aligned(rows) + note


def _gap_cell(one: Estimate | None) -> str:
    if one is None or math.isnan(one.value):
        return ABSENT
    return f"{one.value:z.0%}" if decidable(one) else "n.d."


def _to_references(result: Result) -> str:
    """CRPS of the systems minus that of humans and of shuffled humans, with paired intervals; "" for none."""
    metrics = columns(result, "crps") if "crps" in result.settings["protocols"] else []
    found = {(one.first, one.second, one.metric): one for one in result.to_references if one.protocol == "crps"}
    pairs = list(dict.fromkeys((one.first, one.second) for one in result.to_references))
    rows = [["difference of CRPS, paired", *(f"{first} − {second}" for first, second in pairs)]]
    for metric in metrics:
        rows.append([_title(metric, "crps"), *(_difference_cell(found.get((*pair, metric))) for pair in pairs)])
    return _aligned(rows) if pairs and metrics else ""


def _difference_cell(one: Difference | None) -> str:
    if one is None or math.isnan(one.value):
        return ABSENT
    known = known_decimals([(one.high - one.low) / 2], DECIMALS)
    interval = "" if math.isnan(one.low) else f" [{one.low:z.{known}f}, {one.high:z.{known}f}]"
    return f"{one.value:+z.{known}f}{interval}"


def _footers(result: Result) -> list[str]:
    beside = _to_references(result)
    blocks = [beside] if beside else []
    if result.comparisons:
        rows = [["paired bootstrap", "protocol", "metric", "difference", "95 %", "p", "better"]]
        for one in result.comparisons:
            known = known_decimals([(one.high - one.low) / 2], DECIMALS)
            span = f"[{one.low:z.{known}f}, {one.high:z.{known}f}]"
            difference = f"{one.value:+z.{known}f}"
            metric = one.metric if one.metric == GAP else METRICS[one.metric].title
            rows.append(
                [f"{one.first} − {one.second}", one.protocol, metric, difference, span, f"{one.p:.3f}", one.better]
            )
        blocks.append(_aligned(rows))
    undefined = {
        f"{name} {METRICS[metric].title}": one.undefined
        for name, rows_ in result.systems.items()
        for rows_of in list(rows_.values())[:1]
        for metric, one in rows_of.items()
        if one.undefined
    }
    lines = list(result.notes)
    if undefined:
        lines.append("undefined pairs left out: " + ", ".join(f"{what} {count}" for what, count in undefined.items()))
    return [*blocks, "\n".join(lines)] if lines else blocks


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return "\n".join([lines[0], "─" * len(lines[0]), *lines[1:]])


def _title(metric: str, protocol: str) -> str:
    return METRICS[metric].title + ("↓" if protocol == "kld" else METRICS[metric].arrow)


def _latex_title(metric: str, protocol: str) -> str:
    title = METRICS[metric].title.replace("†", r"$^{\dagger}$").replace("×", r"$\times$")
    down = protocol == "kld" or METRICS[metric].direction == "lower"
    return title + (r"$\downarrow$" if down else r"$\uparrow$")


def _latex_number(cell: str) -> str:
    return "--" if cell == ABSENT else cell.replace("-", "$-$")


def _latex_name(name: str) -> str:
    escapes = {ord(character): "\\" + character for character in "&%$#_{}"}
    return name.translate({**escapes, ord("\\"): r"\textbackslash{}"})
