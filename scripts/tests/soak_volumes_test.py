"""Tests of soak_volumes: each rule reports its violation, and nothing else."""

import itertools
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position
import soak_model
from soak_api import (CLAIMS, EVICTS, LATE_PROVISION, LIMITED, PROVISION,
                      PROVISIONED, WAITING, WANT)
from soak_model import BACKOFF
from soak_objects import BOUND_BY, SELECTED, ZONE
from soak_volumes import ONCE_POD

VERSIONS = itertools.count(1)
PROMPT = BACKOFF + soak_model.REACTION


def meta(name, **more):
    return {"name": name, "uid": name,
            "resourceVersion": str(next(VERSIONS)), **more}


def node(name, **spec):
    return {"metadata": meta(name, labels={"host": name}), "spec": spec,
            "status": {"allocatable": {"cpu": "2", "memory": "4Gi",
                                       "pods": "9"}}}


def pod(name, *claims, on="", leaving=False):
    more = {"deletionTimestamp": "now"} if leaving else {}
    return {"metadata": meta(name, labels={WANT: CLAIMS}, **more),
            "status": {"phase": "Pending"}, "spec": {
                "containers": [{"resources": {"requests": {"cpu": "1m"}}}],
                "nodeName": on, "volumes": [
                    {"persistentVolumeClaim": {"claimName": claim}}
                    for claim in claims]}}


def conflict(name, *claims, volume_name):
    item = pod(name, *claims)
    item["status"]["conditions"] = [{"type": "PodScheduled", "message": (
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled'
        f' on persistentvolumes "{volume_name}": the object has been modified')}]
    return item


def claim(name, volume="", phase=None, mode="ReadWriteOnce", size="1Gi",
          storage_class=WAITING, selected="", **more):
    if selected:
        more["annotations"] = {SELECTED: selected}
    return {"metadata": meta(name, **more),
            "spec": {"accessModes": [mode], "volumeName": volume,
                     "storageClassName": storage_class,
                     "resources": {"requests": {"storage": size}}},
            "status": {"phase": phase or ("Bound" if volume else "Pending")}}


def volume(name, claim_name="", host=None, size="1Gi", mode="ReadWriteOnce",
           phase=None, claim_uid=None, storage_class=WAITING, **more):
    spec = {"accessModes": [mode], "storageClassName": storage_class,
            "capacity": {"storage": size}}
    if claim_name:
        spec["claimRef"] = {"name": claim_name}
        if claim_uid != "":
            spec["claimRef"]["uid"] = claim_uid or claim_name
    if host:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "host", "operator": "In",
                                   "values": [host]}]}]}}
    return {"metadata": meta(name, **more), "spec": spec,
            "status": {"phase": phase or ("Bound" if claim_name
                                          else "Available")}}


class VolumesTest(unittest.TestCase):
    """Two nodes, without faults, from second 0 on."""

    def setUp(self):
        self.reports, self.excused = [], []
        self.model = soak_model.Model(
            lambda what, objects, events: self.reports.append(what),
            self.excused.append, 0)
        self.volumes = self.model.volumes
        for name in ("n", "m"):
            self.model.node_event("ADDED", node(name), 0)

    def expect(self, *patterns):
        self.assertEqual(len(self.reports), len(patterns), self.reports)
        for report, pattern in zip(self.reports, patterns, strict=True):
            self.assertRegex(report, pattern)

    def set_capacity(self, zone, size, now=20.0, kind="MODIFIED"):
        self.volumes.capacity_event(kind, {
            "metadata": meta(zone), "capacity": size,
            "nodeTopology": {"matchLabels": {ZONE: zone}}}, now)

    def set_node(self, name, now, zone="", **spec):
        item = node(name, **spec)
        item["metadata"]["labels"][ZONE] = zone
        self.model.node_event("MODIFIED", item, now)

    def set_claim(self, name, now=20.0, kind="MODIFIED", **options):
        self.volumes.claim_event(kind, claim(name, **options), now)

    def set_volume(self, name, *claim_name, now=20.0, kind="MODIFIED",
                   **options):
        self.volumes.volume_event(kind, volume(name, *claim_name, **options),
                                  now)

    def bind(self, name, *claims, on="n", now=20.0):
        self.model.pod_event("ADDED", pod(name, *claims), now)
        self.model.pod_event("MODIFIED", pod(name, *claims, on=on), now)

    def wait(self, *until):
        """Checks pending pods every second."""
        for now in range(*until):
            self.volumes.check_pending(now)

    # The binding of claims.

    def test_a_volume_goes_to_another_claim_only_when_it_was_released(self):
        self.set_volume("v", kind="ADDED")
        self.set_volume("v", "a")
        self.set_volume("v", "a", phase="Released")
        self.set_volume("v")
        self.set_volume("v", "b")
        self.expect()
        self.set_volume("v", "c")
        self.expect("given from claim b to c without having been released")

    def test_a_namesake_is_another_claim(self):
        self.set_volume("v", "a", claim_uid="1", kind="ADDED")
        self.set_volume("v", "a", claim_uid="2")
        self.expect("given from claim a to a")

    def test_the_controller_completes_a_reservation(self):
        self.set_volume("v", "a", claim_uid="", kind="ADDED")
        self.set_volume("v", "a")
        self.expect()

    def test_a_new_volume_may_have_an_old_name(self):
        self.set_volume("v", "a", kind="ADDED")
        self.set_volume("v", "a", kind="DELETED")
        self.set_volume("v", "b", kind="ADDED")
        self.expect()

    def test_over_a_gap_a_volume_may_have_been_released(self):
        self.set_volume("v", "a", kind="ADDED")
        self.set_volume("gone", "c", kind="ADDED")
        self.volumes.volume_list([volume("v", "b")], 30)
        self.expect()
        self.assertEqual([*self.volumes.volumes], ["v"])

    def test_a_volume_has_one_claim(self):
        self.set_claim("a", volume="v")
        self.set_claim("other", volume="w")
        self.set_claim("b")
        self.expect()
        self.set_claim("b", volume="v")
        self.set_claim("b", volume="v")
        self.expect("volume v has two claims")

    def test_a_deleted_claim_has_no_volume(self):
        self.set_claim("a", volume="v")
        self.set_claim("a", volume="v", kind="DELETED")
        self.set_claim("b", volume="v")
        self.volumes.claim_list([claim("c", volume="v")], 30)
        self.expect()

    def test_no_claim_is_pointed_to_a_node_that_is_closed(self):
        later = 20 + soak_model.PATIENCE
        self.model.node_event("DELETED", node("n"), 20)
        self.model.node_event("MODIFIED", node("m", unschedulable=True), 30)
        for name, host in (("v", "n"), ("w", "n"), ("x", None), ("y", "p")):
            self.set_volume(name, host=host, kind="ADDED")
        self.set_volume("v", "a", host="n", now=later)
        self.set_volume("x", "b", now=later + 1)
        self.expect()
        self.set_volume("w", "c", host="n", now=later + 1)
        self.expect("given to claim c, but no node that reaches the volume was "
                    "open for 41.0 s")
        self.set_volume("y", "d", host="p", now=later + 1)
        self.expect("claim c", "claim d")

    def test_a_chosen_volume_is_not_given_to_another_claim(self):
        chosen = {"annotations": {BOUND_BY: "yes"}}
        for name, options in (("v", chosen), ("reserved", {}),
                              ("now", chosen | {"storage_class": "now"})):
            self.set_volume(name, "a", kind="ADDED", **options)
        self.set_volume("free", kind="ADDED")

        def fail(name, now):
            for volume_name in ("reserved", "now", "free", "gone", "v", "v"):
                self.model.pod_event("MODIFIED", conflict(
                    name, "b", volume_name=volume_name), now)
        fail("early", soak_model.PATIENCE)
        self.model.pod_event("MODIFIED", conflict(
            "same", "a", "b", volume_name="v"), 1 + soak_model.PATIENCE)
        self.expect()
        fail("late", 1 + soak_model.PATIENCE)
        self.expect("failed, because claim a got its volume v")

    def test_a_pod_may_give_back_the_volume_of_a_shared_claim(self):
        self.set_volume("v", "a", kind="ADDED", annotations={BOUND_BY: "yes"})
        now = 1 + soak_model.PATIENCE
        for name in ("first", "second"):
            self.model.pod_event("ADDED", pod(name, "a"), now)
        self.model.pod_event("MODIFIED", conflict("b", "b", volume_name="v"),
                             now)
        self.expect()

    def test_other_volumes_are_chosen_by_the_controller(self):
        self.model.node_event("DELETED", node("n"), 0)
        self.set_volume("v", host="n", kind="ADDED", storage_class="now")
        self.set_volume("v", "a", host="n", now=99, storage_class="now")
        self.set_volume("r", "b", host="n", kind="ADDED", claim_uid="")
        self.set_volume("r", "b", host="n", now=99)
        self.expect()

    # New volumes.

    def test_no_volume_is_made_for_a_node_that_is_closed(self):
        late = 21 + soak_model.PATIENCE
        self.model.node_event("DELETED", node("n"), 20)
        self.set_claim("seen", kind="LISTED", selected="n", now=late)
        self.set_claim("open", selected="m", now=late)
        self.set_claim("early", selected="n", now=late - 1)
        self.set_claim("early", selected="n", now=late + 1)
        self.expect()
        self.set_claim("bad", selected="n", now=late)
        self.expect("gets a volume for node n, which was not open for 41.0 s")
        self.set_claim("wrong", selected="none", now=late)
        self.expect("node n", "node none")

    def test_while_watches_are_late_a_node_may_be_closed(self):
        self.model.node_event("DELETED", node("n"), 20)
        self.model.faults(True, True, False, 25)
        self.set_claim("a", selected="n", now=99)
        self.expect()

    def test_volumes_are_made_where_storage_is_left(self):
        late = 21 + soak_model.PATIENCE
        for name, zone in (("n", "east"), ("m", "west")):
            self.set_node(name, 1, zone=zone)
            self.set_capacity(zone, "2Gi", now=1)
        self.set_capacity("east", "1Gi")
        options = {"storage_class": LIMITED, "selected": "n", "size": "2Gi"}
        self.set_claim("early", now=late - 1, **options)
        self.set_claim("small", now=late, **options | {"size": "1Gi"})
        self.set_claim("there", now=late, **options | {"selected": "m"})
        self.set_claim("other", now=late,
                       **options | {"storage_class": PROVISIONED})
        self.expect()
        self.set_claim("large", now=late, **options)
        self.expect("gets a volume for node n, which had too little storage for"
                    " 41.0 s")
        self.volumes.capacity_list([], late)
        self.set_claim("unknown", now=late, **options)
        self.expect("too little")

    def test_a_claim_gives_up_a_node_that_is_gone(self):
        self.model.node_event("DELETED", node("n"), 20)
        for name in ("a", "late-b", "free", "leaving"):
            self.set_claim(name, now=30, selected="n")
        self.set_claim("free", now=31)
        self.set_claim("leaving", selected="n", deletionTimestamp="now")
        self.set_claim("made", volume="v", selected="n")
        self.set_claim("open", selected="m")
        early = 30 + soak_model.REACTION + PROVISION
        self.volumes.check_selected(early)
        self.expect()
        self.volumes.check_selected(early + 1)
        self.volumes.check_selected(early + 2)
        self.expect("waits for a volume on node n, which is gone, for 19 s")
        self.volumes.check_selected(31 + soak_model.REACTION + LATE_PROVISION)
        self.expect("19 s", "for 101 s")

    def test_during_faults_a_claim_may_wait_for_a_node_that_is_gone(self):
        self.model.node_event("DELETED", node("n"), 20)
        self.set_claim("a", selected="n")
        self.model.faults(True, False, False, 21)
        self.volumes.check_selected(200)
        self.model.faults(False, False, False, 200)
        self.volumes.check_selected(200 + soak_model.REACTION)
        self.expect()

    # Pods that are bound.

    def test_the_claims_of_a_bound_pod_are_bound(self):
        self.set_volume("v", "a", host="n", kind="ADDED")
        self.set_claim("a", volume="v")
        self.bind("good", "a")
        self.expect()
        self.set_claim("b")
        self.bind("early", "a", "b")
        self.bind("without", "missing")
        self.bind("also", "b")
        self.expect(*["bound although its claim is not bound"] * 3)

    def test_a_claim_may_have_been_lost_just_now(self):
        for name in ("a", "b", "c"):
            self.set_volume(f"v{name}", name, kind="ADDED")
            self.set_claim(name, volume=f"v{name}")
        self.set_claim("a", volume="va", kind="DELETED", now=30)
        self.set_claim("b", volume="vb", phase="Lost", now=30)
        self.set_volume("vc", "c", kind="DELETED", now=30)
        late = 31 + soak_model.REACTION
        for now, count in ((late - 1, 0), (late, 3)):
            for name in ("a", "b", "c"):
                self.bind(f"{name}-{now}", name, now=now)
            self.expect(*["is not bound"] * count)

    def test_while_watches_are_late_a_lost_claim_is_excused(self):
        self.set_volume("v", "a", kind="ADDED")
        self.set_claim("a", volume="v")
        self.model.faults(True, True, False, 25)
        self.set_claim("a", volume="v", kind="DELETED", now=30)
        self.bind("p", "a", now=90)
        self.expect()

    def test_a_pod_follows_its_volumes(self):
        self.set_volume("v", "a", host="m", kind="ADDED")
        self.set_claim("a", volume="v")
        self.bind("p", "a")
        self.bind("q", "a", on="m")
        self.expect("bound to n, from which volume v can't be reached")

    def test_a_zone_label_counts(self):
        zone = "topology.kubernetes.io/zone"
        for name in ("n", "m"):
            item = node(name)
            item["metadata"]["labels"] |= {zone: f"zone-{name}"}
            self.model.node_event("MODIFIED", item, 1)
        for name, zones in (("a", "zone-n__zone-m"), ("b", "zone-m")):
            self.set_volume(name, name, kind="ADDED", labels={zone: zones})
            self.set_claim(name, volume=name)
            self.bind(name, name)
        self.expect("bound to n, from which volume b")

    def test_a_read_write_once_pod_claim_has_one_pod(self):
        self.set_volume("v", "a", kind="ADDED")
        self.set_claim("a", volume="v", mode=ONCE_POD)
        self.bind("p", "a")
        self.model.pod_event("DELETED", pod("p", "a", on="n"), 21)
        self.bind("q", "a")
        self.expect()
        self.bind("r", "a", on="m")
        self.expect("bound although q on n uses claim a")

    def test_pods_on_a_node_that_is_gone_do_not_count(self):
        self.set_volume("v", "a", kind="ADDED")
        self.set_claim("a", volume="v", mode=ONCE_POD)
        self.bind("p", "a")
        self.model.node_event("DELETED", node("n"), 21)
        self.bind("q", "a", on="m")
        self.expect()

    def test_a_lost_answer_excuses_the_second_pod(self):
        self.set_volume("v", "a", kind="ADDED")
        self.set_claim("a", volume="v", mode=ONCE_POD)
        self.model.faults(True, True, True, 15)
        self.bind("amb-p", "a")
        self.bind("q", "a")
        self.expect()
        self.assertRegex(self.excused[0], "a: q was bound although amb-p had")

    # Pods that are pending.

    def pend(self, *claims, now=20.0, name="p"):
        self.model.pod_event("ADDED", pod(name, *claims), now)

    def test_a_pod_that_has_a_volume_is_bound_promptly(self):
        for name, host in (("v", "n"), ("small", "m")):
            self.set_volume(name, host=host, kind="ADDED",
                            size="1Mi" if name == "small" else "1Gi")
        self.set_claim("a")
        self.pend("a", now=50)
        self.wait(50, 51 + PROMPT)
        self.expect()
        self.wait(51 + PROMPT, 99)
        self.expect("not bound for 22 s although its claims could be bound")

    def test_after_faults_a_pod_has_longer(self):
        self.set_volume("v", kind="ADDED")
        self.set_claim("a")
        self.pend("a")
        self.model.faults(True, False, False, 30)
        self.wait(30, 200)
        self.model.faults(False, False, False, 200)
        late = 201 + soak_model.PATIENCE + PROMPT
        self.wait(200, late)
        self.expect()
        self.wait(late, 300)
        self.expect("not bound for 232 s")

    def test_volumes_that_a_pod_cannot_have(self):
        self.model.node_event("MODIFIED", node("m", unschedulable=True), 20)
        for name, options in {
                "closed": {"host": "m"}, "small": {"size": "1Mi"},
                "mode": {"mode": ONCE_POD}, "class": {"storage_class": "now"},
                "taken": {"phase": "Released"}, "new": {"phase": "Pending"},
                "leaving": {"deletionTimestamp": "now"}}.items():
            self.set_volume(name, kind="ADDED", **options)
        self.set_volume("other", "b", kind="ADDED")
        self.set_claim("a")
        self.pend("a")
        self.wait(20, 200)
        self.expect()

    def test_claims_that_a_pod_cannot_have(self):
        for name in ("v", "w"):
            self.set_volume(name, kind="ADDED")
        self.set_claim("immediate", storage_class="now")
        self.set_claim("lost", volume="v", phase="Lost")
        self.set_claim("leaving", deletionTimestamp="now")
        self.set_claim("early", volume="w", phase="Pending")
        for name in ("immediate", "lost", "leaving", "early", "missing"):
            self.pend(name, name=name)
        self.wait(20, 200)
        self.expect()

    def test_two_claims_need_two_volumes_of_a_node(self):
        self.set_volume("v", host="n", kind="ADDED")
        self.set_volume("w", host="m", size="2Gi", kind="ADDED")
        for name, size in (("a", "2Gi"), ("b", "1Gi")):
            self.set_claim(name, size=size)
        self.pend("a", "b")
        self.wait(20, 200)
        self.expect()
        self.set_volume("x", host="m", now=200, kind="ADDED")
        self.wait(200, 300)
        self.expect("not bound")

    def test_a_volume_can_be_made_for_a_claim(self):
        self.set_volume("v", host="m", kind="ADDED")
        self.set_claim("static")
        for name in ("a", "b"):
            self.set_claim(name, storage_class=PROVISIONED)
        self.set_claim("b", storage_class=PROVISIONED, selected="n")
        self.pend("a", "static", name="p")
        self.pend("b", name="provisioning")
        self.wait(20, 200)
        self.expect("not bound")
        self.assertEqual(self.volumes.late, {"p"})

    def test_each_failure_of_the_provisioner_gives_a_pod_more_time(self):
        self.pend("a")
        for now in range(40, 200, 20):
            for more, selected in ((0, ""), (15, "n")):
                self.set_claim("a", storage_class=PROVISIONED, now=now + more,
                               selected=selected)
                self.wait(now + more, now + more + 15 - 10 * bool(selected))
        self.expect()

    def test_a_pod_needs_storage_on_a_node(self):
        for name, zone in (("n", "east"), ("m", "west")):
            self.set_node(name, 1, zone=zone)
            self.set_capacity(zone, "1Gi", now=1)
        self.set_claim("a", storage_class=LIMITED, size="2Gi")
        self.pend("a")
        self.wait(20, 200)
        self.expect()
        self.set_capacity("west", "2Gi", now=200)
        self.wait(200, 300)
        self.expect("not bound for 22 s")

    def test_pods_in_pre_bind_hold_their_room(self):
        self.set_claim("a", storage_class=PROVISIONED)
        self.pend("a")
        for name in ("n", "m"):
            self.add_large(f"p{name}", nominated=name)
        self.wait(20, 200)
        self.expect()

    def test_an_urgent_pod_may_get_any_node(self):
        self.set_claim("a", storage_class=PROVISIONED)
        self.pend("a")
        self.add_large("urgent", want=EVICTS, priority=10)
        self.wait(20, 200)
        self.expect()

    # Urgent pods.

    def add_large(self, name, on="", want="maybe", nominated="", priority=0,
                  now=20):
        item = pod(name, on=on)
        item["metadata"]["labels"][WANT] = want
        item["status"]["nominatedNodeName"] = nominated
        item["spec"]["priority"] = priority
        item["spec"]["containers"] = [{"resources": {
            "requests": {"cpu": "2"}}}]
        self.model.pod_event("MODIFIED", item, now)

    def wait_urgent(self, *until):
        for now in range(*until):
            self.model.preemptions.check_pending(now)

    def test_an_urgent_pod_gets_the_place_of_others(self):
        self.add_large("p", on="n")
        self.add_large("q", nominated="m")
        self.add_large("urgent", want=EVICTS, priority=10, now=50)
        self.wait_urgent(50, 51 + PROMPT)
        self.expect()
        self.wait_urgent(51 + PROMPT, 99)
        self.expect("not bound for 22 s although it could get the place")

    def test_a_nominated_pod_has_as_much_time_again(self):
        self.add_large("urgent", want=EVICTS)
        self.wait_urgent(40, 60)
        self.add_large("urgent", want=EVICTS, nominated="n")
        self.wait_urgent(60, 61 + PROMPT)
        self.expect()
        self.add_large("urgent", want=EVICTS)
        self.wait_urgent(61 + PROMPT, 99)
        self.expect("not bound for 22 s")

    def test_after_faults_an_urgent_pod_has_longer(self):
        self.model.faults(True, False, False, 10)
        self.add_large("urgent", want=EVICTS)
        self.wait_urgent(20, 200)
        self.model.faults(False, False, False, 200)
        late = 201 + soak_model.PATIENCE + PROMPT
        self.wait_urgent(200, late)
        self.expect()
        self.wait_urgent(late, late + 10)
        self.expect("not bound")

    def test_an_urgent_pod_that_fits_no_node(self):
        self.add_large("same", on="n", priority=10)
        self.set_node("m", 20, unschedulable=True)
        self.add_large("urgent", want=EVICTS, priority=10)
        self.wait_urgent(20, 200)
        self.expect()

    def test_an_urgent_pod_begins_again_when_its_node_is_closed(self):
        self.add_large("urgent", want=EVICTS, nominated="n")
        self.wait_urgent(40, 60)
        self.set_node("n", 60, unschedulable=True)
        self.wait_urgent(60, 61)
        self.add_large("urgent", want=EVICTS, now=61)
        self.wait_urgent(61, 61 + PROMPT)
        self.expect()
        self.wait_urgent(61 + PROMPT, 99)
        self.expect("not bound for 22 s")

    def test_victims_without_a_binding_are_counted(self):
        for name in ("low", "high"):
            self.add_large(name, priority=10 * (name == "high"))
        self.model.preemptions.preempted("ADDED", {
            "regarding": {"uid": "low", "name": "low"},
            "related": {"uid": "high", "name": "high"},
            "note": "Preempted by pod high (in kube-scheduler memory)."})
        self.expect()
        self.assertEqual(self.model.counts["cancelled"], 1)

    # Claims and their turns.

    def test_a_claim_follows_a_volume_that_it_has_got(self):
        self.model.node_event("DELETED", node("m"), 20)
        self.set_volume("v", "a", host="m", kind="ADDED", claim_uid="")
        self.set_volume("w", host="n", kind="ADDED")
        self.set_volume("y", "b", host="n", kind="ADDED")
        self.set_claim("a")
        self.set_claim("b", volume="y")
        self.pend("a", name="waits")
        self.pend("b", name="late")
        self.wait(20, 200)
        self.expect("not bound")
        self.assertEqual(self.volumes.late, {"late"})

    def test_each_turn_begins_when_a_claim_becomes_free(self):
        self.set_volume("v", "a", kind="ADDED", mode=ONCE_POD)
        self.set_claim("a", volume="v", mode=ONCE_POD)
        self.pend("a")
        for turn in range(60, 120, 20):
            self.bind(f"p{turn}", "a", now=turn)
            self.wait(turn, turn + 5)
            self.model.pod_event(
                "DELETED", pod(f"p{turn}", "a", on="n"), turn + 5)
            self.wait(turn + 5, turn + 20)
        self.expect()
        self.wait(120, 130)
        self.expect("not bound for 22 s")


if __name__ == "__main__":
    unittest.main()
