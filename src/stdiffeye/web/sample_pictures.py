"""Pictures of our own making to try things on, drawn by code; nothing to download and nobody's rights."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WIDTH_PX, HEIGHT_PX = 960, 640
# Drawn at twice the size and halved, since Pillow's shapes have no smooth edges.
OVERSAMPLING = 2
GRAIN = 3.0  # a little noise, so that flat colours look less like a diagram

Colour = tuple[int, int, int]

WALL: Colour = (176, 190, 196)


class Pen:
    """Pillow's pen in px of the finished picture."""

    def __init__(self, image: Image.Image) -> None:
        self._draw = ImageDraw.Draw(image)

    def box(self, x0: float, y0: float, x1: float, y1: float, colour: Colour, radius: float = 0.0) -> None:
        self._draw.rounded_rectangle(_scaled((x0, y0, x1, y1)), radius * OVERSAMPLING, fill=colour)

    def oval(self, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
        self._draw.ellipse(_scaled((x - rx, y - ry, x + rx, y + ry)), fill=colour)

    def shape(self, points: Sequence[float], colour: Colour) -> None:
        self._draw.polygon(_scaled(points), fill=colour)

    def arc(self, x: float, y: float, r: float, start: float, end: float, colour: Colour, width: float) -> None:
        box = _scaled((x - r, y - r, x + r, y + r))
        self._draw.arc(box, start, end, fill=colour, width=round(width * OVERSAMPLING))

    def words(self, x: float, y: float, text: str, size: float, colour: Colour) -> None:
        font: Any = ImageFont.load_default(size * OVERSAMPLING)
        self._draw.text((x * OVERSAMPLING, y * OVERSAMPLING), text, fill=colour, font=font, anchor="mm")


def _gallery(pen: Pen) -> None:
    """Three portraits on a wall."""
    pen.box(0, 520, WIDTH_PX, HEIGHT_PX, (122, 92, 66))
    pen.box(0, 512, WIDTH_PX, 526, (236, 230, 218))
    for x, skin, hair, cloth, mouth in (
        (190, (232, 190, 160), (70, 44, 30), (150, 50, 60), 20),
        (480, (150, 104, 78), (24, 20, 22), (52, 96, 120), 24),
        (770, (244, 214, 190), (196, 150, 70), (90, 110, 70), 14),
    ):
        pen.box(x - 118, 100, x + 118, 420, (160, 120, 54), 6)
        pen.box(x - 100, 118, x + 100, 402, (206, 206, 190))
        pen.oval(x, 410, 92, 92, cloth)
        pen.box(x - 118, 402, x + 118, 420, (160, 120, 54), 6)
        pen.box(x - 120, 420, x + 120, 512, WALL)
        pen.box(x - 24, 300, x + 24, 350, skin)
        pen.oval(x, 222, 70, 78, hair)
        pen.oval(x, 244, 58, 74, skin)
        for side in (-1, 1):
            pen.oval(x + side * 22, 236, 11, 7, (250, 250, 248))
            pen.oval(x + side * 22, 236, 5, 6, (40, 50, 60))
            pen.arc(x + side * 22, 226, 14, 200, 340, hair, 4)
        pen.shape((x, 244, x - 8, 268, x + 8, 268), (200, 140, 120) if skin[0] > 200 else (126, 84, 62))
        pen.arc(x, 276, mouth, 20, 160, (150, 50, 56), 5)
    pen.box(440, 446, 520, 476, (246, 244, 236), 2)
    pen.words(480, 461, "No. 7", 18, (50, 50, 50))


def _street(pen: Pen) -> None:
    """Houses, a car, a sign and somebody walking."""
    for row in range(330):
        shade = row / 330
        pen.box(0, row, WIDTH_PX, row + 1, (int(120 + 90 * shade), int(168 + 50 * shade), int(214 + 20 * shade)))
    pen.box(0, 480, WIDTH_PX, HEIGHT_PX, (86, 88, 92))
    pen.box(0, 456, WIDTH_PX, 486, (170, 166, 158))
    for left, top, right, wall, roof in (
        (40, 210, 250, (212, 178, 140), (140, 66, 52)),
        (250, 150, 470, (190, 196, 200), (72, 78, 92)),
        (470, 240, 660, (226, 206, 160), (150, 84, 56)),
    ):
        pen.box(left, top, right, 456, wall)
        pen.shape((left - 12, top, right + 12, top, (left + right) / 2, top - 70), roof)
        for y in range(top + 28, 380, 72):
            for x in range(left + 28, right - 44, 62):
                pen.box(x, y, x + 34, y + 42, (70, 90, 110))
        pen.box((left + right) / 2 - 20, 392, (left + right) / 2 + 20, 456, (84, 56, 44))
    pen.box(800, 250, 810, 470, (110, 110, 112))
    pen.oval(805, 220, 48, 48, (196, 32, 40))
    pen.words(805, 220, "STOP", 30, (250, 250, 250))
    pen.box(330, 500, 580, 556, (214, 60, 44), 16)
    pen.shape((380, 502, 420, 458, 505, 458, 545, 502), (190, 220, 230))
    for x in (385, 525):
        pen.oval(x, 558, 27, 27, (30, 30, 32))
        pen.oval(x, 558, 11, 11, (190, 190, 192))
    pen.oval(702, 392, 17, 19, (234, 192, 164))
    pen.box(684, 412, 720, 470, (40, 84, 150), 10)
    pen.shape((686, 466, 702, 466, 690, 522, 678, 522), (44, 44, 54))
    pen.shape((702, 466, 718, 466, 730, 522, 717, 522), (54, 54, 64))
    for x in range(20, WIDTH_PX, 120):
        pen.box(x, 600, x + 60, 608, (232, 226, 190))


def _table(pen: Pen) -> None:
    """Breakfast: cup, apples, bread, a clock on the wall."""
    pen.box(0, 0, WIDTH_PX, 380, (206, 214, 206))
    pen.box(0, 380, WIDTH_PX, HEIGHT_PX, (158, 112, 74))
    for y in (430, 500, 580):
        pen.box(0, y, WIDTH_PX, y + 3, (140, 96, 62))
    pen.oval(740, 150, 88, 88, (60, 60, 66))
    pen.oval(740, 150, 78, 78, (248, 246, 238))
    for hour in range(12):
        turn = np.radians(30 * hour)
        pen.oval(740 + 64 * np.sin(turn), 150 - 64 * np.cos(turn), 4, 4, (60, 60, 66))
    pen.shape((737, 150, 743, 150, 740, 92), (30, 30, 34))
    pen.shape((740, 147, 740, 153, 784, 150), (30, 30, 34))
    pen.oval(250, 520, 130, 36, (232, 230, 224))
    pen.box(180, 390, 320, 500, (60, 110, 150), 26)
    pen.arc(330, 436, 36, -100, 110, (60, 110, 150), 15)
    pen.oval(250, 394, 70, 17, (40, 76, 108))
    pen.oval(250, 397, 60, 12, (84, 52, 34))
    for x, y, colour in ((520, 470, (190, 40, 38)), (610, 486, (204, 58, 44)), (566, 440, (126, 160, 60))):
        pen.oval(x, y, 52, 50, colour)
        pen.oval(x - 16, y - 18, 12, 9, (250, 220, 210))
        pen.box(x - 3, y - 66, x + 3, y - 42, (86, 60, 40))
    pen.oval(810, 500, 110, 60, (190, 130, 70))
    pen.oval(806, 480, 96, 40, (216, 164, 100))
    for x in (760, 806, 852):
        pen.shape((x - 8, 450, x + 4, 448, x + 16, 500, x + 4, 502), (176, 116, 60))
    pen.box(70, 90, 330, 260, (250, 248, 240), 4)
    pen.words(200, 150, "GOOD", 44, (176, 60, 50))
    pen.words(200, 206, "MORNING", 44, (176, 60, 50))


@dataclass(frozen=True)
class Sample:
    """One picture: what is in it, its ground colour, and how it is drawn."""

    about: str
    ground: Colour
    draw: Callable[[Pen], None]


SAMPLES = {
    "gallery.png": Sample("three portraits on a wall", WALL, _gallery),
    "street.png": Sample("a street with a car, a sign and somebody walking", (200, 214, 226), _street),
    "breakfast.png": Sample("a breakfast table under a clock", (206, 214, 206), _table),
}


def sample_picture(name: str) -> Image.Image:
    """Draw a sample; the same every time."""
    sample = SAMPLES[name]
    image = Image.new("RGB", (WIDTH_PX * OVERSAMPLING, HEIGHT_PX * OVERSAMPLING), sample.ground)
    sample.draw(Pen(image))
    pixels = np.asarray(image.reduce(OVERSAMPLING), dtype=np.float64)
    grain = np.random.default_rng(len(name)).normal(0, GRAIN, (HEIGHT_PX, WIDTH_PX, 1))
    return Image.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8))


def sample_png(name: str) -> bytes:
    """The sample as a PNG file."""
    buffer = io.BytesIO()
    sample_picture(name).save(buffer, "PNG")
    return buffer.getvalue()


def _scaled(numbers: Sequence[float]) -> list[float]:
    return [float(number) * OVERSAMPLING for number in numbers]
