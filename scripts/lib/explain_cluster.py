"""Random clusters with one pending pod, for scripts/tests/explain_test."""

import random

import explain_volumes

ZONES = ["a", "b", "c"]
APPS = ["web", "db", "target"]
KEYS = ["kubernetes.io/hostname", "zone"]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
GIB = 2 ** 30
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000}


def node(rng: random.Random, number: int) -> dict:
    taints = []
    if rng.random() < 0.3:
        taints.append({"key": "gpu", "value": rng.choice(["yes", "old"]),
                       "effect": rng.choice(["NoSchedule", "NoExecute",
                                             "PreferNoSchedule"])})
    if rng.random() < 0.1:
        taints.append({"key": "team", "effect": "NoSchedule"})
    allocatable = {"cpu": str(rng.choice([1, 2, 4, 8])),
                   "memory": f"{rng.choice([2, 4, 8])}Gi",
                   "pods": str(rng.choice([3, 10, 110]))}
    if rng.random() < 0.3:
        allocatable["example.com/gpu"] = str(rng.randint(1, 4))
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name}
    if rng.random() < 0.9:
        labels["zone"] = rng.choice(ZONES)
    if rng.random() < 0.5:
        labels["disk"] = rng.choice(["ssd", "hdd"])
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": taints, "unschedulable": rng.random() < 0.2},
            "status": {"allocatable": allocatable, "capacity": allocatable}}


def requests(rng: random.Random, most: int) -> dict:
    """Returns requests of up to `most` quarters of a core and of a GiB."""
    amounts = {}
    if rng.random() < 0.9:
        amounts["cpu"] = f"{rng.randint(1, most) * 250}m"
    if rng.random() < 0.8:
        amounts["memory"] = f"{rng.randint(1, most) * 256}Mi"
    return amounts


def container(rng: random.Random, number: int, most: int) -> dict:
    made = {"name": f"c{number}", "image": "pause",
            "env": [{"name": "SECRET", "value": "marker-env"}],
            "command": ["marker-command"], "args": ["marker-args"],
            "resources": {"requests": requests(rng, most)}}
    if rng.random() < 0.25:
        made["ports"] = [{"containerPort": 80,
                          "hostPort": rng.choice([80, 81, 443])}]
    return made


def priority(rng: random.Random, share: float) -> dict:
    """Returns the fields of a spec with a high priority, for a share of the
    pods. Pods of priority 0 may be evicted for these."""
    if rng.random() >= share:
        return {}
    return {"priorityClassName": HIGH["metadata"]["name"],
            "priority": HIGH["value"]}


def bound_pod(rng: random.Random, number: int, where: str) -> dict:
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": f"bound-{number}",
                         "namespace": rng.choice(["default", "other"]),
                         "labels": {"app": rng.choice(APPS)},
                         "annotations": {"note": "marker-annotation"}},
            "spec": {"nodeName": where, "terminationGracePeriodSeconds": 0,
                     "containers": [container(rng, 0, 6)],
                     "affinity": pod_affinity(rng, 0, 0.08),
                     **priority(rng, 0.2)}}


def selector(rng: random.Random) -> dict:
    """Returns a label selector of pods."""
    app = rng.choice(APPS)
    return rng.choice([
        {"matchLabels": {"app": app}},
        {"matchExpressions": [{"key": "app", "operator": "NotIn",
                               "values": [app]}]},
        {"matchExpressions": [{"key": "app", "operator": "In",
                               "values": rng.sample(APPS, 2)}]}])


def pod_term(rng: random.Random) -> dict:
    term: dict = {"topologyKey": rng.choice(KEYS),
                  "labelSelector": selector(rng)}
    sort = rng.random()
    if sort < 0.2:
        term["namespaces"] = ["other"]
    elif sort < 0.3:
        term["namespaceSelector"] = {"matchLabels": {"team": "x"}}
    elif sort < 0.4:
        term["namespaceSelector"] = {}
    return term


def pod_affinity(rng: random.Random, share: float, anti_share: float) -> dict:
    """Returns required affinity and anti-affinity to other pods, each for a
    share of the pods."""
    made = {}
    for kind, of_kind in (("podAffinity", share),
                          ("podAntiAffinity", anti_share)):
        if rng.random() < of_kind:
            made[kind] = {REQUIRED: [pod_term(rng) for _ in
                                     range(rng.choice([1, 1, 2]))]}
    return made


def spread(rng: random.Random) -> list[dict]:
    """Returns topology spread constraints, one for each of some keys."""
    constraints = []
    for key in rng.sample(KEYS, rng.choice([1, 1, 2])):
        made: dict = {"maxSkew": rng.choice([1, 1, 2]), "topologyKey": key,
                      "whenUnsatisfiable": "DoNotSchedule",
                      "labelSelector": selector(rng)}
        if rng.random() < 0.2:
            made["minDomains"] = rng.randint(1, 4)
        if rng.random() < 0.3:
            made["nodeTaintsPolicy"] = "Honor"
        if rng.random() < 0.3:
            made["nodeAffinityPolicy"] = "Ignore"
        constraints.append(made)
    return constraints


def owned_by(daemon_set: str) -> list[dict]:
    # The embedded server does not serve this version, so it can't check
    # whether the DaemonSet exists, and keeps the pods.
    return [{"apiVersion": "extensions/v1beta1", "kind": "DaemonSet",
             "name": daemon_set, "uid": f"of-{daemon_set}", "controller": True}]


def pinned_to(where: str) -> dict:
    """Returns the affinity that the DaemonSet controller gives a pod."""
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In",
                          "values": [where]}]}]}}}


def daemon_pods(rng: random.Random, nodes: list[dict]) -> list[dict]:
    """Returns the pods of a DaemonSet, or none. The pods tolerate all taints,
    or only that of a cordoned node."""
    if rng.random() < 0.5:
        return []
    pod = bound_pod(rng, 0, "")
    tolerations = [{"operator": "Exists"}]
    if rng.random() < 0.5:
        tolerations[0].update(key="node.kubernetes.io/unschedulable",
                              effect="NoSchedule")
    pods = []
    for each in nodes:
        if not runs_on(tolerations, each):
            continue
        name = each["metadata"]["name"]
        spec = {**pod["spec"], "nodeName": name, "tolerations": tolerations,
                "affinity": pinned_to(name)}
        pods.append({**pod, "spec": spec, "metadata": {
            **pod["metadata"], "name": f"agent-{name}",
            "ownerReferences": owned_by("agent")}})
    return pods


def runs_on(tolerations: list[dict], where: dict) -> bool:
    """True if a pod of daemon_pods() runs on the node."""
    return "key" not in tolerations[0] or all(
        taint["effect"] == "PreferNoSchedule"
        or taint["key"] == tolerations[0]["key"]
        for taint in where.get("spec", {}).get("taints") or [])


def affinity(rng: random.Random) -> dict:
    expressions = [{"key": "zone", "operator": rng.choice(["In", "NotIn"]),
                    "values": rng.sample(ZONES, rng.randint(1, 2))}]
    if rng.random() < 0.5:
        expressions.append({"key": "disk", "operator":
                            rng.choice(["Exists", "DoesNotExist"])})
    terms = [{"matchExpressions": expressions}]
    if rng.random() < 0.3:
        terms.append({"matchExpressions": [
            {"key": "disk", "operator": "In", "values": ["nvme"]}]})
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


def target(rng: random.Random) -> dict:
    containers = [container(rng, n, 16) for n in range(rng.choice([1, 1, 2]))]
    if rng.random() < 0.2:
        resources = containers[0]["resources"]
        resources["requests"]["example.com/gpu"] = str(rng.randint(1, 3))
        resources["limits"] = {"example.com/gpu":
                               resources["requests"]["example.com/gpu"]}
    spec: dict = {"schedulerName": "minisched", "containers": containers,
                  **priority(rng, 0.6)}
    if rng.random() < 0.2:
        spec["initContainers"] = [container(rng, 9, 16)]
    if rng.random() < 0.3:
        spec["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd", "nvme"])}
    if rng.random() < 0.3:
        spec["affinity"] = affinity(rng)
    spec.setdefault("affinity", {}).update(pod_affinity(rng, 0.15, 0.25))
    if rng.random() < 0.5:
        spec["topologySpreadConstraints"] = spread(rng)
    if rng.random() < 0.3:
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "target", "namespace": "default",
                         "labels": {"app": "target"},
                         "annotations": {"note": "marker-annotation"}},
            "spec": spec}


def make(seed: int) -> list[dict]:
    """Returns the objects of a cluster. The last one is the pending pod."""
    rng = random.Random(seed)
    nodes = [node(rng, number) for number in range(rng.randint(1, 7))]
    names = [each["metadata"]["name"] for each in nodes]
    bound = [bound_pod(rng, number, rng.choice(names))
             for number in range(rng.randint(0, 3 * len(nodes)))]
    bound += daemon_pods(rng, nodes)
    namespace = {"apiVersion": "v1", "kind": "Namespace",
                 "metadata": {"name": "other", "labels": {"team": "x"}}}
    pending = target(rng)
    if rng.random() < 0.1:
        pending["metadata"]["ownerReferences"] = owned_by("other")
        pending["spec"]["affinity"].update(pinned_to(rng.choice(names)))
    objects = [namespace, HIGH, *nodes, *bound, pending]
    return explain_volumes.add(random.Random(f"volumes of {seed}"), objects)


def amount(text: str) -> float:
    """Returns a quantity in cores, in bytes, or in devices."""
    for suffix, factor in (("Gi", GIB), ("Mi", 2 ** 20), ("m", 0.001)):
        if text.endswith(suffix):
            return float(text.removesuffix(suffix)) * factor
    return float(text)


def taken(objects: list[dict], where: str, resource: str) -> float:
    """Returns what the pods of a node request of a resource."""
    return sum(
        amount(each["resources"]["requests"].get(resource, "0"))
        for pod in objects if pod["kind"] == "Pod"
        and pod["spec"].get("nodeName") == where
        for each in pod["spec"]["containers"])


def free(objects: list[dict], where: str, resource: str) -> float:
    """Returns what is free of a resource on a node, without this program."""
    found = next(each for each in objects if each["kind"] == "Node"
                 and each["metadata"]["name"] == where)
    return (amount(found["status"]["allocatable"].get(resource, "0"))
            - taken(objects, where, resource))
