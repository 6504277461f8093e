"""Checks of the live page with long names, and with many pods and nodes."""

import re
from typing import Any

from live_page import Cluster, LivePage, check, node, pod, until
from playwright.sync_api import Browser

NODE = "gke-production-europe-standard-16-pool-{:03}-4f8c2a1b-x7k9"
POD = "checkout-service-canary-deployment-7d9f8b6c5d-x{:03}"
STUCK = "training-job-large-language-model-worker-7d9f8b-{:03}"

# Returns the elements whose text is wider than they are or leaves the window,
# except in boxes that can be scrolled.
OVERFLOWS = """() => {
  const found = [];
  const isCut = (element) => element.matches('.cut-head, .namespace, .reason');
  for (const element of document.querySelectorAll(
      '.pod, .chip, .node-name, .group summary, thead a, thead .link, h2')) {
    const {right} = element.getBoundingClientRect();
    const box = element.closest('.place, .node, .attempt-list, .drawer, main')
      .getBoundingClientRect();
    if (!element.closest('.scroll') && right > box.right + 1) {
      found.push(element.textContent);
    }
    for (const inner of element.querySelectorAll('*')) {
      if (isCut(inner) || element.closest('.scroll')) continue;
      if (inner.getBoundingClientRect().right > right + 1) {
        found.push(`${element.textContent}: ${inner.className}`);
      }
    }
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push('the window');
  return found;
}"""

# Returns how many lines each link in the head of a table takes.
LINES_OF_HEADS = """() => [...document.querySelectorAll('thead .link')]
  .map((link) => Math.round(link.getBoundingClientRect().height /
    parseFloat(getComputedStyle(link).lineHeight)))"""


def nodes(count: int) -> list[dict]:
    return [node(NODE.format(i)) for i in range(count)]


def stuck_pods(count: int) -> list[dict]:
    return [pod(STUCK.format(i), "100") for i in range(count)]


def await_pods(live: LivePage, place: str, count: int) -> None:
    until(lambda: live.text(f".place-{place} .count").startswith(str(count)),
          f"{count} pods are {place}")


@check
def a_page_opened_after_the_attempts_shows_why_pods_wait(
        browser: Browser) -> None:
    with Cluster("13", nodes(3)) as cluster:
        cluster.create(pod("web", "100"), pod("fits", "1"))
        until(lambda: "conditions" in cluster.pod("web")["status"],
              "the attempt has failed")
        until(lambda: cluster.pod("fits")["spec"].get("nodeName"), "a Binding")
        with LivePage(browser, cluster) as live:
            live.open()
            live.await_places({"unschedulable": ["web"]})
            live.button(re.compile("^Attempt 1")).click()
            live.await_text(".attempt-panel h2", "default/web")
            until(lambda: live.page.locator("table.by-node tbody tr").count()
                  == 3, "the table has the nodes")
            assert "0/3 nodes are available" in live.text(".attempt-list")
            # Attempts that nobody needs any more are not kept.
            assert "fits" not in live.text(".attempt-list")


def assert_nothing_overflows(live: LivePage) -> None:
    for view in ("Queue", "Attempts", "Tables"):
        live.page.get_by_role("link", name=view).click()
        live.page.wait_for_timeout(200)
        found = live.evaluate(OVERFLOWS)
        assert not found, f"{view}: {found}"
        if view == "Tables":
            lines = live.evaluate(LINES_OF_HEADS)
            assert max(lines) == 1, lines


@check
def long_names_fit_at_each_width(browser: Browser) -> None:
    with Cluster("18", nodes(3)) as cluster:
        cluster.create(*(pod(POD.format(i), "500m") for i in range(4)),
                       *stuck_pods(2))
        for width in (1300, 700, 360):
            with LivePage(browser, cluster, reduced_motion="reduce",
                          viewport={"width": width, "height": 900}) as live:
                live.open()
                await_pods(live, "bound", 4)
                await_pods(live, "unschedulable", 2)
                bound = live.page.locator(".place-bound .pod").first
                assert "→ gke-production-europe" in bound.text_content()
                title = bound.locator(".aside .cut").get_attribute("title")
                assert title in [NODE.format(i) for i in range(3)], title
                assert_nothing_overflows(live)


@check
def the_scores_stay_in_sight_and_the_selected_node_is_first(
        browser: Browser) -> None:
    with Cluster("18", nodes(30)) as cluster, LivePage(
            browser, cluster, viewport={"width": 1300, "height": 900}) as live:
        live.open("attempts")
        cluster.create(pod(POD.format(0), "500m"))
        until(lambda: live.page.locator(".by-node .selected").count(),
              "the attempt is shown")
        row = live.page.locator(".by-node tbody tr").first
        assert "◀ selected" in row.inner_text()
        assert "gke-production-europe" in row.locator("th").inner_text()
        for cell in row.locator(".score, .total").all():
            box = cell.bounding_box()
            assert box["x"] + box["width"] <= 1300, box


@check
def many_pods_with_one_reason_are_a_group_that_opens(browser: Browser) -> None:
    with Cluster("13", nodes(3)) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        cluster.create(*stuck_pods(60), pod("alone", nodeSelector={"a": "b"}))
        await_pods(live, "unschedulable", 61)
        live.await_text(".place-unschedulable", "60 pods")
        live.await_places({"unschedulable": ["alone"]})
        summary = live.page.locator(".group summary")
        assert "0/3 nodes are available" in summary.inner_text()
        summary.focus()
        live.page.keyboard.press("Enter")
        until(lambda: len(live.places()["unschedulable"]) == 61,
              "the group is open")
        live.page.keyboard.press("Enter")
        live.await_places({"unschedulable": ["alone"]})


@check
def a_namespace_is_chosen_for_all_views(browser: Browser) -> None:
    def create(namespace: str, name: str) -> None:
        cluster.server.call(
            "POST", f"/api/v1/namespaces/{namespace}/pods", pod(name, "100"))

    with Cluster("13", nodes(3)) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        create("default", "web")
        live.await_places({"unschedulable": ["web"]})
        choice = live.page.get_by_role("combobox", name="Namespace")
        assert not choice.count()
        cluster.server.call("POST", "/api/v1/namespaces",
                            {"metadata": {"name": "team"}})
        create("team", "db")
        await_pods(live, "unschedulable", 2)
        choice.select_option("team")
        live.await_places({"unschedulable": ["db"]})
        live.page.get_by_role("link", name="Attempts").click()
        live.await_text(".attempt-list ul", "db")
        assert "web" not in live.text(".attempt-list ul")
        live.page.get_by_role("link", name="Tables").click()
        rows = live.page.locator(".objects tbody tr")
        until(lambda: rows.count() == 1, "one pod")
        cells = rows.locator("td").all_inner_texts()
        assert cells[:3] == ["team", "db", "unschedulable"], cells
        assert re.fullmatch(r"\d+s", cells[3]), cells
        assert cells[5].startswith("0/3 nodes are available: 3 Insuff"), cells


@check
def many_nodes_are_squares_unless_the_reader_wants_cards(
        browser: Browser) -> None:
    with Cluster("13", nodes(60)) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        until(lambda: live.page.locator(".square").count() == 60, "squares")
        height = "document.documentElement.scrollHeight"
        assert live.evaluate(height) < 2000, live.evaluate(height)
        group = live.page.get_by_role("group", name="Nodes as")
        live.button("cards", group).click()
        until(lambda: live.page.locator(".node").count() == 60, "cards")
        live.button("squares", group).click()
        until(lambda: live.page.locator(".square").count() == 60, "squares")


def deployment(name: str) -> dict[str, Any]:
    spec = pod(name, "1")["spec"]
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {"replicas": 4, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": spec}}}


@check
def an_export_has_the_pods_of_controllers_and_their_nodes(
        browser: Browser) -> None:
    def placed() -> list[list[str]]:
        return sorted([found["metadata"]["name"],
                       found["spec"].get("nodeName", "")] for found in
                      cluster.server.call(
                          "GET", "/api/v1/namespaces/default/pods")["items"])

    with Cluster("13", [node("node-1"), node("node-2")]) as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        until(lambda: len(live.picture()["nodes"]) == 2, "the nodes are shown")
        cluster.server.call("POST", "/apis/apps/v1/namespaces/default/"
                            "deployments", deployment("web"))
        await_pods(live, "bound", 4)
        before = placed()
        menu = live.page.locator("details.menu")
        menu.locator("summary").click()
        with live.page.expect_download() as caught:
            menu.get_by_role("link", name="Export").click()
        exported = cluster.folder / "cluster.yaml"
        caught.value.save_as(exported)
        assert exported.read_text("utf-8").count("kind: Pod\n") == 4
        live.press("Reset …")
        live.button("Reset the cluster").click()
        live.await_text("#notices", "The cluster is as at the start.")
        assert placed() == []
        menu.locator("input[type=file]").set_input_files(exported)
        live.await_text("#notices", "cluster.yaml: created")
        assert placed() == before, f"{placed()}\nbut before: {before}"
        live.page.wait_for_timeout(500)
        assert placed() == before, "controllers have made more pods"
