"""Help fits a screen and shows how it is done."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from stdiffeye.cli import VERBS, main, parse
from stdiffeye.cli.completion import completion

SCREEN_LINES, SCREEN_COLUMNS = 40, 100


def help_of(verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", str(SCREEN_COLUMNS))
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def lines_on_screen(text: str) -> int:
    return sum(max(1, -(-len(line) // SCREEN_COLUMNS)) for line in text.rstrip().splitlines())


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_fits_a_screen_and_carries_an_example(verb, capsys, monkeypatch):
    text = help_of(verb, capsys, monkeypatch)
    assert lines_on_screen(text) <= SCREEN_LINES
    assert re.search(rf"Example: .*stdiffeye {verb}\b", text)


@pytest.mark.parametrize("verb", VERBS)
def test_the_first_line_of_a_verbs_help_is_a_sentence(verb, capsys, monkeypatch):
    first = help_of(verb, capsys, monkeypatch).splitlines()[2]
    assert first[0].isupper()
    assert len(first) > 20


@pytest.mark.parametrize("word", [[], ["--help"], ["help"], ["-h"]])
def test_the_overview_fits_a_screen_and_names_every_verb(word, capsys):
    with pytest.raises(SystemExit) as ended:
        main(word)
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert lines_on_screen(text) <= SCREEN_LINES
    assert all(re.search(rf"(?m)^  {verb} ", text) for verb in VERBS)
    verb, *rest = shlex.split(text.partition("Example: stdiffeye ")[2].partition("\n")[0])
    assert parse(verb, rest).sources


def test_a_switch_has_one_flag_and_an_invented_flag_is_refused(capsys):
    assert parse("plot", ["gaze.json", "--kind", "trace"]).kind == "trace"
    assert not parse("generate", ["photo.jpg", "--no-plots"]).output.plots
    with pytest.raises(SystemExit):
        parse("plot", ["gaze.json", "--colour-blind"])
    assert "--colour-blind" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["nan", "-inf", "1e999"])
def test_no_flag_takes_what_is_no_finite_number(word, capsys):
    with pytest.raises(SystemExit):
        parse("replay", ["gaze.json", f"--speed={word}"])
    assert f"{word} is no number" in capsys.readouterr().err


def completed(line: str) -> set[str]:
    """What bash offers at the end of `line`."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"{completion('bash')}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _stdiffeye; echo ${{COMPREPLY[*]}}"
    )
    return set(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("stdiffeye ev", {"evaluate"}),
        ("stdiffeye re", {"replay", "reproduce"}),
        ("stdiffeye fixations a.asc --meth", {"--method"}),
        ("stdiffeye fixations --method ", {"judd", "ivt", "idt"}),
        ("stdiffeye generate --no-pl", {"--no-plots"}),
        ("stdiffeye completion ", {"bash", "zsh"}),
        ("stdiffeye plot gaz", set()),
    ],
)
def test_bash_completes_verbs_flags_and_choices_and_leaves_files_to_the_shell(line, offered):
    assert completed(line) == offered


def test_zsh_gets_the_same_script_after_its_own_preparation():
    assert completion("zsh").endswith(completion("bash"))
    assert completion("zsh").startswith("autoload")
