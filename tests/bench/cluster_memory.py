#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resident memory and time to readiness of the cluster source with many signed ConfigMaps, and again after all of them
were verified again. Usage: tests/bench/cluster_memory.py CLUSTER_PROGRAM [COUNT...]

CLUSTER_PROGRAM is tests/k8s/cluster_program of a build without sanitizers. The whole process is measured, with libraries,
API client and TLS. Limit: 32 MiB with 10,000 ConfigMaps.
"""
import os
import pathlib
import sys
import time

os.environ["CLUSTER_PROGRAM"] = sys.argv[1]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "k8s"))
from api_server import certificate_file, certificates, forget_certificates  # noqa: E402
from cluster_server import DOCUMENT, LABEL, OWN, Api, Gate, namespace  # noqa: E402
from signer import Signer  # noqa: E402


def memory(gate, name):
    """The value of a line of /proc/PID/status, in KiB."""
    for line in pathlib.Path("/proc/%d/status" % gate.process.pid).read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def processor_seconds(gate):
    fields = pathlib.Path("/proc/%d/stat" % gate.process.pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill(api, count):
    fields = [{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
               "time": "2026-03-01T12:00:00Z", "fieldsType": "FieldsV1",
               "fieldsV1": {"f:data": {".": {}, "f:sandbox.yaml": {}}, "f:metadata": {"f:annotations": {}}}}]
    signer = Signer(certificate_file("signing-keys/release-dev.pem"))
    api.put("namespaces", namespace(OWN))
    for i in range(count):
        document = DOCUMENT % ("skill-%d" % i)  # they differ: equal ones share their content
        api.put("configmaps", {"metadata": {
            "namespace": "payments", "name": "skill-%d-1.0.0" % i, "labels": {LABEL: "true"}, "managedFields": fields,
            "uid": "c9fa11b1-e86d-558d-b818-%012d" % i,
            "annotations": {"signature.sandbox.runx.dev/release-dev": signer.sign(document)}},
            "data": {"sandbox.yaml": document}}, silent=True)


def run(count, pages):
    api = Api()
    api.page_limit = pages
    fill(api, count)
    with api:
        begin = time.monotonic()
        with Gate(api) as gate:
            gate.until(lambda: gate.look()["ready"], 120)
            took = time.monotonic() - begin
            first = processor_seconds(gate), memory(gate, "VmRSS"), memory(gate, "VmHWM")
            gate.tell("rules keyring=%s/keyring audience=other" % certificates())
            gate.until(lambda: gate.look()["made"] >= 2 * count, 120)
            time.sleep(1)
            print("%10d %6s %10.2f %8.2f %12d %12d %14d %12d" % (count, "yes" if pages else "no", took, *first,
                                                           memory(gate, "VmRSS"), memory(gate, "VmHWM")), flush=True)


def main():
    print("%10s %6s %10s %8s %12s %12s %14s %12s" % ("documents", "pages", "ready, s", "CPU, s", "RSS KiB", "peak KiB",
                                                 "RSS again KiB", "peak KiB"))
    for count in [int(c) for c in sys.argv[2:]] or [0, 1000, 10000]:
        for pages in (False, True):
            run(count, pages)
    forget_certificates()


main()
