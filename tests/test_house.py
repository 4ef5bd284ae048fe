"""The rules of the house that no linter holds: names, sizes, imports, words."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import stdiffeye

SOURCE = Path(__file__).parents[1] / "src" / "stdiffeye"
MODULES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 40
# Words of our own for what vision science and machine learning have words for.
PRIVATE_WORDS = {
    *("manner", "manners", "seat", "seats", "seated", "seating", "bones", "relit", "sided", "paced", "rested"),
    *("habits", "contestant", "contestants", "referee", "wish", "desk", "studio", "standings", "judgement"),
    *("place", "places", "spread", "people", "person", "persons", "somebody", "asked", "asks", "part", "told"),
    *("peer", "peers", "forget_picture", "by_need", "most_like_all", "whole_file", "tokens_config", "low_noise"),
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


def test_tables_are_written_by_the_one_writer_that_knows_formulas():
    """A cell that begins with = + - @ is a formula to a spreadsheet: `csv_cells.CsvWriter` alone writes CSV."""
    other = re.compile(r"csv\.(writer|DictWriter)|from csv import|savetxt|\.to_csv\([^)]*index")
    assert [path.name for path in MODULES if other.search(path.read_text(encoding="utf-8"))] == ["csv_cells.py"]


def test_functions_are_short():
    long = {name: lines for name, node in functions() if (lines := length(node)) >= MOST_LINES_OF_A_FUNCTION}
    assert long == {}


def test_the_words_are_found_where_they_hide():
    tree = ast.parse("class SeatedViewer:\n    def draw(self, by_need: int) -> None:\n        self.manners = by_need")
    private = {name for name in identifiers(tree) if words(name) & PRIVATE_WORDS}
    assert private == {"SeatedViewer", "by_need", "manners"}


Function = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED_ROOMS = ("gaze", "metrics")


def documented() -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Public functions, classes and methods of the documented rooms and of the package's top level."""
    exported = [getattr(stdiffeye, name) for name in stdiffeye.__all__]
    own = {
        (inspect.getsourcefile(one), one.__name__) for one in exported if inspect.isroutine(one) or inspect.isclass(one)
    }
    for path, tree in TREES.items():
        room = path.relative_to(SOURCE).parts[0]
        in_room = room in DOCUMENTED_ROOMS and not path.stem.startswith("_")
        for node in tree.body:
            if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_"):
                continue
            if in_room or (str(path), node.name) in own:
                yield f"{path.relative_to(SOURCE)}: {node.name}", node
                for method in node.body if isinstance(node, ast.ClassDef) else ():
                    if isinstance(method, Function) and not method.name.startswith("_") and not _is_property(method):
                        yield f"{path.relative_to(SOURCE)}: {node.name}.{method.name}", method


def _is_property(node: Function) -> bool:
    return any("property" in ast.unparse(one) for one in node.decorator_list)


def section(docstring: str, title: str) -> str | None:
    """The text below a heading of numpydoc."""
    found = re.search(rf"(?ms)^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", docstring)
    return None if found is None else found[1]


def entries(text: str | None) -> list[str]:
    """Names that a section of parameters explains."""
    heads = [line.split(" :")[0] for line in (text or "").splitlines() if line[:1].strip()]
    return [name.strip(" *") for head in heads for name in head.split(",")]


def faults(node: Function | ast.ClassDef) -> list[str]:
    """What a docstring leaves out, or says of something that is not there."""
    docstring = ast.get_docstring(node)
    if docstring is None:
        return ["no docstring"]
    if isinstance(node, ast.ClassDef):
        return _faults_of_class(node, docstring)
    args = node.args
    every = [*args.posonlyargs, *args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
    taken = {one.arg for one in [*every, *([args.kwarg] if args.kwarg else [])]} - {"self", "cls"}
    explained = entries(section(docstring, "Parameters"))
    found = [f"parameters {sorted(taken)}, explained {explained}"] if sorted(taken) != sorted(explained) else []
    returns = node.returns is not None and ast.unparse(node.returns) not in ("None", "NoReturn")
    if returns and section(docstring, "Returns") is None and section(docstring, "Yields") is None:
        found.append("no Returns")
    return found


def _faults_of_class(node: ast.ClassDef, docstring: str) -> list[str]:
    """A class explains its fields in sections, or each field in a sentence below it."""
    body = node.body
    named = {one.target.id: number for number, one in enumerate(body) if isinstance(one, ast.AnnAssign)}
    fields = {name: number for name, number in named.items() if not name.startswith("_")}
    below = {name for name, at in fields.items() if at + 1 < len(body) and isinstance(body[at + 1], ast.Expr)}
    explained = {*entries(section(docstring, "Parameters")), *entries(section(docstring, "Attributes")), *below}
    return [f"field {name} has no sentence" for name in fields if name not in explained]


def test_public_functions_of_the_top_level_gaze_and_metrics_say_what_they_take_and_return():
    assert {name: found for name, node in documented() if (found := faults(node))} == {}


def test_a_docstring_that_leaves_something_out_is_found():
    code = '''
def add(a: int, b: int) -> int:
    """Add.

    Parameters
    ----------
    a, c : int
        Numbers.
    """

class Sum:
    """A sum."""

    value: float
    count: int
    """How many."""
'''
    function, sum_class = ast.parse(code).body
    assert faults(function) == ["parameters ['a', 'b'], explained ['a', 'c']", "no Returns"]
    assert faults(sum_class) == ["field value has no sentence"]
