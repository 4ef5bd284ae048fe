"""Results on several sets as the paper prints them: Dataset | Comparison | Method | metrics, one table per protocol."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stdiffeye.csv_cells import CsvWriter, plain_cell
from stdiffeye.errors import InputError
from stdiffeye.metrics import Result
from stdiffeye.metrics.result import GAP, Difference, Estimate
from stdiffeye.metrics.spec import MAIN_METRICS, METRICS, PROPER_METRICS
from stdiffeye.metrics.tables import ABSENT, DECIMALS, columns, rank, stated_gap

TITLES = {"crps": "CRPS (Table 1)", "mean": "mean (Table 4)", "best": "best-of-N (Table 5)", "kld": "KLD (Table 6)"}
"""Protocol → what it is called, and the paper's table that has it."""
SURE = 0.05  # p below which one system is said to be better than another
Mark = Callable[[str, int], str]


@dataclass(frozen=True)
class TableBlock:
    """Systems that are ranked among each other."""

    dataset: str
    comparison: str
    result: Result


def metrics_of(blocks: Sequence[TableBlock], protocol: str) -> list[str]:
    """The columns: metrics that any block has, in the paper's order."""
    present = {metric for block in blocks for metric in columns(block.result, protocol)}
    return [metric for metric in (*MAIN_METRICS, *PROPER_METRICS) if metric in present]


def markdown(blocks: Sequence[TableBlock], protocol: str) -> str:
    """Best in bold, second underlined, 95 % intervals below the numbers; reference rows in italics, not ranked."""
    metrics = metrics_of(blocks, protocol)
    head = ["Dataset", "Comparison", "Method", *(_title(metric, protocol) for metric in metrics)]
    lines = [head, ["---"] * 3 + ["---:"] * len(metrics)]
    for block in blocks:
        for name in block.result.systems:
            cells = _cells(block, name, protocol, metrics, _markdown_mark, _interval)
            shown = f"*{name}*" if name in block.result.references else name
            lines.append([block.dataset, block.comparison, shown, *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def latex(blocks: Sequence[TableBlock], protocol: str) -> str:
    """As in the paper's source: booktabs and multirow, best bold, second underlined."""
    metrics = metrics_of(blocks, protocol)
    width = len(metrics) + 3
    lines: list[str] = []
    for number, block in enumerate(blocks):
        new_set = number == 0 or blocks[number - 1].dataset != block.dataset
        if number:
            lines.append(r"\midrule" if new_set else rf"\cmidrule(l){{2-{width}}}")
        of_set = sum(len(other.result.systems) for other in blocks if other.dataset == block.dataset)
        for row, name in enumerate(block.result.systems):
            first = rf"\multirow{{{of_set}}}{{*}}{{\rotatebox[origin=c]{{90}}{{\textsc{{{_escaped(block.dataset)}}}}}}}"
            kind = rf"\multirow{{{len(block.result.systems)}}}{{*}}{{\textit{{{block.comparison}}}}}"
            cells = _cells(block, name, protocol, metrics, _latex_mark, lambda one: "")
            lead = [first if row == 0 and new_set else "", kind if row == 0 else "", _escaped(name)]
            lines.append(" & ".join([*lead, *cells]) + r" \\")
    heads = [r"\textbf{Dataset}", r"\textbf{Comparison}", r"\textbf{Method}"]
    heads += [_title(metric, protocol).translate(_LATEX_SIGNS) for metric in metrics]
    return "\n".join(
        [
            r"\begin{table*}[t]",
            r"\centering",
            rf"\caption{{\textbf{{{TITLES[protocol].split(' (')[0]}}} on our sets. $\dagger$: duration-aware. "
            r"\textbf{Bold}: best; \underline{underlined}: second best within each dataset and comparison block; "
            r"reference rows are not ranked. Dashes: no durations, or not applicable.}",
            rf"\begin{{tabular}}{{l l l {'c' * len(metrics)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
            "",
        ]
    )


def to_csv(blocks: Sequence[TableBlock]) -> str:
    """One line per set, comparison, system, protocol and metric."""
    out = io.StringIO()
    writer = CsvWriter(out)
    writer.row(["dataset", "comparison", *block_header()])
    for block in blocks:
        rows = csv.reader(io.StringIO(block.result.to_csv()))
        next(rows)
        writer.rows([block.dataset, block.comparison, *map(plain_cell, row)] for row in rows)
    return out.getvalue()


def block_header() -> list[str]:
    """The columns that a result's own CSV has."""
    return ["system", "protocol", "metric", "value", "low", "high", "n", "undefined", "gap_closed"]


def gap_table(blocks: Sequence[TableBlock]) -> str:
    """Gap closed by CRPS, mean over metrics, where it is decidable: one row per system, one column per block."""
    names = list(dict.fromkeys(name for block in blocks for name in block.result.gap_closed))
    fair = all(block.result.settings["estimator"] == "fair" for block in blocks)
    title = "gap closed (fair CRPS)" if fair else "gap closed (CRPS)"
    lines = [[title, *(_counted(block) for block in blocks)], ["---", *["---:"] * len(blocks)]]
    for name in names:
        found = [block.result.gap_closed.get(name, {}).get("crps", {}).get("mean") for block in blocks]
        lines.append([name, *(ABSENT if one is None else stated_gap(one) for one in found)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def difference_table(blocks: Sequence[TableBlock]) -> str:
    """CRPS of every system minus that of people, paired over pictures, with 95 % intervals; and people's own scores."""
    metrics = metrics_of(blocks, "crps")
    lines = [["set", "CRPS of", *(_title(metric, "crps") for metric in metrics)], ["---"] * 2 + ["---:"] * len(metrics)]
    for block in blocks:
        for row, words in (("human", "people"), ("shuffled", "people on other pictures")):
            values = [block.result.value(row, "crps", metric) for metric in metrics]
            lines.append([_counted(block), words, *(ABSENT if math.isnan(x) else f"{x:.{DECIMALS}f}" for x in values)])
        apart = {(one.first, one.metric): one for one in block.result.to_references if one.second == "human"}
        for name in block.result.gap_closed:
            cells = [_signed(apart.get((name, metric))) for metric in metrics]
            lines.append([block.dataset, f"{name} − people", *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _counted(block: TableBlock) -> str:
    """A block's name with the counts of pictures and viewers."""
    counts = f"{len(block.result.stimuli)} × {block.result.viewers:.3g} viewers"
    return f"{block.dataset}, {block.comparison.lower()}, {counts}"


def _signed(one: Difference | None) -> str:
    if one is None or math.isnan(one.value):
        return ABSENT
    return f"{one.value:+z.3g}<br><small>{one.low:z.3g} to {one.high:z.3g}</small>"


def decided(result: Result, one: str, other: str, protocol: str = "crps") -> tuple[float, bool | None]:
    """By how much the first closes more of the gap, and whether that is so; None where a paired test cannot tell."""
    for row in result.comparisons:
        if row.metric == GAP and row.protocol == protocol and {row.first, row.second} == {one, other}:
            return row.value if row.first == one else -row.value, row.better == one if row.p < SURE else None
    raise InputError(f"{one} and {other} were not compared by gap closed")


def behind_noise(result: Result, name: str) -> bool:
    """Whether noise around the centre closes more of the gap: then a system has hardly learned, and proves nothing."""
    table = {metric: one.value for metric, one in result.gap_closed[name]["crps"].items() if metric != "mean"}
    human, shuffled, centre = (
        np.array([result.value(row, "crps", metric) for metric in table]) for row in ("human", "shuffled", "centre")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = np.array(list(table.values())) - (shuffled - centre) / (shuffled - human)
    return bool(ahead[np.isfinite(ahead)].sum() < 0)


def _cells(
    block: TableBlock, name: str, protocol: str, metrics: Sequence[str], mark: Mark, interval: Callable[[Estimate], str]
) -> list[str]:
    cells = []
    for metric in metrics:
        one = block.result.systems[name].get(protocol, {}).get(metric)
        if one is None or math.isnan(one.value):
            cells.append(mark(ABSENT, 0))
            continue
        position = rank(block.result, protocol, metric).get(name, 0)
        cells.append(mark(f"{one.value:.{DECIMALS}f}", position) + interval(one))
    return cells


def _markdown_mark(cell: str, position: int) -> str:
    return {1: f"**{cell}**", 2: f"<u>{cell}</u>"}.get(position, cell)


def _latex_mark(cell: str, position: int) -> str:
    shown = "--" if cell == ABSENT else cell.replace("-", "$-$")
    return {1: rf"\textbf{{{shown}}}", 2: rf"\underline{{{shown}}}"}.get(position, shown)


def _interval(one: Estimate) -> str:
    if math.isnan(one.low):
        return ""
    return f"<br><small>{one.low:.{DECIMALS}f} to {one.high:.{DECIMALS}f}</small>"


def _title(metric: str, protocol: str) -> str:
    return METRICS[metric].title + ("↓" if protocol == "kld" else METRICS[metric].arrow)


_LATEX_SIGNS = str.maketrans({"†": r"$^{\dagger}$", "↓": r"$\downarrow$", "↑": r"$\uparrow$", "×": r"$\times$"})


def _escaped(text: str) -> str:
    return text.translate({ord(sign): "\\" + sign for sign in "&%$#_{}"})
