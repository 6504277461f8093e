"""Checks of recordings that a page of the book shows in a frame."""

import contextlib
import functools
import http.server
import pathlib
import subprocess
import tempfile
import threading
from collections.abc import Iterator

from axe_playwright_python.base import AXE_SCRIPT
from embedded import BIN
from live_access import AXE, COUNT_ANIMATIONS
from live_page import PICTURE, Cluster, LivePage, check, node, pod, until
from playwright.sync_api import Browser, Frame

# As the site frames a picture, under a policy that allows no more than this.
SITE = """<!doctype html><html lang="en"><title>Site</title>
<iframe src="picture.html" sandbox="allow-scripts" loading="lazy"
  title="Recording" style="width: 100%; height: 420px; border: 0"></iframe>"""
POLICY = "default-src 'none'; frame-src 'self'; style-src 'unsafe-inline'"
IS_TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and writes no log."""

    def end_headers(self) -> None:
        if self.path == "/":
            self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: pathlib.Path) -> Iterator[str]:
    """Serves the folder, and returns the URL."""
    handler = functools.partial(Site, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextlib.contextmanager
def framed(browser: Browser, url: str, width: int,
           motion: str = "reduce") -> Iterator[Frame]:
    """Opens the site, and returns the frame with the picture.

    At the end, no pod must have flown, no error must have been written, and
    nothing but the two pages must have been loaded.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 600}, timezone_id="UTC",
        reduced_motion=motion)
    context.add_init_script(COUNT_ANIMATIONS)
    page = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(url)
    frame = page.frames[1]
    until(lambda: frame.locator(".place").count() and "recording" in
          frame.locator(".status").text_content(), "the picture is shown")
    yield frame
    assert frame.evaluate("window.animations") == 0
    assert requests == [url, f"{url}picture.html"], requests
    assert not errors, errors
    context.close()


def export(recording: pathlib.Path, *flags: str) -> None:
    """Writes the page of the recording, and the site, beside it."""
    folder = recording.parent / "site"
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text(SITE, "utf-8")
    subprocess.run(
        [BIN / "minisched-live", "--replay", str(recording), "--export",
         str(folder / "picture.html"), *flags], check=True)


@check
def a_picture_ends_as_the_live_page_and_loads_nothing(browser: Browser) -> None:
    nodes = [node("node-1", "2"), node("node-2", "2", unschedulable=True)]
    with tempfile.TemporaryDirectory() as folder, Cluster(
            "13", nodes, "--record", f"{folder}/recording.jsonl") as cluster:
        recording = pathlib.Path(folder, "recording.jsonl")
        with LivePage(browser, cluster) as live:
            live.open()
            cluster.create(pod("web-1", "1"), pod("huge", "9"),
                           pod("gated", schedulingGates=[{"name": "a.b/gate"}]))
            live.await_places({"bound": ["web-1"], "unschedulable": ["huge"],
                               "gated": ["gated"]})
            end = live.await_calm()
        cluster.scheduler.terminate()
        cluster.scheduler.wait()
        export(recording)
        with served(recording.parent / "site") as url, \
                framed(browser, url, 700) as frame:
            shown = frame.evaluate(PICTURE)
            assert shown == end, f"{shown}\nbut live: {end}"
        export(recording, "--before", "web-1:bound")
        with served(recording.parent / "site") as url:
            begins_before_the_pod_is_bound(browser, url)


def begins_before_the_pod_is_bound(browser: Browser, url: str) -> None:
    # The first moment is shown without motion in any case.
    for width, motion in ((700, "no-preference"), (360, "reduce")):
        with framed(browser, url, width, motion) as frame:
            assert "web-1" not in bound_pods(frame), frame.evaluate(PICTURE)
            assert not frame.evaluate(IS_TOO_WIDE), width
            frame.evaluate(AXE_SCRIPT)
            assert frame.evaluate(AXE) == []
            # The reader can go on from there.
            frame.get_by_role("button", name=(
                "Play" if motion == "reduce" else "To the end")).click()
            until(lambda: "web-1" in bound_pods(frame), "the pod is bound")
            frame.get_by_role("link", name="Attempts").click()
            until(lambda: frame.locator("table:has(th.filter)").count(),
                  "an attempt is shown")
            assert not frame.evaluate(IS_TOO_WIDE), width
            assert frame.evaluate(AXE) == []


def bound_pods(frame: Frame) -> str:
    return str(frame.evaluate(PICTURE)["places"].get("bound"))
