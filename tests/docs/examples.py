#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of webhook/findings.md and compares the printed findings with the page.

Usage: tests/docs/examples.py [--write] SANDGATE
--write puts what the program prints into the page, where a message has changed.

Each section with a finding code as its heading has YAML blocks and then one text block. The first line of a YAML block is
a comment that names the part of the pod, the evidence or the configuration that the block replaces or adds (see PARTS).
The text block has the lines that `sandgate check` (for planner input: `sandgate plan`) prints for this code.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = os.path.join("webhook", "findings.md")
AS_OF = "2026-03-01T12:00:00Z"

POD = "the pod"
ANNOTATIONS = "annotations of the pod"
CONTAINERS = "containers of the pod"
SPEC = "spec of the pod"
DOCUMENT = "the signed document, in the namespace payments"
REQUIREMENTS = "requirements of the signed document"
ANOTHER = "another signed document, in the namespace payments"
BROKEN = "a baseline in sandgate-system, changed after it was signed"
HOLDING = "for findings of the boundary: a baseline, in the namespace sandgate-system"
POLICY = "a NetworkPolicy of the namespace payments"
NAMESPACE = "the namespace"
CONFIGURATION = "configuration"
INPUT = "planner input"
PARTS = {POD, ANNOTATIONS, CONTAINERS, SPEC, DOCUMENT, REQUIREMENTS, ANOTHER, BROKEN, HOLDING, POLICY, NAMESPACE, CONFIGURATION,
         INPUT}

SECTION = re.compile(r"^#{2,3} ([^\n]+)\n(.*?)(?=^#{2,3} |\Z)", re.M | re.S)
BLOCK = re.compile(r"^```yaml\n# ([^\n]*)\n(.*?)^```$", re.M | re.S)
OUTPUT = re.compile(r"^```text\n(.*?)^```$", re.M | re.S)
CODE = re.compile(r"(?:gate|boundary|sandbox)\.[a-z_]+\.[a-z_]+$")


def indent(text, spaces):
    return "".join(" " * spaces + line for line in text.splitlines(keepends=True))


def replace_value(text, key, value):
    """Replaces the value of a key, which is alone on its line, by another block."""
    found = re.search(rf"^( *){key}:\n((?:\1[ -].*\n)*)", text, re.M)
    if found is None:
        raise ValueError(f"no key {key} to replace")
    spaces = len(found.group(1))
    return text[:found.start()] + f"{found.group(1)}{key}:\n" + indent(value, spaces + 2) + text[found.end():]


def parts_of(section):
    parts = dict(BLOCK.findall(section))
    for name in parts:
        if name not in PARTS:
            raise ValueError(f"{PAGE}: unknown part of an example: {name}")
    return parts


class Workspace:
    """Keys and a folder in which one example after the other is run."""

    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder
        os.mkdir(self.path("keyring"))
        self.call("openssl", "genpkey", "-algorithm", "ed25519", "-out", self.path("release.pem"))
        self.call("openssl", "pkey", "-in", self.path("release.pem"), "-pubout", "-out",
                  self.path("keyring", "release.pem"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def call(self, *command):
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def write(self, text, *names):
        with open(self.path(*names), "w", encoding="utf-8") as stream:
            stream.write(text)
        return self.path(*names)

    def sign(self, text, name, namespace, *options):
        document = self.write(text, f"{name}-document.yaml")
        self.call(self.program, "sign", "--key", self.path("release.pem"), "--name", name, "--namespace", namespace,
                  "--output", self.path("evidence", f"{name}.yaml"), *options, document)

    def printed(self, arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, timeout=60, check=False)
        if done.stderr or done.returncode not in (0, 1):
            raise RuntimeError(f"sandgate {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def run(self, base, parts):
        """Everything that is printed for base with these parts."""
        if INPUT in parts:
            return self.printed(["plan", "--output", "table", self.write(parts[INPUT], "input.yaml")])
        evidence = self.path("evidence")
        if os.path.isdir(evidence):
            for name in os.listdir(evidence):
                os.unlink(os.path.join(evidence, name))
        else:
            os.mkdir(evidence)
        pod, document = base[POD], parts.get(DOCUMENT, base[DOCUMENT])
        if ANNOTATIONS in parts:
            pod = replace_value(pod, "annotations", parts[ANNOTATIONS])
        if CONTAINERS in parts:
            pod = replace_value(pod, "containers", parts[CONTAINERS])
        if SPEC in parts:
            pod = replace_value(pod, "spec", parts[SPEC])
        if REQUIREMENTS in parts:
            document = replace_value(document, "requirements", parts[REQUIREMENTS])
        self.sign(document, "acme-report", "payments")
        if ANOTHER in parts:
            self.sign(parts[ANOTHER], "acme-report-2", "payments")
        if BROKEN in parts:
            self.sign(parts[BROKEN], "baseline", "sandgate-system")
            with open(self.path("evidence", "baseline.yaml"), encoding="utf-8") as stream:
                signed = stream.read()
            self.write(signed.rstrip("\n") + " # changed\n", "evidence", "baseline.yaml")
        if HOLDING in parts:
            self.sign(parts[HOLDING], "holding", "sandgate-system")
        for part, name in ((POLICY, "policy.yaml"), (NAMESPACE, "namespace.yaml")):
            if part in parts:
                self.write(parts[part], "evidence", name)
        options = ["--config", self.write(parts[CONFIGURATION], "gate.yaml")] if CONFIGURATION in parts else []
        return self.printed(["check", "-f", self.write(pod, "pod.yaml"), "--evidence", evidence, "--keyring",
                             self.path("keyring"), "--as-of", AS_OF, *options])


def findings(printed, code):
    """The lines for a code, without their indentation; `plan` prints code and message in columns."""
    lines = [line.strip() for line in printed.splitlines()]
    return "".join(re.sub(r" {2,}", ": ", line) + "\n" for line in lines if re.match(rf"{re.escape(code)}[ :]", line))


def check(page, program, write=False):
    """(page as it should be, list of problems)."""
    base = {}
    for found in BLOCK.finditer(page[:page.index("\n## Findings of the gate")]):
        base[found.group(1)] = found.group(2)
    problems = []

    def section(found):
        code, body = found.group(1), found.group(2)
        if not CODE.match(code):
            return found.group(0)
        output = OUTPUT.search(body)
        parts = parts_of(body)
        if output is None or not parts:
            problems.append(f"{PAGE}: {code}: no example with its output")
            return found.group(0)
        if code.startswith("boundary."):
            parts[HOLDING] = base[HOLDING]
        printed = workspace.run(base, parts)
        expected = findings(printed, code)
        if not expected:
            problems.append(f"{PAGE}: {code}: the example does not give this finding:\n{printed}")
        elif expected != output.group(1) and not write:
            problems.append(f"{PAGE}: {code}: the program prints\n{expected}and not\n{output.group(1)}")
        whole = found.group(0)
        begin = len(whole) - len(body)
        return whole[:begin] + body[:output.start(1)] + expected + body[output.end(1):]

    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(program, folder)
        return SECTION.sub(section, page), problems


def main():
    write = "--write" in sys.argv[1:]
    program = [argument for argument in sys.argv[1:] if argument != "--write"][0]
    path = os.path.join(ROOT, PAGE)
    with open(path, encoding="utf-8") as stream:
        page = stream.read()
    after, problems = check(page, program, write)
    if write:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(after)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
