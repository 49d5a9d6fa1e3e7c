#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads random documents with our readers and with those of Python, and compares the results.

Usage: compare_readers.py READ_DOCUMENTS [COUNT]

JSON: Python's json, made as strict as the contract requires. Both must accept the same documents and give equal results.
YAML: the parser of PyYAML (not libyaml) with the types of the contract. It must accept every document that we accept, with an
equal result. It accepts more: anchors, tags, and ambiguous texts.
"""
import json
import random
import re
import subprocess
import sys

JSON, YAML, OWN, REVIEW = 1, 2, 1, 2
MAX_DEPTH = 64
SEED = 20260301


class Refused(Exception):
    pass


class Unsure(Exception):
    """Raised where the other reader cannot decide."""


# ---------------------------------------------------------------- documents

CHARACTERS = ["a", "B", "7", " ", "/", "\\", '"', "\n", "\t", "\x01", "\x7f", "é", "你", "\ufffd", "\U0001f600", "\u2028",
              "yes", "no", "null", "1e3", "010", ":", "#", "- ", "{", "]", ",", "'", "&", "*", "!", "%", "@", "<<", "~"]
NUMBERS = [0, -0.0, 7, -12, 1.5, -0.25, 1e3, 123456789012345678, 9007199254740993, 1.7976931348623157e308, 5e-324, 0.1, 1e22,
           3.141592653589793, 100000000000000000000000]


def make_text(rng):
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(6)))


def make_value(rng, depth):
    kind = rng.randrange(9 if depth > 0 else 6)
    if kind == 0:
        return rng.choice([True, False, None])
    if kind <= 2:
        return rng.choice(NUMBERS)
    if kind <= 5:
        return make_text(rng)
    if kind == 6:
        return [make_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {make_text(rng) + str(i) * rng.randrange(2): make_value(rng, depth - 1) for i in range(rng.randrange(24))}


def write_json(rng, value):
    blank = lambda: rng.choice(["", "", "", " ", "\n", "\r\n", "\t "])
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
        return re.sub("[aB7]", lambda m: "\\u%04x" % ord(m.group()) if rng.random() < 0.1 else m.group(), text) \
            if "\\" not in text else text
    if isinstance(value, list):
        return "[" + blank() + ",".join(blank() + write_json(rng, v) + blank() for v in value) + "]"
    if isinstance(value, dict):
        return "{" + blank() + ",".join(blank() + write_json(rng, k) + blank() + ":" + blank() + write_json(rng, v)
                                        for k, v in value.items()) + blank() + "}"
    return json.dumps(value)


JSON_BYTES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u0000", b"\\ud83d", b"\\ude00", b"0", b"1", b"-", b".",
              b"e5", b"+", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xe2\x82\xac", b"\x00", b"\n", b" ", b"true", b"nul", b'"a":1,',
              b'"\\u0061":', b"\xef\xbb\xbf", b"[[[[[[[[" * 8]
YAML_BYTES = JSON_BYTES + [b"- ", b"? ", b": ", b"&a ", b"*a", b"!!str ", b"# ", b"|\n", b">\n", b"'", b"yes", b"~", b"1_0",
                           b"\t", b"\r", b"---\n", b"...\n", b"%YAML", b"<<", b"\xc2\x85", b"\xe2\x80\xa8", b"\n  ", b"a: b\n"]


def mutate(rng, text, pieces):
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.randrange(3))
        text = text[:at] + (rng.choice(pieces) if rng.random() < 0.7 else b"") + text[end:]
    return text


# ---------------------------------------------------------------- the other readers


def depth_of(value):
    if isinstance(value, (list, dict)):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max((depth_of(v) for v in inner), default=0)
    return 0


def check_text(text, review):
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise Refused("surrogate")
    if "\0" in text and not review:
        raise Refused("NUL")
    return text.replace("\0", "\ufffd")


def check_value(value, review):
    """The value with checked strings. Objects are lists of pairs; duplicate keys are rejected."""
    if isinstance(value, str):
        return check_text(value, review)
    if isinstance(value, list):
        return [check_value(v, review) for v in value]
    if isinstance(value, Pairs):
        made = {}
        for key, inner in value.pairs:
            key = check_text(key, review)
            if key in made:
                raise Refused("twice")
            made[key] = check_value(inner, review)
        return made
    return value


class Pairs:
    def __init__(self, pairs):
        self.pairs = pairs


def refuse_constant(name):
    raise Refused(name)


def is_utf16(data):
    return data[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(data) >= 2 and (data[0] == 0) != (data[1] == 0))


def decode(data):
    if is_utf16(data):
        raise Refused("UTF-16")
    text = data.decode("utf-8")
    return text[1:] if text.startswith("\ufeff") else text


def read_json(data, review):
    try:
        value = json.loads(decode(data), object_pairs_hook=Pairs, parse_constant=refuse_constant)
        value = check_value(value, review)
        if depth_of(value) > MAX_DEPTH:
            raise Refused("depth")
        return value
    except (ValueError, RecursionError) as error:
        raise Refused(str(error))


def yaml_reader():
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {}
    tag = "tag:yaml.org,2002:"
    Loader.add_implicit_resolver(tag + "bool", re.compile(r"^(?:true|false)$"), list("tf"))
    Loader.add_implicit_resolver(tag + "null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])
    Loader.add_implicit_resolver(tag + "float", re.compile(r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"), list("-0123456789"))
    Loader.add_constructor(tag + "float", lambda loader, node: float(node.value))

    def mapping(loader, node):
        made = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            if not isinstance(key, str) or key in made:
                raise Refused("key")
            made[key] = loader.construct_object(value_node, deep=True)
        return made

    Loader.add_constructor(tag + "map", mapping)

    def read(data, review):
        try:
            return replace(yaml.load(decode(data), Loader=Loader), review)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            # YAML allows a tab between tokens, PyYAML does not
            if "found character '\\t' that cannot start any token" in str(error):
                raise Unsure()
            raise Refused(str(error))

    def replace(value, review):
        if isinstance(value, str):
            return check_text(value, review)
        if isinstance(value, list):
            return [replace(v, review) for v in value]
        if isinstance(value, dict):
            return {check_text(k, review): replace(v, review) for k, v in value.items()}
        return value

    def write(rng, value):
        return yaml.safe_dump(value, allow_unicode=rng.random() < 0.5, default_flow_style=rng.choice([True, False, None]),
                              width=rng.choice([20, 80, 1000]), indent=rng.choice([2, 4]))

    return read, write


# ---------------------------------------------------------------- comparing


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        try:
            return float(a) == float(b)
        except OverflowError:
            return False
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return a == b


def ours(program, records):
    stream = b"".join(b"%d %d %d\n%s" % (syntax, rules, len(data), data) for syntax, rules, data in records)
    done = subprocess.run([program], input=stream, stdout=subprocess.PIPE, check=True)
    lines = done.stdout.split(b"\n")[:-1]
    if len(lines) != len(records):
        sys.exit("compare_readers: %d answers to %d documents" % (len(lines), len(records)))
    for line in lines:
        if re.match(rb"\d+:\d+ |-E2BIG$", line):
            yield None, line
        else:
            yield (json.loads(re.sub(rb"(?<![\w\"])(-?)inf\b", rb"\g<1>1e999", line)),), line


def compare(program, records, read, both_ways):
    accepted = wrong = 0
    for (syntax, rules, data), (mine, line) in zip(records, ours(program, records)):
        try:
            theirs = (read(data, rules == REVIEW),)
        except Unsure:
            continue
        except Refused as error:
            theirs, why = None, str(error)
        accepted += mine is not None
        if mine is not None and theirs is not None:
            bad = not same(mine[0], theirs[0])
        else:
            bad = mine is not None or (both_ways and theirs is not None)
        if bad:
            wrong += 1
            print("rules %d, %r\n  ours   %r\n  theirs %r" % (rules, data, line, theirs[0] if theirs else why))
    print("%d documents, %d accepted, %d read otherwise" % (len(records), accepted, wrong))
    return wrong == 0 and accepted > len(records) // 10


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    rng = random.Random(SEED)
    records = []
    for i in range(count):
        data = write_json(rng, make_value(rng, rng.randrange(5))).encode("utf-8")
        if i % 2:
            data = mutate(rng, data, JSON_BYTES)
        records.append((JSON, rng.choice([OWN, REVIEW]), data))
    good = compare(program, records, read_json, both_ways=True)
    try:
        read, write = yaml_reader()
    except ImportError:
        print("no PyYAML: YAML is not compared")
        return 0 if good else 1
    records = []
    for i in range(count // 4):
        value = make_value(rng, rng.randrange(4))
        text = write(rng, value) if rng.random() < 0.7 else write_json(rng, value)
        data = text.encode("utf-8")
        if i % 2:
            data = mutate(rng, data, YAML_BYTES)
        records.append((YAML, rng.choice([OWN, REVIEW]), data))
    good = compare(program, records, read, both_ways=False) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
