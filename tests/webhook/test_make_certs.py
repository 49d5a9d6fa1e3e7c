#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""certs-dev/make-certs: what it makes, keeps, renews and does not change."""
import os
import stat
import subprocess
import unittest

from program import DOCUMENT, TESTS, Case, openssl

SCRIPT = TESTS.parent / "certs-dev" / "make-certs"
FILES = ["ca.crt", "ca.key", "client.crt", "client.key", "keyring/release-dev.pem",
         "keyring/security-dev.pem", "signing-keys/release-dev.pem",
         "signing-keys/security-dev.pem", "tls.crt", "tls.key"]


class MakeCerts(Case):
    def setUp(self):
        super().setUp()
        self.made = self.folder / "out"

    def make(self, status=0, *before):
        done = subprocess.run([*before, SCRIPT, "--out", self.made], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stdout + done.stderr).decode()

    def contents(self):
        return {name: (self.made / name).read_bytes() for name in FILES}

    def test_makes_everything_once_and_then_keeps_it(self):
        self.assertEqual(self.make(), f"{self.made}: certificates made, valid for 90 days, "
                                      "signing keys made\n")
        before = self.contents()
        names = sorted(str(path.relative_to(self.made)) for path in self.made.rglob("*")
                       if path.is_file())
        self.assertEqual(names, [".made-by-make-certs", *FILES])
        self.assertEqual(self.make(), f"{self.made}: certificates kept, signing keys kept\n")
        self.assertEqual(self.contents(), before)

    def test_only_the_owner_can_read_private_keys(self):
        self.make()
        for name in FILES:
            mode = stat.S_IMODE(os.stat(self.made / name).st_mode)
            private = name.endswith(".key") or name.startswith("signing-keys/")
            self.assertEqual(mode, 0o600 if private else 0o644, name)

    def test_certificates_verify_for_their_names(self):
        self.make()
        for name, purpose, check in (("tls", "sslserver", ("-verify_hostname", "localhost")),
                                     ("tls", "sslserver", ("-verify_ip", "127.0.0.1")),
                                     ("tls", "sslserver", ("-verify_ip", "::1")),
                                     ("tls", "sslserver", ("-verify_hostname",
                                                           "sandgate.sandgate-system.svc")),
                                     ("client", "sslclient", ())):
            openssl("verify", "-x509_strict", "-CAfile", self.made / "ca.crt", "-purpose", purpose,
                    *check, self.made / f"{name}.crt")

    def test_evidence_signed_with_its_keys_verifies(self):
        self.make()
        document = self.write("sandbox.yaml", DOCUMENT)
        for key in ("release-dev", "security-dev"):
            signed = self.write("signed.yaml", self.assert_run(
                0, "sign", "--key", self.made / "signing-keys" / f"{key}.pem", document))
            self.assert_run(0, "verify", "--keyring", self.made / "keyring", signed)

    def test_certificates_near_their_expiry_are_renewed_but_signing_keys_are_kept(self):
        self.make()
        before = self.contents()
        self.make(0, "faketime", "55 days")
        self.assertEqual(self.contents(), before)
        self.make(0, "faketime", "61 days")
        after = self.contents()
        for name in FILES:
            kept = name.startswith(("keyring/", "signing-keys/"))
            self.assertEqual(after[name] == before[name], kept, name)

    def test_mismatched_files_are_made_again(self):
        self.make()
        before = self.contents()
        (self.made / "tls.key").write_bytes(before["client.key"])
        self.make()
        self.assertNotEqual(self.contents()["tls.crt"], before["tls.crt"])
        (self.made / "keyring" / "release-dev.pem").unlink()
        self.make()
        self.assertEqual(self.contents()["keyring/release-dev.pem"],
                         before["keyring/release-dev.pem"])

    def test_a_directory_with_other_files_is_not_changed(self):
        self.write("out/tls.crt", "mine")
        self.assertIn("contains files that this script did not make", self.make(1))
        self.assertEqual(os.listdir(self.made), ["tls.crt"])
        self.assertEqual((self.made / "tls.crt").read_text(), "mine")

    def test_help_and_wrong_arguments(self):
        done = subprocess.run([SCRIPT, "--help"], capture_output=True, check=True)
        self.assertTrue(done.stdout.startswith(b"Usage: certs-dev/make-certs"))
        done = subprocess.run([SCRIPT, "--what"], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"make-certs: unknown argument --what; see --help\n"))


if __name__ == "__main__":
    unittest.main()
