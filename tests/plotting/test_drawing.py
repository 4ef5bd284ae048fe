"""Overlays: where marks go, what shape a figure has, whether they can be read on any picture."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from stdiffeye import Frame, Scanpath, Trajectory, Trial, plotting
from stdiffeye.errors import InputError
from stdiffeye.plotting.canvas import new_figure, png_bytes, size_pt
from stdiffeye.plotting.overlay import BAR_HEIGHT, RADIUS_LARGEST, label_offsets, view_px

FRAME = Frame(400, 300)
PATH = Scanpath([[100, 80], [300, 220], [120, 240]], FRAME, [150, 600, 300])


def pixels(drawing: object, dpi: float = 100) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png_bytes(drawing, dpi))).convert("RGB")).astype(int)  # type: ignore[arg-type]


def pictures() -> dict[str, Image.Image]:
    """Bright, dark, busy, text-like and graded pictures of 300 to 3000 px, portrait and landscape."""
    rng = np.random.default_rng(0)
    stripes = np.where(np.arange(600)[:, None] // 9 % 2 == 0, 255, 0) * np.ones((1, 800))
    grade = np.linspace(0, 255, 1500)[None] * np.ones((700, 1))
    return {
        "bright": Image.new("RGB", (300, 400), (252, 250, 244)),
        "dark": Image.new("L", (3000, 2000), 8),
        "busy": Image.fromarray(rng.integers(0, 256, (500, 700, 3), dtype=np.uint8)),
        "text": Image.fromarray(stripes.astype(np.uint8)),
        "graded": Image.fromarray(grade.astype(np.uint8)),
    }


@pytest.mark.parametrize("kind", pictures())
def test_every_circle_has_a_light_and_a_dark_rim_on_any_picture(kind: str) -> None:
    picture = pictures()[kind]
    frame = Frame(*picture.size)
    path = Scanpath(np.array([[0.3, 0.4], [0.7, 0.6]]) * picture.size, frame, [400, 400])
    image = pixels(plotting.draw(path, picture, numbers=False))
    scale = image.shape[1] / frame.width_px
    radius = RADIUS_LARGEST * np.sqrt(0.5 * image.shape[0] * image.shape[1])
    for x, y in path.xy_px * scale:
        rows, columns = np.ogrid[: image.shape[0], : image.shape[1]]
        distance = np.hypot(columns - x, rows - y)
        rim = image[(distance > 0.8 * radius) & (distance < 1.25 * radius)].mean(axis=1)
        assert rim.max() > 225
        assert rim.min() < 60


def test_marks_look_the_same_at_300_and_3000_pixels() -> None:
    small = plotting.draw(PATH.rescaled(Frame(300, 225)))
    large = plotting.draw(PATH.rescaled(Frame(3000, 2250)))
    marked = [(np.abs(pixels(one) - 245).max(axis=2) > 20).sum() for one in (small, large)]
    assert marked[0] == pytest.approx(marked[1], rel=0.02)
    # Half a pixel of the frame is more on paper where there are few of them.
    assert np.abs(pixels(small) - pixels(large)).mean() < 2


def test_the_figure_has_the_shape_of_the_picture() -> None:
    inside = Scanpath([[200, 150]], FRAME)
    assert pixels(plotting.draw(inside)).shape[:2] == (525, 700)
    tall = pixels(plotting.draw(Scanpath([[60, 200]], Frame(120, 400))))
    assert tall.shape[0] / tall.shape[1] == pytest.approx(400 / 120, rel=0.01)


def test_a_circle_at_the_edge_is_whole_and_a_wild_point_does_not_shrink_the_picture() -> None:
    room = RADIUS_LARGEST * np.sqrt(400 * 300)
    _, right, top, _ = view_px(FRAME, [np.array([[399.0, 0.0]])])
    assert right >= 399 + room
    assert top <= -room
    left, right, top, bottom = view_px(FRAME, [np.array([[9000.0, -9000.0], [np.nan, np.nan]])])
    assert (left, right, top, bottom) == (-0.5, 499.5, -75.5, 299.5)


def test_the_picture_is_where_the_gaze_is() -> None:
    picture = np.zeros((300, 400, 3), dtype=np.uint8)
    picture[200:, 300:] = 255
    image = pixels(plotting.draw(Scanpath([[20, 20]], FRAME, [100]), picture, numbers=False, dim=0.0))
    height, width = image.shape[:2]
    assert image[int(height * 0.95), int(width * 0.95)].tolist() == [255, 255, 255]
    assert image[int(height * 0.5), int(width * 0.95)].tolist() == [0, 0, 0]


def test_a_longer_fixation_has_a_circle_of_proportional_area() -> None:
    def disc(duration_ms: float) -> float:
        drawn = plotting.draw(Scanpath([[200, 150]], FRAME, [duration_ms]), np.zeros((300, 400)), numbers=False, dim=0)
        return float((pixels(drawn).max(axis=2) > 90).sum())

    assert disc(600) / disc(300) == pytest.approx(2, rel=0.1)


def test_a_lost_stretch_leaves_a_gap_in_the_trajectory() -> None:
    x = np.linspace(40, 360, 200)
    xy = np.stack([x, np.full(200, 150.0)], axis=1)
    xy[80:120] = np.nan
    image = pixels(plotting.draw(Trajectory(xy, 240, FRAME), np.zeros((300, 400, 3)), dim=0))
    row = image[image.shape[0] // 2].max(axis=1)
    assert row[len(row) // 2] == 0
    assert row[len(row) // 4] > 50


def test_the_legend_of_time_stands_where_the_gaze_is_not() -> None:
    lower_left = np.linspace((10, 290), (60, 250), 300)
    ax = plotting.draw(Trajectory(lower_left, 240, FRAME))
    (legend,) = ax.child_axes
    box = legend.get_position()
    assert (box.x0 + box.x1) / 2 > 0.5


def test_density_is_hottest_where_most_fixations_are() -> None:
    rng = np.random.default_rng(0)
    many = [Scanpath(rng.normal((300, 80), 8, (20, 2)), FRAME), Scanpath([[80, 220]], FRAME)]
    image = pixels(plotting.draw(many, np.zeros((300, 400, 3)), kind="density")).sum(axis=2)
    row, column = np.unravel_index(image.argmax(), image.shape)
    assert abs(column / image.shape[1] - 0.75) < 0.05
    assert abs(row / image.shape[0] - 80 / 300) < 0.06


positions = st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=1, max_size=8)


@given(positions)
@settings(max_examples=60, deadline=None)
def test_numbers_that_have_room_never_lie_on_each_other(points: list[tuple[float, float]]) -> None:
    xy = np.array(points)
    offsets = label_offsets(xy, np.full(len(xy), 8.0), 9.0, 8.0)
    labels = xy + offsets
    assert (np.hypot(*offsets.T) < 40).all()
    if len(xy) <= 4:
        for m in range(len(xy)):
            for k in range(m):
                assert (np.abs(labels[m] - labels[k]) >= (0.7 * 9 - 1e-6, 9 - 1e-6)).any()


def test_png_is_a_png_and_a_noun_shows_itself_in_a_notebook() -> None:
    assert plotting.png(PATH)[:8] == b"\x89PNG\r\n\x1a\n"
    assert Trial("p", "1", PATH)._repr_png_()[:4] == b"\x89PNG"
    assert PATH.plot().get_figure() is not None


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_files_are_of_their_kind_and_the_same_every_time(tmp_path: Path, suffix: str, magic: bytes) -> None:
    first = plotting.save(plotting.draw(PATH), tmp_path / f"a{suffix}").read_bytes()
    assert first.startswith(magic)
    assert plotting.save(plotting.draw(PATH), tmp_path / f"b{suffix}").read_bytes() == first


def test_drawing_in_given_axes_leaves_the_figure_to_the_caller() -> None:
    figure = new_figure(4, 3)
    ax = figure.add_subplot()
    assert plotting.draw(PATH, ax=ax, title="mine") is ax
    assert ax.get_title() == "mine"


def test_a_picture_of_another_shape_needs_a_word_on_how_it_was_shown() -> None:
    square = np.full((100, 100, 3), 255, dtype=np.uint8)
    with pytest.raises(InputError, match=r"100×100 px but the frame of the gaze 400×300 px.*fit='letterbox'"):
        plotting.draw(PATH, square)
    image = pixels(plotting.draw(Scanpath([[200, 150]], FRAME), square, fit="letterbox", dim=0))
    assert image[image.shape[0] // 2, 20].tolist() == [128, 128, 128]  # the screen beside the picture
    assert image[20, image.shape[1] // 2].tolist() == [255, 255, 255]
    with pytest.raises(InputError, match="fit must be one of stretch, letterbox, centre, got 'fill'"):
        plotting.draw(PATH, square, fit="fill")


def test_bad_input_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        plotting.draw([])
    with pytest.raises(InputError, match="cannot draw a str"):
        plotting.draw(["gaze"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="has no trajectory to draw: use kind='scanpath'"):
        plotting.draw(PATH, kind="trajectory")
    with pytest.raises(InputError, match="kind must be one of scanpath, trajectory, density, got 'film'"):
        plotting.draw(PATH, kind="film")
    with pytest.raises(InputError, match="gaze of different frames"):
        plotting.draw([PATH, PATH.rescaled(Frame(40, 30))])
    with pytest.raises(InputError, match=r"cannot draw into 'a.jpg': expected a file ending in .png, .pdf, .svg"):
        plotting.save(plotting.draw(PATH), tmp_path / "a.jpg")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match="is not a picture that can be read"):
        plotting.draw(PATH, tmp_path / "broken.png")
    with pytest.raises(InputError, match=r"a picture must have shape .* got \(5,\)"):
        plotting.draw(PATH, np.zeros(5))


def test_pictures_of_every_mode_are_read(tmp_path: Path) -> None:
    grey = Image.new("L", (400, 300), 200)
    for mode in ("L", "RGB", "RGBA", "P", "LA", "I;16", "CMYK", "1"):
        file = tmp_path / f"{mode.replace(';', '')}.{'jpg' if mode == 'CMYK' else 'png'}"
        (grey.convert("I").convert("I;16") if mode == "I;16" else grey.convert(mode)).save(file)
        assert plotting.png(PATH, picture=file)[:4] == b"\x89PNG"


def test_importing_loads_no_matplotlib_and_drawing_no_pyplot() -> None:
    program = (
        "import sys, stdiffeye.plotting as plotting; from stdiffeye import Frame, Scanpath; "
        "assert 'matplotlib' not in sys.modules; plotting.png(Scanpath([[1, 1]], Frame(9, 9))); "
        "assert 'matplotlib.pyplot' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_margins_are_as_wide_as_the_circles_that_need_them() -> None:
    def shape(x: float, duration_ms: float, kind: str | None = None) -> tuple[int, ...]:
        path = Scanpath([[x, 150]], FRAME, [duration_ms])
        wild = Trajectory(np.linspace((200, 150), (900, 150), 50), 240, FRAME)
        return pixels(plotting.draw(Trial("p", "1", path, wild), kind=kind)).shape

    assert shape(390, 50, "scanpath") == shape(200, 50, "scanpath")
    assert shape(390, 800, "scanpath")[1] > shape(390, 50, "scanpath")[1]
    assert shape(200, 50, "density") == shape(200, 50, "scanpath")
    assert shape(200, 50, "trajectory")[1] > shape(200, 50, "scanpath")[1]


@pytest.mark.parametrize("frame", [Frame(2400, 600), Frame(400, 300), Frame(300, 900)])
def test_the_legend_of_time_is_as_high_on_a_panorama_as_on_a_portrait(frame: Frame) -> None:
    ax = plotting.draw(Trajectory(np.tile(frame.centre_px, (300, 1)), 240, frame), numbers=False)
    (legend,) = ax.child_axes
    side_pt = np.sqrt(np.prod(size_pt(ax)))
    assert size_pt(legend)[1] == pytest.approx(BAR_HEIGHT * side_pt, rel=0.02)
