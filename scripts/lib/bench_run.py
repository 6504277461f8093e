"""One run of scripts/bench schedulers: a scheduler, a case, its figures."""

import contextlib
import dataclasses
import json
import pathlib
import subprocess
import time
from collections.abc import Iterator

import bench_control_plane as control_plane
import bench_load as load
from api_server import Client, Server
from embedded import PODS, fail

WARM_UP = "warm-up"


@dataclasses.dataclass(frozen=True)
class Case:
    """What schedulers have to do: "backlog/plain/1000"."""
    load: str  # "backlog" or "arrival"
    pods: str  # "plain" or "mix"
    nodes: int

    def __str__(self) -> str:
        return f"{self.load}/{self.pods}/{self.nodes}"


@dataclasses.dataclass(frozen=True)
class Size:
    """How much of it, and how long to wait for it."""
    backlog: int  # pods
    rate: float  # pods per second
    seconds: float
    patience: float  # seconds until all pods must be bound

    def pods(self, case: Case) -> int:
        if case.load == "backlog":
            return self.backlog
        return round(self.rate * self.seconds)


@dataclasses.dataclass(frozen=True)
class Scheduler:
    """A scheduler to measure."""
    name: str
    program: pathlib.Path
    step: int | None  # None: kube-scheduler
    content_type: str | None = None  # None: kube-scheduler's default, protobuf

    def command(self, kubeconfig: pathlib.Path, directory: pathlib.Path
                ) -> list[str | pathlib.Path]:
        if self.step is not None:
            return [self.program, "--kubeconfig", kubeconfig,
                    "--scheduler-name", load.SCHEDULER, "--kube-api-qps", "0"]
        connection = {"kubeconfig": str(kubeconfig), "qps": 10_000,
                      "burst": 10_000}
        if self.content_type:
            connection |= {"contentType": self.content_type,
                           "acceptContentTypes": self.content_type}
        configuration = directory / "scheduler.json"
        configuration.write_text(json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": connection,
            "leaderElection": {"leaderElect": False},
            "profiles": [{"schedulerName": load.SCHEDULER}],
        }), encoding="ascii")
        return [self.program, "--config", configuration, "--secure-port", "0"]

    def supports(self, case: Case) -> bool:
        """Steps before 04 ignore node affinity and node selectors."""
        return case.pods == "plain" or self.step is None or self.step >= 4


def measure(scheduler: Scheduler, case: Case, size: Size,
            plane: control_plane.ControlPlane) -> dict:
    """Runs a scheduler. Returns the figures, from which JSON can be made."""
    server = plane.start(template_of(case, size, plane))
    with contextlib.closing(load.BindWatch(server)) as watch:
        run = Run(scheduler, case, size, plane, server, watch)
        figures = run.backlog() if case.load == "backlog" else run.arrival()
    return {"case": str(case), "scheduler": scheduler.name,
            "pods": len(run.pods), "feasible": run.feasible, **figures}


def template_of(case: Case, size: Size,
                plane: control_plane.ControlPlane) -> str:
    """Returns the state in which a case begins."""
    nodes = plane.template(
        f"nodes/{case.nodes}", None,
        lambda server: load.create_nodes(server, case.nodes))
    if case.load == "arrival":
        return nodes
    pods = load.make_pods(case.pods, size.pods(case))
    return plane.template(f"pods/{case}", nodes,
                          lambda server: load.create(server, PODS, pods))


class Run:
    """A run of a scheduler on a server of its own."""

    def __init__(self, scheduler: Scheduler, case: Case, size: Size,
                 plane: control_plane.ControlPlane, server: Server,
                 watch: load.BindWatch):
        self.scheduler = scheduler
        self.case = case
        self.size = size
        self.plane = plane
        self.server = server
        self.watch = watch
        self.client = Client(server)
        self.pods = load.make_pods(case.pods, size.pods(case))
        self.feasible = load.count_feasible(case.pods, len(self.pods))

    def backlog(self) -> dict:
        before = self._count()
        cpu = control_plane.CpuTimer(self.server)
        start = time.monotonic()
        with self._running() as process:
            self.watch.wait(self.feasible, self.size.patience)
            figures = self._read(cpu, process)
        times = sorted(each - start for each in self.watch.times.values())
        return figures | self._written(before) | rates(times) | {
            "bound": len(times)}

    def arrival(self) -> dict:
        with self._running() as process:
            self.client.call("POST", PODS, load.pod(WARM_UP))
            if not self.watch.wait(1, self.size.patience):
                self._fail(process, "bound no pod")
            control_plane.await_events(self.client, process.pid)
            control_plane.await_idle(self.server)
            before = self._count()
            cpu = control_plane.CpuTimer(self.server, process.pid)
            sent = load.arrive(self.server, self.pods, self.size.rate)
            self.watch.wait(1 + self.feasible, self.size.patience)
            figures = self._read(cpu, process)
        self.client.calls[f"POST {PODS}"] += len(sent)
        took = sorted(bound - sent[name]
                      for name, bound in self.watch.times.items()
                      if name != WARM_UP)
        return figures | self._written(before) | latencies(
            took, self.feasible) | {
            "bound": len(took),
            "sent_seconds": max(sent.values()) - min(sent.values())}

    @contextlib.contextmanager
    def _running(self) -> Iterator[subprocess.Popen]:
        log = self.plane.directory / "scheduler.log"
        with open(log, "wb") as output:
            process = subprocess.Popen(
                self.scheduler.command(self.plane.kubeconfig,
                                       self.plane.directory),
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            yield process
            if process.poll() is not None:
                self._fail(process, f"exited with {process.returncode}")
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _fail(self, process: subprocess.Popen, what: str) -> None:
        process.terminate()
        log = (self.plane.directory / "scheduler.log").read_text(
            encoding="utf-8", errors="replace").strip().splitlines()
        fail(f"{self.scheduler.name} {what} in {self.case}; the end of its "
             f"log: {' / '.join(log[-3:])}")

    def _read(self, cpu: control_plane.CpuTimer,
              process: subprocess.Popen) -> dict:
        """Returns the costs of the scheduler, once it is idle."""
        if process.poll() is not None:
            self._fail(process, f"exited with {process.returncode}")
        control_plane.await_events(self.client, process.pid)
        return {"cpu": cpu.read(process.pid),
                "peak_mib": control_plane.peak_mib(process.pid),
                "server_mib": self.server.resident_mib()}

    def _count(self) -> tuple[int, control_plane.Requests]:
        """Returns how many events and requests there were."""
        events = control_plane.count_events(self.client)
        requests = control_plane.requests_of(self.client)
        self.client.calls.clear()
        return events, requests

    def _written(self, before: tuple[int, control_plane.Requests]) -> dict:
        """Returns the scheduler's requests, and how many events it has left.

        The scheduler has stopped, because a watch counts at its end.
        """
        events, requests = before
        events = control_plane.count_events(self.client) - events
        now = control_plane.requests_of(self.client)
        now.subtract(requests)
        now["POST pods"] -= self.client.calls[f"POST {PODS}"]
        now["WATCH pods"] -= self.watch.ended
        now["LIST events"] -= self.client.calls[f"GET {control_plane.EVENTS}"]
        return {"events": events,
                "requests": {key: number for key, number in now.items()
                             if number > 0}}


def rates(times: list[float]) -> dict[str, float]:
    """Returns pods per second until the last of a backlog, and of the steady
    part: from 10% to 90% of the pods."""
    if not times:
        return {"seconds": 0.0, "rate": 0.0, "steady": 0.0}
    first, last = len(times) // 10, len(times) * 9 // 10
    steady = times[last] - times[first]
    return {"seconds": times[-1], "rate": len(times) / times[-1],
            "steady": (last - first) / steady if steady else 0.0}


def latencies(took: list[float], expected: int) -> dict[str, float | None]:
    """Returns percentiles. A pod that isn't bound is later than all others:
    None."""
    all_of_them = took + [None] * (expected - len(took))
    return {name: all_of_them[min(expected - 1, int(expected * part))]
            for name, part in (("p50", 0.5), ("p99", 0.99))}
