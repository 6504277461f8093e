"""Checks what a large cluster costs the live page: memory."""

import http.client
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Iterator

from live_page import NAMESPACE, Cluster, LivePage, check, node, pod, until
from playwright.sync_api import Browser

RATE = 200  # pods a second


class Churn:
    """Creates pods at a steady rate, and deletes the oldest beyond a count."""

    def __init__(self, cluster: Cluster, keep: int, names: Iterator[int]):
        self.cluster = cluster
        self.keep = keep
        self.names = names
        self.pods: deque[str] = deque()
        self.created = 0
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self) -> "Churn":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join()

    def run(self) -> None:
        server = self.cluster.server.connection
        connection = http.client.HTTPConnection(server.host, server.port)
        begin = time.monotonic()
        while not self.stopped.is_set():
            due = (time.monotonic() - begin) * RATE - self.created
            if due < 1:
                time.sleep(0.005)
                continue
            name = f"churn-{next(self.names)}"
            send(connection, "POST", f"{NAMESPACE}/pods", pod(name))
            self.pods.append(name)
            self.created += 1
            if len(self.pods) > self.keep:
                send(connection, "DELETE",
                     f"{NAMESPACE}/pods/{self.pods.popleft()}",
                     {"gracePeriodSeconds": 0})
        connection.close()


def send(connection: http.client.HTTPConnection, method: str, path: str,
         body: dict) -> None:
    connection.request(method, path, json.dumps(body),
                       {"Content-Type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    assert response.status < 300, text


@check
def the_page_of_a_large_cluster_stays_small(browser: Browser) -> str:
    """The page keeps a bounded past, so its heap no longer grows once the past
    is full. This takes less than a minute, and stands for an hour."""
    nodes = [node(f"node-{i}", "1000", "1Ti") for i in range(1000)]
    pods = [pod(f"old-{i}", "100m", nodeName=f"node-{i % 1000}")
            for i in range(10000)]
    with Cluster("13", nodes + pods, "--kube-api-qps", "0") as cluster, \
            LivePage(browser, cluster) as live:
        live.open()
        until(lambda: live.page.locator(".square").count() == 1000 and
              "10,000" in live.text(".place-bound .count"),
              "all nodes and pods are shown")
        profiler = live.context.new_cdp_session(live.page)

        def heap() -> float:
            profiler.send("HeapProfiler.collectGarbage")
            return profiler.send("Runtime.getHeapUsage")["usedSize"] / 2**20

        def span() -> int:
            """The length of the past, which drops when the past is full."""
            return int(live.page.locator("#timeline input[type=range]")
                       .get_attribute("max"))

        small = heap()
        begin, longest, is_full = time.monotonic(), 0, False
        with Churn(cluster, 500, itertools.count()) as churn:
            while not is_full and time.monotonic() < begin + 60:
                live.page.wait_for_timeout(500)
                length = span()
                is_full = length < longest
                longest = max(longest, length)
            seconds = time.monotonic() - begin
            rate = churn.created / seconds
        large = heap()
        measured = (
            f"1,000 nodes, 10,000 pods: heap {small:.0f} MiB; after "
            f"{seconds:.0f} s at {rate:.0f} pods/s: heap {large:.0f} MiB, the "
            f"past is {'' if is_full else 'not '}full")
        assert large <= 150, measured
        return measured
