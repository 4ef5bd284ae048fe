"""README and docs are in sentences that one reads once: under thirty words each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import FENCE, page_id, pages

MOST_WORDS = 30
# A list of names is no sentence that anybody reads.
LISTS = ("Cite:", "Dropped trials of")


def prose(text: str) -> list[str]:
    """Paragraphs and list items of a page; code, tables, headings and comments aside."""
    text = re.sub(r"(?s)\A---\n.*?\n---\n|<!--.*?-->", "", FENCE.sub("\n\n", text))
    text = re.sub(r"(?m)^\s*(?:\||#|:::|!\[|</?\w|\[\w+\]:).*$", "\n", text)
    text = re.sub(r"(?m)^\s*(?:[-*]|\d+\.)\s+", "\n\n", text)
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def sentences(paragraph: str) -> list[str]:
    """Sentences, where what stands in backticks, a link or a formula is one word."""
    paragraph = re.sub(r"\]\([^)]*\)|`+[^`]*`+|\$+[^$]*\$+|<[^>\s]+>", " x ", paragraph)
    paragraph = re.sub(r"\b(?:e\.g|i\.e|al|vs|cf|Fig|Eq|No)\.", "x", paragraph)
    return re.split(r"(?<=[.!?:;])[*_\"”)]*\s+", paragraph)


def words(sentence: str) -> list[str]:
    return [word for word in sentence.split() if re.search(r"\w", word)]


@pytest.mark.parametrize("page", pages(), ids=page_id)
def test_sentences_are_short(page: Path):
    paragraphs = [one for one in prose(page.read_text(encoding="utf-8")) if not one.startswith(LISTS)]
    long = [one for paragraph in paragraphs for one in sentences(paragraph) if len(words(one)) >= MOST_WORDS]
    assert long == []


def test_the_measure_counts_words_of_sentences_and_not_of_code_and_tables():
    text = "# A title\n\nOne two three. Four `x y z`: five.\n\n| a | b |\n|---|---|\n\n* Six\n  seven\n\n"
    text += "```sh\nmany words\n```\n"
    counts = [len(words(one)) for paragraph in prose(text) for one in sentences(paragraph)]
    assert counts == [3, 2, 1, 2]
