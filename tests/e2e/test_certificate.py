# SPDX-License-Identifier: Apache-2.0
"""Serving certificates: made by the gate, renewed, and left to expire."""
import base64
import time

from lib.api import eventually
from lib.case import Case
from lib.certificates import Authority, served
from lib.evidence import pod, requirements
from lib.install import CHART
from lib.load import Load

SECRET = "own-tls"
FORCE = "--force-conflicts"  # caBundle was set by the gate, and is now set by the chart
METRIC = "sandgate_certificate_expiry_timestamp_seconds"
UPDATED = 'sandgate_last_reload_successful{part="certificate"}'
MISSING = "ok\nthe certificates cannot be kept up to date: the Secret of tls.self.secret does not exist: create an empty one"


class OwnCertificate(Case):
    """`tls.mode: secret`: the certificate comes from outside, and the gate reloads it."""

    def setUp(self):
        self.gate = self.world.gate
        self.gate.ensure()
        self.authority = Authority(self.world.folder / "authority" / self.id(), f"{self.gate.name}.{self.gate.namespace}.svc")
        self.path = f"/api/v1/namespaces/{self.gate.namespace}/secrets"
        self.api.delete(f"{self.path}/{SECRET}")
        data, self.shown = self.authority.secret(24 * 3600)
        self.api.post(self.path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "data": data,
                                  "type": "kubernetes.io/tls"})
        self.addCleanup(self.back, self.gate.given)
        self.gate.upgrade(FORCE, tls={"mode": "secret", "secret": {"name": SECRET}}, webhook={"caBundle": self.authority.bundle})
        self.team_name = self.team()
        self.publish(requirements(), self.team_name)
        eventually(lambda: self.control.apply(pod("report", self.team_name), dry_run=True).status == 0, "an admission")

    def back(self, given):
        self.gate.given = given
        self.gate.upgrade(FORCE)
        self.gate.wait_until_asked()

    def renew(self, seconds):
        data, self.shown = self.authority.secret(seconds)
        self.api.patch(f"{self.path}/{SECRET}", {"data": data})

    def all_show_it(self):
        return all(served(each.address) == self.shown for each in self.gate.pods().values())

    def metrics(self):
        return [each.metric(METRIC) for each in self.gate.pods().values()]

    def test_a_renewed_certificate_is_loaded_under_load_without_a_failed_request_or_a_restart(self):
        pids = {each.process.pid for each in self.gate.pods().values()}
        with Load(self.api, self.team_name) as load:
            for _ in range(3):
                self.renew(24 * 3600)
                eventually(self.all_show_it, "the new certificate", seconds=20)
                time.sleep(1)
        print(f"     {load.said()}", flush=True)
        self.assertEqual(load.others(), {})
        self.assertEqual({each.process.pid for each in self.gate.pods().values()}, pids)

    def test_a_certificate_that_is_not_renewed_is_reported_in_advance_and_replaced_late_without_a_restart(self):
        pids = {each.process.pid for each in self.gate.pods().values()}
        begin, life = time.time(), 25
        self.renew(life)
        eventually(self.all_show_it, "the short-lived certificate", seconds=20)
        eventually(lambda: all(abs(each - begin - life) < 5 for each in self.metrics()), "the metric")
        for name, each in self.gate.pods().items():
            self.assertIn("expires soon", each.log.read_text(), f"{name} has said nothing in advance")
        time.sleep(max(0, begin + life + 2 - time.time()))
        # another bundle with the same CA, so that the API server opens new connections
        other = Authority(self.world.folder / "authority" / f"{self.id()}-other", "nobody.invalid")
        self.gate.upgrade(FORCE, webhook={"caBundle": self.authority.bundle + other.bundle})
        with Load(self.api, self.team_name, threads=1, pause=0.2) as load:
            eventually(lambda: load.total("unreachable"), "a failure that failurePolicy owns", seconds=20)
            self.renew(24 * 3600)
            eventually(self.all_show_it, "the late certificate", seconds=20)
            self.assertTrue(eventually(lambda: load.times[-1][1] in ("admitted", "denied"), "an answer again", seconds=20))
            end = time.monotonic()
            time.sleep(2)
        print(f"     {load.said()}", flush=True)
        self.assertEqual(load.others("unreachable"), {})
        self.assertTrue(all(" is after " in verdict for verdict in load.others()), load.others())
        late = [verdict for moment, verdict in load.times if moment > end]
        self.assertEqual(sorted(set(late)), ["admitted", "denied"])
        self.assertEqual({each.process.pid for each in self.gate.pods().values()}, pids)


class SelfMade(Case):
    """`tls.mode: self`, the chart's default: the gates make certificates and keep them in a Secret."""

    def setUp(self):
        self.gate = self.world.gate
        self.gate.ensure()
        self.path = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{self.gate.name}"
        self.secret = f"/api/v1/namespaces/{self.gate.namespace}/secrets/{self.gate.name}-tls"
        self.team_name = self.team()
        self.publish(requirements(), self.team_name)
        eventually(lambda: self.control.apply(pod("report", self.team_name), dry_run=True).status == 0, "an admission")

    def bundles(self):
        return {each["clientConfig"].get("caBundle", "") for each in self.api.get(self.path)["webhooks"]}

    def shown(self):
        return {served(each.address) for each in self.gate.pods().values()}

    def test_both_gates_serve_a_certificate_of_the_ca_in_the_webhook_configuration(self):
        self.assertEqual(len(self.bundles()), 1)
        self.assertNotEqual(self.bundles(), {""})
        self.assertIn("BEGIN CERTIFICATE", base64.b64decode(next(iter(self.bundles()))).decode())

    def test_the_gates_restore_a_bundle_that_an_upgrade_removed(self):
        wanted = self.bundles()
        webhooks = self.api.get(self.path)["webhooks"]
        for each in webhooks:
            each["clientConfig"].pop("caBundle")
        self.api.patch(self.path, {"webhooks": webhooks})
        eventually(lambda: self.bundles() == wanted, "the bundle", seconds=90)
        eventually(lambda: self.control.apply(pod("report", self.team_name), dry_run=True).status == 0, "an admission")

    def test_a_deleted_secret_is_reported_by_ready_gates_and_made_again_by_an_upgrade(self):
        def texts():
            return {each.text("/readyz") for each in self.gate.pods().values()}
        self.assertEqual(texts(), {(200, "ok")})
        self.api.delete(self.secret)
        eventually(lambda: texts() == {(200, MISSING)}, "a line in /readyz", seconds=60)
        eventually(lambda: {each.metric(UPDATED) for each in self.gate.pods().values()} == {0.0}, "the metric")
        done = self.control.helm("upgrade", self.gate.name, CHART, "-n", self.gate.namespace, "--reset-then-reuse-values", "--wait")
        self.assertEqual(done.status, 0, done.said)
        eventually(lambda: self.api.get(self.secret).get("data"), "a filled Secret", seconds=120)
        eventually(lambda: texts() == {(200, "ok")}, "the end of the line", seconds=60)
        eventually(lambda: self.control.apply(pod("report", self.team_name), dry_run=True).status == 0, "an admission")

    def test_an_emptied_secret_is_filled_again_without_a_failed_request(self):
        before, bundle = self.shown(), self.bundles()
        with Load(self.api, self.team_name, threads=2, pause=0.05) as load:
            self.api.patch(self.secret, {"data": None})
            eventually(lambda: self.api.get(self.secret).get("data"), "a filled Secret", seconds=120)
            eventually(lambda: self.bundles() != bundle and "" not in self.bundles(), "a bundle for it", seconds=60)
            time.sleep(5)
        print(f"     {load.said()}; certificates then {len(before)}, now {len(self.shown())}", flush=True)
        self.assertEqual(load.others(), {})
