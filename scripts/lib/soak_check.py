"""The checker of scripts/soak: judges what a scheduler does to a cluster.

Usage: soak_check.py KUBECONFIG FOLDER

Watches pods, nodes, claims and volumes, and checks the rules of soak_model.py.
Shares nothing with the churn but the labels of the pods. Reads what the test does to the
scheduler from its standard input, as JSON lines:

  {"scheduler": PID}      the scheduler was started
  {"killed": "scheduler"} or {"killed": "kube-apiserver"}
  {"exited": TEXT}        the scheduler ended by itself
  {"faults": true, "watches": false, "losing": true}
                          which faults are injected from now on
  {"settle": SECONDS}     no more faults and pods: check the end, and exit; 0:
                          exit without this check

Writes the events to FOLDER/events.jsonl, and the violations to
FOLDER/violations.txt and the standard error. Prints its counts as JSON.
"""

import collections
import http.client
import json
import os
import pathlib
import queue
import signal
import sys
import threading
import time

from soak_api import (CAPACITIES, CLAIMS_PATH, NAMESPACE, NODES, VOLUMES, Api,
                      Object)
from soak_model import Model

PODS = "/api/v1/pods"
# The events that name the victim and the preemptor.
PREEMPTED = ("/apis/events.k8s.io/v1/namespaces/default/events"
             "?fieldSelector=reason%3DPreempted")
# Memory: RSS may grow until a scheduler has filled its trace and its caches.
WARM_UP = 60  # seconds
# MiB after that: 10,000 records of the trace (7), the events of the last six
# minutes (1), and Bindings under way with the fragments they leave (8).
GROWTH = 16
SLOW = 2  # seconds: no rule about time is checked if the server is slower
LAST_SETTLE = 900  # seconds until a slow server ends the test
# Seconds by which the events of pods are handled late. Pods and nodes have
# watches of their own, so a Binding may come before the event that uncordoned
# the node.
LAG = 0.25
THREADS = 36  # the client has a fixed number, and each informer one or two


class Life:
    """Measures one life of the scheduler's process."""

    def __init__(self, pid: int, now: float):
        self.pid, self.start = pid, now
        self.warm = self.largest = 0.0
        self.threads = 0
        self.ended = False  # another process may have its pid
        self.reported: set[str] = set()

    def sample(self, now: float) -> list[str]:
        """Returns what is wrong."""
        if self.ended:
            return []
        try:
            text = pathlib.Path(f"/proc/{self.pid}/status").read_text("ascii")
        except OSError:
            return []
        values = dict(line.split(":", 1) for line in text.splitlines())
        if "VmRSS" not in values:  # a zombie
            return []
        rss = int(values["VmRSS"].split()[0]) / 1024
        self.threads = max(self.threads, int(values["Threads"]))
        self.largest = max(self.largest, rss)
        if now - self.start < WARM_UP:
            self.warm = self.largest
        wrong = {}
        if rss > self.warm + GROWTH:
            wrong["memory"] = (f"memory grew from {self.warm:.1f} MiB to "
                               f"{rss:.1f} MiB")
        if self.threads > THREADS:
            wrong["threads"] = f"{self.threads} threads"
        new = [text for key, text in wrong.items() if key not in self.reported]
        self.reported |= wrong.keys()
        return new

    @property
    def growth(self) -> float:
        return self.largest - self.warm


class Checker:
    """Runs the model on the events of the watches."""

    def __init__(self, kubeconfig: pathlib.Path, folder: pathlib.Path):
        self.kubeconfig = kubeconfig
        self.history = open(folder / "events.jsonl", "w", encoding="utf-8")
        self.wrong = open(folder / "violations.txt", "w", encoding="utf-8")
        # Whatever happens, in the order in which it is handled.
        self.inbox: queue.Queue[tuple[str, str, object]] = queue.Queue()
        self.model = Model(self.report, self.excuse, time.time())
        self.events = self.gaps = self.violations = self.excused = 0
        self.slow = 0
        self.lives: list[Life] = []
        self.listed: set[str] = set()
        self.settling: float | None = None  # since when
        self.settle = 0.0

    def report(self, what: str, objects: list[str], events: list[str]) -> None:
        self.violations += 1
        now = time.time()
        stamp = time.strftime("%H:%M:%S", time.localtime(now))
        line = (f"{stamp}.{int(now * 1000) % 1000:03} {what}: "
                f"{', '.join(objects)}; events: {' | '.join(events)}")
        print(line, file=self.wrong, flush=True)
        print(f"VIOLATION {line}", file=sys.stderr, flush=True)
        self.record({"violation": line})

    def excuse(self, what: str) -> None:
        self.excused += 1
        self.record({"excused": what})

    def record(self, what: Object) -> None:
        json.dump({"time": round(time.time(), 3), **what}, self.history)
        self.history.write("\n")

    # Threads that only put into the inbox.

    def follow(self, path: str) -> None:
        """Lists, then watches from there; after 410 lists again."""
        version = ""
        api = Api(self.kubeconfig, "soak-check")
        while True:
            try:
                if not version:
                    answer = api.get(path)
                    version = answer["metadata"]["resourceVersion"]
                    self.inbox.put((path, "LIST", answer["items"]))
                version = self.stream(api, path, version)
            except (OSError, ValueError, RuntimeError,
                    http.client.HTTPException) as error:
                self.inbox.put(("log", "", f"watch of {path}: {error!r}"))
                time.sleep(0.5)

    def stream(self, api: Api, path: str, version: str) -> str:
        """Returns the version to continue from; "" if it has expired."""
        response = api.watch(path, version)
        if response.status != 200:
            response.read()
            return "" if response.status == 410 else version
        try:
            while line := response.readline():
                if not line.endswith(b"\n"):
                    break
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return "" if event["object"]["code"] == 410 else version
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self.inbox.put((path, event["type"], event["object"]))
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.inbox.put(("log", "", f"watch of {path}: {error!r}"))
        finally:
            response.close()
        return version

    def probe(self) -> None:
        """Reads an object each second, to find out how slow the server is."""
        api = Api(self.kubeconfig, "soak-check")
        while True:
            start = time.monotonic()
            try:
                api.call("GET", NAMESPACE)
            except TimeoutError:
                pass
            if time.monotonic() - start > SLOW:
                self.inbox.put(("slow", "", time.monotonic() - start))
            time.sleep(1)

    def obey(self) -> None:
        for line in sys.stdin:
            self.inbox.put(("order", "", json.loads(line)))
        # The test is gone, and nobody reads the result.
        os._exit(1)  # pylint: disable=protected-access

    # What the main thread does.

    def handle(self, source: str, kind: str, what: object) -> None:
        now = time.time()
        if source == "log":
            self.record({"log": what})
        elif source == "slow":
            self.slow += 1
            self.record({"slow": what})
            self.model.slow(now)
        elif source == "order":
            self.record({"order": what})
            self.handle_order(what, now)
        elif kind == "LIST":
            self.handle_list(source, what, now)
        else:
            self.events += 1
            what["metadata"].pop("managedFields", None)
            self.record({"type": kind, "object": what})
            if source == PREEMPTED:
                self.model.preemptions.preempted(kind, what)
            else:
                {PODS: self.model.pod_event, NODES: self.model.node_event,
                 CLAIMS_PATH: self.model.volumes.claim_event,
                 VOLUMES: self.model.volumes.volume_event,
                 CAPACITIES: self.model.volumes.capacity_event,
                 }[source](kind, what, now)

    def handle_list(self, source: str, items: list[Object],
                    now: float) -> None:
        if source in self.listed:
            self.gaps += 1
        self.listed.add(source)
        for item in items:
            item["metadata"].pop("managedFields", None)
            self.record({"type": "LISTED", "object": item})
        if source == NODES:
            self.handle_nodes(items, now)
        elif source != PREEMPTED:
            {PODS: self.model.pod_list,
             CLAIMS_PATH: self.model.volumes.claim_list,
             VOLUMES: self.model.volumes.volume_list,
             CAPACITIES: self.model.volumes.capacity_list}[source](items, now)

    def handle_nodes(self, items: list[Object], now: float) -> None:
        names = {item["metadata"]["name"] for item in items}
        for name in self.model.nodes.keys() - names:
            self.model.node_event("DELETED", {"metadata": {
                "name": name, "resourceVersion": "?"}}, now)
        for item in items:
            self.model.node_event("LISTED", item, now)

    def handle_order(self, order: Object, now: float) -> None:
        if "scheduler" in order:
            self.lives.append(Life(order["scheduler"], now))
            self.model.scheduler_started(now)
        elif order.get("killed") == "scheduler":
            self.lives[-1].ended = True
        elif order.get("killed") == "kube-apiserver":
            self.model.server_killed(now)
        elif "exited" in order:
            self.report(order["exited"], ["scheduler"], [])
        elif "faults" in order:
            self.model.faults(order["faults"], order["watches"],
                              order["losing"], now)
        elif "settle" in order:
            self.settle = order["settle"]
            self.settling = now

    def tick(self) -> None:
        now = time.time()
        self.model.check_groups(now)
        self.model.check_pending(now)
        self.model.preemptions.check_evictions(now)
        self.model.preemptions.check_pending(now)
        self.model.volumes.check_pending(now)
        self.model.volumes.check_selected(now)
        if self.lives:
            for wrong in self.lives[-1].sample(now):
                self.report(wrong, [f"scheduler {self.lives[-1].pid}"], [])
        if self.settling is None:
            return
        quiet_from = self.model.quiet_from or now
        if now - max(self.settling, quiet_from) >= self.settle:
            if self.settle:
                self.model.check_end(now)
            self.finish()
        if now - self.settling > LAST_SETTLE:
            self.report("the server was too slow to check the end", [], [])
            self.finish()
        fitting = self.model.update_fits(now)
        if not (fitting or self.model.pending("must") or
                self.model.volumes.bindable or self.model.preemptions.ready):
            self.finish()

    def finish(self) -> None:
        lives = [life for life in self.lives if life.largest]
        self.record({"end": True})
        self.history.close()
        print(json.dumps({
            "events": self.events, "gaps": self.gaps,
            **{what: self.model.counts[what]
               for what in ("bound", "victims", "evictions", "cancelled",
                            "claims", "choices", "selections")},
            "excused": self.excused,
            "slow": self.slow, "violations": self.violations, "lives": len(lives),
            "memory": max((life.largest for life in lives), default=0),
            "growth": max((life.growth for life in lives), default=0),
            "threads": max((life.threads for life in lives), default=0)}))
        sys.stdout.flush()
        sys.exit(1 if self.violations else 0)

    def run(self) -> None:
        followed = (PODS, NODES, CLAIMS_PATH, VOLUMES, CAPACITIES, PREEMPTED)
        for target, *arguments in (*((self.follow, path) for path in followed),
                                   (self.obey,), (self.probe,)):
            threading.Thread(target=target, args=arguments,
                             daemon=True).start()
        next_tick = 0.0
        of_pods = collections.deque()  # with the time when they are due
        while True:
            try:
                event = self.inbox.get(timeout=LAG)
                if event[0] in (PODS, PREEMPTED):
                    of_pods.append((time.monotonic() + LAG, event))
                else:
                    self.handle(*event)
            except queue.Empty:
                pass
            while of_pods and of_pods[0][0] <= time.monotonic():
                self.handle(*of_pods.popleft()[1])
            if time.monotonic() >= next_tick:
                self.tick()
                next_tick = time.monotonic() + 0.5


if __name__ == "__main__":
    # Ctrl-C reaches the whole group; the end of the input ends the checker.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Checker(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])).run()
