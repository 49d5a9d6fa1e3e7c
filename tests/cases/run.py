#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the rows of index.json that the program answers without a server.

usage: run.py PROGRAM [PART-OF-AN-INPUT'S-PATH …]

Prints the differences, and exits with 1 if there are any. Other tests run the rows that need a
connection (`via: http`, `how` http, scenario, reflector, kubeconfig). README.md describes the rows.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HOWS = ("plan", "review", "manifest", "signature")


def run(program, *arguments):
    """(exit status, standard output, standard error) of the program, run in the directory of the cases."""
    done = subprocess.run([program, *map(str, arguments)], cwd=HERE, capture_output=True,
                          timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace")


def make_input(row, folder):
    """The path of the input of a row. If it is a program, it is run first."""
    if "arguments" not in row:
        return row["input"]
    out = os.path.join(folder, "made.json")
    arguments = [out if argument == "OUT" else argument for argument in row["arguments"]]
    subprocess.run([sys.executable, "-B", HERE / row["input"], *arguments], check=True,
                   stdout=subprocess.DEVNULL, cwd=HERE)
    return out


def differences(wanted, got, names):
    return [f"{name}: {got.get(name)!r}, not {wanted[name]!r}" for name in names
            if name in wanted and wanted[name] != got.get(name)]


def check_exit(wanted, status):
    return [] if wanted == status else [f"exit {status}, not {wanted}"]


def check_plan(program, row, path):
    status, out, err = run(program, "plan", "--output", "json", path)

    def judge(expect):
        wrong = check_exit(expect["exit"], status)
        if expect["exit"] == 2:
            return wrong + ([] if expect.get("stderr", "") in err else [f"stderr {err!r}"]) + \
                ([] if out == b"" else ["a packet all the same"])
        if wrong:
            return wrong
        packet = json.loads(out)["hardening_profile"]
        findings = packet["validation"]["findings"]
        got = {"decision": packet["decision"], "findings": findings,
               "codes": [finding["code"] for finding in findings],
               "source_ref": packet["source_evidence"]["source_ref"]}
        wrong += differences(expect, got, got)
        wrong += differences(expect.get("declaration", {}), packet["declaration"],
                             expect.get("declaration", {}))
        return wrong + [f"holds {text!r}" for text in expect.get("absent", [])
                        if text.encode() in out]
    return judge


def world_arguments(row):
    arguments = ["--config", row["config"], "--as-of", row["as_of"]]
    for name in ("evidence", "keyring"):
        if name in row:
            arguments += [f"--{name}", row[name]]
    return arguments


def check_places(expect, findings):
    wrong = []
    for place in expect.get("places", []):
        start = f"sandbox.runx.dev/requirements:{place.get('line')}:"
        if not any(finding["code"] == place["code"] and
                   (finding.get("place") == place["place"] if "place" in place
                    else finding.get("place", "").startswith(start)) for finding in findings):
            wrong.append(f"no {place} among {findings}")
    return wrong


def check_boundary(expect, response, audit, findings):
    """The exact annotation `boundary`, all findings of the gate in order, and how many warnings."""
    got = {"gate_findings": [{"code": finding["code"], "place": finding.get("place", "")}
                             for finding in findings],
           "warning_count": len(response.get("warnings") or [])}
    wrong = differences(expect, got, got)
    if "boundary" in expect:
        wanted = expect["boundary"] and json.dumps(expect["boundary"], ensure_ascii=False,
                                                   separators=(",", ":"))
        wrong += differences({"boundary": wanted}, audit, ["boundary"])
    return wrong


def check_answer(expect, response, audit):
    findings = json.loads(audit.get("findings", "[]"))
    packet = json.loads(audit["packet"])["hardening_profile"] if "packet" in audit else None
    codes = {finding["code"] for finding in findings}
    if packet is not None:
        codes |= {finding["code"] for finding in packet["validation"]["findings"]}
    status = response.get("status", {})
    got = {"allowed": response["allowed"], "code": status.get("code"),
           "outcome": audit.get("outcome"), "uid": response["uid"]}
    wrong = differences(expect, got, got)
    wrong += [f"no {code}" for code in expect.get("codes", []) if code not in codes]
    wrong += [f"has {code}" for code in expect.get("not_codes", []) if code in codes]
    wrong += check_places(expect, findings)
    wrong += differences(expect.get("audit", {}), audit, expect.get("audit", {}))
    wrong += [f"{name} without {part!r}" for name, parts in expect.get("audit_has", {}).items()
              for part in parts if part not in audit.get(name, "")]
    wrong += check_boundary(expect, response, audit, findings)
    if expect.get("warnings") and not response.get("warnings"):
        wrong.append("no warning")
    return wrong + [f"the message holds {text!r}" for text in expect.get("message_absent", [])
                    if text in status.get("message", "")]


def check_review(program, row, path):
    status, out, err = run(program, "check", "-f", path, *world_arguments(row), "--output",
                           "review")

    def judge(expect):
        try:
            body = json.loads(out)
        except ValueError:
            return [f"exit {status}, no JSON: {out[:200]!r} {err!r}"]
        if expect["status"] != 200:
            return check_exit(2, status) + differences(
                {"kind": "Status", "code": expect["status"]}, body, ("kind", "code"))
        if body["kind"] != "AdmissionReview":
            return [f"exit {status}: {body}"]
        response = body["response"]
        wrong = check_exit(0 if expect["allowed"] else 1, status)
        wrong += [f"holds {text!r}" for text in expect.get("absent", []) if text.encode() in out]
        if "arguments" not in row:
            wanted = json.loads((HERE / path).read_bytes().decode("utf-8", "replace"))
            if response["uid"] != wanted["request"]["uid"]:
                wrong.append("another uid")
        return wrong + check_answer(expect, response, response.get("auditAnnotations", {}))
    return judge


def check_manifest(program, row, path):
    status, out, err = run(program, "check", "-f", path, *world_arguments(row), "--output", "json")

    def judge(expect):
        wrong = check_exit(expect["exit"], status)
        if expect.get("stderr", "") not in err:
            wrong.append(f"stderr {err!r}")
        if wrong or "results" not in expect:
            return wrong
        results = json.loads(out)
        for wanted in expect["results"]:
            got = next((result for result in results if result["name"] == wanted["name"]), None)
            if got is None:
                wrong.append(f"no {wanted['name']}")
                continue
            codes = {finding["code"] for finding in got["findings"]}
            if got["packet"] is not None:
                packet = got["packet"]["hardening_profile"]
                codes |= {finding["code"] for finding in packet["validation"]["findings"]}
            wrong += differences(wanted, got, ("allowed", "outcome"))
            wrong += [f"no {code}" for code in wanted.get("codes", []) if code not in codes]
            wrong += [f"has {code}" for code in wanted.get("not_codes", []) if code in codes]
        return wrong
    return judge


def check_signature(program, row, path):
    status, out, err = run(program, "verify", "--keyring", row["keyring"], "--output", "json",
                           path)

    def judge(expect):
        wrong = check_exit(expect["exit"], status)
        if wrong or expect["exit"] == 2:
            return wrong + ([] if err.startswith("sandgate: ") else [f"stderr {err!r}"])
        result = json.loads(out)[0]
        got = {"result": "valid" if result["valid"] else "invalid",
               "key_ids": result["keys"]}
        return differences(expect, got, got)
    return judge


CHECKS = {"plan": check_plan, "review": check_review, "manifest": check_manifest,
          "signature": check_signature}


def check_row(program, row):
    """The differences, as texts. Of several expected answers, one must match."""
    with tempfile.TemporaryDirectory() as folder:
        judge = CHECKS[row["how"]](program, row, make_input(row, folder))
        results = [judge(expect) for expect in row.get("expect_any") or [row["expect"]]]
        return [] if [] in results else results[0]


def main():
    program = os.path.abspath(sys.argv[1])
    parts = sys.argv[2:]
    rows = [row for row in json.loads((HERE / "index.json").read_text("utf-8"))
            if row["how"] in HOWS and row.get("via") != "http"
            and (not parts or any(part in row["input"] for part in parts))]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for row, found in zip(rows, pool.map(lambda row: check_row(program, row), rows)):
            if found:
                wrong += 1
                print(f"{row['how']} {row['input']} {' '.join(row.get('arguments', []))} "
                      f"{row.get('config', row.get('keyring', ''))}: {'; '.join(found)}")
    print(f"{len(rows)} rows, {wrong} wrong")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
