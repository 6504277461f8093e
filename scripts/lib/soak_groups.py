"""Small clusters side by side, in each of which groups compete for the room."""

import argparse
import collections
import concurrent.futures
import http.client
import itertools
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from embedded import Server, plugin_flags
from soak_api import GROUP, MIN_AVAILABLE, NODES, PODS, Object
from soak_groups_model import Judge, Plan, plan_of

POLL = 0.25  # seconds between two looks at the pods
OTHERS = "others"  # pods that take room at the beginning
SLOW = 2  # seconds between two looks: if there are more, times begin again
BOUND = f"{PODS}?fieldSelector=spec.nodeName!%3D"


def node(name: str, room: int) -> Object:
    resources = {"cpu": "64", "memory": "256Gi", "pods": str(room)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"capacity": resources, "allocatable": resources}}


def pod(name: str, labels: dict[str, str], **spec: object) -> Object:
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels},
            "spec": {"schedulerName": "minisched",
                     "containers": [{"name": "c", "image": "pause"}], **spec}}


class Run:
    """One cluster: a server, a scheduler, and groups until all have run."""

    def __init__(self, seed: int, plan: Plan, program: pathlib.Path,
                 folder: pathlib.Path, stopped: threading.Event):
        self.seed, self.plan, self.program = seed, plan, program
        self.folder, self.stopped = folder, stopped
        self.members: dict[str, list[str]] = {g: [] for g in plan.groups}
        self.history: list[str] = []
        # What is still to be done: when, how, and to which group.
        self.actions: list[tuple[float, Callable[[str], None], str]] = []
        self.waits: list[float] = []  # seconds before each start
        self.violation = ""
        self.slow = 0
        self.looked = 0.0  # when the pods were listed
        self.begin = time.monotonic()
        self.scheduler: subprocess.Popen | None = None
        self.server: Server | None = None
        self.judge: Judge | None = None

    def now(self) -> float:
        return time.monotonic() - self.begin

    def record(self, what: str) -> None:
        self.history.append(f"{self.now():.1f} {what}")
        with open(self.folder / "history.txt", "a", encoding="utf-8") as file:
            print(self.history[-1], file=file)

    def run(self) -> None:
        self.folder.mkdir()
        try:
            self.start()
            self.go_on()
        except (OSError, http.client.HTTPException) as error:
            if not self.stopped.is_set():
                raise RuntimeError(f"seed {self.seed}: no response from the "
                                   f"server: {error}: see {self.folder}"
                                   ) from error
        finally:
            self.stop()

    def start(self) -> None:
        with open(self.folder / "apiserver.log", "wb") as log:
            self.server = Server(self.folder, log=log)
        for number, room in enumerate(self.plan.nodes):
            self.server.call("POST", NODES, node(f"node-{number}", room))
            if self.plan.blocked:  # half of each node
                for other in range(room - room // 2):
                    name = f"other-{number}-{other}"
                    self.members.setdefault(OTHERS, []).append(name)
                    body = pod(name, {GROUP: OTHERS}, nodeName=f"node-{number}")
                    self.server.call("POST", PODS, body)
        self.record(str(self.plan))
        self.begin = time.monotonic()
        self.judge = Judge({group: minimum for group, (_, minimum)
                            in self.plan.groups.items()}, 0)

    def stop(self) -> None:
        if self.scheduler:
            self.scheduler.kill()
            self.scheduler.wait()
        if self.server:
            self.server.stop()

    def go_on(self) -> None:
        """Carries out the plan, then waits until all groups have run."""
        for when, group in self.plan.created:
            self.later(when, self.create, group)
        for when in self.plan.starts:
            self.later(when, self.start_scheduler)
        for when in self.plan.kills:
            self.later(when, self.kill)
        if self.plan.blocked:
            self.later(self.plan.blocked, self.end, OTHERS)
        while not (self.stopped.is_set() or self.violation):
            self.act()
            self.observe()
            if not self.actions and not self.judge.minimums:
                return
            self.stopped.wait(POLL)

    def later(self, when: float, act: Callable[[str], None],
              group: str = "") -> None:
        self.actions.append((when, act, group))
        self.actions.sort(key=lambda action: action[0])

    def act(self) -> None:
        """Does what is due."""
        while self.actions and self.actions[0][0] <= self.now():
            _, act, group = self.actions.pop(0)
            act(group)
            self.judge.disturb(self.now())

    # What is done to the cluster.

    def create(self, group: str) -> None:
        names = self.members[group]
        size, minimum = self.plan.groups[group]
        # A new scheduler lists pods by name, so the groups are interleaved.
        names.append(f"pod-{sum(map(len, self.members.values())):03}")
        labels = {GROUP: group, MIN_AVAILABLE: str(minimum)}
        self.server.call("POST", PODS, pod(names[-1], labels))
        if len(names) == size:
            self.record(f"{group} ({minimum} of {size}) is created")

    def start_scheduler(self, _: str) -> None:
        with open(self.folder / "scheduler.log", "ab") as log:
            self.scheduler = subprocess.Popen(
                [self.program, "-vv", "--kubeconfig",
                 self.server.kubeconfig, "--seed", str(self.seed),
                 *plugin_flags(self.program, self.folder, groups=True)],
                stdout=log, stderr=log)
        self.record("scheduler started")

    def kill(self, _: str) -> None:
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = None
        self.record("scheduler killed")
        self.stopped.wait(POLL)  # the server may still handle its requests
        self.observe()
        self.judge.excuse()

    def end(self, group: str) -> None:
        """Deletes a group, as if its job had ended."""
        for name in self.members[group]:
            self.server.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
        self.record(f"{group} has ended")

    # What is checked.

    def observe(self) -> None:
        pods = self.server.call("GET", BOUND)["items"]
        now = self.now()
        if now - self.looked > SLOW:
            self.slow += 1
            self.record(f"pods not listed for {now - self.looked:.1f} s")
            self.judge.disturb(now)
        self.looked = now
        bound = collections.Counter(
            item["metadata"]["labels"][GROUP] for item in pods)
        since = self.judge.since
        started, wrong = self.judge.observe(now, bound)
        if self.scheduler and self.scheduler.poll() is not None:
            wrong.append("the scheduler exited with "
                         f"{self.scheduler.returncode}")
        if wrong:
            self.violation = "; ".join(wrong)
            self.record(f"VIOLATION {self.violation}")
        for group in started:
            self.waits.append(now - since)
            self.record(f"{group} has started after {now - since:.1f} s")
            self.later(now + self.plan.lives[group], self.end, group)


class GroupsSoak:
    """Many runs, some of them at the same time."""

    def __init__(self, arguments: argparse.Namespace, program: pathlib.Path,
                 folder: pathlib.Path):
        self.arguments, self.program = arguments, program
        self.folder = folder
        self.seeds = itertools.count(arguments.seed)
        self.runs: list[Run] = []  # those that have ended
        self.stopped = threading.Event()
        self.began = self.end = time.monotonic()
        self.pool = concurrent.futures.ThreadPoolExecutor(arguments.at_once)

    def run(self) -> Object:
        """Returns the counts for the table."""
        self.end = time.monotonic() + 60 * self.arguments.minutes
        workers = [self.pool.submit(self.work)
                   for _ in range(self.arguments.at_once)]
        for worker in concurrent.futures.as_completed(workers):
            worker.result()
        return {"violations": sum(bool(run.violation) for run in self.runs)}

    def stop(self) -> None:
        self.stopped.set()
        self.pool.shutdown()

    def work(self) -> None:
        """Begins runs until the time is over."""
        while True:
            seed = next(self.seeds)
            plan = plan_of(seed, self.arguments.most_groups)
            run = Run(seed, plan, self.program, self.folder / f"seed-{seed}",
                      self.stopped)
            run.run()
            if self.stopped.is_set():
                return
            self.report(run)
            self.runs.append(run)
            if self.arguments.plant and run.violation:
                self.stopped.set()
            if self.stopped.is_set() or time.monotonic() >= self.end:
                return

    def report(self, run: Run) -> None:
        result = "violation"
        if not run.violation:
            result = (f"first start after {run.waits[0]:.1f} s, longest wait "
                      f"{max(run.waits):.1f} s")
            shutil.rmtree(run.folder)
        print(f"seed {run.seed}: {run.plan}; {result}", flush=True)
        if run.violation:
            line = (f"seed {run.seed}: {run.violation}; events: "
                    f"{' | '.join(run.history)}")
            print(f"VIOLATION {line}", file=sys.stderr, flush=True)
            with open(self.folder / "violations.txt", "a",
                      encoding="utf-8") as file:
                print(line, file=file)

    def print_table(self, counts: Object) -> None:
        first = [run.waits[0] for run in self.runs if run.waits]
        waits = [wait for run in self.runs for wait in run.waits]
        killed = [run for run in self.runs if run.plan.kills]
        rows = {
            "step": self.arguments.step,
            "minutes": f"{(time.monotonic() - self.began) / 60:.1f}",
            "seeds": f"{self.arguments.seed} to {next(self.seeds) - 1}",
            "runs": len(self.runs),
            "runs with kills": len(killed),
            "groups": sum(len(run.plan.groups) for run in self.runs),
            "groups started": len(waits),
            "until the first start, median and longest, s": spread(first),
            "until the next start, median and longest, s": spread(waits),
            "late lists": sum(run.slow for run in self.runs),
            "violations": counts["violations"]}
        print("| | |\n| --- | ---: |")
        for name, value in rows.items():
            print(f"| {name} | {value} |")


def spread(seconds: list[float]) -> str:
    if not seconds:
        return "–"
    return f"{statistics.median(seconds):.1f}, {max(seconds):.1f}"
