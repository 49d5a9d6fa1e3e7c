#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of a log cannot be read is counted by kind, shown with its first place, and never ends as an all-clear."""
import bz2
import gzip
import json
import lzma
import signal
import subprocess
import unittest

from logs import BARE, GOOD, answer, event, go_json, log
from program import PROGRAM, Case

DENIED = answer(BARE % "name: bare")
READY = answer(GOOD % "good")
FOREIGN = '{"some":"thing"}\n'
OTHER = go_json({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "annotations": {}}) + "\n"
OWN = ('{"time":"2026-03-01T12:00:00.000Z","level":"info","message":"serving"}\n'
       '{"time":"2026-03-01T12:00:00.000Z","level":"error","message":"lost","outcome":"timeout"}\n')
NOTHING = "nothing in it could be read as an audit event or a decision"


class Unread(Case):
    def of(self, command, status, text, *arguments, name="audit.log"):
        """The messages for a file with that text, with PATH in place of its path."""
        path = self.write(name, text)
        self.out = self.assert_run(status, command, *arguments, path)
        return self.err.replace(str(path), "PATH").replace("sandgate: ", "").splitlines()

    def test_a_file_of_which_nothing_can_be_read_ends_with_2(self):
        prefixed = "".join("? ! " + line + "\n" for line in log(event(DENIED), event(READY)).splitlines())
        rows = [(prefixed, "2 lines cannot be read, the first is PATH:1"),
                ("\n\n" + FOREIGN * 3, "3 lines that are neither audit events nor decisions, the first is PATH:3"),
                ("\n" + go_json(event(DENIED))[:900], "1 lines cannot be read, the first is PATH:2"),
                ("[" + go_json(event(DENIED))[:900], "1 lists or compressed files that end too early, the first is PATH:1"),
                ("x" * (17 << 20) + "\n", "1 lines longer than 16 MiB, skipped, the first is PATH:1"),
                (OWN, None)]
        for text, what in rows:
            wanted = [f"PATH: {NOTHING}"] + ([what] if what else [])
            self.assertEqual(self.of("review", 2, text, "--fail-on-denial"), wanted, text[:40])
            self.assertIn("0 denied, 0 violating", self.out)
            self.assertEqual(self.of("review", 2, text, "--max-unreadable", "100"), wanted, text[:40])
            self.assertEqual(self.of("replay", 2, text), wanted, text[:40])

    def test_a_file_without_text_or_with_an_empty_list_is_no_failure(self):
        for text in ("", "\n \n", '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]}\n', "[]", "\n[ ]\n",
                     "[\n]\n", gzip.compress(b"")):
            self.assertEqual(self.of("review", 0, text, "--fail-on-denial"), [], text)

    def test_a_list_after_an_empty_line_is_read(self):
        events = [json.loads(OTHER)] * 3
        for shape in (json.dumps(events), go_json({"kind": "EventList", "items": events}), json.dumps(events, indent=1)):
            self.assertEqual(self.of("review", 0, "\n\n" + shape), [], shape[:40])
            self.assertIn("; 0 decisions in 5 lines of 1 file", self.out)

    def test_beside_readable_lines_five_percent_are_permitted(self):
        for command in ("review", "replay"):
            good = [event(READY, audit_id=str(i)) for i in range(95)]
            what = "lines that are neither audit events nor decisions, the first is PATH:96"
            self.assertEqual(self.of(command, 0, log(*good) + FOREIGN * 5), ["5 " + what])
            self.assertEqual(self.of(command, 2, log(*good) + FOREIGN * 6),
                             ["PATH: 6 of 101 lines could not be read, more than 5 percent", "6 " + what])
            self.assertEqual(self.of(command, 2, log(*good) + "\n" * 50 + OWN * 50 + FOREIGN * 6)[0],
                             "PATH: 6 of 101 lines could not be read, more than 5 percent")

    def test_max_unreadable_sets_the_percentage(self):
        text = OTHER * 3 + log(event(READY)) + FOREIGN
        for command in ("review", "replay"):
            wanted = ["1 lines that are neither audit events nor decisions, the first is PATH:5"]
            self.assertEqual(self.of(command, 0, text, "--max-unreadable", "20"), wanted)
            self.assertEqual(self.of(command, 2, text, "--max-unreadable=19"),
                             ["PATH: 1 of 5 lines could not be read, more than 19 percent"] + wanted)
            self.assertEqual(self.of(command, 2, text, "--max-unreadable", "0")[0],
                             "PATH: 1 of 5 lines could not be read, more than 0 percent")
            for value in ("101", "-1", "5%", "", "x"):
                self.assertEqual(self.of(command, 2, text, f"--max-unreadable={value}"),
                                 [f"--max-unreadable must be a number from 0 to 100 (see `sandgate {command} --help`)"])

    def test_formats_that_are_not_read_are_named(self):
        text = log(event(DENIED))
        rows = [(b"\x28\xb5\x2f\xfd" + text.encode(), "compressed with zstd"), (lzma.compress(text.encode()), "compressed with xz"),
                (bz2.compress(text.encode()), "compressed with bzip2"), (b"PK\x03\x04" + text.encode(), "a zip archive"),
                (text.encode("utf-16"), "in UTF-16"), (b"\xfe\xff" + text.encode("utf-16-be"), "in UTF-16")]
        for data, what in rows:
            for command in ("review", "replay"):
                self.assertEqual(self.of(command, 2, data), [f"PATH: the file is {what}, which is not read: convert it first"])
        self.assert_run(0, "review", "-", stdin=b"BZ\n" + text.encode() * 40)

    def test_each_file_is_judged_by_itself(self):
        good = self.write("good.log", log(*(event(READY, audit_id=str(i)) for i in range(100))))
        bad, denied = self.write("bad.log", FOREIGN), self.write("denied.log", log(event(DENIED)))
        self.assert_run(2, "review", good, bad, denied, "--fail-on-denial")
        self.assertEqual(self.err, f"sandgate: {bad}: {NOTHING}\n"
                                   f"sandgate: 1 lines that are neither audit events nor decisions, the first is {bad}:1\n")
        self.assert_run(1, "review", good, denied, "--fail-on-denial")
        self.assert_run(2, "replay", good, bad)
        self.assert_run(0, "replay", good, denied)

    def test_every_kind_has_its_first_place_in_json(self):
        text = "".join((log(event(DENIED)), "\n", FOREIGN, "{\n", FOREIGN, "x" * (17 << 20), "\n", "torn\n",
                        "[" + go_json(event(READY))))
        path = self.write("audit.log", text)
        summary = json.loads(self.assert_run(2, "review", "-o", "json", path))["summary"]
        self.assertEqual({name: summary[name] for name in summary if name.startswith("first")},
                         {"firstBroken": f"{path}:4", "firstForeign": f"{path}:3", "firstTooLong": f"{path}:6",
                          "firstTorn": f"{path}:8"})
        self.assertEqual([summary[name] for name in ("broken", "foreign", "tooLong", "torn", "denied")], [2, 2, 1, 1, 1])
        summary = json.loads(self.assert_run(2, "replay", "-o", "json", path))["summary"]
        self.assertEqual([summary[name] for name in ("broken", "foreign", "tooLong", "torn", "same")], [2, 2, 1, 1, 2])
        self.assertIn(f"sandgate: 2 lines cannot be read, the first is {path}:4\n", self.err)

    def test_follow_reports_at_once_and_ends_with_2(self):
        path = self.write("audit.log", FOREIGN + "x\n")
        process = subprocess.Popen([PROGRAM, "review", "-f", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        wanted = [f"sandgate: {path}:1: neither an audit event nor a decision\n", f"sandgate: {path}:2: cannot be read\n"]
        self.assertEqual([process.stderr.readline().decode() for _ in wanted], wanted)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err.decode()), (
            2, f"sandgate: {path}: {NOTHING}\n"
               f"sandgate: 1 lines cannot be read, the first is {path}:2\n"
               f"sandgate: 1 lines that are neither audit events nor decisions, the first is {path}:1\n"))


if __name__ == "__main__":
    unittest.main()
