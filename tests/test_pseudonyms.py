"""No name of a viewer reaches a file unless somebody asks for it."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from stdiffeye import fixations, pseudonyms
from stdiffeye.cli import main
from stdiffeye.data.preparation import prepare
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame
from stdiffeye.gaze.recording import Message, Recording
from stdiffeye.io.bids_write import Screen, write_bids
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.trial_files import ReadingOptions
from stdiffeye.pseudonyms import FOLDER_VARIABLE, FORM, VIEWERS, pseudonym

SIZE = Screen(0.6, 0.5, 0.3)
NAME = "janedoe1987"


def recording(subject: str = "", name: str = "") -> Recording:
    """Two fixations of half a second each, with a message that an experimenter typed."""
    time_ms = np.arange(1000.0, 2000.0, 2.0)
    share = np.clip((time_ms - 1480) / 40, 0, 1)[:, None]  # the saccade takes 40 ms
    places = (1 - share) * [300.0, 300.0] + share * [500.0, 400.0]
    xy_px = places + np.random.default_rng(0).normal(0, 0.3, places.shape)
    said = (Message(1000.0, "TRIALID a.png"), Message(1100.0, f"{NAME} is tired"), Message(1999.0, "TRIAL_RESULT 0"))
    return Recording(time_ms, 500, Frame(1024, 768, 35.0), right_px=xy_px, subject=subject, name=name, messages=said)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "study").mkdir()
    write_asc(tmp_path / "study" / f"{NAME}.asc", [recording()])
    return tmp_path / "study"


def contents(folder: Path) -> bytes:
    """All names and bytes of a folder, unpacked."""
    found = b""
    for path in sorted(folder.rglob("*")):
        found += path.relative_to(folder).as_posix().encode()
        if path.is_file():
            data = path.read_bytes()
            found += gzip.decompress(data) if path.suffix == ".gz" else data
    return found


def test_a_pseudonym_is_the_same_every_time_and_another_with_another_key(tmp_path, monkeypatch):
    first = pseudonym("ann")
    assert re.fullmatch(r"v[a-z2-7]{8}", first)
    assert pseudonym("ann") == first != pseudonym("bob")
    assert pseudonym(first) == first
    assert pseudonym("") == ""
    monkeypatch.setenv("STDIFFEYE_KEYS", str(tmp_path / "other"))
    assert pseudonym("ann") != first


def test_the_key_and_who_is_who_stay_with_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("STDIFFEYE_KEYS", str(tmp_path / "keys"))
    hidden = pseudonym("ann")
    assert (tmp_path / "keys" / "viewers" / hidden).read_text() == "ann"
    files = [tmp_path / "keys" / "pseudonyms.key", tmp_path / "keys" / "viewers" / hidden]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    (tmp_path / "keys" / "pseudonyms.key").write_bytes(b"short")
    pseudonyms._read_key.cache_clear()
    with pytest.raises(InputError, match=r"pseudonyms.key has 5 bytes, a key for pseudonyms has 32"):
        pseudonym("bob")


def test_fixations_write_no_name_unless_asked(folder, tmp_path):
    for out, words in (("out", ()), ("named", ("--keep-ids",))):
        with pytest.raises(SystemExit) as ended:
            main(["fixations", str(folder), "--out", str(tmp_path / out), "--quiet", "--trajectories", *words])
        assert not ended.value.code
    assert NAME.encode() not in contents(tmp_path / "out")
    assert pseudonym(NAME).encode() in contents(tmp_path / "out")
    assert NAME.encode() in contents(tmp_path / "named")


def test_the_same_viewer_has_one_pseudonym_in_every_verb(folder, tmp_path):
    (trial,) = fixations(folder).trials
    (stored,) = prepare(folder, out=tmp_path / "store", quiet=True).trials()
    assert trial.subject == stored.subject == pseudonym(NAME)
    (named,) = fixations(folder, reading=ReadingOptions(keep_ids=True)).trials
    assert named.subject == NAME


def test_a_store_holds_no_name_and_no_absolute_path(folder, tmp_path):
    from PIL import Image

    (tmp_path / "stimuli").mkdir()
    Image.new("RGB", (1024, 768)).save(tmp_path / "stimuli" / "a.png")
    store = prepare(folder, out=tmp_path / "stores" / "mine", pictures=tmp_path / "stimuli", quiet=True)
    assert [path.is_file() for path in store.pictures.values()] == [True]
    written = contents(store.path)
    assert NAME.encode() not in written
    assert str(tmp_path).encode() not in written


def test_bids_holds_neither_names_nor_messages_unless_asked(tmp_path):
    plain = contents(write_bids(tmp_path / "plain", [recording(NAME, NAME)], SIZE))
    assert NAME.encode() not in plain
    assert b"TRIALID" not in plain
    assert b"source_name" not in plain
    asked = contents(write_bids(tmp_path / "asked", [recording(NAME)], SIZE, messages="^TRIAL"))
    assert b"TRIALID a.png" in asked
    assert b"tired" not in asked
    named = contents(write_bids(tmp_path / "named", [recording(NAME)], SIZE, keep_ids=True))
    assert f"sub-{NAME}\t{NAME}".encode() in named


def test_a_file_name_that_is_no_utf8_has_a_pseudonym(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    found = pseudonym("caf\udce9")
    assert FORM.fullmatch(found)
    assert (tmp_path / VIEWERS / found).read_bytes() == b"caf\xe9"
