# SPDX-License-Identifier: Apache-2.0
"""Pods without a controller, as users create and change them with kubectl."""
from lib.api import eventually
from lib.case import Case
from lib.evidence import IMAGE, OTHER_DIGEST, PREFIX, moment, pod, requirements

DEBUG_IMAGE = f"registry.example.test/tools/debug@{OTHER_DIGEST}"


class Pods(Case):
    def setUp(self):
        self.world.gate.ensure()

    def admitted_pod(self, name="report", **spec):
        """Makes a namespace with evidence. Returns it, a pod that is admitted, and the name of the evidence."""
        team = self.team()
        evidence = self.publish(requirements(), team)
        self.assert_allowed(self.control.apply(pod(name, team, **spec)))
        return team, evidence

    def test_a_pod_with_signed_evidence_is_admitted(self):
        team = self.team()
        self.publish(requirements(), team)
        done = self.control.apply(pod("report", team))
        self.assertEqual((done.status, done.out, done.err), (0, "pod/report created\n", ""))
        self.assertEqual(self.api.get(f"/api/v1/namespaces/{team}/pods/report")["metadata"]["name"], "report")

    def test_a_pod_without_evidence_is_denied_with_a_readable_reason(self):
        team = self.team()
        done = self.control.create(pod("report", team))
        lines = done.err.splitlines()
        self.assertEqual(done.status, 1)
        self.assertTrue(lines[0].startswith(
            'Error from server (Forbidden): error when creating "STDIN": admission webhook "pods.sandbox.runx.dev" denied the request: '),
            lines[0])
        self.assertEqual(len(lines), 3, done.err)
        self.assertTrue(lines[1].startswith("gate.evidence.missing: "), lines[1])
        self.assertIn(f"the namespaces {team} and sandgate-system", lines[1])
        self.assertEqual(lines[2], "also, as a consequence: gate.image.unlisted, sandbox.time.missing, sandbox.requirements.provenance")
        self.assertIsNone(self.api.get_or_none(f"/api/v1/namespaces/{team}/pods/report"))

    def test_a_pod_without_our_annotations_is_admitted_if_the_namespace_requires_nothing(self):
        self.assert_allowed(self.control.apply(pod("plain", self.team(), skill=None, image="busybox")))

    def test_a_pod_without_our_annotations_is_denied_if_the_namespace_requires_them(self):
        team = self.team(enforce="required")
        self.assert_denied(self.control.apply(pod("plain", team, skill=None)), "gate.annotation.missing")

    def test_a_namespace_with_level_warn_gets_the_pod_and_the_warning(self):
        team = self.team(enforce="none", warn="required", audit="required")
        done = self.control.apply(pod("report", team))
        self.assertEqual((done.status, done.out), (0, "pod/report created\n"), done.err)
        self.assertIn("Warning: ", done.err)
        self.assertIn("gate.evidence.missing", done.err)

    def test_a_server_side_dry_run_is_judged_and_creates_nothing(self):
        team = self.team()
        self.assert_denied(self.control.apply(pod("report", team), dry_run=True), "gate.evidence.missing")
        self.publish(requirements(), team)
        done = self.control.apply(pod("report", team), dry_run=True)
        self.assertEqual((done.status, done.out), (0, "pod/report created (server dry run)\n"), done.err)
        self.assertIsNone(self.api.get_or_none(f"/api/v1/namespaces/{team}/pods/report"))

    def test_a_pod_with_a_generated_name_is_judged_under_that_name(self):
        team = self.team()
        self.assert_denied(self.control.create(pod("report-", team, generate=True)), f"{team}/Pod/report-* is refused: ")
        self.publish(requirements(), team)
        done = self.control.create(pod("report-", team, generate=True))
        self.assertRegex(done.out, r"^pod/report-[a-z0-9]{5} created\n$", done.err)

    def test_kubectl_debug_with_an_unlisted_image_is_denied(self):
        team, _evidence = self.admitted_pod()
        done = self.control.kubectl("-n", team, "debug", "pod/report", "--image=busybox:1.36", "--attach=false",
                                    "--container=look", "--profile=general")
        self.assertEqual(done.status, 1, done.said)
        self.assertIn("gate.image.unpinned at spec.ephemeralContainers[0].image", done.err)
        found = self.api.get(f"/api/v1/namespaces/{team}/pods/report")
        self.assertEqual(found["spec"].get("ephemeralContainers", []), [])

    def test_kubectl_debug_with_an_image_that_a_baseline_lists_is_admitted(self):
        team, _evidence = self.admitted_pod()
        self.publish({"apiVersion": PREFIX + "v1", "kind": "SandboxBaseline", "images": [OTHER_DIGEST],
                      "baseline": {"network_allowed": False}}, team)
        done = self.control.kubectl("-n", team, "debug", "pod/report", f"--image={DEBUG_IMAGE}", "--attach=false",
                                    "--container=look", "--profile=general")
        self.assert_allowed(done)
        found = self.api.get(f"/api/v1/namespaces/{team}/pods/report")
        self.assertEqual([each["name"] for each in found["spec"]["ephemeralContainers"]], ["look"])

    def test_an_update_to_an_unlisted_image_is_denied_and_the_pod_keeps_its_image(self):
        team, _evidence = self.admitted_pod()
        done = self.control.kubectl("-n", team, "set", "image", "pod/report", f"app=registry.example.test/other@{OTHER_DIGEST}")
        self.assertEqual(done.status, 1, done.said)
        self.assertIn("gate.image.unlisted at spec.containers[0].image: ", done.err)
        self.assertIn(OTHER_DIGEST, done.err)
        found = self.api.get(f"/api/v1/namespaces/{team}/pods/report")
        self.assertEqual(found["spec"]["containers"][0]["image"], IMAGE)

    def test_removing_our_annotations_is_judged(self):
        team, _evidence = self.admitted_pod()
        done = self.control.kubectl("-n", team, "annotate", "pod/report", PREFIX + "skill-ref-")
        self.assertEqual(done.status, 1, done.said)
        self.assertIn("gate.annotation.missing", done.err)

    def test_a_pod_whose_evidence_was_deleted_can_be_labelled_and_its_finalizer_removed(self):
        team, evidence = self.admitted_pod()
        self.control.must("-n", team, "patch", "pod/report", "--type=merge",
                          "-p", '{"metadata":{"finalizers":["example.test/hold"]}}')
        self.withdraw(evidence, team)
        eventually(lambda: self.control.apply(pod("second", team), dry_run=True).status == 1, "a denial")
        self.assert_allowed(self.control.kubectl("-n", team, "label", "pod/report", "colour=blue"))
        self.assert_allowed(self.control.kubectl("-n", team, "delete", "pod/report", "--wait=false"))
        self.assertTrue(self.api.get(f"/api/v1/namespaces/{team}/pods/report")["metadata"]["deletionTimestamp"])
        self.assert_allowed(self.control.kubectl("-n", team, "patch", "pod/report", "--type=merge",
                                                 "-p", '{"metadata":{"finalizers":null}}'))
        eventually(lambda: self.api.get_or_none(f"/api/v1/namespaces/{team}/pods/report") is None, "the pod's end")

    def test_a_namespace_with_pods_whose_evidence_has_expired_can_be_deleted(self):
        team = self.team()
        self.publish(requirements(expires_at=moment(8)), team)
        for name in ("one", "two"):
            self.assert_allowed(self.control.apply(pod(name, team)))
        eventually(lambda: "gate.evidence.expired" in self.control.apply(pod("late", team), dry_run=True).err, "the expiry")
        self.assert_allowed(self.control.kubectl("delete", "namespace", team, "--timeout=60s"))
        self.assertIsNone(self.api.get_or_none(f"/api/v1/namespaces/{team}"))
