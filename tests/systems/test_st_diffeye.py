"""The paper's form: what reaches the loss, what does not, and what comes out."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import TOKENS, path_of, recordings, scanpaths, sources
from together import together

from stdiffeye.data.batches import stimuli_of
from stdiffeye.diffusion import estimate_z0
from stdiffeye.errors import InputError
from stdiffeye.gaze.index import fixation_index
from stdiffeye.model.tokens import PAD, to_patches
from stdiffeye.systems.base import BatchPlan, Query, SamplingOptions
from stdiffeye.systems.presets import overlay
from stdiffeye.systems.st_diffeye.config import STDiffEyeConfig
from stdiffeye.systems.st_diffeye.data import TokenBatches
from stdiffeye.systems.st_diffeye.model import STDiffEye
from stdiffeye.systems.step_random import StepRandom

EDM = {"schedule": "edm", "prediction": "edm", "loss_aware": False}
MODERN = {"norm": "pre", "cross_query": "stream", "time": "adaln", "hidden": 0}
PATCHED = {
    "space": "data",
    "patch": 8,
    "length": "first",
    "image_dropout": 0.4,
    "sets": ["doves"],
    "noise": EDM,
    "image": {"density": True},
    "denoiser": {**MODERN, "denoising_attention": True},
    "loss": {"recon": 0.0},
}
DIFFEYE = {
    "modality": "trajectory",
    "time_channel": False,
    "network": "unet",
    "space": "data",
    "length": "fixed",
    "noise": {"schedule": "linear", "prediction": "eps", "loss_aware": False},
    "loss": {"recon": 0.0},
}
VARIANTS = {
    "paper": {},
    "trajectory": {"modality": "trajectory"},
    "scanpath": {"modality": "scanpath"},
    "distance": {"interpolation": "distance"},
    "latent": {"injection": "latent"},
    "embedding": {"injection": "embedding"},
    "learnable": {"encoding": "learnable"},
    "sinusoidal": {"encoding": "sinusoidal"},
    "latent sinusoidal": {"injection": "latent", "encoding": "sinusoidal"},
    "embedding learnable": {"injection": "embedding", "encoding": "learnable"},
    "patches in latent space": {"patch": 8},
    "v prediction": {"noise": {"schedule": "cosine", "prediction": "v", "shift": 6.0}},
    "as ScanDiff's code": {"modality": "scanpath", "loss": {"decode": "clean", "on_padding": True}},
    "patched": PATCHED,
    "data with validity": {"space": "data", "patch": 8, "noise": EDM},
    "diffeye": DIFFEYE,
}


def made(switches=None) -> STDiffEye:
    torch.manual_seed(0)
    config = overlay(overlay(STDiffEyeConfig(), TOKENS, "tokens"), switches or {}, "tokens")
    return STDiffEye(config)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return sources(folder, recordings(folder))


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched")
    return sources(folder, scanpaths(folder, task="cup"))


def batch_of(part: STDiffEye, world, stimuli=2, viewers=2, **plan):
    return part.batches(world, "train", BatchPlan(stimuli, viewers, **plan), augment=False).batch(0)


def look_of(world, seconds=None) -> Query:
    store = world.stores[0]
    return world.query(stimuli_of(store, "train")[0], store[0].frame, seconds)


@pytest.mark.parametrize("name", VARIANTS)
def test_gradients_reach_every_parameter_that_a_variant_uses(name, world):
    part = made(VARIANTS[name])
    batch = replace(batch_of(part, world, 4, 2), text_embedding=torch.randn(4, 512))
    optimiser = torch.optim.SGD(part.parameters(), 0.05)
    silent = {n for n, _ in part.named_parameters()}
    for step in range(3):  # gates begin at zero: what is behind them hears of the loss in the second step
        optimiser.zero_grad()
        part.loss(batch, StepRandom(0, step))["total"].backward()
        optimiser.step()
        silent -= {n for n, p in part.named_parameters() if p.grad is not None and p.grad.any()}
    # The density is normalised over the picture: what is added to all of it makes no difference.
    assert silent <= {"density.read.3.bias"}


@pytest.mark.parametrize("name", VARIANTS)
def test_arithmetic_of_bfloat16_gives_nearly_the_same_loss(name, world):
    part = made(VARIANTS[name]).eval()
    batch = batch_of(part, world)
    exact = part.loss(batch, StepRandom(0, 0))["total"]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = part.loss(batch, StepRandom(0, 0))["total"]
    assert rough.dtype == torch.float32
    assert torch.isclose(exact, rough, rtol=0.05)


def test_padded_values_change_no_loss_where_padding_is_masked(world):
    part = made(PATCHED).eval()
    batch = batch_of(part, world)
    beyond = torch.arange(batch.gaze.shape[1]) >= 8 * batch.conditions.length[:, None]
    assert beyond.any()
    dirty = replace(batch, gaze=torch.where(beyond[..., None], 1e4, batch.gaze))
    assert part.loss(batch, StepRandom(0, 0)) == part.loss(dirty, StepRandom(0, 0))


def test_padding_counts_in_no_loss_but_validity_and_where_it_is_asked_for(world):
    """The paper's form feeds padding to the network; what the network says there must not matter."""
    part = made({"modality": "scanpath"}).eval()
    batch = batch_of(part, world)
    pads = torch.arange(16) >= batch.points[:, None]
    counted = part._counted(batch)[..., 0]
    assert torch.equal(counted, ~pads)
    assert not batch.mask[pads].any()
    assert (batch.gaze[pads] == PAD).all()
    assert made({"modality": "scanpath", "loss": {"on_padding": True}})._counted(batch).all()


def test_lost_samples_are_filled_in_but_not_learned(world):
    part = made({"space": "data", "noise": EDM}).eval()
    batches = part.batches(world, "train", BatchPlan(1, 1), augment=False)
    assert isinstance(batches, TokenBatches)
    key = next((s.store, int(t)) for s in batches.source.stimuli for t in s.trials)
    sequence = batches._sequence(*key)
    rows = sequence.rows.copy()
    rows[10:14, :2] = np.nan
    gaze, known, _ = batches._padded(replace(sequence, rows=rows), flip=False)
    assert np.isfinite(gaze).all()
    assert not known[10:14, :2].any()
    assert known[10:14, 2:].all()
    between = (gaze[11, :2] - gaze[9, :2]) / (gaze[14, :2] - gaze[9, :2])
    np.testing.assert_allclose(between, 0.4, atol=1e-3)


def test_unknown_durations_are_masked_out(tmp_path):
    world = sources(tmp_path, scanpaths(tmp_path, durations=False))
    part = made({"modality": "scanpath"})
    batch = batch_of(part, world)
    assert not batch.mask[..., 2].any()
    assert batch.mask[..., :2].any()
    assert torch.isfinite(part.loss(batch, StepRandom(0, 0))["total"])


def test_patches_of_one_sample_are_the_network_without_patches(world):
    part = made({"space": "data", "patch": 1, "noise": EDM}).eval()
    batch = batch_of(part, world)
    assert torch.equal(part.encode(batch), batch.gaze)
    trials = part._trials(batch, part.encode_image(batch.features, batch.text_embedding, batch.style), batch.conditions)
    level = part.noise.sample(StepRandom(0, 0), 4)
    z = batch.gaze + torch.randn_like(batch.gaze) * level.sigma[:, None, None]
    plain = part.denoiser(z / (1 + level.sigma**2).sqrt()[:, None, None], level.time, picture=trials.picture)
    torch.testing.assert_close(part.predict(z, level, trials), plain)
    torch.testing.assert_close(part.decode(plain), plain)


def test_patched_tokens_hold_the_samples_of_the_unpatched(world):
    one, eight = (batch_of(made({"space": "data", "noise": EDM, "patch": p}), world) for p in (1, 8))
    part = made({"space": "data", "noise": EDM, "patch": 8})
    torch.testing.assert_close(part.decode(part.encode(eight)), one.gaze, rtol=1e-5, atol=1e-5)


def test_the_first_cosine_of_a_token_is_its_place(world):
    part = made({"space": "data", "noise": EDM, "patch": 8})
    batch = batch_of(part, world)
    tokens = part.encode(batch).unflatten(-1, (8, -1))
    mean = to_patches(batch.gaze, 8).unflatten(-1, (8, -1)).mean(2)
    torch.testing.assert_close(tokens[:, :, 0] / 8**0.5, mean, rtol=1e-5, atol=1e-5)


def test_an_untrained_network_leaves_gaze_smooth(world):
    """Noise that is too fast for eyes is taken out by the scale of each cosine alone."""
    part = made({"space": "data", "noise": EDM, "patch": 8})
    z = torch.randn(4, 10, part.config.token_width, generator=torch.Generator().manual_seed(0))
    levels = torch.ones(4), torch.ones(4)
    z0 = part.decode(estimate_z0(torch.zeros_like(z), z, *levels, "edm", part.std))[..., :2]
    within = (z0[:, 1:] - z0[:, :-1])[:, torch.arange(z0.shape[1] - 1) % 8 != 7]
    noise = part.decode(z)[..., :2]
    assert within.std() < 0.1 * (noise[:, 1:] - noise[:, :-1]).std()


def test_tokens_hold_place_time_step_and_index(world):
    batch = batch_of(made(), world, 1, 1)
    batches = made().batches(world, "train", BatchPlan(1, 1), augment=False)
    choice = batches.source.choose(0)[0]
    trial = world.stores[0][int(choice.trials[0])]
    n = len(trial.trajectory)
    assert batch.points.tolist() == [n]
    expected = np.column_stack(
        [
            trial.trajectory.xy_px / trial.frame.size_px,
            np.full(n, 1 / 240),
            fixation_index(trial.trajectory, trial.scanpath),
        ]
    )
    np.testing.assert_allclose(batch.gaze[0, :n], expected, atol=1e-6)
    by_distance = batch_of(made({"interpolation": "distance"}), world, 1, 1)
    expected = fixation_index(trial.trajectory, trial.scanpath, "distance")
    np.testing.assert_allclose(by_distance.gaze[0, :n, 3], expected, atol=1e-6)


def test_flips_mirror_picture_and_gaze_together(world):
    part = made({"flip": 1.0})
    plan = BatchPlan(2, 1)
    plain, flipped = (part.batches(world, "train", plan, augment).batch(0) for augment in (False, True))
    n = int(plain.points.min())
    torch.testing.assert_close(flipped.gaze[:, :n, 0], 1 - plain.gaze[:, :n, 0])
    torch.testing.assert_close(flipped.gaze[:, :n, 1:], plain.gaze[:, :n, 1:])
    grid = plain.features.unflatten(1, (3, 4))
    torch.testing.assert_close(flipped.features.unflatten(1, (3, 4)), grid.flip(2), atol=1e-3, rtol=0)


def test_lifted_trajectories_are_synthesised_and_the_run_can_say_so(searched):
    part = made({"lift": True})
    batches = part.batches(searched, "train", BatchPlan(2, 2), augment=False)
    assert batches.notes == ["own: 8 of 8 trajectories are synthesised, lifted from scanpaths; they are no recordings"]
    first, again = (part.batches(searched, "train", BatchPlan(2, 2), False).batch(3) for _ in range(2))
    assert torch.equal(first.gaze, again.gaze)
    assert not part.batches(searched, "train", BatchPlan(2, 2, seed=1), False).batch(3).gaze.equal(first.gaze)


def test_words_reach_the_picture(searched):
    part = made({"modality": "scanpath"}).eval()
    batch = batch_of(part, searched)
    assert batch.text_embedding.any()
    silent = replace(batch, text_embedding=torch.zeros_like(batch.text_embedding))
    assert part.loss(batch, StepRandom(0, 0))["total"] != part.loss(silent, StepRandom(0, 0))["total"]


def test_stores_that_do_not_fit_are_refused(world, searched):
    with pytest.raises(InputError, match=r"needs recorded samples, and own has none: set lift: true"):
        batch_of(made(), searched)
    with pytest.raises(InputError, match=r"is at 240 Hz, the preset at 120: prepare it with --rate"):
        batch_of(made({"rate_hz": 120.0}), world)
    with pytest.raises(InputError, match="give it a feature cache"):
        batch_of(made(), replace(world, features=None))


def test_stores_without_samples_are_named_beside_those_that_have_them(world, searched):
    both = replace(world, stores=[*world.stores, *searched.stores])
    notes = made().batches(both, "train", BatchPlan(2, 2), False).notes
    assert notes == ["own: no trial has samples, so none is used; lift: true would synthesise them"]


def test_what_is_decoded_in_training_is_a_switch(world):
    predicted, clean = (made({"loss": {"decode": decode}}).eval() for decode in ("predicted", "clean"))
    batch = batch_of(predicted, world)
    a, b = (part.loss(batch, StepRandom(0, 0)) for part in (predicted, clean))
    assert a["denoise"] == b["denoise"]
    assert a["recon"] != b["recon"]
    z0 = clean.encode(batch)
    error = ((clean.decode(z0) - batch.gaze).abs() * batch.mask).sum((1, 2)) / batch.mask.sum((1, 2))
    torch.testing.assert_close(b["recon"], error.mean())


def test_steps_learn_from_training_alone_and_survive_a_restart(world):
    part = made()
    batch = batch_of(part, world)
    part.eval().loss(batch, StepRandom(0, 0))
    assert part.extra_state()["seen"].sum() == 0
    part.train().loss(batch, StepRandom(0, 0))
    state = part.extra_state()
    assert state["seen"].sum() == 4
    again = made()
    again.load_extra_state(state)
    assert torch.equal(again.extra_state()["losses"], state["losses"])


@pytest.mark.parametrize("name", ["paper", "patched", "scanpath"])
def test_two_ranks_lose_and_learn_what_one_does(name, world):
    whole = made(VARIANTS[name])
    parts = [copy.deepcopy(whole) for _ in range(2)]
    alone = whole.loss(batch_of(whole, world, 2, 2), StepRandom(3, 4))["total"]

    def half(ranks):
        part = parts[ranks.rank]
        return part.loss(batch_of(part, world, 2, 2, ranks=ranks), StepRandom(3, 4, ranks))["total"].detach()

    halves = together(2, half)
    torch.testing.assert_close(torch.stack(halves).mean(), alone.detach(), rtol=1e-4, atol=1e-5)
    for name, state in whole.extra_state().items():
        for part in parts:
            torch.testing.assert_close(part.extra_state()[name], state, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_sample_is_the_same_whatever_it_is_generated_with(name, world):
    part = made(VARIANTS[name]).eval()
    if part.config.space == "latent":  # so that what was never trained says something long, inside the picture
        with torch.no_grad():
            part.validity.bias += torch.tensor([-9.0, 9.0]).repeat(part.config.patch)
            part.decoder[-1].bias += 0.5
    query, options = look_of(world), SamplingOptions(steps=3)
    several, alone = part.generate(query, [1, 2, 3], options), part.generate(query, [2], options)
    np.testing.assert_allclose(several[1].xy, alone[0].xy, atol=1e-3)
    first, third = several[0].xy, several[2].xy
    assert len(first) != len(third) or not np.allclose(first, third)
    assert (several[0].duration_ms is not None) == (part.config.modality == "scanpath")
    assert (several[0].rho is not None) == part.config.decodes_index


def test_trajectories_and_scanpaths_are_nouns_in_the_looks_frame(world):
    part, query = made(PATCHED).eval(), look_of(world)
    ((trajectory,),) = part.trajectories([query], [[4]], SamplingOptions(steps=3))
    assert trajectory.synthesised
    assert trajectory.rate_hz == 240
    assert trajectory.frame == query.frame
    ((path,),) = part.scanpaths([query], [[4]], SamplingOptions(steps=3))
    assert path.duration_ms is not None
    with pytest.raises(InputError, match="`animate` makes them of scanpaths"):
        made({"modality": "scanpath"}).trajectories([query], [[4]], SamplingOptions())


def test_seconds_bound_the_length(world):
    part = made(DIFFEYE).eval()
    assert len(part.generate(look_of(world), [1], SamplingOptions(steps=2))[0].xy) == 192
    assert len(part.generate(look_of(world, seconds=0.5), [1], SamplingOptions(steps=2))[0].xy) == 120


def test_the_given_index_is_a_ramp_at_sampling():
    part = made({"injection": "embedding"})
    weight = part.index_added.project.weight[:, 0]
    added = part._ramp(1, 5, None)[0] - part.index_added.project.bias
    torch.testing.assert_close(added, torch.linspace(0, 1, 5)[:, None] * weight)


def test_guidance_needs_pictures_that_were_hidden(world):
    with pytest.raises(InputError, match="image_dropout above 0"):
        made().generate(look_of(world), [1], SamplingOptions(steps=2, guidance=2.0))
    part = made(PATCHED).eval()
    with torch.no_grad():  # gates that begin at zero would hide the picture
        for parameter in part.denoiser.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    plain, guided = (part.generate(look_of(world), [1], SamplingOptions(steps=3, guidance=g))[0] for g in (1.0, 3.0))
    assert not np.allclose(plain.xy, guided.xy)


def test_a_picture_is_needed(world):
    with pytest.raises(InputError, match="the stimulus has none"):
        made().generate(replace(look_of(world), features=None), [1])


def test_made_scanpaths_differ_from_picture_to_picture():
    assert not np.allclose(path_of(0).xy_px[:3], path_of(1).xy_px[:3])
