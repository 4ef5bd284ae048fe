"""A model of some ten thousand random weights, a server around it, and pictures to look at."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
import torch
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image
from web_files import TINY

from stdiffeye.generation import Model
from stdiffeye.systems.cores import one_core
from stdiffeye.systems.presets import load_preset
from stdiffeye.web import Limits, make_app
from stdiffeye.web.sample_pictures import sample_picture

LOOPBACK = "http://127.0.0.1"


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads that wait for each other on a busy machine cost many times the work itself."""
    with one_core():
        yield


@pytest.fixture(scope="session")
def model() -> Model:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        config = load_preset("coarse-to-fine", TINY)
        parts = config.build()
        for part in parts.values():
            for weights in part.parameters():  # much begins at zero, and what is asked for would make no difference
                weights.data += 0.05 * torch.randn_like(weights)
    return Model(config, {name: part.eval().requires_grad_(False) for name, part in parts.items()}, "tiny")


@pytest.fixture(scope="module")
def app(model: Model) -> FastAPI:
    return make_app(model, Limits(upload_bytes=2_000_000, megapixels=4, queue=1, results=6))


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=LOOPBACK) as client:
        yield client


@pytest.fixture(scope="session")
def picture() -> bytes:
    """A JPEG of 240×160 px."""
    buffer = io.BytesIO()
    sample_picture("street.png").resize((240, 160), Image.Resampling.BOX).save(buffer, "JPEG")
    return buffer.getvalue()
