"""The rules of scripts/soak about claims and volumes.

A part of soak_model. docs/maintaining/soak.md explains the rules.
"""

import typing

from soak_api import (CLAIMS, EVICTS, LATE, LATE_PROVISION, LIMITED,
                      PROVISION, PROVISIONED, WAITING, Object, milli)
from soak_objects import ZONE, Claim, Node, Pod, Volume, claim_of, volume_of

if typing.TYPE_CHECKING:
    from soak_model import Model

ONCE_POD = "ReadWriteOncePod"
# Classes whose volumes a scheduler chooses or has made.
BY_SCHEDULER = (WAITING, PROVISIONED, LIMITED)


class Volumes:
    """Judges which volumes claims get, and where their pods are bound.

    `reaction`, `patience` and `limit` are the times in seconds in which a
    scheduler acts on a change, until the request of a decision takes effect,
    and in which a pod whose claims can be bound must be bound.
    """

    def __init__(self, model: "Model", reaction: float, patience: float,
                 limit: float):
        self.model = model
        self.reaction, self.patience = reaction, patience
        self.limit = limit
        self.claims: dict[str, Claim] = {}  # by name
        self.volumes: dict[str, Volume] = {}  # by name
        # When a bound claim, by name, was deleted or lost its volume.
        self.broken: dict[str, float] = {}
        # Pods, by uid, and since when they could have been bound.
        self.bindable: dict[str, float] = {}
        # The storage of the class LIMITED that is left in each zone, and since
        # when.
        self.capacities: dict[str, tuple[int, float]] = {}
        self.late: set[str] = set()  # pods and claims that have been reported

    # Events.

    def claim_event(self, kind: str, item: Object, now: float) -> None:
        claim = claim_of(item)
        old = self.claims.get(claim.name)
        if old and old.uid == claim.uid:
            claim.events = old.events
        claim.events.append(
            f"{kind} rv={item['metadata']['resourceVersion']}"
            f" uid={claim.uid} volume={claim.volume or '-'}"
            f" selected={claim.selected or '-'}"
            f" {'bound' if claim.bound else 'not bound'}")
        if kind == "DELETED":
            self.claims.pop(claim.name, None)
        else:
            self.claims[claim.name] = claim
        if old and old.bound and (kind == "DELETED" or not claim.bound):
            self.broken[claim.name] = now
        claim.selected_since = now
        if old and (old.uid, old.selected) == (claim.uid, claim.selected):
            claim.selected_since = old.selected_since
        elif claim.selected and kind == "MODIFIED":
            self.check_selection(claim, now)
        if kind == "DELETED" or not claim.volume or (
                old and old.volume == claim.volume):
            return
        self.model.counts["claims"] += 1
        for other in self.claims.values():
            if other.uid != claim.uid and other.volume == claim.volume:
                self.model.report(
                    f"volume {claim.volume} has two claims",
                    [other.name, claim.name], [*other.events, *claim.events])

    def claim_list(self, items: list[Object], now: float) -> None:
        """Applies the state after a gap, in which events were lost."""
        listed = {item["metadata"]["uid"] for item in items}
        for claim in list(self.claims.values()):
            if claim.uid not in listed:
                del self.claims[claim.name]
        for name in self.claims.keys() | self.broken.keys():
            self.broken[name] = now
        for item in items:
            self.claim_event("LISTED", item, now)

    def volume_event(self, kind: str, item: Object, now: float) -> None:
        volume = volume_of(item)
        old = self.volumes.get(volume.name)
        if old and old.uid == volume.uid:
            volume.events = old.events
        volume.events.append(
            f"{kind} rv={item['metadata']['resourceVersion']}"
            f" claim={volume.claim or '-'} {volume.claim_uid}"
            f" phase={item.get('status', {}).get('phase', '-')}")
        if kind == "DELETED":
            self.volumes.pop(volume.name, None)
            for claim in self.claims.values():
                if claim.volume == volume.name:
                    self.broken[claim.name] = now
            return
        self.volumes[volume.name] = volume
        if kind == "LISTED" or not old or old.uid != volume.uid:
            return
        if not old.claim and volume.claim:
            self.check_choice(volume, now)
        # The controller adds the uid to a reference that lacks one.
        if old.claim and volume.claim and (
                old.claim != volume.claim or
                old.claim_uid not in ("", volume.claim_uid)):
            self.model.report(
                f"given from claim {old.claim} to {volume.claim} without having"
                " been released", [volume.name], volume.events)

    def volume_list(self, items: list[Object], now: float) -> None:
        """Applies the state after a gap, in which events were lost."""
        listed = {item["metadata"]["name"] for item in items}
        for name in self.volumes.keys() - listed:
            del self.volumes[name]
        for item in items:
            self.volume_event("LISTED", item, now)

    def capacity_event(self, kind: str, item: Object, now: float) -> None:
        zone = item["nodeTopology"]["matchLabels"][ZONE]
        size = milli(item["capacity"]) if kind != "DELETED" else 0
        old, since = self.capacities.get(zone, (-1, now))
        self.capacities[zone] = size, since if size == old else now

    def capacity_list(self, items: list[Object], now: float) -> None:
        """Applies the state after a gap, in which events were lost."""
        self.capacities.clear()
        for item in items:
            self.capacity_event("LISTED", item, now)

    # Rules that a choice and a Binding must obey.

    def check_choice(self, volume: Volume, now: float) -> None:
        """Reports a claim that a scheduler has pointed to a closed node."""
        if volume.storage_class not in BY_SCHEDULER:
            return  # the volume controller has chosen the volume
        self.model.counts["choices"] += 1
        nodes = [node for node in self.model.nodes.values()
                 if volume.is_reachable(node)]
        since = max((node.closed_since(now) for node in nodes),
                    default=self.model.started)
        # The decision may be older than what has closed the node.
        if now - since > self.patience and self.model.seen(since, now):
            self.model.report(
                f"given to claim {volume.claim}, but no node that reaches the "
                f"volume was open for {now - since:.1f} s", [volume.name],
                [*volume.events, *(event for node in nodes
                                   for event in node.events)])

    def check_selection(self, claim: Claim, now: float) -> None:
        """Reports a new volume for a closed node, or without storage."""
        self.model.counts["selections"] += 1
        node = self.model.nodes.get(claim.selected)
        since = node.closed_since(now) if node else self.model.started
        if now - since > self.patience and self.model.seen(since, now):
            self.model.report(
                f"gets a volume for node {claim.selected}, which was not open "
                f"for {now - since:.1f} s", [claim.name],
                [*claim.events, *(node.events if node else ())])
        if not node or claim.storage_class != LIMITED:
            return
        left, since = self.capacities.get(node.labels.get(ZONE, ""), (0, now))
        if (left < claim.size and now - since > self.patience and
                self.model.seen(since, now)):
            self.model.report(
                f"gets a volume for node {claim.selected}, which had too little"
                f" storage for {now - since:.1f} s", [claim.name],
                claim.events)

    def check_conflict(self, pod: Pod, now: float) -> None:
        """Reports a pod whose volume has been given to another claim."""
        quiet_from = self.model.quiet_from
        if quiet_from is None or now - quiet_from <= self.patience:
            return  # the scheduler may not know who has the volume
        volume = self.volumes.get(pod.conflict)
        # If several pods have the claim, one that fails gives back the volume
        # that another has reserved, as in kube-scheduler.
        users = [user for user in self.model.pods.values()
                 if volume and volume.claim in user.claims]
        if (volume and volume.chosen and volume.claim not in pod.claims and
                len(users) < 2 and volume.storage_class in BY_SCHEDULER):
            self.model.report(
                f"failed, because claim {volume.claim} got its volume "
                f"{volume.name}", [pod.name], [*pod.events, *volume.events])

    def pod_bound(self, pod: Pod, now: float, gap: bool) -> None:
        """Checks the claims of a pod that has been bound, in a gap or now."""
        for name in pod.claims:
            claim = self.claims.get(name)
            if claim and ONCE_POD in claim.modes:
                self.check_users(pod, claim, now)
            if gap:
                continue  # its claims may have changed since
            volume = self.volumes.get(claim.volume) if claim else None
            if not claim or not claim.bound or not volume:
                # The claim may have been bound until just now.
                since = self.broken.get(name)
                if since is None or self.model.seen(since, now):
                    self.report_pod("bound although its claim is not bound",
                                    pod, claim)
                continue
            node = self.model.nodes.get(pod.node)
            if node and not volume.is_reachable(node):
                self.report_pod(
                    f"bound to {pod.node}, from which volume {volume.name} "
                    "can't be reached", pod, claim)

    def check_users(self, pod: Pod, claim: Claim, now: float) -> None:
        """Reports other pods that use a claim for one pod."""
        for other in self.users(claim.name):
            if other.uid == pod.uid:
                continue
            if self.model.may_be_unknown(other, pod, now):
                self.model.excuse(f"{claim.name}: {pod.name} was bound although"
                                  f" {other.name} had been")
                continue
            self.report_pod(f"bound although {other.name} on {other.node} uses "
                            f"claim {claim.name}", pod, claim)
        for waiting in self.model.pods.values():
            if claim.name in waiting.claims:
                self.bindable.pop(waiting.uid, None)

    def users(self, claim: str) -> list[Pod]:
        """Returns the pods on nodes, without those on nodes that are gone."""
        pods = [pod for pod in self.model.pods.values()
                if claim in pod.claims and pod.holds_room]
        return [pod for pod in pods if pod.node in self.model.nodes and
                "gone" not in self.model.nodes[pod.node].closed]

    def report_pod(self, what: str, pod: Pod, claim: Claim | None) -> None:
        self.model.report(what, [pod.name, *pod.claims],
                          [*pod.events, *(claim.events if claim else ())])

    # Pods that aren't bound.

    def check_pending(self, now: float) -> None:
        """Reports pods that should have been bound long ago."""
        ready = {pod.uid: pod for pod in self.model.pending(CLAIMS)
                 if self.can_be_bound(pod)}
        self.bindable = {uid: self.bindable.get(uid, now) for uid in ready}
        quiet_from = self.model.quiet_from
        if quiet_from is None:
            return
        for uid, since in self.bindable.items():
            # From this time on, no request that met a fault is under way.
            start = max(since, quiet_from + self.patience)
            if (uid in self.late or not self.model.seen(start, now) or
                    now - start <= self.limit):
                continue
            self.late.add(uid)
            pod = ready[uid]
            self.model.report(
                f"not bound for {now - since:.0f} s although its claims could "
                "be bound", [pod.name, *pod.claims],
                [*pod.events, *(event for name in pod.claims
                                for event in self.claims[name].events)])

    def check_selected(self, now: float) -> None:
        """Reports claims that still wait for a volume on a node that is gone.
        """
        quiet_from = self.model.quiet_from
        if quiet_from is None or now - quiet_from <= self.reaction:
            return
        for claim in self.claims.values():
            node = self.model.nodes.get(claim.selected)
            if (not node or "gone" not in node.closed or claim.volume or
                    not claim.usable or claim.uid in self.late):
                continue
            # The provisioner finds out when its work is done.
            late = claim.name.startswith(LATE)
            since = max(node.closed["gone"], claim.selected_since)
            if now - since > self.reaction + (LATE_PROVISION if late
                                              else PROVISION):
                self.late.add(claim.uid)
                self.model.report(
                    f"waits for a volume on node {claim.selected}, which is "
                    f"gone, for {now - since:.0f} s", [claim.name],
                    [*claim.events, *node.events])

    def can_be_bound(self, pod: Pod) -> bool:
        # A pod of higher priority may be about to get any node.
        if any(other.priority > pod.priority
               for other in self.model.pending(EVICTS)):
            return False
        claims = [self.claims.get(name) for name in pod.claims]
        if not all(claim and claim.usable for claim in claims):
            return False
        if any(ONCE_POD in claim.modes and self.users(claim.name)
               for claim in claims):
            return False
        return any(self.has_room(pod, name, node) and
                   self.has_volumes(claims, node)
                   for name, node in self.model.nodes.items())

    def has_room(self, pod: Pod, name: str, node: Node) -> bool:
        """True if the node has room, without that of pods in PreBind."""
        return self.model.may_run(pod, node) and not self.model.excess(
            node, [*self.model.pods_on(name),
                   *self.model.nominated_to(name, pod), pod])

    def has_volumes(self, claims: list[Claim], node: Node) -> bool:
        """True if the node reaches the claims' volumes, or free ones."""
        free = [volume for volume in self.volumes.values()
                if volume.free and volume.is_reachable(node)]
        free.sort(key=lambda volume: volume.size)
        for claim in sorted(claims, key=lambda claim: claim.size):
            if claim.bound:
                own = [self.volumes.get(claim.volume)]
            elif (claim.volume or claim.selected or
                  claim.storage_class not in BY_SCHEDULER):
                return False  # the volume controller binds the claim
            elif (claim.storage_class == PROVISIONED or
                  claim.storage_class == LIMITED and claim.size <=
                  self.capacities.get(node.labels[ZONE], (0, 0))[0]):
                continue  # a volume can be made
            else:
                own = [volume for volume in self.volumes.values()
                       if volume.is_for(claim)]
            own = own or [v for v in free if v.suits(claim)][:1]
            if not own or not all(v and v.is_reachable(node) for v in own):
                return False
            free = [volume for volume in free if volume not in own]
        return True
