#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program of the version before this one beside this one: same inputs, newer configuration, newer documents, logs.

SANDGATE is this program. tests/previous/build.sh builds the other one. tests/README.md says how the commit moves forward."""
import base64
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import logs
import test_serve
from program import IN_WORLD, NOW, PROGRAM, TESTS, WORLD, Case, openssl, run
from server_client import Client, main, plain_get

OUT = TESTS.parent / "build" / "previous"
PREVIOUS = OUT / "build" / "sandgate"
BOTH = {"previous": PREVIOUS, "this": pathlib.Path(PROGRAM)}
SKIPPED = 77  # of build.sh, and SKIP_RETURN_CODE in CMakeLists.txt

# Inputs that the two programs answer differently, with the reason. A name that is listed here must differ.
INTENDED = {}
# Cases about what only this version knows.
NEW_CASES = ("H03-boundary-readback/",)
# What only this version knows. (text, line:column, key) of a configuration, and (text, reason) for a baseline.
NEW_KEYS = [("defaults: {boundary: record}\n", "7:12", "boundary"), ("floor: {boundary: warn}\n", "7:9", "boundary"),
            ("boundary: {networkPolicies: true}\n", "7:1", "boundary")]
NEW_FIELDS = [("boundary: {hold: [capabilities]}\n", "boundary is not a known field")]
INVENTED_KEYS = [("invented: 1\n", "7:1", "invented"), ("defaults: {invented: record}\n", "7:12", "invented")]

SKILL = "acme/report@1.4.0"
DIGEST = "sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206"
POD = """apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, annotations: {%s}}
spec: {containers: [{name: app, image: registry.example/acme/report@%s}]}
---
"""
OURS = f"sandbox.runx.dev/skill-ref: {SKILL}"
OWN = "acme-report-1.4.0.yaml"  # the evidence of SKILL in the world of the cases
REQUIREMENTS = """apiVersion: sandbox.runx.dev/v1
kind: SandboxRequirements
workload: {skill_ref: %s}
requirements:
  source_ref: "git:acme/report/sandbox.yaml@3f2a9c1"
  source_digest: "sha256:%s"
  observed_at: "2026-02-28T13:00:00Z"
images: [%s]
""" % (SKILL, "a" * 64, DIGEST)
BASELINE = """apiVersion: sandbox.runx.dev/v1
kind: SandboxBaseline
baseline: {network_allowed: false}
"""
MISSING = ["gate.evidence.missing", "gate.image.unlisted", "sandbox.time.missing", "sandbox.requirements.provenance"]
EXEMPTION = """apiVersion: sandbox.runx.dev/v1
kind: SandboxExemption
match: {namespaces: [payments]}
reason: a test
expires_at: "2026-04-01T00:00:00Z"
findings: [%s]
""" % ", ".join(MISSING)
NEWER = "invented: {hold: [capabilities]}\n"
UNREAD = "invented is not a known field"


def load_cases():
    spec = importlib.util.spec_from_file_location("cases_run", TESTS / "cases" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES = load_cases()


class SameAnswers(Case):
    def decisions(self, program, paths, world):
        """What the API server and a person who audits get for each input: all but texts."""
        inputs = [word for path in paths for word in ("-f", path)]
        lines = CASES.run(program, "check", *inputs, *world, "-o", "review")[1].splitlines()
        self.assertEqual(len(lines), len(paths))
        return [self.decision(json.loads(line)) for line in lines]

    def decision(self, answer):
        if answer["kind"] != "AdmissionReview":
            return answer["kind"], answer["code"]
        response = answer["response"]
        audit = response.get("auditAnnotations", {})
        found = [(each["code"], each.get("place")) for each in json.loads(audit.get("findings", "[]"))]
        return (response["allowed"], response.get("status", {}).get("code"), audit.get("outcome"), found,
                audit.get("packet"), audit.get("packet-sha256"))

    def assert_same(self, rows, planned):
        """Rows as in the index of the cases. planned: how many of the answers have a packet."""
        worlds, differing, packets = {}, {}, 0
        for n, row in enumerate(rows):
            (self.folder / str(n)).mkdir()
            path = CASES.make_input(row, self.folder / str(n))
            worlds.setdefault(tuple(CASES.world_arguments(row)), []).append((row["input"], path))
        for world, inputs in worlds.items():
            paths = [path for _, path in inputs]
            answers = zip(inputs, *(self.decisions(program, paths, world) for program in BOTH.values()))
            for (name, _), old, new in answers:
                packets += len(old) > 2 and old[4] is not None
                if old != new:
                    differing[name] = (old, new)
        self.assertEqual(set(differing), {row["input"] for row in rows} & set(INTENDED), json.dumps(differing, indent=1))
        self.assertEqual(packets, planned)

    def test_reviews_of_a_real_api_server_get_the_same_decisions(self):
        rows = [{"input": f"../captured/{path.name}", "as_of": NOW, "config": "world/gate.yaml"}
                for path in sorted((TESTS / "captured").glob("[0-9]*.json"))]
        self.assertEqual(len(rows), 29)
        self.assert_same(rows, 13)

    def test_reviews_of_the_cases_get_the_same_decisions(self):
        rows = [row for row in json.loads((TESTS / "cases" / "index.json").read_text("utf-8"))
                if row["how"] == "review" and row.get("via") != "http" and not row["input"].startswith(NEW_CASES)]
        self.assertEqual(len(rows), 217)
        self.assert_same(rows, 186)


class NewerConfiguration(Case):
    def test_commands_refuse_a_configuration_with_a_key_that_they_do_not_know(self):
        path = self.write("gate.yaml", (WORLD / "gate.yaml").read_text() + "invented: 1\n")
        for program in BOTH.values():
            for command in (("evidence",), ("check", "-f", TESTS / "captured" / "01-create-pod.json")):
                got = run(*command, "--config", path, "--keyring", WORLD / "keyring", "--evidence", WORLD / "evidence",
                          program=program)
                self.assertEqual(got, (2, "", f"sandgate: {path}:7:1: invented is not a known key\n"))

    def test_serve_refuses_a_key_that_it_does_not_know_and_ends(self):
        for name, text in (("tls/tls.crt", "x"), ("tls/tls.key", "x")):
            self.write(name, text)
        for part in ("keyring", "evidence"):
            shutil.copytree(WORLD / part, self.folder / part)
        known = (WORLD / "gate.yaml").read_text()
        self.assertEqual(known.count("\n"), 6)
        for which, program in BOTH.items():
            for text, place, key in INVENTED_KEYS + (NEW_KEYS if which == "previous" else []):
                path = self.write("gate.yaml", known + text)
                for options in (("--check",), ()):
                    with self.subTest(program=which, key=key, options=options):
                        got = run("serve", *options, "--config", path, program=program)
                        self.assertEqual(got, (2, "", f"sandgate: {path}:{place}: {key} is not a known key\n"))

    def test_a_running_gate_keeps_its_configuration_and_reports_that_the_new_one_failed(self):
        for which, program in BOTH.items():
            for text, place, key in INVENTED_KEYS[1:] + (NEW_KEYS if which == "previous" else []):
                with self.subTest(program=which, key=key), test_serve.Gate(program=str(program)) as gate:
                    self.keeps(gate, text, place.replace('7:', '9:'), key)

    def keeps(self, gate, text, place, key):
        path = pathlib.Path(gate.path("gate.yaml"))
        before = path.read_text()
        self.assertEqual(gate.reloads("configuration", "error"), 0)
        # `exempt` would admit the pod that is denied now
        path.write_text(f"{before}exempt: {{namespaces: [payments]}}\n{text}")
        gate.process.send_signal(signal.SIGHUP)
        line = gate.wait_for("a file cannot be used")
        self.assertEqual(line["reason"], f"{path}:{place}: {key} is not a known key")
        self.assertGreaterEqual(gate.reloads("configuration", "error"), 1)
        self.assertEqual(self.metric(gate, 'sandgate_last_reload_successful{part="configuration"}'), "0")
        self.assertEqual(plain_get(gate.admin, "/readyz")[::2],
                         (200, b"ok\nthe last reading of the configuration failed: the log has the reason"))
        self.assertEqual(self.verdict(gate), (False, 403))
        path.write_text(f"{before}exempt: {{namespaces: [payments]}}\n")
        gate.process.send_signal(signal.SIGHUP)
        gate.wait_for("configuration, keyring and evidence reloaded")
        self.assertEqual(self.verdict(gate), (True, None))
        self.assertEqual(plain_get(gate.admin, "/readyz")[::2], (200, b"ok"))

    def metric(self, gate, name):
        body = plain_get(gate.admin, "/metrics")[2].decode()
        return next(line.split()[-1] for line in body.splitlines() if line.startswith(name + " "))

    def verdict(self, gate):
        """(allowed, code) for a managed pod without evidence."""
        with Client(gate.port) as client:
            status, _, body = client.review((TESTS / "captured" / "01-create-pod.json").read_bytes())
        self.assertEqual(status, 200)
        response = json.loads(body)["response"]
        return response["allowed"], response.get("status", {}).get("code")


class NewerDocuments:
    """A field that the program does not know, under a valid signature."""

    def setUp(self):
        super().setUp()
        shutil.copytree(WORLD / "evidence", self.folder / "evidence")
        self.pods = self.write("pods.yaml", POD % ("ours", "payments", OURS, DIGEST) + POD % ("plain", "scratch", "", DIGEST))

    def publish(self, name, document):
        """Signs with openssl, because `sandgate sign` refuses what it does not know."""
        path, signature = self.write(f"{name}.document", document), self.folder / "signature"
        openssl("pkeyutl", "-sign", "-inkey", WORLD / "signing-keys" / "TEST-ONLY" / "release-2026.pem", "-rawin",
                "-in", path, "-out", signature)
        self.write(f"evidence/{name}.yaml", json.dumps({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"sandbox.yaml": document},
            "metadata": {"name": name, "namespace": "sandgate-system", "labels": {"sandbox.runx.dev/evidence": "true"},
                         "annotations": {"signature.sandbox.runx.dev/release-2026":
                                         base64.b64encode(signature.read_bytes()).decode()}}}))

    def state(self, name):
        listed = json.loads(self.assert_run(0, "evidence", *IN_WORLD, "--evidence", self.folder / "evidence", "-o", "json",
                                            program=self.program))
        return next((each["state"], each["reason"]) for each in listed if each["name"] == name)

    def check(self, status):
        """(allowed, outcome, codes) of the two pods: one that is judged, and one that nobody asked to judge."""
        results = self.check_json(status, *IN_WORLD, "--evidence", self.folder / "evidence", "-f", self.pods,
                                  program=self.program)
        return [(each["allowed"], each["outcome"], [finding["code"] for finding in each["findings"]]) for each in results]

    UNMANAGED = (True, "unmanaged", [])
    READY = (True, "ready", [])
    DENIED = (False, "needs_more_evidence", MISSING)

    def test_sign_and_verify_refuse_such_a_document(self):
        path = self.write("document.yaml", BASELINE + NEWER)
        got = run("sign", "--key", WORLD / "signing-keys" / "TEST-ONLY" / "release-2026.pem", path, program=self.program)
        self.assertEqual(got, (2, "", f"sandgate: {path}:4:1: {UNREAD}\n"))
        self.publish("newer", BASELINE + NEWER)
        result, = json.loads(self.assert_run(1, "verify", "--keyring", WORLD / "keyring", "-o", "json",
                                             self.folder / "evidence" / "newer.yaml", program=self.program))
        self.assertEqual((result["valid"], result["reason"]), (False, UNREAD))

    def test_requirements_are_invalid_and_their_pod_is_denied_as_without_evidence(self):
        os.unlink(self.folder / "evidence" / OWN)
        self.publish("newer", REQUIREMENTS)
        self.assertEqual((self.state("newer"), self.check(0)),
                         (("valid", ""), [self.READY, self.UNMANAGED]))
        self.publish("newer", REQUIREMENTS + NEWER)
        self.assertEqual((self.state("newer"), self.check(1)),
                         (("invalid", UNREAD), [self.DENIED, self.UNMANAGED]))

    def test_older_requirements_of_the_same_workload_count_instead(self):
        self.publish("newer", REQUIREMENTS + NEWER)
        self.assertEqual((self.state("newer"), self.check(0)),
                         (("invalid", UNREAD), [self.READY, self.UNMANAGED]))

    def test_a_baseline_blocks_every_judged_pod(self):
        for text, reason in [(NEWER, UNREAD)] + (NEW_FIELDS if self.program == PREVIOUS else []):
            self.publish("newer", BASELINE + text)
            self.assertEqual((self.state("newer"), self.check(1)),
                             (("invalid", reason), [(False, "blocked", ["gate.baseline.invalid"]), self.UNMANAGED]))

    def test_an_exemption_is_not_used(self):
        os.unlink(self.folder / "evidence" / OWN)
        self.publish("newer", EXEMPTION)
        self.assertEqual((self.state("newer"), self.check(0)),
                         (("valid", ""), [(True, "exempt", MISSING), self.UNMANAGED]))
        self.publish("newer", EXEMPTION + NEWER)
        self.assertEqual((self.state("newer"), self.check(1)),
                         (("invalid", UNREAD), [self.DENIED, self.UNMANAGED]))

    def test_an_exemption_for_a_finding_that_is_not_known_waives_only_the_others(self):
        os.unlink(self.folder / "evidence" / OWN)
        for codes, status, wanted in (("invented.finding", 1, self.DENIED),
                                      (", ".join(MISSING + ["invented.finding"]), 0, (True, "exempt", MISSING))):
            self.publish("newer", EXEMPTION.replace(", ".join(MISSING), codes))
            self.assertEqual((self.state("newer"), self.check(status)), (("valid", ""), [wanted, self.UNMANAGED]))

    def test_a_label_of_a_namespace_that_is_not_known_is_ignored(self):
        path = self.folder / "evidence" / "namespaces.yaml"
        label = "sandbox.runx.dev/enforce: required\n"
        text = path.read_text()
        self.assertEqual(text.count(label), 1)
        path.write_text(text.replace(label, f"{label}    sandbox.runx.dev/invented: block\n"))
        self.assertEqual(self.check(0), [self.READY, self.UNMANAGED])

    def test_what_only_the_boundary_blocks_is_admitted_by_the_version_before(self):
        path = self.folder / "evidence" / "namespaces.yaml"
        label = "sandbox.runx.dev/enforce: required\n"
        path.write_text(path.read_text().replace(label, f"{label}    sandbox.runx.dev/boundary: block\n"))
        serving = POD.replace("name: app,", "name: app, ports: [{containerPort: 80}],")
        self.pods.write_text(serving % ("ours", "payments", OURS, DIGEST))
        self.assertEqual(self.check(0 if self.program == PREVIOUS else 1), [
            self.READY if self.program == PREVIOUS else (False, "blocked", ["boundary.network.serves"])])

    def test_an_annotation_of_a_pod_that_is_not_known_denies_it(self):
        self.pods.write_text(POD % ("ours", "payments", f"{OURS}, sandbox.runx.dev/invented: x", DIGEST))
        self.assertEqual(self.check(1), [(False, "blocked", ["gate.annotation.unknown"])])


class NewerDocumentsForThePreviousProgram(NewerDocuments, Case):
    program = PREVIOUS


class NewerDocumentsForThisProgram(NewerDocuments, Case):
    program = PROGRAM


class Logs(Case):
    """Each program reads what the other one wrote into the audit log."""

    def test_review_and_replay_read_the_answers_of_both(self):
        pods = {"good": POD % ("good", "payments", OURS, DIGEST), "bare": POD % ("bare", "payments", "", DIGEST)}
        for writer, program in BOTH.items():
            events = [logs.event(json.loads(run("check", "-f", "-", *IN_WORLD, "-o", "review", stdin=text.encode(),
                                                program=program)[1])["response"]) for text in pods.values()]
            path = self.write("audit.log", logs.log(*events))
            for reader, other in BOTH.items():
                with self.subTest(writer=writer, reader=reader):
                    self.assertEqual(self.assert_run(0, "replay", path, program=other), "2 same, 0 differ\n")
                    report = json.loads(self.assert_run(0, "review", path, "-o", "json", program=other))
                    self.assertEqual([(each["name"], each["outcome"]) for each in report["rows"]],
                                     [("bare", "needs_more_evidence")])


if __name__ == "__main__":
    built = subprocess.run([TESTS / "previous" / "build.sh", OUT], check=False)
    if built.returncode:
        sys.exit(built.returncode)
    main()
