"""The parts of objects that the checker of scripts/soak needs."""

import collections
import dataclasses
import re

from soak_api import GROUP, MIN_AVAILABLE, WANT, Object, milli

RESOURCES = ("cpu", "memory", "pods")
ZONE = "topology.kubernetes.io/zone"
BOUND_BY = "pv.kubernetes.io/bound-by-controller"
SELECTED = "volume.kubernetes.io/selected-node"
KEPT_EVENTS = 8  # of each object, for the report of a violation


@dataclasses.dataclass
class Pod:
    """The parts of a pod that the rules need."""
    name: str
    uid: str
    node: str
    ended: bool
    leaving: bool
    gated: bool
    want: str
    requests: dict[str, int]
    ports: set[tuple[int, str]]
    tolerations: list[Object]
    selector: dict[str, str]
    group: str | None
    minimum: int
    priority: int
    nominated: str
    victim: bool  # a scheduler has chosen to evict it
    claims: set[str]
    conflict: str  # the volume that had changed when a scheduler wrote it
    bound_at: float | None = None  # when the checker received its Binding
    # Since when it has been possible to bind it; None: not yet.
    ready_since: float | None = None
    events: collections.deque[str] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=KEPT_EVENTS))

    @property
    def holds_room(self) -> bool:
        return bool(self.node) and not self.ended


def pod_of(item: Object) -> Pod:
    meta, spec = item["metadata"], item["spec"]
    labels = meta.get("labels", {})
    requests = collections.Counter(pods=1000)
    ports = set()
    for container in spec["containers"]:
        asked = container.get("resources", {}).get("requests", {})
        for resource in ("cpu", "memory"):
            requests[resource] += milli(asked.get(resource, 0))
        ports |= {(port["hostPort"], port.get("protocol", "TCP"))
                  for port in container.get("ports", []) if "hostPort" in port}
    return Pod(
        name=meta["name"], uid=meta["uid"], node=spec.get("nodeName", ""),
        ended=item.get("status", {}).get("phase") in ("Succeeded", "Failed"),
        leaving="deletionTimestamp" in meta,
        gated=bool(spec.get("schedulingGates")), want=labels.get(WANT, ""),
        requests=requests, ports=ports,
        tolerations=spec.get("tolerations", []),
        selector=spec.get("nodeSelector", {}), group=labels.get(GROUP),
        minimum=int(labels.get(MIN_AVAILABLE, "0")),
        priority=spec.get("priority", 0),
        nominated=item.get("status", {}).get("nominatedNodeName", ""),
        victim=any(condition["type"] == "DisruptionTarget" and
                   condition.get("reason") == "PreemptionByScheduler"
                   for condition in item.get("status", {}).get("conditions",
                                                               [])),
        claims={volume["persistentVolumeClaim"]["claimName"]
                for volume in spec.get("volumes", [])
                if "persistentVolumeClaim" in volume},
        conflict=conflict_of(item))


def conflict_of(item: Object) -> str:
    for condition in item.get("status", {}).get("conditions", []):
        found = re.search(r'persistentvolumes "(\S+)": .* been modified',
                          condition.get("message", ""))
        if found:
            return found.group(1)
    return ""


@dataclasses.dataclass
class Node:
    """A node, or one that is gone."""
    allocatable: dict[str, int]
    labels: dict[str, str]
    # Why pods can't be bound to it, and since when: "cordoned", "gone", and
    # (key, value, effect) of each taint.
    closed: dict[object, float]
    events: collections.deque[str] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=KEPT_EVENTS))

    def closed_since(self, now: float) -> float:
        """Returns since when it is cordoned or gone; `now` if it is open."""
        return min((since for reason, since in self.closed.items()
                    if isinstance(reason, str)), default=now)


def node_of(item: Object, gone: bool, now: float) -> Node:
    """Returns a node whose state has been the same since `now`."""
    meta, spec = item["metadata"], item.get("spec", {})
    allocatable = item.get("status", {}).get("allocatable", {})
    closed: dict[object, float] = {"gone": now} if gone else {}
    if spec.get("unschedulable"):
        closed["cordoned"] = now
    for taint in spec.get("taints", []):
        if taint["effect"] != "PreferNoSchedule":
            closed[(taint["key"], taint.get("value", ""),
                    taint["effect"])] = now
    return Node({r: milli(allocatable.get(r, 0)) for r in RESOURCES},
                meta.get("labels", {}), closed)


@dataclasses.dataclass
class Group:
    """A group of pods, as the labels of the members describe it."""
    minimum: int
    want: str
    members: dict[str, Pod] = dataclasses.field(default_factory=dict)
    half_since: float | None = None
    broken: bool = False  # lost a member, so its start can't be judged
    reported: bool = False


def tolerates(pod: Pod, taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    return any(
        t.get("effect", effect) == effect and t.get("key", key) == key and
        (t.get("operator") == "Exists" or t.get("value", "") == value)
        for t in pod.tolerations)


@dataclasses.dataclass
class Claim:
    """The parts of a claim that the rules need."""
    name: str
    uid: str
    volume: str
    bound: bool
    usable: bool  # neither lost nor being deleted
    modes: set[str]
    size: int
    storage_class: str
    selected: str  # the node for which a volume is made
    selected_since: float = 0
    events: collections.deque[str] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=KEPT_EVENTS))


def claim_of(item: Object) -> Claim:
    meta, spec = item["metadata"], item["spec"]
    phase = item.get("status", {}).get("phase")
    return Claim(
        name=meta["name"], uid=meta["uid"], volume=spec.get("volumeName", ""),
        bound=phase == "Bound",
        usable=phase != "Lost" and "deletionTimestamp" not in meta,
        modes=set(spec["accessModes"]),
        size=milli(spec["resources"]["requests"]["storage"]),
        storage_class=spec.get("storageClassName", ""),
        selected=meta.get("annotations", {}).get(SELECTED, ""))


@dataclasses.dataclass
class Volume:
    """The parts of a volume that the rules need."""
    name: str
    uid: str
    claim: str  # the name in claimRef, or ""
    claim_uid: str
    chosen: bool  # for its claim, instead of reserved when it was made
    free: bool  # for any claim
    modes: set[str]
    size: int
    storage_class: str
    labels: dict[str, set[str]]  # that a node must have
    events: collections.deque[str] = dataclasses.field(
        default_factory=lambda: collections.deque(maxlen=KEPT_EVENTS))

    def is_for(self, claim: Claim) -> bool:
        return (self.claim == claim.name and
                self.claim_uid in ("", claim.uid))

    def is_reachable(self, node: Node) -> bool:
        return all(node.labels.get(key) in values
                   for key, values in self.labels.items())

    def suits(self, claim: Claim) -> bool:
        return (self.storage_class == claim.storage_class and
                self.size >= claim.size and claim.modes <= self.modes)


def volume_of(item: Object) -> Volume:
    """REQUIRES: the affinity has one term, in which each operator is In."""
    meta, spec = item["metadata"], item["spec"]
    reference = spec.get("claimRef") or {}
    leaving = "deletionTimestamp" in meta
    phase = item.get("status", {}).get("phase")
    labels = {}
    affinity = spec.get("nodeAffinity")
    for term in affinity["required"]["nodeSelectorTerms"] if affinity else ():
        for requirement in term["matchExpressions"]:
            labels[requirement["key"]] = set(requirement["values"])
    if ZONE in meta.get("labels", {}):
        labels[ZONE] = set(meta["labels"][ZONE].split("__"))
    return Volume(
        name=meta["name"], uid=meta["uid"], claim=reference.get("name", ""),
        claim_uid=reference.get("uid", ""),
        chosen=bool(reference) and BOUND_BY in meta.get("annotations", {}),
        free=phase == "Available" and not reference and not leaving,
        modes=set(spec["accessModes"]), size=milli(spec["capacity"]["storage"]),
        storage_class=spec.get("storageClassName", ""), labels=labels)
