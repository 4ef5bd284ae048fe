"""What the documents print: fenced blocks, commands, inline commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELLS = ("sh", "bash", "console")


def pages() -> list[Path]:
    """README, CONTRIBUTING and every page of the site."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """(language, text) of the fenced blocks, in order."""
    return [(kind, text) for kind, text in FENCE.findall(page.read_text(encoding="utf-8"))]


def commands(text: str) -> list[list[str]]:
    """The words of each command of a block of shell; comments and continued lines are as the shell has them."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def shell_commands(page: Path) -> list[list[str]]:
    return [words for kind, text in blocks(page) if kind in SHELLS for words in commands(text)]


def inline_commands(page: Path) -> list[str]:
    """What stands in backticks within the text and begins with the program's name."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"`(stdiffeye [^`]+)`", prose)


def links(page: Path) -> list[str]:
    """Relative targets of links and pictures, without anchors."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target.split("#")[0] for target in targets if "://" not in target and not target.startswith("#")]
