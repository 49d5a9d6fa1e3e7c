#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Check the reference planner against golden pairs and against the plan rows of the cases.

usage: check_plan_cases.py GOLDEN_DIR CASES_DIR
"""

import json
import pathlib
import sys

from planner import compact, plan, plan_tree
from reader import Unreadable, decode, read_either


def check_golden(folder):
    """Names of the golden pairs whose packet differs."""
    failed = []
    for path in sorted(folder.glob("*.json")):
        pair = json.loads(path.read_text())
        if plan(pair["input"]) != compact(pair["packet"]):
            failed.append(path.name)
    return failed


def plan_file(path):
    """(exit status, packet tree or None), as those of `sandgate plan`."""
    try:
        tree = read_either(decode(path.read_bytes()))
        if not isinstance(tree, dict):
            raise Unreadable("no object")
    except Unreadable:
        return 2, None
    profile = plan_tree(tree)["hardening_profile"]
    return (0 if profile["decision"] == "ready" else 1), profile


def check_row(folder, row):
    """The differences from the expectation of the row, as texts."""
    status, profile = plan_file(folder / row["input"])
    expect = row["expect"]
    if status != expect["exit"]:
        return [f"exit {status}"]
    if profile is None:
        return []
    findings = profile["validation"]["findings"]
    found = {
        "decision": profile["decision"],
        "findings": findings,
        "codes": [finding["code"] for finding in findings],
        "source_ref": profile["source_evidence"]["source_ref"],
        "declaration": {name: profile["declaration"][name] for name in expect.get("declaration", {})},
    }
    wrong = [f"{name} {found[name]}" for name in found if name in expect and found[name] != expect[name]]
    return wrong + [text for text in expect.get("absent", []) if text in compact(profile)]


def main():
    golden, cases = (pathlib.Path(argument) for argument in sys.argv[1:3])
    failed = [f"{name}: packet differs" for name in check_golden(golden)]
    rows = [row for row in json.loads((cases / "index.json").read_text()) if row["how"] == "plan"]
    for row in rows:
        failed += [f"{row['input']}: {what}" for what in check_row(cases, row)]
    print(*failed, f"{len(rows)} rows, {len(failed)} wrong", sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
