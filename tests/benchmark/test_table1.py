"""The whole table on a small world: trained for a second each, generated, evaluated by four protocols, written."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from benchmark_world import make_recording_set, make_scanpath_set
from PIL import Image

from stdiffeye.benchmark import Budget, ablations, modalities, qualitative, saccade_statistics, table1
from stdiffeye.benchmark.learning_rates import RateSearch, search_rates
from stdiffeye.benchmark.paper_tables import behind_noise, decided
from stdiffeye.benchmark.systems_table import (
    BenchmarkEntry,
    gaze_of,
    plan,
    rates_folder,
    run_folder,
    score_entries,
    stores_of,
)
from stdiffeye.cli import main
from stdiffeye.errors import InputError
from stdiffeye.io.scanpath_json import read_scanpaths
from stdiffeye.metrics.result import GAP, Difference, Estimate, Result
from stdiffeye.systems.cores import one_core
from stdiffeye.systems.presets import load_preset

QUICK = ("stimuli=4", "viewers=2", "warm_up=5", "ema=0.9", "validate_stimuli=3", "validate_samples=3")
SMALL = ("image.width=16", "image.mixing=0")
SMALL_DENOISER = (
    "denoiser.width=16",
    "denoiser.heads=2",
    "denoiser.depth=1",
    "denoiser.feedforward=32",
    "sampling_steps=4",
)
SMALLER = {
    "coarse-to-fine": (*SMALL, *SMALL_DENOISER),
    "st-diffeye": (*SMALL, *SMALL_DENOISER, "max_points=480"),
}
WITHOUT_DURATIONS = {"DeepGaze III", "HAT", "saliency sampler"}


def tiny(one: BenchmarkEntry) -> BenchmarkEntry:
    """The same entry as a network of some thousand weights."""
    preset = load_preset(one.preset)
    stage = next(iter(preset.stages))
    small = tuple(f"stages.{stage}.{change}" for change in SMALLER.get(preset.system, SMALL))
    return replace(one, changes=(*one.changes, *small, *(f"train.{stage}.{change}" for change in QUICK)))


LEFT_OUT = ("scandiff-small", "diffeye-small")
ROWS = tuple(tiny(one) for one in table1.ENTRIES if one.preset not in LEFT_OUT and not one.seeks)


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Threads that wait for each other on a busy machine cost many times the work itself."""
    with one_core():
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_scanpath_set(folder / "osie")
    make_recording_set(folder / "doves")
    return folder


@pytest.fixture(scope="module")
def budget(tmp_path_factory) -> Budget:
    work = tmp_path_factory.mktemp("work")
    return Budget(work, minutes=0.01, sets=("osie",), samples=4, rates=(1.0, 3.0), search_share=0.3)


@pytest.fixture(scope="module")
def written(data, budget, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("pages") / "docs" / "table1.md"
    return table1.reproduce(data, out, budget, quiet=True, entries=ROWS)


def test_the_page_has_every_system_and_reference_under_every_protocol(written):
    text = written.read_text()
    for title in ("CRPS (Table 1)", "mean (Table 4)", "best-of-N (Table 5)", "KLD (Table 6)", "Learning rates"):
        assert f"## {title}" in text
    for one in ROWS:
        assert text.count(f"| osie | Scanpath | {one.name} |") == 4
    for reference in ("human", "shuffled", "centre"):
        assert text.count(f"| osie | Scanpath | *{reference}* |") == 4
    assert "joint is " in text
    assert "* ahead of ours on the metrics that both have: " in text
    assert "**" in text
    assert "<u>" in text


def test_durations_that_a_system_does_not_have_are_dashes(written):
    rows = list(csv.DictReader(written.with_suffix(".csv").open()))
    timed = {row["system"] for row in rows if row["metric"] == "SM_dur"}
    assert {one.name for one in ROWS} - timed == WITHOUT_DURATIONS
    line = next(line for line in written.read_text().splitlines() if "| Scanpath | HAT |" in line)
    assert " — " in line


def test_numbers_have_intervals_and_best_and_second_are_marked_in_latex(written):
    rows = list(csv.DictReader(written.with_suffix(".csv").open()))
    one = next(row for row in rows if (row["system"], row["protocol"], row["metric"]) == ("HAT", "crps", "DTW"))
    assert float(one["low"]) <= float(one["value"]) <= float(one["high"])
    source = written.with_suffix(".tex").read_text()
    assert source.count(r"\begin{table*}") == source.count(r"\end{table*}") == 4
    assert r"\multirow{12}{*}{\rotatebox[origin=c]{90}{\textsc{osie}}}" in source
    assert r"\textbf{" in source
    assert r"\underline{" in source
    assert "—" not in source


def test_the_rate_that_validated_best_is_the_one_trained_with(data, budget, written):
    store = stores_of(data, ("osie",), budget.work, quiet=True)["osie"]
    for one in ROWS:
        if one.borrows:
            continue
        run = run_folder(one, store, budget)
        found = RateSearch.read(rates_folder(one, budget))
        assert len(found.scores) >= 2
        assert found.dataset == "osie"
        known = {rate: score for rate, score in found.scores.items() if score is not None}
        assert found.chosen == max(known, key=lambda rate: known[rate])
        assert f"learning_rate: {found.chosen!r}" in (run / "run.yaml").read_text()


def test_a_second_run_trains_nothing_and_says_the_same(data, budget, written, monkeypatch):
    monkeypatch.setattr("stdiffeye.benchmark.systems_table.train", lambda *a, **k: pytest.fail("trained again"))
    before = written.with_suffix(".csv").read_text()
    table1.reproduce(data, written, budget, quiet=True, entries=ROWS)
    assert written.with_suffix(".csv").read_text() == before


def test_every_picture_was_looked_at_before_the_first_system_trains(data, budget, tmp_path, monkeypatch):
    store = stores_of(data, ("osie",), tmp_path, quiet=True)["osie"]

    def train(*_: object, cache: Path, **__: object) -> Path:
        raise InputError(f"{len(list(cache.rglob('*.npy')))} features")

    monkeypatch.setattr("stdiffeye.benchmark.systems_table.train", train)
    with pytest.raises(InputError, match=f"^{2 * len(store.pictures)} features"):
        score_entries(ROWS[:1], store, replace(budget, work=tmp_path, rates=()), quiet=True)


def test_a_system_has_one_run_for_a_set_and_a_budget_whatever_the_table(data, budget):
    store = stores_of(data, ("osie",), budget.work, quiet=True)["osie"]
    table = {one.preset: run_folder(one, store, budget) for one in table1.ENTRIES if not one.borrows}
    shared = [one for one in modalities.ENTRIES if one is not modalities.ALIGNED]
    assert all(run_folder(one, store, budget) == table[one.preset] for one in shared)
    own = replace(budget, rates=())
    assert not {run_folder(one, store, own) for one in table1.ENTRIES} & set(table.values())
    rows = (*table1.ENTRIES, *ablations.ENTRIES)
    different = {(one.preset, one.changes, one.borrows) for one in rows}
    assert len({run_folder(one, store, budget) for one in rows}) == len(different)


def test_statistics_show_three_quantities_of_every_system(data, budget, written):
    page = saccade_statistics.reproduce(data, written.with_name("statistics.md"), budget, quiet=True, entries=ROWS)
    text = page.read_text()
    for quantity in ("saccade amplitude", "saccade direction", "angle"):
        assert quantity in text.lower()
    assert "fixation duration" not in text.lower()
    assert Image.open(page.with_name("statistics-osie.png")).width > 300


def test_figures_for_the_docs_hold_no_pictures_of_others_and_others_do(data, budget, written, tmp_path):
    rows = tuple(one for one in ROWS if one.name == "HAT")
    pages = [
        qualitative.reproduce(data, out, budget, quiet=True, entries=rows)
        for out in (written.with_name("qualitative.md"), tmp_path / "qualitative.md")
    ]
    dark = []
    for page in pages:
        grey = torch.tensor(list(Image.open(page.with_name("qualitative-osie.png")).convert("L").tobytes()))
        dark.append(float((grey < 60).float().mean()))
    assert "others' property" in pages[0].read_text()
    assert dark[0] < 0.1 < 0.5 < dark[1]


def test_without_durations_scanpaths_pass_through_files(data, budget, written):
    store = stores_of(data, ("osie",), budget.work, quiet=True)["osie"]
    for one in ROWS:
        trials = read_scanpaths(run_folder(one, store, budget) / "scanpaths.json")
        assert len(trials) == 3 * 4
        assert all((trial.scanpath.duration_ms is None) == (one.name in WITHOUT_DURATIONS) for trial in trials)


def test_raw_gaze_adds_a_trajectory_block_and_ablations_answer_claims(data, budget, tmp_path):
    wanted = (ablations.BASE, "embedding-space", f"{ablations.BASE} (seed 1)")
    rows = tuple(tiny(one) for one in ablations.ENTRIES if one.name in wanted)
    own = replace(budget, sets=("doves",), rates=())
    page = ablations.reproduce(data, tmp_path / "ablations.md", own, quiet=True, entries=rows)
    text = page.read_text()
    assert "| a raw channel beats an embedding | " in text
    assert "points)" in text
    assert "| joint is better than scanpath only | — |" in text
    again = next(line for line in text.split("## Another seed")[1].splitlines() if line.startswith("| full model |"))
    assert again.endswith(" points |")
    assert "+0 points" not in again  # another seed is another training
    store = stores_of(data, ("doves",), own.work, quiet=True)["doves"]
    result = score_entries(rows, store, own, quiet=True)
    assert [block.comparison for block in table1.blocks_of([result])] == ["Scanpath", "Trajectory"]


def test_the_plan_says_what_it_costs(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("STDIFFEYE_DATA", str(tmp_path))
    command = ["reproduce", "table1", "--sets", "osie,doves", "--minutes", "30", "--work", str(tmp_path), "--dry-run"]
    with pytest.raises(SystemExit):
        main(command)
    text = capsys.readouterr().out
    assert "osie: DeepGaze III, TPP-Gaze, HAT" in text
    assert "600 processor minutes of training (30 for each of 20 runs)" in text
    assert "225 processor minutes before it, to choose learning rates (7.5 for each of 30)" in text


def test_systems_of_samples_are_absent_where_nothing_can_be_lifted(data, budget, tmp_path):
    folder = tmp_path / "figrim"
    make_scanpath_set(folder)
    rows = json.loads((folder / "osie_fixations.json").read_text())
    (folder / "figrim_fixations.json").write_text(json.dumps([row | {"T": None} for row in rows]))
    rows = tuple(one for one in ROWS if one.name in ("HAT", "joint"))
    own = replace(budget, sets=("figrim",), rates=(), work=tmp_path / "work")
    text = table1.reproduce(tmp_path, tmp_path / "table1.md", own, quiet=True, entries=rows).read_text()
    assert "| figrim | Scanpath | HAT |" in text
    assert "| figrim | Scanpath | joint |" not in text
    assert "* figrim: joint: absent, because there are neither samples nor durations" in text


def test_the_aligned_form_begins_as_the_others_do_in_modalities():
    config = load_preset(modalities.ALIGNED.preset, modalities.ALIGNED.changes)
    assert config.start_from == ""
    assert config.encoder == load_preset("joint-small").encoder


def test_modalities_are_a_few_rows_of_the_table_with_a_head_of_their_own(data, budget, written, tmp_path, monkeypatch):
    few = tuple(one for one in ROWS if one.name in modalities.NAMES)
    monkeypatch.setattr(modalities, "ENTRIES", few)
    monkeypatch.setattr("stdiffeye.benchmark.systems_table.train", lambda *a, **k: pytest.fail("trained again"))
    text = modalities.reproduce(data, tmp_path / "modalities.md", budget, quiet=True).read_text()
    assert text.startswith("# Joint, single or coarse to fine: osie")
    assert "joint is " in text
    assert "HAT" not in text
    assert text.count("| osie | Scanpath | ours |") == 4
    assert (tmp_path / "modalities.tex").is_file()


def test_a_sampler_without_its_lender_is_refused(data, budget):
    store = stores_of(data, ("osie",), budget.work, quiet=True)["osie"]
    alone = [one for one in ROWS if one.borrows]
    with pytest.raises(InputError, match="borrows from 'ours', which is not in this benchmark"):
        score_entries(alone, store, budget, quiet=True)
    assert "0 processor minutes of training" in plan(alone, ("osie",), budget)


@pytest.mark.parametrize("one", ablations.ENTRIES, ids=lambda one: one.name)
def test_every_ablation_is_a_valid_configuration(one):
    assert load_preset(one.preset, one.changes).system == "st-diffeye"


def test_a_broken_off_search_keeps_the_usual_rate(tmp_path, budget, monkeypatch):
    def broken(folder, minutes, changes):
        raise InputError("training stopped: total is nan")

    found = search_rates("hat", (), "osie", tmp_path, budget, broken)
    assert found.chosen == load_preset("hat").train["scanpath"].learning_rate
    assert set(found.scores.values()) == {None}
    assert RateSearch.read(tmp_path) == found


def search_where(validation, tmp_path, budget, monkeypatch) -> RateSearch:
    """A search in which a rate validates as `validation(rate)` says."""
    monkeypatch.setattr(
        "stdiffeye.benchmark.learning_rates.validation_score", lambda log: validation(float(log.parts[-3]))
    )
    return search_rates("hat", (), "osie", tmp_path, budget, lambda folder, minutes, changes: folder)


@pytest.mark.parametrize(
    ("best", "tried"),
    [
        (5e-4, [5e-4, 1.5e-3, 1.7e-4]),
        (1e-9, [5e-4, 1.5e-3, 1.7e-4, 5.8e-5]),
        (4.5e-3, [5e-4, 1.5e-3, 4.5e-3, 1.3e-2]),
        (1e9, [5e-4, 1.5e-3, 4.5e-3, 1.3e-2]),
    ],
)
def test_a_search_goes_on_beyond_its_ends_while_the_end_does_best(best, tried, tmp_path, budget, monkeypatch):
    found = search_where(lambda rate: -abs(math.log(rate / best)), tmp_path, budget, monkeypatch)
    assert list(found.scores) == tried
    assert found.chosen == min(tried, key=lambda rate: abs(math.log(rate / best)))


def test_a_rate_at_which_training_broke_off_ends_the_search_there(tmp_path, budget, monkeypatch):
    found = search_where(lambda rate: None if rate > 2e-3 else rate, tmp_path, budget, monkeypatch)
    assert found.scores == {5e-4: 5e-4, 1.5e-3: 1.5e-3, 4.5e-3: None}
    assert found.chosen == 1.5e-3


def test_two_at_a_time_bring_about_the_gaze_of_all_and_borrowers_wait_for_lenders(data, budget, written, tmp_path):
    rows = tuple(one for one in ROWS if one.name in ("HAT", "ours", "saliency sampler"))
    kept = replace(budget, work=tmp_path, jobs=2, rates=(), minutes=0.005)
    found = gaze_of(rows, list(stores_of(data, ("osie",), tmp_path, quiet=True).values()), kept, quiet=True)
    assert {name: len(trials) for name, trials in found["osie"].items()} == dict.fromkeys([o.name for o in rows], 12)


def test_what_goes_wrong_in_a_worker_is_said_as_it_would_be_here(data, budget, tmp_path):
    broken = replace(ROWS[0], changes=(*ROWS[0].changes, "train.scanpath.learning_rate=1e30"))
    kept = replace(budget, work=tmp_path, jobs=2, rates=(), minutes=0.1)
    with pytest.raises(InputError, match="training scanpath stopped at step"):
        score_entries([broken], stores_of(data, ("osie",), tmp_path, quiet=True)["osie"], kept, quiet=True)


@pytest.mark.parametrize(("p", "better", "said"), [(0.01, "a", True), (0.01, "b", False), (0.2, "a", None)])
def test_a_difference_is_decided_where_a_paired_test_is_sure(p, better, said):
    of_metric = Difference("a", "b", "crps", "DTW", 9.0, 8.0, 10.0, 0.001, "b")
    of_mean = Difference("a", "b", "mean", GAP, 0.9, 0.8, 1.0, 0.001, "a")
    row = Difference("a", "b", "crps", GAP, 0.4, 0.1, 0.7, p, better)
    result = Result({}, (), {}, [of_metric, of_mean, row], [], {})
    assert decided(result, "a", "b") == (0.4, said)
    assert decided(result, "b", "a") == (-0.4, None if said is None else not said)
    with pytest.raises(InputError, match="a and c were not compared"):
        decided(result, "a", "c")


@pytest.mark.parametrize(("dtw", "behind"), [(16.0, False), (18.0, True)])
def test_a_system_further_from_people_than_noise_around_the_centre_has_hardly_learned(dtw, behind):
    def number(value: float) -> Estimate:
        return Estimate(value, value, value, 3, 0, None)

    def row(value: float) -> dict:  # LD does not tell people on other pictures from people on this one
        return {"crps": {"DTW": number(value), "LD": number(1.0)}}

    rows = {"model": row(dtw), "human": row(5.0), "shuffled": row(15.0), "centre": row(17.0)}
    gap = {"crps": {"DTW": number((15 - dtw) / 10), "LD": number(math.nan), "mean": number((15 - dtw) / 10)}}
    result = Result(rows, ("human", "shuffled", "centre"), {"model": gap}, [], [], {})
    assert behind_noise(result, "model") is behind
