"""The pictures of the README: an attempt of the last step on the live page.

docs/images has the page in light and in dark, and its text. The check compares
only the text without times, because fonts and times differ between runs.
"""

import contextlib
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Iterator

from embedded import BIN, ROOT, program_of
from live_page import check, started_browser, until
from playwright.sync_api import Browser, Page

IMAGES = ROOT / "docs" / "images"
TEXT = IMAGES / "live.txt"
SCENARIO = ROOT / "testdata" / "picture.yaml"
WIDTH = 1360
MAX_BYTES = 150_000
# Returns the height of a window that ends below the table and its legend.
HEIGHT = """() => {
  const rest = document.querySelector('.points').getBoundingClientRect();
  const timeline = document.querySelector('.timeline');
  return Math.floor(rest.top + timeline.offsetHeight);
}"""
IS_TOO_WIDE = """() => {
  const table = document.querySelector('.scroll');
  return table.scrollWidth > table.clientWidth;
}"""
REMEDY = "run scripts/tests/live_test --pictures, and look at docs/images"


def picture_of(scheme: str) -> pathlib.Path:
    return IMAGES / f"live-{scheme}.png"


@contextlib.contextmanager
def exported_page() -> Iterator[str]:
    """Plays the scenario with the last step, and yields the page's URL."""
    step = max((ROOT / "steps").iterdir()).name[:2]
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder, "recording.jsonl")
        page = pathlib.Path(folder, "page.html")
        subprocess.run(
            [BIN / "minisched-scenario", "--embedded", "--linger", "1",
             "--scheduler", f"exec '{program_of(step)}' --record '{recording}'",
             SCENARIO], check=True, stdout=subprocess.DEVNULL)
        # The namespace has a random name.
        text = recording.read_text("utf-8")
        recording.write_text(
            re.sub(r"\bscenario-picture-\w+", "default", text), "utf-8")
        subprocess.run([BIN / "minisched-live", "--replay", recording,
                        "--export", page], check=True)
        yield page.as_uri()


@contextlib.contextmanager
def shown_attempt(browser: Browser, url: str, scheme: str) -> Iterator[Page]:
    """Opens the page, which shows the newest attempt, and yields it."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 1000}, color_scheme=scheme,
        timezone_id="UTC", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{url}#attempts")
    until(lambda: page.locator("table:has(th.filter)").count() and "recording"
          in page.inner_text(".status"), "the attempt is shown")
    page.set_viewport_size({"width": WIDTH, "height": page.evaluate(HEIGHT)})
    yield page
    context.close()


def text_of(page: Page) -> str:
    """Returns the text of the page, without times and blank lines."""
    text = "\n".join(page.inner_text(part) for part in (".brand", "main"))
    text = re.sub(r"\d\d:\d\d:\d\d\.\d+", "…", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def make_pictures() -> None:
    IMAGES.mkdir(exist_ok=True)
    with exported_page() as url, started_browser() as browser:
        for scheme in ("light", "dark"):
            with shown_attempt(browser, url, scheme) as page:
                assert not page.evaluate(IS_TOO_WIDE), "the table is cut"
                page.screenshot(path=picture_of(scheme))
                TEXT.write_text(text_of(page), "utf-8")
            print(f"{picture_of(scheme).relative_to(ROOT)}: "
                  f"{picture_of(scheme).stat().st_size} bytes")


@check
def the_pictures_of_the_README_show_the_page_as_it_is(browser: Browser) -> None:
    with exported_page() as url, \
            shown_attempt(browser, url, "light") as page:
        text = text_of(page)
        assert text == TEXT.read_text("utf-8"), f"{REMEDY}. Now:\n{text}"
    for scheme in ("light", "dark"):
        size = picture_of(scheme).stat().st_size
        assert size <= MAX_BYTES, f"{picture_of(scheme)}: {size} bytes"
