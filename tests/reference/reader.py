# SPDX-License-Identifier: Apache-2.0
"""Strict readers: text to tree.

JSON and YAML as the contracts read them (gate-v1, section 11, hardening-v1, section 1).
Trees are plain Python values: dict, list, str, bool, int, float, None. An ambiguous text
raises Unreadable with its line and column (from 1, in bytes).
"""

import json
import re

import yaml

MAX_DEPTH = 64
BLANKS = "\t\n\v\f\r "
BOM = "\ufeff"
YAML_ONLY_BREAKS = "\u0085\u2028\u2029"
ESCAPE = re.compile(r"\\(x..|u.{4}|U.{8}|.)", re.DOTALL)
BAD_ESCAPE = re.compile(r"(?i)\\(0|x00|u0000|u00000000|(u|u0000)d[89a-f]..)\Z")
SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """A text that is invalid or ambiguous."""

    def __init__(self, what, line=1, column=1):
        super().__init__(f"{line}:{column}: {what}")
        self.what, self.line, self.column = what, line, column


def trim(text):
    """The text without ASCII blanks at its ends (section 11: U+0009 to U+000D and U+0020)."""
    return text.strip(BLANKS)


def decode(data):
    """Bytes to text: only UTF-8; a byte order mark at the start is skipped."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Unreadable("UTF-16")
    try:
        return data.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start].decode("utf-8"))
        raise Unreadable("invalid UTF-8", line, column) from None


def _place(before):
    """Line and column (in bytes, from 1) of the end of the text."""
    lines = re.split("\r\n|\r|\n", before)
    return len(lines), len(lines[-1].encode("utf-8", "surrogatepass")) + 1


def _unreadable(text, index, what):
    return Unreadable(what, *_place(text[:index]))


# JSON


def _json_depth(text):
    """Reject nesting over MAX_DEPTH before a recursive reader reads it."""
    depth, quoted, escaped = 0, False, False
    for index, char in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _unreadable(text, index, "nesting over 64 levels")
        elif char in "]}":
            depth -= 1


def _json_text(text, nul):
    """Check one string of a JSON document. nul replaces U+0000; None rejects it."""
    if SURROGATE.search(text):
        raise Unreadable("lone surrogate")
    if "\0" in text:
        if nul is None:
            raise Unreadable("NUL")
        return text.replace("\0", nul)
    return text


def _json_number(text):
    return int(text) if len(text) < 300 else float(text)


def _no_constant(name):
    raise Unreadable(f"{name} is no JSON")


def read_json(text, nul=None):
    """Strict JSON. In a review nul is U+FFFD (section 11); otherwise NUL is rejected."""
    text = text.removeprefix(BOM)
    _json_depth(text)

    def pairs(items):
        result = {}
        for key, value in items:
            key = _json_text(key, nul)
            if key in result:
                raise Unreadable("duplicate key")
            result[key] = value
        return result

    try:
        tree = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant,
                          parse_int=_json_number)
    except json.JSONDecodeError as error:
        raise _unreadable(text, error.pos, error.msg) from None
    return _json_values(tree, nul)


def _json_values(tree, nul):
    if isinstance(tree, str):
        return _json_text(tree, nul)
    if isinstance(tree, list):
        return [_json_values(item, nul) for item in tree]
    if isinstance(tree, dict):
        return {key: _json_values(value, nul) for key, value in tree.items()}
    return tree


# YAML


class _Scanner(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """Events of PyYAML, but a tab can separate tokens if it is not indentation."""

    def __init__(self, text):
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)

    def scan_to_next_token(self):
        while True:
            yaml.scanner.Scanner.scan_to_next_token(self)
            if self.peek() != "\t" or (self.allow_simple_key and not self.flow_level):
                return
            while self.peek() == "\t":
                self.forward()


NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?$")
# Plain scalars that are not text in YAML 1.1 or in the core schema of YAML 1.2.
TWO_READINGS = [re.compile(pattern + "$") for pattern in (
    r"(?i:yes|no|on|off|y|n|true|false|null)",
    r"[-+]?0b[01_]+",
    r"[-+]?0[0-7_]+",
    r"[-+]?[0-9][0-9_]*",
    r"[-+]?0x[0-9a-fA-F_]+",
    r"0o[0-7]+",
    r"[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+",
    r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*",
    r"[-+]?([0-9][0-9_]*)?\.[0-9_]+([eE][-+]?[0-9]+)?",
    r"[-+]?[0-9][0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?",
    r"[-+]?\.(inf|Inf|INF)",
    r"\.(nan|NaN|NAN)",
)]


def plain_scalar(text):
    """The value of a plain scalar (section 11). ValueError if YAML 1.1 and 1.2 differ."""
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if NUMBER.match(text):
        return float(text) if "." in text else _json_number(text)
    plain = text.replace("_", "") if text[0] in "+-.0123456789" else text
    if any(pattern.match(form) for pattern in TWO_READINGS for form in (text, plain)):
        raise ValueError("quote it")
    return text


class _Builder:
    """Builds one document from events. Rejects everything that section 11 rejects."""

    def __init__(self, text, nul):
        self.text, self.nul = text, nul
        self.events = _Scanner(text)

    def fail(self, mark, what):
        raise _unreadable(self.text, mark.index, what)

    def next(self):
        return self.events.get_event()

    def document(self):
        """The document of the text. None if there is none."""
        self.next()
        event = self.next()
        if isinstance(event, yaml.StreamEndEvent):
            return None, (1, 1)
        if event.version or event.tags:
            self.fail(event.start_mark, "directive")
        first = self.next()
        tree = self.node(first, 0)
        self.next()
        end = self.next()
        if not isinstance(end, yaml.StreamEndEvent):
            self.fail(end.start_mark, "second document")
        return tree, _place(self.text[: first.start_mark.index])

    def node(self, event, depth):
        if isinstance(event, yaml.AliasEvent):
            self.fail(event.start_mark, "alias")
        if event.anchor is not None:
            self.fail(event.start_mark, "anchor")
        if event.tag is not None:
            self.fail(event.start_mark, "tag")
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if depth >= MAX_DEPTH:
            self.fail(event.start_mark, "nesting over 64 levels")
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(depth + 1)
        return self.mapping(depth + 1)

    def scalar(self, event):
        text = event.value
        if SURROGATE.search(text) or "\0" in text and self.nul is None:
            self.fail_at_escape(event)
        text = text.replace("\0", self.nul or "")
        if event.style:
            return text
        try:
            return plain_scalar(text)
        except ValueError as error:
            self.fail(event.start_mark, str(error))

    def fail_at_escape(self, event):
        """The place is the escape, the first byte of what offends."""
        start, end = event.start_mark.index, event.end_mark.index
        for match in ESCAPE.finditer(self.text, start, end):
            if BAD_ESCAPE.match(match.group()):
                raise _unreadable(self.text, match.start(), "an escape of NUL or of a surrogate")
        self.fail(event.start_mark, "NUL or surrogate")

    def sequence(self, depth):
        items = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            items.append(self.node(event, depth))
        return items

    def mapping(self, depth):
        result = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key = self.node(event, depth)
            if not isinstance(key, str):
                self.fail(event.start_mark, "key is no text")
            if key == "<<" and not event.style:
                self.fail(event.start_mark, "merge key")
            if key in result:
                self.fail(event.start_mark, "duplicate key")
            result[key] = self.node(self.next(), depth)
        return result


def _refuse_breaks(text):
    """Unescaped U+0085, U+2028, U+2029: line ends in YAML 1.1, but not in 1.2."""
    for index, char in enumerate(text):
        if char in YAML_ONLY_BREAKS:
            raise _unreadable(text, index, "line end of YAML 1.1 alone")


def read_yaml_at(text, nul=None):
    """Strict YAML: (tree, (line, column) of its first byte)."""
    text = text.removeprefix(BOM)
    _refuse_breaks(text)
    try:
        return _Builder(text, nul).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _unreadable(text, mark.index, error.problem) from None
    except yaml.reader.ReaderError as error:
        raise _unreadable(text, error.position, error.reason) from None


def read_yaml(text, nul=None):
    """Strict YAML text to tree."""
    return read_yaml_at(text, nul)[0]


def read_either_at(text):
    """JSON if it is strict JSON, otherwise YAML (section 1): (tree, place of the value)."""
    try:
        tree = read_json(text)
    except (Unreadable, RecursionError):
        return read_yaml_at(text)
    text = text.removeprefix(BOM)
    return tree, _place(text[: len(text) - len(text.lstrip(" \t\r\n"))])


def read_either(text):
    """A JSON or YAML text of our own to tree."""
    return read_either_at(text)[0]
