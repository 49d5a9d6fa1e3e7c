# SPDX-License-Identifier: Apache-2.0
"""Random AdmissionReviews for a random world."""

import copy
import json

import yaml

from generate import NAMES, PATHS
from generate_world import ACCOUNTS, DEBUG, DIGESTS, NAMESPACES, OBSERVED, SIDECAR, SKILLS, USERS, maybe
from pod import TEMPLATES

PREFIX = "sandbox.runx.dev/"
ODD_KEYS = [PREFIX + "skill_ref", PREFIX + "Skill-Ref", "Sandbox.runx.dev/skill-ref", "SANDBOX.RUNX.DEV/class", PREFIX,
            PREFIX + "clas", PREFIX + "evidence", PREFIX + "note\u202e"]
FOREIGN_KEYS = ["ſandbox.runx.dev/skill-ref", "sandbox.runx.dev.example/x", "xsandbox.runx.dev/y", "sandbox.runx.dev",
                "signature.sandbox.runx.dev/alpha", "team"]
BAD_IMAGES = ["app", "app:1", "app@sha256:abc", "app@" + DIGESTS[0].upper(), "App@" + DIGESTS[0], " app@" + DIGESTS[0],
              "a//b@" + DIGESTS[0], "app:@" + DIGESTS[0], "app@" + DIGESTS[0] + "@" + DIGESTS[0], "", "https://h/app@" + DIGESTS[0],
              "a__b@" + DIGESTS[0], "a___b@" + DIGESTS[0], "a--b@" + DIGESTS[0], "a._b@" + DIGESTS[0], "-a@" + DIGESTS[0],
              "h:5000/a@" + DIGESTS[0], "h:/a@" + DIGESTS[0], "[::1]:5/a@" + DIGESTS[0], "[::1]a@" + DIGESTS[0],
              "H.x/a@" + DIGESTS[0], "h_x/a@" + DIGESTS[0], "h-/a@" + DIGESTS[0], "a:" + "t" * 128 + "@" + DIGESTS[0],
              "a:" + "t" * 129 + "@" + DIGESTS[0], "a:.t@" + DIGESTS[0], "a:_t@" + DIGESTS[0], "a" * 255 + "@" + DIGESTS[0],
              "a" * 256 + "@" + DIGESTS[0], "h.x/" + "a" * 255 + "@" + DIGESTS[0], "é@" + DIGESTS[0], "a\u0000@" + DIGESTS[0],
              "h.x:1/" + "a/" * 127 + "b@" + DIGESTS[0], "localhost/a@" + DIGESTS[0], "a@" + DIGESTS[0] + "\n"]
ODD = [None, 1, "", "x", [], {}, True, [None], {"x": 1}]
BAD_REQUIREMENTS = ["[", "{", "a: b: c", "network: no", "network: yes", "- x", "x", "1", "true", "&a {}", "*a", "!!map {}",
                    "network: true\nnetwork: true", "<<: {}", "%YAML 1.2\n---\n{}", "a: 1\n---\nb: 2", "\tnetwork: true",
                    "1: x", "~: x", "network: 0x1f", "a: 012.5", "a: 1_000", '{"a":1,"a":2}', '{"a":"\\ud800"}', '"x',
                    "a: 1:30", "network: True", "a: \u0085", "é: é\nb: on", "é: on", "a: é\n  b: c", "[" * 65, "a: 5.",
                    '{"a":"\\u0000"}', "a: +1", "a: .5", "a: 1e3", "a: Null", "a: .inf", "yes: a", "a: 08", "{a: on}"]
EMPTY_REQUIREMENTS = ["", " \n", "# only this\n", "null", "~", "---\n", "--- # x\n...\n", "\ufeff", "{}", "--- {}\n..."]
SUBRESOURCES = ["status", "binding", "eviction", "exec", "log", "proxy", "attach", "portforward", "ephemeralcontainers",
                "resize", "unknown", "Status"]


class ReviewMaker:
    """Makes reviews similar to the evidence of the world."""

    workload_chance = 0.7

    def __init__(self, random, workloads):
        self.random, self.workloads = random, workloads
        self.workload, self.images, self.namespace = {}, DIGESTS, None

    def choice(self, *values):
        return self.random.choice(values)

    def requirements_tree(self):
        """Fields of the annotation that narrow, broaden, conflict or are invalid."""
        fields = {"network": [True, False, None, "no"], "writable_paths": [[], ["tmp"], ["tmp/results/a"], PATHS[:3], None],
                  "env_allowlist": [[], NAMES[:2], ["A"], ["TOKEN=x"], None, "A"], "cwd_policy": ["skill-directory", "workspace",
                                                                                          "custom", "home", " ", 1],
                  "require_enforcement": [True, False, None], "source_ref": ["git:acme/x@1", "git:other", " git:acme/x@1 ", 1, ""],
                  "source_digest": ["sha256:" + "ab" * 32, "x", None], "observed_at": OBSERVED + [1],
                  "allowed_syscalls": [[], ["read"], "", "x", 0], "resource_limits": [{}, {"cpu": 2}, False],
                  "unknown": [None, 1], "A=B": [1], "C=D": ["x"]}
        names = self.random.sample(list(fields), self.random.choice([0, 1, 1, 2, 3, 5]))
        if maybe(self.random, 0.15):
            names = ["source_ref", "source_digest", "observed_at"] + names
        return {name: self.random.choice(fields[name]) for name in names}

    def requirements(self):
        roll = self.random.random()
        if roll < 0.12:
            return self.random.choice(BAD_REQUIREMENTS)
        if roll < 0.22:
            return self.random.choice(EMPTY_REQUIREMENTS)
        tree = self.requirements_tree()
        if roll < 0.3 and maybe(self.random, 0.2):
            tree["writable_paths"] = ["p" * 3000 + str(place) for place in range(4)]
        if roll < 0.6:
            return json.dumps(tree, ensure_ascii=maybe(self.random, 0.5))
        return yaml.safe_dump(tree, allow_unicode=True, default_flow_style=self.choice(None, False, True))

    def annotations(self):
        result, random = {}, self.random
        if self.workload and maybe(random, 0.85):
            result = {PREFIX + name.replace("_", "-"): text for name, text in self.workload.items()
                      if name != "class" or maybe(random, 0.3)}
            return self.more_annotations(result)
        roll = random.random()
        if roll < 0.15:
            return result if maybe(random, 0.5) else {random.choice(FOREIGN_KEYS): "x"}
        if roll < 0.75:
            result[PREFIX + "skill-ref"] = random.choice(SKILLS + [f" {SKILLS[0]}\n", "acme/none@1", "bad", " ", ""])
        if roll > 0.7:
            result[PREFIX + "image-digest"] = random.choice(DIGESTS[:6] + ["bad", " ", DIGESTS[0].upper()])
        return self.more_annotations(result)

    def more_annotations(self, result):
        random = self.random
        if maybe(random, 0.1):
            result[PREFIX + "class"] = self.choice("batch", "web", "x<y", " ", " batch\n", "c" * 128, "c" * 129, "é", "~")
        if maybe(random, 0.4):
            result[PREFIX + "requirements"] = self.requirements()
        if maybe(random, 0.05):
            result[random.choice(ODD_KEYS)] = "x"
        return result

    def image(self):
        roll = self.random.random()
        if roll < 0.85:
            return f"registry.example.test/app:1@{self.random.choice(self.images)}"
        if roll < 0.88:
            return f"app@{self.random.choice(DIGESTS[:6])}"
        if roll < 0.93:
            return f"mesh@{self.choice(SIDECAR, DEBUG)}"
        return self.random.choice(BAD_IMAGES + [None])

    def containers(self, most):
        found = [{"name": f"c{place}", "image": self.image()} for place in range(self.random.randrange(most + 1))]
        return [{key: value for key, value in item.items() if value is not None} for item in found]

    def spec(self):
        random = self.random
        spec = {"containers": self.containers(1) or self.containers(2) or [{"name": "c", "image": self.image()}]}
        if maybe(random, 0.2):
            spec["initContainers"] = self.containers(2)
        if maybe(random, 0.1):
            spec["ephemeralContainers"] = self.containers(1)
        if maybe(random, 0.15):
            spec["volumes"] = [{"name": "v", "emptyDir": {}}, {"name": "i", "image": self.choice(
                {"reference": self.image()}, {}, None, {"reference": f"a@{SIDECAR}"})}]
        if maybe(random, 0.3):
            spec["serviceAccountName"] = random.choice(ACCOUNTS + [""])
        if maybe(random, 0.1):
            spec["runtimeClassName"] = self.choice("gvisor", "other", None)
        return spec

    def pod(self):
        metadata = self.choice({"name": "p"}, {"generateName": "p-"}, {"name": "p", "generateName": "p-"})
        annotations = self.annotations()
        if annotations or maybe(self.random, 0.3):
            metadata = dict(metadata, annotations=annotations)
        return {"metadata": metadata, "spec": self.spec()}

    def object(self, kind):
        """An object of a judged kind around its pod template."""
        tree = self.pod()
        for step in reversed(TEMPLATES[kind]):
            tree = {step: tree}
        if TEMPLATES[kind]:
            tree["metadata"] = {"name": "owner"}
            if maybe(self.random, 0.2):
                tree["metadata"]["annotations"] = {self.choice(PREFIX + "skill-ref", PREFIX + "odd", "team"): SKILLS[0]}
        return tree

    def spoil(self, tree):
        """Put a wrong value into a field that the gate reads."""
        path = []
        while isinstance(tree, (dict, list)) and tree:
            key = self.random.choice(list(tree) if isinstance(tree, dict) else list(range(len(tree))))
            path.append((tree, key))
            tree = tree[key]
        holder, key = self.random.choice(path)
        holder[key] = copy.deepcopy(self.random.choice(ODD))

    def change(self, tree, kind):
        """An old object: equal, nearly equal, or another."""
        roll = self.random.random()
        if roll < 0.35:
            return copy.deepcopy(tree)
        if roll < 0.6:
            other = copy.deepcopy(tree)
            holder = other
            for step in TEMPLATES[kind]:
                holder = holder[step]
            if maybe(self.random, 0.5):
                holder["spec"]["containers"][0]["image"] = self.image()
            else:
                holder["metadata"] = {"annotations": self.annotations(), "labels": {"x": "y"}}
            return other
        if roll < 0.7:
            return self.choice(None, {}, {"metadata": None})
        return self.object(kind)

    def kind(self):
        if maybe(self.random, 0.7):
            return ("", "Pod")
        if maybe(self.random, 0.9):
            return self.random.choice(list(TEMPLATES))
        return self.choice(("autoscaling", "Scale"), ("x", "Pod"), ("", "Deployment"), ("", "ConfigMap"), ("apps", "Job"))

    def review(self, place):
        random, kind, self.namespace = self.random, self.kind(), None
        self.workload, self.images = random.choice(self.workloads) if maybe(random, self.workload_chance) else ({}, DIGESTS)
        known = kind if kind in TEMPLATES else ("", "Pod")
        tree = self.object(known)
        operation = self.choice(*["CREATE"] * 8, *["UPDATE"] * 5, self.choice("DELETE", "CONNECT"))
        old = self.change(tree, known) if operation in ("UPDATE", "DELETE") else None
        if maybe(random, 0.08):
            self.spoil(tree)
        if old and maybe(random, 0.05):
            self.spoil(old)
        if operation == "DELETE" or maybe(random, 0.01):
            tree = None
        request = {"uid": f"uid-{place}", "kind": {"group": kind[0], "version": "v1", "kind": kind[1]},
                   "resource": {"group": kind[0], "version": "v1", "resource": "x"}, "operation": operation,
                   "namespace": self.namespace or random.choice(NAMESPACES + ["payments", "scratch"] * 2), "userInfo": self.user(),
                   "object": tree, "oldObject": old}
        if maybe(random, 0.5):
            request["name"] = self.choice("p", "p-x")
        if maybe(random, 0.07):
            request["subResource"] = random.choice(SUBRESOURCES)
        self.mirror(request)
        if tree and kind == ("", "Pod") and maybe(random, 0.04):
            self.enlarge(request)
        if maybe(random, 0.02):
            self.spoil_request(request)
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}

    def enlarge(self, request):
        """Values that are too large for a message, an annotation, a packet or a list."""
        metadata, spec = request["object"].setdefault("metadata", {}), request["object"].get("spec")
        if not isinstance(spec, dict) or not isinstance(metadata, dict) or \
                not isinstance(metadata.get("annotations") or {}, dict):
            return
        annotations = metadata.get("annotations") or {}
        metadata["annotations"] = annotations
        roll = self.random.randrange(5)
        if roll == 0:
            spec["containers"] = [{"image": self.image() or "app"} for _ in range(self.random.choice([30, 100, 300]))]
        elif roll == 1:
            annotations.update({f"{PREFIX}k{place}-{'<' * 150}": "" for place in range(self.random.choice([10, 100]))})
        elif roll == 2:
            spec["containers"] = [{"image": self.choice("\u202e", "\n", "<", "é", "\u0000") * 2000}]
        else:
            annotations[PREFIX + "requirements"] = json.dumps(self.long_requirements())

    def long_requirements(self):
        item = self.choice("<", "&", "é", '"', "x", "\u0001", "\u2028", "𝄞") * self.random.choice([10, 80, 300, 1000])
        count = self.random.choice([3, 20, 100, 101])
        name = self.choice("writable_paths", "env_allowlist")
        return {name: [f"tmp/{place}{item}" if maybe(self.random, 0.9) else f"N{place}" for place in range(count)],
                self.choice("source_ref", "x" * 5000, "unknown"): item * 3}

    def spoil_request(self, request):
        """Change the review so that it is usually unreadable (HTTP 400), sometimes only unusual."""
        name = self.choice("uid", "kind", "operation", "namespace", "userInfo", "name", "subResource", "object", "kind", "operation")
        if maybe(self.random, 0.4):
            request.pop(name, None)
        elif name == "kind" and maybe(self.random, 0.7):
            request["kind"][self.choice("group", "kind")] = self.choice(None, "", 1, "x")
        else:
            request[name] = self.choice(None, "", "PATCH", "create", 1, [], {}) if name != "uid" else ""

    def user(self):
        return {"username": self.random.choice(USERS),
                "groups": self.choice(["system:authenticated"], ["system:nodes", "system:authenticated"], [], None)}

    def mirror(self, request):
        metadata = (request["object"] or {}).get("metadata")
        if maybe(self.random, 0.05) and isinstance(metadata, dict) and isinstance(metadata.get("annotations", {}), dict):
            metadata.setdefault("annotations", {})["kubernetes.io/config.mirror"] = "x"
            if maybe(self.random, 0.5):
                request["userInfo"] = {"username": "system:node:n1", "groups": ["system:nodes"]}
