"""One request for the command line, Python and the page."""

from __future__ import annotations

import dataclasses
import typing

import numpy as np
import pytest
from PIL import Image

from stdiffeye import diffusion
from stdiffeye.errors import InputError
from stdiffeye.fields import sentences
from stdiffeye.generation import Request
from stdiffeye.generation.request import SamplerName


def picture() -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize((160, 120))


def test_every_field_has_its_sentence():
    assert all(sentences(Request).values())
    assert list(sentences(Request)) == [field.name for field in dataclasses.fields(Request)]


def test_the_samplers_that_can_be_asked_for_are_those_that_there_are():
    assert set(typing.get_args(SamplerName)) == set(typing.get_args(diffusion.SamplerName))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"samples": 0}, "samples must be between 1 and 1000, got 0"),
        ({"seconds": 31}, "seconds must be between 0.2 and 30, got 31"),
        ({"precision_deg": 0.0}, "an angle up to 1 degree, got 0"),
        ({"px_per_degree": -1.0}, "px_per_degree must be a positive number, got -1"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_cannot_be_is_refused_when_it_is_asked_for(fields, message):
    with pytest.raises(InputError, match=message):
        Request(**fields)


def test_a_request_and_its_fields_ask_for_the_same(model):
    request = Request(samples=2, seconds=1, seed=3)
    assert model.generate(picture(), request) == model.generate(picture(), samples=2, seconds=1, seed=3)
    assert model.scanpaths(picture(), request, seed=4) == model.scanpaths(picture(), samples=2, seconds=1, seed=4)


def test_progress_is_told_until_all_is_done_and_changes_nothing(model):
    told: list[tuple[int, int]] = []
    request = Request(samples=12, seconds=1)
    gaze = model.generate(picture(), request, progress=lambda done, total: told.append((done, total)))
    assert gaze == model.generate(picture(), request)
    done = [one for one, _ in told]
    assert len(told) > 2
    assert done == sorted(set(done))
    assert {total for _, total in told} == {done[-1]}


def test_what_the_listener_raises_stops_the_work(model):
    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        model.generate(picture(), samples=2, seconds=1, progress=stop)


def test_a_single_sample_is_a_plain_one_even_where_representatives_are_asked_for():
    assert Request(samples=1, representative=True).sampling == "independent"
    assert Request(samples=2, representative=True).sampling == "representative"
    assert Request(samples=2).sampling == "independent"
