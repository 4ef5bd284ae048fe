"""`import stdiffeye` is fast because it loads next to nothing; what it loads can be asserted, a time cannot."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "numba", "scipy", "matplotlib", "sklearn", "transformers", "PIL", "pandas", "pyarrow")


def loaded_by(code: str) -> set[str]:
    """Which heavy packages a fresh interpreter has loaded after running `code`."""
    report = f"{code}\nimport sys; print(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("code", ["import stdiffeye", "import stdiffeye; stdiffeye.Trajectory, stdiffeye.InputError"])
def test_the_package_and_its_nouns_load_no_heavy_library(code: str) -> None:
    assert loaded_by(code) == set()


def test_everything_of_gaze_loads_without_torch_and_without_numba() -> None:
    assert loaded_by("from stdiffeye.gaze import *") == set()


def test_extracting_fixations_needs_no_torch() -> None:
    code = "from stdiffeye.gaze import *; extract(Trajectory([[1, 1]] * 50, 240, Frame(10, 10)))"
    assert "torch" not in loaded_by(code)


def test_the_overview_of_the_command_loads_no_heavy_library() -> None:
    assert loaded_by("from stdiffeye.cli import overview; overview()") == set()


def test_the_flags_of_all_verbs_are_known_without_numpy() -> None:
    code = "from stdiffeye.cli import verb_modules; verb_modules(); import sys; assert 'numpy' not in sys.modules"
    assert loaded_by(code) == set()


@pytest.mark.parametrize("words", [["missing.jpg"], ["missing.jpg", "--samples", "0"], [__file__, "--model", "nope"]])
def test_wrong_input_is_noticed_before_torch_is_loaded(words: list[str]) -> None:
    main = f"from stdiffeye.cli import main\ntry: main({['generate', *words]})"
    code = f"{main}\nexcept SystemExit as end: assert end.code == 2"
    assert "torch" not in loaded_by(code)


def test_a_model_is_loaded_without_drawing_and_without_transforms() -> None:
    code = "import stdiffeye.generation.trained, sys; assert not {'stdiffeye.plotting', 'scipy.fft'} & set(sys.modules)"
    assert "matplotlib" not in loaded_by(code)
