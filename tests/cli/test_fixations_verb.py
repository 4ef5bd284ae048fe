"""`stdiffeye fixations` and `stdiffeye demo fixations`, from the files to what lies in --out."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from stdiffeye.cli import main
from stdiffeye.data.clean import CleaningSettings
from stdiffeye.data.recording_fixations import fixations
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.lifting import lift
from stdiffeye.gaze.quality import QualityReport, QualityThresholds
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.eyelink_asc import read_asc
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.scanpath_json import read_scanpaths
from stdiffeye.io.trial_files import ReadingOptions

FRAME = Frame(1024, 768, 34)
PLACES = [[512, 384], [200, 150], [800, 600], [300, 650]]
DURATIONS = [250, 300, 280, 320]


def made_block(start: float, name: str, lost: bool = False) -> Recording:
    path = Scanpath(PLACES, FRAME, duration_ms=DURATIONS)
    xy = np.array(lift(path, 1000, np.random.default_rng(4)).xy_px)
    if lost:
        xy[:] = np.nan
    time = start + np.arange(len(xy), dtype=float)
    messages = (Message(start - 5, f"TRIALID {name}"), Message(time[-1] + 5, "TRIAL_RESULT 0"))
    return Recording(time, 1000, FRAME, right_px=xy, messages=messages, name=name)


QUIET = ("--quiet", "--keep-ids")


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.mark.parametrize("method", ["judd", "ivt", "idt"])
def test_a_recording_gives_the_fixations_that_it_was_made_of(tmp_path, method, capsys):
    write_asc(tmp_path / "ann.asc.gz", [made_block(1000, "a.png"), made_block(9000, "b.png")])
    assert run("fixations", tmp_path / "ann.asc.gz", "--out", tmp_path / "out", "--method", method, *QUIET) == 0
    trials = read_scanpaths(tmp_path / "out" / "scanpaths.json")
    assert [(trial.name, trial.subject) for trial in trials] == [("a.png", "ann"), ("b.png", "ann")]
    for trial in trials:
        assert trial.trajectory is None
        np.testing.assert_allclose(trial.scanpath.xy_px, PLACES, atol=4)
        # Thresholds on speed and spread count the slow beginnings and ends of saccades to the fixations.
        tolerance_ms = {"judd": 20, "ivt": 35, "idt": 60}[method]
        np.testing.assert_allclose(trial.scanpath.duration_ms, DURATIONS, atol=tolerance_ms)
    assert QualityReport.load(tmp_path / "out" / "quality.json").kept == 2
    with Image.open(tmp_path / "out" / "scanpaths.png") as picture:
        assert picture.size[0] > 600
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "2 of 2 trials kept"
    assert printed[-2] == f"8 fixations in 2 trials: {tmp_path}/out/fixations.csv, {tmp_path}/out/scanpaths.json"
    assert printed[-1] == f"Look at {tmp_path}/out/quality.html and {tmp_path}/out/scanpaths.png"
    assert len((tmp_path / "out" / "fixations.csv").read_text().splitlines()) == 1 + 8
    assert len((tmp_path / "out" / "saccades.csv").read_text().splitlines()) == 1 + 6


def test_a_trial_without_gaze_is_dropped_and_counted(tmp_path, capsys):
    write_asc(tmp_path / "ann.asc", [made_block(1000, "a.png"), made_block(9000, "b.png", lost=True)])
    assert run("fixations", tmp_path / "ann.asc", "--out", tmp_path / "out", "--json", "--trajectories") == 0
    account = json.loads(capsys.readouterr().out)
    assert (account["trials"], account["quality"]["dropped"]) == (1, {"every sample lost": 1})
    assert read_scanpaths(tmp_path / "out" / "scanpaths.json")[0].trajectory.rate_hz == 240


def test_own_patterns_pictures_and_several_files(tmp_path):
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (64, 48), "teal").save(tmp_path / "pictures" / "cat.png")
    for viewer in ("ann", "bob"):
        block = made_block(1000, "x")
        said = (Message(1000, "SHOW cat"), Message(float(block.time_ms[-1]), "HIDE"))
        write_asc(
            tmp_path / f"{viewer}.asc", [Recording(block.time_ms, 1000, FRAME, right_px=block.right_px, messages=said)]
        )
    words = ("--start", r"SHOW (?P<name>\w+)", "--end", "HIDE", "--pictures", tmp_path / "pictures", *QUIET)
    assert run("fixations", tmp_path / "ann.asc", tmp_path / "bob.asc", "--out", tmp_path / "out", *words) == 0
    trials = read_scanpaths(tmp_path / "out" / "scanpaths.json")
    assert [(t.subject, t.name, t.picture.name) for t in trials] == [
        ("ann", "cat", "cat.png"),
        ("bob", "cat", "cat.png"),
    ]


def test_a_table_needs_its_columns_and_screen(tmp_path):
    block = made_block(0, "x")
    rows = [f"{t * 1000:.0f};{x:.2f};{y:.2f}" for t, (x, y) in zip(block.time_ms, block.right_px, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["clock;gx;gy", *rows]))
    words = ("--columns", "time=clock,x=gx,y=gy,unit=us", "--screen", "1024x768", "--px-per-degree", "34", "--quiet")
    assert run("fixations", tmp_path / "t.csv", "--out", tmp_path / "out", *words) == 0
    (trial,) = read_scanpaths(tmp_path / "out" / "scanpaths.json")
    np.testing.assert_allclose(trial.scanpath.xy_px, PLACES, atol=4)


def test_data_quality_is_told_per_trial_viewer_and_file(tmp_path, capsys):
    blocks = [made_block(1000, "a.png"), made_block(9000, "b.png", lost=True)]
    said = "!CAL VALIDATION HV9 R RIGHT  GOOD ERROR 0.41 avg. 0.64 max  OFFSET 0.35 deg. 12.5,9.6 pix."
    target = "VALIDATE R POINT 0  RIGHT  at 512,384  OFFSET 0.64 deg.  20.7,7.9 pix."
    told = (Message(10.0, said), Message(10.0, target))
    blocks[0] = replace(blocks[0], messages=(*told, *blocks[0].messages))
    write_asc(tmp_path / "ann.asc", blocks)
    write_asc(tmp_path / "bob.asc", [made_block(1000, "a.png")])
    assert run("fixations", tmp_path / "ann.asc", tmp_path / "bob.asc", "--out", tmp_path / "out", *QUIET) == 0
    assert "validation error 0.41 deg on average, 0.64 at most" in capsys.readouterr().out
    quality = json.loads((tmp_path / "out" / "quality.json").read_text())
    assert [(row["file"], row["trials"], row["kept"]) for row in quality["files"]] == [
        ("ann.asc", 2, 1),
        ("bob.asc", 1, 1),
    ]
    assert [row["subject"] for row in quality["viewers"]] == ["ann", "bob"]
    first, second, third = quality["trials"]
    assert (first["dropped"], second["dropped"]) == (None, "every sample lost")
    assert first["effective_rate_hz"] == pytest.approx(1000, abs=1)
    assert (first["validation_mean_deg"], third["validation_mean_deg"]) == (0.41, None)
    (validation,) = quality["validations"]
    assert (validation["file"], validation["points"][0]["offset_x_px"]) == ("ann.asc", 20.7)
    assert first["rms_s2s_deg"] > 0
    assert second["rms_s2s_deg"] is None
    page = (tmp_path / "out" / "quality.html").read_text()
    assert "every sample lost" in page
    assert "Targets (+) and gaze on them" in page
    assert "http" not in page.replace("http-equiv", "")
    events = (tmp_path / "out" / "events.csv").read_text().splitlines()
    assert events[0].startswith("name,task,subject,event,eye,onset_ms,duration_ms,x_px,y_px")
    assert sum(",saccade," in row for row in events) == 6


def test_a_single_impossible_step_costs_a_trial_only_if_it_may(tmp_path, capsys):
    block = made_block(1000, "a.png")
    xy = np.array(block.right_px)
    xy[100] += 300
    write_asc(tmp_path / "ann.asc", [replace(block, right_px=xy), made_block(9000, "b.png")])
    kept = {}
    for words in (
        (),
        ("--max-impossible-steps", "2"),
        ("--max-impossible-steps", "-1"),
        ("--impossible-speed", "9000"),
    ):
        assert run("fixations", tmp_path / "ann.asc", "--out", tmp_path / "out", "--json", *words) == 0
        kept[words] = json.loads(capsys.readouterr().out)["trials"]
    assert list(kept.values()) == [1, 2, 2, 1]
    words = ("--max-impossible-steps", "-1", "--max-rms-deg", "0.0001")
    assert run("fixations", tmp_path / "ann.asc", "--out", tmp_path / "out", *words) == 2
    assert "2 precision worse than 0.0001 deg" in capsys.readouterr().err


def test_drift_is_corrected_by_a_target_on_the_screen(tmp_path, capsys):
    block = made_block(1000, "a.png")
    write_asc(tmp_path / "ann.asc", [replace(block, right_px=np.array(block.right_px) + [20, -15])])
    words = ("--drift-target", "512,384", "--quiet")
    assert run("fixations", tmp_path / "ann.asc", "--out", tmp_path / "out", *words) == 0
    (trial,) = read_scanpaths(tmp_path / "out" / "scanpaths.json")
    np.testing.assert_allclose(trial.scanpath.xy_px, PLACES, atol=4)
    assert "drift corrected in 1 of 1 trials" in capsys.readouterr().out


def test_a_report_of_quality_beside_the_gaze_is_passed_over(tmp_path, capsys):
    write_asc(tmp_path / "ann.asc", [made_block(1000, "a.png")])
    assert run("fixations", tmp_path / "ann.asc", "--out", tmp_path / "out", "--quiet") == 0
    capsys.readouterr()
    (tmp_path / "out" / "generation.json").write_text('{"plan": {}}')
    files = sorted((tmp_path / "out").glob("*.json"))
    assert [file.name for file in files] == ["generation.json", "quality.json", "scanpaths.json"]
    assert run("plot", *files, "--out", tmp_path / "gaze.png") == 0
    said = capsys.readouterr().err
    assert "quality.json is a report of data quality, no gaze: passed over" in said
    assert "generation.json is a report of what was generated, no gaze: passed over" in said
    assert run("info", tmp_path / "out") == 0
    assert "fixations per trial" in capsys.readouterr().out
    assert run("plot", files[1], "--out", tmp_path / "gaze.png") == 2
    assert "take scanpaths.json beside it" in capsys.readouterr().err


BAD = {
    "nothing given": ((), "no recording given"),
    "all lost": (("lost.asc",), "no trial is good enough: of 1, 1 every sample lost; every rule is a flag"),
    "no such file": (("none.asc",), "none.asc does not exist"),
    "garbage": (("garbage.asc",), "garbage.asc is binary, not an EyeLink ASC file"),
    "wrong kind": (("text.txt",), "is not a table"),
    "start": (("good.asc", "--start", "NOPE"), "no message matches the start pattern 'NOPE'"),
    "eye": (("good.asc", "--eye", "left"), "has no left eye, only the right one"),
    "screen": (("good.asc", "--screen", "big"), "--screen must be WIDTHxHEIGHT in px such as 1920x1080, got 'big'"),
    "zero screen": (("good.asc", "--screen", "0x0"), "Frame.width_px must be a positive number, got 0"),
    "density": (("good.asc", "--px-per-degree", "3"), "--px-per-degree goes with --screen WIDTHxHEIGHT"),
    "pictures": (("good.asc", "--pictures", "nowhere"), "--pictures nowhere is not a folder"),
    "columns": (("good.asc", "--columns", "x"), "--columns 'x' is not KEY=COLUMN"),
    "two rates": (("rates.asc", "--start", "BEGIN"), "spans blocks of two rates (1000 and 500 Hz)"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(tmp_path, monkeypatch, capsys, what):
    monkeypatch.chdir(tmp_path)
    write_asc("good.asc", [made_block(1000, "a.png")])
    write_asc("lost.asc", [made_block(1000, "a.png", lost=True)])
    fast = made_block(1000, "a")
    slow = Recording(9000 + 2 * np.arange(50.0), 500, FRAME, right_px=np.ones((50, 2)))
    begun = Recording(fast.time_ms, 1000, FRAME, right_px=fast.right_px, messages=(Message(1100, "BEGIN"),))
    write_asc("rates.asc", [begun, slow])
    Path("garbage.asc").write_bytes(b"\0\1\2" * 100)
    Path("text.txt").write_text("just\nwords\n")
    words, message = BAD[what]
    assert run("fixations", *words, "--out", "out", "--quiet") == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not Path("out").exists()


def test_the_python_call_says_the_same_as_the_verb(tmp_path):
    write_asc(tmp_path / "ann.asc", [made_block(1000, "a.png")])
    found = fixations(tmp_path / "ann.asc")
    assert len(found.trials[0].scanpath) == 4
    assert found.report.kept == 1
    with pytest.raises(InputError, match="there is no fixation extractor 'magic'"):
        fixations(tmp_path / "ann.asc", settings=CleaningSettings(extractor="magic"))


def test_the_demonstration_makes_a_recording_and_finds_what_it_put_in(tmp_path, capsys):
    from stdiffeye.cli import demo_fixations

    assert run("demo", "fixations", "--out", tmp_path / "demo", "--quiet") == 0
    trials = read_scanpaths(tmp_path / "demo" / "scanpaths.json")
    assert [trial.name for trial in trials] == list(demo_fixations.SCENES)
    assert all(trial.picture.is_file() and len(trial.scanpath) >= 7 for trial in trials)
    rng = np.random.default_rng(demo_fixations.SEED)
    first = demo_fixations.made_scanpath(demo_fixations.SCENES["harbour.png"], rng)
    np.testing.assert_allclose(trials[0].scanpath.xy_px, first.xy_px, atol=5)
    assert capsys.readouterr().out.splitlines()[-1].endswith("scanpaths.png")
    assert run("demo", "nothing") == 2


def test_help_fits_one_screen():
    program = Path(sys.executable).with_name("stdiffeye")
    for verb in ("fixations", "demo"):
        done = subprocess.run([program, verb, "--help"], capture_output=True, text=True, check=True)
        assert f"stdiffeye {verb}" in done.stdout
        assert done.stdout.count("\n") < 55


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["bino1000", "mono250", "mono500", "mono1000", "mono2000", "monoRemote500"])
def test_fixations_are_about_as_many_as_the_tracker_s_own_parser_found(real_data, name):
    path = real_data / "recordings" / f"{name}.asc.gz"
    ours = sum(len(trial.scanpath) for trial in fixations(path).trials)
    events = [event for block in read_asc(path) for event in block.events if event.kind == "fixation"]
    theirs = len(events) / len({event.eye for event in events})
    assert ours == pytest.approx(theirs, abs=max(1, 0.05 * theirs))


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore:.*how large the screen is")
def test_every_real_recording_becomes_scanpaths(real_data):
    files = sorted((real_data / "recordings").iterdir())
    assert len(files) == 13
    anything = QualityThresholds(max_missing_share=None, max_out_of_frame_share=None, max_impossible_speed_count=None)
    for file in files:
        # The only trial of this excerpt lies within a blink, so take the whole block.
        start = "!MODE" if file.name == "eyelink_binocular_example.asc" else None
        found = fixations(file, reading=ReadingOptions(start), settings=CleaningSettings(thresholds=anything))
        assert found.trials
        assert found.report.total >= len(found.trials) == found.report.kept
        assert all(len(trial.scanpath) >= 1 for trial in found.trials)


def written_bids(tmp_path: Path, *words: str) -> str:
    """All text of a BIDS data set that is made of a recording with a viewer's name in file and messages."""
    blocks = [made_block(1000, "cat.png"), made_block(9000, "dog.png")]
    spoken = replace(blocks[0], messages=(*blocks[0].messages, Message(1010, "operator: jane is tired")))
    write_asc(tmp_path / "jane_doe.asc", [spoken, blocks[1]])
    assert run("fixations", tmp_path / "jane_doe.asc", "--out", tmp_path / "gaze", "--quiet", *words) == 0
    found = sorted(path for path in (tmp_path / "gaze" / "bids").rglob("*") if path.is_file())
    texts = [gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in found]
    return "\n".join([*map(str, found), *(text.decode() for text in texts)]).replace(str(tmp_path), "")


def test_recordings_become_bids_without_names_and_messages(tmp_path):
    text = written_bids(tmp_path, "--bids", "53x30x65")
    assert "cat.png" in text
    assert "jane" not in text
    assert "TRIALID" not in text


def test_only_messages_that_match_are_published(tmp_path):
    text = written_bids(tmp_path, "--bids", "53x30x65", "--messages", "^TRIALID")
    assert "TRIALID cat.png" in text
    assert "jane" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--messages", "TRIALID"), "--messages goes with --bids"),
        (("--bids", "53x30"), "--bids must be WIDTHxHEIGHTxDISTANCE in cm"),
        (("--bids", "53x30x0"), "must be a positive number of metres"),
        (("--bids", "53x30x65", "--messages", "("), "is no regular expression"),
    ],
)
def test_bids_that_cannot_be_written_is_refused(tmp_path, capsys, words, message):
    write_asc(tmp_path / "a.asc", [made_block(1000, "cat.png")])
    assert run("fixations", tmp_path / "a.asc", "--out", tmp_path / "gaze", *QUIET, *words) == 2
    assert message in capsys.readouterr().err
