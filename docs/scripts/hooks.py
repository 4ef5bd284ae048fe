"""Hooks of MkDocs: pages that mkdocs.yml does not name get a place; the page of commands gets their help."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

SECTIONS = {"models": "Models", "results": "Results"}
OTHERS = "More"
HELP_MARK, HELP_COLUMNS = "<!-- help of every verb -->", 78


def on_config(config: Any) -> Any:
    """Append the unnamed pages to the navigation, by folder."""
    docs = Path(config["docs_dir"])
    named = set(leaves(config["nav"]))
    found: dict[str, list[str]] = {}
    for path in sorted(docs.rglob("*.md")):
        page = path.relative_to(docs).as_posix()
        if page not in named:
            found.setdefault(SECTIONS.get(page.split("/")[0], OTHERS), []).append(page)
    config["nav"] += [{section: pages} for section, pages in found.items()]
    return config


def on_page_markdown(markdown: str, **context: Any) -> str:
    """Put the help of every verb where the mark is."""
    if HELP_MARK not in markdown:
        return markdown
    from stdiffeye.cli import VERBS

    sections = [f"## {verb}\n\n```text\n{help_of(verb).rstrip()}\n```" for verb in VERBS]
    return markdown.replace(HELP_MARK, "\n\n".join(sections))


def help_of(verb: str) -> str:
    """What `stdiffeye VERB --help` prints, plain."""
    from stdiffeye.cli import parse

    os.environ["COLUMNS"] = str(HELP_COLUMNS)
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        parse(verb, ["--help"])
    return printed.getvalue()


def leaves(nav: Any) -> list[str]:
    """The pages that a navigation names."""
    if isinstance(nav, str):
        return [nav]
    items = nav.values() if isinstance(nav, dict) else nav
    return [leaf for item in items for leaf in leaves(item)]
