#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums the lines of callgrind_annotate by source file of the program, others by library. Usage: stages.py REQUESTS < annotated"""
import collections
import re
import sys

LINE = re.compile(r"^\s*([\d,]+)\s+\([^)]*\)\s+(\S+?):\S.*?(?:\s+\[(\S+)\])?$")
OURS = re.compile(r"(?:^|/)((?:planner|k8s|webhook)/[\w/.-]+\.[ch])$")
LEAST_SHARE = 0.005


def place(source, library):
    ours = OURS.search(source)
    if ours:
        return ours.group(1)
    return re.sub(r"\.so.*", "", library.rsplit("/", 1)[-1]) if library else "unknown"


def main():
    requests = int(sys.argv[1])
    counts = collections.Counter()
    for line in sys.stdin:
        found = LINE.match(line)
        if found and found.group(2) != "???" or found and found.group(3):
            counts[place(found.group(2), found.group(3))] += int(found.group(1).replace(",", ""))
    total = sum(counts.values())
    if total == 0:
        print("stages: nothing was counted", file=sys.stderr)
        return 1
    print(f"\n  {'instructions a request, by file or library':<44} {'count':>10} {'share':>7}")
    rest = 0
    for name, count in counts.most_common():
        if count / total < LEAST_SHARE:
            rest += count
            continue
        print(f"  {name:<44} {count // requests:>10} {count / total:>7.1%}")
    print(f"  {'everything else':<44} {rest // requests:>10} {rest / total:>7.1%}")
    print(f"  {'all':<44} {total // requests:>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
