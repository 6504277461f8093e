"""Helpers for main.py: create, bind and await pods."""

import json
import os
import re
import time

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

NS = os.environ["NS"]

config.load_kube_config()
core = client.CoreV1Api()


def say(*facts):
    print(*facts, flush=True)


def names(objects):
    return [o.metadata.name for o in objects]


def eventually(holds, what):
    """Polls until `holds` returns true."""
    deadline = time.monotonic() + 30
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.1)


def refused(what, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
        say(what, "is accepted")
    except ApiException as e:
        status = json.loads(e.body)
        message = status["message"].splitlines()[0].replace(NS, "NS")
        message = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID", message)
        say(f"{what}: {e.status} {e.reason}, {status['reason']}: {message}")
        for cause in status.get("details", {}).get("causes", []):
            about = cause.get("field") or cause["message"]
            say(f"  {cause['reason']}: {about}")


def is_gone(name):
    try:
        core.read_namespaced_pod(name, NS)
        return False
    except ApiException as e:
        if e.status != 404:
            raise
        return True


def new_pod(name, scheduler="nobody", **labels):
    """Returns a pod whose scheduler does not exist: it stays pending."""
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels),
        spec=client.V1PodSpec(
            scheduler_name=scheduler,
            containers=[client.V1Container(name="main", image="nginx:1")],
        ),
    )


def create_pods(*pod_names, **labels):
    for name in pod_names:
        core.create_namespaced_pod(NS, new_pod(name, **labels))


def run_pod(name, **labels):
    create_pods(name, **labels)
    bind(name, "node-1")
    runs(name)


def runs(name):
    """Waits until the pod is Running."""
    eventually(lambda: core.read_namespaced_pod(name, NS).status.phase ==
               "Running", f"{name} runs")


def bind(name, node):
    body = client.V1Binding(
        metadata=client.V1ObjectMeta(name=name),
        target=client.V1ObjectReference(kind="Node", name=node),
    )
    # The server returns a Status. The client would parse it as a V1Binding and
    # fail, because the target is missing, so this call asks for the text.
    return core.create_namespaced_pod_binding(
        name, NS, body, _preload_content=False)
