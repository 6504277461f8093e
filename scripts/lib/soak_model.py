"""What the checker of scripts/soak believes about the cluster, and its rules.

Fed with the events of watches, in their order. Does no I/O and reads no clock.
docs/maintaining/soak.md explains the rules and derives the bounds.
"""

import collections

from soak_api import AMBIGUOUS, Object
from soak_objects import (RESOURCES, Group, Node, Pod, node_of, pod_of,
                          tolerates)
from soak_preemption import Preemptions
from soak_volumes import Volumes

# Seconds in which a scheduler whose watches work acts on a change. Its watch,
# a scheduling cycle, and a Binding with the longest injected latency.
REACTION = 10
# Seconds until the watches of a scheduler work again after the last fault: the
# longest backoff of a reflector, with jitter.
WATCH_RECOVERY = 60
# Seconds from a failed attempt until the next one.
BACKOFF = 11
# Seconds in which a pod that has room must be bound without new faults, also if
# it is in a group: the longest request, the backoff of a pod, the wait and the
# backoff of the group, and REACTION.
RECOVERY = 30 + BACKOFF + 10 + 15 + REACTION
# Seconds from a decision until its request takes effect: the longest request.
PATIENCE = 30 + REACTION
# Seconds that a pod may be pending although it fits a node. A group holds the
# room for at most its wait, then the pod's own backoff follows. At the end, two
# groups may take turns, so the bound is three times this sum.
FIT_PATIENCE = 3 * (10 + BACKOFF + 4)


class Model:
    """Applies events, and calls report(what, objects, events) on violations.

    Calls excuse(what) for room that was used twice after a lost answer.
    """

    def __init__(self, report, excuse, now: float):
        self.report, self.excuse = report, excuse
        self.started = now
        self.pods: dict[str, Pod] = {}
        self.nodes: dict[str, Node] = {}
        self.groups: dict[str, Group] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        # Since when the scheduler's view is at most REACTION seconds old, and
        # since when nothing is injected or killed. None: not now.
        self.fresh_from: float | None = now
        self.quiet_from: float | None = now
        # When answers to Bindings may have been lost: of AMBIGUOUS pods, by
        # faults, and of all pods, because the server was killed.
        self.lost: list[tuple[float, bool]] = []
        self.losing = False
        self.fits_since: dict[str, float] = {}
        self.late: set[str] = set()  # pods that have been reported
        self.preemptions = Preemptions(self, PATIENCE, RECOVERY,
                                       BACKOFF + REACTION)
        self.volumes = Volumes(self, REACTION, PATIENCE, BACKOFF + REACTION)

    # What the test does to the scheduler.

    def faults(self, active: bool, watches: bool, losing: bool,
               now: float) -> None:
        """Notes which faults are injected from now on.

        watches: in lists and watches. losing: Bindings of AMBIGUOUS pods may
        take effect without a response.
        """
        if self.losing:
            self.lost.append((now, False))
        self.losing = losing
        if watches:
            self.fresh_from = None
        elif self.fresh_from is None:
            self.fresh_from = now + WATCH_RECOVERY
        if active:
            self.quiet_from = None
        elif self.quiet_from is None:
            self.quiet_from = now

    def scheduler_started(self, now: float) -> None:
        if self.fresh_from is not None:  # it lists everything
            self.fresh_from = min(self.fresh_from, max(now, self.started))
        if self.quiet_from is not None:
            self.quiet_from = now

    def slow(self, now: float) -> None:
        """Notes that the API server has kept a client waiting until now.

        No bound holds while the server, or the machine, has no time.
        """
        self.server_killed(now)  # answers may be lost as well
        if self.quiet_from is not None:
            self.quiet_from = now
        if self.fresh_from is not None:
            self.fresh_from = max(self.fresh_from, now + WATCH_RECOVERY)

    def seen(self, since: float, now: float) -> bool:
        """True if the scheduler must have seen what is true since then."""
        return (self.fresh_from is not None and
                now - max(since, self.fresh_from) > REACTION)

    # Events.

    def pod_event(self, kind: str, item: Object, now: float,
                  gap: bool = False) -> None:
        """Applies an event; `gap`: events before this one may be missing."""
        pod = pod_of(item)
        old = self.pods.get(pod.uid)
        if old:
            pod.events, pod.bound_at = old.events, old.bound_at
            pod.ready_since = old.ready_since
        pod.events.append(
            f"{kind} rv={item['metadata']['resourceVersion']}"
            f" node={pod.node or '-'}"
            f" phase={item.get('status', {}).get('phase', '-')}"
            f"{' leaving' if pod.leaving else ''}")
        if old and old.node and pod.node != old.node:
            self.report(f"moved from {old.node} to {pod.node or 'no node'}",
                        [pod.name], pod.events)
        newly_bound = bool(pod.node) and not (old and old.node)
        if kind == "DELETED":
            self.pods.pop(pod.uid, None)
            self.fits_since.pop(pod.uid, None)
            self.late.discard(pod.uid)
        else:
            self.pods[pod.uid] = pod
        if newly_bound:
            self.counts["bound"] += 1
            pod.bound_at = now
        if not pod.gated and not pod.group and pod.ready_since is None:
            pod.ready_since = now
        self.update_group(kind, pod, now)
        self.preemptions.pod_event(kind, old, pod, now, gap)
        if pod.conflict and pod.conflict != (old.conflict if old else ""):
            self.volumes.check_conflict(pod, now)
        if newly_bound and kind != "DELETED":
            self.check_binding(pod, now, gap)
            self.volumes.pod_bound(pod, now, gap)

    def node_event(self, kind: str, item: Object, now: float) -> None:
        name = item["metadata"]["name"]
        old = self.nodes.get(name)
        node = node_of(item, kind == "DELETED", now)
        if old:
            node.events = old.events
            for reason in node.closed.keys() & old.closed.keys():
                node.closed[reason] = old.closed[reason]
        node.events.append(f"{kind} rv={item['metadata']['resourceVersion']}"
                           f" closed={sorted(map(str, node.closed)) or '-'}")
        self.nodes[name] = node

    # Rules that a Binding must obey.

    def check_binding(self, pod: Pod, now: float, gap: bool) -> None:
        if pod.gated:
            self.report("bound although gated", [pod.name], pod.events)
        if pod.want == "never":
            self.report(f"bound to {pod.node} although it fits nowhere",
                        [pod.name], pod.events)
        self.check_room(pod.node, now, pod)
        node = self.nodes.get(pod.node)
        if gap:
            return  # the pod may have been bound before the node changed
        if not node:
            if self.seen(self.started, now):
                self.report(f"bound to {pod.node}, which never existed",
                            [pod.name], pod.events)
            return
        for reason, since in node.closed.items():
            if isinstance(reason, tuple) and tolerates(pod, reason):
                continue
            if self.seen(since, now):
                what = reason if isinstance(reason, str) else "tainted"
                self.report(
                    f"bound to {pod.node}, which was {what} {now - since:.1f} s"
                    " before", [pod.name, pod.node],
                    [*pod.events, *node.events])
        if not pod.selector.items() <= node.labels.items():
            self.report(f"bound to {pod.node}, which its selector excludes",
                        [pod.name, pod.node], pod.events)

    def check_room(self, name: str, now: float, newest: Pod | None) -> None:
        """Reports if the pods of a node exceed it, or share a host port."""
        pods = [p for p in self.pods.values()
                if p.node == name and p.holds_room]
        node = self.nodes.get(name)
        wrong = self.excess(node, pods)
        if not wrong:
            return
        known = [p for p in pods if not self.may_be_unknown(p, newest, now)]
        if not self.excess(node, known):
            lost = [p.name for p in pods if p not in known]
            self.excuse(f"{name}: {wrong}; {newest.name if newest else '?'} was"
                        f" bound although {', '.join(lost)} had been")
            return
        who = [newest] if newest else pods
        self.report(f"{name}: {wrong}", [p.name for p in pods],
                    [f"{p.name}: {e}" for p in who for e in p.events])

    @staticmethod
    def excess(node: Node | None, pods: list[Pod]) -> str:
        for resource in RESOURCES if node else ():
            used = sum(pod.requests[resource] for pod in pods)
            if used > node.allocatable[resource]:
                return (f"{resource} over-allocated, {used}m of "
                        f"{node.allocatable[resource]}m")
        ports = collections.Counter(port for pod in pods for port in pod.ports)
        for port, count in ports.items():
            if count > 1:
                return f"host port {port[0]}/{port[1]} used by {count} pods"
        return ""

    def may_be_unknown(self, pod: Pod, newest: Pod | None,
                       now: float) -> bool:
        """True if the scheduler may not know that the pod has been bound.

        The response to its Binding may be lost, and the watch is late.
        """
        if pod is newest or pod.bound_at is None:
            return False
        ambiguous = pod.name.startswith(AMBIGUOUS)
        lost = ambiguous and self.losing or any(
            abs(pod.bound_at - at) < REACTION and (ambiguous or of_all)
            for at, of_all in self.lost)
        return lost and not self.seen(pod.bound_at, now)

    def server_killed(self, now: float) -> None:
        self.lost.append((now, True))

    # Groups.

    def pod_list(self, items: list[Object], now: float) -> None:
        """Applies the state after a gap, in which events were lost.

        The room that pods gave back comes first, then what was bound.
        """
        listed = {item["metadata"]["uid"] for item in items}
        for uid in self.pods.keys() - listed:
            pod = self.pods.pop(uid)
            self.fits_since.pop(uid, None)
            self.update_group("DELETED", pod, now)
            self.preemptions.pod_lost(pod)
        items.sort(key=lambda item: item["metadata"]["uid"] not in self.pods
                   or not self.pods[item["metadata"]["uid"]].node)
        for item in items:
            self.pod_event("LISTED", item, now, gap=True)
        for group in self.groups.values():
            if group.half_since is not None:
                group.half_since = now

    def update_group(self, kind: str, pod: Pod, now: float) -> None:
        if not pod.group:
            return
        group = self.groups.setdefault(pod.group,
                                       Group(pod.minimum, pod.want))
        if kind == "DELETED":
            group.members.pop(pod.uid, None)
        else:
            group.members[pod.uid] = pod
        if kind == "DELETED" or pod.leaving or pod.ended:
            group.broken = True
        if not group.members:
            del self.groups[pod.group]
            return
        if len(group.members) >= group.minimum:
            for member in group.members.values():
                member.ready_since = member.ready_since or now
        bound = sum(bool(p.node) for p in group.members.values())
        if not 0 < bound < group.minimum:
            group.half_since = None
        elif group.half_since is None:
            group.half_since = now

    def check_groups(self, now: float) -> None:
        """Reports groups that have been half started for too long."""
        for name, group in self.groups.items():
            if (group.half_since is None or group.broken or group.reported or
                    self.quiet_from is None):
                continue
            # Its start is after the last fault, so none of its Bindings fail.
            calm = (group.half_since > self.quiet_from + REACTION and
                    self.seen(self.started, now))
            limit = REACTION if calm else RECOVERY
            if now - max(group.half_since, self.quiet_from) <= limit:
                continue
            if not calm and group.want != "must":
                continue  # others may have taken the room of a failed Binding
            group.reported = True
            pods = group.members.values()
            self.report(
                f"group {name}: {sum(bool(p.node) for p in pods)} of "
                f"{group.minimum} bound for {now - group.half_since:.0f} s",
                [p.name for p in pods],
                [f"{p.name}: {e}" for p in pods for e in p.events])

    # Pods that aren't bound.

    def check_pending(self, now: float) -> None:
        """Reports pods that should have been bound long ago."""
        if self.quiet_from is None:
            return
        for pod in self.pending("must"):
            if pod.uid in self.late or pod.ready_since is None:
                continue
            start = max(pod.ready_since, self.quiet_from)
            if now - start > RECOVERY and self.seen(start, now):
                self.late.add(pod.uid)
                self.report(f"not bound for {now - pod.ready_since:.0f} s",
                            [pod.name], pod.events)

    def pending(self, want: str) -> list[Pod]:
        return [p for p in self.pods.values()
                if not p.node and not p.ended and not p.leaving and
                not p.gated and p.want == want]

    def fits(self, pod: Pod, name: str, node: Node) -> bool:
        return self.may_run(pod, node) and not self.excess(
            node, [*self.pods_on(name), pod])

    @staticmethod
    def may_run(pod: Pod, node: Node) -> bool:
        """True if the node is open for the pod, full or not."""
        return pod.selector.items() <= node.labels.items() and not any(
            isinstance(reason, str) or not tolerates(pod, reason)
            for reason in node.closed)

    def pods_on(self, name: str) -> list[Pod]:
        return [p for p in self.pods.values()
                if p.node == name and p.holds_room]

    def nominated_to(self, name: str, but: Pod) -> list[Pod]:
        """Returns other pods that a scheduler is about to bind to the node."""
        return [p for p in self.pods.values()
                if not p.node and not p.ended and p.nominated == name and
                p.uid != but.uid]

    def update_fits(self, now: float) -> list[Pod]:
        """Returns the pods that need not be bound, but fit a node."""
        fitting = [pod for pod in self.pending("maybe") if not pod.group and
                   any(self.fits(pod, *node) for node in self.nodes.items())]
        uids = {pod.uid for pod in fitting}
        self.fits_since = {uid: self.fits_since.get(uid, now) for uid in uids}
        return fitting

    def check_end(self, now: float) -> None:
        for pod in self.pending("must"):
            if pod.uid not in self.late:
                self.report("not bound in the end", [pod.name], pod.events)
        for pod in self.update_fits(now):
            if now - self.fits_since[pod.uid] > FIT_PATIENCE:
                self.report("not bound in the end although it fits a node",
                            [pod.name], pod.events)
