"""What is known of trials, as tensors."""

from __future__ import annotations

import torch

from stdiffeye.model.conditions import Conditions


def test_rows_of_which_the_same_is_known_are_of_one_kind():
    seconds = torch.tensor([3.0, 3.0, torch.nan, 3.0, torch.nan])
    style, length = torch.tensor([1, 1, 1, 2, 1]), torch.tensor([5, 5, 5, 5, 5])
    known = Conditions(style, seconds, torch.zeros(5), length, torch.zeros(5, dtype=torch.bool))
    rows, alike = known.kinds()
    assert len(rows) == 3
    assert alike[0] == alike[1]
    assert alike[2] == alike[4]
    assert len({int(alike[0]), int(alike[2]), int(alike[3])}) == 3
    assert rows[alike].tolist() == [0, 0, 2, 3, 2]
