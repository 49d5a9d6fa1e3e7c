#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Values with which the gate could never admit anything are refused by a sentence. Needs no cluster; HELM as in chart.py."""
import json
import unittest

from chart import CHART, KEY, NAMESPACE, helm
from test_templates import CA, SMALLEST, made, merged

OTHER = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"
TWO = {"keyring": {"keys": {"release-2026": KEY, "second": OTHER}}}
NO_DOCUMENT = "no document of the kind could be valid; two ids with the same key count once; add keys or lower the threshold"


def refusal(more, base=None, namespace=NAMESPACE):
    """The sentences of the chart, or an empty list if it accepts the values."""
    values = merged(SMALLEST if base is None else base, more)
    status, _, error = helm("template", "sandgate", CHART, "--namespace", namespace, "--values", "-", stdin=json.dumps(values))
    if status == 0:
        return []
    lines = [line[2:] for line in error.split("\n") if line.startswith("- ")]
    return lines or [error]


class Case(unittest.TestCase):
    maxDiff = None

    def assert_refused(self, more, *sentences, base=None):
        with self.subTest(more=more):
            self.assertEqual(refusal(more, base), list(sentences))


class Thresholds(Case):
    def test_more_than_the_number_of_keys(self):
        too_few = ("config.keyring.threshold is {}, but keyring.keys has only {}: no document could be valid, and every judged pod "
                   "would be denied; two ids with the same key count once; add keys or lower the threshold")
        two = {"config": {"keyring": {"threshold": 2}}}
        self.assert_refused(two, too_few.format(2, 1))
        self.assert_refused(merged(two, TWO))
        self.assert_refused(merged(TWO, {"config": {"keyring": {"threshold": 3}}}), too_few.format(3, 2))
        # the same key under two ids, once with other line ends
        self.assert_refused(merged(two, {"keyring": {"keys": {"again": KEY.replace("\n", "\r\n")}}}), too_few.format(2, 1))
        # the keys in a ConfigMap are not known
        self.assert_refused(merged(two, {"keyring": {"existingConfigMap": "mine"}}), base={})

    def test_more_than_the_keys_of_a_kind(self):
        def kinds(**signers):
            return {"config": {"keyring": {"kinds": signers}}}

        for kind in ("SandboxRequirements", "SandboxBaseline", "SandboxExemption"):
            self.assert_refused(kinds(**{kind: {"threshold": 2}}),
                                f"config.keyring.kinds.{kind}.threshold is 2, but keyring.keys has only 1: {NO_DOCUMENT}")
            self.assert_refused(merged(TWO, kinds(**{kind: {"threshold": 2, "keys": ["second"]}})),
                                f"config.keyring.kinds.{kind} needs 2 signatures, but has only 1 keys: {NO_DOCUMENT}")
            # also with keys that the chart does not know, and with one id twice
            self.assert_refused(merged(kinds(**{kind: {"threshold": 2, "keys": ["a", "a"]}}), {"keyring": {"existingConfigMap": "x"}}),
                                f"config.keyring.kinds.{kind} needs 2 signatures, but has only 1 keys: {NO_DOCUMENT}", base={})
            self.assert_refused(merged(TWO, kinds(**{kind: {"threshold": 2}})))
            self.assert_refused(kinds(**{kind: {"keys": ["release-2026"]}}))
        inherited = merged(TWO, {"config": {"keyring": {"threshold": 2, "kinds": {"SandboxBaseline": {"keys": ["second"]}}}}})
        self.assert_refused(inherited, f"config.keyring.kinds.SandboxBaseline needs 2 signatures, but has only 1 keys: {NO_DOCUMENT}")

    def test_no_key_for_a_kind(self):
        none = f"config.keyring.kinds.{{}} needs 1 signatures, but has only 0 keys: {NO_DOCUMENT}"

        def kinds(kind, **more):
            return {"config": {"keyring": {"kinds": {kind: {"keys": []}}}, **more}}

        self.assert_refused(kinds("SandboxRequirements"), none.format("SandboxRequirements"))
        self.assert_refused(kinds("SandboxBaseline", evidence={"minBaselines": 1}), none.format("SandboxBaseline"))
        self.assert_refused(kinds("SandboxBaseline"))
        self.assert_refused(kinds("SandboxExemption"))

    def test_a_document_without_enough_signatures(self):
        def values(*ids, kind="SandboxBaseline", **keyring):
            return {"evidence": {"documents": {"x": {"document": f"kind: {kind}\n", "signatures": {id: "AAAA" for id in ids}}}},
                    "config": {"keyring": keyring}}

        text = ("evidence.documents.x has signatures of {} different keys that count for a SandboxBaseline, but {} are needed: it would "
                "never be valid; add signatures, or their keys to keyring.keys")
        self.assert_refused(values("release-2026"))
        self.assert_refused(values("unknown"), text.format(0, 1))
        self.assert_refused(merged(TWO, values("second", threshold=2)), text.format(1, 2))
        self.assert_refused(merged(TWO, values("second", "release-2026", threshold=2)))
        self.assert_refused(merged(TWO, values("second", kinds={"SandboxBaseline": {"keys": ["release-2026"]}})), text.format(0, 1))
        self.assert_refused(merged(values("unknown"), {"keyring": {"existingConfigMap": "mine"}}), base={})


class Reach(Case):
    SECRET = {"tls": {"mode": "secret", "secret": {"name": "s"}}, "webhook": {"caBundle": CA}}

    def test_no_way_to_the_api_server(self):
        sentence = ("networkPolicy.egress is an empty list, so the gate could not reach the API server and would never be ready: "
                    "allow the API server, or set null for no limit")
        closed = {"networkPolicy": {"egress": []}}
        self.assert_refused(closed, sentence)
        directory = {"evidence": {"source": "directory", "directory": "/e"}}
        self.assert_refused(merged(closed, directory), sentence)
        for more in (merged(directory, self.SECRET), {"hostNetwork": True}, {"networkPolicy": {"enabled": False}},
                     {"networkPolicy": {"egress": [{}]}}):
            self.assert_refused(merged(closed, more))

    def test_a_body_smaller_than_any_review(self):
        sentence = "config.limits.maxBodyBytes is less than 16384: reviews of ordinary pods are larger, and all of them would be refused"
        self.assert_refused({"config": {"limits": {"maxBodyBytes": 16383}}}, sentence)
        self.assert_refused({"config": {"limits": {"maxBodyBytes": 16384}}})

    def test_a_quota_without_room_for_an_update(self):
        sentence = "resourceQuota.pods must be more than replicaCount: an update starts a new gate before it stops an old one"
        self.assert_refused({"resourceQuota": {"pods": 2}}, sentence)
        self.assert_refused({"resourceQuota": {"pods": 3}})
        self.assert_refused({"resourceQuota": {"pods": 1}, "priorityClassName": "high"})

    def test_a_gate_outside_of_the_cluster_has_its_own_configuration(self):
        made({"webhook": {"url": "https://g.example/v", "caBundle": CA}, "config": {"keyring": {"threshold": 9}}}, base={})


if __name__ == "__main__":
    unittest.main()
