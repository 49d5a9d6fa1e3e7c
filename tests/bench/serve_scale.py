#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`serve` with a watched cluster that has few or many signed ConfigMaps, under load from 16 connections.
Usage: tests/bench/serve_scale.py SANDGATE [COUNT...]      default 1000 10000 100000; SANDGATE of a release build

All gates are started. In each round, each gate in turn gets reviews that need documents from its whole range, while
ConfigMaps are applied again one by one. The whole process is measured. Limits: with 10,000 documents 32 MiB resident after
every round, and no growth from the first round to the last; with the most documents at most 1.3 times the CPU time of a
request with the fewest. BENCH_SECONDS and BENCH_ROUNDS change the length.
"""
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "k8s"))
from api_server import answer, certificate_file, certificates, forget_certificates  # noqa: E402
from cluster_server import LABEL, OWN, Api, namespace  # noqa: E402
from signer import Signer  # noqa: E402

SKILL = "acme/report@1.4.0"
MAX_ASKED = 1000  # skills
CONNECTIONS = 16
CHANGE_SEC = 0.1
RESIDENT_DOCUMENTS, MAX_RESIDENT_KIB, MAX_GROWTH = 10000, 32 * 1024, 1.01
MAX_RATIO = 1.3
REVIEW = (HERE.parent / "captured" / "01-create-pod.json").read_text()
MANAGED = [{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
            "time": "2026-03-01T12:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:sandbox.yaml": {}}, "f:metadata": {"f:annotations": {}}}}]


class ManyApi(Api):
    """An API server that sorts its objects once, because 100,000 objects are listed in 200 pages."""

    def __init__(self):
        super().__init__()
        self.listed = {}

    def find(self, kind, space, query):
        with self.lock:
            version, key = self.version, (kind, space, query.get("fieldSelector"))
            if self.listed.get(key, (0, []))[0] != version:
                self.listed[key] = version, [thing for at, thing in sorted(self.objects.items())
                                             if at[0] == kind and self.fits(kind, space, query, thing)]
            return self.listed[key]

    def list(self, kind, space, query, send):
        version, found = self.find(kind, space, query)
        begin = int(query.get("continue", "0"))
        end = begin + int(query.get("limit", len(found)))
        token = str(end) if end < len(found) else ""
        send(answer(200, json.dumps({"kind": "List", "metadata": {"resourceVersion": str(version), "continue": token},
                                     "items": found[begin:end]}), ("Content-Type: application/json",)))
        return True


def config_map(space, name, key, signature, document):
    return {"metadata": {"namespace": space, "name": name, "uid": "c9fa11b1-e86d-558d-b818-a7a2b3a3c3d4",
                         "labels": {LABEL: "true"}, "managedFields": MANAGED,
                         "annotations": {"signature.sandbox.runx.dev/" + key: signature}},
            "data": {"sandbox.yaml": document}}


def fill(api, sandgate, count):
    """Namespaces, the baseline of the demonstration, and `count` documents that differ only in their skill."""
    demo, signer = HERE.parent / "demo", Signer(certificate_file("signing-keys/release-dev.pem"))
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    signed = subprocess.run([sandgate, "sign", "--key", certificate_file("signing-keys/security-dev.pem"), "--name",
                             "baseline", "--namespace", OWN, demo / "baseline.yaml"], check=True, capture_output=True,
                            text=True).stdout
    signature = re.search(r"signature\.sandbox\.runx\.dev/security-dev: \"?([A-Za-z0-9+/=]+)", signed).group(1)
    api.put("namespaces", namespace("payments", "required"))
    api.put("namespaces", namespace(OWN))
    api.put("configmaps", config_map(OWN, "baseline", "security-dev", signature, (demo / "baseline.yaml").read_text()))
    text = (demo / "acme-report.yaml").read_text().replace("OBSERVED_AT", now)
    for i in range(count):
        document = text.replace(SKILL, "acme/skill-%d@1.0.0" % i)
        api.put("configmaps", config_map("payments", "skill-%d-1.0.0" % i, "release-dev", signer.sign(document),
                                         document), silent=True)


class Gate:
    def __init__(self, sandgate, count):
        self.count, self.folder = count, tempfile.mkdtemp(prefix="sandgate-scale-")
        self.rates, self.costs, self.resident = [], [], []
        self.api = ManyApi()
        fill(self.api, sandgate, count)
        self.write("kubeconfig", "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                   "clusters: [{name: c, cluster: {server: '%s', certificate-authority: '%s'}}]\n"
                   "users: [{name: u, user: {token: of-no-use}}]\n"
                   "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                   % (self.api.server.url(), certificate_file("ca.crt")))
        self.write("gate.yaml", "listen: {webhook: '127.0.0.1:0', admin: '127.0.0.1:0'}\n"
                   "tls: {certificate: '%s', key: '%s'}\nkeyring: {directory: '%s'}\nlimits: {threads: 2}\ndrainSeconds: 0\n"
                   "evidence: {source: cluster, kubeconfig: kubeconfig, namespace: %s}\n"
                   % (*(certificate_file(name) for name in ("tls.crt", "tls.key", "keyring")), OWN))
        step = max(1, count // MAX_ASKED)
        for i in range(min(count, MAX_ASKED)):
            self.write("review-%d" % i, REVIEW.replace(SKILL, "acme/skill-%d@1.0.0" % (i * step)))
        begin = time.monotonic()
        with open(self.folder + "/log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(["taskset", "-c", "0", sandgate, "serve", "--config",
                                             self.folder + "/gate.yaml"], stderr=log)
        self.until_serving()
        self.ready_sec, self.ready_kib, self.ready_cpu = time.monotonic() - begin, self.memory("VmRSS"), self.cpu_sec()

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_text(text, encoding="utf-8")

    def post(self):
        done = subprocess.run(["curl", "-s", "--cacert", certificate_file("ca.crt"), "-H", "Content-Type: application/json",
                               "--data-binary", "@%s/review-0" % self.folder,
                               "https://127.0.0.1:%d/validate?timeout=10s" % self.port], capture_output=True, check=False)
        return done.stdout

    def until_serving(self):
        end = time.monotonic() + 300
        while True:
            log = pathlib.Path(self.folder, "log").read_text(encoding="utf-8")
            found = re.search(r'"webhook":"[^"]*:(\d+)"', log)
            if found:
                self.port = int(found.group(1))
                if b'"outcome":"ready"' in self.post():
                    return
            assert self.process.poll() is None and time.monotonic() < end, log
            time.sleep(0.05)

    def memory(self, name):
        """The value of a line of /proc/PID/status, in KiB."""
        text = pathlib.Path("/proc/%d/status" % self.process.pid).read_text(encoding="ascii")
        return int(re.search(r"^%s:\s*(\d+)" % name, text, re.M).group(1))

    def cpu_sec(self):
        text = pathlib.Path("/proc/%d/stat" % self.process.pid).read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(text[11]) + int(text[12])) / os.sysconf("SC_CLK_TCK")

    def change(self, done):
        """Applies one ConfigMap after the other again, so that snapshots are built under load."""
        i = 0
        while not done.wait(CHANGE_SEC):
            with self.api.lock:
                self.api.put("configmaps", self.api.objects["configmaps", "payments", "skill-%d-1.0.0" % (i % self.count)])
            i += 1

    def load(self, seconds):
        return subprocess.run(["taskset", "-c", "1", "wrk", "-t1", "-c%d" % CONNECTIONS, "-d%ds" % seconds, "-s",
                               HERE / "post.lua", "https://127.0.0.1:%d/validate?timeout=10s" % self.port],
                              env=dict(os.environ, BENCH_BODY=self.folder + "/review-0",
                                       BENCH_BODIES=str(min(self.count, MAX_ASKED))), timeout=seconds + 60,
                              check=True, stdout=subprocess.PIPE, text=True).stdout

    def ask(self, seconds):
        done = threading.Event()
        changing = threading.Thread(target=self.change, args=(done,))
        changing.start()
        before = self.cpu_sec()
        try:
            out = self.load(seconds)
        finally:
            done.set()
            changing.join()
        cost = self.cpu_sec() - before
        found = re.search(r"^RESULT (\S+) \S+ \S+ (\d+)", out, re.M)
        assert found, out
        rate, bad = float(found.group(1)), int(found.group(2))
        assert bad == 0, "%d answers were no 200, or none" % bad
        self.rates.append(rate)
        self.costs.append(cost * 1e6 / (rate * seconds))
        self.resident.append(self.memory("VmRSS"))

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.api.__exit__()
        shutil.rmtree(self.folder)

    def row(self):
        return "%10d %9.2f %8.2f %10d %24s %10d %10d %9.0f %9.1f" % (
            self.count, self.ready_sec, self.ready_cpu, self.ready_kib, " ".join(str(kib) for kib in self.resident),
            self.memory("RssAnon"), self.memory("VmHWM"), statistics.median(self.rates), statistics.median(self.costs))


def judge(gates):
    few, many = min(gates, key=lambda g: g.count), max(gates, key=lambda g: g.count)
    ratio = statistics.median(many.costs) / statistics.median(few.costs)
    bounds = [("processor time for a request, %d to %d" % (many.count, few.count), ratio, MAX_RATIO)]
    for gate in gates:
        if gate.count == RESIDENT_DOCUMENTS:
            bounds.append(("resident under load, KiB, with %d" % gate.count, max(gate.resident), MAX_RESIDENT_KIB))
            bounds.append(("the same, last round to first", gate.resident[-1] / gate.resident[0], MAX_GROWTH))
    for what, value, bound in bounds:
        print("%-50s %10.2f  at most %-8g %s" % (what, value, bound, "ok" if value <= bound else "MISSED"))
    return all(value <= bound for _, value, bound in bounds)


def main():
    sandgate = os.path.abspath(sys.argv[1])
    counts = [int(c) for c in sys.argv[2:]] or [1000, 10000, 100000]
    seconds, rounds = int(os.environ.get("BENCH_SECONDS", "8")), int(os.environ.get("BENCH_ROUNDS", "3"))
    certificates()
    gates = []
    try:
        for count in counts:
            gates.append(Gate(sandgate, count))
        for _ in range(rounds):
            for gate in gates:
                gate.ask(seconds)
        print("%10s %9s %8s %10s %24s %10s %10s %9s %9s" % (
            "documents", "ready, s", "CPU, s", "ready KiB", "under load KiB, by round", "anon KiB", "peak KiB", "requests/s",
            "CPU us/r"))
        for gate in gates:
            print(gate.row())
        good = judge(gates)
    finally:
        for gate in gates:
            gate.end()
        forget_certificates()
    sys.exit(0 if good else 1)


main()
