"""The load of scripts/bench schedulers: nodes, pods, and when pods are bound.

A watch records when each pod is bound. It asks for metadata alone, of bound
pods alone, so that it costs little.
"""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterable

from api_server import NODES, Client, Server
from embedded import PODS, fail

SCHEDULER = "bench"  # spec.schedulerName of all pods
CONNECTIONS = 8
ZONE = "topology.kubernetes.io/zone"
BATCH_TAINT = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}


def node(i: int) -> dict:
    """Returns a node in one of three zones. Each tenth node is tainted."""
    name = f"node-{i}"
    room = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    return {"metadata": {"name": name,
                         "labels": {"kubernetes.io/hostname": name,
                                    ZONE: f"zone-{i % 3}"}},
            "spec": {"taints": [BATCH_TAINT] if i % 10 == 9 else []},
            "status": {"capacity": room, "allocatable": room,
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name: str) -> dict:
    requests = {"cpu": "100m", "memory": "64Mi"}
    return {"metadata": {"name": name, "labels": {"app": "bench"}},
            "spec": {"schedulerName": SCHEDULER,
                     "containers": [{"name": "c", "image": "pause",
                                     "resources": {"requests": requests}}]}}


def with_affinity(name: str) -> dict:
    """Returns a pod that requires one of two zones."""
    result = pod(name)
    in_zones = {"key": ZONE, "operator": "In", "values": ["zone-0", "zone-1"]}
    result["spec"]["affinity"] = {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [in_zones]}]}}}
    return result


def with_toleration(name: str) -> dict:
    """Returns a pod that tolerates the taint of the tainted nodes."""
    result = pod(name)
    result["spec"]["tolerations"] = [{**BATCH_TAINT, "operator": "Equal"}]
    return result


def without_node(name: str) -> dict:
    """Returns a pod whose node selector matches no node."""
    result = pod(name)
    result["spec"]["nodeSelector"] = {"disktype": "none"}
    return result


MIX = [pod, with_affinity, pod, with_toleration, pod,
       with_affinity, pod, with_toleration, pod, without_node]


def make_pods(kind: str, count: int) -> list[dict]:
    """Returns "plain" pods or a "mix", of which each tenth fits no node."""
    makers = [pod] if kind == "plain" else MIX
    return [makers[i % len(makers)](f"pod-{i}") for i in range(count)]


def count_feasible(kind: str, count: int) -> int:
    return count if kind == "plain" else count - count // len(MIX)


def encode(objects: Iterable[dict]) -> list[bytes]:
    return [json.dumps(each).encode() for each in objects]


def create(server: Server, path: str, objects: Iterable[dict]) -> None:
    """Creates objects over several connections."""
    bodies = encode(objects)
    run_threads([
        lambda client=Client(server), part=bodies[i::CONNECTIONS]:
            [client.call("POST", path, body) for body in part]
        for i in range(CONNECTIONS)])


def create_nodes(server: Server, count: int) -> None:
    create(server, NODES, map(node, range(count)))


def arrive(server: Server, pods: list[dict], rate: float) -> dict[str, float]:
    """Creates pods at a rate. Returns when the request of each was sent."""
    names = [each["metadata"]["name"] for each in pods]
    bodies = encode(pods)
    sent: dict[str, float] = {}
    start = time.monotonic() + 0.1

    def send(first: int, client: Client) -> None:
        for i in range(first, len(bodies), CONNECTIONS):
            time.sleep(max(0.0, start + i / rate - time.monotonic()))
            sent[names[i]] = time.monotonic()
            client.call("POST", PODS, bodies[i])

    run_threads([lambda i=i, client=Client(server): send(i, client)
                 for i in range(CONNECTIONS)])
    return sent


def run_threads(functions: list) -> None:
    """Runs functions in threads. Exits if one of them does."""
    errors: list[BaseException] = []

    def guarded(function) -> None:
        try:
            function()
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,))
               for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class BindWatch:
    """Records when each pod of the namespace is bound, by time.monotonic()."""

    def __init__(self, server: Server):
        self.times: dict[str, float] = {}
        self.ended = 0  # watches that the server has ended
        self._changed = threading.Condition()
        self._error: str | None = None
        self._closed = False
        self._connection = server.connect()
        pods = json.loads(self._get("List", "limit=1").read())
        self._version = pods["metadata"]["resourceVersion"]
        self._response = self._watch()
        threading.Thread(target=self._read, daemon=True).start()

    def _watch(self) -> http.client.HTTPResponse:
        return self._get("", "watch=1&fieldSelector=spec.nodeName!%3D"
                         f"&resourceVersion={self._version}")

    def _get(self, kind: str, query: str) -> http.client.HTTPResponse:
        self._connection.request("GET", f"{PODS}?{query}", None, {
            "Accept": f"application/json;as=PartialObjectMetadata{kind};"
                      "g=meta.k8s.io;v=v1"})
        response = self._connection.getresponse()
        if response.status != 200:
            fail(f"failed to watch pods: {response.read().decode()}")
        return response

    def _read(self) -> None:
        """Watches until close(). A server ends the watch of a slow client."""
        try:
            while True:
                while line := self._response.readline():
                    self._record(json.loads(line), time.monotonic())
                self.ended += 1
                self._connection.close()
                self._response = self._watch()
        except (OSError, http.client.HTTPException, SystemExit) as error:
            with self._changed:
                if not self._closed:
                    self._error = f"the watch of pods failed: {error}"
                self._changed.notify()

    def _record(self, event: dict, now: float) -> None:
        if event["type"] == "ERROR":
            fail(json.dumps(event["object"]))
        metadata = event["object"]["metadata"]
        self._version = metadata["resourceVersion"]
        with self._changed:
            self.times.setdefault(metadata["name"], now)
            self._changed.notify()

    def wait(self, count: int, seconds: float) -> bool:
        """Waits until so many pods are bound. Returns false if it is late."""
        with self._changed:
            done = self._changed.wait_for(
                lambda: self._error or len(self.times) >= count, seconds)
            if self._error:
                fail(self._error)
            return done

    def close(self) -> None:
        """Lets the thread end."""
        with self._changed:
            self._closed = True
        with contextlib.suppress(OSError, AttributeError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
