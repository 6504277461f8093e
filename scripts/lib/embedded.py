"""Helpers to measure schedulers: an embedded API server, nodes and pods."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import BinaryIO

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Measurements need optimised programs. Tests set $MINISCHED_BIN.
BIN = pathlib.Path(os.environ.get("MINISCHED_BIN",
                                  ROOT / "build" / "release" / "bin"))
PODS = "/api/v1/namespaces/default/pods"
PATIENCE = 60  # seconds until a batch must be bound


def fail(message: str) -> None:
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def built(name: str) -> pathlib.Path:
    """Returns the path of a program. Exits if the program is not built."""
    program = BIN / name
    if not program.exists():
        fail(f"{program} does not exist: run 'cmake --preset release && cmake "
             f"--build --preset release --target {name}'")
    return program


def program_of(step: str) -> pathlib.Path:
    """Returns the program of a step, given its number."""
    return built(f"minisched-{int(step):02}")


def reads_config(program: pathlib.Path) -> bool:
    """Returns true if a scheduler has a flag --config."""
    text = subprocess.run([program, "--help"], check=False, capture_output=True,
                          text=True).stdout
    return re.search(r"\s--config\s", text) is not None


def plugin_flags(program: pathlib.Path, folder: pathlib.Path, *,
                 weight: int = 0, groups: bool = False) -> list[str]:
    """Returns the flags that add NodeNumber with this weight, if it is not 0,
    and Coscheduling. A step that reads a configuration gets them from a file in
    the folder."""
    if not weight and not groups:
        return []
    if not reads_config(program):
        return ([f"--node-number={weight}"] if weight else []) + [
            "--coscheduling"] * groups
    group_plugin = [{"name": "Coscheduling"}] if groups else []
    number_plugin = ([{"name": "NodeNumber", "weight": weight}] if weight
                     else [])
    config = folder / "scheduler.json"
    config.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "minisched", "plugins": {
            "multiPoint": {"enabled": number_plugin + group_plugin},
            "queueSort": {"disabled": [{"name": "PrioritySort"}] * groups},
            "postFilter": {"enabled": group_plugin}}}]}), "utf-8")
    return ["--config", str(config)]


class Server:
    """The embedded API server and one connection to it."""

    def __init__(self, directory: pathlib.Path, *flags: str,
                 log: BinaryIO | None = None):
        self.kubeconfig = directory / "kubeconfig"
        self.process = subprocess.Popen(
            [built("minisched-apiserver"), "--kubeconfig-out",
             self.kubeconfig, *flags],
            stdout=subprocess.PIPE, stderr=log, text=True)
        url = self.process.stdout.readline().split()[-1]
        self.connection = http.client.HTTPConnection(
            url.removeprefix("http://"))

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def call(self, method: str, path: str, body: object = None) -> dict:
        self.connection.request(
            method, path, None if body is None else json.dumps(body),
            {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        answer = json.load(response)
        if response.status >= 300:
            fail(f"{method} {path}: {answer.get('message')}")
        return answer


def node(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "64", "memory": "256Gi",
                                       "pods": "1000"}}}


def pod(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "minisched",
                     "containers": [{"name": "c", "image": "pause"}]}}


def resident_mib(pid: int) -> float:
    for line in open(f"/proc/{pid}/status", encoding="ascii"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ProcessLookupError(pid)


def await_bound(server: Server, scheduler: subprocess.Popen) -> None:
    deadline = time.monotonic() + PATIENCE
    waiting = f"{PODS}?limit=1&fieldSelector=spec.nodeName%3D"
    while server.call("GET", waiting)["items"]:
        if scheduler.poll() is not None:
            fail(f"the scheduler exited with {scheduler.returncode}")
        if time.monotonic() > deadline:
            fail(f"pods are still pending after {PATIENCE} s")
        time.sleep(0.05)
