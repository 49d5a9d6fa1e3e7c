#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Upgrades of a release whose objects others have changed: an autoscaler, a person, another manager of server-side apply. The API
server has no nodes, so that no gate runs.

KUBECONFIG is the file of tests/e2e/cluster.sh, HELM a helm program."""
import json
import os
import time
import unittest

from chart import CHART, helm
from cluster_client import Cluster, Refused
from test_templates import SMALLEST, merged

NAMESPACE = "upgraded-gate"
RELEASE = "upgraded-sandgate"
OTHER = "another-sandgate"  # a release, and its namespace
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{RELEASE}"
# values that the chart does not render, because they are defaults of the API
OTHERS = {"spec": {"minReadySeconds": 7, "template": {"spec": {"schedulerName": "mine", "dnsPolicy": "Default", "containers": [
    {"name": "sandgate", "imagePullPolicy": "Always", "livenessProbe": {"periodSeconds": 20}}]}}}}


class Upgrades(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(os.environ["KUBECONFIG"])
        for name in (NAMESPACE, OTHER):
            cls.cluster.make_namespace(name)

    def tearDown(self):
        for namespace, release in ((NAMESPACE, RELEASE), (OTHER, RELEASE), (OTHER, OTHER)):
            self.helm("uninstall", "--wait", "--ignore-not-found", namespace=namespace, release=release)

    def run_helm(self, verb, *options, values=None, namespace=NAMESPACE, release=RELEASE):
        given = [CHART, "--values", "-"] if values is not None else []
        helm.cache_clear()
        status, _, error = helm(verb, release, *given, "--namespace", namespace, *options,
                                stdin=json.dumps(merged(SMALLEST, values or {})))
        return status, error

    def helm(self, *words, **options):
        status, error = self.run_helm(*words, **options)
        self.assertEqual(status, 0, error)

    def replicas(self):
        return self.cluster.ask("GET", DEPLOYMENT)["spec"]["replicas"]

    def wait_for_replicas(self, count):
        limit = time.monotonic() + 60
        while self.replicas() != count and time.monotonic() < limit:
            time.sleep(0.2)
        self.assertEqual(self.replicas(), count)

    def test_the_number_of_gates_that_others_set_outlives_an_upgrade(self):
        for values in ({"replicaCount": None}, {"autoscaling": {"enabled": True}}):
            with self.subTest(values=values):
                self.helm("install", values=values)
                if "autoscaling" in values:
                    self.wait_for_replicas(2)  # of minReplicas, by the autoscaler: it must not come after the five
                self.cluster.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 5}})
                self.helm("upgrade", values=merged(values, {"logLevel": "debug"}))
                self.assertEqual(self.replicas(), 5)
                self.helm("uninstall", "--wait")

    def test_leaving_the_number_of_gates_to_others_sets_one_until_they_set_it(self):
        self.helm("install", values={})
        self.assertEqual(self.replicas(), 2)
        self.helm("upgrade", values={"replicaCount": None})
        self.assertEqual(self.replicas(), 1)

    def test_two_releases_share_a_cluster_unless_they_have_the_same_name(self):
        self.helm("install", values={})
        status, error = self.run_helm("install", values={}, namespace=OTHER)
        self.assertEqual(status, 1)
        self.assertIn(f'"{RELEASE}"', error)
        self.assertIn("cannot be imported into the current release", error)
        self.helm("install", values={"webhook": {"excludeNamespaces": [NAMESPACE]}}, namespace=OTHER, release=OTHER)
        entries = self.cluster.ask("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")["items"]
        self.assertLessEqual({RELEASE, OTHER}, {item["metadata"]["name"] for item in entries})

    def test_another_manager_can_own_what_is_a_default_and_an_upgrade_leaves_it(self):
        self.helm("install", values={})
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": RELEASE}, **OTHERS}
        try:
            self.cluster.ask("PATCH", f"{DEPLOYMENT}?fieldManager=another", body, "application/apply-patch+yaml")
        except Refused as refused:
            self.fail(str(refused))
        self.helm("upgrade", values={"logLevel": "debug"})
        spec = self.cluster.ask("GET", DEPLOYMENT)["spec"]
        container = spec["template"]["spec"]["containers"][0]
        self.assertEqual((spec["minReadySeconds"], spec["template"]["spec"]["schedulerName"], spec["template"]["spec"]["dnsPolicy"],
                          container["imagePullPolicy"], container["livenessProbe"]["periodSeconds"]),
                         (7, "mine", "Default", "Always", 20))
        self.assertIn("debug", container["args"])


if __name__ == "__main__":
    unittest.main()
