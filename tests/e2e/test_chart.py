# SPDX-License-Identifier: Apache-2.0
"""The chart: installation, test, upgrade, rollback, and the emergency command."""
import re
import shlex

import yaml

from lib.api import eventually
from lib.case import Case, denied_by_us
from lib.evidence import namespace, pod, requirements
from lib.install import CHART, merged

SOME = "some-team"
VARIANTS = {
    "as it comes": {},
    "watched": {"metrics": {"enabled": True, "dashboard": {"enabled": True}}, "networkPolicy": {"enabled": True}},
    "for some namespaces": {"evidence": {"namespaces": [SOME]}, "tests": {"namespace": SOME}},
    "for every pod": {"config": {"defaults": {"enforce": "required"}, "floor": {"enforce": "annotated"}}},
    "with a certificate of one's own": {"tls": {"mode": "secret", "secret": {"name": "mine"}},
                                        "webhook": {"caBundle": "-----BEGIN CERTIFICATE-----\nMAo=\n-----END CERTIFICATE-----\n"}},
    "with cert-manager": {"tls": {"mode": "certManager"}},
    "with an issuer of cert-manager": {"tls": {"mode": "certManager", "certManager": {
        "issuerRef": {"name": "vault", "kind": "ClusterIssuer", "group": "cert-manager.io"}, "commonName": "gate", "keyAlgorithm": "RSA"}}},
    "scaled by others": {"autoscaling": {"enabled": True}, "flowSchema": {"enabled": True}, "hostUsers": False},
    "without policy": {"webhook": {"failurePolicy": "Ignore", "enabled": True}, "podDisruptionBudget": {"enabled": False}},
}


class Chart(Case):
    def setUp(self):
        self.gate = self.world.gate

    def values(self, more):
        path = self.world.folder / "variant.values.yaml"
        path.write_text(yaml.safe_dump(merged(self.gate.values(), more)))
        return path

    def command_in_notes(self, *words):
        """The command in the notes of the release that contains these words."""
        notes = self.control.helm("-n", self.gate.namespace, "get", "notes", self.gate.name).out
        lines = [line.strip() for line in notes.splitlines() if all(word in line for word in words)]
        self.assertEqual(len(lines), 1, notes)
        return shlex.split(lines[0])

    def test_helm_lint_has_no_finding(self):
        for name, more in VARIANTS.items():
            with self.subTest(name=name):
                done = self.control.helm("lint", "--strict", CHART, "--values", self.values(more))
                self.assertEqual(done.status, 0, done.said)

    def test_the_server_accepts_every_rendered_object_in_a_dry_run(self):
        self.api.post("/api/v1/namespaces", namespace(SOME))
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{SOME}")
        self.control.define_cert_manager()
        into = self.team("dry")
        for name, more in VARIANTS.items():
            with self.subTest(name=name):
                self.assert_taken(self.control.helm("template", "dry", CHART, "--namespace", into, "--no-hooks",
                                                    "--values", self.values(more), "--kube-version", self.world.version))

    def assert_taken(self, rendered):
        self.assertEqual(rendered.status, 0, rendered.said)
        objects = [each for each in yaml.safe_load_all(rendered.out) if each]
        self.assertGreater(len(objects), 6)
        done = self.control.kubectl("apply", "--dry-run=server", "--server-side", "--validate=strict", "-f", "-",
                                    stdin=yaml.safe_dump_all(objects))
        self.assertEqual(done.status, 0, done.said)
        self.assertEqual(len(done.out.splitlines()), len(objects), done.said)

    def test_a_release_is_installed_and_its_pods_have_only_the_privileges_they_need(self):
        self.gate.ensure()
        found = self.api.get(f"/api/v1/namespaces/{self.gate.namespace}/pods")["items"]
        self.assertEqual(len(found), 2)
        for each in found:
            self.assertTrue(each["status"]["conditions"])
            security = each["spec"]["containers"][0]["securityContext"]
            self.assertEqual(security["capabilities"], {"drop": ["ALL"]})
            self.assertIs(security["readOnlyRootFilesystem"], True)
            self.assertIs(security["allowPrivilegeEscalation"], False)
            self.assertEqual(each["spec"]["securityContext"]["runAsUser"], 65532)
        for each in self.gate.pods().values():
            with open(f"/proc/{each.process.pid}/status", encoding="utf-8") as stream:
                status = stream.read()
            self.assertRegex(status, r"\nUid:\t65532\t65532\t65532\t65532\n")
            self.assertRegex(status, r"\nCapEff:\t0+\n")

    def test_the_release_namespace_can_enforce_the_restricted_standard(self):
        self.gate.ensure()
        done = self.control.kubectl("label", "--dry-run=server", "--overwrite", "namespace", self.gate.namespace,
                                    "pod-security.kubernetes.io/enforce=restricted")
        self.assertEqual((done.status, done.err), (0, ""))

    def test_helm_test_shows_that_the_api_server_reaches_the_gate(self):
        self.gate.ensure()
        done = self.control.helm("-n", self.gate.namespace, "test", self.gate.name, "--timeout", "60s")
        self.assertEqual(done.status, 0, done.said)
        self.assertRegex(done.out, r"Phase:\s+Succeeded")

    def test_a_namespace_with_the_name_of_the_tests_is_refused_and_keeps_what_is_in_it(self):
        into = self.team("second")
        words = ("second", CHART, "--namespace", into, "--values", self.values({}))
        made = [each for each in yaml.safe_load_all(self.control.helm("template", *words, "--kube-version", self.world.version).out) if each]
        name = next(each["metadata"]["name"] for each in made if each["kind"] == "Namespace")
        self.api.post("/api/v1/namespaces", namespace(name))
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{name}")
        path = f"/api/v1/namespaces/{name}/configmaps"
        self.api.post(path, {"metadata": {"name": "precious"}})
        before = self.api.get(f"{path}/precious")["metadata"]["uid"]
        done = self.control.helm("install", *words)
        self.assertEqual(done.status, 1, done.said)
        self.assertIn(f'Namespace "{name}" in namespace "" exists and cannot be imported', done.err)
        self.control.helm("-n", into, "test", "second", "--timeout", "20s")
        self.assertEqual(self.api.get(f"{path}/precious")["metadata"]["uid"], before)
        self.control.helm("-n", into, "uninstall", "second", "--ignore-not-found")
        self.assertEqual(self.api.get(f"{path}/precious")["metadata"]["uid"], before)

    def scale_up(self, deployment):
        self.control.must("-n", self.gate.namespace, "scale", deployment, "--replicas=2")
        self.control.must("-n", self.gate.namespace, "rollout", "status", deployment, "--timeout=60s")

    def test_a_failed_helm_test_keeps_its_events_until_the_next_one(self):
        self.gate.ensure()
        self.gate.upgrade(tests={"timeoutSeconds": 5})
        deployment = f"deployment/{self.gate.name}"
        self.control.must("-n", self.gate.namespace, "scale", deployment, "--replicas=0")
        self.addCleanup(self.scale_up, deployment)
        # a gate that drains still answers, so its Pod must be gone
        eventually(lambda: not self.api.get(f"/api/v1/namespaces/{self.gate.namespace}/pods")["items"], "the gates' end", seconds=60)
        test = ("-n", self.gate.namespace, "test", self.gate.name, "--timeout", "60s")
        self.assertEqual(self.control.helm(*test).status, 1)
        jobs = [each["metadata"] for each in self.api.get("/apis/batch/v1/jobs")["items"]
                if each["metadata"]["labels"].get("app.kubernetes.io/instance") == self.gate.name]
        self.assertEqual(len(jobs), 1)
        events = self.api.get(f"/api/v1/namespaces/{jobs[0]['namespace']}/events")["items"]
        self.assertIn("failed calling webhook", " ".join(each["message"] for each in events if each["reason"] == "FailedCreate"))
        self.scale_up(deployment)
        eventually(lambda: self.control.helm(*test).status == 0, "a successful test", seconds=60)

    def test_an_upgrade_of_the_configuration_takes_effect_without_a_restart_and_a_rollback_reverts_it(self):
        self.gate.ensure()
        team = self.team()
        before = {each.process.pid for each in self.gate.pods().values()}

        def admitted():
            return self.control.apply(pod("report", team), dry_run=True).status == 0
        self.assertFalse(admitted())
        self.gate.upgrade(config={"exempt": {"namespaces": [team]}})
        eventually(admitted, "the upgrade's effect", seconds=15)
        done = self.control.helm("-n", self.gate.namespace, "rollback", self.gate.name, "--wait", "--timeout", "120s", seconds=180)
        self.assertEqual(done.status, 0, done.said)
        eventually(lambda: not admitted(), "the rollback's effect", seconds=15)
        self.assertEqual({each.process.pid for each in self.gate.pods().values()}, before)
        self.gate.given = {}

    def test_the_chart_rejects_an_invalid_configuration_before_it_reaches_the_gate(self):
        self.gate.ensure()
        path = self.values({"config": {"defaults": {"enforce": "sometimes"}}})
        done = self.control.helm("upgrade", self.gate.name, CHART, "-n", self.gate.namespace, "--values", path)
        self.assertEqual(done.status, 1, done.said)
        self.assertIn("enforce", done.err)

    def test_without_a_gate_only_managed_pods_fail_and_the_emergency_command_of_the_notes_admits_them(self):
        self.gate.ensure()
        team = self.team()
        switch = self.command_in_notes("delete", "validatingwebhookconfiguration")
        on_again = self.command_in_notes("upgrade", "reuse-values")
        deployment = f"deployment/{self.gate.name}"
        self.control.must("-n", self.gate.namespace, "scale", deployment, "--replicas=0")
        self.addCleanup(self.scale_up, deployment)
        # a gate that drains still answers, so its Pod must be gone
        eventually(lambda: not self.api.get(f"/api/v1/namespaces/{self.gate.namespace}/pods")["items"], "the gates' end", seconds=60)

        def owned():
            done = self.control.apply(pod("report", team), dry_run=True)
            return done.status == 1 and "failed calling webhook" in done.err
        eventually(owned, "a failure that failurePolicy owns")
        self.assert_allowed(self.control.apply(pod("plain", team, skill=None, image="busybox")))
        self.assert_allowed(self.control.kubectl(*switch[1:]))
        eventually(lambda: self.control.apply(pod("urgent", team)).status == 0, "an admission")

        self.control.must("-n", self.gate.namespace, "scale", deployment, "--replicas=2")
        chart = [str(CHART) if word == "<chart>" else word for word in on_again[1:]]
        done = self.control.helm(*chart, "--wait", "--timeout", "120s", seconds=180)
        self.assertEqual(done.status, 0, done.said)
        eventually(lambda: denied_by_us(self.control.apply(pod("late", team), dry_run=True).err), "a denial", seconds=30)

    def block(self, page, words):
        """The commands of the one `sh` block of a page that contains these words, without those of `kubectl sandgate`."""
        text = (self.world.root / page).read_text(encoding="utf-8")
        found = [each for each in re.findall(r"^```sh\n(.*?)^```$", text, flags=re.M | re.S) if words in each]
        self.assertEqual(len(found), 1, words)
        return "".join(line for line in found[0].splitlines(True) if not line.startswith("kubectl sandgate"))

    def test_the_commands_of_the_pages_that_only_read_print_what_the_pages_say(self):
        self.gate.ensure()
        folder = self.world.folder / "commands"
        folder.mkdir()
        self.publish(requirements(), self.team())
        printed = {}
        for page, words in (("charts/sandgate/README.md", "sandgate-config"), ("charts/sandgate/README.md", "reason=FailedCreate"),
                            ("charts/sandgate/README.md", "metadata.namespace!=kube-system"), ("charts/operating.md", "wc -l")):
            done = self.control.run("bash", "-euo", "pipefail", "-c", f"cd {shlex.quote(str(folder))}\n{self.block(page, words)}")
            self.assertEqual(done.status, 0, done.said)
            printed[words] = done.out
        self.assertIn("kind: GateConfiguration", (folder / "gate.yaml").read_text())
        self.assertEqual({each.name: each.read_text() for each in (folder / "keys").iterdir()},
                         {"release.pem": self.world.signer.public("release")})
        self.assertIn(self.gate.namespace, printed["metadata.namespace!=kube-system"].split())
        self.assertGreaterEqual(int(printed["wc -l"]), 1)

    def test_pods_are_admitted_and_denied_after_these_changes(self):
        self.gate.ensure()
        team = self.team()
        self.assert_denied(self.control.apply(pod("report", team)), "gate.evidence.missing")
        self.publish(requirements(), team)
        eventually(lambda: self.control.apply(pod("report", team)).status == 0, "an admission")
