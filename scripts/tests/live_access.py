"""Checks that all can use the live page, and that nobody can misuse it."""

import json
import re
from collections.abc import Iterator

from axe_playwright_python.base import AXE_SCRIPT
from live_page import (
    MESSAGE_OF_FAILED_REQUEST, NAMESPACE, Cluster, LivePage, check, node, pod,
    until)
from playwright.sync_api import Browser

COUNT_ANIMATIONS = """
window.animations = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...all) {
  ++window.animations;
  return animate.apply(this, all);
};
"""

# Counts animations, and notes when the news change.
WATCH = COUNT_ANIMATIONS + """
window.newsTimes = [];
document.addEventListener('DOMContentLoaded', () => {
  new MutationObserver(() => window.newsTimes.push(performance.now())).observe(
    document.getElementById('news'),
    {childList: true, characterData: true, subtree: true});
});
"""

# Returns "element: what is wrong" for each violation of axe.
AXE = """async () => {
  const {violations} = await axe.run(document,
    {resultTypes: ['violations']});
  return violations.flatMap(({id, nodes}) => nodes.map((node) =>
    `${id}: ${node.target}: ${node.failureSummary}`.replace(/\\s+/g, ' ')));
}"""

# The elements that the Tab key must reach.
REACHABLE = """() => {
  const all = document.querySelectorAll('a[href], button, input, select, ' +
    'textarea, summary, [tabindex]');
  return [...all].filter((element) => !element.disabled &&
    element.checkVisibility({visibilityProperty: true}) &&
    element.getAttribute('tabindex') !== '-1');
}"""

# Notes the focused element. Returns "" if its focus can be seen.
NOTE_FOCUS = """() => {
  const element = document.activeElement;
  (window.reached ??= new Set()).add(element);
  // The browser shows the focus of a file's input in the button inside.
  if (element === document.body || element.type === 'file') return '';
  const {outlineStyle, outlineWidth} = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const isOutlined = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  const isInSight = box.bottom > 0 && box.top < innerHeight && box.width > 0;
  return isOutlined && isInSight && element.matches(':focus-visible')
    ? '' : element.outerHTML.slice(0, 120);
}"""

MARKUP = "<img src=x onerror=hit()><b>&amp;</b>"


def busy_cluster() -> Cluster:
    nodes = [node("node-0", "2"), node("node-1"),
             node("node-2", "2", unschedulable=True),
             node("node-3", taints=[{"key": "team", "value": "a",
                                     "effect": "NoSchedule"}])]
    return Cluster("13", nodes, weight=1)


def fill(cluster: Cluster, live: LivePage) -> None:
    """Brings a pod to each place that a pod stays in."""
    cluster.create(pod("web-1", "1"), pod("huge", "9"),
                   pod("gated", schedulingGates=[{"name": "example.com/gate"}]))
    until(lambda: live.places().get("bound") and
          live.places().get("unschedulable") and live.places().get("gated"),
          "the pods are in their places")
    live.pace("Pause")
    cluster.create(pod("flying"))
    live.await_places({"in flight": ["flying"]})
    cluster.create(pod("next", "1"), pod("later"))
    live.await_places({"activeQ": ["next", "later"]})


def states(live: LivePage) -> Iterator[str]:
    """Brings the page into one state after the other."""
    yield "the queue"
    live.page.locator("details.menu summary").click()
    live.press("Reset …")
    yield "the menu"
    live.press("Keep")
    live.page.locator("details.menu summary").click()
    drawer = live.open_pod("huge")
    until(lambda: drawer.get_by_label("YAML of").input_value(), "the YAML")
    yield "the drawer of a pod"
    live.button("Delete …", drawer).click()
    yield "the question before a deletion"
    live.button("Keep", drawer).click()
    live.close_drawer()
    live.open_node("node-1")
    yield "the drawer of a node"
    live.close_drawer()
    live.press("Create …")
    yield "a new object"
    live.close_drawer()
    live.press("Previous move")
    yield "the past"
    live.press("Back to now")
    live.page.get_by_role("link", name="Attempts").click()
    live.button(re.compile("^web-1 attempt 1")).click()
    live.page.get_by_label("weight of NodeNumber").fill("5")
    yield "an attempt with supposed weights"
    live.button(re.compile("^huge attempt 1")).click()
    live.await_text(".attempt-panel h2", "huge")
    yield "a failed attempt"
    live.page.get_by_role("link", name="Tables").click()
    for kind in ("Pod", "PriorityClass"):
        live.choose_table(kind)
        until(lambda: live.page.locator("table.objects tbody tr").count() > 1,
              "the table has rows")
        yield f"the table of {kind}"


def assert_axe_finds_nothing(browser: Browser, **context: object) -> None:
    found = []
    with busy_cluster() as cluster, LivePage(
            browser, cluster, script=AXE_SCRIPT, reduced_motion="reduce",
            **context) as live:
        live.open()
        fill(cluster, live)
        for state in states(live):
            live.page.wait_for_timeout(60)
            found += [f"{state}: {each}" for each in live.evaluate(AXE)]
            width = live.evaluate("document.documentElement.scrollWidth - "
                                  "document.documentElement.clientWidth")
            if width > 0:
                found.append(f"{state}: {width} px wider than the window")
    assert not found, "\n".join(found)


@check
def axe_finds_nothing_in_the_light_page(browser: Browser) -> None:
    assert_axe_finds_nothing(browser, color_scheme="light")


@check
def axe_finds_nothing_in_the_dark_page(browser: Browser) -> None:
    assert_axe_finds_nothing(browser, color_scheme="dark")


@check
def axe_finds_nothing_on_a_narrow_screen(browser: Browser) -> None:
    assert_axe_finds_nothing(browser,
                             viewport={"width": 360, "height": 740})


@check
def the_tab_key_reaches_everything_with_its_focus_visible(
        browser: Browser) -> None:
    wrong = []
    with busy_cluster() as cluster, LivePage(
            browser, cluster, reduced_motion="reduce") as live:
        live.open()
        fill(cluster, live)
        for state in states(live):
            live.page.wait_for_timeout(60)
            count = live.evaluate(f"({REACHABLE})().length")
            live.evaluate("() => { window.reached = new Set(); }")
            for _ in range(count + 3):
                live.page.keyboard.press("Tab")
                hidden = live.evaluate(NOTE_FOCUS)
                if hidden:
                    wrong.append(f"{state}: cannot see the focus on {hidden}")
            missed = live.evaluate(f"""() => ({REACHABLE})()
              .filter((element) => !window.reached.has(element))
              .map((element) => element.outerHTML.slice(0, 120))""")
            wrong += [f"{state}: does not reach {each}" for each in missed]
    assert not wrong, "\n".join(sorted(set(wrong)))


def tab_to(live: LivePage, name: str) -> None:
    """Presses Tab until an element with this name has the focus."""
    named = """(name) => {
      const {textContent, title, ariaLabel, labels} = document.activeElement;
      return [textContent, title, ariaLabel, ...[...labels ?? []].map((label) =>
        label.textContent)].some((text) => text?.trim().startsWith(name));
    }"""
    for _ in range(150):
        if live.evaluate(named, name):
            return
        live.page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not reach {name!r}")


@check
def the_keyboard_is_enough_to_do_everything(browser: Browser) -> None:
    with Cluster("13", [node("node-1"), node("node-2")],
                 weight=1) as cluster, LivePage(browser, cluster) as live:
        live.open()
        keyboard = live.page.keyboard

        def use(name: str, key: str = "Enter") -> None:
            tab_to(live, name)
            keyboard.press(key)

        use("Pause", "Space")
        until(lambda: live.text(".head button[aria-pressed=true]") == "Pause",
              "the scheduler is paused")
        for name in ("web-1", "web-2"):
            if name == "web-1":
                use("Create …")
                until(lambda: live.page.locator("textarea").count(), "a drawer")
            tab_to(live, "YAML of the new object")
            keyboard.press("Control+A")
            keyboard.insert_text(json.dumps(pod(name, "1")))
            keyboard.press("Tab")
            tab_to(live, "Create")
            live.request("POST", lambda: keyboard.press("Enter"))
        live.await_places({"in flight": ["web-1"], "activeQ": ["web-2"]})
        keyboard.press("Escape")
        assert live.evaluate("document.activeElement.id") == "create"

        use("Step")
        live.await_places({"activeQ": ["web-2"], "in flight": []})
        use("Run")
        until(lambda: sorted(live.places()["bound"]) == ["web-1", "web-2"],
              "the pods are bound")

        # A pod: open it, delete it, and be back where the drawer was opened.
        use("default/web-1")
        live.await_text("#drawer-title", "web-1")
        use("Delete …")
        until(lambda: live.evaluate("document.activeElement.textContent") ==
              "Delete web-1", "the focus is on the button that confirms")
        keyboard.press("Enter")
        live.await_places({"bound": ["web-2"]})
        until(lambda: not live.page.locator(".drawer").count(),
              "the drawer is closed")

        # The past, with the slider and the buttons.
        tab_to(live, "Moment")
        keyboard.press("Home")
        live.await_text(".moment", "ago")
        use("Back to now")
        until(lambda: "ago" not in live.text(".moment"), "the past is left")
        use("Previous move")
        live.await_text(".moment", "ago")
        use("Back to now")

        # An attempt with another weight.
        use("Attempts")
        live.await_text(".attempt-list", "web-2")
        tab_to(live, "× weight of NodeNumber")
        keyboard.press("ArrowUp")
        live.await_text(".attempt-panel [role=status]", "supposed")

        # A table in another order, and back to the start.
        use("Tables")
        use("Name ↑")
        until(lambda: live.page.locator("th[aria-sort=descending]").count(),
              "the table is sorted")
        tab_to(live, "Cluster")
        keyboard.press("Enter")
        use("Reset …")
        use("Reset the cluster")
        live.await_text("#notices", "The cluster is as at the start.")


@check
def pods_move_without_motion_where_less_is_asked_for(browser: Browser) -> None:
    counts = {}
    for motion in ("no-preference", "reduce"):
        with Cluster("13", [node("node-1")]) as cluster, LivePage(
                browser, cluster, script=WATCH, reduced_motion=motion) as live:
            live.open().hold()
            cluster.create(pod("web"))
            live.await_places({"activeQ": ["web"]})
            live.pace("Step")
            live.await_places({"bound": ["web"]})
            counts[motion] = live.evaluate("window.animations")
            if motion == "reduce":
                running = live.evaluate("document.getAnimations().length")
                assert running == 0, f"{running} animations"
    assert counts["no-preference"] > 0 and counts["reduce"] == 0, counts


@check
def moves_are_announced_once_a_second_at_most(browser: Browser) -> None:
    with Cluster("13", [node("node-1")]) as cluster, LivePage(
            browser, cluster, script=WATCH) as live:
        live.open()
        for i in range(40):
            cluster.create(pod(f"web-{i}"))
            live.page.wait_for_timeout(80)
        until(lambda: live.evaluate("window.newsTimes.length") >= 3, "news")
        until(lambda: "web-39: bound" in live.page.locator("#news")
              .text_content(), "the last move is announced")
        times = live.evaluate("window.newsTimes")
        gaps = [b - a for a, b in zip(times, times[1:])]
        assert min(gaps) > 950, gaps
        assert live.page.locator("#news").get_attribute("aria-live") == "polite"


@check
def markup_in_what_the_API_server_sends_stays_text(browser: Browser) -> None:
    def spoil(found: dict) -> None:
        found["status"]["conditions"] = [{
            "type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": MARKUP}]

    script = "window.hit = () => { window.wasHit = true; };"
    with Cluster("13", [node("node-1")]) as cluster, LivePage(
            browser, cluster, script=script) as live:
        live.open()
        cluster.create(pod("web", "9", annotations=None))
        live.await_places({"unschedulable": ["web"]})
        cluster.change(f"{NAMESPACE}/pods/web/status", spoil)
        cluster.change(f"{NAMESPACE}/pods/web", lambda found: found[
            "metadata"].update(annotations={"note": MARKUP}))
        uid = cluster.uid("web")
        cluster.server.call("POST", f"{NAMESPACE}/events", {
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": "bad"}, "message": MARKUP, "reason": MARKUP,
            "type": "Warning", "involvedObject": {
                "kind": "Pod", "namespace": "default", "name": "web",
                "uid": uid}})
        drawer = live.open_pod("web")
        until(lambda: MARKUP in drawer.locator("dl").inner_text(),
              "the message is text")
        until(lambda: MARKUP in drawer.get_by_label("YAML of").input_value(),
              "the YAML has the annotation")
        until(lambda: MARKUP in drawer.locator("ul").last.inner_text(),
              "the event is text")
        assert_text_only(live)


@check
def markup_in_each_field_of_the_stream_stays_text(browser: Browser) -> None:
    """The embedded server accepts no such names, so the stream is made up."""
    def item(**state: object) -> dict:
        return {"v": 2, "sequence": 1, "time": "2026-01-01T00:00:00.000000Z",
                **state}

    pods = {place: {"uid": f"{place}{MARKUP}",
                    "name": f"{MARKUP}/{place}{MARKUP}", "place": place,
                    "event": MARKUP, "plugins": [MARKUP], "wakes": [MARKUP],
                    "attempts": 1, "node": MARKUP,
                    "until": "2026-01-01T00:01:00.000000Z"}
            for place in ("gated", "active", "backoff", "unschedulable",
                          "in flight", "assumed", "waiting", "bound")}
    rows = [{"uid": each["uid"], "namespace": MARKUP,
             "name": f"{place}{MARKUP}", "phase": MARKUP, "scheduler": MARKUP,
             "requests": {"cpu": 1, "memory": 1, MARKUP: 1}, "gates": [MARKUP],
             "group": MARKUP, "minAvailable": 2,
             "condition": {"reason": MARKUP, "message": MARKUP}}
            for place, each in pods.items()]
    attempt = {
        "pod": f"{MARKUP}/{MARKUP}", "uid": MARKUP, "attempt": 1, "allNodes": 2,
        "feasibleNodes": 1, "filters": [MARKUP], "fits": [MARKUP],
        "reasons": [{"plugin": MARKUP, "reason": MARKUP, "nodes": 1}],
        "scores": [{"plugin": MARKUP, "weight": 1, "raw": [1],
                    "normalized": [1]}],
        "rejected": [{"node": f"2{MARKUP}", "rejections": [
            {"plugin": MARKUP, "reasons": [MARKUP]}]}],
        "points": [{"point": MARKUP, "plugin": MARKUP, "status": MARKUP,
                    "message": MARKUP}], "failure": MARKUP}
    items = [
        *({"time": item()["time"], "cluster": {"pod": row}} for row in rows),
        {"time": item()["time"], "cluster": {"node": {
            "uid": "n", "name": MARKUP, "cordoned": True,
            "taints": [{"key": MARKUP, "value": MARKUP, "effect": MARKUP}],
            "allocatable": {"cpu": 1, "memory": 1, "pods": 1, MARKUP: 1}}}},
        *(item(pod=each) for each in pods.values()),
        item(queue={"active": [pods["active"]["uid"]], "length": 1}),
        item(scheduler={"name": MARKUP, "program": MARKUP, "paused": True}),
        item(attempt=attempt),
        {"time": item()["time"], "live": {"server": f"lost: {MARKUP}"}}]
    start = {"time": item()["time"], "program": MARKUP, "scheduler": MARKUP,
             "control": True, "reset": True, "source": MARKUP}
    stream = (f"retry: 1000000\nevent: start\nid: 1.0\n"
              f"data: {json.dumps(start)}\n\ndata: {json.dumps(items)}\n\n")

    script = "window.hit = () => { window.wasHit = true; };"
    with Cluster("13", [node("node-1")]) as cluster, LivePage(
            browser, cluster, script=script) as live:
        live.allowed.append(MESSAGE_OF_FAILED_REQUEST)
        live.page.route("**/live/events", lambda route: route.fulfill(
            content_type="text/event-stream", body=stream))
        live.page.route("**/live/attempts/**", lambda route: route.fulfill(
            content_type="application/json",
            body=json.dumps(item(attempt=attempt))))
        live.page.goto(cluster.url)
        until(lambda: sum(map(len, live.places().values())) == len(pods),
              "the pods are shown")
        for selector in (".brand", "#notices", ".place-gated", ".place-active",
                         ".place-waiting", ".place-bound", ".nodes"):
            # A long name may be cut into two lines.
            text = live.text(selector).replace("\n", "")
            assert MARKUP in text, selector
        assert_text_only(live)
        live.page.locator(".place-gated .pod").click()
        until(lambda: live.text(".drawer").count(MARKUP) > 5, "the drawer")
        assert_text_only(live)
        live.page.get_by_role("link", name="Attempts").click()
        until(lambda: live.text(".attempt-panel").count(MARKUP) > 5,
              "the attempt")
        assert_text_only(live)
        live.page.get_by_role("link", name="Tables").click()
        until(lambda: MARKUP in live.text(".objects"), "the table")
        assert_text_only(live)
        live.page.locator("button[aria-label='Previous move']").click()
        until(lambda: MARKUP in live.text(".sentence"), "the sentence")
        assert_text_only(live)


def assert_text_only(live: LivePage) -> None:
    found = live.evaluate(
        "document.querySelectorAll('img, main b:not(td b)').length")
    assert found == 0, f"{found} elements came from text"
    assert not live.evaluate("Boolean(window.wasHit)")


@check
def scripts_and_styles_of_others_are_blocked(browser: Browser) -> None:
    with Cluster("13", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.allowed.append(re.compile(".*"))
        live.open()
        blocked = live.evaluate("""async () => {
          const found = [];
          document.addEventListener('securitypolicyviolation',
            (event) => found.push(event.effectiveDirective));
          const style = document.createElement('style');
          style.textContent = 'body { color: red }';
          document.head.append(style);
          const image = document.createElement('img');
          image.src = '/x.png';
          document.body.append(image);
          try {
            document.createElement('div').innerHTML = '<b></b>';
          } catch {}
          try {
            await fetch('http://127.0.0.2:1/');
          } catch {}
          await new Promise((done) => setTimeout(done, 200));
          return found;
        }""")
        for directive in ("style-src-elem", "img-src", "connect-src",
                          "require-trusted-types-for"):
            assert directive in blocked, blocked
