# SPDX-License-Identifier: Apache-2.0
"""NetworkPolicies of a cluster source (boundary-v1, section 6)."""

import errno
import time
import unittest

from api_server import forget_certificates
from cluster_server import OWN, Api, Gate, namespace, network_policy, refusal, status

ROOT = "/apis/networking.k8s.io/v1/"
EGRESS = {"policyTypes": ["Egress"]}


def tearDownModule():
    forget_certificates()


def world():
    api = Api()
    api.put("namespaces", namespace(OWN))
    api.put("namespaces", namespace("payments", "required"))
    api.put("networkpolicies", network_policy("payments", "deny", **EGRESS))
    return api


def follow(api, **texts):
    return Gate(api, network_policies="yes", **texts)


def shows(gate, wanted, name="payments"):
    end = time.monotonic() + 15
    while gate.policies(name) != wanted:
        if time.monotonic() > end:
            raise AssertionError("%r, not %r" % (gate.policies(name), wanted))
        time.sleep(0.01)


class Following(unittest.TestCase):
    def test_without_the_setting_they_are_not_asked_for(self):
        with world() as api, Gate(api).ready() as gate:
            self.assertIsNone(gate.policies("payments"))
            self.assertEqual(api.paths("networkpolicies"), [])
            self.assertEqual(gate.look()["network_policies"], 0)

    def test_lists_then_watches(self):
        with world() as api, follow(api).ready() as gate:
            self.assertEqual(gate.policies("payments"), {"deny": "none"})
            self.assertEqual(gate.policies("other"), {})
            self.assertEqual({n["what"] for n in gate.events("listed")}, {"configmaps", "namespaces", "networkpolicies"})
            paths = api.paths("networkpolicies")
            self.assertEqual(paths[0], ROOT + "networkpolicies?limit=100&resourceVersion=0")
            gate.until(lambda: len(api.watches) == 3)
            self.assertIn("watch=true&allowWatchBookmarks=true&resourceVersion=103", api.paths("networkpolicies")[1])
            api.put("networkpolicies", network_policy("payments", "all", egress=[{"ports": [{"port": 53}]}]))
            shows(gate, {"all": "any", "deny": "none"})
            api.put("networkpolicies", network_policy("other", "web", egress=[{"to": [{"podSelector": {}}]}]))
            shows(gate, {"web": "some"}, "other")
            self.assertEqual(gate.look()["network_policies"], 3)
            api.put("networkpolicies", network_policy("payments", "all", egress=[{"to": [{"podSelector": {}}]}]))
            shows(gate, {"all": "some", "deny": "none"})
            api.delete("networkpolicies", "payments", "deny")
            shows(gate, {"all": "some"})
            api.put("networkpolicies", network_policy("payments", "all", policyTypes=["Ingress"]))
            shows(gate, {})
            look = gate.look()
            self.assertEqual((look["network_policies"], look["relists"], look["failures"]), (2, 0, 0))

    def test_what_is_kept_is_what_decides(self):
        """The parts that are read, in each form that makes a difference; everything else is skipped."""
        forms = {
            "a": ("any", {"egress": [{}]}),
            "b": ("any", {"egress": [{"to": None}, {"to": [{"podSelector": {}}]}]}),
            "c": ("any", {"egress": [{"to": []}]}),
            "d": ("any", {"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]}),
            "e": ("any", {"egress": [{"to": [{"ipBlock": {"cidr": "::/0", "except": []}}]}]}),
            "f": ("some", {"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]}]}),
            "g": ("some", {"egress": [{"to": [{"namespaceSelector": {}}], "ports": [{"port": 1}]}]}),
            "h": ("none", {"policyTypes": ["Ingress", "Egress"], "ingress": [{}]}),
            "i": ("any", {"policyTypes": ["Egress"], "podSelector": {"matchLabels": {"a": 5}}}),
            "j": ("any", {"policyTypes": ["Egress"], "podSelector": {"matchExpressions": [{"key": "a", "operator": "?"}]}}),
            "k": ("none", {"policyTypes": ["Egress"], "podSelector": {"matchLabels": {"a": "b"}}}),
        }
        api = world()
        for name, (_, spec) in forms.items():
            api.put("networkpolicies", network_policy("forms", name, **spec))
        api.put("networkpolicies", network_policy("forms", "l", ingress=[{}]))
        with api, follow(api).ready() as gate:
            self.assertEqual(gate.policies("forms"), {name: admits for name, (admits, _) in forms.items()})

    def test_a_change_that_does_not_matter_makes_no_snapshot(self):
        with world() as api, follow(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 3)
            puts = gate.look()["puts"]
            api.put("networkpolicies", network_policy("payments", "deny", ingress=[{}], **EGRESS))
            api.put("namespaces", namespace("payments", "none"))
            gate.until(lambda: gate.show("payments")["namespaces"]["payments"] == "none")
            self.assertEqual(gate.look()["puts"], puts + 1)

    def test_410_leads_to_a_list(self):
        with world() as api, follow(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 3)
            api.put("networkpolicies", network_policy("payments", "all", egress=[{}]), silent=True)
            api.delete("networkpolicies", "payments", "deny", silent=True)
            api.event("networkpolicies", "ERROR", status(410, "too old resource version", "Expired"))
            shows(gate, {"all": "any"})
            self.assertEqual(gate.look()["relists"], 1)
            self.assertEqual(gate.events("failed"), [])

    def test_named_namespaces(self):
        api = world()
        api.put("networkpolicies", network_policy("other", "z", egress=[{}]))
        with api, follow(api, namespaces="payments").ready() as gate:
            self.assertEqual(gate.policies("payments"), {"deny": "none"})
            self.assertEqual(gate.policies("other"), {})
            self.assertEqual({p.split("?")[0] for p in api.paths("networkpolicies")},
                             {ROOT + "namespaces/payments/networkpolicies", ROOT + "namespaces/%s/networkpolicies" % OWN})
            self.assertIn("networkpolicies of payments", [n["what"] for n in gate.events("listed")])


class Waiting(unittest.TestCase):
    def test_no_snapshot_before_their_first_list(self):
        api = world()
        api.hook = lambda r: refusal(503, "not yet", "Retry-After: 1") if "networkpolicies" in r.path else None
        with api, follow(api) as gate:
            gate.wait(lambda s: s.get("event") == "listed", count=2)
            failed = gate.wait(lambda s: s.get("event") == "failed")
            self.assertEqual(failed["what"], "networkpolicies")
            self.assertIn("not yet", failed["reason"])
            self.assertFalse(gate.look()["ready"])
            api.hook = lambda r: None
            gate.ready()
            self.assertEqual(gate.policies("payments"), {"deny": "none"})

    def test_a_silent_watch_makes_the_snapshot_stale(self):
        with world() as api, follow(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 3)
            api.hook = lambda r: refusal(503, "away") if "networkpolicies" in r.path else None
            gate.tell("suspend msec=200000")
            self.assertEqual(gate.ask("stale", "stale"), {"stale": True})
            gate.until(lambda: gate.look()["relists"] >= 2)  # the two other watches
            self.assertEqual(gate.ask("stale", "stale"), {"stale": True})
            self.assertEqual(gate.policies("payments"), {"deny": "none"})
            gate.question("fresh", "", "early")
            self.assertEqual(gate.results("early")[0]["result"], -errno.EIO)
            api.hook = lambda r: None
            api.put("networkpolicies", network_policy("payments", "all", egress=[{}]), silent=True)
            gate.until(lambda: gate.ask("stale", "stale") == {"stale": False})
            shows(gate, {"all": "any", "deny": "none"})

    def test_a_miss_is_not_confirmed(self):
        """A question about evidence or a Namespace reads no policies."""
        with world() as api, follow(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 3)
            before = len(api.paths("networkpolicies"))
            gate.question("evidence", "payments", "evidence")
            gate.question("namespace", "payments", "namespace")
            self.assertEqual([gate.results(tag)[0]["result"] for tag in ("evidence", "namespace")], [0, 0])
            self.assertEqual(len(api.paths("networkpolicies")), before)


class Bounds(unittest.TestCase):
    def test_a_policy_with_too_many_rules_counts_as_open_and_stops_nobody(self):
        many = network_policy("payments", "many", egress=[{"to": [{"podSelector": {}}]}] * 100000)
        api = world()
        api.put("networkpolicies", many)
        with api, follow(api).ready() as gate:
            self.assertEqual(gate.policies("payments"), {"deny": "none", "many": "any"})
            api.put("networkpolicies", network_policy("payments", "many", egress=[{"to": [{"podSelector": {}}]}]))
            shows(gate, {"deny": "none", "many": "some"})
            api.put("networkpolicies", many)
            shows(gate, {"deny": "none", "many": "any"})
            api.delete("networkpolicies", "payments", "many")
            shows(gate, {"deny": "none"})
            self.assertEqual((gate.look()["failures"], gate.look()["relists"]), (0, 0))

    def test_a_namespace_with_too_many_policies_has_one_that_stands_for_the_others(self):
        api = world()
        for i in range(1002):
            api.put("networkpolicies", network_policy("full", "p%04d" % i, **EGRESS))
        with api, follow(api).ready() as gate:
            found = gate.policies("full")
            self.assertEqual((len(found), found["p0999"], found["p1000"]), (1001, "none", "any"))
            self.assertEqual(gate.policies("payments"), {"deny": "none"})
            for i in (7, 8):
                api.delete("networkpolicies", "full", "p%04d" % i)
            gate.until(lambda: len(gate.policies("full")) == 1000)
            self.assertEqual(set(gate.policies("full").values()), {"none"})


class Refused(unittest.TestCase):
    def refuse(self, api):
        api.hook = lambda r: refusal(403, "networkpolicies is forbidden: no") if "networkpolicies" in r.path else None

    def test_a_403_names_the_missing_permission(self):
        api = world()
        self.refuse(api)
        with api, follow(api, start=False) as gate:
            said = gate.ask("once", "once")
            self.assertEqual(said["once"], -errno.EACCES)
            self.assertRegex(said["reason"], "status 403: networkpolicies is forbidden: no; allow this account to get, list "
                                             "and watch networkpolicies[.]networking[.]k8s[.]io$")
        api = world()
        self.refuse(api)
        with api, follow(api) as gate:
            failed = gate.wait(lambda s: s.get("event") == "failed")
            self.assertEqual(failed["what"], "networkpolicies")
            self.assertIn("allow this account to get, list and watch networkpolicies.networking.k8s.io", failed["reason"])
            self.assertFalse(gate.look()["ready"])

    def test_a_right_that_is_taken_away_makes_the_snapshot_stale_and_can_be_given_back(self):
        with world() as api, follow(api).ready() as gate:
            gate.until(lambda: len(api.watches) == 3)
            self.refuse(api)
            time.sleep(1.1)  # a watch that ends sooner is a failure of its own
            api.cut()
            failed = gate.wait(lambda s: s.get("event") == "failed")
            self.assertIn("networkpolicies.networking.k8s.io", failed["reason"])
            self.assertEqual(gate.policies("payments"), {"deny": "none"})
            self.assertEqual(gate.ask("stale", "stale"), {"stale": False})
            gate.tell("max_stale sec=1")
            gate.until(lambda: gate.ask("stale", "stale") == {"stale": True})
            api.hook = lambda r: None
            api.put("networkpolicies", network_policy("payments", "all", egress=[{}]))
            shows(gate, {"all": "any", "deny": "none"})


class Once(unittest.TestCase):
    def test_reads_lists_and_stops(self):
        with world() as api, follow(api, start=False) as gate:
            self.assertEqual(gate.ask("once", "once"), {"once": 0, "reason": ""})
            self.assertEqual(gate.policies("payments"), {"deny": "none"})
            self.assertEqual(api.paths("watch="), [])


if __name__ == "__main__":
    unittest.main()
