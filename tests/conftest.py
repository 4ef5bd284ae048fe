"""Fixtures that every test may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    return Path(value)


@pytest.fixture(scope="session", autouse=True)
def _own_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Pseudonyms of the tests have a key of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STDIFFEYE_KEYS", str(tmp_path_factory.mktemp("keys")))
        yield


@pytest.fixture(scope="session")
def one_thread() -> Iterator[None]:
    """Small networks: threads that wait for each other on a busy machine cost many times the work itself."""
    from stdiffeye.systems.cores import one_core

    with one_core():
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real recordings; tests that use it carry the mark `real_data`."""
    return _folder("STDIFFEYE_DATA")


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of values that reference programs returned; tests that use it carry the mark `golden`."""
    return _folder("STDIFFEYE_GOLDEN")
