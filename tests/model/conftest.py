"""One thread: the networks of these tests are too small for several."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _alone(one_thread: None) -> None: ...
