"""A tiny model with random weights: what it draws is no gaze, but every law of drawing holds for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
import yaml

from stdiffeye.generation import Model, load
from stdiffeye.systems.presets import load_preset, to_plain
from stdiffeye.training.checkpoint import save_weights

SMALL = (
    "stages.scanpath.image.width=32",
    "stages.scanpath.denoiser.width=32",
    "stages.scanpath.denoiser.depth=2",
    "stages.scanpath.denoiser.heads=2",
    "stages.scanpath.denoiser.feedforward=64",
    "stages.scanpath.sampling_steps=6",
    "stages.scanpath.sets=[osie, doves]",
    "stages.trajectory.denoiser.width=32",
    "stages.trajectory.denoiser.depth=1",
    "stages.trajectory.denoiser.heads=2",
    "stages.trajectory.denoiser.feedforward=64",
    "stages.trajectory.sampling_steps=4",
)
WEIGHT_SIZE = 0.05


@pytest.fixture(scope="session", autouse=True)
def _alone(one_thread: None) -> None: ...


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a shipped model has it."""
    folder, config = tmp_path_factory.mktemp("made") / "tiny", load_preset("coarse-to-fine", SMALL)
    generator = torch.Generator().manual_seed(3)
    torch.manual_seed(1)  # the first values too, whatever ran before
    folder.mkdir()
    (folder / "run.yaml").write_text(yaml.safe_dump(to_plain(config) | {"made": {"by": "a test"}}))
    for name, part in config.build().items():
        with torch.no_grad():
            for parameter in part.parameters():
                parameter.add_(WEIGHT_SIZE * torch.randn(parameter.shape, generator=generator))
        save_weights(folder / f"{name}.safetensors", part)
    return folder


@pytest.fixture(scope="session")
def model(run: Path) -> Model:
    return load(run)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
