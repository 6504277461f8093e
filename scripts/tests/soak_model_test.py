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


def victim(name, **options):
    """Returns a pod that the scheduler has chosen to evict."""
    item = pod(name, on="n", **options)
    item["status"]["conditions"] = [{
        "type": "DisruptionTarget", "status": "True",
        "reason": "PreemptionByScheduler"}]
    return item


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

    def test_a_victim_has_a_lower_priority_than_a_pending_pod(self):
        self.bind("a", priority=5)
        self.model.pod_event("ADDED", pod("equal", priority=5), 21)
        self.model.pod_event("ADDED", pod(
            "gated", priority=9, schedulingGates=[{"name": "g"}]), 21)
        self.model.pod_event("MODIFIED", victim("a", priority=5), 22)
        self.expect("no pending pod has a higher priority than 5")
        self.bind("b", priority=4)
        self.model.pod_event("MODIFIED", victim("b", priority=4), 23)
        self.expect("no pending pod")

    def test_a_preemptor_is_more_important_than_its_victim(self):
        for name, priority in (("a", 5), ("equal", 5), ("urgent", 6)):
            self.model.pod_event("ADDED", pod(name, priority=priority), 20)

        def preempted(preemptor):
            self.model.preemptions.preempted("ADDED", {
                "regarding": {"name": "a", "uid": "a"}, "note": "",
                "related": {"name": preemptor, "uid": preemptor}})
        preempted("urgent")
        preempted("unknown")
        self.expect()
        preempted("equal")
        self.expect("evicted with the priority 5 for equal with the priority 5")

    def test_a_preemptor_may_have_gone_since_the_decision(self):
        self.bind("a")
        self.bind("urgent", at=21, priority=5)
        self.model.pod_event(
            "MODIFIED", victim("a"), 21 + soak_model.PATIENCE)
        self.expect()
        self.bind("b")
        self.model.pod_event(
            "MODIFIED", victim("b"), 22 + soak_model.PATIENCE)
        self.expect("no pending pod has a higher priority")

    def test_while_watches_are_late_victims_are_not_judged(self):
        self.bind("a")
        self.model.faults(True, True, False, 20)
        self.model.pod_event("MODIFIED", victim("a"), 22)
        self.expect()

    def test_a_victim_gives_its_room_to_a_preemptor(self):
        later = 1 + soak_model.PATIENCE
        self.bind("equal", at=0, cpu="1500m", priority=5)
        self.model.pod_event("ADDED", pod("urgent", cpu="1", priority=5), 20)
        self.bind("a", at=20, cpu="250m")
        self.model.pod_event("MODIFIED", victim("a", cpu="250m"), later)
        self.expect("no pending pod of a higher priority would fit")
        self.model.pod_event("ADDED", pod("small", priority=1), 20)
        self.bind("b", at=20, cpu="250m")
        self.model.pod_event("MODIFIED", victim("b", cpu="250m"), later)
        self.expect("no pending pod of a higher priority would fit")

    def test_a_decision_may_be_older_than_what_has_filled_the_node(self):
        self.model.pod_event("ADDED", pod("urgent", cpu="1", priority=5), 50)
        self.bind("a", at=50, cpu="250m")
        self.bind("equal", at=51, cpu="1500m", priority=5)
        self.model.pod_event("MODIFIED", victim("a", cpu="250m"), 52)
        self.expect()

    def test_each_victim_is_deleted(self):
        self.model.pod_event("ADDED", pod("urgent", priority=5), 20)
        for name in ("a", "b", "c"):
            self.bind(name)
            self.model.pod_event("MODIFIED", victim(name), 22)
        self.model.pod_event("MODIFIED", victim("a", leaving=True), 23)
        self.model.pod_event("DELETED", victim("a", leaving=True), 24)
        self.model.pod_event("DELETED", victim("b"), 24)
        self.model.preemptions.check_evictions(22 + soak_model.RECOVERY)
        self.expect()
        self.model.preemptions.check_evictions(23 + soak_model.RECOVERY)
        self.expect("victim for 77 s, but is not being deleted")
        self.assertEqual(self.model.counts["victims"], 3)
        self.assertEqual(self.model.counts["evictions"], 2)

    def test_a_victim_of_a_rough_phase_may_stay(self):
        self.model.faults(True, False, False, 15)
        self.model.pod_event("ADDED", pod("urgent", priority=5), 20)
        self.bind("a")
        self.model.pod_event("MODIFIED", victim("a"), 22)
        self.model.faults(False, False, False, 30)
        self.model.preemptions.check_evictions(1000)
        self.expect()

    def test_a_bound_pod_is_not_nominated(self):
        nominated = pod("a")
        nominated["status"]["nominatedNodeName"] = "n"
        self.model.pod_event("ADDED", nominated, 20)
        self.expect()
        nominated["spec"]["nodeName"] = "n"
        self.model.pod_event("MODIFIED", nominated, 20)
        self.expect("bound to n, but still nominated to n")

    def test_a_gap_keeps_what_is_known(self):
        self.model.node_event("ADDED", node("other"), 0)
        self.bind("moved")
        self.bind("gone", cpu="1500m")
        self.model.pod_list([pod("new", on="n", cpu="2"),
                             pod("moved", on="other")], 30)
        self.expect("moved from n to other")


if __name__ == "__main__":
    unittest.main()
