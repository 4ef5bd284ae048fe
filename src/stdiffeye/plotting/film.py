"""Frames of a replay, and films made of them: GIF by Pillow, MP4 by ffmpeg where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write
from stdiffeye.gaze import Frame
from stdiffeye.plotting.backdrop import Backdrop
from stdiffeye.plotting.colours import shades
from stdiffeye.plotting.overlay import view_px
from stdiffeye.plotting.playback import Playback
from stdiffeye.progress import track

if TYPE_CHECKING:
    from PIL.Image import Image

LONGER_SIDE_PX = {".gif": 640, ".mp4": 1280}
FRAMES_PER_S = {".gif": 20.0, ".mp4": 30.0}
# Drawn at twice the size and halved, since Pillow's lines have no smooth edges.
OVERSAMPLING = 2
SCREEN_GREY, BLANK_GREY = 128, 245
HOLD_LAST_MS = 700
# Growth, paint (None = the viewer's colour) and width of what makes a ring, in hundredths of the picture's side: a dark
# and a light rim let it stand out on any picture.
RING: tuple[tuple[float, tuple[int, int, int, int] | None, float], ...] = (
    (0.32, (0, 0, 0, 170), 1.1),
    (0.16, (255, 255, 255, 255), 0.78),
    (0.0, None, 0.46),
)
TAIL_WIDTH, TAIL_RIM_WIDTH, TAIL_RIM_OPACITY = 0.55, 1.0, 150


@dataclass(frozen=True)
class Reel:
    """Everything a frame is drawn from.

    Attributes
    ----------
    viewers : sequence of Playback
        Gaze over time.
    frame : Frame
        That all viewers share.
    backdrop : Backdrop
        The picture in the frame.
    dim : float
        Share by which the picture is darkened.
    tail_ms : float
        Length of the tail behind each gaze.
    """

    viewers: Sequence[Playback]
    frame: Frame
    backdrop: Backdrop
    dim: float
    tail_ms: float

    @property
    def view_px(self) -> tuple[float, float, float, float]:
        """Left, right, top, bottom of the shown area: the frame, and a little more where gaze is at its edge."""
        fixated = [viewer.fixations[:, :2] for viewer in self.viewers if len(viewer.fixations)]
        return view_px(self.frame, fixated)

    @property
    def end_ms(self) -> float:
        """Time of the last sample of any viewer."""
        return max(viewer.end_ms for viewer in self.viewers)


def write_film(reel: Reel, path: Path, speed: float, quiet: bool) -> None:
    """Write a .gif or .mp4 of the whole reel, `speed` times as fast as recorded."""
    suffix = path.suffix.lower()
    step_ms = 1000 / FRAMES_PER_S[suffix] * speed
    times_ms = np.arange(0.0, reel.end_ms + step_ms, step_ms)
    frames = track(
        frames_at(reel, times_ms, LONGER_SIDE_PX[suffix]), "drawing frames", total=len(times_ms), quiet=quiet
    )
    if suffix == ".gif":
        _write_gif(frames, [viewer.colour for viewer in reel.viewers], path)
    else:
        _write_mp4(frames, path)


def frames_at(reel: Reel, times_ms: Sequence[float] | Any, longer_side_px: int) -> Iterator[Image]:
    """Yield one picture per time, even in width and height."""
    left, right, top, bottom = reel.view_px
    scale = longer_side_px / max(right - left, bottom - top)
    size = tuple(max(2, 2 * round(side * scale / 2)) * OVERSAMPLING for side in (right - left, bottom - top))
    ground = _ground(reel, (size[0], size[1]))
    for time_ms in times_ms:
        yield _frame(reel, ground, float(time_ms)).reduce(OVERSAMPLING)


def _ground(reel: Reel, size: tuple[int, int]) -> Image:
    """The picture at its position, on the screen's grey, on white."""
    from PIL import Image

    left, right, top, bottom = reel.view_px
    scale = np.array([size[0] / (right - left), size[1] / (bottom - top)])

    def put(pixels: Any, box_px: Sequence[float]) -> None:
        corner = np.round((np.array(box_px[:2]) - (left, top) - 0.5) * scale).astype(int)
        extent = np.maximum(np.round(np.array(box_px[2:]) * scale).astype(int), 1)
        ground.paste(pixels.resize((int(extent[0]), int(extent[1]))), (int(corner[0]), int(corner[1])))

    ground = Image.new("RGB", size, "white")
    grey = SCREEN_GREY if reel.backdrop.pixels is not None else BLANK_GREY
    put(Image.new("RGB", (1, 1), (grey,) * 3), (0, 0, reel.frame.width_px, reel.frame.height_px))
    if reel.backdrop.pixels is not None:
        put(Image.fromarray((reel.backdrop.pixels * (1 - reel.dim)).astype(np.uint8)), reel.backdrop.box_px)
    return ground


def _frame(reel: Reel, ground: Image, time_ms: float) -> Image:
    from PIL import ImageDraw

    image = ground.copy()
    pen = ImageDraw.Draw(image, "RGBA")
    left, right, top, _ = reel.view_px
    scale = image.width / (right - left)
    unit = float(np.sqrt(image.width * image.height)) / 100
    for viewer in reel.viewers:
        shifted = replace(
            viewer,
            xy_px=(viewer.xy_px - (left, top)) * scale,
            fixations=(viewer.fixations - (left, top, 0, 0)) * (scale, scale, 1, 1),
        )
        _draw_viewer(pen, shifted, time_ms, reel.tail_ms, unit)
    _draw_clock(pen, image.size, time_ms, reel.end_ms, unit)
    return image


def _draw_viewer(pen: Any, viewer: Playback, time_ms: float, tail_ms: float, unit: float) -> None:
    """The current fixation as a growing ring, the last moments as a fading tail, the gaze as a dot."""
    from PIL import ImageColor

    colour = ImageColor.getrgb(viewer.colour)[:3]
    last = int((time_ms - viewer.start_ms) * viewer.rate_hz / 1000)
    if last < 0 or last >= len(viewer.xy_px):
        return
    for x, y, start_ms, end_ms in viewer.fixations:
        if start_ms <= time_ms < end_ms:
            radius = unit * (1.2 + 2.2 * np.sqrt(min((time_ms - start_ms) / 800, 1.0)))
            for grow, paint, width in RING:
                _ring(pen, x, y, radius + grow * unit, paint or (*colour, 255), width * unit)
    length = round(tail_ms * viewer.rate_hz / 1000)
    first = max(0, last - length)
    tail = viewer.xy_px[first : last + 1]
    for shade, opacity, width in (((0, 0, 0), TAIL_RIM_OPACITY, TAIL_RIM_WIDTH), (colour, 255, TAIL_WIDTH)):
        for pair in range(len(tail) - 1):
            if np.isfinite(tail[pair : pair + 2]).all():
                fresh = max(1 - (last - first - pair) / max(length, 1), 0.0)
                ends = [tuple(tail[pair]), tuple(tail[pair + 1])]
                pen.line(ends, fill=(*shade, round(opacity * fresh)), width=max(1, round(width * unit)))
    if np.isfinite(tail[-1]).all():
        for radius, paint in ((1.15, (0, 0, 0, 255)), (1.0, (255, 255, 255, 255)), (0.75, (*colour, 255))):
            _disc(pen, tail[-1, 0], tail[-1, 1], radius * unit, paint)


def _draw_clock(pen: Any, size: tuple[int, int], time_ms: float, end_ms: float, unit: float) -> None:
    """A line along the lower edge that fills as time goes by."""
    height = max(2, round(0.6 * unit))
    top = size[1] - height
    pen.rectangle((0, top, size[0], size[1]), fill=(0, 0, 0, 140))
    pen.rectangle((0, top, size[0] * min(time_ms / end_ms, 1.0), size[1]), fill=(255, 255, 255, 230))


def _disc(pen: Any, x: float, y: float, radius: float, paint: tuple[int, ...]) -> None:
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=paint)


def _ring(pen: Any, x: float, y: float, radius: float, paint: tuple[int, ...], width: float) -> None:
    box = (x - radius, y - radius, x + radius, y + radius)
    pen.ellipse(box, outline=paint, width=max(1, round(width)))


def _write_gif(frames: Iterator[Image], colours: Sequence[str], path: Path) -> None:
    """One palette for all frames, no dithering: still areas stay the same and take no space."""
    from PIL import Image

    pictures = list(frames)
    own = shades(colours)
    palette = pictures[0].quantize(256 - len(own), dither=Image.Dither.NONE)
    chosen = (palette.getpalette() or [])[: 3 * (256 - len(own))]
    palette.putpalette(chosen + [channel for shade in own for channel in shade])
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    each_ms = [round(1000 / FRAMES_PER_S[".gif"])] * (len(flat) - 1) + [HOLD_LAST_MS]
    with atomic_write(path) as temporary:
        flat[0].save(temporary, format="GIF", save_all=True, append_images=flat[1:], duration=each_ms, loop=0)


def _write_mp4(frames: Iterator[Image], path: Path) -> None:
    program = shutil.which("ffmpeg")
    if program is None:
        raise InputError("an MP4 needs the program ffmpeg, which is not installed: install it, or write .gif or .html")
    first = next(frames)
    size = f"{first.width}x{first.height}"
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{FRAMES_PER_S['.mp4']:g}", "-i", "-"]
    encode = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]
    with atomic_write(path) as temporary:
        command = [program, "-y", "-loglevel", "error", *source, *encode, str(temporary)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stderr is not None  # noqa: PT018
            try:
                process.stdin.write(first.tobytes())
                for frame in frames:
                    process.stdin.write(frame.tobytes())
                process.stdin.close()
            except BrokenPipeError:
                pass
            words = process.stderr.read().decode(errors="replace").strip()
        if process.returncode != 0:
            raise InputError(
                f"ffmpeg could not write {path.name}: {words.splitlines()[-1] if words else 'no reason given'}"
            )
