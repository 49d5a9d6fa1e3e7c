#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of this repository that no compiler knows. Prints one line a place, ends with 1 if there is one.

Usage: tests/lint/house.py [ROOT]

An exception is a comment on the same line that says why:   lint: allow <reason>
A function over its length is named in LONG_FUNCTIONS; the list is best empty.
"""
import os
import re
import sys

FUNCTION_LINES = 60
FILE_LINES = 500
LONG_FUNCTIONS = {}  # {"webhook/x.c:function": "reason"}

ROOMS = ["planner", "k8s", "webhook"]  # what the program is made of
TOP_LEVEL = {"CMakeLists.txt", "webhook", "planner", "k8s", "charts", "tests", "certs-dev", "Makefile", "README.md",
             "CMakePresets.json", "CHANGELOG.md", "LICENSE"}
# Inputs of tests: bytes that came from elsewhere, or must be exactly as they are.
DATA = ("tests/cases/", "tests/golden/", "tests/captured/", "tests/fuzz/corpus/", "LICENSE")

BANNED = {
    "strcpy|strcat|sprintf|vsprintf|strncpy|strncat|gets": "writes without a bound: buffer.h",
    "strtok": "keeps state between calls: text.h",
    "atoi|atol|atoll|atof|strtol|strtoll|strtoul|strtoull|sscanf": "accepts blanks, signs and rests: text.h",
    "alloca": "no limit on the stack: arena.h",
    "system|popen": "a shell",
    "setjmp|longjmp|sigsetjmp|siglongjmp": "skips clean-up",
    "cJSON_GetObjectItem": "ignores case: tree.h",
    "cJSON_Parse|cJSON_ParseWithLength|cJSON_ParseWithOpts": "accepts a rest and no length: the strict reader",
    "cJSON_GetErrorPtr": "process-wide",
}
# Where the moment and the world are arguments.
PURE = re.compile(r"planner/|webhook/gate/")
PURE_BANNED = {
    "time|gettimeofday|clock_gettime|localtime|localtime_r": "a clock in pure code",
    "getenv|secure_getenv": "the environment in pure code",
    "fopen|open|openat|read|write|printf|fprintf|fputs|puts|perror|socket|send|recv": "input or output in pure code",
    "rand|random|getrandom": "chance in pure code",
}

WORDS = {
    r"\b(TODO|FIXME|XXX|HACK)\b": "is left for later",  # lint: allow the list itself
    r"(?<![\w&/])#\d+\b(?!-[a-z])|\bissue \d+": "is a number that means nothing here",  # but (#7-title) is a link
    r"(?<![\w.])/[w]ork\b|\b[s]hared/(?:contract|captured|cases|reference|tools|hooks|design)":
        "is a path that exists elsewhere",
}

LICENCE = "SPDX-License-Identifier: Apache-2.0"
ALLOW = re.compile(r"lint: allow [A-Za-z]")


def files(root):
    """Paths below root that belong to the repository, sorted."""
    for folder, names, found in os.walk(root):
        relative = os.path.relpath(folder, root)
        if relative == ".":
            names[:] = [n for n in names if n != ".git" and not n.startswith("build")]
        names[:] = sorted(n for n in names if n not in ("out", "node_modules", "__pycache__"))
        for name in sorted(found):
            if name != ".git":  # a file in a linked worktree
                yield os.path.normpath(os.path.join(relative, name))


def without_comments(text):
    """The code with comments and literals blanked, line by line as before."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, blank, text, flags=re.S)


def functions(code):
    """(name, first line, lines) of each function whose brace stands in column 0."""
    lines = code.split("\n")
    depth, start, name = 0, 0, ""
    for i, line in enumerate(lines):
        if depth == 0 and line.startswith("{"):
            head = " ".join(above for above in lines[max(0, i - 8):i] if not above.startswith("#"))
            found = re.findall(r"([A-Za-z_]\w*)\s*\([^;{}]*\)\s*$", head)
            name, start = (found[-1] if found else ""), i
        if not line.startswith("#"):
            depth += line.count("{") - line.count("}")
        if depth == 0 and name and line.startswith("}"):
            yield name, start + 1, i - start + 1
            name = ""


def calls(table):
    return [(re.compile(rf"(?<![\w.>])({names})\s*\("), why) for names, why in table.items()]


def check_words(path, lines):
    for number, line in enumerate(lines, 1):
        for pattern, why in WORDS.items():
            found = re.search(pattern, line)
            if found and not ALLOW.search(line):
                yield f"{path}:{number}: {found.group(0)} {why}"


def check_calls(path, code, lines):
    banned = calls(BANNED) + (calls(PURE_BANNED) if PURE.match(path) else [])
    for number, line in enumerate(code.split("\n"), 1):
        for pattern, why in banned:
            found = pattern.search(line)
            if found and not ALLOW.search(lines[number - 1]):
                yield f"{path}:{number}: {found.group(1)}(): {why}"


def check_includes(path, lines):
    """Where an include may lead is checked by layers.py; this checks its form."""
    if path.split("/")[0] not in ROOMS:
        return
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if found and found.group(1).startswith("."):
            yield f"{path}:{number}: include as \"folder/name.h\", not {found.group(1)}"
        elif found and found.group(1).startswith("tests/"):
            yield f"{path}:{number}: the program must not include {found.group(1)}"


def check_lengths(path, text, code):
    count = text.count("\n")
    if count > FILE_LINES:
        yield f"{path}: {count} lines, {FILE_LINES} are the limit"
    for name, first, length in functions(code):
        if length > FUNCTION_LINES and f"{path}:{name}" not in LONG_FUNCTIONS:
            yield f"{path}:{first}: {name}() has {length} lines, {FUNCTION_LINES} are the limit"


def check_licence(path, lines):
    """The first line, or the one after #!, names the licence."""
    if path.endswith((".c", ".h", ".py", ".sh")) and not any(LICENCE in line for line in lines[:2]):
        yield f"{path}:1: has no line {LICENCE}"


def check_file(root, path):
    try:
        with open(os.path.join(root, path), encoding="utf-8") as stream:
            text = stream.read()
    except UnicodeDecodeError:
        return  # a key, a signature
    lines = text.split("\n")
    yield from check_licence(path, lines)
    yield from check_words(path, lines)
    if not path.endswith((".c", ".h")):
        return
    code = without_comments(text)
    yield from check_calls(path, code, lines)
    yield from check_includes(path, lines)
    yield from check_lengths(path, text, code)
    if path.endswith(".h") and not re.match(r"(?:/\* SPDX[^\n]*\n)?(?:\s*#(?:ifndef|define|pragma) [^\n]*\n)*\s*/\*", text):
        yield f"{path}:1: a header begins with what it is for"


def check_promises(root, paths):
    """A promise in SECURITY.md names the test that keeps it: the test must be there."""
    promises = os.path.join(root, ".github", "SECURITY.md")
    if not os.path.isfile(promises):
        return
    there = set()
    for path in paths:
        if path.startswith("tests/") and path.endswith((".c", ".py")):
            with open(os.path.join(root, path), encoding="utf-8") as stream:
                text = stream.read()
            there.update(".".join(found) for found in re.findall(r"^Test\((\w+), (\w+)", text, flags=re.M))
            there.update(re.findall(r"^    def (test_\w+)\(", text, flags=re.M))
    suites = {name.split(".")[0] for name in there}
    with open(promises, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            for name in re.findall(r"`(\w+\.\w*_\w+|test_\w+)`", line):
                if name not in there and not name.endswith(".py") and (name.startswith("test_") or name.split(".")[0] in suites):
                    yield f".github/SECURITY.md:{number}: there is no test {name}"


def check(root):
    paths = list(files(root))
    yield from check_promises(root, paths)
    top = set()
    for path in paths:
        top.add(path.split("/")[0])
        if not path.startswith(DATA):
            yield from check_file(root, path)
    for name in sorted(top):
        if not name.startswith(".") and name not in TOP_LEVEL:
            yield f"{name}: not one of the fixed names at the top"
    for room in sorted(top & {"planner", "k8s", "webhook", "charts", "certs-dev", "tests"}):
        if not os.path.isfile(os.path.join(root, room, "README.md")):
            yield f"{room}: has no README.md"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = list(check(os.path.normpath(root)))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
