# SPDX-License-Identifier: Apache-2.0
"""OpenSSL and the TLS client of Python accept the certificates that the gate makes."""

import datetime
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ["CERTIFICATE_PROGRAM"]
NAMES = ("sandgate.sandgate-system.svc", "sandgate.sandgate-system")


def openssl(*arguments):
    return subprocess.run(("openssl",) + arguments, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="sandgate-certificate-")
        cls.begun = time.time()
        subprocess.run((PROGRAM, cls.folder) + NAMES, check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        return openssl("x509", "-in", self.path(name), "-noout", "-text").stdout

    def verify(self, authority, *more):
        return openssl("verify", "-x509_strict", "-check_ss_sig", "-CAfile", self.path(authority),
                       *more, self.path("tls.crt"))

    def date(self, name, which):
        line = openssl("x509", "-in", self.path(name), "-noout", "-" + which).stdout
        made = datetime.datetime.strptime(line.split("=")[1].strip(), "%b %d %H:%M:%S %Y %Z")
        return made.replace(tzinfo=datetime.timezone.utc).timestamp()

    def test_openssl_accepts_each_name_for_a_server(self):
        for name in NAMES:
            done = self.verify("ca.crt", "-purpose", "sslserver", "-verify_hostname", name)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_openssl_rejects_another_name_another_ca_and_another_use(self):
        for authority, more, what in (
                ("ca.crt", ("-verify_hostname", "other.svc"), "hostname mismatch"),
                ("other.crt", (), "unable to get local issuer certificate"),
                ("ca.crt", ("-purpose", "sslclient"), "nsuitable certificate purpose")):
            done = self.verify(authority, *more)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(what, done.stdout)

    def test_extensions_of_the_ca(self):
        text = self.text("ca.crt")
        self.assertIn("X509v3 Basic Constraints: critical\n"
                      "                CA:TRUE, pathlen:0\n", text)
        self.assertIn("X509v3 Key Usage: critical\n                Certificate Sign\n", text)
        self.assertIn("X509v3 Subject Key Identifier", text)
        self.assertIn("NIST CURVE: P-256", text)
        self.assertIn("ecdsa-with-SHA256", text)

    def test_extensions_of_the_certificate(self):
        text = self.text("tls.crt")
        self.assertIn("X509v3 Basic Constraints: critical\n                CA:FALSE\n", text)
        self.assertIn("X509v3 Key Usage: critical\n                Digital Signature\n", text)
        self.assertIn("X509v3 Extended Key Usage: \n"
                      "                TLS Web Server Authentication\n", text)
        self.assertIn("DNS:" + ", DNS:".join(NAMES) + "\n", text)
        self.assertIn("X509v3 Authority Key Identifier", text)
        self.assertIn("NIST CURVE: P-256", text)

    def test_dates_begin_five_minutes_ago(self):
        for name, days in (("ca.crt", 90), ("tls.crt", 30)):
            self.assertAlmostEqual(self.date(name, "startdate"), self.begun - 300, delta=60)
            self.assertAlmostEqual(self.date(name, "enddate"), self.begun + days * 86400, delta=60)

    def test_serial_numbers_and_subjects_are_unique(self):
        serials, subjects = set(), set()
        for _ in range(8):
            subprocess.run((PROGRAM, self.folder) + NAMES, check=True)
            for name in ("ca.crt", "other.crt", "tls.crt"):
                said = openssl("x509", "-in", self.path(name), "-noout", "-serial",
                               "-subject").stdout
                serials.add(re.search("serial=([0-9A-F]+)", said).group(1))
                subjects.add(re.search("subject=(.*)", said).group(1))
        self.assertEqual((len(serials), len(subjects)), (24, 24))
        self.assertEqual({len(serial) for serial in serials}, {32})

    def test_handshake_with_a_client_that_trusts_the_ca(self):
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(self.path("tls.crt"), self.path("tls.key"))
        client = ssl.create_default_context(cafile=self.path("ca.crt"))
        near, far = socket.socketpair()

        def serve():
            with server.wrap_socket(far, server_side=True) as wrapped:
                wrapped.sendall(b"hello")

        thread = threading.Thread(target=serve)
        thread.start()
        with client.wrap_socket(near, server_hostname=NAMES[0]) as wrapped:
            self.assertEqual(wrapped.recv(5), b"hello")
        thread.join()


if __name__ == "__main__":
    unittest.main()
