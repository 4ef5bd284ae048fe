"""Trials by messages."""

from __future__ import annotations

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.gaze.trial_messages import split_trials


def block(start: float, messages: list[tuple[float, str]], rate: float = 1000, count: int = 1000) -> Recording:
    time = start + np.arange(count) * 1000 / rate
    said = tuple(Message(at, text) for at, text in messages)
    return Recording(time, rate, Frame(100, 80), left_px=np.full((count, 2), 5.0), messages=said, name="block")


def spans(trials: list[Recording]) -> list[tuple[str, float, float]]:
    return [(trial.name, trial.time_ms[0], trial.time_ms[-1]) for trial in trials]


def test_a_trial_runs_from_its_trialid_to_its_result():
    one = block(0, [(100, "TRIALID 7"), (300, "-3 SYNCTIME"), (400, "TRIAL_RESULT 0"), (500, "TRIALID 8")])
    assert spans(split_trials([one])) == [("7", 100, 399), ("8", 500, 999)]


@pytest.mark.parametrize(
    ("begin", "finish"),
    [
        ("TRIAL_ON: a", "TRIAL_OFF: a"),
        ("start_trial a", "stop_trial"),
        ("Trial start a", "trial end"),
        ("-8 TRIALID a", "12 TRIAL OK"),
    ],
)
def test_the_usual_words_are_known(begin, finish):
    one = block(0, [(100, begin), (300, finish)])
    assert spans(split_trials([one])) == [("a", 100, 299)]


def test_own_patterns_name_the_picture():
    one = block(0, [(100, "SHOW img/a.jpg now"), (200, "HIDE"), (300, "SHOW img/b.jpg now"), (400, "HIDE")])
    trials = split_trials([one], start=r"SHOW (?P<name>\S+)", end="^HIDE")
    assert spans(trials) == [("img/a.jpg", 100, 199), ("img/b.jpg", 300, 399)]


def test_the_picture_that_was_loaded_names_the_trial_even_before_recording_starts():
    blocks = [block(1000, [(900, "TRIALID 1"), (950, "!V IMGLOAD FILL pics\\cat.png")])]
    (trial,) = split_trials(blocks)
    assert (trial.name, trial.details) == ("cat.png", {"trial": "1"})


def test_without_trial_messages_every_block_is_a_trial():
    blocks = [block(0, [(5, "SYNCTIME")]), block(5000, [])]
    assert split_trials(blocks) == blocks


def test_a_trial_over_two_blocks_is_joined_with_its_pause():
    blocks = [block(0, [(500, "TRIALID 1")]), block(3000, [(3500, "TRIAL_RESULT")])]
    (trial,) = split_trials(blocks)
    assert len(trial) == 1000
    assert np.diff(trial.time_ms).max() == 2001


def test_a_trial_over_two_rates_is_an_error_but_trials_of_their_own_rates_are_not():
    spanning = [block(0, [(500, "TRIALID 1")]), block(3000, [], rate=500)]
    with pytest.raises(InputError, match=r"'1' spans blocks of two rates \(1000 and 500 Hz\)"):
        split_trials(spanning)
    separate = [block(0, [(0, "TRIALID 1")]), block(3000, [(2900, "TRIALID 2")], rate=500)]
    assert [trial.rate_hz for trial in split_trials(separate)] == [1000, 500]


def test_trials_without_a_sample_are_left_out_unless_all_are():
    one = block(1000, [(0, "TRIALID 1"), (10, "TRIAL_RESULT"), (1100, "TRIALID 2")])
    assert spans(split_trials([one])) == [("2", 1100, 1999)]
    with pytest.raises(InputError, match=r"1 messages match the start pattern .* but no sample was taken"):
        split_trials([block(1000, [(0, "TRIALID 1"), (10, "TRIAL_RESULT")])])


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ({"start": "NOPE"}, "no message matches the start pattern 'NOPE'; messages look like 'TRIALID 7'"),
        ({"end": "NOPE"}, "no message matches the end pattern 'NOPE'"),
        ({"start": "("}, r"--start '\(' is not a regular expression"),
    ],
)
def test_patterns_that_cannot_work_say_why(patterns, message):
    with pytest.raises(InputError, match=message):
        split_trials([block(0, [(1, "TRIALID 7"), (2, "!CAL x")])], **patterns)
