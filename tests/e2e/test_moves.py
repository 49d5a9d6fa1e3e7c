# SPDX-License-Identifier: Apache-2.0
"""Moves between the three origins of the certificate by `helm upgrade`, in all six directions under load.

cert-manager is a stand-in here: it makes the Secret of a Certificate and sets caBundle where the annotation asks for it."""
import base64
import threading
import time

import yaml

from lib.api import ApiError, eventually
from lib.case import Case, denied_by_us
from lib.certificates import Authority
from lib.evidence import pod, requirements
from lib.load import Load

GROUP = "cert-manager.io"
OWN = "moves-tls"
FORCE = "--force-conflicts"  # for a move to `secret`: caBundle was set by the gate or by cert-manager, and is now set by Helm
INJECT = "cert-manager.io/inject-ca-from"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
FAILING_SECONDS = 10  # within which creations can fail in a move; the chart's README says this number
WAY = ["certManager", "self", "secret", "certManager", "secret", "self"]  # from self: every direction once


def definition(kind):
    plural = kind.lower() + "s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "listKind": f"{kind}List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


class Issuing:
    """The stand-in for cert-manager and its cainjector. It leaves its Secret when a Certificate is deleted, as cert-manager does."""

    def __init__(self, api, gate, authority):
        self.api, self.gate, self.authority = api, gate, authority
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_error):
        self.stopping.set()
        self.thread.join(30)

    def work(self):
        while not self.stopping.wait(0.2):
            try:
                self.issue()
                self.inject()
            except ApiError as error:
                if error.status not in (404, 409):
                    raise

    def issue(self):
        wanted = self.api.get(f"/apis/{GROUP}/v1/namespaces/{self.gate.namespace}/certificates/{self.gate.name}")
        secrets, name = f"/api/v1/namespaces/{self.gate.namespace}/secrets", wanted["spec"]["secretName"]
        if self.api.get_or_none(f"{secrets}/{name}") is None:
            data, _ = self.authority.secret(24 * 3600)
            self.api.post(secrets, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data,
                                    "type": "kubernetes.io/tls"})

    def inject(self):
        item = self.api.get(f"{CONFIGURATION}/{self.gate.name}")
        bundle = base64.b64encode(self.authority.bundle.encode()).decode()
        if item["metadata"].get("annotations", {}).get(INJECT) != f"{self.gate.namespace}/{self.gate.name}":
            return
        if {each["clientConfig"].get("caBundle") for each in item["webhooks"]} != {bundle}:
            for each in item["webhooks"]:
                each["clientConfig"]["caBundle"] = bundle
            version = item["metadata"]["resourceVersion"]
            self.api.patch(f"{CONFIGURATION}/{self.gate.name}", {"metadata": {"resourceVersion": version}, "webhooks": item["webhooks"]})


class Moves(Case):
    seconds = 600

    def setUp(self):
        self.gate = self.world.gate
        self.gate.ensure()
        self.control.must("apply", "-f", "-", stdin=yaml.safe_dump_all(map(definition, ("Issuer", "Certificate"))))
        name = f"{self.gate.name}.{self.gate.namespace}.svc"
        self.issuing, self.own = (Authority(self.world.folder / "authority" / part, name) for part in ("issuing", "own"))
        data, _ = self.own.secret(24 * 3600)
        self.api.post(f"/api/v1/namespaces/{self.gate.namespace}/secrets", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": OWN}, "data": data, "type": "kubernetes.io/tls"})
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{self.gate.namespace}/secrets/{OWN}")
        self.team_name = self.team()
        self.publish(requirements(), self.team_name)
        self.given = self.gate.given
        self.addCleanup(self.back)

    def back(self):
        self.gate.given = self.given
        self.gate.upgrade(FORCE)
        self.gate.wait_until_asked()

    def move(self, mode):
        self.gate.given = self.given
        if mode == "secret":
            self.gate.upgrade(FORCE, tls={"mode": mode, "secret": {"name": OWN}}, webhook={"caBundle": self.bundle() + self.own.bundle})
        else:
            self.gate.upgrade(tls={"mode": mode})

    def bundle(self):
        """What the API server trusts now, as text: a person who moves to `secret` adds it to the new CA."""
        item = self.api.get(f"{CONFIGURATION}/{self.gate.name}")
        return base64.b64decode(item["webhooks"][0]["clientConfig"]["caBundle"]).decode()

    def answers(self):
        return (self.control.apply(pod("report", self.team_name), dry_run=True).status == 0
                and denied_by_us(self.control.apply(pod("report", self.team_name, requirements="network: true"), dry_run=True).err))

    def test_helm_upgrade_moves_between_all_origins_of_the_certificate(self):
        with Issuing(self.api, self.gate, self.issuing):
            eventually(self.answers, "an answer")
            for before, mode in zip(["self", *WAY], WAY):
                with Load(self.api, self.team_name, threads=2, pause=0.05) as load:
                    time.sleep(1)
                    begin = time.monotonic()
                    self.move(mode)
                    eventually(self.answers, f"an answer after the move from {before} to {mode}", seconds=60)
                    time.sleep(2)
                failed = [moment - begin for moment, verdict in load.times if verdict.startswith("unreachable")]
                took = max(failed, default=0) - min(failed, default=0)
                print(f"     {before} to {mode}: {len(failed)} of {len(load.times)} failed, within {took:.1f} s", flush=True)
                self.assertEqual(load.others("unreachable"), {})
                self.assertLess(took, FAILING_SECONDS)
                if mode == "secret" or (before, mode) == ("certManager", "self"):  # caBundle has both CAs
                    self.assertEqual(failed, [])

    def test_helm_rollback_moves_back(self):
        words = ("-n", self.gate.namespace, "rollback", self.gate.name, "--wait", "--timeout", "120s")
        with Issuing(self.api, self.gate, self.issuing):
            for mode, back in (("certManager", ()), ("secret", ()), ("self", (FORCE,))):  # from self; the last one back to secret
                if mode == "self":
                    self.move("secret")
                self.move(mode)
                done = self.control.helm(*words, *back, seconds=180)
                self.assertEqual(done.status, 0, f"back from {mode}: {done.said}")
                eventually(self.answers, f"an answer after the way back from {mode}", seconds=60)
