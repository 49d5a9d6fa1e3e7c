#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A real API server accepts every object that the chart renders from each of its example values.

KUBECONFIG is the file of tests/e2e/cluster.sh, HELM a helm program. The tests are server-side dry runs that reject unknown
fields."""
import os
import unittest

from chart import VALUE_SETS, render
from cluster_client import Cluster

# API groups of operators, which the API server of the tests does not have
FOREIGN = ("cert-manager.io", "monitoring.coreos.com")
NAMESPACE = "admitted-gate"


def path_of(item):
    group, kind = item["apiVersion"], item["kind"].lower()
    plural = kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
    base = f"/apis/{group}" if "/" in group else f"/api/{group}"
    if kind in ("namespace", "clusterrole", "clusterrolebinding", "flowschema", "validatingwebhookconfiguration"):
        return f"{base}/{plural}"
    return f"{base}/namespaces/{item['metadata'].get('namespace', NAMESPACE)}/{plural}"


class Admitted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(os.environ["KUBECONFIG"])
        tests = [item["metadata"]["namespace"] for values in VALUE_SETS for item in render(
            "--values", values, namespace=NAMESPACE) if item["kind"] == "Job"]
        for name in sorted({NAMESPACE, "payments", "ledger", *tests}):
            cls.cluster.make_namespace(name)

    def test_every_object(self):
        for values in VALUE_SETS:
            for item in render("--values", values, namespace=NAMESPACE):
                if item["apiVersion"].split("/")[0] in FOREIGN:
                    continue
                if item["kind"] == "Namespace":
                    item["metadata"]["name"] += "-dry"
                with self.subTest(values=values.name, kind=item["kind"], name=item["metadata"]["name"]):
                    made = self.cluster.ask("POST", path_of(item) + "?dryRun=All&fieldValidation=Strict", item)
                    self.assertEqual(made["metadata"]["name"], item["metadata"]["name"])

    def test_pods_are_restricted(self):
        """Pod Security `restricted` accepts the gate's own pods, and those of the test."""
        self.cluster.patch(f"/api/v1/namespaces/{NAMESPACE}",
                           {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
        for values in VALUE_SETS:
            for item in render("--values", values, namespace=NAMESPACE):
                if item["kind"] not in ("Deployment", "Job") or values.name == "everything-values.yaml":
                    continue
                with self.subTest(values=values.name, kind=item["kind"]):
                    template = item["spec"]["template"]
                    spec = {k: v for k, v in template["spec"].items() if k not in ("priorityClassName", "serviceAccountName")}
                    for constraint in spec.get("topologySpreadConstraints", []):
                        constraint.pop("matchLabelKeys", None)  # the label that a Deployment adds is missing
                    self.cluster.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All",
                                     {"metadata": {**template["metadata"], "name": "x"}, "spec": spec})


if __name__ == "__main__":
    unittest.main()
