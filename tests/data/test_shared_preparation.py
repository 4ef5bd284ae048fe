"""A data set prepared in shards or on a cluster is the store of one program, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stdiffeye.cli import main
from stdiffeye.data import preparation
from stdiffeye.data.preparation import prepare
from stdiffeye.data.shared_preparation import join_preparation, prepare_shard
from stdiffeye.errors import InputError
from stdiffeye.work_shards import Shard

TRIALS = 11


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A description and a folder with one file of scanpaths, in blocks of two trials."""
    monkeypatch.setattr(preparation, "TRIALS_PER_SHARD", 2)
    rng = np.random.default_rng(0)
    rows = [
        {
            "name": f"{number // 2}.jpg",
            "subject": number,
            "task": "",
            "width": 512,
            "height": 384,
            **{key: rng.uniform(100, 300, 6).tolist() for key in ("X", "Y", "T")},
        }
        for number in range(TRIALS)
    ]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "scanpaths.json").write_text(json.dumps(rows))
    description = {
        "name": "made",
        "title": "Made",
        "reader": "scanpath_rows",
        "citation": "made",
        "licence": "made",
        "files": [{"path": "scanpaths.json", "what": "all trials"}],
        "split": {"rule": "by-picture", "validation_share": 0.1, "test_share": 0.1},
    }
    (tmp_path / "made.yaml").write_text(json.dumps(description))
    return tmp_path / "made.yaml", tmp_path / "set"


def contents(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.iterdir()}


def test_shards_in_any_order_are_the_whole(made, tmp_path):
    whole = contents(prepare(*made, tmp_path / "whole", quiet=True).path)
    for number in (3, 1):
        prepare_shard(Shard(number, 3), *made, tmp_path / "shared", quiet=True)
    with pytest.raises(InputError, match=r"2 of 6 blocks of trials are not there yet"):
        join_preparation(tmp_path / "shared")
    prepare_shard(Shard(2, 3), *made, tmp_path / "shared", quiet=True)
    store = join_preparation(tmp_path / "shared")
    assert len(store) == TRIALS
    assert contents(store.path) == whole
    assert not (tmp_path / "shared.partial").exists()


def test_more_shards_than_work_do_no_harm(made, tmp_path):
    for number in range(1, 10):
        prepare_shard(Shard(number, 9), *made, tmp_path / "shared", quiet=True)
    assert len(join_preparation(tmp_path / "shared")) == TRIALS


def test_the_command_says_what_is_next(made, tmp_path, capsys):
    words = ["prepare", *map(str, made), "--out", str(tmp_path / "shared"), "--quiet"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--shard", "1/1"])
    assert ended.value.code == 0
    assert f"Shard 1/1 is done; when all are: stdiffeye join {tmp_path / 'shared'}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["join", str(tmp_path / "shared")])
    assert ended.value.code == 0
    with pytest.raises(InputError, match=r"is there already: choose another --out"):
        prepare_shard(Shard(1, 1), *made, tmp_path / "shared", quiet=True)


def test_shards_of_another_plan_are_not_mixed(made, tmp_path):
    prepare_shard(Shard(1, 2), *made, tmp_path / "shared", quiet=True)
    (made[1] / "scanpaths.json").write_text((made[1] / "scanpaths.json").read_text() + " ")
    with pytest.raises(InputError, match=r"was begun otherwise: give the same options, or remove it"):
        prepare_shard(Shard(2, 2), *made, tmp_path / "shared", quiet=True)
    with pytest.raises(InputError, match=r"has no shards to join"):
        join_preparation(tmp_path / "nothing")


def test_a_cluster_makes_the_store_of_one_program(made, tmp_path):
    pytest.importorskip("distributed")
    whole = contents(prepare(*made, tmp_path / "whole", quiet=True).path)
    assert contents(prepare(*made, tmp_path / "shared", quiet=True, cluster="local:2").path) == whole
