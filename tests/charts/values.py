# SPDX-License-Identifier: Apache-2.0
"""Reads the chart's values.yaml with its comments, as a list of rows. The format of the file is fixed."""
import pathlib
import re

import yaml

CHART = pathlib.Path(__file__).resolve().parents[2] / "charts" / "sandgate"
INDENT = 2


def rows(text):
    """(section, dotted key, comment, default) of each value that has its own comment, in the order of the file."""
    section, comment, path, found = "", [], [], []
    for line in text.split("\n"):
        stripped = line.strip()
        heading = re.match(r"# ## (.*)", line)
        if heading:
            section, comment = heading.group(1), []
        elif stripped.startswith("#"):
            comment.append(stripped[1:].strip())
        else:
            key = re.match(r"( *)([A-Za-z][A-Za-z0-9]*):", line)
            if key and len(key.group(1)) % INDENT == 0:
                path = path[:len(key.group(1)) // INDENT] + [key.group(2)]
                if comment:
                    found.append((section, path, " ".join(comment)))
            comment = []
    tree = yaml.safe_load(text)
    return [(section, ".".join(path), comment, value_at(tree, path)) for section, path, comment in found]


def value_at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def leaves(tree, path=()):
    """Dotted keys of all values that are not maps, or are empty maps."""
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from leaves(value, (*path, key))
    else:
        yield ".".join(path)
