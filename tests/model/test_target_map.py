"""The task's words select the map of the searched object."""

from __future__ import annotations

import torch

from stdiffeye.encoders import text_encoder
from stdiffeye.encoders.efficientnet import OBJECTS
from stdiffeye.encoders.word_table import WordVectors
from stdiffeye.model.image import DensityHead, Fusion, ImageConfig, TargetMap

CONFIG = ImageConfig(channels=8, rows=4, columns=6, width=16, dropout=0.0, density=True, objects=OBJECTS)


def maps_with(category: str, cell: int) -> torch.Tensor:
    """(1, 24, 80) logits: one category is in one cell, nothing is anywhere else."""
    maps = torch.full((1, 24, OBJECTS), -6.0)
    maps[0, cell, WordVectors().known_words().index(category)] = 4.0
    return maps


def test_the_map_of_the_named_category_is_taken_and_no_other():
    text = text_encoder().encode("stop sign")[None]
    assert TargetMap()(maps_with("stop sign", 7), text).argmax() == 7
    other = TargetMap()(maps_with("toilet", 7), text)
    assert other.max() - other.min() < 0.1


def test_free_viewing_has_no_target():
    assert not TargetMap()(maps_with("cup", 3), torch.zeros(1, 512)).any()


def test_a_target_draws_the_density_before_anything_is_learned():
    torch.manual_seed(0)
    fusion, head = Fusion(CONFIG).eval(), DensityHead(CONFIG, 1)
    features = torch.cat([torch.randn(1, 24, 8), maps_with("clock", 11)], -1)
    text = text_encoder().encode("clock")[None]
    target = fusion.target_map(features, text)
    searched = head(fusion(features, text, target), torch.tensor([1]), target)
    assert searched.argmax() == 11
    assert float(searched.exp().sum()) == 1.0 or abs(float(searched.exp().sum()) - 1) < 1e-5


def test_without_object_maps_the_network_is_as_it_was():
    plain = ImageConfig(channels=8, rows=4, columns=6, width=16, dropout=0.0, density=True)
    fusion = Fusion(plain)
    assert fusion.target_map(torch.randn(1, 24, 8), torch.zeros(1, 512)) is None
    assert not any("target" in name for name in fusion.state_dict())
