#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: commands, options, exit statuses and messages."""
import json
import os
import re
import shutil
import subprocess
import unittest

from program import IN_WORLD, NOW, PROGRAM, TESTS, WORLD, Case, run, run_on_terminal

COMMANDS = ("check", "evidence", "plan", "replay", "review", "serve", "sign", "verify", "version")
POD = """apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: payments
  annotations: {{sandbox.runx.dev/skill-ref: acme/report@1.4.0}}
spec:
  containers:
  - name: app
    image: registry.example/acme/report@sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206
"""
BARE = """apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{containers: [{{name: app, image: "nginx:1"}}]}}
"""
# Asks for more than acme/report declares: the network of its node, and a variable that is in no list.
WIDE = POD.format(name="wide") + """    env: [{name: EXTRA}, {name: MORE}]
  hostNetwork: true
"""
REVIEW = TESTS / "cases" / "A01-generated-name-and-namespace" / "a-generatename.json"
GOOD = POD.format(name="good")
BAD = BARE.format(name="bad", namespace="payments")


def policy(name, namespace="payments"):
    """A NetworkPolicy in four lines."""
    place = f"name: {name}, namespace: {namespace}" if namespace else f"name: {name}"
    return ("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
            f"metadata: {{{place}}}\nspec: {{podSelector: {{}}, policyTypes: [Egress]}}\n")


class Program(Case):
    def test_usage_and_exit_status_2_without_arguments(self):
        self.assertEqual(self.assert_run(2), "")
        self.assertTrue(self.err.startswith("Usage: sandgate COMMAND"))

    def test_help_lists_every_command_once(self):
        for way in ("--help", "-h", "help"):
            out = self.assert_run(0, way)
            for command in COMMANDS:
                self.assertEqual(len(re.findall(rf"^  {command} ", out, re.M)), 1, command)

    def test_each_command_has_help_with_an_example_and_its_statuses(self):
        for command in COMMANDS:
            for way in ("--help", "-h"):
                out = self.assert_run(0, command, way)
                self.assertTrue(out.startswith(f"Usage: sandgate {command} "), out)
                self.assertIn(f"\nExamples:\n  sandgate {command}", out)
                self.assertIn("\nExit status:\n  0  ", out)
                self.assertEqual(self.err, "")

    def test_unknown_command_exits_with_2_and_names_the_nearest(self):
        self.assert_run(2, "chek")
        self.assertEqual(self.err, "sandgate: unknown command chek; did you mean check? "
                                   "(see `sandgate --help`)\n")
        self.assert_run(2, "frobnicate")
        self.assertEqual(self.err, "sandgate: unknown command frobnicate "
                                   "(see `sandgate --help`)\n")

    def test_wrong_options_are_rejected_by_name(self):
        rows = [(("plan", "--colour", "x"), "unknown or ambiguous option --colour"),
                (("version", "--help=x"), "--help=x: this option takes no value"),
                (("verify", "--recursive=x"), "--recursive=x: this option takes no value"),
                (("plan", "-z", "x"), "unknown option -z"),
                (("plan", "--output"), "--output needs a value"),
                (("plan", "--output", "xml", "x"), "--output must be one of: json, yaml, table"),
                (("plan",), "one FILE is needed, or - for standard input"),
                (("plan", "a", "b"), "one FILE is needed, or - for standard input"),
                (("check",), "-f FILE is needed, or -f - for standard input"),
                (("check", "-f", "x", "--evidence", "a", "--evidence", "b"),
                 "--evidence is given twice"),
                (("verify", "x"), "--keyring DIR is needed"),
                (("sign", "x"), "--key FILE is needed"),
                (("serve",), "--config FILE is needed"),
                (("version", "x"), "unexpected argument x")]
        for arguments, what in rows:
            self.assert_run(2, *arguments)
            self.assertEqual(self.err, f"sandgate: {what} (see `sandgate {arguments[0]} --help`)\n")

    def test_as_kubectl_plugin_only_the_printed_name_differs(self):
        link = self.folder / "kubectl-sandgate"
        os.symlink(PROGRAM, link)
        status, out, _ = run("plan", "--help", program=link)
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith("Usage: kubectl sandgate plan "))
        self.assertIn("\n  kubectl sandgate plan --output table input.yaml\n", out)
        self.assertIn("\n  sandgate plan --output table input.yaml\n",
                      self.assert_run(0, "plan", "--help"))

    def test_version_names_contracts_and_libraries(self):
        tree = json.loads(self.assert_run(0, "version", "--output", "json"))
        self.assertEqual(sorted(tree), ["contracts", "features", "libraries", "version"])
        self.assertIn("runx.hardening.v1", tree["contracts"])
        self.assertEqual(sorted(tree["libraries"]),
                         ["GnuTLS", "cJSON", "libcurl", "libmicrohttpd", "libyaml"])
        self.assertIn(tree["version"], self.assert_run(0, "version"))

    def test_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "version"], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"sandgate: standard output cannot be written\n")


class Plan(Case):
    def test_golden_inputs_give_their_packets_byte_for_byte(self):
        paths = sorted((TESTS / "golden").glob("*.json"))
        self.assertGreater(len(paths), 90)
        for path in paths:
            pair = json.loads(path.read_text("utf-8"))
            packet = json.dumps(pair["packet"], ensure_ascii=False, separators=(",", ":"))
            ready = pair["packet"]["hardening_profile"]["decision"] == "ready"
            out = self.assert_run(0 if ready else 1, "plan", "-",
                                  stdin=json.dumps(pair["input"]).encode())
            self.assertEqual(out, packet + "\n", path.name)

    def test_yaml_and_json_inputs_give_equal_plans(self):
        yaml = self.write("a.yaml", "workload: {skill_ref: acme/x@1}\nas_of: 2026-01-01T00:00:00Z\n")
        json_ = self.write("a.json", '{"workload":{"skill_ref":"acme/x@1"},'
                                     '"as_of":"2026-01-01T00:00:00Z"}')
        self.assertEqual(self.assert_run(1, "plan", yaml), self.assert_run(1, "plan", json_))

    def test_output_as_table_and_yaml(self):
        path = self.write("a.yaml", "workload: {skill_ref: acme/x@1}\n")
        table = self.assert_run(1, "plan", "-o", "table", path)
        self.assertRegex(table, r"(?m)^decision +needs_more_evidence$")
        self.assertRegex(table, r"(?m)^sandbox.time.missing +as_of is required$")
        self.assertNotIn("\033", table)
        self.assertIn("\n  decision: needs_more_evidence\n",
                      self.assert_run(1, "plan", "-o", "yaml", path))

    def test_unreadable_input_exits_with_2_and_its_place(self):
        rows = [('{"a":1,"a":2}', ":1:8: a key is given twice in one object"),
                ("a: yes\n", ":1:4: "), ("[1]", ":1:1: the planner's input must be an object"),
                ("", ":1:1: the planner's input must be an object")]
        for text, what in rows:
            path = self.write("a", text)
            self.assertEqual(self.assert_run(2, "plan", path), "")
            self.assertTrue(self.err.startswith(f"sandgate: {path}{what}"), self.err)
        self.assert_run(2, "plan", self.folder / "none")
        self.assertEqual(self.err, f"sandgate: {self.folder}/none: No such file or directory\n")
        self.assert_run(2, "plan", self.folder)
        self.assertEqual(self.err, f"sandgate: {self.folder}: Is a directory\n")

    def test_input_over_the_limit_is_rejected_with_its_name(self):
        path = self.write("a", b" " * (16 * 1024 * 1024 + 1))
        self.assert_run(2, "plan", path)
        self.assertEqual(self.err, f"sandgate: {path}: larger than 16777216 bytes, the limit of plan\n")

    def test_name_of_a_file_cannot_forge_a_message(self):
        self.assert_run(2, "plan", self.folder / "a\nsandgate: all is well\033[2J")
        self.assertEqual(self.err.count("\n"), 1)
        self.assertNotIn("\033", self.err)


class Check(Case):
    def test_manifests_of_all_forms_are_read(self):
        documents = self.write("a.yaml", f"{GOOD}---\n---\n# nothing\n---\n{BAD}")
        got = self.check_json(1, "-f", documents, *IN_WORLD)
        self.assertEqual([(g["name"], g["allowed"], g["outcome"]) for g in got],
                         [("good", True, "ready"), ("bad", False, "needs_more_evidence")])
        listed = self.write("b.json", json.dumps({
            "apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "v1", "kind": "PodList", "items": [
                    {"metadata": {"name": "in"}, "spec": {"containers": [{"name": "a"}]}}]},
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}]}))
        got = self.check_json(0, "-f", listed, *IN_WORLD)
        self.assertEqual([(g["kind"], g["namespace"], g["name"], g["outcome"]) for g in got],
                         [("Pod", "default", "in", "unmanaged"),
                          ("Namespace", "", "ns", "not_evaluated")])

    def test_members_of_a_result(self):
        path = self.write("a.yaml", BAD)
        got, = self.check_json(1, "-f", path, *IN_WORLD)
        self.assertEqual(list(got), ["source", "kind", "namespace", "name", "allowed", "outcome",
                                     "findings", "warnings", "packet"])
        self.assertEqual(got["source"], str(path))
        self.assertEqual(got["packet"]["hardening_profile"]["schema"], "runx.hardening.v1")
        self.assertEqual(got["findings"][0]["code"], "gate.annotation.missing")
        self.assertEqual(list(got["findings"][0]), ["code", "message", "place"])

    def test_every_kind_that_is_judged(self):
        pod = {"spec": {"containers": [{"name": "a", "image": "nginx:1"}]}}
        kinds = {("v1", "PodTemplate"): {"template": pod},
                 ("batch/v1", "CronJob"): {"spec": {"jobTemplate": {"spec": {"template": pod}}}}}
        for kind in ("v1/ReplicationController", "apps/v1/ReplicaSet", "apps/v1/Deployment",
                     "apps/v1/StatefulSet", "apps/v1/DaemonSet", "batch/v1/Job"):
            kinds[tuple(kind.rsplit("/", 1))] = {"spec": {"template": pod}}
        text = "\n---\n".join(json.dumps({"apiVersion": version, "kind": kind,
                                          "metadata": {"name": "x", "namespace": "payments"},
                                          **body}) for (version, kind), body in kinds.items())
        got = self.check_json(0, "-f", self.write("a.yaml", text), *IN_WORLD)
        self.assertEqual(len(got), 8)
        for result in got:
            self.assertEqual(result["outcome"], "needs_more_evidence", result["kind"])
            self.assertTrue(result["warnings"], result["kind"])
        path = self.write("b.yaml", text)
        got = self.check_json(1, "-f", path, "--config", WORLD / "gate-controllers.yaml",
                              "--as-of", NOW)
        self.assertFalse(any(result["allowed"] for result in got))

    def test_controller_whose_pods_will_be_denied_is_reported(self):
        text = json.dumps({"apiVersion": "apps/v1", "kind": "Deployment",
                           "metadata": {"name": "x", "namespace": "payments"}, "spec": {
                               "template": {"spec": {"containers": [{"image": "nginx:1"}]}}}})
        path = self.write("a.yaml", text)
        self.assert_run(0, "check", "-f", path, *IN_WORLD)
        lines = self.out.splitlines()
        self.assertEqual(lines[0], "payments/Deployment/x: admitted, but its pods will be denied "
                                   f"(needs_more_evidence)  {path}:1")
        self.assertEqual(lines[-1], "1 admitted (1 of them create pods that will be denied), "
                                    "0 denied, 0 not evaluated")

    def test_missing_namespace_manifest_is_reported_if_its_labels_matter(self):
        path = self.write("a.yaml", BAD.replace("namespace: payments", "namespace: elsewhere"))
        self.assert_run(0, "check", "-f", path, *IN_WORLD)
        self.assertEqual(self.out.splitlines()[:2], [
            f"elsewhere/Pod/bad: admitted (unmanaged)  {path}:1",
            "  note: the evidence has no Namespace elsewhere; it is treated as one without labels"])

    def test_folders_and_standard_input(self):
        self.write("d/b.yaml", BAD)
        self.write("d/a.yml", GOOD)
        self.write("d/deep/c.json", json.dumps({"apiVersion": "v1", "kind": "Secret",
                                                "metadata": {"name": "c"}}))
        self.write("d/README.md", "no manifest: [")
        names = [g["name"] for g in self.check_json(1, "-f", self.folder / "d", *IN_WORLD)]
        self.assertEqual(names, ["good", "bad"])
        names = [g["name"] for g in self.check_json(1, "-R", "-f", self.folder / "d", *IN_WORLD)]
        self.assertEqual(names, ["good", "bad", "c"])
        for name in ("..y.json", ".x.yaml", ".yml"):  # a leading dot changes nothing
            self.write(f"d/{name}", GOOD)
        got = self.check_json(1, "-f", self.folder / "d", *IN_WORLD)
        self.assertEqual([os.path.basename(g["source"].rsplit(":", 1)[0]) for g in got],
                         ["..y.json", ".x.yaml", ".yml", "a.yml", "b.yaml"])
        got = self.check_json(0, "-f", "-", *IN_WORLD, stdin=GOOD.encode())
        self.assertEqual(got[0]["source"], "-")

    def test_network_policy_given_twice_is_an_error(self):
        one, other = policy("deny"), policy("deny", "scratch")
        twice = "this NetworkPolicy is given twice; remove one"
        path = self.write("a.yaml", f"{GOOD}---\n{one}---\n{other}---\n{one}")
        got = self.check_json(2, "-f", path, *IN_WORLD)
        self.assertEqual([g["outcome"] for g in got], ["ready"] + 3 * ["not_evaluated"])
        self.assertEqual(self.err, f"sandgate: {path}:22:1: {twice}\n")
        first, second = self.write("b.yaml", one), self.write("c.yaml", other + "---\n" + one)
        self.check_json(2, "-f", first, second, *IN_WORLD)
        self.assertEqual(self.err, f"sandgate: {second}:6:1: {twice}\n")
        self.check_json(2, "-f", first, "-f", "-", *IN_WORLD, stdin=one.encode())
        self.assertEqual(self.err, f"sandgate: -:1:1: {twice}\n")
        # a policy without a namespace is where kubectl would create it
        self.check_json(0, "-f", first, "-f", "-", *IN_WORLD, stdin=policy("deny", None).encode())
        self.check_json(2, "-n", "payments", "-f", first, "-f", "-", *IN_WORLD, stdin=policy("deny", None).encode())
        escaped = json.dumps({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
                              "metadata": {"name": "deny", "namespace": "payments"}}).replace("NetworkP", "Network\\u0050")
        self.check_json(2, "-f", first, "-f", "-", *IN_WORLD, stdin=escaped.encode())

    def test_network_policy_needs_a_name(self):
        path = self.write("a.yaml", policy("deny").replace("name: deny, ", ""))
        self.check_json(2, "-f", path, *IN_WORLD)
        self.assertEqual(self.err, f"sandgate: {path}:1:1: metadata.name is required\n")

    def test_input_that_can_be_read_once_only_is_judged_with_its_policies(self):
        text = f"{policy('deny')}---\n{GOOD}"
        got = self.check_json(0, "-f", "-", *IN_WORLD, stdin=text.encode())
        self.assertEqual([(g["kind"], g["outcome"]) for g in got], [("NetworkPolicy", "not_evaluated"), ("Pod", "ready")])
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", 'cat "$0" >"$1"', self.write("b.yaml", text), pipe]):
            got = self.check_json(0, "-f", pipe, *IN_WORLD)
        self.assertEqual(len(got), 2)

    def test_exit_status_for_several_files(self):
        good, bad = self.write("good.yaml", GOOD), self.write("bad.yaml", BAD)
        broken = self.write("broken.yaml", "a: [\n")
        self.assertEqual(len(self.check_json(0, "-f", good, "-f", good, *IN_WORLD)), 2)
        self.assertEqual(len(self.check_json(1, "-f", good, bad, *IN_WORLD)), 2)
        self.assertEqual(len(self.check_json(2, "-f", bad, "-f", broken, "-f", good, *IN_WORLD)), 2)
        self.assertTrue(self.err.startswith(f"sandgate: {broken}:2:1: "), self.err)
        self.check_json(2, "-f", good, "-f", self.folder / "none", *IN_WORLD)

    def test_nothing_to_check_is_an_error(self):
        for text in ("", "---\n---\n", "# nothing\n", "null\n"):
            self.assert_run(2, "check", "-f", self.write("a.yaml", text), *IN_WORLD)
            self.assertEqual(self.err, "sandgate: nothing to check: no object in these files\n")
        os.mkdir(self.folder / "empty")
        self.assert_run(2, "check", "-f", self.folder / "empty", *IN_WORLD)

    def test_document_that_is_not_an_object_makes_the_file_unreadable(self):
        self.assert_run(2, "check", "-f", self.write("a.yaml", f"{GOOD}---\n- a\n"), *IN_WORLD)
        self.assertRegex(self.err, r"a\.yaml:12:1: ")

    def test_default_namespace_of_manifests(self):
        path = self.write("a.yaml", BAD.replace(", namespace: payments", ""))
        self.assertEqual(self.check_json(0, "-f", path, *IN_WORLD)[0]["namespace"], "default")
        got, = self.check_json(1, "-f", path, "-n", "payments", *IN_WORLD)
        self.assertEqual(got["namespace"], "payments")

    def test_generate_name(self):
        path = self.write("a.yaml", BAD.replace("name: bad", "generateName: web-"))
        self.assertEqual(self.check_json(1, "-f", path, *IN_WORLD)[0]["name"], "web-*")

    def test_table_shows_what_to_change(self):
        out = self.assert_run(1, "check", "-f", self.write("a.yaml", BAD), *IN_WORLD)
        self.assertTrue(out.startswith("payments/Pod/bad: denied (needs_more_evidence)  "), out)
        self.assertIn(f"  {self.folder}/a.yaml:1\n", out)
        self.assertIn("\n  gate.image.unpinned spec.containers[0].image: this image is not pinned; "
                      "write it as name@sha256:", out)
        self.assertTrue(out.endswith("0 admitted, 1 denied, 0 not evaluated\n"), out)

    def boundary_world(self, level):
        """Arguments: the world, in which the namespace payments has this level of the boundary."""
        shutil.copytree(WORLD / "evidence", self.folder / "evidence")
        path = self.folder / "evidence" / "namespaces.yaml"
        path.write_text(path.read_text().replace(
            "enforce: required\n", f"enforce: required\n    sandbox.runx.dev/boundary: {level}\n", 1))
        return ("--evidence", self.folder / "evidence", "--keyring", WORLD / "keyring", "--as-of", NOW)

    def test_table_shows_what_the_spec_asks_for(self):
        out = self.assert_run(0, "check", "-f", self.write("a.yaml", WIDE), *IN_WORLD)
        lines = out.splitlines()
        self.assertEqual(lines[1:6], [
            "  what the pod's own spec asks for, beside its declaration:",
            "    environment   CONTRADICTED  syscalls      open",
            "    filesystem    open          capabilities  open",
            "    network       CONTRADICTED  resources     open",
            "    egress        unknown       isolation     open"])
        self.assertEqual(lines[6:], [
            "    CONTRADICTED boundary.env.unlisted spec.containers[0].env[0].name: env_allowlist does not have the "
            "variable EXTRA; remove it, or have it declared and signed",
            "    CONTRADICTED boundary.env.unlisted spec.containers[0].env[1].name: env_allowlist does not have the "
            "variable MORE; remove it, or have it declared and signed",
            "    CONTRADICTED boundary.network.host spec.hostNetwork: the pod uses the network of its node; remove "
            "hostNetwork",
            "to hold what is open or unknown:",
            "  boundary.env.service_links: set enableServiceLinks: false",
            "  boundary.fs.root: set the container's securityContext.readOnlyRootFilesystem: true, and mount a volume "
            "below workingDir at each path of writable_paths",
            "  boundary.egress.unseen: set boundary.networkPolicies: true in the gate's configuration, or give check the "
            "policies with -f",
            "  boundary.seccomp.unset: set securityContext.seccompProfile.type: RuntimeDefault",
            "  boundary.capability.kept: set the container's securityContext.capabilities.drop: [ALL]",
            "  boundary.capability.escalation: set the container's securityContext.allowPrivilegeEscalation: false",
            "  boundary.capability.root: set securityContext.runAsNonRoot: true, or runAsUser to another user than 0",
            "  boundary.resources.cpu: set resources.limits.cpu",
            "  boundary.resources.memory: set resources.limits.memory",
            "  boundary.host.token: set automountServiceAccountToken: false, and mount no projected token or "
            "certificate",
            "1 admitted, 0 denied, 0 not evaluated"])
        self.assertTrue(all(len(line) <= 80 for line in lines[1:6]))

    def test_what_to_do_is_said_once_for_all_pods(self):
        path = self.write("a.yaml", f"{GOOD}---\n{WIDE}")
        lines = self.assert_run(0, "check", "-f", path, *IN_WORLD).splitlines()
        self.assertEqual(len([line for line in lines if "asks for, beside" in line]), 2)
        self.assertEqual([line for line in lines if "seccomp" in line],
                         ["  boundary.seccomp.unset (2 places): set securityContext.seccompProfile.type: RuntimeDefault"])

    def test_what_blocks_is_named_once(self):
        world = self.boundary_world("block")
        out = self.assert_run(1, "check", "-f", self.write("a.yaml", WIDE), *world)
        self.assertIn("\n  boundary.network.host spec.hostNetwork: the pod uses the network of its node; remove "
                      "hostNetwork\n", out)
        self.assertEqual(out.count("boundary.network.host "), 1)
        self.assertIn("\n    network       CONTRADICTED  resources     open\n", out)
        self.assertIn("\n  boundary.fs.root: set ", out)

    def test_what_was_not_read_has_no_table(self):
        for name, level, pod in (("a.yaml", "none", WIDE), ("b.yaml", "record", BAD)):
            world = self.boundary_world(level)
            out = run("check", "-f", self.write(name, pod), *world)[1]
            self.assertNotIn("asks for, beside", out)
            self.assertNotIn("boundary", json.loads(run("check", "-f", self.folder / name, *world, "-o", "json")[1])[0])
            shutil.rmtree(self.folder / "evidence")

    def test_json_has_the_annotation_as_an_object(self):
        path = self.write("a.yaml", WIDE)
        got, = self.check_json(0, "-f", path, *IN_WORLD)
        self.assertEqual(list(got)[-2:], ["packet", "boundary"])
        answer = json.loads(self.assert_run(0, "check", "-f", path, *IN_WORLD, "-o", "review"))
        self.assertEqual(got["boundary"], json.loads(answer["response"]["auditAnnotations"]["boundary"]))
        self.assertEqual([(c["control"], c["state"]) for c in got["boundary"]["controls"]],
                         [("environment", "contradicted"), ("filesystem", "open"), ("network", "contradicted"),
                          ("egress", "unknown"), ("syscalls", "open"), ("capabilities", "open"),
                          ("resources", "open"), ("isolation", "open")])
        self.assertIn("\n  boundary:\n    schema: sandbox.boundary.v1\n",
                      self.assert_run(0, "check", "-f", path, *IN_WORLD, "-o", "yaml"))

    def test_output_review_equals_the_answer_of_the_server(self):
        answer = json.loads(self.assert_run(0, "check", "-f", REVIEW, *IN_WORLD, "-o", "review"))
        request = json.loads(REVIEW.read_text())["request"]
        self.assertEqual(answer["response"]["uid"], request["uid"])
        self.assertEqual(sorted(answer), ["apiVersion", "kind", "response"])
        broken = self.write("a.json", '{"kind": "AdmissionReview", "request": {"uid": "\xff')
        status = json.loads(self.assert_run(2, "check", "-f", broken, *IN_WORLD, "-o", "review"))
        self.assertEqual((status["kind"], status["code"]), ("Status", 400))
        self.assertRegex(self.err, r"^sandgate: .*a\.json:1:\d+: ")

    def test_several_reviews_in_one_file(self):
        review = REVIEW.read_text()
        out = self.assert_run(0, "check", "-f", "-", *IN_WORLD, "-o", "review",
                              stdin=f"{review}\n{review}".encode())
        self.assertEqual(len(out.splitlines()), 2)

    def test_review_over_the_limit_is_rejected_as_by_the_server(self):
        config = self.write("gate.yaml", "limits: {maxBodyBytes: 100}\n")
        out = self.assert_run(2, "check", "-f", REVIEW, "--config", config, "-o", "review",
                              "--evidence", WORLD / "evidence", "--keyring", WORLD / "keyring")
        self.assertEqual(json.loads(out)["code"], 413)

    def test_manifest_that_contains_the_word_review_is_a_manifest(self):
        text = GOOD.replace("annotations: {", "annotations: {note: '\"kind\": \"AdmissionReview\"', ")
        self.assertEqual(self.check_json(0, "-f", self.write("a.yaml", text), *IN_WORLD)[0]["name"],
                         "good")

    def test_evidence_and_keyring_without_a_configuration(self):
        path = self.write("a.yaml", GOOD)
        world = ("--evidence", WORLD / "evidence", "--keyring", WORLD / "keyring", "--as-of", NOW)
        self.assertEqual(self.check_json(0, "-f", path, *world)[0]["outcome"], "ready")
        self.assert_run(2, "check", "-f", path)
        self.assertEqual(self.err,
                         "sandgate: --keyring DIR is needed, or --config FILE with a keyring: "
                         "evidence does not say which keys to trust (see `sandgate check --help`)\n")
        self.assert_run(2, "evidence", *world, "--context", "staging")
        self.assertIn("--evidence cannot be combined with --kubeconfig or --context", self.err)
        nowhere = self.folder / "nowhere"
        self.assert_run(2, "evidence", *world[2:4], "--kubeconfig", nowhere)
        self.assertIn(str(nowhere), self.err)
        self.assert_run(2, "check", "-f", path, *world[:4], "--as-of", "yesterday")
        self.assertIn("--as-of must be a time", self.err)

    def test_yaml_output_is_the_same_list(self):
        path = self.write("a.yaml", BAD)
        out = self.assert_run(1, "check", "-f", path, *IN_WORLD, "-o", "yaml")
        self.assertTrue(out.startswith(f'- source: "{path}"\n  kind: Pod\n'), out)


class Colours(Case):
    def test_colours_on_a_terminal_and_not_in_a_pipe(self):
        path = self.write("a.yaml", BAD)
        self.assertNotIn("\033", self.assert_run(1, "check", "-f", path, *IN_WORLD))
        status, shown = run_on_terminal("check", "-f", path, *IN_WORLD, NO_COLOR="")
        self.assertEqual(status, 1)
        self.assertIn("\033[31mdenied\033[0m", shown)

    def test_no_colours_with_no_color_or_a_dumb_terminal(self):
        path = self.write("a.yaml", BAD)
        for environment in ({"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}):
            _, shown = run_on_terminal("check", "-f", path, *IN_WORLD, **environment)
            self.assertNotIn("\033", shown)

    def test_a_contradiction_stands_out_by_word_and_colour(self):
        path = self.write("a.yaml", WIDE)
        _, shown = run_on_terminal("check", "-f", path, *IN_WORLD, NO_COLOR="")
        self.assertIn("    environment   \033[31mCONTRADICTED\033[0m  syscalls      \033[33mopen\033[0m\r\n", shown)
        self.assertIn("    \033[31mCONTRADICTED\033[0m boundary.network.host spec.hostNetwork: ", shown)
        _, shown = run_on_terminal("check", "-f", path, *IN_WORLD, NO_COLOR="1")
        self.assertNotIn("\033", shown)
        self.assertIn("    environment   CONTRADICTED  syscalls      open\r\n", shown)

    def test_progress_is_shown_on_a_terminal_and_removed(self):
        good, slow = self.write("good.yaml", GOOD), self.folder / "slow.yaml"
        os.mkfifo(slow)
        # progress is shown only if the work takes some time
        writer = subprocess.Popen(["sh", "-c", f"exec 3>'{slow}'; sleep 1; cat '{good}' >&3"])
        self.addCleanup(writer.wait)
        files = ("-f", good, "-f", slow, "-f", good)
        status, shown = run_on_terminal("check", *files, *IN_WORLD, "-o", "json")
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"\r\d+ of 3 files read\033\[K")
        self.assertLess(shown.rindex("\r\033[K"), shown.index('[{"source"'))
        self.assert_run(0, "check", "-f", good, *IN_WORLD)
        self.assertEqual(self.err, "")

    def test_manifest_cannot_move_the_cursor(self):
        path = self.write("a.yaml", BAD.replace("name: bad", 'name: "x\\e[2J\\u202e"'))
        out = self.assert_run(1, "check", "-f", path, *IN_WORLD)
        self.assertIn("payments/Pod/x\\u{1b}[2J\\u{202e}: denied", out)
        self.assertFalse(re.search("[\033\u202e]", out))


class Serve(Case):
    """`serve --check`. Other files test the serving itself."""

    def setUp(self):
        super().setUp()
        shutil.copytree(WORLD, self.folder / "world")
        subprocess.run([TESTS.parent / "certs-dev" / "make-certs", "--out",
                        self.folder / "world" / "tls"], check=True, capture_output=True)

    def check(self, status, change=lambda text: text):
        config = self.folder / "world" / "gate.yaml"
        config.write_text(change((WORLD / "gate.yaml").read_text()))
        self.assert_run(status, "serve", "--config", config, "--check")
        return self.err.replace(f"sandgate: {config.parent}/", "")

    def test_valid_configuration(self):
        self.check(0)

    def test_failed_starts_report_the_reason(self):
        rows = [(lambda text: text.replace("source: directory, directory: evidence, ",
                                           "kubeconfig: nowhere, "), "nowhere"),
                (lambda text: text.replace("127.0.0.1:8443", "::1:8443"),
                 "gate.yaml:3:19: listen.webhook has an IPv6 address without brackets; write it "
                 "as in \"[::1]:8443\"\n"),
                (lambda text: text.replace("tls/tls.crt", "tls/none.crt"), "tls/none.crt: "),
                (lambda text: text.replace("keyring, t", "nowhere, t"), "nowhere: ")]
        for change, what in rows:
            err = self.check(2, change)
            self.assertTrue(err.startswith(what), err)


if __name__ == "__main__":
    unittest.main()
