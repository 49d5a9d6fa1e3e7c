# SPDX-License-Identifier: Apache-2.0
"""From the version before this one to this one and back: charts and programs, under load, and old gates that restart in between."""
import json
import os
import signal
import time

import yaml

from lib.api import eventually
from lib.case import Case
from lib.evidence import pod, requirements
from lib.install import CHART
from lib.load import Load

OLD = {"image": {"tag": "previous"}}  # tests/e2e/run gives the kubelet an image for this tag
NEW = {"image": {"tag": ""}}
LAST_RELOAD = 'sandgate_last_reload_successful{part="configuration"}'


class Upgrade(Case):
    seconds = 400

    def setUp(self):
        if self.world.previous is None:
            self.skipTest("the history lacks the version before this one; the first lines of this run say how to get it")
        self.gate = self.world.gate
        if self.gate.installed:
            self.gate.uninstall()
        self.addCleanup(self.gate.uninstall)
        self.gate.chart, self.gate.given = self.world.previous / "source" / "charts" / "sandgate", OLD
        self.gate.ensure()
        self.team_name = self.team(enforce="required")
        self.publish(requirements(), self.team_name)
        eventually(self.answers, "an answer")

    def answers(self):
        done = self.control.apply(pod("report", self.team_name), dry_run=True)
        bare = self.control.apply(pod("bare", self.team_name, skill=None), dry_run=True)
        return done.status == 0 and "gate.annotation.missing" in bare.err

    def tags(self):
        return {each.container["image"].rsplit(":", 1)[1] for each in self.gate.pods().values()}

    def decided(self, gates):
        """When the first and the last denial of these gates was."""
        times = []
        for each in gates:
            for line in each.log.read_text().splitlines():
                record = json.loads(line) if line.startswith("{") else {}
                if record.get("schema") == "sandgate.decision.v1":
                    times.append(record["time"])
        return min(times), max(times)

    def under_load(self, change):
        """Calls `change`. Every answer must be right, and gates of both versions must have given some."""
        names, before = set(self.gate.pods()), list(self.gate.pods().values())
        begin = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        with Load(self.api, self.team_name) as load:
            time.sleep(1)
            change()
            after = [each for name, each in self.gate.pods().items() if name not in names]
            self.assertEqual(len(after), len(before))
            eventually(lambda: all(each.process.poll() is not None for each in before), "the end of the gates before")
            time.sleep(2)
        self.assertEqual(load.others(), {})
        self.assertGreater(min(load.counts["admitted"], load.counts["denied"]), 50)
        (_, last), (first, _) = self.decided(before), self.decided(after)
        print(f"     {load.said()}; the next version answers from {first[11:]}, the one before until {last[11:]}", flush=True)
        # how long both answer depends on when the API server opens new connections; both must have answered under this load
        self.assertGreater(last, begin)
        self.assertGreater(first, begin)

    def rollback(self):
        done = self.control.helm("-n", self.gate.namespace, "rollback", self.gate.name, "--wait", "--timeout", "120s", seconds=180)
        self.assertEqual(done.status, 0, done.said)

    def upgrade(self):
        self.gate.chart = CHART
        self.gate.upgrade(**NEW)

    def test_helm_upgrade_and_helm_rollback_under_load_give_only_right_answers_from_both_versions_side_by_side(self):
        self.assertEqual(self.tags(), {"previous"})
        self.under_load(self.upgrade)
        self.assertNotIn("previous", self.tags())
        self.under_load(self.rollback)
        self.assertEqual(self.tags(), {"previous"})

    def configuration(self):
        return f"/api/v1/namespaces/{self.gate.namespace}/configmaps/{self.gate.name}-config"

    def set_configuration(self, text):
        self.api.patch(self.configuration(), {"data": {"gate.yaml": text}})

    def restart(self, gate):
        """Kills the process; the kubelet starts it again, with the volumes as they are now."""
        old = gate.process
        os.kill(old.pid, signal.SIGKILL)
        eventually(lambda: gate.process is not old, "a new process")

    def test_an_old_gate_that_restarts_before_its_turn_reads_the_configuration_of_the_new_chart(self):
        path = self.gate.write(NEW)
        words = ("--namespace", self.gate.namespace, "--values", path, "--show-only", "templates/configmap.yaml")
        done = self.control.helm("template", self.gate.name, CHART, *words)
        self.assertEqual(done.status, 0, done.said)
        text = next(each["data"]["gate.yaml"] for each in yaml.safe_load_all(done.out) if "gate.yaml" in each["data"])
        self.set_configuration(text + "\n# of the new chart\n")
        first, *_ = self.gate.pods().values()
        file = first.volumes.path("config") / "gate.yaml"
        eventually(lambda: file.read_text().endswith("# of the new chart\n"), "the new file in the pod")
        self.restart(first)
        eventually(lambda: first.ready is True and first.process.poll() is None and first.metric("sandgate_ready") == 1,
                   "the old gate with the new configuration")
        self.assertEqual([each.metric(LAST_RELOAD) for each in self.gate.pods().values()], [1, 1])
        self.assertTrue(self.answers())

    def test_a_key_that_a_gate_does_not_know_stops_only_a_gate_that_restarts(self):
        text = self.api.get(self.configuration())["data"]["gate.yaml"]
        first, other = self.gate.pods().values()
        self.set_configuration(text + "\ninvented: 1\n")
        eventually(lambda: (first.metric(LAST_RELOAD), other.metric(LAST_RELOAD)) == (0, 0), "two failed readings")
        self.assertTrue(self.answers())
        self.restart(first)
        eventually(lambda: first.ready is False and first.process.poll() == 2, "status 2 of the gate that restarts")
        self.assertIn("invented is not a known key\n", first.log.read_text())
        self.assertIs(other.ready, True)
        self.assertTrue(self.answers())
        self.set_configuration(text)
        eventually(lambda: first.ready is True and (first.metric(LAST_RELOAD), other.metric(LAST_RELOAD)) == (1, 1), "both gates")
        self.assertTrue(self.answers())
