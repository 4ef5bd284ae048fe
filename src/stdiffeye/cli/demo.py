"""Show a main job on material that the demonstration makes itself, from nothing but this package.

Example: stdiffeye demo generate --out demo      how people would look at a picture, with the shipped model
         stdiffeye demo fixations --out demo     a tracker's recording to scanpaths, a quality report and a picture
         stdiffeye demo crps --out demo          four generators, four protocols, and why CRPS (the paper's Figure 3)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from stdiffeye.errors import InputError

DEMOS = ("generate", "fixations", "crps")


@dataclass
class DemoArgs:
    name: tyro.conf.Positional[str] = "generate"
    """Which demonstration."""
    out: Path = Path("demo")
    """Folder for what is made."""
    quiet: bool = False
    """No progress."""


def run(args: DemoArgs) -> None:
    demo(args.name, args.out, args.quiet)


def demo(name: str = "generate", out: str | Path = "demo", quiet: bool = False) -> None:
    """Show a main job on material that the demonstration makes itself.

    Parameters
    ----------
    name : str
        "generate", "fixations" or "crps".
    out : path
        Folder for what is made.
    quiet : bool
        Show no progress.
    """
    folder = Path(out)
    match name:
        case "generate":
            from stdiffeye.cli import demo_generate

            demo_generate.demo(folder, quiet)
        case "fixations":
            from stdiffeye.cli import demo_fixations

            demo_fixations.demo(folder, quiet)
        case "crps":
            from stdiffeye.cli import demo_crps

            demo_crps.demo(folder, quiet)
        case _:
            raise InputError(f"there is no demonstration {name!r}; choose one of {', '.join(DEMOS)}")
