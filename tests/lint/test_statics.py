#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of statics.py: it reports a global function that only its own file uses, and no other function."""
import os
import subprocess
import tempfile
import unittest

import statics

CLEAN = {
    "planner/base/a.c": "int a(void) { return 0; }\n",
    "k8s/b.c": "int a(void); int b(void) { return a(); }\n",
    "webhook/main.c": "int b(void); static int helper(void) { return b(); } int main(void) { return helper(); }\n",
    "tests/k8s/test_b.c": "int b(void); int test(void) { return b(); }\n",
}


def findings(files=None):
    """The findings in a build of the clean tree with these files added or replaced. A text of None removes a file."""
    with tempfile.TemporaryDirectory() as root:
        build = os.path.join(root, "build")
        for path, text in {**CLEAN, **(files or {})}.items():
            if text is None:
                continue
            folder, name = os.path.split(path)
            out = os.path.join(build, folder, "CMakeFiles", "x.dir", name + ".o")
            os.makedirs(os.path.dirname(out), exist_ok=True)
            subprocess.run(["gcc", "-w", "-x", "c", "-c", "-", "-o", out], input=text.encode(), check=True)
        return [line.replace(build, "build") for line in statics.check(build)]


class Statics(unittest.TestCase):
    def test_clean_tree_has_no_finding(self):
        self.assertEqual(findings(), [])

    def test_function_that_only_its_own_file_calls_is_found(self):
        self.assertEqual(findings({"k8s/c.c": "int a(void); int c(void) { return a(); } static int d(void) { return c(); }"
                                              "int (*pointer)(void) = d;\n"}),
                         ["k8s/c.c: no other file uses c(): make it static or remove it"])

    def test_function_that_no_file_calls_is_found(self):
        self.assertEqual(findings({"planner/c.c": "int c(void) { return 0; }\n"}),
                         ["planner/c.c: no other file uses c(): make it static or remove it"])

    def test_function_that_only_a_test_calls_is_allowed(self):
        self.assertEqual(findings({"k8s/c.c": "int c(void) { return 0; }\n",
                                   "tests/k8s/test_c.c": "int c(void); int test_c(void) { return c(); }\n"}), [])

    def test_global_function_of_a_test_is_allowed(self):
        self.assertEqual(findings({"tests/k8s/helper.c": "int helper(void) { return 0; }\n"}), [])

    def test_build_without_tests_is_found(self):
        self.assertEqual(findings({"tests/k8s/test_b.c": None}), ["build: has no object files of tests/"])


if __name__ == "__main__":
    unittest.main()
