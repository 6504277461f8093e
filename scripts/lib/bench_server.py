"""Measures the embedded API server, and perhaps kube-apiserver beside it."""

import argparse
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import threading
import time

from api_server import (CLUSTER, NODES, Client, Server, connect_real, pid_of,
                        positive)
from embedded import PODS, ROOT, built, fail

WATCHERS = 3
MERGE = "application/strategic-merge-patch+json"


def node(name: str) -> dict:
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    return {"metadata": {"name": name,
                         "labels": {"kubernetes.io/hostname": name}},
            "status": {"capacity": room, "allocatable": room,
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name: str) -> dict:
    requests = {"cpu": "100m", "memory": "64Mi"}
    return {"metadata": {"name": name, "labels": {"app": "bench"}},
            "spec": {"schedulerName": "bench",
                     "containers": [{"name": "c", "image": "pause",
                                     "resources": {"requests": requests}}]}}


def start_embedded() -> tuple[Server, subprocess.Popen, float]:
    """Returns the server, its process, and the seconds until it was ready."""
    began = time.monotonic()
    process = subprocess.Popen([built("minisched-apiserver")],
                               stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().split()[-1]
    took = time.monotonic() - began
    server = Server("minisched-apiserver", url.removeprefix("http://"),
                    [process.pid])
    return server, process, took


def cluster(command: str) -> str:
    done = subprocess.run([ROOT / "scripts" / "cluster", command, "real"],
                          stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def start_real() -> Server:
    """Starts the cluster, then stops all but etcd and kube-apiserver.

    The other components would add load.
    """
    if not cluster("up"):
        fail("failed to start the cluster: see above")

    for name in ("kwok", "kube-scheduler", "kube-controller-manager"):
        os.kill(pid_of(CLUSTER, name), signal.SIGTERM)
    return connect_real(CLUSTER)


def start_watcher(server: Server, path: str) -> None:
    connection = server.connect()
    connection.request("GET", path + "?watch=1")
    response = connection.getresponse()
    if response.status != 200:
        fail(f"watch {path}: {response.read().decode()}")

    def read() -> None:
        with contextlib.closing(connection), contextlib.suppress(OSError):
            while response.readline():
                pass

    threading.Thread(target=read, daemon=True).start()


def play(server: Server, nodes: int, pods: int) -> tuple[float, float]:
    """Binds pods while clients watch. Returns the CPU seconds and the MiB."""
    for path in (NODES, "/api/v1/pods") * WATCHERS:
        start_watcher(server, path)
    client = Client(server)
    before = server.cpu_seconds()
    for i in range(nodes):
        client.call("POST", NODES, node(f"bench-{i}"))
    for i in range(pods):
        client.call("POST", PODS, pod(f"bench-{i}"))
    for i in range(pods):
        client.call("POST", f"{PODS}/bench-{i}/binding",
                    {"metadata": {"name": f"bench-{i}"},
                     "target": {"kind": "Node", "name": f"bench-{i % nodes}"}})
    for i in range(pods):
        client.call("PATCH", f"{PODS}/bench-{i}/status",
                    {"status": {"phase": "Running"}}, MERGE)
    for _ in range(5):
        client.call("GET", PODS)
    time.sleep(1)  # for work that continues after the last response
    return server.cpu_seconds() - before, server.resident_mib()


def watch_badly(server: Server, stop: threading.Event) -> None:
    """Repeatedly watches, reads little or nothing, stalls and disconnects."""
    host, _, port = server.address.partition(":")
    for reads in itertools.cycle((True, False)):
        if stop.is_set():
            return
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(b"GET /api/v1/pods?watch=1 HTTP/1.1\r\n"
                               b"Host: localhost\r\n\r\n")
            if reads:
                connection.recv(1 << 16)
            stop.wait(2)


def churn(server: Server, writes: int, rows: int) -> None:
    """Prints the memory while pods are created, changed and deleted."""
    print("| writes | MiB |\n| ---: | ---: |")
    stop = threading.Event()
    threads = [threading.Thread(target=watch_badly, args=(server, stop))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    client = Client(server)
    batch = max(writes // rows // 3, 1)
    try:
        for done in range(0, writes + 1, 3 * batch):
            print(f"| {done:,} | {server.resident_mib():.1f} |", flush=True)
            for i in range(batch):
                path = f"{PODS}/churn-{i}"
                client.call("POST", PODS, pod(f"churn-{i}"))
                client.call("PATCH", path,
                            {"metadata": {"labels": {"round": str(done)}}},
                            MERGE)
                client.call("DELETE", path + "?gracePeriodSeconds=0")
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__ + f""" Prints the
        time until the embedded server is ready; the CPU and memory for creating
        nodes and pods, binding the pods and setting them Running, with
        {WATCHERS} watchers of the nodes and {WATCHERS} of the pods; and the
        memory over many writes, with watchers that stall and disconnect."""
    parser.add_argument("--real", action="store_true", help="""also measure the
        CPU and memory of kube-apiserver with etcd, started by
        scripts/cluster""")
    parser.add_argument("--nodes", type=positive, default=1000)
    parser.add_argument("--pods", type=positive, default=3000)
    parser.add_argument("--writes", type=positive, default=200_000)


def run(arguments: argparse.Namespace) -> None:
    if arguments.real and (CLUSTER / "made").exists():
        fail(f"the cluster in {CLUSTER} already exists, and its objects would "
             "distort the measurement: run scripts/cluster down first")

    server, process, took = start_embedded()
    try:
        print(f"ready after {1000 * took:.0f} ms\n\n"
              "| server | CPU, s | memory, MiB |\n| --- | ---: | ---: |")
        show = "| {} | {:.1f} | {:.0f} |".format
        print(show(server.name, *play(server, arguments.nodes, arguments.pods)),
              flush=True)
        if arguments.real:
            try:
                real = start_real()
                print(show(real.name,
                           *play(real, arguments.nodes, arguments.pods)))
            finally:
                cluster("down")
    finally:
        process.terminate()
        process.wait()
    print()
    server, process, _ = start_embedded()
    try:
        churn(server, arguments.writes, rows=10)
    finally:
        process.terminate()
        process.wait()

