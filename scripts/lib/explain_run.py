"""Runs minisched-explain and the last step, for scripts/tests/explain_test."""

import json
import os
import pathlib
import signal
import subprocess
import time

from embedded import BIN, Server
from explain_cluster import runs_on

EXPLAIN = BIN / "minisched-explain"
LAST = max(BIN.glob("minisched-[0-9][0-9]"))
TARGET = "/api/v1/namespaces/default/pods/target"
PATIENCE = 60  # seconds until the scheduler must have attempted the pod
KINDS = ["namespaces", "nodes", "pods", "persistentvolumes",
         "persistentvolumeclaims"]


class Original:
    """A cluster of its own, and a scheduler on it."""

    def __init__(self, objects: list[dict], directory: pathlib.Path):
        self.directory = directory
        directory.mkdir()
        manifest = directory / "objects.json"
        manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List",
                                        "items": objects}))
        with open(directory / "server.log", "wb") as log:
            self.server = Server(directory, "--load", str(manifest), log=log)

    def __enter__(self) -> "Original":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    def dump(self) -> pathlib.Path:
        """Saves the objects as `kubectl get -o json` does."""
        items = []
        for kind in KINDS:
            answer = self.server.call("GET", f"/api/v1/{kind}")
            for item in answer["items"]:
                items.append({"apiVersion": "v1",
                              "kind": answer["kind"].removesuffix("List"),
                              **item})
        path = self.directory / "dump.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List",
                                    "items": items}, indent=4))
        return path

    def schedule(self) -> dict:
        """Runs the step until it has attempted the pod. Returns the attempt,
        the node, the note of the event, and the pods that are gone."""
        before = self.pods()
        record = self.directory / "record"
        environment = {**os.environ, "KUBECONFIG": str(self.server.kubeconfig)}
        with subprocess.Popen(
                [LAST, "--record", record, "--seed", "1"], env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL) as scheduler:
            try:
                result = self.await_attempt(record)
                result["gone"] = before - self.pods()
                return result
            finally:
                scheduler.send_signal(signal.SIGTERM)

    def pods(self) -> set[str]:
        items = self.server.call("GET", "/api/v1/pods")["items"]
        return {f"{each['metadata']['namespace']}/{each['metadata']['name']}"
                for each in items}

    def await_attempt(self, record: pathlib.Path) -> dict:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(0.01)
            node = self.server.call("GET", TARGET)["spec"].get("nodeName", "")
            events = self.server.call(
                "GET", "/apis/events.k8s.io/v1/namespaces/default/events")
            notes = [event["note"] for event in events["items"]
                     if event["reason"] == "FailedScheduling"]
            attempt = attempt_of(record)
            # A pod for which others are evicted fails first, and gets a node
            # later, when they are gone.
            waits = attempt and nominated_by(attempt) and not node
            if attempt and not waits and (
                    notes if attempt.get("failure") else node):
                return {"attempt": attempt, "node": node,
                        "note": notes[0] if notes else ""}
        raise TimeoutError("the scheduler has made no attempt")

    def play(self, step: list | dict) -> None:
        """Carries out a suggestion's step."""
        if isinstance(step, list):
            for each in step:
                self.play(each)
            return
        ((verb, value),) = step.items()
        if verb == "uncordon":
            self.patch(f"/api/v1/nodes/{value}",
                       {"spec": {"unschedulable": None}})
        elif verb == "create" and value["kind"] == "Node":
            self.server.call("POST", "/api/v1/nodes", value)
            self.add_daemon_pods(value)
        elif verb == "create":
            self.server.call("POST", "/api/v1/namespaces/default/pods", value)
        elif verb == "delete":
            self.server.call("DELETE", self.path_of(value),
                             {"gracePeriodSeconds": value["grace"]})
        elif verb == "patch":
            self.patch(self.path_of(value), value["merge"])
        else:
            raise ValueError(f"unknown step {verb}")

    def add_daemon_pods(self, node: dict) -> None:
        """Does what the DaemonSet controller does for a new node."""
        name = node["metadata"]["name"]
        done = set()
        for pod in self.server.call("GET", "/api/v1/pods")["items"]:
            metadata, spec = pod["metadata"], pod["spec"]
            owners = metadata.get("ownerReferences")
            if not owners or not spec.get("nodeName") or not runs_on(
                    spec["tolerations"], node):
                continue
            namespace = metadata["namespace"]
            if (namespace, owners[0]["name"]) in done:
                continue
            done.add((namespace, owners[0]["name"]))
            self.server.call("POST", f"/api/v1/namespaces/{namespace}/pods", {
                "metadata": {"name": f"agent-{name}", "namespace": namespace,
                             "labels": metadata["labels"],
                             "ownerReferences": owners},
                "spec": {"nodeName": name, "containers": spec["containers"],
                         "tolerations": spec["tolerations"]}})

    @staticmethod
    def path_of(value: dict) -> str:
        if "node" in value:
            return f"/api/v1/nodes/{value['node']}"
        namespace = value.get("namespace", "default")
        resource, name = (("pods", value["pod"]) if "pod" in value else
                          ("persistentvolumeclaims", value["name"]))
        return f"/api/v1/namespaces/{namespace}/{resource}/{name}"

    def patch(self, path: str, body: dict) -> None:
        connection = self.server.connection
        connection.request("PATCH", path, json.dumps(body), {
            "Content-Type": "application/merge-patch+json"})
        response = connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise ValueError(f"PATCH {path}: {text!r}")


def nominated_by(attempt: dict) -> str:
    """Returns the node from which the step evicts pods for this one, or ""."""
    return next((point["message"] for point in attempt.get("points", [])
                 if point["point"] == "PostFilter"
                 and point["status"] == "Success"), "")


def attempt_of(record: pathlib.Path) -> dict | None:
    """Returns the first attempt at the target in a recording."""
    if not record.exists():
        return None
    for line in record.read_text("utf-8").splitlines():
        try:
            attempt = json.loads(line).get("attempt")
        except json.JSONDecodeError:
            continue  # not written to its end yet
        if attempt and attempt["pod"] == "default/target":
            return attempt
    return None


def explain(*arguments: object, env: dict | None = None) -> dict:
    """Returns the answer, with the exit code as `exit`."""
    done = subprocess.run(
        [EXPLAIN, *map(str, arguments), "-o", "json"], check=False,
        capture_output=True, text=True, timeout=PATIENCE * 5,
        env={**os.environ, **(env or {})})
    if done.returncode not in (0, 1):
        raise ValueError(f"exit code {done.returncode}: {done.stderr}")
    answer = json.loads(done.stdout)
    answer["exit"] = done.returncode
    return answer


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}}


def pod_with(spec: dict | None = None, **metadata: object) -> dict:
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web", **metadata},
            "spec": {"containers": [{"name": "c", "image": "i"}],
                     **(spec or {})}}


def listed(*items: dict) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
