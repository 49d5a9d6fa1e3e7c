#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A real API server accepts every object that the chart renders from each of its example values.

KUBECONFIG is the file of tests/e2e/cluster.sh, HELM a helm program. The tests are server-side dry runs that reject unknown
fields."""
import copy
import json
import os
import unittest

from chart import VALUE_SETS, render
from cluster_client import Cluster, Refused
from test_templates import SMALLEST, merged

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


# Defaults that are rendered on purpose.
WANTED = {
    # complete, so that a manager that changes what is sent to the gate gets a conflict
    *(("ValidatingWebhookConfiguration", f"webhooks.{name}") for name in (
        "matchPolicy", "objectSelector", "failurePolicy", "clientConfig.service.port")),
    # the number of gates that was asked for
    ("Deployment", "spec.replicas"),
    # cannot change, or are a part of the key of a list
    ("Secret", "type"), ("RoleBinding", "roleRef.apiGroup"), ("ClusterRoleBinding", "roleRef.apiGroup"),
    ("Deployment", "spec.template.spec.containers.ports.protocol"), ("Service", "spec.ports.protocol"),
    # lists that have one owner as a whole
    ("NetworkPolicy", "spec.ingress.ports.protocol"), ("NetworkPolicy", "spec.policyTypes"),
}
PROBE = {"initialDelaySeconds": 0, "periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1}
# Values that are defaults of the API.
AT_DEFAULTS = {
    "replicaCount": 1, "minReadySeconds": 0, "revisionHistoryLimit": 10, "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler", "enableServiceLinks": True, "image": {"pullPolicy": "IfNotPresent"},
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
    "startupProbe": PROBE, "livenessProbe": PROBE, "readinessProbe": PROBE, "service": {"type": "ClusterIP"},
}


def members(tree, above=()):
    """(path, value) of every member of a map, at every depth; without what names the object."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if (*above, key) not in (("apiVersion",), ("kind",), ("metadata",)):
                yield (*above, key), value
                yield from members(value, (*above, key))
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from members(value, (*above, place))


def without(item, path):
    less = copy.deepcopy(item)
    above = less
    for key in path[:-1]:
        above = above[key]
    del above[path[-1]]
    return less


class Admitted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(os.environ["KUBECONFIG"])
        tests = [item["metadata"]["namespace"] for values in VALUE_SETS for item in render(
            "--values", values, namespace=NAMESPACE) if item["kind"] == "Job"]
        for name in sorted({NAMESPACE, "payments", "ledger", "monitoring", *tests}):
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

    def test_no_value_is_a_default_of_the_api(self):
        """A value that changes nothing makes Helm its owner by server-side apply, in conflict with other managers. Each member is
        left out in turn: then the API server must refuse the object or make another one."""
        found, seen = set(), set()
        sets = [render(values=merged(SMALLEST, more), namespace=NAMESPACE) for more in ({}, AT_DEFAULTS)]
        for item in [each for items in sets for each in items]:
            if item["kind"] in ("Namespace", "ConfigMap"):
                continue
            whole = self.made(item)
            for path, value in members(item):
                mark = (item["kind"], ".".join(key for key in path if isinstance(key, str)), json.dumps(value, sort_keys=True))
                if mark not in seen:
                    seen.add(mark)
                    if self.made(without(item, path)) == whole:
                        found.add(mark[:2])
        self.assertEqual(found, WANTED)

    def made(self, item):
        """What the API server would store, or None if it refuses."""
        try:
            made = self.cluster.ask("POST", path_of(item) + "?dryRun=All", item)
        except Refused:
            return None
        for key in ("uid", "creationTimestamp", "managedFields", "generation"):
            made["metadata"].pop(key, None)
        return made

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
