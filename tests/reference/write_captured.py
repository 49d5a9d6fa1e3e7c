#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write the expected answers for the captured reviews, by the reference gate.

usage: write_captured.py CAPTURED_DIR CONFIG MOMENT > expected.json

The output names the configuration and the time for which the answers are right.
"""

import json
import pathlib
import sys

from check_gate_cases import read_review
from evidence import load_world
from gate import decide
from moment import read_moment


def packet_codes(decision):
    if decision.packet is None:
        return []
    findings = json.loads(decision.packet)["hardening_profile"]["validation"]["findings"]
    return [finding["code"] for finding in findings]


def row(decision):
    """One answer, with the subject and the digest of the exact packet."""
    annotations = decision.annotations
    return {
        "allowed": decision.allowed,
        "outcome": decision.outcome,
        "codes": packet_codes(decision) + sorted({code for code, _ in decision.findings}),
        "places": sorted(place for _, place in decision.findings if place),
        "warnings": decision.warns,
        "subject": annotations["subject"],
        "packet-sha256": annotations.get("packet-sha256", ""),
    }


def main():
    folder, config, moment = sys.argv[1:4]
    world, now = load_world(config), read_moment(moment)
    rows = {path.name: row(decide(read_review(path), world, now))
            for path in sorted(pathlib.Path(folder).glob("[0-9]*.json"))}
    json.dump({"config": pathlib.Path(config).name, "as_of": moment, "reviews": rows},
              sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
