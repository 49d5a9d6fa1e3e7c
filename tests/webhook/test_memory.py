# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a gate under load and after it (gate-v1, section 8), for numbers of threads.

At the peak at most limits.maxInFlightBytes, 80 KiB for each of limits.maxConnections, and 32 MiB. Ten seconds after the
load at most 32 MiB more than before it. Sanitizers need much memory of their own, so this runs without them."""

import json
import os
import sys
import threading
import time
import unittest

from server_client import JSON, Client, main
from test_serve import GOOD, Gate

MIB = 1 << 20
IN_FLIGHT_BYTES = 64 * MIB
BODY_BYTES = 16 * MIB
CONNECTIONS = 128
PEAK_BYTES = IN_FLIGHT_BYTES + CONNECTIONS * 80 * 1024 + 32 * MIB
IDLE_MORE_BYTES = 32 * MIB
IDLE_SEC = 10
CLIENTS = 24
LIMITS = ("limits: {maxBodyBytes: %d, maxInFlightBytes: %d, maxConnections: %d, threads: %%d}\n"
          % (BODY_BYTES, IN_FLIGHT_BYTES, CONNECTIONS))
CHUNK = 256 * 1024


def status(gate):
    with open("/proc/%d/status" % gate.process.pid, encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":", 1) for line in file)


def resident(gate):
    """The resident memory now and at its peak, in bytes."""
    return tuple(int(status(gate)[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))


def review(change):
    made = json.loads(GOOD)
    change(made["request"]["object"])
    return json.dumps(made).encode()


def large_reviews():
    """Reviews of nearly BODY_BYTES: skipped text, many values, escapes, one text that is kept."""
    size = BODY_BYTES - 4 * MIB
    return [
        review(lambda pod: pod["metadata"].update(managedFields=[{"x": "y" * 64}] * (size // 75))),
        review(lambda pod: pod["spec"]["containers"][0].update(
            env=[{"name": "N%d" % i, "value": "v" * (size // 20000)} for i in range(20000)])),
        review(lambda pod: pod["metadata"].update(
            annotations={"a%d" % i: "\\" * (size // 40000) for i in range(20000)})),
        review(lambda pod: pod["metadata"].update(labels={"text": "\t" * (size // 2)})),
    ]


def yaml_reviews():
    """Bodies for which libyaml needs much memory: one long scalar, blanks inside of one, and a long key."""
    size = 4 * MIB
    head = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nx: "
    return [(head + text).encode() for text in (
        "a" * size, "a" + " " * size + "b", '\n  "%s": 1' % ("\t" * size))]


def send_chunked(client, body, fields):
    client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n" % fields)
    for at in range(0, len(body), CHUNK):
        part = body[at:at + CHUNK]
        client.send(b"%x\r\n%s\r\n" % (len(part), part))
    client.send(b"0\r\n\r\n")
    return client.answer()


class Load:
    """Clients that send large reviews at once, each from one of eight addresses."""

    def __init__(self, gate, bodies, fields=JSON):
        self.gate, self.bodies, self.fields, self.statuses = gate, bodies, fields, []
        threads = [threading.Thread(target=self.run, args=(i,)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def run(self, number):
        body = self.bodies[number % len(self.bodies)]
        with Client(self.gate.port, source="127.0.0.%d" % (2 + number % 8), timeout=60) as client:
            if number % 2:
                self.statuses.append(send_chunked(client, body, self.fields)[0])
            else:
                self.statuses.append(client.review(body, self.fields)[0])


class Memory(unittest.TestCase):
    def assert_bounded(self, threads, load):
        with Gate(more=LIMITS % threads, drain=0) as gate:
            before, _ = resident(gate)
            load(gate)
            peak = resident(gate)[1]
            end = time.monotonic() + IDLE_SEC
            while resident(gate)[0] > before + IDLE_MORE_BYTES and time.monotonic() < end:
                time.sleep(0.1)
            idle = resident(gate)[0]
        print("%d threads: before %d MiB, peak %d MiB, idle %d MiB" % (
            threads, before // MIB, peak // MIB, idle // MIB), file=sys.stderr)
        self.assertLessEqual(peak, PEAK_BYTES)
        self.assertLessEqual(idle, before + IDLE_MORE_BYTES)

    def test_no_huge_pages(self):
        """They would be taken for the stack of each thread, where the system gives them to every program."""
        with Gate(more=LIMITS % 16, drain=0) as gate:
            self.assertEqual(status(gate).get("THP_enabled", "0").strip(), "0")

    def test_large_reviews(self):
        bodies = large_reviews()

        def load(gate):
            statuses = Load(gate, bodies).statuses + Load(gate, bodies[::-1]).statuses
            self.assertEqual(set(statuses), {200, 503})

        for threads in (1, 4, 16):
            with self.subTest(threads=threads):
                self.assert_bounded(threads, load)

    def test_yaml_reviews(self):
        bodies = yaml_reviews()

        def load(gate):
            statuses = Load(gate, bodies, "Content-Type: application/yaml\r\n").statuses
            self.assertEqual(set(statuses), {400, 503})  # no review, and refused for the limits

        self.assert_bounded(16, load)


if __name__ == "__main__":
    if os.environ.get("SANITIZERS"):
        print("skipped: the sanitizers %s are on" % os.environ["SANITIZERS"], file=sys.stderr)
    else:
        main()
