from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Trajectory, extract, fixation_intervals, judd
from stdiffeye.gaze._scale import px_per_degree_of

FRAME = Frame(1024, 768, px_per_degree=34)
METHODS = ("judd", "ivt", "idt")


def gaze(
    *holds: tuple[float, float, float], rate_hz: float = 240, frame: Frame = FRAME, jitter: float = 0
) -> Trajectory:
    """Fixations (x, y, ms) joined by saccades of 30 ms at constant speed."""
    pieces: list[np.ndarray] = []
    for x, y, lasts_ms in holds:
        if pieces:
            move = np.linspace(0, 1, round(0.030 * rate_hz) + 1, endpoint=False)[1:, None]
            pieces.append(pieces[-1][-1] + move * (np.array([x, y]) - pieces[-1][-1]))
        pieces.append(np.full((round(lasts_ms * rate_hz / 1000), 2), (x, y), dtype=float))
    xy = np.concatenate(pieces)
    return Trajectory(xy + np.random.default_rng(0).normal(0, jitter, xy.shape), rate_hz, frame)


THREE = ((100, 100, 300), (500, 200, 250), (300, 600, 400))


def plain_judd(xy: np.ndarray, critical: float) -> list[tuple[int, int]]:
    """The rule at 240 Hz in plain words, samples counted from 1 as in its description; (first, last) of fixations."""
    n = len(xy)
    d = {k: float(np.hypot(*(xy[k - 1] - xy[k - 2]))) for k in range(2, n + 1)}
    a = dict.fromkeys(range(1, n + 1), 0.0)
    for k in range(2, n - 5 + 1):
        a[k] = 15 * (sum(d[j] for j in range(k + 2, k + 6)) - sum(d.get(j, 0.0) for j in range(k - 3, k + 1)))
    if sum(value > critical for value in a.values()) < 3:
        return [(1, n)]
    saccades = []
    k = 1
    while k <= n:
        if a[k] <= critical:
            k += 1
            continue
        first = k
        while k <= n and a[k] > critical:
            k += 1
        if k - first < 2:
            continue
        falling = [j for j in range(k, min(k + 25, n + 1)) if a[j] < -critical]
        if falling:
            last = falling[0]
            while last + 1 <= n and a[last + 1] < -critical:
                last += 1
            saccades.append((first, last))
        elif k - 1 == n - 5:
            saccades.append((first, n))
    fixations, start = [], 1
    for number, (first, last) in enumerate([*saccades, (n + 1, n + 1)]):
        length = first - start
        if length > 12 or (number == 0 and length > 0):
            fixations.append((start, first - 1))
        start = last + 1
    return fixations


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0, 4))
def test_judd_at_240_hz_is_the_published_rule(seed: int, count: int, jitter: float) -> None:
    rng = np.random.default_rng(seed)
    holds = [(*rng.uniform(0, 700, 2), rng.uniform(20, 400)) for _ in range(count)]
    trajectory = gaze(*holds, jitter=jitter)
    found = judd.fixation_intervals(trajectory)
    assert [(start + 1, stop) for start, stop in found.tolist()] == plain_judd(trajectory.xy_px, 204.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate_hz", [120, 200, 240, 500, 1000])
@pytest.mark.parametrize("scale", [0.5, 1, 2])
def test_the_same_gaze_gives_the_same_scanpath_at_any_rate_and_size(method: str, rate_hz: float, scale: float) -> None:
    frame = FRAME.resized(FRAME.width_px * scale, FRAME.height_px * scale)
    holds = [(x * scale, y * scale, lasts) for x, y, lasts in THREE]
    found = extract(gaze(*holds, rate_hz=rate_hz, frame=frame, jitter=0.5 * scale), method)
    np.testing.assert_allclose(found.xy_px / scale, [hold[:2] for hold in THREE], atol=1.5)
    np.testing.assert_allclose(found.duration_ms, [hold[2] for hold in THREE], atol=45)
    np.testing.assert_allclose(found.onset_ms, [0, 330, 610], atol=30)


@pytest.mark.parametrize("method", METHODS)
def test_still_gaze_is_one_fixation(method: str) -> None:
    found = extract(gaze((50, 60, 1000), jitter=0.3), method)
    assert len(found) == 1
    assert found.duration_ms is not None
    assert found.duration_ms.tolist() == [1000]


@pytest.mark.parametrize("method", METHODS)
def test_one_sample_is_enough_for_judd_and_too_little_for_the_others(method: str) -> None:
    one = Trajectory([[5, 5]], 240, FRAME)
    if method == "judd":
        assert extract(one).xy_px.tolist() == [[5, 5]]
    else:
        with pytest.raises(InputError, match=f"no fixation found by '{method}': 0% of its 1 samples are lost"):
            extract(one, method)


@pytest.mark.parametrize("method", METHODS)
def test_gaze_that_is_lost_throughout_is_refused(method: str) -> None:
    with pytest.raises(InputError, match="100% of its 40 samples are lost; check the recording or use another method"):
        extract(Trajectory(np.full((40, 2), np.nan), 240, FRAME), method)


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(InputError, match="there is no fixation extractor 'mst'; choose one of judd, ivt, idt"):
        extract(gaze(*THREE), "mst")


def test_judd_ignores_lost_samples_within_a_fixation_unless_told_otherwise() -> None:
    xy = gaze((100, 100, 1000)).xy_px.copy()
    xy[100:140] = np.nan
    blink = Trajectory(xy, 240, FRAME)
    assert fixation_intervals(blink).tolist() == [[0, 240]]
    assert fixation_intervals(blink, max_loss_ms=75).tolist() == [[0, 100], [140, 240]]
    assert fixation_intervals(blink, max_loss_ms=200).tolist() == [[0, 240]]
    assert extract(blink).xy_px.tolist() == [[100, 100]]


def test_judd_bears_jitter_of_one_and_a_half_pixels_and_not_of_eight() -> None:
    assert len(extract(gaze(*THREE, jitter=1.5))) == 3
    assert len(extract(gaze(*THREE, jitter=8))) != 3


def test_a_frame_of_unknown_size_counts_as_thirty_degrees_wide() -> None:
    unknown = Frame(512, 384)
    assert px_per_degree_of(unknown) == 17
    assert px_per_degree_of(Frame(512, 384, 25)) == 25
    assert px_per_degree_of(Frame(512, 384, 25), 40) == 40
    half = gaze(*[(x / 2, y / 2, lasts) for x, y, lasts in THREE], frame=unknown)
    assert extract(half) == extract(half, px_per_degree=17)
    with pytest.raises(InputError, match="px_per_degree must be positive, got 0"):
        extract(half, px_per_degree=0)


def test_ivt_joins_neighbours_on_request() -> None:
    twitch = gaze((100, 100, 200), (108, 100, 200))  # 8 px in 30 ms are 8 deg/s, so make it a jump
    xy = twitch.xy_px.copy()
    xy[48:] = (125, 100)
    jump = Trajectory(xy, 240, FRAME)
    assert len(fixation_intervals(jump, "ivt")) == 2
    assert len(fixation_intervals(jump, "ivt", max_step_deg=1)) == 1


def test_idt_splits_where_the_box_is_full() -> None:
    drifting = Trajectory(np.stack([np.linspace(0, 170, 240), np.zeros(240)], axis=1), 240, FRAME)  # 5 deg in 1 s
    assert fixation_intervals(drifting, "idt", max_dispersion_deg=2.5).tolist() == [[0, 120], [120, 240]]
    assert len(fixation_intervals(drifting, "ivt")) == 1
