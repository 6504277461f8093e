"""Tests of soak_volumes: each rule reports its violation, and nothing else."""

import itertools
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position
import soak_model
from soak_api import CLAIMS, WAITING, WANT
from soak_objects import BOUND_BY
from soak_volumes import BACKOFF, ONCE_POD

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
                "containers": [{}], "nodeName": on, "volumes": [
                    {"persistentVolumeClaim": {"claimName": claim}}
                    for claim in claims]}}


def conflict(name, *claims, volume_name):
    item = pod(name, *claims)
    item["status"]["conditions"] = [{"type": "PodScheduled", "message": (
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled'
        f' on persistentvolumes "{volume_name}": the object has been modified')}]
    return item


def claim(name, volume="", phase=None, mode="ReadWriteOnce", size="1Gi",
          storage_class=WAITING, **more):
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

    def test_other_volumes_are_chosen_by_the_controller(self):
        self.model.node_event("DELETED", node("n"), 0)
        self.set_volume("v", host="n", kind="ADDED", storage_class="now")
        self.set_volume("v", "a", host="n", now=99, storage_class="now")
        self.set_volume("r", "b", host="n", kind="ADDED", claim_uid="")
        self.set_volume("r", "b", host="n", now=99)
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
