"""Random numbers and means that do not depend on the number of processes."""

from __future__ import annotations

import torch
from together import together

from stdiffeye.systems.step_random import Ranks, StepRandom


def test_two_ranks_draw_what_one_draws():
    def draw(random: StepRandom, rows: int):
        return random.normal(rows, 3), random.uniform(rows), random.integers(50, rows)

    alone = draw(StepRandom(7, 12), 4)
    halves = [draw(StepRandom(7, 12, Ranks(rank, 2)), 2) for rank in (0, 1)]
    for whole, first, second in zip(alone, *halves, strict=True):
        assert torch.equal(whole, torch.cat([first, second]))


def test_steps_and_seeds_draw_other_numbers():
    first = StepRandom(0, 0).normal(4)
    assert not torch.equal(first, StepRandom(0, 1).normal(4))
    assert not torch.equal(first, StepRandom(1, 0).normal(4))
    assert torch.equal(first, StepRandom(0, 0).normal(4))


def test_the_mean_of_two_ranks_gradients_is_that_of_one():
    values = torch.arange(8.0).reshape(4, 2)
    counted = torch.tensor([[True, True], [True, False], [False, False], [False, True]])
    whole = StepRandom(0, 0).mean(values, counted)

    def half(ranks: Ranks):
        mine = slice(ranks.rank * 2, ranks.rank * 2 + 2)
        return StepRandom(0, 0, ranks).mean(values[mine], counted[mine])

    assert torch.isclose(torch.stack(together(2, half)).mean(), whole)
    assert whole == (0 + 1 + 2 + 7) / 4
    counted = torch.zeros(4, 2, dtype=torch.bool)
    counted[0, 1] = True  # less than one per rank
    assert torch.stack(together(2, half)).mean() == 1.0


def test_rows_are_gathered_in_the_order_of_one_process():
    gathered = together(2, lambda ranks: ranks.gather(torch.arange(3) + 3 * ranks.rank))
    assert [part.tolist() for part in gathered] == [[0, 1, 2, 3, 4, 5]] * 2


def test_ranks_divide_the_rows():
    assert [Ranks(rank, 2).mine(6) for rank in (0, 1)] == [slice(0, 3), slice(3, 6)]
