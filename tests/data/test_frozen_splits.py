"""Frozen splits: addressed by content, and nothing else is judged under their id."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stdiffeye import evaluate, leaderboard
from stdiffeye.data import frozen_splits as splits
from stdiffeye.data.frozen_splits import FrozenSplit, frozen_split
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.scanpath_json import write_scanpaths

FRAME = Frame(800, 600)


def trials(seed: int, count: int = 3, names: str = "abc") -> list[Trial]:
    rng = np.random.default_rng(seed)
    return [
        Trial(f"{name}.jpg", str(k), Scanpath(rng.uniform(50, 550, (5, 2)), FRAME, rng.uniform(150, 400, 5)))
        for name in names
        for k in range(count)
    ]


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FrozenSplit:
    split = FrozenSplit.of("mine", "test", trials(0))
    split.save(tmp_path / "splits")
    monkeypatch.setattr(splits.frozen_splits, "__defaults__", (tmp_path / "splits",))
    monkeypatch.setattr(splits.frozen_split, "__defaults__", (tmp_path / "splits",))
    return split


def test_every_shipped_split_is_what_its_name_says() -> None:
    found = splits.frozen_splits()
    sets = {split.dataset for split in found.values()}
    assert {"osie", "crowd", "scene", "figrim", "doves", "ueyes", "coco-search18-tp", "mcs"} <= sets
    assert all(split.stimuli and split.viewers >= len(split.stimuli) for split in found.values())


def test_the_id_depends_on_the_content_and_on_nothing_else() -> None:
    human = trials(0)
    once = FrozenSplit.of("mine", "test", human).id
    assert once.startswith("mine@")
    assert FrozenSplit.of("mine", "test", human[::-1]).id == once
    half = [replace(one, scanpath=one.scanpath.rescaled(Frame(400, 300))) for one in human if one.scanpath]
    assert FrozenSplit.of("mine", "test", half).id == once
    assert FrozenSplit.of("mine", "test", human[1:]).id != once
    assert FrozenSplit.of("mine", "test", [*human[:-1], trials(1)[-1]]).id != once


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = FrozenSplit.of("mine", "test", trials(0)).save(tmp_path)
    content = json.loads(path.read_text())
    content["stimuli"][0][2] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is damaged: its content is mine@"):
        frozen_split(path.stem, tmp_path)


def test_evaluation_says_its_split_and_leaves_other_stimuli_out(frozen: FrozenSplit, tmp_path: Path) -> None:
    human, ours = [*trials(0), *trials(5, names="z")], trials(3, count=4, names="abcz")
    result = evaluate(human, {"ours": ours}, split_id=frozen.id, metrics=["DTW"], protocols=["crps"])
    assert [name for name, _ in result.stimuli] == ["a.jpg", "b.jpg", "c.jpg"]
    assert result.to_dict()["settings"]["split_id"] == frozen.id
    assert str(result).startswith(f"{frozen.id}: ")


@pytest.mark.parametrize(
    ("human", "ours", "message"),
    [
        (trials(0)[1:], trials(3), "has 3 viewers of 'a.jpg', the human gaze has 2"),
        ([*trials(0)[:-1], trials(9)[-1]], trials(3), "human gaze of 'c.jpg' is not that of mine@"),
        (trials(0), trials(3, names="ac"), "'ours' lacks 1 of the 3 stimuli of mine@.*first being 'b.jpg'"),
        (
            trials(0),
            [replace(one, details={"split_id": "mine@000000000000"}) for one in trials(3)],
            "'ours' is a submission to mine@000000000000, not to mine@",
        ),
    ],
)
def test_anything_but_the_split_is_refused(
    frozen: FrozenSplit, human: list[Trial], ours: list[Trial], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(human, {"ours": ours}, split_id=frozen.id, metrics=["DTW"], protocols=["crps"])


def test_an_id_that_is_not_known_is_refused(frozen: FrozenSplit) -> None:
    with pytest.raises(InputError, match=f"there is no split 'mine@x': there are {frozen.id}"):
        evaluate(trials(0), {"ours": trials(3)}, split_id="mine@x", metrics=["DTW"])


def test_results_of_one_split_make_a_page_best_first(frozen: FrozenSplit, tmp_path: Path) -> None:
    write_scanpaths(tmp_path / "human.json", trials(0))
    human = tmp_path / "human.json"
    near = [replace(one, details={"split_id": frozen.id}) for one in trials(0)]
    files = []
    for name, gaze in (("far", trials(3)), ("near", near)):
        files.append(tmp_path / f"{name}.json")
        options = {"split_id": frozen.id, "metrics": ["DTW", "KTD"], "protocols": ["crps"], "estimator": "fair"}
        evaluate(human, {name: gaze}, files[-1], **options)
    page = leaderboard(files, tmp_path / "page.md").read_text()
    assert f"## {frozen.id}" in page
    assert "3 stimuli × 3 viewers, scanpath, fair CRPS." in page
    assert page.index("| near | near.json |") < page.index("| far | far.json |") < page.index("| *human* |")
    assert page.count("| *human* |") == 1


def test_results_without_a_split_are_refused(tmp_path: Path) -> None:
    evaluate(trials(0), {"ours": trials(3)}, tmp_path / "free.json", metrics=["DTW"], protocols=["crps"])
    with pytest.raises(InputError, match=r"free\.json was made without --split-id"):
        leaderboard([tmp_path / "free.json"], tmp_path / "page.md")
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(InputError, match=r"other\.json is no results file"):
        leaderboard([tmp_path / "other.json"], tmp_path / "page.md")
