"""Make docs/images/web.png, the page in a browser: python docs/scripts/web_picture.py [MODEL]

Needs Chromium and the extras `web` and `dev`; without MODEL the shipped one generates.
"""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import uvicorn
from pictures import make_small
from PIL import Image
from playwright.sync_api import sync_playwright

from stdiffeye.web import make_app
from stdiffeye.web.server import bound

OUT = Path(__file__).parents[1] / "images" / "web.png"
SIZE = {"width": 1280, "height": 880}
SHOWN_WIDTH_PX = 1000
WAIT_MS = 300_000


def main(model: str | None) -> None:
    with bound("127.0.0.1", 0) as listening:
        server = uvicorn.Server(uvicorn.Config(make_app(model), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            picture = screenshot(f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()
    height = round(SHOWN_WIDTH_PX * picture.height / picture.width)
    picture.convert("RGB").resize((SHOWN_WIDTH_PX, height)).save(OUT)
    make_small(OUT)
    print(f"Look at {OUT}")


def screenshot(address: str) -> Image.Image:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(viewport=SIZE, reduced_motion="reduce").new_page()
        page.goto(address)
        page.locator("#samples button").nth(1).click()
        page.fill("#viewers", "5")
        page.click("#generate")
        page.get_by_text("is ready.").wait_for(timeout=WAIT_MS)
        page.locator("#time").fill("1800")
        taken = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    return taken


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
