"""The doctor finds what is broken, names what is absent, and says what to do."""

from __future__ import annotations

import json

import pytest

from stdiffeye.cli import doctor, main

PLAIN = ("_picture_encoder", "_kernels", "_models")  # the checks that take a second each


@pytest.fixture
def quick(monkeypatch):
    """Leave the slow checks to the one test that wants them."""
    for name in PLAIN:
        monkeypatch.setattr(doctor, name, lambda name=name: doctor.Check(name, "ok", "not looked at"))


def examine(capsys, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", *words])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_this_installation_is_well_and_every_essential_thing_was_tried(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("STDIFFEYE_CACHE", str(tmp_path / "cache"))
    code, out = examine(capsys, "--json")
    account = json.loads(out)
    states = {check["name"]: check["state"] for check in account["checks"]}
    assert code == 0
    assert account["well"]
    for name in ("python", "packages", "torch", "picture encoder", "words", "cache"):
        assert states[name] == "ok"
    assert states["compiled kernels"] in ("ok", "poor")
    assert not (tmp_path / "cache").exists(), "looking must not make folders"


def test_a_missing_extra_is_told_with_its_purpose_and_is_no_fault(quick, capsys, monkeypatch):
    monkeypatch.setitem(doctor.EXTRAS, "edf", (("no_such_module",), "EyeLink .edf files"))
    code, out = examine(capsys)
    assert code == 0
    line = next(line for line in out.splitlines() if "extra edf" in line)
    assert line.startswith("absent")
    assert "EyeLink .edf files" in line
    assert "pip install 'stdiffeye[edf]'" in line
    assert out.splitlines()[-1].startswith("All that is essential works")


def test_every_extra_of_the_package_that_a_user_may_want_is_looked_at():
    from importlib.metadata import metadata

    provided = set(metadata("stdiffeye").get_all("Provides-Extra") or [])
    assert provided - {"dev", "docs"} == set(doctor.EXTRAS)


def test_a_missing_essential_package_is_a_fault(quick, capsys, monkeypatch):
    monkeypatch.setitem(doctor.ESSENTIAL, "no_such_module", "nosuch")
    code, out = examine(capsys)
    assert code == 1
    assert "broken  packages" in out
    assert "missing: nosuch" in out
    assert out.splitlines()[-1] == "broken: packages"


def test_a_cache_that_cannot_be_written_is_a_fault_with_a_way_out(quick, capsys, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    monkeypatch.setenv("STDIFFEYE_CACHE", str(blocked / "cache"))
    code, out = examine(capsys)
    assert code == 1
    assert "cannot be written" in out
    assert "set STDIFFEYE_CACHE" in out


def test_damage_of_any_kind_becomes_a_line_not_a_traceback(quick, capsys, monkeypatch):
    def damaged():
        raise RuntimeError("weights are\ncut short")

    monkeypatch.setattr(doctor, "_picture_encoder", damaged)
    code, out = examine(capsys)
    assert code == 1
    assert "broken  picture encoder" in out
    assert "RuntimeError: weights are cut short" in out


def test_an_old_python_is_a_fault(monkeypatch):
    monkeypatch.setattr(doctor, "MIN_PYTHON", (99, 0))
    assert doctor._python().state == "broken"
    assert "99.0 or newer" in doctor._python().advice
