#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Audit events and decisions are read out of what platforms put around them."""
import json
import unittest

from logs import BARE, GOOD, answer, event, go_json
from program import TESTS, Case

RECORDS = TESTS / "webhook" / "records.jsonl"
LINES = [go_json(event(answer(BARE % "name: bare"), audit_id="1")), go_json(event(answer(GOOD % "good"), audit_id="2"))]
TIME = "2026-03-01T12:00:02.123456789Z"


def each(make):
    """A file with a line for each event."""
    return "".join(make(line) + "\n" for line in LINES)


def cri(line, size=700, stream="stdout"):
    parts = [line[i:i + size] for i in range(0, len(line), size)]
    return "\n".join(f"{TIME} {stream} {'P' if i < len(parts) else 'F'} {part}" for i, part in enumerate(parts, 1))


def docker(line, size=700):
    parts = [line[i:i + size] for i in range(0, len(line), size)]
    parts[-1] += "\n"
    return "\n".join(json.dumps({"log": part, "stream": "stdout", "time": TIME}) for part in parts)


def search(source):
    return json.dumps({"took": 3, "hits": {"total": {"value": 2}, "hits": [{"_index": "a", "_source": source(x)} for x in LINES]}})


MESSAGES = [{"timestamp": 1772366402104, "message": line} for line in LINES]
INSIGHTS = [[{"field": "@timestamp", "value": "2026-03-01 12:00:02.104"}, {"field": "@message", "value": line}] for line in LINES]
BATCH = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": [json.loads(x) for x in LINES]}
# A row for each wrapping of webhook/audit/logs.md.
ROWS = {
    "bare": each(str),
    "cri": each(lambda x: f"{TIME} stdout F {x}"),
    "cri, with tags": each(lambda x: f"{TIME} stdout F:x {x}"),
    "cri, partial": each(cri),
    "cri, partial, one byte": each(lambda x: cri(x, size=1)),
    "cri, streams mixed": "\n".join(x for pair in zip(cri(LINES[0]).splitlines() + [""] * 99,
                                                      cri(LINES[1], 500, "stderr").splitlines()) for x in pair if x),
    "docker": each(lambda x: docker(x, 1 << 20)),
    "docker, partial": each(docker),
    "fluent bit": each(lambda x: json.dumps({"log": x, "stream": "stdout", "kubernetes": {"pod_name": "a"}})),
    "kubectl --timestamps": each(lambda x: f"{TIME} {x}"),
    "kubectl --timestamps, zone": each(lambda x: f"2026-03-01T12:00:02.123456789+01:00 {x}"),
    "kubectl --prefix": each(lambda x: f"[pod/sandgate-5d8f7-abcde/sandgate] {x}"),
    "kubectl --prefix --timestamps": each(lambda x: f"[pod/sandgate-5d8f7-abcde/sandgate] {TIME} {x}"),
    "stern": each(lambda x: f"sandgate-5d8f7-abcde sandgate {x}"),
    "stern --timestamps": each(lambda x: f"sandgate-5d8f7-abcde sandgate {TIME} {x}"),
    "oc adm node-logs": each(lambda x: f"master-0.example.test {x}"),
    "logcli": each(lambda x: f'2026-03-01T12:00:02Z {{app="sandgate", pod="a b"}} {x}'),
    "logcli --output jsonl": each(lambda x: json.dumps({"labels": {"app": "a"}, "line": x, "timestamp": TIME})),
    "loki, query_range": json.dumps({"status": "success", "data": {"resultType": "streams", "result": [
        {"stream": {"app": "a"}, "values": [["1772366402104000000", line]]} for line in LINES]}}),
    "grafana": json.dumps([{"line": line, "timestamp": "1", "fields": {}} for line in LINES]),
    "cloudwatch": json.dumps({"events": MESSAGES, "searchedLogStreams": []}, indent=1),
    "cloudwatch, one line": json.dumps({"events": MESSAGES}),
    "cloudwatch, subscription": json.dumps({"messageType": "DATA_MESSAGE", "subscriptionFilters": ["f"], "logEvents": MESSAGES}),
    "cloudwatch, insights": json.dumps({"results": INSIGHTS, "statistics": {}}, indent=4),
    "cloudwatch, insights, exported": json.dumps([{"@timestamp": "x", "@message": line} for line in LINES]),
    "azure": each(lambda x: json.dumps({"category": "kube-audit", "time": TIME, "properties": {"log": x, "stream": "stdout"}})),
    "azure, event hub": json.dumps({"records": [{"category": "kube-audit", "properties": {"log": x}} for x in LINES]}),
    "azure, log analytics": json.dumps([{"Category": "kube-audit", "log_s": x} for x in LINES]),
    "elasticsearch, message": search(lambda x: {"message": x}),
    "elasticsearch, log": search(lambda x: {"log": x, "stream": "stdout"}),
    "elasticsearch, event": search(json.loads),
    "elasticdump": each(lambda x: json.dumps({"_index": "a", "_source": {"message": x}})),
    "elasticdump, event": each(lambda x: json.dumps({"_index": "a", "_source": json.loads(x)})),
    "shipper": each(lambda x: json.dumps({"@timestamp": TIME, "message": x, "host": {"name": "a"}})),
    "audit webhook, batch": json.dumps(BATCH),
    "audit webhook, batch in a field": json.dumps({"message": json.dumps(BATCH)}),
    "list in a field": json.dumps({"message": json.dumps([json.loads(x) for x in LINES])}),
    "nested": each(lambda x: f"{TIME} stdout F " + json.dumps({"log": f"master-0 {x}"})),
    "byte order mark": "\ufeff" + each(lambda x: f"{TIME} {x}"),
    "cr lf": each(lambda x: f"{TIME} stdout F {x}\r"),
}


def google(line, **more):
    """The entry of Cloud Logging for an event."""
    e = json.loads(line)
    status = e["responseStatus"]
    failed = status["code"] >= 400
    payload = {"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "k8s.io",
               "methodName": "io.k8s.core.v1.pods.create", "authenticationInfo": {"principalEmail": e["user"]["username"]},
               "resourceName": "core/v1/namespaces/payments/pods/x",
               "status": {"code": 7, "message": "Forbidden"} if failed else {}}
    if failed:
        payload["response"] = {"@type": "core.k8s.io/v1.Status", **status}
    return {"insertId": e["auditID"], "protoPayload": payload, "timestamp": e["stageTimestamp"],
            "labels": e["annotations"], "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity", **more}


ROWS["gke"] = each(lambda x: json.dumps(google(x)))
ROWS["gke, gcloud logging read"] = json.dumps([google(x) for x in LINES], indent=2)


class Wrapped(Case):
    def test_entries_of_google_cloud_are_read_as_far_as_they_go(self):
        path = self.write("audit.log", json.dumps(google(LINES[0])))
        row, = json.loads(self.assert_run(0, "review", "-o", "json", path))["rows"]
        self.assertEqual((row["verdict"], row["users"], row["id"], row["operation"], row["first"]),
                         ("denied", ["dev@example.test"], "1", "create", "2026-03-01T12:00:01.250000Z"))
        # without the answer of the API server it is not known who refused the request
        entry = google(LINES[0])
        del entry["protoPayload"]["response"]
        path = self.write("audit.log", json.dumps(entry))
        self.assertIn("0 denied, 0 violating, 1 unknown", self.assert_run(0, "review", path, "--allowed"))
        for labels in ({}, {"x": "y"}, None):
            path = self.write("audit.log", json.dumps(google(LINES[0], labels=labels)))
            self.assert_run(2, "review", "--fail-on-denial", path)
            self.assertEqual(self.err, f"sandgate: {path}: nothing in it could be read as an audit event or a decision\n"
                                       "sandgate: 1 audit entries of Google Cloud without the labels that hold the "
                                       f"gate's annotations: read its decision log, the first is {path}:1\n")

    def test_each_wrapping_is_taken_off(self):
        for name, text in ROWS.items():
            path = self.write("audit.log", text)
            with self.subTest(name):
                out = self.assert_run(1, "review", "--fail-on-denial", path)
                self.assertIn("\n1 denied, 0 violating, 0 unknown, 0 allowed; 2 decisions in ", out)
                self.assertEqual(self.err, "")
                self.assertEqual(self.assert_run(0, "replay", path), "2 same, 0 differ\n")

    def test_decisions_of_the_gate_are_read_in_the_same_wrappings(self):
        lines = RECORDS.read_text().splitlines()
        wanted = self.assert_run(0, "replay", RECORDS)
        for make in (cri, docker, lambda x: f"[pod/a/b] {x}", lambda x: json.dumps({"line": x})):
            path = self.write("decisions.log", "".join(make(x) + "\n" for x in lines))
            self.assertEqual(self.assert_run(0, "replay", path), wanted)
            self.assertEqual(self.err, "")

    def test_other_text_of_containers_is_counted(self):
        path = self.write("audit.log", each(cri) + f"{TIME} stderr F plain text\n" + docker("more\n") + "\n[pod/a/b] text\n")
        self.assert_run(2, "review", path)
        self.assertEqual(self.err, f"sandgate: {path}: 3 of 5 lines could not be read, more than 5 percent\n"
                                   f"sandgate: 3 lines cannot be read, the first is {path}:12\n")

    def test_nesting_is_bounded(self):
        def nested(depth):
            line = LINES[0]
            for _ in range(depth):
                line = json.dumps({"message": line})
            return self.write("audit.log", line)

        self.assert_run(1, "review", "--fail-on-denial", nested(4))
        self.assert_run(2, "review", "--fail-on-denial", nested(5))
        self.assertIn("1 lines that are neither audit events nor decisions", self.err)

    def test_an_unfinished_line_of_a_container_is_counted(self):
        for text in (cri(LINES[0]).rpartition("\n")[0] + "\n", docker(LINES[0]).rpartition("\n")[0] + "\n"):
            path = self.write("audit.log", text)
            self.assert_run(2, "review", "--fail-on-denial", path)
            self.assertIn("sandgate: 1 lines cannot be read, the first is ", self.err)

    def test_broken_escapes_in_a_field_are_unreadable(self):
        line = json.dumps({"message": LINES[0]})
        for escape in ("\\q", "\\ud800", "\\udc00\\ud800", "\\u12", "\\u00zz"):
            path = self.write("audit.log", line.replace("bare", escape + "-bare"))
            self.assert_run(2, "review", "--fail-on-denial", path)
            self.assertIn("sandgate: 1 lines cannot be read", self.err)

    def test_a_member_of_an_event_is_no_wrapping(self):
        record = json.loads(RECORDS.read_text().splitlines()[0])
        hidden = {**record, "message": LINES[0]}
        path = self.write("audit.log", json.dumps(dict(sorted(hidden.items()))))
        self.assertIn("; 1 decisions in 1 lines of 1 file", self.assert_run(0, "review", path))


if __name__ == "__main__":
    unittest.main()
