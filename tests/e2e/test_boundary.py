# SPDX-License-Identifier: Apache-2.0
"""The spec of a pod, as the API server completes it, beside its declaration."""
import json

from lib.api import eventually
from lib.case import Case
from lib.evidence import PREFIX, pod, requirements

SECRET = "hunter2"  # the value of a variable: never in an answer
VARIABLE = {"name": "REPORT_TOKEN", "value": SECRET}
CONTROLS = ("environment", "filesystem", "network", "egress", "syscalls", "capabilities", "resources", "isolation")
UNSEEN = [("boundary.egress.unseen", "")]
UNLISTED = "env_allowlist does not have the variable REPORT_TOKEN; remove it, or have it declared and signed"
SECCOMP = "no seccomp profile is set; set securityContext.seccompProfile.type: RuntimeDefault"
LINKS = "the kubelet adds variables for each Service of the namespace; set enableServiceLinks: false"
MOUNT = ("no declared path and no baseline admits this writable mount; mount it below workingDir at a path of "
         "writable_paths, or set readOnly: true, or add it to boundary.mounts of the baselines")
HOST_PORT = "network is declared false, and a port of the node is used; remove hostPort, or have network: true signed"
SERVES = ("network is declared false, and this makes the container listen; remove it, or use an exec handler, or have "
          "network: true signed")
# What contradicts the declaration: more fields of the spec, more of the container, the findings
CONTRADICTIONS = {
    "a variable that is not listed": ({}, {"env": [VARIABLE]}, [
        ("boundary.env.unlisted", "spec.containers[0].env[0].name", UNLISTED)]),
    "a writable mount elsewhere": ({"volumes": [{"name": "data", "emptyDir": {}}]},
                                   {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}, [
        ("boundary.fs.mount", "spec.containers[0].volumeMounts[0]", MOUNT)]),
    "a block device": ({"volumes": [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]},
                       {"volumeMounts": [], "volumeDevices": [{"name": "disk", "devicePath": "/dev/xvda"}]}, [
        ("boundary.fs.device", "spec.containers[0].volumeDevices[0]",
         "the container gets a block device; remove volumeDevices")]),
    "the network of the node": ({"hostNetwork": True}, {}, [
        ("boundary.network.host", "spec.hostNetwork", "the pod uses the network of its node; remove hostNetwork")]),
    "a port of the node": ({}, {"ports": [{"containerPort": 8080, "hostPort": 8080}]}, [
        ("boundary.network.host_port", "spec.containers[0].ports[0]", HOST_PORT),
        ("boundary.network.serves", "spec.containers[0].ports[0]", SERVES)]),
    "a port that is served": ({}, {"ports": [{"containerPort": 8080}]}, [
        ("boundary.network.serves", "spec.containers[0].ports[0]", SERVES)]),
}


def held(name, team, container=None, **spec):
    """A pod that asks for no more than its requirements declare, and for all that the spec can hold."""
    given = {"automountServiceAccountToken": False, "enableServiceLinks": False,
             "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
             "volumes": [{"name": "results", "emptyDir": {}}], **spec}
    made = pod(name, team, **given)
    made["spec"]["containers"][0].update({
        "workingDir": "/srv", "env": [{"name": "REPORT_FORMAT", "value": "pdf"}],
        "volumeMounts": [{"name": "results", "mountPath": "/srv/tmp/results"}],
        "resources": {"limits": {"cpu": "1", "memory": "64Mi"}},
        "securityContext": {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
                            "capabilities": {"drop": ["ALL"]}}, **(container or {})})
    return made


def deployment(name, team, replicas=0):
    spec = held(name, team)
    metadata = {"labels": {"app": name}, "annotations": spec["metadata"]["annotations"]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": team},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": metadata, "spec": spec["spec"]}}}


def network_policy(team, egress=()):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "closed", "namespace": team},
            "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": list(egress)}}


def annotation(**findings):
    """The audit annotation, byte for byte: control to its state and its findings; others are held."""
    controls = []
    for control in CONTROLS:
        state, items = findings.get(control, ("held", ()))
        controls.append({"control": control, "state": state,
                         "findings": [{"code": code, "place": place} for code, place in items]})
    return json.dumps({"schema": "sandbox.boundary.v1", "read": "pod spec at admission", "applied": False,
                       "controls": controls}, separators=(",", ":"))


class Boundary(Case):
    def setUp(self):
        self.world.gate.ensure()

    def signed(self, **labels):
        """A namespace with these labels and evidence."""
        team = self.team(**labels)
        self.publish(requirements(), team)
        return team

    def denial(self, team, findings, name="report", entry="pods.sandbox.runx.dev"):
        lines = [f'Error from server (Forbidden): error when creating "STDIN": admission webhook "{entry}" denied the '
                 f"request: {team}/Pod/{name} is refused: its sandbox plan is ready, but the pod does not meet it"]
        return "\n".join(lines + [f"{code} at {place}: {message}" for code, place, message in findings]) + "\n"

    def warning(self, code, place, message):
        return f"Warning: {code} at {place}: {message}\n"

    def test_each_contradiction_is_denied_in_a_namespace_that_blocks_them_and_admitted_elsewhere(self):
        blocks, records = self.signed(boundary="block"), self.signed()
        for what, (spec, container, findings) in CONTRADICTIONS.items():
            with self.subTest(what):
                done = self.control.create(held("report", blocks, container, **spec), dry_run=True)
                self.assertEqual((done.status, done.err), (1, self.denial(blocks, findings)))
                done = self.control.create(held("report", records, container, **spec), dry_run=True)
                self.assertEqual((done.status, done.err), (0, ""))

    def test_a_pod_that_asks_for_no_more_than_declared_runs_where_contradictions_are_blocked(self):
        team = self.signed(boundary="block")
        done = self.control.create(held("report", team))
        self.assertEqual((done.status, done.err), (0, ""))
        self.assert_allowed(self.control.kubectl("-n", team, "wait", "pod/report", "--for=condition=Ready", "--timeout=60s"))
        notes = self.notes(team)
        self.assertEqual((notes["outcome"], notes["boundary"]), ("ready", annotation(egress=("unknown", UNSEEN))))

    def test_the_audit_log_has_the_reading_of_the_pod_that_the_api_server_has_completed(self):
        team = self.signed()
        plain = pod("report", team)
        plain["spec"]["containers"][0]["env"] = [VARIABLE]
        done = self.control.create(plain)
        self.assertEqual((done.status, done.err), (0, ""))
        container = "spec.containers[0]"
        notes = self.notes(team)
        self.assertEqual(notes["boundary"], annotation(
            environment=("contradicted", [("boundary.env.unlisted", f"{container}.env[0].name"),
                                          ("boundary.env.service_links", "spec.enableServiceLinks")]),
            filesystem=("open", [("boundary.fs.root", container)]), egress=("unknown", UNSEEN),
            syscalls=("open", [("boundary.seccomp.unset", container)]),
            capabilities=("open", [(f"boundary.capability.{each}", container) for each in ("kept", "escalation", "root")]),
            resources=("open", [(f"boundary.resources.{each}", container) for each in ("cpu", "memory")]),
            isolation=("open", [("boundary.host.token", f"{container}.volumeMounts[0]")])))
        self.assertNotIn(SECRET, json.dumps(notes))

    def test_a_namespace_that_is_warned_gets_the_pod_and_a_warning_of_what_contradicts(self):
        team = self.signed(boundary="warn")
        done = self.control.create(held("report", team, {"env": [VARIABLE]}, enableServiceLinks=True))
        self.assertEqual((done.status, done.err),
                         (0, self.warning("boundary.env.unlisted", "spec.containers[0].env[0].name", UNLISTED)))

    def test_a_baseline_that_holds_controls_denies_what_is_open_there_whatever_the_label_says(self):
        team = self.signed(boundary="none")
        self.publish({"apiVersion": PREFIX + "v1", "kind": "SandboxBaseline", "baseline": {"network_allowed": False},
                      "boundary": {"hold": ["environment", "syscalls"]}}, team)
        unset = {"securityContext": {"runAsNonRoot": True}}
        links = ("boundary.env.service_links", "spec.enableServiceLinks", LINKS)
        seccomp = ("boundary.seccomp.unset", "spec.containers[0]", SECCOMP)

        def denied():
            return "boundary" in self.control.create(held("report", team, **unset), dry_run=True).err
        eventually(denied, "the baseline's effect")
        for spec, findings in (({"enableServiceLinks": True}, [links]), (unset, [seccomp]),
                               ({"enableServiceLinks": True, **unset}, [links, seccomp])):
            with self.subTest(spec):
                done = self.control.create(held("report", team, **spec), dry_run=True)
                self.assertEqual((done.status, done.err), (1, self.denial(team, findings)))
        done = self.control.create(held("report", team, {"securityContext": {}, "resources": {}}))
        self.assertEqual((done.status, done.err), (0, ""))

    def test_an_update_of_a_deployment_is_judged_if_only_its_variables_change_and_not_if_its_replicas_do(self):
        team = self.signed(boundary="warn")
        self.assertEqual(self.control.create(deployment("report", team)).err, "")
        done = self.control.kubectl("-n", team, "set", "env", "deployment/report", f"REPORT_TOKEN={SECRET}")
        self.assertEqual((done.status, done.err), (0, self.warning(
            "boundary.env.unlisted", "spec.template.spec.containers[0].env[1].name", UNLISTED)))
        self.assertEqual(self.notes(team, "deployments", verb="patch")["outcome"], "ready")
        done = self.control.kubectl("-n", team, "patch", "deployment/report", "-p", '{"spec":{"replicas":1}}')
        self.assertEqual((done.status, done.err), (0, ""))

        def outcomes():
            return [each.get("outcome") for each in self.audited(team, "deployments", verb="patch")]
        eventually(lambda: len(outcomes()) == 2, "the audit event of the second update")
        self.assertEqual(outcomes(), [None, "ready"])

    def test_a_network_policy_counts_from_when_it_is_seen_until_it_is_deleted(self):
        gate = self.world.gate
        gate.upgrade(boundary={"networkPolicies": True})
        self.addCleanup(gate.upgrade, boundary={"networkPolicies": False})
        team = self.signed()

        def reading():
            """The state of egress, and its findings."""
            self.assert_allowed(self.control.create(held("report-", team, generate=True), dry_run=True))
            control = json.loads(self.notes(team, dry_run=True)["boundary"])["controls"][CONTROLS.index("egress")]
            return control["state"], [(each["code"], each["place"]) for each in control["findings"]]
        opened = ("open", [("boundary.egress.open", "")])
        eventually(lambda: reading() == opened, "the upgrade's effect", seconds=60)
        self.assert_allowed(self.control.apply(network_policy(team)))
        eventually(lambda: reading() == ("held", []), "the policy's effect")
        self.assert_allowed(self.control.apply(network_policy(team, [{"to": [{"podSelector": {}}]}])))
        eventually(lambda: reading() == ("open", [("boundary.egress.some", "networkpolicy/closed")]), "the rule's effect")
        self.assert_allowed(self.control.kubectl("-n", team, "delete", "networkpolicy", "closed"))
        eventually(lambda: reading() == opened, "the deletion's effect")
