# SPDX-License-Identifier: Apache-2.0
"""Signed evidence from a directory of manifests (gate-v1, section 4), and configuration
(section 10): the inputs of the reference gate besides the review."""

import base64
import copy
import hashlib
import pathlib
import re

import yaml

from boundary import CONTROLS
from keyring import load_keyring, verifying_keys
from moment import read_moment
from planner import (
    BASELINE, DIGEST, REQUIREMENTS, Fields, Findings, check_identity, check_max_age, has_parent_segment)
from reader import Unreadable, decode, read_either, read_yaml

LABEL = "sandbox.runx.dev/evidence"
ENTRY = "sandbox.yaml"
API_VERSION = "sandbox.runx.dev/v1"
MAX_DOCUMENT_BYTES = 64 * 1024
NETWORK_POLICY = ("networking.k8s.io/v1", "NetworkPolicy")
OWN_NAMESPACE = "sandgate-system"
BASELINE_LINE = re.compile(r"(?m)^kind: SandboxBaseline[ \t\r]*$")

HEAD = {"apiVersion": "text", "kind": "text", "audiences": "list"}
SCHEMAS = {
    "SandboxRequirements": dict(HEAD, workload="object", requirements="object", images="list",
                                namespaces="list", expires_at="text"),
    "SandboxBaseline": dict(HEAD, baseline="object", boundary="object", max_age_days="number",
                            images="list", namespaces="list"),
    "SandboxExemption": dict(HEAD, match="object", reason="text", expires_at="text",
                             findings="list", ticket="text"),
}
IDENTITY = {"image_digest": "text", "skill_ref": "text", "class": "text"}
BOUNDARY = {"hold": "list", "mounts": "list"}
MATCH = dict.fromkeys(("namespaces", "skill_refs", "image_digests", "users", "service_accounts"),
                      "list")


class Invalid(Exception):
    """A document that is not one of the three kinds."""


def need(condition, what):
    if not condition:
        raise Invalid(what)


def texts(entries):
    """A list as Fields reads it, without the places. None if absent."""
    return None if entries is None else [text for _, text in entries]


class Document:
    """One ConfigMap with the evidence label: state is 'valid', 'absent' or 'invalid'."""

    def __init__(self, manifest, keyring, config):
        metadata = manifest["metadata"]
        self.namespace = metadata.get("namespace") or "default"
        self.name = metadata["name"]
        self.kind, self.state, self.reason = None, "invalid", ""
        self.class_, self.requirements = "", {}
        self.skill_ref = self.image_digest = None
        self.images, self.namespaces, self.audiences = [], None, None
        self.expires_at, self.observed_at, self.until = None, None, ""
        text = (manifest.get("data") or {}).get(ENTRY)
        binary = (manifest.get("binaryData") or {}).get(ENTRY)
        self.bytes = text.encode() if text is not None else base64.b64decode(binary or "")
        self.digest = "sha256:" + hashlib.sha256(self.bytes).hexdigest()
        self.keys = verifying_keys(metadata.get("annotations") or {}, self.bytes, keyring)
        try:
            need(binary is None, "binaryData")
            need(text is not None, "no document")
            self.read(config)
        except (Invalid, Unreadable) as error:
            self.reason = str(error)
        self.calls_itself_baseline = self.says_baseline()

    def says_baseline(self):
        """Whether it is a baseline: by its kind or, if it does not parse, by a line."""
        try:
            tree = read_either(decode(self.bytes))
            return isinstance(tree, dict) and tree.get("kind") == "SandboxBaseline"
        except Unreadable:
            return bool(BASELINE_LINE.search(self.bytes.decode("utf-8", "replace")))

    def read(self, config):
        """Signatures first, then revocation, form and audience."""
        need(self.keys, "no key verifies")
        need(len(self.bytes) <= MAX_DOCUMENT_BYTES, "over 64 KiB")
        revoked = self.digest in config["evidence"]["revoked"]
        try:
            tree = read_either(decode(self.bytes))
        except Unreadable:
            if not revoked:
                raise
            self.state, self.reason = "absent", "revoked"  # revoking works whether it reads or not
            return
        need(isinstance(tree, dict), "no object")
        self.kind = tree.get("kind")
        need(isinstance(self.kind, str) and self.kind in SCHEMAS, "another kind")
        need(self.distinct_keys(config) >= threshold(config, self.kind), "too few keys")
        if revoked:
            self.state, self.reason = "absent", "revoked"
            return
        self.read_fields(tree)
        audience = config["evidence"]["audience"]
        if self.audiences is not None and (not audience or audience not in self.audiences):
            self.state, self.reason = "absent", "another audience"
        else:
            self.state = "valid"

    def distinct_keys(self, config):
        """The different keys, compared by value, that can sign this kind."""
        named = config["keyring"]["kinds"].get(self.kind, {}).get("keys")
        return len({key.numbers for key_id, key in self.keys.items()
                    if named is None or key_id in named})

    def read_fields(self, tree):
        """The fields of the document by the table of its kind. Raises Invalid otherwise."""
        findings = Findings()
        fields = Fields(tree, SCHEMAS[self.kind], "", findings)
        need(fields.get("apiVersion") == API_VERSION, "another apiVersion")
        self.audiences = texts(fields.get("audiences"))
        self.namespaces = texts(fields.get("namespaces"))
        self.images = texts(fields.get("images")) or []
        need(all(DIGEST.match(image) for image in self.images), "an image that is no digest")
        self.until = fields.get("expires_at", "")
        if self.until:
            self.expires_at = read_moment(self.until)
            need(self.expires_at is not None, "expires_at")
        {"SandboxRequirements": self.read_requirements, "SandboxBaseline": self.read_baseline,
         "SandboxExemption": self.read_exemption}[self.kind](fields, findings)
        need(not findings.seen, "a field that is unknown, wrong or over a limit")

    def read_requirements(self, fields, findings):
        workload = Fields(fields.get("workload"), IDENTITY, "", findings)
        check_identity(workload, findings)
        self.skill_ref, self.image_digest = workload.get("skill_ref"), workload.get("image_digest")
        self.class_ = workload.get("class", "")
        if self.image_digest:
            self.images = self.images + [self.image_digest]
        self.requirements = fields.get("requirements")
        need(self.requirements is not None, "no requirements")
        required = Fields(self.requirements, REQUIREMENTS, "", findings)
        self.observed_at = read_moment(required.get("observed_at", ""))
        need(self.observed_at is not None, "no observed_at")

    def read_baseline(self, fields, findings):
        self.baseline = fields.get("baseline")
        need(self.baseline is not None, "no baseline")
        Fields(self.baseline, BASELINE, "", findings)
        self.max_age_days = None
        if "max_age_days" in fields.values:
            self.max_age_days = check_max_age(fields, findings)

        boundary = Fields(fields.get("boundary"), BOUNDARY, "", findings)
        self.hold = texts(boundary.get("hold", []))
        self.mounts = texts(boundary.get("mounts"))
        need(all(name in CONTROLS for name in self.hold), "hold names no control")
        need(all(path.startswith("/") and not has_parent_segment(path)
                 for path in self.mounts or []), "a path in mounts that is not absolute")

    def read_exemption(self, fields, findings):
        need(fields.get("match") is not None, "no match")
        match = Fields(fields.get("match"), MATCH, "", findings)
        self.match = {name: texts(entries) for name, entries in match.values.items()}
        need("namespaces" in self.match, "no namespaces")
        need(not any("*" in entries for entries in self.match.values()), "a star alone")
        need(fields.get("reason") and self.expires_at is not None, "no reason or no end")
        self.codes = texts(fields.get("findings"))

    def in_scope(self, namespace):
        return self.namespaces is None or namespace in self.namespaces

    def is_expired(self, now):
        """Whether expires_at is not after now."""
        return self.expires_at is not None and self.expires_at <= now

    def place(self):
        """The name in findings and annotations."""
        return f"{self.namespace}/{self.name}"

    def annotation(self):
        """`<namespace>/<name> sha256:<hex> keys=<id>,<id>` (section 7)."""
        return f"{self.place()} {self.digest} keys={','.join(sorted(self.keys))}"


def threshold(config, kind):
    """The number of different keys that a kind requires."""
    general = config["keyring"]["threshold"]
    return config["keyring"]["kinds"].get(kind, {}).get("threshold", general)


# Configuration (section 10): the parts on which a decision depends

DEFAULTS = {
    "keyring": {"directory": "", "threshold": 1, "kinds": {}},
    "evidence": {"directory": "", "namespace": "", "unsigned": "refuse", "maxAgeDays": 30,
                 "clockSkewSeconds": 60, "revoked": [], "audience": "", "minBaselines": 0},
    "defaults": {"enforce": "annotated", "warn": "none", "audit": "none", "controllers": "warn",
                 "boundary": "record"},
    "floor": {"enforce": "none", "warn": "none", "audit": "none", "boundary": "none"},
    "boundary": {"networkPolicies": False},
    "exempt": {"namespaces": [], "users": [], "runtimeClasses": []},
}


def load_config(path):
    """The configuration with its defaults. Unknown keys are ignored; the program checks them."""
    config = copy.deepcopy(DEFAULTS)
    tree = read_yaml(decode(pathlib.Path(path).read_bytes()))
    for section, defaults in config.items():
        given = tree.get(section) or {}
        defaults.update({key: value for key, value in given.items() if value is not None})
    return config


class World:
    """Configuration, namespaces, network policies and evidence at one time."""

    def __init__(self, config, evidence, keyring):
        self.config = config
        self.own = config["evidence"]["namespace"] or OWN_NAMESPACE
        self.namespaces, self.documents, self.policies = {}, [], []
        keys = load_keyring(keyring)
        for manifest in read_manifests(evidence):
            self.add(manifest, keys)

    def add(self, manifest, keys):
        metadata = manifest.get("metadata") or {}
        labels = metadata.get("labels") or {}
        if manifest.get("kind") == "Namespace":
            self.namespaces[metadata["name"]] = labels
        elif manifest.get("kind") == "ConfigMap" and labels.get(LABEL) == "true":
            self.documents.append(Document(manifest, keys, self.config))
        elif (manifest.get("apiVersion"), manifest.get("kind")) == NETWORK_POLICY:
            self.policies.append(manifest)

    def policies_of(self, namespace):
        """The network policies of a namespace. None if they are not read (boundary contract, section 6)."""
        if not self.policies and not self.config["boundary"]["networkPolicies"]:
            return None
        return [manifest for manifest in self.policies
                if (manifest["metadata"].get("namespace") or "default") == namespace]

    def found_in(self, namespace, *kinds):
        """Valid documents of a kind in the pod's namespace and the gate's own. Of equal bytes the first by name."""
        found = sorted((document for document in self.documents
                        if document.state == "valid" and document.kind in kinds
                        and document.namespace in (namespace, self.own)),
                       key=Document.place, reverse=True)
        return list({document.bytes: document for document in found}.values())


def read_manifests(folder):
    """All manifests of a directory, as kubectl applies them."""
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.suffix in (".yaml", ".yml", ".json"):
            yield from filter(None, yaml.safe_load_all(path.read_text()))


def load_world(config_path, evidence=None, keyring=None):
    """The world of a configuration file. Relative paths begin at its directory."""
    config_path = pathlib.Path(config_path)
    config = load_config(config_path)
    folder = config_path.parent
    return World(config, evidence or folder / config["evidence"]["directory"],
                 keyring or folder / config["keyring"]["directory"])
