"""Exports of Pupil, Gazepoint, SMI and GazeBase: what was written is what is read."""

from __future__ import annotations

import numpy as np
import pytest
from tracker_files import PATH, SCREEN, gaze, gazebase, gazepoint, neon, pupil_core, smi

from stdiffeye.data.recording_fixations import fixations
from stdiffeye.errors import InputError
from stdiffeye.io.recordings import read_recording
from stdiffeye.io.trial_files import ReadingOptions, find_recordings


def same(xy_px: np.ndarray, rate_hz: float, lost: int, atol: float = 0.01) -> None:
    _, expected = gaze(rate_hz)
    assert np.flatnonzero(np.isnan(xy_px).any(axis=1)).tolist() == [lost]
    np.testing.assert_allclose(np.delete(xy_px, lost, 0), np.delete(expected, lost, 0), atol=atol)


def test_pupil_core_has_shares_from_the_bottom_left(tmp_path):
    (one,) = read_recording(pupil_core(tmp_path / "000"), frame=SCREEN)
    same(one.left_px, 120, lost=5)
    assert (one.rate_hz, one.subject, one.messages[0].text) == (120, "000", "TRIAL_START a.png")
    assert [(event.kind, event.duration_ms) for event in one.events] == [("blink", 50.0)]
    with pytest.raises(InputError, match="give --screen WIDTHxHEIGHT of the scene"):
        read_recording(tmp_path / "000")


def test_gaze_on_the_surfaces_of_pupil_core_is_a_recording_each(tmp_path):
    pupil_core(tmp_path / "000", surface="screen")
    pupil_core(tmp_path / "000", surface="book")
    found = read_recording(tmp_path / "000", frame=SCREEN)
    assert [one.name for one in found] == ["book", "screen"]
    np.testing.assert_allclose(found[1].left_px, gaze(120)[1], atol=0.01)


def test_neon_knows_its_scene_its_viewer_and_its_events(tmp_path):
    (one,) = read_recording(neon(tmp_path / "rec"))
    same(one.left_px, 200, lost=7)
    assert (one.rate_hz, one.subject, one.frame.width_px, one.frame.height_px) == (200, "ann", 1600, 1200)
    assert one.frame.px_per_degree == pytest.approx(890 * np.tan(np.radians(1)))
    assert [message.text for message in one.messages] == ["recording.begin", "picture a"]
    assert [event.kind for event in one.events] == ["fixation"]
    (tmp_path / "rec" / "scene_camera.json").unlink()
    with pytest.warns(UserWarning, match="1600×1200 px taken"):
        read_recording(tmp_path / "rec")


@pytest.mark.parametrize("both_eyes", [False, True])
def test_gazepoint_has_a_recording_per_medium(tmp_path, both_eyes):
    found = read_recording(gazepoint(tmp_path / "User 0_all_gaze.csv", both_eyes), frame=SCREEN)
    assert [(one.name, one.subject) for one in found] == [("a.png", "User 0"), ("b.png", "User 0")]
    for one in found:
        same(one.left_px, 150, lost=9)
        assert one.eyes == (("left", "right") if both_eyes else ("left",))
        assert [message.text for message in one.messages] == ["GO"]
    with pytest.raises(InputError, match="holds shares of the screen and not its size"):
        read_recording(tmp_path / "User 0_all_gaze.csv")


def test_smi_has_a_recording_per_trial_and_knows_its_screen(tmp_path):
    found = read_recording(smi(tmp_path / "p01 Samples.txt"))
    assert [(one.name, one.subject, one.rate_hz) for one in found] == [("a.jpg", "p01", 500), ("b.jpg", "p01", 500)]
    for one in found:
        same(one.left_px, 500, lost=11)
        assert one.frame.px_per_degree == pytest.approx(1600 / 474 * 700 * np.tan(np.radians(1)))
        assert len(one.messages) == 1


def test_gazebase_is_degrees_on_its_own_screen(tmp_path):
    (one,) = read_recording(gazebase(tmp_path / "S_1001_S1_FXS.csv"))
    assert (one.subject, one.details, one.rate_hz) == ("1001", {"session": 1, "task": "FXS"}, 1000)
    assert one.frame.px_per_degree == pytest.approx(34.03, abs=0.01)
    mm = (one.left_px[0] - [840, 525]) * [474 / 1680, 297 / 1050] + [0, 36]
    degrees = np.degrees(np.arctan(mm / 550))
    np.testing.assert_allclose(degrees, (gaze(1000)[1][0] - SCREEN.centre_px) / 40, atol=1e-3)
    assert np.flatnonzero(np.isnan(one.left_px).any(axis=1)).tolist() == [13]


def test_gazebase_columns_come_in_any_order_and_its_screen_ends_where_the_set_says(tmp_path):
    file = tmp_path / "S_1001_S1_TEX.csv"
    edges = [(-23.31, 11.56), (23.31, -18.54), (0.0, -3.745)]
    rows = [f"{n},{x},{y},0,1200,1,NaN,NaN" for n, (x, y) in enumerate(edges)]
    file.write_text("\n".join(["n,x,y,val,dP,lab,xT,yT", *rows]) + "\n")
    (one,) = read_recording(file)
    np.testing.assert_allclose(one.left_px, [[0, 0], [1680, 1050], [840, 525]], atol=1)
    np.testing.assert_array_equal(one.left_pupil, [1200] * 3)


def test_a_folder_of_all_trackers_becomes_scanpaths(tmp_path):
    pupil_core(tmp_path / "core")
    neon(tmp_path / "neon")
    gazepoint(tmp_path / "User 0_all_gaze.csv")
    smi(tmp_path / "p01.txt")
    gazebase(tmp_path / "S_1001_S1_FXS.csv")
    files = find_recordings(tmp_path)
    assert [file.name for file in files] == ["S_1001_S1_FXS.csv", "User 0_all_gaze.csv", "core", "neon", "p01.txt"]
    found = fixations(tmp_path, reading=ReadingOptions(frame=SCREEN))
    assert len(found.trials) == 7
    for trial in found.trials:
        assert len(trial.scanpath) == 3
        if trial.frame == SCREEN:
            np.testing.assert_allclose(trial.scanpath.xy_px, PATH.xy_px, atol=6)


BROKEN = {
    "an SMI file without a header": (smi, "p.txt", lambda text: text.replace("Time\t", "When\t"), "no header line"),
    "an SMI file cut within a row": (smi, "p.txt", lambda text: text[:-20], "cells"),
    "an SMI message without a time": (
        smi,
        "p.txt",
        lambda text: text.replace("5851999500\tMSG", "x\tMSG"),
        "expected µs",
    ),
    "an SMI file of raw positions": (smi, "p.txt", lambda text: text.replace("POR", "GOR"), "point of regard"),
    "a GazeBase file cut within a row": (gazebase, "g.csv", lambda text: text[:-12], "cut short"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_damaged_export_is_refused_in_a_sentence(case, tmp_path):
    make, name, damage, message = BROKEN[case]
    file = make(tmp_path / name)
    file.write_text(damage(file.read_text()))
    with pytest.raises(InputError, match=message):
        read_recording(file)
