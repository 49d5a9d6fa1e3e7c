#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the documents and the code name the same things. Prints one line per problem, exits with 1 if there is one.

Usage: tests/docs/documents.py [ROOT]

- Every finding code is in the contract that defines it and in findings.md, in the order of the code, with its class or state.
- Every annotation key and label, every audit annotation, every metric (with type and labels) and every configuration key
  is in its document, and every one that a document names is in the code.
- Every citation of a contract, such as `gate-v1, section 8`, names a document in the tree and a section that exists.
- In Markdown, citations are links, and all relative links have a target.
- In Markdown, a file, directory or `function()` named in backticks exists, and so does each test that SECURITY.md names.

The code is found by content, not by file names, so files may move.
"""
import os
import re
import sys

GATE, PLANNER, BOUNDARY = "webhook/gate-v1.md", "planner/hardening-v1.md", "k8s/boundary/boundary-v1.md"
FINDINGS, METRICS = "webhook/findings.md", "webhook/metrics/metrics.md"
CODE_FOLDERS = ("planner", "k8s", "webhook")
CITING = (".c", ".h", ".md", ".py", ".yaml", ".yml", ".tpl", ".js", ".sh")
# Inputs of tests: their bytes are fixed.
DATA = ("tests/cases/", "tests/golden/", "tests/captured/", "tests/fuzz/corpus/")
CLASSES = {"MORE_EVIDENCE": ("E", "more evidence"), "REFUSED": ("R", "refused"), "UNSUPPORTED": ("U", "unsupported")}

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "r": "\r", "0": "\0"}


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as stream:
        return stream.read()


def files(root):
    """Paths below root that belong to the repository, sorted."""
    for folder, names, found in os.walk(root):
        relative = os.path.relpath(folder, root)
        if relative == ".":
            names[:] = [n for n in names if n != ".git" and not n.startswith("build")]
        names[:] = sorted(n for n in names if n not in ("out", "node_modules", "__pycache__"))
        for name in sorted(found):
            yield os.path.normpath(os.path.join(relative, name)).replace(os.sep, "/")


# ---- the code ----

def without_comments(text):
    return re.sub(rf"({LITERAL})|/\*.*?\*/|//[^\n]*", lambda found: found.group(1) or " ", text, flags=re.S)


def unescape(literal):
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found.group(1), found.group(0)), literal[1:-1])


class Code:
    """The C code below the three folders, without comments."""

    def __init__(self, root, paths):
        self.files = {path: without_comments(read(root, path)) for path in paths
                      if path.endswith((".c", ".h")) and path.startswith(tuple(f + "/" for f in CODE_FOLDERS))}
        self.all = "\n".join(self.files.values())
        self.macros = {}
        for _ in range(3):  # macros of macros
            for name, value in re.findall(rf"^#define (\w+) ((?:{LITERAL}|[A-Z]\w+| |\\\n)+)$", self.all, re.M):
                text = self.concatenate(value)
                if text is not None:
                    self.macros[name] = text
        self.texts = {text for text in map(self.concatenate, self.sequences()) if text is not None}

    def sequences(self):
        part = rf"(?:{LITERAL}|\b[A-Z][A-Z0-9_]+\b)"
        code = re.sub(r"^#define \w+(\([^)]*\))?", "#define", self.all, flags=re.M)
        return (found for found in re.findall(rf"{part}(?:\s+{part}|(?<=\")\s*{part})*", code) if '"' in found)

    def concatenate(self, sequence):
        """The text of adjacent literals and macros. A name that is not a text is left out."""
        parts = re.findall(rf"{LITERAL}|\w+", sequence)
        texts = [unescape(part) if part[0] == '"' else self.macros.get(part) for part in parts]
        return "".join(text for text in texts if text is not None) if any(texts) else None

    def codes(self, table):
        """(class or None, text) of each row of an X-macro."""
        found = re.search(rf"#define {table}\(X\)((?:[^\n]*\\\n)*[^\n]*\n)", self.all)
        rows = re.findall(r'X\(\w+,(?:\s*(\w+),)?\s*"([^"]+)"\)', found.group(1).replace("\\\n", " ")) if found else []
        return [(kind or None, text) for kind, text in rows]

    def boundary_codes(self):
        """(state, text) of each row of BOUNDARY_CODES, in lower case."""
        found = re.search(r"#define BOUNDARY_CODES\(X\)((?:[^\n]*\\\n)*[^\n]*\n)", self.all)
        rows = re.findall(r'X\(\w+, "([^"]+)", \w+, (\w+)\)', found.group(1)) if found else []
        return [(state.lower(), text) for text, state in rows]

    def keys(self):
        """Annotation keys and labels; of keys with a variable part, the prefix that ends with a slash."""
        keys = set()
        for text in self.texts:
            keys.update(re.findall(r"((?:[a-z]+\.)?sandbox\.runx\.dev/[A-Za-z0-9-]*)", text))
        return {key for key in keys if key not in ("sandbox.runx.dev/", "sandbox.runx.dev/v1")}

    def audit_annotations(self):
        return set(re.findall(r'\badd_pair\(\s*[^,"]+,\s*"([a-z0-9-]+)"', self.all)) | set(
            re.findall(r'\bannotate_document\([^"();]*"([a-z0-9-]+)"', self.all))

    def metrics(self):
        """{name: (type or None, labels)}"""
        webhook = "\n".join(text for path, text in self.files.items() if path.startswith("webhook/"))
        types = dict(re.findall(r'"(sandgate_\w+)",\s*"(counter|gauge|histogram)"', webhook))
        types.update((name, "gauge") for name in re.findall(r'_gauge\([^"();]*"(sandgate_\w+)"', webhook))
        histograms = {name for name, kind in types.items() if kind == "histogram"}
        names = {}
        for text in self.texts:
            for name, labels in re.findall(r"\b(sandgate_[a-z0-9_]+)(\{[^}]*\})?", text):
                base = re.sub(r"_(bucket|sum|count)$", "", name)
                name = base if base in histograms else name
                known = names.setdefault(name, set())
                known.update(label for label in re.findall(r'(\w+)="', labels) if label != "le")
        return {name: (types.get(name), labels) for name, labels in names.items()}

    def configuration_keys(self):
        text = "\n".join(text for path, text in self.files.items()
                         if path.endswith(".c") and re.search(r"\bsection_(open|end)\(", text))
        return set(re.findall(r'\b(?:section|read)_\w+\((?:[^()"]*,)?\s*"(\w+)"', text))


# ---- the documents ----

def without_fences(text):
    """Fenced blocks blanked, line by line as before."""
    return re.sub(r"^ *```.*?^ *```$", lambda found: re.sub(r"[^\n]", "", found.group(0)), text, flags=re.M | re.S)


def slug(heading):
    """The anchor that GitHub gives to a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", plain))


def headings(text):
    return re.findall(r"^#{1,6} +(.+?) *$", without_fences(text), re.M)


def anchors(text):
    found, seen = set(), {}
    for heading in headings(text):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def section(text, number):
    found = re.search(rf"^## {number}\. .*?(?=^## |\Z)", text, re.M | re.S)
    return found.group(0) if found else ""


def rows(text, first):
    """The cells of the rows of each table whose first header is `first`."""
    table, result = False, []
    for line in text.split("\n"):
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if not cells:
            table = False
        elif cells[0] == first:
            table = True
        elif table and not set(line) <= set("|-: "):
            result.append(cells)
    return result


def ticked(cell):
    return re.findall(r"`([^`]+)`", cell)


def first_names(table):
    return [ticked(cells[0])[0] for cells in table if ticked(cells[0])]


def compare(document, what, there, code):
    for name in sorted(set(code) - set(there)):
        yield f"{document}: {what} {name} is in the code and not here"
    for name in sorted(set(there) - set(code)):
        yield f"{document}: {what} {name} is not in the code"


def compare_order(document, what, there, code):
    if set(there) != set(code):
        yield from compare(document, what, there, code)
    elif list(there) != list(code):
        yield f"{document}: {what}s are not in the order of the code"


# ---- checks ----

def check_findings(code, documents):
    planner, gate, boundary = code.codes("PLAN_CODES"), code.codes("GATE_CODES"), code.boundary_codes()
    if not planner or not gate or not boundary:
        yield "the tables PLAN_CODES, GATE_CODES and BOUNDARY_CODES were not found in the code"
        return
    table = rows(section(documents[PLANNER], 5), "code")
    yield from compare_order(PLANNER, "finding", first_names(table), [text for _, text in planner])
    yield from compare_order(GATE, "finding", first_names(rows(section(documents[GATE], 6), "code")),
                             [text for _, text in gate])
    named = [heading for heading in headings(documents[FINDINGS]) if re.match(r"(gate|boundary|sandbox)\.", heading)]
    yield from compare_order(FINDINGS, "finding", named, [text for _, text in gate + boundary + planner])
    yield from check_states(boundary, rows(section(documents[BOUNDARY], 3), "code"), documents)
    classes = {text: CLASSES.get(kind, ("?", "?")) for kind, text in planner}
    for cells in table:
        name = ticked(cells[0])[0]
        if name in classes and cells[1] != classes[name][0]:
            yield f"{PLANNER}: finding {name} is of the class {classes[name][0]}"
    for name, (_, word) in classes.items():
        if name in named and not re.search(rf"^### {re.escape(name)}\n\nClass: {word}\.", documents[FINDINGS], re.M):
            yield f"{FINDINGS}: finding {name} is of the class: {word}"


def check_states(boundary, table, documents):
    yield from compare_order(BOUNDARY, "finding", first_names(table), [text for _, text in boundary])
    there = {ticked(cells[0])[0]: cells[1] for cells in table}
    for state, name in boundary:
        if name in there and there[name] != state:
            yield f"{BOUNDARY}: finding {name} is of the state {state}"
        if not re.search(rf"^### {re.escape(name)}\n\nState: {state}\.", documents[FINDINGS], re.M):
            yield f"{FINDINGS}: finding {name} is of the state: {state}"


def plain_message(text):
    """A message without what differs from case to case."""
    text = re.sub(r"<[^>]*>|%(?:\.\*)?[a-z]+", "<>", text)
    return re.sub(r"(<>)+", "<>", text)


def check_messages(code, documents):
    """The messages in the planner's table are those of the code."""
    texts = {plain_message(text) for text in code.texts}
    for cells in rows(section(documents[PLANNER], 5), "code"):
        for message in map(plain_message, ticked(cells[-1])):
            known = any(text == message or (len(text) > 8 and message.startswith(text) and
                                            re.fullmatch(r"<>|\d+", message[len(text):])) for text in texts)
            if message != "<>" and not known:
                yield f"{PLANNER}: no message of the code reads: {message}"


def check_keys(code, documents):
    def keys_in(text):
        found = re.findall(r"(?:[a-z]+\.)?sandbox\.runx\.dev/[A-Za-z0-9-]+", text)
        found += re.findall(r"(signature\.sandbox\.runx\.dev/)", text)
        return {re.sub(r"^(signature\.[^/]+/).*", r"\1", key) for key in found} - {"sandbox.runx.dev/v1"}

    known = code.keys()
    if len(known) < 8:
        yield f"only {len(known)} annotation keys and labels were found in the code"
    for name in sorted(known - keys_in(documents[GATE])):
        yield f"{GATE}: the key {name} is in the code and not here"
    for path, text in documents.items():
        for name in sorted(keys_in(without_fences(text)) - known):
            # the API server puts the webhook's name before an audit annotation: pods.sandbox.runx.dev/outcome
            if name.split("/")[1] not in code.audit_annotations():
                yield f"{path}: the key {name} is not in the code"


def check_audit_annotations(code, documents):
    known = code.audit_annotations()
    if len(known) < 8:
        yield f"only {len(known)} audit annotations were found in the code"
    yield from compare(GATE, "audit annotation", first_names(rows(section(documents[GATE], 7), "key")), known)


def check_metrics(code, documents):
    known = code.metrics()
    table = {ticked(cells[0])[0]: cells for cells in rows(documents[METRICS], "metric")}
    if len(known) < 8:
        yield f"only {len(known)} metrics were found in the code"
    yield from compare(METRICS, "metric", table, known)
    for name in sorted(set(table) & set(known)):
        kind, labels = known[name]
        if kind is not None and table[name][1] != kind:
            yield f"{METRICS}: metric {name} is a {kind}"
        if set(ticked(table[name][2])) != labels:
            yield f"{METRICS}: metric {name} has the labels {sorted(labels)}"
    for path, text in documents.items():
        named = set(re.findall(r"\bsandgate_[a-z0-9_]+", text)) if not path.startswith("tests/") else set()
        for name in sorted(named - set(known)):
            yield f"{path}: metric {name} is not in the code"


def yaml_keys(block):
    lines = [re.sub(r'"[^"]*"', '""', line).split("#")[0] for line in block.split("\n")]
    return {key for line in lines for key in re.findall(r"(\w+):(?=\s|$)", line)}


def configuration_block(text):
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    return next((block for block in blocks if "kind: GateConfiguration" in block), "")


def check_configuration(code, documents):
    known = code.configuration_keys()
    if len(known) < 20:
        yield f"only {len(known)} configuration keys were found in the code"
    for path in (GATE, "README.md"):
        if path not in documents:
            continue
        text = section(documents[path], 10) if path == GATE else documents[path]
        keys = yaml_keys(configuration_block(text))
        if path != GATE and not keys:
            continue
        # what may be in keyring.kinds, which is empty by default, is in the text
        inner = {"keys", "SandboxRequirements", "SandboxBaseline", "SandboxExemption"}
        if path == GATE:
            keys |= inner & set(ticked(without_fences(text)))
        for name in sorted(known - keys - (inner if path != GATE else set())):
            yield f"{path}: configuration key {name} is in the code and not here"
        for name in sorted(keys - known):
            yield f"{path}: configuration key {name} is not in the code"


CONTRACTS = {"gate": GATE, "hardening": PLANNER, "boundary": BOUNDARY}
CITATION = re.compile(r"\b(gate|hardening|boundary)-v1\b(?:\.md)?(?:,? (sections?) ([^\n]*)|, ([A-Z][^\n]*))?")


def flow(text, path):
    """A text in which a sentence is not broken by line ends and the marks of comments."""
    mark = r"\n[ \t]*(?:\*+/?|//|#)?[ \t]*" if not path.endswith(".md") else r"\n[ \t]*"
    return re.sub(mark, " ", text)


def cited_numbers(text):
    """The section numbers at the beginning of a text: `2 to 4 and 8`, `8, 9`."""
    found = re.match(r"\d+(?:(?:, | and | to |, and )\d+)*", text)
    numbers = set()
    for part in re.split(r", and |, | and ", found.group(0)) if found else ():
        first, _, last = part.partition(" to ")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def check_citation(name, documents, found):
    titles = dict(re.findall(r"^## (\d+)\. (.+?) *$", documents[CONTRACTS[name]], re.M))
    rest = found.group(3) or found.group(4) or ""
    numbers = cited_numbers(rest)
    for number in sorted(numbers):
        if str(number) not in titles:
            yield f"cites {name}-v1, section {number}, which does not exist"
    if rest and not numbers and (found.group(2) or found.group(4)) and not rest.startswith(tuple(titles.values())):
        yield f"cites a section of {name}-v1 that does not exist: {rest[:40]}"


def check_citations(root, paths, documents):
    gate_sections = re.findall(r"^## (\d+)\. ", documents[GATE], re.M)
    for path in paths:
        if not path.endswith(CITING) or path.startswith(DATA):
            continue
        text = flow(read(root, path), path)
        for found in CITATION.finditer(text):
            for problem in check_citation(found.group(1), documents, found):
                yield f"{path}: {problem}"
        if path.endswith((".c", ".h")):  # a second citation in the same file leaves the name out
            for found in re.finditer(r"(?<!-v1, )\bsections? (\d[^\n]*)", text):
                numbers = sorted(cited_numbers(found.group(1)) - set(map(int, gate_sections)))
                yield from (f"{path}: cites section {number}, which the gate contract does not have" for number in numbers)
        for found in re.finditer(r"\b(gate|planner) contract,? sections? \d+", text):
            yield f"{path}: cite as gate-v1 or hardening-v1: {found.group(0)}"


LINK = re.compile(r"\[([^\]]*)\]\(([^()\s]+)\)")


def check_link(root, path, text, target, documents):
    name, _, anchor = target.partition("#")
    there = os.path.normpath(os.path.join(os.path.dirname(path), name)).replace(os.sep, "/") if name else path
    if not os.path.exists(os.path.join(root, there)):
        yield f"{path}: the link to {target} has no target"
    elif anchor and there in documents and anchor not in anchors(documents[there]):
        yield f"{path}: the link to {target} has no such anchor"
    number = re.search(r"section (\d+)|^(\d+)$", text)
    if number and anchor and not anchor.startswith(f"{number.group(1) or number.group(2)}-"):
        yield f"{path}: the link [{text}] leads to {target}"


def check_links(root, documents):
    for path, text in documents.items():
        prose = re.sub(r"`[^`]*`", "``", re.sub(r"\n *", " ", without_fences(text)))
        for words, target in LINK.findall(prose):
            if not re.match(r"[a-z]+:", target):
                yield from check_link(root, path, words, target, documents)
        for found in CITATION.finditer(LINK.sub(" ", prose)):
            if found.group(2):
                yield f"{path}: the citation is not a link: {found.group(0)[:40].strip()}"


# Files by which a page explains the repository. Names of other types are mostly files of the reader.
SOURCE_FILE = re.compile(r"(?:[\w.-]+/)*[\w.-]+\.(?:c|h|py|md|mjs|js|tpl|svg)")
DIRECTORY = re.compile(r"(?:[\w.-]+/)+")
# Made by a build or an example, or given by the reader.
NOT_IN_TREE = re.compile(r"(build|out|gates|deploy|evidence|keyring|node_modules|sandbox\.runx\.dev)/|.*\b(out/|NAME\b)|_?internal\.h")
# The directories to which every page can refer, besides its own.
COMMON_FOLDERS = ["", "webhook", "charts/sandgate"]
# Functions that a page names to say that the program does not call them.
NOT_CALLED = {"cJSON_Delete", "gzopen"}
# Stand for any name: `x_free()`, `_open()`.
PATTERN_NAME = re.compile(r"x_|_")
# The columns of SECURITY.md that name tests.
SECURITY, TEST_COLUMNS = ".github/SECURITY.md", ("kept by", "test")


def blocks(text):
    """The paragraphs, list items and table rows of a page."""
    return re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)", without_fences(text))


def is_there(name, bases, tree):
    return any(os.path.normpath(os.path.join(base, name)).replace(os.sep, "/") in tree for base in bases)


def check_paths(paths, documents):
    """A name is relative to the page, to a common directory, or to what is named before it in its block. Tests have unique names."""
    tree = set(paths) | {os.path.basename(path) for path in paths if os.path.basename(path).startswith(("test_", "tsan_"))}
    for path in paths:
        while path:
            path = os.path.dirname(path)
            tree.add(path)
    for page, text in documents.items():
        for block in blocks(text):
            first = [os.path.dirname(page), *COMMON_FOLDERS]
            bases = list(first)
            for name in ticked(block):
                if not SOURCE_FILE.fullmatch(name) and not DIRECTORY.fullmatch(name):
                    continue
                if not NOT_IN_TREE.match(name) and not is_there(name, bases, tree):
                    yield f"{page}: there is no {name}"
                bases += [os.path.join(base, os.path.dirname(name)) for base in first if "/" in name]


def check_functions(root, paths, documents):
    """The code calls, declares or defines each function that a page names."""
    code = "\n".join(without_comments(read(root, path)) if path.endswith((".c", ".h")) else read(root, path)
                     for path in paths if path.endswith((".c", ".h", ".py", ".js", ".mjs")))
    known = set(re.findall(r"\b(\w+)\(", code)) | NOT_CALLED
    for page, text in documents.items():
        for name in re.findall(r"`(\w+)\(\)`", without_fences(text)):
            if name not in known and not PATTERN_NAME.match(name):
                yield f"{page}: there is no function {name}()"


def test_cells(text):
    """The cells of the columns that name tests."""
    column = None
    for line in text.split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if not cells:
            column = None
        elif column is None:
            column = next((i for i, cell in enumerate(cells) if cell in TEST_COLUMNS), len(cells))
        elif column < len(cells):
            yield cells[column]


def check_tests(root, paths, documents):
    """The tests that SECURITY.md names: `suite.test`, `test_of_python`, `Class`, or a file below tests/."""
    tests = {path: read(root, path) for path in paths if path.startswith("tests/") and path.endswith((".c", ".h", ".py"))}
    code = "\n".join(tests.values())
    known = {".".join(names) for names in re.findall(r"\bTest\(\s*(\w+),\s*(\w+)", code)}
    known.update(".".join(names) for names in re.findall(r"\bParameterizedTest(?:Parameters)?\([^()]*?(\w+),\s*(\w+)\)", code))
    known.update(re.findall(r"^\s*(?:def|class|static void) (\w+)\(", code, re.M))
    known.update(path[at:] for path in paths if path.startswith("tests/") for at in (0, path.rindex("/") + 1))
    for cell in test_cells(documents.get(SECURITY, "")):
        for name in ticked(cell):
            if name not in known:
                yield f"{SECURITY}: there is no test {name}"


def check(root):
    paths = list(files(root))
    documents = {path: read(root, path) for path in paths if path.endswith(".md") and not path.startswith(DATA)}
    missing = [path for path in (GATE, PLANNER, BOUNDARY, FINDINGS, METRICS) if path not in documents]
    for path in missing:
        yield f"{path}: is not in the tree"
    if missing:
        return
    code = Code(root, paths)
    for part in (check_findings, check_messages, check_keys, check_audit_annotations, check_metrics,
                 check_configuration):
        yield from part(code, documents)
    yield from check_citations(root, paths, documents)
    yield from check_links(root, documents)
    yield from check_paths(paths, documents)
    yield from check_functions(root, paths, documents)
    yield from check_tests(root, paths, documents)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    found = list(check(os.path.normpath(root)))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
