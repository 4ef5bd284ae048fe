"""The notebooks run from the first cell to the last, in a process of their own, and are kept with what they showed."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from pages import DOCS, ROOT

sys.path.insert(0, str(DOCS / "scripts"))
from notebooks import as_page, executed, kept, notebooks

MOST_KB = 400


def name_of(path: Path) -> str:
    return path.stem


def test_there_are_examples_and_README_names_each():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(notebooks()) >= 4
    assert all(f"examples/{path.name}" in readme for path in notebooks())


@pytest.mark.parametrize("path", notebooks(), ids=name_of)
def test_a_notebook_is_kept_with_its_outputs_and_small(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.cells[0].source.startswith("# ")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert any(cell.outputs for cell in code)
    assert all(output.output_type != "error" for cell in code for output in cell.outputs)
    assert path.stat().st_size < MOST_KB * 1000


@pytest.mark.parametrize("path", notebooks(), ids=name_of)
def test_a_notebook_runs_shows_what_is_kept_and_becomes_a_page(path, tmp_path):
    notebook = kept(executed(path, tmp_path))
    # The same kinds of outputs: numbers change with the models and pictures with matplotlib.
    assert shown(notebook) == shown(nbformat.read(path, as_version=4))
    page, pictures = as_page(notebook, path.stem)
    assert page.startswith(notebook.cells[0].source.splitlines()[0])
    assert all(f"]({name})" in page for name in pictures)
    assert "Traceback" not in page


def shown(notebook):
    """Source and kinds of outputs of every cell of code; what is printed may come in one piece or in several."""
    return [
        (cell.source, [kind for kind, _ in groupby(map(kind_of, cell.outputs))])
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def kind_of(output) -> list[str]:
    return sorted(output.get("data", {output.output_type: None}))


def test_a_cell_that_fails_fails_the_notebook(tmp_path):
    from nbclient.exceptions import CellExecutionError

    broken = tmp_path / "broken.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), broken)
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(broken, tmp_path)
