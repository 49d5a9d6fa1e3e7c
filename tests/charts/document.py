#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes charts/sandgate/README.md: README.template.md with tables of all values in place of its line VALUES.

Usage: tests/charts/document.py [--check]     --check writes nothing; it exits with 1 if the file is out of date"""
import json
import re
import sys

from values import CHART, rows

MARK = "VALUES\n"


def cell(value):
    """A value as YAML on one line, in code style."""
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`".replace("|", "\\|")


def what(key, comment):
    """The comment without the name at its beginning, which is in the column before. "name of the pods" keeps it."""
    name = key.rsplit(".", 1)[-1]
    text = re.sub(rf"^{name}:? (?!of )(?:is |are )?", "", comment)
    return text if text.startswith(name) else text[0].upper() + text[1:]


def table(found):
    lines, current = [], None
    for section, key, comment, default in found:
        if section != current:
            title = section.split(",")[0]
            rest = section[len(title):].lstrip(", ")
            lines += ["", f"### {title}", ""] + ([f"{rest[0].upper()}{rest[1:]}.", ""] if rest else [])
            lines += ["| value | meaning | default |", "|---|---|---|"]
            current = section
        lines.append(f"| `{key}` | {what(key, comment).replace('|', chr(92) + '|')} | {cell(default)} |")
    return "\n".join(lines).lstrip("\n") + "\n"


def main():
    template = (CHART / "README.template.md").read_text(encoding="utf-8")
    before, after = template.split(MARK)
    text = before + table(rows((CHART / "values.yaml").read_text(encoding="utf-8"))) + after
    readme = CHART / "README.md"
    if "--check" not in sys.argv[1:]:
        readme.write_text(text, encoding="utf-8")
        return 0
    if not readme.exists() or readme.read_text(encoding="utf-8") != text:
        print("charts/sandgate/README.md is out of date: run tests/charts/document.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
