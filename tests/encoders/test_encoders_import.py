"""The room opens quickly."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_room_and_loading_a_picture_does_not_load_torch() -> None:
    code = "import sys, stdiffeye.encoders as e; e.load_picture; e.FeatureCache; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
