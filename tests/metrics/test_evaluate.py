"""`evaluate` and the verb: what goes in, what comes out, what is refused."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.io.gaze_files import write_gaze
from stdiffeye.io.scanpath_json import write_scanpaths
from stdiffeye.metrics import MAIN_METRICS, PROPER_METRICS, Evaluator, evaluate, gap_closed, read_clusters
from stdiffeye.metrics.result import Estimate
from stdiffeye.metrics.semantics import read_map
from stdiffeye.metrics.tables import stated_gap
from stdiffeye.rounding import known_decimals

DEFAULT = [name for name in (*MAIN_METRICS, *PROPER_METRICS) if not name.startswith("SSS")]


def test_every_metric_goes_through_every_protocol_with_an_interval(make_trials) -> None:
    result = evaluate(make_trials(6, 4), {"ours": make_trials(6, 5, seed=1)}, replicates=200)
    assert list(result.systems) == ["ours", "human", "shuffled", "centre"]
    for name, protocols in result.systems.items():
        assert list(protocols) == ["crps", "mean", "best", "kld"]
        for protocol, metrics in protocols.items():
            assert list(metrics) == DEFAULT
            for metric, one in metrics.items():
                assert one.n == 6, (name, protocol, metric)
                assert one.undefined == 0
                assert one.low <= one.high
                assert one.low - 1e-9 <= one.value <= one.high + 1e-9 or protocol == "kld"


def test_viewers_predict_each_other_better_than_viewers_of_other_pictures_do(make_trials) -> None:
    result = evaluate(make_trials(8, 6), {"others": make_trials(8, 6, seed=5)}, protocols=["crps"], replicates=100)
    gaps = result.gap_closed["others"]["crps"]
    assert 0.7 < gaps["mean"].value < 1.3
    for metric in DEFAULT:
        better = result.value("human", "crps", metric) < result.value("shuffled", "crps", metric)
        assert better is (metric in ("LD", "DFD", "DTW", "TDE", "KTD")), metric


def test_numbers_do_not_depend_on_the_order_of_trials_or_the_frame(make_trials) -> None:
    human, samples = make_trials(5, 4), make_trials(5, 3, seed=1)
    plain = evaluate(human, {"a": samples}, replicates=50)
    rng = np.random.default_rng(0)
    mixed = [samples[k].rescaled(Frame(1024, 768)) for k in rng.permutation(len(samples))]
    other = evaluate([human[k] for k in rng.permutation(len(human))], {"a": mixed}, replicates=50)
    for protocol in ("crps", "mean", "best", "kld"):
        for metric in DEFAULT:
            assert other.value("a", protocol, metric) == pytest.approx(plain.value("a", protocol, metric), rel=1e-6)


def test_systems_without_durations_lack_what_needs_them(make_trials) -> None:
    result = evaluate(make_trials(), {"bare": make_trials(seed=1, timed=False)}, replicates=0)
    assert set(result["bare"]["crps"]) == {"LD", "DFD", "DTW", "TDE", "KTD", "SM", "SS"}
    assert "bare: no durations, so MM, SM†, SS† are absent" in result.notes
    assert "SM_dur" in result["human"]["crps"]
    assert "—" in str(result)
    four = evaluate(make_trials(), {"bare": make_trials(seed=1, timed=False)}, metrics=["MM4", "MM"], replicates=0)
    assert set(four["bare"]["crps"]) == {"MM4"}


def test_some_trials_without_durations_are_undefined_and_counted(make_trials) -> None:
    human = make_trials(3, 4)
    human[0] = replace(human[0], scanpath=replace(human[0].scanpath, duration_ms=None, onset_ms=None))
    result = evaluate(human, {"a": make_trials(3, 5, seed=1)}, replicates=0)
    assert result["a"]["crps"]["SM_dur"].undefined == 5
    assert result["a"]["crps"]["SM"].undefined == 0
    assert any("1 of 12 scanpaths have no durations" in note for note in result.notes)


def test_paths_that_are_all_too_short_give_counts_and_no_number(make_trials, tmp_path: Path) -> None:
    short = [replace(trial, scanpath=trial.scanpath[:2]) for trial in make_trials(3, 4)]
    result = evaluate(short, {"a": short}, replicates=20)
    for protocol in ("crps", "mean", "best", "kld"):
        one = result["a"][protocol]["MM"]
        assert math.isnan(one.value)
        assert (one.n, one.undefined) == (0, 48)
    result.to_json(tmp_path / "r.json")
    written = json.loads((tmp_path / "r.json").read_text())["systems"]["a"]["crps"]["MM"]
    assert written == {"value": None, "low": None, "high": None, "n": 0, "undefined": 48}
    padded = evaluate(short, {"a": short}, compat="scandiff", replicates=0)
    assert padded["a"]["crps"]["MM"].undefined == 0
    assert [len(trial.scanpath) for trial in short] == [2] * 12


def test_compat_invents_durations_and_pools_what_scandiff_pools(make_trials) -> None:
    human, bare = make_trials(3, 4), make_trials(3, 5, seed=1, timed=False)
    uneven = [*human, *make_trials(1, 9, seed=8)[4:]]
    result = evaluate(uneven, {"bare": bare}, compat="scandiff", replicates=0)
    assert set(result["bare"]["mean"]) == set(DEFAULT)
    dressed = [replace(t, scanpath=replace(t.scanpath, duration_ms=np.full(len(t.scanpath), 100.0))) for t in bare]
    pooled = evaluate(uneven, {"a": dressed}, average="pooled", replicates=0)
    apart = evaluate(uneven, {"a": dressed}, replicates=0)
    assert result.value("bare", "mean", "SM") == pytest.approx(pooled.value("a", "mean", "SM"))
    assert result.value("bare", "mean", "MM") == pytest.approx(pooled.value("a", "mean", "MM"))
    assert result.value("bare", "mean", "LD") == pytest.approx(apart.value("a", "mean", "LD"))
    assert apart.value("a", "mean", "SM") != pytest.approx(pooled.value("a", "mean", "SM"))


def test_scanpaths_are_cut_to_sixteen_fixations(make_trials) -> None:
    human = make_trials(2, 3)
    long = [
        replace(t, scanpath=Scanpath(np.tile(t.scanpath.xy_px, (10, 1))[:40], t.frame, np.full(40, 200.0)))
        for t in human
    ]
    cut = [replace(trial, scanpath=trial.scanpath[:16]) for trial in long]
    one, other = (evaluate(human, {"a": system}, metrics=["DTW"], replicates=0) for system in (long, cut))
    assert one.value("a", "crps", "DTW") == other.value("a", "crps", "DTW")
    whole = evaluate(human, {"a": long}, metrics=["DTW"], replicates=0, max_fixations=None)
    assert whole.value("a", "crps", "DTW") > one.value("a", "crps", "DTW")


def test_stimuli_that_one_side_lacks_are_left_out_and_counted(make_trials) -> None:
    human, samples = make_trials(5, 3), make_trials(6, 3, seed=1)
    some = [trial for trial in samples if trial.name not in ("0.jpg", "1.jpg")]
    result = evaluate(human, {"a": some}, metrics=["LD"], replicates=0)
    assert result["a"]["crps"]["LD"].n == 3
    assert result.notes == [
        "a: 1 stimuli without humans were left out",
        "a: 2 of 5 human stimuli are missing; all rows are on the common ones",
    ]


def test_stimuli_are_matched_by_task_too(make_trials) -> None:
    with pytest.raises(InputError, match=r"'a' shares no stimulus with the humans: it has '0.jpg' \(task 'cup'\)"):
        evaluate(make_trials(), {"a": make_trials(task="cup")})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["SSS"]}, "SSS need semantic maps"),
        ({"metrics": ["LCS"]}, "there is no metric 'LCS'"),
        ({"metrics": []}, "no metric was chosen"),
        ({"protocols": ["median"]}, "there is no protocol 'median'"),
        ({"estimator": "unbiased"}, "estimator must be one of printed, fair"),
        ({"average": "all"}, "average must be one of stimulus, pooled"),
        ({"compat": "hat"}, "compat must be 'scandiff' or None"),
        ({"mode": "joint"}, "there is no mode 'joint'"),
        ({"max_fixations": 0}, "max_fixations must be at least 1"),
        ({"replicates": -1}, "replicates must be ≥ 0"),
        ({"mode": "extracted"}, "has no trajectory; leave --trajectories out"),
        ({"mode": "pointwise", "metrics": ["MM"]}, "MM are not defined on raw samples"),
    ],
)
def test_wrong_settings_are_refused_by_name(make_trials, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(make_trials(2, 2), {"a": make_trials(2, 2)}, **options)


def test_the_same_sample_twice_is_refused(make_trials) -> None:
    samples = make_trials(2, 3, seed=1)
    with pytest.raises(InputError, match=r"'a' has '0.jpg' twice by viewer or sample '0'"):
        evaluate(make_trials(2, 3), {"a": [*samples, samples[0]]})
    nameless = [replace(trial, subject="") for trial in samples]
    assert evaluate(make_trials(2, 3), {"a": nameless}, metrics=["LD"], replicates=0)["a"]["crps"]["LD"].n == 2


def test_names_of_reference_rows_and_empty_input_are_refused(make_trials) -> None:
    with pytest.raises(InputError, match="a system cannot be called 'human'"):
        evaluate(make_trials(), {"human": make_trials()})
    with pytest.raises(InputError, match="no system to judge"):
        evaluate(make_trials(), {})
    with pytest.raises(InputError, match="'a' has no trials"):
        evaluate(make_trials(), {"a": []})
    with pytest.raises(InputError, match="the human file has no trials"):
        evaluate([], {"a": make_trials()})


def test_more_comparisons_than_memory_holds_are_refused_before_they_start() -> None:
    path = Scanpath([[1.0, 1.0]], Frame(512, 384))
    many = [Trial("a.jpg", str(number), path) for number in range(5000)]
    with pytest.raises(InputError, match=r"would need .* comparisons"):
        evaluate(many, {"a": many}, metrics=["LD"])


def test_ten_million_fixations_are_cut_or_refused() -> None:
    long = Scanpath(np.tile([[1.0, 2.0], [300.0, 200.0]], (1_250_000, 1)), Frame(512, 384))
    trials = [Trial(f"{number}.jpg", "1", long) for number in range(2)]
    assert evaluate(trials, {"a": trials}, metrics=["DTW"], replicates=0).value("a", "mean", "DTW") == 0
    with pytest.raises(InputError, match="paths of up to 2500000 points are too long to align"):
        evaluate(trials, {"a": trials}, metrics=["DTW"], max_fixations=None)


def test_one_stimulus_alone_has_no_reference_rows(make_trials) -> None:
    result = evaluate(make_trials(1, 4), {"a": make_trials(1, 4, seed=1)}, metrics=["LD"], replicates=10)
    assert list(result.systems) == ["a"]
    assert any("no reference rows" in note for note in result.notes)


def test_one_viewer_per_stimulus_leaves_humans_uncompared_and_says_so(make_trials) -> None:
    result = evaluate(make_trials(3, 1), {"a": make_trials(3, 2, seed=1)}, metrics=["LD"], replicates=20)
    assert not math.isnan(result.value("a", "crps", "LD"))
    assert math.isnan(result.value("a", "kld", "LD"))
    assert math.isnan(result.value("human", "crps", "LD"))
    assert any(note.startswith("one viewer per stimulus") for note in result.notes)


def test_two_systems_are_compared_pair_by_pair(make_trials) -> None:
    human = make_trials(12, 4)
    systems = {"near": make_trials(12, 4, seed=1), "far": make_trials(12, 4, seed=2, noise_px=120)}
    result = evaluate(human, systems, metrics=["DTW", "SM"], protocols=["crps"], compare=True)
    for row in result.comparisons:
        assert (row.first, row.second, row.better) == ("near", "far", "near")
        assert row.p < 0.05
        assert row.low <= row.value <= row.high
    by_gap = result.comparisons[-1]
    gaps = {name: table["crps"]["mean"].value for name, table in result.gap_closed.items()}
    assert by_gap.metric == "gap closed"
    assert by_gap.value == pytest.approx(gaps["near"] - gaps["far"])


def test_gaps_are_compared_on_the_metrics_that_both_systems_have(make_trials) -> None:
    near = make_trials(6, 4, seed=1)
    untimed = [replace(t, scanpath=Scanpath(t.scanpath.xy_px, t.scanpath.frame)) for t in near]
    systems = {"timed": near, "untimed": untimed}
    result = evaluate(make_trials(6, 4), systems, metrics=["SM", "SM_dur"], protocols=["crps"], compare=True)
    assert [row.metric for row in result.comparisons] == ["SM", "gap closed"]
    assert result.comparisons[-1].value == 0


def test_fair_crps_has_no_diagonal(make_trials) -> None:
    human, samples = make_trials(3, 4), make_trials(3, 5, seed=1)
    printed, fair = (
        evaluate(human, {"a": samples}, metrics=["DTW"], estimator=kind, replicates=0).value("a", "crps", "DTW")
        for kind in ("printed", "fair")
    )
    mean = evaluate(human, {"a": samples}, metrics=["DTW"], replicates=0).value("a", "mean", "DTW")
    assert mean - fair == pytest.approx((mean - printed) * 5 / 4)


def test_an_evaluator_gives_what_evaluate_gives(make_trials) -> None:
    human, samples = make_trials(6, 5), make_trials(6, 5, seed=1)
    whole = evaluate(human, {"model": samples}, replicates=0)
    evaluator = Evaluator(human)
    gaps = evaluator.gap_closed(samples)
    for metric in ("LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur"):
        assert gaps[metric] == pytest.approx(whole.gap_closed["model"]["crps"][metric].value)
        assert evaluator.crps(samples)[metric] == pytest.approx(whole.value("model", "crps", metric))
    assert gap_closed(human, samples)["mean"] == pytest.approx(gaps["mean"])
    with pytest.raises(InputError, match="gaze for 5 of 6 stimuli"):
        evaluator.evaluate([trial for trial in samples if trial.name != "0.jpg"])


def _with_trajectory(trial: Trial) -> Trial:
    samples = np.repeat(trial.scanpath.xy_px, 60, axis=0)
    return replace(trial, trajectory=Trajectory(samples, 240, trial.frame), scanpath=None)


def test_trajectories_are_compared_by_extracted_fixations_or_by_samples(make_trials) -> None:
    human, samples = make_trials(2, 3), make_trials(2, 3, seed=1)
    gaze, generated = [_with_trajectory(t) for t in human], [_with_trajectory(t) for t in samples]
    extracted = evaluate(gaze, {"a": generated}, mode="extracted", metrics=["LD", "SM_dur"], replicates=0)
    assert extracted["a"]["crps"]["SM_dur"].n == 2
    assert "Trajectory (extracted) comparison" in str(extracted)
    pointwise = evaluate(gaze, {"a": generated}, mode="pointwise", rate_hz=60, replicates=0)
    assert list(pointwise["a"]["crps"]) == ["LD", "DFD", "DTW", "TDE"]
    assert "Trajectory (pointwise) at 60 Hz" in str(pointwise)
    slower = evaluate(gaze, {"a": generated}, mode="pointwise", rate_hz=30, replicates=0)
    assert slower.value("a", "mean", "DTW") < pointwise.value("a", "mean", "DTW")
    with pytest.raises(InputError, match="has a trajectory but no scanpath; use --trajectories extracted"):
        evaluate(gaze, {"a": generated})


def test_a_trial_that_lost_most_samples_is_not_compared_point_by_point(make_trials) -> None:
    gaze = [_with_trajectory(t) for t in make_trials(2, 2)]
    lost = gaze[0].trajectory.xy_px.copy()
    lost[10:] = np.nan
    gaze[0] = replace(gaze[0], trajectory=Trajectory(lost, 240, gaze[0].frame))
    with pytest.raises(InputError, match=r"'0.jpg' by '0' lost \d+% of its samples"):
        evaluate(gaze, {"a": gaze}, mode="pointwise")


def test_tables_are_written_in_every_form(make_trials, tmp_path: Path) -> None:
    human = make_trials(4, 4)
    systems = {"a_b": make_trials(4, 4, seed=1), "c&d": make_trials(4, 4, seed=2, noise_px=90)}
    result = evaluate(human, systems, metrics=["LD", "SM"], protocols=["crps", "kld"], compare=True, replicates=50)
    markdown = result.to_markdown(tmp_path / "t.md")
    assert "| CRPS | LD↓ | SM↑ |" in markdown
    assert "**" in markdown
    assert "<u>" in markdown
    latex = result.to_latex(tmp_path / "t.tex")
    assert r"\textbf{Comparison} & \textbf{Method} & LD$\downarrow$ & SM$\uparrow$ \\" in latex
    assert r"\multirow{5}{*}{\textit{Scanpath}} & a\_b & \textbf{" in latex
    assert r"c\&d & \underline{" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    lines = result.to_csv(tmp_path / "t.csv").splitlines()
    assert lines[0] == "system,protocol,metric,value,low,high,n,undefined,gap_closed"
    assert len(lines) == 1 + 5 * 2 * 2
    assert (tmp_path / "t.md").read_text() == markdown
    assert "gap closed, CRPS" in str(result)
    assert "a_b − c&d" in str(result)


def test_numbers_have_the_digits_that_their_intervals_support(make_trials) -> None:
    result = evaluate(make_trials(4, 4), {"a": make_trials(4, 4, seed=1)}, metrics=["DTW"], protocols=["mean"])
    widths = [(rows["mean"]["DTW"].high - rows["mean"]["DTW"].low) / 2 for rows in result.systems.values()]
    known = known_decimals(widths, 3)
    one = result.systems["a"]["mean"]["DTW"]
    assert known < 3
    assert f"| {one.value:.{known}f} [{one.low:.{known}f}, {one.high:.{known}f}] |" in result.to_markdown()
    assert all(len(cell.lstrip("-").replace(".", "").lstrip("0")) <= 6 for cell in result.to_csv().split(",")[11:14])


@pytest.fixture
def files(make_trials, tmp_path: Path) -> Path:
    write_scanpaths(tmp_path / "human.json", make_trials(4, 4))
    write_scanpaths(tmp_path / "ours.json", make_trials(4, 5, seed=1))
    write_scanpaths(tmp_path / "other.json", make_trials(4, 5, seed=2, noise_px=150))
    (tmp_path / "maps").mkdir()
    for number in range(4):
        np.save(tmp_path / "maps" / f"{number}.npy", np.indices((320, 512)).sum(axis=0) // 100)
    return tmp_path


def _run(*words: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["evaluate", *words])
    return int(caught.value.code or 0)


def test_the_verb_writes_results_as_documented(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = files / "results.json"
    generated = ("--generated", f"ours={files / 'ours.json'}", f"other={files / 'other.json'}")
    code = _run(
        "--human", str(files / "human.json"), *generated, "--semantics", str(files / "maps"), "--compare",
        "--per-stimulus", "--out", str(out), "--save-clusters", str(files / "clusters.json"),
    )  # fmt: skip
    assert code == 0
    printed = capsys.readouterr().out
    assert printed.strip().splitlines()[-1].startswith(f"results: {out}")
    results = json.loads(out.read_text())
    assert set(results["systems"]) == {"ours", "other", "human", "shuffled", "centre"}
    assert set(results["systems"]["ours"]) == {"crps", "mean", "best", "kld"}
    assert set(results["systems"]["ours"]["crps"]) == {*MAIN_METRICS, *PROPER_METRICS}
    one = results["systems"]["ours"]["crps"]["SSS_dur"]
    assert set(one) == {"value", "low", "high", "n", "undefined", "per_stimulus"}
    assert set(one["per_stimulus"]) == {f"{number}.jpg|" for number in range(4)}
    assert one["value"] == pytest.approx(np.mean(list(one["per_stimulus"].values())))
    assert (
        results["gap_closed"]["ours"]["crps"]["mean"]["value"] > results["gap_closed"]["other"]["crps"]["mean"]["value"]
    )
    assert len(results["comparisons"]) == 52
    again = files / "again.json"
    same = ("--metrics", "SS", "--protocols", "crps", "--clusters", str(files / "clusters.json"), "--quiet")
    assert _run("--human", str(files / "human.json"), *generated, *same, "--out", str(again)) == 0
    value = json.loads(again.read_text())["systems"]["ours"]["crps"]["SS"]["value"]
    assert value == pytest.approx(results["systems"]["ours"]["crps"]["SS"]["value"])


def test_the_verb_reads_tables_too(files: Path, make_trials) -> None:
    write_gaze(files / "human.csv", make_trials(4, 4))
    values = []
    for human in ("human.csv", "human.json"):
        words = (
            "--human",
            str(files / human),
            "--generated",
            f"a={files / 'ours.json'}",
            "--metrics",
            "DTW",
            "--quiet",
        )
        assert _run(*words, "--out", str(files / "r.json")) == 0
        values.append(json.loads((files / "r.json").read_text())["systems"]["a"]["crps"]["DTW"]["value"])
    assert values[0] == pytest.approx(values[1], rel=1e-4)


def test_the_verb_prints_json_for_programs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--human",
        str(files / "human.json"),
        "--generated",
        f"a={files / 'ours.json'}",
        "--metrics",
        "LD",
        "--json",
    )
    assert _run(*words, "--out", str(files / "r.json")) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((files / "r.json").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--generated", "a="), "expected NAME=FILE, got 'a='"),
        (("--generated", "a=ours.json", "a=other.json"), "two files are called 'a'"),
        (("--generated", "a=nowhere.json"), "nowhere.json"),
        (("--generated", "a=empty.json"), "empty.json"),
        (("--generated", "human=ours.json"), "a system cannot be called 'human'"),
        (("--generated", "a=ours.json", "--clusters", "some.json"), "has no clusters for 4 of 4 stimuli"),
        (("--generated", "a=ours.json", "--semantics", "nowhere"), "nowhere is not one"),
        (("--generated", "a=ours.json", "--trajectories"), "has no trajectory"),
        (("--generated", "a=ours.json", "--split", "test"), "no trial of the split 'test'"),
    ],
)
def test_bad_input_ends_in_one_line_and_code_2(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple, message: str
) -> None:
    monkeypatch.chdir(files)
    (files / "empty.json").write_text("")
    (files / "some.json").write_text('[{"name": "x", "centres": [[1, 2]]}]')
    assert _run("--human", "human.json", *words) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert len(error.splitlines()) == 1


def test_clusters_and_maps_that_are_not_what_they_should_be_are_named(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[{"name": "a", "centres": [[1, 2, 3]]}]')
    with pytest.raises(InputError, match="the centres of 'a' are not a list of"):
        read_clusters(tmp_path / "c.json", [("a", "")])
    (tmp_path / "d.json").write_text("{}")
    with pytest.raises(InputError, match="holds dict, not a list"):
        read_clusters(tmp_path / "d.json", [("a", "")])
    np.save(tmp_path / "m.npy", np.zeros((3, 3)))
    with pytest.raises(InputError, match="must hold whole numbers"):
        read_map(tmp_path / "m.npy")
    (tmp_path / "n.npy").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is not a numpy array"):
        read_map(tmp_path / "n.npy")


def test_semantic_maps_are_read_from_numpy_gzip_and_png(tmp_path: Path) -> None:
    import gzip

    from PIL import Image

    classes = (np.indices((160, 256)).sum(axis=0) // 60).astype(np.uint8)
    np.save(tmp_path / "a.npy", classes)
    (tmp_path / "b.npy.gz").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    Image.fromarray(classes).save(tmp_path / "c.png")
    maps = [read_map(tmp_path / name) for name in ("a.npy", "b.npy.gz", "c.png")]
    assert all(one.shape == (320, 512) for one in maps)
    assert all((one == maps[0]).all() for one in maps)
    assert (maps[0][::2, ::2] == classes).all()


def test_evaluation_loads_neither_torch_nor_scikit_learn_nor_matplotlib(files: Path) -> None:
    code = (
        "import sys; from stdiffeye.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print([m for m in ('torch', 'sklearn', 'matplotlib') if m in sys.modules])"
    )
    words = ["evaluate", "--human", "human.json", "--generated", "a=ours.json", "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=files, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.real_data
def test_reference_rows_of_osie_are_those_known(real_data: Path) -> None:
    """Known from other pictures of the same set, so within some per cent; the order of the rows must hold."""
    rows = json.loads((real_data / "osie" / "osie_fixations.json").read_text())
    rows = [row for row in rows if row["split"] == "test" and row["X"]]
    paths = [Scanpath(np.column_stack([row["X"], row["Y"]]), Frame(800, 600), row["T"]) for row in rows]
    trials = [Trial(row["name"], str(row["subject"]), path) for row, path in zip(rows, paths, strict=True)]
    metrics = ["LD", "DFD", "DTW", "TDE", "MM", "SM", "SM_dur"]
    how = {"protocols": ["crps"], "estimator": "printed", "replicates": 0}
    result = evaluate(trials, {"same": trials}, metrics=metrics, **how)
    known = {
        "human": [7.516, 110.53, 528.0, 0.0517, 0.3971, 0.1747, 0.1727],
        "shuffled": [9.151, 117.83, 754.2, 0.0725, 0.3815, 0.0699, 0.0633],
        "centre": [9.286, 120.25, 768.9, 0.0782, 0.3670, 0.0638, 0.0600],
    }
    for name, values in known.items():
        for metric, value in zip(metrics, values, strict=True):
            tolerance = 0.15 if name == "centre" else 0.08  # whose noise is only known to be biased to the centre
            assert result.value(name, "crps", metric) == pytest.approx(value, rel=tolerance), (name, metric)


def test_a_gap_is_stated_only_where_its_interval_is_narrow(make_trials) -> None:
    assert stated_gap(Estimate(0.5, 0.31, 0.7, 9, 0)) == "50 % (31 to 70)"
    assert stated_gap(Estimate(0.5, 0.3, 0.7, 9, 0)) == "not decidable here (30 to 70)"
    assert stated_gap(Estimate(0.5, math.nan, math.nan, 9, 0)) == "50 % (no interval)"
    human, ours = (make_trials(seed=seed, stimuli=3, noise_px=200) for seed in (0, 3))
    wide = evaluate(human, {"ours": ours}, metrics=["LD", "DTW"])
    gap = wide.gap_closed["ours"]["crps"]["mean"]
    assert gap.high - gap.low > 0.4
    assert "not decidable here" in str(wide)
    assert "n.d." in str(wide)


def test_systems_stand_beside_humans_and_shuffled_humans_with_paired_intervals(make_trials) -> None:
    result = evaluate(make_trials(), {"ours": make_trials(seed=3)}, metrics=["DTW"], protocols=["crps"])
    rows = {row.second: row for row in result.to_references}
    assert rows.keys() == {"human", "shuffled"}
    for other, row in rows.items():
        ours, theirs = (result[name]["crps"]["DTW"] for name in ("ours", other))
        assert row.value == pytest.approx(ours.value - theirs.value)
        assert row.low <= row.value <= row.high
        assert ours.per_stimulus is not None
        assert theirs.per_stimulus is not None
        apart = ours.per_stimulus - theirs.per_stimulus  # paired: no wider than what the differences vary
        assert row.high - row.low < 6 * apart.std() / np.sqrt(len(apart)) + 1e-9
    assert "ours − shuffled" in str(result)
    assert result.to_dict()["viewers"] == result.viewers > 1


def test_representative_samples_are_refused(make_trials) -> None:
    chosen = [replace(trial, details={"sampling": "representative"}) for trial in make_trials(seed=3)]
    with pytest.raises(InputError, match=r"'ours' holds representative samples, .*leave out --representative"):
        evaluate(make_trials(), {"ours": chosen}, metrics=["DTW"])
