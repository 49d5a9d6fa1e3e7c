#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each value of values.yaml replaced by null or by a value of another type: the chart renders, or refuses it by a sentence of the
chart or of the schema, never by the trace of a template. Needs no cluster; HELM as in chart.py."""
import concurrent.futures
import json
import unittest

import yaml

from chart import CHART, KEY, NAMESPACE, helm
from test_templates import merged

TREE = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
# every optional object, so that each value is used
BASES = [
    {"keyring": {"keys": {"release-2026": KEY}}, "metrics": {"enabled": True, "serviceMonitor": {"enabled": True},
                                                            "prometheusRule": {"enabled": True}, "dashboard": {"enabled": True}}},
    {"keyring": {"keys": {"release-2026": KEY}}, "metrics": {"enabled": True, "podMonitor": {"enabled": True}},
     "tls": {"mode": "certManager"}},
]
TRACES = ("nil pointer", "wrong type for value", "error calling", "can't evaluate", "YAML parse error", "error converting YAML",
          "interface conversion")
PARALLEL = 2


def paths(tree, above=()):
    """Every value and section, as a tuple of keys."""
    for key, value in tree.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from paths(value, (*above, key))


def default(path):
    value = TREE
    for key in path:
        value = value[key]
    return value


def nested(path, value):
    for key in reversed(path):
        value = {key: value}
    return value


def rendered(values):
    return helm("template", "sandgate", CHART, "--namespace", NAMESPACE, "--values", "-", stdin=json.dumps(values))


def base_of(path):
    return BASES[1] if path[:2] in (("tls", "certManager"), ("metrics", "podMonitor")) else BASES[0]


class Mutations(unittest.TestCase):
    def each(self, value_for):
        """(path, status, output, error) of every value replaced by value_for(path)."""
        def one(path):
            base = merged(base_of(path), {})
            return (path, *rendered(merged(base, nested(path, value_for(path)))))
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            yield from pool.map(one, list(paths(TREE)))

    def assert_sentence(self, path, status, error):
        if status == 0:
            return
        own = "These values contradict each other" in error or "don't meet the specifications of the schema" in error
        self.assertTrue(own, f"{path}: {error}")
        for trace in TRACES:
            self.assertNotIn(trace, error, path)

    def test_null(self):
        """Null is the same as the default if that is empty; otherwise it is refused, or leaves a free map or list out
        (`resources.limits: null` is no limit)."""
        plain = [rendered(base)[1] for base in BASES]
        for path, status, text, error in self.each(lambda path: None):
            with self.subTest(path=".".join(path)):
                self.assert_sentence(path, status, error)
                self.assertNotIn("<nil>", text)
                if status == 0 and default(path) in ("", [], {}, None) and path != ("resources", "limits"):
                    self.assertEqual(text, plain[BASES.index(base_of(path))])

    def test_another_type(self):
        for path, status, _, error in self.each(lambda path: "text" if isinstance(default(path), dict) else {"a": {"b": 1}}):
            with self.subTest(path=".".join(path)):
                self.assert_sentence(path, status, error)

    def test_sections_are_refused_by_name(self):
        for path in (("tls",), ("keyring",), ("config", "limits"), ("metrics", "podMonitor"), ("tls", "mode")):
            with self.subTest(path=".".join(path)):
                status, _, error = rendered(merged(BASES[0], nested(path, None)))
                self.assertEqual(status, 1)
                self.assertIn(f"at '{'/' + '/'.join(path[:-1]) if path[:-1] else ''}': missing property '{path[-1]}'", error)


if __name__ == "__main__":
    unittest.main()
