"""Replay: a page that needs nothing else, films of the right length, gaze at the right place at the right time."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import CHROMIUM, CHROMIUM_FLAGS
from PIL import Image

from stdiffeye import Frame, Scanpath, Trajectory, Trial
from stdiffeye.errors import InputError
from stdiffeye.plotting import film, replay
from stdiffeye.plotting.backdrop import backdrop
from stdiffeye.plotting.film import Reel, frames_at
from stdiffeye.plotting.playback import playbacks

FRAME = Frame(320, 240, px_per_degree=12)
PICTURE = Image.new("RGB", (320, 240), (40, 60, 90))


def viewer(name: str = "1", shift_px: float = 0.0) -> Trial:
    path = Scanpath(np.array([[60, 60], [260, 60], [160, 200]]) + (0, shift_px), FRAME, [300, 300, 300])
    return Trial("photo", name, path)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])  # type: ignore[no-any-return]


def test_the_page_holds_everything_and_asks_the_network_for_nothing(tmp_path: Path) -> None:
    page = replay([viewer("a"), viewer("b", 10)], PICTURE, tmp_path / "r.html").read_text()
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page
    assert "default-src 'none'" in page
    data = data_of(page)
    assert data["picture"].startswith("data:image/jpeg;base64,")
    assert [one["name"] for one in data["viewers"]] == ["a", "b"]
    assert data["viewers"][0]["colour"] != data["viewers"][1]["colour"]


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    nasty = Trial("<b>&", "</script><script>alert(1)</script>", viewer().scanpath)
    page = replay(nasty, None, tmp_path / "r.html").read_text()
    assert page.count("<script") == 2
    assert "<b>" not in page
    assert data_of(page)["viewers"][0]["name"] == nasty.subject


def test_a_scanpath_is_held_and_then_moves_on() -> None:
    (one,), frame = playbacks([viewer()])
    assert frame == FRAME
    assert one.xy_px[0].tolist() == [60, 60]
    assert one.xy_px[-1].tolist() == [160, 200]
    assert one.fixations.shape == (3, 4)
    assert (np.diff(one.fixations[:, 2:].ravel()) >= 0).all()
    at_ms = 150
    assert one.xy_px[int(at_ms * one.rate_hz / 1000)].tolist() == [60, 60]


def test_without_durations_every_fixation_lasts_a_quarter_of_a_second() -> None:
    path = viewer().scanpath
    assert path is not None
    (one,), _ = playbacks([Trial("p", "1", replace(path, duration_ms=None, onset_ms=None))])
    assert np.diff(one.fixations[:, 2:], axis=1).ravel() == pytest.approx([250] * 3, abs=9)


def test_raw_gaze_is_shown_as_it_is_and_lost_samples_are_null(tmp_path: Path) -> None:
    xy = np.linspace((10, 10), (300, 200), 240)
    xy[5] = np.nan
    page = replay(Trajectory(xy, 240, FRAME), None, tmp_path / "r.html").read_text()
    one = data_of(page)["viewers"][0]
    assert one["rate_hz"] == 240
    assert one["xy10"][10:12] == [None, None]
    assert one["xy10"][0] == 100
    assert data_of(page)["end_ms"] == pytest.approx(1000)


def test_the_dot_is_where_the_gaze_is_at_that_time() -> None:
    viewers, frame = playbacks([viewer()])
    reel = Reel(viewers, frame, backdrop(PICTURE, frame), 0.0, 50.0)
    early, late = (np.asarray(image).astype(int) for image in frames_at(reel, [100, reel.end_ms - 20], 640))
    colour = np.array([0xFF, 0xB0, 0x00])
    for image, (x, y) in ((early, (60, 60)), (late, (160, 200))):
        left, right, top, bottom = reel.view_px
        place = (y + 0.0 - top) * image.shape[0] / (bottom - top), (x - left) * image.shape[1] / (right - left)
        assert np.abs(image[round(place[0]), round(place[1])] - colour).max() < 12


def test_a_gif_lasts_as_long_as_the_gaze_and_slow_motion_longer(tmp_path: Path) -> None:
    def seconds(speed: float) -> float:
        with Image.open(replay(viewer(), PICTURE, tmp_path / "r.gif", speed=speed)) as picture:
            total = 0
            for number in range(picture.n_frames):  # type: ignore[attr-defined]
                picture.seek(number)
                total += picture.info["duration"]
            assert picture.size[0] == 640
        return total / 1000 - film.HOLD_LAST_MS / 1000

    (one,), _ = playbacks([viewer()])
    assert seconds(1.0) == pytest.approx(one.end_ms / 1000, abs=0.11)
    assert seconds(0.5) == pytest.approx(2 * one.end_ms / 1000, abs=0.16)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_an_mp4_is_written_where_ffmpeg_is_found(tmp_path: Path) -> None:
    film_file = replay(viewer(), PICTURE, tmp_path / "r.mp4", speed=4)
    assert film_file.read_bytes()[4:8] == b"ftyp"


def test_without_ffmpeg_the_error_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"needs the program ffmpeg.*write \.gif or \.html"):
        replay(viewer(), PICTURE, tmp_path / "r.mp4")
    assert not (tmp_path / "r.mp4").exists()


def test_bad_input_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot replay into 'r.avi': expected a file ending in .html, .gif, .mp4"):
        replay(viewer(), None, tmp_path / "r.avi")
    with pytest.raises(InputError, match=r"speed must lie between 0\.05 and 20, got 0"):
        replay(viewer(), None, tmp_path / "r.html", speed=0)
    with pytest.raises(InputError, match="nothing to replay"):
        replay([], None, tmp_path / "r.html")
    with pytest.raises(InputError, match="65 viewers at once are too many"):
        replay([viewer()] * 65, None, tmp_path / "r.html")
    with pytest.raises(InputError, match="gaze of different frames"):
        replay([viewer(), viewer().rescaled(Frame(32, 24))], None, tmp_path / "r.html")


@pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")
def test_the_page_plays_pauses_and_seeks_by_keyboard_in_a_browser(tmp_path: Path) -> None:
    sync = pytest.importorskip("playwright.sync_api")
    page_file = replay([viewer("a"), viewer("b", 20)], PICTURE, tmp_path / "r.html")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_FLAGS)
        try:
            page = browser.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce").new_page()
            problems: list[str] = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda message: problems.append(message.text))
            page.goto(page_file.as_uri())
            assert page.inner_text("#play") == "Play"  # nothing moves by itself where motion is unwelcome
            page.keyboard.press("ArrowRight")
            page.keyboard.press("ArrowRight")
            assert page.inner_text("#clock").startswith("0.20 /")
            before = page.evaluate("stage.toDataURL()")
            page.keyboard.press("End")
            assert page.evaluate("stage.toDataURL()") != before
            page.keyboard.press("Home")
            page.keyboard.press("Space")
            for _ in range(100):  # not wait_for_function, which the page's own policy forbids
                page.wait_for_timeout(50)
                if page.evaluate("time") > 100:
                    break
            assert page.evaluate("time") > 100
            assert page.inner_text("#play") == "Pause"
            page.keyboard.press("Space")
            assert page.evaluate("playing") is False
            page.get_by_label("a", exact=True).uncheck()
            assert page.evaluate("shown") == [False, True]
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert problems == []
        finally:
            browser.close()


def test_a_title_that_names_a_part_of_the_page_is_shown_as_it_is(tmp_path: Path) -> None:
    page = replay(viewer(), out=tmp_path / "a.html", title="{{data}} {{title}}").read_text(encoding="utf-8")
    assert "<h1>{{data}} {{title}}</h1>" in page


@pytest.mark.parametrize("tail_ms", [float("nan"), float("inf"), -1.0])
def test_a_tail_that_is_no_length_is_refused(tmp_path: Path, tail_ms: float) -> None:
    with pytest.raises(InputError, match="tail_ms must lie between"):
        replay(viewer(), out=tmp_path / "a.html", tail_ms=tail_ms)
