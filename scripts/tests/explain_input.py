"""Checks what minisched-explain prints for wrong input and unusual pods."""

import json
import pathlib
import re
import subprocess

from explain_run import (EXPLAIN, LAST, NODE, PATIENCE, Original, explain,
                         listed, pod_with)

CLAIM = {"volumes": [{"name": "v",
                      "persistentVolumeClaim": {"claimName": "x"}}]}
GPU = {"containers": [{"name": "c", "image": "i", "resources": {
    "limits": {"a.com/gpu": "1"}, "requests": {"a.com/gpu": "1"}}}]}
GPUS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": "gpus"},
        "spec": {"extendedResourceName": "a.com/gpu"}}
POOL = {"apiVersion": "x.io/v1", "kind": "Pool", "metadata": {"name": "p"}}
GOOD = listed(NODE, pod_with())

# What is wrong: the dump, the arguments, the exit code, and a pattern of all
# that is printed on stderr.
WRONG: dict[str, tuple[str, list[str], int, str]] = {
    "a dump that is cut off":
        (GOOD[:-5], [], 2, r"dump:1:1: the object .* is cut off: save"),
    "an empty dump": (" ", [], 2, r"dump: it is empty: save the dump again"),
    "a dump without nodes":
        (listed(pod_with()), [], 2, r"dump has no nodes: .*kubectl get nodes"),
    "a pod twice":
        (listed(NODE, pod_with(), pod_with()), [], 2,
         r"dump: Pod default/web is there twice, first in .*: leave one"),
    "a field of a wrong type":
        (listed(NODE, pod_with({"tolerations": 3})), [], 2,
         r"dump: Pod web: json: cannot unmarshal number into "
         r"spec.tolerations of type array: correct the field"),
    "a node name of a wrong type in another pod":
        (listed(NODE, pod_with(), pod_with({"nodeName": 3}, name="x")), [], 2,
         r"dump: Pod default/x: spec.nodeName is no string: correct the field"),
    "an unknown kind":
        (listed(NODE, pod_with(), POOL), [], 0,
         r"warning: unknown kinds were left out: 1 x.io/v1 Pool"),
    "a name that is nearly right":
        (listed(NODE, pod_with(name="web-7d4")), [], 2,
         r"there is no pod web; the nearest name is default/web-7d4"),
    "a name in several namespaces":
        (listed(NODE, pod_with(), pod_with(namespace="b")), [], 2,
         r"several namespaces have a pod web: .* -n: b, default"),
    "a step that no copy can play":
        (GOOD, ["--what-if", "- cordon: n1\n- wait: 3s"], 2,
         r"--what-if:2:3: expected one of these keys: create, apply, patch"),
    "a step that fails":
        (GOOD, ["--what-if", "cordon: n2"], 2,
         r'cordon n2: nodes "n2" not found'),
    "a step that deletes no node":
        (GOOD, ["--what-if", "delete: {node: n2}"], 2,
         r"delete node n2: there is no Node n2$"),
    "a step that deletes no pod":
        (GOOD, ["--what-if", "delete: {pods: x-*}"], 2,
         r"delete pods x-\*: there is no Pod x-\* in default$"),
    "a step for a pod that is bound":
        (listed(NODE, pod_with({"nodeName": "n1"})),
         ["--what-if", "cordon: n1"], 0,
         r"warning: the steps of --what-if were not played, because no "),
    "a scheduler that exits":
        (GOOD, ["--scheduler", "echo broken; exit 4"], 2,
         r"the scheduler ended with exit code 4; .* log:\n  broken"),
    "a scheduler that is killed":
        (GOOD, ["--scheduler", "kill -9 $$"], 2,
         r"the scheduler ended with signal 9; it has logged nothing"),
    "a scheduler that does not exist":
        (GOOD, ["--scheduler", "/none/scheduler"], 2,
         r"the scheduler ended with exit code 127; .*\n.*not found"),
    "a pod that the step doesn't support":
        (listed(NODE, pod_with({"resourceClaims": [
            {"name": "gpu", "resourceClaimName": "gpu"}]})), [], 2,
         r"can't tell: minisched-\d\d does not support resource claims"),
    "a class that is missing":
        (listed(NODE, pod_with({"priorityClassName": "high"})), [], 2,
         r"can't tell: .*dump: the pod default/web was never on a server, and "
         r"there is no PriorityClass high: add it to the dump"),
    "a pod with a resource of a device class":
        (listed(NODE, GPUS, pod_with(GPU)), [], 2,
         r"can't tell: the DeviceClass gpus serves a.com/gpu, and "),
    "a wrong output": (GOOD, ["-o", "xml"], 2, r'-o is "xml": pass table or'),
    "a cluster and a dump":
        (GOOD, ["--kubeconfig", "x"], 2, r"-f needs no cluster: leave out"),
    "a trace that is not there":
        (GOOD, ["--trace", "http://127.0.0.1:1/"], 2,
         r"--trace: http://127.0.0.1:1.*: is the scheduler running, with "),
    "a trace without a URL":
        (GOOD, ["--trace", "localhost:80"], 2,
         r'--trace: the server "localhost:80" is not'),
}


def run(*arguments: str | pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([EXPLAIN, *arguments], check=False,
                          capture_output=True, text=True, timeout=PATIENCE)


def check_wrong(directory: pathlib.Path) -> list[str]:
    dump = directory / "dump"
    found = []
    for title, (text, arguments, code, pattern) in WRONG.items():
        dump.write_text(text)
        done = run("web", "-f", dump, "--no-suggestions", *arguments)
        errors = done.stderr.strip()
        is_short = "\n" not in errors or "of its log:\n" in errors
        if done.returncode != code or not is_short or not re.search(
                pattern, errors):
            found.append(f"{title}: exit code {done.returncode}: {errors}")
    return found


GROUP = "pod-group.scheduling.sigs.k8s.io/"
MEMBER = pod_with(labels={GROUP + "name": "g", GROUP + "min-available": "2"})
STATEFUL_SET = {"apiVersion": "apps/v1", "kind": "StatefulSet",
                "metadata": {"name": "db"},
                "spec": {"template": {"spec": pod_with()["spec"]},
                         "volumeClaimTemplates": [
                             {"metadata": {"name": "data"}}]}}

DAEMON_SET = {"apiVersion": "apps/v1", "kind": "DaemonSet",
              "metadata": {"name": "agent"},
              "spec": {"template": {"spec": {
                  "priorityClassName": "system-node-critical",
                  "nodeSelector": {"os": "linux"},
                  "containers": [{"name": "c", "image": "i", "resources": {
                      "requests": {"cpu": "2"}}}]}}}}


def node_for_daemon(name: str, cpu: str, taint: str = "",
                    system: str = "linux") -> dict:
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"os": system}},
            "spec": {"taints": [{"key": taint, "effect": "NoSchedule"}]
                     if taint else []},
            "status": {"allocatable": {"cpu": cpu, "pods": "9"}}}


# A node of each sort: free, cordoned, full of a pod that can be evicted, too
# small, tainted, and not selected.
NODES_FOR_DAEMON = [
    node_for_daemon("free", "4"),
    node_for_daemon("cordoned", "4", "node.kubernetes.io/unschedulable"),
    node_for_daemon("full", "4"), node_for_daemon("small", "1"),
    node_for_daemon("tainted", "4", "gpu"),
    node_for_daemon("windows", "4", "", "windows"),
    pod_with({"nodeName": "full", "containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]},
             name="low")]

LIMIT_RANGE = {"apiVersion": "v1", "kind": "LimitRange",
               "metadata": {"name": "range"},
               "spec": {"limits": [{"type": "Container",
                                    "default": {"cpu": "6"}}]}}
RUNTIME_CLASS = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                 "metadata": {"name": "kata"}, "handler": "kata",
                 "overhead": {"podFixed": {"cpu": "5"}}}

# New pods: the manifest, the pods of the dump, the exit code, and a pattern of
# the output.
NEW: dict[str, tuple[dict, list[dict], int, str]] = {
    "a pod with a node":
        (pod_with({"nodeName": "n1"}), [], 0, r"^default/web is bound to n1$"),
    "a pod of another scheduler":
        (pod_with({"schedulerName": "mine"}), [], 2,
         r"^default/web is for the scheduler \"mine\": pass its command with "
         r"--scheduler$"),
    "a pod whose claim is created with it":
        (STATEFUL_SET, [], 1,
         r"claim data-db-0 waits for a volume, and has no class$"),
    "a pod whose group is pending":
        (MEMBER, [{**MEMBER, "metadata": {**MEMBER["metadata"],
                                          "name": "other"}}], 0,
         r"^default/web fits 1 of 1 nodes, and gets n1$"),
    "a pod without its group":
        (MEMBER, [], 1, r"the group g has 1 of at least 2 pods$"),
    "a pod whose claim does not exist":
        (pod_with(CLAIM), [], 1,
         r"VolumeRestrictions: claim x does not exist$"),
    "a pod whose node does not exist":
        (pod_with({"nodeName": "n9"}), [], 1,
         r"^default/web has spec.nodeName n9, but there is no node n9\."),
    "a pod with the requests of a limit range":
        (pod_with(), [LIMIT_RANGE], 1, r"cpu: requests 6, free 4 of 4$"),
    "a pod with the overhead of a runtime class":
        (pod_with({"runtimeClassName": "kata"}), [RUNTIME_CLASS], 1,
         r"cpu: requests 5 \(5 overhead\), free 4 of 4$"),
    "a pod without its runtime class":
        (pod_with({"runtimeClassName": "kata"}), [], 2,
         r'pod rejected: RuntimeClass "kata" not found$'),
    "a DaemonSet":
        (DAEMON_SET, NODES_FOR_DAEMON, 1,
         r"^default/agent runs on 3 of 7 nodes: cordoned, free, full\n"
         r"  n1       NodeAffinity: selects os=linux, the node has no label "
         r"os\n"
         r"  tainted  TaintToleration: gpu:NoSchedule\n"
         r"  windows  NodeAffinity: selects os=linux, the node has os=windows\n"
         r"  full     NodeResourcesFit: cpu: requests 2, free 1 of 4 \(1 pod "
         r"requests 3\) · DefaultPreemption: the scheduler evicts pods of "
         r"lower priority\n"
         r"  small    NodeResourcesFit: cpu: requests 2, free 1 of 1$"),
    "a DaemonSet that runs wherever it should":
        (DAEMON_SET, NODES_FOR_DAEMON[:2], 0,
         r"^default/agent runs on 2 of 3 nodes: cordoned, free\n"),
    "a DaemonSet that selects no node":
        (DAEMON_SET, [], 1, r"^default/agent runs on 0 of 1 nodes\n"),
    "a pod that is there":
        (pod_with(), [pod_with()], 2,
         r"^minisched-explain: --new .*: the pod default/web is already in "
         r".*: give the new pod another name, or leave out --new and pass "
         r"web$"),
}


def check_new(directory: pathlib.Path) -> list[str]:
    found = []
    dump = directory / "dump"
    new = directory / "new.json"
    for title, (manifest, pods, code, pattern) in NEW.items():
        dump.write_text(listed(NODE, *pods))
        new.write_text(json.dumps(manifest))
        done = run("-f", dump, "--new", new, "--no-suggestions")
        printed = (done.stdout + done.stderr).strip()
        if done.returncode != code or not re.search(pattern, printed):
            found.append(f"{title}: exit code {done.returncode}: {printed}")
    return found


def check_names(directory: pathlib.Path) -> list[str]:
    """An ended pod is found by its name, with or without its namespace. The
    program's list of a cluster's pods has no ended ones."""
    found = []
    ended = pod_with({"nodeName": "n1"}, namespace="kube-system")
    with Original([NODE, ended], directory / "names") as original:
        original.patch("/api/v1/namespaces/kube-system/pods/web/status",
                       {"status": {"phase": "Succeeded"}})
        for arguments in (["web"], ["kube-system/web"],
                          ["web", "-n", "kube-system"]):
            done = run(*arguments, "--kubeconfig", original.server.kubeconfig)
            if "has ended (Succeeded)" not in done.stdout:
                found.append(f"{arguments}: {done.stdout}{done.stderr}")
    return found


# A pod on n1 that keeps all other pods of its namespace away.
ALONE = {"nodeName": "n1", "affinity": {"podAntiAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "name", "labelSelector": {}}]}}}


def check_anti_affinity(directory: pathlib.Path) -> list[str]:
    """The step rejects the node because of another pod's anti-affinity, or a
    warning says that the step ignores it."""
    node = {**NODE, "metadata": {"name": "n1", "labels": {"name": "n1"}}}
    dump = directory / "dump"
    dump.write_text(listed(node, pod_with(), pod_with(ALONE, name="other")))
    done = run("web", "-f", dump, "--no-suggestions")
    expected = {
        0: ("default/web fits 1 of 1 nodes",
            "warning: pods with required pod anti-affinity: 1. "
            f"{LAST.name} ignores what they require of this pod\n"),
        1: ("didn't satisfy existing pods anti-affinity rules", ""),
    }
    printed, warned = expected.get(done.returncode, ("another exit code", ""))
    if printed in done.stdout and done.stderr == warned:
        return []
    return [f"exit code {done.returncode}: {done.stdout}{done.stderr}"]


BUDGET = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
          "metadata": {"name": "guard", "namespace": "default"},
          "spec": {"selector": {"matchLabels": {"app": "guarded"}}},
          "status": {"disruptionsAllowed": 1}}


def check_victims(directory: pathlib.Path) -> list[str]:
    """A preemption names the evicted pods, the most important one first, and
    the budgets that don't allow it. The budget allows one of two evictions,
    and the more important pod takes it."""
    def wants(cpu: int, priority: int) -> dict:
        return {"priority": priority, "containers": [
            {"name": "c", "image": "i",
             "resources": {"requests": {"cpu": str(cpu)}}}]}

    pods = [pod_with({**wants(1, 5), "nodeName": "n1"}, name="low",
                     labels={"app": "guarded"}),
            pod_with({**wants(1, 7), "nodeName": "n1"}, name="mid",
                     labels={"app": "guarded"}),
            pod_with({**wants(2, 100), "nodeName": "n1"}, name="top"),
            pod_with(wants(2, 50))]
    dump = directory / "dump"
    dump.write_text(listed(NODE, BUDGET, *pods))
    answer = explain("web", "-f", dump)
    expected = [{"pod": "default/mid", "priority": 7, "budgets": []},
                {"pod": "default/low", "priority": 5,
                 "budgets": ["default/guard"]}]
    if answer.get("victims") != expected or answer.get("node") != "n1":
        return [str(answer)]
    table = run("web", "-f", dump).stdout
    return [] if ("The scheduler evicts 2 pods of lower priority from n1 for "
                  "it:\n"
                  "  default/mid  priority 7, below 50\n"
                  "  default/low  priority 5, below 50, against the disruption "
                  "budget default/guard\n") in table else [table]
