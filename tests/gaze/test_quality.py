from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Quality, QualityReport, QualityThresholds, Trajectory
from stdiffeye.gaze.samples import Samples

FRAME = Frame(1000, 500, px_per_degree=50)


def gaze(xy: object, frame: Frame = FRAME, rate_hz: float = 200) -> Trajectory:
    return Trajectory(np.array(xy, dtype=float), rate_hz, frame)


STILL = gaze([[10, 10]] * 10)
LOSSY = gaze([[10, 10]] * 7 + [[np.nan, np.nan]] * 3)
OUTSIDE = gaze([[10, 10]] * 4 + [[-5, 10]] * 6)
JUMPY = gaze([[10, 10]] * 5 + [[261, 10]] * 5)  # 251 px in 5 ms are 1004 deg/s
FAST = gaze([[10, 10]] * 5 + [[259, 10]] * 5)  # 996 deg/s


def test_a_trajectory_is_measured() -> None:
    quality = Quality.of(JUMPY)
    assert quality.impossible_speed_count == 1
    assert quality.peak_speed_deg_s == pytest.approx(1004)
    assert quality.duration_ms == 50
    assert Quality.of(LOSSY).missing_share == 0.3
    assert Quality.of(OUTSIDE).out_of_frame_share == 0.6
    assert Quality.of(gaze([[1, 1]])).peak_speed_deg_s == 0


def test_speed_is_unknown_without_px_per_degree() -> None:
    quality = Quality.of(gaze([[0, 0], [900, 0]], Frame(1000, 500)))
    assert quality.impossible_speed_count is None
    assert quality.fault() is None


@pytest.mark.parametrize(
    ("trajectory", "fault"),
    [
        (STILL, None),
        (FAST, None),
        (LOSSY, "more than 25% of samples lost"),
        (OUTSIDE, "more than 50% of samples outside the frame"),
        (JUMPY, "faster than 1000 deg/s"),
        (gaze([[np.nan, np.nan]] * 4), "every sample lost"),
    ],
)
def test_the_gate_says_why(trajectory: Trajectory, fault: str | None) -> None:
    assert Quality.of(trajectory).fault() == fault


def test_thresholds_are_the_users() -> None:
    lax = QualityThresholds(max_missing_share=0.3, max_out_of_frame_share=None, max_impossible_speed_count=1)
    assert [Quality.of(one, lax).fault(lax) for one in (LOSSY, OUTSIDE, JUMPY)] == [None, None, None]
    strict = QualityThresholds(impossible_speed_deg_s=900, min_duration_ms=60)
    assert Quality.of(FAST, strict).fault(strict) == "faster than 900 deg/s"
    assert Quality.of(STILL, strict).fault(strict) == "shorter than 60 ms"


def test_senseless_thresholds_are_refused() -> None:
    with pytest.raises(InputError, match="max_missing_share is a share between 0 and 1, got 25"):
        QualityThresholds(max_missing_share=25)
    with pytest.raises(InputError, match="impossible_speed_deg_s must be positive, got 0"):
        QualityThresholds(impossible_speed_deg_s=0)


def full_report() -> QualityReport:
    report = QualityReport()
    assert [report.admit(one) for one in (STILL, LOSSY, JUMPY, FAST)] == [True, False, False, True]
    report.drop("no sample within 20 px of the first fixation")
    return report


def test_a_report_prints_what_was_kept_and_dropped_and_why() -> None:
    assert str(full_report()).splitlines() == [
        "2 of 5 trials kept",
        "  dropped 1: more than 25% of samples lost",
        "  dropped 1: faster than 1000 deg/s",
        "  dropped 1: no sample within 20 px of the first fixation",
        "  40 samples looked at: 7.50% lost, 0.00% of the others outside the frame",
        "  1 steps faster than 1000 deg/s in 1 trials",
    ]


def test_a_report_comes_back_from_json_and_from_its_file(tmp_path: Path) -> None:
    report = full_report()
    report.save(tmp_path / "quality.json")
    assert QualityReport.load(tmp_path / "quality.json") == report
    assert report.as_dict()["missing_share"] == pytest.approx(0.075)


def test_reports_of_workers_merge_to_the_report_of_all() -> None:
    one, other, both = QualityReport(), QualityReport(), QualityReport()
    for report, trajectory in [(one, STILL), (one, OUTSIDE), (other, JUMPY), (other, LOSSY)]:
        report.admit(trajectory)
        both.admit(trajectory)
    assert one.merge(other) == both
    with pytest.raises(InputError, match="reports with different thresholds cannot be merged"):
        one.merge(QualityReport(QualityThresholds(max_missing_share=0.1)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "this is not a quality report: 'thresholds'"),
        ("kept", "is not JSON"),
        ("[1]", "this is not a quality report"),
    ],
)
def test_another_file_is_no_report(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "quality.json").write_text(text)
    with pytest.raises(InputError, match=message):
        QualityReport.load(tmp_path / "quality.json")


def test_rows_that_are_missing_count_as_lost_and_tell_no_speed() -> None:
    time_ms = np.delete(np.arange(100.0), np.arange(40, 60))
    xy_px = np.where(time_ms[:, None] < 50, 10.0, 90.0) * [1, 1]
    quality = Quality.of(Samples(time_ms, xy_px, 1000, FRAME))
    assert quality.sample_count == 100
    assert quality.missing_share == pytest.approx(0.2)
    assert quality.impossible_speed_count == 0


def test_speed_counts_the_time_that_a_step_really_took() -> None:
    time_ms = np.array([0.0, 3, 7, 10, 13, 17, 20])
    xy_px = np.stack([time_ms, np.zeros(7)], axis=1)  # 1 px per ms, whatever the clock's jitter
    quality = Quality.of(Samples(time_ms, xy_px, 300, Frame(100, 100, 10)))
    assert quality.peak_speed_deg_s == pytest.approx(100)


def test_synthesised_trajectories_are_counted() -> None:
    report = QualityReport()
    report.admit(Trajectory([[1, 1]], 240, FRAME, synthesised=True))
    assert "1 of the kept trajectories are synthesised" in str(report)


@pytest.mark.real_data
def test_the_gate_catches_the_bursts_of_doves(real_data: Path) -> None:
    from stdiffeye.io.sets import read_set

    report = QualityReport()
    for trial in read_set("doves", real_data / "doves"):
        assert trial.trajectory is not None
        report.admit(trial.trajectory)
    assert report.total == 2349
    assert report.dropped == {"faster than 1000 deg/s": 219}
