#!/usr/bin/python3
"""Compare the program's planner with the reference on random inputs.

usage: compare_plan.py [--count N] [--seed S] (--driver PATH | --program PATH)

The driver reads one JSON input a line and writes one packet a line, or `error`. With --program,
`sandgate plan --output json` is run once an input, which is slow; it reads YAML as well.
"""

import argparse
import random
import subprocess
import sys
import tempfile

import generate
from planner import plan, plan_tree, redact_input
from reader import Unreadable, read_either, read_json

MAX_SHOWN = 30


def expected(line, read):
    """The packet of a line, or `error`."""
    try:
        tree = read(line)
    except Unreadable:
        return "error"
    if not isinstance(tree, dict):
        return "error"
    if plan_tree(redact_input(tree)) != plan_tree(tree):
        print(f"reference: redaction changes the packet of {line}", file=sys.stderr)
    return plan(tree)


def run_driver(path, lines):
    """The driver's answers, one a line."""
    done = subprocess.run([path], input="".join(line + "\n" for line in lines).encode(),
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{path} ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode().split("\n")[:-1]


def run_program(path, lines):
    """The answers of one process an input."""
    answers = []
    for line in lines:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(line.encode())
            file.flush()
            done = subprocess.run([path, "plan", "--output", "json", file.name],
                                  capture_output=True, check=False)
        answers.append("error" if done.returncode == 2 else done.stdout.decode().rstrip("\n"))
        if done.returncode not in (0, 1, 2):
            answers[-1] = f"status {done.returncode}: {done.stderr.decode()[-2000:]}"
    return answers


def first_difference(one, other):
    """Where two texts part, with a little around it."""
    place = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    start = max(0, place - 60)
    return f"  reference …{one[start:place + 100]}\n  program   …{other[start:place + 100]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--driver")
    parser.add_argument("--program")
    options = parser.parse_args()
    source = random.Random(options.seed)
    lines = [generate.planner_line(source) for _ in range(options.count)]
    answers = run_driver(options.driver, lines) if options.driver else run_program(options.program, lines)
    if len(answers) != len(lines):
        sys.exit(f"{len(lines)} lines, {len(answers)} answers")
    wanted = [expected(line, read_json if options.driver else read_either) for line in lines]
    wrong = [trio for trio in zip(lines, wanted, answers) if trio[1] != trio[2]]
    for line, reference, program in sorted(wrong, key=lambda trio: len(trio[0]))[:MAX_SHOWN]:
        print(f"input {line[:3000]}\n{first_difference(reference, program)}")
    ready = sum('"decision":"ready"' in text for text in wanted)
    errors = wanted.count("error")
    print(f"{len(lines)} inputs, {ready} ready, {errors} unreadable, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
