#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Check the reference gate against the review and signature rows of the cases.

usage: check_gate_cases.py CASES_DIR
"""

import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

from evidence import DEFAULTS, Document, load_world
from gate import MAX_WARNINGS, BadRequest, decide
from keyring import Refused, load_keyring
from moment import read_moment
from planner import compact, plan_tree
from reader import Unreadable, decode, read_json, read_yaml

REPLACEMENT = "\ufffd"


@functools.lru_cache(maxsize=None)
def world_of(config, evidence, keyring):
    return load_world(config, evidence, keyring)


def read_review(path):
    """The review in a file: JSON or YAML, by the name of the file."""
    text = decode(path.read_bytes())
    return (read_yaml if path.suffix == ".yaml" else read_json)(text, REPLACEMENT)


def make_input(path, arguments):
    """Run a program that generates an input. The argument OUT is replaced by the file to write."""
    out = pathlib.Path(tempfile.mkdtemp(), "review.json")
    arguments = [str(out) if argument == "OUT" else argument for argument in arguments]
    subprocess.run([sys.executable, str(path), *arguments], check=True, cwd=path.parent,
                   capture_output=True)
    return out


def judge_row(folder, row):
    """The reference's Decision for a row, or None for HTTP 400."""
    path = folder / row["input"]
    if "arguments" in row:
        path = make_input(path, row["arguments"])
    places = [folder / row[name] if name in row else None for name in ("evidence", "keyring")]
    world = world_of(folder / row["config"], *places)
    try:
        return decide(read_review(path), world, read_moment(row["as_of"]))
    except (BadRequest, Unreadable):
        return None


def check_findings(decision, expect):
    """The differences between codes and places and those of the row, as texts."""
    packet = json.loads(decision.packet)["hardening_profile"] if decision.packet else None
    codes = {code for code, _ in decision.findings}
    codes |= {finding["code"] for finding in packet["validation"]["findings"]} if packet else set()
    wrong = [f"no {code}" for code in expect.get("codes", []) if code not in codes]
    wrong += [f"has {code}" for code in expect.get("not_codes", []) if code in codes]
    for wanted in expect.get("places", []):
        start = f"sandbox.runx.dev/requirements:{wanted.get('line')}:"
        if not any(code == wanted["code"] and place == wanted.get("place", place)
                   and ("line" not in wanted or place.startswith(start))
                   for code, place in decision.findings):
            wrong.append(f"{wanted} not in {decision.findings}")
    return wrong


def check_boundary(decision, expect):
    """The differences of the reading: the exact annotation, all findings in order, warnings."""
    wrong = []
    if "boundary" in expect:
        wanted = None if expect["boundary"] is None else compact(expect["boundary"])
        given = decision.annotations.get("boundary")
        wrong += [f"boundary {given}, not {wanted}"] if given != wanted else []
    if "gate_findings" in expect:
        wanted = [(finding["code"], finding["place"]) for finding in expect["gate_findings"]]
        wrong += [f"findings {decision.findings}"] if decision.findings != wanted else []
    if "warning_count" in expect:
        count = min(MAX_WARNINGS, len(decision.contradictions))
        if count != expect["warning_count"] or decision.warns != bool(count):
            wrong.append(f"{count} warnings")
    return wrong


def check_row(decision, expect):
    """The differences from the expectation of the row, as texts."""
    if decision is None or expect["status"] != 200:
        return [] if decision is None and expect["status"] == 400 else ["another status"]
    wrong = [f"{name} {getattr(decision, name)}" for name in ("allowed", "code", "outcome")
             if name in expect and getattr(decision, name) != expect[name]]
    if expect.get("warnings") and not decision.warns:
        wrong.append("no warning")
    for name, text in expect.get("audit", {}).items():
        if decision.annotations.get(name) != text:
            wrong.append(f"{name} {decision.annotations.get(name)}")
    for name, parts in expect.get("audit_has", {}).items():
        wrong += [f"{name} without {part}" for part in parts
                  if part not in decision.annotations.get(name, "")]
    return wrong + check_boundary(decision, expect) + check_findings(decision, expect) \
        + check_replay(decision)


def check_replay(decision):
    """Check that planning the recorded input gives the recorded packet."""
    if decision.packet is None:
        return []
    packet = json.loads(decision.packet)
    provenance = packet["hardening_profile"]["source_evidence"]["provenance"]
    return [] if plan_tree(decision.input, provenance) == packet else ["replay differs"]


def judge_signature(folder, row):
    """(result, key ids) of a signature row."""
    try:
        keyring = load_keyring(folder / row["keyring"])
        manifest = yaml.safe_load((folder / row["input"]).read_text())
        document = Document(manifest, keyring, DEFAULTS)
    except Refused:
        return "keyring-refused", None
    if document.state == "valid":
        return "valid", sorted(document.keys)
    return "invalid", None


def check_signature(folder, row):
    result, keys = judge_signature(folder, row)
    wanted = row.get("expect_any") or [row["expect"]]
    if any(result == one["result"] and keys == one.get("key_ids") for one in wanted):
        return []
    return [f"{result} {keys}"]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    rows = json.loads((folder / "index.json").read_text())
    failed = []
    for row in rows:
        wrong = []
        if row["how"] == "review" and row["expect"]["status"] != 413:
            wrong = check_row(judge_row(folder, row), row["expect"])
        elif row["how"] == "signature":
            wrong = check_signature(folder, row)
        failed += [f"{row['input']} {row.get('config', '')}: {what}" for what in wrong]
    print(*failed, f"{len(rows)} rows, {len(failed)} wrong", sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
