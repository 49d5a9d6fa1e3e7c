# SPDX-License-Identifier: Apache-2.0
"""The program leaves no core dump: private keys, passphrases and tokens can be in its memory."""
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

from program import PROGRAM, TESTS, Case, openssl

UNPRIVILEGED = 65534


def allow_dumps():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class CoreDump(Case):
    def start(self, *arguments, program=PROGRAM, **options):
        """Starts the program, which then waits for its standard input, in a directory where it can write."""
        self.process = subprocess.Popen(
            [program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.folder, **options)
        self.addCleanup(self.process.stdin.close)
        end = time.monotonic() + 30
        while self.state() != "S" and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.2)
        self.assertEqual(self.state(), "S")

    def state(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def limit(self):
        with open(f"/proc/{self.process.pid}/limits", encoding="utf-8") as file:
            return next(line.split()[4:6] for line in file if line.startswith("Max core file size"))

    def assert_no_dump(self):
        self.assertEqual(self.limit(), ["0", "0"])
        self.process.send_signal(signal.SIGABRT)
        status = os.waitpid(self.process.pid, 0)[1]
        self.process.returncode = -signal.SIGABRT
        self.assertEqual((os.WTERMSIG(status), os.WCOREDUMP(status)), (signal.SIGABRT, False))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("core")], [])

    def test_sign_that_waits_for_its_document(self):
        openssl("genpkey", "-algorithm", "ED25519", "-out", self.folder / "key.pem")
        self.start("sign", "--key", self.folder / "key.pem", "--name", "x", "-", preexec_fn=allow_dumps)
        self.assert_no_dump()

    def test_every_command(self):
        self.start("plan", "-", preexec_fn=allow_dumps)
        self.assert_no_dump()

    def test_serve(self):
        shutil.copytree(TESTS / "cases" / "world", self.folder / "world")
        subprocess.run([TESTS.parent / "certs-dev" / "make-certs", "--out",
                        self.folder / "world" / "tls"], check=True, capture_output=True)
        config = self.folder / "world" / "gate.yaml"
        config.write_text(config.read_text().replace("127.0.0.1:8443", "127.0.0.1:0"))
        self.start("serve", "--config", config, "--admin", "127.0.0.1:0", preexec_fn=allow_dumps)
        self.assert_no_dump()

    @unittest.skipIf(os.getuid() != 0, "the owner of /proc/PID differs from the user's only for others")
    def test_processes_of_the_same_user_cannot_read_its_memory(self):
        program = shutil.copy(PROGRAM, self.folder)
        self.folder.chmod(0o755)
        self.start("plan", "-", program=program, user=UNPRIVILEGED, group=UNPRIVILEGED,
                   extra_groups=[])
        self.assertEqual(os.stat(f"/proc/{self.process.pid}/mem").st_uid, 0)
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    unittest.main()
