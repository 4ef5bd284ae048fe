"""Laws of generated gaze: sample k is always the same, looks last as long as asked, fixations are the scanpath's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import stdiffeye
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial, extract
from stdiffeye.gaze.lifting import extend_fixations, skeleton_of
from stdiffeye.generation import Request, animate, load
from stdiffeye.systems.base import SamplingOptions
from stdiffeye.systems.coarse_to_fine.representatives import CANDIDATES
from stdiffeye.systems.coarse_to_fine.scanpath_sampling import QuerySampler
from stdiffeye.systems.cores import batched


def picture(seed: int = 0, size: tuple[int, int] = (320, 240)) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize(size)


def same(one, other) -> bool:
    return len(one) == len(other) and all(a == b and a.scanpath == b.scanpath for a, b in zip(one, other, strict=True))


# ------------------------------------------------------------------ sample k


def test_a_sample_is_the_same_to_the_last_bit_however_many_there_are(model):
    ten = model.generate(picture(), samples=10, seconds=2)
    for samples in (1, 2, 3, 5, 7, 20):
        some = model.generate(picture(), samples=samples, seconds=2)
        assert same(some[:10], ten[:samples])


def test_a_sample_is_the_same_whatever_is_looked_at_with_it(model):
    request, pictures = Request(samples=3, seconds=2), [picture(n) for n in range(4)]
    together = list(model.generate_many(pictures, request))
    for one, gaze in zip(pictures, together, strict=True):
        assert same(model.generate(one, samples=3, seconds=2), gaze)
    assert not same(together[0], together[1])


@pytest.mark.parametrize("threads", [2, 3])
def test_a_sample_is_the_same_on_any_number_of_cores(model, threads):
    alone = model.generate(picture(), samples=5, seconds=2)
    torch.set_num_threads(threads)
    try:
        assert same(model.generate(picture(), samples=5, seconds=2), alone)
        folder = list(model.generate_many([picture(1), picture()], Request(samples=5, seconds=2)))
        assert same(folder[1], alone)
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize(
    "options", [SamplingOptions(), SamplingOptions(representative=True), SamplingOptions(sampler="ddim")], ids=str
)
def test_rows_drawn_in_any_groups_are_the_same(model, options):
    query, seeds = model._query(picture(), torch.zeros(1, 512), "", Request(samples=CANDIDATES + 3, seconds=3))
    chosen = [*seeds[:9], *seeds[-6:]]  # of two pools
    (whole,) = model.first.scanpaths([query], [chosen], options)
    for size in (1, 2, 3, 4, 5, 7, 11):
        groups = batched(chosen, size)
        assert [path for group in groups for path in model.first.scanpaths([query], [group], options)[0]] == whole


def test_representatives_are_an_order_of_the_candidates_and_nothing_else(model):
    query, seeds = model._query(picture(), torch.zeros(1, 512), "", Request(samples=CANDIDATES, seconds=3))
    options = SamplingOptions(representative=True)
    (ordered,) = model.first.scanpaths([query], [seeds], options)
    candidates = [one.path for one in QuerySampler(model.first, query, options).independent(seeds)]
    assert ordered != candidates
    assert sorted(path.xy_px.tolist() for path in ordered) == sorted(path.xy_px.tolist() for path in candidates)


def evaluations(model, monkeypatch, style: str, samples: int) -> list[int]:
    """Of how many viewers the network is asked, step by step, to draw so many."""
    part, seen = model.first, []
    predict = part.predict
    monkeypatch.setattr(part, "predict", lambda z, *rest: (seen.append(len(z)), predict(z, *rest))[1])
    query, seeds = model._query(picture(), torch.zeros(1, 512), style, Request(samples=samples))
    part.scanpaths([query], [seeds], SamplingOptions(representative=True))
    return seen


def test_a_whole_pool_is_drawn_half_of_the_way_and_those_asked_for_to_the_end(model, monkeypatch):
    kinds, *seen = evaluations(model, monkeypatch, "osie", samples=5)[:6]
    assert seen == [CANDIDATES, CANDIDATES, CANDIDATES, 5, 5]
    assert kinds <= model.first.max_fixations  # of pure noise nothing can be said but by the number of fixations


def test_a_style_may_have_a_larger_pool(model, monkeypatch):
    larger = replace(model.first.config, candidates=(CANDIDATES, 2 * CANDIDATES))
    monkeypatch.setattr(model.first, "config", larger)
    assert evaluations(model, monkeypatch, "doves", samples=3)[1:6] == [2 * CANDIDATES] * 3 + [3] * 2


def test_seed_task_and_content_of_the_picture_make_a_difference_and_nothing_else_does(model, tmp_path):
    gaze = model.generate(picture(), samples=2, seconds=1)
    assert same(model.generate(picture(), samples=2, seconds=1), gaze)
    picture().save(tmp_path / "any-name.png")
    assert same(model.generate(tmp_path / "any-name.png", samples=2, seconds=1), gaze)
    for change in (
        {"seed": 1},
        {"task": "cup"},
        {"style": "doves"},
        {"steps": 3},
        {"sampler": "ddim"},
        {"guidance": 2.0},
        {"representative": True},
    ):
        assert not same(model.generate(picture(), samples=2, seconds=1, **change), gaze)
    assert not same(model.generate(picture(1), samples=2, seconds=1), gaze)


# ------------------------------------------------------------------ how long


@pytest.mark.parametrize("seconds", [1, 2, 8, 10])
def test_gaze_lasts_as_long_as_asked(model, seconds):
    for gaze in model.generate(picture(), samples=6, seconds=seconds):
        path = gaze.scanpath
        assert path.onset_ms[-1] + path.duration_ms[-1] <= 1000 * seconds + 1e-6
        assert len(gaze) <= 240 * seconds + 1
        if seconds > 5:  # longer than any look that a model was trained on: it goes on
            assert len(gaze) / 240 > seconds - 0.5


def test_a_look_of_usual_length_fills_its_time_with_as_many_fixations_as_a_trial_has():
    """Trials lack some of the time that people looked for; asked for all of it, the gaze has no more fixations."""
    model = load("freeview")
    queries = [
        model._query(picture(), torch.zeros(1, 512), "osie", Request(samples=12, seconds=3, fill=f)) for f in (0, 1)
    ]
    trials, filled = (model.first.scanpaths([query], [seeds], SamplingOptions())[0] for query, seeds in queries)
    stretched = 0
    for trial, full in zip(trials, filled, strict=True):
        assert full.onset_ms[-1] + full.duration_ms[-1] == pytest.approx(3000)
        ended = trial.onset_ms[-1] + trial.duration_ms[-1]
        if 3000 / 1.6 < ended < 2990 and len(trial) < 16:
            assert np.array_equal(full.xy_px, trial.xy_px)
            assert full.duration_ms == pytest.approx(trial.duration_ms)
            stretched += 1
    assert stretched > 6


def test_looks_of_a_style_that_was_recorded_are_as_long_as_the_recordings():
    model = load("freeview")
    query, seeds = model._query(picture(), torch.zeros(1, 512), "doves", Request(samples=20))
    (paths,) = model.first.scanpaths([query], [seeds], SamplingOptions())
    ends = [path.onset_ms[-1] + path.duration_ms[-1] for path in paths if len(path) < 16]
    near = [end for end in ends if end > 5195.8 / 1.6]  # one that would have to be slower still is left alone
    assert len(near) > max(5, len(ends) / 2)
    assert near == pytest.approx([5195.8] * len(near))


def test_nothing_asked_for_is_as_long_as_people_looked():
    model = load("freeview")
    query, seeds = model._query(picture(), torch.zeros(1, 512), "osie", Request(samples=4))
    as_people, _ = model._query(picture(), torch.zeros(1, 512), "osie", Request(samples=4, seconds=3, fill=False))
    assert model.first.scanpaths([query], [seeds], SamplingOptions()) == model.first.scanpaths(
        [as_people], [seeds], SamplingOptions()
    )


def test_a_look_that_goes_on_begins_as_the_shorter_one(model):
    for long, longer in zip(
        model.scanpaths(picture(), samples=4, seconds=8), model.scanpaths(picture(), samples=4, seconds=10), strict=True
    ):
        shared = len(long) - 1  # the last fixation is cut by the end of the look
        assert np.array_equal(long.xy_px[: min(shared, 5)], longer.xy_px[: min(shared, 5)])


def test_wishes_that_cannot_be_fulfilled_are_refused(model):
    for wish, message in (
        ({"seconds": 0.1}, "seconds must be between 0.2 and 30, got 0.1"),
        ({"seconds": 31}, "seconds must be between 0.2 and 30, got 31"),
        ({"samples": 0}, "samples must be between 1 and 1000, got 0"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"precision_deg": 0.0}, "precision is an angle up to 1 degree, got 0"),
    ):
        with pytest.raises(InputError, match=message):
            model.generate(picture(), **wish)


# ------------------------------------------------------------------ the fine half


def test_the_fixations_of_the_gaze_are_the_scanpaths(model):
    for gaze in model.generate(picture(size=(800, 600)), samples=5, seconds=4):
        path = extend_fixations(gaze.scanpath)
        skeleton = skeleton_of(path, gaze.rate_hz)
        assert len(gaze) == len(skeleton)
        medians = np.array([np.median(gaze.xy_px[start:stop], axis=0) for start, stop in skeleton.fixations])
        assert np.abs(medians - path.xy_px).max() < 0.05
        starts, stops = skeleton.fixations.T * 1000 / gaze.rate_hz
        half_sample_ms = 500 / gaze.rate_hz
        long_enough = path.duration_ms > 2 * half_sample_ms
        assert np.abs(starts - (path.onset_ms - path.onset_ms[0]))[long_enough].max() <= half_sample_ms + 1e-6
        assert np.abs(stops - starts - path.duration_ms)[long_enough].max() <= 2 * half_sample_ms + 1e-6


def test_the_gaze_says_that_it_is_made_and_how_it_was_come_by(model):
    (gaze,) = model.generate(picture(), samples=1, seconds=2)
    assert gaze.synthesised
    assert gaze.scanpath is gaze.animated_from
    assert replace(gaze, animated_from=None).scanpath == extract(gaze)


def test_the_trackers_precision_is_the_root_mean_square_of_its_steps(model):
    precision_deg, rate_hz = 0.02, model.fine.config.rate_hz
    steps_deg = np.random.default_rng(0).normal(0, precision_deg / np.sqrt(2), (100_000, 2))
    assert np.sqrt((steps_deg**2).sum(1).mean()) == pytest.approx(precision_deg, rel=0.01)
    median_speed = np.median(np.hypot(*steps_deg.T)) * rate_hz
    assert model.fine._noise_deg_s(precision_deg, uniform=0.7) == pytest.approx(median_speed, rel=0.01)


@pytest.mark.parametrize("precision_deg", [0.005, 0.02])
def test_the_shipped_fine_half_is_as_noisy_as_the_tracker_that_was_asked_for(precision_deg):
    fine, px_per_degree = load("freeview").fine, 30
    still = Scanpath([[400.0, 300.0], [420.0, 300.0]], Frame(800, 600, px_per_degree), [900.0, 900.0])
    moved = fine.animate([still] * 8, list(range(8)), precision_deg=precision_deg)
    steps_deg = np.concatenate([np.hypot(*np.diff(one.xy_px[24:192], axis=0).T) for one in moved]) / px_per_degree
    expected = np.median(np.hypot(*np.random.default_rng(0).normal(0, precision_deg / np.sqrt(2), (2, 10_000))))
    assert np.median(steps_deg) == pytest.approx(expected, rel=0.3)


def test_animate_keeps_trials_and_tells_those_that_it_cannot_move(run):
    frame = Frame(800, 600)
    timed = Trial("a.png", "ann", scanpath=Scanpath([[100, 100], [400, 300]], frame, [300, 200]), task="cup")
    bare = Trial("b.png", "bob", scanpath=Scanpath([[100, 100], [400, 300]], frame))
    (moved,) = stdiffeye.animate([timed], model=run, quiet=True)
    assert (moved.name, moved.subject, moved.task, moved.scanpath) == ("a.png", "ann", "cup", timed.scanpath)
    assert animate([bare, timed], model=run, durations=True, quiet=True)[1].trajectory == moved.trajectory
    with pytest.raises(InputError, match=r"'b.png' by 'bob' has no durations: --durations gives it typical ones"):
        animate([timed, bare], model=run, quiet=True)
    samples = Trial("c.png", "eve", trajectory=moved.trajectory)
    with pytest.raises(InputError, match=r"trial 'c.png' of 'eve' has no scanpath to animate"):
        animate([samples], model=run, quiet=True)
