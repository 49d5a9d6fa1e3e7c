# SPDX-License-Identifier: Apache-2.0
"""Controllers: applying one gives a warning about its pods, and only the pods are denied."""
from lib.api import eventually
from lib.case import Case
from lib.evidence import PREFIX, deployment, requirements


def workload(kind, team):
    """The smallest object of a kind with a managed pod template."""
    template = deployment("report", team)["spec"]["template"]
    selector = {"matchLabels": {"app": "report"}}
    once = {"metadata": template["metadata"], "spec": {**template["spec"], "restartPolicy": "Never"}}
    version, spec = {
        "Deployment": ("apps/v1", {"selector": selector, "template": template}),
        "ReplicaSet": ("apps/v1", {"selector": selector, "template": template}),
        "StatefulSet": ("apps/v1", {"selector": selector, "serviceName": "report", "template": template}),
        "DaemonSet": ("apps/v1", {"selector": selector, "template": template}),
        "ReplicationController": ("v1", {"selector": {"app": "report"}, "template": template}),
        "Job": ("batch/v1", {"template": once}),
        "CronJob": ("batch/v1", {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": once}}}),
        "PodTemplate": ("v1", None),
    }[kind]
    made = {"apiVersion": version, "kind": kind, "metadata": {"name": "report", "namespace": team}}
    return {**made, **({"template": template} if spec is None else {"spec": spec})}


class Controllers(Case):
    def setUp(self):
        self.world.gate.ensure()

    def test_every_kind_of_controller_gets_a_warning_and_none_is_denied(self):
        team = self.team()
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job", "CronJob",
                     "PodTemplate"):
            with self.subTest(kind=kind):
                done = self.control.create(workload(kind, team), dry_run=True)
                self.assertEqual(done.status, 0, done.said)
                self.assertIn("Warning: ", done.err)
                self.assertIn("gate.evidence.missing", done.err)

    def test_a_deployment_gets_a_warning_and_the_event_of_its_denied_pod_is_readable(self):
        team = self.team()
        done = self.control.apply(deployment("report", team))
        self.assertEqual((done.status, done.out), (0, "deployment.apps/report created\n"), done.err)
        self.assertIn("Warning: ", done.err)
        self.assertIn("gate.evidence.missing", done.err)

        def event():
            said = self.control.must("-n", team, "events", "--types=Warning")
            return said if "FailedCreate" in said else None
        said = eventually(event, "an event on the ReplicaSet")
        self.assertRegex(said, r"ReplicaSet/report-[a-z0-9]+ +Error creating: admission webhook "
                         '"pods.sandbox.runx.dev" denied the request: ')
        self.assertIn("gate.evidence.missing", said)

        def condition():
            status = self.api.get(f"/apis/apps/v1/namespaces/{team}/deployments/report")["status"]
            return [each for each in status.get("conditions", []) if each["type"] == "ReplicaFailure"]
        self.assertIn("gate.evidence.missing", eventually(condition, "the Deployment's condition")[0]["message"])
        self.assertEqual(self.api.get(f"/api/v1/namespaces/{team}/pods")["items"], [])

    def test_the_pod_of_a_deployment_is_created_after_its_evidence_is_signed(self):
        team = self.team()
        self.control.apply(deployment("report", team))
        eventually(lambda: "FailedCreate" in self.control.must("-n", team, "events"), "a denial")
        self.publish(requirements(), team)
        self.assert_allowed(self.control.kubectl("-n", team, "wait", "deployment/report", "--for=condition=Available",
                                                 "--timeout=90s"))

    def test_a_deployment_with_signed_evidence_runs_without_a_warning(self):
        team = self.team()
        self.publish(requirements(), team)
        done = self.control.apply(deployment("report", team, replicas=2))
        self.assertEqual((done.status, done.err), (0, ""))
        self.assert_allowed(self.control.kubectl("-n", team, "rollout", "status", "deployment/report", "--timeout=60s"))

    def test_annotations_on_the_controller_itself_are_reported_as_misplaced(self):
        team = self.team()
        wrong = deployment("report", team, skill=None)
        wrong["metadata"]["annotations"] = {PREFIX + "skill-ref": "acme/report@1.4.0"}
        done = self.control.apply(wrong, dry_run=True)
        self.assertEqual(done.status, 0, done.said)
        self.assertIn("gate.annotation.missing", done.err)
        self.assertIn("template", done.err)

    def test_a_job_of_a_signed_workload_runs_to_its_end(self):
        team = self.team()
        self.publish(requirements(), team)
        self.assert_allowed(self.control.create(workload("Job", team)))
        self.assert_allowed(self.control.kubectl("-n", team, "wait", "job/report", "--for=condition=Complete", "--timeout=60s"))
