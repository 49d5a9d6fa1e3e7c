#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a function which only its own file uses is static. Prints one line for each violation and ends with 1 if
there is one.

Usage: tests/lint/statics.py BUILD

BUILD is a build folder with the program and all tests, such as build-clang. A function of planner/, k8s/ or webhook/ may
be global if the object file of another source file, of the program or of a test, refers to it. Any other function must
be static: only then does the compiler warn when it becomes unused.
"""
import os
import re
import subprocess
import sys

# Functions that must be global although no other object file refers to them: {"name": "reason"}
EXCEPTIONS = {"main": "called by the C library"}

OBJECT = re.compile(r"(?P<folder>.+)/CMakeFiles/[^/]+\.dir/(?P<file>.+)\.o$")
PROGRAM = re.compile(r"(planner|k8s|webhook)(/|$)")


def object_files(build):
    """(source file, object file) of each object file below the build folder."""
    for folder, _, names in os.walk(build):
        for name in sorted(names):
            path = os.path.join(folder, name)
            match = OBJECT.match(os.path.relpath(path, build))
            if match:
                yield f"{match.group('folder')}/{match.group('file')}", path


def symbols(path):
    """The global functions that an object file defines, and the names to which it refers."""
    text = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    defined, needed = set(), set()
    for words in (line.split() for line in text.splitlines()):
        if len(words) == 3 and words[1] == "T":
            defined.add(words[2])
        elif len(words) == 2 and words[0] in "Uw":
            needed.add(words[1])
    return defined, needed


def check(build, root=None):
    """With root, the checkout, objects of files that were renamed or removed since are left out."""
    defined, used = {}, set()
    folders = set()
    for source, path in object_files(build):
        if root is not None and not os.path.exists(os.path.join(root, source)):
            continue
        functions, needed = symbols(path)
        used |= needed
        folders.add(source.split("/")[0])
        if PROGRAM.match(source):
            defined.update((name, source) for name in functions)
    for folder in sorted({"planner", "k8s", "webhook", "tests"} - folders):
        yield f"{build}: has no object files of {folder}/"
    if folders >= {"planner", "k8s", "webhook", "tests"}:
        for name, source in sorted(defined.items(), key=lambda item: (item[1], item[0])):
            if name not in used and name not in EXCEPTIONS:
                yield f"{source}: no other file uses {name}(): make it static or remove it"


def main():
    if len(sys.argv) != 2:
        print("usage: tests/lint/statics.py BUILD", file=sys.stderr)
        return 2
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = list(check(sys.argv[1], root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
