"""Public data sets: every description parses, every reader reads a small set of exactly the real layout."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from stdiffeye.data.clean import CleaningSettings, clean, fit
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.gaze.quality import QualityReport
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.gaze.samples import RawTrial
from stdiffeye.io.descriptions import SplitRule, check, describe, known_sets, require
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.sets import coco, read_set, reader_of

DISPLAY = Frame(1680, 1050)


@pytest.mark.parametrize("name", known_sets())
def test_every_description_is_whole_and_has_a_reader(name):
    description = describe(name)
    assert description.name == name
    assert description.citation
    assert description.licence
    assert description.files
    reader = reader_of(description)
    assert callable(reader.items)
    assert callable(reader.load)


def test_all_sets_of_the_paper_and_ours_are_described():
    assert set(known_sets()) >= {
        "mit1003",
        "coco-search18-tp",
        "coco-search18-ta",
        "coco-freeview",
        "osie",
        "osie-mat",
        "crowd",
        "scene",
        "figrim",
        "doves",
        "mcs",
        "ueyes",
        "salicon",
        "cat2000",
    }


@pytest.mark.parametrize(("name", "px"), [("osie", 24), ("crowd", 16), ("doves", 60), ("mit1003", 35), ("scene", None)])
def test_pixels_per_degree_are_those_of_the_experiments(name, px):
    assert describe(name).px_per_degree == px


def test_an_unknown_set_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"there is no data set 'oise': known are .*osie"):
        describe("oise")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "does not describe a data set"),
        ("name: a\nreadr: b\n", "unknown keys"),
        ("a: [", "is not YAML"),
        ("name: own\nreader: coco", "'files'"),
    ],
)
def test_a_description_with_a_fault_is_refused(tmp_path, text, message):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        describe(tmp_path / "own.yaml")


def test_the_checker_tells_what_is_missing_and_where(tmp_path):
    (tmp_path / "ALLSTIMULI").mkdir()
    (tmp_path / "ALLSTIMULI" / "a.jpeg").touch()
    data, stimuli = check(describe("mit1003"), tmp_path)
    assert (data.missing, data.where) == (True, tmp_path / "DATA/*/*.mat")
    assert (stimuli.missing, stimuli.count) == (False, 1)
    with pytest.raises(InputError, match=r"MIT1003 is not whole .*missing one .mat per viewer.*expected at .*DATA"):
        require(describe("mit1003"), tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        require(describe("osie"), tmp_path / "nowhere")


def test_pictures_are_divided_by_their_name_alone_and_in_the_shares_asked_for():
    rule = SplitRule("by-picture", 0.2, 0.1)
    splits = [rule.split(f"{number}.jpg", "") for number in range(4000)]
    assert splits == [rule.split(f"{number}.jpg", "") for number in range(4000)]
    assert splits.count("test") / 4000 == pytest.approx(0.1, abs=0.02)
    assert splits.count("validation") / 4000 == pytest.approx(0.2, abs=0.02)


def test_pictures_of_the_same_photograph_share_a_split():
    rule = SplitRule("by-picture", 0.4, 0.4, (("a.jpg", "b.jpg", "c.jpg"),))
    assert rule.split("a.jpg", "") == rule.split("b.jpg", "") == rule.split("c.jpg", "")
    osie = describe("osie-mat").split
    assert osie.split("1279.jpg", "") == osie.split("1374.jpg", "")


def test_a_split_given_by_the_data_is_kept():
    assert SplitRule("given").split("a.jpg", "validation") == "validation"
    with pytest.raises(InputError, match="split rule 'random' is unknown"):
        SplitRule("random")


# ── UEyes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ueyes_is_read_with_onsets_and_the_category_of_the_screen(tmp_path):
    row = {"name": "00398c.jpg", "subject": 12, "category": "poster", "width": 357, "height": 480, "split": "train"}
    row |= {"X": [139.6, 189.4, 179.4], "Y": [96.9, 51.3, 14.0], "T": [16, 444, 312], "onset": [0, 33, 986]}
    mobile = row | {"name": "1a2b3c.jpg", "category": "mobile", "width": 222, "split": "test"}
    (tmp_path / "ueyes_fixations.json").write_text(json.dumps([row, mobile]))
    poster, other = read_set("ueyes", tmp_path)
    assert (poster.name, poster.subject, poster.split, poster.dataset) == ("00398c.jpg", "12", "train", "ueyes")
    assert (poster.details["category"], other.details["category"]) == ("poster", "mobile")
    assert (poster.frame, other.frame) == (Frame(357, 480), Frame(222, 480))
    assert poster.scanpath.onset_ms.tolist() == [0, 33, 986]
    assert poster.scanpath.duration_ms.tolist() == [16, 444, 312]
    assert (poster.viewing_ms, poster.task) == (7000, "")


# ── MIT1003 ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def two_fixations(count: int = 240) -> np.ndarray:
    """At (200, 150), then at (420, 300) px, joined by a saccade of ten samples."""
    rng = np.random.default_rng(1)
    along = np.clip((np.arange(count) - count // 2) / 10, 0, 1)[:, None]
    xy = [200.0, 150.0] + along * [220.0, 150.0]
    return xy + rng.normal(0, 0.3, xy.shape)


def make_mit1003(
    root: Path, stem: str = "i05june05_static_street_boston_p1010764", eye_data: np.ndarray | None = None
) -> None:
    folder = root / "DATA" / "ajs"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "ALLSTIMULI").mkdir(exist_ok=True)
    Image.new("RGB", (640, 480)).save(root / "ALLSTIMULI" / f"{stem}.jpeg")
    eye_data = two_fixations() if eye_data is None else eye_data
    data = np.zeros((1, 1), dtype=[("imgname", object), ("eyeData", object)])
    data[0, 0] = (f"{stem}.jpeg", eye_data)
    savemat(folder / f"{stem}.mat", {stem[:63]: {"DATA": data}}, long_field_names=True)


def test_mit1003_gives_240_hz_gaze_in_the_pictures_own_frame(tmp_path):
    eye_data = two_fixations()
    eye_data[10:14] = -20.0
    make_mit1003(tmp_path, eye_data=eye_data)
    (trial,) = read_set("mit1003", tmp_path)
    assert trial.frame == Frame(640, 480, 35)
    assert trial.trajectory.rate_hz == 240
    assert np.flatnonzero(trial.trajectory.lost).tolist() == [10, 11, 12, 13]
    np.testing.assert_allclose(trial.trajectory.xy_px[20], eye_data[20])
    assert (trial.subject, trial.name) == ("ajs", "i05june05_static_street_boston_p1010764.jpeg")


def test_mit1003_names_that_matlab_cut_at_63_characters_are_found(tmp_path):
    make_mit1003(tmp_path, stem="istatic_" + "long" * 16)
    (trial,) = read_set("mit1003", tmp_path)
    assert len(trial.trajectory) == 240


def test_mit1003_scanpaths_are_extracted_and_indexed(tmp_path):
    make_mit1003(tmp_path)
    (trial,) = read_set("mit1003", tmp_path)
    prepared = fit(clean(trial, CleaningSettings(), QualityReport()), CleaningSettings())
    np.testing.assert_allclose(prepared.trial.scanpath.xy_px, [[200, 150], [420, 300]], atol=1)
    assert prepared.rho[0] == 0
    assert prepared.rho[-1] == 1


def test_mit1003_without_a_picture_says_where_it_is_expected(tmp_path):
    make_mit1003(tmp_path)
    Image.new("L", (4, 4)).save(tmp_path / "ALLSTIMULI" / "other.jpeg")
    (tmp_path / "ALLSTIMULI" / "i05june05_static_street_boston_p1010764.jpeg").unlink()
    with pytest.raises(InputError, match=r"is missing: expected .*ALLSTIMULI/i05june05.*jpeg"):
        list(read_set("mit1003", tmp_path))


@pytest.mark.parametrize("content", ["text", "struct"])
def test_a_mat_file_that_is_not_mit1003_is_refused(tmp_path, content):
    make_mit1003(tmp_path)
    (path,) = (tmp_path / "DATA" / "ajs").iterdir()
    if content == "text":
        path.write_text("no")
        message = "cannot be read as a MATLAB file"
    else:
        savemat(path, {"x": np.ones(3)})
        message = r"holds no i05june05.*DATA\(1\).eyeData"
    with pytest.raises(InputError, match=message):
        list(read_set("mit1003", tmp_path))


# ── OSIE as its authors give it ──────────────────────────────────────────────────────────────────────────────────────


def make_osie_mat(root: Path) -> None:
    (root / "data" / "eye").mkdir(parents=True)
    fixations = np.empty((2, 1), dtype=object)
    for number in range(2):
        subjects = np.empty((3, 1), dtype=object)
        for viewer in range(3):
            count = 0 if (number, viewer) == (1, 2) else 1 if (number, viewer) == (0, 1) else 4
            row = np.arange(1.0, count + 1).reshape(1, -1)
            subjects[viewer, 0] = {"fix_x": row * 100, "fix_y": row * 50, "fix_duration": row * 200}
        fixations[number, 0] = {"img": f"{1001 + number}.jpg", "subjects": subjects}
    savemat(root / "data" / "eye" / "fixations.mat", {"fixations": fixations})


def test_osie_of_the_authors_is_read_from_pixel_zero(tmp_path):
    make_osie_mat(tmp_path)
    trials = list(read_set("osie-mat", tmp_path))
    assert [(trial.name, trial.subject) for trial in trials] == [
        ("1001.jpg", "1"),
        ("1001.jpg", "2"),
        ("1001.jpg", "3"),
        ("1002.jpg", "1"),
        ("1002.jpg", "2"),
    ]
    assert trials[0].scanpath.xy_px.tolist() == [[99, 49], [199, 99], [299, 149], [399, 199]]
    assert trials[0].scanpath.duration_ms.tolist() == [200, 400, 600, 800]
    assert len(trials[1].scanpath) == 1
    assert trials[0].frame == Frame(800, 600, 24)


# ── COCO-Search18 and COCO-FreeView ──────────────────────────────────────────────────────────────────────────────────


def coco_row(**change: object) -> dict[str, object]:
    row: dict[str, object] = {
        "name": "000000005649.jpg",
        "subject": 1,
        "task": "chair",
        "condition": "present",
        "bbox": [157, 334, 292, 200],
        "X": [848.7, 463.2],
        "Y": [538.2, 497.8],
        "T": [346, 244],
        "length": 2,
        "correct": 1,
        "split": "train",
    }
    return row | change


def make_coco(root: Path, kind: str = "TP", **change: object) -> None:
    root.mkdir(exist_ok=True)
    rows = [coco_row(**change), coco_row(subject=2, **change)]
    (root / f"coco_search18_fixations_{kind}_train_split1.json.gz").write_bytes(
        gzip.compress(json.dumps(rows).encode())
    )
    validation = [coco_row(name="000000000009.jpg", split="valid", RT=920, **change)]
    (root / f"coco_search18_fixations_{kind}_validation_split1.json").write_text(json.dumps(validation))


def test_coco_search18_target_present_is_read_from_json_and_gz(tmp_path):
    make_coco(tmp_path)
    trials = list(read_set("coco-search18-tp", tmp_path))
    assert [(trial.subject, trial.split) for trial in trials] == [("1", "train"), ("2", "train"), ("1", "validation")]
    assert trials[0].task == "chair"
    assert trials[0].target_box_px == (157, 334, 292, 200)
    assert trials[0].frame == DISPLAY


def test_coco_search18_target_absent_has_no_box(tmp_path):
    make_coco(tmp_path, "TA", condition="absent", bbox=[0, 0, 0, 0])
    assert all(trial.target_box_px is None for trial in read_set("coco-search18-ta", tmp_path))


def test_coco_freeview_is_free_viewing(tmp_path):
    row = coco_row(condition="freeview", task="chair")
    del row["bbox"]
    (tmp_path / "COCOFreeView_fixations_train.json").write_text(json.dumps([row]))
    (trial,) = read_set("coco-freeview", tmp_path)
    assert (trial.task, trial.viewing_ms, trial.target_box_px) == ("", 5000, None)


def record(root: Path, offset_px: float = 0.0) -> None:
    """1000 Hz gaze of viewer 1: a lead-in, the two fixations, a tail, at the message of SR Research's own kind."""
    path = [[1000, 300]] * 100 + [[848.7, 538.2]] * 346 + [[463.2, 497.8]] * 244 + [[100, 100]] * 60
    xy = np.array(path, dtype=float) + offset_px
    time = 1000.0 + np.arange(len(xy))
    messages = (
        Message(1000.0, "TRIALID 1"),
        Message(1001.0, "!V IMGLOAD CENTER images/chair/000000005649.jpg 840 525"),
    )
    (root / "recordings").mkdir(exist_ok=True)
    write_asc(root / "recordings" / "viewer01.asc", [Recording(time, 1000, DISPLAY, left_px=xy, messages=messages)])


def test_raw_gaze_of_coco_is_matched_by_viewer_and_picture_and_trimmed_to_the_fixations(tmp_path):
    make_coco(tmp_path)
    record(tmp_path)
    trials = list(read_set("coco-search18-tp", tmp_path))
    with_gaze = [trial for trial in trials if isinstance(trial, RawTrial)]
    assert [(trial.subject, trial.name) for trial in with_gaze] == [("1", "000000005649.jpg")]
    report = QualityReport()
    trajectory = clean(with_gaze[0], CleaningSettings(), report).trajectory
    assert trajectory.rate_hz == 240
    assert trajectory.duration_ms == pytest.approx(346 + 244, abs=5)
    np.testing.assert_allclose(trajectory.xy_px[0], [848.7, 538.2], atol=0.1)
    np.testing.assert_allclose(trajectory.xy_px[-1], [463.2, 497.8], atol=0.1)
    assert report.kept == 1


def test_rows_of_coco_come_viewer_by_viewer_whatever_their_order_in_the_file(tmp_path):
    rows = [coco_row(subject=subject, name=f"{number:012d}.jpg") for number in range(3) for subject in (2, 1, 7)]
    (tmp_path / "coco_search18_fixations_TP_train_split1.json").write_text(json.dumps(rows))
    record(tmp_path)
    found = list(coco.items(describe("coco-search18-tp"), tmp_path))
    assert [item.row["subject"] for item in found] == [1, 1, 1, 2, 7, 2, 7, 2, 7]
    assert [item.recording is not None for item in found] == [True] * 3 + [False] * 6
    assert [item.row for item in found[:3]] == rows[1::3]


def test_raw_gaze_that_misses_the_fixations_is_dropped_and_counted(tmp_path):
    make_coco(tmp_path)
    record(tmp_path, offset_px=40)
    trial = next(trial for trial in read_set("coco-search18-tp", tmp_path) if isinstance(trial, RawTrial))
    report = QualityReport()
    assert clean(trial, CleaningSettings(), report) is None
    assert dict(report.dropped) == {"no sample within 20 px of the first or last fixation": 1}


def test_two_recordings_of_one_viewer_are_refused(tmp_path):
    make_coco(tmp_path)
    record(tmp_path)
    (tmp_path / "recordings" / "sub1.asc").touch()
    with pytest.raises(InputError, match="both named after viewer 1"):
        list(read_set("coco-search18-tp", tmp_path))


# ── DOVES ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_doves(root: Path, **change: object) -> None:
    xy = np.concatenate([two_fixations(1040), two_fixations(1040)]).astype(np.float32)
    arrays: dict[str, object] = {
        "xy": xy,
        "offsets": np.array([0, 1040, 2080]),
        "image": np.array(["img001", "img002"]),
        "subject": np.array(["ABT2", "ACB2"]),
        "split": np.array(["train", "test"]),
        "rate_hz": 200,
        "px_per_degree": 60,
        "width": 1024,
        "height": 768,
    }
    np.savez(root / "doves_gaze.npz", **{key: value for key, value in (arrays | change).items() if value is not None})


def test_doves_is_read_at_200_hz(tmp_path):
    make_doves(tmp_path)
    one, two = read_set("doves", tmp_path)
    assert (one.name, one.subject, one.split, two.split) == ("img001.jpg", "ABT2", "train", "test")
    assert (one.trajectory.rate_hz, len(one.trajectory)) == (200, 1040)
    assert one.frame == Frame(1024, 768, 60)
    assert clean(one, CleaningSettings(), QualityReport()).trajectory.rate_hz == 240


@pytest.mark.parametrize(
    ("change", "message"),
    [({"split": None}, "has no array split"), ({"offsets": np.array([0, 5])}, "offsets do not fit 2 trials")],
)
def test_another_npz_is_refused(tmp_path, change, message):
    make_doves(tmp_path, **change)
    with pytest.raises(InputError, match=message):
        list(read_set("doves", tmp_path))


def test_a_mat_file_that_is_not_osie_is_refused(tmp_path):
    make_osie_mat(tmp_path)
    savemat(tmp_path / "data" / "eye" / "fixations.mat", {"other": 1})
    with pytest.raises(InputError, match="does not hold the fixations of OSIE: 'fixations'"):
        list(read_set("osie-mat", tmp_path))
