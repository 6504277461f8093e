"""The churn of scripts/soak: pods, jobs and nodes that come and go.

Four pools of nodes, so that the test can tell which pods must be bound:

  general  nodes are cordoned, tainted, relabelled, deleted and created. All
           pods that fit nowhere else have room on the nodes that are left.
  special  nodes don't change: pods with selectors, affinity and host ports.
  tight    nodes don't change: more pods than fit, and jobs that compete.
  volumes  nodes are cordoned, deleted and created: soak_volume_churn.py. The
           checker finds out which pods have a volume and room.
"""

import dataclasses
import heapq
import itertools
import random
import time
from collections.abc import Callable

from soak_api import (AMBIGUOUS, GROUP, MIN_AVAILABLE, NODES, PODS, URGENT,
                      WANT, Api, Object, milli)
from soak_volume_churn import VolumeChurn, labels_of

POOL, DEDICATED = "soak/pool", "soak/dedicated"
SIZES = {"general": 10, "special": 3, "tight": 3, "volumes": 4}  # nodes
CPU, MEMORY_GI, MOST_PODS = 8, 16, 32  # of each node
REQUESTS = (250, 500, 1000, 2000)  # milli-CPU; the least is CPU / MOST_PODS
# A pod of at most a quarter of a node has room on one of n nodes if all pods
# ask for at most 70 % of n nodes: the emptiest node is at most 70 % full, less
# the pod's own share. Memory and pods can't be scarcer than CPU, because each
# pod asks for at least as large a share of the CPU.
GENERAL_SHARE = 0.7
# Less than the room of one node in all, so every special node has room for each
# of the pods, whatever the others do.
SPECIAL_SHARE = 0.3
VOLUMES_SHARE = 0.4
TIGHT_SHARE = 1.5
PORTS = range(8080, 8083)
PRIORITIES = {"soak-low": -100, "soak-high": 1000}
# Pods of this priority ask for less than a tight node has. So each of them fits
# any tight node, if the other pods there are evicted.
URGENT_PRIORITY, URGENT_SHARE = 2000, 0.3
# There are many pods to evict.
LESSER, LESSER_SHARE = "soak-low", 0.9
# Seconds, the means. Some pods outlive the phases without faults, in which the
# checker waits for them, but most of the room is for those that don't.
LIFETIMES, LONG_LIFE = (3, 5, 10), 150
MOST_LONG = 10
# The most jobs of the tight nodes that may be pending at the end. Three could
# take turns and hold the room for ever.
MOST_PENDING_JOBS = 2


def asked(pods: dict[str, Object], pool: str) -> float:
    """Returns the CPUs that the pods of a pool ask for."""
    return sum(
        milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        for pod in pods.values()
        if pod["metadata"]["labels"].get(POOL) == pool and
        pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
    ) / 1000


@dataclasses.dataclass
class Job:
    """A group of pods that the churn has created."""
    missing: list[Object]
    pool: str


class Churn:
    """Creates, changes and deletes objects at random, one step at a time.

    Without groups, it creates no jobs: the scheduler would take their members
    for ordinary pods. Without preemption, it creates no urgent pods. Pods with
    claims are created with `volumes`, claims that wait with `waiting`, and
    claims for which volumes are made with `provisioning`.
    """

    def __init__(self, api: Api, rng: random.Random, groups: bool = True,
                 preemption: bool = True, volumes: bool = False,
                 waiting: bool = False, provisioning: bool = False):
        self.api, self.rng, self.groups = api, rng, groups
        self.preemption = preemption
        self.numbers = itertools.count(1)
        self.volumes = VolumeChurn(self, [
            f"volumes-{i}" for i in range(SIZES["volumes"])], waiting,
            provisioning)
        self.with_volumes = volumes
        self.later: list[tuple[float, int, Callable[[], None]]] = []
        self.pods: dict[str, Object] = {}  # on the server, and just created
        self.jobs: dict[str, Job] = {}
        self.closed: set[str] = set()  # general nodes without room for new pods
        self.gone: set[str] = set()
        self.long: list[float] = []  # when the long-lived pods and jobs end
        self.created = self.changes = 0
        self.next_list = self.next_node = 0.0

    # The cluster.

    def set_up(self) -> None:
        for name, value in {**PRIORITIES, URGENT: URGENT_PRIORITY}.items():
            self.post("/apis/scheduling.k8s.io/v1/priorityclasses",
                      {"apiVersion": "scheduling.k8s.io/v1",
                       "kind": "PriorityClass", "metadata": {"name": name},
                       "value": value})
        for pool, count in SIZES.items():
            for i in range(count):
                self.create_node(f"{pool}-{i}", pool)
        self.volumes.set_up()

    def create_node(self, name: str, pool: str) -> None:
        room = {"cpu": str(CPU), "memory": f"{MEMORY_GI}Gi",
                "pods": str(MOST_PODS)}
        node = {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {POOL: pool}},
                "spec": {}, "status": {"capacity": room, "allocatable": room}}
        if pool == "volumes":
            node["metadata"]["labels"] |= labels_of(name)
        if pool != "general":
            node["spec"]["taints"] = [{"key": DEDICATED, "value": pool,
                                       "effect": "NoSchedule"}]
        self.post(NODES, node)

    def post(self, path: str, body: Object) -> None:
        status, answer = self.api.call("POST", path, body)
        # 409: an earlier request has had no response.
        if status not in (201, 409):
            raise RuntimeError(f"POST {path}: {answer.get('message')}")

    def patch(self, path: str, body: Object) -> None:
        status, answer = self.api.call("PATCH", path, body,
                                       "application/merge-patch+json")
        if status not in (200, 404, 409):
            raise RuntimeError(f"PATCH {path}: {answer.get('message')}")

    def delete(self, path: str, now: bool = False) -> None:
        status, answer = self.api.call(
            "DELETE", path + ("?gracePeriodSeconds=0" if now else ""))
        if status not in (200, 202, 404, 409):
            raise RuntimeError(f"DELETE {path}: {answer.get('message')}")

    # The run.

    def step(self) -> None:
        """Does what is due, and one thing at random."""
        now = time.monotonic()
        if now >= self.next_list:
            self.refresh()
            self.next_list = now + 1
        while self.later and self.later[0][0] <= now:
            heapq.heappop(self.later)[2]()
        if now >= self.next_node:
            self.change_node()
            self.next_node = now + self.rng.uniform(0.5, 4)
        make = self.rng.choices(
            [self.plain, self.gated, self.job, self.special, self.filler,
             self.tight_job, self.impossible, self.urgent, self.lesser,
             self.volumes.step],
            [10, 2, 3 * self.groups, 5, 6, 2 * self.groups, 1,
             3 * self.preemption, 6 * self.preemption,
             30 * self.with_volumes])[0]
        for _ in range(self.rng.choice([1, 1, 1, 6])):  # sometimes a burst
            make()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        heapq.heappush(self.later, (time.monotonic() + seconds,
                                    next(self.numbers), action))

    def refresh(self) -> None:
        """Reads the pods; deletes those that failed or whose node is gone."""
        items = self.api.get(PODS)["items"]
        found = {pod["metadata"]["name"]: pod for pod in items}
        missing = {pod["metadata"]["name"]: pod for job in self.jobs.values()
                   for pod in job.missing}
        self.pods = missing | found
        groups = set()
        for name, pod in found.items():
            failed = pod["status"].get("phase") == "Failed"
            if not failed and pod["spec"].get("nodeName") not in self.gone:
                continue
            group = pod["metadata"].get("labels", {}).get(GROUP)
            if group:
                groups.add(group)
            else:
                self.delete(f"{PODS}/{name}", now=True)
        for group in groups:
            self.delete_job(group)

    def finish(self) -> None:
        """Completes the jobs that still lack members.

        Then deletes pending jobs of the tight nodes until at most
        MOST_PENDING_JOBS are left.
        """
        self.later.clear()
        self.refresh()
        for job in self.jobs.values():
            self.create_missing(job)
        pending = {pod["metadata"]["labels"].get(GROUP)
                   for pod in self.pods.values()
                   if not pod["spec"].get("nodeName")}
        # Keep the hog: of all jobs, it is the most likely to show leaked room.
        waiting = [group for pool in ("hog", "tight")
                   for group, job in self.jobs.items()
                   if job.pool == pool and group in pending]
        for group in waiting[MOST_PENDING_JOBS:]:
            self.delete_job(group)
        if self.with_volumes:
            self.volumes.finish()

    # Room.

    def has_room(self, pool: str, cpus: float, nodes: int = 0) -> bool:
        share = {"general": GENERAL_SHARE, "special": SPECIAL_SHARE,
                 "tight": TIGHT_SHARE, "volumes": VOLUMES_SHARE}[pool]
        good = nodes or SIZES[pool]
        if pool == "general" and not nodes:
            good -= len(self.closed)
        return asked(self.pods, pool) + cpus <= share * good * CPU

    # Pods.

    def pod(self, pool: str, want: str, request: int, **spec: object) -> Object:
        rng = self.rng
        prefix = AMBIGUOUS if rng.random() < 0.2 else ""
        memory = int(request * MEMORY_GI / CPU * rng.choice([0, 0.5, 1]))
        pod = {"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": f"{prefix}{pool}-{next(self.numbers)}",
                            "labels": {POOL: pool, WANT: want}},
               "spec": {"schedulerName": "minisched", "containers": [
                   {"name": "c", "image": "pause", "resources": {"requests": {
                       "cpu": f"{request}m", "memory": f"{memory}Mi"}}}],
                   **spec}}
        if pool in ("special", "tight", "volumes"):
            pod["spec"]["tolerations"] = [
                {"key": DEDICATED, "operator": "Equal", "value": pool}]
        if pool in ("tight", "volumes"):
            pod["spec"]["nodeSelector"] = {POOL: pool}
        if rng.random() < 0.3:
            pod["spec"]["priorityClassName"] = rng.choice([*PRIORITIES])
        return pod

    def create(self, pod: Object, lives: bool = True) -> None:
        name = pod["metadata"]["name"]
        self.post(PODS, pod)
        self.pods[name] = pod
        self.created += 1
        if lives:
            self.after(self.lifetime(), lambda: self.end_pod(name))

    def lifetime(self) -> float:
        now = time.monotonic()
        self.long = [end for end in self.long if end > now]
        mean = self.rng.choice(LIFETIMES)
        if len(self.long) < MOST_LONG and self.rng.random() < 0.2:
            mean = LONG_LIFE
        seconds = self.rng.expovariate(1 / mean)
        if mean == LONG_LIFE:
            self.long.append(now + seconds)
        return seconds

    def end_pod(self, name: str) -> None:
        """Completes or deletes a pod."""
        pod = self.pods.get(name)
        if not pod:
            return
        if (self.rng.random() < 0.3 and
                pod.get("status", {}).get("phase") == "Running"):
            self.patch(f"{PODS}/{name}/status",
                       {"status": {"phase": "Succeeded"}})
            self.after(5, lambda: self.delete(f"{PODS}/{name}"))
        else:
            self.delete(f"{PODS}/{name}", now=self.rng.random() < 0.5)

    def plain(self) -> None:
        request = self.rng.choice(REQUESTS)
        if not self.has_room("general", request / 1000):
            return
        pod = self.pod("general", "must", request)
        if self.rng.random() < 0.3:
            pod["spec"]["affinity"] = {"nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 10, "preference": {"matchExpressions": [
                        {"key": "soak/flip", "operator": "In",
                         "values": [str(self.rng.randrange(3))]}]}}]}}
        self.create(pod)

    def gated(self) -> None:
        request = self.rng.choice(REQUESTS)
        if not self.has_room("general", request / 1000):
            return
        pod = self.pod("general", "must", request,
                       schedulingGates=[{"name": "soak/gate"}])
        self.create(pod)
        path = f"{PODS}/{pod['metadata']['name']}"
        self.after(self.rng.uniform(1, 15), lambda: self.patch(
            path, {"spec": {"schedulingGates": None}}))

    def special(self) -> None:
        """Creates a pod that only the special nodes fit."""
        if not self.has_room("special", 0.25):
            return
        kind = self.rng.choice(["selector", "affinity", "port"])
        pod = self.pod("special", "must", 250)
        if kind == "affinity":
            pod["spec"]["affinity"] = {"nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [
                        {"key": POOL, "operator": "In",
                         "values": ["special", "other"]}]}]}}}
        else:
            pod["spec"]["nodeSelector"] = {POOL: "special"}
        if kind == "port":
            port = self.rng.choice(PORTS)
            used = sum("ports" in other["spec"]["containers"][0] and
                       other["spec"]["containers"][0]["ports"][0]["hostPort"]
                       == port for other in self.pods.values())
            if used >= SIZES["special"]:
                return
            pod["spec"]["containers"][0]["ports"] = [
                {"containerPort": port, "hostPort": port}]
        self.create(pod)

    def filler(self) -> None:
        request = self.rng.choice(REQUESTS)
        if self.has_room("tight", request / 1000):
            self.create(self.pod("tight", "maybe", request))

    def urgent(self) -> None:
        """Creates a pod that may have to evict others of the tight nodes."""
        self.tight_pod(URGENT, URGENT_SHARE)

    def lesser(self) -> None:
        """Creates a pod of the tight nodes that urgent pods may evict."""
        self.tight_pod(LESSER, LESSER_SHARE)

    def tight_pod(self, priority: str, share: float) -> None:
        request = self.rng.choice(REQUESTS)
        same = {name: pod for name, pod in self.pods.items()
                if pod["spec"].get("priorityClassName") == priority}
        if (asked(same, "tight") + request / 1000 <=
                share * SIZES["tight"] * CPU):
            pod = self.pod("tight", "maybe", request)
            pod["spec"]["priorityClassName"] = priority
            self.create(pod)

    def impossible(self) -> None:
        if sum(pod["metadata"]["labels"].get(WANT) == "never"
               for pod in self.pods.values()) > 12:
            return
        kind = self.rng.choice(["selector", "size", "taint"] +
                               ["job"] * self.groups)
        if kind == "job":
            self.create_job("none", "never", 250, 4, 3)
            return
        pod = self.pod("none", "never", 64000 if kind == "size" else 250)
        if kind != "size":
            pod["spec"]["nodeSelector"] = {
                POOL: "nowhere" if kind == "selector" else "special"}
        self.create(pod)

    # Jobs.

    def job(self) -> None:
        request, minimum = self.rng.choice(REQUESTS[:3]), self.rng.randint(2, 5)
        count = minimum + self.rng.choice([0, 0, 1])
        if self.has_room("general", count * request / 1000):
            self.create_job("general", "must", request, minimum, count,
                            late=self.rng.random() < 0.3)

    def tight_job(self) -> None:
        """Creates a job that may have no room, or one that never has."""
        if self.rng.random() < 0.3:
            if not any(job.pool == "hog" for job in self.jobs.values()):
                most = SIZES["tight"] * CPU // 2
                self.create_job("tight", "never", 2000, most + 1, most + 1)
                self.jobs[next(reversed(self.jobs))].pool = "hog"
            return
        minimum = self.rng.randint(2, 4)
        if self.has_room("tight", 2 * minimum):
            self.create_job("tight", "maybe", 2000, minimum, minimum)

    def create_job(self, pool: str, want: str, request: int, minimum: int,
                   count: int, late: bool = False) -> None:
        group = f"job-{next(self.numbers)}"
        members = []
        for _ in range(count):
            pod = self.pod(pool, want, request)
            # All members must have the same priority.
            pod["spec"].pop("priorityClassName", None)
            pod["metadata"]["labels"] |= {GROUP: group,
                                          MIN_AVAILABLE: str(minimum)}
            members.append(pod)
        keep = max(1, minimum - 1) if late else count
        job = self.jobs[group] = Job(members[keep:], pool)
        # What comes later counts from now on.
        self.pods |= {pod["metadata"]["name"]: pod for pod in job.missing}
        for pod in members[:keep]:
            self.create(pod, lives=False)
        if late:
            self.after(self.rng.uniform(1, 15),
                       lambda: self.create_missing(job))
        self.after(5 + self.lifetime(), lambda: self.delete_job(group))

    def create_missing(self, job: Job) -> None:
        while job.missing:
            self.create(job.missing.pop(), lives=False)

    def delete_job(self, group: str) -> None:
        job = self.jobs.pop(group, None)
        if job:
            job.missing.clear()
        for name, pod in list(self.pods.items()):
            if pod["metadata"]["labels"].get(GROUP) == group:
                self.delete(f"{PODS}/{name}", now=True)

    # Nodes.

    def change_node(self) -> None:
        """Changes a general node if enough others are left."""
        name = f"general-{self.rng.randrange(SIZES['general'])}"
        if name in self.closed:
            return
        self.changes += 1
        kind = self.rng.choice(["cordon", "taint", "delete", "label"])
        if kind == "label":
            self.patch(f"{NODES}/{name}", {"metadata": {"labels": {
                "soak/flip": str(self.rng.randrange(3))}}})
            return
        left = SIZES["general"] - len(self.closed) - 1
        if left < 5 or not self.has_room("general", 0, nodes=left):
            return
        self.close(name, "general", kind, self.closed)

    def close(self, name: str, pool: str, kind: str, closed: set[str]) -> None:
        """Cordons, taints or deletes a node, and undoes it later."""
        closed.add(name)
        back = self.rng.choice([self.rng.uniform(1, 20),
                                self.rng.uniform(15, 60)])
        path = f"{NODES}/{name}"
        if kind == "delete":
            self.gone.add(name)
            self.delete(path)
            self.refresh()
            self.after(back, lambda: self.create_again(name, pool, closed))
            return
        change, undo = {
            "cordon": ({"unschedulable": True}, {"unschedulable": None}),
            "taint": ({"taints": [{"key": "soak/closed", "value": "yes",
                                   "effect": "NoSchedule"}]},
                      {"taints": None})}[kind]
        self.patch(path, {"spec": change})
        self.after(back, lambda: self.reopen(name, undo, closed))

    def reopen(self, name: str, undo: Object, closed: set[str]) -> None:
        self.patch(f"{NODES}/{name}", {"spec": undo})
        closed.discard(name)

    def create_again(self, name: str, pool: str, closed: set[str]) -> None:
        self.refresh()  # deletes pods that were bound to it meanwhile
        self.create_node(name, pool)
        self.gone.discard(name)
        closed.discard(name)
