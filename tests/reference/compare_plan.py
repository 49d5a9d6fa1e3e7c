#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the program's planner with the reference on random inputs.

usage: compare_plan.py [--count N] [--seed S] (--driver PATH | --program PATH [--yaml])

The driver reads one JSON input from each line and writes one line for it, a packet or `error`. With --program, `sandgate plan
--output json` runs once for each input, which is slow, but it also reads YAML. With --yaml the inputs are YAML that readers
interpret differently, and the places of errors are compared too.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile

import generate
from planner import plan, plan_tree, redact_input
from reader import Unreadable, read_either, read_json

MAX_SHOWN = 30


def expected(line, read, places=False):
    """The packet of a line, or `error`, with its place if required."""
    try:
        tree = read(line)
    except Unreadable as error:
        return f"error {error.line}:{error.column}" if places else "error"
    if not isinstance(tree, dict):
        return "error"
    if plan_tree(redact_input(tree)) != plan_tree(tree):
        print(f"reference: redaction changes the packet of {line}", file=sys.stderr)
    return plan(tree)


def run_driver(path, lines):
    """The answers of the driver, one for each line."""
    done = subprocess.run([path], input="".join(line + "\n" for line in lines).encode(),
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{path} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode().split("\n")[:-1]


def error_of(stderr, name, places):
    """`error`, with the place in `sandgate: FILE:LINE:COL: TEXT` if required."""
    place = re.search(re.escape(name) + r":(\d+:\d+):", stderr)
    return f"error {place.group(1)}" if places and place else "error"


def run_program(path, lines, places):
    """The answers of one process for each input."""
    answers = []
    for line in lines:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(line.encode())
            file.flush()
            done = subprocess.run([path, "plan", "--output", "json", file.name],
                                  capture_output=True, check=False)
        stderr = done.stderr.decode()
        answers.append(error_of(stderr, file.name, places) if done.returncode == 2
                       else done.stdout.decode().rstrip("\n"))
        if done.returncode not in (0, 1, 2):
            answers[-1] = f"status {done.returncode}: {stderr[-2000:]}"
    return answers


def first_difference(one, other):
    """The first difference of two texts, with its surroundings."""
    place = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    start = max(0, place - 60)
    return f"  reference …{one[start:place + 100]}\n  program   …{other[start:place + 100]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--driver")
    parser.add_argument("--program")
    parser.add_argument("--yaml", action="store_true")
    options = parser.parse_args()
    source = random.Random(options.seed)
    make = generate.yaml_text if options.yaml else generate.planner_line
    lines = [make(source) for _ in range(options.count)]
    answers = run_driver(options.driver, lines) if options.driver \
        else run_program(options.program, lines, options.yaml)
    if len(answers) != len(lines):
        sys.exit(f"{len(lines)} lines, {len(answers)} answers")
    wanted = [expected(line, read_json if options.driver else read_either, options.yaml) for line in lines]
    wrong = [trio for trio in zip(lines, wanted, answers) if trio[1] != trio[2]]
    for line, reference, program in sorted(wrong, key=lambda trio: len(trio[0]))[:MAX_SHOWN]:
        print(f"input {line[:3000] if not options.yaml else repr(line)}\n{first_difference(reference, program)}")
    ready = sum('"decision":"ready"' in text for text in wanted)
    errors = sum(text.startswith("error") for text in wanted)
    print(f"{len(lines)} inputs, {ready} ready, {errors} unreadable, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
