# SPDX-License-Identifier: Apache-2.0
"""The parts of an object that the gate reads: annotations, images, account, runtime class
(gate-v1, sections 1, 3 and 6), and what an update changes (boundary contract, section 5)."""

PREFIX = "sandbox.runx.dev/"
TEMPLATES = {
    ("", "Pod"): (),
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")


class Wrong(Exception):
    """A value that does not have the type that the gate requires."""


def as_map(value):
    """The value as an object. null counts as absent."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Wrong
    return value


def as_list(value):
    if value is None:
        return []
    if not isinstance(value, list):
        raise Wrong
    return value


def as_text(value):
    if value is not None and not isinstance(value, str):
        raise Wrong
    return value


def entry(item):
    """An entry of a list of objects. null is not allowed."""
    if not isinstance(item, dict):
        raise Wrong
    return item


def readable(function, *arguments):
    """The result, or None if a value has a wrong type."""
    try:
        return function(*arguments)
    except Wrong:
        return None


def is_ours(key):
    """Whether a key has our prefix, ignoring ASCII case."""
    return key[: len(PREFIX)].encode().lower() == PREFIX.encode()


def our_annotations(holder):
    """{key: value} of our annotations in the metadata of an object."""
    annotations = as_map(as_map(holder.get("metadata")).get("annotations"))
    ours = {key: value for key, value in annotations.items() if is_ours(key)}
    if not all(isinstance(value, str) for value in ours.values()):
        raise Wrong
    return ours


def find_template(kind, tree):
    """The innermost pod template; for a pod, the object itself."""
    for step in TEMPLATES[kind]:
        if not isinstance(tree, dict):
            raise Wrong
        tree = tree.get(step)
    if not isinstance(tree, dict):
        raise Wrong
    return tree


def same_tree(one, other):
    """Whether two trees are equal. The order of keys does not count; true is not 1, null is not absent."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_tree(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_tree, one, other))
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def container_images(spec, name):
    return [as_text(entry(item).get("image")) for item in as_list(spec.get(name))]


def volume_images(spec):
    """[(place in the list, reference)] of the image volumes."""
    found = []
    for place, item in enumerate(as_list(spec.get("volumes"))):
        image = entry(item).get("image")
        if image is not None:
            found.append((place, as_text(entry(image).get("reference"))))
    return found


class Pod:
    """An object of a judged kind as the gate reads it. Unreadable parts are None."""

    def __init__(self, kind, tree):
        self.kind = kind
        self.template = readable(find_template, kind, tree)
        self.annotations = self.own = self.spec = self.lists = None
        if self.template is not None:
            self.annotations = readable(our_annotations, self.template)
            self.spec = readable(as_map, self.template.get("spec"))
        if isinstance(tree, dict):
            self.own = readable(our_annotations, tree) if self.is_controller() else {}
        if self.spec is not None:
            self.lists = [readable(container_images, self.spec, name) for name in CONTAINER_LISTS]
            self.lists.append(readable(volume_images, self.spec))

    def is_controller(self):
        return self.kind != ("", "Pod")

    def is_usable(self):
        """Section 3: all values that the gate reads have the right type, and there is a container."""
        return (self.annotations is not None and self.own is not None and self.spec is not None
                and None not in self.lists and bool(self.lists[0])
                and all(isinstance(self.spec.get(name), (str, type(None)))
                        for name in ("serviceAccountName", "runtimeClassName")))

    def is_managed(self):
        """Whether there is one of our annotations, or annotations are unreadable."""
        return self.annotations is None or self.own is None or bool(self.annotations or self.own)

    def same_as(self, old):
        """Row "unchanged": equal images and annotations. Unreadable parts count as changed."""
        mine, others = ([pod.annotations, pod.own, pod.references()] for pod in (self, old))
        return None not in mine and None not in others and mine == others

    def has_spec_of(self, old):
        """Whether the two templates have equal specs (boundary contract, section 5)."""
        specs = [{key: pod.template[key] for key in ("spec",) if key in pod.template}
                 for pod in (self, old)]
        return same_tree(*specs)

    def references(self):
        """The ordered references of each of the four lists. None if unreadable."""
        if self.lists is None or None in self.lists:
            return None
        return self.lists[:3] + [[reference for _, reference in self.lists[3]]]

    def images(self):
        """[(place from the root of the object, reference)] of a usable pod."""
        root = self.spec_place()
        found = [(f"{root}.{name}[{place}].image", reference)
                 for name, references in zip(CONTAINER_LISTS, self.lists)
                 for place, reference in enumerate(references)]
        return found + [(f"{root}.volumes[{place}].image.reference", reference)
                        for place, reference in self.lists[3]]

    def spec_place(self):
        """The place of the pod's spec, from the root of the object."""
        return "".join(step + "." for step in TEMPLATES[self.kind]) + "spec"

    def account(self):
        return self.spec.get("serviceAccountName") or "default"

    def runtime_class(self):
        name = (self.spec or {}).get("runtimeClassName")
        return name if isinstance(name, str) else None
