"""The shipped models generate what they did, so that a change of the code is no change of the gaze."""

import json

import numpy as np
import pytest
from frozen_gaze import FROZEN, KINDS, MODELS, fixations, hashes, processor

RECORDED = json.loads(FROZEN.read_text(encoding="utf-8"))
ROUNDING_PX_MS = 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_shipped_models_generate_the_fixations_they_did(name: str, kind: str) -> None:
    found, recorded = fixations(name, kind), RECORDED["fixations"][f"{name} {kind}"]
    assert [len(path) for path in found] == [len(path) for path in recorded]
    differences = np.abs(np.concatenate(found) - np.concatenate(recorded))
    assert differences.max() < ROUNDING_PX_MS


@pytest.mark.skipif(processor() != RECORDED["processor"], reason=f"hashes are of {RECORDED['processor']}")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_shipped_models_generate_the_bytes_they_did(name: str, kind: str) -> None:
    assert hashes(name, kind) == RECORDED["gaze"][f"{name} {kind}"]
