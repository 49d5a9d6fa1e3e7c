# SPDX-License-Identifier: Apache-2.0
"""The planner contract (hardening-v1.md) implemented a second time, only from its text.

plan(tree, provenance) returns the packet as compact JSON text. redact_input and fit_packet prepare
input and packet for the audit annotations of the gate (gate-v1, section 7).
"""

import json
import re

from moment import DAY, read_moment
from reader import trim

MAX_TEXT_BYTES = 4096
MAX_ITEMS = 100
MAX_AGE_DAYS = 3650
DEFAULT_AGE_DAYS = 30
UNSIGNED = "caller_supplied_source_digest"
SIGNED = "signed_configmap"
REDACTED = "[redacted]"

# Findings in the order of the contract's table, with their class.
CLASSES = {
    "sandbox.input.invalid": "E",
    "sandbox.input.unknown_field": "E",
    "sandbox.workload.identity": "E",
    "sandbox.workload.digest": "E",
    "sandbox.workload.skill_ref": "E",
    "sandbox.time.missing": "E",
    "sandbox.time.invalid": "E",
    "sandbox.requirements.max_age": "E",
    "sandbox.requirements.provenance": "E",
    "sandbox.requirements.secret": "R",
    "sandbox.requirements.stale": "E",
    "sandbox.writable_path.absolute": "R",
    "sandbox.writable_path.unsafe": "R",
    "sandbox.writable_path.unresolved": "E",
    "sandbox.env.name": "R",
    "sandbox.cwd_policy.invalid": "E",
    "sandbox.control.unsupported": "U",
    "sandbox.baseline.network": "R",
    "sandbox.baseline.enforcement": "R",
    "sandbox.baseline.writable_path": "R",
    "sandbox.baseline.env": "R",
    "sandbox.admission.denied": "R",
}
ORDER = {code: place for place, code in enumerate(CLASSES)}

ROOT = {"workload": "object", "as_of": "text", "max_age_days": "number", "baseline": "object"}
WORKLOAD = {"image_digest": "text", "skill_ref": "text", "class": "text",
            "requirements": "object"}
REQUIREMENTS = {"source_ref": "text", "source_digest": "text", "observed_at": "text",
                "network": "boolean", "writable_paths": "list", "env_allowlist": "list",
                "cwd_policy": "text", "require_enforcement": "boolean"}
CONTROLS = ("allowed_syscalls", "allowed_egress_hosts", "required_capabilities",
            "resource_limits")
REQUIREMENTS.update(dict.fromkeys(CONTROLS, "anything"))
BASELINE = {"network_allowed": "boolean", "require_enforcement": "boolean",
            "allowed_writable_paths": "list", "allowed_env": "list"}
WHAT = {"object": "an object", "text": "text", "list": "a list of text",
        "boolean": "boolean", "number": "a whole number"}
TOO_LONG = f"at most {MAX_TEXT_BYTES} bytes"
TOO_MANY = f"at most {MAX_ITEMS} items"

FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\Z")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
SKILL_REF = re.compile(
    r"[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*@([A-Za-z0-9][A-Za-z0-9._+-]*|sha256:[0-9a-f]{64})\Z")
CREDENTIALS = re.compile(r"[A-Za-z0-9]://[^/?#]+@")
ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*\Z")
UNSAFE = re.compile('[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069()"\\\\;]')
CWD_POLICIES = ("skill-directory", "workspace", "custom")
RESERVED_WORDS = ("SECRET", "TOKEN", "PASSWORD", "API_KEY", "PRIVATE_KEY", "ACCESS_KEY",
                  "SIGNING_KEY", "CREDENTIAL", "SEED")
UNSUPPORTED = ["seccomp syscall policy", "host egress allowlist", "Linux capability policy",
               "CPU and memory limits"]
RISK = ("The Runx sandbox declaration governs filesystem, environment, and coarse network "
        "access; syscall, host-level egress, Linux capabilities, and resource quotas require a "
        "separate runtime boundary.")


# Values


def is_number(value):
    """Whether it is a JSON number. In Python a bool is a number too, but not here."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_too_long(text):
    """Whether a text, trimmed as it is used, is over the limit."""
    return len(trim(text).encode("utf-8")) > MAX_TEXT_BYTES


def has_credentials(text):
    """A URL with a user part before '@'."""
    return CREDENTIALS.search(trim(text)) is not None


def is_empty_control(value):
    """Whether one of the four unsupported controls is empty ("Input")."""
    if isinstance(value, str):
        return trim(value) == ""
    return value is None or value is False or value == [] and isinstance(value, list) \
        or value == {} and isinstance(value, dict)


def normalise_path(path):
    """The path without empty and '.' segments. A leading '/' is kept; an empty path is '.' (or '/')."""
    segments = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/"):
        return "/" + "/".join(segments)
    return "/".join(segments) or "."


def has_parent_segment(path):
    """Whether there is a segment '..', separated by '/' or a backslash."""
    return ".." in re.split(r"[/\\]", path)


def path_admitted_by(path, base):
    """Whether a normalised path is admitted by a normalised baseline path."""
    if path == base:
        return True
    if has_parent_segment(path):
        return False
    absolute = path.startswith("/")
    return path.startswith(base + "/") or base == "/" and absolute or base == "." and not absolute


def compact(value):
    """Compact JSON with the escapes of the contract ("Packet")."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Reading the input tree


class Findings:
    """Findings without duplicates, in the order of the contract."""

    def __init__(self):
        self.seen = set()

    def add(self, code, message):
        self.seen.add((ORDER[code], message.encode("utf-8"), code))

    def invalid(self, field, what):
        self.add("sandbox.input.invalid", f"{field} must be {what}")

    def list(self):
        return [{"code": code, "message": message.decode("utf-8")}
                for _, message, code in sorted(self.seen)]

    def has_class(self, wanted):
        return any(CLASSES[code] == wanted for _, _, code in self.seen)


class Fields:
    """The readable fields of one object. Errors become findings."""

    def __init__(self, tree, schema, prefix, findings):
        self.values, self.wrong = {}, set()
        self.findings = findings
        for name, value in (tree or {}).items():
            if name not in schema:
                self.unknown(prefix, name)
            elif value is not None:
                self.read(name, prefix + name, value, schema[name])

    def unknown(self, prefix, name):
        shown = name if FIELD_NAME.match(name) else "?"
        self.findings.add("sandbox.input.unknown_field", f"{prefix}{shown} is not a known field")

    def read(self, name, field, value, kind):
        reader = getattr(self, "read_" + kind)
        result = reader(field, value)
        if result is None:
            self.wrong.add(name)
        elif result != "" or kind == "anything":
            self.values[name] = result

    def refuse(self, field, kind):
        self.findings.invalid(field, WHAT[kind])

    def read_object(self, field, value):
        return value if isinstance(value, dict) else self.refuse(field, "object")

    def read_boolean(self, field, value):
        return value if isinstance(value, bool) else self.refuse(field, "boolean")

    def read_number(self, field, value):
        return value if is_number(value) else self.refuse(field, "number")

    def read_anything(self, _field, value):
        return value

    def read_text(self, field, value):
        if not isinstance(value, str):
            return self.refuse(field, "text")
        if is_too_long(value):
            return self.findings.invalid(field, TOO_LONG)
        return trim(value)

    def read_list(self, field, value):
        """A list of (place in the given list, text). Wrong entries are omitted."""
        if not isinstance(value, list):
            return self.refuse(field, "list")
        if len(value) > MAX_ITEMS:
            return self.findings.invalid(field, TOO_MANY)
        entries = []
        for place, item in enumerate(value):
            text = self.read_text(f"{field}[{place}]", item)
            if text == "":
                self.findings.invalid(f"{field}[{place}]", "non-empty text")
            elif text is not None:
                entries.append((place, text))
        return entries

    def get(self, name, default=None):
        return self.values.get(name, default)


# The rules, in the order of the findings table


def check_identity(workload, findings):
    """Section "Identity": exactly one, in the right form. A wrong type counts as present."""
    names = ("image_digest", "skill_ref")
    present = [name for name in names if name in workload.values or name in workload.wrong]
    if len(present) != 1:
        findings.add("sandbox.workload.identity",
                     "workload requires exactly one image_digest or skill_ref")
    if "image_digest" in workload.values and not DIGEST.match(workload.get("image_digest")):
        findings.add("sandbox.workload.digest", "image_digest must be a lowercase sha256 digest")
    if "skill_ref" in workload.values and not SKILL_REF.match(workload.get("skill_ref")):
        findings.add("sandbox.workload.skill_ref",
                     "skill_ref must be pinned as owner/name@version")


def check_moment(name, text, findings):
    """A required moment in nanoseconds, or None with a finding."""
    if text is None:
        findings.add("sandbox.time.missing", f"{name} is required")
        return None
    moment = read_moment(text)
    if moment is None:
        findings.add("sandbox.time.invalid", f"{name} must be RFC3339")
    return moment


def check_max_age(root, findings):
    """The maximum age in days. An invalid value counts as absent."""
    days = root.get("max_age_days", DEFAULT_AGE_DAYS)
    if days != days or not 1 <= days <= MAX_AGE_DAYS or days != int(days):
        findings.add("sandbox.requirements.max_age",
                     f"max_age_days must be greater than zero and at most {MAX_AGE_DAYS}")
        return DEFAULT_AGE_DAYS
    return int(days)


def check_source(requirements, findings):
    """Provenance and credentials of the requirements."""
    digest = requirements.get("source_digest")
    if not requirements.get("source_ref") or not digest or not DIGEST.match(digest):
        findings.add("sandbox.requirements.provenance",
                     "requirements require source_ref and source_digest")
    if has_credentials(requirements.get("source_ref", "")):
        findings.add("sandbox.requirements.secret", "source_ref carries credentials")


def check_age(root, requirements, findings):
    """Section "Time": stale if the age is negative or over the maximum."""
    as_of = check_moment("as_of", root.get("as_of"), findings)
    observed = check_moment("observed_at", requirements.get("observed_at"), findings)
    days = check_max_age(root, findings)
    if as_of is not None and observed is not None and not 0 <= as_of - observed <= days * DAY:
        findings.add("sandbox.requirements.stale", "requirements are stale or future-dated")


def check_paths(given, findings):
    """The writable paths, normalised, sorted, without duplicates ("Paths and names")."""
    paths = set()
    for place, text in given:
        path = normalise_path(text)
        paths.add(path)
        if path[0] in "/~":
            findings.add("sandbox.writable_path.absolute",
                         "planned writable paths must be workspace-relative")
        if UNSAFE.search(path):
            findings.add("sandbox.writable_path.unsafe",
                         f"writable_paths[{place}] holds a character that no sandbox profile can carry")
        if "{{" in path:
            findings.add("sandbox.writable_path.unresolved",
                         f"writable_paths[{place}] holds an unresolved template")
    return sorted(paths)


def check_names(given, findings):
    """The environment names, sorted, without duplicates and invalid names. None if absent."""
    if given is None:
        return None
    names = set()
    for place, text in given:
        if ENV_NAME.match(text):
            names.add(text)
        else:
            findings.add("sandbox.env.name",
                         f"env_allowlist[{place}] is not an environment variable name")
    return sorted(names)


def check_cwd(requirements, findings):
    """The working directory policy. An unknown value is a finding and is replaced by the default."""
    policy = requirements.get("cwd_policy", CWD_POLICIES[0])
    if policy not in CWD_POLICIES:
        findings.add("sandbox.cwd_policy.invalid", "unsupported cwd_policy")
        return CWD_POLICIES[0]
    return policy


def check_controls(requirements, findings):
    """The four controls that Runx does not support."""
    wanted = [name for name in CONTROLS if not is_empty_control(requirements.get(name))]
    if wanted:
        findings.add("sandbox.control.unsupported",
                     "Runx sandbox declarations do not express: " + ", ".join(wanted))


def check_baseline(baseline, declaration, findings):
    """The ceilings. An absent field sets none."""
    if declaration["network"] and baseline.get("network_allowed") is False:
        findings.add("sandbox.baseline.network", "baseline forbids network access")
    if baseline.get("require_enforcement") and not declaration["require_enforcement"]:
        findings.add("sandbox.baseline.enforcement", "baseline requires sandbox enforcement")
    bases = baseline.get("allowed_writable_paths")
    if bases is not None:
        bases = [normalise_path(text) for _, text in bases]
        for path in declaration["writable_paths"]:
            if not any(path_admitted_by(path, base) for base in bases):
                findings.add("sandbox.baseline.writable_path", f"baseline does not admit {path}")
    names = baseline.get("allowed_env")
    if names is not None:
        names = {text for _, text in names}
        for name in declaration["env_allowlist"] or []:
            if name not in names:
                findings.add("sandbox.baseline.env", f"baseline does not admit {name}")


def is_reserved(name):
    """Whether the name is reserved by Runx ("Declaration and admission", 1)."""
    upper = name.upper()
    return upper.startswith("RUNX_RECEIPT_SIGN_") or \
        upper.startswith("RUNX_") and any(word in upper for word in RESERVED_WORDS)


def admission_reasons(declaration):
    """The reasons of a denial, in the order of the contract. None if it allows."""
    reasons, paths = [], declaration["writable_paths"]
    reserved = [name for name in declaration["env_allowlist"] or [] if is_reserved(name)]
    if reserved:
        reasons.append("sandbox env_allowlist contains reserved runx environment variable(s): "
                       + ", ".join(reserved))
    unsafe = [path for path in paths if has_parent_segment(path)]
    if declaration["profile"] == "workspace-write" and unsafe:
        reasons.append("workspace-write sandbox has unsafe writable path(s): "
                       + ", ".join(unsafe))
    if declaration["profile"] == "network" and paths:
        reasons.append("network sandbox cannot declare writable paths; use "
                       "unrestricted-local-dev for combined local write and network access")
    return reasons


# The packet


def declare(requirements, findings):
    """The packet's declaration ("Declaration and admission")."""
    network = requirements.get("network", False)
    paths = check_paths(requirements.get("writable_paths", []), findings)
    profile = "network" if network else "workspace-write" if paths else "readonly"
    return {
        "profile": profile,
        "cwd_policy": check_cwd(requirements, findings),
        "env_allowlist": check_names(requirements.get("env_allowlist"), findings),
        "network": network,
        "writable_paths": paths,
        "require_enforcement": requirements.get("require_enforcement", True),
    }


def decide(declaration, reasons, findings):
    """Section "Decision"."""
    if not findings.seen and not reasons:
        return "ready"
    if declaration["network"] and declaration["writable_paths"] or findings.has_class("U"):
        return "unsupported_runtime_shape"
    if reasons or findings.has_class("R"):
        return "refused"
    return "needs_more_evidence"


def shown(text):
    """A text that can contain credentials, in the form of the packet."""
    return REDACTED if has_credentials(text) else text


def show_workload(workload):
    """The packet's workload."""
    digest, skill = workload.get("image_digest", ""), workload.get("skill_ref", "")
    return {
        "ref_form": "image_digest" if digest else "skill_ref" if skill else "",
        "image_digest": digest,
        "skill_ref": shown(skill),
        "class": workload.get("class", ""),
    }


def plan_tree(tree, provenance=UNSIGNED):
    """The packet as a tree."""
    findings = Findings()
    root = Fields(tree, ROOT, "", findings)
    workload = Fields(root.get("workload"), WORKLOAD, "", findings)
    requirements = Fields(workload.get("requirements"), REQUIREMENTS, "", findings)
    baseline = Fields(root.get("baseline"), BASELINE, "baseline.", findings)
    check_identity(workload, findings)
    check_age(root, requirements, findings)
    check_source(requirements, findings)
    declaration = declare(requirements, findings)
    check_controls(requirements, findings)
    check_baseline(baseline, declaration, findings)
    reasons = admission_reasons(declaration)
    for reason in reasons:
        findings.add("sandbox.admission.denied", reason)
    decision = decide(declaration, reasons, findings)
    return {"hardening_profile": {
        "schema": "runx.hardening.v1",
        "decision": decision,
        "workload": show_workload(workload),
        "declaration": declaration,
        "source_evidence": {
            "source_ref": shown(requirements.get("source_ref", "")),
            "source_digest": requirements.get("source_digest", ""),
            "observed_at": requirements.get("observed_at", ""),
            "provenance": provenance,
        },
        "admission": {
            "status": "deny" if reasons else "allow",
            "reasons": reasons or [f"sandbox profile '{declaration['profile']}' admitted"],
        },
        "unsupported_controls": list(UNSUPPORTED),
        "residual_risk": {
            "level": "medium" if declaration["network"] or declaration["writable_paths"] else "low",
            "reason": RISK,
        },
        "applied": False,
        "validation": {"status": "pass" if decision == "ready" else "fail",
                       "findings": findings.list()},
    }}


def plan(tree, provenance=UNSIGNED):
    """The packet as compact JSON text."""
    return compact(plan_tree(tree, provenance))


# Audit annotations (gate-v1, section 7)


def audit_size(text):
    """Bytes of a text in the audit log, which the JSON encoder of Go writes: escaped,
    with '<', '>', '&', U+2028 and U+2029 as six bytes each."""
    size = len(json.dumps(text, ensure_ascii=False).encode("utf-8")) - 2
    size += 5 * sum(text.count(char) for char in "<>&")
    return size + 3 * (text.count("\u2028") + text.count("\u2029"))


def _redact_entry(item, names):
    """An entry of a list. A wrong type becomes 0, an invalid name '=', a too long one 4,097 '='."""
    if not isinstance(item, str):
        return 0
    if names and is_too_long(item):
        return "=" * (MAX_TEXT_BYTES + 1)
    if names and trim(item) and not ENV_NAME.match(trim(item)):
        return "="
    return item


def _redact_text(name, value):
    if not isinstance(value, str):
        return 0
    if name in ("source_ref", "skill_ref") and has_credentials(value):
        return "redacted://x@" + "=" * (MAX_TEXT_BYTES if is_too_long(value) else 0)
    return value


def _redact_value(name, value, kind):
    if value is None:
        return None
    if kind == "text":
        return _redact_text(name, value)
    if kind == "list":
        names = name in ("env_allowlist", "allowed_env")
        return [_redact_entry(item, names) for item in value] if isinstance(value, list) else 0
    if kind == "boolean":
        return value if isinstance(value, bool) else 0
    return value if is_number(value) else "0"


OBJECTS = {"workload": WORKLOAD, "requirements": REQUIREMENTS, "baseline": BASELINE}


def redact_input(tree, schema=None):
    """The input of the planner without the values that the packet hides. It gives the same packet."""
    result = {}
    schema = schema or ROOT
    for name, value in tree.items():
        if name not in schema:
            result[name if FIELD_NAME.match(name) else "?"] = True
        elif name in CONTROLS:
            if not is_empty_control(value):
                result[name] = True
        elif name in OBJECTS and value is not None:
            result[name] = redact_input(value, OBJECTS[name]) if isinstance(value, dict) else 0
        else:
            result[name] = _redact_value(name, value, schema[name])
    return result


MAX_PACKET_BYTES = 16 * 1024
MAX_CUT_BYTES = 256


def _cut(text):
    """At most 256 bytes, at a character boundary."""
    return text.encode("utf-8")[:MAX_CUT_BYTES].decode("utf-8", "ignore")


def _cut_texts(tree):
    if isinstance(tree, dict):
        return {key: _cut_texts(value) for key, value in tree.items()}
    return _cut(tree) if isinstance(tree, str) else tree


def _lists(tree):
    """The lists of the packet in its order."""
    if isinstance(tree, list):
        return [tree]
    return [found for value in tree.values() for found in _lists(value)] \
        if isinstance(tree, dict) else []


def fit_packet(packet):
    """(packet text of at most 16 KiB in the audit log, whether it was shortened)."""
    if audit_size(packet) <= MAX_PACKET_BYTES:
        return packet, False
    tree = json.loads(packet)
    lists = _lists(tree)
    while audit_size(compact(tree)) > MAX_PACKET_BYTES and any(lists):
        max((item for item in lists if item), key=lambda item: audit_size(compact(item))).pop()
    if audit_size(compact(tree)) > MAX_PACKET_BYTES:
        tree = _cut_texts(tree)
    return compact(tree), True
