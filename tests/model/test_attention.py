"""Attention: the closed form of denoising, shared pictures, and padding that never leaks."""

from __future__ import annotations

import pytest
import torch

from stdiffeye.errors import InputError
from stdiffeye.model.denoiser import Denoiser, DenoiserConfig
from stdiffeye.model.image import PHASES, DensityHead, Fusion, ImageConfig, grid_centres, phase_of
from stdiffeye.model.layers import AttentionGeometry, BlockConfig, CrossAttention, Ragged, over_neighbours

TINY = DenoiserConfig(channels=3, max_tokens=12, width=16, depth=2, heads=2, feedforward=32, dropout=0.0, hidden=16)
MODERN = {"norm": "pre", "cross_query": "stream", "time": "adaln", "hidden": 0}


def made(config: DenoiserConfig) -> Denoiser:
    torch.manual_seed(0)
    denoiser = Denoiser(config).eval()
    with torch.no_grad():  # gates that begin at zero would hide everything
        for parameter in denoiser.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return denoiser


def neutral_attention() -> CrossAttention:
    """Cross-attention whose content says nothing: geometry alone decides, and the place is what comes out."""
    attention = CrossAttention(BlockConfig(width=4, heads=1, dropout=0.0, denoising_attention=True), time_width=5)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.zero_()
        attention.out.weight[0, 4] = attention.out.weight[1, 5] = 1.0
        attention.out.weight[2, 8] = attention.out.weight[3, 9] = 1.0
    return attention


@pytest.mark.parametrize("sigma", [0.05, 0.3, 0.9, 0.9999])
def test_denoising_attention_is_the_posterior_mean_of_a_density(sigma):
    generator = torch.Generator().manual_seed(0)
    position = grid_centres(6, 8) * 4 - 2
    log_density = (2 * torch.randn(1, 48, generator=generator)).log_softmax(-1)
    alpha = (1 - sigma**2) ** 0.5
    levels = torch.full((1,), alpha), torch.full((1,), sigma)
    z = torch.randn(1, 10, 2, generator=generator)
    attention = neutral_attention()
    tokens = torch.randn(1, 10, 4, generator=generator)
    keys_values = attention.keys_values(torch.randn(1, 48, 4, generator=generator), position, log_density[:, None])
    where = AttentionGeometry.of(z, *levels, cell=0.0)
    answer = attention(tokens.flatten(0, 1), Ragged(tokens, None), keys_values, torch.zeros(1, 5), where)
    likelihood = -((z[0, :, None] - alpha * position) ** 2).sum(-1) / (2 * sigma**2)
    posterior = (log_density + likelihood).softmax(-1)
    torch.testing.assert_close(answer[:, :2], posterior @ position, rtol=1e-3, atol=1e-4)
    noise = (z[0] - alpha * posterior @ position) / sigma
    torch.testing.assert_close(answer[:, 2:], -noise / 2**0.5, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "switches",
    [{}, MODERN, {**MODERN, "positions": "relative", "max_relative_distance": 3, "convolution": 3, "gated": True}],
    ids=str,
)
def test_padding_never_leaks(switches):
    denoiser = made(DenoiserConfig(**(vars(TINY) | switches)))
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(3, 12, 3, generator=generator)
    valid = torch.arange(12) < torch.tensor([[12], [5], [1]])
    picture = denoiser.encode_image(torch.randn(1, 6, 16, generator=generator), grid_centres(2, 3))
    garbage = torch.where(valid[..., None], z, torch.full_like(z, 1e3))
    with torch.no_grad():
        clean, dirty = (denoiser(x, torch.full((3,), 10.0), picture=picture, valid=valid) for x in (z, garbage))
        alone = denoiser(z[1:2, :5], torch.full((1,), 10.0), picture=picture)
    torch.testing.assert_close(clean[valid], dirty[valid])
    torch.testing.assert_close(clean[1, :5], alone[0], rtol=1e-4, atol=1e-5)
    assert (clean[~valid] == 0).all()


def test_mirror_images_are_told_apart_only_where_asked():
    denoiser = made(DenoiserConfig(**(vars(TINY) | {"mirror_embedding": True})))
    z, time = torch.randn(2, 12, 3, generator=torch.Generator().manual_seed(1)), torch.full((2,), 10.0)
    with torch.no_grad():
        usual, same, one = (
            denoiser(z, time, mirrored=m) for m in (None, torch.zeros(2).bool(), torch.tensor([0, 1]).bool())
        )
    torch.testing.assert_close(usual, same, rtol=0, atol=0)
    torch.testing.assert_close(usual[0], one[0], rtol=0, atol=0)
    assert (usual[1] - one[1]).abs().max() > 1e-3


def test_viewers_of_a_picture_share_its_keys_and_values():
    denoiser = made(TINY)
    generator = torch.Generator().manual_seed(1)
    z, features = torch.randn(4, 12, 3, generator=generator), torch.randn(2, 6, 16, generator=generator)
    time = torch.full((4,), 10.0)
    with torch.no_grad():
        shared = denoiser(z, time, picture=denoiser.encode_image(features, grid_centres(2, 3)))
        each = denoiser.encode_image(features.repeat_interleave(2, 0), grid_centres(2, 3))
        torch.testing.assert_close(shared, denoiser(z, time, picture=each))


@pytest.mark.parametrize("switches", [{}, MODERN | {"positions": "relative"}, {"cross_query": "stream"}], ids=str)
def test_gradients_reach_every_parameter(switches):
    torch.manual_seed(0)
    denoiser = Denoiser(DenoiserConfig(**(vars(TINY) | switches)))
    picture = torch.randn(1, 6, 16)
    optimiser = torch.optim.SGD(denoiser.parameters(), 0.1)
    for _ in range(2):  # gates begin at zero: what is behind them hears of the loss in the second step
        optimiser.zero_grad()
        output = denoiser(
            torch.randn(2, 12, 3), torch.tensor([3.0, 700.0]), picture=denoiser.encode_image(picture, torch.zeros(6, 2))
        )
        (output - torch.randn(2, 12, 3)).square().mean().backward()
        optimiser.step()
    silent = [name for name, p in denoiser.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == []


def test_fusion_is_one_linear_layer_over_the_concatenation():
    torch.manual_seed(0)
    fusion = Fusion(ImageConfig(channels=5, rows=2, columns=3, width=8, dropout=0.0)).eval()
    features, text_embedding = torch.randn(2, 6, 5), torch.randn(2, 512)
    joined = torch.cat(
        [fusion.image(features) + fusion.position, fusion.text(text_embedding)[:, None].expand(2, 6, 8)], -1
    )
    weight = torch.cat([fusion.fuse_image.weight, fusion.fuse_text.weight], 1)
    expected = torch.relu(joined @ weight.T + fusion.fuse_image.bias)
    torch.testing.assert_close(fusion(features, text_embedding), expected, rtol=1e-4, atol=1e-5)


def test_the_density_is_a_distribution_with_a_bias_per_style():
    head = DensityHead(ImageConfig(channels=5, rows=2, columns=3, width=8), sets=1)
    with torch.no_grad():
        head.centre_bias[1, 4] = 1.0
    v_joint = torch.randn(1, 6, 8).expand(2, 6, 8)
    log_density = head(v_joint, torch.tensor([0, 1]))
    torch.testing.assert_close(log_density.exp().sum(-1), torch.ones(2))
    assert log_density[1].argmax() == 4
    assert log_density[1, 4] > log_density[0, 4]


def test_switches_that_contradict_each_other_are_refused():
    with pytest.raises(InputError, match="cross_every must not be 0"):
        DenoiserConfig(denoising_attention=True, cross_every=0)
    with pytest.raises(InputError, match="width 16 must be a multiple of heads 3"):
        Denoiser(DenoiserConfig(width=16, heads=3))
    with pytest.raises(InputError, match=r"time: adaln\) needs norm: pre"):
        Denoiser(DenoiserConfig(width=16, heads=2, time="adaln"))


def test_gates_pass_the_input_on():
    denoiser = made(DenoiserConfig(**(vars(TINY) | MODERN | {"gated": True})))
    with torch.no_grad():
        denoiser.head[0].weight.zero_()
        denoiser.head[0].bias.copy_(torch.tensor([0.0, 0.0, 0.5, -1.0, 2.0, 0.0]))
        z = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
        output = denoiser(z, torch.full((2,), 10.0))
    torch.testing.assert_close(output, z * torch.tensor([-1.0, 2.0, 0.0]) + torch.tensor([0.0, 0.0, 0.5]))


def test_gradients_stay_small_where_a_head_has_learned_to_be_sharp():
    generator = torch.Generator().manual_seed(0)
    position, levels = grid_centres(24, 32) * 4 - 2, (torch.full((1,), 1.0), torch.full((1,), 0.01))
    attention = neutral_attention()
    attention.geometry.bias.data[0] = 25.0
    tokens, z = torch.randn(1, 200, 4, generator=generator), torch.randn(1, 200, 2, generator=generator)
    keys_values = attention.keys_values(torch.zeros(1, 768, 4), position, None)
    where = AttentionGeometry.of(z, *levels, cell=0.05)
    answer = attention(tokens.flatten(0, 1), Ragged(tokens, None), keys_values, torch.zeros(1, 5), where)
    answer.square().mean().backward()
    largest = max(float(p.grad.abs().max()) for p in attention.parameters() if p.grad is not None)
    assert largest < 10


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_neighbours_are_mixed_as_a_convolution_mixes_them(kernel):
    torch.manual_seed(0)
    layer, x = torch.nn.Conv1d(6, 6, kernel, padding="same", groups=6), torch.randn(2, 7, 6)
    torch.testing.assert_close(over_neighbours(layer, x), layer(x.transpose(1, 2)).transpose(1, 2))


def test_each_token_uses_the_density_of_its_own_phase() -> None:
    """With all other weights silent, a token of phase k is drawn to where phase k has its density."""
    config = BlockConfig(width=4, heads=1, denoising_attention=True)
    attention = CrossAttention(config, time_width=5).eval()
    for parameter in attention.parameters():
        torch.nn.init.zeros_(parameter)
    attention.out.weight.data[:2, 4:6] = torch.eye(2)  # the position that was found
    position = torch.tensor([[-1.0, 0.0], [1.0, 0.0]])
    densities = torch.tensor([[[0.9, 0.1], [0.2, 0.8]]]).log()  # (P, K, N)
    tokens, nowhere = torch.zeros(1, 2, 4), torch.zeros(1)
    where = AttentionGeometry.of(torch.zeros(1, 2, 2), nowhere, torch.ones(1), 0.1, torch.tensor([[0, 1]]))
    keys_values = attention.keys_values(torch.zeros(1, 2, 4), position, densities)
    found = attention(tokens.flatten(0, 1), Ragged(tokens, None), keys_values, torch.zeros(1, 5), where)
    torch.testing.assert_close(found[:, 0], torch.tensor([-0.8, 0.6]), atol=1e-4, rtol=0)


def test_phases_begin_as_the_density_of_all_fixations_and_are_normalised() -> None:
    config = ImageConfig(channels=4, rows=2, columns=3, width=8, density=True, phases=True)
    head, v_joint, style = DensityHead(config, sets=1), torch.randn(2, 6, 8), torch.tensor([0, 1])
    torch.testing.assert_close(
        head.of_phases(v_joint, style), head(v_joint, style)[:, None].expand(-1, len(PHASES), -1)
    )
    head.phase_bias.data.normal_()
    torch.testing.assert_close(head.of_phases(v_joint, style).exp().sum(-1), torch.ones(2, len(PHASES)))


def test_phases_are_counted_from_the_fixation_during_which_the_picture_appears() -> None:
    assert phase_of(torch.arange(9)).tolist() == [0, 1, 2, 2, 3, 3, 3, 4, 4]
