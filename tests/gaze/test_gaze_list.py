"""A list of gaze is a list that does not change and shows itself."""

from __future__ import annotations

import pickle

import pytest

from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, GazeList, Scanpath, Trial

FRAME = Frame(100, 80)
ONE, TWO, THREE = (Scanpath([[20, 30], [x, 50]], FRAME) for x in (70, 60, 50))
PNG = b"\x89PNG"


def test_it_is_indexed_sliced_joined_and_compared_as_a_list_is() -> None:
    gaze = GazeList([ONE, TWO, THREE])
    assert len(gaze) == 3
    assert gaze[0] is ONE
    assert gaze[-1] is THREE
    assert gaze[1:] == [TWO, THREE]
    assert isinstance(gaze[1:], GazeList)
    assert gaze[:1] + gaze[1:] == gaze
    assert gaze != [ONE]
    assert TWO in gaze
    assert list(reversed(gaze)) == [THREE, TWO, ONE]
    assert pickle.loads(pickle.dumps(gaze)) == gaze  # noqa: S301


def test_it_does_not_change() -> None:
    gaze = GazeList([ONE])
    with pytest.raises(TypeError):
        gaze[0] = TWO  # type: ignore[index]
    with pytest.raises(AttributeError, match="a GazeList does not change"):
        gaze._gaze = (TWO,)


def test_it_holds_gaze_alone() -> None:
    with pytest.raises(InputError, match="a GazeList holds Scanpath, Trajectory or Trial, got str"):
        GazeList(["gaze"])  # type: ignore[type-var]


def test_its_repr_is_short_however_long_it_is() -> None:
    assert repr(GazeList()) == "GazeList of 0"
    lines = repr(GazeList([ONE] * 1200)).splitlines()
    assert lines[0] == "GazeList of 1,200:"
    assert lines[-1] == "  … and 1,197 more"
    assert len(lines) == 5


def test_a_notebook_shows_the_gaze_of_the_first_stimulus() -> None:
    trials = GazeList(
        [Trial("a.jpg", "1", ONE), Trial("b.jpg", "1", TWO), Trial("a.jpg", "2", THREE), Trial("b.jpg", "2", ONE)]
    )
    drawing, page = trials._repr_png_(), trials._repr_html_()
    assert drawing is not None
    assert drawing.startswith(PNG)
    assert drawing == GazeList([trials[0], trials[2]])._repr_png_()
    assert page.startswith("<p>4 × Trial on 2 stimuli</p><img")
    assert GazeList()._repr_png_() is None
    assert GazeList()._repr_html_() == "<p>0 × nothing on 0 stimuli</p>"


def test_plot_takes_the_options_of_a_drawing() -> None:
    ax = GazeList([ONE, TWO]).plot(title="two viewers")
    assert ax.get_title() == "two viewers"
    with pytest.raises(InputError, match="there is nothing to draw"):
        GazeList().plot()
