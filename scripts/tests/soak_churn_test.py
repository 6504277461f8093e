"""Tests of soak_churn: which pods it creates."""

import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
# pylint: disable=wrong-import-position
from soak_api import (CLAIMS, CLAIMS_PATH, EVICTS, GROUP, LIMITED, PODS,
                      PROVISIONED, URGENT, VOLUMES, WAITING, WANT)
from soak_churn import Churn
from soak_volume_churn import IMMEDIATE


class FakeApi:
    """Records the objects that are created. Every request succeeds."""

    def __init__(self):
        self.created = {PODS: [], CLAIMS_PATH: [], VOLUMES: []}

    @property
    def pods(self):
        return self.created[PODS]

    def call(self, method, path, body=None, _kind=""):
        if method == "POST" and path in self.created:
            self.created[path].append(body | {"status": {}})
        return (201 if method == "POST" else 200), {}

    def get(self, path):
        return {"items": list(self.created[path])}


class ChurnTest(unittest.TestCase):
    """Lets the churn make 200 steps on a server that binds nothing."""

    def pods(self, **options):
        return self.run_churn(**options).pods

    def run_churn(self, seed=1, **options):
        api = FakeApi()
        churn = Churn(api, random.Random(seed), **options)
        for _ in range(200):
            churn.step()
        churn.finish()
        self.assertGreater(len(api.pods), 20)
        return api

    def claims_of_classes(self, **options):
        return {name for seed in range(6)
                for name in self.classes_of_run(seed=seed, **options)}

    def classes_of_run(self, **options):
        api = self.run_churn(**options)
        used = {volume["persistentVolumeClaim"]["claimName"]
                for pod in api.pods
                if pod["metadata"]["labels"][WANT] == CLAIMS
                for volume in pod["spec"]["volumes"]}
        return {claim["spec"]["storageClassName"]
                for claim in api.created[CLAIMS_PATH]
                if claim["metadata"]["name"] in used}

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

    def test_with_volumes_some_pods_have_claims(self):
        classes = self.claims_of_classes(volumes=True)
        self.assertEqual(classes, {"", IMMEDIATE})

    def test_with_waiting_some_claims_wait(self):
        classes = self.claims_of_classes(volumes=True, waiting=True)
        self.assertEqual(classes, {"", IMMEDIATE, WAITING})

    def test_with_provisioning_volumes_are_made_for_some_claims(self):
        classes = self.claims_of_classes(volumes=True, waiting=True,
                                         provisioning=True)
        self.assertEqual(classes,
                         {"", IMMEDIATE, WAITING, PROVISIONED, LIMITED})

    def test_with_provisioning_a_pod_may_need_the_place_of_others(self):
        wants = {provisioning: {pod["metadata"]["labels"][WANT]
                                for pod in self.pods(volumes=True, waiting=True,
                                                     provisioning=provisioning)}
                 for provisioning in (False, True)}
        self.assertEqual(wants[True] - wants[False], {EVICTS})

    def test_without_volumes_no_pod_has_a_claim(self):
        self.assertFalse(self.claims_of_classes())


if __name__ == "__main__":
    unittest.main()
