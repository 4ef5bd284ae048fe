"""Tables of gaze: any CSV or TSV, and Tobii's exports."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.io.recordings import read_recording
from stdiffeye.io.table import Columns, read_table
from stdiffeye.io.tobii import read_tobii

SCREEN = Frame(1000, 800)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("separator", "decimal", "scale"),
    [(",", ".", 1), ("\t", ",", 1), (";", ",", 0.001), ("|", ".", 1000), (" ", ".", 1)],
    ids=["comma", "tab and decimal commas", "semicolon and seconds", "bar and microseconds", "blank"],
)
def test_delimiter_decimal_sign_and_unit_of_time_are_told(tmp_path, separator, decimal, scale):
    rows = [[f"{i * 4 * scale:.6f}", f"{100 + i}.5", f"{200 - i}.25"] for i in range(20)]
    text = "\n".join(separator.join(cell.replace(".", decimal) for cell in row) for row in rows)
    path = write(tmp_path / "a.csv", f"# a comment\n{separator.join(('Time', 'X', 'Y'))}\n{text}\n")
    (recording,) = read_table(path, frame=SCREEN)
    assert recording.rate_hz == 250
    np.testing.assert_allclose(recording.time_ms, np.arange(20) * 4)
    np.testing.assert_allclose(recording.left_px[:2], [[100.5, 200.25], [101.5, 199.25]])


def test_both_eyes_lost_values_trials_and_viewers_are_mapped(tmp_path):
    rows = ["t,lx,ly,rx,ry,img,who", "0,1,2,3,4,a,ann", "2,-1,-1,5,6,a,ann", "0,7,8,,NaN,b,ann", "2,7,8,9,9,b,ann"]
    text = "\n".join([*rows, "4,1,1,1,1,b,bob", "6,1,1,1,1,b,bob"])
    columns = Columns.parse("time=t,left_x=lx,left_y=ly,right_x=rx,right_y=ry,trial=img,subject=who,unit=ms,lost=-1")
    first, second, third = read_table(write(tmp_path / "a.csv", text), columns, SCREEN)
    assert [(r.name, r.subject, len(r)) for r in (first, second, third)] == [
        ("a", "ann", 2),
        ("b", "ann", 2),
        ("b", "bob", 2),
    ]
    np.testing.assert_array_equal(first.left_px, [[1, 2], [np.nan, np.nan]])
    np.testing.assert_array_equal(second.right_px, [[np.nan, np.nan], [9, 9]])
    assert first.rate_hz == 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("time,x,y\n", "holds no samples: a table needs a header line and rows below it"),
        ("a,b,c\n1,2,3\n", "cannot tell which columns hold time, x and y among 'a', 'b', 'c': say it with --columns"),
        ("time,x,y\n1,2,3\n2,2\n", "row 3 has 2 cells, the header 3"),
        ("time,x,y\n1,2,3\n2,two,3\n", "column 'x': could not convert string to float: 'two'"),
        ("time,x,y\n5,2,3\n4,2,3\n", "row 3 of 'a': time runs backwards, 4 after 5 ms; does the file hold several"),
        ("time,x,y\n5,2,3\n,2,3\n", "row 3 of 'a' has no time"),
        ("time,x,y\n5,2,3\n", "'a' has a single sample"),
        ("word\nword\n", "is not a table: its first line, 'word', holds no tab, comma or semicolon"),
    ],
)
def test_broken_tables_are_refused_with_one_clear_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read_recording(write(tmp_path / "a.csv", text), frame=SCREEN)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_without_screen_or_with_a_wrong_mapping_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "time,x,y\n0,2,3\n2,2,3\n")
    with pytest.raises(InputError, match="does not say how large the screen is: give --screen WIDTHxHEIGHT"):
        read_table(path)
    with pytest.raises(InputError, match="has no column 'gx'; it has 'time', 'x', 'y'"):
        read_table(path, Columns("time", "gx", "y"), SCREEN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=a,y=b", "names no time column"),
        ("time=t,x=a", "columns need both x and y"),
        ("time=t", "columns need x and y, or left_x and left_y"),
        ("time=t,x=a,y=b,unit=h", "the unit of time must be one of ms, s, us, ns, got 'h'"),
        ("time=t,z=a", "'z=a' is not KEY=COLUMN"),
        ("time=t,x=a,y=b,lost=no", "lost must be a number, got 'no'"),
    ],
)
def test_a_mapping_that_cannot_work_says_why(text, message):
    with pytest.raises(InputError, match=message):
        Columns.parse(text)


def test_tobii_studio_export_with_validity_codes_and_two_stimuli(tmp_path):
    head = (
        "ParticipantName\tRecordingResolution\tMediaName\tRecordingTimestamp\tGazePointLeftX (ADCSpx)\t"
        "GazePointLeftY (ADCSpx)\tGazePointRightX (ADCSpx)\tGazePointRightY (ADCSpx)\tValidityLeft\tValidityRight"
    )
    rows = [
        f"P1\t1280 x 1024\t{'a.png' if i < 5 else 'b.png'}\t{i * 10}\t{i}\t{i},5\t9\t9\t{0 if i != 2 else 2}\t{i % 2}"
        for i in range(10)
    ]
    rows.insert(4, "P1\t1280 x 1024\ta.png\t35\t\t\t\t\t\t")
    first, second = read_recording(write(tmp_path / "studio.tsv", "\n".join([head, *rows]) + "\n"))
    assert (first.name, second.name, first.subject, first.rate_hz) == ("a.png", "b.png", "P1", 100)
    assert (first.frame.width_px, first.frame.height_px) == (1280, 1024)
    np.testing.assert_array_equal(first.left_px[:4], [[0, 0.5], [1, 1.5], [np.nan, np.nan], [3, 3.5]])
    assert first.missing_share("right") == 0


def test_tobii_pro_lab_export_with_words_for_validity_and_other_sensors(tmp_path):
    head = (
        "Recording timestamp [μs]\tSensor\tParticipant name\tGaze point left X [DACS px]\tGaze point left Y [DACS px]"
    )
    head += "\tValidity left\tPresented Stimulus name\tRecording resolution width\tRecording resolution height"
    rows = [f"{i * 2000}\tEye Tracker\tP2\t5\t6\t{'Invalid' if i == 1 else 'Valid'}\tdog\t1920\t1080" for i in range(4)]
    rows.insert(2, "2500\tMouse\tP2\t\t\t\tdog\t1920\t1080")
    (recording,) = read_recording(write(tmp_path / "lab.tsv", "\n".join([head, *rows]) + "\n"))
    assert (recording.rate_hz, recording.eyes, len(recording), recording.name) == (500, ("left",), 4, "dog")
    assert recording.missing_share() == 0.25


@pytest.mark.real_data
def test_the_real_tobii_table_is_read(real_data):
    path = real_data / "recordings" / "tobii_tx300_1.tsv"
    with pytest.warns(UserWarning, match="does not say how large the screen is: 1920×1080 px taken"):
        (recording,) = read_recording(path)
    assert (recording.rate_hz, recording.eyes, len(recording)) == (300, ("left", "right"), 651)
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    lost = np.array([int(row[13]) > 1 for row in rows])
    np.testing.assert_array_equal(np.isnan(recording.left_px[:, 0]), lost)
    x = np.array([float(row[7]) for row in rows])
    np.testing.assert_allclose(recording.left_px[~lost, 0], x[~lost] * 1920)
    (other,) = read_tobii(path, Frame(1000, 500))
    assert np.nanmax(other.left_px[:, 0]) == pytest.approx(x.max() * 1000)


def test_a_table_that_is_not_tobii_s_is_refused_by_the_tobii_reader(tmp_path):
    with pytest.raises(InputError, match="is not a Tobii export: no gaze column such as 'GazePointLeftX'"):
        read_tobii(write(tmp_path / "a.tsv", "time\tx\ty\n0\t1\t2\n"))


def test_a_table_in_utf_16_is_read(tmp_path):
    (tmp_path / "a.tsv").write_bytes("time\tx\ty\n0\t1\t2\n2\t3\t4\n".encode("utf-16"))
    (recording,) = read_recording(tmp_path / "a.tsv", frame=SCREEN)
    np.testing.assert_array_equal(recording.left_px, [[1, 2], [3, 4]])


CELLS = st.one_of(st.sampled_from(["", "1", "2.5", "-1", "nan", "1e999", '"', "a b", "4"]), st.text(max_size=4))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=8), st.sampled_from(",\t; "), st.booleans())
def test_no_table_whatever_fails_otherwise_than_by_input_error(tmp_path_factory, rows, separator, headed):
    text = "\n".join(separator.join(row) for row in ([["time", "x", "y"]] if headed else []) + rows)
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with contextlib.suppress(InputError):
        assert all(len(recording) > 0 for recording in read_recording(path, frame=SCREEN))


def test_unknown_kinds_folders_and_missing_files_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no\.asc does not exist"):
        read_recording(tmp_path / "no.asc")
    with pytest.raises(InputError, match="is a folder but not a BIDS data set"):
        read_recording(tmp_path)
    with pytest.raises(InputError, match="is of no kind that is known here: expected an EyeLink"):
        read_recording(write(tmp_path / "a.docx", "x"))
