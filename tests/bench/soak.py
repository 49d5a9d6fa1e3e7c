#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long run of mixed requests: resident memory before, meanwhile and after.
Usage: tests/bench/soak.py SANDGATE [REQUESTS]      default 1000000; SANDGATE of a release build

The bodies are all captured reviews and all reviews of the cases, readable and unreadable ones, and a large one. wrk sends
them from 16 connections to a gate with the evidence of the cases, until it has sent enough; while it does, clients connect
and leave without a request or in the middle of one, and configuration and evidence are reloaded. Then the gate must answer
every body as at the beginning, and have at most MAX_MORE_KIB more than after the first slice. BENCH_SECONDS is the length
of a slice.
"""
import hashlib
import http.client
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from certificates import certificate_file  # noqa: E402

WORLD = HERE.parent / "cases" / "world"
CONNECTIONS = 16
MAX_MORE_KIB = 4096
LARGE_BYTES = 1 << 20
# What differs between two answers to one body: nothing but the time, which is in the planner's input.
MOMENT = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|sha256:[0-9a-f]{64}")


def bodies():
    found = sorted((HERE.parent / "captured").glob("[0-9]*.json")) + sorted(HERE.parent.glob("cases/[A-Z]*/*.json"))
    texts = [path.read_bytes() for path in found if path.stat().st_size <= LARGE_BYTES]
    texts.append(texts[0].replace(b'"labels":', b'"annotations_of_old":"%s","labels":' % (b"x" * (LARGE_BYTES // 2))))
    return texts


class Gate:
    def __init__(self, sandgate):
        self.folder = tempfile.mkdtemp(prefix="sandgate-soak-")
        self.write("gate.yaml", ("listen: {webhook: '127.0.0.1:0', admin: '127.0.0.1:0'}\n"
                                 "tls: {certificate: '%s', key: '%s'}\nkeyring: {directory: '%s'}\ndrainSeconds: 0\n"
                                 "evidence: {source: directory, directory: '%s', namespace: sandgate-system}\n"
                                 "decisionLog: {path: '%s/decisions'}\n" % (
                                     certificate_file("tls.crt"), certificate_file("tls.key"), WORLD / "keyring",
                                     WORLD / "evidence", self.folder)).encode())
        self.texts = bodies()
        for i, text in enumerate(self.texts):
            self.write("review-%d" % i, text)
        with open(self.folder + "/log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([sandgate, "serve", "--config", self.folder + "/gate.yaml"], stderr=log)
        self.trust = ssl.create_default_context(cafile=certificate_file("ca.crt"))
        end = time.monotonic() + 30
        while not (found := re.search(r'"webhook":"[^"]*:(\d+)"', pathlib.Path(self.folder, "log").read_text())):
            assert self.process.poll() is None and time.monotonic() < end, pathlib.Path(self.folder, "log").read_text()
            time.sleep(0.05)
        self.port = int(found.group(1))

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_bytes(text)

    def resident_kib(self):
        text = pathlib.Path("/proc/%d/status" % self.process.pid).read_text(encoding="ascii")
        return int(re.search(r"^VmRSS:\s*(\d+)", text, re.M).group(1))

    def answers(self):
        """What each body is answered with: the status, and a digest of the body without its times."""
        connection = http.client.HTTPSConnection("localhost", self.port, context=self.trust, timeout=60)
        found = []
        for text in self.texts:
            connection.request("POST", "/validate?timeout=10s", text, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            found.append((answer.status, hashlib.sha256(MOMENT.sub(b"", answer.read())).hexdigest()))
        connection.close()
        return found

    def disturb(self, done):
        """Clients that leave early, and reloads."""
        half = b"POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
        i = 0
        while not done.wait(0.02):
            i += 1
            with socket.create_connection(("127.0.0.1", self.port)) as plain:
                if i % 3:
                    with self.trust.wrap_socket(plain, server_hostname="localhost") as client:
                        client.sendall(half if i % 3 == 1 else b"")
            if i % 100 == 0:
                self.process.send_signal(signal.SIGHUP)

    def slice(self, seconds):
        """The number of requests that wrk sent."""
        out = subprocess.run(["wrk", "-t1", "-c%d" % CONNECTIONS, "-d%ds" % seconds, "-s", HERE / "post.lua",
                              "https://127.0.0.1:%d/validate?timeout=10s" % self.port],
                             env=dict(os.environ, BENCH_BODY=self.folder + "/review-0", BENCH_BODIES=str(len(self.texts))),
                             check=True, timeout=seconds + 60, stdout=subprocess.PIPE, text=True).stdout
        broken = re.search(r"Socket errors: (.*)", out)
        assert broken is None, broken.group(1)
        return int(re.search(r"(\d+) requests in", out).group(1))


def main():
    sandgate, wanted = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    seconds = int(os.environ.get("BENCH_SECONDS", "20"))
    gate, sent, resident, done = Gate(sandgate), 0, [], threading.Event()
    first = gate.answers()
    print("%d bodies, %d of them read; at the start %d KiB" % (
        len(first), sum(status == 200 for status, _ in first), gate.resident_kib()))
    disturbing = threading.Thread(target=gate.disturb, args=(done,))
    disturbing.start()
    try:
        while sent < wanted:
            sent += gate.slice(seconds)
            resident.append(gate.resident_kib())
            print("%9d requests, %6d KiB" % (sent, resident[-1]), flush=True)
    finally:
        done.set()
        disturbing.join()
    last = gate.answers()
    gate.process.send_signal(signal.SIGTERM)
    gate.process.wait(30)
    problems = ["body %d: %s, then %s" % (i, *pair) for i, pair in enumerate(zip(first, last)) if pair[0] != pair[1]]
    if resident[-1] > resident[0] + MAX_MORE_KIB:
        problems.append("%d KiB after the first slice, %d KiB after the last" % (resident[0], resident[-1]))
    print("\n".join(problems) or "the same answers as at the start; %d KiB more than after the first slice" % (
        resident[-1] - resident[0]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
