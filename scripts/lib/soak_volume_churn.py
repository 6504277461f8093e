"""The part of the churn of scripts/soak with claims and volumes.

Applications have one or two claims, and pods that use all of them, one after
the other or at the same time. Everything may come late, and go half-way.
"""

import dataclasses
import random
import time
import typing
from collections.abc import Callable

from soak_api import (CAPACITIES, CLAIMS, CLAIMS_PATH, EVICTS, LATE, LIMITED,
                      PODS, PROVISIONED, URGENT, VOLUMES, WAITING, Object)
from soak_objects import ZONE

if typing.TYPE_CHECKING:
    from soak_churn import Churn

STORAGE = "/apis/storage.k8s.io/v1"
CLASSES, DRIVERS = f"{STORAGE}/storageclasses", f"{STORAGE}/csidrivers"
IMMEDIATE = "soak-immediate"
POOL, HOSTNAME = "volumes", "kubernetes.io/hostname"
MODES = ("ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod")
GIB = (1, 1, 2, 4)  # sizes of claims and volumes
REQUEST = 250  # milli-CPU of each pod
MOST_VOLUMES, MOST_FREE = 60, 4
# Seconds, the means. Those that live long wait for volumes in the phases
# without faults.
LIVES, LONG_LIFE, MOST_LONG = (2, 8, 20), 150, 6
MOST_CLOSED = 2  # nodes
# Seconds, the mean, until an application is deleted while its pods are being
# bound, and the same if a volume is made for it.
HALF_WAY, MADE_HALF_WAY, LATE_HALF_WAY = 3, 30, 150
# Pods that wait long for their volumes hold much of a node meanwhile. An urgent
# pod then needs almost all of a node.
LATE_REQUEST, MOST_LATE = 1000, 4
URGENT_POOL, URGENT_REQUEST = "urgent", 7500
LEFT_GI = (0, 1, 2, 4, 8)  # of the class LIMITED in a zone


def zone_of(node: str) -> str:
    return f"zone-{int(node.rsplit('-', 1)[1]) % 2}"


def labels_of(node: str) -> dict[str, str]:
    return {HOSTNAME: node, ZONE: zone_of(node)}


@dataclasses.dataclass(eq=False)
class App:
    """Claims, and the pods that use them."""
    claims: list[str]
    request: int  # milli-CPU of each pod
    half_way: float  # HALF_WAY or similar
    pods: set[str] = dataclasses.field(default_factory=set)
    ended: bool = False


class VolumeChurn:
    """Creates, changes and deletes claims, volumes and pods that use them.

    Without `waiting`, no claim waits for its first consumer. Without
    `provisioning`, no new volumes are made for claims, and no pods are urgent.
    """

    def __init__(self, churn: "Churn", nodes: list[str], waiting: bool,
                 provisioning: bool):
        self.churn, self.nodes, self.waiting = churn, nodes, waiting
        self.provisioning = provisioning
        self.rng: random.Random = churn.rng
        self.apps: dict[str, App] = {}  # by each of their claims
        self.volumes: dict[str, Object] = {}  # on the server
        self.closed: set[str] = set()
        self.recycled: set[str] = set()  # volumes that will be made available
        self.long: list[float] = []  # when the long-lived applications end
        self.next_list = self.next_node = 0.0

    def set_up(self) -> None:
        for name, mode in ((IMMEDIATE, "Immediate"),
                           (WAITING, "WaitForFirstConsumer")):
            self.churn.post(CLASSES, {
                "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
                "metadata": {"name": name}, "volumeBindingMode": mode,
                "provisioner": "kubernetes.io/no-provisioner"})
        if self.provisioning:
            self.set_up_provisioners()

    def set_up_provisioners(self) -> None:
        for name, policy in ((PROVISIONED, "Retain"), (LIMITED, "Delete")):
            self.churn.post(CLASSES, {
                "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
                "metadata": {"name": name}, "reclaimPolicy": policy,
                "volumeBindingMode": "WaitForFirstConsumer",
                "provisioner": f"{name}.example.com"})
        self.churn.post(DRIVERS, {
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
            "metadata": {"name": f"{LIMITED}.example.com"},
            "spec": {"storageCapacity": True}})
        for zone in sorted({zone_of(node) for node in self.nodes}):
            self.churn.post(CAPACITIES, {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity", "metadata": {"name": zone},
                "storageClassName": LIMITED, "capacity": "4Gi",
                "nodeTopology": {"matchLabels": {ZONE: zone}}})

    # The run.

    def step(self) -> None:
        """Does one thing at random."""
        now = time.monotonic()
        if now >= self.next_list:
            self.refresh()
            self.next_list = now + 1
        if now >= self.next_node:
            self.change_node()
            self.next_node = now + self.rng.uniform(1, 12)
        self.rng.choices(
            [self.supply, self.remove_volume, self.pair, self.immediate,
             self.first_consumer, self.reserved, self.burst,
             self.provisioned, self.late, self.change_capacity, self.urgent],
            [6, 0.3, 2, 3, 8 * self.waiting, self.waiting, self.waiting,
             12 * self.provisioning, 4 * self.provisioning, self.provisioning,
             2 * self.provisioning])[0]()

    def refresh(self) -> None:
        """Reads claims and volumes, and deals with those that are useless."""
        for claim in self.churn.api.get(CLAIMS_PATH)["items"]:
            name = claim["metadata"]["name"]
            if claim["status"].get("phase") == "Lost" and name in self.apps:
                self.end(self.apps[name])
        for app in dict.fromkeys(self.apps.values()):
            half_way = any(is_half_way(self.churn.pods.get(name, {}))
                           for name in app.pods)
            if half_way and self.rng.random() < 1 / app.half_way:
                self.end(app)
        items = self.churn.api.get(VOLUMES)["items"]
        self.volumes = {item["metadata"]["name"]: item for item in items}
        for name, volume in self.volumes.items():
            if (volume["status"].get("phase") == "Released" and
                    name not in self.recycled):
                self.recycled.add(name)
                self.churn.after(self.rng.uniform(0, 5),
                                 lambda volume=volume: self.recycle(volume))

    def finish(self) -> None:
        """Creates a consumer for each volume that is still free."""
        self.refresh()
        for volume in self.free(WAITING):
            mode, = volume["spec"]["accessModes"]
            self.create([self.claim(WAITING, 1, mode)], [], pods=1,
                        life=LONG_LIFE)

    def free(self, storage_class: str) -> list[Object]:
        return [volume for volume in self.volumes.values()
                if volume["status"].get("phase") == "Available" and
                "claimRef" not in volume["spec"] and
                volume["spec"].get("storageClassName") == storage_class]

    # Volumes.

    def volume(self, storage_class: str, size: int, mode: str,
               node: str = "") -> Object:
        """Returns a volume of a node, of a zone, or without a place."""
        rng = self.rng
        name = f"volume-{next(self.churn.numbers)}"
        volume = {"apiVersion": "v1", "kind": "PersistentVolume",
                  "metadata": {"name": name, "labels": {}},
                  "spec": {"capacity": {"storage": f"{size}Gi"},
                           "accessModes": [mode],
                           "persistentVolumeReclaimPolicy": "Retain",
                           "storageClassName": storage_class,
                           "hostPath": {"path": "/none"}}}
        labels = labels_of(node or rng.choice(self.nodes))
        places = ["node", "node", "zone", "none"]
        # No plugin compares a zone label when a scheduler chooses a volume.
        places += ["label"] * (storage_class in ("", IMMEDIATE))
        place = "node" if node else rng.choice(places)
        if place == "label":
            zones = rng.choice([labels[ZONE], "zone-0__zone-1"])
            volume["metadata"]["labels"][ZONE] = zones
        elif place != "none":
            key = HOSTNAME if place == "node" else ZONE
            volume["spec"]["nodeAffinity"] = {"required": {
                "nodeSelectorTerms": [{"matchExpressions": [
                    {"key": key, "operator": "In", "values": [labels[key]]}]}]}}
        return volume

    def create_volume(self, volume: Object) -> None:
        self.churn.post(VOLUMES, volume)
        self.volumes[volume["metadata"]["name"]] = volume | {"status": {}}

    def supply(self) -> None:
        """Creates a volume if there are few."""
        storage_class = self.rng.choice([IMMEDIATE] + [WAITING] * self.waiting +
                                        [PROVISIONED] * self.provisioning)
        if (len(self.volumes) < MOST_VOLUMES and
                len(self.free(storage_class)) < self.rng.randint(0, MOST_FREE)):
            self.create_volume(self.volume(
                storage_class, self.rng.choice(GIB), self.rng.choice(MODES)))

    def remove_volume(self) -> None:
        free = [volume for storage_class in (IMMEDIATE, WAITING, PROVISIONED)
                for volume in self.free(storage_class)]
        if free:
            name = self.rng.choice(free)["metadata"]["name"]
            self.churn.delete(f"{VOLUMES}/{name}")

    def recycle(self, volume: Object) -> None:
        """Makes a released volume available again, or deletes it.

        Most are deleted if there are enough, so that claims have to wait.
        """
        meta, spec = volume["metadata"], volume["spec"]
        path = f"{VOLUMES}/{meta['name']}"
        self.recycled.discard(meta["name"])
        few = len(self.free(spec.get("storageClassName", ""))) < MOST_FREE
        if spec.get("storageClassName") and (few or self.rng.random() < 0.3):
            self.churn.patch(path, {
                "metadata": {"resourceVersion": meta["resourceVersion"]},
                "spec": {"claimRef": None}})
        else:
            self.churn.delete(path)

    # Applications.

    def claim(self, storage_class: str, size: int, mode: str,
              prefix: str = "") -> Object:
        name = f"{prefix}claim-{next(self.churn.numbers)}"
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                "metadata": {"name": name},
                "spec": {"accessModes": [mode],
                         "storageClassName": storage_class, "resources": {
                             "requests": {"storage": f"{size}Gi"}}}}

    def pair(self) -> None:
        """Creates a claim and a volume that name each other."""
        mode = self.rng.choice(MODES)
        claim, volume = self.claim("", 1, mode), self.volume("", 1, mode)
        claim["spec"]["volumeName"] = volume["metadata"]["name"]
        reserve(volume, claim)
        self.create([claim], [volume], self.rng.randint(1, 3))

    def reserved(self) -> None:
        """Creates a volume that names a claim that waits."""
        mode = self.rng.choice(MODES)
        claim = self.claim(WAITING, 1, mode)
        volume = self.volume(WAITING, 2, mode)
        reserve(volume, claim)
        self.create_volume(volume)
        self.create([claim], [], self.rng.randint(1, 2))

    def immediate(self) -> None:
        self.some(IMMEDIATE)

    def first_consumer(self) -> None:
        self.some(WAITING)

    def some(self, storage_class: str) -> None:
        """Creates one or two claims, with or without volumes for them."""
        rng = self.rng
        size, mode = rng.choice(GIB), rng.choice(MODES)
        count = rng.choice([1, 1, 2])
        volumes = []
        if rng.random() < 0.2 and len(self.volumes) < MOST_VOLUMES:
            node = rng.choice(self.nodes)
            volumes = [self.volume(storage_class, size, mode, node)
                       for _ in range(count)]
        self.create([self.claim(storage_class, size, mode)
                     for _ in range(count)], volumes, rng.randint(1, 3))

    def burst(self) -> None:
        """Creates many pods with a claim each, and as many volumes."""
        rng = self.rng
        count = rng.randint(4, 16)
        if (len(self.volumes) > MOST_VOLUMES or
                not self.churn.has_room(POOL, count * REQUEST / 1000)):
            return
        nodes = rng.choice([self.nodes, [rng.choice(self.nodes)]])
        late, life = rng.choice([0, rng.uniform(0, 8)]), rng.uniform(5, 60)
        for _ in range(max(count // 4, count - len(self.free(WAITING)))):
            volume = self.volume(WAITING, 1, MODES[0], rng.choice(nodes))
            self.churn.after(late, lambda volume=volume:
                             self.create_volume(volume))
        for _ in range(count):
            self.create([self.claim(WAITING, 1, MODES[0])], [], pods=1,
                        life=life + rng.uniform(0, 5))

    def provisioned(self) -> None:
        """Creates one or two claims, and a volume is made for at least one."""
        classes = self.rng.choice([
            [PROVISIONED], [PROVISIONED], [PROVISIONED] * 2, [LIMITED],
            [LIMITED], [WAITING, PROVISIONED], [WAITING, LIMITED]])
        mode = self.rng.choice(MODES)
        self.create([self.claim(name, self.rng.choice(GIB), mode)
                     for name in classes], [], self.rng.randint(1, 3),
                    self.rng.choice([None, self.rng.uniform(20, 100)]),
                    half_way=MADE_HALF_WAY)

    def late(self) -> None:
        """Creates a pod with a claim whose volume takes long to be made."""
        if sum(name.startswith(LATE) for name in self.apps) < MOST_LATE:
            self.create([self.claim(PROVISIONED, 1, MODES[0], LATE)], [], 1,
                        self.rng.uniform(15, 100), LATE_REQUEST, LATE_HALF_WAY)

    def create(self, claims: list[Object], volumes: list[Object], pods: int,
               life: float | None = None, request: int = REQUEST,
               half_way: float = HALF_WAY) -> None:
        """Creates an application and its volumes, at once if `life` is given.
        """
        if not self.churn.has_room(POOL, pods * request / 1000):
            return
        app = App([claim["metadata"]["name"] for claim in claims], request,
                  half_way)
        self.apps |= dict.fromkeys(app.claims, app)
        actions: list[Callable[[], None]] = [
            *(lambda v=v: self.create_volume(v) for v in volumes),
            *(lambda c=c: self.create_claim(app, c) for c in claims),
            *[lambda: self.create_pod(app)] * pods]
        at_once = life is not None or self.rng.random() < 0.5
        for action in actions:
            if at_once:
                action()
            else:
                self.churn.after(self.rng.uniform(0, 6), action)
        self.churn.after(self.lifetime() if life is None else life,
                         lambda: self.end(app))

    def lifetime(self) -> float:
        now = time.monotonic()
        self.long = [end for end in self.long if end > now]
        if self.rng.random() < 0.25:
            return self.rng.uniform(0, 3)  # half-way
        if len(self.long) < MOST_LONG and self.rng.random() < 0.3:
            seconds = LONG_LIFE * self.rng.uniform(0.5, 1.5)
            self.long.append(now + seconds)
            return seconds
        return self.rng.expovariate(1 / self.rng.choice(LIVES))

    def create_claim(self, app: App, claim: Object) -> None:
        if not app.ended:
            self.churn.post(CLAIMS_PATH, claim)

    def create_pod(self, app: App) -> None:
        """Creates a pod that ends, and is replaced, or stays."""
        if app.ended:
            return
        pod = self.churn.pod(POOL, CLAIMS, app.request, volumes=[
            {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
            for claim in app.claims])
        name = pod["metadata"]["name"]
        app.pods.add(name)
        self.churn.create(pod, lives=False)
        if self.rng.random() < (0.5 if app.half_way < LATE_HALF_WAY else 0.1):
            self.churn.after(self.rng.expovariate(1 / self.rng.choice(LIVES)),
                             lambda: self.replace(app, name))

    def replace(self, app: App, name: str) -> None:
        if not app.ended:
            app.pods.discard(name)
            self.churn.end_pod(name)
            self.create_pod(app)

    def end(self, app: App) -> None:
        """Deletes the pods and claims of an application in any order."""
        app.ended = True
        for name in app.claims:
            self.apps.pop(name, None)
        paths = [f"{CLAIMS_PATH}/{name}" for name in app.claims]
        paths += [f"{PODS}/{name}" for name in app.pods]
        self.rng.shuffle(paths)
        for path in paths:
            self.churn.delete(path, now=self.rng.random() < 0.5)

    # Storage and urgent pods.

    def change_capacity(self) -> None:
        zone = zone_of(self.rng.choice(self.nodes))
        left = self.rng.choice(LEFT_GI)
        self.churn.patch(f"{CAPACITIES}/{zone}", {"capacity": f"{left}Gi"})

    def urgent(self) -> None:
        """Creates a pod that needs a node almost alone, if there is no other.

        In most cases it needs the node of a pod that waits long for its volume.
        """
        if any(pod["spec"].get("priorityClassName") == URGENT and
               POOL in pod["spec"].get("nodeSelector", {}).values()
               for pod in self.churn.pods.values()):
            return
        pod = self.churn.pod(POOL, EVICTS, URGENT_REQUEST)
        pod["metadata"]["labels"]["soak/pool"] = URGENT_POOL
        pod["spec"]["priorityClassName"] = URGENT
        nodes = self.nodes_of_late_pods()
        if nodes and self.rng.random() < 0.8:
            pod["spec"]["nodeSelector"][HOSTNAME] = self.rng.choice(nodes)
        name = pod["metadata"]["name"]
        self.churn.create(pod, lives=False)
        self.churn.after(self.rng.uniform(2, 12),
                         lambda: self.end_urgent(name))

    def nodes_of_late_pods(self) -> list[str]:
        late = {name for app in self.apps.values() for name in app.pods
                if app.half_way == LATE_HALF_WAY}
        nominated = {
            pod.get("status", {}).get("nominatedNodeName")
            for name, pod in self.churn.pods.items() if name in late}
        return sorted(nominated - self.closed - {None})

    def end_urgent(self, name: str) -> None:
        """Ends an urgent pod, in most cases only when it is bound."""
        pod = self.churn.pods.get(name)
        if pod and "nodeName" not in pod["spec"] and self.rng.random() < 0.95:
            self.churn.after(5, lambda: self.end_urgent(name))
        else:
            self.churn.end_pod(name)

    # Nodes.

    def change_node(self) -> None:
        name = self.rng.choice(self.nodes)
        if name not in self.closed and len(self.closed) < MOST_CLOSED:
            kind = self.rng.choice(["cordon", "delete"])
            self.churn.close(name, POOL, kind, self.closed)


def is_half_way(pod: Object) -> bool:
    """True if a scheduler is binding the pod, or has failed to do so."""
    status = pod.get("status", {})
    return "nodeName" not in pod.get("spec", {}) and (
        bool(status.get("nominatedNodeName")) or
        any(condition.get("reason") == "SchedulerError"
            for condition in status.get("conditions", [])))


def reserve(volume: Object, claim: Object) -> None:
    volume["spec"]["claimRef"] = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "namespace": "default", "name": claim["metadata"]["name"]}
