"""The sentence under each field of a dataclass: help of flags, keys of presets and forms are all written once."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from typing import Any


def sentences(kind: type[Any]) -> dict[str, str]:
    """Field → the string under it, on one line; "" for a field without one.

    Parameters
    ----------
    kind : type
        A dataclass that was written in a file.

    Returns
    -------
    dict of str to str
        All fields in order, inherited ones included.
    """
    found = {field.name: "" for field in dataclasses.fields(kind)}
    for base in reversed(kind.__mro__):
        if dataclasses.is_dataclass(base):
            found.update(_of_source(base))
    return found


def _of_source(kind: type[Any]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                found[field.target.id] = " ".join(text.value.split())
    return found
