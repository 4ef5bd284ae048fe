"""Hooks of MkDocs: notebooks and cards become pages, pages without a place get one, commands show their help."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File
from notebooks import as_page, executed, notebooks

ROOT = Path(__file__).parents[2]
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


def made_pages() -> dict[str, Path]:
    """Pages that are not among the documents → the notebook or card that each is made of."""
    examples = {f"examples/{path.stem}.md": path for path in notebooks()}
    cards = {f"models/{path.parent.name}.md": path for path in sorted(ROOT.glob("src/stdiffeye/models/*/card.md"))}
    return examples | cards


def on_files(files: Any, config: Any) -> Any:
    """Execute the notebooks, and add them and the cards to the site."""
    for page, source in made_pages().items():
        made: dict[str, str | bytes] = {page: source.read_text(encoding="utf-8")}
        if source.suffix == ".ipynb":
            text, pictures = as_page(executed(source), source.stem)
            made = {page: text, **{f"examples/{name}": content for name, content in pictures.items()}}
        for name, content in made.items():
            files.append(File.generated(config, name, content=content))
    return files


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
