from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial

FRAME = Frame(800, 600, 24)
coordinates = st.floats(-1e4, 1e4)
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=6).map(np.array)


def path(*xy: tuple[float, float], **more: object) -> Scanpath:
    return Scanpath(np.array(xy or [(1, 2), (3, 4), (5, 6)]), FRAME, **more)  # type: ignore[arg-type]


def gaze(count: int = 12) -> Trajectory:
    return Trajectory(np.arange(2 * count).reshape(count, 2), 240, FRAME)


def test_a_trajectory_knows_its_times() -> None:
    assert gaze(12).duration_ms == 50
    assert gaze(3).time_ms.tolist() == pytest.approx([0, 1000 / 240, 2000 / 240])
    assert len(gaze(240).within(500, 750)) == 60


def test_lost_samples_are_counted_when_either_coordinate_is_missing() -> None:
    trajectory = Trajectory([[0, 0], [np.nan, 1], [1, np.nan], [np.nan, np.nan]], 240, FRAME)
    assert trajectory.lost.tolist() == [False, True, True, True]
    assert trajectory.missing_share == 0.75


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Trajectory(np.zeros((0, 2)), 240, FRAME), "a Trajectory needs at least one sample, got none"),
        (lambda: Trajectory(np.zeros(4), 240, FRAME), "Trajectory.xy_px must have shape (n, 2), got (4,)"),
        (lambda: Trajectory(np.zeros((4, 3)), 240, FRAME), "Trajectory.xy_px must have shape (n, 2), got (4, 3)"),
        (lambda: Trajectory([[np.inf, 0]], 240, FRAME), "Trajectory.xy_px holds an infinite value"),
        (lambda: Trajectory([[0, 0]], 0, FRAME), "Trajectory.rate_hz must be a positive number, got 0"),
        (lambda: Scanpath(np.zeros((0, 2)), FRAME), "a Scanpath needs at least one fixation, got none"),
        (lambda: path((0, 0), (np.nan, 1)), "fixation 2 has no place (NaN)"),
        (lambda: path((0, 0), duration_ms=[-5]), "a fixation cannot last -5 ms: durations are ≥ 0"),
        (lambda: path((0, 0), (1, 1), onset_ms=[5, 4]), "fixation onsets must not go back in time"),
        (
            lambda: path((0, 0), duration_ms=[1, 2]),
            "Scanpath.duration_ms must have one value per fixation (1), got shape (2,)",
        ),
        (
            lambda: path((0, 0), duration_ms=[np.nan]),
            "Scanpath.duration_ms holds NaN or infinity; leave durations out (None) where they are unknown",
        ),
        (lambda: Trial("a.jpg", "7"), "trial 'a.jpg' of '7' has neither a scanpath nor a trajectory"),
        (
            lambda: Trial("a.jpg", "7", path(), Trajectory([[0, 0]], 240, Frame(1, 1))),
            "trial 'a.jpg' of '7': scanpath and trajectory differ in frame",
        ),
        (
            lambda: Trial("a.jpg", "7", path(), viewing_ms=0),
            "trial 'a.jpg': viewing time must be positive, got 0 ms",
        ),
        (lambda: path()[::2], "gaze is sliced in one piece, [a:b], got slice(None, None, 2)"),
        (lambda: gaze()[3], "gaze is sliced in one piece, [a:b], got 3"),
    ],
)
def test_bad_gaze_is_refused_in_one_sentence(make: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value) == message


def test_slices_keep_durations_and_onsets() -> None:
    part = path(duration_ms=[10, 20, 30], onset_ms=[0, 15, 40])[1:]
    assert part == Scanpath([[3, 4], [5, 6]], FRAME, duration_ms=[20, 30], onset_ms=[15, 40])
    assert gaze(12)[2:5].xy_px.tolist() == [[4, 5], [6, 7], [8, 9]]
    assert gaze(12)[2:5].rate_hz == 240


def test_gaps_are_known_only_with_durations_and_onsets() -> None:
    assert path(duration_ms=[10, 20, 30], onset_ms=[0, 15, 40]).gap_ms.tolist() == [5, 5]  # type: ignore[union-attr]
    assert path(duration_ms=[10, 20, 30]).gap_ms is None


def test_equality_looks_at_every_field() -> None:
    assert path() == path()
    assert path() != path(duration_ms=[1, 2, 3])
    assert path(duration_ms=[1, 2, 3]) != path(duration_ms=[1, 2, 4])
    assert path() != Scanpath(path().xy_px, Frame(801, 600, 24))
    assert gaze(3) != dataclasses.replace(gaze(3), synthesised=True)
    assert gaze(3) != dataclasses.replace(gaze(3), rate_hz=250)
    assert Trajectory([[np.nan, np.nan]], 240, FRAME) == Trajectory([[np.nan, np.nan]], 240, FRAME)
    assert Trial("a", "1", path()) == Trial("a", "1", path())
    assert Trial("a", "1", path()) != Trial("a", "2", path())
    assert path() != "scanpath"


def test_nouns_cannot_be_changed_and_do_not_share_memory_with_their_maker() -> None:
    places = np.array([[1.0, 2.0]])
    made = Scanpath(places, FRAME)
    places[0, 0] = 99
    assert made.xy_px.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        made.xy_px[0, 0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.frame = Frame(1, 1)  # type: ignore[misc]


@settings(deadline=None, max_examples=40)
@given(points, st.floats(1, 5000), st.floats(1, 5000))
def test_rescaling_a_trial_there_and_back_changes_nothing(xy: np.ndarray, width: float, height: float) -> None:
    trial = Trial("a", "1", Scanpath(xy, FRAME), Trajectory(xy, 240, FRAME), target_box_px=(10, 20, 30, 40))
    there = trial.rescaled(Frame(width, height))
    back = there.rescaled(FRAME)
    assert there.frame == Frame(width, height)
    assert back.scanpath is not None
    assert back.trajectory is not None
    np.testing.assert_allclose(back.scanpath.xy_px, xy, atol=1e-6)
    np.testing.assert_allclose(back.trajectory.xy_px, xy, atol=1e-6)
    assert back.target_box_px == pytest.approx((10, 20, 30, 40))


def test_a_repr_says_what_a_person_asks_first() -> None:
    assert repr(path(duration_ms=[1000, 200, 50])) == "Scanpath(3 fixations, 1.25 s, 800×600 px)"
    assert repr(path()) == "Scanpath(3 fixations, no durations, 800×600 px)"
    lost = Trajectory([[0, 0], [np.nan, np.nan]], 240, FRAME, synthesised=True)
    assert repr(lost) == "Trajectory(2 samples, 0.01 s at 240 Hz, 800×600 px, 50% lost, synthesised)"
    assert repr(Trial("a.jpg", "7", path(), task="clock")) == (
        "Trial('a.jpg' by '7' looking for 'clock': Scanpath(3 fixations, no durations, 800×600 px))"
    )


def test_a_trial_is_matched_by_picture_and_task() -> None:
    assert Trial("a.jpg", "7", path(), task="clock").key == ("a.jpg", "clock")
    assert Trial("a.jpg", "7", trajectory=gaze()).frame == FRAME


def test_a_notebook_shows_a_noun_as_a_png() -> None:
    assert path(duration_ms=[100, 200, 300])._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("key", ["name", "subject", "task", "dataset", "split"])
@pytest.mark.parametrize("word", ["a\0b", "a\rb", "caf\udce9"])
def test_words_that_no_file_can_hold_are_refused_with_the_name_of_the_field(key, word):
    words = {"name": "a.jpg", "subject": "1"} | {key: word}
    with pytest.raises(InputError, match=f"^{key} of trial"):
        Trial(scanpath=path(), **words)
