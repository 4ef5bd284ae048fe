"""A made viewer looks at made pictures before a made EyeLink; then `stdiffeye fixations` does its work on the file.

The pictures are drawn by code, the scanpaths visit what is in them, `gaze.lifting` turns these into 1000 Hz gaze with
drift and tracker noise, blinks take some of it away, and the result is written as an EyeLink ASC file with messages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from stdiffeye.gaze import Scanpath
    from stdiffeye.gaze.recording import Recording

SIZE_PX = (1024, 768)
PX_PER_DEGREE = 34.0
RATE_HZ = 1000.0
BLINK_MS = 60
PAUSE_MS = 1500
SEED = 20
# Each scene: sky and ground colour, then things as (shape, centre x, centre y, size, colour) in px.
SCENES: dict[str, Any] = {
    "harbour.png": {
        "sky": (168, 200, 222),
        "ground": (58, 98, 128),
        "things": [
            ("disc", 820, 130, 60, (246, 214, 120)),
            ("boat", 300, 470, 150, (150, 60, 50)),
            ("boat", 640, 560, 190, (230, 226, 214)),
            ("tower", 900, 400, 170, (196, 88, 72)),
        ],
    },
    "orchard.png": {
        "sky": (206, 224, 232),
        "ground": (118, 148, 82),
        "things": [
            ("tree", 220, 430, 170, (64, 108, 60)),
            ("tree", 520, 380, 210, (80, 122, 66)),
            ("disc", 250, 390, 18, (200, 50, 44)),
            ("disc", 560, 350, 18, (200, 50, 44)),
            ("tower", 830, 470, 150, (206, 190, 160)),
        ],
    },
    "night.png": {
        "sky": (24, 30, 58),
        "ground": (38, 42, 50),
        "things": [
            ("disc", 200, 150, 54, (236, 232, 206)),
            ("tower", 430, 430, 260, (70, 76, 92)),
            ("tower", 660, 460, 200, (88, 84, 98)),
            ("disc", 660, 400, 16, (250, 208, 110)),
            ("tree", 880, 520, 120, (34, 60, 48)),
        ],
    },
}


def demo(out: Path, quiet: bool = False) -> None:
    """Make pictures and a recording in `out`, then run `stdiffeye fixations` on them."""
    from stdiffeye.cli import fixations
    from stdiffeye.io.eyelink_asc_write import write_asc

    rng = np.random.default_rng(SEED)
    pictures = out / "pictures"
    recordings = []
    clock_ms = 1_000_000.0
    for name, scene in SCENES.items():
        draw_scene(pictures / name, scene)
        recordings.append(record(made_scanpath(scene, rng), name, clock_ms, rng))
        clock_ms = recordings[-1].time_ms[-1] + PAUSE_MS
    recording = out / "viewer01.asc"
    write_asc(recording, recordings)
    print(f"made {len(recordings)} pictures and a synthesised recording, {recording}; now: stdiffeye fixations")
    fixations.run(fixations.FixationsArgs((recording,), out=out, pictures=pictures, quiet=quiet))


def draw_scene(path: Path, scene: Any) -> None:
    """A simple landscape as PNG."""
    from PIL import Image, ImageDraw

    from stdiffeye.files import atomic_write

    width, height = SIZE_PX
    image = Image.new("RGB", SIZE_PX, scene["sky"])
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, height // 2, width, height), fill=scene["ground"])
    for shape, x, y, size, colour in scene["things"]:
        half = size / 2
        if shape == "disc":
            draw.ellipse((x - size, y - size, x + size, y + size), fill=colour)
        elif shape == "tower":
            draw.rectangle((x - half / 2, y - size, x + half / 2, y + half), fill=colour)
            draw.polygon([(x - half * 0.7, y - size), (x + half * 0.7, y - size), (x, y - size * 1.4)], fill=colour)
        elif shape == "tree":
            draw.rectangle((x - size / 12, y, x + size / 12, y + size * 0.8), fill=(92, 70, 52))
            draw.ellipse((x - half, y - size * 0.7, x + half, y + size * 0.3), fill=colour)
        else:
            draw.polygon([(x - size, y), (x + size, y), (x + half, y + half), (x - half, y + half)], fill=colour)
            draw.polygon([(x, y - size), (x, y - 12), (x + half, y - 12)], fill=(240, 238, 230))
    with atomic_write(path) as temporary:
        image.save(temporary, format="PNG")


def made_scanpath(scene: Any, rng: np.random.Generator) -> Scanpath:
    """From the centre to the things in the picture, some of them twice, for human durations."""
    from stdiffeye.gaze import Frame, Scanpath

    frame = Frame(*SIZE_PX, px_per_degree=PX_PER_DEGREE)
    positions = np.array([[x, y - size / 4] for _, x, y, size, _ in scene["things"]])
    order = np.concatenate([rng.permutation(len(positions)), rng.permutation(len(positions))])
    keep = np.concatenate([[True], np.diff(order) != 0])
    xy = np.concatenate([[frame.centre_px], positions[order[keep]] + rng.normal(0, 40, (int(keep.sum()), 2))])
    duration_ms = np.round(rng.gamma(6.0, 45.0, len(xy)) + 90)
    return Scanpath(np.clip(xy, 20, frame.size_px - 20), frame, duration_ms=duration_ms)


def record(scanpath: Scanpath, picture: str, clock_ms: float, rng: np.random.Generator) -> Recording:
    """What an EyeLink would have written while the scanpath was made."""
    from stdiffeye.gaze.lifting import lift
    from stdiffeye.gaze.recording import Message, Recording

    gaze = lift(scanpath, RATE_HZ, rng)
    xy = np.array(gaze.xy_px)
    pupil = 900 + 40 * np.sin(np.arange(len(xy)) / 700) + rng.normal(0, 3, len(xy))
    at = int(rng.integers(len(xy) // 4, len(xy) // 2))
    xy[at : at + BLINK_MS], pupil[at : at + BLINK_MS] = np.nan, 0
    time_ms = np.arange(len(xy), dtype=np.float64) + clock_ms
    messages = (
        Message(clock_ms - 100, f"TRIALID {picture}"),
        Message(clock_ms - 60, f"!V IMGLOAD FILL pictures/{picture}"),
        Message(clock_ms, "SYNCTIME"),
        Message(time_ms[-1] + 20, "TRIAL_RESULT 0"),
    )
    return Recording(time_ms, RATE_HZ, scanpath.frame, right_px=xy, right_pupil=pupil, messages=messages)
