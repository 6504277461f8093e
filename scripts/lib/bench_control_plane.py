"""The control plane of scripts/bench schedulers: etcd and kube-apiserver.

Each run gets new processes, and a copy of etcd's data with the nodes and pods
of its case. So all runs of a case begin in the same state.
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from api_server import (CLUSTER, Client, Server, connect_real, cpu_seconds,
                        pid_of)
from embedded import ROOT, fail

EVENTS = "/apis/events.k8s.io/v1/events"
SETTLED = 1.0  # seconds without a new event and without much work
IDLE = 0.15  # of a CPU: what an idle API server uses at most
PATIENCE = 30  # seconds until the server must be idle
_REQUESTS = re.compile(
    r"^apiserver_request_total\{(?P<labels>.*)\} (?P<count>\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
# The API server's own: its identity, and its priorities of requests.
_INTERNAL = ("", "leases", "flowschemas", "prioritylevelconfigurations")

Requests = collections.Counter[str]  # by verb and resource: "POST pods/binding"


class ControlPlane:
    """One API server at a time, in a folder of its own."""

    def __init__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="minisched-bench-")
        self.directory = pathlib.Path(self._temporary.name)
        self.kubeconfig = self.directory / "kubeconfig"
        self._templates: dict[str, pathlib.Path] = {}
        built = CLUSTER / "bin"
        built.mkdir(parents=True, exist_ok=True)
        (self.directory / "bin").symlink_to(built)

    def program(self, name: str) -> pathlib.Path:
        return self.directory / "bin" / name

    def build(self) -> None:
        """Builds the programs unless they are up to date."""
        self._cluster("build")

    def close(self) -> None:
        self._stop()
        if (self.directory / "made").exists():
            self._cluster("down")
        self._temporary.cleanup()

    def template(self, name: str, base: str | None,
                 fill: Callable[[Server], None]) -> str:
        """Makes a state unless it exists: `base`, and what `fill` creates."""
        if name not in self._templates:
            fill(self._start(base))
            self._stop()
            kept = self.directory / "templates" / name.replace("/", "-")
            kept.parent.mkdir(exist_ok=True)
            (self.directory / "etcd").rename(kept)
            self._templates[name] = kept
        return name

    def start(self, template: str) -> Server:
        """Starts new servers with a copy of the template's state."""
        server = self._start(template)
        await_idle(server)
        return server

    def _start(self, template: str | None) -> Server:
        self._stop()
        data = self.directory / "etcd"
        shutil.rmtree(data, ignore_errors=True)
        if template:
            shutil.copytree(self._templates[template], data)
        self._cluster("up")
        return connect_real(self.directory)

    def _cluster(self, command: str) -> None:
        done = subprocess.run(
            [ROOT / "scripts" / "cluster", command,
             *([] if command == "build" else ["api"])],
            env={**os.environ, "MINISCHED_CLUSTER_DIR": str(self.directory)},
            stdout=subprocess.DEVNULL, text=True,
            stderr=None if command == "build" else subprocess.PIPE,
            check=False)
        if done.returncode:
            if done.stderr:
                print(done.stderr, file=sys.stderr, end="")
            fail(f"scripts/cluster {command} failed: see above")

    def _stop(self) -> None:
        """Ends the servers. Only etcd's data is needed afterwards."""
        for name, how in (("kube-apiserver", signal.SIGKILL),
                          ("etcd", signal.SIGTERM)):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                process = os.pidfd_open(pid_of(self.directory, name))
                try:
                    signal.pidfd_send_signal(process, how)
                    select.select([process], [], [], 10)
                finally:
                    os.close(process)
            (self.directory / "run" / f"{name}.pid").unlink(missing_ok=True)


def await_idle(server: Server) -> None:
    """Waits until the server has done the work of its start."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        before = server.cpu_seconds()
        time.sleep(0.5)
        if server.cpu_seconds() - before < IDLE * 0.5:
            return
    fail(f"the API server is still busy {PATIENCE} s after its start")


def count_events(client: Client) -> int:
    events = json.loads(client.call("GET", EVENTS + "?limit=1"))
    return (len(events["items"]) +
            events["metadata"].get("remainingItemCount", 0))


def await_events(client: Client, scheduler: int) -> None:
    """Waits until the scheduler is idle and has written its events."""
    deadline = time.monotonic() + PATIENCE
    last, quiet_since = None, time.monotonic()
    while time.monotonic() < min(deadline, quiet_since + SETTLED):
        time.sleep(0.25)
        # Busy: 5% of a CPU.
        now = (count_events(client), int(cpu_seconds(scheduler) / 0.05))
        if now != last:
            last, quiet_since = now, time.monotonic()


def requests_of(client: Client) -> Requests:
    """Returns how many requests the server has answered."""
    result = Requests()
    text = client.call("GET", "/metrics").decode()
    for match in _REQUESTS.finditer(text):
        labels = dict(_LABEL.findall(match["labels"]))
        if labels["resource"] in _INTERNAL:
            continue
        resource = "/".join(filter(None, (labels["resource"],
                                          labels["subresource"])))
        result[f"{labels['verb']} {resource}"] += int(float(match["count"]))
    return result


def peak_mib(pid: int) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


class CpuTimer:
    """Measures CPU seconds: a scheduler's, a server's, and those of others."""

    def __init__(self, server: Server, scheduler: int | None = None):
        self._server = server
        self._at_start = self._read(scheduler)

    def read(self, scheduler: int) -> dict[str, float]:
        now = self._read(scheduler)
        used = {key: now[key] - self._at_start[key] for key in now}
        used["others"] = max(0.0, used.pop("all") - sum(used.values()))
        return used

    def _read(self, scheduler: int | None) -> dict[str, float]:
        # user, nice, system, idle, iowait, irq, softirq, steal
        ticks = [int(each) for each in pathlib.Path("/proc/stat").read_text(
            encoding="ascii").split("\n", 1)[0].split()[1:9]]
        busy = sum(ticks) - ticks[3] - ticks[4]
        return {"all": busy / os.sysconf("SC_CLK_TCK"),
                "scheduler": cpu_seconds(scheduler) if scheduler else 0.0,
                "server": self._server.cpu_seconds(),
                "bench": time.process_time()}
