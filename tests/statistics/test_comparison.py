"""Distributions of scanpaths: quantities by hand, and human against generated."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from stdiffeye import Frame, Scanpath, Trajectory, Trial
from stdiffeye.errors import InputError
from stdiffeye.statistics import compare
from stdiffeye.statistics.quantities import amplitude, direction_deg, inter_saccade_angle_deg

FRAME = Frame(800, 600, px_per_degree=20)
SQUARE = Scanpath([[100, 100], [200, 100], [200, 200], [100, 200], [100, 200]], FRAME, [100, 200, 300, 400, 500])


def crowd(rng: np.random.Generator, spread_px: float, viewers: int = 6, stimuli: int = 5) -> list[Trial]:
    trials = []
    for stimulus in range(stimuli):
        for viewer in range(viewers):
            xy = np.clip(rng.normal((400, 300), spread_px, (9, 2)), 0, (799, 599))
            path = Scanpath(xy, FRAME, rng.lognormal(5.5, 0.4, 9))
            trials.append(Trial(f"picture {stimulus}", f"viewer {viewer}", path))
    return trials


def test_quantities_of_a_square_are_what_one_sees() -> None:
    assert amplitude(SQUARE).tolist() == [100, 100, 100, 0]
    assert direction_deg(SQUARE).tolist() == [0, -90, -180]  # right, down, left; the saccade of length 0 has none
    assert inter_saccade_angle_deg(SQUARE).tolist() == [90, 90]


def test_a_straight_line_turns_by_zero_and_a_return_by_180_degrees() -> None:
    line = Scanpath([[0, 0], [10, 5], [20, 10], [0, 0]], FRAME)
    assert inter_saccade_angle_deg(line) == pytest.approx([0, 180])


def test_the_same_trials_have_no_distance_and_others_do() -> None:
    rng = np.random.default_rng(0)
    human, wide = crowd(rng, 60), crowd(rng, 160)
    found = compare(human, {"same": human[::-1], "wide": wide})
    for one in found.distributions.values():
        assert one.distances["same"].ks == 0
        assert one.distances["same"].wasserstein == pytest.approx(0, abs=1e-9)
    assert found["saccade_amplitude"].distances["wide"].ks > 0.5 > found["saccade_amplitude"].floor.ks
    assert found["fixation_count"].distances["wide"].ks == 0


def test_lengths_are_in_degrees_where_frames_know_them_and_else_in_pixels_of_the_common_frame() -> None:
    trial = Trial("p", "1", SQUARE)
    unknown = Trial("p", "2", Scanpath(SQUARE.xy_px, Frame(800, 600)))
    assert compare([trial], {"x": [trial]})["saccade_amplitude"].values["human"].max() == pytest.approx(5)
    pixels = compare([trial], {"x": [unknown]})
    assert pixels.unit == "px"
    assert pixels["saccade_amplitude"].values["x"].max() == pytest.approx(64)
    with pytest.raises(InputError, match=r"lengths in degrees need Frame.px_per_degree, which trial 'p' of '2' lacks"):
        compare([trial], {"x": [unknown]}, unit="deg")


def test_a_trial_without_scanpath_has_it_extracted() -> None:
    still = np.concatenate([np.full((120, 2), 100.0), np.full((120, 2), 300.0)])
    raw = Trial("p", "1", trajectory=Trajectory(still, 240, FRAME))
    found = compare([raw], {"same": [raw]})
    assert found["fixation_count"].values["human"].tolist() == [2]


def test_the_result_prints_and_goes_into_json_without_nan() -> None:
    found = compare(
        [Trial("p", "only viewer", SQUARE)],
        {"ours": [Trial("p", "1", replace(SQUARE, duration_ms=None, onset_ms=None))]},
    )
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    duration = plain["quantities"]["fixation_duration"]
    assert duration["sides"]["ours"] == {
        "n": 0,
        "mean": None,
        "sd": None,
        "median": None,
        "ks": None,
        "wasserstein": None,
    }
    assert duration["human_halves"] == {"ks": None, "wasserstein": None}
    assert "| fixation duration (ms) | ours | 0 | – | – | – | – |" in str(found)


def test_bad_sides_are_refused() -> None:
    trial = Trial("p", "1", SQUARE)
    with pytest.raises(InputError, match="'ours' has no trials"):
        compare([trial], {"ours": []})
    with pytest.raises(InputError, match="a system cannot be called 'human'"):
        compare([trial], {"human": [trial]})
    with pytest.raises(InputError, match="unit must be auto, deg or px, got 'cm'"):
        compare([trial], {"x": [trial]}, unit="cm")
