# SPDX-License-Identifier: Apache-2.0
"""A real TLS client, and the program of the server tests. Both use loopback and free ports only."""

import os
import re
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from certificates import certificates, forget_certificates  # noqa: E402

PROGRAM = os.environ.get("SERVER_PROGRAM", "")
# Times of the contract are multiplied by this, because sanitizers make everything slower.
SLACK = float(os.environ.get("SERVER_TEST_SLACK", "1"))
JSON = "Content-Type: application/json\r\n"


class Program:
    """The server with the test gate of server_program.c."""

    def __init__(self, **options):
        self.folder = tempfile.mkdtemp(prefix="sandgate-server-")
        for name in ("tls.crt", "tls.key", "ca.crt", "client.crt", "client.key"):
            shutil.copy(os.path.join(certificates(), name), self.folder)
        arguments = ["%s=%d" % (key, value) for key, value in options.items()]
        self.errors = open(os.path.join(self.folder, "stderr"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [PROGRAM, self.folder] + arguments, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.port = int(self.process.stdout.readline().split()[1])
        self.admin = int(self.process.stdout.readline().split()[1])

    def __enter__(self):
        return self

    def say(self, line):
        """Sends a command. Returns its output before the line `done`."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        said = []
        while True:
            answer = self.process.stdout.readline()
            if answer in ("done\n", "stopped\n", ""):
                return "".join(said)
            said.append(answer)

    def start_stopping(self, msec):
        self.process.stdin.write("stop %d\n" % msec)
        self.process.stdin.flush()

    def log(self):
        with open(self.errors.name, encoding="utf-8") as file:
            return file.read()

    def metric(self, line):
        """The value of the metric whose line begins with this text."""
        status, _, body = plain_get(self.admin, "/metrics")
        assert status == 200, status
        found = re.search("^%s ([0-9.]+)$" % re.escape(line), body.decode(), re.M)
        return float(found.group(1)) if found else None

    def wait_for_bytes(self, count):
        """Waits until so many bytes are in flight. Returns the number that is."""
        end = time.monotonic() + 5 * SLACK
        while self.metric("sandgate_in_flight_bytes") != count and time.monotonic() < end:
            time.sleep(0.02)
        return self.metric("sandgate_in_flight_bytes")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.errors.close()
        log = self.log()
        shutil.rmtree(self.folder, ignore_errors=True)
        if code != 0 and sys.exc_info()[0] is None:
            raise AssertionError("the server ended with %d: %s" % (code, log))


def context(certificate=None, alpn=None, versions=None, authority=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(os.path.join(authority or certificates(), "ca.crt"))
    if certificate:
        made.load_cert_chain(os.path.join(certificate, "client.crt"),
                             os.path.join(certificate, "client.key"))
    if alpn:
        made.set_alpn_protocols(alpn)
    if versions:
        made.minimum_version, made.maximum_version = versions
    return made


class Client:
    """A connection to the server."""

    def __init__(self, port, host="127.0.0.1", tls=None, name="localhost", source=None, timeout=30):
        self.plain = socket.create_connection(
            (host, port), timeout=timeout, source_address=(source, 0) if source else None)
        self.plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made = tls or context()
        if name is None:
            made.check_hostname = False
        self.socket = made.wrap_socket(self.plain, server_hostname=name)
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def end_writing(self):
        """Half-closes the connection below TLS, as a client does that sends no more requests."""
        socket.socket.shutdown(self.socket, socket.SHUT_WR)

    def ends(self, within):
        """Whether the server closes the connection within this number of seconds. Received bytes are kept."""
        self.socket.settimeout(within)
        try:
            while True:
                data = self.socket.recv(65536)
                if not data:
                    return True
                self.left += data
        except (ConnectionError, ssl.SSLError) as error:
            return not isinstance(error, (TimeoutError, ssl.SSLWantReadError))
        except (TimeoutError, socket.timeout):
            return False

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.left += data

    def answer(self, head_only=False):
        """Reads a response: status, header fields by lower-case name, body."""
        while b"\r\n\r\n" not in self.left:
            self._more()
        head, self.left = self.left.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = {}
        for line in lines[1:]:
            key, value = line.split(":", 1)
            assert key.lower() not in fields, "twice: " + key
            fields[key.lower()] = value.strip()
        length = 0 if head_only else int(fields.get("content-length", "0"))
        while len(self.left) < length:
            self._more()
        body, self.left = self.left[:length], self.left[length:]
        return int(lines[0].split()[1]), fields, body

    def ask(self, head, body=b""):
        self.send(head.encode() + body)
        return self.answer(head.startswith("HEAD"))

    def review(self, body, fields=JSON, query=""):
        return self.ask("POST /validate%s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
                        % (query, fields, len(body)), body)

    def get(self, path):
        return self.ask("GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path)


def plain_get(port, path, method="GET"):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
        plain.sendall(("%s %s HTTP/1.0\r\nHost: x\r\n\r\n" % (method, path)).encode())
        return read_answer(plain)


def read_answer(plain):
    """Reads a response up to the end of the connection: status, header fields, body."""
    data = b""
    while True:
        more = plain.recv(65536)
        if not more:
            break
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    fields = {l.split(":", 1)[0].lower(): l.split(":", 1)[1].strip() for l in lines[1:]}
    return int(lines[0].split()[1]), fields, body


def seconds_until_end(plain, limit):
    """The seconds until the server closes a socket without TLS, at most limit."""
    begun = time.monotonic()
    while time.monotonic() - begun < limit:
        if select.select([plain], [], [], 0.05)[0]:
            try:
                if not plain.recv(65536):
                    break
            except ConnectionError:
                break
    return time.monotonic() - begun


def main():
    try:
        unittest.main(verbosity=2)
    finally:
        forget_certificates()
