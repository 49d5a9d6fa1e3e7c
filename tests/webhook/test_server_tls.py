# SPDX-License-Identifier: Apache-2.0
"""Signatures with SHA-1 in TLS (gate-v1, section 8): refused in the handshake and in client certificates."""

import os
import socket
import struct
import subprocess
import unittest

from server_client import Client, Program, context, main

ALERT, HANDSHAKE = 21, 22
SERVER_KEY_EXCHANGE = 12
NO_ALGORITHMS = None
RSA_SHA1, ECDSA_SHA1, RSA_SHA256, ECDSA_SHA256 = 0x0201, 0x0203, 0x0401, 0x0403
KEYS = {"ec": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        "rsa": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]}


def openssl(*arguments, text=""):
    return subprocess.run(["openssl", *arguments], input=text, capture_output=True, text=True,
                          check=False)


def serve_with(program, kind):
    """Replaces the serving certificate by a self-signed one with this kind of key."""
    key, certificate = (os.path.join(program.folder, name) for name in ("tls.key", "tls.crt"))
    openssl("genpkey", *KEYS[kind], "-out", key)
    made = openssl("req", "-x509", "-new", "-sha256", "-key", key, "-subj", "/CN=localhost",
                   "-days", "1", "-out", certificate)
    assert made.returncode == 0, made.stderr
    assert program.say("reload") == "reloaded\n"


def extension(number, content):
    return struct.pack("!HH", number, len(content)) + content


def listed(numbers):
    packed = b"".join(struct.pack("!H", number) for number in numbers)
    return struct.pack("!H", len(packed)) + packed


def client_hello(algorithms):
    """Of TLS 1.2: ECDHE with AES-128-GCM, P-256, and these signature algorithms."""
    extensions = extension(10, listed([23])) + extension(11, b"\x01\x00")
    if algorithms is not NO_ALGORITHMS:
        extensions += extension(13, listed(algorithms))
    hello = (b"\x03\x03" + os.urandom(32) + b"\x00" + listed([0xC02B, 0xC02F]) + b"\x01\x00" +
             struct.pack("!H", len(extensions)) + extensions)
    message = b"\x01" + struct.pack("!I", len(hello))[1:] + hello
    return b"\x16\x03\x01" + struct.pack("!H", len(message)) + message


def answer_of(port, algorithms):
    """The algorithm with which the server signs, or None where it ends the handshake instead."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(client_hello(algorithms))
        stream, messages = plain.makefile("rb"), b""
        while True:
            head = stream.read(5)
            if len(head) < 5 or head[0] == ALERT:
                return None
            messages += stream.read(struct.unpack("!H", head[3:])[0])
            rest = messages
            while len(rest) >= 4 and len(rest) >= 4 + int.from_bytes(rest[1:4], "big"):
                length = int.from_bytes(rest[1:4], "big")
                if rest[0] == SERVER_KEY_EXCHANGE:  # curve, point, then the algorithm
                    return struct.unpack("!H", rest[8 + rest[7]:10 + rest[7]])[0]
                rest = rest[4 + length:]


class Sha1(unittest.TestCase):
    def test_a_client_that_offers_only_sha_1_is_refused(self):
        with Program() as program:
            for kind, old, new in (("ec", ECDSA_SHA1, ECDSA_SHA256), ("rsa", RSA_SHA1, RSA_SHA256)):
                serve_with(program, kind)
                self.assertEqual(answer_of(program.port, [old, new]), new, kind)
                self.assertEqual(answer_of(program.port, [new]), new, kind)
                self.assertIsNone(answer_of(program.port, [old]), kind)
                # without the extension, TLS 1.2 means SHA-1
                self.assertIsNone(answer_of(program.port, NO_ALGORITHMS), kind)

    def test_openssl_with_sha_1_only_gets_no_session(self):
        with Program() as program:
            for kind, name in (("ec", "ECDSA"), ("rsa", "RSA")):
                serve_with(program, kind)
                for digest, works in (("SHA256", True), ("SHA1", False)):
                    said = openssl("s_client", "-connect", "127.0.0.1:%d" % program.port, "-tls1_2",
                                   "-cipher", "ALL:@SECLEVEL=0", "-sigalgs", name + "+" + digest)
                    self.assertEqual("Peer signing digest: " + digest in said.stdout, works,
                                     said.stdout + said.stderr)
                    self.assertEqual("Cipher is (NONE)" in said.stdout, not works, said.stdout)

    def test_a_client_certificate_that_is_signed_with_sha_1_counts_as_none(self):
        with Program(client_ca=1) as program:
            where = program.folder
            openssl("genpkey", *KEYS["ec"], "-out", where + "/ca.key")
            openssl("req", "-x509", "-new", "-key", where + "/ca.key", "-subj", "/CN=ca", "-days", "1",
                    "-out", where + "/ca.crt")
            self.assertEqual(program.say("reload"), "reloaded\n")
            openssl("req", "-new", "-key", where + "/client.key", "-subj", "/CN=sandgate-dev-client",
                    "-out", where + "/client.csr")
            for digest, status in (("-sha256", 200), ("-sha1", 401)):
                made = openssl("x509", "-req", digest, "-in", where + "/client.csr", "-CA",
                               where + "/ca.crt", "-CAkey", where + "/ca.key", "-set_serial", "1",
                               "-days", "1", "-out", where + "/client.crt")
                self.assertEqual(made.returncode, 0, made.stderr)
                tls = context()
                tls.set_ciphers("ALL:@SECLEVEL=0")
                tls.load_cert_chain(where + "/client.crt", where + "/client.key")
                with Client(program.port, tls=tls) as client:
                    self.assertEqual(client.review(b"{}")[0], status, digest)


if __name__ == "__main__":
    main()
