#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of this repository that no compiler checks. Prints one line for each violation and ends with 1 if
there is one.

Usage: tests/lint/rules.py [ROOT]

An exception is a comment on the same line that gives the reason:   lint: allow <reason>
A longer function is named, with the reason, in LONG_FUNCTIONS. The list should stay empty.
"""
import os
import re
import sys

FUNCTION_LINES = 60
FILE_LINES = 500
LONG_FUNCTIONS = {}  # {"webhook/x.c:function": "reason"}

PROGRAM = ["planner", "k8s", "webhook"]  # the directories with the sources of the program
TOP_LEVEL = {"CMakeLists.txt", "webhook", "planner", "k8s", "charts", "tests", "certs-dev", "Makefile", "README.md",
             "CMakePresets.json", "CHANGELOG.md", "LICENSE"}
# Inputs of tests: copied from elsewhere, or with bytes that must not change.
DATA = ("tests/cases/", "tests/golden/", "tests/captured/", "tests/fuzz/corpus/", "LICENSE")

BANNED = {
    "strcpy|strcat|sprintf|vsprintf|strncpy|strncat|gets": "writes without a bound: use buffer.h",
    "strtok": "keeps state between calls: use text.h",
    "atoi|atol|atoll|atof|strtol|strtoll|strtoul|strtoull|sscanf": "accepts blanks, signs and trailing text: use text.h",
    "alloca": "takes stack without a limit: use arena.h",
    "system|popen": "runs a shell",
    "setjmp|longjmp|sigsetjmp|siglongjmp": "skips cleanup",
    "cJSON_GetObjectItem": "ignores case: use tree.h",
    "cJSON_Parse|cJSON_ParseWithLength|cJSON_ParseWithOpts": "accepts trailing text, or takes no length: use the strict reader",
    "cJSON_GetErrorPtr": "is shared by all threads",
}
# Pure code: the time and everything else that it depends on are arguments.
PURE = re.compile(r"planner/|webhook/gate/")
PURE_BANNED = {
    "time|gettimeofday|clock_gettime|localtime|localtime_r": "reads a clock in pure code",
    "getenv|secure_getenv": "reads the environment in pure code",
    "fopen|open|openat|read|write|printf|fprintf|fputs|puts|perror|socket|send|recv": "does input or output in pure code",
    "rand|random|getrandom": "is random in pure code",
}

WORDS = {
    r"\b(TODO|FIXME|XXX|HACK)\b": "must not stay in the code",  # lint: allow the list itself
    # (#7-title) is a link to a section
    r"(?<![\w&/])#\d+\b(?!-[a-z])|\bissue \d+": "refers to an issue that a reader cannot open",
    r"(?<![\w.])/[w]ork\b|\b[s]hared/(?:contract|captured|cases|reference|tools|hooks|design)":
        "is a path outside this repository",
}

# A label of a header's contract. Blanks follow it, which align the text, or the end of the line where a line was broken.
LABEL = re.compile(r"(?:^|(?<= ))(Errors|Ownership|Threads|Units)(?:  |$)")
OTHER_LABEL = re.compile(r"\S+(?: \S+)?  +\S")

LICENCE = "SPDX-License-Identifier: Apache-2.0"
ALLOW = re.compile(r"lint: allow [A-Za-z]")


def files(root):
    """Paths below root that belong to the repository, sorted."""
    for folder, names, found in os.walk(root):
        relative = os.path.relpath(folder, root)
        if relative == ".":
            names[:] = [n for n in names if n != ".git" and not n.startswith("build")]
        names[:] = sorted(n for n in names if n not in ("out", "node_modules", "__pycache__"))
        for name in sorted(n for n in found if n != ".git"):  # .git is a file in a worktree
            yield os.path.normpath(os.path.join(relative, name))


def without_comments(text):
    """The code with comments and literals replaced by blanks; line numbers stay the same."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, blank, text, flags=re.S)


def functions(code):
    """(name, first line, number of lines) of each function whose opening brace is in column 0."""
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
    """The form of an include line. layers.py checks which directories may be included."""
    if path.split("/")[0] not in PROGRAM:
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
        yield f"{path}: has {count} lines; the limit is {FILE_LINES}"
    for name, first, length in functions(code):
        if length > FUNCTION_LINES and f"{path}:{name}" not in LONG_FUNCTIONS:
            yield f"{path}:{first}: {name}() has {length} lines; the limit is {FUNCTION_LINES}"


def check_licence(path, lines):
    """The licence is named in the first line, or in the second after a #! line."""
    if path.endswith((".c", ".h", ".py", ".sh")) and not any(LICENCE in line for line in lines[:2]):
        yield f"{path}:1: lacks the line {LICENCE}"


def check_labels(path, text):
    """In the opening comment of a header, each label of the contract begins its line, and the lines that continue it are
    indented. clang-format fills a comment as one paragraph when a line of it is too long."""
    if not path.endswith(".h"):
        return
    for comment in re.finditer(r"/\*.*?\*/", text, flags=re.S):
        if "SPDX" not in comment.group(0):
            first = text.count("\n", 0, comment.start()) + 1
            labelled = False
            for number, line in enumerate(comment.group(0).split("\n"), first):
                body = re.sub(r"^\s*(?:\*/|/?\*+ ?)", "", line).replace("*/", "").rstrip()
                if labelled and body and not body.startswith(" ") and not LABEL.match(body) and not OTHER_LABEL.match(body):
                    yield f"{path}:{number}: must be indented, because it continues the text of a label"
                labelled = LABEL.match(body) is not None or labelled and body != ""
                for label in LABEL.finditer(body):
                    if label.start() > 0:
                        yield f"{path}:{number}: the label {label.group(1)} must begin its line"
            return


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
    yield from check_labels(path, text)
    if path.endswith(".h") and not re.match(r"(?:/\* SPDX[^\n]*\n)?(?:\s*#(?:ifndef|define|pragma) [^\n]*\n)*\s*/\*", text):
        yield f"{path}:1: a header must begin with a comment that says what it is for"


def check(root):
    paths = list(files(root))
    top = set()
    for path in paths:
        top.add(path.split("/")[0])
        if not path.startswith(DATA):
            yield from check_file(root, path)
    for name in sorted(top):
        if not name.startswith(".") and name not in TOP_LEVEL:
            yield f"{name}: is not allowed at the top level (TOP_LEVEL in tests/lint/rules.py)"
    for folder in sorted(top & {"planner", "k8s", "webhook", "charts", "certs-dev", "tests"}):
        if not os.path.isfile(os.path.join(root, folder, "README.md")):
            yield f"{folder}: has no README.md"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = list(check(os.path.normpath(root)))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
