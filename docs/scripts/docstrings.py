"""An extension of griffe: our docstrings as it expects them.

Doctests that stand outside a section of examples are fenced, since markdown takes them for quotations; and
"name : meaning" in a section of parameters becomes a name with a description, since types are in the signature.
Rooms whose docstrings are numpydoc are left alone; when all are, this file goes.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"(?m)^(?:>>> .*\n?)(?:^(?!\s*$).*\n?)*")
SECTION = re.compile(r"(?m)^(?:Parameters|Attributes)\n-+\n(?:(?!^\w+\n-+$).*\n?)*")
NUMPYDOC = ("stdiffeye.metrics", "stdiffeye.statistics", "stdiffeye.plotting", "stdiffeye.verbs")
ENTRY = re.compile(r"(?m)^(\w[\w, ]*?) : (.+)$")


class OurDocstrings(griffe.Extension):
    """Rewrite every docstring before it is parsed."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        if not obj.is_alias and obj.docstring is not None and not obj.path.startswith(NUMPYDOC):
            obj.docstring.value = as_expected(obj.docstring.value)


def as_expected(text: str) -> str:
    """The same docstring in the form that griffe's NumPy parser reads."""
    text = SECTION.sub(lambda found: ENTRY.sub(r"\1\n    \2", found[0]), text)
    if re.search(r"(?m)^Examples\n-+$", text):
        return text
    return DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
