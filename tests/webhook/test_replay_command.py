#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sandgate replay` plans recorded inputs again."""
import hashlib
import json
import unittest

from logs import BARE, GOOD, answer, changed, event, log
from program import TESTS, Case, run_on_terminal

RECORDS = TESTS / "webhook" / "records.jsonl"
DENIED = answer(BARE % "name: bare")
READY = answer(GOOD % "good")


def digest(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class Replay(Case):
    def replay(self, status, *events, text=None):
        path = self.write("audit.log", log(*events) if text is None else text)
        return self.assert_run(status, "replay", path)

    def test_unchanged_logs_of_both_kinds_are_the_same(self):
        self.assertEqual(self.replay(0, text=RECORDS.read_text()), "9 same, 0 differ, 5 without a plan\n")
        self.assertEqual(self.replay(0, event(DENIED), event(READY)), "2 same, 0 differ\n")

    def test_changed_packet_is_shown_with_its_first_difference(self):
        packet = READY["auditAnnotations"]["packet"]
        other = packet.replace('"network":false', '"network":true')
        self.assertNotEqual(packet, other)
        out = self.replay(1, event(changed(READY, packet=other, packet_sha256=digest(other))))
        self.assertEqual(out, f"""\
{self.folder}/audit.log:1: payments/Pod/good: differs at hardening_profile.declaration.network  \
2026-03-01T12:00:01.250000Z
  @@ -16,5 +16,5 @@
           "REPORT_LOCALE"
         ],
  -      "network": true,
  +      "network": false,
         "writable_paths": [
           "tmp/results"
0 same, 1 differ
""")

    def test_only_a_changed_digest_differs(self):
        out = self.replay(1, event(changed(READY, packet_sha256="sha256:" + "0" * 64)))
        self.assertIn(": differs at packet-sha256  ", out)
        self.assertIn("  recorded sha256:" + "0" * 64 + "\n  replayed " + READY["auditAnnotations"]["packet-sha256"],
                      out)

    def test_changed_outcome_differs(self):
        for response, outcome in ((DENIED, "ready"), (DENIED, "blocked"), (READY, "refused")):
            out = self.replay(1, event(changed(response, outcome=outcome)))
            self.assertIn(": differs at outcome  ", out)
            self.assertIn(f"\n  -outcome: {outcome}\n  +decision: ", out)
            self.assertIn("\n0 same, 1 differ\n", out)
        for outcome in ("blocked", "exempt", "unchanged"):
            self.replay(0, event(changed(READY, outcome=outcome)))

    def test_changed_input_differs(self):
        planned = READY["auditAnnotations"]["input"].replace("tmp/results", "/etc")
        out = self.replay(1, event(changed(READY, input=planned)))
        self.assertIn("differs at hardening_profile.decision", out)
        self.assertIn('\n  -    "decision": "ready",\n  +    "decision": "refused",\n', out)

    def test_without_input_nothing_is_compared(self):
        self.assertEqual(self.replay(0, event(READY), event(changed(DENIED, input=None))),
                         "1 same, 0 differ, 1 without input: not compared\n")
        self.replay(2, event(changed(DENIED, input=None)))
        self.assertEqual(self.err, "sandgate: nothing to replay: no decision has an input\n")

    def test_without_a_packet_the_digest_is_compared(self):
        self.assertEqual(self.replay(0, event(changed(READY, packet=None))), "1 same, 0 differ\n")

    def test_json_counts_and_names_the_differences(self):
        path = self.write("audit.log", log(event(READY), event(changed(READY, packet_sha256="sha256:" + "0" * 64),
                                                               audit_id="x")))
        tree = json.loads(self.assert_run(1, "replay", "-o", "json", path))
        self.assertEqual(tree["summary"], {"same": 1, "sameCut": 0, "differs": 1, "noInput": 0, "noPlan": 0,
                                           "broken": 0, "torn": 0, "tooLong": 0, "foreign": 0})
        self.assertEqual(tree["differences"], [{
            "source": f"{path}:2", "object": "payments/Pod/good", "time": "2026-03-01T12:00:01.250000Z", "id": "x",
            "where": "packet-sha256", "recordedSha256": "sha256:" + "0" * 64,
            "againSha256": READY["auditAnnotations"]["packet-sha256"], "diff": ""}])

    def test_output_has_no_control_characters(self):
        evil = "\033[2J\u202e"
        packet = READY["auditAnnotations"]["packet"].replace("batch", evil.replace("\033", "\\u001b"))
        out = self.replay(1, event(changed(READY, packet=packet + " ", subject=f"payments/Pod/{evil}")))
        self.assertIn("payments/Pod/\\u{1b}[2J\\u{202e}", out)
        self.assertNotIn("\033", out)
        self.assertNotIn("\u202e", out)
        status, shown = run_on_terminal("replay", self.folder / "audit.log", NO_COLOR="")
        self.assertEqual(status, 1)
        self.assertIn("\033[31mdiffers\033[0m", shown)

    def test_unreadable_files_are_reported(self):
        path = self.write("audit.log", log(event(READY)) + "torn")
        self.assert_run(2, "replay", self.folder / "none", path)
        self.assertEqual(self.err, f"sandgate: {self.folder}/none: No such file or directory\n"
                                   f"sandgate: {path}: 1 of 2 lines could not be read, more than 5 percent\n"
                                   f"sandgate: 1 lines cannot be read, the first is {path}:2\n")
        self.assert_run(2, "replay")


if __name__ == "__main__":
    unittest.main()
