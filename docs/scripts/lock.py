"""Write requirements-lock.txt: every package of this environment with the SHA-256 of its file, as the index states it.

    .venv/bin/python docs/scripts/lock.py

Needs an index that can be reached. torch is left out: its build depends on the machine, and it is installed before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUT = ROOT / "requirements-lock.txt"
LEFT_OUT = {"stdiffeye", "torch", "pip", "setuptools", "wheel", "py-spy"}
HEAD = """\
# What `make locked` installs: every package with its version and SHA-256, for Linux on x86-64 and Python 3.11.
# torch is installed before, from its own build; made again by `python docs/scripts/lock.py`.

"""


def installed() -> list[str]:
    """name==version of all that is installed, sorted."""
    found = {(one.name, one.version) for one in distributions() if one.name.lower() not in LEFT_OUT}
    return [f"{name}=={version}" for name, version in sorted(found, key=lambda pair: pair[0].lower())]


def hashed(requirements: list[str]) -> str:
    """The same with the hashes of the files that pip would install here."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet"]
        subprocess.run([*command, "--report", str(report), *requirements], check=True)
        items = json.loads(report.read_text(encoding="utf-8"))["install"]
    lines = []
    for item in items:
        about, sha256 = item["metadata"], item["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{about['name']}=={about['version']} \\\n    --hash=sha256:{sha256}\n")
    return "".join(sorted(lines, key=str.lower))


if __name__ == "__main__":
    OUT.write_text(HEAD + hashed(installed()), encoding="utf-8")
    print(f"look at {OUT.name}")
