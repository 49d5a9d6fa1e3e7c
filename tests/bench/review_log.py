#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an audit log of an API server with a given size: ordinary requests, and some that the gate judged.

Usage: review_log.py MIB [SHARE] [ROWS]  >audit.log
  SHARE  fraction of the lines with annotations of the gate (default 0.01)
  ROWS   number of workloads in these lines (default 200)
"""
import json
import pathlib
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
HOOK = "pods.sandbox.runx.dev"


def base_lines():
    return (TESTS / "captured" / "audit.jsonl").read_text("utf-8").splitlines()


def records():
    lines = (TESTS / "webhook" / "records.jsonl").read_text("utf-8").splitlines()
    return [record for record in map(json.loads, lines) if "input" in record]


def judged(record, number, rows, chance):
    """The audit event that the API server writes for this decision."""
    workload = f"report-{number % rows}"
    namespace = f"team-{number % rows % 17}"
    annotations = {"outcome": record["outcome"], "packet": json.dumps(record["packet"], separators=(",", ":")),
                   "packet-sha256": record["packetSha256"], "evidence": record.get("evidence", ""),
                   "input": json.dumps(record["input"], separators=(",", ":")),
                   "subject": f"{namespace}/Pod/{workload}-*"}
    code = 201 if record["allowed"] else 403
    status = {"metadata": {}, "code": code}
    if not record["allowed"]:
        status.update(status="Failure", reason="Forbidden",
                      message=f'admission webhook "{HOOK}" denied the request: {record["message"]}')
        annotations["findings"] = json.dumps(record["findings"])
    event = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata",
             "auditID": f"{chance.getrandbits(128):032x}", "stage": "ResponseComplete",
             "requestURI": f"/api/v1/namespaces/{namespace}/pods", "verb": "create",
             "user": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
             "objectRef": {"resource": "pods", "namespace": namespace, "apiVersion": "v1"},
             "responseStatus": status,
             "requestReceivedTimestamp": f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000000Z",
             "stageTimestamp": "2026-03-01T12:00:00.000000Z",
             "annotations": {"authorization.k8s.io/decision": "allow",
                             **{f"{HOOK}/{key}": value for key, value in annotations.items() if value}}}
    text = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def main():
    mib = float(sys.argv[1])
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.01
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    chance = random.Random(1)
    base, ours = base_lines(), records()
    written, number = 0, 0
    while written < mib * 1048576:
        if chance.random() < share:
            line = judged(ours[number % len(ours)], number, rows, chance)
            number += 1
        else:
            line = chance.choice(base).replace('"auditID":"', f'"auditID":"{chance.getrandbits(32):08x}', 1)
        data = line.encode() + b"\n"
        sys.stdout.buffer.write(data)
        written += len(data)


if __name__ == "__main__":
    main()
