#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the answer to one review (on standard input) as kubectl would show it.

Usage: show.py WEBHOOK    the name that kubectl prints; exits with 0 if allowed, 1 if denied, 2 if the input is not an answer
"""
import json
import sys


def main():
    answer = json.load(sys.stdin)
    response = answer.get("response")
    if response is None:
        print("no answer:", answer.get("message", answer))
        return 2
    notes = response.get("auditAnnotations", {})
    if response["allowed"]:
        print("pod/report created")
        for warning in response.get("warnings", []):
            print("Warning:", warning)
    else:
        print(f'Error from server ({response["status"]["reason"]}): error when creating "pod.yaml": '
              f'admission webhook "{sys.argv[1]}" denied the request: {response["status"]["message"]}')
    print()
    for key in ("outcome", "subject", "evidence", "packet-sha256"):
        if key in notes:
            print(f"  audit annotation {key}: {notes[key]}")
    return 0 if response["allowed"] else 1


if __name__ == "__main__":
    sys.exit(main())
