# SPDX-License-Identifier: Apache-2.0
"""Gates that make their own certificates, with an API server that has only the two objects concerned, and whose errors the
test chooses. Both objects are empty at first, as the chart renders them."""

import base64
import copy
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../k8s"))
import api_server  # noqa: E402
from server_client import Client, plain_get  # noqa: E402
from test_serve import GOOD, SANDGATE, SLACK  # noqa: E402

NAME = "sandgate.sandgate-system.svc"
SECRET = "/api/v1/namespaces/sandgate-system/secrets/gate-tls"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gate"


def said(body):
    """The bytes of a JSON answer, or of a Status with this message."""
    text = body.decode().strip()
    return json.loads(text)["message"] if text.startswith("{") else text


class Cluster:
    """The API server."""

    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {
            SECRET: {"kind": "Secret", "type": "Opaque", "apiVersion": "v1",
                     "metadata": {"name": "gate-tls", "resourceVersion": "1"}},
            HOOKS: {"kind": "ValidatingWebhookConfiguration",
                    "metadata": {"name": "gate", "resourceVersion": "1"},
                    "webhooks": [{"name": "a.b.c", "clientConfig": {}},
                                 {"name": "d.e.f", "clientConfig": {}}]},
        }
        self.refused = set()  # (method, path)
        self.away = False
        self.conflicts = 0
        self.meet = None  # a barrier at which the first patches of the Secret wait
        self.server = api_server.Server(self.handle)

    def handle(self, request, send):
        path = request.path.split("?")[0]
        if self.away:
            return None
        if (request.method, path) in self.refused:
            return self.say(send, 403, {"kind": "Status", "message": "User cannot do that"})
        if request.method == "PATCH" and path == SECRET and self.meet:
            try:
                self.meet.wait(timeout=20)
            except threading.BrokenBarrierError:
                pass
        with self.lock:
            if path not in self.objects:
                return self.say(send, 404, {"kind": "Status", "message": "not found"})
            if request.method == "PATCH":
                return self.patch(path, json.loads(request.body), send)
            assert request.method == "GET", request.method
            return self.say(send, 200, self.objects[path])

    @staticmethod
    def say(send, status, body):
        send(api_server.answer(status, json.dumps(body), ["Content-Type: application/json"]))
        return True

    def patch(self, path, patch, send):
        held = copy.deepcopy(self.objects[path])
        version = held["metadata"]["resourceVersion"]
        if path == SECRET:
            if patch["metadata"]["resourceVersion"] != version:
                self.conflicts += 1
                return self.say(send, 409, {"kind": "Status", "message": "changed"})
            data = held.setdefault("data", {})
            for key, value in patch["data"].items():
                if value is None:
                    data.pop(key, None)
                else:
                    data[key] = value
        else:
            for one in patch:
                if one["op"] == "test":
                    if one["value"] != version:
                        self.conflicts += 1
                        return self.say(send, 422, {"kind": "Status", "message": "test failed"})
                    continue
                index = int(re.fullmatch(r"/webhooks/(\d+)/clientConfig/caBundle",
                                         one["path"]).group(1))
                held["webhooks"][index]["clientConfig"]["caBundle"] = one["value"]
        held["metadata"]["resourceVersion"] = str(int(version) + 1)
        self.objects[path] = held
        return self.say(send, 200, held)

    def bundles(self):
        with self.lock:
            return [base64.b64decode(hook["clientConfig"].get("caBundle", "")).decode()
                    for hook in self.objects[HOOKS]["webhooks"]]

    def drop(self, key):
        with self.lock:
            del self.objects[SECRET]["data"][key]
            self.objects[SECRET]["metadata"]["resourceVersion"] += "0"

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *_):
        self.server.__exit__()


class Gate:
    def __init__(self, cluster, more=""):
        self.folder = tempfile.TemporaryDirectory(prefix="sandgate-self-")
        os.mkdir(self.path("evidence"))
        kubeconfig = {
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": {
                "server": cluster.server.url(),
                "certificate-authority": api_server.certificate_file("ca.crt")}}],
            "users": [{"name": "a", "user": {"token": "not-in-any-message"}}]}
        with open(self.path("kubeconfig"), "w", encoding="utf-8") as file:
            json.dump(kubeconfig, file)
        with open(self.path("gate.yaml"), "w", encoding="utf-8") as file:
            file.write('listen: {webhook: "127.0.0.1:0", admin: "127.0.0.1:0"}\n'
                       "tls:\n  self:\n    secret: gate-tls\n    webhookConfiguration: gate\n"
                       "    dnsNames: [%s]\n"
                       "keyring: {directory: %s}\n"
                       "evidence: {source: directory, directory: evidence,"
                       " kubeconfig: kubeconfig}\n"
                       "drainSeconds: 0\n%s"
                       % (NAME, os.path.join(api_server.certificates(), "keyring"), more))
        self.errors = open(self.path("stderr"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([SANDGATE, "serve", "--config", self.path("gate.yaml")],
                                        stderr=self.errors, stdout=subprocess.DEVNULL)
        line = self.wait_for(lambda: re.search(r'\{[^\n]*"serving"[^\n]*\}\n', self.log()))
        line = json.loads(line.group(0))
        self.port = int(line["webhook"].rsplit(":", 1)[1])
        self.admin = int(line["admin"].rsplit(":", 1)[1])

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def log(self):
        with open(self.errors.name, encoding="utf-8") as file:
            return file.read()

    def wait_for(self, true, seconds=30):
        end = time.monotonic() + seconds * SLACK
        while time.monotonic() < end:
            found = true()
            if found:
                return found
            assert self.process.poll() is None, self.log()
            time.sleep(0.05)
        raise AssertionError("waited in vain: " + self.log())

    def ready(self):
        status, _, body = plain_get(self.admin, "/readyz")
        return status, said(body)

    def wait_ready(self):
        self.wait_for(lambda: self.ready()[0] == 200)

    def served(self):
        """The certificate that is served, without verification."""
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            with made.wrap_socket(plain) as wrapped:
                return wrapped.getpeercert(binary_form=True)

    def look(self):
        self.process.send_signal(signal.SIGHUP)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(timeout=60)
        self.errors.close()
        log = self.log()
        self.folder.cleanup()
        if sys.exc_info()[0] is None:
            assert code == 0, log
            assert "PRIVATE" not in log and "LS0tLS1CRUdJTiBQUklW" not in log, log


def trusting(bundle):
    """A client that trusts only that bundle, as the API server does."""
    return ssl.create_default_context(cadata=bundle)


class Self(unittest.TestCase):
    def test_two_gates_that_start_together_on_an_empty_secret_agree(self):
        with Cluster() as cluster:
            cluster.meet = threading.Barrier(2)
            with Gate(cluster) as one, Gate(cluster) as two:
                one.wait_ready()
                two.wait_ready()
                self.assertGreaterEqual(cluster.conflicts, 1)
                self.assertEqual(one.served(), two.served())
                for bundle in cluster.bundles():
                    self.assertEqual(bundle.count("BEGIN CERTIFICATE"), 1)
                    for gate in (one, two):
                        with Client(gate.port, tls=trusting(bundle), name=NAME) as client:
                            status, _, body = client.review(GOOD)
                            self.assertEqual(status, 200)
                            self.assertIn("allowed", body.decode())
                metrics = plain_get(one.admin, "/metrics")[2].decode()
                expires = float(re.search(r"^sandgate_certificate_expir\S* (\S+)$", metrics,
                                          re.M).group(1))
                self.assertAlmostEqual(expires, time.time() + 90 * 86400, delta=300)

    def test_a_removed_certificate_is_made_again_and_connections_stay_open(self):
        with Cluster() as cluster, Gate(cluster) as gate:
            gate.wait_ready()
            before = gate.served()
            with Client(gate.port, tls=trusting(cluster.bundles()[0]), name=NAME) as kept:
                self.assertEqual(kept.review(GOOD)[0], 200)
                cluster.drop("tls.crt")
                gate.look()
                gate.wait_for(lambda: gate.served() != before)
                self.assertEqual(kept.review(GOOD)[0], 200)
            with Client(gate.port, tls=trusting(cluster.bundles()[0]), name=NAME) as fresh:
                self.assertEqual(fresh.review(GOOD)[0], 200)
            self.assertIn("tls.crt is not a certificate, or tls.key is not its key", gate.log())

    def test_a_removed_bundle_is_restored(self):
        with Cluster() as cluster, Gate(cluster) as gate:
            gate.wait_ready()
            before = cluster.bundles()
            with cluster.lock:
                del cluster.objects[HOOKS]["webhooks"][1]["clientConfig"]["caBundle"]
                cluster.objects[HOOKS]["metadata"]["resourceVersion"] += "0"
            gate.wait_for(lambda: cluster.bundles() == before, seconds=40)  # without a restart
            self.assertEqual(gate.ready(), (200, "ok"))

    def test_a_restored_webhook_configuration_gets_its_bundle_within_seconds(self):
        with Cluster() as cluster, Gate(cluster) as gate:
            gate.wait_ready()
            before = cluster.bundles()
            with cluster.lock:
                gone = cluster.objects.pop(HOOKS)
            gate.look()
            gate.wait_for(lambda: "does not exist" in gate.log())
            with cluster.lock:
                for hook in gone["webhooks"]:
                    del hook["clientConfig"]["caBundle"]
                gone["metadata"]["resourceVersion"] += "0"
                cluster.objects[HOOKS] = gone
            gate.wait_for(lambda: cluster.bundles() == before, seconds=4)  # not after the usual 20 s
            self.assertEqual(gate.ready(), (200, "ok"))

    def test_a_missing_permission_is_named_and_the_gate_is_ready_when_it_is_granted(self):
        with Cluster() as cluster:
            cluster.refused.add(("PATCH", HOOKS))
            with Gate(cluster) as gate:
                wanted = (503, "not ready: the right to patch the ValidatingWebhookConfiguration "
                               "of tls.self.webhookConfiguration is missing")
                gate.wait_for(lambda: gate.ready() == wanted)
                made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
                with Client(gate.port, tls=made) as probe:  # as the kubelet does
                    status, _, body = probe.get("/readyz")
                    self.assertEqual((status, said(body)), wanted)
                    self.assertEqual(probe.get("/healthz")[0], 200)
                cluster.refused.clear()
                gate.wait_ready()

    def test_waits_for_an_unreachable_api_server(self):
        with Cluster() as cluster:
            cluster.away = True
            with Gate(cluster) as gate:
                wanted = (503, "not ready: no answer from the API server about the Secret of "
                               "tls.self.secret")
                gate.wait_for(lambda: gate.ready() == wanted)
                metrics = plain_get(gate.admin, "/metrics")[2].decode()
                self.assertNotRegex(metrics, r"(?m)^sandgate_certificate_expir\S* [1-9]")
                cluster.away = False
                gate.wait_ready()
                cluster.away = True
                gate.look()
                time.sleep(1)
                self.assertEqual(gate.ready(), (200, "ok\nthe certificates cannot be kept up to date: no answer from "
                                                     "the API server about the Secret of tls.self.secret"))
                self.assertIn("certificates cannot be kept up to date", gate.log())

    def test_a_missing_secret_is_reported(self):
        with Cluster() as cluster:
            del cluster.objects[SECRET]
            with Gate(cluster) as gate:
                gate.wait_for(lambda: gate.ready() == (
                    503, "not ready: the Secret of tls.self.secret does not exist: create an "
                         "empty one"))

    def test_a_secret_that_is_deleted_needs_attention(self):
        def kept():
            return 'sandgate_last_reload_successful{part="certificate"} 1' in plain_get(gate.admin, "/metrics")[2].decode()

        with Cluster() as cluster, Gate(cluster) as gate:
            gate.wait_ready()
            self.assertTrue(kept())
            secret = cluster.objects.pop(SECRET)
            gate.look()
            gate.wait_for(lambda: not kept())
            self.assertEqual(gate.ready(), (200, "ok\nthe certificates cannot be kept up to date: the Secret of "
                                                 "tls.self.secret does not exist: create an empty one"))
            cluster.objects[SECRET] = secret
            gate.look()
            gate.wait_for(kept)
            self.assertEqual(gate.ready(), (200, "ok"))

    def test_check_reads_the_configuration_without_an_api_server(self):
        with Cluster() as cluster:
            with Gate(cluster) as gate:
                asked = len(cluster.server.requests)
                cluster.away = True
                done = subprocess.run([SANDGATE, "serve", "--check", "--config",
                                       gate.path("gate.yaml")], check=False, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertGreaterEqual(len(cluster.server.requests), asked)


if __name__ == "__main__":
    try:
        unittest.main()
    finally:
        api_server.forget_certificates()
