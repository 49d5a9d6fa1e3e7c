# SPDX-License-Identifier: Apache-2.0
"""The built program has the protections of .cmake/Hardening.cmake, as readelf shows them."""
import os
import re
import subprocess
import sys
import unittest

PROGRAM = os.environ["SANDGATE"]
OBJECT = os.environ["OBJECT"]  # main.c, compiled
SANITIZERS = os.environ.get("SANITIZERS", "")


def readelf(option, file=PROGRAM):
    return subprocess.run(["readelf", "--wide", option, file], check=True, capture_output=True, text=True).stdout


MACHINE = re.search(r"Machine: +(.*)", readelf("--file-header")).group(1)
BRANCH_NOTES = {"Advanced Micro Devices X86-64": "x86 feature: IBT, SHSTK", "AArch64": "AArch64 feature: BTI, PAC"}


class Hardening(unittest.TestCase):
    def test_the_program_is_position_independent(self):
        self.assertRegex(readelf("--file-header"), r"Type: +DYN ")
        self.assertRegex(readelf("--dynamic"), r"FLAGS_1\).*\bPIE\b")

    def test_relocations_are_read_only_and_bound_at_the_start(self):
        self.assertIn("GNU_RELRO", readelf("--program-headers"))
        self.assertRegex(readelf("--dynamic"), r"\(FLAGS\) +BIND_NOW")
        self.assertRegex(readelf("--dynamic"), r"FLAGS_1\).*\bNOW\b")

    def test_no_memory_is_writable_and_executable(self):
        headers = readelf("--program-headers")
        self.assertRegex(headers, r"GNU_STACK .* RW +0x")
        self.assertEqual(re.findall(r"LOAD .* RWE ", headers), [])

    def test_gcc_was_given_the_options_that_leave_no_trace(self):
        producer = re.search(r"DW_AT_producer.*: (GNU C.*)", readelf("--debug-dump=info", OBJECT))
        if not producer:
            self.skipTest("another compiler does not record its options")
        options = ["-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-fstack-clash-protection", "-fPIE"]
        if not SANITIZERS and int(re.search(r"GNU C\d+ (\d+)", producer.group(1)).group(1)) >= 12:
            options.append("-ftrivial-auto-var-init=zero")
        for option in options:
            self.assertIn(option, producer.group(1).split())

    def test_only_needed_libraries_are_loaded(self):
        """Each named library has a symbol that the program uses."""
        if MACHINE not in readelf("--file-header", sys.executable):
            self.skipTest("ldd starts the program's loader, which is for another machine")
        done = subprocess.run(["ldd", "-u", "-r", PROGRAM], capture_output=True, text=True, check=False)
        self.assertNotIn("/", done.stdout, done.stdout)

    def test_indirect_branches_and_returns_are_protected(self):
        if MACHINE not in BRANCH_NOTES:
            self.skipTest(f"{MACHINE} has no such protection here")
        # of an object: the C library's own start code can be without, and the linker then takes the note away
        self.assertRegex(readelf("--notes", OBJECT), BRANCH_NOTES[MACHINE])

    def test_stack_and_buffers_are_checked(self):
        symbols = readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        if not SANITIZERS:
            self.assertRegex(symbols, "__(memcpy|vsnprintf|fprintf|snprintf)_chk")


if __name__ == "__main__":
    unittest.main()
