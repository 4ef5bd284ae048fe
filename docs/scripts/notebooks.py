"""The notebooks of `examples/` as pages: executed for real, in a folder of their own, and written as Markdown."""

from __future__ import annotations

import base64
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMEOUT_S = 600  # a cell takes seconds; a machine that is busy with training may take minutes
PICTURES = {"image/png": "png", "image/gif": "gif"}
# Progress, warnings of a terminal and the like have no place on a page.
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebooks() -> list[Path]:
    """Every example, in order."""
    return sorted(EXAMPLES.glob("*.ipynb"))


def executed(path: Path, folder: str | Path | None = None) -> Any:
    """The notebook with its outputs; run in `folder`, by default a temporary one. A cell that fails raises."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            return executed(path, made)
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(folder)}}
    patience = {"timeout": TIMEOUT_S, "startup_timeout": TIMEOUT_S}
    return NotebookClient(notebook, resources=where, extra_arguments=["--log-level=ERROR"], **patience).execute()


def as_page(notebook: Any, stem: str) -> tuple[str, dict[str, bytes]]:
    """Markdown, and the pictures that it names: cells of text as they are, code, and what it showed."""
    parts: list[str] = []
    files: dict[str, bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            name = f"{stem}-{len(files) + 1}"
            parts.append(_shown(output, name, files))
    note = f"*This page is `examples/{stem}.ipynb`, executed when the site was built.*"
    title, _, rest = "\n\n".join(part for part in parts if part).partition("\n")
    return f"{title}\n\n{note}\n{rest}\n", files


def _shown(output: Any, name: str, files: dict[str, bytes]) -> str:
    if output.output_type == "stream":
        return f"```text\n{ANSI.sub('', output.text).rstrip()}\n```" if output.name == "stdout" else ""
    data = output.get("data", {})
    for kind, suffix in PICTURES.items():
        if kind in data:
            files[f"{name}.{suffix}"] = base64.b64decode(data[kind])
            return f"![What the cell shows]({name}.{suffix})"
    if "text/markdown" in data:
        return str(data["text/markdown"])
    return f"```text\n{data['text/plain']}\n```" if "text/plain" in data else ""
