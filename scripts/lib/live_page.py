"""Helpers to test the live page: a cluster with a scheduler, and a browser."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from embedded import BIN, Server, plugin_flags, program_of
from playwright.sync_api import Browser, Locator, Page, sync_playwright

PATIENCE = 30  # seconds until a condition must hold
NAMESPACE = "/api/v1/namespaces/default"
MESSAGE_OF_FAILED_REQUEST = re.compile(
    "Failed to load resource: the server responded with a status of 4")
MESSAGE_OF_LOST_SERVER = re.compile("Failed to load resource: net::ERR_")

# Returns what the page shows of pods and nodes, without countdowns. Places
# without pods are left out.
PICTURE = """() => {
  const text = (node) => {
    const copy = node.cloneNode(true);
    for (const timer of copy.querySelectorAll('.timer')) timer.remove();
    return copy.textContent.replace(/\\s+/g, ' ').trim();
  };
  const places = {};
  for (const place of document.querySelectorAll('.place')) {
    const pods = [...place.querySelectorAll('.pods > li')].map(text);
    if (pods.length > 0) places[place.querySelector('h3').textContent] = pods;
  }
  const nodes = {};
  for (const node of document.querySelectorAll('.node')) {
    const pods = node.querySelector('ul');
    const facts = [...node.children].filter((child) => child !== pods);
    nodes[node.querySelector('h3').textContent] = {
      facts: facts.map(text), pods: [...pods.children].map(text)};
  }
  return {places, nodes};
}"""

# Returns the names of the pods of each place.
PLACES = """() => Object.fromEntries(
  [...document.querySelectorAll('.place')].map((place) => [
    place.querySelector('h3').textContent,
    [...place.querySelectorAll('.pods > li .pod')].map((pod) =>
      pod.title.split('/').at(-1))]))"""


def node(name: str, cpu: str = "4", memory: str = "8Gi", *,
         labels: dict | None = None, **spec: Any) -> dict:
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {
                "kubernetes.io/hostname": name, **(labels or {})}},
            "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": memory,
                                       "pods": "1000"}}}


def pod(name: str, cpu: str = "", *, labels: dict | None = None,
        **spec: Any) -> dict:
    requests = {"requests": {"cpu": cpu}} if cpu else {}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"schedulerName": "minisched", "containers": [
                {"name": "c", "image": "pause", "resources": requests}],
                **spec}}


def until(condition: Callable[[], Any], what: str,
          patience: float | None = None) -> Any:
    """Waits until the condition returns something true, and returns that."""
    patience = patience or PATIENCE
    deadline = time.monotonic() + patience
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.03)


def free_port() -> int:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return reserved.getsockname()[1]


class Cluster:
    """An embedded API server with these objects, a scheduler, and its page.

    `flags` are the scheduler's, `weight` is that of its plugin NodeNumber, and
    with `groups`, it has Coscheduling. Use it in a with statement.
    """

    def __init__(self, step: str, objects: list[dict], *flags: str,
                 weight: int = 0, groups: bool = False):
        self.step = step
        self.objects = objects
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="live_test."))
        self.flags = [*flags, *plugin_flags(program_of(step), self.folder,
                                            weight=weight, groups=groups)]
        self.server: Server | None = None
        self.scheduler: subprocess.Popen | None = None
        self.viewer: subprocess.Popen | None = None
        self.metrics_port = free_port()
        self.url = ""
        self.start_server()
        self.start_scheduler()
        self.start_page()

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop_page()
        self.stop_scheduler()
        self.stop_server()
        if kind:
            REPORTS.append(self.log()[-2000:])
        shutil.rmtree(self.folder)

    def start_server(self, *flags: str) -> None:
        load = self.folder / "objects.yaml"
        load.write_text("\n---\n".join(map(json.dumps, self.objects)), "utf-8")
        flags = (*flags, "--load", str(load)) if self.objects else flags
        with open(self.folder / "server.log", "ab") as log:
            self.server = Server(self.folder, "--simulate", *flags, log=log)

    def stop_server(self) -> None:
        self.server.connection.close()
        self.server.stop()

    def server_port(self) -> int:
        return self.server.connection.port

    def start_scheduler(self) -> None:
        with open(self.folder / "scheduler.log", "ab") as log:
            self.scheduler = subprocess.Popen(
                [program_of(self.step), "--kubeconfig", self.server.kubeconfig,
                 f"--metrics-port={self.metrics_port}", "--debug-control",
                 *self.flags], stdout=log, stderr=log)

    def start_page(self, port: str = "0") -> None:
        before = len(self.log())
        with open(self.folder / "scheduler.log", "ab") as log:
            self.viewer = subprocess.Popen(
                [BIN / "minisched-live", "--kubeconfig", self.server.kubeconfig,
                 f"--trace=http://127.0.0.1:{self.metrics_port}",
                 f"--port={port}"], stdout=log, stderr=log)
        self.url = until(lambda: self.page_url(before),
                         "minisched-live logs the URL of its page")

    def page_url(self, offset: int) -> str | None:
        assert self.scheduler.poll() is None, self.log()[offset:]
        assert self.viewer.poll() is None, self.log()[offset:]
        found = re.search(r"live page: (\S+)\s", self.log()[offset:])
        return found and found.group(1)

    def stop_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()

    def stop_page(self) -> None:
        self.viewer.kill()
        self.viewer.wait()

    def log(self) -> str:
        log = self.folder / "scheduler.log"
        return log.read_text("utf-8") if log.exists() else ""

    def create(self, *objects: dict) -> None:
        for each in objects:
            kind = each["kind"]
            path = {"Pod": f"{NAMESPACE}/pods", "Node": "/api/v1/nodes"}[kind]
            self.server.call("POST", path, each)

    def delete_pod(self, name: str) -> None:
        self.server.call("DELETE", f"{NAMESPACE}/pods/{name}",
                         {"gracePeriodSeconds": 0})

    def change(self, path: str, edit: Callable[[dict], Any]) -> None:
        """Gets an object, lets `edit` change it, and puts it back."""
        found = self.server.call("GET", path)
        edit(found)
        self.server.call("PUT", path, found)

    def change_node(self, name: str, edit: Callable[[dict], Any],
                    subresource: str = "") -> None:
        self.change(f"/api/v1/nodes/{name}{subresource}", edit)

    def pod(self, name: str) -> dict:
        return self.server.call("GET", f"{NAMESPACE}/pods/{name}")

    def uid(self, name: str) -> str:
        return self.pod(name)["metadata"]["uid"]

    def get(self, path: str) -> tuple[int, str]:
        """Sends a request to the page's server."""
        host = re.search("//([^/]+)", self.url).group(1)
        connection = http.client.HTTPConnection(host)
        connection.request("GET", path)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def attempt(self, name: str, number: int) -> dict:
        status, text = self.get(f"/live/attempts/{self.uid(name)}/{number}")
        assert status == 200, text
        return json.loads(text)["attempt"]


class LivePage:
    """The page of a cluster in a browser."""

    def __init__(self, browser: Browser, cluster: Cluster, *,
                 script: str = "", **context: Any):
        """`script` runs in the page before its own script."""
        self.cluster = cluster
        self.errors: list[str] = []
        self.allowed: list[re.Pattern] = []
        self.context = browser.new_context(
            timezone_id="UTC", **({"viewport": {"width": 1400, "height": 1000}}
                                  | context))
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.on("console", self.console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        if script:
            self.page.add_init_script(script)

    def open(self, view: str = "queue") -> "LivePage":
        self.page.goto(f"{self.cluster.url}#{view}")
        self.await_status("live")
        return self

    def console(self, message: Any) -> None:
        if message.type not in ("error", "warning"):
            return
        if not any(pattern.search(message.text) for pattern in self.allowed):
            self.errors.append(message.text)

    def __enter__(self) -> "LivePage":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self.show()
        self.context.close()
        if not kind:
            assert not self.errors, f"errors in the console: {self.errors}"

    def show(self) -> None:
        """Reports what the page shows."""
        try:
            text = self.page.inner_text("body", timeout=2000)
        except Exception as error:  # pylint: disable=broad-except
            text = str(error)
        REPORTS.append(re.sub(r"\s*\n\s*", " | ", text))
        REPORTS.append(f"console: {self.errors}")

    def evaluate(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def button(self, name: str | re.Pattern, within: Locator | None = None,
               ) -> Locator:
        return (within or self.page).get_by_role(
            "button", name=name, exact=isinstance(name, str))

    def press(self, name: str | re.Pattern) -> None:
        self.button(name).click()

    def await_status(self, status: str) -> None:
        until(lambda: self.page.locator(".status").inner_text().split()[-1] ==
              status.split()[-1], f"the page is {status}")

    def await_text(self, selector: str, text: str) -> None:
        until(lambda: text in self.text(selector), f"{selector} has {text!r}")

    def text(self, selector: str) -> str:
        return "\n".join(self.page.locator(selector).all_inner_texts())

    def node(self, name: str) -> Locator:
        return self.page.locator(".node", has=self.button(name))

    def await_node(self, name: str, text: str) -> None:
        until(lambda: text in self.node(name).inner_text(),
              f"{name} has {text!r}")

    # The queue and the timeline

    def places(self) -> dict[str, list[str]]:
        return self.evaluate(PLACES)

    def picture(self) -> dict:
        return self.evaluate(PICTURE)

    def await_places(self, wanted: dict[str, list[str]]) -> None:
        """Waits until these places have these pods, in this order."""
        try:
            until(lambda: wanted.items() <=
                  {place: self.places().get(place, []) for place in wanted
                   }.items(), f"the pods are at {wanted}")
        except AssertionError as error:
            raise AssertionError(f"{error}, but: {self.places()}") from None

    def await_calm(self) -> dict:
        """Returns the picture once it hasn't changed for a while."""
        known, since = self.picture(), time.monotonic()
        deadline = since + PATIENCE
        while time.monotonic() < since + 0.4:
            assert time.monotonic() < deadline, "the page doesn't come to rest"
            time.sleep(0.05)
            picture = self.picture()
            if picture != known:
                known, since = picture, time.monotonic()
        return known

    def moment(self) -> str:
        return self.text(".moment strong") + " " + self.text(".sentence")

    def walk(self, name: str) -> list[tuple[str, dict]]:
        """Presses a button of the timeline until nothing changes any more.

        Returns the moments and their pictures.
        """
        found: list[tuple[str, dict]] = []
        while not self.button(name).is_disabled():
            before = self.moment()
            self.press(name)
            # Two moves in a row may have the same text, but not four.
            deadline = time.monotonic() + 0.4
            while self.moment() == before and time.monotonic() < deadline:
                self.page.wait_for_timeout(10)
            found.append((self.moment(), self.picture()))
            if len(found) > 3 and found[-4:] == [found[-1]] * 4:
                del found[-3:]
                break
        return found

    # Actions

    def pace(self, name: str) -> None:
        group = self.page.get_by_role("group", name="Pace")
        self.button(name, group).click()
        if name in ("Run", "Pause"):
            until(lambda: self.button(name, group).get_attribute(
                "aria-pressed") == "true", f"the pace is {name}")

    def hold(self) -> None:
        """Pauses the scheduler before it pops the next pod.

        An idle scheduler already waits for its next pod when it is paused. It
        pops this pod, and holds it in flight.
        """
        self.pace("Pause")
        self.cluster.create(pod("opener"))
        self.await_places({"in flight": ["opener"]})
        self.pace("Step")
        self.await_places({"in flight": [], "bound": ["opener"]})
        self.cluster.delete_pod("opener")
        self.await_places({"bound": []})

    def create(self, kind: str, text: str | dict) -> int:
        """Creates an object in the drawer. Returns the status code."""
        drawer = self.page.get_by_role("complementary", name="New object")
        if not drawer.is_visible():
            self.press("Create …")
        drawer.get_by_role("combobox", name="Kind").select_option(kind)
        area = drawer.get_by_label("YAML of the new object")
        until(lambda: re.search(f'kind"?: "?{kind}\\b', area.input_value()),
              f"the drawer has a {kind}")
        area.fill(text if isinstance(text, str) else json.dumps(text))
        return self.request("POST", self.button("Create", drawer).click)

    def request(self, method: str, act: Callable[[], Any]) -> int:
        """Does something that sends one request. Returns the status code."""
        def is_wanted(response: Any) -> bool:
            return response.request.method == method
        with self.page.expect_response(is_wanted) as caught:
            act()
        return caught.value.status

    def open_node(self, name: str) -> Locator:
        self.button(name, self.page.get_by_role("region", name="Nodes")).click()
        return self.page.get_by_role("complementary", name=f"Node {name}")

    def open_pod(self, name: str) -> Locator:
        self.page.locator(f'.places .pod[title="default/{name}"]').click()
        return self.page.get_by_role("complementary", name=f"Pod {name}")

    def choose_table(self, kind: str) -> None:
        self.page.locator("main").get_by_role(
            "combobox", name="Kind").select_option(kind)

    def open_row(self, kind: str, name: str) -> Locator:
        """Opens an object from the table of its kind, in the view of tables."""
        self.choose_table(kind)
        self.button(name, self.page.locator("table.objects")).click()
        return self.page.get_by_role("complementary", name=f"{kind} {name}")

    def close_drawer(self) -> None:
        self.page.keyboard.press("Escape")
        until(lambda: not self.page.get_by_role("complementary").count(),
              "the drawer is closed")


REPORTS: list[str] = []  # of the check that has failed
CHECKS: list[tuple[str, Callable[[Browser], Any]]] = []


def check(function: Callable[[Browser], Any]) -> Callable[[Browser], Any]:
    """Registers a check. The name of the function is the title."""
    CHECKS.append((function.__name__.replace("_", " "), function))
    return function


def chromium() -> str:
    return os.environ.get("CHROMIUM") or "/usr/bin/chromium"


@contextlib.contextmanager
def started_browser() -> Iterator[Browser]:
    flags = ["--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=flags + (["--no-sandbox"] if os.geteuid() == 0 else []))
        yield browser
        browser.close()


def run_checks(words: list[str]) -> bool:
    """Runs the checks whose titles have all words, and prints the results.

    A check may return a line to print: what it has measured.
    """
    passed = failed = 0
    with started_browser() as browser:
        for title, function in CHECKS:
            if not all(word in title for word in words):
                continue
            begin = time.monotonic()
            REPORTS.clear()
            try:
                measured = function(browser)
            # pylint: disable-next=broad-except
            except (Exception, SystemExit) as error:
                failed += 1
                print(f"not ok - {title}")
                report = "\n".join([str(error)[:1000],
                                    traceback.format_exc(), *REPORTS])
                print(re.sub("^", "  ", report, flags=re.M), flush=True)
            else:
                passed += 1
                seconds = time.monotonic() - begin
                print(f"ok - {title} ({seconds:.1f} s)", flush=True)
                if isinstance(measured, str):
                    print(f"  {measured}")
    print(f"{passed} passed, {failed} failed", flush=True)
    return passed > 0 and failed == 0
