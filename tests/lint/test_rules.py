#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of rules.py: each rule reports a planted violation, and a clean tree gives no finding."""
import os
import tempfile
import unittest

import rules

CLEAN = {
    "planner/README.md": "One page.\n",
    "planner/a.h": "/* What it is for. */\nint a(void);\n",
    "planner/a.c": '#include "planner/a.h"\nint a(void)\n{\n    return 0;\n}\n',
}


def findings(licence=False, **changed):
    """The findings of rules.py in the clean tree with these files added or replaced. In a name, the first __ is a slash and
    the following ones are dots. Findings about a missing licence line are left out unless licence=True."""
    with tempfile.TemporaryDirectory() as root:
        tree = dict(CLEAN)
        for name, text in changed.items():
            folder, _, rest = name.partition("__")
            tree[f"{folder}/{rest.replace('__', '.')}" if rest else folder] = text
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        return [line for line in rules.check(root) if licence or not line.endswith(rules.LICENCE)]


class Rules(unittest.TestCase):
    def test_clean_tree_has_no_finding(self):
        self.assertEqual(findings(), [])

    def test_banned_call_is_found_and_a_reason_allows_it(self):
        self.assertEqual(findings(planner__b__c="void b(void) { strcpy(x, y); }\n"),
                         ["planner/b.c:1: strcpy(): writes without a bound: use buffer.h"])
        self.assertEqual(findings(planner__b__c="void b(void) { strcpy(x, y); } /* lint: allow tested elsewhere */\n"), [])

    def test_allow_without_a_reason_allows_nothing(self):
        self.assertEqual(len(findings(planner__b__c="void b(void) { strcpy(x, y); } /* lint: allow */\n")), 1)

    def test_banned_name_in_a_comment_or_literal_is_allowed(self):
        self.assertEqual(findings(planner__b__c='/* strcpy(x) */ const char *b = "strcpy(x)";\n'), [])

    def test_name_that_only_contains_a_banned_name_is_allowed(self):
        self.assertEqual(findings(planner__b__c="void b(void) { cJSON_GetObjectItemCaseSensitive(x); snprintf(y); }\n"), [])

    def test_clock_is_banned_in_the_planner_and_the_gate_only(self):
        source = "void b(void) { time(0); }\n"
        place = "time(): reads a clock in pure code"
        readme = {"webhook__README__md": "One page.\n"}
        self.assertEqual(findings(planner__b__c=source), [f"planner/b.c:1: {place}"])
        self.assertEqual(findings(**{"webhook__gate/images__c": source}, **readme), [f"webhook/gate/images.c:1: {place}"])
        self.assertEqual(findings(webhook__serve__c=source, **readme), [])

    def test_relative_include_is_found(self):
        self.assertEqual(findings(planner__b__c='#include "../planner/a.h"\n'),
                         ['planner/b.c:1: include as "folder/name.h", not ../planner/a.h'])

    def test_include_of_a_test_is_found(self):
        self.assertEqual(findings(planner__b__c='#include "tests/k8s/failing.h"\n'),
                         ["planner/b.c:1: the program must not include tests/k8s/failing.h"])

    def test_function_of_61_lines_is_found_and_one_of_60_is_not(self):
        def function(lines):
            return "int b(void)\n{\n" + "    a();\n" * (lines - 2) + "}\n"
        self.assertEqual(findings(planner__b__c=function(60)), [])
        self.assertEqual(findings(planner__b__c=function(61)), ["planner/b.c:2: b() has 61 lines; the limit is 60"])

    def test_file_of_501_lines_is_found_and_one_of_500_is_not(self):
        self.assertEqual(findings(planner__b__c="int b;\n" * 500), [])
        self.assertEqual(findings(planner__b__c="int b;\n" * 501), ["planner/b.c: has 501 lines; the limit is 500"])

    def test_header_without_a_comment_is_found(self):
        self.assertEqual(findings(planner__b__h="int b(void);\n"),
                         ["planner/b.h:1: a header must begin with a comment that says what it is for"])

    def test_label_inside_a_line_of_the_opening_comment_is_found(self):
        def header(*lines):
            return "/* " + rules.LICENCE + " */\n/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n"
        good = header("b - what it is for.", "", "Errors     0; -ENOMEM.", "Threads    one at", "           a time.", "Phases     two.",
                      "", "Units of Errors are not a label.")
        self.assertEqual(findings(planner__b__h=good), [])
        self.assertEqual(findings(planner__b__h=header("b - what it is for.", "Errors     0; -ENOMEM. Threads    one. Units  bytes.")),
                         ["planner/b.h:4: the label Threads must begin its line", "planner/b.h:4: the label Units must begin its line"])
        self.assertEqual(findings(planner__b__h=header("b - what it is for.", "Errors     0; -ENOMEM. Units", "are bytes.")),
                         ["planner/b.h:4: the label Units must begin its line",
                          "planner/b.h:5: must be indented, because it continues the text of a label"])
        self.assertEqual(findings(planner__b__h=good + "/* Errors     none. Threads    one. */\n"), [])

    def test_file_without_a_licence_is_found(self):
        lines = {"planner__b__c": "int b;\n", "planner__c__py": f"#!/usr/bin/env python3\n# {rules.LICENCE}\n"}
        self.assertEqual(findings(licence=True, **lines),
                         [f"planner/{name}:1: lacks the line {rules.LICENCE}" for name in ("a.c", "a.h", "b.c")])

    def test_banned_words_are_found(self):
        for word in ("TO" "DO", "#" "12", "/wo" "rk", "sha" "red/contract"):
            self.assertEqual(len(findings(planner__b__c=f"/* {word} */\n")), 1, word)

    def test_link_to_a_numbered_section_is_allowed(self):
        self.assertEqual(findings(planner__b__md="See [Input](#" "1-input).\n"), [])

    def test_new_name_at_the_top_level_is_found(self):
        self.assertEqual(findings(notes="x\n"), ["notes: is not allowed at the top level (TOP_LEVEL in tests/lint/rules.py)"])

    def test_directory_without_readme_is_found(self):
        self.assertEqual(findings(k8s__b__c="int b;\n"), ["k8s: has no README.md"])


if __name__ == "__main__":
    unittest.main()
