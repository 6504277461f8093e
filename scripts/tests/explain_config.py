"""Checks the answers with a configuration of the scheduler."""

import json
import os
import pathlib
import re
import subprocess

from explain_run import EXPLAIN, NODE, PATIENCE, listed, pod_with

# The profile `mine` ignores that the node is cordoned. The cluster, the
# election and the extender must not matter.
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "clientConnection": {"kubeconfig": "/nowhere/kubeconfig"},
    "leaderElection": {"leaderElect": True},
    "extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}],
    "profiles": [
        {"schedulerName": "default-scheduler"},
        {"schedulerName": "mine", "plugins": {"filter": {"disabled": [
            {"name": "NodeUnschedulable"}, {"name": "TaintToleration"}]}}}]}
EXTENDERS = "^warning: the extenders of --config .* are left out: "

# The pod's schedulerName, changes of the file, the exit code, and patterns of
# the output.
CASES: dict[str, tuple[str, dict, int, list[str]]] = {
    "the profile of the pod counts":
        ("mine", {}, 0, [EXTENDERS, "^default/web fits.* gets n1$"]),
    "another profile does not count":
        ("default-scheduler", {}, 1,
         [EXTENDERS, r"1 node\(s\) were unschedulable"]),
    "a pod of no profile":
        ("other", {}, 2,
         [r"--config .* has no profile for the pod's schedulerName \"other\"; "
          r"its profiles are default-scheduler, mine$"]),
    "a field that the scheduler rejects":
        ("mine", {"paralelism": 3}, 2,
         ["the scheduler ended with exit code 1; .* log:", "paralelism"]),
}


def check_config(directory: pathlib.Path, *scheduler: str,
                 env: dict | None = None) -> list[str]:
    """Explains pods with a configuration of the last step, or of the scheduler
    of the option `scheduler`."""
    found = []
    dump, config = directory / "dump", directory / "config.json"
    node = {**NODE, "spec": {"unschedulable": True}}
    for title, (name, changes, code, patterns) in CASES.items():
        dump.write_text(listed(node, pod_with({"schedulerName": name})))
        config.write_text(json.dumps({**CONFIG, **changes}))
        done = subprocess.run(
            [EXPLAIN, "web", "-f", dump, "--no-suggestions", "--config", config,
             *scheduler], check=False, capture_output=True, text=True,
            timeout=PATIENCE, env={**os.environ, **(env or {})})
        printed = done.stdout + done.stderr
        if done.returncode != code or not all(
                re.search(pattern, printed, re.MULTILINE)
                for pattern in patterns):
            found.append(f"{title}: exit code {done.returncode}: {printed}")
    return found
