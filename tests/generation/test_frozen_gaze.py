"""The shipped models generate the same bytes as when their hashes were written."""

from __future__ import annotations

import json

import pytest
from frozen_gaze import FROZEN, MODELS, hashes, processor

RECORDED = json.loads(FROZEN.read_text(encoding="utf-8"))


@pytest.mark.skipif(processor() != RECORDED["processor"], reason=f"hashes are of {RECORDED['processor']}")
@pytest.mark.parametrize("independent", [True, False], ids=["independent", "representative"])
@pytest.mark.parametrize("name", MODELS)
def test_shipped_models_generate_the_bytes_they_did(name: str, independent: bool) -> None:
    kind = "independent" if independent else "representative"
    assert hashes(name, MODELS[name], independent) == RECORDED["gaze"][f"{name} {kind}"]
