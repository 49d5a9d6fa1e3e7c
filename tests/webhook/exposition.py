# SPDX-License-Identifier: Apache-2.0
"""Finds errors in a text for Prometheus, by the rules of `promtool check metrics`, and by our own rule that each label has
few values."""

import math
import re

SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^}]*)\})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,|$)')
NAME = re.compile(r"sandgate_[a-z0-9_]+$")
NO_BASE_UNIT = re.compile(r"_(milli|micro|nano)?(milliseconds|minutes|hours|days|kilobytes|"
                          r"megabytes|kib|mib|ms|us|percent)(_|$)")
MAX_LABEL_VALUES = 64


class Family:
    def __init__(self, text):
        self.help, self.type, self.samples = text, None, []


def read(text):
    """Metric families by name, and the errors in single lines."""
    families, wrong, current = {}, [], None
    if not text.endswith("\n"):
        wrong.append("the last line has no end")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, said = line[7:].split(" ", 1)
            if name in families:
                wrong.append("%s: described twice" % name)
            families[name] = current = Family(said)
            if not said.strip():
                wrong.append("%s: HELP says nothing" % name)
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ", 1)
            if name not in families or families[name] is not current or current.samples:
                wrong.append("%s: TYPE does not follow its HELP" % name)
            else:
                current.type = kind
        else:
            found = SAMPLE.match(line)
            if not found:
                wrong.append("not a sample: %s" % line)
                continue
            name, labels, value = found.groups()
            family = next((n for n in families if families[n] is current), None)
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            if family not in (name, base) or current.type is None or \
                    (name != family and current.type != "histogram"):
                wrong.append("%s: no HELP and TYPE right before it" % name)
                continue
            current.samples.append((name, dict(LABEL.findall(labels or "")), float(value)))
    return families, wrong


def check_histogram(name, samples):
    groups, wrong = {}, []
    for sample, labels, value in samples:
        rest = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        groups.setdefault(rest, {}).setdefault(sample[len(name):], []).append((labels, value))
    for group in groups.values():
        bounds = [float(labels["le"]) for labels, _ in group.get("_bucket", [])]
        counts = [value for _, value in group.get("_bucket", [])]
        if not bounds or bounds != sorted(set(bounds)) or not math.isinf(bounds[-1]):
            wrong.append("%s: le does not rise to +Inf" % name)
        if counts != sorted(counts):
            wrong.append("%s: buckets do not add up" % name)
        if len(group.get("_sum", [])) != 1 or len(group.get("_count", [])) != 1:
            wrong.append("%s: no sum or no count" % name)
        elif counts and group["_count"][0][1] != counts[-1]:
            wrong.append("%s: +Inf is not the count" % name)
    return wrong


def check_family(name, family):
    wrong = []
    if not NAME.match(name):
        wrong.append("%s: not a metric of sandgate" % name)
    if NO_BASE_UNIT.search(name):
        wrong.append("%s: not in a base unit" % name)
    if family.type not in ("counter", "gauge", "histogram"):
        wrong.append("%s: of no type" % name)
    if (family.type == "counter") != name.endswith("_total"):
        wrong.append("%s: _total is for counters" % name)
    if re.search(r"_(counter|gauge|histogram)(_|$)", name):
        wrong.append("%s: the type is in the name" % name)
    seen, values = set(), {}
    for sample, labels, value in family.samples:
        key = (sample, tuple(sorted(labels.items())))
        if key in seen:
            wrong.append("%s: a series twice: %s" % (name, labels))
        seen.add(key)
        if math.isnan(value) or (family.type != "gauge" and value < 0):
            wrong.append("%s: not a count: %s" % (name, value))
        for label, text in labels.items():
            values.setdefault(label, set()).add(text)
    wrong += ["%s: label %s has %d values" % (name, label, len(several))
              for label, several in values.items() if len(several) > MAX_LABEL_VALUES]
    if family.type == "histogram":
        wrong += check_histogram(name, family.samples)
    return wrong


def check(text):
    families, wrong = read(text)
    for name, family in families.items():
        wrong += check_family(name, family)
    return wrong
