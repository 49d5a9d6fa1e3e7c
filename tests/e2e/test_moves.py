# SPDX-License-Identifier: Apache-2.0
"""Moves between the three origins of the certificate by `helm upgrade` and `helm rollback`, in all six directions under load.

cert-manager is the real one; see cert-manager/main.go for what it consists of. Helm is the newest Helm 3 on the oldest release of
Kubernetes, and Helm 4 on the newest."""
import base64
import subprocess
import time

from lib.api import eventually
from lib.case import Case, denied_by_us
from lib.certificates import Authority
from lib.evidence import pod, requirements
from lib.load import Load

OWN = "moves-tls"
FORCE = ("--force-conflicts",)  # for a move to `secret`: caBundle was set by the gate or by cert-manager, and is now set by Helm
HELM = {"1.35": "helm3", "1.37": "helm"}
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
FAILING_SECONDS = 10  # within which creations can fail in a move; the chart's README says this number
WAYS = {"self": ("certManager", "secret"), "certManager": ("self", "secret"), "secret": ("self", "certManager")}


class CertManager:
    """cert-manager's controllers and its cainjector, as one process."""

    def __init__(self, world):
        self.world, self.process = world, None

    def __enter__(self):
        control = self.world.control
        control.define_cert_manager()
        with open(self.world.folder / "cert-manager.log", "ab") as log:
            self.process = subprocess.Popen([control.programs / "cert-manager", control.kubeconfig], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        return self

    def __exit__(self, *_error):
        self.process.terminate()
        self.process.wait(30)


class Moves(Case):
    seconds = 600

    def setUp(self):
        self.gate = self.world.gate
        if self.gate.installed:
            self.gate.remove()
        self.addCleanup(self.back)
        self.control.helm_program = HELM[self.world.version]
        self.force = FORCE if self.control.helm_program == "helm" else ()
        self.gate.ensure()
        self.own = Authority(self.world.folder / "authority" / "own", f"{self.gate.name}.{self.gate.namespace}.svc")
        data, _ = self.own.secret(24 * 3600)
        self.api.post(f"/api/v1/namespaces/{self.gate.namespace}/secrets", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": OWN}, "data": data, "type": "kubernetes.io/tls"})
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{self.gate.namespace}/secrets/{OWN}")
        self.team_name = self.team()
        self.publish(requirements(), self.team_name)
        self.given = self.gate.given

    def back(self):
        """The release that the other tests share is made by Helm 4 again."""
        self.gate.remove()
        self.control.helm_program, self.gate.given = "helm", {}

    def upgrade(self, mode):
        self.gate.given = self.given
        if mode == "secret":
            self.gate.upgrade(*self.force, tls={"mode": mode, "secret": {"name": OWN}},
                              webhook={"caBundle": self.bundle() + self.own.bundle})
        else:
            self.gate.upgrade(tls={"mode": mode})

    def rollback(self, mode):
        done = self.control.helm("-n", self.gate.namespace, "rollback", self.gate.name, "--wait", "--timeout", "120s",
                                 *(self.force if mode == "secret" else ()), seconds=180)
        self.assertEqual(done.status, 0, done.said)

    def bundle(self):
        """What the API server trusts now, as text: a person who moves to `secret` adds it to the new CA."""
        item = self.api.get(f"{CONFIGURATION}/{self.gate.name}")
        return base64.b64decode(item["webhooks"][0]["clientConfig"]["caBundle"]).decode()

    def answers(self):
        return (self.control.apply(pod("report", self.team_name), dry_run=True).status == 0
                and denied_by_us(self.control.apply(pod("report", self.team_name, requirements="network: true"), dry_run=True).err))

    def move(self, how, before, mode):
        """How many creations failed while the certificate changed its origin."""
        with Load(self.api, self.team_name, threads=2, pause=0.05) as load:
            time.sleep(1)
            how(mode)
            eventually(self.answers, f"an answer after the {how.__name__} from {before} to {mode}", seconds=60)
            time.sleep(2)
        failed = [moment for moment, verdict in load.times if verdict.startswith("unreachable")]
        took = max(failed, default=0) - min(failed, default=0)
        print(f"     {how.__name__} from {before} to {mode}: {len(failed)} of {len(load.times)} failed, within {took:.1f} s", flush=True)
        self.assertEqual(load.others("unreachable"), {})
        self.assertLess(took, FAILING_SECONDS)
        return len(failed)

    def test_helm_upgrade_and_rollback_move_between_all_origins_of_the_certificate(self):
        with CertManager(self.world):
            eventually(self.answers, "an answer")
            for before, modes in WAYS.items():
                if before != "self":
                    self.upgrade(before)
                    eventually(self.answers, f"an answer in mode {before}", seconds=60)
                for mode in modes:
                    failed = self.move(self.upgrade, before, mode)
                    if mode == "secret" or (before, mode) == ("certManager", "self"):  # caBundle has both CAs
                        self.assertEqual(failed, 0)
                    self.move(self.rollback, mode, before)
