# SPDX-License-Identifier: Apache-2.0
"""`sandgate serve`: start, reloads, SIGTERM, and running as process 1 (gate-v1, sections 8, 9)."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from server_client import JSON, SLACK, Client, certificates, context, main, plain_get

SANDGATE = os.environ.get("SANDGATE", "")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(TESTS, "cases/F02-slow-idle-and-stopping/good-request.json"), "rb") as good:
    GOOD = good.read()


class Gate:
    """A running gate with evidence in a directory."""

    def __init__(self, listen="[::]:0", drain=2, more="", command=(), admin="127.0.0.1:0",
                 stdout=subprocess.DEVNULL, program=SANDGATE):
        self.folder = tempfile.mkdtemp(prefix="sandgate-serve-")
        for name in ("tls.crt", "tls.key", "ca.crt", "client.crt", "client.key"):
            shutil.copy(os.path.join(certificates(), name), self.folder)
        shutil.copytree(os.path.join(certificates(), "keyring"), self.path("keyring"))
        os.mkdir(self.path("evidence"))
        with open(self.path("gate.yaml"), "w", encoding="utf-8") as file:
            file.write("apiVersion: sandbox.runx.dev/v1\nkind: GateConfiguration\n"
                       'listen: {webhook: "%s", admin: "%s"}\n'
                       "tls: {certificate: tls.crt, key: tls.key}\n"
                       "keyring: {directory: keyring}\n"
                       "evidence: {source: directory, directory: evidence}\n"
                       "drainSeconds: %d\n%s" % (listen, admin, drain, more))
        self.errors = self.path("stderr")
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                list(command) + [program, "serve", "--config", self.path("gate.yaml")],
                stderr=errors, stdout=stdout)
        self.line = self.wait_for("serving")
        self.port = int(self.line["webhook"].rsplit(":", 1)[1]) if self.line else 0
        self.admin = int(self.line["admin"].rsplit(":", 1)[1]) if self.line else 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self):
        with open(self.errors, encoding="utf-8") as file:
            return file.read()

    def wait_for(self, message, count=1):
        """Waits until the log has this number of lines with that message. Returns the last of them."""
        end = time.monotonic() + 10 * SLACK
        while time.monotonic() < end:
            found = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
            found = [line for line in found if line["message"] == message]
            if len(found) >= count:
                return found[-1]
            if self.process.poll() is not None:
                return None
            time.sleep(0.02)
        raise AssertionError("no line `%s` in: %s" % (message, self.log()))

    def reloads(self, part, result):
        _, _, body = plain_get(self.admin, "/metrics")
        return int(re.search(r'sandgate_reloads_total\{part="%s",result="%s"\} (\d+)'
                             % (part, result), body.decode()).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Load:
    """Clients that send requests without a pause on kept-alive connections, and record every failure. After a response
    with `Connection: close` they open a new connection."""

    def __init__(self, port, clients=8, tls=None):
        self.port, self.tls = port, tls or context()
        self.stop, self.failures, self.answered = threading.Event(), [], 0
        self.threads = [threading.Thread(target=self.run) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self):
        client = None
        while not self.stop.is_set():
            try:
                client = client or Client(self.port, tls=self.tls, timeout=10)
                status, fields, body = client.review(GOOD)
                if status != 200 or not json.loads(body)["response"]["allowed"]:
                    self.failures.append((status, body))
                self.answered += 1
                if fields.get("connection", "").lower() == "close":
                    client.__exit__()
                    client = None
            except OSError as error:
                self.failures.append(repr(error))
                client = None
        if client:
            client.__exit__()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


class Stopping(unittest.TestCase):
    def test_sigterm_under_load_loses_no_request(self):
        with Gate(drain=2) as gate:
            load = Load(gate.port)
            time.sleep(0.5)
            begun = time.monotonic()
            gate.process.send_signal(signal.SIGTERM)
            gate.wait_for("stopping: not ready, still answering requests")
            with Client(gate.port) as probe:
                self.assertEqual(probe.get("/readyz")[0], 503)
            self.assertEqual(plain_get(gate.admin, "/readyz")[0], 503)
            with Client(gate.port) as fresh:
                status, fields, _ = fresh.review(GOOD)
                self.assertEqual((status, fields["connection"].lower()), (200, "close"))
                self.assertTrue(fresh.ends(5))
            time.sleep(1)
            load.end()
            self.assertEqual(load.failures, [])
            self.assertGreater(load.answered, 50)
            self.assertEqual(gate.process.wait(timeout=10), 0)
            self.assertGreaterEqual(time.monotonic() - begun, 2)

    def test_without_traffic_the_port_stays_open_for_all_of_drain_seconds(self):
        with Gate(drain=2) as gate, Client(gate.port) as idle:
            gate.process.send_signal(signal.SIGINT)
            time.sleep(1.5)
            with Client(gate.port) as probe:
                self.assertEqual(probe.get("/healthz")[0], 200)
            self.assertEqual(gate.process.wait(timeout=5), 0)
            self.assertTrue(idle.ends(1))
            with self.assertRaises(OSError):
                Client(gate.port)

    def test_a_request_in_flight_is_answered_after_the_drain(self):
        with Gate(drain=0) as gate, Client(gate.port) as client:
            client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
                        % (JSON, len(GOOD)))
            client.send(GOOD[:100])
            time.sleep(0.2)
            gate.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            client.send(GOOD[100:])
            status, fields, _ = client.answer()
            self.assertEqual((status, fields["connection"].lower()), (200, "close"))
            self.assertEqual(gate.process.wait(timeout=5), 0)

    def test_a_second_signal_exits_at_once(self):
        with Gate(drain=30) as gate:
            gate.process.send_signal(signal.SIGTERM)
            gate.wait_for("stopping: not ready, still answering requests")
            gate.process.send_signal(signal.SIGTERM)
            self.assertEqual(gate.process.wait(timeout=5), 0)

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("unshare"), "needs a PID namespace")
    def test_signals_as_process_1(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Gate(drain=0, command=("unshare", "--pid", "--fork", "--kill-child")) as gate:
                children = "/proc/%d/task/%d/children" % (gate.process.pid, gate.process.pid)
                with open(children, encoding="ascii") as file:
                    first = int(file.read().split()[0])
                with open("/proc/%d/status" % first, encoding="ascii") as file:
                    self.assertRegex(file.read(), r"NSpid:\s+\d+\s+1\n")
                os.kill(first, number)
                self.assertEqual(gate.process.wait(timeout=5), 0)


class Reading(unittest.TestCase):
    def test_no_request_fails_when_certificates_change_under_load(self):
        other = certificates("other")
        both = context()
        both.load_verify_locations(os.path.join(other, "ca.crt"))
        with Gate() as gate:
            load = Load(gate.port, clients=4, tls=both)
            for turn in range(6):
                source = (other, certificates())[turn % 2]
                for end in ("crt", "key"):
                    shutil.copy(os.path.join(source, "tls." + end), gate.path("new"))
                    os.replace(gate.path("new"), gate.path("tls." + end))
                gate.process.send_signal(signal.SIGHUP)
                end = time.monotonic() + 5 * SLACK
                while time.monotonic() < end:
                    try:
                        with Client(gate.port, tls=context(authority=source)) as client:
                            self.assertEqual(client.review(GOOD)[0], 200)
                        break
                    except OSError:
                        time.sleep(0.05)
                else:
                    self.fail("the new certificate is not shown")
            load.end()
            self.assertEqual(load.failures, [])
            self.assertGreaterEqual(gate.reloads("certificate", "ok"), 6)

    def test_a_changed_file_is_read_without_a_signal(self):
        with Gate() as gate:
            other = certificates("other")
            for end in ("crt", "key"):
                shutil.copy(os.path.join(other, "tls." + end), gate.path("tls." + end))
            end = time.monotonic() + 5 * SLACK
            while time.monotonic() < end:
                try:
                    Client(gate.port, tls=context(authority=other)).__exit__()
                    return
                except OSError:
                    time.sleep(0.1)
            self.fail("the new certificate is not shown")

    def test_invalid_files_keep_the_last_state(self):
        with Gate() as gate:
            for name in ("tls.key", "gate.yaml"):
                with open(gate.path(name), "w", encoding="utf-8") as file:
                    file.write("rubbish: [")
            with open(gate.path("keyring/broken.pem"), "w", encoding="utf-8") as file:
                file.write("no key\n")
            gate.process.send_signal(signal.SIGHUP)
            gate.wait_for("the new certificate cannot be used; the old one stays in use")
            with Client(gate.port) as client:
                self.assertEqual(client.review(GOOD)[0], 200)
                self.assertEqual(client.get("/readyz")[0], 200)
            for part in ("certificate", "configuration", "keyring"):
                self.assertGreaterEqual(gate.reloads(part, "error"), 1, part)
            self.assertIn("tls.key: cannot be used as an unencrypted key", gate.log())


class Starting(unittest.TestCase):
    def bad(self, more, *said, listen="127.0.0.1:0"):
        with Gate(listen=listen, more=more) as gate:
            self.assertEqual(gate.process.wait(timeout=10), 2)
            for text in said:
                self.assertIn(text, gate.log())
            self.assertTrue(gate.log().startswith("sandgate: "), gate.log())

    def test_a_failed_start_reports_the_reason(self):
        self.bad("nonsense: true\n", "gate.yaml:8:1: ")
        for listen in ("::1:8443", "fd00::10", "127.0.0.1"):
            self.bad("", "gate.yaml:3:", listen=listen)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.bad("", "listen.webhook: cannot listen on 127.0.0.1:",
                     listen="127.0.0.1:%d" % taken.getsockname()[1])

    def test_check_reads_everything_and_serves_nothing(self):
        with Gate() as gate:
            for change, status in ((None, 0), ("tls.key", 2), ("keyring/x.pem", 2)):
                if change:
                    with open(gate.path(change), "w", encoding="utf-8") as file:
                        file.write("rubbish\n")
                done = subprocess.run([SANDGATE, "serve", "--check", "--config",
                                       gate.path("gate.yaml")], capture_output=True, text=True,
                                      timeout=30, check=False)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(change or "", done.stderr)

    def test_check_refuses_thresholds_that_no_keyring_of_these_keys_can_meet(self):
        keys = "keyring: {directory: keyring, threshold: %s, kinds: {%s}}\n"
        short = "no %s can be valid: its threshold needs %d more different key"
        with Gate() as gate:
            count = len(os.listdir(gate.path("keyring")))
            for threshold, kinds, missing in (
                    (1, "", {}), (count, "", {}),
                    (count + 2, "", dict.fromkeys(("Requirements", "Baseline", "Exemption"), 2)),
                    (1, "SandboxExemption: {keys: [nobody]}", {"Exemption": 1}),
                    (1, "SandboxExemption: {keys: []}", {}),  # meant so: no exemption counts
                    (1, "SandboxBaseline: {keys: []}", {}),
                    (1, "SandboxBaseline: {keys: [release-dev], threshold: 2}", {"Baseline": 1})):
                with open(gate.path("gate.yaml"), encoding="utf-8") as file:
                    text = re.sub("keyring: .*\n", keys % (threshold, kinds), file.read())
                with open(gate.path("gate.yaml"), "w", encoding="utf-8") as file:
                    file.write(text)
                done = subprocess.run([SANDGATE, "serve", "--check", "--config", gate.path("gate.yaml")],
                                      capture_output=True, text=True, timeout=30, check=False)
                self.assertEqual(done.returncode, 2 if missing else 0, done.stderr)
                self.assertEqual(done.stderr.count("can be valid"), len(missing), done.stderr)
                for kind, more in missing.items():
                    self.assertIn(short % ("Sandbox" + kind, more), done.stderr)

    def test_check_refuses_baselines_that_are_needed_and_count_nowhere(self):
        with Gate() as gate:
            with open(gate.path("gate.yaml"), encoding="utf-8") as file:
                text = re.sub("keyring: .*\n", "keyring: {directory: keyring, kinds: {SandboxBaseline: {keys: []}}}\n",
                              file.read().replace("directory: evidence}", "directory: evidence, minBaselines: 1}"))
            with open(gate.path("gate.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([SANDGATE, "serve", "--check", "--config", gate.path("gate.yaml")],
                                  capture_output=True, text=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no SandboxBaseline can be valid", done.stderr)

    def test_what_needs_attention_is_a_line_of_readyz_and_a_metric(self):
        def health():
            return [plain_get(gate.admin, path)[::2] for path in ("/readyz", "/healthz")]

        def metrics(*parts):
            body = plain_get(gate.admin, "/metrics")[2].decode()
            return [re.search(r"^%s (\S+)$" % re.escape(part), body, re.M).group(1) for part in parts]

        def change(text, count):
            with open(gate.path("gate.yaml"), "a", encoding="utf-8") as file:
                file.write(text)
            gate.process.send_signal(signal.SIGHUP)
            gate.wait_for("configuration, keyring and evidence reloaded", count)

        names = ("sandgate_keyring_keys", 'sandgate_keyring_signers_missing{kind="SandboxBaseline"}',
                 'sandgate_last_reload_successful{part="configuration"}',
                 'sandgate_last_reload_successful{part="keyring"}')
        with Gate() as gate:
            count = str(len(os.listdir(gate.path("keyring"))))
            self.assertEqual(health(), [(200, b"ok")] * 2)
            self.assertEqual(metrics(*names), [count, "0", "1", "1"])
            with open(gate.path("gate.yaml"), encoding="utf-8") as file:
                text = file.read()
            with open(gate.path("gate.yaml"), "w", encoding="utf-8") as file:
                file.write(text.replace("directory: keyring}", "directory: keyring, kinds: "
                                        "{SandboxBaseline: {keys: [nobody]}}}"))
            change("", 1)
            line = (b"no SandboxBaseline can be valid: its threshold needs 1 more different key than the keyring has "
                    b"for it; add keys, or correct keyring.threshold or keyring.kinds")
            self.assertEqual(health(), [(200, b"ok\n" + line)] * 2)
            self.assertEqual(metrics(*names), [count, "1", "1", "1"])
            change("surplus: 1\n", 2)
            failed = b"the last reading of the configuration failed: the log has the reason"
            self.assertEqual(health(), [(200, b"ok\n" + line + b"\n" + failed)] * 2)
            self.assertEqual(metrics(*names), [count, "1", "0", "1"])
            for name in os.listdir(gate.path("keyring")):
                os.unlink(gate.path("keyring/" + name))
            change("", 3)
            self.assertEqual(metrics(*names)[:1], ["0"])
            self.assertTrue(health()[0][1].startswith(b"ok\nthe keyring has no key, so no evidence is valid"))

    def test_addresses(self):
        for listen, hosts in (("[::]:0", ("127.0.0.1", "::1")), (":0", ("127.0.0.1", "::1")),
                              ("[::1]:0", ("::1",)), ("127.0.0.1:0", ("127.0.0.1",)),
                              ("localhost:0", ())):
            with Gate(listen=listen) as gate:
                for host in hosts:
                    with Client(gate.port, host=host) as client:
                        self.assertEqual(client.get("/readyz")[::2], (200, b"ok"))

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("unshare"), "needs a network namespace")
    def test_bindv6only_and_no_ipv6(self):
        for setting in ("bindv6only=1", "conf.all.disable_ipv6=1"):
            script = ("sysctl -qw net.ipv6.%s && ip link set lo up && exec \"$0\" \"$@\"" % setting)
            with Gate(command=("unshare", "--net", "sh", "-c", script)) as gate:
                ask = ("import ssl, urllib.request as u; print(u.urlopen("
                       "'https://127.0.0.1:%d/readyz', context=ssl._create_unverified_context())"
                       ".read().decode())" % gate.port)
                asked = subprocess.run(
                    ["nsenter", "--net=/proc/%d/ns/net" % gate.process.pid, sys.executable, "-c",
                     ask], capture_output=True, text=True, timeout=20, check=False)
                self.assertEqual(asked.stdout, "ok\n", setting + asked.stderr)


if __name__ == "__main__":
    main()
