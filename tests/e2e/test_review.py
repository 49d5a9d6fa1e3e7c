# SPDX-License-Identifier: Apache-2.0
"""The commands of the security team, on the audit log of the earlier tests, which has retries of controllers."""
import json
import subprocess

from lib.api import eventually
from lib.case import Case
from lib.evidence import deployment, pod


class Review(Case):
    def setUp(self):
        self.world.gate.ensure()

    def run_on_log(self, *arguments):
        done = subprocess.run([self.world.sandgate, *arguments, self.control.folder / "audit.log"], capture_output=True,
                              text=True, check=False, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def report(self, *arguments):
        status, out, err = self.run_on_log("review", "--output", "json", *arguments)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def test_every_plan_in_the_audit_log_is_the_same_when_planned_again(self):
        self.assert_denied(self.control.apply(pod("report", self.team())))
        status, out, err = self.run_on_log("replay")
        self.assertEqual(status, 0, out[-2000:] + err)

    def test_the_retries_of_a_controller_are_one_row_with_a_count_of_requests(self):
        team = self.team()
        self.control.apply(deployment("retried", team))

        def row():
            rows = [each for each in self.report("--namespace", team)["rows"] if each["kind"] == "Pod"]
            return rows if rows and rows[0]["count"] >= 5 else None
        rows = eventually(row, "five denials of the ReplicaSet's pod in the audit log", seconds=30, every=1)
        self.assertEqual(len(rows), 1, rows)
        self.assertRegex(rows[0]["workload"], r"^retried-[0-9a-z]+$")
        self.assertEqual(rows[0]["users"], ["system:serviceaccount:kube-system:replicaset-controller"])
        self.assertEqual((rows[0]["verdict"], rows[0]["replay"]), ("denied", "same"))

    def test_dry_runs_and_admissions_are_distinguished_from_denials(self):
        team = self.team()
        self.control.apply(pod("report", team), dry_run=True)
        self.control.apply(pod("plain", team, image="plain:1", skill=None))
        rows = eventually(lambda: self.report("--namespace", team)["rows"], "the dry run in the audit log", seconds=10)
        self.assertEqual([(each["name"], each["verdict"], each.get("dryRun")) for each in rows], [("report", "denied", True)])

    def test_the_page_of_the_audit_log_has_all_rows(self):
        status, page, err = self.run_on_log("review", "--output", "html")
        self.assertEqual(status, 0, err)
        data = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
        self.assertEqual(data["schema"], "sandgate.denials.v1")
        self.assertGreater(data["summary"]["denied"], 0)
        self.assertEqual(data["summary"]["broken"], 0)
        (self.world.folder / "report.html").write_text(page, encoding="utf-8")
