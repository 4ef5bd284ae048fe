"""The embedded encoder: shapes, equality with the plain network, independence of the batch, fine-tuning."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from stdiffeye.encoders import PictureEncoder, picture_encoder
from stdiffeye.encoders.efficientnet import (
    EarlyEncoder,
    EfficientNetLite0,
    Late,
    ObjectMaps,
    normalise,
    plain_network,
    prepare,
)
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


def test_tokens_agree_with_the_package_that_the_weights_come_with(encoder, pictures) -> None:
    package = plain_network()
    seen: dict[int, torch.Tensor] = {}
    for number in (4, 10, 15):
        package._blocks[number].register_forward_hook(lambda _, given, made, number=number: seen.update({number: made}))
    with torch.inference_mode():
        package.extract_features(normalise(prepare(pictures[:1])))
    assert seen[15].shape == (1, 320, 12, 16)
    coarse = torch.nn.functional.interpolate(seen[15], size=(24, 32), mode="bilinear", align_corners=False)
    ours = encoder.encode(pictures[:1])[0].T.reshape(432, 24, 32)
    torch.testing.assert_close(ours, torch.cat([seen[10], coarse], 1)[0], rtol=1e-3, atol=1e-3)
    early = EarlyEncoder().encode(pictures[:1])[0].T.reshape(40, 48, 64)
    torch.testing.assert_close(early, seen[4][0], rtol=1e-3, atol=1e-3)


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


def test_tuned_late_blocks_give_other_tokens_and_another_identity(encoder, pictures, tmp_path) -> None:
    late = Late()
    with torch.no_grad():
        late.blocks[-1].layers[0].weight.mul_(1.5)
    state = {f"late.{name}": value.contiguous() for name, value in late.state_dict().items()}
    save_file(state | {"read-out.weight": torch.zeros(3)}, tmp_path / "tuned.safetensors")
    tuned = picture_encoder(f"efficientnet-lite0:{tmp_path / 'tuned.safetensors'}")
    before, after = encoder.encode(pictures[:1]), tuned.encode(pictures[:1])
    assert tuned.identity != encoder.identity
    assert torch.equal(before[..., :112], after[..., :112])
    assert not torch.allclose(before, after, atol=0.01)


def test_a_file_that_holds_no_tuned_blocks_is_told(tmp_path) -> None:
    path = tmp_path / "other.safetensors"
    with pytest.raises(InputError, match="expected late blocks"):
        picture_encoder(f"efficientnet-lite0:{path}")
    path.write_bytes(b"no tensors at all")
    with pytest.raises(InputError, match="is damaged or no file of weights"):
        picture_encoder(f"efficientnet-lite0:{path}")
    save_file({"weight": torch.zeros(3)}, path)
    with pytest.raises(InputError, match="holds no late blocks"):
        picture_encoder(f"efficientnet-lite0:{path}")


def test_identity_names_size_version_and_weights_and_is_stable(encoder) -> None:
    assert encoder.identity == EfficientNetLite0().identity
    assert encoder.identity.startswith("efficientnet-lite0-384x512-v1-")


def test_an_unknown_encoder_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"there is no picture encoder 'resnet'.*efficientnet-lite0"):
        picture_encoder("resnet")
    assert picture_encoder().name == "efficientnet-lite0"


def test_object_maps_of_a_tuned_file_are_appended_to_the_tokens(tmp_path):
    torch.manual_seed(0)
    plain, maps = EfficientNetLite0(), ObjectMaps()
    weights = {f"late.{name}": tensor for name, tensor in plain.late.state_dict().items()}
    save_file(weights, tmp_path / "blocks.safetensors")
    save_file(weights | {f"objects.{n}": t for n, t in maps.state_dict().items()}, tmp_path / "objects.safetensors")
    picture = Image.fromarray(np.random.default_rng(0).integers(256, size=(60, 80, 3), dtype=np.uint8))
    blocks, objects = (EfficientNetLite0(tmp_path / f"{name}.safetensors") for name in ("blocks", "objects"))
    tokens, with_maps = blocks.encode([picture]), objects.encode([picture])
    assert with_maps.shape == (1, 768, 512)
    assert (blocks.width, objects.width) == (432, 512)
    assert torch.equal(with_maps[..., :432], tokens)
    torch.testing.assert_close(with_maps[..., 432:], maps(tokens))
    assert blocks.identity != objects.identity
