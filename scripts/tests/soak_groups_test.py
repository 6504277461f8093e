"""Tests of soak_groups_model: the plans and the rules."""

import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position
from soak_groups_model import HALF, PROGRESS, Judge, plan_of


class PlanTest(unittest.TestCase):
    """Draws many plans."""

    def test_each_group_fits_alone_but_no_two_together(self):
        for seed in range(300):
            plan = plan_of(seed, 20)
            self.assertTrue(3 <= len(plan.groups) <= 20)
            for size, minimum in plan.groups.values():
                self.assertLessEqual(minimum, size)
                self.assertLessEqual(size, sum(plan.nodes))
                self.assertGreater(2 * minimum, sum(plan.nodes))

    def test_the_same_seed_makes_the_same_plan(self):
        self.assertEqual(plan_of(17, 20), plan_of(17, 20))
        self.assertNotEqual(plan_of(17, 20), plan_of(18, 20))

    def test_each_kill_is_between_two_starts(self):
        for seed in range(300):
            plan = plan_of(seed, 20)
            self.assertEqual(len(plan.starts), len(plan.kills) + 1)
            for start, kill, again in zip(plan.starts, plan.kills,
                                          plan.starts[1:]):
                self.assertTrue(start <= kill < again)


class JudgeTest(unittest.TestCase):
    """Two groups with a minimum of four."""

    def setUp(self):
        self.judge = Judge({"a": 4, "b": 4}, 0)

    def wrong(self, now, **bound):
        return self.judge.observe(now, bound)[1]

    def test_a_group_with_its_minimum_has_started_once(self):
        self.assertEqual(self.judge.observe(1, {"a": 4}), (["a"], []))
        self.assertEqual(self.judge.observe(2, {"a": 5}), ([], []))

    def test_a_violation_without_a_start(self):
        self.assertFalse(self.wrong(PROGRESS))
        self.assertEqual(self.wrong(PROGRESS + 1),
                         ["none of 2 groups has started for 76.0 s"])

    def test_time_begins_again_after_a_change(self):
        self.judge.disturb(10)
        self.assertFalse(self.wrong(PROGRESS + 10))
        self.assertTrue(self.wrong(PROGRESS + 11))

    def test_without_pending_groups_time_does_not_matter(self):
        self.judge.observe(1, {"a": 4, "b": 4})
        self.assertFalse(self.wrong(10 * PROGRESS))

    def test_a_violation_if_a_group_stays_half_started(self):
        self.assertFalse(self.wrong(1, a=3))
        self.assertFalse(self.wrong(1 + HALF, a=2))
        self.assertEqual(self.wrong(2 + HALF, a=3),
                         ["a is half started for 11.0 s: 3 of 4"])

    def test_a_group_without_bound_members_is_not_half_started(self):
        self.wrong(1, a=3)
        self.wrong(HALF, a=0)
        self.assertFalse(self.wrong(2 + HALF, a=3))

    def test_a_group_may_be_half_started_after_a_kill(self):
        self.wrong(1, a=3)
        self.judge.excuse()
        self.assertFalse(self.wrong(20 + HALF, a=3))
        self.assertTrue(self.wrong(PROGRESS + 1, a=3))

    def test_an_excuse_ends_when_no_member_is_bound(self):
        self.wrong(1, a=3)
        self.judge.excuse()
        self.wrong(2, a=0)
        self.wrong(3, a=3)
        self.assertTrue(self.wrong(4 + HALF, a=3))

    def test_a_group_that_starts_after_a_kill_is_not_excused(self):
        self.wrong(1)
        self.judge.excuse()
        self.wrong(2, a=3)
        self.assertTrue(self.wrong(3 + HALF, a=3))


if __name__ == "__main__":
    unittest.main()
