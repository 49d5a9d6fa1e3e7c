# SPDX-License-Identifier: Apache-2.0
"""Random pods, network policies, baselines and levels that reach every row of the boundary contract."""

import copy

from boundary import CODES, CONTROLS, MAX_ANNOTATION_BYTES, Reading
from generate import NAMES
from generate_review import ReviewMaker
from generate_world import DIGESTS, ENDS, NAMESPACES, NOW, SIDECAR, WAIVABLE, WorldMaker, maybe
from planner import audit_size
from pod import TEMPLATES, Pod

HIDDEN = "hunter2"  # stands in values, arguments and commands, and must not be in any answer
ABSENT = object()
WRONG = [None, 1, 0, "", "x", "true", [], {}, True, False, [None], {"x": 1}]
LEVELS = ["none", "record", "warn", "warn", "block", "block", "block", "Block", "", "block ", "on"]
WORKSPACES = ["/workspace/", "/srv//app/.", "/", "//", "/.", "work", "/a/../b", "/a\\..\\b", "/a\\b", " /workspace",
              "~", "/workspace/tmp", "."]
BENEATH = ["", "/", "/tmp/", "//tmp/./x", "/tmp/results", "/tmp/results/deep", "/tmp-private", "/tmpx", "/other",
           "/../tmp", "/tmp/..", "/tmp/../x", "/tmp\\..\\x", "/tmp/..x", "2/tmp", "/\\tmp", "xtmp", "/."]
PATHS = ["tmp", "tmp/results", "./tmp", "tmp//", ".", ".", "a", "tmp-private"]
ELSEWHERE = ["/", "//", "/tmp", "/tmp/", "/tmp/app/x", "/tmpx", "/srv/tmp/results", "/run/x", "/var/cache/nginx", "/etc",
             "/var/cache/nginx/x", "/var/cache/nginxx", "tmp", "./tmp", ".", " /tmp", "~/tmp", "/..", "/a/tmp\\", "\\tmp",
             "/a\\..\\b/tmp", "/a/../tmp", "/a\\..\\b/tmp", "/srv/a", "/srv/a/tmp/", "/srv/./tmp/x"]
MOUNTS = ["/", "/tmp", "/tmp/", "/tmp/app", "//var/./cache/nginx/", " /run\n", "/var", "/var/cache/nginx", "/workspace"]
BAD_MOUNTS = ["tmp", "", " ", "/a/../b", "/..", "/a\\..", "~", ".", 1, None, "/" + "x" * 4095, "/" + "x" * 4096]
VOLUMES = [{"emptyDir": {}}, {"emptyDir": {"medium": "Memory"}}, {"hostPath": {"path": "/var"}}, {"configMap": {"name": "a"}},
           {"secret": {"secretName": "a"}}, {"downwardAPI": {}}, {"projected": {"sources": [{"configMap": {}}]}},
           {"projected": {"sources": [{"secret": {}}, {"serviceAccountToken": {"path": "t"}}]}},
           {"projected": {"sources": [{"podCertificate": {}}]}}, {"projected": {"sources": [None, {"serviceAccountToken": 1}]}},
           {"projected": {"sources": {"serviceAccountToken": {}}}}, {"projected": {}},
           {"persistentVolumeClaim": {"claimName": "a"}}, {"persistentVolumeClaim": {"claimName": "a", "readOnly": True}},
           {"nfs": {"server": "h", "path": "/", "readOnly": False}}, {"csi": {"driver": "d", "readOnly": True}},
           {"csi": {"driver": "d", "readOnly": "true"}}, {"ephemeral": {"volumeClaimTemplate": {"readOnly": True}}},
           {"image": {"reference": f"a@{SIDECAR}"}}, {}, {"emptyDir": None}, {"configMap": None}, {"configMap": []},
           {"secret": "x"}, {"hostPath": "x"}, {"hostPath": {}}, {"iscsi": {"readOnly": True}}]
ENV = NAMES[:10] + ["PATH", "a b", f"K={HIDDEN}", "", "A" * 128, "A" * 129, "é", "A\u0000", " A"]
LIMITS = ["500m", "1", "0", "0m", "0.0", "00", "0e5", "0Ki", "0.5", ".5", "5.", "1e3", "0E3", "+1", "+0", "-1", "m5", "e5",
          "", " 1", "1Gi", 1, 0, 0.5, 0.0, 1e300, True, None, {}, ["1"]]
PORTS = [{"containerPort": 80}, {"containerPort": 80, "hostPort": 80}, {"hostPort": 0}, {"hostPort": 0.0}, {"hostPort": 0.5},
         {"hostPort": "80"}, {"hostPort": None}, {"hostPort": True}, {"hostPort": 10**20}, {}, None, 80, "x", []]
HANDLERS = ["httpGet", "httpGet", "tcpSocket", "grpc", "exec", "sleep"]
CAPABILITIES = [["ALL"], ["all"], ["All", "NET_RAW"], ["NET_RAW"], [], ["ALL "], [None], [1, "ALL"], "ALL", {"ALL": 1}]
TYPES = ["RuntimeDefault", "Localhost", "Unconfined", "runtimeDefault", "RuntimeDefault ", "", None, 1]
USERS = [0, 1000, 0.0, -1, 1.5, "0", None, True, 10**20]
LABELS = [{}, {"app": "a"}, {"app": "b", "tier": ""}, {"app": "a", "zone": "z"}, {"app": 1}, {"app": None, "zone": "z"}, None]
EXPRESSIONS = [{"key": "app", "operator": "In", "values": ["a", "b"]}, {"key": "app", "operator": "NotIn", "values": ["a"]},
               {"key": "app", "operator": "Exists"}, {"key": "tier", "operator": "Exists"},
               {"key": "zone", "operator": "DoesNotExist"},
               {"key": "tier", "operator": "In", "values": [""]}, {"key": "zone", "operator": "Exists", "values": []},
               {"key": "zone", "operator": "DoesNotExist", "values": ["x"]}]
UNCLEAR = [{"key": "app", "operator": "Gt", "values": ["1"]}, {"key": "app", "operator": "in", "values": ["a"]},
           {"key": "app", "operator": "In"}, {"key": "app", "operator": "NotIn", "values": []}, {"key": "app"}, {}, "x",
           {"key": "app", "operator": "In", "values": "a"}, {"key": "app", "operator": "In", "values": ["a", 1]},
           {"key": 1, "operator": "Exists"}, {"key": "app", "operator": "Exists", "values": "x"}]
SELECTORS = [None, {}, {"matchLabels": {}}, {"matchLabels": None}, {"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}},
             {"matchLabels": {"tier": ""}}, {"matchLabels": {"app": 1}}, {"matchLabels": "x"}, {"matchLabels": ["app"]}, "x", [],
             {"matchLabels": {"app": "never"}}, {"matchExpressions": {}}, {"matchExpressions": []}]
PEERS = [{"podSelector": {}}, {"namespaceSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}, {"ipBlock": {"cidr": "0.0.0.0/0"}},
         {"ipBlock": {"cidr": "::/0"}}, {"ipBlock": {"cidr": "10.1.2.3/00"}}, {"ipBlock": {"cidr": "0.0.0.0/0/8"}},
         {"ipBlock": {"cidr": "0.0.0.0/8/0"}}, {"ipBlock": {"cidr": "0.0.0.0"}}, {"ipBlock": {"cidr": 0}}, {"ipBlock": {}},
         {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}, {"ipBlock": {"cidr": "0.0.0.0/0", "except": []}},
         {"ipBlock": {"cidr": "::/0", "except": None}}, {"ipBlock": {"cidr": "0.0.0.0/0", "except": "x"}},
         {"ipBlock": {"cidr": "0.0.0.0/0", "except": [1]}}, {"ipBlock": {"cidr": "0.0.0.0/10"}}, {"ipBlock": "x"}, {}, None, "x"]
POLICY_TYPES = [["Egress"]] * 8 + [["Ingress", "Egress"], ["Ingress"], [], None, ABSENT, ["egress"], "Egress", [1, "Egress"]]
POLICY_NAMES = ["a", "a-b", "a.b", "a0", "b10", "b9", "aa"] + [f"p{place}" for place in range(18)]
SIZED = "sized"  # the label of pods whose annotation is as long as admitted, and of policies with names of each length
LONGEST_NAME = 120


class BoundaryWorldMaker(WorldMaker):
    """Worlds with levels, baselines and network policies of the boundary."""

    waivable = WAIVABLE + ["boundary." + code for code in CODES]

    def __init__(self, random, folder, keys):
        super().__init__(random, folder, keys)
        self.dirt = self.choice(0.05, 0.1, 0.5)

    def make(self):
        super().make()
        if maybe(self.random, 0.8):
            self.write_policies()

    def namespace_labels(self, name):
        labels = super().namespace_labels(name)
        if maybe(self.random, 0.75):
            labels = dict(labels, **{"sandbox.runx.dev/boundary": self.choice(*LEVELS)})
        return labels

    def config(self):
        config = super().config()
        if maybe(self.random, 0.3):
            config.setdefault("defaults", {})["boundary"] = self.choice("none", "record", "warn", "block")
        if maybe(self.random, 0.15):
            config.setdefault("floor", {})["boundary"] = self.choice("none", "record", "warn", "block")
        if maybe(self.random, 0.3):
            config["boundary"] = {"networkPolicies": self.choice(True, False)}
        return config

    def exemption(self):
        tree = super().exemption()
        if maybe(self.random, 0.5):
            tree["findings"] = [code for code in self.waivable if not self.rarely(0.1)]
            tree.update(match={"namespaces": self.some(NAMESPACES, len(NAMESPACES))}, expires_at=self.choice(*ENDS[:2], *ENDS[3:]))
        return tree

    def planner_requirements(self):
        tree = super().planner_requirements()
        if maybe(self.random, 0.7):
            tree.update(observed_at=NOW, writable_paths=self.some(PATHS))
        if maybe(self.random, 0.35):
            tree.update(network=True, writable_paths=[])
        return tree

    def baseline(self):
        tree, boundary = super().baseline(), {}
        if maybe(self.random, 0.4):
            tree["images"] = [SIDECAR] + self.some(DIGESTS[:6])
        if maybe(self.random, 0.4):
            boundary["hold"] = self.some(list(CONTROLS), len(CONTROLS)) + self.some([" resources", "egress\n"], 1)
        if maybe(self.random, 0.5):
            boundary["mounts"] = self.some(MOUNTS, 4)
        if self.rarely(0.3):
            self.spoil_boundary(boundary)
        if boundary or maybe(self.random, 0.2):
            tree["boundary"] = boundary
        return tree

    def spoil_boundary(self, boundary):
        """Change it so that it is usually invalid."""
        change = self.random.randrange(5)
        if change == 0:
            boundary["hold"] = [self.choice("Syscalls", "", None, 1, "networkpolicy", "boundary.fs.root")]
        elif change == 1:
            boundary["mounts"] = ["/tmp", self.choice(*BAD_MOUNTS)]
        elif change == 2:
            boundary[self.choice("hold", "mounts")] = self.choice(None, "x", {}, 1, True)
        elif change == 3:
            boundary["mounts"] = [f"/m{place}" for place in range(self.choice(100, 101))]
        else:
            boundary[self.choice("mount", "Hold", "x")] = self.choice([], None)

    # Network policies

    def selector(self):
        roll = self.random.random()
        if roll < 0.5:
            return copy.deepcopy(self.random.choice(SELECTORS))
        expressions = self.some(EXPRESSIONS) if roll < 0.8 else self.some(EXPRESSIONS, 1) + self.some(UNCLEAR, 1)
        return {"matchLabels": self.choice({}, {"app": "a"}), "matchExpressions": expressions}

    def rules(self):
        if maybe(self.random, 0.3):
            return self.choice([], None, "x", {}, [None], [{}], [{"ports": [{"port": 443}]}], [{"to": []}], [{"to": "x"}], ["x"])
        return [{"to": self.some(PEERS, self.choice(1, 1, 3)), "ports": []} for _ in range(self.choice(1, 1, 2))]

    def policy(self, name, namespace):
        spec = {"podSelector": self.selector()} if maybe(self.random, 0.9) else {}
        if maybe(self.random, 0.8):
            spec["egress"] = self.rules()
        types = self.random.choice(POLICY_TYPES)
        if types is not ABSENT:
            spec["policyTypes"] = types
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
                "metadata": {key: value for key, value in metadata.items() if value}, "spec": spec}

    def write_policies(self):
        """Of some namespaces; of scratch also one for each length of a name."""
        manifests = [self.policy(name, namespace) for namespace in NAMESPACES + [""]
                     for name in (self.some(POLICY_NAMES, self.choice(2, 25)) if maybe(self.random, 0.7) else [])]
        if maybe(self.random, 0.2):
            manifests = [dict(manifest, apiVersion="crd.projectcalico.org/v1") for manifest in manifests]
        if maybe(self.random, 0.4):
            manifests = [manifest for manifest in manifests if manifest["metadata"].get("namespace") != "scratch"]
            manifests += [sizing_policy(length) for length in range(1, LONGEST_NAME)]
        self.dump("policies.yaml", [manifest for manifest in manifests if manifest])


def sizing_policy(length):
    """A policy of scratch with an egress rule and a name of this many bytes."""
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {"name": "p" * length, "namespace": "scratch"},
            "spec": {"podSelector": {"matchLabels": {SIZED: str(length)}}, "policyTypes": ["Egress"], "egress": [{}]}}


class BoundaryReviewMaker(ReviewMaker):
    """Reviews of pods that ask for more or less than was declared."""

    workload_chance = 0.95

    def __init__(self, random, workloads):
        super().__init__(random, workloads)
        self.bad = 0.5

    def some_of(self, values, most):
        return [copy.deepcopy(self.random.choice(values)) for _ in range(self.random.randrange(most + 1))]

    def put(self, tree, name, good, *bad):
        """Usually the good value; sometimes one of the others, a wrong type, or none."""
        value = good
        if maybe(self.random, self.bad):
            value = self.choice(*bad, ABSENT) if maybe(self.random, 0.85) else self.choice(*WRONG)
        if value is not ABSENT:
            tree[name] = copy.deepcopy(value)
        return tree

    # Parts of a container

    def mount(self, directory, volumes):
        path = directory + self.choice(*BENEATH) if maybe(self.random, 0.6) else self.choice(*ELSEWHERE)
        tree = self.put({}, "name", self.choice(*volumes), "unlisted", "")
        self.put(tree, "mountPath", path if maybe(self.random, max(self.bad, 0.3)) else "/workspace/tmp/results/x", path)
        self.put(tree, "readOnly", self.choice(ABSENT, ABSENT, True), True, False, "true")
        self.put(tree, "subPath", ABSENT, "x/..")
        return tree if not maybe(self.random, self.bad * 0.05) else self.choice(None, "x", [])

    def variable(self):
        tree = self.put({}, "name", self.choice("A", "a", "A_B"), *ENV)
        tree["value"] = HIDDEN
        return tree if not maybe(self.random, self.bad * 0.1) else self.choice(None, "x", {}, [])

    def limits(self):
        tree = self.put({}, "cpu", "500m", *LIMITS)
        return self.put(tree, "memory", "1Gi", *LIMITS)

    def windows(self):
        return self.choice({"hostProcess": True}, {"hostProcess": False}, {"hostProcess": "true"}, {}, None)

    def profile(self):
        return self.put({}, "type", "RuntimeDefault", *TYPES)

    def context(self):
        tree = self.put({}, "readOnlyRootFilesystem", True, False, "true")
        self.put(tree, "allowPrivilegeEscalation", False, True, "false")
        self.put(tree, "privileged", ABSENT, True, True, False, "true")
        capabilities = self.put({}, "drop", ["ALL"], *CAPABILITIES)
        added = self.choice(ABSENT, ABSENT, ABSENT, ["CHOWN"]) if self.bad else ABSENT
        self.put(tree, "capabilities", self.put(capabilities, "add", added, [], ["NET_ADMIN", "X"], [None], "x"), {}, None)
        self.put(tree, "seccompProfile", self.choice(ABSENT, self.profile()), self.profile(), {})
        self.put(tree, "runAsUser", self.choice(ABSENT, 1000), *USERS)
        self.put(tree, "runAsNonRoot", self.choice(ABSENT, True), True, False, "true")
        self.put(tree, "procMount", ABSENT, "Default", "Unmasked", "default", "")
        return self.put(tree, "windowsOptions", ABSENT, self.windows())

    def handlers(self):
        return {name: self.choice({}, {"port": 80}, None, "x") for name in self.some_of(HANDLERS, 2)}

    def asked(self, container):
        """Ports, probes and handlers of a lifecycle."""
        ports = [self.some_of(PORTS, 3) for _ in range(3)]
        self.put(container, "ports", self.choice(*[ABSENT] * 5, self.some_of(PORTS, 1)), *ports)
        for name in ("livenessProbe", "readinessProbe", "startupProbe"):
            self.put(container, name, self.choice(ABSENT, {"exec": {"command": [HIDDEN]}}), self.handlers(), self.handlers())
        self.put(container, "lifecycle", ABSENT, {"preStop": self.handlers(), "postStart": self.handlers()},
                 {"preStop": None, "postStart": self.handlers()}, {"preStop": {"sleep": {"seconds": 1}}})

    def container(self, tree, volumes):
        tree.update(command=[HIDDEN], args=[HIDDEN])
        directory = "/workspace" if not maybe(self.random, max(self.bad, 0.1)) else self.choice(*WORKSPACES)
        self.put(tree, "workingDir", directory if not maybe(self.random, 0.1) else ABSENT)
        self.put(tree, "env", self.choice(ABSENT, [self.variable()]), [self.variable() for _ in range(3)])
        self.put(tree, "envFrom", ABSENT, [{"prefix": "A_", "configMapRef": {"name": "x"}}], [None, {}], [])
        self.put(tree, "volumeMounts", *[[self.mount(directory, volumes) for _ in range(self.choice(1, 2, 6))] for _ in range(2)])
        self.put(tree, "volumeDevices", ABSENT, [{"name": "d", "devicePath": "/dev/x"}], [None, {}], [])
        self.put(tree, "securityContext", self.context(), {})
        self.put(tree, "resources", {"limits": self.limits()}, {"limits": {}}, {"requests": {"cpu": 1}})
        self.asked(tree)

    # The pod

    def pod_context(self):
        tree = self.put({}, "seccompProfile", self.profile(), {}, {"type": "Unconfined"})
        self.put(tree, "runAsUser", self.choice(ABSENT, ABSENT, 1000), *USERS)
        self.put(tree, "runAsNonRoot", True, False, "true")
        return self.put(tree, "windowsOptions", ABSENT, self.windows())

    def spec(self):
        """A spec of which each part is usually good, sometimes, or rarely."""
        self.bad = self.choice(0, 0.02, 0.02, 0.1, 0.3, 0.6)
        spec = super().spec()
        volumes = [dict(copy.deepcopy(tree), name=f"v{place}") for place, tree in
                   enumerate([{"emptyDir": {}}] + self.some_of(VOLUMES, 6))]
        if maybe(self.random, self.bad):
            volumes += [{"name": "v0", "configMap": {}}, {"emptyDir": {}}, dict(self.choice(*VOLUMES), name="")]
            self.random.shuffle(volumes)
        names = [volume.get("name", "v0") for volume in volumes]
        for kind in ("initContainers", "containers", "ephemeralContainers"):
            for tree in spec.get(kind, []):
                self.container(tree, names)
        self.put(spec, "volumes", volumes, volumes)
        self.put(spec, "securityContext", self.pod_context(), {})
        self.put(spec, "resources", ABSENT, {"limits": self.limits()}, {"limits": {"cpu": "0"}})
        for name, good in (("enableServiceLinks", False), ("automountServiceAccountToken", False), ("hostUsers", ABSENT),
                           ("hostNetwork", ABSENT), ("hostPID", ABSENT), ("hostIPC", False), ("shareProcessNamespace", ABSENT)):
            self.put(spec, name, good, True, False, "true")
        items = list(spec.items())
        self.random.shuffle(items)
        return dict(items)

    def pod(self):
        tree = super().pod()
        if maybe(self.random, 0.8):
            tree["metadata"] = dict(tree["metadata"], labels=copy.deepcopy(self.random.choice(LABELS)))
        if maybe(self.random, 0.7):
            tree["metadata"] = dict(tree["metadata"], uid=self.choice("u-1", "u-1", "u-1", "", None, 1))
        return tree if not maybe(self.random, 0.06) else self.sized(tree)

    def sized(self, tree):
        """A pod of scratch whose annotation is as long as the limit, or a few bytes shorter or longer."""
        self.namespace, self.bad = "scratch", 0
        volumes = ["v0"]
        spec = {"containers": self.containers(1) or [{"image": self.image()}], "volumes": [{"name": "v0", "emptyDir": {}}],
                "enableServiceLinks": False, "automountServiceAccountToken": False, "securityContext": self.pod_context()}
        self.container(spec["containers"][0], volumes)
        tree = {"metadata": dict(tree["metadata"], uid="u-1"), "spec": spec}
        entries, declaration = [], {"env_allowlist": [], "network": False, "writable_paths": []}
        spec["containers"][0].update(env=entries, volumeMounts=[])
        while audit_size(self.annotate(tree, 1, declaration)) < MAX_ANNOTATION_BYTES - LONGEST_NAME + 10:
            entries.append({"name": f"Z{len(entries)}", "value": HIDDEN})
        wanted = MAX_ANNOTATION_BYTES + self.choice(-1, 0, 0, 1, 1, 2) - audit_size(self.annotate(tree, 1, declaration))
        self.annotate(tree, 1 + wanted, declaration)
        return tree

    def annotate(self, tree, length, declaration):
        """The annotation of a pod for which there is a policy with a name of this many bytes."""
        tree["metadata"]["labels"] = {SIZED: str(length)}
        return Reading(Pod(("", "Pod"), tree), declaration, DIGESTS, [], [sizing_policy(length)]).annotation()

    def review(self, place):
        """Mostly of pods and controllers that are made, in one of the ways that are judged."""
        review = super().review(place)
        if maybe(self.random, 0.5) and review["request"].get("object"):
            review["request"].update(operation="CREATE", oldObject=None)
            review["request"].pop("subResource", None)
        return review

    def change(self, tree, kind):
        """An old object: sometimes one whose template differs in nothing else than its spec, or in its labels."""
        if not maybe(self.random, 0.5):
            return super().change(tree, kind)
        old = copy.deepcopy(tree)
        template = old
        for step in TEMPLATES[kind]:
            template = template[step]
        spec, container = template["spec"], template["spec"]["containers"][0]
        items = list(spec.items())
        changes = [lambda: container.update(env=[{"name": "A", "value": "other"}]), lambda: spec.update(x=None),
                   lambda: spec.update(dnsPolicy="Default"), lambda: template["metadata"].update(labels={"app": "old"}),
                   lambda: spec.pop("enableServiceLinks", None), lambda: container.update(args=["other"]),
                   lambda: old["metadata"].update(labels={"x": "y"}), lambda: old.update(status={"x": 1}),
                   lambda: spec.update(hostPID=self.choice(1, True, "x")), lambda: container.update(args=[HIDDEN, HIDDEN]),
                   lambda: (spec.clear(), spec.update(reversed(items)))]
        self.choice(*changes)()
        return old
