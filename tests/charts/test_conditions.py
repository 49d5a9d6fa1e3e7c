#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The chart's webhook entries in a real API server: which requests it sends to which entry, and which to none.

KUBECONFIG is the file of tests/e2e/cluster.sh, HELM a helm program. A recorder replaces the gate, so that the tests also
see that no request was sent."""
import os
import secrets
import time
import unittest

from chart import render
from cluster_client import Cluster, Recorder, Refused

RELEASE_NAMESPACE = "conditions-gate"
OURS = "sandbox.runx.dev/skill-ref"
MANAGED = {OURS: "acme/report@1.4.0"}
IMAGE = "registry.example/report@sha256:" + "a" * 64
OTHER_IMAGE = "registry.example/report@sha256:" + "b" * 64
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

# namespace: its labels
NAMESPACES = {
    "plain": {},
    "enforce-none": {"enforce": "none"},
    "enforce-annotated": {"enforce": "annotated"},
    "enforce-required": {"enforce": "required"},
    "enforce-misspelt": {"enforce": "requierd"},
    "warn-annotated": {"warn": "annotated"},
    "warn-required": {"warn": "required"},
    "audit-required": {"audit": "required"},
    "warn-and-audit": {"warn": "required", "audit": "required"},
    "none-but-warn": {"enforce": "none", "warn": "required"},
    "all-required": {"enforce": "required", "warn": "required", "audit": "required"},
    "boundary-block": {"boundary": "block"},
    "boundary-misspelt": {"boundary": "blok"},
    "boundary-and-warn": {"boundary": "block", "warn": "required"},
    "boundary-and-enforce": {"boundary": "none", "enforce": "required"},
}


def configuration(*options):
    """The ValidatingWebhookConfiguration that the chart makes."""
    items = render("--set", "webhook.url=https://127.0.0.1:1/validate", *options, namespace=RELEASE_NAMESPACE)
    return next(item for item in items if item["kind"] == "ValidatingWebhookConfiguration")


def pod_spec(image=IMAGE):
    return {"restartPolicy": "Never", "initContainers": [{"name": "first", "image": IMAGE}],
            "containers": [{"name": "main", "image": image}]}


def template(annotations, image=IMAGE, restart="Always"):
    return {"metadata": {"labels": {"app": "x"}, "annotations": annotations},
            "spec": {"restartPolicy": restart, "containers": [{"name": "main", "image": image}]}}


SELECTOR = {"matchLabels": {"app": "x"}}
# kind: (path, the object around a pod template)
CONTROLLERS = {
    "PodTemplate": ("/api/v1/namespaces/%s/podtemplates", lambda t: {"template": t}),
    "ReplicationController": ("/api/v1/namespaces/%s/replicationcontrollers",
                              lambda t: {"spec": {"replicas": 0, "selector": {"app": "x"}, "template": t}}),
    "ReplicaSet": ("/apis/apps/v1/namespaces/%s/replicasets",
                   lambda t: {"spec": {"replicas": 0, "selector": SELECTOR, "template": t}}),
    "Deployment": ("/apis/apps/v1/namespaces/%s/deployments",
                   lambda t: {"spec": {"replicas": 0, "selector": SELECTOR, "template": t}}),
    "StatefulSet": ("/apis/apps/v1/namespaces/%s/statefulsets",
                    lambda t: {"spec": {"replicas": 0, "serviceName": "x", "selector": SELECTOR, "template": t}}),
    "DaemonSet": ("/apis/apps/v1/namespaces/%s/daemonsets", lambda t: {"spec": {"selector": SELECTOR, "template": t}}),
    "Job": ("/apis/batch/v1/namespaces/%s/jobs",
            lambda t: {"spec": {"suspend": True, "template": {**t, "spec": {**t["spec"], "restartPolicy": "Never"}}}}),
    "CronJob": ("/apis/batch/v1/namespaces/%s/cronjobs",
                lambda t: {"spec": {"suspend": True, "schedule": "0 0 1 1 *", "jobTemplate": {"spec": {
                    "template": {**t, "spec": {**t["spec"], "restartPolicy": "Never"}}}}}}),
}


MUTABLE_TEMPLATES = [kind for kind in CONTROLLERS if kind != "Job"]


def in_template(kind, change):
    """A change of the pod template of an object of this kind."""
    around = {"PodTemplate": ["template"], "CronJob": ["template", "spec", "jobTemplate", "spec"]}
    for key in around.get(kind, ["template", "spec"]):
        change = {key: change}
    return change


class Conditions(unittest.TestCase):
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(os.environ["KUBECONFIG"])
        cls.recorder = Recorder("admin")
        cls.addClassCleanup(cls.recorder.close)
        for name, labels in {**NAMESPACES, RELEASE_NAMESPACE: {}}.items():
            cls.cluster.make_namespace(name, labels)
        made = configuration(*cls.OPTIONS)
        made["metadata"]["name"] = "conditions"
        for entry in made["webhooks"]:
            entry["clientConfig"] = {"url": f"{cls.recorder.url}/{entry['name']}", "caBundle": cls.recorder.ca()}
        cls.drop_configuration()
        cls.cluster.ask("POST", CONFIGURATIONS, made)
        cls.addClassCleanup(cls.drop_configuration)
        cls.wait_until_asked()

    @classmethod
    def drop_configuration(cls):
        try:
            cls.cluster.ask("DELETE", f"{CONFIGURATIONS}/conditions")
        except Refused as refused:
            if refused.code != 404:
                raise

    @classmethod
    def wait_until_asked(cls):
        """Waits until the API server uses the configuration, about a second. All entries take effect at the same time."""
        for _ in range(100):
            cls.cluster.ask("POST", "/api/v1/namespaces/plain/pods?dryRun=All",
                            {"metadata": {"name": "probe", "annotations": MANAGED}, "spec": pod_spec()})
            if cls.recorder.taken():
                return
            time.sleep(0.1)
        raise AssertionError("the API server never called the recorder")

    @staticmethod
    def name():
        return f"x-{secrets.token_hex(6)}"

    def create_pod(self, namespace="plain", annotations=None, labels=None, headers=(), **metadata):
        """Creates a pod. Returns its path and the recorded requests."""
        name = self.name()
        metadata = {"name": name, "annotations": annotations, "labels": labels, **metadata}
        body = {"metadata": {k: v for k, v in metadata.items() if v is not None}, "spec": pod_spec()}
        if annotations and "kubernetes.io/config.mirror" in annotations:
            body["spec"]["nodeName"] = "node-0"
        self.recorder.taken()
        self.cluster.ask("POST", f"/api/v1/namespaces/{namespace}/pods", body, headers=headers)
        return f"/api/v1/namespaces/{namespace}/pods/{name}", self.recorder.taken()

    def asked_on_create(self, *arguments, **named):
        return self.create_pod(*arguments, **named)[1]

    def asked_on_patch(self, path, body):
        """The recorded requests without duplicates: the API server calls again if a controller wrote the status meanwhile."""
        self.cluster.settle(path)
        self.recorder.taken()
        self.cluster.patch(path, body)
        return sorted(set(self.recorder.taken()))

    def create_controller(self, kind, namespace="plain", annotations=None, own=None):
        path, around = CONTROLLERS[kind]
        name = self.name()
        metadata = {"name": name, "annotations": own} if own else {"name": name}
        self.recorder.taken()
        self.cluster.ask("POST", path % namespace, {"metadata": metadata, **around(template(annotations or {}))})
        return f"{path % namespace}/{name}", self.recorder.taken()


def pods(operation="CREATE", entry="pods.sandbox.runx.dev", what="Pod"):
    return [(entry, operation, what)]


class DefaultConditions(Conditions):
    """Default values: the API server calls the gate for managed pods, and for others if their namespace requires it."""

    def test_unmanaged_pod_is_sent_to_no_entry(self):
        self.assertEqual(self.asked_on_create(), [])
        self.assertEqual(self.asked_on_create(annotations={"example.com/a": "b"}, labels={"a": "b"}), [])

    def test_managed_pod_is_sent_to_the_gate(self):
        self.assertEqual(self.asked_on_create(annotations=MANAGED), pods())
        for key in ("Sandbox.RUNX.dev/Skill-Ref", "sandbox.runx.dev/unknown", "SANDBOX.RUNX.DEV/x"):
            with self.subTest(key):
                self.assertEqual(self.asked_on_create(annotations={"a": "b", key: "", "z": "y"}), pods())

    def test_prefix_is_compared_whole(self):
        for key in ("xsandbox.runx.dev/skill-ref", "sandbox.runx.dev.evil/skill-ref", "sandbox.runx.dev",
                    "signature.sandbox.runx.dev/key"):
            with self.subTest(key):
                self.assertEqual(self.asked_on_create(annotations={key: "x"}), [])

    def test_entry_for_each_label_of_a_namespace(self):
        required, warn, audit = ("required.pods.sandbox.runx.dev", "warn.sandbox.runx.dev", "audit.sandbox.runx.dev")
        for namespace, entry in {
                "enforce-none": None, "enforce-annotated": None, "warn-annotated": None,
                "enforce-required": required, "enforce-misspelt": required, "all-required": required,
                "warn-required": warn, "none-but-warn": warn, "warn-and-audit": warn,
                "audit-required": audit, "boundary-block": None, "boundary-misspelt": None,
                "boundary-and-warn": warn, "boundary-and-enforce": required}.items():
            with self.subTest(namespace):
                self.assertEqual(self.asked_on_create(namespace), pods(entry=entry) if entry else [])
                self.assertEqual(self.asked_on_create(namespace, annotations=MANAGED), pods())

    def test_own_namespace_and_kube_system_are_excluded(self):
        for namespace in (RELEASE_NAMESPACE, "kube-system"):
            with self.subTest(namespace):
                self.assertEqual(self.asked_on_create(namespace, annotations=MANAGED), [])

    def test_update_in_which_nothing_differs(self):
        for namespace, annotations in (("plain", MANAGED), ("enforce-required", None), ("warn-required", None)):
            with self.subTest(namespace):
                path, _ = self.create_pod(namespace, annotations=annotations, finalizers=["example.com/x"])
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"labels": {"a": "b"}}}), [])
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": {"a": "b"}}}), [])
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": {"a": None}}}), [])
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"finalizers": []}}), [])
                self.assertEqual(self.asked_on_patch(path, {"spec": {"activeDeadlineSeconds": 9}}), [])

    def test_update_of_our_annotations_is_sent(self):
        path, _ = self.create_pod(annotations=MANAGED)
        for change in ({OURS: "acme/report@1.5.0"}, {"sandbox.runx.dev/class": "x"}, {"SANDBOX.runx.dev/class": "y"},
                       {"sandbox.runx.dev/class": None}, {OURS: None, "SANDBOX.runx.dev/class": None}):
            with self.subTest(change):
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": change}}), pods("UPDATE"))
        self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": {"a": "b"}}}), [])
        self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": MANAGED}}), pods("UPDATE"))

    def test_update_of_images_is_sent(self):
        for namespace, annotations, entry in (("plain", MANAGED, "pods.sandbox.runx.dev"), ("plain", None, None),
                                              ("enforce-required", None, "required.pods.sandbox.runx.dev"),
                                              ("audit-required", None, "audit.sandbox.runx.dev")):
            with self.subTest(namespace=namespace, annotations=annotations):
                path, _ = self.create_pod(namespace, annotations=annotations)
                for containers in ("containers", "initContainers"):
                    spec = pod_spec()
                    change = [{**spec[containers][0], "image": OTHER_IMAGE}]
                    self.cluster.settle(path)
                    self.recorder.taken()
                    self.cluster.ask("PATCH", path, {"spec": {containers: change}},
                                     "application/strategic-merge-patch+json")
                    self.assertEqual(self.recorder.taken(), pods("UPDATE", entry) if entry else [])

    def test_annotations_taken_off_together_with_an_image(self):
        path, _ = self.create_pod(annotations=MANAGED)
        self.cluster.settle(path)
        self.recorder.taken()
        self.cluster.ask("PATCH", path, {"metadata": {"annotations": {OURS: None}},
                                         "spec": {"containers": [{"name": "main", "image": OTHER_IMAGE}]}},
                         "application/strategic-merge-patch+json")
        self.assertEqual(self.recorder.taken(), pods("UPDATE"))

    def test_ephemeral_containers(self):
        for namespace, annotations, entry in (("plain", MANAGED, "pods.sandbox.runx.dev"), ("plain", None, None),
                                              ("enforce-required", None, "required.pods.sandbox.runx.dev")):
            with self.subTest(namespace=namespace, annotations=annotations):
                path, _ = self.create_pod(namespace, annotations=annotations)
                self.recorder.taken()
                self.cluster.ask("PATCH", path + "/ephemeralcontainers",
                                 {"spec": {"ephemeralContainers": [{"name": "debug", "image": IMAGE}]}},
                                 "application/strategic-merge-patch+json")
                self.assertEqual(self.recorder.taken(),
                                 pods("UPDATE", entry, "Pod/ephemeralcontainers") if entry else [])

    def test_status_and_delete_are_not_sent(self):
        path, _ = self.create_pod(annotations=MANAGED)
        self.assertEqual(self.asked_on_patch(path + "/status", {"metadata": {"annotations": {OURS: "x/y@1"}}}), [])
        self.recorder.taken()
        self.cluster.ask("DELETE", path + "?gracePeriodSeconds=0")
        self.assertEqual(self.recorder.taken(), [])

    def test_mirror_pods_need_all_three_signs(self):
        mirror = {**MANAGED, "kubernetes.io/config.mirror": "x"}
        node = [("Impersonate-User", "system:node:node-0"), ("Impersonate-Group", "system:masters")]
        nodes = [*node, ("Impersonate-Group", "system:nodes")]
        self.assertEqual(self.asked_on_create(annotations=mirror), pods())
        self.addCleanup(setattr, self.recorder, "user", self.recorder.user)
        self.recorder.user = "system:node:node-0"
        self.assertEqual(self.asked_on_create(annotations=mirror, headers=nodes), [])
        self.assertEqual(self.asked_on_create(annotations=MANAGED, headers=nodes), pods())
        self.assertEqual(self.asked_on_create(annotations=mirror, headers=node), pods())

    def test_entry_for_each_kind_of_controller(self):
        for kind in CONTROLLERS:
            with self.subTest(kind):
                self.assertEqual(self.create_controller(kind)[1], [])
                self.assertEqual(self.create_controller(kind, annotations={"a": "b"}, own={"c": "d"})[1], [])
                entry = "templates.sandbox.runx.dev"
                self.assertEqual(self.create_controller(kind, own={"SANDBOX.runx.dev/x": ""})[1],
                                 pods(entry=entry, what=kind))
                path, asked = self.create_controller(kind, annotations=MANAGED)
                self.assertEqual(asked, pods(entry=entry, what=kind))
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"labels": {"a": "b"}}}), [])
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": {"a": "b"}}}), [])
                self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": MANAGED}}),
                                 pods("UPDATE", entry, kind))
                for namespace, expected in (("enforce-required", "required.templates.sandbox.runx.dev"),
                                            ("warn-required", "warn.sandbox.runx.dev"),
                                            ("audit-required", "audit.sandbox.runx.dev")):
                    self.assertEqual(self.create_controller(kind, namespace)[1], pods(entry=expected, what=kind))

    def test_only_relevant_changes_of_templates_are_sent(self):
        for kind in MUTABLE_TEMPLATES:
            with self.subTest(kind):
                path, _ = self.create_controller(kind, annotations=MANAGED)
                expected = pods("UPDATE", "templates.sandbox.runx.dev", kind)
                main = {"name": "main", "image": IMAGE}
                for metadata in ({"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}, {"labels": {"a": "b"}}):
                    self.assertEqual(self.asked_on_patch(path, in_template(kind, {"metadata": metadata})), [], metadata)
                for spec in ({"containers": [{**main, "args": ["--serve"]}]},
                             {"containers": [{**main, "env": [{"name": "A", "value": "1"}]}]},
                             {"containers": [{**main, "env": [{"name": "A", "value": "2"}]}]},
                             {"volumes": [{"name": "e", "emptyDir": {}}]},
                             {"volumes": None},
                             {"hostNetwork": True},
                             {"hostNetwork": None},
                             {"containers": [{**main, "image": OTHER_IMAGE}]},
                             {"containers": [{**main, "image": OTHER_IMAGE}, {**main, "name": "second"}]},
                             {"initContainers": [{**main, "name": "first"}]},
                             {"volumes": [{"name": "v", "image": {"reference": IMAGE}}]},
                             {"volumes": [{"name": "v", "image": {"reference": OTHER_IMAGE}}]}):
                    self.assertEqual(self.asked_on_patch(path, in_template(kind, {"spec": spec})), expected, spec)
                    self.assertEqual(self.asked_on_patch(path, in_template(kind, {"spec": spec})), [], spec)
                gone = {"metadata": {"annotations": {OURS: None}}}
                self.assertEqual(self.asked_on_patch(path, in_template(kind, gone)), expected)

    def test_the_template_of_a_suspended_job_is_compared(self):
        path, _ = self.create_controller("Job", annotations=MANAGED)
        change = in_template("Job", {"spec": {"nodeSelector": {"a": "b"}}})
        self.assertEqual(self.asked_on_patch(path, change), pods("UPDATE", "templates.sandbox.runx.dev", "Job"))
        self.assertEqual(self.asked_on_patch(path, change), [])

    def test_templates_are_compared_in_each_entry_for_controllers_and_only_there(self):
        for namespace, entry in (("enforce-required", "required.templates.sandbox.runx.dev"),
                                 ("warn-required", "warn.sandbox.runx.dev"), ("audit-required", "audit.sandbox.runx.dev"),
                                 ("plain", None)):
            with self.subTest(namespace):
                path, _ = self.create_controller("Deployment", namespace)
                change = in_template("Deployment", {"spec": {"hostNetwork": True}})
                self.assertEqual(self.asked_on_patch(path, change), pods("UPDATE", entry, "Deployment") if entry else [])

    def test_changes_outside_of_the_template_are_not_sent(self):
        for kind, spec in (("ReplicationController", {"replicas": 1}), ("ReplicaSet", {"replicas": 1}),
                           ("Deployment", {"replicas": 1}), ("Deployment", {"paused": True}), ("StatefulSet", {"replicas": 1}),
                           ("DaemonSet", {"minReadySeconds": 1}), ("Job", {"parallelism": 2}),
                           ("CronJob", {"schedule": "0 0 2 1 *"})):
            with self.subTest(kind=kind, spec=spec):
                path, _ = self.create_controller(kind, annotations=MANAGED)
                self.assertEqual(self.asked_on_patch(path, {"spec": spec}), [])

    def test_scale_and_status_are_not_sent(self):
        path, _ = self.create_controller("Deployment", annotations=MANAGED)
        self.assertEqual(self.asked_on_patch(path + "/scale", {"spec": {"replicas": 1}}), [])
        self.assertEqual(self.asked_on_patch(path + "/status", {"status": {"collisionCount": 1}}), [])

    def test_the_largest_templates_are_compared(self):
        """The cost of a condition is limited: one that costs too much is skipped where the entry ignores failures."""
        words = [{"name": f"V{i}", "value": "x" * 90} for i in range(9000)]
        main = {"name": "main", "image": IMAGE}
        path, _ = self.create_controller("Deployment", annotations=MANAGED)
        expected = pods("UPDATE", "templates.sandbox.runx.dev", "Deployment")
        for containers in ([{**main, "env": words}], [{**main, "env": [*words[:-1], {**words[-1], "value": "y"}]}],
                           [{**main, "name": f"c{i}"} for i in range(5000)]):
            change = in_template("Deployment", {"spec": {"containers": containers}})
            self.assertEqual(self.asked_on_patch(path, change), expected, len(containers))
            change = {"metadata": {"labels": {"containers": str(len(containers))}}}
            self.assertEqual(self.asked_on_patch(path, change), [])

    def test_conditions_with_thousands_of_annotations(self):
        many = {f"example.com/{i:05}": "x" for i in range(5000)}
        self.assertEqual(self.asked_on_create(annotations=many), [])
        path, asked = self.create_pod(annotations={**many, **MANAGED})
        self.assertEqual(asked, pods())
        self.assertEqual(self.asked_on_patch(path, {"metadata": {"labels": {"a": "b"}}}), [])
        self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": {"example.com/00000": "y"}}}), [])
        self.assertEqual(self.asked_on_patch(path, {"metadata": {"annotations": {OURS: "a/b@1"}}}), pods("UPDATE"))


class RequiredConditions(Conditions):
    """config.defaults.enforce=required: every pod is sent to the gate, except updates without a relevant change."""
    OPTIONS = ("--set", "config.defaults.enforce=required")

    def test_every_pod_is_sent(self):
        for namespace in ("plain", "enforce-none", "enforce-required", "warn-required"):
            with self.subTest(namespace):
                self.assertEqual(self.asked_on_create(namespace), pods())
                self.assertEqual(self.asked_on_create(namespace, annotations=MANAGED), pods())
        self.assertEqual(self.asked_on_create("kube-system", annotations=MANAGED), [])
        self.assertEqual(self.create_controller("Deployment")[1],
                         pods(entry="templates.sandbox.runx.dev", what="Deployment"))

    def test_update_in_which_nothing_differs(self):
        path, _ = self.create_pod()
        self.assertEqual(self.asked_on_patch(path, {"metadata": {"labels": {"a": "b"}}}), [])


class AdvisoryConditions(Conditions):
    """config.floor.warn=required: every pod is sent to the gate, and accepted if the gate does not answer."""
    OPTIONS = ("--set", "config.floor.warn=required,config.defaults.controllers=none")

    def test_every_pod_is_sent(self):
        for namespace, entry in (("plain", "advisory.sandbox.runx.dev"), ("warn-required", "advisory.sandbox.runx.dev"),
                                 ("enforce-required", "required.pods.sandbox.runx.dev")):
            with self.subTest(namespace):
                self.assertEqual(self.asked_on_create(namespace), pods(entry=entry))
                self.assertEqual(self.asked_on_create(namespace, annotations=MANAGED), pods())
        self.assertEqual(self.create_controller("Deployment", annotations=MANAGED)[1], [])


class LimitedConditions(Conditions):
    """evidence.namespaces: pods of other namespaces are not sent."""
    OPTIONS = ("--set", "evidence.namespaces={plain,enforce-required}")

    def test_only_named_namespaces(self):
        self.assertEqual(self.asked_on_create("plain", annotations=MANAGED), pods())
        self.assertEqual(self.asked_on_create("enforce-required"), pods(entry="required.pods.sandbox.runx.dev"))
        self.assertEqual(self.asked_on_create("all-required", annotations=MANAGED), [])


class GateGone(Conditions):
    """Which requests fail while the gate is unreachable, and which do not."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recorder.hangs_up = True

    def assert_refused(self, entry, *arguments, **named):
        with self.assertRaises(Refused) as caught:
            self.create_pod(*arguments, **named)
        self.assertIn(f'failed calling webhook "{entry}"', str(caught.exception))

    def test_fail_and_ignore(self):
        for namespace in ("plain", "enforce-none", "enforce-annotated", "warn-required", "audit-required", "boundary-block",
                          "boundary-misspelt"):
            with self.subTest(namespace):
                self.create_pod(namespace)
                self.create_controller("Deployment", namespace, annotations=MANAGED)
                self.assert_refused("pods.sandbox.runx.dev", namespace, annotations=MANAGED)
        self.assert_refused("required.pods.sandbox.runx.dev", "enforce-required")
        self.create_pod("kube-system", annotations=MANAGED)


if __name__ == "__main__":
    unittest.main()
