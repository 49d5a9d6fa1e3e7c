#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands sign, verify and evidence, with openssl as the other side."""
import base64
import json
import os
import subprocess
import unittest

from program import DOCUMENT, NOW, WORLD, Case, openssl, run, run_on_terminal

KINDS = {
    "ed25519": ("ED25519",),
    "p256": ("EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "p384": ("EC", "-pkeyopt", "ec_paramgen_curve:P-384"),
    "rsa": ("RSA", "-pkeyopt", "rsa_keygen_bits:2048"),
    "pss": ("RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"),
}


class Keys(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.folder / "keyring")
        self.document = self.write("sandbox.yaml", DOCUMENT)

    def make_key(self, name, *kind):
        key = self.folder / f"{name}.pem"
        openssl("genpkey", "-algorithm", *kind, "-out", key)
        openssl("pkey", "-in", key, "-pubout", "-out", self.folder / "keyring" / f"{name}.pem")
        return key

    def sign(self, *arguments, document=None, **options):
        """Signs. Returns the manifest and a file with it."""
        out = self.assert_run(0, "sign", *arguments, document or self.document, **options)
        return out, self.write("signed.yaml", out)

    def verify(self, status, path):
        return json.loads(self.assert_run(status, "verify", "--keyring", self.folder / "keyring",
                                          "-o", "json", path))

    def signature_of(self, manifest, key_id):
        line = next(line for line in manifest.splitlines()
                    if f"signature.sandbox.runx.dev/{key_id}:" in line)
        return base64.b64decode(line.split(": ", 1)[1].strip('"'), validate=True)


class Sign(Keys):
    def test_our_signature_verifies_here_and_with_openssl(self):
        for name, kind in KINDS.items():
            key = self.make_key(name, *kind)
            manifest, path = self.sign("--key", key)
            result, = self.verify(0, path)
            self.assertEqual((result["valid"], result["keys"], result["name"]),
                             (True, [name], "acme-report-1.4.0"))
            signature = self.write("sig", self.signature_of(manifest, name))
            public = self.folder / "keyring" / f"{name}.pem"
            if name == "ed25519":
                openssl("pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in",
                        self.document, "-sigfile", signature)
            else:
                digest = "-sha384" if name == "p384" else "-sha256"
                pss = ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32")
                openssl("dgst", digest, "-verify", public, *(pss if name == "pss" else ()),
                        "-signature", signature, self.document)

    def test_a_signature_of_openssl_verifies_here(self):
        for name, kind in KINDS.items():
            key, out = self.make_key(name, *kind), self.folder / "sig"
            if name == "ed25519":
                openssl("pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", self.document, "-out",
                        out)
            else:
                digest = "-sha384" if name == "p384" else "-sha256"
                pss = ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32")
                openssl("dgst", digest, "-sign", key, *(pss if name == "pss" else ()), "-out", out,
                        self.document)
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "name": "x", "labels": {"sandbox.runx.dev/evidence": "true"},
                "annotations": {f"signature.sandbox.runx.dev/{name}":
                                base64.b64encode(out.read_bytes()).decode()}},
                "data": {"sandbox.yaml": DOCUMENT}}
            result, = self.verify(0, self.write("x.json", json.dumps(manifest)))
            self.assertEqual(result["keys"], [name])

    def test_manifest_has_the_form_of_the_contract(self):
        key = self.make_key("release-2026", *KINDS["ed25519"])
        manifest, _ = self.sign("--key", key, "--namespace", "payments")
        signature = base64.b64encode(self.signature_of(manifest, "release-2026")).decode()
        block = "".join(f"    {line}\n" for line in DOCUMENT.splitlines())
        self.assertEqual(manifest, f"""apiVersion: v1
kind: ConfigMap
metadata:
  name: acme-report-1.4.0
  namespace: payments
  labels:
    sandbox.runx.dev/evidence: "true"
  annotations:
    signature.sandbox.runx.dev/release-2026: "{signature}"
data:
  sandbox.yaml: |
{block}""")

    def test_all_bytes_of_a_document_are_kept(self):
        key = self.make_key("k", *KINDS["p256"])
        for text in (DOCUMENT.rstrip("\n"), DOCUMENT + "\n\n", DOCUMENT.replace("\n", "\r\n"),
                     "# blanks   \n" + DOCUMENT, "#\ttab\n" + DOCUMENT, "\n" + DOCUMENT,
                     "  # indented\n" + DOCUMENT, "\ufeff" + DOCUMENT, "# \U0001f600 ä\n" + DOCUMENT,
                     DOCUMENT + "# end \\ \" '\n", "---\n" + DOCUMENT):
            _, path = self.sign("--key", key, document=self.write("doc.yaml", text))
            result, = self.verify(0, path)
            self.assertEqual(result["keys"], ["k"], repr(text))

    def test_json_documents_can_be_signed(self):
        key = self.make_key("k", *KINDS["p256"])
        document = {"apiVersion": "sandbox.runx.dev/v1", "kind": "SandboxBaseline",
                    "baseline": {"network_allowed": False}}
        manifest, path = self.sign("--key", key, document=self.write("Floor_1.json",
                                                                      json.dumps(document)))
        self.assertIn("\n  name: floor-1\n", manifest)
        self.verify(0, path)

    def test_second_signature_is_added(self):
        first, second = self.make_key("a", *KINDS["p256"]), self.make_key("b", *KINDS["ed25519"])
        _, path = self.sign("--key", first, "--name", "x")
        path = self.write("one.yaml", path.read_bytes())
        self.assert_run(0, "sign", "--key", second, "--output", path, path)
        result, = self.verify(0, path)
        self.assertEqual((result["keys"], result["name"]), (["a", "b"], "x"))
        self.assert_run(0, "sign", "--key", second, "-o", path, path)
        self.assertEqual(path.read_text().count("signature.sandbox.runx.dev/"), 2)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["a.pem", "b.pem", "keyring", "one.yaml", "sandbox.yaml", "signed.yaml"])

    def test_other_parts_of_a_manifest_are_kept(self):
        key = self.make_key("k", *KINDS["p256"])
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "immutable": True, "metadata": {
            "name": "x", "namespace": "ns", "labels": {"team": "yes"}, "annotations": {"note": "1"}},
            "data": {"other": "kept", "sandbox.yaml": DOCUMENT}}
        text, path = self.sign("--key", key, document=self.write("x.json", json.dumps(manifest)))
        self.verify(0, path)
        for line in ("immutable: true", '    team: "yes"', '    note: "1"', "  other: kept",
                     '    sandbox.runx.dev/evidence: "true"', "  namespace: ns"):
            self.assertIn(f"\n{line}\n", text)

    def test_document_that_is_not_evidence_is_rejected_with_its_place(self):
        key = self.make_key("k", *KINDS["p256"])
        rows = [(DOCUMENT + "oops: 1\n", ":8:1: oops is not a known field"),
                (DOCUMENT.replace("workload: {", "workload: {network: yes, "), ":3:21: "),
                (DOCUMENT.replace("SandboxRequirements", "SandboxThing"), ":"),
                (DOCUMENT + "kind: SandboxBaseline\n", ":8:1: a key is given twice in one object"),
                (DOCUMENT + "#" * 65536, ":1:1: the document is larger than 64 KiB")]
        for text, what in rows:
            path = self.write("doc.yaml", text)
            self.assertEqual(self.assert_run(2, "sign", "--key", key, path), "")
            self.assertTrue(self.err.startswith(f"sandgate: {path}{what}"), self.err)

    def test_keys_of_other_kinds_are_rejected(self):
        rows = [(("RSA", "-pkeyopt", "rsa_keygen_bits:1024"), "an RSA key under 2048 bits"),
                (("EC", "-pkeyopt", "ec_paramgen_curve:P-521"), "a key on an unsupported curve"),
                (("X25519",), "an unsupported kind of key"),
                ((*KINDS["pss"], "-pkeyopt", "rsa_pss_keygen_md:sha256", "-pkeyopt",
                  "rsa_pss_keygen_mgf1_md:sha256", "-pkeyopt", "rsa_pss_keygen_saltlen:48"),
                 "an RSA-PSS key that is restricted")]
        for kind, what in rows:
            key = self.make_key("k", *kind)
            self.assert_run(2, "sign", "--key", key, self.document)
            self.assertTrue(self.err.startswith(f"sandgate: {key}: {what}"), self.err)
        sec1 = self.folder / "sec1.pem"
        openssl("ecparam", "-genkey", "-name", "prime256v1", "-out", sec1)
        self.assert_run(2, "sign", "--key", sec1, self.document)
        self.assertIn("openssl pkcs8 -topk8", self.err)

    def test_names_that_kubernetes_would_reject_are_rejected(self):
        key = self.make_key("k", *KINDS["p256"])
        for arguments in (("--name", "Not_a_name"), ("--name", "a..b"), ("--namespace", "a.b"),
                          ("--key-id", "release_"), ("--key-id", "x" * 64)):
            self.assert_run(2, "sign", "--key", key, *arguments, self.document)
        odd = self.write("sandbox2.yaml", DOCUMENT.replace("acme/report@1.4.0", "a_b/c.d@V1_+x"))
        self.assertIn("\n  name: a-b-c.d-v1-x\n", self.sign("--key", key, document=odd)[0])
        self.assertEqual(run("sign", "--key", key, "-", stdin=DOCUMENT.encode())[0], 0)


class Passphrases(Keys):
    def setUp(self):
        super().setUp()
        plain = self.make_key("enc", *KINDS["p256"])
        self.key = self.folder / "keys-enc" / "enc.pem"
        os.mkdir(self.key.parent)
        openssl("pkcs8", "-topk8", "-in", plain, "-v2", "aes-256-cbc", "-passout", "pass:secret",
                "-out", self.key)

    def test_from_a_file_and_from_the_environment(self):
        for end in ("", "\n", "\r\n", "\nmore"):
            path = self.write("pass", "secret" + end)
            self.verify(0, self.sign("--key", self.key, "--passphrase-file", path)[1])
        self.verify(0, self.sign("--key", self.key, "--passphrase-env", "PW", PW="secret")[1])

    def test_a_wrong_or_missing_passphrase_is_reported(self):
        self.assert_run(2, "sign", "--key", self.key, "--passphrase-env", "PW", self.document,
                        PW="wrong")
        self.assertEqual(self.err,
                         f"sandgate: {self.key}: wrong passphrase for this key\n")
        self.assert_run(2, "sign", "--key", self.key, "--passphrase-env", "NONE", self.document)
        self.assertEqual(self.err, "sandgate: the environment variable NONE is not set\n")
        self.assert_run(2, "sign", "--key", self.key, "--passphrase-file", "a", "--passphrase-env",
                        "b", self.document)

    def test_without_a_terminal_the_option_is_named(self):
        done = subprocess.run(["setsid", os.environ["SANDGATE"], "sign", "--key", self.key,
                               self.document], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"use --passphrase-file or --passphrase-env", done.stderr)

    def test_prompt_on_a_terminal_has_no_echo(self):
        out = self.folder / "out.yaml"
        status, shown = run_on_terminal("sign", "--key", self.key, "-o", out, self.document,
                                        answer=b"secrex\x7ft\n")
        self.assertEqual(status, 0, shown)
        self.assertNotIn("secre", shown)
        self.verify(0, out)
        status, shown = run_on_terminal("sign", "--key", self.key, self.document, answer=b"\x03")
        self.assertEqual(status, 2)


class Verify(Keys):
    def test_result_of_each_manifest_and_exit_status(self):
        key = self.make_key("k", *KINDS["p256"])
        text, good = self.sign("--key", key)
        good = self.write("good.yaml", text)
        bad = self.write("bad.yaml", text.replace("observed_at", "observed_ta"))
        keyring = self.folder / "keyring"
        out = self.assert_run(1, "verify", "--keyring", keyring, good, bad)
        self.assertIn(f"{good}: default/acme-report-1.4.0: valid, SandboxRequirements, signed by k\n"
                      "  k: verifies\n", out)
        self.assertIn(f"{bad}: default/acme-report-1.4.0: not valid: ", out)
        self.assertIn("  k: the signature does not match this key and document\n", out)
        self.assert_run(2, "verify", "--keyring", keyring, bad, self.folder / "none", good)
        self.assert_run(2, "verify", "--keyring", self.folder / "none", good)
        self.assert_run(2, "verify", "--keyring", keyring, self.write("x.yaml", "kind: Pod\n"))
        self.assertIn("nothing to verify", self.err)

    def test_without_the_label_it_is_not_valid(self):
        key = self.make_key("k", *KINDS["p256"])
        text, _ = self.sign("--key", key)
        for other in ('"false"', '"True"', '""'):
            path = self.write("x.yaml", text.replace('evidence: "true"', f"evidence: {other}"))
            result, = self.verify(1, path)
            self.assertEqual((result["valid"], result["keys"]), (False, ["k"]))
            self.assertEqual(result["reason"],
                             'the label sandbox.runx.dev/evidence: "true" is missing')

    def test_document_in_binary_data_is_not_valid(self):
        key = self.make_key("k", *KINDS["p256"])
        text, _ = self.sign("--key", key)
        path = self.write("x.yaml", text + "binaryData: {sandbox.yaml: YQ==}\n")
        self.assertFalse(self.verify(1, path)[0]["valid"])

    def test_unknown_keys_and_bad_base64_have_different_results(self):
        key = self.make_key("k", *KINDS["p256"])
        text, _ = self.sign("--key", key)
        extra = "    signature.sandbox.runx.dev/"
        path = self.write("x.yaml", text.replace(extra, f"{extra}u: YWJj\n{extra}z: '-'\n{extra}",
                                                 1))
        self.make_key("z", *KINDS["ed25519"])
        out = self.assert_run(0, "verify", "--keyring", self.folder / "keyring", path)
        self.assertIn("  u: the keyring has no key with this id\n", out)
        self.assertIn("  z: the signature is not valid base64\n", out)


class Evidence(Case):
    def test_lists_state_age_and_signers(self):
        arguments = ("evidence", "--evidence", WORLD / "evidence", "--keyring", WORLD / "keyring",
                     "--as-of", NOW)
        out = self.assert_run(0, *arguments)
        self.assertRegex(out, r"(?m)^NAMESPACE +NAME +KIND +STATE +AGE +ENDS +SIGNED BY +WORKLOAD +HOLD +MOUNTS +REASON$")
        self.assertRegex(out, r"(?m)^sandgate-system +acme-report-1\.4\.0 +SandboxRequirements "
                              r"+valid +1d +2026-03-30T12:00:00Z +release-2026,security-2026 +acme/report@1\.4\.0$")
        self.assertRegex(out, r"(?m)^payments +acme-old-1\.0\.0 .* stale +50d .*too old for a plan$")
        listed = {item["name"]: item for item in
                  json.loads(self.assert_run(0, *arguments, "-o", "json"))}
        self.assertEqual(listed["acme-report-1.4.0"]["ageSeconds"], 86400)
        self.assertEqual(listed["baseline"]["keys"], ["release-2026", "security-2026"])
        self.assertEqual(listed["baseline"]["state"], "valid")

    def test_expiring_lists_evidence_that_expires_within_72_hours(self):
        def listed(as_of):
            out = self.assert_run(0, "evidence", "--evidence", WORLD / "evidence", "--keyring", WORLD / "keyring",
                                  "--expiring", "--as-of", as_of, "-o", "json")
            return {item["name"]: item["endsAt"] for item in json.loads(out)}

        self.assertNotIn("acme-report-1.4.0", listed("2026-03-27T11:59:59Z"))
        self.assertEqual(listed("2026-03-27T12:00:00Z")["acme-report-1.4.0"], "2026-03-30T12:00:00Z")
        self.assertEqual(listed("2026-03-30T12:00:00Z")["acme-report-1.4.0"], "2026-03-30T12:00:00Z")
        self.assertNotIn("acme-report-1.4.0", listed("2026-03-30T12:00:01Z"))

    def test_what_a_baseline_asks_of_the_boundary_is_listed(self):
        os.mkdir(self.folder / "e")
        os.mkdir(self.folder / "keyring")
        openssl("genpkey", "-algorithm", "ED25519", "-out", self.folder / "security.pem")
        openssl("pkey", "-in", self.folder / "security.pem", "-pubout", "-out", self.folder / "keyring" / "security.pem")
        for name, boundary in (("both", "{hold: [syscalls, egress], mounts: [/tmp, \"/a,\\tb\"]}"), ("empty", "{mounts: []}"),
                               ("hold", "{hold: [network]}"), ("plain", "{}")):
            path = self.write(f"{name}.yaml", "apiVersion: sandbox.runx.dev/v1\nkind: SandboxBaseline\nbaseline: {}\n"
                              f"boundary: {boundary}\n")
            self.write(f"e/{name}.yaml", self.assert_run(0, "sign", "--key", self.folder / "security.pem",
                                                         "--name", name, "--namespace", "n", path))
        arguments = ("evidence", "--evidence", self.folder / "e", "--keyring", self.folder / "keyring", "--as-of", NOW)
        listed = {item["name"]: [item[key] for key in ("state", "hold", "mounts")]
                  for item in json.loads(self.assert_run(0, *arguments, "-o", "json"))}
        self.assertEqual(listed, {"both": ["valid", ["egress", "syscalls"], ["/tmp", "/a,\tb"]],
                                  "empty": ["valid", [], []], "hold": ["valid", ["network"], None],
                                  "plain": ["valid", [], None]})
        lines = self.assert_run(0, *arguments).splitlines()
        self.assertRegex(lines[0], " SIGNED BY +WORKLOAD +HOLD +MOUNTS +REASON$")
        self.assertRegex(lines[1], r"^n +both .* security +egress,syscalls +/tmp,/a,\\u\{9\}b *$")
        self.assertRegex(lines[2], "^n +empty .* security +none *$")
        self.assertRegex(lines[3], "^n +hold .* security +network *$")
        self.assertRegex(lines[4], "^n +plain .* security *$")
        first = json.loads(self.assert_run(0, "evidence", "--evidence", WORLD / "evidence", "--keyring", WORLD / "keyring",
                                           "-o", "json"))
        self.assertEqual({item["kind"] for item in first if "hold" in item}, {"SandboxBaseline"})

    def test_invalid_evidence_has_a_reason(self):
        os.mkdir(self.folder / "keyring")
        self.write("keyring/release-2026.pem",
                   (WORLD / "keyring" / "release-2026.pem").read_bytes())
        out = self.assert_run(0, "evidence", "--evidence", WORLD / "evidence", "--keyring",
                              self.folder / "keyring", "--config",
                              WORLD / "gate-threshold-2.yaml", "-n", "sandgate-system")
        self.assertRegex(out, r"(?m)^sandgate-system +baseline +SandboxBaseline +invalid .*1 of 2 ")
        self.assertNotIn("payments", out)

    def test_what_has_no_record_is_counted(self):
        self.write("e/world.yaml", "---\n".join(path.read_text() for path in sorted((WORLD / "evidence").glob("*.yaml"))))
        report, = (path.read_text() for path in (WORLD / "evidence").glob("*.yaml")
                   if "name: acme-report-1.4.0\n" in path.read_text())
        for name in ("a", "z"):
            self.write(f"e/{name}.yaml", report.replace("name: acme-report-1.4.0\n", f"name: {name}\n", 1))
        broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%d, namespace: payments, labels: " \
                 "{sandbox.runx.dev/evidence: \"true\"}}\ndata: {sandbox.yaml: \"kind: %s\"}\n"
        self.write("e/more.yaml", "---\n".join(broken % (name, number, kind) for name, kind, count in
                                              (("b", "SandboxBaseline", 1001), ("c", "none", 1002)) for number in range(count)))
        out = self.assert_run(0, "evidence", "--evidence", self.folder / "e", "--keyring", WORLD / "keyring", "-o", "json")
        listed = {item["name"] for item in json.loads(out)}
        self.assertEqual(listed & {"a", "z", "acme-report-1.4.0", "b1000", "c1000"}, {"a", "b1000", "c1000"})
        self.assertEqual(self.err, "sandgate: payments: 2 more documents that are not valid\n"
                         "sandgate: payments: 1 more baselines that are not valid; they block too\n"
                         "sandgate: sandgate-system: 2 not listed: each has the bytes of a valid document that is\n")

    def test_exit_status_2_if_nothing_can_be_read(self):
        self.write("e/a.yaml", "a: 1\na: 2\n")
        self.assert_run(2, "evidence", "--evidence", self.folder / "e", "--keyring",
                        WORLD / "keyring")
        self.assertTrue(self.err.startswith(f"sandgate: {self.folder}/e/a.yaml:2:1: "), self.err)


if __name__ == "__main__":
    unittest.main()
