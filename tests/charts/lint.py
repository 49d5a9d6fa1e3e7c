#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the chart that need no Helm. Prints one line for each violation and exits with 1 if there is one.

- each value has a comment that begins with its name;
- values.schema.json has exactly the values of values.yaml, and rejects others in every object;
- it requires each value that is not empty by default;
- the versions are those of the project;
- every metric in an alert or in the dashboard exists in the program;
- each alert has a summary, a description and an action."""
import json
import pathlib
import re
import sys

import yaml

from values import CHART, leaves, rows, value_at

ROOT = CHART.parents[1]
MAX_COMMENT = 400
NULL_HAS_A_MEANING = {"replicaCount", "autoscaling.targetCPUUtilizationPercentage"}


def check_comments(text, tree):
    found = rows(text)
    commented = {key for _, key, _, _ in found}
    for _, key, comment, _ in found:
        name = key.rsplit(".", 1)[-1]
        if not re.match(rf"{name}\b", comment):
            yield f"values.yaml: the comment of {key} does not begin with {name}"
        if len(comment) > MAX_COMMENT:
            yield f"values.yaml: the comment of {key} has {len(comment)} characters; the limit is {MAX_COMMENT}"
    for leaf in leaves(tree):
        parts = leaf.split(".")
        if not any(".".join(parts[:i + 1]) in commented for i in range(len(parts))):
            yield f"values.yaml: {leaf} has no comment"


def resolve(schema, node):
    return schema["definitions"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node


def check_schema(schema, node, tree, path=""):
    """Values that are missing in the schema, and values that are only in the schema."""
    node = resolve(schema, node)
    if "properties" not in node:
        return
    for key in sorted(set(node["properties"]) - set(tree)):
        # allowed: members of a map that is empty in values.yaml, and members of a probe
        if tree and not path.endswith("Probe"):
            yield f"values.schema.json: {path}.{key} is not in values.yaml".replace(": .", ": ")
    for key, value in tree.items():
        if key not in node["properties"]:
            yield f"values.schema.json: {path}.{key} is missing".replace(": .", ": ")
        elif isinstance(value, dict):
            yield from check_schema(schema, node["properties"][key], value, f"{path}.{key}" if path else key)


def check_required(schema, node, tree, path=""):
    """A value that is not empty by default must be required: null removes it, and a template would meet nothing in its place.
    Free maps and lists, and members of a probe, can be removed."""
    node = resolve(schema, node)
    if "properties" not in node or path.endswith("Probe"):
        return
    for key, value in tree.items():
        below = node["properties"].get(key, {})
        section = isinstance(value, dict) and value and "properties" in resolve(schema, below)
        scalar = not isinstance(value, (dict, list)) and value not in ("", None)
        where = f"{path}.{key}" if path else key
        if (section or scalar) and where not in NULL_HAS_A_MEANING and key not in node.get("required", []):
            yield f"values.schema.json: {where} must be required"
        if isinstance(value, dict):
            yield from check_required(schema, below, value, where)


def check_strict(node, path="values.schema.json"):
    """An object with a list of members must reject others."""
    if isinstance(node, dict):
        if "properties" in node and node.get("additionalProperties") is not False and not path.endswith("properties"):
            yield f"{path}: additionalProperties must be false"
        for key, value in node.items():
            yield from check_strict(value, f"{path}/{key}")
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from check_strict(value, f"{path}/{i}")


def check_versions(chart):
    project = re.search(r"project\(sandgate VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
    for key in ("version", "appVersion"):
        if chart[key] != project:
            yield f"Chart.yaml: {key} is {chart[key]}, but the project has {project}"


def metric_names():
    """What webhook/metrics/*.c writes; a histogram has three names more."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "webhook" / "metrics").glob("*.c")))
    names = set(re.findall(r"\bsandgate_[a-z0-9_]+", text))
    for histogram in re.findall(r'"(sandgate_[a-z0-9_]+)", "histogram"', text):
        names |= {f"{histogram}_{part}" for part in ("bucket", "sum", "count")}
    return names


def check_metrics(name, text, known):
    for metric in sorted(set(re.findall(r"\bsandgate_[a-z0-9_]+", text)) - known):
        yield f"{name}: there is no metric {metric} in webhook/metrics/*.c"


def check_alerts(text):
    alerts = yaml.safe_load(text)["alerts"]
    for alert in alerts:
        for key in ("alert", "expr", "for", "severity", "summary", "description", "action"):
            if not alert.get(key):
                yield f"files/alerts.yaml: {alert.get('alert')} has no {key}"
    names = [alert["alert"] for alert in alerts]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"files/alerts.yaml: {name} is defined twice"


def check_panels(dashboard):
    for panel in dashboard["panels"]:
        if not panel.get("description"):
            yield f"files/dashboard.json: the panel {panel['title']} has no description"
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        yield "files/dashboard.json: two panels have the same id"


def check(chart=CHART):
    def read(name):
        return (chart / name).read_text(encoding="utf-8")

    text, schema, known = read("values.yaml"), json.loads(read("values.schema.json")), metric_names()
    tree = yaml.safe_load(text)
    yield from check_comments(text, tree)
    yield from check_schema(schema, schema, tree)
    yield from check_required(schema, schema, tree)
    yield from check_strict(schema)
    yield from check_versions(yaml.safe_load(read("Chart.yaml")))
    for name in ("files/alerts.yaml", "files/dashboard.json"):
        yield from check_metrics(name, read(name), known)
    yield from check_alerts(read("files/alerts.yaml"))
    yield from check_panels(json.loads(read("files/dashboard.json")))


def main():
    found = list(check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else CHART))
    for line in found:
        print(f"charts/sandgate/{line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
