"""A tiny store is learned by heart and given back: both halves of the coarse-to-fine form, and the paper's form."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny import DENOISER, PICTURE, TOKENS, path_of, recordings, scanpaths, sources

from stdiffeye.benchmark.ablations import LATENT_BASE, ROWS
from stdiffeye.data.batches import stimuli_of
from stdiffeye.systems.base import BatchPlan, SamplingOptions
from stdiffeye.systems.coarse_to_fine.scanpath_config import ScanpathStageConfig
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.coarse_to_fine.trajectory_stage import TrajectoryStage, TrajectoryStageConfig
from stdiffeye.systems.presets import load_preset, overlay
from stdiffeye.systems.st_diffeye.config import STDiffEyeConfig
from stdiffeye.systems.st_diffeye.model import STDiffEye
from stdiffeye.systems.step_random import StepRandom

PICTURES = 2
NEAR_PX, FAR_PX = 60, 150  # of 1024: as good as learned; how far apart the pictures' own places are
MODERN = {"norm": "pre", "cross_query": "stream", "time": "adaln", "hidden": 0}
EDM = {
    "schedule": "edm",
    "prediction": "edm",
    "loss_aware": False,
    "log_sigma": [-0.5, 1.2],
    "sigma_range": [0.02, 8.0],
}


def learn(
    part, world, steps: int, rate: float, stimuli: int = PICTURES, viewers: int = 6, augment: bool = False
) -> list[float]:
    batches = part.train().batches(world, "train", BatchPlan(stimuli, viewers), augment)
    few = [batches.batch(number) for number in range(8 if augment else 1)]
    optimiser = torch.optim.AdamW(part.parameters(), rate, weight_decay=0.0)
    losses = []
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 20, 3 * (1 - step / steps))
        loss = part.loss(few[step % len(few)], StepRandom(0, step))["total"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    part.eval()
    return losses


def queries(world):
    store = world.stores[0]
    return [world.query(stimulus, store[0].frame, None) for stimulus in stimuli_of(store, "train")]


def distance_px(generated, wanted) -> float:
    n = min(len(generated), len(wanted))
    return float(np.hypot(*(generated[:n] - wanted[:n]).T).mean())


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths")
    return sources(folder, scanpaths(folder, PICTURES, viewers=1))


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    return sources(folder, recordings(folder, PICTURES, viewers=1))


def assert_scanpaths_are_reproduced(part, world) -> None:
    drawn = part.scanpaths(queries(world), [[1, 2]] * PICTURES, SamplingOptions(steps=25))
    for number, samples in enumerate(drawn):
        for path in samples:
            assert len(path) == len(path_of(number))
            assert distance_px(path.xy_px, path_of(number).xy_px) < NEAR_PX
            assert distance_px(path.xy_px, path_of((number + 1) % PICTURES).xy_px) > FAR_PX


def test_the_coarse_half_learns_scanpaths_by_heart(paths):
    torch.manual_seed(0)
    config = overlay(
        ScanpathStageConfig(condition_dropout=0.0, image_dropout=0.0),
        {"image": PICTURE, "denoiser": DENOISER},
        "scanpath",
    )
    part = ScanpathStage(config)
    learn(part, paths, 400, 5e-3, viewers=4)
    assert_scanpaths_are_reproduced(part, paths)


def test_a_habit_of_looking_left_first_survives_learning_from_mirror_images(tmp_path):
    torch.manual_seed(0)
    world = sources(tmp_path, scanpaths(tmp_path, 4, viewers=1, habit_px=[(256, 384), (768, 384)]))
    config = overlay(
        ScanpathStageConfig(condition_dropout=0.0, image_dropout=0.0),
        {"image": PICTURE, "denoiser": DENOISER},
        "scanpath",
    )
    part = ScanpathStage(config)
    learn(part, world, 300, 5e-3, stimuli=4, viewers=3, augment=True)
    for samples in part.scanpaths(queries(world), [range(8)] * 4, SamplingOptions(steps=12)):
        assert np.mean([path.xy_px[0, 0] < 512 < path.xy_px[-1, 0] for path in samples]) > 0.9


def test_scandiffs_form_learns_scanpaths_by_heart(paths):
    torch.manual_seed(0)
    part = STDiffEye(
        overlay(
            overlay(STDiffEyeConfig(), TOKENS, "t"),
            {"modality": "scanpath", "loss": {"recon": 10.0, "validity": 3.0}},
            "t",
        )
    )
    learn(part, paths, 400, 4e-3, viewers=3)
    assert_scanpaths_are_reproduced(part, paths)


def test_the_joint_form_learns_trajectories_by_heart(traces):
    torch.manual_seed(0)
    switches = {"space": "data", "patch": 8, "length": "first", "noise": EDM, "sampler": "heun"}
    switches |= {"denoiser": MODERN, "loss": {"recon": 0.0}, "time_channel": False}
    part = STDiffEye(overlay(overlay(STDiffEyeConfig(), TOKENS, "t"), switches, "t"))
    learn(part, traces, 400, 1e-2, viewers=4)
    store = traces.stores[0]
    drawn = part.trajectories(queries(traces), [[1]] * PICTURES, SamplingOptions(steps=12))
    for number, (trajectory,) in enumerate(drawn):
        human = store[number].trajectory
        assert abs(len(trajectory) - len(human)) <= 8
        assert distance_px(trajectory.xy_px, human.xy_px) < NEAR_PX
        assert distance_px(trajectory.xy_px, store[(number + 1) % PICTURES].trajectory.xy_px) > FAR_PX


def test_the_papers_form_learns_trajectories_and_their_index_by_heart(traces):
    torch.manual_seed(0)
    part = STDiffEye(overlay(overlay(STDiffEyeConfig(), TOKENS, "t"), {"patch": 16}, "t"))
    assert (part.config.loss.recon, part.config.noise.diffusion_steps) == (1.0, 1000)  # the paper's own
    learn(part, traces, 1600, 4e-3, viewers=3)
    store = traces.stores[0]
    for number, query in enumerate(queries(traces)):
        (gaze,) = part.generate(query, [1], SamplingOptions(steps=30))
        human = store[number].trajectory
        assert abs(len(gaze.xy) - len(human)) <= 8
        assert distance_px(gaze.xy * query.frame.size_px, human.xy_px) < NEAR_PX
        n = min(len(gaze.xy), len(human))
        assert np.abs(gaze.rho[:n] - store.rho(number)[:n]).mean() < 0.1


QUICK = LATENT_BASE  # minutes for each of the others: pytest -m slow
SAMPLES_ROWS = [
    pytest.param(row, id=row.name, marks=() if row.name == QUICK else pytest.mark.slow) for row in ROWS if row.lifts
]
STEPS, RATE = {"sinusoidal": 1600}, {"sinusoidal": 4e-3}  # its code is most of a token: 700 steps learn no picture
SCANPATH_ROWS = [row for row in ROWS if not row.lifts]


def of_row(row) -> STDiffEye:
    """The system of a row of Table 2, small, with everything that makes it this row."""
    torch.manual_seed(0)
    config = load_preset(row.preset, list(row.changes)).stages["gaze"]
    small = {"image": PICTURE, "denoiser": DENOISER, "latent": 32, "image_dropout": 0.0}
    return STDiffEye(overlay(config, small | ({"patch": 8} if row.lifts else {}), "t"))


@pytest.mark.parametrize("row", SAMPLES_ROWS)
def test_every_row_of_table_2_that_draws_samples_can_learn(row, traces):
    part = of_row(row)
    learn(part, traces, STEPS.get(row.name, 700), RATE.get(row.name, 5e-3), viewers=4)
    store = traces.stores[0]
    for number, query in enumerate(queries(traces)):
        (gaze,) = part.generate(query, [1], SamplingOptions(steps=25))
        xy_px = gaze.xy * query.frame.size_px
        assert distance_px(xy_px, store[number].trajectory.xy_px) < NEAR_PX
        assert distance_px(xy_px, store[1 - number].trajectory.xy_px) > FAR_PX


@pytest.mark.parametrize("row", SCANPATH_ROWS, ids=lambda row: row.name)
def test_every_row_of_table_2_that_draws_scanpaths_can_learn(row, paths):
    part = of_row(row)
    learn(part, paths, 400, 5e-3, viewers=4)
    assert_scanpaths_are_reproduced(part, paths)


def test_the_fine_half_learns_a_recording_by_heart(traces):
    torch.manual_seed(0)
    part = TrajectoryStage(
        overlay(TrajectoryStageConfig(crop_s=0.4), {"denoiser": DENOISER | {"depth": 2}}, "trajectory")
    )
    losses = learn(part, traces, 300, 5e-3, viewers=3)
    assert np.mean(losses[-30:]) < 0.4 * np.mean(losses[:10])
