# SPDX-License-Identifier: Apache-2.0
"""Two gates: one is stopped, all are replaced, or the API server is unreachable for a while, without failed requests."""
import os
import signal
import time

from lib.api import eventually
from lib.case import Case
from lib.evidence import pod, requirements
from lib.load import Load


class Replicas(Case):
    def setUp(self):
        self.gate = self.world.gate
        self.gate.ensure()
        self.team_name = self.team()
        self.publish(requirements(), self.team_name)
        eventually(lambda: self.control.apply(pod("report", self.team_name), dry_run=True).status == 0, "an admission")

    def load(self, **given):
        return Load(self.api, self.team_name, **given)

    def gates(self):
        return list(self.world.kubelet.of(self.gate.namespace).values())

    def tell(self, load):
        print(f"     {load.total('admitted', 'denied')} answered, {load.said()}", flush=True)

    def test_two_gates_share_the_reviews(self):
        with self.load() as load:
            time.sleep(3)
        self.tell(load)
        self.assertEqual(load.others(), {})
        self.assertGreater(load.counts["admitted"], 20)
        self.assertGreater(load.counts["denied"], 20)

    def test_many_pods_without_evidence_are_denied_or_asked_to_retry_and_do_not_delay_others(self):
        with self.load(misses=True) as load:
            time.sleep(3)
        self.tell(load)
        self.assertEqual(load.others("undecided"), {})
        self.assertGreater(load.counts["denied"], 20)

    def test_a_rolling_update_under_load_fails_no_request(self):
        with self.load() as load:
            time.sleep(1)
            self.control.must("-n", self.gate.namespace, "rollout", "restart", f"deployment/{self.gate.name}")
            self.control.must("-n", self.gate.namespace, "rollout", "status", f"deployment/{self.gate.name}", "--timeout=120s")
            time.sleep(2)
        self.tell(load)
        self.assertEqual(load.others(), {})
        self.assertEqual(len(self.gates()), 2)

    def test_one_gate_killed_under_load_fails_requests_only_by_failurepolicy_and_only_for_a_short_time(self):
        with self.load() as load:
            time.sleep(1)
            victim = self.gates()[0]
            victim.hold = True
            begin = time.monotonic()
            os.kill(victim.process.pid, signal.SIGKILL)
            eventually(lambda: victim.ready is False, "the endpoint's end", seconds=20)
            time.sleep(4)
            victim.hold = False
            eventually(lambda: victim.ready is True, "the gate's return", seconds=30)
            time.sleep(1)
        self.tell(load)
        self.assertEqual(load.others("unreachable"), {})
        failed = [end - begin for end, verdict in load.times if verdict.startswith("unreachable")]
        print(f"     {len(failed)} owned by failurePolicy, the last {max(failed, default=0):.1f} s after the kill", flush=True)
        self.assertLess(max(failed, default=0), 5)

    def test_evidence_stays_valid_when_the_api_server_restarts_under_load(self):
        before = [each.process.pid for each in self.gates()]
        with self.load(pause=0.05) as load:
            time.sleep(1)
            self.control.kill("kube-apiserver")
            time.sleep(1)
            self.control.start("kube-apiserver")
            eventually(lambda: self.api.ask("GET", "/readyz")[0] == 200, "the API server")
            time.sleep(3)
        self.tell(load)
        self.assertEqual({verdict: count for verdict, count in load.others("away").items() if not not_ready(verdict)}, {})
        self.assertEqual([each.process.pid for each in self.gates()], before)
        other = self.team()
        name = self.publish(requirements(), other)
        eventually(lambda: self.control.apply(pod("report", other), dry_run=True).status == 0, "an admission")
        self.withdraw(name, other)
        eventually(lambda: self.control.apply(pod("report", other), dry_run=True).status == 1, "a denial", seconds=20)

    def test_compacted_history_of_etcd_leads_to_a_new_list(self):
        """Makes the version that the gate knows older than the history of the restarted API server, which then answers 410."""
        before = self.relists()
        for number in range(30):  # increases the version without an event for the gate
            self.api.post(f"/api/v1/namespaces/{self.team_name}/secrets",
                          {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"other-{number}"}})
        self.control.kill("kube-apiserver")
        self.control.start("kube-apiserver")
        eventually(lambda: self.api.ask("GET", "/readyz")[0] == 200, "the API server")
        with self.load(pause=0.05) as load:
            other = self.team()
            name = self.publish(requirements(), other)
            eventually(lambda: self.control.apply(pod("report", other), dry_run=True).status == 0, "an admission")
            self.withdraw(name, other)
            eventually(lambda: self.control.apply(pod("report", other), dry_run=True).status == 1, "a denial", seconds=20)
        self.tell(load)
        self.assertEqual({verdict: count for verdict, count in load.others("away").items() if not not_ready(verdict)}, {})
        eventually(lambda: all(now > then for then, now in zip(before, self.relists())),
                   "a whole list in both gates, as their history is gone", seconds=60)
        print(f"     lists: {before} before, {self.relists()} now", flush=True)

    def relists(self):
        return [each.metric("sandgate_watch_relists_total") for each in self.gates()]


def not_ready(verdict):
    """Whether the error says that the API server is still starting."""
    return verdict.startswith(("401: ", "403: ", "404: ", "429: ", "503: ", "500: ")) and "webhook" not in verdict
