"""The rules of the house that no linter holds: names, sizes, imports, words."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "stdiffeye"
MODULES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 60
# Words of our own for what vision science and machine learning have words for.
PRIVATE_WORDS = {
    *("manner", "manners", "seat", "seats", "seated", "seating", "bones", "relit", "sided", "paced", "rested"),
    *("habits", "contestant", "contestants", "referee", "wish", "desk", "studio", "standings", "judgement"),
    *("place", "places", "spread", "people", "person", "persons", "somebody", "asked", "asks", "part", "told"),
    *("forget_picture", "by_need", "most_like_all", "whole_file", "tokens_config", "low_noise"),
}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(SOURCE)}: {node.name}", node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0]
    documented = ast.get_docstring(node) is not None
    docstring = first.end_lineno - first.lineno + 1 if documented and first.end_lineno else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def identifiers(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
    return found


def words(identifier: str) -> set[str]:
    """`SeatedCrowd`, `seated_crowd` → seated, crowd, and the whole in lower case."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier).lower().strip("_")
    return {snake, *snake.split("_")}


def test_no_two_modules_have_one_name():
    names = Counter(path.stem for path in MODULES if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_two_classes_have_one_name():
    names = Counter(node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_is_short_imports_by_imports_and_speaks_the_fields_words(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < MOST_LINES
    assert not re.search(r"\bimport_module\b|\b__import__\b", text), "an import through a string is seen by no checker"
    private = {name for name in identifiers(TREES[path]) if words(name) & PRIVATE_WORDS}
    assert private == set()


def test_functions_are_short():
    long = {name: lines for name, node in functions() if (lines := length(node)) >= MOST_LINES_OF_A_FUNCTION}
    assert long == {}


def test_the_words_are_found_where_they_hide():
    tree = ast.parse("class SeatedViewer:\n    def draw(self, by_need: int) -> None:\n        self.manners = by_need")
    private = {name for name in identifiers(tree) if words(name) & PRIVATE_WORDS}
    assert private == {"SeatedViewer", "by_need", "manners"}
