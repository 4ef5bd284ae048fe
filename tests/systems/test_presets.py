"""Every preset parses, has the size that it claims, and runs a training step when made tiny."""

from __future__ import annotations

import pytest
import torch
import yaml
from tiny import DENOISER, PICTURE, TOKENS, recordings, scanpaths, sources

from stdiffeye.data.batches import stimuli_of
from stdiffeye.systems.base import BatchPlan, SamplingOptions
from stdiffeye.systems.presets import SYSTEMS, load_preset, overlay, presets, system_config, to_plain
from stdiffeye.systems.step_random import StepRandom

PAPER = {"paper-search-tp", "paper-search-ta", "paper-freeview", "paper-mit1003"}
ABLATIONS = {
    f"ablation-{name}"
    for name in ("trajectory", "scanpath", "distance", "latent", "embedding", "learnable", "sinusoidal")
}
PEERS = {"deepgaze3", "tpp-gaze", "hat", "gazeformer", "gazexplain"}
OTHERS = PEERS | {
    "coarse-to-fine",
    "scandiff",
    "diffeye",
    "joint-small",
    "joint-trajectory-small",
    "scandiff-small",
    "diffeye-small",
}
SHRUNK = {
    ("coarse-to-fine", "scanpath"): {"image": PICTURE, "denoiser": DENOISER},
    ("coarse-to-fine", "trajectory"): {},
    ("st-diffeye", "gaze"): TOKENS,
    ("st-diffeye-aligned", "gaze"): {"image": PICTURE, "denoiser": DENOISER},
}
SHRUNK_BASELINE = {"image": PICTURE}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return sources(folder, recordings(folder), scanpaths(folder, task="cup"))


def size(config) -> float:
    return sum(p.numel() for part in config.build().values() for p in part.parameters())


def test_all_presets_of_the_paper_and_ours_are_there():
    assert set(presets()) >= PAPER | ABLATIONS | OTHERS


@pytest.mark.parametrize("name", sorted(PAPER | ABLATIONS | OTHERS))
def test_a_preset_parses_survives_yaml_and_tells_what_it_is(name):
    config = load_preset(name)
    assert config.about
    again = yaml.safe_load(yaml.safe_dump(to_plain(config)))
    assert system_config(again) == config


@pytest.mark.parametrize("name", ["paper-freeview", "paper-mit1003"])
def test_the_papers_form_has_28_4_million_parameters(name):
    assert round(size(load_preset(name)) / 1e6, 1) == 28.4


def test_the_papers_form_is_as_section_2_says():
    config = load_preset("paper-freeview").stages["gaze"]
    assert (config.token_width, config.max_tokens, config.channels) == (256, 1500, 4)
    assert load_preset("paper-mit1003").stages["gaze"].token_width == 257
    assert load_preset("ablation-trajectory").stages["gaze"].channels == 3
    scandiff = load_preset("scandiff").stages["gaze"]
    assert (scandiff.channels, scandiff.max_tokens) == (3, 16)
    assert load_preset("joint-small").stages["gaze"].token_width == 24 * 4


@pytest.mark.parametrize("name", sorted(PAPER | ABLATIONS | OTHERS))
def test_a_tiny_form_of_a_preset_trains_a_step_and_generates(name, world):
    config = load_preset(name)
    for stage, stage_config in config.stages.items():
        torch.manual_seed(0)
        shrunk = overlay(stage_config, SHRUNK.get((config.system, stage), SHRUNK_BASELINE), stage)
        part = SYSTEMS[config.system][stage](shrunk)
        batch = part.batches(world, "train", BatchPlan(2, 2), augment=True).batch(0)
        losses = part.loss(batch, StepRandom(0, 0))
        assert torch.isfinite(losses["total"])
        losses["total"].backward()
        assert any(p.grad is not None and p.grad.any() for p in part.parameters())
        if part.generates_scanpaths:
            _generates(part.eval(), world)


def _generates(part, world) -> None:
    store = world.stores[0]
    query = world.query(stimuli_of(store, "train")[0], store[0].frame, None)
    (paths,) = part.scanpaths([query], [[1, 2]], SamplingOptions(steps=2))
    assert len(paths) == 2
    assert all(len(path) >= 1 and path.frame == query.frame for path in paths)


@pytest.mark.parametrize(("dataset_exponent", "share"), [(0.0, 1 / 2), (1.0, 2 / 8)])
def test_a_plan_says_how_stores_of_unequal_size_are_mixed(tmp_path, dataset_exponent, share):
    few, many = (scanpaths(tmp_path / str(pictures), pictures) for pictures in (2, 6))
    part = SYSTEMS["coarse-to-fine"]["scanpath"](
        overlay(load_preset("coarse-to-fine").stages["scanpath"], SHRUNK["coarse-to-fine", "scanpath"], "scanpath")
    )
    batches = part.batches(
        sources(tmp_path, few, many), "train", BatchPlan(2, 2, dataset_exponent=dataset_exponent), augment=False
    )
    assert batches.scanpaths.source.store_share[0] == pytest.approx(share)
