"""No page prints a command that does not work: what can run is run, the rest is read by its program's parser."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from pages import DOCS, ROOT, SHELLS, blocks, commands, inline_commands, links, page_id, pages, shell_commands

sys.path.insert(0, str(DOCS / "scripts"))
from hooks import HELP_MARK, leaves, made_pages, on_config, on_page_markdown

from stdiffeye.cli import VERBS, main, parse
from stdiffeye.cli.completion import _arguments
from stdiffeye.training.shipped import models

# Pages whose commands a test beside their subject runs.
RUN_ELSEWHERE = {DOCS / "plots.md", DOCS / "statistics.md", DOCS / "explanation/crps.md"}
# Pages whose Python runs between their commands, whose files it reads; that of the others runs alone.
PYTHON_AMONG_COMMANDS = {ROOT / "README.md", DOCS / "tutorial.md", *(DOCS / "how-to").glob("*.md")}
# Verbs that take hours or real data, do not end or only print, and words of commands whose files cannot be made.
ONLY_PARSED_VERBS = {"train", "adapt", "serve", "slurm"}
ONLY_PARSED_WORDS = {
    "sub01.edf": "SR Research's own format",
    "data/osie": "a public data set",
    "stores/osie": "its store",
    "adapted": "a model that the page makes by two minutes of learning",
    "runs/encoder": "an encoder that the page tunes for an hour",
}
NEED_A_MODEL = {"generate", "animate"}
OWN_PROGRAMS = ("stdiffeye", "torchrun", "accelerate", "make", "pip", "python", "export", "eval")

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def with_commands() -> list[Path]:
    return [page for page in pages() if shell_commands(page)]


@pytest.mark.parametrize("page", with_commands(), ids=page_id)
def test_every_command_of_a_page_is_one_that_its_program_takes(page):
    for words in shell_commands(page):
        check(words)


@pytest.mark.parametrize("page", [page for page in pages() if inline_commands(page)], ids=page_id)
def test_verbs_and_flags_named_within_the_text_exist(page):
    for command in inline_commands(page):
        verb, *rest = command.split()[1:]
        if verb not in ("VERB", "--help"):
            assert verb in VERBS, command
            flags = set(re.findall(r"--[a-z][a-z-]*", " ".join(rest)))
            assert flags <= {*_arguments(verb), "--help"}, command


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_in_a_verbs_help_are_taken_by_its_parser(verb):
    module = __import__(f"stdiffeye.cli.{verb}", fromlist=["__doc__"])
    example = module.__doc__.partition("Example: ")[2].partition("\n\n")[0]
    lines = [line.split("   ")[0] for line in re.split(r"\n\s+", example) if "stdiffeye" in line]
    assert lines
    for line in lines:
        check(shlex.split(line))


@pytest.mark.parametrize("page", [page for page in with_commands() if page not in RUN_ELSEWHERE], ids=page_id)
def test_a_page_works_from_its_first_line_to_its_last(page, world, request, monkeypatch):
    monkeypatch.chdir(world)
    monkeypatch.setenv("STDIFFEYE_CACHE", str(world / "cache"))
    for made in world.glob("gaze*"):
        shutil.rmtree(made)  # of another page, whose gaze `generate` would not mix with this one's
    make_runs(page.read_text(encoding="utf-8"), request)
    code = ""
    for kind, text in blocks(page):
        if kind in SHELLS:
            for words in commands(text):
                run(words)
        elif kind == "python" and page in PYTHON_AMONG_COMMANDS:
            code += text  # as a reader types it: after the blocks before it, in an interpreter that knows nothing else
            run_python(code)


def make_runs(text: str, request: pytest.FixtureRequest) -> None:
    """Train the runs that a text names, once for all pages."""
    for run_folder, fixture in (("runs/mine", "run_of_ours"), ("runs/deepgaze3", "run_of_deepgaze3")):
        if run_folder in text:
            request.getfixturevalue(fixture)


def python_of(page: Path) -> str:
    return "".join(text for kind, text in blocks(page) if kind == "python")


@pytest.mark.parametrize(
    "page", [page for page in pages() if python_of(page) and page not in PYTHON_AMONG_COMMANDS], ids=page_id
)
def test_python_of_a_page_runs_from_its_first_block_to_its_last(page, world, request, monkeypatch):
    monkeypatch.chdir(world)
    monkeypatch.setenv("STDIFFEYE_CACHE", str(world / "cache"))
    make_runs(python_of(page), request)
    run_python(python_of(page))


def test_a_page_whose_python_runs_among_commands_has_commands():
    assert [page for page in PYTHON_AMONG_COMMANDS if python_of(page) and page not in with_commands()] == []


def run_python(code: str) -> None:
    """In an interpreter that knows nothing else."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, f"{code}\n{done.stderr}"


DOCUMENTS = [*pages(), *(ROOT / name for name in ("ARCHITECTURE.md", "CHANGELOG.md"))]


@pytest.mark.parametrize("page", DOCUMENTS, ids=page_id)
def test_links_of_a_page_lead_somewhere(page):
    made = {(DOCS / name).resolve() for name in made_pages()}
    for target in links(page):
        place = (page.parent / target).resolve()
        assert place.exists() or (page.is_relative_to(DOCS) and place in made), f"{page_id(page)} → {target}"


def test_the_pages_that_the_site_names_are_there():
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    named = leaves(site["nav"])
    assert len(named) == len(set(named))
    made = made_pages()
    assert all((DOCS / page).is_file() for page in named if page not in made)
    assert set(made) <= set(named), "a notebook or a model's card has no place in mkdocs.yml"


def test_pages_that_the_site_does_not_name_get_a_section(tmp_path):
    for page in ("index.md", "results/table.md", "models/freeview.md", "odd.md"):
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text("# A page")
    config = on_config({"docs_dir": str(tmp_path), "nav": [{"Home": "index.md"}]})
    made = {title: pages for section in config["nav"] for title, pages in section.items()}
    assert made == {
        "Home": "index.md",
        "Models": ["models/freeview.md"],
        "More": ["odd.md"],
        "Results": ["results/table.md"],
    }


def test_the_script_for_slurm_is_a_script_whose_command_is_taken(tmp_path):
    (script,) = [text for kind, text in blocks(DOCS / "how-to/cluster.md") if kind == "shell"]
    (tmp_path / "train.slurm").write_text(script, encoding="utf-8")
    for program, answer in (("srun", 'echo "$@"'), ("scontrol", "echo node0")):
        (tmp_path / program).write_text(f"#!/bin/sh\n{answer}\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    known = {"SLURM_NNODES": "2", "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[0-1]"}
    surroundings = {**os.environ, **known, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for run_exists in (False, True):
        if run_exists:
            (tmp_path / "runs/paper").mkdir(parents=True)
            (tmp_path / "runs/paper/run.yaml").touch()
        said = subprocess.run(
            ["bash", "train.slurm"], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=True
        )
        words = shlex.split(said.stdout)
        check(words)
        assert words[words.index("--rdzv-endpoint") + 1] == "node0:29500"
        assert ("--resume" in words) == run_exists


def test_the_page_of_commands_shows_the_help_of_every_verb(monkeypatch):
    monkeypatch.setenv("COLUMNS", "88")
    page = on_page_markdown((DOCS / "reference/commands.md").read_text(encoding="utf-8"))
    assert HELP_MARK not in page
    assert all(f"## {verb}\n\n```text\nusage: stdiffeye {verb}" in page for verb in VERBS)


def test_the_architecture_names_every_room_in_an_order_that_the_linter_checks():
    rows = re.findall(r"(?m)^\| \d+ \| (.+?) \|", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    drawn = [set(re.findall(r"`(\w+)`", row)) for row in rows]
    contract = CONFIGURATION["tool"]["importlinter"]["contracts"][0]
    assert drawn == [set(re.findall(r"\w+", layer)) for layer in reversed(contract["layers"])]
    rooms = {path.parent.name for path in (ROOT / "src/stdiffeye").glob("*/__init__.py")}
    assert rooms <= set().union(*drawn)


def check(words: list[str]) -> None:
    """Fail unless the program that is called would take these words."""
    program, *rest = words
    assert program in OWN_PROGRAMS, f"{program} is not known to this test"
    if program == "stdiffeye":
        _check_own(rest)
    elif program in ("torchrun", "accelerate"):
        _check_own(rest[rest.index("stdiffeye") + 1 :])
        assert rest[rest.index("stdiffeye") - 1] == "-m"
    elif program == "make":
        assert all(re.search(rf"(?m)^{target}:", MAKEFILE) for target in rest), words
    elif program == "pip":
        _check_pip(rest)
    elif program == "python":
        assert (ROOT / rest[0]).is_file(), words
    elif program == "eval":
        check(shlex.split(rest[0].removeprefix("$(").removesuffix(")")))


def _check_own(words: list[str]) -> None:
    if words in (["--help"], ["--version"]):
        return
    verb, *rest = words
    assert verb in VERBS, f"there is no verb {verb!r}"
    if rest == ["--help"]:
        return
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors):
            args = parse(verb, rest)
    except SystemExit:
        pytest.fail(f"stdiffeye {shlex.join(words)}\n{errors.getvalue()}")
    if verb == "train" and not args.list:
        from stdiffeye.systems.presets import load_preset

        load_preset(args.preset, args.set)


def _check_pip(words: list[str]) -> None:
    assert words[0] == "install"
    for what in words[1:]:
        extras = re.search(r"\[(.*)\]", what)
        for extra in extras[1].split(",") if extras else []:
            assert extra in CONFIGURATION["project"]["optional-dependencies"], what
        name = re.split(r"[\[=]", what)[0]
        assert name in (".", "stdiffeye") or what in MAKEFILE, what


def run(words: list[str]) -> None:
    """Run a command of ours where it can run; what it says it writes must be there."""
    program, *rest = words
    if program == "export":
        return  # every page runs with a cache of the test's own
    if program != "stdiffeye" or not _can_run(rest):
        return
    out = rest[rest.index("--out") + 1] if "--out" in rest else None
    with pytest.raises(SystemExit) as ended, contextlib.redirect_stdout(io.StringIO()) as printed:
        main(rest)
    assert ended.value.code == 0, shlex.join(words)
    if out is not None:
        assert Path(out).exists(), shlex.join(words)
        if "--json" not in rest and "--quiet" not in rest:
            assert Path(out).name in printed.getvalue().splitlines()[-1]


def _can_run(words: list[str]) -> bool:
    verb = words[0]
    if verb == "train" and {"--list", "--show"} & set(words):
        return True
    if verb in ONLY_PARSED_VERBS or any(word in ONLY_PARSED_WORDS for word in words):
        return False
    if verb == "reproduce":
        return "--dry-run" in words or "figure3" in words
    if verb == "prepare" and "--out" in words:
        return not Path(words[words.index("--out") + 1]).exists()  # made by the fixture, by the same call
    return verb not in NEED_A_MODEL or "--model" in words or bool(models())
