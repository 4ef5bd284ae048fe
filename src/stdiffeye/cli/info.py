"""Describe any recording, gaze file, data set, store, run or model: counts, rates, losses, messages, histograms.

Example: stdiffeye info recording.asc
         stdiffeye info stores/osie
         stdiffeye info osie ~/data/osie
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

if TYPE_CHECKING:
    from stdiffeye.data.description import Histogram, Info

BLOCKS = " ▁▂▃▄▅▆▇█"


@dataclass
class InfoArgs:
    path: tyro.conf.Positional[str]
    """A recording, gaze file, BIDS folder, store or run; or the name of a data set (osie, doves, …) or model."""
    source: tyro.conf.Positional[Path | None] = None
    """With the name of a data set: the folder to check for its files."""
    screen: Annotated[str | None, tyro.conf.arg(metavar="WxH", help_behavior_hint="")] = None
    """Screen size of a recording that does not say it, as WIDTHxHEIGHT in px."""
    json: bool = False
    """Print JSON."""


def run(args: InfoArgs) -> int:
    from stdiffeye.cli.fixations import parse_screen
    from stdiffeye.data.description import info

    described = info(args.path, args.source, parse_screen(args.screen, None))
    if args.json:
        print(json.dumps(described.as_dict(), indent=1, ensure_ascii=False))
    else:
        _show(described)
    return 2 if any(str(value).startswith("MISSING") for value in described.facts.values()) else 0


def _show(described: Info) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"[bold]{described.path}[/bold], a {described.what}")
    table = Table(box=None, show_header=False, pad_edge=False)
    for key, value in described.facts.items():
        if value not in (None, "", []):
            table.add_row(key, _words(key, value))
    for key, counts in described.counts.items():
        if counts:
            table.add_row(key, escape((", " if len(counts) < 5 else "\n").join(_counted(counts))))
    console.print(table)
    for histogram in described.histograms:
        console.print(_bars(histogram))


def _counted(counts: dict[str, int]) -> list[str]:
    return [f"{name} × {count:,}" for name, count in counts.items()]


def _words(key: str, value: Any) -> str:
    if isinstance(value, float) and (key.startswith("with ") or key.endswith("lost")):
        return f"{value:.1%}"
    if isinstance(value, list):
        return ", ".join(f"{item:g}" for item in value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _bars(histogram: Histogram) -> str:
    unit = f" {histogram.unit}" if histogram.unit else ""
    if len(histogram.counts) == 1:
        return f"{histogram.label:<24}{_number(histogram.largest)}{unit}"
    most = max(histogram.counts)
    bars = "".join(BLOCKS[-(-count * (len(BLOCKS) - 1) // most)] for count in histogram.counts)
    beyond = f", largest {_number(histogram.largest)}" if histogram.largest > 1.01 * histogram.high else ""
    return f"{histogram.label:<24}{_number(histogram.low)} {bars} {_number(histogram.high)}{unit}{beyond}"


def _number(value: float) -> str:
    """At most four digits, never as a power of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
