"""The version, for whoever writes it down; the rooms do not import the front door for it."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"


def commit() -> str:
    """The commit that this code is, with "+changes" where files differ from it; the version where there is none."""
    import subprocess

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent, check=False, timeout=10
        )

    try:
        # An installed copy may lie inside somebody else's repository, whose commit says nothing about it.
        tracked = git("ls-files", "--error-unmatch", Path(__file__).name).returncode == 0
        found = git("describe", "--always", "--dirty=+changes", "--exclude=*").stdout.strip() if tracked else ""
    except (OSError, subprocess.TimeoutExpired):
        found = ""
    return found or f"of version {__version__}"
