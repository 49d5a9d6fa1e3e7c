#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of README.md's ```console blocks in a new folder, and compares what it prints.

Usage: tests/demo/readme.py SANDGATE
A command begins with "$ " and goes on until the shell has a whole one; the lines behind it are its output, standard
error included. Moments, hex digests and signatures differ from run to run and count as equal.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CHANGING = [
    (r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "<moment>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<moment>"),
    (r"sha256:[0-9a-f]{64}", "<digest>"),
    (r"[A-Za-z0-9+/]{80,}={0,2}", "<signature>"),
]


def same_form(text):
    for pattern, name in CHANGING:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def whole(command):
    """Whether bash takes this for a whole command: no open quote, pipe, continuation or here-document."""
    check = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
    return check.returncode == 0 and not check.stderr and not command.endswith("\\")


def commands(text, fence="console"):
    """(command, expected output) of each block of that kind, in order. What needs a cluster is in shell-session blocks."""
    for block in re.findall(rf"^```{fence}\n(.*?)^```$", text, flags=re.S | re.M):
        command, output = None, []
        for line in block.rstrip("\n").split("\n"):
            if command is not None and not output and not whole(command):
                command += "\n" + line
            elif line.startswith("$ "):
                if command is not None:
                    yield command, "\n".join(output)
                command, output = line[2:], []
            else:
                output.append(line)
        yield command, "\n".join(output)


def main():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as stream:
        pairs = list(commands(stream.read()))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(os.path.abspath(sys.argv[1]), os.path.join(folder, "build", "sandgate"))
        os.symlink(os.path.join(ROOT, "tests"), os.path.join(folder, "tests"))
        for command, expected in pairs:
            done = subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
            if same_form(done.stdout) != same_form(expected):
                wrong += 1
                print(f"$ {command}\n-- README.md says:\n{expected}\n-- it printed (status {done.returncode}):\n{done.stdout}")
    print(f"{len(pairs)} commands, {wrong} with another output")
    return 0 if pairs and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
