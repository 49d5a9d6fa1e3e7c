# SPDX-License-Identifier: Apache-2.0
"""Ten thousand signed documents: time until ready, memory, and delay of changes."""
import base64
import concurrent.futures
import http.client
import json
import os
import signal
import ssl
import subprocess
import threading
import time

import yaml

from lib.api import eventually
from lib.case import Case
from lib.evidence import moment, pod, requirements
from lib.load import Load
from lib.quick_sign import Ed25519

COUNT = int(os.environ.get("E2E_DOCUMENTS", "10000"))
THREADS = 8
RESIDENT_KIB = 64 * 1024
DELAY_SECONDS = 25  # limits for a machine with other load; the measured values are printed


class Size(Case):
    seconds = 600

    def crowd(self, team):
        """Creates COUNT documents, each for another workload."""
        key = Ed25519(self.world.signer.key("release"))
        text = yaml.safe_dump(requirements("acme/crowd@NUMBER", observed=-5), sort_keys=False)
        here = threading.local()

        def create(number):
            if not hasattr(here, "connection"):
                trust = ssl.create_default_context(cafile=self.api.authority)
                here.connection = http.client.HTTPSConnection(self.api.host, self.api.port, timeout=60, context=trust)
            document = text.replace("NUMBER", f"1.0.{number}")
            body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"sandbox.yaml": document}, "metadata": {
                "name": f"crowd-{number}", "labels": {"sandbox.runx.dev/evidence": "true"},
                "annotations": {"signature.sandbox.runx.dev/release": base64.b64encode(key.sign(document.encode())).decode()}}}
            here.connection.request("POST", f"/api/v1/namespaces/{team}/configmaps", json.dumps(body), {
                "Authorization": f"Bearer {self.api.token}", "Content-Type": "application/json"})
            reply = here.connection.getresponse()
            reply.read()
            return reply.status
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            self.assertEqual(set(pool.map(create, range(COUNT))), {201})

    def test_ten_thousand_documents_are_followed_and_listed_within_limits(self):
        gate = self.world.gate
        gate.ensure()
        team = self.team("crowd")
        begin = time.monotonic()
        self.crowd(team)
        made = time.monotonic()
        eventually(lambda: all(each.metric("sandgate_evidence_objects") >= COUNT for each in gate.pods().values()),
                   "all documents in both gates", seconds=120, every=0.05)
        followed = time.monotonic()
        print(f"     {COUNT} documents made in {made - begin:.1f} s; both gates had all {followed - made:.2f} s later", flush=True)
        for name, each in gate.pods().items():
            print(f"     {name}: resident {each.memory('VmRSS')} KiB, at most {each.memory('VmHWM')} KiB (followed by watch)", flush=True)

        delays = [self.delay(team) for _ in range(5)]
        print(f"     watch: deletion to denial {', '.join(f'{delay * 1000:.0f}' for delay in delays)} ms", flush=True)
        self.assertLess(max(delays), DELAY_SECONDS)

        victim = next(iter(gate.pods().values()))
        os.kill(victim.process.pid, signal.SIGKILL)
        eventually(lambda: victim.ready is False, "its end", seconds=20)
        old = victim.process
        eventually(lambda: victim.process is not old and victim.process.poll() is None, "its return", every=0.01)
        begin = time.monotonic()
        eventually(lambda: victim.metric("sandgate_ready") == 1, "readiness", seconds=60, every=0.02)
        print(f"     restarted: ready after {time.monotonic() - begin:.2f} s", flush=True)
        self.publish(requirements(), team)
        with Load(self.api, team, threads=16) as load:
            time.sleep(10)
        print(f"     {load.said()}", flush=True)
        self.assertEqual(load.others(), {})
        resident = victim.memory("VmRSS")
        print(f"     resident {resident} KiB, at most {victim.memory('VmHWM')} KiB (listed, under load of 16)", flush=True)
        self.assertLess(resident, RESIDENT_KIB)
        # deleting the namespace is faster if its objects are deleted first
        subprocess.run([self.control.programs / "kubectl", "--kubeconfig", self.control.kubeconfig, "-n", team, "delete",
                        "configmaps", "-l", "sandbox.runx.dev/evidence=true", "--wait=false"], check=True, capture_output=True)

    def delay(self, team):
        """Seconds from the deletion of a document to the first denial without it."""
        skill = "acme/last@1.0.0"
        name = self.publish(requirements(skill), team)
        body = pod("last", team, skill=skill)
        path = f"/api/v1/namespaces/{team}/pods?dryRun=All"
        # twice each: both gates must have it from their watch, not from a confirming read
        eventually(lambda: all(each.metric("sandgate_evidence_objects") >= COUNT + 1 for each in self.world.gate.pods().values()),
                   "the document in both gates")
        self.assertEqual(self.api.ask("POST", path, body)[0], 201, moment())
        begin = time.monotonic()
        self.withdraw(name, team)
        eventually(lambda: self.api.ask("POST", path, body)[0] == 403, "a denial", seconds=30, every=0.002)
        return time.monotonic() - begin
