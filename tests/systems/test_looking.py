"""The encoder tuned to gaze: it learns where people look, crops are crops, and a run keeps its encoder with it."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from tiny import scanpaths, sources

import stdiffeye
from stdiffeye.encoders import FeatureCache, picture_encoder
from stdiffeye.encoders.efficientnet import EarlyEncoder
from stdiffeye.errors import InputError
from stdiffeye.systems.draws import Draws
from stdiffeye.systems.looking import WHOLE, Looking, LookingConfig, cropped
from stdiffeye.systems.part import BatchPlan, Sources
from stdiffeye.train.export import export
from stdiffeye.train.run import train

TINY = [
    "parts.coarse.denoiser.width=32",
    "parts.coarse.picture.width=32",
    "parts.coarse.denoiser.heads=2",
    "parts.coarse.denoiser.depth=2",
    "parts.coarse.denoiser.feedforward=32",
    "train.coarse.steps=2",
    "train.coarse.stimuli=2",
    "train.coarse.accumulate=1",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return scanpaths(tmp_path_factory.mktemp("store"), pictures=2, viewers=2)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def tuned(store, cache, tmp_path_factory):
    out = tmp_path_factory.mktemp("tuned") / "run"
    changes = ["train.looking.steps=2", "train.looking.stimuli=2", "train.looking.learning_rate=0.01"]
    return train("encoder", [store.path], out, changes=changes, cache=cache, quiet=True)


def test_it_learns_where_people_look_in_each_picture(store, cache):
    part = Looking(LookingConfig(sets=("own",), drop_channels=0.0, forget=0.0)).eval()
    world = Sources([store], FeatureCache(EarlyEncoder(), cache))
    batch = part.batches(world, "train", BatchPlan(2, 1), augment=False).batch(0)
    free = [parameter for parameter in part.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(free, 2e-3)
    losses = []
    for step in range(25):
        loss = part.loss(batch, Draws(0, step))["total"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    known = float(-(batch.density * batch.density.clamp(min=1e-9).log()).sum(-1).mean())
    assert losses[-1] < known + 0.3 * (losses[0] - known)
    late = dict(part.late.named_parameters())
    depthwise = {name for name, value in late.items() if value.shape[1:2] == (1,) or not value.requires_grad}
    assert all(late[name].grad is None for name in depthwise)
    assert all(value.grad.abs().sum() > 0 for name, value in late.items() if name not in depthwise)


def test_a_crop_is_that_part_of_the_map():
    column = torch.arange(8.0).expand(1, 1, 6, 8)
    torch.testing.assert_close(cropped(column, torch.from_numpy(WHOLE)[None]), column)
    right = cropped(column, torch.tensor([[0.5, 0.0, 0.5, 1.0]]))
    torch.testing.assert_close(right[0, 0, 0], torch.linspace(3.75, 7.25, 8).clamp(max=7.0))


def test_places_follow_the_crop(store, cache):
    part = Looking(LookingConfig(sets=("own",), crop=1.0))
    batches = part.batches(Sources([store], FeatureCache(EarlyEncoder(), cache)), "train", BatchPlan(2, 1), True)
    batch = batches.batch(3)
    choices = batches.source.choose(3)
    left, top, width, height = batch.box[0].tolist()
    places = batches.source.places(choices[0].stimulus, choices[0].flip)
    inside = (places - (left, top)) / (width, height)
    inside = inside[((inside >= 0) & (inside < 1)).all(1)]
    centre = (batch.density[0].reshape(24, 32).sum(0) * (torch.arange(32) + 0.5) / 32).sum()
    assert width < 1
    np.testing.assert_allclose(float(centre), inside[:, 0].mean(), atol=0.02)


def test_a_run_keeps_its_tuned_encoder_wherever_it_goes(store, cache, tuned, tmp_path):
    blocks = tuned / "looking" / "last.safetensors"
    with pytest.raises(InputError, match="holds no late blocks"):
        picture_encoder(f"efficientnet-lite0:{blocks}")
    exported = export(tuned, tmp_path / "encoder")
    name = f"efficientnet-lite0:{exported / 'looking.safetensors'}"
    assert picture_encoder(name).identity != picture_encoder().identity
    how = {"only": "coarse", "cache": cache, "quiet": True}
    first = train("compact", [store.path], tmp_path / "a", [*TINY, f"encoder={name}"], **how)
    shutil.rmtree(exported)
    moved = first.rename(tmp_path / "moved")
    assert stdiffeye.load(moved).encoder.identity != picture_encoder().identity
    then = train("compact", [store.path], tmp_path / "b", TINY, start_from=moved, **how)
    shutil.rmtree(moved)
    again = train("compact", [store.path], then, ["train.coarse.steps=3"], resume=True, **how)
    assert stdiffeye.load(again).encoder.identity != picture_encoder().identity
    handed_on = export(again, tmp_path / "handed-on")
    assert stdiffeye.load(handed_on).encoder.identity == stdiffeye.load(again).encoder.identity


def test_it_says_what_it_looks_with(store, tmp_path):
    part = Looking(LookingConfig(sets=("own",)))
    with pytest.raises(InputError, match="efficientnet-lite0-early"):
        part.batches(sources(tmp_path, store), "train", BatchPlan(2, 1), augment=False)


def test_an_encoder_draws_no_gaze(tuned):
    with pytest.raises(InputError, match="draws no gaze"):
        stdiffeye.load(tuned).generate(np.zeros((48, 64, 3), np.uint8))
