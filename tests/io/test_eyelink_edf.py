"""EyeLink EDF: the real files against eyelinkio's own reading, and through ASC and back; refusals."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from stdiffeye.errors import InputError
from stdiffeye.io.edf_library import read_blocks
from stdiffeye.io.eyelink_asc import read_asc
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.eyelink_edf import read_edf

REAL = [("eyelinkio_1000hz.edf", 2, 1000, (1920, 1080)), ("refixation_500hz.edf", 1, 500, (1280, 1024))]


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "blocks", "rate", "size"), REAL, ids=[row[0] for row in REAL])
def test_real_files_hold_what_eyelinkio_reads_but_on_the_tracker_s_clock(real_data, name, blocks, rate, size, capfd):
    eyelinkio = pytest.importorskip("eyelinkio")
    path = real_data / "recordings" / name
    recordings = read_edf(path)
    assert capfd.readouterr() == ("", "")
    theirs = eyelinkio.read_edf(path)
    assert len(recordings) == blocks
    assert {(r.frame.width_px, r.frame.height_px) for r in recordings} == {size}
    assert all(30 < r.frame.px_per_degree < 50 and r.rate_hz == rate for r in recordings)
    places = np.concatenate([r.left_px for r in recordings]).T
    np.testing.assert_allclose(places, theirs["samples"][:2], atol=1e-4)
    events = [event for r in recordings for event in r.events]
    for kind, key in (("fixation", "fixations"), ("saccade", "saccades"), ("blink", "blinks")):
        assert sum(event.kind == kind for event in events) == len(theirs["discrete"][key])
    texts = [message.text for r in recordings for message in r.messages]
    assert sorted(texts) == sorted(row["msg"].decode().strip() for row in theirs["discrete"]["messages"])


@pytest.mark.real_data
def test_the_pause_between_blocks_is_kept(real_data):
    pytest.importorskip("eyelinkio")
    first, second = read_edf(real_data / "recordings" / "eyelinkio_1000hz.edf")
    assert second.time_ms[0] - first.time_ms[-1] == 48_347
    assert all(np.diff(block.time_ms).max() == 1 for block in (first, second))


@pytest.mark.real_data
@pytest.mark.parametrize("name", [row[0] for row in REAL])
def test_samples_events_and_rates_are_the_same_after_a_way_through_asc(real_data, name, tmp_path):
    pytest.importorskip("eyelinkio")
    recordings = read_edf(real_data / "recordings" / name)
    write_asc(tmp_path / "same.asc", recordings)
    for edf, asc in zip(recordings, read_asc(tmp_path / "same.asc"), strict=True):
        np.testing.assert_array_equal(asc.time_ms, edf.time_ms)
        np.testing.assert_array_equal(asc.left_px, edf.left_px)
        np.testing.assert_array_equal(asc.left_pupil, edf.left_pupil)
        assert (asc.rate_hz, asc.events) == (edf.rate_hz, edf.events)
        assert asc.frame.px_per_degree == pytest.approx(edf.frame.px_per_degree, abs=0.01)


@pytest.mark.real_data
def test_the_tracker_s_own_fixations_lie_where_the_samples_are(real_data):
    pytest.importorskip("eyelinkio")
    (recording,) = read_edf(real_data / "recordings" / "refixation_500hz.edf")
    for event in [event for event in recording.events if event.kind == "fixation"]:
        part = recording.within(event.start_ms, event.start_ms + event.duration_ms)
        np.testing.assert_allclose(np.nanmean(part.left_px, axis=0), event.xy_px, atol=0.2)


@pytest.mark.real_data
def test_a_file_that_is_cut_short_is_refused(real_data, tmp_path, capfd):
    pytest.importorskip("eyelinkio")
    data = (real_data / "recordings" / "eyelinkio_1000hz.edf").read_bytes()
    (tmp_path / "cut.edf").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"cut\.edf cannot be read as an EyeLink EDF .*cut short"):
        read_edf(tmp_path / "cut.edf")
    assert capfd.readouterr() == ("", "")


def test_something_else_named_edf_is_refused(tmp_path):
    (tmp_path / "a.edf").write_bytes(b"0       X X X X")
    with pytest.raises(InputError, match="is not an EyeLink EDF file: it does not begin with SR_RESEARCH"):
        read_edf(tmp_path / "a.edf")
    with pytest.raises(InputError, match=r"none\.edf does not exist"):
        read_edf(tmp_path / "none.edf")


def test_garbage_with_the_right_beginning_is_refused(tmp_path):
    pytest.importorskip("eyelinkio")
    (tmp_path / "a.edf").write_bytes(b"SR_RESEARCH" + bytes(range(256)) * 20)
    with pytest.raises(InputError, match="cannot be read as an EyeLink EDF"):
        read_edf(tmp_path / "a.edf")


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    (tmp_path / "a.edf").write_bytes(b"SR_RESEARCH_1000FILE")
    real_import = builtins.__import__

    def without_eyelinkio(name, *args, **kwargs):
        if name.startswith("eyelinkio"):
            raise ModuleNotFoundError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_eyelinkio)
    with pytest.raises(InputError, match=r"needs the extra `edf`: pip install 'stdiffeye\[edf\]'"):
        read_blocks(tmp_path / "a.edf")
