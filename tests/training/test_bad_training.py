"""What goes wrong in training is said in one sentence, and never costs the last good checkpoint."""

from __future__ import annotations

import errno
import json
import resource
import signal
from pathlib import Path

import pytest
import torch
from blob_gaze import TINY
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from stdiffeye import weight_files
from stdiffeye.cli import main
from stdiffeye.data.clean import CleaningSettings
from stdiffeye.data.preparation import prepare
from stdiffeye.errors import InputError
from stdiffeye.systems.base import Sources
from stdiffeye.systems.coarse_to_fine.trajectory_stage import TrajectoryStage
from stdiffeye.systems.presets import load_preset
from stdiffeye.training.checkpoint import load_weights, save_weights
from stdiffeye.training.run import train, weights_file
from stdiffeye.training.validation import validator

SHORT = (*TINY, "train.trajectory.steps=12", "train.trajectory.checkpoint_every=5")


def fine() -> TrajectoryStage:
    return load_preset("coarse-to-fine", TINY).build()["trajectory"]


def short_run(world, out: Path, *changes: str) -> Path:
    return train("coarse-to-fine", world.stores, out, changes=(*SHORT, *changes), only="trajectory", quiet=True)


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_a_number_that_is_none_stops_training_and_keeps_the_last_good_state(world, tmp_path, monkeypatch, where):
    seen, sound = [], TrajectoryStage.loss

    class Breaks(torch.autograd.Function):
        """Harmless on the way there, no number on the way back."""

        @staticmethod
        def forward(_, x):
            return x.clone()

        @staticmethod
        def backward(_, gradient):
            return gradient * float("nan")

    def breaks(self, batch, random):
        losses = sound(self, batch, random)
        seen.append(None)
        if len(seen) == 9:
            broken = losses["total"] * float("nan") if where == "loss" else Breaks.apply(losses["total"])
            return losses | {"total": broken}
        return losses

    monkeypatch.setattr(TrajectoryStage, "loss", breaks)
    what = "total" if where == "loss" else "gradient"
    expected = (
        rf"training trajectory stopped at step 9: {what} is nan; "
        r"the last good state is .*last\.safetensors\. Try a lower"
    )
    with pytest.raises(InputError, match=expected):
        short_run(world, tmp_path, "train.trajectory.validate_every=1000")
    tensors = load_file(tmp_path / "trajectory" / "last.safetensors")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values())
    monkeypatch.undo()
    train("coarse-to-fine", world.stores, tmp_path, resume=True, only="trajectory", quiet=True)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), SafetensorError("I/O error: No space left on device")]
)
def test_a_full_disk_leaves_the_checkpoint_before_whole(world, tmp_path, monkeypatch, error):
    short_run(world, tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "trajectory").glob("*.safetensors")}

    def full(*_):
        raise error

    monkeypatch.setattr(weight_files, "save_file", full)
    expected = r"last\.safetensors cannot be written \(.*No space left on device; \d+ MB are free"
    with pytest.raises(InputError, match=expected):
        train(
            "coarse-to-fine",
            world.stores,
            tmp_path,
            ["train.trajectory.steps=16"],
            resume=True,
            only="trajectory",
            quiet=True,
        )
    assert {path.name: path.read_bytes() for path in (tmp_path / "trajectory").glob("*.safetensors")} == before
    assert sorted(path.name for path in (tmp_path / "trajectory").iterdir()) == [*sorted(before), "log.jsonl"]


def test_a_file_that_grows_too_large_for_the_disk_is_said_in_words(tmp_path):
    save_weights(tmp_path / "w.safetensors", fine())
    before = (tmp_path / "w.safetensors").read_bytes()
    limits, action = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(InputError, match=r"cannot be written \(.*; \d+ MB are free"):
            save_weights(tmp_path / "w.safetensors", fine())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, action)
    assert [path.name for path in tmp_path.iterdir()] == ["w.safetensors"]
    assert (tmp_path / "w.safetensors").read_bytes() == before


@pytest.mark.parametrize("kept", [0, 5, 100, 0.5, 0.99])
def test_a_truncated_checkpoint_is_damaged(tmp_path, kept):
    path = tmp_path / "w.safetensors"
    save_weights(path, fine())
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    with pytest.raises(InputError, match=r"w\.safetensors is damaged or no file of weights"):
        load_weights(path, fine())


def test_checkpoints_of_another_version_or_kind_are_named(tmp_path):
    path = tmp_path / "w.safetensors"
    save_file({"a": torch.zeros(1)}, path, {"format": "stdiffeye-checkpoint", "version": "0", "about": "{}"})
    expected = (
        r"is of another kind \(stdiffeye-checkpoint 0\), this program reads stdiffeye-checkpoint 1: train it again"
    )
    with pytest.raises(InputError, match=expected):
        load_weights(path, fine())
    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(InputError, match=r"is of another kind \(None None\)"):
        load_weights(path, fine())
    with pytest.raises(InputError, match="there is no checkpoint"):
        load_weights(tmp_path / "none.safetensors", fine())


def test_weights_that_do_not_fit_the_configuration_are_named(world, tmp_path):
    path = tmp_path / "w.safetensors"
    save_weights(path, fine())
    wider = load_preset("coarse-to-fine", (*TINY, "stages.trajectory.denoiser.width=64")).build()["trajectory"]
    with pytest.raises(InputError, match=r"does not fit its configuration: .* has shape \(.*\) instead of \(.*\)"):
        load_weights(path, wider)
    deeper = load_preset("coarse-to-fine", (*TINY, "stages.trajectory.denoiser.depth=2")).build()["trajectory"]
    with pytest.raises(InputError, match=r"it lacks denoiser\.blocks\.1\..*; it was made with another one"):
        load_weights(path, deeper)
    save_weights(path, deeper)
    with pytest.raises(InputError, match=r"it has an unknown denoiser\.blocks\.1\."):
        load_weights(path, fine())
    short_run(world, tmp_path / "run")
    with pytest.raises(InputError, match=r"last\.safetensors does not fit its configuration"):
        train(
            "coarse-to-fine",
            world.stores,
            tmp_path / "run",
            ["stages.trajectory.denoiser.width=64"],
            True,
            only="trajectory",
            quiet=True,
        )


def test_half_precision_weights_fill_a_network_of_single_precision(tmp_path):
    part, other = fine(), fine()
    save_weights(tmp_path / "w.safetensors", part, {"score": 0.5}, float16=True)
    assert load_weights(tmp_path / "w.safetensors", other) == {"score": 0.5}
    for one, two in zip(part.parameters(), other.parameters(), strict=True):
        assert two.dtype == torch.float32
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("coarse-to-fin", "there is no preset 'coarse-to-fin': did you mean 'coarse-to-fine'?"),
        (
            "coarse-to-fine --set train.scanpth.steps=1",
            "'coarse-to-fine' has no stage 'scanpth' (train): did you mean 'scanpath'?",
        ),
        ("coarse-to-fine --set train.scanpath.step=1", "unknown key train.scanpath.step: did you mean 'steps'?"),
        (
            "coarse-to-fine --set stages.trajectory.denoiser.widht=8",
            "key stages.trajectory.denoiser.widht: did you mean 'width'?",
        ),
        ("coarse-to-fine --set train.scanpath.steps", "--set takes key=value, such as train.scanpath.steps=500, not"),
        ("coarse-to-fine --set train.scanpath.steps=many", "train.scanpath.steps takes int, not 'many'"),
        ("coarse-to-fine --set train.scanpath.steps=0", "train.steps must be positive, got 0"),
        (
            "coarse-to-fine --set stages.scanpath.sampler=magic",
            "sampler is one of ddpm, ddim, dpm++, unipc, heun, not 'magic'",
        ),
        (
            "coarse-to-fine --set stages.scanpath.denoiser.width=64",
            "image.width 192 and denoiser.width 64 must be equal",
        ),
        ("coarse-to-fine --only medium", "coarse-to-fine has no stage 'medium': it has scanpath, trajectory"),
        ("coarse-to-fine --device tpu", "there is no device 'tpu' here: choose cpu, cuda or auto"),
    ],
)
def test_a_wrong_word_in_the_command_is_one_line_with_a_suggestion(world, tmp_path, capsys, words, message):
    preset, *flags = words.split()
    with pytest.raises(SystemExit) as end:
        main(["train", preset, *map(str, world.stores), "--out", str(tmp_path / "run"), "--quiet", *flags])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_stores_that_do_not_fit_are_said_before_anything_is_trained(world, tmp_path):
    source = world.recordings.parent.parent / "doves"
    other = prepare("doves", source, tmp_path / "slow", settings=CleaningSettings(rate_hz=120), quiet=True)
    with pytest.raises(InputError, match=r"slow is at 120 Hz, the preset at 240: prepare it with --rate"):
        train(
            "coarse-to-fine",
            [world.scanpaths, other.path],
            tmp_path / "run",
            changes=TINY,
            cache=world.cache,
            quiet=True,
        )
    with pytest.raises(InputError, match="no stimulus with a picture in split 'train'"):
        train("coarse-to-fine", [world.recordings], tmp_path / "run", changes=TINY, cache=world.cache, quiet=True)
    with pytest.raises(InputError, match=r"is no store: it has no store\.json"):
        train("coarse-to-fine", [tmp_path], tmp_path / "run", quiet=True)
    with pytest.raises(InputError, match="name at least one store"):
        train("coarse-to-fine", [], tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()


def test_weights_that_are_not_there_are_asked_for(tmp_path):
    with pytest.raises(
        InputError, match=r"has no weights of 'scanpath': expected .*best\.safetensors; was its training"
    ):
        weights_file(tmp_path, "scanpath")


def test_a_part_without_validation_data_is_not_judged(world):
    from stdiffeye.data.store import Store

    part, settings = fine(), load_preset("coarse-to-fine").train["trajectory"]
    assert validator(part, Sources([Store.open(world.scanpaths)]), settings) is None
    assert validator(part, Sources([Store.open(world.recordings)]), settings) is not None


def test_the_best_weights_are_those_of_the_best_score(world, tmp_path):
    short_run(world, tmp_path, "train.trajectory.validate_every=3")
    rows = [json.loads(line) for line in (tmp_path / "trajectory" / "log.jsonl").read_text().splitlines()]
    best = max((row for row in rows if "validation/score" in row), key=lambda row: row["validation/score"])
    about = load_weights(tmp_path / "trajectory" / "best.safetensors", fine())
    assert about["step"] == best["step"]
