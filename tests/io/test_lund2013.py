from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from stdiffeye.errors import InputError
from stdiffeye.io.lund2013 import Label, read_lund2013, read_lund2013_folder


def write(path: Path, rows: np.ndarray, **changes: object) -> Path:
    """A file of exactly the published layout."""
    fields = {
        "pos": rows,
        "screenDim": np.array([[0.38, 0.30]]),
        "screenRes": np.array([[1024, 768]], dtype=np.uint16),
        "viewDist": 0.67,
        "sampFreq": np.uint16(500),
    }
    savemat(path, {"ETdata": fields | changes})
    return path


def rows(count: int = 6, step_us: float = 2000) -> np.ndarray:
    time = 5.78e9 + step_us * np.arange(count)
    return np.stack([time, *np.full((2, count), 20.0), *np.full((2, count), 400.0), np.ones(count)], axis=1)


def test_a_recording_is_read_with_its_screen_rate_and_labels(tmp_path: Path) -> None:
    table = rows()
    table[2, 3:5] = 0
    table[:, 5] = [1, 1, 5, 2, 3, 1]
    recording = read_lund2013(write(tmp_path / "UL39_img_vy_labelled_MN.mat", table))
    assert (recording.name, recording.expert) == ("UL39_img_vy", "MN")
    assert recording.trajectory.rate_hz == 500
    assert recording.trajectory.lost.tolist() == [False, False, True, False, False, False]
    assert recording.label.tolist() == [1, 1, 5, 2, 3, 1]
    assert recording.label[2] == Label.BLINK
    frame = recording.trajectory.frame
    assert (frame.width_px, frame.height_px) == (1024, 768)
    assert frame.px_per_degree == pytest.approx(31.51, abs=0.01)


def test_the_rate_comes_from_the_times_because_the_header_may_be_wrong(tmp_path: Path) -> None:
    assert read_lund2013(write(tmp_path / "a_labelled_MN.mat", rows(step_us=5000))).trajectory.rate_hz == 200


def test_empty_rows_at_the_end_are_left_out(tmp_path: Path) -> None:
    table = np.concatenate([rows(), np.zeros((2, 6))])
    recording = read_lund2013(write(tmp_path / "a_labelled_MN.mat", table))
    assert len(recording.trajectory) == len(recording.label) == 6


def test_a_folder_gives_both_experts_of_each_recording(tmp_path: Path) -> None:
    for name in ("a_labelled_RA", "a_labelled_MN", "b_labelled_MN"):
        write(tmp_path / f"{name}.mat", rows())
    found = read_lund2013_folder(tmp_path)
    assert {name: sorted(pair) for name, pair in found.items()} == {"a": ["MN", "RA"], "b": ["MN"]}


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"plain\.mat is not named as Lund2013 files are, <recording>_labelled_<expert>"
    ):
        read_lund2013(write(tmp_path / "plain.mat", rows()))
    table = rows()
    table[0, 5] = 9
    with pytest.raises(InputError, match=r"labels must be 1 to 6, got \[9\]"):
        read_lund2013(write(tmp_path / "x_labelled_MN.mat", table))
    with pytest.raises(InputError, match=r"must have 6 columns and at least 2 rows, got shape \(6, 5\)"):
        read_lund2013(write(tmp_path / "x_labelled_MN.mat", rows()[:, :5]))
    with pytest.raises(InputError, match=r"times in the first column .* must rise, their median step is 0 µs"):
        read_lund2013(write(tmp_path / "x_labelled_MN.mat", rows(step_us=0)))
    (tmp_path / "x_labelled_MN.mat").write_bytes(b"no MATLAB file at all, though it is long enough for a header" * 9)
    with pytest.raises(InputError, match=r"x_labelled_MN\.mat cannot be read as a MATLAB file"):
        read_lund2013(tmp_path / "x_labelled_MN.mat")
    with pytest.raises(InputError, match=r"holds no Lund2013 recordings \(\*_labelled_\*\.mat\)"):
        read_lund2013_folder(tmp_path / "nowhere")


@pytest.mark.real_data
def test_the_published_recordings_are_read(real_data: Path) -> None:
    recordings = read_lund2013_folder(real_data / "lund2013")
    assert len(recordings) == 14
    rates = {name: {one.trajectory.rate_hz for one in pair.values()} for name, pair in recordings.items()}
    assert {name for name, rate in rates.items() if rate == {200}} == {"UH47_img_Europe", "UL47_img_konijntjes"}
    for pair in recordings.values():
        assert sorted(pair) == ["MN", "RA"]
        assert pair["MN"].trajectory == pair["RA"].trajectory  # the same trace, labelled twice
