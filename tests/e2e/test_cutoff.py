# SPDX-License-Identifier: Apache-2.0
"""Gates that the API server asks while they cannot read from it: one of two, and all."""
from lib.api import eventually
from lib.case import Case
from lib.evidence import deployment, pod, requirements

RIGHTS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


class CutOff(Case):
    """Reads are refused, by rights or by a token: to the gate that is the same as a network that ends."""

    def setUp(self):
        self.gate = self.world.gate
        self.gate.ensure()
        self.gate.upgrade(config={"evidence": {"maxStaleSeconds": 5}})
        self.addCleanup(self.gate.upgrade, config={"evidence": {"maxStaleSeconds": 180}})
        self.strict, self.lenient = self.team(), self.team(enforce="none", warn="required")
        self.publish(requirements(), self.strict)
        eventually(self.is_admitted, "an admission")

    def gates(self):
        return list(self.world.kubelet.of(self.gate.namespace).values())

    def is_admitted(self):
        return self.control.apply(pod("report", self.strict), dry_run=True).status == 0

    def is_left_undecided(self, thing):
        done = self.control.apply(thing, dry_run=True)
        self.assert_allowed(done)
        return "was not evaluated" in done.err

    def ask(self):
        """One review of each kind of gate's answer."""
        self.api.ask("POST", f"/api/v1/namespaces/{self.strict}/pods?dryRun=All", pod("asked", self.strict))

    def until_unready(self, gates):
        def gone():
            self.ask()
            return all(each.ready is False for each in gates)
        eventually(gone, "the end of readiness", seconds=120, every=0.5)

    def test_one_replica_that_cannot_read_leaves_and_the_other_one_answers(self):
        victim, other = self.gates()
        victim.volumes.token, victim.volumes.token_time = b"not-a-token", victim.volumes.now()
        self.addCleanup(setattr, victim.volumes, "token", None)
        self.until_unready([victim])
        self.assertIs(other.ready, True)
        for _ in range(5):  # also on connections that were open before
            self.assert_allowed(self.control.apply(pod("report", self.strict), dry_run=True))
        victim.volumes.token = None
        eventually(lambda: victim.ready is True, "the gate's return", seconds=60)

    def test_all_replicas_that_cannot_read_deny_what_they_could_have_denied_and_come_back(self):
        binding = self.api.get(f"{RIGHTS}/{self.gate.name}")
        self.api.delete(f"{RIGHTS}/{self.gate.name}")
        try:
            eventually(lambda: all(each.metric("sandgate_watch_failed_reads") >= 3 and
                                   each.metric("sandgate_watch_stale") == 1 for each in self.gates()), "failed reads", seconds=60)
            for thing in (pod("report", self.lenient, skill=None), deployment("report", self.strict)):
                # a watch that began before goes on, and a bookmark makes the state fresh for five seconds
                eventually(lambda: self.is_left_undecided(thing), "an admission without a decision")
            self.until_unready(self.gates())
            self.assertEqual(self.control.apply(pod("report", self.strict), dry_run=True).status, 1)
        finally:
            self.api.post(RIGHTS, {key: binding[key] for key in ("apiVersion", "kind", "roleRef", "subjects")} | {
                "metadata": {key: binding["metadata"][key] for key in ("name", "labels", "annotations")
                             if key in binding["metadata"]}})
        eventually(lambda: all(each.ready is True for each in self.gates()), "both gates' return", seconds=60)
        eventually(self.is_admitted, "an admission")
