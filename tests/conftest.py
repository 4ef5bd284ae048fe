"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    return Path(value)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real recordings; tests that use it carry the mark `real_data`."""
    return _folder("STDIFFEYE_DATA")


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of values that reference programs returned; tests that use it carry the mark `golden`."""
    return _folder("STDIFFEYE_GOLDEN")
