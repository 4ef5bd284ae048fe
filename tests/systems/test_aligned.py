"""Index-aligned tokens: what begins as a scanpath stage, learns the path code beside it, and decodes trajectories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import DENOISER, PICTURE, path_of, recordings, scanpaths, sources

from stdiffeye.data.batches import stimuli_of
from stdiffeye.gaze import Frame, Scanpath, Trajectory, fixation_index, fixation_intervals, path_code
from stdiffeye.gaze.timeline import end_s
from stdiffeye.model.fixation_tokens import CHANNELS
from stdiffeye.model.layers import EncodedImage
from stdiffeye.model.tokens import token_mask
from stdiffeye.systems.base import BatchPlan, Query, SamplingOptions
from stdiffeye.systems.coarse_to_fine.scanpath_config import ScanpathStageConfig
from stdiffeye.systems.coarse_to_fine.scanpath_sampling import CodedScanpath
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage, StageBatch
from stdiffeye.systems.presets import overlay
from stdiffeye.systems.scanpath_data import ScanpathTensors
from stdiffeye.systems.st_diffeye.aligned import MIRRORED, AlignedConfig, AlignedSTDiffEye, agreeing
from stdiffeye.systems.step_random import StepRandom

PLAN = BatchPlan(2, 4)
SMALL = {"image": PICTURE, "denoiser": DENOISER, "sets": ["doves", "own"], "viewing_s": [1.0, 1.0]}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return sources(folder, recordings(folder), scanpaths(folder))


def aligned(**changes) -> AlignedSTDiffEye:
    torch.manual_seed(0)
    return AlignedSTDiffEye(overlay(AlignedConfig(), SMALL | changes, "gaze"))


def batch_of(world, store: int) -> ScanpathTensors:
    alone = replace(world, stores=[world.stores[store]])
    return aligned().batches(alone, "train", PLAN, augment=False).batch(0).scanpaths


def query_of(world) -> Query:
    store = world.stores[0]
    return world.query(stimuli_of(store, "train")[0], store[0].frame, 1.0)


def predicted(stage: ScanpathStage, x: ScanpathTensors, z: torch.Tensor) -> torch.Tensor:
    image: EncodedImage = stage.encode_image(x.features, x.text_embedding, x.style)
    step, valid = torch.full((len(z),), 400), token_mask(x.conditions.length, z.shape[1])
    return stage.predict(z, step, stage.conditions(x.conditions), image, valid, x.conditions)


def test_it_begins_as_the_scanpath_stage_whose_weights_it_takes(world):
    torch.manual_seed(1)
    before = ScanpathStage(overlay(ScanpathStageConfig(), SMALL, "scanpath")).eval()
    after = aligned().eval()
    after.load_state_dict(after.grown_from(before.state_dict()))
    x = batch_of(world, 0)
    z = torch.randn(x.tokens.shape, generator=torch.Generator().manual_seed(0))
    grown = predicted(after, x, z)
    torch.testing.assert_close(grown[..., :CHANNELS], predicted(before, x, z[..., :CHANNELS]))
    assert not grown[..., CHANNELS:].any()


def test_its_own_weights_are_taken_as_they_are():
    weights = aligned().state_dict()
    assert aligned().grown_from(weights) is weights


def test_the_code_is_known_where_gaze_was_recorded_and_nowhere_else(world):
    recorded, fixations_alone = batch_of(world, 0), batch_of(world, 1)
    assert not fixations_alone.mask[..., CHANNELS:].any()
    assert fixations_alone.mask[..., :2].any()
    code_mask = recorded.mask[..., CHANNELS:]
    assert code_mask[:, 1, path_code.DRIFT.start].all()
    assert not code_mask[:, 0, path_code.SETTLING].any(), "no saccade led to the first fixation"
    last = recorded.conditions.length - 1
    assert not code_mask[torch.arange(len(last)), last][:, path_code.SACCADE].any(), "none leaves the last one"


def test_the_code_of_mirrored_gaze_is_the_mirrored_code(world):
    trial = world.stores[0][0]
    width_px = trial.frame.width_px
    mirrored = replace(trial.trajectory, xy_px=[width_px, 0] + trial.trajectory.xy_px * [-1, 1])
    path = replace(trial.scanpath, xy_px=[width_px, 0] + trial.scanpath.xy_px * [-1, 1])
    raw = path_code.raw_code(trial.trajectory, trial.scanpath)[0]
    assert np.allclose(path_code.raw_code(mirrored, path)[0], raw * MIRRORED, atol=1e-6, equal_nan=True)


def test_its_loss_weighs_fixations_and_code_apart(world):
    losses = aligned(code_weight=2.0).loss(StageBatch(batch_of(world, 0)), StepRandom(0, 0))
    once = aligned(code_weight=1.0).loss(StageBatch(batch_of(world, 0)), StepRandom(0, 0))
    assert losses["code"].item() == pytest.approx(2 * once["code"].item())
    assert losses["denoise"].item() == pytest.approx(once["denoise"].item())


def test_fixations_are_not_learned_under_a_borrowed_style(world):
    x, stage = batch_of(world, 0), aligned()
    borrowed = replace(x.conditions, style=x.conditions.style + 1)
    hidden = replace(x.conditions, style=torch.zeros_like(x.conditions.style))
    ones, random = torch.ones_like(x.tokens), StepRandom(0, 0)
    losses = [stage._denoising_losses(ones, x, seen, random) for seen in (x.conditions, hidden, borrowed)]
    assert [float(each["denoise"]) for each in losses] == [1, 1, 0]
    assert [float(each["code"]) for each in losses] == [1, 1, 1]


def test_scanpath_trajectory_and_index_come_from_the_same_tokens(world):
    stage, query, seeds = aligned().eval(), query_of(world), [3, 4]
    (paths,) = stage.scanpaths([query], [seeds], SamplingOptions(steps=2))
    (trajectories,) = stage.trajectories([query], [seeds], SamplingOptions(steps=2))
    for path, trajectory in zip(paths, trajectories, strict=True):
        assert np.array_equal(trajectory.scanpath.xy_px, path.xy_px)
        assert trajectory.duration_ms == pytest.approx(path.onset_ms[-1] + path.duration_ms[-1], abs=10)
        rho = fixation_index(trajectory, path)
        assert rho[0] >= 0
        assert (np.diff(rho) >= 0).all()


def test_a_sample_does_not_depend_on_those_beside_it(world):
    stage, query = aligned().eval(), query_of(world)
    (several,) = stage.trajectories([query], [[3, 4]], SamplingOptions(steps=2))
    ((alone,),) = stage.trajectories([query], [[4]], SamplingOptions(steps=2))
    assert np.allclose(several[1].xy_px, alone.xy_px, atol=1e-2)


def test_a_worse_tracker_is_noisier(world):
    stage, query = aligned().eval(), query_of(world)

    def noise(precision_deg: float) -> float:
        options = SamplingOptions(steps=2, precision_deg=precision_deg)
        (made,) = stage.trajectories([query], [range(4)], options)
        return float(np.median([_step_px(one) for one in made]))

    assert noise(0.1) > 3 * noise(0.01)


def _step_px(trajectory: Trajectory) -> float:
    return float(np.median(np.hypot(*np.diff(trajectory.xy_px, axis=0).T)))


def test_recordings_are_learned_by_heart_and_given_back(tmp_path):
    store = recordings(tmp_path, pictures=2)
    world = sources(tmp_path, store)
    stage = aligned(condition_dropout=0.0, image_dropout=0.0, borrowed_style=0.0).train()
    batch = stage.batches(world, "train", BatchPlan(2, 6), augment=False).batch(0)
    optimiser = torch.optim.AdamW(stage.parameters(), 3e-3, weight_decay=0.0)
    steps = 400
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * min(1.0, (step + 1) / 20, 3 * (1 - step / steps))
        optimiser.zero_grad()
        losses = stage.loss(batch, StepRandom(0, step))
        losses["total"].backward()
        optimiser.step()
    assert losses["code"] < 0.75, "what viewers share of the code; the rest is each one's noise"
    shown = stimuli_of(store, "train")[0]
    (made,) = stage.eval().trajectories([world.query(shown, store[0].frame, None)], [range(8)], SamplingOptions())
    place = path_of(int(shown.name[3:6])).xy_px
    near = [one for one in made if len(one.scanpath) == len(place)]
    assert len(near) >= 5
    assert np.median([np.hypot(*(one.scanpath.xy_px - place).T).mean() for one in near]) < 120


def test_saccades_that_judds_rule_does_not_see_are_sampled_again_and_no_others():
    path = Scanpath(
        [[300, 300], [310, 300], [600, 300]], Frame(1024, 768, px_per_degree=60), [400, 400, 400], [0, 440, 890]
    )
    smooth = np.zeros((3, path_code.WIDTH))  # the usual course of so small a saccade is below the threshold
    attempts = list(agreeing(smooth, path, 240, np.random.default_rng(0)))
    found = [len(fixation_intervals(one)) for one in attempts]
    assert found[0] == 2
    assert max(found) == 3
    other = path_code.with_other_saccades(smooth, path, np.array([0]), np.random.default_rng(0))
    assert other[0, path_code.SACCADE].all()
    assert not smooth.any()
    assert not other[1:].any()


def test_generated_code_is_spread_and_its_noise_scaled_as_configured():
    code = np.random.default_rng(0).normal(size=(5, path_code.WIDTH))
    system = aligned(noise_scale=2.0, noise_level_std=1.5, saccade_code_std=1.2)
    found = system._calibrated(code, None)
    assert np.allclose(found[:, path_code.SACCADE], 1.2 * code[:, path_code.SACCADE])
    assert np.allclose(found[:, path_code.DRIFT], code[:, path_code.DRIFT])
    wider = code.copy()
    wider[:, 0] *= 1.5
    level = path_code.expanded(found)[:, 0] - path_code.expanded(wider)[:, 0]
    assert np.allclose(level, np.log(2.0))
    exact = path_code.expanded(system._calibrated(code, 0.02))[:, 0]
    assert np.allclose(exact, exact[0]), "a precision that is asked for is the same in all fixations"
    assert np.allclose(aligned()._calibrated(code, None), code)


def test_gaze_ends_as_early_as_the_recordings_of_its_style_and_no_other():
    system = aligned(recorded_s=[1.2, 0.0], early_end_s=[1.1, 0.0], early_end_share=[1.0, 0.0])
    path = Scanpath([[300, 300], [500, 300]], Frame(1024, 768, px_per_degree=60), [500, 650], [0, 550])
    sampled, rng = CodedScanpath(path, np.zeros((2, path_code.WIDTH))), np.random.default_rng(0)

    def lasts(style: str, **changes) -> float:
        query = Query(None, torch.zeros(1, 512), path.frame, 1.2, style, **changes)
        return end_s(system._as_recorded(sampled, query, rng).path)

    assert lasts("doves") == pytest.approx(1.1)
    assert lasts("own") == pytest.approx(1.2)
    assert lasts("doves", fill=True) == pytest.approx(1.2), "gaze that must last is not cut"
