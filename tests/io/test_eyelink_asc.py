"""EyeLink ASC: made files of every layout, real ones, two oracles, and what is wrong with broken ones."""

from __future__ import annotations

import contextlib
import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.gaze.recording import Event, Message, Recording
from stdiffeye.io.eyelink_asc import read_asc
from stdiffeye.io.eyelink_asc_write import write_asc

sys.path.insert(0, str(Path(__file__).parent))
from asc_files import HEADER, block, mono, plain_samples, write

REAL = [
    ("bino1000.asc.gz", 4, 1000, ("left", "right"), (1024, 768)),
    ("eyelink_binocular_example.asc", 1, 1000, ("left", "right"), (1920, 1080)),
    ("eyelink_monocular_2khz_example.asc", 1, 2000, ("left",), (1280, 1024)),
    ("eyelink_monocular_example.asc", 1, 1000, ("left",), (1280, 1024)),
    ("eyelink_monocular_no_dummy_example.asc", 1, 500, ("left",), (1920, 1080)),
    ("mono1000.asc.gz", 4, 1000, ("right",), (1024, 768)),
    ("mono2000.asc.gz", 4, 2000, ("right",), (1024, 768)),
    ("mono250.asc.gz", 4, 250, ("left",), (1024, 768)),
    ("mono500.asc.gz", 4, 500, ("left",), (1024, 768)),
    ("monoRemote500.asc.gz", 4, 500, ("left",), (1024, 768)),
]


def values_of(recordings: list[Recording]) -> np.ndarray:
    parts = []
    for one in recordings:
        columns = [c for eye in one.eyes for c in (getattr(one, f"{eye}_px"), getattr(one, f"{eye}_pupil")[:, None])]
        parts.append(np.concatenate(columns, axis=1))
    return np.concatenate(parts)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "blocks", "rate", "eyes", "size"), REAL, ids=[row[0] for row in REAL])
def test_real_files_are_read_as_the_plain_reader_reads_them(real_data, name, blocks, rate, eyes, size):
    path = real_data / "recordings" / name
    recordings = read_asc(path)
    time, values = plain_samples(path, len(eyes))
    assert len(recordings) == blocks
    assert {r.rate_hz for r in recordings} == {rate}
    assert {r.eyes for r in recordings} == {eyes}
    assert {(r.frame.width_px, r.frame.height_px) for r in recordings} == {size}
    np.testing.assert_array_equal(values_of(recordings), values)
    half_ms = 0.5 if rate == 2000 else 0
    np.testing.assert_allclose(np.concatenate([r.time_ms for r in recordings]), time, atol=half_ms, rtol=0)


@pytest.mark.real_data
# pymovements does not understand the HTARGET of remote files.
@pytest.mark.parametrize("name", [row[0] for row in REAL if "Remote" not in row[0]])
def test_real_files_give_the_samples_that_pymovements_gives(real_data, name):
    import io

    from pymovements.gaze import from_asc

    path = real_data / "recordings" / name
    data = path.read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8", errors="replace")
    frame = from_asc(io.StringIO(text)).samples
    recordings = read_asc(path)
    ours = np.concatenate([r.time_ms for r in recordings])
    theirs = frame["time"].to_numpy()
    # pymovements keeps what lies outside START … END, and every whole ms twice at 2000 Hz.
    inside = np.isin(np.floor(theirs), np.floor(ours))
    np.testing.assert_array_equal(np.floor(ours), np.floor(theirs[inside]))
    pixels = np.array(frame["pixel"].to_list(), dtype=float)[inside]
    expected = np.concatenate([np.concatenate([getattr(r, f"{e}_px") for e in r.eyes], axis=1) for r in recordings])
    np.testing.assert_array_equal(expected, pixels)


@pytest.mark.real_data
def test_events_and_messages_of_a_real_file_are_all_there(real_data):
    recordings = read_asc(real_data / "recordings" / "monoRemote500.asc.gz")
    kinds = [event.kind for recording in recordings for event in recording.events]
    assert (kinds.count("fixation"), kinds.count("saccade"), kinds.count("blink")) == (300, 296, 3)
    assert sum(len(recording.messages) for recording in recordings) == 126
    assert recordings[0].events[0] == Event("fixation", "left", 12134104, 254, (140.8, 147.7))
    assert recordings[0].frame.px_per_degree == pytest.approx(36.25, abs=0.1)


def test_lost_samples_remote_columns_and_windows_line_ends_are_understood(tmp_path):
    remote = "... \t 5069.0\t 3637.0\t  577.5 ............."
    rows = [f"2000\t  138.7\t  145.7\t  278.0\t{remote}", "2002\t   .\t   .\t    0.0\t..."]
    text = (HEADER + block(2000, 500, rows, extra="\tHTARGET")).replace("\n", "\r\n")
    (recording,) = read_asc(write(tmp_path / "remote.asc.gz", text))
    np.testing.assert_array_equal(recording.left_px, [[138.7, 145.7], [np.nan, np.nan]])
    np.testing.assert_array_equal(recording.left_pupil, [278, 0])
    assert recording.rate_hz == 500
    assert recording.missing_share() == 0.5


def test_each_block_has_its_own_rate_and_its_own_recording(tmp_path):
    text = HEADER + block(2000, 1000, mono(2000, 50)) + block(9000, 250, mono(9000, 50, 4))
    first, second = read_asc(write(tmp_path / "mixed.asc", text))
    assert (first.rate_hz, second.rate_hz) == (1000, 250)
    assert (first.name, second.name, first.subject) == ("mixed block 1", "mixed block 2", "mixed")


def test_the_second_sample_of_a_repeated_millisecond_is_half_a_millisecond_later(tmp_path):
    rows = [f"{2000 + i // 2}\t  500.0\t  300.0\t 900.0\t..." for i in range(10)]
    (recording,) = read_asc(write(tmp_path / "fast.asc", HEADER + block(2000, 2000, rows)))
    np.testing.assert_array_equal(recording.time_ms, 2000 + np.arange(10) / 2)


@pytest.mark.parametrize(
    ("coords", "size"), [("0 0 1023 767", (1024, 768)), ("0.00 0.00 1920.00 1080.00", (1920, 1080))]
)
def test_a_screen_may_be_given_by_its_last_pixel_or_by_its_size(tmp_path, coords, size):
    text = HEADER.replace("0 0 1023 767", coords) + block(2000, 1000, mono(2000, 5))
    (recording,) = read_asc(write(tmp_path / "a.asc", text))
    assert (recording.frame.width_px, recording.frame.height_px) == size


def test_a_recording_that_was_broken_off_without_end_is_kept(tmp_path):
    text = HEADER + block(2000, 1000, mono(2000, 20))
    (recording,) = read_asc(write(tmp_path / "a.asc", text[: text.index("END\t")]))
    assert len(recording) == 20


def test_messages_in_latin_1_are_read(tmp_path):
    path = tmp_path / "a.asc"
    text = HEADER + "MSG\t1999 Stra\xdfe\n" + block(2000, 1000, mono(2000, 5))
    path.write_bytes(text.encode("latin-1"))
    assert read_asc(path)[0].messages[-1] == Message(1999, "Straße")


def test_what_is_written_is_read_back(tmp_path):
    rng = np.random.default_rng(1)
    time = 5000.0 + np.arange(300)
    left, right = np.round(rng.uniform(0, 700, (2, 300, 2)), 1)
    left[50:60] = np.nan
    events = (Event("blink", "left", 5050, 10), Event("fixation", "right", 5100, 80, (10.5, 20.5)))
    events += (Event("saccade", "right", 5200, 30, (1.0, 2.0), (3.0, 4.5)),)
    messages = (Message(4990, "TRIALID a.jpg"), Message(5003, "SYNCTIME"), Message(5400, "TRIAL_RESULT 0"))
    recording = Recording(time, 1000, Frame(1024, 768, 35), left, right, events=events, messages=messages)
    write_asc(tmp_path / "both.asc.gz", [recording])
    (back,) = read_asc(tmp_path / "both.asc.gz")
    np.testing.assert_array_equal(back.left_px, left)
    np.testing.assert_array_equal(back.right_px, right)
    assert back.events == events
    assert [m for m in back.messages if "COORDS" not in m.text] == list(messages)
    assert back.frame == recording.frame


def short(*more: str) -> str:
    return block(2000, 1000, [*mono(2000, 3), *more])


GOOD = HEADER + short()
BROKEN: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty, expected a recording"),
    "no samples": (HEADER + "EFIX L 1 2 3\n", "holds no samples: either it is not an EyeLink ASC file"),
    "binary": (b"\x00\x01\x02garbage" * 9, "is binary, not an EyeLink ASC file"),
    "another kind": ("name,age\nAnn,3\n", "holds no samples: either it is not"),
    "an EDF": ("SR_RESEARCH_1000FILE", "is an EyeLink EDF file, not an EyeLink ASC file: give it the suffix .edf"),
    "truncated gz": (gzip.compress(GOOD.encode())[:-30], "is cut short: the gzip stream ends too early"),
    "damaged gz": (b"\x1f\x8b\x08\x00" + b"x" * 40, "is damaged"),
    "a bad line": (HEADER + short("2003\t  5x.0\t 3"), "line 20 should be a time and 3 numbers, got '2003"),
    "cut in a line": (GOOD.split("300.2")[0], "the file is damaged or cut short"),
    "backwards": (HEADER + short(*mono(1990, 1)), "line 20: time runs backwards, 1990 after 2002 ms"),
    "no screen": (short(), "does not say how large the screen is (no DISPLAY_COORDS message): give --screen"),
    "zero screen": (GOOD.replace("1023 767", "0 0"), "says that the screen measures 0 × 0 px"),
    "head coordinates": (GOOD.replace("GAZE", "HREF"), "gaze is not in screen px but in ['HREF']"),
    "bad event": (HEADER + short("EFIX X 1 2 3"), "the eye must be L or R, got 'X'"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_files_are_refused_with_one_clear_line(tmp_path, what):
    data, message = BROKEN[what]
    path = tmp_path / "broken.asc"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(InputError) as caught:
        read_asc(path)
    assert message in str(caught.value)
    assert "broken.asc" in str(caught.value)
    assert "\n" not in str(caught.value)


LINES = st.one_of(
    st.sampled_from(
        [
            "START\t100 \tLEFT\tRIGHT\tSAMPLES\tEVENTS",
            "START 100 LEFT",
            "SAMPLES\tGAZE\tLEFT\tRATE\t1000.00",
            "SAMPLES GAZE LEFT RIGHT RATE",
            "SAMPLES GAZE RIGHT RATE 500",
            "END\t110 \tSAMPLES\tEVENTS\tRES\t 35.1\t .",
            "END",
            "MSG",
            "MSG 12",
            "MSG\t1 DISPLAY_COORDS 0 0 1023 767",
            "MSG\t1 GAZE_COORDS nan 0 inf 3",
            "MSG\t1 !MODE RECORD CR 1000 2 1 L",
            "EFIX L 1 2",
            "EFIX L 1 2 3 . .",
            "ESACC R 1 2 3 1e5 2 3 4 5 6",
            "101\t 1.0\t 2.0\t 3.0\t...",
            "102\t .\t .\t 0.0\t...",
            "103 1e400 1 1",
            "104 1 2 3 4 5 6 .....",
        ]
    ),
    st.builds(lambda t, v: f"{t}\t{v}\t{v}\t1.0\t...", st.integers(0, 10**6), st.floats(allow_nan=False)),
    st.text(max_size=30),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=30), st.booleans())
def test_no_text_whatever_makes_the_reader_fail_otherwise_than_by_input_error(tmp_path_factory, lines, headed):
    path = tmp_path_factory.getbasetemp() / "fuzz.asc"
    path.write_bytes((HEADER * headed + "\n".join(lines)).encode("utf-8", errors="surrogatepass"))
    with contextlib.suppress(InputError):
        assert all(len(recording) > 0 for recording in read_asc(path))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_whatever_make_the_reader_fail_otherwise_than_by_input_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "fuzz.asc"
    path.write_bytes(HEADER.encode() + block(2000, 1000, mono(2000, 3)).encode()[:-20] + data)
    with contextlib.suppress(InputError):
        assert read_asc(path)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=20), st.integers(0, 8))
def test_numbers_of_up_to_fourteen_digits_are_read_exactly(tmp_path_factory, places, decimals):
    rows = [f"{2000 + i}\t {x:.{decimals}f}\t {y:.{decimals}f}\t 1.0\t..." for i, (x, y) in enumerate(places)]
    path = write(tmp_path_factory.getbasetemp() / "numbers.asc", HEADER + block(2000, 1000, rows))
    expected = [[float(f"{x:.{decimals}f}"), float(f"{y:.{decimals}f}")] for x, y in places]
    np.testing.assert_array_equal(read_asc(path)[0].left_px, expected)
