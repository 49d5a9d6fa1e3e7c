#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that dependencies point one way. Prints one line for each violation and ends with 1 if there is one.

Usage: tests/lint/layers.py [ROOT] [BUILD]

ROOT is the checkout. With BUILD, a build folder, calls between object files are checked too (by nm).

  1. A directory includes headers of lower layers only (LAYERS below).
  2. The USES list of a directory's CMakeLists.txt names exactly the directories whose headers it includes.
  3. No two headers include each other, directly or through others.
  4. A private header (internal.h, or a name that ends in _internal.h) is included in its own directory only. Tests may
     include any header.
  5. No two files call each other, directly or through others.
"""
import os
import re
import subprocess
import sys

# From the lowest layer to the highest. A directory may include itself and every layer before its own.
LAYERS = [
    ["planner/base"],
    ["planner"],
    ["k8s/util", "k8s/policy"],
    ["webhook/util", "webhook/cli"],
    ["k8s/document", "k8s/keyring", "webhook/tls"],
    ["k8s/review", "k8s/access", "k8s/reflector", "k8s/evidence", "k8s/network_policy"],
    ["k8s/boundary", "k8s/snapshot", "k8s/api"],
    ["k8s/folder", "k8s/cluster", "webhook/gate"],
    ["webhook/config", "webhook/answer"],
    ["webhook/selfcert", "webhook/runtime", "webhook/audit", "webhook/record"],
    ["webhook/metrics", "webhook/report"],
    ["webhook/server"],
    ["webhook/serve"],
    ["webhook/commands"],
    ["webhook"],
]

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def layer_of(folder):
    for number, folders in enumerate(LAYERS):
        if folder in folders:
            return number
    return None


def sources(root):
    """Paths of all C files below the three top directories, sorted."""
    found = []
    for top in ("planner", "k8s", "webhook"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith((".c", ".h"))]
    return sorted(found)


def includes(root, path):
    """(line number, included path) of each include of our own."""
    with open(os.path.join(root, path), encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)


def is_private(path):
    name = os.path.basename(path)
    return name == "internal.h" or name.endswith("_internal.h")


def circles(graph):
    """The strongly connected components with more than one node, each sorted (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in on_stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
                on_stack.discard(component[-1])
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_folder(path, number, target):
    """One include line against the layers and the rule for private headers."""
    own, other = os.path.dirname(path), os.path.dirname(target)
    if own == other:
        return
    if is_private(target):
        yield f"{path}:{number}: {target} is private to {other}/"
    own_layer, other_layer = layer_of(own), layer_of(other)
    if own_layer is None:
        yield f"{path}:{number}: {own}/ has no layer in tests/lint/layers.py"
    elif other_layer is None:
        yield f"{path}:{number}: {other}/ has no layer in tests/lint/layers.py"
    elif other_layer >= own_layer:
        yield f"{path}:{number}: {own}/ must not include {target}: {other}/ is not in a lower layer"


def target_name(folder):
    return folder.replace("/", "_")


def declared_uses(root, folder):
    """The USES list of the directory's CMakeLists.txt; None where it declares no module."""
    try:
        with open(os.path.join(root, folder, "CMakeLists.txt"), encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        return None
    module = re.search(r"sandgate_module\(([^)]*)\)", re.sub(r"\$\{\w+\}", "", text))
    if module is None:
        return None
    uses = re.search(r"\bUSES\b(.*?)(?:\bLIBRARIES\b|\bPRIVATE_LIBRARIES\b|\bSOURCES\b|$)", module.group(1), flags=re.S)
    return set(uses.group(1).split()) if uses else set()


def check_uses(root, used):
    for folder in sorted(used):
        declared = declared_uses(root, folder)
        if declared is None:
            continue
        needed = {target_name(other) for other in used[folder]}
        for name in sorted(needed - declared):
            yield f"{folder}/CMakeLists.txt: USES lacks {name}, whose headers are included"
        for name in sorted(declared - needed):
            yield f"{folder}/CMakeLists.txt: USES names {name}, of which no header is included"


def check_includes(root):
    used, headers = {}, {}
    for path in sources(root):
        own = os.path.dirname(path)
        for number, target in includes(root, path):
            if target.split("/")[0] not in ("planner", "k8s", "webhook"):
                continue
            yield from check_folder(path, number, target)
            if os.path.dirname(target) != own:
                used.setdefault(own, set()).add(os.path.dirname(target))
            if path.endswith(".h"):
                headers.setdefault(path, set()).add(target)
    for circle in circles(headers):
        yield "headers include each other: " + ", ".join(circle)
    yield from check_uses(root, used)


def object_files(build):
    """(path without suffix, object file) of each file of our own in a build folder."""
    for folder, _, names in os.walk(build):
        relative = os.path.relpath(folder, build)
        match = re.match(r"((?:planner|k8s|webhook)(?:/[^/]+)*)/CMakeFiles/[^/]+\.dir$", relative)
        for name in names if match else ():
            if name.endswith(".c.o") and name != "page.c.o":
                yield f"{match.group(1)}/{name[:-4]}", os.path.join(folder, name)


def symbols(path):
    """The global names that an object file defines, and those that it needs."""
    text = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout
    defined, needed = set(), set()
    for words in (line.split() for line in text.splitlines()):
        if len(words) == 3 and words[1] in "TDBRC":
            defined.add(words[2])
        elif len(words) == 2 and words[0] == "U":
            needed.add(words[1])
    return defined, needed


def check_calls(root, build):
    there = {path[:-2] for path in sources(root)}
    parts = {stem: symbols(path) for stem, path in object_files(build) if stem in there}
    if not parts:
        yield f"{build}: has no object files of planner/, k8s/ and webhook/"
        return
    owner = {name: stem for stem, (defined, _) in parts.items() for name in defined}
    calls = {stem: {owner[name] for name in needed if owner.get(name, stem) != stem}
             for stem, (_, needed) in parts.items()}
    for circle in circles(calls):
        yield "files call each other: " + ", ".join(f"{stem}.c" for stem in circle)


def check(root, build=None):
    yield from check_includes(root)
    if build is not None:
        yield from check_calls(root, build)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = list(check(os.path.normpath(root), sys.argv[2] if len(sys.argv) > 2 else None))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
