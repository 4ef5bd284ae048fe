"""Make a page of tables from several results files that were made on the same frozen splits.

Example: stdiffeye leaderboard ours.json theirs.json --out leaderboard.md
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class LeaderboardArgs:
    results: Positional[tuple[Path, ...]]
    """Files that `evaluate --split-id … --out FILE` wrote."""
    out: Path = Path("leaderboard.md")
    """Page to write."""
    quiet: bool = False
    """Print nothing."""


def run(args: LeaderboardArgs) -> None:
    from stdiffeye.metrics.results_page import leaderboard

    written = leaderboard(args.results, args.out)
    if not args.quiet:
        print(f"The page is {written}")
