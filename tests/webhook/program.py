# SPDX-License-Identifier: Apache-2.0
"""Runs the program for tests. Also keys, and a configuration with evidence."""
import json
import os
import pathlib
import pty
import select
import shutil
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.path.abspath(os.environ["SANDGATE"])
WORLD = TESTS / "cases" / "world"
NOW = "2026-03-01T12:00:00Z"
IN_WORLD = ("--config", WORLD / "gate.yaml", "--as-of", NOW)

DOCUMENT = """apiVersion: sandbox.runx.dev/v1
kind: SandboxRequirements
workload: {skill_ref: acme/report@1.4.0}
requirements:
  source_ref: "git:acme/report/sandbox.yaml@3f2a9c1"
  source_digest: "sha256:%s"
  observed_at: "2026-02-28T12:00:00Z"
""" % ("a" * 64)


def run(*arguments, stdin=b"", program=PROGRAM, **environment):
    """(exit status, standard output, standard error). The outputs must be UTF-8."""
    env = {**os.environ, "TERM": "xterm", **environment}
    done = subprocess.run([program, *map(str, arguments)], input=stdin, capture_output=True,
                          env=env, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def run_on_terminal(*arguments, answer=None, **environment):
    """(exit status, output on the terminal). answer is typed at the first prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, *map(str, arguments)],
                  {**os.environ, "TERM": "xterm", **environment})
    shown = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
        if answer is not None and b"Passphrase of" in shown:
            os.write(terminal, answer)
            answer = None
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Case(unittest.TestCase):
    """A test with its own directory."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sandgate-program-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def assert_run(self, status, *arguments, **options):
        """Runs the program, expects this exit status, and returns standard output."""
        got, out, err = run(*arguments, **options)
        self.assertEqual(got, status, f"{arguments}\n{out}\n{err}")
        self.out, self.err = out, err
        return out

    def check_json(self, status, *arguments, **options):
        return json.loads(self.assert_run(status, "check", *arguments, "-o", "json", **options))
