"""Tests of soak_model: each rule reports its violation, and nothing else."""

import itertools
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position
import soak_model
from soak_api import GROUP, MIN_AVAILABLE, WANT

VERSIONS = itertools.count(1)


def node(name="n", labels=None, **spec):
    return {"metadata": {"name": name, "resourceVersion": str(next(VERSIONS)),
                         "labels": labels or {}},
            "spec": spec, "status": {"allocatable": {
                "cpu": "2", "memory": "4Gi", "pods": "3"}}}


def pod(name, on="", cpu="500m", want="must", labels=None, port=None,
        phase="Pending", leaving=False, **spec):
    meta = {"name": name, "uid": name, "resourceVersion": str(next(VERSIONS)),
            "labels": {WANT: want} | (labels or {})}
    if leaving:
        meta["deletionTimestamp"] = "now"
    container = {"resources": {"requests": {"cpu": cpu}}}
    if port:
        container["ports"] = [{"hostPort": port}]
    return {"metadata": meta, "status": {"phase": phase},
            "spec": {"containers": [container], **spec} |
            ({"nodeName": on} if on else {})}


def member(name, **options):
    return pod(name, labels={GROUP: "g", MIN_AVAILABLE: "2"}, **options)


class ModelTest(unittest.TestCase):
    """Without faults, from second 0 on."""

    def setUp(self):
        self.reports, self.excused = [], []
        self.model = soak_model.Model(
            lambda what, objects, events: self.reports.append(what),
            self.excused.append, 0)
        self.model.node_event("ADDED", node(), 0)

    def bind(self, name, at=20.0, on="n", make=pod, **options):
        self.model.pod_event("ADDED", make(name, **options), at)
        self.model.pod_event("MODIFIED", make(name, on=on, **options), at)

    def expect(self, *patterns):
        self.assertEqual(len(self.reports), len(patterns), self.reports)
        for report, pattern in zip(self.reports, patterns, strict=True):
            self.assertRegex(report, pattern)

    def test_a_pod_stays_on_its_node(self):
        self.model.node_event("ADDED", node("other"), 0)
        self.bind("a")
        self.model.pod_event("MODIFIED", pod("a", on="other"), 21)
        self.expect("moved from n to other")

    def test_a_node_is_not_over_allocated(self):
        self.bind("a", cpu="1500m")
        self.bind("b", cpu="600m")
        self.expect("n: cpu over-allocated, 2100m of 2000m")

    def test_finished_and_deleted_pods_give_back_their_room(self):
        for i in range(5):
            self.bind(f"a{i}", cpu="2")
            self.model.pod_event(
                *[("DELETED", pod(f"a{i}", on="n", cpu="2")),
                  ("MODIFIED", pod(f"a{i}", on="n", cpu="2",
                                   phase="Succeeded"))][i % 2], 21)
        self.expect()

    def test_pods_count_too(self):
        for i in range(4):
            self.bind(f"a{i}", cpu="1m")
        self.expect("pods over-allocated")

    def test_host_ports_are_not_shared(self):
        self.bind("a", port=80)
        self.bind("b", port=80)
        self.expect("host port 80/TCP used by 2 pods")

    def test_a_lost_answer_excuses_its_pod_for_a_while(self):
        self.model.faults(True, True, True, 15)
        self.bind("amb-a", cpu="2")
        self.bind("b", cpu="1")
        self.expect()
        self.assertRegex(self.excused[0], "b was bound although amb-a had")
        self.model.pod_event("DELETED", pod("b", on="n"), 22)
        self.model.faults(False, False, False, 23)
        self.bind("c", cpu="1", at=23 + 60 + 11)
        self.expect("over-allocated")

    def test_other_answers_are_not_lost(self):
        self.model.faults(True, True, True, 15)
        self.bind("a", cpu="2")
        self.bind("amb-b", cpu="1")
        self.expect("over-allocated")

    def test_closed_nodes_get_no_pods_after_a_moment(self):
        taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
        tolerations = [{"key": "k", "operator": "Exists"}]
        for change in ({"unschedulable": True}, {"taints": [taint]}):
            self.setUp()
            self.model.node_event("MODIFIED", node(**change), 20)
            self.bind("early", at=25)
            self.bind("tolerant", at=31, tolerations=tolerations)
            found = len(self.reports)
            self.assertEqual(found, "unschedulable" in change)
            self.bind("late", at=31)
            self.assertEqual(len(self.reports), found + 1)

    def test_deleted_and_unknown_nodes_get_no_pods(self):
        self.model.node_event("DELETED", node(), 20)
        self.bind("late", at=31)
        self.bind("lost", at=31, on="nowhere")
        self.expect("which was gone 11.0 s", "which never existed")

    def test_late_watches_excuse_until_they_have_recovered(self):
        self.model.faults(True, True, False, 20)
        self.model.node_event("MODIFIED", node(unschedulable=True), 20)
        self.bind("a", at=100)
        self.model.faults(False, False, False, 100)
        self.bind("b", at=169)
        self.expect()
        self.bind("c", at=171)
        self.expect("cordoned")

    def test_a_restart_lists_again(self):
        self.model.faults(True, True, False, 20)
        self.model.node_event("MODIFIED", node(unschedulable=True), 20)
        self.model.faults(True, False, False, 21)
        self.model.scheduler_started(25)
        self.bind("a", at=36)
        self.expect("cordoned")

    def test_selectors_gates_and_impossible_pods(self):
        self.bind("a", nodeSelector={"x": "y"})
        self.bind("b", schedulingGates=[{"name": "g"}])
        self.bind("c", want="never")
        self.expect("selector", "gated", "fits nowhere")

    def test_a_group_is_not_half_started(self):
        self.model.pod_event("ADDED", member("b"), 20)
        self.bind("a", make=member)
        self.model.check_groups(29)
        self.expect()
        self.model.check_groups(31)
        self.expect("group g: 1 of 2 bound for 11 s")
        self.model.check_groups(40)
        self.expect("group g")

    def test_after_faults_a_group_has_longer(self):
        self.model.faults(True, False, False, 15)
        self.model.pod_event("ADDED", member("b"), 20)
        self.bind("a", make=member)
        self.model.check_groups(200)
        self.model.faults(False, False, False, 200)
        self.model.check_groups(200 + soak_model.RECOVERY)
        self.expect()
        self.model.check_groups(201 + soak_model.RECOVERY)
        self.expect("group g")

    def test_a_group_that_has_lost_a_member_is_not_judged(self):
        self.model.pod_event("ADDED", member("b"), 20)
        self.bind("a", make=member)
        self.model.pod_event("MODIFIED", member("b", leaving=True), 21)
        self.model.check_groups(100)
        self.expect()

    def test_pods_with_room_are_bound_in_time(self):
        self.model.pod_event("ADDED", pod("a"), 20)
        self.model.pod_event(
            "ADDED", pod("gated", schedulingGates=[{"name": "g"}]), 20)
        self.model.pod_event("ADDED", member("alone"), 20)
        self.model.check_pending(20 + soak_model.RECOVERY)
        self.expect()
        self.model.check_pending(21 + soak_model.RECOVERY)
        self.expect("not bound for")

    def test_a_slow_server_excuses(self):
        self.model.node_event("MODIFIED", node(unschedulable=True), 20)
        self.model.pod_event("ADDED", pod("a"), 20)
        self.model.slow(90)
        self.bind("b", at=100)
        self.model.check_pending(120)
        self.expect()
        self.model.check_pending(171 + soak_model.RECOVERY)
        self.expect("not bound for")

    def test_the_end(self):
        self.model.pod_event("ADDED", pod("a"), 20)
        self.bind("large", cpu="1500m")
        self.model.pod_event("ADDED", pod("b", cpu="1", want="maybe"), 20)
        self.model.pod_event("ADDED", pod("c", want="maybe"), 20)
        self.model.update_fits(20)
        self.model.check_end(21 + soak_model.FIT_PATIENCE)
        self.expect("not bound in the end$", "although it fits")

    def test_a_gap_keeps_what_is_known(self):
        self.model.node_event("ADDED", node("other"), 0)
        self.bind("moved")
        self.bind("gone", cpu="1500m")
        self.model.pod_list([pod("new", on="n", cpu="2"),
                             pod("moved", on="other")], 30)
        self.expect("moved from n to other")


if __name__ == "__main__":
    unittest.main()
