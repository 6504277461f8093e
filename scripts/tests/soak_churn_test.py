"""Tests of soak_churn: which pods it creates."""

import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position
from soak_api import GROUP, PODS
from soak_churn import URGENT, Churn


class FakeApi:
    """Records the pods that are created. Every request succeeds."""

    def __init__(self):
        self.pods = []

    def call(self, method, path, body=None, _kind=""):
        if (method, path) == ("POST", PODS):
            self.pods.append(body | {"status": {}})
        return (201 if method == "POST" else 200), {}

    def get(self, _path):
        return {"items": list(self.pods)}


class ChurnTest(unittest.TestCase):
    """Lets the churn make 200 steps on a server that binds nothing."""

    def pods(self, **options):
        api = FakeApi()
        churn = Churn(api, random.Random(1), **options)
        for _ in range(200):
            churn.step()
        churn.finish()
        self.assertGreater(len(api.pods), 20)
        return api.pods

    def groups(self, **options):
        return [pod for pod in self.pods(**options)
                if GROUP in pod["metadata"]["labels"]]

    def urgent(self, **options):
        return [pod for pod in self.pods(**options)
                if pod["spec"].get("priorityClassName") == URGENT]

    def test_with_groups_some_pods_are_members(self):
        self.assertTrue(self.groups())

    def test_without_groups_no_pod_is_a_member(self):
        self.assertFalse(self.groups(groups=False))

    def test_with_preemption_some_pods_are_urgent(self):
        self.assertTrue(self.urgent())

    def test_without_preemption_no_pod_is_urgent(self):
        self.assertFalse(self.urgent(preemption=False))


if __name__ == "__main__":
    unittest.main()
