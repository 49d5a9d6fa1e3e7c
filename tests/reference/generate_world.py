# SPDX-License-Identifier: Apache-2.0
"""Random worlds: signed evidence, keyring, configuration, as a directory that the program reads."""

import base64
import hashlib
import json
import pathlib

import yaml

from generate import NAMES, PATHS
from keyring import openssl

NOW = "2026-03-01T12:00:00Z"
KEY_KINDS = {"alpha": ["-algorithm", "ed25519"],
             "beta": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
             "delta": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
             "stranger": ["-algorithm", "ed25519"]}
DIGEST_OPTION = {"beta": ["-digest", "sha256"], "delta": ["-digest", "sha384"]}
SAME_KEY = {"alias": "alpha"}  # two ids with one key, which counts once
# "sandgate-system/" sorts before "sandgate/", the shorter name
NAMESPACES = ["payments", "sandgate", "scratch", "staging", "odd", "plain", "sandgate-system", "gate-ns", "absent"]
SKILLS = [f"acme/{name}@1.0.0" for name in "abcdef"]
DIGESTS = ["sha256:" + f"{place:02x}" * 32 for place in range(1, 9)]
SIDECAR, DEBUG = DIGESTS[6], DIGESTS[7]
LEVEL_VALUES = ["none", "annotated", "required", "required", "annotated", "Required", "", "on", "required "]
USERS = ["alice", "system:node:n1", "ci-bot", "system:serviceaccount:payments:builder"]
ACCOUNTS = ["default", "builder", "ci"]
ENDS = ["2026-03-31T12:00:00Z", "2026-03-31T14:00:00+02:00", NOW, "2026-03-01T12:00:01Z", "2026-02-01T00:00:00Z",
        "2026-03-04T12:00:00Z", "2026-03-04T12:00:00.000000001Z", "2026-03-04T11:59:59Z", "9999-12-31T23:59:59Z"]
GOOD_OBSERVED = ["2026-02-28T12:00:00Z", "2026-02-28T13:00:00+01:00", "2026-02-27T12:00:00Z", NOW]
OBSERVED = GOOD_OBSERVED + [
            "2026-03-01T12:00:30Z", "2026-03-01T12:01:00Z", "2026-03-01T12:01:00.000000001Z", "2026-03-01T12:01:01Z",
            "2026-01-30T12:00:00Z", "2026-01-30T11:59:59.999999999Z", "2026-02-02T12:00:00Z", "2026-02-02T11:59:59Z",
            "2026-01-01T00:00:00Z", "2026-02-22T12:00:00Z", "2026-03-01T12:00:30.5+00:00"]
WAIVABLE = ["gate.annotation.missing", "gate.annotation.unknown", "gate.annotation.conflict", "gate.image.unlisted",
            "gate.image.unpinned", "gate.baseline.invalid", "gate.baseline.missing", "gate.evidence.missing",
            "gate.evidence.expired", "gate.evidence.conflict", "gate.annotation.invalid", "gate.review.unusable",
            "sandbox.workload.identity", "sandbox.requirements.provenance", "sandbox.time.missing",
            "sandbox.requirements.stale", "sandbox.baseline.writable_path", "sandbox.baseline.network"]


class Keys:
    """The private keys of a run, made by openssl."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, arguments in KEY_KINDS.items():
            (self.folder / name).write_bytes(openssl("genpkey", *arguments))

    def path(self, key_id):
        return str(self.folder / SAME_KEY.get(key_id, key_id))

    def public(self, key_id):
        return openssl("pkey", "-in", self.path(key_id), "-pubout").decode()

    def sign(self, key_id, data):
        """Base64 of a detached signature."""
        (self.folder / "data").write_bytes(data)
        signature = openssl("pkeyutl", "-sign", "-inkey", self.path(key_id), "-rawin", "-in", str(self.folder / "data"),
                            *DIGEST_OPTION.get(SAME_KEY.get(key_id, key_id), []))
        return base64.b64encode(signature).decode()


def maybe(random, chance):
    return random.random() < chance


class WorldMaker:
    """Writes one world into a directory."""

    waivable = WAIVABLE

    def __init__(self, random, folder, keys):
        self.random, self.keys = random, keys
        self.folder = pathlib.Path(folder)
        self.revoked, self.count, self.workloads = [], 0, []
        self.dirt = random.choice([0.1, 0.1, 0.5, 1])  # probability of errors in this world
        self.own = random.choice(["sandgate-system", "sandgate-system", "gate-ns", ""])
        for name in ("evidence", "keyring"):
            (self.folder / name).mkdir(parents=True)

    def choice(self, *values):
        return self.random.choice(values)

    def rarely(self, chance):
        """True with this probability, less often in a world with few errors."""
        return maybe(self.random, chance * self.dirt)

    def some(self, values, most=3):
        return self.random.sample(values, self.random.randrange(min(most, len(values)) + 1))

    def make(self):
        self.write_keyring()
        self.write_namespaces()
        for _ in range(self.random.randrange(6, 16)):
            self.write_document(self.requirements())
        for _ in range(self.random.choice([0, 1, 1, 2, 3])):
            self.write_document(self.baseline())
        for _ in range(self.random.randrange(4)):
            self.write_document(self.exemption())
        self.write_config()

    def write_keyring(self):
        self.ids = ["alpha", "beta"] + self.some(["delta", "alias"], 2)
        for key_id in self.ids:
            (self.folder / "keyring" / f"{key_id}.pem").write_text(self.keys.public(key_id))

    def labels(self):
        return {f"sandbox.runx.dev/{mode}": self.random.choice(LEVEL_VALUES)
                for mode in ("enforce", "warn", "audit") if maybe(self.random, 0.5)}

    def namespace_labels(self, name):
        fixed = {"payments": {"sandbox.runx.dev/enforce": "required"},
                 "scratch": {"sandbox.runx.dev/enforce": "annotated"},
                 "staging": {"sandbox.runx.dev/enforce": "none", "sandbox.runx.dev/warn": "required",
                             "sandbox.runx.dev/audit": "required"},
                 "plain": {}}
        return fixed.get(name, self.labels())

    def write_namespaces(self):
        manifests = [{"apiVersion": "v1", "kind": "Namespace",
                      "metadata": {"name": name, "labels": self.namespace_labels(name)}}
                     for name in NAMESPACES[:-1]]
        self.dump("namespaces.yaml", manifests)

    def dump(self, name, manifests):
        text = yaml.safe_dump_all(manifests, allow_unicode=True, width=10**6, sort_keys=False)
        (self.folder / "evidence" / name).write_text(text)

    # Documents

    def scope(self, tree):
        """Audiences and namespaces, mostly none."""
        if self.rarely(0.12):
            tree["audiences"] = self.some(["prod", "test"], 2)
        if self.rarely(0.2):
            tree["namespaces"] = self.some(NAMESPACES)
        return tree

    def planner_requirements(self):
        observed = OBSERVED if maybe(self.random, 0.3) else GOOD_OBSERVED
        tree = {"source_ref": "git:acme/x@1", "source_digest": "sha256:" + "ab" * 32,
                "observed_at": self.random.choice(observed)}
        if maybe(self.random, 0.7):
            tree["writable_paths"] = self.some(PATHS[:4] if maybe(self.random, 0.8) else PATHS)
        if maybe(self.random, 0.7):
            tree["env_allowlist"] = self.some(NAMES[:5] if maybe(self.random, 0.8) else NAMES)
        for name, values in (("network", [True, False]), ("require_enforcement", [True, True, False]),
                             ("cwd_policy", ["skill-directory", "workspace", "custom", "home"]),
                             ("allowed_syscalls", [[], ["read"], None]), ("resource_limits", [{}, {"cpu": 1}])):
            if self.rarely(0.1):
                tree[name] = self.random.choice(values)
        return tree

    def requirements(self):
        workload = {"skill_ref": self.random.choice(SKILLS)} if maybe(self.random, 0.7) \
            else {"image_digest": self.random.choice(DIGESTS[:6])}
        if maybe(self.random, 0.4):
            workload["class"] = self.choice("batch", "web", "x<y", " batch ")
        tree = {"apiVersion": "sandbox.runx.dev/v1", "kind": "SandboxRequirements", "workload": workload,
                "requirements": self.planner_requirements()}
        if maybe(self.random, 0.9):
            tree["images"] = self.some(DIGESTS[:6]) or DIGESTS[:2]
        if maybe(self.random, 0.3):
            tree["expires_at"] = self.random.choice(ENDS)
        self.workloads.append((workload, tree.get("images") or DIGESTS[:1]))
        return self.scope(tree)

    def baseline(self):
        fields = {"network_allowed": self.choice(True, False), "require_enforcement": self.choice(True, False),
                  "allowed_writable_paths": self.choice(["."], ["."], ["tmp"], ["tmp", "./tmp/results"]) + self.some(PATHS[:12], 2),
                  "allowed_env": NAMES[:4] + self.some(NAMES[:10], 8)}
        tree = {"apiVersion": "sandbox.runx.dev/v1", "kind": "SandboxBaseline",
                "baseline": {name: value for name, value in fields.items() if maybe(self.random, 0.4)}}
        if maybe(self.random, 0.3):
            tree["max_age_days"] = self.choice(1, 7, 7, 30, 30, 3650, self.choice(0, 3651, 1.5))
        if maybe(self.random, 0.7):
            tree["images"] = [SIDECAR] + self.some([DEBUG])
        return self.scope(tree)

    def exemption(self):
        match = {"namespaces": self.some(NAMESPACES + ["pay*", "s*", "*"], 4)}
        for name, values in (("skill_refs", SKILLS + ["acme/*", "acme/a*"]), ("image_digests", DIGESTS + ["sha256:*"]),
                             ("users", USERS + ["system:*"]), ("service_accounts", ACCOUNTS)):
            if maybe(self.random, 0.25):
                match[name] = self.some(values)
        if self.rarely(0.05):
            del match["namespaces"]
        tree = {"apiVersion": "sandbox.runx.dev/v1", "kind": "SandboxExemption", "match": match, "reason": "so be it",
                "expires_at": self.random.choice(ENDS)}
        if maybe(self.random, 0.5):
            tree["findings"] = self.some(self.waivable, len(self.waivable))
        if self.rarely(0.1):
            tree["audiences"] = self.some(["prod", "test"], 2)
        if self.rarely(0.05):
            tree.pop(self.choice("reason", "expires_at"))
        return tree

    # Errors

    def flawed_tree(self, tree):
        """Change the document so that it is usually invalid."""
        holder = self.random.choice([tree] + [value for value in tree.values() if isinstance(value, dict)])
        name = self.random.choice(list(holder)) if holder else "x"
        change = self.random.randrange(5)
        if change == 0:
            holder["unknown"] = self.choice(None, 1)
        elif change == 1:
            holder.pop(name, None)
        elif change == 2:
            holder[name] = self.choice(None, 1, [], {}, "", " x ", ["x"], [None], True)
        elif change == 3:
            holder[name] = [f"n{place}" for place in range(self.choice(100, 101))]
        else:
            holder[name] = "x" * self.choice(4096, 4097)
        return tree

    def flawed_text(self, text):
        return self.choice(
            text + "\nkind: SandboxBaseline\n", text + "\n---\nx: y\n", text.replace(": ", ": yes", 1), "[" + text,
            text + "\nunknown: true\n", text.replace("sandbox.runx.dev/v1", "v1"), "# comment\n" + text, "\ufeff" + text,
            text.replace("\n", "\r\n"), text + "#" + "x" * 65536, "\n", "null\n", "- x\n", text + "a: &b c\n", text + "a: !!str c\n",
            text.replace("Sandbox", "sandbox"), text + "\n" * (65536 - len(text.encode())))

    def signatures(self, data):
        """Usually one valid signature; sometimes two, none, a broken one, or one of another key."""
        random, keys = self.random, self.keys
        signed = {key_id: keys.sign(key_id, data)
                  for key_id in random.sample(self.ids, random.choice([1, 1, 1, 2, 2]))}
        flaw = random.random() * 1.6 / self.dirt
        if flaw < 0.04:
            return {}
        if flaw < 0.07:
            return {key_id: text[:-4] for key_id, text in signed.items()}
        if flaw < 0.10:
            return {"alpha": keys.sign("beta", data)}
        if flaw < 0.13:
            return {"alpha": keys.sign("stranger", data), "stranger": keys.sign("stranger", data)}
        if flaw < 0.16:
            return {key_id: keys.sign(key_id, data + b" ") for key_id in signed}
        if flaw < 0.19:
            return {key_id: f" {text[:9]}\n{text[9:]}\r\n" for key_id, text in signed.items()}
        if flaw < 0.22:
            signed["stranger"] = "x"
        return signed

    def write_document(self, tree):
        self.count += 1
        if self.rarely(0.1):
            tree = self.flawed_tree(tree)
        text = json.dumps(tree) if maybe(self.random, 0.2) else \
            yaml.safe_dump(tree, allow_unicode=True, width=10**6, sort_keys=False)
        if self.rarely(0.05):
            text = self.flawed_text(text)
        data = {"sandbox.yaml": text}
        name = f"doc-{self.random.randrange(10**6)}-{self.count}"
        own = self.own or "sandgate-system"
        exempts = tree.get("kind") == "SandboxExemption"
        namespace = own if maybe(self.random, 0.9 if exempts else 0.8) else self.random.choice(NAMESPACES[:-1])
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "namespace": namespace,
            "labels": {"sandbox.runx.dev/evidence": "false" if self.rarely(0.02) else "true"},
            "annotations": {f"signature.sandbox.runx.dev/{key_id}": signature
                            for key_id, signature in self.signatures(text.encode()).items()}}, "data": data}
        if self.rarely(0.02):
            manifest["binaryData"] = {"sandbox.yaml": base64.b64encode(text.encode()).decode()}
        if self.rarely(0.06):
            self.revoked.append("sha256:" + hashlib.sha256(text.encode()).hexdigest())
        self.dump(f"{name}.yaml", [manifest])
        self.write_copies(manifest, text)
        if maybe(self.random, 0.04):
            self.write_document(dict(tree, ticket="x"))

    def write_copies(self, manifest, text):
        """Sometimes objects with the same bytes: other names and namespaces, and sometimes other signatures."""
        for place in range(self.random.choice([0, 0, 0, 0, 1, 1, 3])):
            copy = json.loads(json.dumps(manifest))
            metadata, original = copy["metadata"], manifest["metadata"]
            metadata["name"] = f"{self.choice('a', 'z')}{place}-{original['name']}"
            metadata["namespace"] = self.choice(original["namespace"], "sandgate", "sandgate-system", "payments")
            if maybe(self.random, 0.4):
                metadata["annotations"] = {f"signature.sandbox.runx.dev/{key_id}": signature
                                           for key_id, signature in self.signatures(text.encode()).items()}
            self.dump(f"{metadata['name']}.yaml", [copy])

    # Configuration

    def write_config(self):
        (self.folder / "gate.yaml").write_text(json.dumps(self.config(), indent=1))

    def config(self):
        random = self.random
        evidence = {"source": "directory", "directory": "evidence", "revoked": self.revoked}
        if self.own:
            evidence["namespace"] = self.own
        for name, values, chance in (("unsigned", ["accept"], 0.25), ("audience", ["prod"], 0.4), ("maxAgeDays", [7, 27, 3650], 0.3),
                                     ("clockSkewSeconds", [0, 30], 0.2), ("minBaselines", [1, 2], 0.15)):
            if maybe(random, chance):
                evidence[name] = random.choice(values)
        config = {"apiVersion": "sandbox.runx.dev/v1", "kind": "GateConfiguration", "evidence": evidence,
                  "keyring": {"directory": "keyring", "threshold": self.choice(1, 1, 1, 1, 1, 1, 2)}}
        one_key = {"keys": ["beta"], "threshold": 1}
        if maybe(random, 0.2):
            config["keyring"]["kinds"] = {self.choice("SandboxExemption", "SandboxBaseline", "SandboxRequirements"):
                                          self.choice(one_key, {"threshold": 2}, {"keys": ["alpha", "beta"], "threshold": 1})}
        if maybe(random, 0.4):
            config["defaults"] = {name: random.choice(["none", "annotated", "required"])
                                  for name in ("enforce", "warn", "audit") if maybe(random, 0.5)}
        if maybe(random, 0.6):
            config.setdefault("defaults", {})["controllers"] = self.choice("none", "warn", "enforce", "enforce")
        if maybe(random, 0.2):
            config["floor"] = {self.choice("enforce", "warn", "audit"): self.choice("annotated", "required")}
        if maybe(random, 0.2):
            config["exempt"] = {"namespaces": self.some(["plain", "odd"], 1), "users": self.some(USERS, 1),
                                "runtimeClasses": self.some(["gvisor"], 1)}
        return config
