"""The page in a real browser, as people use it: by mouse and keyboard, wide and narrow, light and dark."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from PIL import Image
from web_files import as_json, people

from stdiffeye.gaze import Frame
from stdiffeye.io.area_files import read_areas
from stdiffeye.plotting.density import density
from stdiffeye.web.server import bound

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 60_000
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def address(app) -> Iterator[str]:
    """The real server on a real socket."""
    with bound("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed: .ci/run installs it")
        pytest.skip("Chromium is not installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def visit(browser, address) -> Iterator[Callable[..., Any]]:
    """Opens the page; at the end nothing may have gone wrong in it, and nothing may have been asked of others."""
    problems: list[str] = []
    contexts = []

    def open_page(size: dict[str, int] = WIDE, **options: Any) -> Any:
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: None if _is_ours(request.url, address) else problems.append(request.url))
        page.goto(address)
        page.locator("#samples img").first.wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    # A refusal is an answer that the page shows; the browser reports it on the console all the same.
    assert [words for words in problems if "status of 4" not in words and "status of 503" not in words] == []


def _is_ours(url: str, address: str) -> bool:
    return url.startswith((address, f"blob:{address}", "data:"))


@pytest.fixture
def photo(picture: bytes, tmp_path: Path) -> Path:
    (tmp_path / "street.jpg").write_bytes(picture)
    return tmp_path / "street.jpg"


def generate(page: Any, photo: Path, viewers: int = 3) -> None:
    page.set_input_files("#file", photo)
    page.fill("#viewers", str(viewers))
    page.fill("#seconds", "2")
    page.click("#generate")
    page.get_by_text(f"Gaze of {viewers} viewers is ready.").wait_for()


def now_s(page: Any) -> float:
    return float(page.inner_text("#clock").split("/")[0])


def drawn(page: Any, canvas: str = "stage") -> str:
    return str(page.evaluate(f"document.getElementById('{canvas}').toDataURL()"))


def until(true: Callable[[], bool]) -> None:
    """Wait in small steps; the page's own policy forbids the browser driver's way of doing so."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@contextmanager
def changes(page: Any, canvas: str = "stage") -> Iterator[None]:
    before = drawn(page, canvas)
    yield
    assert drawn(page, canvas) != before


def pause(page):
    """Stop the replay, unless it has come to its end by itself on a slow machine."""
    page.evaluate("(b => b.textContent.includes('Pause') && b.click())(document.querySelector('#play'))")


def test_a_picture_is_uploaded_looked_at_and_replayed(visit, photo):
    page = visit()
    generate(page, photo)
    until(lambda: now_s(page) > 0.2)  # it plays by itself
    pause(page)
    with changes(page), changes(page, "trace"):
        page.locator("#time").focus()
        page.keyboard.press("Home")
        assert now_s(page) == 0
        page.keyboard.press("Shift+ArrowRight")
        assert now_s(page) == 1.0
    page.select_option("#speed", "4")
    page.locator("#time").focus()
    page.keyboard.press("Space")
    until(lambda: now_s(page) > 1.5 and page.inner_text("#play") == "Play")
    assert page.inner_text("#stage-caption") == "street.jpg: generated by tiny, seed 0"


def test_layers_viewers_table_and_trace_follow_each_other(visit, photo):
    page = visit(reduced_motion="reduce")
    generate(page, photo)
    assert page.inner_text("#play") == "Play"  # nothing moves by itself where motion is unwelcome
    for layer in ("trajectory", "heat map", "scanpath"):
        with changes(page):
            page.get_by_label(layer, exact=True).click()
    with changes(page), changes(page, "trace"):
        page.get_by_label("viewer 2", exact=True).uncheck()
    page.get_by_role("button", name="none", exact=True).click()
    assert page.locator("#viewer-list input:checked").count() == 0
    page.get_by_role("button", name="all", exact=True).click()
    assert page.locator("#viewer-list input:checked").count() == 3
    page.select_option("#table-viewer", "1")
    page.get_by_role("button", name="Go to fixation 2").click()
    row = page.locator("#fixations tbody tr").nth(1)
    assert row.get_attribute("aria-current") == "true"
    assert now_s(page) == pytest.approx(float(row.locator("td").nth(2).inner_text()) / 1000, abs=0.01)
    box = page.locator("#trace").bounding_box()
    page.locator("#trace").click(position={"x": 46 + (box["width"] - 56) / 2, "y": 60})
    end_s = float(page.inner_text("#clock").split("/")[1].split()[0])
    assert now_s(page) == pytest.approx(end_s / 2, abs=0.02)
    assert page.locator("#statistics svg").count() == 5


def test_what_is_switched_on_is_what_is_downloaded(visit, photo, tmp_path):
    page = visit(reduced_motion="reduce")
    generate(page, photo, 2)
    page.get_by_label("viewer 1", exact=True).uncheck()
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON", exact=True).click()
    assert saved.value.suggested_filename == "street-gaze.json"
    saved.value.save_as(tmp_path / "gaze.json")
    (row,) = json.loads((tmp_path / "gaze.json").read_text())
    assert (row["sample"], row["width"]) == (1, 240)
    with page.expect_download() as saved:
        page.get_by_role("button", name="HTML, replay").click()
    assert saved.value.suggested_filename == "street-replay.html"
    page.get_by_label("viewer 2", exact=True).uncheck()
    page.get_by_role("button", name="PNG, heat map").click()
    assert page.inner_text("#download-error") == "Every viewer is switched off: switch one on."


def test_a_target_is_held_against_what_the_model_was_trained_on_at_once(visit, model, monkeypatch):
    monkeypatch.setattr(model, "targets", ("clock", "car"))
    page = visit()
    page.get_by_label("Looking for a target").check()
    page.fill("#task", "dog")
    page.locator("#task").press("Tab")
    page.get_by_text(
        "'dog' is not among the 2 targets that tiny was trained on (clock, car); nearest is 'car'"
    ).wait_for()
    assert "warning" in page.locator("#task-hint").get_attribute("class")


def test_a_recording_is_shown_beside_and_scored(visit, photo, tmp_path):
    page = visit(reduced_motion="reduce")
    generate(page, photo)
    (tmp_path / "people.json").write_bytes(as_json(people()))
    page.get_by_role("button", name="Compare").click()
    assert page.inner_text("#compare-error") == "Choose a recording first."
    page.set_input_files("#recording", tmp_path / "people.json")
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("2 recorded viewers beside 3 generated (independent samples).").wait_for()
    titles = page.locator("#score-table thead th").all_inner_texts()
    assert titles == ["Metric", "model", "human", "centre", "model − human (95 %)"]
    assert page.locator("#score-table tbody tr").count() == 7
    left, right = (page.locator(f"#{name}").bounding_box() for name in ("stage", "human-stage"))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    with changes(page, "human-stage"):
        page.locator("#human-list input").first.uncheck()
    before = page.inner_text("#score-table")
    page.select_option("#protocol", "best")
    assert page.inner_text("#score-table") != before
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    page.set_input_files("#recording", tmp_path / "bad.csv")
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("The recording is no table of fixations").wait_for()


def test_errors_are_said_where_a_screen_reader_hears_them(visit, photo, tmp_path, app):
    page = visit()
    alert = page.locator("#ask [role=alert]")
    page.click("#generate")
    assert alert.inner_text() == "Choose a picture first."
    (tmp_path / "letter.png").write_text("Dear reader")
    page.set_input_files("#file", tmp_path / "letter.png")
    page.click("#generate")
    page.get_by_text("That file is not a picture that can be read here").wait_for()
    page.set_input_files("#file", photo)
    page.fill("#viewers", "1000")
    page.click("#generate")
    assert alert.inner_text().startswith("Viewers: ")
    assert page.evaluate("document.activeElement.id") == "viewers"
    page.fill("#viewers", "2")
    page.click("#more summary")
    page.fill("#seed", "-1")
    page.click("#more summary")
    page.click("#generate")
    assert alert.inner_text().startswith("Seed: ")  # what is folded away is opened to be corrected
    assert page.locator("#seed").is_visible()
    page.fill("#seed", "0")
    (tmp_path / "large.png").write_bytes(b"\0" * 2_100_000)
    page.set_input_files("#file", tmp_path / "large.png")
    page.get_by_text("large.png has 2 MB; at most 2 MB can be uploaded.").wait_for()


def test_a_busy_server_says_so_and_a_job_can_be_stopped(visit, photo, app):
    gate = threading.Event()
    worker = app.state.server.worker
    held = [worker.submit(lambda report: gate.wait(60)) for _ in range(2)]
    try:
        page = visit()
        page.set_input_files("#file", photo)
        page.click("#generate")
        page.get_by_text("The server is busy with other pictures: try again in a moment").wait_for()
    finally:
        gate.set()
        [job.future.result(60) for job in held]
    gate.clear()
    held = [worker.submit(lambda report: gate.wait(60))]
    page.click("#generate")
    page.get_by_text("waiting for its turn …").wait_for()
    page.get_by_role("button", name="Stop").click()
    time.sleep(0.3)
    gate.set()
    page.get_by_text("Stopped.").wait_for()
    assert page.locator("#found").is_hidden()


def test_on_a_phone_in_the_dark_everything_fits_and_is_dark(visit):
    page = visit(NARROW, color_scheme="dark", reduced_motion="reduce")
    page.fill("#viewers", "2")
    page.evaluate("for (const one of ['#samples button', '#generate']) document.querySelector(one).click()")
    page.get_by_text("Gaze of 2 viewers is ready.").wait_for()  # though the sample was still on its way
    assert page.inner_text("#chosen") == "gallery.png"
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 60
    assert page.locator("#stage").bounding_box()["width"] > 300
    for button in page.locator("main button:visible").all():
        assert button.bounding_box()["height"] >= 24
    light = visit(NARROW, color_scheme="light")
    assert light.evaluate("getComputedStyle(document.body).backgroundColor") != ground


def test_every_control_has_a_name_and_the_keyboard_reaches_them_in_order(visit, photo):
    page = visit(reduced_motion="reduce")
    generate(page, photo, 2)
    named = "one.labels?.length || one.ariaLabel || one.textContent.trim() || one.querySelector('img[alt]')"
    controls = "[...document.querySelectorAll('input, select, button, canvas')]"
    assert page.evaluate(f"{controls}.length") > 30
    assert page.evaluate(f"{controls}.filter((one) => !({named})).map((one) => one.id)") == []
    page.reload()
    page.locator("#samples img").first.wait_for()
    order = []
    for _ in range(12):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    stops = [one for one in order if one]
    assert stops[:2] == ["skip", "file"]
    assert stops[-4:] == ["viewers", "seconds", "representative", "generate"]
    assert page.locator("#more summary").inner_text() == "More"


def test_the_heat_map_is_hottest_where_the_density_of_the_plots_is(visit):
    page = visit()
    xy = np.random.default_rng(2).uniform((20, 20), (220, 140), (25, 2))
    xy[:6] = (180, 50)
    fixations = [{"x": x, "y": y, "start_ms": 0, "duration_ms": 200} for x, y in xy.tolist()]
    found = page.evaluate(
        """async (fixations) => {
            const { density } = await import("/static/heat.js");
            const { width, height, shares } = density([{ fixations }], [240, 160]);
            return { width, height, shares: [...shares] };
        }""",
        fixations,
    )
    ours = density([xy], Frame(240, 160))
    page_map = np.reshape(found["shares"], (found["height"], found["width"]))

    def hottest(cells: np.ndarray) -> np.ndarray:
        return (np.array(np.unravel_index(cells.argmax(), cells.shape)) + 0.5) / cells.shape

    np.testing.assert_allclose(hottest(page_map), hottest(ours), atol=0.02)


def test_a_picture_that_is_too_large_is_made_smaller_by_the_page(visit, tmp_path):
    page = visit(reduced_motion="reduce")
    Image.new("RGB", (2400, 2000), "gray").save(tmp_path / "large.png")  # 4.8 megapixels; the server takes 4
    generate(page, tmp_path / "large.png", 2)
    said = page.inner_text("#chosen")
    width, height = map(int, said.removeprefix("large.png, made smaller: ").removesuffix(" px").split("×"))
    assert 3.6e6 < width * height < 4e6
    assert width / height == pytest.approx(1.2, rel=0.01)
    assert page.inner_text("#stage-caption").startswith("large.png: generated by")


def drag(page: Any, canvas: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Over a canvas, in shares of it."""
    page.locator(canvas).scroll_into_view_if_needed()
    box = page.locator(canvas).bounding_box()
    for (x, y), act in ((start, page.mouse.down), (end, page.mouse.up)):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        act()


def test_areas_are_drawn_by_dragging_measured_and_saved(visit, photo, tmp_path):
    page = visit(reduced_motion="reduce")
    generate(page, photo, 6)
    with changes(page):
        page.click("#draw-areas")
        drag(page, "#stage", (0.03 / 1.06, 0.03 / 1.06), (0.5, 1.03 / 1.06))
    page.locator("#area-table tbody tr").wait_for()
    page.fill("#area-list li > input", "left")
    page.locator("#area-list li > input").press("Enter")
    page.locator("#area-table th", has_text="left").wait_for()
    assert page.locator("#area-table thead th").all_inner_texts()[:2] == ["Area", "hit share"]
    with page.expect_download() as saved:
        page.click("#save-areas")
    saved.value.save_as(tmp_path / "areas.json")
    content = json.loads((tmp_path / "areas.json").read_text())
    assert content["size"] == [240, 160]
    (area,) = content["areas"]
    np.testing.assert_allclose(area["box"], [0, 0, 120, 160], atol=2)
    (only,) = read_areas(tmp_path / "areas.json").values()
    assert only.names == ("left",)
    page.get_by_role("button", name="Remove left").click()
    until(lambda: page.locator("#area-results").is_hidden())


def test_two_pictures_are_seen_side_by_side_and_their_areas_compared(visit, photo, picture, tmp_path):
    (tmp_path / "other.jpg").write_bytes(picture)
    page = visit(reduced_motion="reduce")
    page.click("#second summary")
    page.set_input_files("#file-b", tmp_path / "other.jpg")
    page.set_input_files("#file", photo)
    page.fill("#viewers", "6")
    page.fill("#seconds", "2")
    page.click("#generate")
    page.get_by_text("Gaze of 6 viewers is ready, for both pictures.").wait_for()
    left, right = (page.locator(f"#{name}").bounding_box() for name in ("stage", "second-stage"))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    assert page.inner_text("#second-caption").startswith("B: other.jpg: generated by tiny")
    assert {"A", "B"} <= set(page.locator("#statistics p span").all_inner_texts())
    page.click("#add-area")
    page.get_by_role("button", name="Copy area 1 to the other picture").click()
    page.locator("#difference-table tbody tr").first.wait_for()
    page.get_by_label("picture B").check()
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON", exact=True).click()
    assert saved.value.suggested_filename == "other-gaze.json"
    with changes(page), changes(page, "second-stage"):
        page.get_by_label("viewer 2", exact=True).uncheck()


def test_the_table_of_fixations_shows_that_there_is_more_of_it(visit, photo):
    page = visit(reduced_motion="reduce")
    generate(page, photo, 2)
    counted = page.locator("#fixations tbody tr").count()
    assert page.inner_text("#fixation-count") == f"{counted} fixation{'s' * (counted != 1)}"
    style = "getComputedStyle(document.querySelector('.scroll.tall'))"
    assert page.evaluate(f"{style}.overflowY") == "scroll"
    assert page.evaluate(f"{style}.backgroundImage").count("gradient") == 4
