# SPDX-License-Identifier: Apache-2.0
"""The gate contract (gate-v1.md, sections 1 to 7) implemented a second time, only from its text,
with what the boundary contract, sections 4 and 5, adds to it.

decide(review, world, now) returns a Decision. There is one function for each paragraph of the contract.
"""

import hashlib
import re

from boundary import Reading, held_controls
from images import pinned_digest
from moment import DAY, SECOND, read_moment, write_moment
from planner import (
    CONTROLS, CWD_POLICIES, DIGEST, REQUIREMENTS, SIGNED, UNSIGNED, Fields, Findings,
    audit_size, compact, fit_packet, is_empty_control, normalise_path, path_admitted_by,
    plan_tree, redact_input)
from pod import PREFIX, TEMPLATES, Pod
from reader import Unreadable, read_either_at, trim

OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
NOT_JUDGED = ("status", "binding", "eviction", "exec", "attach", "portforward", "proxy", "log")
MIRROR = "kubernetes.io/config.mirror"
LEVELS = ("none", "annotated", "required")
MODES = ("enforce", "warn", "audit")
BOUNDARY_LEVELS = ("none", "record", "warn", "block")
UNREADABLE_LEVEL = {"enforce": "required", "warn": "none", "audit": "none"}
SKILL, IMAGE, CLASS, REQUIRES = (PREFIX + name for name in
                                 ("skill-ref", "image-digest", "class", "requirements"))
CLASS_FORM = re.compile(r"[ -%'-;=?-~]{1,128}\Z")
SIGNED_ONLY = ("source_ref", "source_digest", "observed_at")
EXPIRY_WARNING = 72 * 3600 * SECOND
MAX_BROKEN = 1000  # broken baselines of a namespace that are findings of their own
MAX_WARNINGS = 8
MAX_FINDING_MESSAGE_BYTES = 600
MAX_INPUT_BYTES, MAX_FINDINGS_BYTES, MAX_ALL_BYTES = 10 * 1024, 4 * 1024, 32 * 1024


class BadRequest(Exception):
    """HTTP 400."""


class Decision:
    """The answer of the gate. Findings are (code, place); contradictions are those that only warn."""

    def __init__(self, outcome, allowed=True):
        self.outcome, self.allowed, self.code = outcome, allowed, None if allowed else 403
        self.findings, self.packet, self.input, self.reading = [], None, None, None
        self.warns, self.contradictions, self.annotations = False, [], {"outcome": outcome}


def typed(tree, name, type_):
    """A member of a review; empty if absent. Raises BadRequest for a wrong type."""
    value = tree.get(name)
    if value is None:
        return type_()
    if not isinstance(value, type_):
        raise BadRequest(name)
    return value


class Request:
    """The fields of an AdmissionReview on which the decision depends."""

    def __init__(self, review):
        request = typed(review, "request", dict) if isinstance(review, dict) else {}
        if not typed(request, "uid", str):
            raise BadRequest("no request or uid")
        if review.get("apiVersion") != "admission.k8s.io/v1" or review.get("kind") != "AdmissionReview":
            raise BadRequest("no AdmissionReview v1")
        self.uid, self.operation = request["uid"], request.get("operation")
        kind = typed(request, "kind", dict)
        self.kind = (typed(kind, "group", str), typed(kind, "kind", str))
        self.namespace = typed(request, "namespace", str)
        self.subresource = typed(request, "subResource", str)
        self.object, self.old = request.get("object"), request.get("oldObject")
        user = typed(request, "userInfo", dict)
        self.user, self.groups = typed(user, "username", str), typed(user, "groups", list)
        self.name = typed(request, "name", str)
        if self.operation not in OPERATIONS or not self.kind[1]:
            raise BadRequest("operation or kind")
        if self.kind in TEMPLATES and not self.namespace:
            raise BadRequest("no namespace")

    def subject(self):
        """`<namespace>/<kind>/<name>`, or the base name and a star if there is no name yet."""
        tree = self.old if self.operation == "DELETE" else self.object
        metadata = tree.get("metadata") if isinstance(tree, dict) else None
        metadata = metadata if isinstance(metadata, dict) else {}
        name, base = (value if isinstance(value, str) else ""
                      for value in (metadata.get("name"), metadata.get("generateName")))
        name = self.name or name or (base + "*" if base else "")
        return f"{self.namespace}/{self.kind[1]}/{name}"

    def is_mirror_pod(self):
        """Section 3, second row: all three signs of a mirror pod."""
        metadata = self.object.get("metadata") if isinstance(self.object, dict) else None
        annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
        return (self.kind == ("", "Pod") and self.operation == "CREATE"
                and isinstance(annotations, dict) and MIRROR in annotations
                and self.user.startswith("system:node:") and "system:nodes" in self.groups)


# Section 2: levels


def read_levels(labels, config):
    """({mode: level}, the audit annotation `error` or '')."""
    levels, errors = {}, []
    for mode in MODES:
        value = labels.get(PREFIX + mode)
        if value is None:
            level = config["defaults"][mode]
        elif value in LEVELS:
            level = value
        else:
            level = UNREADABLE_LEVEL[mode]
            errors.append(f"{mode}={value}")
        levels[mode] = max(level, config["floor"][mode], key=LEVELS.index)
    value = labels.get(PREFIX + "boundary", "none")
    if value not in BOUNDARY_LEVELS:
        errors.append(f"boundary={value}")
    return levels, boundary_level(labels, config), ",".join(errors)


def boundary_level(labels, config):
    """What becomes of the pod's spec. A value that cannot be read counts as `block`."""
    level = labels.get(PREFIX + "boundary", config["defaults"]["boundary"])
    level = level if level in BOUNDARY_LEVELS else "block"
    return max(level, config["floor"]["boundary"], key=BOUNDARY_LEVELS.index)


# Section 1: annotations of the pod


class Claims:
    """Our annotations, and the findings about them."""

    def __init__(self, annotations):
        self.findings = []
        self.skill_ref = trim(annotations.get(SKILL, ""))
        self.image_digest = trim(annotations.get(IMAGE, ""))
        self.class_ = self.read_class(trim(annotations.get(CLASS, "")))
        self.requirements = None
        if not annotations:
            self.findings.append(("gate.annotation.missing", ""))
        for key in annotations:
            if key not in (SKILL, IMAGE, CLASS, REQUIRES):
                self.findings.append(("gate.annotation.unknown", key))
        if REQUIRES in annotations:
            self.read_requirements(annotations[REQUIRES])

    def read_class(self, text):
        if text and not CLASS_FORM.match(text):
            self.findings.append(("gate.annotation.conflict", "class"))
            return ""
        return text

    def read_requirements(self, text):
        """YAML or JSON. A text with only blanks, comments or null counts as absent."""
        try:
            tree, place = read_either_at(text)
            if tree is not None and not isinstance(tree, dict):
                raise Unreadable("no object", *place)
            self.requirements = tree
        except Unreadable as error:
            place = f"{REQUIRES}:{error.line}:{error.column}"
            self.findings.append(("gate.annotation.invalid", place))

    def identities(self):
        return [text for text in (self.skill_ref, self.image_digest) if text]


# Section 4: which evidence is used


class Found:
    """The evidence for one identity: used, expired candidates, and the finding if none."""

    def __init__(self, claims, world, namespace, now):
        self.used, self.expired, self.finding = None, [], None
        self.looked = len(claims.identities()) == 1
        if not self.looked:
            return
        candidates = [document for document in world.found_in(namespace, "SandboxRequirements")
                      if document.in_scope(namespace)
                      and (document.skill_ref or "") == claims.skill_ref
                      and (document.image_digest or "") == claims.image_digest]
        self.expired = [document for document in candidates if document.is_expired(now)]
        self.choose([document for document in candidates if not document.is_expired(now)])

    def choose(self, live):
        """The newest document. None if the newest two have equal times and different bytes."""
        if not live:
            self.finding = "gate.evidence.expired" if self.expired else "gate.evidence.missing"
            return
        newest = max(document.observed_at for document in live)
        live = [document for document in live if document.observed_at == newest]
        if len(live) > 1:  # their bytes differ
            self.finding = "gate.evidence.conflict"
        else:
            self.used = live[0]


def baselines_for(world, namespace):
    """All valid baselines in scope, and the places of those that block."""
    found = [document for document in world.found_in(namespace, "SandboxBaseline")
             if document.in_scope(namespace)]
    broken = []
    for place in {namespace, world.own}:
        here = sorted(document.place() for document in world.documents
                      if document.state == "invalid" and document.calls_itself_baseline
                      and document.namespace == place)
        broken += here[:MAX_BROKEN] + [place + "/*"] * (len(here) > MAX_BROKEN)
    return found, broken


# Section 5: the planner's input


def is_given(value):
    """A field of the annotation that is not null and not blank."""
    return value is not None and not (isinstance(value, str) and trim(value) == "")


def same_text(one, other):
    return isinstance(one, str) and isinstance(other, str) and trim(one) == trim(other)


def is_narrower(policy, signed):
    """Whether `cwd_policy` is equal or narrower. An absent signed one is the default."""
    signed = trim(signed) if isinstance(signed, str) and trim(signed) else CWD_POLICIES[0]
    policy = trim(policy) if isinstance(policy, str) else None
    if policy == signed:
        return True
    return policy in CWD_POLICIES and signed in CWD_POLICIES \
        and CWD_POLICIES.index(policy) < CWD_POLICIES.index(signed)


def merge_requirements(signed, given, findings):
    """The signed requirements, with fields replaced by those of the annotation."""
    merged = dict(signed)
    for name, value in given.items():
        if name not in REQUIREMENTS:
            merged[name] = value
        elif not is_given(value):
            continue
        elif name in SIGNED_ONLY:
            if not same_text(value, signed.get(name)):
                findings.append(("gate.annotation.conflict", name))
        elif name == "cwd_policy" and not is_narrower(value, signed.get(name)):
            findings.append(("gate.annotation.conflict", name))
        elif name not in CONTROLS or is_empty_control(signed.get(name)):
            merged[name] = value
    return merged


def ceiling(signed):
    """The signed requirements as a baseline: absent lists admit nothing."""
    fields = Fields(signed, REQUIREMENTS, "", Findings())
    return {
        "network_allowed": fields.get("network", False),
        "require_enforcement": fields.get("require_enforcement", True),
        "allowed_writable_paths": [text for _, text in fields.get("writable_paths", [])],
        "allowed_env": [text for _, text in fields.get("env_allowlist", [])],
    }


def meet_paths(one, other):
    """The paths that both lists admit."""
    one, other = ([normalise_path(trim(path)) for path in paths] for paths in (one, other))
    both = {path for path in one if any(path_admitted_by(path, base) for base in other)}
    return sorted(both | {path for path in other if any(path_admitted_by(path, base) for base in one)})


def meet_names(one, other):
    one, other = ({trim(name) for name in names} for names in (one, other))
    return sorted(one & other)


MEET = {
    "network_allowed": lambda one, other: one and other,
    "require_enforcement": lambda one, other: one or other,
    "allowed_writable_paths": meet_paths,
    "allowed_env": meet_names,
}


def meet(baselines):
    """The intersection of all baselines. None if there is none."""
    result = {} if baselines else None
    for baseline in baselines:
        for name, value in baseline.items():
            if value is None:
                continue
            result[name] = MEET[name](result[name], value) if name in result else value
    return result


class Plan:
    """The input of the planner, and the evidence and findings that it comes from."""

    def __init__(self, request, claims, world, now):
        self.config, self.now, self.claims = world.config, now, claims
        self.findings = list(claims.findings)
        self.found = Found(claims, world, request.namespace, now)
        self.baselines, broken = baselines_for(world, request.namespace)
        self.findings += [("gate.baseline.invalid", place) for place in broken]
        own = [document for document in world.documents if document.namespace == world.own
               and document.state == "valid" and document.kind == "SandboxBaseline"]
        if len(own) < self.config["evidence"]["minBaselines"]:
            self.findings.append(("gate.baseline.missing", ""))
        self.unsigned = self.stands_alone()
        if self.found.finding and not self.unsigned:
            self.findings.append((self.found.finding, ""))
        self.requirements, ceilings = self.require()
        self.baseline = meet([document.baseline for document in self.baselines] + ceilings)
        self.input = self.make_input()
        self.tree = plan_tree(self.input, SIGNED if self.found.used else UNSIGNED)
        self.packet = compact(self.tree)

    def stands_alone(self):
        """`unsigned: accept`: the annotation if evidence is missing or expired."""
        return (self.config["evidence"]["unsigned"] == "accept"
                and self.claims.requirements is not None
                and self.found.finding in ("gate.evidence.missing", "gate.evidence.expired"))

    def require(self):
        """(requirements or None, the signed ones as a ceiling if the annotation has any)."""
        given = self.claims.requirements
        if self.found.used is None:
            return (given if self.unsigned else None), []
        signed = self.found.used.requirements
        if given is None:
            return signed, []
        return merge_requirements(signed, given, self.findings), [ceiling(signed)]

    def class_of_workload(self):
        """From the annotation, otherwise from the evidence. If both differ, the signed one."""
        signed = self.found.used.class_ if self.found.used else ""
        if signed and self.claims.class_ and signed != self.claims.class_:
            self.findings.append(("gate.annotation.conflict", "class"))
            return signed
        return self.claims.class_ or signed

    def as_of(self):
        """Now, or `observed_at` if it is in the future by at most the clock skew."""
        now = self.now // SECOND * SECOND
        observed = (self.requirements or {}).get("observed_at")
        moment = read_moment(trim(observed)) if isinstance(observed, str) else None
        skew = self.config["evidence"]["clockSkewSeconds"] * SECOND
        if moment is not None and now < moment <= now + skew:
            return trim(observed)
        return write_moment(now)

    def max_age_days(self):
        return min([self.config["evidence"]["maxAgeDays"]]
                   + [document.max_age_days for document in self.baselines
                      if document.max_age_days is not None])

    def make_input(self):
        workload = {"image_digest": self.claims.image_digest, "skill_ref": self.claims.skill_ref,
                    "class": self.class_of_workload()}
        workload = {name: text for name, text in workload.items() if text}
        if self.requirements is not None:
            workload["requirements"] = self.requirements
        tree = {"workload": workload, "as_of": self.as_of(), "max_age_days": self.max_age_days()}
        if self.baseline is not None:
            tree["baseline"] = self.baseline
        return tree

    # Section 6: images

    def check_images(self, pod):
        images = [(place, pinned_digest(reference)) for place, reference in pod.images()]
        self.findings += [("gate.image.unpinned", place) for place, digest in images if not digest]
        if self.unsigned and self.claims.skill_ref:
            return
        own = self.own_images()
        listed = set(own or []).union(*(document.images for document in self.baselines))
        self.findings += [("gate.image.unlisted", place) for place, digest in images
                          if digest and digest not in listed]
        running = {pinned_digest(reference) for reference in pod.lists[0]}
        if own is not None and not running & set(own):
            self.findings.append(("gate.image.unlisted", pod.spec_place() + ".containers"))

    def own_images(self):
        """The images of the workload, or None if no document lists any."""
        if self.found.used:
            return self.found.used.images
        own = [image for document in self.found.expired for image in document.images]
        known = bool(self.found.expired)
        if self.found.looked and DIGEST.match(self.claims.image_digest):
            own.append(self.claims.image_digest)
            known = True
        return own if known else None

    # The boundary

    def read_boundary(self, pod, world, namespace, level):
        """The reading, or None. What blocks becomes findings of the gate (boundary contract, section 4)."""
        hold = held_controls(self.baselines)
        if not hold and (level == "none" or self.requirements is None):
            return None
        declaration = self.tree["hardening_profile"]["declaration"]
        reading = Reading(pod, declaration, self.own_images() or [], self.baselines,
                          world.policies_of(namespace))
        self.findings += reading.blocking(level, hold)
        return reading

    # Blocking findings

    def codes(self):
        """The codes of all blocking findings, of the packet and of the gate."""
        packet = self.tree["hardening_profile"]["validation"]["findings"]
        return {finding["code"] for finding in packet} | {code for code, _ in self.findings}

    def outcome(self):
        decision = self.tree["hardening_profile"]["decision"]
        return "blocked" if decision == "ready" and self.findings else decision


# Section 4 and 7: exemptions


def matches(entries, text):
    """Whether an entry matches: the whole text, or a prefix followed by a star."""
    return any(text.startswith(entry[:-1]) if entry.endswith("*") else text == entry
               for entry in entries)


def covers(exemption, codes):
    """Whether the exemption waives every code."""
    if exemption.codes is not None:
        return codes <= set(exemption.codes)
    return all(code.startswith(("sandbox.", "gate.evidence.")) for code in codes)


def fits(exemption, request, claims, pod):
    """Whether all given fields match. A value that the pod does not have matches nothing."""
    stated = {"namespaces": request.namespace, "skill_refs": claims.skill_ref,
              "image_digests": claims.image_digest, "users": request.user,
              "service_accounts": pod.account()}
    return all(stated[name] and matches(entries, stated[name])
               for name, entries in exemption.match.items())


def find_exemption(request, claims, pod, world, now, codes):
    """Of several, the one that expires last, then bytewise by name."""
    fitting = [document for document in world.found_in(world.own, "SandboxExemption")
               if not document.is_expired(now) and covers(document, codes)
               and fits(document, request, claims, pod)]
    return min(fitting, key=lambda document: (-document.expires_at, document.name.encode()),
               default=None)


# Section 7: the answer


def expires_soon(plan, exemption):
    """Evidence or an exemption in use that expires within the next 72 hours."""
    ends = [exemption.expires_at] if exemption else []
    used = plan.found.used
    if used:
        ends.append(used.observed_at + plan.max_age_days() * DAY)
        if used.expires_at is not None:
            ends[-1] = min(ends[-1], used.expires_at)
    return any(0 <= end - plan.now <= EXPIRY_WARNING for end in ends)


def least_findings_size(findings):
    """The least size of the annotation `findings`: its messages, which are not compared, are empty.
    If they are not, and the last entry does not fit, there is room for less than one entry, whose
    place may stand in its message too."""
    entries = [{"code": code, "message": "", "place": place} for code, place in findings]
    largest = max((audit_size(compact(entry)) for entry in entries), default=0)
    size = audit_size(compact(entries)) if entries else 0
    return min(size, max(0, MAX_FINDINGS_BYTES - 2 * largest - MAX_FINDING_MESSAGE_BYTES))


def add_plan(decision, plan):
    """The audit annotations of a plan, within their limits."""
    fitted, cut = fit_packet(plan.packet)
    decision.packet, decision.input = plan.packet, redact_input(plan.input)
    decision.findings = plan.findings
    decision.annotations["packet"] = fitted
    decision.annotations["packet-sha256"] = \
        "sha256:" + hashlib.sha256(plan.packet.encode()).hexdigest()
    if cut:
        decision.annotations["packet-truncated"] = "true"
    text = compact(decision.input)
    if audit_size(text) <= MAX_INPUT_BYTES:
        decision.annotations["input"] = text
    if plan.found.used:
        decision.annotations["evidence"] = plan.found.used.annotation()


def apply_levels(decision, levels, managed, controller, config, codes):
    """Which of the three levels apply, and the effect of a violation."""
    judges = {mode: levels[mode] == "required" or levels[mode] == "annotated" and managed
              for mode in MODES}
    only_warns = controller and config["defaults"]["controllers"] == "warn"
    if judges["audit"]:
        decision.annotations["violations"] = ",".join(sorted(codes))
    if judges["enforce"] and not only_warns:
        decision.allowed, decision.code = False, 403
    else:
        decision.warns = judges["warn"] or judges["enforce"]


def judge(request, pod, levels, boundary, managed, world, now):
    """A judged request: plan, findings, exemption, levels."""
    config, controller = world.config, pod.is_controller()
    if not pod.is_usable():
        decision = Decision("unusable")
        decision.findings = [("gate.review.unusable", "")]
        apply_levels(decision, levels, managed, controller, config, {"gate.review.unusable"})
        return decision
    claims = Claims(pod.annotations)
    plan = Plan(request, claims, world, now)
    plan.check_images(pod)
    reading = plan.read_boundary(pod, world, request.namespace, boundary)
    outcome, codes, exemption = plan.outcome(), plan.codes(), None
    if outcome != "ready":
        exemption = find_exemption(request, claims, pod, world, now, codes)
    decision = Decision("exempt" if exemption else outcome)
    add_plan(decision, plan)
    if exemption:
        decision.annotations["exemption"] = f"{exemption.annotation()} until={exemption.until}"
    elif outcome != "ready":
        apply_levels(decision, levels, managed, controller, config, codes)
    decision.reading = reading
    if reading:
        decision.annotations["boundary"] = reading.annotation()
        if decision.allowed and not exemption and boundary in ("warn", "block"):
            decision.contradictions = reading.contradictions()
    decision.warns = decision.allowed and (decision.warns or bool(decision.contradictions)
                                           or expires_soon(plan, exemption))
    return decision


def is_unchanged(request, pod, old, world):
    """Section 3, third row, and boundary contract, section 5: of controllers the template's spec too."""
    if request.operation != "UPDATE" or not pod.same_as(old):
        return False
    level = boundary_level(world.namespaces.get(request.namespace, {}), world.config)
    reads = level != "none" or held_controls(baselines_for(world, request.namespace)[0])
    return not pod.is_controller() or not reads or pod.has_spec_of(old)


def is_exempt(request, pod, exempt):
    """Section 3, fourth row."""
    return (request.namespace in exempt["namespaces"] or request.user in exempt["users"]
            or pod.runtime_class() in exempt["runtimeClasses"])


def decide_request(request, world, now):
    """Section 3: the first matching row decides."""
    config = world.config
    if request.kind not in TEMPLATES or request.operation in ("DELETE", "CONNECT") \
            or request.subresource in NOT_JUDGED or request.is_mirror_pod():
        return Decision("not_evaluated")
    update = request.operation == "UPDATE"
    pod, old = Pod(request.kind, request.object), Pod(request.kind, request.old)
    if is_unchanged(request, pod, old, world):
        return Decision("unchanged")
    if is_exempt(request, pod, config["exempt"]):
        decision = Decision("exempt")
        decision.annotations["exemption"] = "configuration"
        return decision
    levels, boundary, error = read_levels(world.namespaces.get(request.namespace, {}), config)
    managed = pod.is_managed() or update and old.is_managed()
    if all(level == "none" for level in levels.values()) \
            or pod.is_controller() and config["defaults"]["controllers"] == "none":
        decision = Decision("not_evaluated")
    elif not managed and "required" not in levels.values():
        decision = Decision("unmanaged")
    else:
        decision = judge(request, pod, levels, boundary, managed, world, now)
    if error:
        decision.annotations["error"] = error
    return decision


def decide(review, world, now):
    """The decision for one AdmissionReview. Raises BadRequest if the answer is HTTP 400."""
    request = Request(review)
    decision = decide_request(request, world, now)
    decision.annotations["subject"] = request.subject()
    size = sum(map(audit_size, decision.annotations.values()))
    if decision.input is not None \
            and size + least_findings_size(decision.findings) > MAX_ALL_BYTES:
        decision.annotations.pop("input", None)
    return decision
