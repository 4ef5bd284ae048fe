"""Damaged files, made from whole ones: by bytes, by words of the text, and by the grammar of JSON, YAML and tables."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import yaml

Random = np.random.Generator
Mutation = Callable[[bytes, Random, list[bytes]], bytes]

EDGES = (0, 1, 0x7F, 0x80, 0xFF)
MOST_CHANGES = 8
LONGEST_PIECE = 64
WORDS = (
    "", "0", "-1", "1e300", "-1e300", "1e-300", "NaN", "Infinity", "-Infinity", "9" * 400, "null", "true", "\0", "..",
    "../../../etc/passwd", "=1+1", '"', "'", "[" * 50, "{", ",", "\t", "\n", "\r", ";", "é", "\ufeff", "\U0001f440",
    ".", "-", "+", "1,5", "0x10", "1_000", "START", "END", "MSG", "n/a",
)  # fmt: skip
DEEP = 5000
SAFETENSORS_START = 8


def mutated(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """One damaged copy."""
    kinds: tuple[Mutation, ...] = (_bytes, _bytes, _words, _tree, _cells, _cut, _spliced, _nested)
    if data[:2] == b"\x1f\x8b" and rng.random() < 0.7:
        return gzip.compress(mutated(gzip.decompress(data), rng, []), 1)
    return kinds[int(rng.integers(len(kinds)))](data, rng, others)


def _bytes(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """A few bytes changed, taken away, put in or repeated."""
    changed = bytearray(data)
    for _ in range(min(int(rng.geometric(0.5)), MOST_CHANGES)):
        at = int(rng.integers(len(changed) + 1))
        match int(rng.integers(5)):
            case 0 if at < len(changed):
                changed[at] ^= 1 << int(rng.integers(8))
            case 1 if at < len(changed):
                changed[at] = int(rng.choice(EDGES))
            case 2:
                del changed[at : at + int(rng.integers(1, LONGEST_PIECE))]
            case 3:
                changed[at:at] = rng.bytes(int(rng.integers(1, LONGEST_PIECE)))
            case _:
                changed[at:at] = changed[at : at + int(rng.integers(1, LONGEST_PIECE))]
    return bytes(changed)


def _words(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """A number or word of a text replaced by an awkward one."""
    found = list(re.finditer(rb"[-+.\w]+", data[: 1 << 16]))
    if not found:
        return _bytes(data, rng, others)
    for _ in range(int(rng.integers(1, 4))):
        one = found[int(rng.integers(len(found)))]
        word = WORDS[int(rng.integers(len(WORDS)))].encode()
        data = data[: one.start()] + word + data[one.end() :]
    return data


def _cut(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def _spliced(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """The beginning of one file and the end of another."""
    other = others[int(rng.integers(len(others)))] if others else data
    return data[: int(rng.integers(len(data) + 1))] + other[int(rng.integers(len(other) + 1)) :]


def _nested(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    if rng.random() < 0.9 or data.lstrip()[:1] not in (b"[", b"{"):
        return _bytes(data, rng, others)
    mark = b"[" if rng.random() < 0.5 else b'{"a":'
    return b"[" + mark * int(rng.integers(1, DEEP))


def _tree(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """Values of JSON or YAML replaced by values of another kind; of safetensors, values of their header."""
    start = data.find(b"{", 0, SAFETENSORS_START + 1)
    if start == SAFETENSORS_START:
        length = int.from_bytes(data[:start], "little")
        header = _tree(data[start : start + length], rng, others)
        return len(header).to_bytes(start, "little") + header + data[start + length :]
    written: Callable[[Any], Any] = json.dumps
    try:
        tree = json.loads(data)
    except ValueError:
        try:
            tree, written = yaml.safe_load(data), yaml.safe_dump
        except (ValueError, yaml.YAMLError):
            return _words(data, rng, others)
        if not isinstance(tree, dict):
            return _words(data, rng, others)
    for _ in range(int(rng.integers(1, 4))):
        tree = _changed(tree, rng)
    return str(written(tree)).encode(errors="surrogatepass")


def _cells(data: bytes, rng: Random, others: list[bytes]) -> bytes:
    """Columns and rows of a table taken away, repeated or exchanged."""
    mark = next((one for one in (b"\t", b";", b",") if one in data.partition(b"\n")[0]), None)
    if mark is None or b"\0" in data:
        return _bytes(data, rng, others)
    rows = [line.split(mark) for line in data.split(b"\n")]
    for _ in range(int(rng.integers(1, 4))):
        one, other = (int(number) for number in rng.integers(max(1, *map(len, rows)), size=2))
        row = int(rng.integers(len(rows)))
        match int(rng.integers(5)):
            case 0:
                rows = [cells[:one] + cells[one + 1 :] for cells in rows]
            case 1:
                rows = [cells[: one + 1] + cells[one:] for cells in rows]
            case 2:
                rows = [[cells[other], *cells] if other < len(cells) else cells for cells in rows]
            case 3:
                rows[row] = rows[int(rng.integers(len(rows)))]
            case _:
                rows = rows[:row] + rows[row + 1 :] or rows
    return b"\n".join(mark.join(cells) for cells in rows)


def _changed(tree: Any, rng: Random) -> Any:
    if isinstance(tree, list) and tree and rng.random() < 0.9:
        at = int(rng.integers(len(tree)))
        return [*tree[:at], _changed(tree[at], rng), *tree[at + 1 :]]
    if isinstance(tree, dict) and tree and rng.random() < 0.95:
        key = list(tree)[int(rng.integers(len(tree)))]
        if rng.random() < 0.15:
            return {name: value for name, value in tree.items() if name != key}
        return tree | {key: _changed(tree[key], rng)}
    odd = _odd_values()
    return odd[int(rng.integers(len(odd)))]


def _odd_values() -> list[Any]:
    return [
        *(None, True, False, 0, -1, 0.5, 1e300, -1e300, 10**400, 2**63, float("nan"), float("inf")),
        *("", "a", "\0", "../../x.png", "=1+1", "9" * 5000, "\ud800"),
        *([], [[]], [None], ["a"], [[1, 2]], {}, {"a": [1]}),
        *([1] * 500, {"X": 1}, [float("nan")] * 3, [True, False], [-1, -1, -1, -1]),
    ]
