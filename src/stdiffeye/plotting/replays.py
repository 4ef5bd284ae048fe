"""Replay: gaze moving over the picture in real time with a fading tail, one viewer or many at once.

`.html` is one file that needs no network: the picture inside as a data URI, play, pause, scrub, speed, viewers on and
off, all by keyboard too. `.gif` and `.mp4` are films of the same.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import write_text
from stdiffeye.gaze import Scanpath, Trajectory, Trial
from stdiffeye.plotting.backdrop import DIM, Backdrop, backdrop
from stdiffeye.plotting.film import Reel, write_film
from stdiffeye.plotting.playback import Playback, playbacks

SUFFIXES = (".html", ".gif", ".mp4")
TAIL_MS, LONGEST_TAIL_MS = 350.0, 60_000.0
SPEEDS = 0.05, 20.0
JPEG_QUALITY = 88
MAX_VIEWERS = 64


def replay(
    trials: Trial | Scanpath | Trajectory | Sequence[Trial | Scanpath | Trajectory],
    picture: Any = None,
    out: str | Path = "replay.html",
    *,
    speed: float = 1.0,
    tail_ms: float = TAIL_MS,
    dim: float = DIM,
    fit: str | None = None,
    title: str | None = None,
    quiet: bool = True,
) -> Path:
    """Replay gaze over its picture in real time, as a page, a GIF or a film.

    Parameters
    ----------
    trials : Trial, Scanpath or Trajectory, or a sequence of these
        One viewer, or several of one picture. Scanpaths without raw gaze are shown with saccades of ordinary speed.
    picture : path, PIL image or ndarray, optional
        By default the first trial's own, where its file exists.
    out : path
        File to write; the suffix (.html, .gif, .mp4) chooses the kind.
    speed : float
        0.5 is slow motion. In .html it is where the speed menu starts.
    tail_ms : float
        Length of the tail behind each gaze.
    dim, fit
        As in `draw`.
    title : str, optional
        Of the page; by default the stimulus' name and task.
    quiet : bool
        Show no progress.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    InputError
        For another suffix, a speed outside 0.05 … 20, a tail over a minute, more than 64 viewers or different frames.

    Examples
    --------
    >>> import tempfile
    >>> from stdiffeye import Frame
    >>> path = Scanpath([[20, 30], [70, 50]], Frame(100, 80), [250, 300])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replay(path, out=f"{folder}/replay.html").name
    'replay.html'
    """
    path = Path(out)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot replay into {path.name!r}: expected a file ending in {', '.join(SUFFIXES)}")
    if not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise InputError(f"speed must lie between {SPEEDS[0]:g} and {SPEEDS[1]:g}, got {speed:g}")
    if not 0 <= tail_ms <= LONGEST_TAIL_MS:
        raise InputError(f"tail_ms must lie between 0 and {LONGEST_TAIL_MS:g}, got {tail_ms:g}")
    found = _as_trials(trials)
    if picture is None:
        picture = next((one.picture for one in found if one.picture is not None and one.picture.is_file()), None)
    viewers, frame = playbacks(found)
    reel = Reel(viewers, frame, backdrop(picture, frame, fit), dim, tail_ms)
    if path.suffix.lower() == ".html":
        write_text(path, page(reel, title or _title(found), speed))
    else:
        write_film(reel, path, speed, quiet)
    return path


def page(reel: Reel, title: str, speed: float = 1.0) -> str:
    """Return the whole HTML page."""
    data = {
        "width": reel.frame.width_px,
        "height": reel.frame.height_px,
        "view": list(reel.view_px),
        "box": list(reel.backdrop.box_px),
        "picture": _data_uri(reel.backdrop),
        "dim": reel.dim,
        "tail_ms": reel.tail_ms,
        "end_ms": reel.end_ms,
        "speed": speed,
        "viewers": [_viewer(viewer) for viewer in reel.viewers],
    }
    # "<" never appears, so that no text inside the data can end the script element.
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    template = files("stdiffeye.plotting").joinpath("replay.html").read_text(encoding="utf-8")
    parts = {"{{title}}": html.escape(title), "{{data}}": text}
    return re.sub("|".join(parts), lambda found: parts[found[0]], template)  # at once: a title may say {{data}}


def _as_trials(nouns: Any) -> list[Trial]:
    several = [nouns] if isinstance(nouns, Trial | Scanpath | Trajectory) else list(nouns)
    if len(several) > MAX_VIEWERS:
        raise InputError(f"{len(several)} viewers at once are too many to distinguish: at most {MAX_VIEWERS}")
    found = []
    for number, noun in enumerate(several, start=1):
        if isinstance(noun, Scanpath):
            noun = Trial("gaze", str(number), scanpath=noun)
        elif isinstance(noun, Trajectory):
            noun = Trial("gaze", str(number), trajectory=noun)
        elif not isinstance(noun, Trial):
            raise InputError(f"cannot replay a {type(noun).__name__}: expected Trial, Scanpath or Trajectory")
        found.append(noun)
    return found


def _title(trials: Sequence[Trial]) -> str:
    names = sorted({trial.name for trial in trials})
    task = f", looking for {trials[0].task}" if trials[0].task else ""
    return f"{names[0]}{task}" if len(names) == 1 else f"{len(names)} recordings"


def _viewer(viewer: Playback) -> dict[str, Any]:
    """Tenths of a pixel as whole numbers, null where the eye was lost."""
    tenths = [None if np.isnan(value) else round(value * 10) for value in viewer.xy_px.ravel().tolist()]
    return {
        "name": viewer.name,
        "colour": viewer.colour,
        "start_ms": viewer.start_ms,
        "rate_hz": viewer.rate_hz,
        "xy10": tenths,
        "fixations": np.round(viewer.fixations, 1).tolist(),
    }


def _data_uri(behind: Backdrop) -> str | None:
    if behind.pixels is None:
        return None
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(behind.pixels).save(buffer, format="JPEG", quality=JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
