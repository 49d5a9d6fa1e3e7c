# SPDX-License-Identifier: Apache-2.0
"""Records of decisions: decision log, recent denials and metrics (gate-v1, sections 8 and 10)."""

import glob
import json
import os
import re
import signal
import socket
import stat
import subprocess
import time
import unittest

import exposition
from server_client import JSON, SLACK, Client, certificates, main, plain_get, read_answer
from test_serve import GOOD, SANDGATE, TESTS, Gate


def captured(file_name, **changes):
    with open(os.path.join(TESTS, "captured", file_name), "rb") as file:
        review = json.load(file)
    review["request"].update(changes)
    return json.dumps(review).encode()


DENIED = captured("01-create-pod.json")  # managed, without any evidence


def ask(gate, body=DENIED, allowed=False):
    with Client(gate.port) as client:
        status, _, answer = client.review(body)
    answer = json.loads(answer)["response"]
    assert (status, answer["allowed"]) == (200, allowed), answer
    return answer


def lines_of(path, count):
    """Waits until the file has this number of lines. Returns them as records."""
    end = time.monotonic() + 10 * SLACK
    while time.monotonic() < end:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.count("\n") >= count:
                return [json.loads(line) for line in text.splitlines()]
        time.sleep(0.02)
    raise AssertionError("not %d lines in %s" % (count, path))


def metric(gate, line):
    _, _, body = plain_get(gate.admin, "/metrics")
    found = re.search("^%s ([0-9.]+)$" % re.escape(line), body.decode(), re.M)
    return float(found.group(1)) if found else None


def wait_for_metric(gate, line, least):
    end = time.monotonic() + 10 * SLACK
    while time.monotonic() < end:
        if (metric(gate, line) or 0) >= least:
            return
        time.sleep(0.05)
    raise AssertionError("%s is %s" % (line, metric(gate, line)))


LOST = 'sandgate_decision_log_lines_lost_total{reason="%s"}'
WRITTEN = "sandgate_decision_log_lines_written_total"


class DecisionLog(unittest.TestCase):
    def test_decisions_go_to_standard_output_and_the_log_to_standard_error(self):
        with Gate(stdout=subprocess.PIPE) as gate:
            ask(gate)
            ask(gate, GOOD, allowed=True)
            line = gate.process.stdout.readline().decode()
            gate.process.send_signal(signal.SIGTERM)
            rest = gate.process.stdout.read()
            gate.process.stdout.close()
            self.assertEqual((gate.process.wait(timeout=10), rest), (0, b""))
            self.assertNotIn("sandgate.decision", gate.log())
        record = json.loads(line)
        self.assertEqual((record["schema"], record["allowed"], record["outcome"],
                          record["subject"], record["peer"], record["caller"]),
                         ("sandgate.decision.v1", False, "needs_more_evidence",
                          "payments/Pod/report", "127.0.0.1", "unverified"))
        self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertGreater(record["durationMicroseconds"], 0)

    def test_only_the_owner_can_read_a_log_file_and_it_can_be_rotated(self):
        with Gate(more="decisionLog: {path: decisions.jsonl, allowed: true}\n") as gate:
            path = gate.path("decisions.jsonl")
            ask(gate)
            ask(gate, GOOD, allowed=True)
            self.assertEqual([r["allowed"] for r in lines_of(path, 2)], [False, True])
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            os.rename(path, path + ".1")
            gate.process.send_signal(signal.SIGHUP)
            gate.wait_for("decision log reopened")
            ask(gate)
            self.assertEqual(len(lines_of(path, 1)), 1)
            self.assertEqual(len(lines_of(path + ".1", 2)), 2)
            self.assertEqual(metric(gate, WRITTEN), 3)

    def test_a_changed_configuration_takes_effect_at_run_time(self):
        with Gate(more="decisionLog: {path: first, allowed: true}\n") as gate:
            ask(gate, GOOD, allowed=True)
            self.assertEqual(len(lines_of(gate.path("first"), 1)), 1)
            with open(gate.path("gate.yaml"), encoding="utf-8") as file:
                text = file.read()
            with open(gate.path("new"), "w", encoding="utf-8") as file:
                file.write(text.replace("path: first, allowed: true", "path: second"))
            os.replace(gate.path("new"), gate.path("gate.yaml"))
            gate.wait_for("decision log reopened")
            ask(gate, GOOD, allowed=True)
            ask(gate)
            self.assertEqual([r["allowed"] for r in lines_of(gate.path("second"), 1)], [False])
            self.assertEqual(len(lines_of(gate.path("first"), 1)), 1)

    def test_a_path_that_cannot_be_opened_fails_the_start(self):
        for path, why in (("/nonexistent/log", "No such file or directory"),
                          ("keyring", "Is a directory")):
            with Gate(more="decisionLog: {path: %s}\n" % path) as gate:
                self.assertEqual(gate.process.wait(timeout=10), 2)
                self.assertRegex(gate.log(), "^sandgate: decisionLog.path: .*%s: %s\n$"
                                 % (path, why))

    def test_a_full_disk_loses_lines_but_no_answer(self):
        with Gate(more="decisionLog: {path: /dev/full}\n") as gate:
            for _ in range(5):
                ask(gate)
            wait_for_metric(gate, LOST % "write_failed", 5)
            self.assertEqual(metric(gate, WRITTEN), 0)
            gate.wait_for("decision log line lost: it cannot be written")
            gate.process.send_signal(signal.SIGTERM)
            self.assertEqual(gate.process.wait(timeout=10), 0)

    def test_a_reader_that_does_not_read_delays_no_answer(self):
        with Gate(stdout=subprocess.PIPE, drain=0) as gate, Client(gate.port) as client:
            for _ in range(300):  # many times the capacity of a pipe
                self.assertEqual(client.review(DENIED)[0], 200)
            begun = time.monotonic()
            gate.process.send_signal(signal.SIGTERM)
            self.assertEqual(gate.process.wait(timeout=10), 0)
            self.assertLess(time.monotonic() - begun, 6 * SLACK)
            self.assertIn("decision log write hangs", gate.log())
            gate.process.stdout.close()

    def test_a_closed_reader_loses_lines_but_no_answer(self):
        with Gate(stdout=subprocess.PIPE) as gate:
            gate.process.stdout.close()
            for _ in range(3):
                ask(gate)
            wait_for_metric(gate, LOST % "write_failed", 3)
            self.assertIsNone(gate.process.poll())

    def test_names_cannot_forge_a_line_or_control_a_terminal(self):
        evil = 'x\n{"schema":"sandgate.decision.v1"}\x1b]0;owned\x07\u202e\u2028\x9b31m\x7f'
        body = json.loads(DENIED)
        body["request"].update(name=evil, userInfo={"username": evil, "groups": [evil]})
        body["request"]["object"]["metadata"]["name"] = evil
        with Gate(more="decisionLog: {path: log}\n") as gate:
            ask(gate, json.dumps(body).encode())
            record = lines_of(gate.path("log"), 1)[0]
            with open(gate.path("log"), "rb") as file:
                line = file.read()
        self.assertEqual((record["name"], record["user"], record["groups"]), (evil, evil, [evil]))
        self.assertEqual(line.count(b"\n"), 1)
        for text in (b"\x1b", b"\x07", b"\x7f", "\u202e".encode(), "\u2028".encode(),
                     "\x9b".encode()):
            self.assertNotIn(text, line)


def get(port, path, host="localhost", address="127.0.0.1", method="GET", fields="", source=None):
    with socket.create_connection((address, port), timeout=10,
                                  source_address=(source, 0) if source else None) as plain:
        plain.sendall(("%s %s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n" % (
            method, path, "Host: %s\r\n" % host if host is not None else "", fields)).encode())
        return read_answer(plain)


def own_address():
    """An address of this host that is not loopback. None if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


class Denials(unittest.TestCase):
    def test_the_last_denials_as_json(self):
        with Gate(more="decisionLog: {path: log, allowed: true}\n") as gate:
            status, fields, body = get(gate.admin, "/denials.json")
            self.assertEqual(json.loads(body)["records"], [])
            for name in ("a", "b", "c"):
                ask(gate, captured("01-create-pod.json", uid=name))
            ask(gate, GOOD, allowed=True)
            status, fields, body = get(gate.admin, "/denials.json")
            self.assertEqual((status, fields["content-type"], fields["cache-control"],
                              fields["x-content-type-options"]),
                             (200, "application/json", "no-store", "nosniff"))
            shown = json.loads(body)
            self.assertEqual((shown["schema"], shown["total"], shown["replica"]),
                             ("sandgate.decisions.v1", 3, socket.gethostname()))
            self.assertEqual([r["uid"] for r in shown["records"]], ["a", "b", "c"])
            self.assertEqual(shown["records"], lines_of(gate.path("log"), 4)[:3])
            self.assertEqual(metric(gate, "sandgate_denials_kept"), 3)
            status, fields, body = get(gate.admin, "/denials.json", method="HEAD")
            self.assertEqual((status, body), (200, b""))
            self.assertEqual(get(gate.admin, "/denials.json", method="POST")[0], 405)

    def test_the_last_denials_as_a_page(self):
        with Gate() as gate:
            ask(gate, captured("01-create-pod.json", uid="</script>"))
            status, fields, body = get(gate.admin, "/denials")
            self.assertEqual((status, fields["content-type"], fields["cache-control"], fields["x-content-type-options"]),
                             (200, "text/html; charset=utf-8", "no-store", "nosniff"))
            self.assertIn("frame-ancestors 'none'", fields["content-security-policy"])
            data = body.split(b'<script type="application/json" id="data">')[1].split(b"</script>")[0]
            report = json.loads(data)
            self.assertEqual((report["schema"], report["summary"]["denied"], report["rows"][0]["id"]),
                             ("sandgate.denials.v1", 1, "</script>"))
            self.assertIn("madeAt", report)

    def test_the_oldest_denials_are_dropped_first(self):
        with Gate() as gate, Client(gate.port) as client:
            for number in range(520):
                client.review(captured("01-create-pod.json", uid=str(number)))
            shown = json.loads(get(gate.admin, "/denials.json")[2])
            self.assertEqual((shown["total"], len(shown["records"])), (520, 512))
            self.assertEqual([shown["records"][n]["uid"] for n in (0, -1)], ["8", "519"])

    def test_slow_readers_are_limited(self):
        groups = ["%070d" % number for number in range(64)]
        body = captured("01-create-pod.json", userInfo={"username": "u", "groups": groups})
        with Gate() as gate:
            with Client(gate.port) as client:
                for _ in range(700):
                    client.review(body)
            _, _, shown = get(gate.admin, "/denials.json")
            self.assertLessEqual(len(shown), 4 * 1024 * 1024 + 4096)  # more than the buffer of a socket
            self.assertGreater(len(shown), 3 * 1024 * 1024)
            self.refuses_a_fifth(gate)

    def test_a_page_needs_memory_within_the_limit(self):
        limits = "limits: {maxBodyBytes: 1048576, maxInFlightBytes: 4194304}\n"
        with Gate(more=limits) as gate, Client(gate.port) as client:
            for path in ("/denials", "/denials.json"):
                self.assertEqual(get(gate.admin, path)[0], 200, path)
            groups = ["%070d" % number for number in range(64)]
            for _ in range(300):
                client.review(captured("01-create-pod.json", userInfo={"username": "u", "groups": groups}))
            for path in ("/denials", "/denials.json"):
                status, fields, body = get(gate.admin, path)
                self.assertEqual((status, fields["retry-after"], json.loads(body)["message"]), (
                    503, "1", "reviews and other pages take the memory that this page needs: try again"))
            self.assertEqual(metric(gate, "sandgate_in_flight_bytes"), 0)
            self.assertEqual(client.review(DENIED)[0], 200)

    def refuses_a_fifth(self, gate):
        slow = []
        for _ in range(4):
            slow.append(socket.socket())
            slow[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow[-1].connect(("127.0.0.1", gate.admin))
            slow[-1].sendall(b"GET /denials.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertEqual(slow[-1].recv(12), b"HTTP/1.1 200")
        status, fields, _ = get(gate.admin, "/denials.json")
        self.assertEqual((status, fields["retry-after"]), (503, "1"))
        self.assertEqual(get(gate.admin, "/healthz")[0], 200)
        # what is being sent counts for limits.maxInFlightBytes, and leaves it when it is sent
        self.assertGreater(metric(gate, "sandgate_in_flight_bytes"), 4 * 3 * 1024 * 1024)
        for one in slow:
            one.close()
        end = time.monotonic() + 10 * SLACK
        while get(gate.admin, "/denials.json")[0] != 200:
            self.assertLess(time.monotonic(), end, "a reader that is gone frees its place")
            time.sleep(0.05)
        while metric(gate, "sandgate_in_flight_bytes") != 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_only_this_host_under_its_own_name_has_access(self):
        with Gate(admin="[::]:0") as gate:
            ask(gate)
            for host in ("localhost", "LOCALHOST:8080", "127.0.0.1", "127.9.9.9:1", "[::1]",
                         "[::1]:8080", "[::ffff:127.0.0.1]:80"):
                self.assertEqual(get(gate.admin, "/denials.json", host)[0], 200, host)
            for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                         "10.0.0.1", "0.0.0.0", "[::]", "[::2]:80", "x", "localhost:80:80",
                         "localhost@evil.example", "127.1", "[::1", "::1", ":80"):
                status, _, body = get(gate.admin, "/denials.json", host)
                self.assertEqual(status, 403, host)
                self.assertIn("kubectl port-forward", json.loads(body)["message"])
                self.assertNotIn(b"payments", body)
            self.assertEqual(get(gate.admin, "/denials.json", address="::1")[0], 200)
            self.assertEqual(get(gate.admin, "/denials", "evil.example")[0], 403)

    def test_what_a_proxy_forwards_has_no_access(self):
        with Gate(admin="[::]:0") as gate:
            ask(gate)
            for path in ("/denials.json", "/denials"):
                # the sidecar of a service mesh connects from 127.0.0.6
                for source in ("127.0.0.6", "127.0.0.2", "127.0.1.1"):
                    status, _, body = get(gate.admin, path, source=source)
                    said = json.loads(body)["message"]
                    self.assertEqual((status, said), (
                        403, "denials are shown only to clients whose address is 127.0.0.1 or ::1: use kubectl "
                             "port-forward, and keep the admin port out of the service mesh"), source)
                for field in ("Forwarded: for=10.0.0.1", "X-Forwarded-For: 127.0.0.1",
                              "x-forwarded-proto: http", "X-Real-IP: 127.0.0.1", "Via: 1.1 x", "via:",
                              "X-Envoy-Attempt-Count: 1", "l5d-client-id: x"):
                    status, _, body = get(gate.admin, path, fields=field + "\r\n")
                    self.assertEqual((status, json.loads(body)["message"]), (
                        403, "denials are not shown through a proxy, and a header field of this request (such as "
                             "Forwarded, X-Forwarded-For or Via) names one: use kubectl port-forward"), field)
            self.assertEqual(get(gate.admin, "/metrics", source="127.0.0.6")[0], 200)
            self.assertEqual(get(gate.admin, "/denials.json", fields="X-Request-Id: 1\r\n")[0], 200)

    @unittest.skipIf(own_address() is None, "this host has no address but loopback")
    def test_another_host_has_no_access(self):
        with Gate(admin="0.0.0.0:0") as gate:
            ask(gate)
            for path in ("/denials.json", "/denials"):
                status, _, body = get(gate.admin, path, address=own_address())
                self.assertEqual((status, json.loads(body)["reason"]), (403, "Forbidden"))
            self.assertEqual(get(gate.admin, "/metrics", address=own_address())[0], 200)
            self.assertEqual(get(gate.admin, "/denials.json")[0], 200)


class Privacy(unittest.TestCase):
    """What is written of the person who sent a request, and where. The marks are texts that occur nowhere else."""
    NAMED = {"username": "mark-user", "groups": ["mark-group"]}
    NOT_NAMED = {"uid": "mark-uid", "extra": {"example.com/mark-key": ["mark-extra"]}}

    def ask(self, gate):
        """The answer, as text."""
        body = captured("01-create-pod.json", userInfo={**self.NAMED, **self.NOT_NAMED})
        with Client(gate.port) as client:
            status, _, answer = client.review(body, JSON + "User-Agent: mark-agent/1.0\r\n")
        self.assertEqual(status, 200)
        return answer.decode()

    def test_user_and_groups_are_in_the_decision_log_and_the_denials_only(self):
        with Gate(more="decisionLog: {path: log}\n") as gate:
            answer = self.ask(gate)
            self.assertIn("gate.evidence.missing", answer)
            record = lines_of(gate.path("log"), 1)[0]
            self.assertEqual((record["user"], record["groups"], record["peer"]), ("mark-user", ["mark-group"], "127.0.0.1"))
            self.assertEqual(re.findall("mark-[a-z]+", json.dumps(record)), ["mark-user", "mark-group"])
            self.assertEqual(json.loads(get(gate.admin, "/denials.json")[2])["records"], [record])
            page = get(gate.admin, "/denials")[2].decode()
            self.assertEqual(set(re.findall("mark-[a-z]+", page)), {"mark-user"})
            places = [answer, gate.log()] + [plain_get(gate.admin, path)[2].decode() for path in ("/metrics", "/healthz", "/readyz")]
            for text in places:
                self.assertNotIn("mark-", text)
                self.assertNotIn("127.0.0.1", text.replace('"admin":"127.0.0.1:%d"' % gate.admin, ""))

    def test_the_decision_log_can_be_turned_off(self):
        with Gate(more="decisionLog: {path: /dev/null}\n", stdout=subprocess.PIPE) as gate:
            self.ask(gate)
            wait_for_metric(gate, WRITTEN, 1)
            gate.process.send_signal(signal.SIGTERM)
            self.assertEqual(gate.process.stdout.read(), b"")
            gate.process.stdout.close()
            self.assertEqual(gate.process.wait(timeout=10), 0)
            self.assertNotIn("mark-", gate.log())

    def test_an_admission_is_recorded_only_where_that_is_asked_for(self):
        with Gate(stdout=subprocess.PIPE) as gate:
            ask(gate, GOOD, allowed=True)
            self.assertEqual(json.loads(get(gate.admin, "/denials.json")[2])["records"], [])
            gate.process.send_signal(signal.SIGTERM)
            self.assertEqual(gate.process.stdout.read(), b"")
            gate.process.stdout.close()


class Metrics(unittest.TestCase):
    def test_the_checker_finds_violations(self):
        good = ("# HELP sandgate_a_total A.\n# TYPE sandgate_a_total counter\n"
                'sandgate_a_total{x="1"} 1\nsandgate_a_total{x="2"} 1\n')
        histogram = ("# HELP sandgate_h_seconds H.\n# TYPE sandgate_h_seconds histogram\n"
                     'sandgate_h_seconds_bucket{le="0.1"} 1\nsandgate_h_seconds_bucket{le="+Inf"} 2\n'
                     "sandgate_h_seconds_sum 0.5\nsandgate_h_seconds_count 2\n")
        self.assertEqual(exposition.check(good + histogram), [])
        for text, change, said in (
                (good, ('x="2"', 'x="1"'), "a series twice"), (good, ("_a_total", "_a"), "_total is"),
                (good, ("sandgate_a", "other_a"), "not a metric of sandgate"),
                (good, ("sandgate_a_total", "sandgate_a_milliseconds_total"), "base unit"),
                (good, ("# TYPE sandgate_a_total counter\n", ""), "no HELP and TYPE"),
                (good, ("# HELP sandgate_a_total A.\n", ""), "does not follow"),
                (good, ("} 1\n", "} one two\n"), "not a sample"), (good, (" A.", "  "), "says nothing"),
                (histogram, ('"0.1"} 1', '"0.1"} 3'), "do not add up"),
                (histogram, ("_count 2", "_count 3"), "+Inf is not"),
                (histogram, ('le="0.1"', 'le="+Inf"'), "does not rise")):
            found = exposition.check(text.replace(*change))
            self.assertTrue(any(said in one for one in found), (change, found))

    def test_metrics_obey_the_rules_and_count_the_requests(self):
        with Gate(more="defaults: {enforce: required}\n") as gate, Client(gate.port) as client:
            for path in sorted(glob.glob(os.path.join(TESTS, "captured", "*.json"))):
                if re.match(r"\d\d-", os.path.basename(path)):
                    with open(path, "rb") as file:
                        self.assertEqual(client.review(file.read())[0], 200, path)
            for name in range(100):  # names must not become labels
                client.review(captured("28-create-pod-unmanaged.json", name="pod-%d" % name,
                                       namespace="ns-%d" % name, operation="CREATE"))
            client.review(captured("02-create-pod-dry-run.json"))
            get(gate.admin, "/denials.json")
            get(gate.admin, "/denials.json", "evil.example")
            _, fields, body = plain_get(gate.admin, "/metrics")
            text = body.decode()
            self.assertEqual(fields["content-type"], "text/plain; version=0.0.4")
            self.assertEqual(exposition.check(text), [])
            families = exposition.read(text)[0]
            decided = families["sandgate_decisions_total"].samples
            self.assertEqual(sum(value for _, _, value in decided), 130)
            self.assertEqual(sum(value for _, _, value in
                                 families["sandgate_reviews_total"].samples), 130)
            self.assertLess(len(decided), 64)
            for line, value in (
                    ('sandgate_decisions_total{outcome="needs_more_evidence",allowed="false",'
                     'enforce="required",operation="CREATE",kind="Pod",dry_run="true"}', 2),
                    ('sandgate_decisions_total{outcome="not_evaluated",allowed="true",'
                     'enforce="unset",operation="CONNECT",kind="other",dry_run="false"}', 2),
                    ('sandgate_findings_total{code="gate.review.unusable"}', 0),
                    ('sandgate_boundary_reads_total{control="network",state="held"}', 0),
                    ('sandgate_findings_total{code="gate.annotation.missing"}', 101),
                    ('sandgate_reviews_refused_total{reason="slots"}', 0),
                    ('sandgate_evidence_documents{kind="SandboxRequirements",state="valid"}', 0),
                    ('sandgate_http_requests_total{path="/denials",code="200"}', 1),
                    ('sandgate_http_requests_total{path="/denials",code="403"}', 1)):
                self.assertEqual(metric(gate, line), value, line)
            self.assertEqual(metric(gate, "sandgate_review_duration_seconds_count"), 130)
            self.assertGreater(metric(gate, "sandgate_review_duration_seconds_sum"), 0)

    def test_what_pods_own_specs_ask_for_is_counted_by_control_and_state(self):
        document = """apiVersion: sandbox.runx.dev/v1
kind: SandboxRequirements
workload: {skill_ref: acme/report@1.4.0}
requirements: {observed_at: "%s", network: false}
""" % time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with Gate(more="defaults: {enforce: none, audit: required}\n") as gate:
            with open(gate.path("report.yaml"), "w", encoding="utf-8") as file:
                file.write(document)
            key = os.path.join(certificates(), "signing-keys", "release-dev.pem")
            subprocess.run([SANDGATE, "sign", "--key", key, "--namespace", "payments", "--output",
                            gate.path("evidence/report.yaml"), gate.path("report.yaml")], check=True)
            gate.process.send_signal(signal.SIGHUP)
            wait_for_metric(gate, 'sandgate_evidence_documents{kind="SandboxRequirements",state="valid"}', 1)
            wide = json.loads(captured("01-create-pod.json"))
            wide["request"]["object"]["spec"]["hostNetwork"] = True
            for body in (DENIED, DENIED, json.dumps(wide).encode()):
                ask(gate, body, allowed=True)
            ask(gate, captured("28-create-pod-unmanaged.json", namespace="other", operation="CREATE"), allowed=True)
            text = plain_get(gate.admin, "/metrics")[2].decode()
            self.assertEqual(exposition.check(text), [])
            family = exposition.read(text)[0]["sandgate_boundary_reads_total"]
            self.assertEqual((family.type, len(family.samples)), ("counter", 32))
            counts = {}
            for _, labels, value in family.samples:
                counts.setdefault(labels["control"], {})[labels["state"]] = value
            self.assertEqual(list(counts), ["environment", "filesystem", "network", "egress", "syscalls",
                                            "capabilities", "resources", "isolation"])
            self.assertEqual(counts["network"], {"held": 2, "unknown": 0, "open": 0, "contradicted": 1})
            self.assertEqual(counts["egress"], {"held": 0, "unknown": 3, "open": 0, "contradicted": 0})


if __name__ == "__main__":
    main()
