"""Files of exactly the layouts that other programs write."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.io.predictions import EXPORT, is_prediction_file, read_predictions

HUMAN = [
    Trial("a.jpg", "1", Scanpath([[10.0, 10.0]], Frame(800, 600), [100.0])),
    Trial("b.jpg", "1", Scanpath([[10.0, 10.0]], Frame(800, 600), [100.0]), task="cup"),
]


def _write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, indent=4))
    return path


def test_hat_predictions_are_512_by_320_without_durations_and_get_numbers(tmp_path: Path) -> None:
    row = {"X": [256.0, 300.5], "Y": [160.0, 10.0], "name": "000000000001.jpg", "task": "cup", "condition": "present"}
    path = _write(tmp_path / "predictions_TP.json", [row, row, row | {"task": "car"}])
    assert is_prediction_file(path)
    trials = read_predictions(path)
    assert [(t.name, t.task, t.subject) for t in trials] == [
        ("000000000001.jpg", "cup", "0"),
        ("000000000001.jpg", "cup", "1"),
        ("000000000001.jpg", "car", "0"),
    ]
    assert trials[0].frame == Frame(512, 320)
    assert trials[0].scanpath.duration_ms is None
    assert trials[0].scanpath.xy_px.tolist() == [[256.0, 160.0], [300.5, 10.0]]


def test_gazeformer_predictions_have_durations_in_ms(tmp_path: Path) -> None:
    row = {"X": [256.0], "Y": [160.0], "T": [12.0], "subject": 1, "name": "1.jpg", "task": "cup", "condition": "absent"}
    path = _write(tmp_path / "gazeformer.json", [row, row | {"subject": 2}])
    assert is_prediction_file(path)
    trials = read_predictions(path)
    assert [trial.scanpath.duration_ms.tolist() for trial in trials] == [[12.0], [12.0]]
    assert [trial.subject for trial in trials] == ["0", "1"]


def test_places_of_the_display_are_not_taken_for_hats(tmp_path: Path) -> None:
    row = {
        "X": [1200.0],
        "Y": [160.0],
        "T": [120.0],
        "subject": 1,
        "name": "1.jpg",
        "task": "cup",
        "condition": "absent",
    }
    assert not is_prediction_file(_write(tmp_path / "coco.json", [row]))
    small = row | {"X": [12.0]}
    path = _write(tmp_path / "mixed.json", [small, row])
    with pytest.raises(InputError, match=r"row 2 of .* lies outside 512×320 px"):
        read_predictions(path)
    human = small | {"width": 1680, "height": 1050}
    assert not is_prediction_file(_write(tmp_path / "human.json", [human]))


def test_gazexplain_predictions_take_their_names_from_the_fixation_file(tmp_path: Path) -> None:
    row = {"X": [30.0, 40.0], "Y": [50.0, 60.0], "T": [200.0, 300.0], "dataset": "OSIE", "evaluation_scores": {},
           "explanation": [{"caption": "a cup"}], "gt_explanation": []}  # fmt: skip
    path = _write(tmp_path / "predictions.json", [row, row])
    assert is_prediction_file(path)
    trials = read_predictions(path, HUMAN)
    assert [trial.key for trial in trials] == [("a.jpg", ""), ("b.jpg", "cup")]
    assert trials[0].frame == Frame(512, 384)
    assert trials[0].scanpath.duration_ms.tolist() == [200.0, 300.0]
    with pytest.raises(InputError, match=r"2 predictions without names, .* there are 1 human trials"):
        read_predictions(path, HUMAN[:1])


def test_scandiff_pickles_are_refused_with_the_command_that_exports_them(tmp_path: Path) -> None:
    padded = np.array(
        [[[0.5, 0.5, 0.25], [0.25, 0.75, 0.4], [-3, -3, -3]], [[0.1, 0.2, 0.3], [-3, -3, -3], [-3, -3, -3]]]
    )
    preds = {
        ("b.jpg", "cup"): {"size": (800, 600), "scanpaths": padded, "question_id": "", "dataset": "cocosearch18_tp"}
    }
    file = tmp_path / "generations.pkl"
    file.write_bytes(pickle.dumps(preds))
    assert is_prediction_file(file)
    with pytest.raises(InputError, match="pickle, which can run any code and is not read; save it as JSON"):
        read_predictions(file)
    code = EXPORT.removeprefix('python -c "').removesuffix('"').replace("FILE", str(file))
    exec(code)
    exported = Path(f"{file}.json")
    assert is_prediction_file(exported)
    trials = read_predictions(exported)
    assert [trial.key for trial in trials] == [("b.jpg", "cup")] * 2
    assert trials[0].scanpath.rescaled(Frame(800, 600)).xy_px.tolist() == [[400.0, 300.0], [200.0, 450.0]]
    assert trials[0].scanpath.duration_ms.tolist() == [250.0, 400.0]
    assert len(trials[1].scanpath) == 1


@pytest.mark.parametrize("kind", ["json", "npz"])
def test_tppgaze_scanpaths_by_picture_take_the_picture_size_from_the_humans(tmp_path: Path, kind: str) -> None:
    scanpaths = [[[400.0, 300.0, 210.0], [10.0, 20.0, 180.0]], [[700.0, 500.0, 330.0]]]
    path = tmp_path / f"tppgaze.{kind}"
    if kind == "json":
        _write(path, {"a.jpg": scanpaths})
    else:
        nan = [np.nan] * 3
        np.savez(path, **{"a.jpg": np.array([scanpaths[0], [scanpaths[1][0], nan]])})
    assert is_prediction_file(path)
    trials = read_predictions(path, HUMAN)
    assert [trial.subject for trial in trials] == ["0", "1"]
    assert trials[0].frame == Frame(800, 600)
    assert trials[0].scanpath.duration_ms.tolist() == [210.0, 180.0]
    assert trials[1].scanpath.xy_px.tolist() == [[700.0, 500.0]]
    with pytest.raises(InputError, match="does not say the picture's size"):
        read_predictions(path)


def test_deepgaze_places_without_durations_and_tasks_in_keys(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "deepgaze.json", {"b.jpg|cup": {"size": [640, 480], "scanpaths": [[[3.0, 4.0], [500, 6.0]]]}}
    )
    (trial,) = read_predictions(path)
    assert trial.key == ("b.jpg", "cup")
    assert trial.frame == Frame(640, 480)
    assert trial.scanpath.duration_ms is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a.jpg": [[[1.0]]]}, r"must have shape \(n, 2\) or \(n, 3\)"),
        ({"a.jpg": [["x"]]}, "a scanpath must be rows"),
        ({"a.jpg": [[[-3.0, -3.0, -3.0]]]}, "without any fixation"),
        ({"a.jpg": 3}, "is int, expected a list of scanpaths"),
        ({"a.jpg": [[[5.0, float("nan"), 100.0]]]}, "holds NaN or infinity"),
        ({"a.jpg": [{"X": [1.0, 2], "Y": [3.0]}]}, "differ in length: 2, 1"),
        ([], "holds no predictions"),
        ([{"name": "a"}], "not in a layout that other programs write"),
    ],
)
def test_malformed_predictions_are_refused_with_what_is_wrong(tmp_path: Path, content: object, message: str) -> None:
    path = _write(tmp_path / "p.json", content)
    with pytest.raises(InputError, match=message):
        read_predictions(path, HUMAN)


def test_damaged_archives_and_other_files_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "p.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"is not a plain .npz"):
        read_predictions(tmp_path / "p.npz")
    (tmp_path / "t.csv").write_text("name,x\n")
    assert not is_prediction_file(tmp_path / "t.csv")
    assert not is_prediction_file(tmp_path)
    (tmp_path / "n.json").write_text("3")
    assert not is_prediction_file(tmp_path / "n.json")
