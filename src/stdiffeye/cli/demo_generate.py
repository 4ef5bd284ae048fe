"""Pictures drawn by code, and how people would look at them: `stdiffeye generate` with the shipped model."""

from __future__ import annotations

from pathlib import Path


def demo(out: Path, quiet: bool = False) -> None:
    """Draw pictures in `out`, then run `stdiffeye generate` on them, with a replay."""
    from stdiffeye.cli import generate
    from stdiffeye.cli.demo_fixations import SCENES, draw_scene
    from stdiffeye.generation.request import OutputOptions, Request

    pictures = [out / "pictures" / name for name in SCENES]
    for picture, scene in zip(pictures, SCENES.values(), strict=True):
        draw_scene(picture, scene)
    print(f"made {len(pictures)} pictures in {out / 'pictures'}; now: stdiffeye generate")
    wanted = generate.GenerateArgs(
        tuple(pictures), out, request=Request(seconds=3.0), output=OutputOptions(replay=True), quiet=quiet
    )
    generate.run(wanted)
    shown = pictures[0].stem
    print(f"Look at {out / f'{shown}-scanpaths.png'}, and replay {out / f'{shown}-replay.html'} in a browser")
