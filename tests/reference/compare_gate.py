#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the program's gate with the reference on random worlds.

usage: compare_gate.py --program build/sandgate [--boundary] [--worlds N] [--reviews N] [--seed S] [--keep DIR]

Each world is a directory (evidence/, keyring/, gate.yaml, review-N.json). The program decides its
reviews with `sandgate check -f … --config gate.yaml --as-of T --output review`. A difference names
the directory, which is kept with --keep. With --boundary, worlds and pods are those of
generate_boundary.py, and the end is a table of its codes, of which each must have been reached.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from boundary import CODES, MAX_ANNOTATION_BYTES
from check_gate_cases import read_review
from evidence import load_world
from gate import MAX_ALL_BYTES, MAX_FINDINGS_BYTES, MAX_WARNINGS, BadRequest, decide
from generate_boundary import HIDDEN, BoundaryReviewMaker, BoundaryWorldMaker
from generate_review import ReviewMaker
from generate_world import NOW, Keys, WorldMaker
from moment import read_moment
from planner import audit_size, normalise_path, plan
from reader import Unreadable, trim

MAX_SHOWN = 30
ENTRY_BYTES = 600  # bytes of a finding without its place, which is in the message too
UNCLEAN = re.compile("[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]")
EXACT = ("outcome", "packet", "packet-sha256", "packet-truncated", "boundary", "evidence", "exemption", "violations",
         "subject", "error")


def run_program(program, folder, names):
    """The responses and the errors of the program."""
    arguments = [argument for name in names for argument in ("-f", name)]
    done = subprocess.run([str(pathlib.Path(program).resolve()), "check", *arguments, "--config", "gate.yaml", "--as-of", NOW,
                           "--output", "review"], cwd=folder, capture_output=True, check=False)
    answers, text, decoder = [], done.stdout.decode(), json.JSONDecoder()
    while text := text.lstrip("\n -"):
        answer, end = decoder.raw_decode(text)
        answers += answer if isinstance(answer, list) else [answer]
        text = text[end:]
    errors = done.stderr.decode()
    if done.returncode not in (0, 1, 2) or "Sanitizer" in errors:
        sys.exit(f"{folder}: status {done.returncode}: {errors[-3000:]}")
    return [answer["response"] for answer in answers if answer["kind"] != "Status"], errors


def without_nulls(tree):
    """The tree without nulls, which count as absent."""
    if not isinstance(tree, dict):
        return tree
    return {name: without_nulls(value) for name, value in tree.items() if value is not None}


def plain_input(tree):
    """The planner's input in a normal form for what the contract leaves open: nulls, and texts of merged baselines."""
    tree = without_nulls(tree)
    baseline = tree.get("baseline")
    for name in ("allowed_writable_paths", "allowed_env") if isinstance(baseline, dict) else ():
        if isinstance(baseline.get(name), list):
            clean = normalise_path if name == "allowed_writable_paths" else str
            baseline[name] = sorted({clean(trim(item)) for item in baseline[name] if isinstance(item, str)})
    if not baseline:
        tree.pop("baseline", None)
    return tree


def may_miss_input(wanted, given):
    """Omitted by both, or by the program because its findings use the space."""
    if "input" in given:
        return False
    size = sum(map(audit_size, given.values())) + audit_size(wanted.get("input", ""))
    return "input" not in wanted or size > MAX_ALL_BYTES


def compare_input(wanted, given):
    """The input annotation: equal except for the order of keys, and planning it gives the packet."""
    if "input" not in wanted or "input" not in given:
        return [] if may_miss_input(wanted, given) else [("input", "input" in wanted, "input" in given)]
    one, other = (json.loads(annotations["input"]) for annotations in (wanted, given))
    wrong = []
    if plain_input(one) != plain_input(other):
        wrong.append(("input", plain_input(one), plain_input(other)))
    if "packet" in given and "packet-truncated" not in given:
        provenance = json.loads(given["packet"])["hardening_profile"]["source_evidence"]["provenance"]
        if plan(other, provenance) != given["packet"]:
            wrong.append(("replay", given["packet"], plan(other, provenance)))
    return wrong


def compare_findings(wanted, given):
    """Code and place of the gate's findings, up to the limit of 4 KiB."""
    entries = json.loads(given.get("findings", "[]"))
    other = sorted((entry["code"], entry.get("place", "")) for entry in entries)
    missing = set(wanted) - set(other)
    if missing and set(other) <= set(wanted):
        largest = ENTRY_BYTES + 2 * max(audit_size(place) for _, place in missing)
        if audit_size(given.get("findings", "")) + largest > MAX_FINDINGS_BYTES:
            return []
    return [] if sorted(wanted) == other else [("findings", sorted(wanted), other)]


def compare_boundary(decision, given):
    """Findings of the boundary stand behind those of the gate, in their own order."""
    wanted = [finding for finding in decision.findings if is_of_boundary(finding)]
    entries = [(entry["code"], entry.get("place", "")) for entry in json.loads(given.get("findings", "[]"))]
    others = [finding for finding in entries if not is_of_boundary(finding)]
    rest, left = entries[len(others):], iter(wanted)
    if all(map(is_of_boundary, rest)) and all(finding in left for finding in rest):
        return []
    return [("order of findings", wanted, entries)]


def is_of_boundary(finding):
    return finding[0].startswith("boundary.")


def compare_warnings(decision, response):
    """Each contradicted finding that does not deny is one warning, while there is room."""
    warnings, wrong = response.get("warnings") or [], []
    counts = collections.Counter(
        (code, place) for code, place in decision.contradictions for text in warnings
        if re.search(re.escape(code) + r"(?![a-z_.])", text) and place in text)
    for finding in decision.contradictions:
        if counts[finding] > 1 or counts[finding] < 1 and len(warnings) < MAX_WARNINGS:
            wrong.append(("warnings", finding, warnings))
    listed = [text for text in warnings if re.search(r"boundary\.[a-z]+\.[a-z]", text)]
    if len(listed) > len(decision.contradictions) + len(list(filter(is_of_boundary, decision.findings))):
        wrong.append(("warnings", decision.contradictions, warnings))
    return wrong


def check_bounds(response):
    """Section 7: sizes and characters of messages and audit annotations."""
    wrong = []
    if HIDDEN in json.dumps(response):
        wrong.append(("hidden value", "nowhere", response))
    if audit_size(response.get("auditAnnotations", {}).get("boundary", "")) > MAX_ANNOTATION_BYTES:
        wrong.append(("boundary", "6 KiB", "more"))
    message = response.get("status", {}).get("message", "")
    warnings = response.get("warnings") or []
    annotations = response.get("auditAnnotations", {})
    if len(message.encode()) > 2048 or UNCLEAN.search(message):
        wrong.append(("message", "2 KiB, clean", message))
    if len(warnings) > 8 or any(len(text) > 256 or UNCLEAN.search(text) or "\n" in text for text in warnings):
        wrong.append(("warnings", "8 of 256 characters, clean", warnings))
    if warnings and not response["allowed"]:
        wrong.append(("warnings", "only when allowed", warnings))
    if sum(map(audit_size, annotations.values())) > MAX_ALL_BYTES or \
            audit_size(annotations.get("findings", "")) > MAX_FINDINGS_BYTES:
        wrong.append(("annotations", "32 KiB, findings 4 KiB", "more"))
    if not response["allowed"] and not message:
        wrong.append(("message", "there", ""))
    return wrong


def compare(decision, response):
    """The differences, as (name, reference, program)."""
    given = response.get("auditAnnotations", {})
    wanted = decision.annotations
    wrong = [(name, wanted.get(name), given.get(name)) for name in EXACT if wanted.get(name) != given.get(name)]
    if decision.allowed != response["allowed"]:
        wrong.append(("allowed", decision.allowed, response["allowed"]))
    code = response.get("status", {}).get("code") if not response["allowed"] else None
    if decision.code != code:
        wrong.append(("code", decision.code, code))
    if bool(decision.warns) != bool(response.get("warnings")):
        wrong.append(("warnings", decision.warns, response.get("warnings")))
    wrong += compare_input(wanted, given) + compare_findings(decision.findings, given)
    wrong += compare_boundary(decision, given) + compare_warnings(decision, response)
    return wrong + check_bounds(response)


class Tally:
    """Counts of differences, outcomes and codes, and the first directories with each difference."""

    def __init__(self):
        self.outcomes, self.kinds, self.examples = collections.Counter(), collections.Counter(), {}
        self.read, self.blocked = collections.Counter(), collections.Counter()
        self.counts, self.sizes = collections.Counter(), collections.Counter()

    def add_reading(self, decision):
        """Reviews in which each code of the boundary was found, and in which it blocked."""
        if decision.reading:
            self.read.update({code for code, _ in decision.reading.findings})
            self.blocked.update({code for code, _ in filter(is_of_boundary, decision.findings)})
            self.sizes[audit_size(decision.annotations["boundary"])] += 1
            self.counts["readings"] += 1
            self.counts["of templates"] += not decision.annotations["subject"].split("/")[1] == "Pod"
            self.counts["with findings left out"] += '"left_out"' in decision.annotations["boundary"]
            self.counts["with warnings"] += bool(decision.contradictions)
            self.counts["waived"] += decision.outcome == "exempt" and any(map(is_of_boundary, decision.findings))

    def show_readings(self):
        """The table of codes. Returns whether each was found."""
        for code in ("boundary." + code for code in CODES):
            print(f"{code:32} {self.read[code]:6} found {self.blocked[code]:6} blocked")
        near = {size: self.sizes[size] for size in range(MAX_ANNOTATION_BYTES - 2, MAX_ANNOTATION_BYTES + 1)}
        print(dict(self.counts), "sizes", near)
        missing = [code for code in CODES if not self.read["boundary." + code]]
        print(*(["never reached:"] + missing if missing else ["each code reached"]))
        return not missing

    def add(self, path, wrong):
        for what, reference, program in wrong:
            kind = (what, str(reference)[:40] if what in ("allowed", "outcome", "warnings") else "")
            self.kinds[kind] += 1
            self.examples.setdefault(kind, []).append((path, reference, program))

    def show(self):
        for (what, _), count in self.kinds.most_common(MAX_SHOWN):
            print(f"{what}: {count}")
            for path, reference, program in self.examples[what, _][:3]:
                print(f"  {path}\n    reference {str(reference)[:1500]}\n    program   {str(program)[:1500]}")
        print(dict(self.outcomes.most_common()))


def make_world(source, folder, keys, options):
    """Write a world and its reviews. Returns the names of the reviews."""
    world = (BoundaryWorldMaker if options.boundary else WorldMaker)(source, folder, keys)
    world.make()
    maker = (BoundaryReviewMaker if options.boundary else ReviewMaker)(source, world.workloads)
    names = []
    for place in range(options.reviews):
        names.append(f"review-{place}.json")
        text = json.dumps(maker.review(place), ensure_ascii=source.random() < 0.5)
        pathlib.Path(folder, names[-1]).write_text(text)
    return names


def judge_world(folder, names, tally):
    """{file name: Decision} of the reference; None for HTTP 400."""
    world, decisions = load_world(pathlib.Path(folder, "gate.yaml")), {}
    for name in names:
        try:
            decisions[name] = decide(read_review(pathlib.Path(folder, name)), world, read_moment(NOW))
            tally.outcomes[decisions[name].outcome] += 1
            tally.add_reading(decisions[name])
        except (BadRequest, Unreadable):
            decisions[name] = None
            tally.outcomes["400"] += 1
    return decisions


def compare_world(folder, names, options, tally):
    program, decisions = options.program, judge_world(folder, names, tally)
    if not program:
        return
    for name in [name for name, decision in decisions.items() if decision is None]:
        del decisions[name]
        responses, errors = run_program(program, folder, [name])
        if responses or not errors:
            tally.add(f"{folder}/{name}", [("400", "no answer", responses)])
    responses, errors = run_program(program, folder, list(decisions))
    by_uid = {response["uid"]: response for response in responses}
    for name, decision in decisions.items():
        path = f"{folder}/{name}"
        uid = json.loads(pathlib.Path(path).read_text())["request"]["uid"]
        if uid not in by_uid:
            tally.add(path, [("answer", decision.outcome, errors[:400])])
        else:
            tally.add(path, compare(decision, by_uid[uid]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program")
    parser.add_argument("--worlds", type=int, default=10)
    parser.add_argument("--reviews", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--boundary", action="store_true")
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(options.keep or temporary)
        keys = Keys(root / "keys")
        for place in range(options.worlds):
            folder = root / f"world-{options.seed + place}"
            names = make_world(random.Random(options.seed + place), folder, keys, options)
            compare_world(folder, names, options, tally)
    tally.show()
    complete = tally.show_readings() if options.boundary else True
    return 1 if tally.kinds or not complete else 0


if __name__ == "__main__":
    sys.exit(main())
