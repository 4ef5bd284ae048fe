"""What `stdiffeye reproduce models` measures and writes; what is around it in a page does not change."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from benchmark_world import make_scanpath_set

from stdiffeye.benchmark import Budget, shipped_models
from stdiffeye.benchmark.memorisation import nearest_trials
from stdiffeye.benchmark.model_report import remembers, report
from stdiffeye.benchmark.scoring import ModelScores
from stdiffeye.benchmark.shipped_models import MEASURED, SUMMARY, _into_page
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.training.shipped import ShippedModel, models_folder

FRAME = Frame(512, 384)


def test_the_summary_of_a_page_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{SUMMARY}\n\nold\n\n{SUMMARY}\n\nafter\n")
    _into_page(page, "| new |")
    assert page.read_text() == f"before\n\n{SUMMARY}\n\n| new |\n\n{SUMMARY}\n\nafter\n"


def test_a_page_without_the_two_lines_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{SUMMARY}\n")
    _into_page(page, "| new |")
    assert page.read_text() == f"{SUMMARY}\n"


def test_the_readme_has_the_two_lines() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    assert readme.read_text(encoding="utf-8").count(SUMMARY) == 2


def scanpaths(rng: np.random.Generator, pictures: int, count: int) -> dict[tuple[str, str], list[Scanpath]]:
    return {
        (f"{k}.jpg", ""): [Scanpath(rng.uniform(0, 380, (5, 2)), FRAME) for _ in range(count)] for k in range(pictures)
    }


def test_samples_that_are_like_another_person_are_as_near_as_people() -> None:
    rng = np.random.default_rng(0)
    found = nearest_trials(scanpaths(rng, 60, 20), scanpaths(rng, 60, 6))
    assert found.pictures == 60
    assert found.ratio[1] < 1 < found.ratio[2]
    assert found.ratio[2] - found.ratio[1] < 0.1


def test_samples_that_repeat_trials_are_nearer_than_people() -> None:
    people = scanpaths(np.random.default_rng(0), 20, 6)
    copied = nearest_trials(people, people)
    assert copied.ratio[2] < 0.5
    assert copied.ratio[0] == pytest.approx(1 / 6)  # 0 unless the copied trial is the one that is left out


def test_pictures_with_two_trials_say_nothing_about_memory() -> None:
    rng = np.random.default_rng(0)
    assert nearest_trials(scanpaths(rng, 5, 4), scanpaths(rng, 5, 2)).pictures == 0


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory) -> tuple[Path, Path, Budget]:
    """The page of `joint` on a small set, the folder of the copied model, and the budget."""
    folder = tmp_path_factory.mktemp("models")
    make_scanpath_set(folder / "data" / "osie", pictures=16)
    copied = folder / "shipped" / "joint"
    shutil.copytree(models_folder() / "joint", copied)
    (folder / "shipped" / "freeview").mkdir()
    shutil.copy(models_folder() / "freeview" / "encoder.safetensors", folder / "shipped" / "freeview")
    budget = Budget(folder / "work", sets=("osie",), samples=3, models=("joint",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shipped_models, "models", lambda: [ShippedModel("joint", copied, "", 1.0)])
        patch.setattr(shipped_models, "SETS", {"joint": ("osie",)})
        patch.chdir(folder)
        (folder / "README.md").write_text(f"{SUMMARY}\n\nold\n\n{SUMMARY}\n")
        page = shipped_models.reproduce(folder / "data", folder / "models.md", budget, quiet=True)
        before = {file: file.stat().st_mtime_ns for file in (folder / "work" / "models").iterdir()}
        shipped_models.reproduce(folder / "data", folder / "models.md", budget, quiet=True)
        assert before == {file: file.stat().st_mtime_ns for file in (folder / "work" / "models").iterdir()}
    return page, copied, budget


def test_the_page_the_card_and_the_summary_are_written_and_kept_scores_are_used_again(reproduced) -> None:
    page, folder, _ = reproduced
    text, card = page.read_text(), (folder / "card.md").read_text()
    for one in (text, card):
        assert "| osie, 4 × 4 | model |" in one
        assert "model − people on other pictures" in one
        assert "on training pictures" in one
        assert "| osie, held-out | 4 |" in one
        assert "KS, number of fixations" in one
    assert "Trained from the preset `joint" in text
    assert "3 independent samples" in text
    assert card.count(MEASURED) == 1
    summary = (page.parent / "README.md").read_text()
    assert "| `joint` | osie | test | 4 × 4 |" in summary
    assert "old" not in summary


def test_scores_are_kept_as_they_are(reproduced) -> None:
    _, _, budget = reproduced
    (file,) = (budget.work / "models").glob("*.json")
    scores = ModelScores.from_json(shipped_models.read_json(file))
    assert ModelScores.from_json(scores.to_json()) == scores
    assert scores.gap["mean"][1] <= scores.gap["mean"][2]
    assert "samples" in report([scores])
    assert remembers([scores]).endswith(".")


def test_a_model_that_is_not_shipped_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no shipped model 'nobody': there are freeview, joint, search"):
        shipped_models.reproduce(tmp_path, tmp_path / "out.md", Budget(tmp_path, models=("nobody",)))
