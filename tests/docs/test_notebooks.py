"""The notebooks run from the first cell to the last, in a process of their own, and carry no outputs."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from pages import DOCS, ROOT

sys.path.insert(0, str(DOCS / "scripts"))
from notebooks import as_page, executed, notebooks


def name_of(path: Path) -> str:
    return path.stem


def test_there_are_examples_and_README_names_each():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(notebooks()) >= 4
    assert all(f"examples/{path.name}" in readme for path in notebooks())


@pytest.mark.parametrize("path", notebooks(), ids=name_of)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.cells[0].source.startswith("# ")
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


@pytest.mark.parametrize("path", notebooks(), ids=name_of)
def test_a_notebook_runs_and_becomes_a_page_with_what_it_showed(path, tmp_path):
    notebook = executed(path, tmp_path)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    page, pictures = as_page(notebook, path.stem)
    assert page.startswith(notebook.cells[0].source.splitlines()[0])
    assert all(f"]({name})" in page for name in pictures)
    assert "Traceback" not in page


def test_a_cell_that_fails_fails_the_notebook(tmp_path):
    from nbclient.exceptions import CellExecutionError

    broken = tmp_path / "broken.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), broken)
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(broken, tmp_path)
