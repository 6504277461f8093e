"""Checks of what the live page shows and does."""

import contextlib
import json
import re
import socket
import threading

from live_page import (
    MESSAGE_OF_FAILED_REQUEST, MESSAGE_OF_LOST_SERVER, Cluster, LivePage, check,
    node, pod, until)
from playwright.sync_api import Browser

GROUP = "pod-group.scheduling.sigs.k8s.io"
URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
          "metadata": {"name": "urgent"}, "value": 1000}

# Returns the table of the shown attempt: {plugins, scores, rows}.
TABLE = """() => {
  const table = document.querySelector('table:has(th.filter)');
  const head = [...table.tHead.rows[0].cells];
  const plugins = head.filter((cell) => cell.matches('.filter'))
    .map((cell) => cell.textContent);
  const scores = head.filter((cell) => cell.matches('.score'))
    .map((cell) => [cell.querySelector('code').textContent,
      Number(cell.querySelector('input').value)]);
  const rows = [...table.tBodies[0].rows].map((row) => ({
    node: row.cells[0].textContent,
    marks: [...row.querySelectorAll('.mark-cell')].map((c) => c.textContent),
    scores: [...row.querySelectorAll('.score')].map((cell) =>
      (cell.innerText.match(/-?\\d+/g) ?? []).map(Number)),
    total: row.querySelector('.total')?.textContent ?? null,
    result: row.querySelector('.result').textContent.trim(),
  }));
  return {plugins, scores, rows};
}"""

# Sets the slider of the timeline, in milliseconds from its start. Returns the
# time of the moment that is shown, once the page shows the past.
SLIDE = """async (value) => {
  const slider = document.querySelector('#timeline input[type=range]');
  slider.value = String(value);
  slider.dispatchEvent(new Event('input', {bubbles: true}));
  while (!document.body.classList.contains('rewound')) {
    await new Promise(requestAnimationFrame);
  }
  return slider.getAttribute('aria-valuetext');
}"""


def expected_table(attempt: dict, weights: dict | None = None) -> dict:
    """Returns the table that the page must show for an attempt."""
    skipped = {point["plugin"] for point in attempt.get("points", [])
               if point["point"] == "PreFilter" and point["status"] == "Skip"}
    scores = attempt.get("scores", [])
    used = [(column["plugin"],
             (weights or {}).get(column["plugin"], column["weight"]))
            for column in scores]
    rows = {}
    for i, name in enumerate(attempt.get("fits", [])):
        values = [[column["normalized"][i] * weight, column["raw"][i],
                   column["normalized"][i], weight]
                  for column, (_, weight) in zip(scores, used)]
        rows[name] = {
            "marks": ["·" if plugin in skipped else "✓"
                      for plugin in attempt["filters"]],
            "scores": values,
            "total": str(sum(each[0] for each in values)) if values else None}
    for rejected in attempt.get("rejected", []):
        found = [each["plugin"] for each in rejected["rejections"]]
        marks, ended = [], False
        for plugin in attempt["filters"]:
            if plugin in found:
                marks.append("✗" if plugin == found[0] else "(✗)")
            else:
                marks.append("·" if plugin in skipped or ended else "✓")
            ended |= plugin == found[0] and not attempt.get("allRejections")
        rows[rejected["node"]] = {
            "marks": marks, "scores": [[] for _ in scores],
            "total": "·" if scores else None}
    return {"plugins": attempt["filters"],
            "scores": [list(each) for each in used], "rows": rows}


def assert_table(live: LivePage, attempt: dict,
                 weights: dict | None = None) -> None:
    until(lambda: live.page.locator("table:has(th.filter)").count(),
          "a table is shown")
    shown = live.evaluate(TABLE)
    results = {row["node"]: row.pop("result") for row in shown["rows"]}
    names = [row.pop("node") for row in shown["rows"]]
    totals = [int(row["total"]) for row in shown["rows"]
              if row["total"] not in (None, "·")]
    assert totals == sorted(totals, reverse=True), totals
    shown["rows"] = dict(zip(names, shown["rows"], strict=True))
    expected = expected_table(attempt, weights)
    assert shown == expected, f"{shown}\nbut expected {expected}"
    selected = [name for name in names if "◀ selected" in results[name]]
    assert selected == ([attempt["node"]] if "node" in attempt else [])
    for rejected in attempt.get("rejected", []):
        reason = ", ".join(rejected["rejections"][0]["reasons"])
        assert reason in results[rejected["node"]], results


@check
def an_urgent_pod_overtakes_and_only_steps_move_pods(browser: Browser) -> None:
    with Cluster("13", [node("node-1"), node("node-2")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open().pace("Pause")
        assert live.create("PriorityClass", URGENT) == 201
        assert live.create("Pod", pod("first", "1")) == 201
        live.await_places({"in flight": ["first"]})  # see hold()
        assert live.create("Pod", pod("second", "1")) == 201
        assert live.create("Pod", pod("third", "1")) == 201
        live.await_places({"activeQ": ["second", "third"]})
        assert live.create(
            "Pod", pod("hurried", "1", priorityClassName="urgent")) == 201
        live.close_drawer()
        live.await_places({"activeQ": ["hurried", "second", "third"],
                           "bound": []})
        assert "priority 1000" in live.text(".place-active li:first-child")
        waiting = ["first", "hurried", "second", "third"]
        for bound in range(1, 5):
            picture = live.await_calm()
            live.page.wait_for_timeout(700)
            assert live.picture() == picture, "a pod moved without a step"
            live.pace("Step")
            live.await_places({"in flight": [], "activeQ": waiting[bound:],
                               "bound": waiting[:bound][::-1]})
            assert cluster.pod(waiting[bound - 1])["spec"]["nodeName"]
        status, _ = cluster.get("/live/attempts/none/1")
        assert status == 404


@check
def the_table_of_an_attempt_equals_its_record(browser: Browser) -> None:
    nodes = [node("node-1"), node("node-2", "2"), node("node-3", "0.5"),
             node("node-4", unschedulable=True),
             node("node-5", labels={"disk": "ssd"}, taints=[
                 {"key": "team", "value": "a", "effect": "NoSchedule"}]),
             node("node-6", taints=[
                 {"key": "soft", "effect": "PreferNoSchedule"}])]
    with Cluster("13", nodes, weight=2) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        cluster.create(pod("web-1", "1"))
        live.await_places({"bound": ["web-1"]})
        live.page.get_by_role("link", name="Attempts").click()
        live.await_text(".attempt-panel h2", "web-1")
        attempt = cluster.attempt("web-1", 1)
        assert len(attempt["fits"]) == 3 and len(attempt["scores"]) > 2
        assert_table(live, attempt)

        # A failed attempt, with the rejections that count.
        cluster.create(pod("large", "8", nodeSelector={"disk": "ssd"}))
        live.await_text(".attempt-list", "0/6 nodes are available")
        live.button(re.compile("^large attempt 1")).click()
        live.await_text(".attempt-panel h2", "large")
        assert_table(live, cluster.attempt("large", 1))

        # Another one, with the rejections by all plugins.
        live.request("POST", live.page.get_by_label("all rejections").check)
        cluster.create(pod("larger", "8", nodeSelector={"disk": "ssd"}))
        until(lambda: live.button(re.compile("^larger attempt 1")).count(),
              "the attempt is in the list")
        live.button(re.compile("^larger attempt 1")).click()
        live.await_text(".attempt-panel h2", "larger")
        live.await_text("table:has(th.filter)", "(✗)")
        attempt = cluster.attempt("larger", 1)
        assert attempt["allRejections"]
        assert_table(live, attempt)


@check
def a_pod_moves_at_the_end_of_its_backoff(browser: Browser) -> None:
    def grow(found: dict) -> None:
        allocatable = found["status"]["allocatable"]
        allocatable["cpu"] = str(int(allocatable["cpu"]) + 1)

    def is_backing_off() -> bool:
        """Wakes the pod, which does not fit yet, during its backoff."""
        cluster.change_node("node-1", grow, "/status")
        live.page.wait_for_timeout(100)
        return live.places().get("backoffQ") == ["web"]

    with Cluster("13", [node("node-1", "6")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        cluster.create(pod("other", "6"))
        live.await_places({"bound": ["other"]})
        cluster.create(pod("web", "6"))
        live.await_places({"unschedulable": ["web"]})
        until(is_backing_off, "the pod backs off")
        timer = live.page.locator(".place-backoff .timer")
        assert re.fullmatch(r"[0-9.]+ s|due", timer.inner_text())
        cluster.delete_pod("other")
        live.await_places({"bound": ["web"], "backoffQ": []})
        moves = [moment for moment, _ in live.walk("Previous move")]
        assert any(re.search("web → active after Backoff ?Complete", move)
                   for move in moves), moves


@check
def the_timer_of_Permit_runs_and_allow_and_reject_end_the_wait(
        browser: Browser) -> None:
    def member(name: str) -> dict:
        return pod(name, "1", labels={f"{GROUP}/name": "job",
                                      f"{GROUP}/min-available": "3"})

    # NodeNumber waits two seconds for a node that ends in 2. Coscheduling waits
    # ten seconds for the other members of a group.
    with Cluster("13", [node("node-2")], weight=1, groups=True) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        cluster.create(pod("timed", "1"))
        live.await_places({"waiting": ["timed"]})
        assert re.fullmatch(r"[0-9.]+ s|due", live.page.locator(
            ".place-waiting .timer").inner_text())
        assert "NodeNumber" in live.text(".place-waiting")
        assert live.picture()["nodes"]["node-2"]["pods"] == ["timed assumed"]
        live.await_places({"waiting": [], "bound": ["timed"]})
        cluster.delete_pod("timed")
        live.await_places({"bound": []})

        # The group has three pods, but only two are tried.
        live.hold()
        cluster.create(member("job-a"), member("job-b"), member("job-c"))
        live.await_places({"activeQ": ["job-a", "job-b", "job-c"]})
        live.pace("Step")
        live.await_places({"waiting": ["job-a"]})
        live.await_text(".place-waiting", "1 of 3 of group job")
        live.button("Allow default/job-a").click()
        live.await_places({"waiting": [], "bound": ["job-a"]})
        live.pace("Step")
        live.await_places({"waiting": ["job-b"]})
        live.await_text(".place-waiting", "2 of 3 of group job")
        live.button("Reject default/job-b").click()
        live.await_places({"waiting": []})
        assert "nodeName" not in cluster.pod("job-b")["spec"]
        until(lambda: "rejected" in json.dumps(cluster.pod("job-b")["status"]),
              "the pod's condition says that it was rejected")


@check
def a_node_uncordoned_from_the_page_wakes_only_the_pods_that_it_helps(
        browser: Browser) -> None:
    taints = [{"key": "team", "value": "a", "effect": "NoSchedule"}]
    nodes = [node("node-1", unschedulable=True, taints=taints),
             node("node-2", taints=taints)]
    with Cluster("13", nodes) as cluster, LivePage(browser, cluster) as live:
        live.open()
        cluster.create(
            pod("outsider", tolerations=[
                {"key": "node.kubernetes.io/unschedulable",
                 "operator": "Exists"}]),
            pod("member", tolerations=[{"key": "team", "operator": "Exists"}],
                nodeSelector={"kubernetes.io/hostname": "node-1"}))
        until(lambda: sorted(live.places().get("unschedulable", [])) ==
              ["member", "outsider"], "the pods are unschedulable")
        assert "cordoned" in live.node("node-1").inner_text()

        drawer = live.open_node("node-1")
        area = drawer.get_by_label("YAML of the object")
        until(lambda: "unschedulable: true" in area.input_value(),
              "the drawer has the YAML of the node")
        area.fill("\n".join(
            line for line in area.input_value().split("\n")
            if "unschedulable: true" not in line))
        assert live.request("PUT", live.button("Save", drawer).click) == 200
        live.close_drawer()
        live.await_places({"bound": ["member"], "unschedulable": ["outsider"]})
        until(lambda: "cordoned" not in live.node("node-1").inner_text(),
              "the page shows no cordon")
        moves = [moment for moment, _ in live.walk("Previous move")]
        # active, in flight, unschedulable; the event has moved only the other
        assert sum("outsider →" in move for move in moves) == 3, moves
        assert any("member →" in move and "NodeUpdateNodeTaint" in
                   move.replace(" ", "") for move in moves), moves


@check
def supposed_weights_give_the_totals_of_these_weights(browser: Browser) -> None:
    nodes = [node("node-1"), node("node-2", "2"), node("node-3", "8")]
    pods = [pod("web-1", "1"), pod("web-2", "1")]
    tables = {}
    for weight in (1, 5):
        with Cluster("13", nodes, "--seed", "1", weight=weight) as cluster, \
                LivePage(browser, cluster) as live:
            live.open().hold()
            cluster.create(*pods)
            live.await_places({"activeQ": ["web-1", "web-2"]})
            live.pace("Step")
            live.await_places({"activeQ": ["web-2"], "in flight": []})
            live.page.get_by_role("link", name="Attempts").click()
            live.await_text(".attempt-panel h2", "web-1")
            attempt = cluster.attempt("web-1", 1)
            assert_table(live, attempt)
            tables[weight] = live.evaluate(TABLE)
            if weight == 5:
                continue
            field = live.page.get_by_label("weight of NodeNumber")
            field.fill("5")
            live.await_text(".attempt-panel [role=status]", "supposed")
            assert_table(live, attempt, {"NodeNumber": 5})
            supposed = live.evaluate(TABLE)
            assert "would win" in live.text("table:has(th.filter)")
            live.press("Back to its weights")
            until(lambda: field.input_value() == "1", "the weight is 1 again")
            assert live.evaluate(TABLE) == tables[1]

    def totals(table: dict) -> dict:
        return {row["node"]: row["total"] for row in table["rows"]}
    assert totals(supposed) == totals(tables[5]) != totals(tables[1])


@check
def each_moment_is_shown_again_as_it_was_live(browser: Browser) -> None:
    def shrink(found: dict) -> None:
        found["status"]["allocatable"]["memory"] = "5Gi"

    def member(name: str) -> dict:
        return pod(name, "1", labels={f"{GROUP}/name": "job",
                                      f"{GROUP}/min-available": "2"})

    with Cluster("13", [node("node-1"), node("node-2")],
                 groups=True) as cluster, LivePage(browser, cluster) as live:
        live.open().hold()
        moments = []

        def shown(**places: list[str]) -> None:
            """Waits until the places have these pods; keeps the picture."""
            live.await_places({name.replace("_", " "): pods
                               for name, pods in places.items()})
            picture = live.await_calm()
            moments.append((live.evaluate("Date.now()"), picture))
            live.page.wait_for_timeout(100)

        def await_bound(*pods: str) -> None:
            until(lambda: sorted(live.places().get("bound", [])) == list(pods),
                  f"{pods} are bound")

        cluster.create(pod("web", "1"),
                       pod("ssd", nodeSelector={"disk": "ssd"}))
        shown(activeQ=["web", "ssd"])
        live.pace("Step")
        shown(activeQ=["ssd"], bound=["web"])
        live.pace("Step")
        shown(activeQ=[], unschedulable=["ssd"])
        cluster.create(member("job-a"), member("job-b"))
        shown(activeQ=["job-a", "job-b"])
        live.pace("Step")
        shown(activeQ=["job-b"], waiting=["job-a"])
        live.pace("Step")
        # The two Bindings end in either order.
        await_bound("job-a", "job-b", "web")
        shown(activeQ=[], waiting=[])
        cluster.change_node("node-2", shrink, "/status")
        live.await_node("node-2", "of 5Gi")
        shown(unschedulable=["ssd"])
        cluster.delete_pod("web")
        await_bound("job-a", "job-b")
        shown(activeQ=[])
        cluster.server.call("DELETE", "/api/v1/nodes/node-2")
        until(lambda: "node-2" not in live.picture()["nodes"],
              "the node is gone")
        shown(unschedulable=["ssd"])
        live.create("Pod", pod("last", "1"))
        live.close_drawer()
        shown(activeQ=["last"])

        first = live.evaluate(SLIDE, 0)
        start = live.evaluate("""(time) => {
          const today = new Date().toISOString().slice(0, 11);
          const start = Date.parse(`${today}${time}Z`);
          return start > Date.now() ? start - 24 * 3600 * 1000 : start;
        }""", first)
        for time, picture in reversed(moments[:-1]):
            live.evaluate(SLIDE, time - start)
            until(lambda wanted=picture: live.picture() == wanted,
                  f"the moment is {picture['places']}, "
                  f"not {live.picture()['places']}", 3)
        assert "ago" in live.text(".moment")

        # One move after the other, back to the start and forwards again.
        live.press("Back to now")
        until(lambda: live.picture() == moments[-1][1], "the page shows now")
        backwards = live.walk("Previous move")
        forwards = live.walk("Next move")
        assert len(backwards) > 15, len(backwards)
        assert backwards[-2::-1] == forwards[:-1], "moves are not undone"
        until(lambda: live.picture() == moments[-1][1], "the page shows now")


@check
def an_export_imported_after_a_reset_restores_the_picture(
        browser: Browser) -> None:
    def picture() -> dict:
        """Without the order of pods and the count of attempts."""
        places = {place: sorted(pods) for place, pods in live.places().items()
                  if pods}
        nodes = live.picture()["nodes"]
        for each in nodes.values():
            each["pods"].sort()
        return {"places": places, "nodes": nodes}

    with Cluster("13", [node("node-1"), node("node-2", "2")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        until(lambda: len(live.picture()["nodes"]) == 2, "the nodes are shown")
        start = picture()
        cluster.create(node("node-3", taints=[
            {"key": "team", "value": "a", "effect": "NoSchedule"}]),
            pod("web", "1"), pod("db", "2"), pod("huge", "9"),
            pod("gated", schedulingGates=[{"name": "example.com/gate"}]))
        until(lambda: {place: sorted(pods) for place, pods
                       in live.places().items() if pods} ==
              {"bound": ["db", "web"], "gated": ["gated"],
               "unschedulable": ["huge"]}, "all pods are in their places")
        live.await_calm()
        before = picture()

        menu = live.page.locator("details.menu")
        menu.locator("summary").click()
        with live.page.expect_download() as caught:
            menu.get_by_role("link", name="Export").click()
        exported = cluster.folder / "cluster.yaml"
        caught.value.save_as(exported)
        assert "uid:" not in exported.read_text("utf-8")

        live.press("Reset …")
        assert live.request(
            "POST", live.button("Reset the cluster").click) == 200
        until(lambda: picture() == start, "the picture is that of the start")

        with live.page.expect_response(re.compile("/live/import")) as caught:
            menu.locator("input[type=file]").set_input_files(exported)
        assert caught.value.status in (200, 201), caught.value.text()
        live.await_text("#notices", "cluster.yaml: created")
        until(lambda: picture() == before,
              f"the picture is {before}, not {picture()}")


@check
def the_page_reports_a_lost_scheduler_and_shows_the_next_one(
        browser: Browser) -> None:
    with Cluster("13", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        cluster.create(pod("early", "1"), pod("huge", "9"))
        live.await_places({"bound": ["early"], "unschedulable": ["huge"]})
        cluster.stop_scheduler()
        live.await_text("#notices", "The scheduler's trace: lost")
        cluster.delete_pod("huge")
        cluster.create(pod("late", "1"))
        cluster.start_scheduler()
        until(lambda: sorted(live.places().get("bound", [])) ==
              ["early", "late"] and not live.places().get("unschedulable"),
              "the page shows the pods of the new scheduler")
        until(lambda: live.text("#notices") == "", "the notice is gone")
        live.pace("Pause")


@check
def the_page_reports_a_lost_server_and_catches_up(browser: Browser) -> None:
    with Cluster("13", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.allowed.append(MESSAGE_OF_LOST_SERVER)
        live.open()
        cluster.create(pod("early", "1"))
        live.await_places({"bound": ["early"]})
        draft = "the text of\na draft"
        live.press("Create …")
        live.page.get_by_label("YAML of the new object").fill(draft)

        port = cluster.url.strip("/").split(":")[-1]
        cluster.stop_page()
        live.await_text("#notices", "Connection lost")
        live.await_status("lost")
        assert live.places()["bound"] == ["early"]
        assert live.button("Pause").is_disabled()
        cluster.create(pod("late", "1"))
        cluster.start_page(port)
        live.await_status("live")
        until(lambda: sorted(live.places().get("bound", [])) ==
              ["early", "late"], "the page shows what it has missed")
        assert live.text("#notices") == ""
        assert not live.button("Pause").is_disabled()
        assert live.page.get_by_label(
            "YAML of the new object").input_value() == draft
        live.close_drawer()

        port = str(cluster.server_port())
        cluster.stop_server()
        live.await_text("#notices", "The API server: lost")
        cluster.objects = [node("node-7")]
        cluster.start_server("--port", port)
        until(lambda: list(live.picture()["nodes"]) == ["node-7"],
              "the page shows the nodes of the new server")
        until(lambda: live.text("#notices") == "", "nothing is lost")


class Relay:
    """Passes connections on to the page's server, until it breaks them."""

    def __init__(self, cluster: Cluster):
        host = re.search("//([^/]+)", cluster.url).group(1)
        self.target = host.split(":")[0], int(host.split(":")[1])
        self.address = "127.0.0.1", 0
        self.sockets: list[socket.socket] = []
        self.listen()
        cluster.url = f"http://127.0.0.1:{self.address[1]}/"

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def listen(self) -> None:
        listener = socket.create_server(self.address)
        self.address = listener.getsockname()
        self.sockets = [listener]
        threading.Thread(target=self.accept, args=[listener]).start()

    def accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                browser = listener.accept()[0]
                server = socket.create_connection(self.target)
                self.sockets += [browser, server]
                for source, target in (browser, server), (server, browser):
                    threading.Thread(target=self.copy,
                                     args=[source, target]).start()

    @staticmethod
    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@check
def a_page_whose_connection_breaks_resumes(browser: Browser) -> None:
    with Cluster("13", [node("node-1")]) as cluster, Relay(cluster) as relay, \
            LivePage(browser, cluster) as live:
        live.allowed.append(MESSAGE_OF_LOST_SERVER)
        live.open().hold()
        cluster.create(pod("early", "1"))
        live.await_places({"activeQ": ["early"]})
        before = live.evaluate(SLIDE, 0)
        live.press("Back to now")
        relay.close()
        live.await_status("lost")
        cluster.create(pod("late", "1"))
        relay.listen()
        live.await_status("live")
        live.await_places({"activeQ": ["early", "late"]})
        assert live.evaluate(SLIDE, 0) == before, "the past is lost"


@check
def errors_in_YAML_stand_at_line_and_column_and_no_text_is_lost(
        browser: Browser) -> None:
    broken = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: [web\nspec: {}\n"
    with Cluster("13", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.allowed.append(MESSAGE_OF_FAILED_REQUEST)
        live.open()
        assert live.create("Pod", broken) == 400
        drawer = live.page.get_by_role("complementary", name="New object")
        area = drawer.get_by_label("YAML of the new object")
        found = until(lambda: re.search(
            r"line (\d+), column (\d+)", live.text("#editor-error")),
            "the error has a line and a column")
        line, column = map(int, found.groups())
        assert line in (4, 5), live.text("#editor-error")
        start = area.evaluate("(area) => area.selectionStart")
        before = broken[:start].split("\n")
        assert (len(before), len(before[-1]) + 1) == (line, column)
        drawer.get_by_role("button", name="Close").focus()
        live.press(re.compile("Go to line"))
        assert area.evaluate("(area) => document.activeElement === area")

        # The text outlasts the drawer, other views, and other kinds.
        live.close_drawer()
        live.page.get_by_role("link", name="Tables").click()
        live.open_row("Node", "node-1")
        live.press("Create …")
        until(lambda: area.input_value() == broken, "the text is there again")
        for kind in ("Node", "Pod"):
            drawer.get_by_role("combobox", name="Kind").select_option(kind)
            until(lambda: f"kind: {kind}" in area.input_value(), kind)
        assert area.input_value() == broken

        # An object that the API server refuses.
        refused = json.dumps(pod("Not_A_Name"))
        assert live.create("Pod", refused) == 422
        live.await_text("#editor-error", "Not_A_Name")
        assert area.input_value() == refused
        live.close_drawer()

        # An object that changes while the reader edits it.
        live.page.get_by_role("link", name="Queue").click()
        drawer = live.open_node("node-1")
        area = drawer.get_by_label("YAML of the object")
        until(lambda: "node-1" in area.input_value(), "the YAML is loaded")
        mine = area.input_value() + "# mine\n"
        area.fill(mine)
        cluster.change_node("node-1", lambda found: found["spec"].update(
            unschedulable=True))
        live.await_text(".drawer", "The object has changed since you began.")
        assert area.input_value() == mine
        assert live.request("PUT", live.button("Save", drawer).click) == 409
        until(lambda: live.text("#editor-error"), "the conflict is shown")
        assert area.input_value() == mine


@check
def a_node_is_deleted_with_its_pods_if_ticked(browser: Browser) -> None:
    with Cluster("13", [node("node-1"), node("node-2")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        for name in ("node-1", "node-2"):
            cluster.create(pod(f"on-{name}", nodeSelector={
                "kubernetes.io/hostname": name}))
        until(lambda: len(live.places().get("bound", [])) == 2,
              "the pods are bound")
        drawer = live.open_node("node-1")
        live.button("Delete …", drawer).click()
        live.button("Keep", drawer).click()
        live.button("Delete …", drawer).click()
        drawer.get_by_label("also its 1 pod").check()
        live.button("Delete node-1", drawer).click()
        until(lambda: list(live.picture()["nodes"]) == ["node-2"],
              "the node is gone")
        live.await_places({"bound": ["on-node-2"]})


@check
def the_page_of_step_07_shows_the_places_that_the_step_has(
        browser: Browser) -> None:
    with Cluster("07", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open().hold()
        cluster.create(pod("web", "1"), pod("huge", "9"))
        live.await_places({"activeQ": ["web", "huge"]})
        live.pace("Step")
        live.await_places({"bound": ["web"]})
        live.pace("Step")
        live.await_places({"unschedulable": ["huge"]})
        places = set(live.places())
        assert {"activeQ", "in flight", "bound", "unschedulable"} <= places
        assert not places & {"waiting", "gated", "unscheduled"}, places
        live.pace("Run")
        live.page.get_by_role("link", name="Attempts").click()
        live.await_text(".attempt-panel h2", "huge")
        assert_table(live, cluster.attempt("huge", 1))


@check
def the_page_of_step_01_shows_nodes_and_pods(browser: Browser) -> None:
    with Cluster("01", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        cluster.create(pod("web", "1"))
        live.await_places({"bound": ["web"]})
        assert set(live.places()) == {"unscheduled", "bound"}
        live.await_node("node-1", "3 free")
        live.await_text(".queue", "reports nothing of its own work")
        assert not live.button("Pause").count()


@check
def a_click_on_a_view_is_not_lost_if_something_changes_at_once(
        browser: Browser) -> None:
    with Cluster("13", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        live.evaluate("""() => {
          location.hash = '#tables';
          document.querySelector('input[type=search]')
            .dispatchEvent(new Event('input'));
        }""")
        live.await_text("main h2", "Tables")


@check
def the_page_goes_on_after_an_item_that_it_cannot_show(
        browser: Browser) -> None:
    time = "2026-01-01T00:00:00Z"
    wrong = {"v": 2, "sequence": 1, "time": time, "pod": {
        "uid": "1", "name": "default/web", "place": "unschedulable",
        "plugins": "not a list"}}
    stream = (f"retry: 1000000\nevent: start\nid: 1.0\n"
              f"data: {json.dumps({'time': time})}\n\n"
              f"data: {json.dumps([wrong])}\n\n")
    with Cluster("13", [node("node-1")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.page.route("**/live/events", lambda route: route.fulfill(
            content_type="text/event-stream", body=stream))
        live.page.goto(cluster.url)
        live.await_text("#notices", "The page cannot show this: TypeError")
        live.page.get_by_role("link", name="Tables").click()
        live.await_text("main h2", "Tables")
        assert live.errors
        live.errors.clear()
