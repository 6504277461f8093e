"""The faults of scripts/soak: what the embedded API server does wrong."""

import random

from soak_api import AMBIGUOUS, LATE, LATE_PROVISION, PROVISION, Api, Object

# The longest latency of a fault, in seconds. The latencies of several faults
# add up. After a kill, the scheduler is started only when the server has
# handled the requests of the dead process.
LONGEST_LATENCY = 0.8
LATEST_CLAIM = 4  # seconds until the volume controller binds a claim
MOST_FAULTS = 3  # of requests other than those for volumes
WATCHED_VOLUMES = ("persistentvolumes", "persistentvolumeclaims")
WATCHED_STORAGE = (*WATCHED_VOLUMES, "csistoragecapacities")


def millis(rng: random.Random, low: int, high: int) -> str:
    return f"{rng.randint(low, high)}ms"


def binding_fault(rng: random.Random) -> Object:
    """Only Bindings of AMBIGUOUS pods take effect without a good response."""
    after = rng.choice([
        {"error": {"code": 500, "after": True}},
        {"drop": "after"}, {"hang": "after", "times": 2}])
    if rng.random() < 0.4:
        return {"match": {"resource": "pods/binding", "verbs": ["create"],
                          "name": f"{AMBIGUOUS}*"}, "probability": 0.5, **after}
    fault = rng.choice([
        {"error": {"code": 500}}, {"error": {"code": 503}},
        {"error": {"code": 429, "retryAfterSeconds": 1}},
        {"error": {"code": 409}}, {"drop": "before"},
        {"hang": "before", "times": 2},
        {"latency": millis(rng, 20, int(1000 * LONGEST_LATENCY))}])
    return {"match": {"resource": "pods/binding", "verbs": ["create"]},
            "probability": rng.choice([0.1, 0.3, 0.6, 0.9]), **fault}


def report_fault(rng: random.Random) -> Object:
    """Hits the conditions and events that the scheduler writes."""
    fault = rng.choice([
        {"error": {"code": 500}}, {"drop": "after"}, {"drop": "before"},
        {"latency": millis(rng, 50, 800)}, {"hang": "before", "times": 1}])
    resource, verb = rng.choice([("pods/status", "patch"),
                                 ("events", "create")])
    return {"match": {"resource": resource, "verbs": [verb]},
            "probability": 0.3, **fault}


def eviction_fault(rng: random.Random) -> Object:
    """Hits the requests that remove a victim."""
    fault = rng.choice([
        {"error": {"code": 500}}, {"error": {"code": 503}},
        {"error": {"code": 429, "retryAfterSeconds": 1}},
        {"error": {"code": 409}}, {"drop": "after"}, {"drop": "before"},
        {"latency": millis(rng, 50, 800)}, {"hang": "before", "times": 1}])
    return {"match": {"resource": "pods", "verbs": ["delete"]},
            "probability": rng.choice([0.3, 0.6]), **fault}


def volume_fault(rng: random.Random,
                 resource: str = "persistentvolumes") -> Object:
    """Hits the requests that give a volume to a claim, or have one made."""
    fault = rng.choice([
        {"error": {"code": 409}}, {"error": {"code": 500}},
        {"error": {"code": 500, "after": True}},
        {"error": {"code": 429, "retryAfterSeconds": 1}},
        {"drop": "after"}, {"drop": "before"},
        {"hang": "after", "times": 2}, {"hang": "before", "times": 2},
        {"latency": millis(rng, 50, int(1000 * LONGEST_LATENCY))}])
    return {"match": {"resource": resource, "verbs": ["patch"]},
            "probability": rng.choice([0.3, 0.6, 0.9]), **fault}


def late_claim(rng: random.Random) -> Object:
    """Lets the volume controller bind claims late."""
    return {"match": {"verbs": ["bind"]}, "probability": rng.choice([0, 0.6]),
            "latency": millis(rng, 500, 1000 * LATEST_CLAIM)}


def provisioner(rng: random.Random) -> list[Object]:
    """Lets the provisioner make volumes late, or fail."""
    late = LATE_PROVISION - PROVISION
    return [{"match": {"verbs": ["provision"], "name": f"{LATE}*"},
             "latency": millis(rng, 500 * late, 1000 * late)},
            {"match": {"verbs": ["provision"]}, "probability": 0.5,
             "latency": millis(rng, 100, 1000 * PROVISION)},
            {"match": {"verbs": ["provision"]}, "probability": 0.4,
             "error": {"code": 500, "message": "no space left"}}]


def watch_fault(rng: random.Random, more: tuple[str, ...] = ()) -> Object:
    resource = rng.choice(["pods", "nodes", *more])
    if rng.random() < 0.3:
        fault = rng.choice([{"error": {"code": 500}}, {"drop": "before"},
                            {"error": {"code": 410}}])
        return {"match": {"resource": resource, "verbs": ["list", "watch"]},
                "times": 2, **fault}
    watch = {}
    if rng.random() < 0.6:
        watch["delay"] = millis(rng, 50, 1000)
    if not watch or rng.random() < 0.5:
        watch["cut"] = millis(rng, 500, 4000)
    return {"match": {"resource": resource}, "watch": watch}


class Faults:
    """Sets the faults of the embedded server, and counts what they hit."""

    def __init__(self, api: Api, rng: random.Random, scheduler: str,
                 volumes: bool = False, provisioning: bool = False):
        self.api, self.rng, self.volumes = api, rng, volumes
        self.provisioning = provisioning
        self.scheduler = scheduler  # a glob for its User-Agent
        self.applied = 0
        self.compactions = 0

    def change(self, watches: bool) -> bool:
        """Replaces the faults by one to three new ones, and those for volumes.

        Returns true if Bindings of AMBIGUOUS pods may lose their responses.
        """
        kinds = [binding_fault, report_fault, eviction_fault]
        if watches:
            kinds += [self.watch_fault, self.watch_fault]
        faults = [binding_fault(self.rng)]
        if self.volumes:
            faults += [volume_fault(self.rng), late_claim(self.rng)]
        if self.provisioning:
            faults.append(volume_fault(self.rng, "persistentvolumeclaims"))
        faults += [self.rng.choice(kinds)(self.rng)
                   for _ in range(self.rng.randrange(MOST_FAULTS))]
        for fault in faults:
            fault["match"]["userAgent"] = self.scheduler
        self.set(faults)
        if watches and self.rng.random() < 0.3:
            self.api.call("POST", "/minisched/compact")
            self.compactions += 1
        return any("name" in fault["match"] for fault in faults)

    def watch_fault(self, rng: random.Random) -> Object:
        return watch_fault(rng, WATCHED_STORAGE if self.provisioning else
                           WATCHED_VOLUMES if self.volumes else ())

    def clear(self) -> None:
        self.set([])

    def set(self, faults: list[Object]) -> None:
        """Sets the faults, and those of the provisioner, which never rests."""
        self.count()
        if self.provisioning:
            faults = faults + provisioner(self.rng)
        status, answer = self.api.call("PUT", "/minisched/faults",
                                       {"seed": self.rng.randrange(1 << 30),
                                        "faults": faults}, "application/yaml")
        if status != 200:
            raise RuntimeError(f"faults refused: {answer.get('message')}")

    def count(self) -> None:
        old = self.api.get("/minisched/faults")
        self.applied += sum(fault["applied"] for fault in old["faults"])
