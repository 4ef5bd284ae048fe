"""Configurations: unknown words with a suggestion, wrong types, switches that contradict each other."""

from __future__ import annotations

import pytest

from stdiffeye.errors import InputError
from stdiffeye.systems.noise_levels import NoiseConfig
from stdiffeye.systems.presets import load_preset, overlay, system_config
from stdiffeye.systems.st_diffeye.config import STDiffEyeConfig


@pytest.mark.parametrize(
    ("preset", "changes", "message"),
    [
        ("coarse-to-fin", [], r"there is no preset 'coarse-to-fin': did you mean 'coarse-to-fine'\?"),
        (
            "paper-freeview",
            ["stages.gaze.injektion=latent"],
            r"unknown key stages.gaze.injektion: did you mean 'injection'\?",
        ),
        (
            "coarse-to-fine",
            ["stages.scanpth.eta=1"],
            r"'coarse-to-fine' has no stage 'scanpth' \(stages\): did you mean 'scanpath'\?",
        ),
        ("coarse-to-fine", ["trian.coarse.steps=1"], r"unknown key 'trian': did you mean 'train'\?"),
        ("coarse-to-fine", ["train.scanpath.steps=many"], r"train.scanpath.steps takes int, not 'many'"),
        ("coarse-to-fine", ["train.scanpath.steps=0"], r"train.steps must be positive, got 0"),
        (
            "paper-freeview",
            ["stages.gaze.modality=both"],
            r"modality is one of joint, trajectory, scanpath, not 'both'",
        ),
        ("paper-freeview", ["stages.gaze.lift=1"], r"stages.gaze.lift takes bool, not 1"),
        ("paper-freeview", ["stages.gaze.noise=7"], r"stages.gaze.noise must be a mapping of keys to values, got 7"),
        ("coarse-to-fine", ["stages.scanpath.timestep_power=0"], r"timestep_power must be positive, got 0"),
        ("coarse-to-fine", ["stages.scanpath.candidates=[64, 48]"], r"candidates must divide 1024, got \(64, 48\)"),
        (
            "coarse-to-fine",
            ["stages.scanpath.denoiser.condition_channels=7"],
            r"takes 36 numbers of each token's neighbours, or 0, not .* 7",
        ),
        ("coarse-to-fine", ["train.scanpath"], r"--set takes key=value, such as .*, not 'train.scanpath'"),
        ("coarse-to-fine", ["system.part=1"], r"--set system.part=1: system has no keys below it"),
        (
            "coarse-to-fine",
            ["system=coarse-to-fin"],
            r"there is no system 'coarse-to-fin': did you mean 'coarse-to-fine'\?",
        ),
    ],
)
def test_a_mistake_is_named_with_what_was_expected(preset, changes, message):
    with pytest.raises(InputError, match=message):
        load_preset(preset, changes)


def test_changes_reach_nested_fields():
    config = load_preset("joint-small", ["stages.gaze.noise.log_sigma=[0, 1]", "stages.gaze.denoiser.depth=2"])
    assert config.stages["gaze"].noise.log_sigma == (0.0, 1.0)
    assert config.stages["gaze"].denoiser.depth == 2
    assert config.stages["gaze"].denoiser.width == 192


def test_a_file_of_ones_own_works_like_a_preset(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("system: coarse-to-fine\ntrain: {scanpath: {learning_rate: 1e-4}}\n")
    assert load_preset(own).train["scanpath"].learning_rate == 1e-4
    own.write_text("- 1\n")
    with pytest.raises(InputError, match="must be a mapping of keys to values"):
        load_preset(own)
    own.write_text("a: [1\n")
    with pytest.raises(InputError, match="is not YAML"):
        load_preset(own)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        (
            {"modality": "scanpath", "encoding": "learnable"},
            "about the fixation index, which modality scanpath has not",
        ),
        ({"modality": "trajectory", "interpolation": "distance"}, "which modality trajectory has not"),
        ({"space": "data", "injection": "latent"}, "injection: latent needs space: latent"),
        ({"space": "data", "encoding": "sinusoidal"}, "encoding: sinusoidal needs space: latent"),
        ({"injection": "latent", "encoding": "learnable"}, "keeps the table from becoming all the same"),
        ({"denoiser": {"denoising_attention": True}}, "a latent token has none: set space: data"),
        ({"denoiser": {"width": 256}}, "image.width 512 and denoiser.width 256 must be equal"),
        ({"network": "unet"}, "set space: data, patch: 1, length: fixed"),
        ({"modality": "scanpath", "patch": 8}, "modality scanpath needs patch: 1, not 8"),
        ({"patch": 0}, "patch must be positive, got 0"),
        ({"noise": {"prediction": "edm"}}, "schedule edm and prediction edm go together, got sqrt and edm"),
        ({"noise": {"prediction": "edm", "schedule": "edm"}}, "set loss_aware to false"),
    ],
)
def test_switches_that_contradict_each_other_are_refused(switches, message):
    with pytest.raises(InputError, match=message):
        overlay(STDiffEyeConfig(), switches, "tokens")


def test_the_denoisers_channels_follow_from_the_tokens():
    config = overlay(STDiffEyeConfig(), {"space": "data", "patch": 8}, "tokens")
    assert (config.denoiser.channels, config.denoiser.max_tokens) == (32, 188)


def test_the_papers_noise_is_the_default():
    assert NoiseConfig() == NoiseConfig("sqrt", 1000, 1.0, "z0", True)


def test_a_system_must_be_named():
    with pytest.raises(InputError, match=r"there is no system None: choose one of coarse-to-fine.*st-diffeye"):
        system_config({})
