"""Patches, lengths, codes of the fixation index, and the U-Net."""

from __future__ import annotations

import pytest
import torch

from stdiffeye.diffusion import categorical
from stdiffeye.errors import InputError
from stdiffeye.model.image import grid_centres
from stdiffeye.model.layers import sinusoid
from stdiffeye.model.tokens import (
    IndexAdded,
    IndexCode,
    change_point,
    from_patches,
    leading_run,
    to_patches,
    token_decoder,
    token_encoder,
)
from stdiffeye.model.unet import UNet, UNetConfig, position_code


def test_patches_hold_samples_side_by_side_and_come_apart_again():
    samples = torch.arange(24.0).reshape(1, 8, 3)
    tokens = to_patches(samples, 4)
    assert tokens.shape == (1, 2, 12)
    assert tokens[0, 1, :3].tolist() == samples[0, 4].tolist()
    assert torch.equal(from_patches(tokens, 4), samples)


def test_patches_of_one_sample_are_no_patches():
    samples = torch.randn(2, 8, 3)
    assert torch.equal(to_patches(samples, 1), samples)
    assert torch.equal(from_patches(samples, 1), samples)


def test_one_wrong_token_does_not_move_the_change_point_but_ends_the_leading_run():
    logits = torch.full((2, 20, 2), -2.0)
    logits[:, :12, 1] = 2.0
    logits[:, 12:, 0] = 2.0
    logits[1, 4] = torch.tensor([1.0, 0.0])
    assert change_point(logits).tolist() == [12, 12]
    assert leading_run(logits).tolist() == [12, 4]


def test_the_change_point_is_the_best_of_all_lengths():
    logits = torch.randn(30, 9, 2, generator=torch.Generator().manual_seed(0))
    invalid, valid = logits.log_softmax(-1).unbind(-1)
    every = torch.stack([valid[:, :n].sum(1) + invalid[:, n:].sum(1) for n in range(1, 10)], 1)
    assert change_point(logits).tolist() == (every.argmax(1) + 1).tolist()


def test_a_sequence_has_at_least_one_token():
    nothing = torch.tensor([5.0, -5.0]).expand(1, 6, 2)
    assert change_point(nothing).tolist() == [1]
    assert leading_run(nothing).tolist() == [1]


def test_lengths_are_drawn_as_often_as_their_logits_say():
    logits = torch.tensor([0.5, 0.3, 0.2]).log().expand(1000, 3)
    drawn = categorical(logits, (torch.arange(1000) + 0.5) / 1000)
    assert torch.bincount(drawn).tolist() == [500, 300, 200]


def test_g_and_gamma_treat_every_token_by_itself():
    torch.manual_seed(0)
    g, gamma = token_encoder(4, 32), token_decoder(32, 4)
    gaze = torch.randn(1, 6, 4)
    padded = torch.cat([gaze, torch.full((1, 90, 4), -3.0)], 1)
    torch.testing.assert_close(gamma(g(padded))[:, :6], gamma(g(gaze)))


def test_the_learned_index_lies_between_two_rows_of_its_table():
    code = IndexCode("learnable", 8, max_fixations=16)
    rho, fixations = torch.tensor([[0.0, 0.5, 1.0, 0.35]]), torch.tensor([9])
    rows = code(rho, fixations)[0]
    torch.testing.assert_close(rows[:3], code.table[[0, 5, 10]])
    torch.testing.assert_close(rows[3], (code.table[3] + code.table[4]) / 2)
    assert code.table.shape == (18, 8)


def test_the_last_index_of_the_longest_scanpath_is_the_tables_last_row():
    code = IndexCode("learnable", 4, max_fixations=16)
    torch.testing.assert_close(code(torch.ones(1, 1), torch.tensor([16]))[0, 0], code.table[17])


def test_raw_and_sinusoidal_indices():
    rho, fixations = torch.tensor([[0.25, 0.75]]), torch.tensor([3])
    assert IndexCode("raw", 99, 16)(rho, fixations).tolist() == [[[0.25], [0.75]]]
    sines = IndexCode("sinusoidal", 8, 16)(rho, fixations)
    torch.testing.assert_close(sines, sinusoid(torch.tensor([[1.0, 3.0]]), 8, 100.0))


def test_nothing_is_added_on_padding():
    added = IndexAdded(IndexCode("raw", 1, 16), patch=2, width=6)
    rho = torch.rand(1, 4)
    valid = torch.tensor([[1, 1, 0, 0]])
    torch.testing.assert_close(added(rho, torch.tensor([3]), valid)[0, 1], added.project.bias)


TINY = UNetConfig(width=8, multipliers=(1, 2, 2), blocks=2, heads=2, groups=2, dropout=0.0)


def test_the_unet_takes_any_length_and_every_parameter_learns():
    torch.manual_seed(0)
    unet = UNet(TINY, channels=2, picture_width=8)
    picture = unet.encode_image(torch.randn(1, 6, 8), grid_centres(2, 3))
    output = unet(torch.randn(2, 21, 2), torch.tensor([1.0, 500.0]), picture=picture)
    assert output.shape == (2, 21, 2)
    output.square().mean().backward()
    assert [name for name, p in unet.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_the_unet_sees_the_picture():
    torch.manual_seed(0)
    unet = UNet(TINY, channels=2, picture_width=8).eval()
    z, time = torch.randn(1, 16, 2), torch.tensor([10.0])
    one, other = (unet(z, time, picture=unet.encode_image(torch.randn(1, 6, 8), grid_centres(2, 3))) for _ in range(2))
    assert not torch.allclose(one, other)


def test_gaze_and_picture_at_the_same_place_have_the_same_code():
    position = grid_centres(3, 4)
    near = (position_code(position, 32) @ position_code(position[5], 32)).argmax()
    assert near == 5


def test_the_unet_refuses_what_it_cannot_use():
    unet = UNet(TINY, channels=2, picture_width=8)
    with pytest.raises(InputError, match="points, time and picture alone"):
        unet(torch.randn(1, 16, 2), torch.ones(1), valid=torch.ones(1, 16, dtype=torch.bool))
    with pytest.raises(InputError, match=r"picture\.width must be a multiple of 4 .*, got 6"):
        UNet(TINY, channels=2, picture_width=6)
    with pytest.raises(InputError, match=r"must be a multiple of unet\.heads 3"):
        UNetConfig(width=8, heads=3)
    with pytest.raises(InputError, match="cross_attention_from must be a level, 0 to 3, got 4"):
        UNetConfig(cross_attention_from=4)
