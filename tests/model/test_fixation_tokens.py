"""What a token is told of its neighbours: bounded at every level of noise, blind to padding and to where it all is.

And what a token stands for: a fixation within the picture.
"""

from __future__ import annotations

import pytest
import torch

from stdiffeye.model.fixation_tokens import EDGE, NEIGHBOURHOOD, NEIGHBOURS, SCALES, from_tokens, neighbourhood

NOISES = [0.0, 0.02, 0.5, 1.0]


def told(position: torch.Tensor, sigma: float, length: int | None = None) -> torch.Tensor:
    """(M, 2n, S, 3) of one scanpath."""
    valid = torch.arange(len(position)) < (len(position) if length is None else length)
    level = torch.tensor([sigma], dtype=torch.float64)
    numbers = neighbourhood(position[None], valid[None], (1 - level**2).sqrt(), level)
    assert numbers.shape == (1, len(position), NEIGHBOURHOOD)
    return numbers[0].unflatten(-1, (2 * NEIGHBOURS, len(SCALES), 3))


@pytest.fixture
def position() -> torch.Tensor:
    return torch.randn(6, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("sigma", NOISES)
def test_it_is_bounded_and_the_same_wherever_the_scanpath_is(position, sigma):
    numbers = told(position, sigma)
    assert numbers.isfinite().all()
    assert numbers.abs().max() <= 1
    torch.testing.assert_close(numbers, told(position + torch.tensor([3.0, -5.0]), sigma))


def test_before_and_after_are_opposite_ways(position):
    numbers = told(position, 0.1)
    before, after = NEIGHBOURS - 1, NEIGHBOURS
    torch.testing.assert_close(numbers[1:, before, :, :2], -numbers[:-1, after, :, :2])
    torch.testing.assert_close(numbers[1:, before, :, 2], numbers[:-1, after, :, 2])


def test_what_is_padding_or_missing_says_nothing(position):
    numbers = told(position, 0.1, length=4)
    moved = torch.cat([position[:4], position[4:] + 1])
    torch.testing.assert_close(numbers, told(moved, 0.1, length=4))
    assert (numbers[4:] == 0).all()
    assert (numbers[3, NEIGHBOURS:] == 0).all()
    assert (numbers[0, :NEIGHBOURS] == 0).all()


@pytest.mark.parametrize("scale", range(len(SCALES)))
def test_a_saccade_as_long_as_a_scale_is_told_by_it(scale):
    step = SCALES[scale] * 2**0.5
    numbers = told(torch.tensor([[0.0, 0.0], [step, 0.0]], dtype=torch.float64), 0.0)
    expected = torch.tensor([0.5**0.5, 0.0, 0.5], dtype=torch.float64)
    torch.testing.assert_close(numbers[0, NEIGHBOURS, scale], expected)


def test_a_token_beyond_the_picture_is_a_fixation_just_within_it():
    xy, _, _ = from_tokens(torch.tensor([[[-9.0, 9.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]))
    torch.testing.assert_close(xy, torch.tensor([[[EDGE, 1 - EDGE], [0.5, 0.5]]]))
