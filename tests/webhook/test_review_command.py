#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sandgate review`: inputs, output, and hostile inputs."""
import csv
import gzip
import io
import json
import os
import signal
import subprocess
import time
import unittest

from logs import BARE, GOOD, HOOK, answer, changed, event, go_json, log
from program import PROGRAM, TESTS, Case, run, run_on_terminal

CAPTURED = TESTS / "captured" / "audit.jsonl"
RECORDS = TESTS / "webhook" / "records.jsonl"
DENIED = answer(BARE % "generateName: bare-6d4c-")
READY = answer(GOOD % "good")
TABLE = """\
LAST                  COUNT  VERDICT  OBJECT                  OUTCOME              USER              FINDINGS
2026-03-01T12:00:01Z  1      denied   payments/Pod/bare-6d4c  needs_more_evidence  dev@example.test  \
gate.annotation.missing, gate.image.unpinned and 3 more

NAMESPACE  DENIED  VIOLATES  OTHER  ROWS
payments   1       0         0      1

FINDING                          EVENTS  ROWS  WHAT TO DO
gate.annotation.missing          1       1     annotate the pod template with skill-ref or image-digest of its \
signed requirements
gate.image.unpinned              1       1     write the image with its digest, name@sha256:…
sandbox.requirements.provenance  1       1     sign requirements that give both
sandbox.time.missing             1       1     sign requirements that give it
sandbox.workload.identity        1       1     give one annotation, skill-ref or image-digest

CONTROL       HELD  UNKNOWN  OPEN  CONTRADICTED
environment   0     0        1     0
filesystem    0     0        1     0
network       1     0        0     0
egress        0     1        0     0
syscalls      0     0        1     0
capabilities  0     0        1     0
resources     0     0        1     0
isolation     0     0        1     0

NAMESPACE  READ  CONTRADICTED  BLOCK     HOLD
payments   1     0             possible  network

1 denied, 0 violating, 0 unknown, 0 allowed; 2 decisions in 2 lines of 1 file; 1 filtered out
"""
WIDE = answer(GOOD % "wide" + """    env: [{name: EXTRA}]
  hostNetwork: true
  enableServiceLinks: false
""")
# Texts in names that attack a terminal, a page, a spreadsheet and a log.
EVIL = "<script>alert(1)</script>\033[2J\u202e\n=cmd|' /C calc'!A0"


class Review(Case):
    def review(self, text, *arguments, status=0, name="audit.log"):
        """The report as JSON."""
        path = self.write(name, text)
        return json.loads(self.assert_run(status, "review", path, "-o", "json", *arguments))

    def counts(self, report, *names):
        return tuple(report["summary"][name] for name in names)


class Inputs(Review):
    def test_a_real_audit_log_without_a_gate_shows_no_denial(self):
        self.assertEqual(self.assert_run(0, "review", CAPTURED),
                         "0 denied, 0 violating, 0 unknown, 0 allowed; 0 decisions in 28 lines of 1 file\n")
        self.assertEqual(self.err, "")
        report = json.loads(self.assert_run(0, "review", "-o", "json", CAPTURED))
        self.assertEqual(report["schema"], "sandgate.denials.v1")
        self.assertEqual((report["rows"], report["namespaces"], report["findings"], report["lapses"]),
                         ([], [], [], []))
        self.assertEqual(self.counts(report, "texts", "auditEvents", "broken", "foreign"), (28, 28, 0, 0))
        self.assertEqual(report["summary"]["bytes"], CAPTURED.stat().st_size)

    def test_table_shows_denials_users_and_what_to_do(self):
        path = self.write("audit.log", log(event(DENIED), event(READY)))
        self.assertEqual(self.assert_run(0, "review", path), TABLE)
        self.assertEqual(self.err, "")

    def test_a_row_has_all_fields_of_the_log(self):
        row = self.review(log(event(DENIED, audit_id="a-1")))["rows"][0]
        values = DENIED["auditAnnotations"]
        self.assertEqual(row["packet"], json.loads(values["packet"]))
        self.assertEqual(row["input"], json.loads(values["input"]))
        self.assertEqual(row["packetSha256"], values["packet-sha256"])
        self.assertEqual(row["message"], DENIED["status"]["message"])
        self.assertEqual([f["source"] for f in row["findings"]], ["gate"] * 2 + ["planner"] * 3)
        self.assertEqual(row["findings"][1], {"code": "gate.image.unpinned", "place": "spec.containers[0].image",
                                              "message": "this image is not pinned; write it as name@sha256: "
                                                         "and 64 lower-case hex digits", "source": "gate"})
        rest = {k: v for k, v in row.items() if k not in ("packet", "input", "message", "findings", "packetSha256")}
        self.assertEqual(rest, {
            "verdict": "denied", "allowed": False, "outcome": "needs_more_evidence", "namespace": "payments", "kind": "Pod",
            "name": "bare-6d4c-*", "workload": "bare-6d4c", "count": 1, "first": "2026-03-01T12:00:01.250000Z",
            "last": "2026-03-01T12:00:01.250000Z", "users": ["dev@example.test"], "images": [],
            "operation": "create", "level": "enforce", "source": "audit", "webhook": HOOK, "id": "a-1",
            "replay": "same", "obstacle": "workload requires exactly one image_digest or skill_ref"})

    def test_generated_names_are_grouped_as_one_workload(self):
        def of(name, target):
            return event(answer(BARE % f"name: {name}"), objectRef={"resource": "pods", "namespace": "payments", **target})

        made = [of(f"web-5d9c-{end}", {}) for end in ("2xzbh", "9qpxz", "h6pjr")]
        rows = self.review(log(*made))["rows"]
        self.assertEqual([(row["workload"], row["count"]) for row in rows], [("web-5d9c", 3)])
        # a given name, and one whose end cannot be generated
        rows = self.review(log(of("web-5d9c-2xzbh", {"name": "web-5d9c-2xzbh"}), of("web-5d9c-2xzba", {})))["rows"]
        self.assertEqual(sorted(row["workload"] for row in rows), ["web-5d9c-2xzba", "web-5d9c-2xzbh"])

    def test_a_row_has_the_advice(self):
        wide = GOOD.replace("report@1.4.0}", "report@1.4.0, sandbox.runx.dev/requirements: \"{network: true, "
                            "writable_paths: [tmp/results, cache]}\"}") % "wide"
        row = self.review(log(event(answer(wide))))["rows"][0]
        self.assertEqual(row["advice"], "write network: false; take cache out of writable_paths")
        self.assertNotIn("obstacle", row)

    def test_timeline_joins_intervals_without_counting_twice(self):
        def timeline(*times):
            return self.review(log(*(event(DENIED, audit_id=str(i), time=t) for i, t in enumerate(times))))["timeline"]

        day = "2026-03-01T"
        self.assertEqual(timeline(day + "12:03:00Z", day + "12:00:10Z", day + "12:00:59Z"), {
            "from": day + "12:00:00Z", "widthSeconds": 60, "denied": [2, 0, 0, 1], "violates": [0, 0, 0, 0]})
        # 192 bars of one minute, and one more
        self.assertEqual(timeline(day + "12:00:00Z", day + "15:11:59Z")["widthSeconds"], 60)
        wider = timeline(day + "12:00:00Z", day + "15:12:00Z", day + "12:04:59Z", day + "12:05:00Z")
        self.assertEqual((wider["from"], wider["widthSeconds"]), (day + "12:00:00Z", 300))
        self.assertEqual(wider["denied"][:2] + wider["denied"][-1:], [2, 1, 1])
        self.assertEqual(sum(wider["denied"]), 4)
        years = timeline("2026-03-01T12:00:00Z", "2024-02-29T00:00:00Z", "2026-03-01T12:00:01Z", "0001-01-01T00:00:00Z")
        self.assertEqual((years["from"], years["widthSeconds"], sum(years["denied"])),
                         ("0001-01-01T00:00:00Z", 2903040000, 4))

    def test_gzip_members_pipes_and_plain_files_give_equal_reports(self):
        text = log(event(DENIED, audit_id="1"), event(READY, audit_id="2")).encode()
        packed = self.write("x.gz", gzip.compress(text[:100]) + gzip.compress(text[100:]))
        plain = self.write("x", text)
        wanted = json.loads(self.assert_run(0, "review", plain, "-o", "json"))["rows"]
        self.assertEqual(len(wanted), 1)
        self.assertEqual(json.loads(self.assert_run(0, "review", packed, "-o", "json"))["rows"], wanted)
        for data in (text, gzip.compress(text)):
            out = self.assert_run(0, "review", "-", "-o", "json", stdin=data)
            self.assertEqual(json.loads(out)["rows"], wanted)

    def test_lists_and_events_over_several_lines(self):
        events = [event(DENIED, audit_id=str(i)) for i in range(3)]
        batch = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": events}
        shapes = [go_json(batch) + "\n", go_json(batch), json.dumps(batch, indent=2), json.dumps(events, indent=1),
                  go_json(events), json.dumps({"apiVersion": "v1", "items": events, "kind": "List"}),
                  "\n".join(json.dumps(e, indent=4) for e in events),
                  log(events[0]) + go_json({**batch, "items": events[1:]}) + "\n"]
        for shape in shapes:
            report = self.review(shape)
            self.assertEqual(self.counts(report, "decisions", "denied", "broken", "torn", "foreign"), (3, 3, 0, 0, 0),
                             shape[:60])

    def test_decision_log_and_audit_log_are_distinguished_by_content(self):
        report = self.review(RECORDS.read_text() + log(event(DENIED)), "--allowed")
        self.assertEqual(self.counts(report, "auditEvents", "decisions", "denied", "allowed", "rows"),
                         (1, 15, 3, 12, 12))
        row = report["rows"][1]
        self.assertEqual((row["source"], row["outcome"], row["count"], row["level"], row["replay"]),
                         ("decisionLog", "blocked", 2, "enforce=required warn=none audit=none", "same"))

    def test_denials_without_a_decision_are_counted(self):
        record = json.loads(RECORDS.read_text().splitlines()[0])
        for name in ("packet", "packetSha256", "input", "evidence"):
            record.pop(name)
        report = self.review("".join(json.dumps({**record, "allowed": False, "uid": o, "outcome": o}) + "\n"
                                     for o in ("unavailable", "timeout")), "--outcome", "timeout")
        self.assertEqual([(r["verdict"], r["outcome"]) for r in report["rows"]], [("denied", "timeout")])

    def test_byte_order_marks_line_ends_and_blanks_do_not_matter(self):
        for text in ("\ufeff" + log(event(DENIED)), log(event(DENIED)).replace("\n", "\r\n"),
                     "\n\n  " + log(event(DENIED)) + "\n", log(event(DENIED))[:-1],
                     json.dumps(event(DENIED), sort_keys=True), json.dumps(event(DENIED)).replace("/", "\\/"),
                     go_json(event(DENIED)).replace("outcome", "\\u006futcome"),
                     go_json(event(DENIED)).replace("outcome", "\\u006Futcom\\u0065")):
            self.assertEqual(self.counts(self.review(text), "denied", "broken", "foreign"), (1, 0, 0), text[:40])


class Losses(Review):
    def test_incomplete_foreign_and_invalid_lines_are_counted_and_reported(self):
        whole = go_json(event(DENIED))
        text = "\n".join([whole, whole[:500], "not JSON", '{"outcome":1}', '{"some":"thing"}', whole[:-1] + "]",
                          '{"kind":"Event","apiVersion":"v1","reason":"outcome"}',
                          '{"schema":"sandgate.decision.v1","outcome":"odd"}', whole[:2000]])
        report = self.review(text, status=2)
        self.assertEqual(self.counts(report, "denied", "broken", "foreign", "texts"), (1, 5, 3, 9))
        path = self.folder / "audit.log"
        self.assertEqual(report["summary"]["firstBroken"], f"{path}:2")
        self.assertEqual(self.err, f"sandgate: {path}: 8 of 9 lines could not be read, more than 5 percent\n"
                                   f"sandgate: 5 lines cannot be read, the first is {path}:2\n"
                                   f"sandgate: 3 lines that are neither audit events nor decisions, the first is {path}:4\n")

    def test_invalid_utf8_affects_only_its_line(self):
        text = log(event(DENIED)).encode()
        report = self.review(text.replace(b"dev@", b"\xff\xfe@") + text, status=2)
        self.assertEqual(self.counts(report, "denied", "broken"), (1, 1))

    def test_a_patch_that_is_not_valid_json_does_not_hide_its_event(self):
        line = go_json(event(DENIED, requestObject={"x": 1})).encode()
        for patch in (b'{"a":1,"a":2}', b'{"a":"\xff"}', b"[" * 80 + b"]" * 80):
            report = self.review(line.replace(b'{"x":1}', patch))
            self.assertEqual(self.counts(report, "denied", "broken", "withoutBodies"), (1, 0, 1), patch)

    def test_a_line_of_ten_mib_is_read_and_one_of_twenty_is_skipped(self):
        pod = {"spec": {"containers": [{"image": "registry.example.test/x:1"}]}}
        big = event(DENIED, requestObject={**pod, "pad": "y" * (10 << 20)})
        huge = event(DENIED, requestObject={"pad": "y" * (20 << 20)})
        report = self.review(log(big, huge, event(DENIED)), status=2)
        self.assertEqual(self.counts(report, "denied", "broken", "tooLong", "texts"), (2, 0, 1, 2))
        self.assertEqual(report["rows"][0]["images"], ["registry.example.test/x:1"])
        batch = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": [big, huge, event(DENIED)]}
        self.assertEqual(self.counts(self.review(go_json(batch), status=2), "denied", "tooLong"), (2, 1))

    def test_damaged_gzip_exits_with_2_and_a_truncated_one_is_counted(self):
        data = gzip.compress(log(*[event(DENIED) for _ in range(50)]).encode())
        report = self.review(data[:len(data) // 2], name="cut.gz", status=2)
        self.assertEqual(report["summary"]["torn"], 1)
        self.assertGreater(report["summary"]["denied"], 0)
        bad = bytearray(data)
        bad[len(bad) // 2] ^= 0xff
        self.review(bytes(bad), name="bad.gz", status=2)
        self.assertIn("bad.gz: the compressed data is damaged", self.err)

    def test_missing_file_exits_with_2_and_the_others_are_shown(self):
        path = self.write("audit.log", log(event(DENIED)))
        out = self.assert_run(2, "review", self.folder / "none", path, self.folder)
        self.assertIn("1 denied", out)
        self.assertEqual(self.err, f"sandgate: {self.folder}/none: No such file or directory\n"
                                   f"sandgate: {self.folder}: Is a directory\n")

    def test_truncated_event_is_reported(self):
        e = event(DENIED)
        e["annotations"]["audit.k8s.io/truncated"] = "true"
        self.assertEqual(self.counts(self.review(log(e)), "denied", "logTruncated"), (1, 1))


class Counting(Review):
    def test_retries_of_one_controller_are_one_row(self):
        events = [event(DENIED, time=f"2026-03-01T12:{m:02}:00.000000Z", user=f"u{m % 10}") for m in (5, 1, 9, 3)]
        row, = self.review(log(*events))["rows"]
        self.assertEqual((row["count"], row["first"], row["last"], row["users"]),
                         (4, "2026-03-01T12:01:00.000000Z", "2026-03-01T12:09:00.000000Z", ["u5", "u1", "u9", "u3"]))
        other = answer(BARE % "generateName: other-")
        self.assertEqual(len(self.review(log(*events, event(other)))["rows"]), 2)

    def test_a_request_logged_twice_is_counted_once(self):
        stages = [event(DENIED, audit_id="x", stage=s) for s in ("ResponseStarted", "ResponseComplete")]
        received = {**stages[0], "stage": "RequestReceived", "annotations": {}}
        report = self.review(log(received, *stages))
        self.assertEqual(self.counts(report, "denied", "repeated", "decisions"), (1, 1, 2))
        path = self.folder / "audit.log"
        out = json.loads(self.assert_run(0, "review", path, path, "-o", "json"))
        self.assertEqual(self.counts(out, "denied", "repeated"), (1, 3))

    def test_an_audit_id_chosen_by_the_caller_hides_nothing(self):
        harmless = event(READY, audit_id="x", time="2026-03-01T12:00:00.000000Z")
        other = event(answer(BARE % "name: other"), audit_id="x")
        report = self.review(log(harmless, event(DENIED, audit_id="x"), other,
                                 event(DENIED, audit_id="x", time="2026-03-01T12:00:09.000000Z")), "--allowed")
        self.assertEqual(self.counts(report, "denied", "allowed", "repeated"), (3, 1, 0))

    def test_a_request_in_both_logs_is_counted_once(self):
        records = RECORDS.read_text()
        twins = []
        for record in map(json.loads, records.splitlines()):
            if "input" in record:
                values = {"outcome": record["outcome"], "subject": record["subject"],
                          "packet": go_json(record["packet"]), "packet-sha256": record["packetSha256"],
                          "input": go_json(record["input"])}
                twins.append(event({"allowed": record["allowed"], "auditAnnotations": values}, user=record["user"]))
        self.assertEqual(len(twins), 9)
        for text in (records + log(*twins), log(*twins) + records):
            report = self.review(text, "--allowed")
            self.assertEqual(self.counts(report, "decisions", "repeated", "denied", "allowed"), (23, 9, 2, 12))

    def test_two_entries_of_the_gate_in_one_event_are_two_decisions(self):
        e = event(DENIED)
        e["annotations"].update({f"two.example.test/{k}": v for k, v in READY["auditAnnotations"].items()})
        e["annotations"]["foreign.example.test/outcome"] = "refused"
        e["annotations"]["another.example.test/outcome"] = "ok"
        report = self.review(log(e), "--allowed")
        self.assertEqual([(r["webhook"], r["verdict"]) for r in report["rows"]],
                         [(HOOK, "denied"), ("two.example.test", "allowed")])

    def test_verdict_is_the_answer_of_the_api_server(self):
        rows = [(event(DENIED), "denied"), (event(DENIED, denied=""), "violates"),
                (event(DENIED, denied="other.example.test"), "unknown"), (event(READY), "allowed"),
                (event(READY, denied="other.example.test"), "allowed")]
        for e, verdict in rows:
            self.assertEqual(self.review(log(e), "--allowed")["rows"][0]["verdict"], verdict)

    def test_dry_run_and_impersonated_user(self):
        e = event(DENIED, requestURI="/api/v1/namespaces/payments/pods?dryRun=All&x=1",
                  impersonatedUser={"username": "jane"})
        row, = self.review(log(e))["rows"]
        self.assertEqual((row["dryRun"], row["users"]), (True, ["jane"]))
        self.assertEqual([r.get("dryRun") for r in self.review(log(event(DENIED), e))["rows"]], [None, True])

    def test_memory_is_limited_and_omitted_rows_are_counted(self):
        sanitized = "address" in os.environ.get("SANITIZERS", "")
        path = self.folder / "big.log"
        line = go_json(event(DENIED)).replace("denied the request: ", "denied the request: " + 300 * "x")
        number = 0
        with open(path, "wb") as out:
            while out.tell() < (60 if sanitized else 200) << 20:
                out.write(line.replace("bare-6d4c-", f"w{number}-").replace(
                    '"auditID":"', f'"auditID":"{number}-').encode() + b"\n")
                number += 1
        # freed memory is reused at once, so that memory can be compared with a limit
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
        with open(self.folder / "report.json", "wb") as report_file:
            process = subprocess.Popen([PROGRAM, "review", "-o", "json", path], stdout=report_file,
                                       stderr=subprocess.DEVNULL, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(self.counts(report, "denied", "decisions", "broken"), (number, number, 0))
        self.assertEqual(len(report["rows"]) + report["summary"]["rowsLeftOut"], number)
        self.assertGreater(report["summary"]["rowsLeftOut"], 0)
        self.assertGreater(report["summary"]["detailsLeftOut"], 0)
        self.assertEqual(report["namespaces"][0]["denied"], number)
        self.assertLess(usage.ru_maxrss, (160 if sanitized else 64) * 1024)


class Filters(Review):
    def setUp(self):
        super().setUp()
        other = json.loads(json.dumps(DENIED).replace("payments/Pod/bare-6d4c-*", "shop/Pod/cart-*"))
        pod = {"spec": {"containers": [{"image": "registry.example.test/cart:7"}]}}
        self.text = log(event(DENIED, time="2026-03-01T10:00:00Z", user="ann"), event(READY, user="bob"),
                        event(other, time="2026-03-02T10:00:00Z", user="system:serviceaccount:shop:x",
                              requestObject=pod))

    def names(self, *arguments, status=0):
        return [row["name"] for row in self.review(self.text, *arguments, status=status)["rows"]]

    def test_each_filter(self):
        cart, bare, good = "cart-*", "bare-6d4c-*", "good"
        rows = [((), [cart, bare]), (("--allowed",), [cart, bare, good]), (("-n", "shop"), [cart]),
                (("-n", "shop", "-n", "payments"), [cart, bare]), (("--namespace", "sho"), []),
                (("--outcome", "ready"), [good]), (("--outcome", "refused"), []),
                (("--finding", "gate.image.*"), [cart, bare]), (("--finding", "gate.image"), []),
                (("--finding", "sandbox.time.missing"), [cart, bare]),
                (("--user", "ann"), [bare]), (("--user", "system:serviceaccount:*"), [cart]),
                (("-w", "cart"), [cart]), (("--workload", "bare-6d4c-*"), [bare]), (("-w", "ca*"), [cart]),
                (("--image", "cart:"), [cart]), (("--image", "nginx"), []),
                (("--since", "2026-03-02T00:00:00Z"), [cart]), (("--until", "2026-03-02T10:00:00Z"), [bare]),
                (("--since", "2026-03-02T10:00:00Z"), [cart]), (("--since", "24h"), []),
                (("--since", "100000d", "--until", "0m"), [cart, bare])]
        for arguments, wanted in rows:
            self.assertEqual(self.names(*arguments), wanted, arguments)

    def test_wrong_values_are_rejected(self):
        path = self.write("x", self.text)
        rows = [(("--since", "yesterday"), "--since must be a time such as 2026-03-01T12:00:00Z, or 24h"),
                (("--until", "-1h"), "--until must be a time such as 2026-03-01T12:00:00Z, or 24h"),
                (("--outcome", "denied"), "unknown outcome denied"),
                (("--outcome", "refusd"), "unknown outcome refusd; did you mean refused?"),
                (("-o", "html", "--follow"), "--output html cannot be combined with --follow")]
        for arguments, what in rows:
            self.assert_run(2, "review", path, *arguments)
            self.assertEqual(self.err, f"sandgate: {what} (see `sandgate review --help`)\n")
        self.assert_run(2, "review")
        self.assertIn("FILE is needed, or - for standard input", self.err)

    def test_fail_on_denial(self):
        self.review(self.text, "--fail-on-denial", status=1)
        self.review(self.text, "--fail-on-denial", "--outcome", "ready", status=0)


class Expiries(Review):
    def test_evidence_and_exemptions_that_expire_soon_are_listed(self):
        response = json.loads(json.dumps(READY))
        values = response["auditAnnotations"]
        planned = json.loads(values["input"])
        planned["max_age_days"] = 3
        soon = changed(response, input=json.dumps(planned),
                       exemption="sandgate-system/x sha256:00 keys=a until=2026-03-03T00:00:00Z")
        far = changed(response, exemption="sandgate-system/y sha256:00 keys=a until=2026-04-03T00:00:00Z")
        report = self.review(log(event(soon), event(soon), event(far)))
        self.assertEqual(report["rows"], [])
        self.assertEqual(report["lapses"], [
            {"kind": kind, "name": name, "endsAt": at, "lastSeen": "2026-03-01T12:00:01.250000Z", "count": 2}
            for kind, name, at in (("exemption", "sandgate-system/x", "2026-03-03T00:00:00Z"),
                                   ("evidence", values["evidence"].split()[0], "2026-03-03T12:00:00Z"))])
        record = json.loads(RECORDS.read_text().splitlines()[0])
        record["warnings"] = ["sandgate: ends at 2026-03-02T00:00:00Z, sign it anew before: evidence payments/e", "x"]
        report = self.review(json.dumps(record))
        self.assertEqual([(x["kind"], x["name"], x["endsAt"]) for x in report["lapses"]],
                         [("evidence", "payments/e", "2026-03-02T00:00:00Z")])
        out = self.assert_run(0, "review", self.folder / "audit.log")
        self.assertIn("ENDS                  WHAT      NAME        LAST USED\n"
                      "2026-03-02T00:00:00Z  evidence  payments/e  2026-03-01T12:00:00Z\n", out)


def in_namespace(response, name, pod):
    return json.loads(json.dumps(response).replace(response["auditAnnotations"]["subject"], f"{name}/Pod/{pod}"))


class Boundary(Review):
    """What pods' own specs ask for beside their declarations."""

    def test_states_by_control_namespace_and_workload(self):
        held = json.loads(READY["auditAnnotations"]["boundary"])
        for control in held["controls"]:
            control.update(state="held", findings=[])
        clean = changed(READY, boundary=json.dumps(held))
        report = self.review(log(event(READY), event(WIDE), event(READY, time="2026-03-01T12:00:02Z"),
                                 event(in_namespace(clean, "shop", "cart")), event(DENIED)), "--allowed")
        boundary = report["boundary"]
        self.assertEqual([boundary[name] for name in ("reads", "broken", "workloadsLeftOut", "namespacesLeftOut")], [4, 0, 0, 0])
        self.assertEqual([tuple(c.values()) for c in boundary["controls"]], [
            ("environment", 1, 0, 1, 1), ("filesystem", 1, 0, 2, 0), ("network", 2, 0, 0, 1), ("egress", 1, 2, 0, 0),
            ("syscalls", 1, 0, 2, 0), ("capabilities", 1, 0, 2, 0), ("resources", 1, 0, 2, 0), ("isolation", 1, 0, 2, 0)])
        self.assertEqual(list(boundary["controls"][0]), ["control", "held", "unknown", "open", "contradicted"])
        names = [c["control"] for c in held["controls"]]
        self.assertEqual(boundary["namespaces"], [
            {"namespace": "payments", "reads": 3, "broken": 0, "workloads": 2, "contradicted": 1, "block": False, "hold": []},
            {"namespace": "shop", "reads": 1, "broken": 0, "workloads": 1, "contradicted": 0, "block": True, "hold": names}])
        self.assertEqual([(w["namespace"], w["kind"], w["workload"], w["count"]) for w in boundary["workloads"]],
                         [("payments", "Pod", "wide", 1), ("payments", "Pod", "good", 2), ("shop", "Pod", "cart", 1)])
        self.assertEqual(boundary["workloads"][0]["states"], dict(zip(names, (
            "contradicted", "open", "contradicted", "unknown", "open", "open", "open", "open"))))
        self.assertEqual(boundary["workloads"][0]["codes"][:4],
                         ["boundary.env.unlisted", "boundary.fs.root", "boundary.network.host", "boundary.egress.unseen"])
        self.assertEqual(boundary["workloads"][2]["codes"], [])
        rows = {row["workload"]: row for row in report["rows"]}
        self.assertEqual(rows["wide"]["boundary"], json.loads(WIDE["auditAnnotations"]["boundary"]))
        self.assertNotIn("boundary", rows["bare-6d4c"])

    def test_the_worst_of_the_period_counts_in_any_order(self):
        fixed = in_namespace(READY, "payments", "wide")
        for events in ((WIDE, fixed), (fixed, WIDE)):
            boundary = self.review(log(*map(event, events)))["boundary"]
            self.assertEqual([(w["workload"], w["states"]["network"], w["count"]) for w in boundary["workloads"]],
                             [("wide", "contradicted", 2)])
            self.assertFalse(boundary["namespaces"][0]["block"])

    def test_denials_count_for_the_namespace_and_dry_runs_for_nothing(self):
        denied = {**WIDE, "allowed": False, "status": {"message": "no"}}
        boundary = self.review(log(event(denied)))["boundary"]
        self.assertEqual((boundary["namespaces"][0]["block"], boundary["workloads"]), (False, []))
        # a log without admissions says nothing about what runs
        denied = {**READY, "allowed": False, "status": {"message": "no"}}
        boundary = self.review(log(event(denied)))["boundary"]
        self.assertEqual(boundary["namespaces"], [
            {"namespace": "payments", "reads": 1, "broken": 0, "workloads": 0, "contradicted": 0, "block": False, "hold": []}])
        self.assertIn("\npayments   1     0             unknown  -\n", self.assert_run(0, "review", self.folder / "audit.log"))
        dry = event(WIDE, requestURI="/api/v1/namespaces/payments/pods?dryRun=All")
        self.assertNotIn("boundary", self.review(log(dry)))
        boundary = self.review(log(event(WIDE), event(READY)), "-w", "good")["boundary"]
        self.assertEqual([w["workload"] for w in boundary["workloads"]], ["good"])
        self.assertNotIn("boundary", self.review(log(event(DENIED))))

    def test_what_cannot_be_understood_is_no_permission_to_block(self):
        broken = changed(READY, boundary='{"schema":"sandbox.boundary.v1","controls":[]}')
        boundary = self.review(log(event(READY), event(broken)))["boundary"]
        self.assertEqual(boundary["namespaces"], [
            {"namespace": "payments", "reads": 1, "broken": 1, "workloads": 1, "contradicted": 0, "block": False, "hold": []}])
        self.assertEqual(self.err, "sandgate: 1 readings of a pod's own spec that cannot be understood\n")

    def test_both_logs_have_it(self):
        boundary = self.review(RECORDS.read_text())["boundary"]
        self.assertEqual(boundary["reads"], sum('"boundary":' in line and '"dryRun":false' in line
                                                for line in RECORDS.read_text().splitlines()))
        self.assertGreater(boundary["reads"], 3)

    def test_table_and_csv(self):
        out = self.assert_run(0, "review", self.write("audit.log", log(event(WIDE), event(READY))))
        self.assertIn("""\
CONTROL       HELD  UNKNOWN  OPEN  CONTRADICTED
environment   0     0        1     1
filesystem    0     0        2     0
network       1     0        0     1
egress        0     2        0     0
""", out)
        self.assertIn("""
NAMESPACE  READ  CONTRADICTED  BLOCK  HOLD
payments   2     1             no     -

CONTRADICTS ITS DECLARATION  FINDINGS
payments/Pod/wide            boundary.env.unlisted, boundary.network.host

0 denied, 0 violating, """, out)
        out = self.assert_run(0, "review", self.folder / "audit.log", "--allowed", "-o", "csv")
        rows = {row["workload"]: row["boundary"] for row in csv.DictReader(io.StringIO(out))}
        self.assertEqual(rows["wide"], "environment=contradicted filesystem=open network=contradicted egress=unknown "
                                       "syscalls=open capabilities=open resources=open isolation=open")
        out = self.assert_run(0, "review", self.write("many.log", log(*(
            event(in_namespace(WIDE, "payments", f"w{n:02}")) for n in range(22)))))
        self.assertIn("\npayments/Pod/w19             boundary.env", out)
        self.assertIn("\nand 2 more                   -\n", out)

    def test_workloads_over_the_limit_are_counted(self):
        line = go_json(event(READY, audit_id="id"))
        text = "".join(line.replace("payments/Pod/good", f"payments/Pod/w{n}").replace('"id"', f'"{n}"') + "\n"
                       for n in range(10005))
        boundary = self.review(text)["boundary"]
        self.assertEqual((len(boundary["workloads"]), boundary["workloadsLeftOut"]), (10000, 5))
        self.assertEqual((boundary["reads"], boundary["namespaces"][0]["reads"]), (10005, 10005))
        self.assertIn("5 admissions over the limit of workloads, not counted by control", self.err)
        text = "".join(line.replace("payments/Pod/good", f"n{n}/Pod/good").replace('"id"', f'"{n}"') + "\n"
                       for n in range(4099))
        boundary = self.review(text)["boundary"]
        self.assertEqual((len(boundary["namespaces"]), boundary["namespacesLeftOut"]), (4096, 3))

    def test_names_are_shown_safely(self):
        evil = changed(WIDE, subject=f"payments/Pod/{EVIL}")
        path = self.write("audit.log", log(event(evil)))
        for output in ("table", "json", "csv"):
            out = self.assert_run(0, "review", path, "--allowed", "-o", output)
            self.assertFalse(any(c in out for c in "\033\u202e"), output)
        self.assertNotIn("<script", self.assert_run(0, "review", path, "-o", "json"))


class Compare(Review):
    def test_new_and_removed_rows_since_an_earlier_report(self):
        first = log(event(DENIED), event(answer(BARE % "name: gone")))
        path = self.write("old.log", first)
        earlier = self.write("earlier.json", self.assert_run(0, "review", "-o", "json", path))
        fixed = changed(DENIED, findings=None)
        report = self.review(log(event(fixed), event(fixed), event(answer(BARE % "name: new"))),
                             "--compare", earlier)
        changes = report["changes"]
        self.assertEqual(changes["since"], str(earlier))
        self.assertEqual([(c["workload"], c["before"], c["now"]) for c in changes["newWorkloads"]], [("new", 0, 1)])
        self.assertEqual([(c["workload"], c["before"], c["now"]) for c in changes["goneWorkloads"]], [("gone", 1, 0)])
        self.assertIn({"before": 1, "now": 0, "namespace": "payments", "kind": "Pod", "workload": "bare-6d4c",
                       "code": "gate.image.unpinned"}, changes["goneFindings"])
        self.assertIn({"before": 2, "now": 1, "code": "gate.image.unpinned"}, changes["counts"])
        self.assertIn({"before": 2, "now": 3, "code": "sandbox.time.missing"}, changes["counts"])
        out = self.assert_run(0, "review", "--compare", earlier, self.folder / "audit.log")
        self.assertIn("new     0       1    payments/Pod/new        -\n", out)
        self.assertIn("total   2       1    -                       gate.image.unpinned\n", out)
        out = self.assert_run(0, "review", "--compare", earlier, path)
        self.assertIn("No changes since the earlier report.\n", out)

    def test_a_file_that_is_not_a_report_is_rejected(self):
        path = self.write("x", log(event(DENIED)))
        for text, what in (("{}", "not a report of `review --output json` (schema sandgate.denials.v1)"),
                           ("{", "")):
            earlier = self.write("earlier.json", text)
            self.assert_run(2, "review", "--compare", earlier, path)
            self.assertIn(f"{earlier}: {what}", self.err)
        self.assert_run(2, "review", "--compare", self.folder / "none", path)


class Hostile(Review):
    def setUp(self):
        super().setUp()
        findings = json.dumps([{"code": EVIL, "place": EVIL, "message": EVIL}])
        packet = json.dumps({"hardening_profile": {"x": EVIL}}, ensure_ascii=False, indent=1)
        self.text = log(event(changed(DENIED, subject=f"=n{EVIL}/@Pod/+{EVIL}", findings=findings, packet=packet),
                              user=f"-u{EVIL}", hook="hook.example.test"))

    def test_output_has_no_control_characters_and_no_tags(self):
        path = self.write("audit.log", self.text)
        for output in ("table", "json", "csv"):
            out = self.assert_run(0, "review", "-o", output, path)
            for character in "\033\u202e\u0007\r":
                self.assertNotIn(character, out, output)
        self.assertIn("=n<script>alert(1)</script>\\u{1b}[2J\\u{202e}\\u{a}=cmd", self.assert_run(0, "review", path))

    def test_json_output_is_valid_and_has_no_tags(self):
        report = self.review(self.text)
        self.assertNotIn("<", self.out)
        row, = report["rows"]
        self.assertEqual(row["namespace"], f"=n{EVIL.split('/')[0]}")
        self.assertEqual(row["users"], [f"-u{EVIL}"])
        self.assertEqual(row["packet"], {"hardening_profile": {"x": EVIL}})

    def test_csv_has_no_formula_and_one_line_for_each_row(self):
        path = self.write("audit.log", self.text)
        out = self.assert_run(0, "review", "-o", "csv", path)
        head, row = csv.reader(io.StringIO(out))
        self.assertEqual(out.count("\n"), 2)
        fields = dict(zip(head, row))
        self.assertTrue(fields["namespace"].startswith("'=n<script>"), fields)
        self.assertTrue(fields["users"].startswith("'-u<script>"))
        self.assertFalse([f for f in row if f[:1] in tuple("=+-@\t\r")])

    def test_csv_has_no_formula_after_blanks_or_in_full_width_characters(self):
        blanks = ("", " ", "  ", "\u00a0", "\u3000", "\u2003", "\ufeff", "\u200b", "\t", "\n", " \r")
        users = [b + sign + "1" for b in blanks for sign in "=+-@\uff1d\uff0b\uff0d\uff20"]
        path = self.write("audit.log", log(*(event(changed(DENIED, subject=f"n{i}/Pod/x"), user=u)
                                             for i, u in enumerate([*users, " a=1", "a"]))))
        rows = list(csv.DictReader(io.StringIO(self.assert_run(0, "review", "-o", "csv", path))))
        shown = {row["namespace"]: row["users"] for row in rows}
        self.assertEqual([i for i in range(len(users)) if not shown[f"n{i}"].startswith("'")], [])
        self.assertEqual((shown[f"n{len(users)}"], shown[f"n{len(users) + 1}"]), (" a=1", "a"))

    def test_a_byte_order_mark_inside_a_line_does_not_break_the_report(self):
        marked = changed(DENIED, packet='\ufeff{"a":1}', input='\ufeff{"a":1}')
        row, = self.review(log(event(marked)))["rows"]
        self.assertNotIn("packet", row)
        self.assertNotIn("input", row)

    def test_one_huge_event_does_not_prevent_the_report(self):
        many = [{"code": "<" * 8000 + str(i), "message": "<" * 8000, "place": "<" * 8000} for i in range(256)]
        for over in ({"packet": json.dumps({"a": "<" * 3000000})}, {"findings": json.dumps(many)}):
            text = "\n".join(json.dumps(event(changed(DENIED, **more)))
                             for more in (over, {"subject": "payments/Pod/small"}))
            big, small = sorted(self.review(text)["rows"], key=lambda row: row["name"])
            self.assertEqual(small["name"], "small")
            self.assertNotIn("withoutDetails", small)
            self.assertEqual("withoutDetails" in big, "packet" in over)
            self.assertEqual("1 rows without packet" in self.err, "packet" in over)
            self.assertEqual("findingsLeftOut" in big, "findings" in over)

    def test_long_names_do_not_prevent_the_report(self):
        denied = changed(DENIED, packet="", input="")
        report = self.review(log(*(event(changed(denied, subject=f"{i:05}{'<' * 8000}/Pod/x")) for i in range(2000))))
        self.assertEqual(report["summary"]["denied"], 2000)
        self.assertEqual(max(len(n["namespace"]) for n in report["namespaces"]), 512)
        out = self.assert_run(0, "review", self.folder / "audit.log")
        self.assertLess(max(map(len, out.splitlines())), 300)

    def test_users_and_images_beyond_the_limit_are_counted(self):
        row, = self.review(log(*(event(DENIED, user=f"u{i}") for i in range(11))))["rows"]
        self.assertEqual((len(row["users"]), row["usersLeftOut"]), (8, 3))
        self.assertNotIn("imagesLeftOut", row)

    def test_name_of_a_file_cannot_forge_a_message(self):
        self.assert_run(2, "review", self.folder / "a\nsandgate: x\033[2J")
        self.assertEqual(self.err.count("\n"), 1)
        self.assertNotIn("\033", self.err)


class Terminal(Review):
    def test_colours_only_on_a_terminal_without_no_color(self):
        path = self.write("audit.log", log(event(DENIED)))
        _, shown = run_on_terminal("review", path, NO_COLOR="")
        self.assertIn("\033[31mdenied\033[0m", shown)
        _, shown = run_on_terminal("review", path, NO_COLOR="1")
        self.assertNotIn("\033", shown)


class Follow(Review):
    def start(self, path, *arguments):
        process = subprocess.Popen([PROGRAM, "review", "-f", *arguments, path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        return out.decode(), err.decode()

    def test_growth_partial_writes_rotation_and_truncation(self):
        path = self.write("audit.log", log(event(DENIED, user="one")))
        process = self.start(path)
        self.assertIn(b"  denied  payments/Pod/bare-6d4c  needs_more_evidence  one  ", process.stdout.readline())
        text = log(event(DENIED, user="two"))
        with open(path, "a", encoding="utf-8") as out:
            out.write(text[:300])
            out.flush()
            time.sleep(0.5)
            out.write(text[300:])
        self.assertIn(b"  two  ", process.stdout.readline())
        os.rename(path, self.folder / "audit.log.1")
        with open(self.folder / "audit.log.1", "a", encoding="utf-8") as out:
            out.write(log(event(DENIED, user="late")))
        self.assertIn(b"  late  ", process.stdout.readline())
        path.write_text(log(event(DENIED, user="three"), event(DENIED, user="again")))
        self.assertIn(b"  three  ", process.stdout.readline())
        self.assertIn(b"  again  ", process.stdout.readline())
        path.write_text(log(event(DENIED, user="four")))
        self.assertIn(b"  four  ", process.stdout.readline())
        out, err = self.stop(process)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertIn("6 denied, 0 violating", out)

    def test_follow_ends_at_the_end_of_a_pipe(self):
        text = log(event(DENIED, user="one"), event(DENIED, user="two"))
        out = self.assert_run(0, "review", "-f", "-", stdin=text[:-1].encode())
        self.assertRegex(out, "  one  .*\n.*  two  .*\n\nLAST ")

    def test_json_has_one_row_in_each_line(self):
        path = self.write("audit.log", log(event(DENIED)))
        process = self.start(path, "-o", "json", "--fail-on-denial")
        self.assertEqual(json.loads(process.stdout.readline())["verdict"], "denied")
        self.stop(process)
        self.assertEqual(process.returncode, 1)


if __name__ == "__main__":
    unittest.main()
