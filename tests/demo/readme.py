#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of the pages' ```console blocks and compares what it prints with what the page says.

Usage: tests/demo/readme.py SANDGATE [--write]
  --write  puts what was printed into the pages, where it differs, instead of failing

A command begins with "$ " and ends where the shell has a whole command; the lines after it are its output, standard
error included. Moments, hex digests and signatures differ from run to run and count as equal. Each page runs in a new
folder. A page that needs what another one made has a line `Continues from [title](path)`: that page runs first.
Commands that need a cluster are in ```shell-session blocks: tests/e2e/test_readme.py runs those, in the order of PAGES.
Here only the messages of their denials are compared, with those of `sandgate check` for the same pod.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# Every page with commands, in the order in which their commands that need a cluster follow each other there.
PAGES = [
    "k8s/evidence/signing.md",
    "charts/operating.md",
    "README.md",
    "webhook/commands/check.md",
    "webhook/report/security.md",
    "webhook/boundary.md",
]
FENCES = ("console", "shell-session")
CONTINUES = re.compile(r"^Continues from \[[^\]]*\]\(([^)]+)\)", flags=re.M)
CONFIGURATION = re.compile(r"^```yaml\n(apiVersion: sandbox.runx.dev/v1\nkind: GateConfiguration\n.*?)^```$", flags=re.S | re.M)
DENIED = "denied the request: "
POD = """apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: SPACE}
spec: {containers: [{name: NAME, image: IMAGE}]}
"""
CHANGING = [
    (r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "<moment>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<moment>"),
    (r"sha256:[0-9a-f]{64}", "<digest>"),
    (r"[A-Za-z0-9+/]{80,}={0,2}", "<signature>"),
]


def page_text(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as stream:
        return stream.read()


def same_form(text):
    for pattern, name in CHANGING:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def whole(command):
    """Whether bash takes this for a whole command: no open quote, pipe, continuation or here-document."""
    check = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
    return check.returncode == 0 and not check.stderr and not command.endswith("\\")


def commands(text, fence="console"):
    """(command, expected output) of each block of that kind, in order. What needs a cluster is in shell-session blocks."""
    for block in re.findall(rf"^```{fence}\n(.*?)^```$", text, flags=re.S | re.M):
        command, output = None, []
        for line in block.rstrip("\n").split("\n"):
            if command is not None and not output and not whole(command):
                command += "\n" + line
            elif line.startswith("$ "):
                if command is not None:
                    yield command, "\n".join(output)
                command, output = line[2:], []
            else:
                output.append(line)
        yield command, "\n".join(output)


def chain(page):
    """The pages that it continues from, the first one first, and itself."""
    found = CONTINUES.search(page_text(page))
    if not found:
        return [page]
    return chain(os.path.normpath(os.path.join(os.path.dirname(page), found.group(1).split("#")[0]))) + [page]


def cluster_pages():
    """The pages with commands that need a cluster, in their order."""
    return [page for page in PAGES if any(commands(page_text(page), "shell-session"))]


def prerequisites(pages):
    """The pages that they continue from and that need no cluster themselves, each once."""
    before = [page for each in pages for page in chain(each) if page not in pages]
    return list(dict.fromkeys(before))


def all_pages():
    for folder, names, found in os.walk(ROOT):
        names[:] = sorted(n for n in names if n not in (".git", "node_modules", "out") and not n.startswith("build"))
        for name in sorted(found):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def unlisted():
    """Pages with commands that PAGES does not name: no test would run them."""
    for page in all_pages():
        if page not in PAGES and any(f"\n```{fence}\n" in page_text(page) for fence in FENCES):
            yield page


def make_folder(folder, sandgate):
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(os.path.abspath(sandgate), os.path.join(folder, "build", "sandgate"))
    for name in ("tests", "charts"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))


def run(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)


def run_page(page, sandgate):
    """(command, expected, printed, status) of each of the page's commands, after those of the pages before it."""
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder, sandgate)
        for before in chain(page)[:-1]:
            for command, _expected in commands(page_text(before)):
                run(command, folder)
        for command, expected in commands(page_text(page)):
            done = run(command, folder)
            yield command, expected, done.stdout, done.returncode


def replace_output(page, command, expected, printed):
    text = page_text(page)
    before = f"$ {command}\n" + (f"{expected}\n" if expected else "")
    assert text.count(before) >= 1, f"{page}: {command}"
    with open(os.path.join(ROOT, page), "w", encoding="utf-8") as stream:
        stream.write(text.replace(before, f"$ {command}\n{printed}", 1))


def offline(command):
    """A command for kubectl as one for `sandgate check`, with no evidence but the namespaces; None if it is no such command."""
    check = "build/sandgate check --output review --evidence evidence --keyring build/first/keyring"
    run_pod = re.match(r"kubectl run (\S+) --namespace (\S+) --image (\S+)$", command)
    if run_pod:
        pod = POD.replace("NAME", run_pod[1]).replace("SPACE", run_pod[2]).replace("IMAGE", run_pod[3])
        return f"{check} -f - <<'POD'\n{pod}POD"
    if "kubectl apply --dry-run=server" in command:
        return command.replace("kubectl apply --dry-run=server", check)
    return None


def denials(page, sandgate):
    """(expected, actual) message of each denial in the page's shell-session blocks."""
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder, sandgate)
        for command, _expected in commands(page_text(PAGES[0])):
            run(command, folder)
        os.mkdir(os.path.join(folder, "evidence"))
        os.symlink(os.path.join(ROOT, "tests", "demo", "namespaces.yaml"), os.path.join(folder, "evidence", "namespaces.yaml"))
        for command, expected in commands(page_text(page), "shell-session"):
            if DENIED in expected and offline(command):
                answer = json.loads(run(offline(command), folder).stdout)
                yield expected.split(DENIED, 1)[1], answer["response"]["status"]["message"]


def check_denials(page, sandgate, write):
    """How many are wrong, after they were put right where that is asked for."""
    wrong = 0
    for expected, actual in denials(page, sandgate) if page in cluster_pages() else ():
        if expected == actual:
            continue
        if write:
            text = page_text(page)
            with open(os.path.join(ROOT, page), "w", encoding="utf-8") as stream:
                stream.write(text.replace(expected, actual))
            continue
        wrong += 1
        print(f"{page} shows the denial:\n{expected}\n-- it would be:\n{actual}")
    return wrong


def check_configurations(sandgate):
    """A configuration that a page shows is one that the program reads; its paths are those of a cluster, so `check`
    is given a folder and a keyring in their place."""
    wrong, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder, sandgate)
        setup = [command for command, _expected in commands(page_text(PAGES[0]))]
        for page in sorted({*PAGES, "webhook/config/configuration.md"}):
            for text in CONFIGURATION.findall(page_text(page)):
                if count == 0:
                    for command in setup:
                        run(command, folder)
                count += 1
                with open(os.path.join(folder, "gate.yaml"), "w", encoding="utf-8") as stream:
                    stream.write(text)
                done = run("build/sandgate check --config gate.yaml -f tests/demo/pod.yaml "
                           "--evidence build/first/evidence --keyring build/first/keyring", folder)
                if done.returncode != 0:
                    wrong += 1
                    print(f"{page}: the program does not read this configuration:\n{done.stdout}")
    return count, wrong


def main():
    sandgate, write = sys.argv[1], "--write" in sys.argv[2:]
    count = wrong = 0
    for page in unlisted():
        wrong += 1
        print(f"{page} has commands, and PAGES in tests/demo/readme.py does not name it")
    for page in PAGES:
        for command, expected, printed, status in list(run_page(page, sandgate)):
            count += 1
            if same_form(printed) == same_form(expected):
                continue
            if write:
                replace_output(page, command, expected, printed)
                continue
            wrong += 1
            print(f"$ {command}\n-- {page} says:\n{expected}\n-- it printed (status {status}):\n{printed}")
        wrong += check_denials(page, sandgate, write)
    configurations, unread = check_configurations(sandgate)
    print(f"{count} commands, {configurations} configurations, {wrong + unread} wrong")
    return 0 if count and configurations and wrong + unread == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
