"""Batches for training: pure functions of (seed, step), balanced over stores, changed only as a viewer might have."""

from __future__ import annotations

import numpy as np
import pytest
from made_sets import make_osie, scanpath_rows

from stdiffeye.data.batches import TYPICAL_GAP_MS, Augment, ScanpathBatches, stimuli_of
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.errors import InputError

ARRAYS = ("xy", "duration_ms", "gap_ms", "length", "seconds", "start_s", "flip")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("batches")
    return prepare("osie", make_osie(folder / "source", scanpath_rows(70)), folder / "store", quiet=True)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("large")
    rows = scanpath_rows(160, pictures=80, seed=1)
    return prepare("osie", make_osie(folder / "source", rows), folder / "store", quiet=True)


def batches(store: Store, **changes) -> ScanpathBatches:
    return ScanpathBatches([store], **({"split": "train", "stimuli": 4, "viewers": 3} | changes))


def test_a_batch_depends_on_seed_and_step_alone(store):
    one, other = batches(store, augment=Augment()), batches(store, augment=Augment())
    for step in (5, 0):  # in any order
        a, b = one.batch(step), other.batch(step)
        assert [s.name for s in a.stimuli] == [s.name for s in b.stimuli]
        assert all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in ARRAYS)
    another = batches(store, augment=Augment(), seed=1)
    assert not np.array_equal(one.batch(0).xy, another.batch(0).xy)
    assert not np.array_equal(one.batch(0).xy, one.batch(1).xy)


def test_parts_of_a_batch_make_the_whole(store):
    source = batches(store, augment=Augment())
    whole = source.batch(3)
    halves = [
        source.batch(3, lambda count, half=half: slice(half * count // 2, (half + 1) * count // 2)) for half in (0, 1)
    ]
    assert [s.name for half in halves for s in half.stimuli] == [s.name for s in whole.stimuli]
    for name in ARRAYS:
        joined = np.concatenate([getattr(half, name) for half in halves])
        assert np.array_equal(joined, getattr(whole, name), equal_nan=True)


def test_rows_are_the_trials_of_their_stimulus(store):
    batch = batches(store).batch(0)
    assert batch.xy.shape == (12, 16, 2)
    for row in range(12):
        stimulus = batch.stimuli[row // 3]
        candidates = [store[int(trial)] for trial in stimulus.trials]
        n = int(batch.length[row])
        xy = batch.xy[row, :n] * [800, 600]
        (trial,) = [t for t in candidates if len(t.scanpath) == n and np.allclose(t.scanpath.xy_px, xy, atol=1e-3)]
        known = trial.scanpath.duration_ms is not None
        assert np.isfinite(batch.duration_ms[row, :n]).all() == known
        assert np.isnan(batch.duration_ms[row, n:]).all()
        assert np.isnan(batch.gap_ms[row]).all()  # this set has no onsets
        assert (batch.xy[row, n:] == 0).all()
        assert (batch.seconds[row], batch.start_s[row]) == (3.0, 0.0)
    assert batch.positions[0].shape == (sum(len(store[int(t)].scanpath) for t in batch.stimuli[0].trials), 2)


def test_mirrored_gaze_belongs_to_mirrored_pictures(store):
    straight, mirrored = (batches(store, augment=Augment(flip, 0, 0)).batch(0) for flip in (0.0, 1.0))
    assert mirrored.flip.all()
    assert not straight.flip.any()
    inside = np.arange(16) < straight.length[:, None]
    assert np.allclose((1 - mirrored.xy[..., 0])[inside], straight.xy[..., 0][inside], atol=1e-6)
    assert np.array_equal(mirrored.xy[..., 1], straight.xy[..., 1])
    assert np.allclose(1 - mirrored.positions[0][:, 0], straight.positions[0][:, 0], atol=1e-6)


def test_light_changes_the_picture_alone(store):
    plain, colour_jitter = (
        ScanpathBatches([store], "train", 4, 3, seed=5, augment=Augment(colour_jitter=share)) for share in (0.0, 0.5)
    )
    lights = [colour_jitter.batch(step).colour_jitter for step in range(40)]
    assert set(np.concatenate(lights).tolist()) == {0, 1, 2}
    assert not any(plain.batch(step).colour_jitter.any() for step in range(10))
    np.testing.assert_array_equal(plain.batch(3).xy, colour_jitter.batch(3).xy)


def test_a_trial_that_ended_earlier_fits_its_shorter_viewing_time(store):
    whole, cut = batches(store).batch(2), batches(store, augment=Augment(0, cut=1.0, later=0)).batch(2)
    timed = np.isfinite(whole.duration_ms[:, 0])
    assert (cut.seconds[timed] < 3).all()
    assert (cut.seconds[timed] >= 1).all()
    assert (cut.seconds[~timed] == 3).all()  # nobody knows when its fixations were
    assert (cut.length <= whole.length).all()
    for row in np.flatnonzero(timed):
        n = int(cut.length[row])
        assert np.array_equal(cut.xy[row, :n], whole.xy[row, :n])
        gaps_ms = TYPICAL_GAP_MS * (n - 1)
        assert np.nansum(cut.duration_ms[row]) + gaps_ms <= 1000 * cut.seconds[row] + 1


def test_what_came_later_says_how_much_time_had_passed(store):
    whole, later = batches(store).batch(2), batches(store, augment=Augment(0, cut=0, later=1.0)).batch(2)
    moved = later.start_s > 0
    assert moved.any()
    for row in np.flatnonzero(moved):
        skipped = int(whole.length[row] - later.length[row])
        assert np.array_equal(later.xy[row, : later.length[row]], whole.xy[row, skipped : whole.length[row]])
        passed_ms = (whole.duration_ms[row, :skipped] + TYPICAL_GAP_MS).sum()
        assert later.start_s[row] == pytest.approx(passed_ms / 1000, rel=1e-5)


def test_balance_decides_between_pictures_and_stores(store, large):
    counts = [len(stimuli_of(one, "train")) for one in (store, large)]
    assert counts[1] > 5 * counts[0]
    for dataset_exponent, share in ((0.0, 0.5), (1.0, counts[0] / sum(counts)), (0.5, None)):
        mixed = ScanpathBatches([store, large], "train", 4, 2, dataset_exponent=dataset_exponent)
        expected = share if share is not None else counts[0] ** 0.5 / (counts[0] ** 0.5 + counts[1] ** 0.5)
        assert mixed.store_share[0] == pytest.approx(expected)


def test_no_stimulus_is_drawn_twice_in_a_batch_while_there_are_enough(large):
    names = [s.name for s in batches(large, stimuli=30, viewers=1).batch(0).stimuli]
    assert len(set(names)) == 30
    many = batches(large, stimuli=500, viewers=1).batch(0)
    assert len(many.stimuli) == 500


def test_stores_are_drawn_by_their_share_and_no_stimulus_twice_in_a_large_set(store, large):
    for stimuli in (2, 40):  # few of many stimuli, and most of them
        mixed = ScanpathBatches([store, large], "train", stimuli, 1, dataset_exponent=0.5)
        steps = [[(c.stimulus.store, c.stimulus.name) for c in mixed.choose(step)] for step in range(400)]
        assert all(len(set(step)) == stimuli for step in steps)
        if stimuli == 2:
            share = np.mean([number == 0 for step in steps for number, _ in step])
            assert share == pytest.approx(mixed.store_share[0], abs=0.08)


def test_stimuli_are_told_apart_by_picture_and_task_and_keep_their_split(store):
    for split in ("train", "validation", "test"):
        for stimulus in stimuli_of(store, split):
            trials = [store[int(number)] for number in stimulus.trials]
            assert {(t.name, t.task, t.split) for t in trials} == {(stimulus.name, stimulus.task, split)}
    every = np.concatenate([s.trials for s in stimuli_of(store, None)])
    assert sorted(every.tolist()) == list(range(len(store)))


def test_stores_without_pictures_or_usable_trials_are_told(tmp_path, store):
    bare = prepare(
        "osie", make_osie(tmp_path / "source", scanpath_rows(10), pictures=False), tmp_path / "s", quiet=True
    )
    with pytest.raises(InputError, match="no stimulus with a picture in split 'train'"):
        batches(bare)
    assert len(batches(bare, pictures_needed=False).batch(0).stimuli) == 4
    with pytest.raises(InputError, match="no stimulus with a picture"):
        batches(store, usable=lambda s: np.zeros(len(s), dtype=bool))
    with pytest.raises(InputError, match=r"has no split 'trian': it has train, validation, test"):
        batches(store, split="trian")
