"""The notebooks of `examples/`, executed for real in a folder of their own: kept with outputs, and as Markdown pages.

`python docs/scripts/notebooks.py` executes all (or those named) and keeps what they showed, made small.
"""

from __future__ import annotations

import base64
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMEOUT_S = 600  # a cell takes seconds; a machine that is busy with training may take minutes
PICTURES = {"image/png": "png", "image/gif": "gif"}
# Progress, warnings of a terminal and the like have no place on a page.
KEPT_WIDTH_PX, KEPT_COLOURS = 520, 48  # of pictures in a kept notebook: figures have few colours
KEPT_FILM_PX, KEPT_FILM_COLOURS, KEPT_EVERY = 300, 32, 4
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


def kept(notebook: Any) -> Any:
    """The notebook as it is kept: progress left out, pictures made small, no times of execution."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [one for one in map(_kept_output, cell.outputs) if one is not None]
    return notebook


def _kept_output(output: Any) -> Any:
    if output.output_type == "stream":
        return None if output.name == "stderr" else output
    data = output.get("data", {})
    for kind, small in (("image/png", _small_png), ("image/gif", _small_gif)):
        if kind in data:
            data[kind] = base64.b64encode(small(base64.b64decode(data[kind]))).decode()
    if any(kind in data for kind in (*PICTURES, "text/plain")):
        data.pop("text/html", None)  # the same once more, with its pictures inside
    return output


def _small_png(png: bytes) -> bytes:
    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGB")
    image.thumbnail((KEPT_WIDTH_PX, KEPT_WIDTH_PX))
    buffer = io.BytesIO()
    image.quantize(KEPT_COLOURS, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _small_gif(gif: bytes) -> bytes:
    """Every fourth frame, as long as the four."""
    with Image.open(io.BytesIO(gif)) as opened:
        frames, duration_ms = [], 0
        for number in range(opened.n_frames):
            opened.seek(number)
            if number % KEPT_EVERY == 0:
                frame = opened.convert("RGB")
                frame.thumbnail((KEPT_FILM_PX, KEPT_FILM_PX))
                frames.append(frame.quantize(KEPT_FILM_COLOURS, dither=Image.Dither.NONE))
                duration_ms = KEPT_EVERY * int(opened.info.get("duration", 40))
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=duration_ms, loop=0, optimize=True)
    return buffer.getvalue()


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


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else notebooks():
        nbformat.write(kept(executed(path)), path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
