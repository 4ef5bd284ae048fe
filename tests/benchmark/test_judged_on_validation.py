"""COCO-Search18's test split is not public: systems are judged on validation, which then chooses nothing."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blob_pictures import blob, draw_picture, looked_at

from stdiffeye.benchmark import Budget, paper_scale, table1
from stdiffeye.benchmark.systems_table import changes_on, is_judged_on_test, plan, run_folder, stores_of
from stdiffeye.encoders.choose import located
from stdiffeye.errors import InputError
from stdiffeye.systems.cores import one_core
from stdiffeye.systems.presets import load_preset
from stdiffeye.training.shipped import models_folder

SET = "coco-search18-tp"
FRAME_PX = np.array([1680, 1050])
BOX_PX = np.array([300, 300])
NAMES = ("HAT", "ours", "ours (search)", "saliency sampler")
QUICK = ("stimuli=4", "viewers=2", "warm_up=5", "ema=0.9")
SMALL = ("width=16", "heads=2", "depth=1", "feedforward=32")


def make_search_set(folder: Path, pictures: int = 12, viewers: int = 4) -> None:
    """In the layout of COCO-Search18: the target is the blob, and there is no test split."""
    rng, rows = np.random.default_rng(3), {"train": [], "validation": []}
    for number in range(pictures):
        name, split = f"{number:012d}.jpg", "validation" if number % 3 == 2 else "train"
        draw_picture(folder / "images" / name, number)
        box = [*(blob(number) * FRAME_PX - BOX_PX / 2).tolist(), *BOX_PX.tolist()]
        for viewer in range(viewers):
            xy = looked_at(number, rng, (4, 7), 0.05) * FRAME_PX
            row = {"name": name, "subject": viewer, "task": "cup", "condition": "present", "bbox": box}
            row |= {"X": xy[:, 0].tolist(), "Y": xy[:, 1].tolist(), "T": rng.integers(180, 400, len(xy)).tolist()}
            rows[split].append(row | {"split": split, "correct": 1})
    for split, some in rows.items():
        (folder / f"coco_search18_fixations_TP_{split}_split1.json").write_text(json.dumps(some))


def tiny(one):
    """The same entry as a network of some thousand weights."""
    preset = load_preset(one.preset, one.changes)
    stage = next(iter(preset.stages))
    small = [f"stages.{stage}.image.width=16", f"stages.{stage}.image.mixing=0"]
    if preset.system == "coarse-to-fine":
        small += [f"stages.{stage}.sampling_steps=4", *(f"stages.{stage}.denoiser.{change}" for change in SMALL)]
    return replace(one, changes=(*one.changes, *small, *(f"train.{stage}.{change}" for change in QUICK)))


ROWS = tuple(tiny(one) for one in table1.ENTRIES if one.name in NAMES)
TRAINED = tuple(one for one in ROWS if not one.borrows)  # the sampler goes on with the finished run of another


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_search_set(folder / "coco_search18")
    return folder


@pytest.fixture(scope="module")
def budget(tmp_path_factory) -> Budget:
    return Budget(tmp_path_factory.mktemp("work"), minutes=0.01, sets=(SET,), samples=4, rates=(1.0, 3.0))


@pytest.fixture(scope="module")
def written(data, budget, tmp_path_factory) -> Path:
    with one_core():
        return table1.reproduce(data, tmp_path_factory.mktemp("page") / "t.md", budget, quiet=True, entries=ROWS)


def test_validation_chooses_neither_rate_nor_weights(data, budget, written):
    store = stores_of(data, (SET,), budget.work, quiet=True)[SET]
    assert not is_judged_on_test(store)
    for one in TRAINED:
        run = run_folder(one, store, budget)
        assert not list(run.rglob("best.safetensors"))
        assert "validation/score" not in next(run.rglob("log.jsonl")).read_text()
    assert not (budget.work / "rates").exists()
    assert "Learning rates are the presets' own." in written.read_text()


def test_all_systems_share_the_tuned_encoder_and_begin_from_nothing(data, budget, written):
    store = stores_of(data, (SET,), budget.work, quiet=True)[SET]
    shipped = Path(located(load_preset("search").encoder, models_folder()).partition(":")[2])
    for one in TRAINED:
        run = run_folder(one, store, budget)
        assert (run / "encoder.safetensors").read_bytes() == shipped.read_bytes()
        assert load_preset(one.preset, changes_on(one, store)).start_from == ""


def test_the_page_tells_who_finds_the_target_and_has_the_papers_rows(written):
    text = written.read_text()
    assert "no rate and no" in text.lower()
    curves = text.split(f"## Targets found: {SET}")[1].split("##")[0]
    people = next(line for line in curves.splitlines() if "*people*" in line)
    shares = [float(cell.strip(" %")) for cell in people.split("|")[2:-1]]
    assert shares == sorted(shares)
    assert shares[-1] > 90  # they look at the blob
    for name in NAMES:
        assert f"| {name} | " in curves
    assert "| paper: ST-DiffEye | 8.716 | 110.038 |" in text
    assert "SSS and SSS† are left out" in text
    assert re.search(rf"\* {SET}, HAT: preset `hat`, commit .*, [\d,]+ steps\n", text)
    with written.with_suffix(".csv").open() as file:
        assert {row["n"] for row in csv.DictReader(file) if row["protocol"] == "crps" and row["metric"] == "DTW"} == {
            "4"
        }


def test_the_form_for_search_has_no_row_where_nothing_is_searched():
    assert "ours (search)" not in plan(table1.ENTRIES, ("osie",), Budget())
    text = plan(table1.ENTRIES, (SET,), Budget(rates=(0.3, 1.0, 3.0)))
    assert "ours (search)" in text
    assert "to choose learning rates" not in text


def test_a_preset_s_own_rate_alone_is_no_search():
    assert Budget(rates=(1.0,)).search_rates == ()
    assert Budget(rates=(3.0,)).search_rates == (3.0,)


def test_a_page_of_some_rows_says_so(data, budget, written, tmp_path):
    own = replace(budget, systems=("HAT",))
    text = table1.reproduce(data, tmp_path / "t.md", own, quiet=True, entries=ROWS).read_text()
    assert "only these were asked for (`--systems`): HAT." in text
    assert "| ours (search) | " not in text


def test_only_known_rows_can_be_named(data, budget):
    with pytest.raises(InputError, match="there is no system 'nobody': choose of HAT"):
        table1.reproduce(data, Path("x.md"), replace(budget, systems=("nobody",)), quiet=True, entries=ROWS)


def test_people_are_held_against_what_the_paper_implies_without_training(data, budget, tmp_path):
    text = paper_scale.reproduce(data, tmp_path / "scale.md", budget, quiet=True).read_text()
    assert "4 pairs of picture and task with 4 viewers each" in text
    assert "| DFD | 181.152 to 224.163 | " in text
    assert "| people | " in text
    with pytest.raises(InputError, match="not of osie"):
        paper_scale.reproduce(data, tmp_path / "scale.md", replace(budget, sets=("osie",)))
