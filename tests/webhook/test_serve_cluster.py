# SPDX-License-Identifier: Apache-2.0
"""`sandgate serve`, `check` and `evidence` with the evidence of a cluster (gate-v1, sections 2, 4, 8, 9)."""

import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from kube_server import Kube
from server_client import SLACK, Client, certificates, main, plain_get

SANDGATE = os.environ.get("SANDGATE", "")
HEX = "b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206"
DOCUMENT = """apiVersion: sandbox.runx.dev/v1
kind: SandboxRequirements
workload: {skill_ref: acme/report@%s}
requirements:
  source_ref: git:acme/report@3f2a9c1
  source_digest: sha256:%s
  observed_at: %s
images: ["sha256:%s"]
"""
POLICIES = "boundary: {networkPolicies: true}\n"


def review(version="1.4.0", namespace="payments", managed=True):
    annotations = {"sandbox.runx.dev/skill-ref": "acme/report@" + version} if managed else {}
    return json.dumps({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "u-1", "operation": "CREATE", "namespace": namespace, "name": "p",
                    "kind": {"group": "", "version": "v1", "kind": "Pod"}, "userInfo": {"username": "dev"},
                    "object": {"metadata": {"name": "p", "annotations": annotations}, "spec": {
                        "containers": [{"name": "app", "image": "registry.example.test/r@sha256:" + HEX}]}}}}).encode()


def sign(folder, version="1.4.0", namespace="payments"):
    """A manifest with a document observed now and signed by release-dev."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = DOCUMENT % (version, HEX, now, HEX)
    path = os.path.join(folder, "sandbox.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(document)
    key = os.path.join(certificates(), "signing-keys", "release-dev.pem")
    done = subprocess.run([SANDGATE, "sign", "--key", key, "--name", "report-" + version, "--namespace", namespace, path],
                          check=True, capture_output=True, text=True)
    return done.stdout, document


class Gate:
    """A running gate that watches `kube`."""

    def __init__(self, kube, evidence="", insecure=False, drain=0, more=""):
        self.kube = kube
        self.folder = tempfile.mkdtemp(prefix="sandgate-cluster-")
        for name in ("tls.crt", "tls.key"):
            shutil.copy(os.path.join(certificates(), name), self.folder)
        shutil.copytree(os.path.join(certificates(), "keyring"), self.path("keyring"))
        kube.kubeconfig(self.path("kubeconfig"), insecure=insecure)
        self.drain = drain
        self.configure("kubeconfig: kubeconfig" + evidence, more)
        self.errors = self.path("stderr")
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen([SANDGATE, "serve", "--config", self.path("gate.yaml")], stderr=errors,
                                            stdout=subprocess.DEVNULL)
        line = self.wait_for("serving")
        self.port = int(line["webhook"].rsplit(":", 1)[1])
        self.admin = int(line["admin"].rsplit(":", 1)[1])

    def configure(self, evidence, more=""):
        with open(self.path("gate.yaml"), "w", encoding="utf-8") as file:
            file.write('listen: {webhook: "127.0.0.1:0", admin: "127.0.0.1:0"}\n'
                       "tls: {certificate: tls.crt, key: tls.key}\nkeyring: {directory: keyring}\n"
                       "evidence: {source: cluster, %s}\ndrainSeconds: %d\n%s" % (evidence, self.drain, more))

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self):
        with open(self.errors, encoding="utf-8") as file:
            return file.read()

    def lines(self, message):
        found = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line for line in found if line["message"] == message]

    def wait_for(self, message, count=1):
        self.wait(lambda: len(self.lines(message)) >= count or self.process.poll() is not None, message)
        found = self.lines(message)
        assert len(found) >= count, self.log()
        return found[-1]

    def wait(self, holds, what, seconds=15):
        end = time.monotonic() + seconds * SLACK
        while not holds():
            assert time.monotonic() < end, "%s: %s" % (what, self.log())
            time.sleep(0.02)

    def ready(self):
        status, _, body = plain_get(self.admin, "/readyz")
        return status == 200, body.decode()

    def wait_until_ready(self):
        self.wait(lambda: self.ready()[0], "ready")

    def metric(self, name):
        _, _, body = plain_get(self.admin, "/metrics")
        return float(re.search("^%s ([0-9.]+)$" % re.escape(name), body.decode(), re.M).group(1))

    def ask(self, body, query="?timeout=10s"):
        with Client(self.port) as client:
            status, _, answer = client.review(body, query=query)
        assert status == 200, (status, answer)
        return json.loads(answer)["response"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Cluster(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sandgate-signed-")
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, kube, **options):
        kube.put_evidence(*sign(self.folder, **options))

    def assert_allowed(self, response):
        self.assertTrue(response["allowed"], response)

    def assert_denied(self, response, code, part):
        self.assertFalse(response["allowed"])
        self.assertEqual((response["uid"], response["status"]["code"]), ("u-1", code), response)
        self.assertIn(part, response["status"]["message"])
        if code != 403:
            self.assertEqual(response["status"]["details"], {"retryAfterSeconds": 1})


class Start(Cluster):
    def test_gate_starts_before_the_api_server_and_becomes_ready(self):
        with Kube() as kube, Gate(kube) as gate:
            self.put(kube)
            server = "https://127.0.0.1:%d" % kube.port
            ready, why = gate.ready()
            self.assertFalse(ready)
            self.assertEqual(json.loads(why)["message"],
                             "not ready: waiting for the first list of evidence from " + server)
            with Client(gate.port) as client:
                self.assertEqual(client.review(review())[0], 503)
            failed = gate.wait_for("lost contact with the API server; using last known state")
            self.assertEqual(failed["level"], "warn")
            self.assertIn(server, failed["reason"])
            kube.start()
            gate.wait_until_ready()
            self.assert_allowed(gate.ask(review()))
            self.assertEqual(gate.metric("sandgate_evidence_objects"), 1)
            self.assertEqual(gate.metric("sandgate_namespaces"), 1)
            self.assertEqual(gate.metric("sandgate_confirmations_total"), 0)

    def test_a_refusal_is_logged_with_the_message_of_the_server(self):
        with Kube() as kube:
            kube.refused = 403
            kube.start()
            with Gate(kube) as gate:
                failed = gate.wait_for("lost contact with the API server; using last known state")
                self.assertIn("configmaps is forbidden: the test chose this", gate.log())
                self.assertNotIn("token-of-the-test", gate.log())
                self.assertIn(failed["what"], ("configmaps", "namespaces"))
                kube.refused = 0
                gate.wait_until_ready()

    def test_warning_if_the_server_certificate_is_not_verified(self):
        with Kube() as kube:
            kube.start()
            with Gate(kube, insecure=True) as gate:
                warning = gate.wait_for("insecure setting in use")
                self.assertEqual(warning["level"], "warn")
                self.assertIn("the certificate of https://127.0.0.1:%d is not verified" % kube.port, warning["reason"])

    def test_check_reads_everything_except_the_cluster(self):
        with Kube() as kube, Gate(kube) as gate:
            done = subprocess.run([SANDGATE, "serve", "--check", "--config", gate.path("gate.yaml")], text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("evidence will come from https://127.0.0.1:%d, which was not contacted" % kube.port, done.stdout)


    def test_a_gate_without_the_right_to_network_policies_is_not_ready_and_names_the_right(self):
        with Kube() as kube:
            kube.forbidden = "networkpolicies"
            kube.start()
            with Gate(kube, more=POLICIES) as gate:
                failed = gate.wait_for("lost contact with the API server; using last known state")
                self.assertEqual(failed["what"], "networkpolicies")
                self.assertIn("networkpolicies is forbidden: the test chose this; allow this account to get, list and watch "
                              "networkpolicies.networking.k8s.io", failed["reason"])
                self.assertFalse(gate.ready()[0])
                kube.forbidden = None
                gate.wait_until_ready()

    def test_named_namespaces_that_are_all_excluded_fail_the_start(self):
        with Kube() as kube, Gate(kube) as gate:
            gate.configure("kubeconfig: kubeconfig, namespace: gate, namespaces: [gate]")
            done = subprocess.run([SANDGATE, "serve", "--check", "--config", gate.path("gate.yaml")], text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("evidence.namespaces lists only the gate's own namespace", done.stderr)


class Confirm(Cluster):
    def running(self, **options):
        kube = Kube()
        self.addCleanup(kube.stop)
        kube.start()
        gate = Gate(kube, **options)
        self.addCleanup(gate.__exit__)
        gate.wait_until_ready()
        return kube, gate

    def test_evidence_applied_just_before_its_pod_is_found(self):
        kube, gate = self.running()
        kube.silent = True
        self.put(kube)
        self.assert_allowed(gate.ask(review()))
        self.assertEqual(gate.metric("sandgate_confirmations_total"), 2)  # the namespace of the pod and that of the gate

    def test_a_confirmed_miss_is_denied_and_found_after_the_watch_event(self):
        kube, gate = self.running()
        self.assert_denied(gate.ask(review()), 403, "gate.evidence.missing")
        self.put(kube)
        gate.wait(lambda: gate.metric("sandgate_evidence_objects") == 1, "the watch")
        self.assert_allowed(gate.ask(review()))
        kube.drop("configmaps", "payments", "report-1.4.0")
        gate.wait(lambda: not gate.ask(review())["allowed"], "the watch")
        self.assert_denied(gate.ask(review()), 403, "gate.evidence.missing")

    def test_new_namespace_is_read_before_its_pods_are_judged(self):
        kube, gate = self.running()
        kube.silent = True
        kube.put("namespaces", "", "fresh", {"sandbox.runx.dev/enforce": "required"})
        self.assert_denied(gate.ask(review(namespace="fresh", managed=False)), 403, "gate.annotation.missing")
        self.assertEqual(len(kube.asked_for("/api/v1/namespaces/fresh")), 1)
        self.assert_denied(gate.ask(review(namespace="nowhere")), 503, "the API server has no namespace nowhere")
        # a controller under `controllers: warn` is denied nowhere
        job = json.loads(review(namespace="nowhere"))
        job["request"]["kind"] = {"group": "batch", "version": "v1", "kind": "Job"}
        job["request"]["object"] = {"spec": {"template": job["request"]["object"]}}
        said = gate.ask(json.dumps(job).encode())
        self.assert_allowed(said)
        self.assertEqual(said["auditAnnotations"]["outcome"], "undecided")

    def test_server_that_does_not_answer_in_time(self):
        kube, gate = self.running()
        kube.held = True
        begun = time.monotonic()
        self.assert_denied(gate.ask(review(), query="?timeout=2s"), 504, "before the deadline of the request")
        self.assertLess(time.monotonic() - begun, 2 * SLACK)
        self.assertTrue(gate.ask(review(managed=False))["allowed"])
        self.assertEqual(gate.metric('sandgate_reviews_undecided_total{code="504"}'), 1)

    def test_evidence_is_used_even_if_the_server_stops_right_after_sending_it(self):
        kube, gate = self.running()
        kube.held = True
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(gate.ask(review())))
        waiting.start()
        gate.wait(lambda: len(kube.asked_for("/api/v1/namespaces/")) == 2, "the confirmation")
        self.put(kube)
        while gate.metric("sandgate_evidence_objects") == 0:
            pass  # within a burst
        kube.stop()
        waiting.join()
        self.assert_allowed(answers[0])

    def test_the_last_state_is_used_while_the_server_is_unreachable(self):
        kube, gate = self.running()
        self.put(kube)
        gate.wait(lambda: gate.ask(review())["allowed"], "the watch")
        kube.stop()
        gate.wait_for("lost contact with the API server; using last known state")
        self.assert_allowed(gate.ask(review()))
        self.assertTrue(gate.ready()[0])
        self.assert_denied(gate.ask(review("2.0.0")), 503, "the API server could not be asked")
        kube.start()
        self.put(kube, version="2.0.0")
        gate.wait_for("the API server is reachable again")
        gate.wait(lambda: gate.metric("sandgate_evidence_objects") == 2, "the watch")
        self.assert_allowed(gate.ask(review("2.0.0")))

    def test_old_news_do_not_count_for_ever(self):
        kube, gate = self.running(evidence=", maxStaleSeconds: 3")
        self.put(kube)
        gate.wait(lambda: gate.ask(review())["allowed"], "the watch")
        kube.stop()
        gate.wait(lambda: gate.metric("sandgate_watch_age_seconds") > 3, "staleness")
        self.assert_denied(gate.ask(review()), 503, "evidence.maxStaleSeconds")
        kube.start()
        gate.wait(lambda: gate.metric("sandgate_watch_age_seconds") < 2, "contact with the server")
        self.assert_allowed(gate.ask(review()))

    def cut_off(self):
        """A gate that had evidence, and whose API server is gone for longer than maxStaleSeconds."""
        kube, gate = self.running(evidence=", maxStaleSeconds: 3")
        kube.put("namespaces", "", "trial", {"sandbox.runx.dev/enforce": "none", "sandbox.runx.dev/warn": "required"})
        self.put(kube)
        gate.wait(lambda: gate.metric("sandgate_evidence_objects") == 1 and gate.metric("sandgate_namespaces") == 2,
                  "the watch")
        kube.stop()
        gate.wait(lambda: gate.metric("sandgate_watch_failed_reads") >= 3, "failed reads without any request")
        gate.wait(lambda: gate.metric("sandgate_watch_stale") == 1, "staleness")
        return kube, gate

    def test_a_replica_that_is_cut_off_leaves_until_one_read_succeeds(self):
        kube, gate = self.cut_off()
        _, other = self.running()
        self.assertTrue(gate.ready()[0], "without reviews, the API server itself may be away")
        self.assertIn("ok\nthe API server has sent nothing for longer than", gate.ready()[1])
        begun = time.monotonic()
        self.assert_denied(gate.ask(review()), 503, "evidence.maxStaleSeconds")
        self.assertLess(time.monotonic() - begun, 5 * SLACK)
        gate.wait(lambda: not gate.ready()[0], "the end of readiness")
        self.assertIn("sends reviews, but this gate cannot read from it", gate.ready()[1])
        self.assertEqual(gate.metric("sandgate_ready"), 0)
        self.assertEqual(other.ready(), (True, "ok"))
        self.assert_denied(gate.ask(review()), 503, "evidence.maxStaleSeconds")  # goes on
        self.assertEqual((self.connection(gate), self.connection(other)), ("close", None))
        kube.start()
        gate.wait_until_ready()
        gate.wait(lambda: gate.metric("sandgate_watch_stale") == 0, "a list")
        self.assertEqual(gate.ready(), (True, "ok"))
        self.assert_allowed(gate.ask(review()))
        self.assertIsNone(self.connection(gate))

    def connection(self, gate):
        """What an answer says about its connection: an open one brings further reviews, whatever the Service names."""
        with Client(gate.port) as client:
            return client.review(review(managed=False))[1].get("connection")

    def test_what_nothing_can_deny_is_allowed_while_cut_off(self):
        _, gate = self.cut_off()
        for managed in (True, False):
            said = gate.ask(review(namespace="trial", managed=managed), query="?timeout=30s")
            self.assert_allowed(said)
            self.assertEqual(said["auditAnnotations"], {"outcome": "undecided", "subject": "trial/Pod/p"})
            self.assertEqual(said["warnings"], [
                "sandgate: trial/Pod/p was not evaluated: the gate cannot learn the present state from the API server; by "
                "what it knows, nothing denies this request"])
        self.assert_denied(gate.ask(review(namespace="unseen", managed=False)), 503, "evidence.maxStaleSeconds")
        self.assertEqual(gate.metric('sandgate_reviews_total{outcome="undecided",allowed="true"}'), 2)
        self.assertEqual(gate.metric('sandgate_reviews_total{outcome="undecided",allowed="false"}'), 0)

    def test_replicas_are_ready_when_the_api_server_comes_back(self):
        kube, gate = self.cut_off()
        seen, done = set(), threading.Event()

        def look():
            while not done.is_set():
                seen.add(gate.ready()[0])
        watching = threading.Thread(target=look)
        watching.start()
        kube.start()
        gate.wait(lambda: gate.ask(review())["allowed"], "an admission")
        done.set()
        watching.join()
        self.assertEqual(seen, {True})

    def test_evidence_of_a_removed_key_is_no_longer_valid(self):
        kube, gate = self.running()
        self.put(kube)
        gate.wait(lambda: gate.metric("sandgate_evidence_objects") == 1, "the watch")
        self.assert_allowed(gate.ask(review()))
        os.unlink(gate.path("keyring/release-dev.pem"))
        gate.process.send_signal(signal.SIGHUP)
        gate.wait_for("configuration, keyring and evidence reloaded")
        gate.wait(lambda: not gate.ask(review())["allowed"], "the key's end")
        self.assert_denied(gate.ask(review()), 403, "gate.evidence.missing")

    def test_another_cluster_needs_a_restart_and_is_logged_once(self):
        kube, gate = self.running()
        kube.kubeconfig(gate.path("second"))
        gate.configure("kubeconfig: second")
        gate.process.send_signal(signal.SIGHUP)
        warning = gate.wait_for("a change needs a restart")
        self.assertEqual(warning["reason"], "evidence.kubeconfig has changed: restart the gate to apply it; until then "
                         "the previous value stays in use")
        before = len(gate.lines("configuration, keyring and evidence reloaded"))
        gate.process.send_signal(signal.SIGHUP)
        gate.wait_for("configuration, keyring and evidence reloaded", before + 1)
        self.assertEqual(len(gate.lines("a change needs a restart")), 1)
        self.assertTrue(gate.ready()[0])

    def test_changed_kubeconfig_needs_a_restart(self):
        kube, gate = self.running()
        kube.kubeconfig(gate.path("kubeconfig"), namespace="payments")
        warning = gate.wait_for("a change needs a restart")
        self.assertEqual(warning["reason"], "the file of evidence.kubeconfig has changed: restart the gate to apply it; "
                         "until then the previous value stays in use")
        self.assertEqual(warning["level"], "warn")

    def test_the_setting_of_network_policies_needs_a_restart(self):
        kube, gate = self.running()
        gate.configure("kubeconfig: kubeconfig", POLICIES)
        gate.process.send_signal(signal.SIGHUP)
        warning = gate.wait_for("a change needs a restart")
        self.assertEqual(warning["reason"], "boundary.networkPolicies has changed: restart the gate to apply it; until then "
                         "the previous value stays in use")
        self.assertEqual([path for path in kube.asked if "networkpolicies" in path], [])

    def test_network_policies_are_watched_until_a_restart(self):
        kube, gate = self.running(more=POLICIES)
        self.assertEqual(gate.metric("sandgate_network_policies"), 0)
        kube.put("networkpolicies", "payments", "deny", spec={"policyTypes": ["Egress"]})
        gate.wait(lambda: gate.metric("sandgate_network_policies") == 1, "the watch")
        gate.configure("kubeconfig: kubeconfig")
        gate.process.send_signal(signal.SIGHUP)
        self.assertIn("boundary.networkPolicies has changed", gate.wait_for("a change needs a restart")["reason"])
        kube.drop("networkpolicies", "payments", "deny")
        gate.wait(lambda: gate.metric("sandgate_network_policies") == 0, "the watch")

    def test_requests_that_wait_are_answered_before_the_gate_ends(self):
        kube, gate = self.running()
        kube.held = True
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(gate.ask(review(), query="?timeout=30s")))
        waiting.start()
        gate.wait(lambda: gate.metric("sandgate_in_flight_requests") == 1, "a request that waits")
        gate.process.send_signal(signal.SIGTERM)
        waiting.join()
        self.assert_denied(answers[0], 503, "")
        self.assertEqual(gate.process.wait(timeout=15 * SLACK), 0)

    def test_only_named_namespaces_are_requested(self):
        kube, gate = self.running(evidence=", namespaces: [payments]")
        self.put(kube)
        gate.wait(lambda: gate.metric("sandgate_evidence_objects") == 1, "the watch")
        self.assert_allowed(gate.ask(review()))
        self.assertEqual([path for path in kube.asked if path.startswith("/api/v1/configmaps")], [])


class Commands(Cluster):
    def run_command(self, *arguments, **environment):
        done = subprocess.run([SANDGATE, *arguments], text=True, capture_output=True, check=False,
                              env=dict(os.environ, **environment))
        return done.returncode, done.stdout, done.stderr

    def setUp(self):
        super().setUp()
        self.kube = Kube()
        self.addCleanup(self.kube.stop)
        self.kube.start()
        self.put(self.kube)
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        self.kube.kubeconfig(self.kubeconfig, namespace="payments")
        self.world = ("--keyring", os.path.join(certificates(), "keyring"), "--kubeconfig", self.kubeconfig)
        self.pod = os.path.join(self.folder, "pod.json")
        with open(self.pod, "w", encoding="utf-8") as file:
            json.dump(dict(json.loads(review())["request"]["object"], apiVersion="v1", kind="Pod"), file)

    def test_evidence_of_a_cluster_is_listed(self):
        status, out, err = self.run_command("evidence", *self.world, "-o", "json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([(e["namespace"], e["name"], e["state"], e["keys"]) for e in json.loads(out)],
                         [("payments", "report-1.4.0", "valid", ["release-dev"])])

    def test_manifest_is_checked_against_a_cluster(self):
        status, out, err = self.run_command("check", "-f", self.pod, *self.world, "-o", "json")
        self.assertEqual((status, err), (0, ""), out)
        result, = json.loads(out)
        self.assertEqual((result["namespace"], result["outcome"]), ("payments", "ready"))
        # another context and namespace, without that evidence
        status, out, _ = self.run_command("check", "-f", self.pod, *self.world, "--context", "other", "-o", "json")
        result, = json.loads(out)
        self.assertEqual((status, result["namespace"], result["outcome"]), (1, "elsewhere", "needs_more_evidence"))
        self.assertEqual([path for path in self.kube.asked if "watch=" in path and "sendInitialEvents" not in path], [])

    def test_the_right_to_network_policies_is_needed_for_check_only(self):
        config = os.path.join(self.folder, "gate.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(POLICIES)
        self.kube.forbidden = "networkpolicies"
        status, out, err = self.run_command("evidence", *self.world, "--config", config, "-o", "json")
        self.assertEqual((status, err, len(json.loads(out))), (0, "", 1))
        status, out, err = self.run_command("check", "-f", self.pod, *self.world, "--config", config)
        self.assertEqual((status, out), (2, ""))
        self.assertIn("allow this account to get, list and watch networkpolicies.networking.k8s.io", err)
        self.kube.forbidden = None
        status, out, err = self.run_command("check", "-f", self.pod, *self.world, "--config", config)
        self.assertEqual((status, err), (0, ""), out)

    def test_the_cluster_is_chosen_as_by_kubectl(self):
        status, out, err = self.run_command("evidence", *self.world[:2], "-o", "json", KUBECONFIG=self.kubeconfig)
        self.assertEqual((status, err, len(json.loads(out))), (0, "", 1))

    def test_an_unreachable_or_refusing_server_is_reported(self):
        self.kube.refused = 403
        status, out, err = self.run_command("evidence", *self.world)
        self.assertEqual((status, out), (2, ""))
        self.assertIn("configmaps is forbidden: the test chose this", err)
        self.assertNotIn("token-of-the-test", err)
        self.kube.stop()
        status, out, err = self.run_command("evidence", *self.world)
        self.assertEqual((status, out), (2, ""))
        self.assertIn("https://127.0.0.1:%d" % self.kube.port, err)


if __name__ == "__main__":
    main()
