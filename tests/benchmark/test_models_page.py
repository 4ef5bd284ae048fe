"""What `stdiffeye reproduce models` writes into pages is replaced, and nothing around it changes."""

from __future__ import annotations

from pathlib import Path

from stdiffeye.benchmark.shipped_models import SUMMARY, _into_page


def test_the_summary_of_a_page_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{SUMMARY}\n\nold\n\n{SUMMARY}\n\nafter\n")
    _into_page(page, "| new |")
    assert page.read_text() == f"before\n\n{SUMMARY}\n\n| new |\n\n{SUMMARY}\n\nafter\n"


def test_a_page_without_the_two_lines_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{SUMMARY}\n")
    _into_page(page, "| new |")
    assert page.read_text() == f"{SUMMARY}\n"


def test_the_readme_has_the_two_lines() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    assert readme.read_text(encoding="utf-8").count(SUMMARY) == 2
