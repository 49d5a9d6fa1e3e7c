# SPDX-License-Identifier: Apache-2.0
"""Evidence is added, changed and removed. A pod is judged by the evidence at that time."""
from lib.api import eventually
from lib.case import Case
from lib.evidence import SKILL, exemption, moment, pod, requirements, unique

ROUNDS = 10


class Evidence(Case):
    def setUp(self):
        self.world.gate.ensure()

    def denied(self, team, code):
        """Whether a new pod is denied with this finding."""
        done = self.control.apply(pod("next", team), dry_run=True)
        return done.status == 1 and code in done.err

    def admitted(self, team):
        return self.control.apply(pod("next", team), dry_run=True).status == 0

    def test_evidence_in_the_same_kubectl_apply_as_its_pod_is_found(self):
        for _ in range(ROUNDS):
            team, skill = self.team(), f"acme/{unique('together')}@1.0.0"
            signed = self.world.signer.sign(requirements(skill), unique("evidence"), team)
            done = self.control.apply(signed, pod("report", team, skill=skill))
            self.assertEqual((done.status, done.err), (0, ""))

    def test_a_pod_created_right_after_its_namespace_is_judged_by_the_label_of_the_namespace(self):
        for _ in range(ROUNDS):
            team = self.team(enforce="required")
            self.assert_denied(self.control.apply(pod("plain", team, skill=None), dry_run=True), "gate.annotation.missing")

    def test_after_evidence_is_deleted_the_next_pod_is_denied(self):
        team = self.team()
        name = self.publish(requirements(), team)
        self.assert_allowed(self.control.apply(pod("first", team)))
        self.withdraw(name, team)
        eventually(lambda: self.denied(team, "gate.evidence.missing"), "a denial", seconds=10)

    def test_after_a_signed_document_is_edited_the_next_pod_is_denied_with_the_reason(self):
        team = self.team()
        name = self.publish(requirements(), team)
        self.assert_allowed(self.control.apply(pod("first", team)))
        path = f"/api/v1/namespaces/{team}/configmaps/{name}"
        text = self.api.get(path)["data"]["sandbox.yaml"]
        self.api.patch(path, {"data": {"sandbox.yaml": text.replace("network: false", "network: true")}})
        eventually(lambda: self.denied(team, f"{team}/{name}"), "a denial that names the document", seconds=10)

    def test_a_document_signed_by_a_key_that_is_not_in_the_keyring_is_ignored(self):
        team = self.team()
        name = self.publish(requirements(), team, key="stranger")
        self.assert_denied(self.control.apply(pod("report", team)), "gate.evidence.missing", f"{team}/{name}")

    def test_after_a_key_is_removed_the_next_pod_is_denied_and_admitted_when_it_is_restored(self):
        team = self.team()
        self.world.gate.keys("release", "second")
        self.addCleanup(self.world.gate.keys, "release")
        self.publish(requirements(), team, key="second")
        eventually(lambda: self.admitted(team), "an admission")
        self.world.gate.keys("release")
        eventually(lambda: self.denied(team, "gate.evidence.missing"), "a denial")
        self.world.gate.keys("release", "second")
        eventually(lambda: self.admitted(team), "an admission")

    def test_evidence_that_has_expired_denies_the_next_pod(self):
        team = self.team()
        self.publish(requirements(expires_at=moment(8)), team)
        done = self.control.apply(pod("first", team))
        self.assertEqual((done.status, done.out), (0, "pod/first created\n"), done.err)
        self.assertIn("Warning: ", done.err, "it expires within 72 hours")
        eventually(lambda: self.denied(team, "gate.evidence.expired"), "a denial", seconds=20)

    def test_newer_evidence_replaces_older(self):
        team = self.team()
        self.publish(requirements(observed=-60), team)
        wider = "writable_paths: [tmp/results, cache]"
        self.assert_denied(self.control.apply(pod("report", team, requirements=wider), dry_run=True), "cache")
        newer = requirements()
        newer["requirements"]["writable_paths"] = ["tmp/results", "cache"]
        self.publish(newer, team)
        eventually(lambda: self.control.apply(pod("report", team, requirements=wider), dry_run=True).status == 0, "an admission")

    def test_an_exemption_admits_an_unsigned_pod_until_it_expires(self):
        team = self.team()
        self.publish({**exemption([team], 12, skill_refs=[SKILL]), "findings": [
            "gate.evidence.missing", "gate.image.unlisted", "sandbox.time.missing", "sandbox.requirements.provenance"]},
                     self.world.gate.namespace)
        done = self.control.apply(pod("first", team))
        self.assertEqual((done.status, done.out), (0, "pod/first created\n"), done.err)
        self.assertIn("Warning: ", done.err, "it expires within 72 hours")
        eventually(lambda: self.denied(team, "gate.evidence.missing"), "a denial", seconds=25)

    def test_an_exemption_outside_of_the_gates_own_namespace_is_ignored(self):
        team = self.team()
        self.publish(exemption([team], 3600), team)
        self.assert_denied(self.control.apply(pod("first", team)), "gate.evidence.missing")
