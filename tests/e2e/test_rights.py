# SPDX-License-Identifier: Apache-2.0
"""The permissions of the gate's service account are sufficient, and it has no others."""
import json

from lib.api import MERGE, eventually
from lib.case import Case
from lib.evidence import pod

ANYBODY = "system:serviceaccount:default:default"


class Rights(Case):
    def setUp(self):
        self.gate = self.world.gate
        self.gate.ensure()
        self.account = f"system:serviceaccount:{self.gate.namespace}:{self.gate.name}"

    def rules(self, into):
        """(resource, names, verbs) of the permissions in a namespace that the gate's account has and other accounts lack."""
        return self.rules_of(self.account, into) - self.rules_of(ANYBODY, into)

    def rules_of(self, account, into):
        question = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": into}}
        answer = json.loads(self.control.must("create", "--validate=false", "-f", "-", "-o", "json", "--as", account,
                                              stdin=json.dumps(question)))
        found = set()
        for rule in answer["status"]["resourceRules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    name = f"{resource}.{group}".rstrip(".")
                    found.add((name, ",".join(rule.get("resourceNames", [])), ",".join(sorted(rule["verbs"]))))
        return found

    def everywhere(self):
        return {("configmaps", "", "get,list,watch"), ("namespaces", "", "get,list,watch"),
                ("validatingwebhookconfigurations.admissionregistration.k8s.io", self.gate.name, "get,patch")}

    def test_the_account_can_only_read_configmaps_and_namespaces_and_write_its_own_secret_and_webhook_configuration(self):
        self.assertEqual(self.rules("default"), self.everywhere())
        self.assertEqual(self.rules(self.gate.namespace),
                         self.everywhere() | {("secrets", f"{self.gate.name}-tls", "get,patch")})

    def test_the_account_can_read_network_policies_while_the_value_is_set_and_the_gates_watch_them(self):
        self.gate.upgrade(boundary={"networkPolicies": True})
        try:
            self.assertEqual(self.rules("default"),
                             self.everywhere() | {("networkpolicies.networking.k8s.io", "", "get,list,watch")})
            team = self.team()
            before = {name: each.metric("sandgate_network_policies") for name, each in self.gate.pods().items()}
            self.api.post(f"/apis/networking.k8s.io/v1/namespaces/{team}/networkpolicies", {
                "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "deny"},
                "spec": {"podSelector": {}, "policyTypes": ["Egress"]}})
            eventually(lambda: all(each.metric("sandgate_network_policies") == before[name] + 1
                                   for name, each in self.gate.pods().items()), "the policy in every gate")
        finally:
            self.gate.upgrade(boundary={"networkPolicies": False})
        self.assertEqual(self.rules("default"), self.everywhere())
        eventually(lambda: all(each.metric("sandgate_network_policies") == 0 for each in self.gate.pods().values()),
                   "gates that read no policies")

    def test_other_requests_of_the_account_are_forbidden(self):
        for words in (["list", "secrets"], ["get", "secrets/other"], ["create", "secrets"], ["create", "configmaps"],
                      ["delete", "configmaps"], ["get", "pods"], ["create", "pods"], ["update", "namespaces"],
                      ["delete", f"validatingwebhookconfigurations/{self.gate.name}"],
                      ["update", "validatingwebhookconfigurations/other"], ["create", "serviceaccounts/token"],
                      ["impersonate", "users"]):
            with self.subTest(words=words):
                done = self.control.kubectl("auth", "can-i", *words, "-n", self.gate.namespace, "--as", self.account)
                self.assertEqual((done.status, done.out.strip()), (1, "no"), done.err)

    def test_a_forbidden_list_is_logged_with_the_reason_and_the_gate_recovers(self):
        path = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{self.gate.name}"
        rules = self.api.get(path)["rules"]
        self.api.patch(path, {"rules": [rule for rule in rules if "configmaps" not in rule["resources"]]}, MERGE)
        try:
            self.control.must("-n", self.gate.namespace, "rollout", "restart", f"deployment/{self.gate.name}")

            def refusals():
                return [record for record in self.gate.records() if record.get("level") in ("warn", "error")
                        and record.get("what") == "configmaps" and "is forbidden" in record.get("reason", "")]
            record = eventually(refusals, "the log line about the refusal", seconds=40)[0]
            self.assertIn(self.account, record["reason"])
            self.assertIn("status 403", record["reason"])
            # the old gates still answer, because a new one that cannot list is never ready
            self.assertTrue(any(each.ready for each in self.gate.pods().values()))
        finally:
            self.api.patch(path, {"rules": rules}, MERGE)
        done = self.control.kubectl("-n", self.gate.namespace, "rollout", "status", f"deployment/{self.gate.name}",
                                    "--timeout=90s")
        self.assertEqual(done.status, 0, done.said)
        self.assert_denied(self.control.apply(pod("report", self.team())), "gate.evidence.missing")
