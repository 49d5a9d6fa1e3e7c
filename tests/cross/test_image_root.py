# SPDX-License-Identifier: Apache-2.0
"""image-root finds the libraries of a program of another architecture: below SYSROOT, with EMULATOR to run its loader."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM, SYSROOT = os.environ["SANDGATE"], os.environ["SYSROOT"]
QEMU = os.environ["EMULATOR"].split()[0]


def machine(path):
    header = subprocess.run(["readelf", "--file-header", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"Machine: +(.*)", header).group(1)


class ImageRoot(unittest.TestCase):
    def make(self, folder, *more):
        return subprocess.run([ROOT / "webhook" / "image-root", PROGRAM, folder, *more], capture_output=True, text=True,
                              check=False)

    def test_the_tree_has_only_files_of_the_programs_architecture_and_runs(self):
        with tempfile.TemporaryDirectory() as root:
            done = self.make(root, SYSROOT, QEMU, "-L", SYSROOT)
            self.assertEqual(done.returncode, 0, done.stderr)
            files = [path for path in pathlib.Path(root).rglob("*") if path.is_file()]
            self.assertEqual({machine(path) for path in files}, {"AArch64"})
            self.assertGreaterEqual(len(files), 7)
            self.assertTrue((pathlib.Path(root) / "lib" / "ld-linux-aarch64.so.1").is_file())
            # The emulator looks into the tree first, and this machine has no libraries of arm64.
            done = subprocess.run([QEMU, "-L", root, f"{root}/usr/bin/sandgate", "version"], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("libmicrohttpd", done.stdout)

    def test_without_a_sysroot_no_tree_is_made(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertNotEqual(self.make(root).returncode, 0)
            self.assertEqual(self.make(root, SYSROOT).returncode, 2)
            self.assertEqual(os.listdir(root), [])


if __name__ == "__main__":
    unittest.main()
