# SPDX-License-Identifier: Apache-2.0
"""The boundary contract implemented a second time, only from its text.

Reading(...) has the findings of a pod's spec compared with the declaration of its plan, and their
annotation. There is one function for each group of rows in the table of findings.
"""

import re

from images import pinned_digest
from planner import audit_size, compact, has_parent_segment, is_number, normalise_path, path_admitted_by

CONTROLS = ("environment", "filesystem", "network", "egress", "syscalls", "capabilities",
            "resources", "isolation")
GROUPS = dict(zip(("env", "fs", "network", "egress", "seccomp", "capability", "resources", "host"),
                  CONTROLS))
HELD, UNKNOWN, OPEN, CONTRADICTED = STATES = ("held", "unknown", "open", "contradicted")
CODES = {  # in the order of the contract's table
    "env.undeclared": OPEN, "env.unlisted": CONTRADICTED, "env.unseen": UNKNOWN,
    "env.service_links": OPEN, "fs.root": OPEN, "fs.mount": CONTRADICTED, "fs.unplaced": UNKNOWN,
    "fs.device": CONTRADICTED, "network.host": CONTRADICTED, "network.host_port": CONTRADICTED,
    "network.serves": CONTRADICTED, "egress.unseen": UNKNOWN, "egress.open": OPEN,
    "egress.any": OPEN, "egress.some": OPEN, "seccomp.unset": OPEN, "seccomp.unconfined": OPEN,
    "capability.privileged": OPEN, "capability.kept": OPEN, "capability.added": OPEN,
    "capability.escalation": OPEN, "capability.root": OPEN, "resources.cpu": OPEN,
    "resources.memory": OPEN, "host.namespace": OPEN, "host.path": OPEN, "host.proc": OPEN,
    "host.token": OPEN,
}
NEVER_WRITABLE = ("configMap", "secret", "downwardAPI", "projected", "image")
PROBES = (("livenessProbe",), ("readinessProbe",), ("startupProbe",), ("lifecycle", "postStart"),
          ("lifecycle", "preStop"))
HANDLERS = ("httpGet", "tcpSocket", "grpc")
NAMESPACES = ("hostPID", "hostIPC", "shareProcessNamespace")
CREDENTIALS = ("serviceAccountToken", "podCertificate")
LIMIT = re.compile(r"[+-]?[0-9.]*[1-9]")
ZEROS = re.compile(r".*/0+\Z", re.DOTALL)
MAX_ANNOTATION_BYTES = 6144


# Values: a field of a wrong type, and an empty text, count as absent (section 1)


def member(tree, *names):
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


def flag(tree, *names):
    """True, False, or None if absent."""
    value = member(tree, *names)
    return value if isinstance(value, bool) else None


def text_of(tree, *names):
    value = member(tree, *names)
    return value if isinstance(value, str) and value else None


def number_of(tree, *names):
    value = member(tree, *names)
    return value if is_number(value) else None


def object_of(tree, *names):
    value = member(tree, *names)
    return value if isinstance(value, dict) else None


def entries_of(tree, *names):
    value = member(tree, *names)
    return value if isinstance(value, list) else []


def first_given(values):
    return next((value for value in values if value is not None), None)


class Container:
    """An entry of one of the three lists, with its place."""

    def __init__(self, kind, place, tree, is_sidecar):
        self.tree, self.place = tree, place
        self.is_ephemeral = kind == "ephemeralContainers"
        self.is_own = not self.is_ephemeral and not is_sidecar
        self.is_privileged = flag(tree, "securityContext", "privileged") is True

    def workspace(self):
        """The normalised working directory. None if it is not absolute, has '..', or is '/'."""
        path = text_of(self.tree, "workingDir")
        if path is None or not path.startswith("/") or has_parent_segment(path):
            return None
        path = normalise_path(path)
        return None if path == "/" else path

    def places(self, name):
        """[(place, entry)] of a list of the container."""
        return [(f"{self.place}.{name}[{index}]", item)
                for index, item in enumerate(entries_of(self.tree, name))]


def beneath(path, workspace):
    """The part of an absolute path beneath a workspace, '.' for the workspace. None if outside."""
    if path == workspace:
        return "."
    return path[len(workspace) + 1:] if path.startswith(workspace + "/") else None


def has_limit(limits, name):
    """A text or number with a digit other than 0 before its suffix or exponent."""
    value = member(limits, name)
    if isinstance(value, str):
        return LIMIT.match(value) is not None
    return is_number(value) and value != 0


# Network policies


class Unclear(Exception):
    """A selector that cannot be read."""


def require(condition):
    if not condition:
        raise Unclear


def part_of(tree, name, type_):
    """A part of a selector. null counts as absent."""
    value = tree.get(name)
    if value is None:
        return type_()
    require(isinstance(value, type_))
    return value


def matches_expression(expression, labels):
    require(isinstance(expression, dict))
    key, operator = part_of(expression, "key", str), part_of(expression, "operator", str)
    values = part_of(expression, "values", list)
    require(key and all(isinstance(value, str) for value in values))
    require(operator in ("In", "NotIn", "Exists", "DoesNotExist"))
    require(values or operator in ("Exists", "DoesNotExist"))
    return {"In": key in labels and labels[key] in values,
            "NotIn": key not in labels or labels[key] not in values,
            "Exists": key in labels, "DoesNotExist": key not in labels}[operator]


def selector_matches(selector, labels):
    """Raises Unclear if the selector cannot be read, whether the rest of it matches or not."""
    if selector is None:
        return True
    require(isinstance(selector, dict))
    wanted = part_of(selector, "matchLabels", dict)
    require(all(isinstance(value, str) for value in wanted.values()))
    found = [labels.get(key) == value for key, value in wanted.items()]
    return all(found + [matches_expression(expression, labels)
                        for expression in part_of(selector, "matchExpressions", list)])


def is_of_egress(spec):
    """Whether `Egress` is among its types; without types, whether it has egress rules."""
    types = entries_of(spec, "policyTypes")
    return "Egress" in types if types else bool(entries_of(spec, "egress"))


def is_everywhere(peer):
    """An ipBlock without exceptions and with only zeros after the last slash."""
    return ZEROS.match(text_of(peer, "ipBlock", "cidr") or "") is not None \
        and not entries_of(peer, "ipBlock", "except")


class Policy:
    """A NetworkPolicy with `Egress` among its types, and what it admits of a pod's egress."""

    def __init__(self, manifest, labels):
        spec = member(manifest, "spec")
        self.name = member(manifest, "metadata", "name")
        try:
            self.selects, clear = selector_matches(member(spec, "podSelector"), labels), True
        except Unclear:
            self.selects, clear = True, False
        rules = [entries_of(rule, "to") for rule in entries_of(spec, "egress")]
        self.admits_some = bool(rules) or not clear
        self.admits_any = not clear or any(not peers or any(map(is_everywhere, peers))
                                           for peers in rules)


# Baselines (section 4)


def held_controls(baselines):
    """The union of `hold` of all baselines in force."""
    return {name for document in baselines for name in document.hold}


def meet_mounts(baselines):
    """What all baselines that have `mounts` admit. Empty if none has."""
    lists = [[normalise_path(path) for path in document.mounts] for document in baselines
             if document.mounts is not None]
    return [path for paths in lists for path in paths
            if all(any(path_admitted_by(path, base) for base in bases) for bases in lists)]


# The reading


class Reading:
    """Findings are (code, place), in the order of section 3."""

    def __init__(self, pod, declaration, own_images, baselines, policies):
        self.spec, self.declaration, self.mounts = pod.spec, declaration, meet_mounts(baselines)
        self.root, self.found = pod.spec_place(), {code: [] for code in CODES}
        listed = {image for document in baselines for image in document.images} - set(own_images)
        self.containers = [
            Container(kind, f"{self.root}.{kind}[{index}]", tree,
                      pinned_digest(text_of(tree, "image")) in listed)
            for kind in ("initContainers", "containers", "ephemeralContainers")
            for index, tree in enumerate(entries_of(self.spec, kind))]
        self.own = [container for container in self.containers if container.is_own]
        self.volumes = {}
        for volume in entries_of(self.spec, "volumes"):
            self.volumes.setdefault(text_of(volume, "name"), volume)
        self.read_environment()
        self.read_filesystem()
        self.read_network()
        self.read_egress(pod, policies)
        self.read_syscalls()
        self.read_capabilities()
        self.read_resources()
        self.read_isolation(pod)
        self.findings = [("boundary." + code, place)
                         for code, places in self.found.items() for place in places]

    def add(self, code, place):
        self.found[code].append(place)

    def read_environment(self):
        names = self.declaration["env_allowlist"]
        if names is None:
            if any(container.places("env") + container.places("envFrom") for container in self.own):
                self.add("env.undeclared", "")
            return
        for container in self.own:
            for place, item in container.places("env"):
                if text_of(item, "name") not in names:
                    self.add("env.unlisted", place + ".name")
            for place, _ in container.places("envFrom"):
                self.add("env.unseen", place)
        if flag(self.spec, "enableServiceLinks") is not False:
            self.add("env.service_links", self.root + ".enableServiceLinks")

    # Mounts

    def volume_of(self, mount):
        """The first volume of the mount's name, or None. A mount without a name has none."""
        name = text_of(mount, "name")
        return self.volumes.get(name) if name is not None else None

    def is_writable(self, mount):
        volume = self.volume_of(mount)
        sources = [value for value in (volume or {}).values() if isinstance(value, dict)]
        return not (flag(mount, "readOnly") is True
                    or any(object_of(volume, kind) is not None for kind in NEVER_WRITABLE)
                    or any(flag(source, "readOnly") is True for source in sources))

    def is_declared(self, path):
        return any(path_admitted_by(path, base) for base in self.declaration["writable_paths"])

    def judge_mount(self, mount, workspace):
        """The code of a writable mount, or None if it is admitted."""
        path = text_of(mount, "mountPath")
        if path is None or not path.startswith("/") or has_parent_segment(path):
            return "fs.mount"
        path = normalise_path(path)
        if any(path_admitted_by(path, base) for base in self.mounts):
            return None
        if workspace is not None:
            part = beneath(path, workspace)
            return None if part is not None and self.is_declared(part) else "fs.mount"
        steps = path.strip("/").split("/") if path != "/" else []
        rests = ["/".join(steps[count:]) or "." for count in range(1, len(steps) + 1)]
        return "fs.unplaced" if any(map(self.is_declared, rests)) else "fs.mount"

    def read_filesystem(self):
        for container in self.own:
            if flag(container.tree, "securityContext", "readOnlyRootFilesystem") is not True:
                self.add("fs.root", container.place)
            for place, mount in container.places("volumeMounts"):
                code = self.is_writable(mount) and self.judge_mount(mount, container.workspace())
                if code:
                    self.add(code, place)
            for place, _ in container.places("volumeDevices"):
                self.add("fs.device", place)

    # Network

    def read_network(self):
        if flag(self.spec, "hostNetwork") is True:
            self.add("network.host", self.root + ".hostNetwork")
        if self.declaration["network"]:
            return
        for container in self.containers:
            for place, port in container.places("ports"):
                if number_of(port, "hostPort"):
                    self.add("network.host_port", place)
        for container in self.own:
            for place, _ in container.places("ports"):
                self.add("network.serves", place)
            for path in PROBES:
                for handler in HANDLERS:
                    if object_of(container.tree, *path, handler) is not None:
                        self.add("network.serves", ".".join((container.place, *path, handler)))

    def read_egress(self, pod, policies):
        if policies is None:
            self.add("egress.unseen", "")
            return
        labels = {key: value for key, value in (object_of(pod.template, "metadata", "labels") or {}).items()
                  if isinstance(value, str)}
        selecting = [policy for policy in (Policy(manifest, labels) for manifest in policies
                                           if is_of_egress(member(manifest, "spec")))
                     if policy.selects and flag(self.spec, "hostNetwork") is not True]
        if not selecting:
            self.add("egress.open", "")
        for policy in sorted(selecting, key=lambda policy: policy.name.encode()):
            if policy.admits_any and self.declaration["network"]:
                self.add("egress.any", "networkpolicy/" + policy.name)
            elif policy.admits_some and not self.declaration["network"]:
                self.add("egress.some", "networkpolicy/" + policy.name)

    # Security context

    def contexts(self, container):
        """The container's security context, which counts first, and the pod's."""
        return [object_of(tree, "securityContext") for tree in (container.tree, self.spec)]

    def read_syscalls(self):
        for container in self.containers:
            type_ = first_given(text_of(context, "seccompProfile", "type")
                                for context in self.contexts(container))
            if type_ is None:
                self.add("seccomp.unset", container.place)
            elif type_ not in ("RuntimeDefault", "Localhost") or container.is_privileged:
                self.add("seccomp.unconfined", container.place)

    def may_be_root(self, container):
        if flag(self.spec, "hostUsers") is False:
            return False
        user = first_given(number_of(context, "runAsUser") for context in self.contexts(container))
        if user is not None:
            return user == 0
        return first_given(flag(context, "runAsNonRoot")
                           for context in self.contexts(container)) is not True

    def read_capabilities(self):
        for container in self.containers:
            context = object_of(container.tree, "securityContext")
            if container.is_privileged:
                self.add("capability.privileged", container.place)
                continue
            drop = entries_of(context, "capabilities", "drop")
            if not any(isinstance(name, str) and name.upper() == "ALL" for name in drop):
                self.add("capability.kept", container.place)
            for index in range(len(entries_of(context, "capabilities", "add"))):
                self.add("capability.added",
                         f"{container.place}.securityContext.capabilities.add[{index}]")
            if flag(context, "allowPrivilegeEscalation") is not False:
                self.add("capability.escalation", container.place)
            if self.may_be_root(container):
                self.add("capability.root", container.place)

    def read_resources(self):
        for name in ("cpu", "memory"):
            if has_limit(member(self.spec, "resources", "limits"), name):
                continue
            for container in self.containers:
                if not container.is_ephemeral \
                        and not has_limit(member(container.tree, "resources", "limits"), name):
                    self.add("resources." + name, container.place)

    # What belongs to the host

    def has_credential(self, mount):
        sources = entries_of(self.volume_of(mount), "projected", "sources")
        return any(object_of(source, name) is not None for source in sources
                   for name in CREDENTIALS)

    def is_of_host(self, container):
        context = object_of(container.tree, "securityContext")
        return text_of(context, "procMount") not in (None, "Default") \
            or flag(context, "windowsOptions", "hostProcess") is True

    def read_isolation(self, pod):
        for name in NAMESPACES:
            if flag(self.spec, name) is True:
                self.add("host.namespace", f"{self.root}.{name}")
        if flag(self.spec, "securityContext", "windowsOptions", "hostProcess") is True:
            self.add("host.proc", self.root)
        is_completed = not pod.is_controller() and text_of(pod.template, "metadata", "uid")
        if not is_completed and flag(self.spec, "automountServiceAccountToken") is not False:
            self.add("host.token", self.root + ".automountServiceAccountToken")
        for container in self.containers:
            if self.is_of_host(container):
                self.add("host.proc", container.place)
            for place, mount in container.places("volumeMounts"):
                if object_of(self.volume_of(mount), "hostPath") is not None:
                    self.add("host.path", place)
                if container.is_own and self.has_credential(mount):
                    self.add("host.token", place)

    # What follows

    def blocking(self, level, hold):
        """The findings that block: those of `hold`, and with `block` what is contradicted."""
        return [(code, place) for code, place in self.findings
                if control_of(code) in hold
                or level == "block" and state_of(code) == CONTRADICTED]

    def contradictions(self):
        return [finding for finding in self.findings if state_of(finding[0]) == CONTRADICTED]

    def annotation(self):
        """Compact JSON of at most 6,144 bytes in the audit log."""
        controls = [{"control": name, "state": HELD, "findings": []} for name in CONTROLS]
        for code, place in self.findings:
            control = controls[CONTROLS.index(control_of(code))]
            control["state"] = max(control["state"], state_of(code), key=STATES.index)
            control["findings"].append({"code": code, "place": place})
        tree = {"schema": "sandbox.boundary.v1", "read": "pod spec at admission",
                "applied": False, "controls": controls}
        size, left_out = audit_size(compact(tree)), 0
        while size + (audit_size(f',"left_out":{left_out}') if left_out else 0) > MAX_ANNOTATION_BYTES:
            findings = max((control["findings"] for control in controls), key=len)
            size -= audit_size(compact(findings.pop())) + (1 if findings else 0)
            left_out += 1
        return compact(dict(tree, left_out=left_out) if left_out else tree)


def control_of(code):
    return GROUPS[code.split(".")[1]]


def state_of(code):
    return CODES[code.removeprefix("boundary.")]
