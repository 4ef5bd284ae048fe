"""An evaluation in shards or on a cluster gives the results of one program, byte for byte; memory stays bounded."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import stdiffeye
from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.gaze_files import write_gaze
from stdiffeye.metrics import bootstrap, stimulus_scoring
from stdiffeye.metrics.scored_stimuli import ScoredStimuli
from stdiffeye.work_shards import WorkOptions

STIMULI = 7


def trials(seed: int, viewers: int, timed: bool = True) -> list[Trial]:
    rng = np.random.default_rng(seed)

    def one(stimulus: int, viewer: int) -> Trial:
        count = int(rng.integers(2, 7))
        duration_ms = rng.uniform(150, 400, count).round() if timed else None
        path = Scanpath(rng.uniform(0, 380, (count, 2)).round(1), Frame(512, 384), duration_ms)
        return Trial(f"{stimulus}.jpg", str(viewer), path)

    # Not the same number everywhere: so weights, undefined pairs and shuffles differ between stimuli.
    return [one(stimulus, viewer) for stimulus in range(STIMULI) for viewer in range(viewers + stimulus % 3)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_gaze("human.json", trials(0, 3))
    write_gaze("ours.json", trials(1, 2))
    write_gaze("bare.json", trials(2, 4, timed=False))
    return tmp_path


def evaluated(out: str, work: WorkOptions | None = None, **settings) -> dict[str, bytes]:
    """What lies beside `out` after an evaluation of all protocols."""
    generated = {"ours": "ours.json", "bare": "bare.json"}
    stdiffeye.evaluate(
        "human.json", generated, out, per_stimulus=True, compare=True, replicates=60, work=work, **settings
    )
    return written(out)


def written(out: str) -> dict[str, bytes]:
    return {suffix: Path(out).with_suffix(suffix).read_bytes() for suffix in (".json", ".md", ".tex", ".csv")}


def shard_of(words: str, out: str = "shared.json", **settings) -> None:
    generated = {"ours": "ours.json", "bare": "bare.json"}
    work = WorkOptions(shard=words)
    given = {"per_stimulus": True, "compare": True, "replicates": 60, **settings}
    result = stdiffeye.evaluate("human.json", generated, out, work=work, **given)
    assert result.systems == {}
    assert result.notes == [f"shard {words} is scored; when all are: stdiffeye join {out}"]


def test_results_are_the_same_however_many_stimuli_are_scored_at_a_time(files, monkeypatch):
    monkeypatch.setattr(bootstrap, "STIMULI_PER_BLOCK", 4)
    monkeypatch.setattr(stimulus_scoring, "STIMULI_PER_BLOCK", 4)
    whole = evaluated("whole.json")
    saved = []
    save = ScoredStimuli.save
    monkeypatch.setattr(ScoredStimuli, "save", lambda one, *rest: (saved.append(one.span), save(one, *rest)))
    monkeypatch.setattr(stimulus_scoring, "PAIRS_AT_ONCE", 1)
    assert evaluated("steps.json") == whole
    assert saved == [range(number, number + 1) for number in range(STIMULI)]


def test_shards_in_any_order_are_the_whole(files, capsys):
    whole = evaluated("whole.json")
    for words in ("3/3", "1/3"):
        shard_of(words)
    with pytest.raises(InputError, match="1 of 3 shards are not there yet"):
        stdiffeye.join("shared.json")
    words = ["--human", "human.json", "--generated", "ours=ours.json", "bare=bare.json", "--shard", "2/3"]
    with pytest.raises(InputError, match="was begun otherwise"):
        shard_of("2/3", estimator="printed")
    shard_of("2/3")
    shard_of("2/3")  # once more does no harm
    with pytest.raises(SystemExit):
        main(["join", "shared.json"])
    assert capsys.readouterr().out == "All shards are joined in shared.json\n"
    assert written("shared.json") == whole
    assert not Path("shared.json.partial").exists()
    with pytest.raises(SystemExit):
        main(["evaluate", *words, "--save-clusters", "c.json"])
    assert "a shard has not all clusters" in capsys.readouterr().err


def test_a_shard_that_was_broken_off_is_absent(files, monkeypatch):
    whole = evaluated("whole.json")
    monkeypatch.setattr(stimulus_scoring, "PAIRS_AT_ONCE", 1)
    save, calls = ScoredStimuli.save, []

    def fail_at_the_second(one, *rest):
        calls.append(one)
        if len(calls) == 2:
            raise KeyboardInterrupt
        save(one, *rest)

    monkeypatch.setattr(ScoredStimuli, "save", fail_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        shard_of("1/2")
    assert [path.name for path in Path("shared.json.partial").iterdir()] == ["evaluation.json"]
    for words in ("1/2", "2/2"):
        shard_of(words)
    stdiffeye.join("shared.json")
    assert written("shared.json") == whole


def test_a_cluster_gives_the_same_bytes(files):
    pytest.importorskip("distributed")
    whole = evaluated("whole.json", metrics=["DTW", "MM"])
    assert evaluated("cluster.json", WorkOptions(cluster="local:2"), metrics=["DTW", "MM"]) == whole
    assert not Path("cluster.json.partial").exists()


def test_what_cannot_be_shared_is_refused(files):
    work = WorkOptions(shard="1/2")
    with pytest.raises(InputError, match="a shard or a cluster writes files: say where"):
        stdiffeye.evaluate("human.json", {"ours": "ours.json"}, work=work)
    with pytest.raises(InputError, match="shards and clusters read files"):
        stdiffeye.evaluate(trials(0, 3), {"ours": "ours.json"}, "out.json", work=work)
    with pytest.raises(InputError, match="shards and clusters judge files"):
        stdiffeye.evaluate("human.json", {"ours": "freeview"}, "out.json", work=work)


def test_a_file_is_read_one_trial_after_the_other(files, monkeypatch):
    """Stimuli that no human saw are counted, and their gaze is not kept."""
    write_gaze("more.json", [*trials(1, 2), *(Trial(f"x{k}.jpg", "0", trials(1, 1)[0].scanpath) for k in range(30))])
    result = stdiffeye.evaluate("human.json", {"more": "more.json"}, metrics=["DTW"], replicates=0)
    assert result.notes == ["more: 30 stimuli without humans were left out"]
    shutil.copy("human.json", "broken.json")
    Path("broken.json").write_bytes(Path("broken.json").read_bytes()[:-40])
    with pytest.raises(InputError, match=r"broken.json is not whole JSON"):
        stdiffeye.evaluate("broken.json", {"ours": "ours.json"})
    with pytest.raises(InputError, match=r"human.json has no trial of the split 'test': it has \(none\)"):
        stdiffeye.evaluate("human.json", {"ours": "ours.json"}, split="test")
