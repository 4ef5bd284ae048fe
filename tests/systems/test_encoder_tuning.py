"""The encoder tuned to gaze and objects: it learns both by heart, crops are crops, and a run keeps its encoder."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from tiny import paint, scanpaths, sources

import stdiffeye
from stdiffeye.data.preparation import prepare
from stdiffeye.data.store import Store
from stdiffeye.encoders import FeatureCache, picture_encoder
from stdiffeye.encoders.efficientnet import GRID, EarlyEncoder
from stdiffeye.encoders.word_table import category_number
from stdiffeye.errors import InputError
from stdiffeye.systems.base import BatchPlan, Sources
from stdiffeye.systems.coarse_to_fine.scanpath_config import ScanpathStageConfig
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.systems.encoder_tuning import WHOLE, EncoderTuning, EncoderTuningConfig, cropped
from stdiffeye.systems.object_labels import ObjectBox, object_maps, read_labels
from stdiffeye.systems.step_random import StepRandom
from stdiffeye.training.release import export
from stdiffeye.training.run import read_run, train
from stdiffeye.training.shipped import find_model

TINY = [
    "stages.scanpath.denoiser.width=32",
    "stages.scanpath.image.width=32",
    "stages.scanpath.denoiser.heads=2",
    "stages.scanpath.denoiser.depth=2",
    "stages.scanpath.denoiser.feedforward=32",
    "train.scanpath.steps=2",
    "train.scanpath.stimuli=2",
    "train.scanpath.accumulate=1",
]


BRIEF = ["train.encoder.steps=2", "train.encoder.stimuli=2", "train.encoder.learning_rate=0.01"]
NO_OBJECTS = "stages.encoder.objects=false"
PLAIN = {"drop_channels": 0.0, "condition_dropout": 0.0}
BOXES = {"cup": [512, 192, 256, 192], "stop sign": [128, 384, 128, 256]}  # x, y, width, height of 1024×768 px


def search(folder: Path) -> Store:
    """Two pictures, each searched for one object whose box is known."""
    source = folder / "found-source"
    paint(source / "images", 2)
    rows = [
        {
            "name": f"img{n:03d}.jpg",
            "subject": 1,
            "split": "train",
            "task": task,
            "bbox": box,
            "X": [9, 99],
            "Y": [9, 99],
        }
        for n, (task, box) in enumerate(BOXES.items())
    ]
    (source / "found.json").write_text(json.dumps(rows))
    description = source / "found.yaml"
    description.write_text(
        "name: found\ntitle: Found\nreader: scanpath_rows\nfiles: [{path: found.json, what: fixations}]\n"
        "pictures: images\nwidth_px: 1024\nheight_px: 768\ncitation: none\nlicence: MIT\nsplit: {rule: given}\n"
    )
    return prepare(description, source, folder / "found", quiet=True)


def unordered(folder: Path) -> Store:
    """Two pictures with a map of fixations each, in the layout of SALICON."""
    paint(folder / "salicon-source" / "images", 2)
    maps = folder / "salicon-source" / "fixations" / "train"
    maps.mkdir(parents=True)
    for number in range(2):
        pixels = np.zeros((48, 64), np.uint8)
        pixels[10:12, 10 + 20 * number] = 255
        Image.fromarray(pixels).save(maps / f"img{number:03d}.png")
    return prepare("salicon", folder / "salicon-source", folder / "salicon", quiet=True)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return search(tmp_path_factory.mktemp("found"))


@pytest.fixture(scope="module")
def pooled(tmp_path_factory):
    return unordered(tmp_path_factory.mktemp("pooled"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return scanpaths(tmp_path_factory.mktemp("store"), pictures=2, viewers=2)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def tuned(store, cache, tmp_path_factory):
    out = tmp_path_factory.mktemp("tuned") / "run"
    return train("encoder", [store.path], out, changes=[*BRIEF, NO_OBJECTS], cache=cache, quiet=True)


def test_it_learns_by_heart_where_people_look_and_where_objects_are(found, pooled, cache):
    torch.manual_seed(0)
    system = EncoderTuning(EncoderTuningConfig(sets=("found", "salicon"), objects=True, **PLAIN)).eval()
    world = Sources([found, pooled], FeatureCache(EarlyEncoder(), cache))
    batches = system.batches(world, "train", BatchPlan(4, 1), augment=False)
    batch = batches.batch(0)
    groups = system.parameter_groups()
    assert [id(p) for group in groups for p in group["params"]] == [id(p) for p in system.parameters()]
    optimiser = torch.optim.Adam([p for p in system.parameters() if p.requires_grad], 2e-3)
    losses = []
    for step in range(25):
        loss = system.loss(batch, StepRandom(0, step))
        optimiser.zero_grad()
        loss["total"].backward()
        optimiser.step()
        losses.append({key: value.item() for key, value in loss.items()})
    viewed = batch.density.sum(-1) > 0
    best = float(-(batch.density * batch.density.clamp(min=1e-9).log()).sum(-1)[viewed].mean())
    assert viewed.sum() == 2  # a search says nothing of where people look without a task
    assert losses[-1]["density"] < best + 0.3 * (losses[0]["density"] - best)
    assert losses[-1]["detection"] < 0.7 * losses[0]["detection"]
    assert losses[-1]["location"] < 0.5 * losses[0]["location"]
    assert system.log_temperature.grad.abs().sum() > 0
    late = dict(system.late.named_parameters())
    depthwise = {name for name, value in late.items() if value.shape[1:2] == (1,) or not value.requires_grad}
    assert all(late[name].grad is None for name in depthwise)
    assert all(value.grad.abs().sum() > 0 for name, value in late.items() if name not in depthwise)
    maps = system.objects(system.tokens(batch.early, batch.box))
    for row, choice in enumerate(batches.source.choose(0)):
        if choice.stimulus.task:
            x, y, width, height = BOXES[choice.stimulus.task]
            peak = int(maps[row, :, category_number(choice.stimulus.task)].argmax())
            assert x <= (peak % 32 + 0.5) * 32 <= x + width
            assert y <= (peak // 32 + 0.5) * 32 <= y + height


def test_a_crop_is_that_part_of_the_map():
    column = torch.arange(8.0).expand(1, 1, 6, 8)
    torch.testing.assert_close(cropped(column, torch.from_numpy(WHOLE)[None]), column)
    right = cropped(column, torch.tensor([[0.5, 0.0, 0.5, 1.0]]))
    torch.testing.assert_close(right[0, 0, 0], torch.linspace(3.75, 7.25, 8).clamp(max=7.0))


def test_places_follow_the_crop(store, cache):
    system = EncoderTuning(EncoderTuningConfig(sets=("own",), crop=1.0))
    batches = system.batches(Sources([store], FeatureCache(EarlyEncoder(), cache)), "train", BatchPlan(2, 1), True)
    batch = batches.batch(3)
    choices = batches.source.choose(3)
    left, top, width, height = batch.box[0].tolist()
    positions = batches.source.positions(choices[0].stimulus, choices[0].flip)
    inside = (positions - (left, top)) / (width, height)
    inside = inside[((inside >= 0) & (inside < 1)).all(1)]
    centre = (batch.density[0].reshape(24, 32).sum(0) * (torch.arange(32) + 0.5) / 32).sum()
    assert width < 1
    np.testing.assert_allclose(float(centre), inside[:, 0].mean(), atol=0.02)


def test_a_run_keeps_its_tuned_encoder_wherever_it_goes(store, cache, tuned, tmp_path):
    blocks = tuned / "encoder" / "last.safetensors"
    with pytest.raises(InputError, match="holds no late blocks"):
        picture_encoder(f"efficientnet-lite0:{blocks}")
    exported = export(tuned, tmp_path / "encoder")
    name = f"efficientnet-lite0:{exported / 'encoder.safetensors'}"
    assert picture_encoder(name).identity != picture_encoder().identity
    how = {"only": "scanpath", "cache": cache, "quiet": True}
    first = train("coarse-to-fine", [store.path], tmp_path / "a", [*TINY, f"encoder={name}"], **how)
    shutil.rmtree(exported)
    moved = first.rename(tmp_path / "moved")
    assert stdiffeye.load(moved).encoder.identity != picture_encoder().identity
    then = train("coarse-to-fine", [store.path], tmp_path / "b", TINY, start_from=moved, **how)
    shutil.rmtree(moved)
    again = train("coarse-to-fine", [store.path], then, ["train.scanpath.steps=3"], resume=True, **how)
    assert stdiffeye.load(again).encoder.identity != picture_encoder().identity
    handed_on = export(again, tmp_path / "handed-on")
    assert stdiffeye.load(handed_on).encoder.identity == stdiffeye.load(again).encoder.identity


def test_tuning_goes_on_from_a_shipped_encoder(found, cache, tmp_path):
    still = [*BRIEF, "train.encoder.learning_rate=1e-9"]
    run = train("encoder", [found.path], tmp_path / "run", still, start_from="search", cache=cache, quiet=True)
    shipped = load_file(find_model("search") / "encoder.safetensors")
    weights = load_file(run / "encoder" / "last.safetensors")
    for name, tensor in shipped.items():
        torch.testing.assert_close(weights[f"mean.{name}"], tensor.float(), atol=1e-6, rtol=0, msg=name)


def test_a_run_that_went_on_ends_as_one_that_never_stopped_and_hands_on_object_maps(found, pooled, cache, tmp_path):
    how = {"cache": cache, "quiet": True}
    stores, level = [found.path, pooled.path], [*BRIEF, "train.encoder.warm_up=0", "train.encoder.decay_share=0"]
    whole = train("encoder", stores, tmp_path / "whole", [*level, "train.encoder.steps=3"], **how)
    stopped = train("encoder", stores, tmp_path / "stopped", level, **how)
    train("encoder", stores, stopped, ["train.encoder.steps=3"], resume=True, **how)
    ends = [load_file(run / "encoder" / "last.safetensors") for run in (whole, stopped)]
    assert (ends[0]["optimiser.step.log_temperature"] == 3).all()
    for name, tensor in ends[0].items():
        torch.testing.assert_close(ends[1][name], tensor, rtol=0, atol=0, msg=name)
    exported = export(whole, tmp_path / "exported") / "encoder.safetensors"
    assert {name.split(".")[0] for name in load_file(exported)} == {
        "late", "objects", "fusion", "density", "log_temperature"
    }  # fmt: skip
    assert picture_encoder(f"efficientnet-lite0:{exported}").encode([np.zeros((48, 64, 3), np.uint8)]).shape[-1] == 512


def test_objects_need_a_box_somewhere(store, cache, tmp_path):
    with pytest.raises(
        InputError, match=r"no picture of the stores has the box of an object: set stages.encoder.objects"
    ):
        train("encoder", [store.path], tmp_path / "run", BRIEF, cache=cache, quiet=True)


def test_a_detectors_boxes_tell_of_all_categories_and_a_target_of_its_own(found, pooled, cache, tmp_path):
    labels = tmp_path / "labels.json"
    labels.write_text(
        json.dumps({"img000.jpg": [["cup", 0.9, 0.0, 0.0, 0.1, 0.1], ["sofa", 0.8, 0.5, 0.5, 0.25, 0.25]]})
    )
    system = EncoderTuning(EncoderTuningConfig(objects=True, labels=str(labels)))
    world = Sources([found], FeatureCache(EarlyEncoder(), cache))
    batches = system.batches(world, "train", BatchPlan(2, 1), augment=False)
    known = {c.stimulus.name: row for row, c in zip(batches.batch(0).labelled, batches.source.choose(0), strict=True)}
    objects = {c.stimulus.name: row for row, c in zip(batches.batch(0).objects, batches.source.choose(0), strict=True)}
    assert known["img000.jpg"].all()
    assert known["img001.jpg"].nonzero().flatten().tolist() == [category_number("stop sign")]
    cup = objects["img000.jpg"][category_number("cup")].reshape(GRID)
    assert cup[:3, :3].sum() == 0  # the target is the only cup
    assert cup.max() > 0.95
    assert 0.7 < objects["img000.jpg"][category_number("couch")].max() <= 0.8


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "must map pictures' names"),
        ({"a.jpg": [["unicorn", 0.5, 0, 0, 1, 1]]}, "'unicorn' is none of COCO's categories"),
        ({"a.jpg": [["cup", 0.5, 0, 0, 1]]}, "are not \\[category, score, x, y, w, h\\]"),
        ({"a.jpg": [["cup", 0.5, 10, 20, 30, 40]]}, "leaves the picture; sides are shares"),
    ],
)
def test_a_file_of_boxes_with_a_fault_is_refused(tmp_path, rows, message):
    (tmp_path / "labels.json").write_text(json.dumps(rows))
    with pytest.raises(InputError, match=message):
        read_labels(tmp_path / "labels.json")


def test_a_box_follows_mirror_image_and_crop():
    left_top = ObjectBox(3, 0.5, 0.0, 0.0, 0.25, 0.5)
    whole = object_maps([left_top], WHOLE, flip=False)[3].reshape(GRID)
    assert whole[:12, :8].min() > 0
    assert whole.sum() == whole[:12, :8].sum()
    assert 0.48 < whole.max() <= 0.5
    np.testing.assert_allclose(object_maps([left_top], WHOLE, flip=True)[3].reshape(GRID), whole[:, ::-1], atol=1e-6)
    right_half = np.array([0.5, 0, 0.5, 1], np.float32)
    assert object_maps([left_top], right_half, flip=False).sum() == 0
    assert object_maps([left_top], right_half, flip=True)[3].reshape(GRID)[:12, 16:].min() > 0


def test_the_scanpath_stage_learns_its_density_from_a_store_without_order(store, pooled, cache, tmp_path):
    how = {"only": "scanpath", "cache": cache, "quiet": True}
    run = train("coarse-to-fine", [store.path, pooled.path], tmp_path / "run", TINY, **how)
    config = read_run(run).stages["scanpath"]
    assert (config.sets, config.density_sets) == (("own",), ("salicon",))
    first = json.loads((run / "scanpath" / "log.jsonl").read_text().splitlines()[0])
    assert first["pooled_density"] > 0
    assert stdiffeye.load(run).styles == ("own",)
    then = train("coarse-to-fine", [store.path], tmp_path / "then", TINY, start_from=run, **how)
    assert read_run(then).stages["scanpath"].density_sets == ("salicon",)


def test_a_store_without_order_moves_the_density_alone(store, pooled, cache):
    torch.manual_seed(0)
    usual = ScanpathStageConfig(sets=("own",), density_sets=("salicon",))
    image, denoiser = replace(usual.image, width=32), replace(usual.denoiser, width=32, heads=2, depth=2)
    stage = ScanpathStage(replace(usual, image=image, denoiser=denoiser)).eval()
    world = Sources([store, pooled], FeatureCache(picture_encoder(), cache))
    batch = stage.batches(world, "train", BatchPlan(2, 2), augment=True).batch(0)
    optimiser = torch.optim.Adam(stage.parameters(), 3e-3)
    losses = []
    for step in range(40):
        loss = stage.loss(batch, StepRandom(0, step))["pooled_density"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    shares = batch.pooled.density
    best = float(-(shares * shares.clamp(min=1e-9).log()).sum(-1).mean())
    assert losses[-1] < best + 0.3 * (losses[0] - best)
    assert stage.density.pooled_log_sharpness.grad.abs().sum() > 0
    assert all(value.grad is None for value in stage.denoiser.parameters())


def test_systems_without_a_density_leave_a_store_without_order_out(store, pooled, cache, tmp_path):
    changes = ["train.scanpath.steps=2", "train.scanpath.stimuli=2"]
    run = train("gazeformer", [store.path, pooled.path], tmp_path / "run", changes, cache=cache, quiet=True)
    assert "salicon" not in (run / "run.yaml").read_text()


def test_it_says_what_it_looks_with(store, tmp_path):
    system = EncoderTuning(EncoderTuningConfig(sets=("own",)))
    with pytest.raises(InputError, match="efficientnet-lite0-early"):
        system.batches(sources(tmp_path, store), "train", BatchPlan(2, 1), augment=False)


def test_an_encoder_draws_no_gaze(tuned):
    with pytest.raises(InputError, match="samples no gaze"):
        stdiffeye.load(tuned).generate(np.zeros((48, 64, 3), np.uint8))
