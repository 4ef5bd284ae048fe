"""What `stdiffeye train --list` and `stdiffeye train PRESET --show` print: presets and keys with their sentences."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Iterator

from stdiffeye.systems.presets import SystemConfig, load_preset, presets


def list_presets() -> str:
    """A line for each preset: its name and what it is."""
    names = presets()
    width = max(map(len, names))
    return "\n".join(f"{name:<{width}}  {load_preset(name).about}" for name in names)


def show_preset(config: SystemConfig) -> str:
    """Every key that `--set` takes, its value, and the sentence under it."""
    return "\n".join(_lines("", config))


def _lines(prefix: str, value: object) -> Iterator[str]:
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        inner, key = getattr(value, field.name), f"{prefix}{field.name}"
        if dataclasses.is_dataclass(inner):
            yield from _lines(f"{key}.", inner)
        elif isinstance(inner, dict):
            for name, stage in inner.items():
                yield from _lines(f"{key}.{name}.", stage)
        else:
            sentence = _sentences(type(value)).get(field.name, "")
            shown = list(inner) if isinstance(inner, tuple) else inner
            yield f"{key}={shown}" + (f"  # {sentence}" if sentence else "")


def _sentences(kind: type) -> dict[str, str]:
    """Field → the string literal under it, of a dataclass and those it derives from."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(body, ast.ClassDef)
        for line, below in zip(body.body, body.body[1:], strict=False):
            match line, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(sentence))):
                    found[name] = " ".join(sentence.split())
    return found
