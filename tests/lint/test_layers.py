#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of layers.py finds a planted violation, and finds nothing in a clean tree."""
import os
import subprocess
import tempfile
import unittest

import layers

CLEAN = {
    "planner/base/text.h": "/* a */\n",
    "planner/plan.h": '#include "planner/base/text.h"\n',
    "k8s/api/api.h": "/* a */\n",
    "k8s/api/internal.h": '#include "k8s/api/api.h"\n',
    "k8s/api/api.c": '#include "k8s/api/internal.h"\n#include "planner/base/text.h"\nint api_do(void) { return 0; }\n',
    "k8s/api/CMakeLists.txt": "sandgate_module(k8s_api\n    SOURCES api.c\n    USES planner_base\n    LIBRARIES X)\n",
}


def findings(files=None, build=False):
    """What layers.py says of the clean tree with these files added or replaced."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **(files or {})}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        if build:
            compile_all(root)
        return list(layers.check(root, os.path.join(root, "build") if build else None))


def compile_all(root):
    """Object files where CMake puts them."""
    for path in layers.sources(root):
        if path.endswith(".c"):
            folder, name = os.path.split(path)
            out = os.path.join(root, "build", folder, "CMakeFiles", "x.dir")
            os.makedirs(out, exist_ok=True)
            subprocess.run(["gcc", "-I", root, "-w", "-c", os.path.join(root, path), "-o", os.path.join(out, name + ".o")],
                           check=True)


class Layers(unittest.TestCase):
    def test_clean_tree_has_no_finding(self):
        self.assertEqual(findings(build=True), [])

    def test_include_of_a_higher_layer_is_found(self):
        self.assertEqual(findings({"planner/plan.c": '#include "k8s/api/api.h"\n'}),
                         ["planner/plan.c:1: planner/ must not include k8s/api/api.h: k8s/api/ is not in a lower layer"])

    def test_include_of_the_same_layer_is_found(self):
        self.assertEqual(findings({"k8s/snapshot/a.c": '#include "k8s/api/api.h"\n'}),
                         ["k8s/snapshot/a.c:1: k8s/snapshot/ must not include k8s/api/api.h: "
                          "k8s/api/ is not in a lower layer"])

    def test_private_header_of_another_directory_is_found(self):
        self.assertEqual(findings({"k8s/cluster/a.c": '#include "k8s/api/internal.h"\n'}),
                         ["k8s/cluster/a.c:1: k8s/api/internal.h is private to k8s/api/"])

    def test_directory_without_a_layer_is_found(self):
        self.assertEqual(findings({"k8s/odd/a.c": '#include "planner/base/text.h"\n'}),
                         ["k8s/odd/a.c:1: k8s/odd/ has no layer in tests/lint/layers.py"])

    def test_headers_that_include_each_other_are_found(self):
        self.assertEqual(findings({"k8s/api/api.h": '#include "k8s/api/internal.h"\n'}),
                         ["headers include each other: k8s/api/api.h, k8s/api/internal.h"])

    def test_use_that_is_not_declared_is_found(self):
        self.assertEqual(findings({"k8s/api/call.c": '#include "planner/plan.h"\n'}),
                         ["k8s/api/CMakeLists.txt: USES lacks planner, whose headers are included"])

    def test_declared_use_without_an_include_is_found(self):
        module = "sandgate_module(k8s_api\n    SOURCES api.c\n    USES k8s_util planner_base)\n"
        self.assertEqual(findings({"k8s/api/CMakeLists.txt": module}),
                         ["k8s/api/CMakeLists.txt: USES names k8s_util, of which no header is included"])

    def test_files_that_call_each_other_are_found(self):
        self.assertEqual(findings({"k8s/api/a.c": "int a(void) { return b(); }\n",
                                   "k8s/api/b.c": "int b(void) { return a(); }\n"}, build=True),
                         ["files call each other: k8s/api/a.c, k8s/api/b.c"])

    def test_build_without_objects_is_found(self):
        with tempfile.TemporaryDirectory() as build:
            self.assertEqual(list(layers.check_calls(".", build)),
                             [f"{build}: has no object files of planner/, k8s/ and webhook/"])


if __name__ == "__main__":
    unittest.main()
