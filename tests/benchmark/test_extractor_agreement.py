from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.benchmark import EXPERIMENTS, reproduce
from stdiffeye.benchmark.extractors import EXPERTS, agreement, agreement_table, events_chapter, expert_ms, matches
from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory
from stdiffeye.gaze.lifting import lift
from stdiffeye.io.lund2013 import Label, LabelledRecording, read_lund2013_folder


def labelled(label: list[int], rate_hz: float = 100) -> LabelledRecording:
    gaze = Trajectory(np.ones((len(label), 2)), rate_hz, Frame(10, 10, 5))
    return LabelledRecording("a", "MN", gaze, np.array(label))


def test_fixations_match_by_half_of_their_union_and_once_only() -> None:
    expert = np.array([[0.0, 100], [200, 300]])
    found = np.array([[0.0, 50], [50, 99], [240, 400]])
    assert list(matches(found, expert)) == [(0, 0)]
    assert sorted(matches(expert, expert)) == [(0, 0), (1, 1)]


def test_an_experts_agreement_with_itself_is_perfect() -> None:
    recording = labelled([1] * 30 + [2] * 4 + [1] * 20 + [5] * 6)
    same = agreement([(expert_ms(recording), recording)])
    assert (same.f1, same.kappa, same.median_absolute_difference_ms) == (1, 1, 0)
    assert same.fixation_count == same.expert_count == 2


def test_agreement_counts_what_is_missed_and_how_long_the_rest_is() -> None:
    recording = labelled([1] * 30 + [2] * 10 + [1] * 20 + [2] * 10 + [1] * 30)
    found = np.array([[0.0, 280], [400, 600]])
    half = agreement([(found, recording)])
    assert half.f1 == pytest.approx(2 * 2 / 5)
    assert half.median_difference_ms == -10
    observed, ours, theirs = 0.68, 0.48, 0.8
    chance = ours * theirs + (1 - ours) * (1 - theirs)
    assert half.kappa == pytest.approx((observed - chance) / (1 - chance), abs=1e-6)


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no experiment 'table9': did you mean 'table1'\? There are .*extractors"):
        reproduce("table9", "data")


def test_the_command_asks_for_data(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("STDIFFEYE_DATA", raising=False)
    with pytest.raises(SystemExit) as caught:
        main(["reproduce", "extractors"])
    assert caught.value.code == 2
    assert "which data? Give --data FOLDER or set STDIFFEYE_DATA" in capsys.readouterr().err


def test_every_experiment_is_in_the_commands_help() -> None:
    from stdiffeye.cli import reproduce as verb

    assert verb.__doc__ is not None
    names = re.findall(r"[\w-]+", " ".join(re.findall(r"^  (\S.*?)  ", verb.__doc__, re.MULTILINE)))
    assert set(EXPERIMENTS) <= set(names)


@pytest.mark.real_data
def test_extractors_come_near_the_experts(real_data: Path) -> None:
    recordings = read_lund2013_folder(real_data / "lund2013")
    rows = agreement_table(recordings, 240)
    assert rows["Expert MN"]["RA"].f1 > 0.93
    assert rows["I-VT"]["MN"].f1 > 0.88
    assert rows["Judd"]["MN"].f1 > 0.8
    assert rows["I-DT"]["MN"].f1 > 0.7
    assert abs(rows["Judd"]["RA"].median_difference_ms) < 30


def test_events_of_other_programs_stand_beside_ours():
    pytest.importorskip("pymovements")
    pytest.importorskip("remodnav")
    path = Scanpath(
        [[200, 200], [600, 400], [300, 500], [700, 300]], Frame(1024, 768, 34), [300] * 4, [0, 345, 690, 1035]
    )
    gaze = lift(path, 500, np.random.default_rng(0))
    label = np.full(len(gaze), int(Label.SACCADE))
    for onset in path.onset_ms:
        label[round(onset / 2) : round(onset / 2) + 150] = Label.FIXATION
    pair = {expert: LabelledRecording("made", expert, gaze, label) for expert in EXPERTS}
    text = events_chapter({"made": pair})
    scores = {
        tuple(row.split(" | ")[:2]): float(row.split(" | ")[2])
        for row in text.splitlines()
        if " | 0." in row or " | 1." in row
    }
    assert scores["| fixation", "stdiffeye"] > 0.9
    assert scores["| saccade", "stdiffeye"] > 0.9
    assert scores["| saccade", "REMoDNaV"] > 0.5
    assert scores["| fixation", "the other expert"] == 1
    assert "Not installed" not in text
