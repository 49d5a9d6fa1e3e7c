#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of lint.py: each rule reports a violation, and the chart itself has none."""
import unittest

import lint
import values
import yaml

SCHEMA = {"additionalProperties": False, "properties": {"a": {"additionalProperties": False, "properties": {"b": {}}}}}


def comments(text):
    return list(lint.check_comments(text, yaml.safe_load(text)))


class Rules(unittest.TestCase):
    def test_the_chart_is_clean(self):
        self.assertEqual(list(lint.check()), [])

    def test_comments(self):
        self.assertEqual(comments("# a is it.\na: 1\nb: 2\n"), ["values.yaml: b has no comment"])
        self.assertEqual(comments("# The name.\na: 1\n"), ["values.yaml: the comment of a does not begin with a"])
        self.assertEqual(comments("# a is " + "x" * 400 + "\na: 1\n"),
                         ["values.yaml: the comment of a has 405 characters; the limit is 400"])
        self.assertEqual(comments("# a covers all.\na:\n  b: 1\n"), [])

    def test_missing_and_superfluous_schema_entries(self):
        self.assertEqual(list(lint.check_schema(SCHEMA, SCHEMA, {"a": {"b": 1, "c": 2}, "d": 3})),
                         ["values.schema.json: a.c is missing", "values.schema.json: d is missing"])
        self.assertEqual(list(lint.check_schema(SCHEMA, SCHEMA, {"b": {}})),
                         ["values.schema.json: a is not in values.yaml", "values.schema.json: b is missing"])

    def test_values_that_null_would_remove(self):
        self.assertEqual(list(lint.check_required(SCHEMA, SCHEMA, {"a": {"b": 1}})),
                         ["values.schema.json: a must be required", "values.schema.json: a.b must be required"])
        self.assertEqual(list(lint.check_required({**SCHEMA, "required": ["a"]}, {**SCHEMA, "required": ["a"]}, {"a": {"b": ""}})), [])

    def test_schema_is_strict(self):
        self.assertEqual(list(lint.check_strict(SCHEMA)), [])
        self.assertEqual(list(lint.check_strict({"additionalProperties": False, "properties": {"a": {"properties": {}}}})),
                         ["values.schema.json/properties/a: additionalProperties must be false"])

    def test_metrics(self):
        known = lint.metric_names()
        self.assertIn("sandgate_review_duration_seconds_bucket", known)
        self.assertEqual(list(lint.check_metrics("x", "sandgate_ready sandgate_made_up_total", known)),
                         ["x: there is no metric sandgate_made_up_total in webhook/metrics/*.c"])

    def test_alerts(self):
        whole = {key: "x" for key in ("alert", "expr", "for", "severity", "summary", "description", "action")}
        self.assertEqual(list(lint.check_alerts(yaml.safe_dump({"alerts": [whole, {**whole, "action": ""}]}))),
                         ["files/alerts.yaml: x has no action", "files/alerts.yaml: x is defined twice"])

    def test_versions(self):
        self.assertEqual(len(list(lint.check_versions({"version": "0", "appVersion": "0"}))), 2)

    def test_rows(self):
        text = "# ## One, more\n# a is\n# it.\na:\n  # b is that.\n  b: []\n"
        self.assertEqual(values.rows(text), [("One, more", "a", "a is it.", {"b": []}), ("One, more", "a.b", "b is that.", [])])


if __name__ == "__main__":
    unittest.main()
