# SPDX-License-Identifier: Apache-2.0
"""The audit log has each decision and its input, so that anyone can plan it again."""
import json
import subprocess

from lib.case import Case
from lib.evidence import deployment, pod, requirements


class Audit(Case):
    def setUp(self):
        self.world.gate.ensure()

    def plan(self, notes):
        """The packet that `sandgate plan` makes from the recorded input and provenance."""
        done = subprocess.run([self.world.sandgate, "plan", "-", "--output", "json"], input=notes["input"],
                              capture_output=True, text=True, check=False, timeout=30)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def assert_plans_again(self, notes):
        recorded, again = json.loads(notes["packet"]), self.plan(notes)
        provenance = find(recorded, "provenance")
        self.assertIsNotNone(provenance, recorded)
        replace(again, "provenance", provenance)
        self.assertEqual(again, recorded)

    def test_an_admission_is_recorded_with_outcome_packet_input_and_evidence(self):
        team = self.team()
        name = self.publish(requirements(), team)
        self.assert_allowed(self.control.apply(pod("report", team)))
        notes = self.notes(team)
        self.assertEqual((notes["outcome"], notes["subject"]), ("ready", f"{team}/Pod/report"))
        self.assertRegex(notes["evidence"], rf"^{team}/{name} sha256:[0-9a-f]{{64}} keys=release$")
        self.assert_plans_again(notes)

    def test_a_denial_is_recorded_with_outcome_packet_input_and_findings(self):
        team = self.team()
        self.assert_denied(self.control.apply(pod("report", team)))
        notes = self.notes(team, code=403)
        self.assertEqual((notes["outcome"], notes["subject"]), ("needs_more_evidence", f"{team}/Pod/report"))
        self.assertEqual([each["code"] for each in json.loads(notes["findings"])], ["gate.evidence.missing", "gate.image.unlisted"])
        self.assert_plans_again(notes)

    def test_a_dry_run_is_recorded_as_the_real_request(self):
        team = self.team()
        self.publish(requirements(), team)
        self.assert_allowed(self.control.apply(pod("report", team), dry_run=True))
        dry = self.notes(team, dry_run=True)
        self.assert_allowed(self.control.apply(pod("report", team)))
        real = self.notes(team)
        self.assertEqual((dry["outcome"], dry["evidence"], sorted(dry)), (real["outcome"], real["evidence"], sorted(real)))
        self.assert_plans_again(dry)

    def test_the_subject_has_the_generated_name(self):
        team = self.team()
        self.publish(requirements(), team)
        made = self.control.create(pod("report-", team, generate=True)).out.split()[0].removeprefix("pod/")
        self.assertEqual(self.notes(team)["subject"], f"{team}/Pod/{made}")

    def test_the_plan_of_a_controller_is_recorded(self):
        team = self.team()
        self.publish(requirements(), team)
        self.assert_allowed(self.control.apply(deployment("report", team)))
        notes = self.notes(team, resource="deployments")
        self.assertEqual((notes["outcome"], notes["subject"]), ("ready", f"{team}/Deployment/report"))
        self.assert_plans_again(notes)


def find(value, key):
    """The first value of a key, at any depth."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            found = find(each, key)
            if found is not None:
                return found
    return None


def replace(value, key, new):
    if isinstance(value, dict):
        if key in value:
            value[key] = new
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            replace(each, key, new)
