"""YAML as plain values, within limits: a few lines of aliases may stand for a billion words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from stdiffeye.border import shortened
from stdiffeye.errors import InputError

MOST_CHARACTERS = 1 << 20
MOST_VALUES = 100_000


def read_yaml(path: Path) -> Any:
    """What a YAML file says, as plain values."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not YAML: {error}") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, where: str) -> Any:
    """What YAML text says, as plain values; `where` names it in errors."""
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"{where} has {len(text)} characters, at most {MOST_CHARACTERS} are read as YAML")
    try:
        values = yaml.safe_load(text)
        count = _count(values, MOST_VALUES)
    except RecursionError:
        raise InputError(f"{where} is not YAML that can be read: it is nested too deeply") from None
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:  # as impossible dates and odd keys raise
        raise InputError(shortened(f"{where} is not YAML: {error}")) from None
    if count > MOST_VALUES:
        raise InputError(f"{where} says more than {MOST_VALUES} values: do its aliases repeat each other?")
    return values


def _count(value: Any, most: int) -> int:
    """Values of a tree, aliases counted as often as they are met; the count ends above `most`."""
    count = 1
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        if count > most:
            break
        count += _count(one, most - count)
    return count
