"""The demonstration `crps`: the paper's Figure 3, from points that it draws itself."""

from __future__ import annotations

from pathlib import Path


def demo(out: Path, quiet: bool = False) -> None:
    """Score four generators under four protocols; figure and numbers go to `out`."""
    from stdiffeye.benchmark import figure3

    written = figure3.reproduce(Path(), out / "crps.md", quiet)
    print(f"Look at {written.with_suffix('.png')}; the numbers are in {written}")
