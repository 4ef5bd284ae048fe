"""The flags of a verb: the fields of its dataclass, and of the dataclasses among them, each with its sentence."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import DisallowNone, FlagCreatePairsOff, Positional, arg
from tyro.constructors import (
    MISSING_NONPROP,
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from stdiffeye.errors import InputError
from stdiffeye.fields import sentences

# One flag per switch (--json, --no-plots), not both ways of it; and nobody types None: help stays on one screen.
STYLE = (FlagCreatePairsOff, DisallowNone)
METAVARS = {int: "N", float: "X", str: "TEXT", Path: "PATH"}
LONGEST_CHOICES = 15
NOT_WORTH_TELLING = ("None", "False", "True", "''", "")


class Refused(Exception):
    """Words that a dataclass refuses; not a ValueError, which tyro would put into a box."""


@dataclass(frozen=True)
class Flag:
    """One flag, or positional word."""

    name: str
    kind: Any
    """Its type, with what is annotated for tyro."""
    default: Any
    sentence: str

    @property
    def positional(self) -> bool:
        marks = getattr(self.kind, "__metadata__", ())
        return any(mark in Positional[str].__metadata__ for mark in marks)  # type: ignore[attr-defined]


def flags_of(kind: type[Any], instance: Any = None) -> Iterator[Flag]:
    """The flags of a dataclass, with those of a dataclass among its fields in that field's place."""
    words = sentences(kind)
    for field, inner in _fields(kind):
        default = _default(field) if instance is None else getattr(instance, field.name)
        if _is_nested(inner):
            yield from flags_of(inner, None if default is MISSING_NONPROP else default)
        else:
            yield Flag(field.name, inner, default, words[field.name])


def registry() -> ConstructorRegistry:
    """How tyro reads our dataclasses."""
    rules = ConstructorRegistry()
    rules.struct_rule(_rule)
    rules.primitive_rule(_finite)
    return rules


def _finite(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[float] | None:
    """No flag means anything as NaN or infinity, which most comparisons let through."""
    if info.type is not float:
        return None

    def number(words: list[str]) -> float:
        value = float(words[0])
        if not math.isfinite(value):
            raise ValueError(f"{words[0]} is no number that can be worked with")
        return value

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="FLOAT",
        instance_from_str=number,
        is_instance=lambda value: isinstance(value, float | int),
        str_from_instance=lambda value: [str(value)],
    )


def _rule(info: StructTypeInfo) -> StructConstructorSpec | None:
    kind = info.type
    if not dataclasses.is_dataclass(kind):
        return None
    flags = tuple(
        StructFieldSpec(
            flag.name,
            _annotated(flag.kind),
            flag.default,
            f"Switch off: {flag.sentence}" if flag.default is True else flag.sentence or None,
        )
        for flag in flags_of(kind)
    )

    def made(**values: Any) -> Any:
        try:
            return _built(kind, values)
        except InputError as error:
            raise Refused(str(error)) from error

    return StructConstructorSpec(made, flags)


def _built(kind: type[Any], values: Mapping[str, Any]) -> Any:
    return kind(
        **{
            field.name: _built(inner, values) if _is_nested(inner) else values[field.name]
            for field, inner in _fields(kind)
        }
    )


def _fields(kind: type[Any]) -> list[tuple[dataclasses.Field[Any], Any]]:
    kinds = typing.get_type_hints(kind, include_extras=True)
    return [(field, kinds[field.name]) for field in dataclasses.fields(kind)]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return MISSING_NONPROP if field.default is dataclasses.MISSING else field.default


def _is_nested(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind)


def _annotated(kind: Any) -> Any:
    return Annotated[kind, arg(metavar=_short_metavar(kind), help_behavior_hint=_hint)]


def _short_metavar(kind: Any) -> str | None:
    """N, X or NAME for a number or a choice of many words; None leaves it to the annotation or to tyro."""
    if any(getattr(mark, "metavar", None) for mark in getattr(kind, "__metadata__", ())):
        return None
    plain = kind.__origin__ if typing.get_origin(kind) is Annotated else kind
    inner = [one for one in typing.get_args(plain) if one is not type(None)] if _is_union(plain) else [plain]
    if len(inner) != 1:
        return None
    if typing.get_origin(inner[0]) is typing.Literal:
        return "NAME" if len(" ".join(typing.get_args(inner[0]))) > LONGEST_CHOICES else None
    if typing.get_origin(inner[0]) is tuple and typing.get_args(inner[0])[1:] == (...,):
        of = typing.get_args(inner[0])[0]
        return f"{METAVARS[of]} …" if of in METAVARS else None
    if typing.get_origin(inner[0]) is tuple:
        return " ".join(METAVARS.get(one, "TEXT") for one in typing.get_args(inner[0]))
    return METAVARS.get(inner[0])


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Union, types.UnionType)


def _hint(default: str) -> str:
    return "" if default in NOT_WORTH_TELLING else f"(default: {default})"
