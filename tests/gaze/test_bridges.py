"""Gaze handed to MNE-Python, pymovements and pysaliency: each finds what was put in."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Scanpath, Trajectory, Trial
from stdiffeye.gaze.recording import Event, Message, Recording

FRAME = Frame(800, 600, 25)
XY = np.random.default_rng(0).uniform(100, 500, (240, 2))
PATH = Scanpath([[200, 200], [400, 300]], FRAME, [300, 400], [0, 350])
TRIAL = Trial("a.png", "ann", PATH, Trajectory(XY, 240, FRAME))


def test_mne_gets_channels_in_px_and_annotations():
    pytest.importorskip("mne")
    raw = TRIAL.to_mne()
    assert raw.ch_names == ["xpos_left", "ypos_left"]
    assert raw.get_channel_types() == ["eyegaze", "eyegaze"]
    np.testing.assert_allclose(raw.get_data(), XY.T)
    assert raw.info["sfreq"] == 240
    assert list(raw.annotations.description) == ["fixation", "fixation"]
    np.testing.assert_allclose(raw.annotations.onset, [0, 0.35])
    np.testing.assert_allclose(raw.annotations.duration, [0.3, 0.4])


def test_mne_gets_both_eyes_pupils_events_and_messages_of_a_recording():
    pytest.importorskip("mne")
    recording = Recording(
        5000 + np.arange(240) * 4.0,
        250,
        FRAME,
        left_px=XY,
        right_px=XY + 5,
        left_pupil=np.full(240, 900.0),
        events=(Event("blink", "left", 5100.0, 40.0),),
        messages=(Message(5200.0, "GO"),),
    )
    raw = recording.to_mne()
    assert raw.ch_names == ["xpos_left", "ypos_left", "pupil_left", "xpos_right", "ypos_right"]
    assert set(raw.get_channel_types()) == {"eyegaze", "pupil"}
    assert list(zip(raw.annotations.description, raw.annotations.onset.round(3), strict=True)) == [
        ("blink", 0.1),
        ("GO", 0.2),
    ]


def test_pymovements_gets_px_degrees_and_fixations():
    pytest.importorskip("pymovements")
    gaze = TRIAL.to_pymovements()
    np.testing.assert_allclose(np.stack(gaze.samples["pixel"].to_list()), XY)
    assert gaze.events.frame["name"].to_list() == ["fixation", "fixation"]
    gaze.pix2deg()
    degrees = np.stack(gaze.samples["position"].to_list())
    small = np.abs(XY - FRAME.centre_px).max(axis=1) < 60  # px per degree holds at the middle
    np.testing.assert_allclose(degrees[small], ((XY - FRAME.centre_px) / 25)[small], atol=0.05)
    assert Trajectory(XY, 240, Frame(800, 600)).to_pymovements().experiment.screen.width_px == 800


def test_pysaliency_gets_trains_by_picture_and_viewer():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pysaliency")
    other = Scanpath([[10, 20], [30, 40], [50, 60]], FRAME, [200, 200, 200], [0, 250, 500])
    trains = GazeList([TRIAL, Trial("b.png", "bob", other), Trial("a.png", "bob", other)]).to_pysaliency()
    assert list(trains.train_ns) == [0, 1, 0]
    assert list(trains.train_subjects) == [0, 1, 1]
    assert len(trains) == 8
    assert trains.x[:2].tolist() == [200, 400]
    assert trains.t[2:5].tolist() == [0, 0.25, 0.5]


def test_gaze_that_has_not_what_is_needed_is_refused():
    pytest.importorskip("mne")
    with pytest.raises(InputError, match="has no samples"):
        PATH.to_mne()
    with pytest.raises(InputError, match="every trial needs a scanpath"):
        GazeList([Trial("a", "1", trajectory=TRIAL.trajectory)]).to_pysaliency()
