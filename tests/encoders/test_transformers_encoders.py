"""DINOv2 and CLIP through tiny randomly initialised models, saved as the real ones are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from stdiffeye.encoders import FeatureCache, PictureEncoder, TextEncoder, picture_encoder, text_encoder
from stdiffeye.encoders.clip_text import ClipText
from stdiffeye.encoders.dinov2 import Dinov2
from stdiffeye.errors import InputError

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def dinov2_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dinov2")
    config = transformers.Dinov2WithRegistersConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, image_size=56, patch_size=14, num_register_tokens=4
    )
    torch.manual_seed(0)
    transformers.Dinov2WithRegistersModel(config).save_pretrained(folder)
    return folder


def save_tokenizer(folder: Path) -> int:
    """A CLIP tokenizer of single letters; returns the number of its tokens."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    tokens = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=12).save_pretrained(folder)
    return len(tokens)


def text_options(tokens: int) -> dict[str, int]:
    return {
        "vocab_size": tokens,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 12,
        "projection_dim": 512,
        "bos_token_id": tokens - 2,
        "eos_token_id": tokens - 1,
    }


@pytest.fixture(scope="module", params=["text model", "whole CLIP"])
def clip_folder(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clip")
    options = text_options(save_tokenizer(folder))
    torch.manual_seed(0)
    if request.param == "text model":
        transformers.CLIPTextModelWithProjection(transformers.CLIPTextConfig(**options)).save_pretrained(folder)
    else:
        vision = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32}
        config = transformers.CLIPConfig(text_config=options, vision_config=vision, projection_dim=512)
        transformers.CLIPModel(config).save_pretrained(folder)
    return folder


def picture(seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (40, 60, 3), dtype=np.uint8))


def test_dinov2_gives_one_token_per_patch_without_class_and_registers(dinov2_folder) -> None:
    encoder = picture_encoder(f"dinov2:{dinov2_folder}")
    assert isinstance(encoder, PictureEncoder)
    assert (encoder.grid, encoder.width, encoder.input_size) == ((4, 4), 16, (56, 56))
    tokens = encoder.encode([picture(0), picture(1)])
    assert tokens.shape == (2, 16, 16)
    assert torch.equal(tokens[1], encoder.encode([picture(1)])[0])
    assert encoder.encode([]).shape == (0, 16, 16)


def test_dinov2_agrees_with_transformers_own_preprocessing(dinov2_folder) -> None:
    image = picture().resize((56, 56))
    model = transformers.Dinov2WithRegistersModel.from_pretrained(dinov2_folder).eval()
    pixels = torch.tensor(np.asarray(image) / 255.0, dtype=torch.float32).permute(2, 0, 1)
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    with torch.inference_mode():
        states = model(((pixels - mean[:, None, None]) / deviation[:, None, None])[None]).last_hidden_state
    assert states.shape == (1, 1 + 4 + 16, 16)
    torch.testing.assert_close(Dinov2(str(dinov2_folder)).encode([image]), states[:, 5:], rtol=1e-4, atol=1e-5)


def test_dinov2_at_the_papers_input_size_has_37_by_37_tokens(tmp_path) -> None:
    config = transformers.Dinov2WithRegistersConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, image_size=518, patch_size=14
    )
    transformers.Dinov2WithRegistersModel(config).save_pretrained(tmp_path)
    encoder = Dinov2(str(tmp_path))
    assert (encoder.grid, encoder.input_size) == ((37, 37), (518, 518))
    assert encoder.encode([picture()]).shape == (1, 37 * 37, 8)


def test_dinov2_is_frozen_and_known_by_its_weights(dinov2_folder) -> None:
    encoder = Dinov2(str(dinov2_folder))
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    assert encoder.identity.startswith("dinov2-56x56-v1-")
    identity = encoder.identity
    with torch.no_grad():
        next(iter(encoder.parameters())).add_(1)
    assert encoder.identity != identity


def test_dinov2_features_are_cached(dinov2_folder, tmp_path) -> None:
    encoder = Dinov2(str(dinov2_folder))
    cache = FeatureCache(encoder, tmp_path)
    features = cache.get([picture()], flip=True)
    np.testing.assert_allclose(features, encoder.encode([picture()], flip=True).numpy(), atol=2e-3)
    assert cache.computed == 1


def test_clip_gives_the_projected_vector_and_zeros_for_free_viewing(clip_folder) -> None:
    encoder = text_encoder(f"clip:{clip_folder}")
    assert isinstance(encoder, TextEncoder)
    vector = encoder.encode("stop sign")
    assert vector.shape == (512,)
    assert vector.abs().sum() > 0
    assert torch.equal(encoder.encode(""), torch.zeros(512))
    assert torch.equal(encoder.encode("stop sign"), vector)
    assert not torch.allclose(encoder.encode("potted plant"), vector)


def test_clip_agrees_with_transformers(clip_folder) -> None:
    model = transformers.CLIPTextModelWithProjection.from_pretrained(clip_folder).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(clip_folder)(["fork"], return_tensors="pt")
    with torch.inference_mode():
        torch.testing.assert_close(ClipText(str(clip_folder)).encode("fork"), model(**tokens).text_embeds[0])


def test_clip_cuts_words_beyond_its_length(clip_folder) -> None:
    assert ClipText(str(clip_folder)).encode("chair " * 50).isfinite().all()


def test_a_hub_id_is_not_fetched_unless_asked(monkeypatch, tmp_path) -> None:
    def no_network(*rest, **options):
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", no_network)
    for make in (lambda: picture_encoder("dinov2"), lambda: text_encoder("clip:nobody/nothing")):
        with pytest.raises(InputError, match=r"on this machine: give its folder, or allow the download.*--download"):
            make()


def test_another_models_folder_is_an_input_error(clip_folder, dinov2_folder) -> None:
    with pytest.raises(InputError, match=r"is a model of type 'clip.*expected dinov2_with_registers"):
        Dinov2(str(clip_folder))
    with pytest.raises(
        InputError, match="is a model of type 'dinov2_with_registers', expected clip or clip_text_model"
    ):
        ClipText(str(dinov2_folder))


def test_a_folder_without_weights_or_with_cut_ones_is_an_input_error(dinov2_folder, tmp_path) -> None:
    (tmp_path / "config.json").write_bytes((dinov2_folder / "config.json").read_bytes())
    with pytest.raises(InputError, match="not a whole model folder"):
        Dinov2(str(tmp_path))
    weights = (dinov2_folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(InputError, match="not a whole model folder"):
        Dinov2(str(tmp_path))
    with pytest.raises(InputError, match="not a whole model folder"):
        Dinov2(str(tmp_path.parent))


def test_a_folder_that_lacks_some_weights_is_an_input_error(dinov2_folder, tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    state = load_file(dinov2_folder / "model.safetensors")
    state.pop(sorted(state)[0])
    save_file(state, tmp_path / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / "config.json").write_bytes((dinov2_folder / "config.json").read_bytes())
    with pytest.raises(InputError, match="lacks 1 weights of Dinov2WithRegistersModel"):
        Dinov2(str(tmp_path))


def test_without_transformers_the_extra_is_named(uninstalled) -> None:
    uninstalled("transformers")
    with pytest.raises(InputError, match=r"needs the package transformers: pip install 'stdiffeye\[full\]'"):
        picture_encoder("dinov2:somewhere")
