"""The rules of scripts/soak about claims and volumes.

A part of soak_model. docs/maintaining/soak.md explains the rules.
"""

import typing

from soak_api import CLAIMS, WAITING, Object
from soak_objects import Claim, Node, Pod, Volume, claim_of, volume_of

if typing.TYPE_CHECKING:
    from soak_model import Model

ONCE_POD = "ReadWriteOncePod"
BACKOFF = 11  # seconds until a pod is tried again after a failed attempt


class Volumes:
    """Judges which volumes claims get, and where their pods are bound.

    `reaction` and `patience` are the times in seconds in which a scheduler acts
    on a change, and until the request of a decision takes effect.
    """

    def __init__(self, model: "Model", reaction: float, patience: float):
        self.model = model
        self.reaction, self.patience = reaction, patience
        self.claims: dict[str, Claim] = {}  # by name
        self.volumes: dict[str, Volume] = {}  # by name
        # When a bound claim, by name, was deleted or lost its volume.
        self.broken: dict[str, float] = {}
        # Pods, by uid, and since when they could have been bound.
        self.bindable: dict[str, float] = {}
        self.late: set[str] = set()  # pods that have been reported

    # Events.

    def claim_event(self, kind: str, item: Object, now: float) -> None:
        claim = claim_of(item)
        old = self.claims.get(claim.name)
        if old and old.uid == claim.uid:
            claim.events = old.events
        claim.events.append(
            f"{kind} rv={item['metadata']['resourceVersion']}"
            f" uid={claim.uid} volume={claim.volume or '-'}"
            f" {'bound' if claim.bound else 'not bound'}")
        if kind == "DELETED":
            self.claims.pop(claim.name, None)
        else:
            self.claims[claim.name] = claim
        if old and old.bound and (kind == "DELETED" or not claim.bound):
            self.broken[claim.name] = now
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

    # Rules that a choice and a Binding must obey.

    def check_choice(self, volume: Volume, now: float) -> None:
        """Reports a claim that a scheduler has pointed to a closed node."""
        if volume.storage_class != WAITING:
            return  # the volume controller has chosen the volume
        self.model.counts["choices"] += 1
        nodes = [node for node in self.model.nodes.values()
                 if volume.is_reachable(node)]
        closed = [[since for reason, since in node.closed.items()
                   if isinstance(reason, str)] for node in nodes]
        since = max((min(times, default=now) for times in closed),
                    default=self.model.started)
        # The decision may be older than what has closed the node.
        if now - since > self.patience and self.model.seen(since, now):
            self.model.report(
                f"given to claim {volume.claim}, but no node that reaches the "
                f"volume was open for {now - since:.1f} s", [volume.name],
                [*volume.events, *(event for node in nodes
                                   for event in node.events)])

    def check_conflict(self, pod: Pod, now: float) -> None:
        """Reports a pod whose volume has been given to another claim."""
        quiet_from = self.model.quiet_from
        if quiet_from is None or now - quiet_from <= self.patience:
            return  # the scheduler may not know who has the volume
        volume = self.volumes.get(pod.conflict)
        if (volume and volume.chosen and volume.storage_class == WAITING and
                volume.claim not in pod.claims):
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
                    now - start <= BACKOFF + self.reaction):
                continue
            self.late.add(uid)
            pod = ready[uid]
            self.model.report(
                f"not bound for {now - since:.0f} s although its claims could "
                "be bound", [pod.name, *pod.claims],
                [*pod.events, *(event for name in pod.claims
                                for event in self.claims[name].events)])

    def can_be_bound(self, pod: Pod) -> bool:
        claims = [self.claims.get(name) for name in pod.claims]
        if not all(claim and claim.usable for claim in claims):
            return False
        if any(ONCE_POD in claim.modes and self.users(claim.name)
               for claim in claims):
            return False
        return any(self.has_volumes(claims, node)
                   for name, node in self.model.nodes.items()
                   if self.model.fits(pod, name, node))

    def has_volumes(self, claims: list[Claim], node: Node) -> bool:
        """True if the node reaches the claims' volumes, or free ones."""
        free = [volume for volume in self.volumes.values()
                if volume.free and volume.is_reachable(node)]
        free.sort(key=lambda volume: volume.size)
        for claim in sorted(claims, key=lambda claim: claim.size):
            if claim.bound:
                own = [self.volumes.get(claim.volume)]
            elif claim.volume or claim.storage_class != WAITING:
                return False  # the volume controller binds the claim
            else:
                own = [volume for volume in self.volumes.values()
                       if volume.is_for(claim)]
            own = own or [v for v in free if v.suits(claim)][:1]
            if not own or not all(v and v.is_reachable(node) for v in own):
                return False
            free = [volume for volume in free if volume not in own]
        return True
