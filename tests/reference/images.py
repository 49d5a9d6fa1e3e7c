# SPDX-License-Identifier: Apache-2.0
"""Image references (gate-v1, section 6; grammar of container registries)."""

import re

COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
HOST_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
HOST = rf"(?:{HOST_PART}(?:\.{HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
REFERENCE = re.compile(
    rf"(?P<name>(?:{HOST}/)?{COMPONENT}(?:/{COMPONENT})*)(?::{TAG})?@(?P<digest>sha256:[0-9a-f]{{64}})\Z",
    re.ASCII)
IS_HOST = re.compile(r"localhost\Z|.*[.:A-Z]")
MAX_PATH = 255


def repository_path(name):
    """The name without its registry: a first part with '.', ':' or an upper-case letter."""
    first, _, rest = name.partition("/")
    return rest if rest and IS_HOST.match(first) else name


def pinned_digest(reference):
    """The digest of `<name>[:tag]@sha256:<hex>`, or None if the image is not pinned."""
    match = REFERENCE.match(reference or "")
    if not match or len(repository_path(match.group("name"))) > MAX_PATH:
        return None
    return match.group("digest")
