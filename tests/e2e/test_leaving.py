# SPDX-License-Identifier: Apache-2.0
"""The last test: after an uninstall, nothing of the release is left that could block other objects."""
from lib.api import eventually
from lib.case import Case
from lib.evidence import pod


class Leaving(Case):
    def test_after_uninstalling_nothing_is_left_and_nothing_is_blocked(self):
        gate = self.world.gate
        gate.ensure()
        team = self.team()
        self.assert_denied(self.control.apply(pod("report", team)), "gate.evidence.missing")
        done = self.control.helm("-n", gate.namespace, "uninstall", gate.name, "--wait", "--timeout", "60s")
        self.assertEqual(done.status, 0, done.said)
        eventually(lambda: self.control.apply(pod("report", team)).status == 0, "an admission", seconds=15)
        kinds = ",".join(sorted(line.split()[0] for line in self.control.must(
            "api-resources", "--verbs=list", "-o", "name").splitlines() if not line.startswith("events")))

        def left():
            return self.control.must("get", kinds, "-A", "-l", f"app.kubernetes.io/instance={gate.name}", "-o", "name",
                                     "--ignore-not-found").splitlines()
        eventually(lambda: left() == [], "an empty list of what bears the release's name", seconds=60, every=1)
        self.assert_allowed(self.control.kubectl("delete", "namespace", gate.namespace, "--timeout=60s"))
        gate.installed = False
