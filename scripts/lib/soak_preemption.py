"""The rules of scripts/soak about evictions and nominations.

A part of soak_model. docs/maintaining/soak.md explains the rules.
"""

import typing

from soak_api import EVICTS, Object
from soak_objects import Node, Pod

if typing.TYPE_CHECKING:
    from soak_model import Model


class Preemptions:
    """Judges what a scheduler evicts, and which nominations it leaves.

    A victim is a pod with the condition DisruptionTarget that the scheduler has
    set. `patience` is the longest time in seconds from a decision of the
    scheduler until its request takes effect, `recovery` the time in which an
    eviction must have begun without new faults, and `limit` the time in which
    an urgent pod must be nominated to the node of its victims, and in which it
    must then be bound.
    """

    def __init__(self, model: "Model", patience: float, recovery: float,
                 limit: float):
        self.model = model
        self.patience, self.recovery = patience, recovery
        self.limit = limit
        # The victims that aren't being deleted yet, and since when.
        self.waiting: dict[str, float] = {}
        self.priorities: dict[str, int] = {}  # of all pods there ever were
        # Pods that were pending, and until when.
        self.were_pending: dict[str, tuple[Pod, float]] = {}
        # Pods, by uid, that could get the place of others: since when, and the
        # nominated node.
        self.ready: dict[str, tuple[float, str]] = {}
        self.late: set[str] = set()  # pods that have been reported

    def pod_event(self, kind: str, old: Pod | None, pod: Pod, now: float,
                  gap: bool) -> None:
        gone = kind == "DELETED"
        self.priorities[pod.uid] = pod.priority
        if old and not old.node and (pod.node or gone):
            self.were_pending[pod.uid] = (old, now)
        if pod.victim and not (old and old.victim):
            self.model.counts["victims"] += 1
            self.waiting[pod.uid] = now
            if not gap:
                self.check_victim(pod, now)
        if (gone or pod.leaving) and self.waiting.pop(pod.uid, None):
            self.model.counts["evictions"] += 1
        if pod.node and pod.nominated and not gone:
            self.model.report(f"bound to {pod.node}, but still nominated to "
                              f"{pod.nominated}", [pod.name], pod.events)

    def preempted(self, kind: str, event: Object) -> None:
        """Reports a preemptor whose priority is too low."""
        victim, preemptor = event["regarding"], event["related"]
        if (kind != "ADDED" or victim["uid"] not in self.priorities or
                preemptor["uid"] not in self.priorities):
            return
        if "in kube-scheduler memory" in event["note"]:
            self.model.counts["cancelled"] += 1
        low, high = (self.priorities[pod["uid"]] for pod in (victim, preemptor))
        if low >= high:
            self.model.report(
                f"evicted with the priority {low} for {preemptor['name']} with"
                f" the priority {high}", [victim["name"]], [event["note"]])

    def pod_lost(self, pod: Pod) -> None:
        """Notes that a pod was deleted in a gap of the watch."""
        self.waiting.pop(pod.uid, None)

    def check_victim(self, victim: Pod, now: float) -> None:
        """Reports a victim that no preemptor can have needed."""
        if not self.model.seen(self.model.started, now):
            return  # the preemptor may have been gone for long
        self.were_pending = {
            uid: (pod, until) for uid, (pod, until) in self.were_pending.items()
            if now - until <= self.patience}
        pods = [pod for pod, _ in self.were_pending.values()]
        pods += [pod for pod in self.model.pods.values() if not pod.node]
        higher = [pod for pod in pods if pod.priority > victim.priority and
                  not pod.gated]
        if not higher:
            self.model.report(
                f"evicted from {victim.node}, but no pending pod has a higher"
                f" priority than {victim.priority}", [victim.name],
                victim.events)
            return
        quiet_from = self.model.quiet_from
        if quiet_from is None or now - quiet_from <= self.patience:
            return  # the node may have changed since the decision
        if not any(self.helps(pod, victim.node, now) for pod in higher):
            self.model.report(
                f"evicted from {victim.node}, but no pending pod of a higher"
                " priority would fit the node", [victim.name],
                [*victim.events, *(f"{pod.name}: {event}" for pod in higher
                                   for event in pod.events)])

    def helps(self, preemptor: Pod, name: str, now: float) -> bool:
        """True if the pod fits the node once all lesser pods are gone.

        Pods that were bound just now don't count: the decision may be older.
        """
        node = self.model.nodes.get(name)
        if not node:
            return True  # the node has been deleted meanwhile
        stay = [pod for pod in self.model.pods.values()
                if pod.node == name and pod.holds_room and
                pod.priority >= preemptor.priority and
                (pod.bound_at is None or now - pod.bound_at > self.patience)]
        return not self.model.excess(node, [*stay, preemptor])

    def check_evictions(self, now: float) -> None:
        """Reports victims that should have been deleted long ago."""
        quiet_from = self.model.quiet_from
        for uid, since in list(self.waiting.items()):
            if (quiet_from is None or since < quiet_from or
                    now - since <= self.recovery):
                continue
            del self.waiting[uid]
            pod = self.model.pods[uid]
            self.model.report(f"has been a victim for {now - since:.0f} s, but"
                              " is not being deleted", [pod.name], pod.events)

    def check_pending(self, now: float) -> None:
        """Reports urgent pods that should have got the place of others."""
        pods = {pod.uid: pod for pod in self.model.pending(EVICTS)
                if any(self.may_get(pod, name, node)
                       for name, node in self.model.nodes.items())}
        self.ready = {uid: (self.ready_since(pod, now), pod.nominated)
                      for uid, pod in pods.items()}
        quiet_from = self.model.quiet_from
        if quiet_from is None:
            return
        for uid, (since, _) in self.ready.items():
            # From this time on, no request that met a fault is under way.
            start = max(since, quiet_from + self.patience)
            if (uid in self.late or not self.model.seen(start, now) or
                    now - start <= self.limit):
                continue
            self.late.add(uid)
            pod = pods[uid]
            self.model.report(
                f"not bound for {now - since:.0f} s although it could get the "
                "place of others", [pod.name], pod.events)

    def ready_since(self, pod: Pod, now: float) -> float:
        since, nominated = self.ready.get(pod.uid, (now, ""))
        if pod.nominated not in ("", nominated):
            return now  # its victims have just been chosen
        # If its node has just been closed, it has to begin again.
        node = self.model.nodes.get(pod.nominated)
        if node and not self.may_get(pod, pod.nominated, node):
            return now
        return since

    def may_get(self, pod: Pod, name: str, node: Node) -> bool:
        """True if the pod fits the node once all lesser pods are gone."""
        others = self.model.pods_on(name) + self.model.nominated_to(name, pod)
        return self.model.may_run(pod, node) and not self.model.excess(
            node, [pod, *(other for other in others
                          if other.priority >= pod.priority)])
