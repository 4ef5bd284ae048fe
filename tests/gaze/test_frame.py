from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Placement
from stdiffeye.gaze.frame import as_points

sizes = st.floats(1, 1e4)
coordinates = st.floats(-1e4, 1e4)
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=5).map(np.array)
frames = st.builds(Frame, sizes, sizes, st.floats(1, 200))
modest = settings(deadline=None, max_examples=40)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 600), "Frame.width_px must be a positive number, got 0"),
        ((800, -1), "Frame.height_px must be a positive number, got -1"),
        ((800, float("nan")), "Frame.height_px must be a positive number, got nan"),
        ((800, 600, 0), "Frame.px_per_degree must be a positive number, got 0"),
        (("800", 600), "Frame.width_px must be a positive number, got '800'"),
    ],
)
def test_a_frame_of_no_size_is_refused_with_the_value_in_the_message(values: tuple, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Frame(*values)
    assert str(caught.value) == message


@modest
@given(frames, points)
def test_normalised_coordinates_come_back(frame: Frame, xy: np.ndarray) -> None:
    np.testing.assert_allclose(frame.denormalise(frame.normalise(xy)), xy, atol=1e-9)


@modest
@given(frames, frames, points)
def test_rescaling_there_and_back_changes_nothing(one: Frame, other: Frame, xy: np.ndarray) -> None:
    np.testing.assert_allclose(other.rescale(one.rescale(xy, other), one), xy, atol=1e-6, rtol=1e-9)


@modest
@given(frames, frames, points)
def test_a_picture_on_a_screen_keeps_its_corners_and_centre(image: Frame, screen: Frame, xy: np.ndarray) -> None:
    for shown in (Placement.letterbox(image, screen), Placement.centred(image, screen)):
        on_screen = xy * shown.scale + [shown.left_px, shown.top_px]
        np.testing.assert_allclose(shown.to_image(on_screen), xy, atol=1e-6, rtol=1e-7)
        np.testing.assert_allclose(shown.to_image(screen.centre_px), image.centre_px, atol=1e-6, rtol=1e-7)


def test_the_centre_is_at_zero_degrees() -> None:
    frame = Frame(800, 600, 24)
    assert frame.to_degrees([400, 300]).tolist() == [0, 0]
    assert frame.to_degrees([424, 276]).tolist() == [1, -1]


def test_degrees_without_px_per_degree_say_what_is_needed() -> None:
    with pytest.raises(InputError, match=r"no px_per_degree: degrees of visual angle need Frame\(…, px_per_degree=…\)"):
        Frame(800, 600).to_degrees([0, 0])


def test_rounding_to_whole_pixels_is_no_other_shape() -> None:
    assert Frame(1680, 1050).same_shape(Frame(400, 250))
    assert Frame(1023, 767).same_shape(Frame(512, 384))
    assert not Frame(1680, 1050).same_shape(Frame(640, 480))
    assert not Frame(480, 640).same_shape(Frame(640, 480))


def test_the_edge_belongs_to_the_frame_on_the_left_and_not_on_the_right() -> None:
    inside = Frame(10, 5).contains([[0, 0], [9.9, 4.9], [10, 0], [0, 5], [-0.1, 0], [np.nan, 1]])
    assert inside.tolist() == [True, True, False, False, False, False]


def test_px_per_degree_follows_the_width_when_resized() -> None:
    assert Frame(800, 600, 24).resized(400, 400) == Frame(400, 400, 12)
    assert Frame(800, 600).resized(400, 300).px_per_degree is None


def test_a_letterbox_keeps_the_aspect_and_is_centred() -> None:
    shown = Placement.letterbox(Frame(640, 480), Frame(1680, 1050))
    assert (shown.left_px, shown.top_px, shown.width_px, shown.height_px) == (140, 0, 1400, 1050)
    assert shown.scale.tolist() == [2.1875, 2.1875]


def test_a_picture_at_its_own_size_is_centred() -> None:
    shown = Placement.centred(Frame(640, 480), Frame(1680, 1050))
    assert shown.to_image([520, 285]).tolist() == [0, 0]


def test_a_placement_of_no_size_is_refused() -> None:
    with pytest.raises(InputError, match="Placement needs a box of positive size, got 0 × 5 px"):
        Placement(Frame(1, 1), Frame(1, 1), 0, 0, 0, 5)


def test_points_without_two_coordinates_are_refused() -> None:
    with pytest.raises(InputError, match=r"points need a last axis of length 2 \(x, y\), got shape \(3,\)"):
        as_points([1, 2, 3])
