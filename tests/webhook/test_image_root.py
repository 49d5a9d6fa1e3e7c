# SPDX-License-Identifier: Apache-2.0
"""The file tree of the image has only the program and its libraries, and the gate works in it as in a pod."""
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(os.environ["SANDGATE"])
CONFIG = "/etc/sandgate/gate.yaml"
NO_NAMESPACE = "Operation not permitted"
DIRECT = urllib.request.ProxyHandler({})  # no proxy, even if the environment names one


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as stream:
        return dict(line.rstrip("\n").split(":\t", 1) for line in stream if ":\t" in line)


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="sandgate-image-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.chmod(0o755)
        cls.root = cls.folder / "root"
        subprocess.run([TESTS.parent / "webhook" / "image-root", PROGRAM, cls.root], check=True, capture_output=True)

    def test_no_base_of_the_dockerfile_can_be_moved(self):
        text = (TESTS.parent / "webhook" / "Dockerfile").read_text(encoding="utf-8")
        bases = [line.split()[1] for line in text.splitlines() if line.startswith("FROM ")]
        self.assertEqual(bases, ["${BASE}", "scratch"])
        self.assertIn("\nARG BASE\n", text)  # without a default
        for given in ((), ("BASE=debian:bookworm-slim",)):
            done = subprocess.run(["make", "-C", TESTS.parent, "image", "ENGINE=false", *given],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("make image: set BASE=debian:bookworm-slim@sha256:", done.stderr)
        done = subprocess.run(["make", "-C", TESTS.parent, "image", "ENGINE=echo", "BASE=local@sha256:0"],
                              capture_output=True, text=True, check=True)
        self.assertIn("--build-arg BASE=local@sha256:0 ", done.stdout)
        self.assertNotIn("--platform", done.stdout)
        done = subprocess.run(["make", "-C", TESTS.parent, "image", "ENGINE=echo", "BASE=local@sha256:0", "PLATFORM=linux/arm64"],
                              capture_output=True, text=True, check=True)
        self.assertIn("build --platform linux/arm64 -f webhook/Dockerfile ", done.stdout)

    def contained(self, *command, mounts=()):
        options = [word for each in mounts for word in ("--mount", each)]
        return [sys.executable, "-B", TESTS / "container.py", self.root, *options, "--", *command]

    def run_contained(self, *command):
        done = subprocess.run(self.contained(*command), capture_output=True, text=True, timeout=60, check=False)
        if done.returncode and NO_NAMESPACE in done.stderr and os.geteuid() != 0:
            self.skipTest(f"this user may make no namespace: {done.stderr.strip()}")
        return done

    def test_the_tree_has_only_the_program_and_its_libraries(self):
        files = sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if not path.is_dir())
        libraries = [name for name in files if ".so" in name.rsplit("/", 1)[1]]
        self.assertEqual([name for name in files if name not in libraries], ["usr/bin/sandgate"])
        self.assertGreaterEqual(len(libraries), 6)
        for path in self.root.rglob("*"):
            self.assertFalse(path.is_symlink(), path)
            self.assertEqual(path.stat().st_mode & 0o7777, 0o755, path)

    def test_a_directory_with_other_files_is_not_changed(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "kept").write_text("kept")
        done = subprocess.run([TESTS.parent / "webhook" / "image-root", PROGRAM, other], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, [path.name for path in other.iterdir()]), (1, ["kept"]), done.stderr)

    def test_the_program_starts_with_only_these_libraries(self):
        done = self.run_contained("/usr/bin/sandgate", "version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libmicrohttpd", done.stdout)

    def test_the_gate_answers_a_review_on_a_read_only_file_system_without_capabilities(self):
        self.run_contained("/usr/bin/sandgate", "version")  # skips the test if this is not possible
        port, admin = free_ports(2)
        world = self.folder / "world"
        subprocess.run([TESTS / "demo" / "make-world", PROGRAM, world, str(port), str(admin)], check=True,
                       capture_output=True)
        # As the files of a Secret with fsGroup: another user than the owner can read the keys.
        subprocess.run(["chmod", "-R", "a+rX", world], check=True)
        with open(self.folder / "gate.log", "wb") as log:
            gate = subprocess.Popen(
                self.contained("/usr/bin/sandgate", "serve", "--config", CONFIG, mounts=[f"{world}:/etc/sandgate"]),
                stdout=log, stderr=subprocess.STDOUT)
        try:
            self.wait_until_ready(gate, admin)
            self.look_at_its_rights(gate.pid)
            self.assertEqual(self.ask(port, world, "admitted.json"), (True, "ready"))
            self.assertEqual(self.ask(port, world, "denied.json"), (False, "refused"))
        finally:
            gate.send_signal(signal.SIGTERM)
            status = gate.wait(timeout=30)
        self.assertEqual(status, 0, (self.folder / "gate.log").read_text())

    def wait_until_ready(self, gate, admin):
        limit = time.monotonic() + 30
        while True:
            try:
                with urllib.request.build_opener(DIRECT).open(f"http://127.0.0.1:{admin}/readyz", timeout=5) as reply:
                    self.assertEqual(reply.status, 200)
                return
            except OSError as error:
                if gate.poll() is not None or time.monotonic() > limit:
                    self.fail(f"{error}\n{(self.folder / 'gate.log').read_text()}")
                time.sleep(0.05)

    def look_at_its_rights(self, pid):
        status = status_of(pid)
        if os.geteuid() == 0:
            self.assertEqual(status["Uid"].split(), ["65532"] * 4)
            self.assertEqual(status["Groups"].split(), [])
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual(status["NoNewPrivs"], "1")
        with open(f"/proc/{pid}/mounts", encoding="utf-8") as stream:
            mounts = [line.split() for line in stream]
        self.assertIn("/", [mount[1] for mount in mounts])
        for mount in mounts:
            if mount[1].startswith(("/proc", "/dev/")):
                continue
            self.assertEqual(mount[3].split(",")[0], "ro", mount)

    def ask(self, port, world, name):
        trust = ssl.create_default_context(cafile=world / "certs" / "ca.crt")
        request = urllib.request.Request(f"https://127.0.0.1:{port}/validate", data=(world / name).read_bytes(),
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(DIRECT, urllib.request.HTTPSHandler(context=trust))
        with opener.open(request, timeout=10) as reply:
            response = json.load(reply)["response"]
        return response["allowed"], response["auditAnnotations"]["outcome"]


if __name__ == "__main__":
    unittest.main()
