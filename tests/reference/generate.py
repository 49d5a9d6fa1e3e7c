# SPDX-License-Identifier: Apache-2.0
"""Random planner inputs: similar to a valid one, with values that are easily handled wrongly."""

import json

from moment import SECOND, read_moment, write_moment

DIGEST = "sha256:" + "a1" * 32
BASE_MOMENT = "2026-03-01T12:00:00Z"
LONG = 4096

TEXTS = ["", " ", "\t\n\v\f\r ", "\u00a0", "\u0085", "x", " x ", "\u001f", "\u007f", "é", "e\u0301", "𝄞",
         "\u202e", "\u2066x", "null", "true", "x" * LONG, "x" * (LONG + 1), " " + "x" * LONG + " ",
         "é" * (LONG // 2), "é" * (LONG // 2) + "x", "\u2028", "\ufeff", "\ufffd", "[redacted]"]
ODD_VALUES = [None, True, False, 0, 1, -1, 0.5, 30, "0", "false", "true", [], {}, [None], [[]], [{}], [""],
              [" "], ["x"], [1], [False], {"x": 1}, {"": None}, [["x"], "y", 3]]
PATHS = ["tmp", "tmp/results", "./tmp", "tmp/", "tmp//x", "tmp/./x", ".", "./", "..", "../x", "tmp/../x",
         "tmp/..", "tmp\\..\\x", "..\\x", "a\\..", "/", "//", "/tmp", "/.", "/..", "~", "~/x", "./~", "x/~", "...",
         "..x", "x..", "tmp-private", "tmpx", "{{x}}", "a{{", "a{b}{", "a(b", "a)b", 'a"b', "a;b", "a\\b", "a\nb",
         "a\u0000b", "a\u007fb", "a\u0080b", "a\u009fb", "a\u00a0b", "a\u2029b", "a\u202ab", "a\u202eb", "a\u202fb",
         "a\u2065b", "a\u2066b", "a\u2069b", "a\u206ab", "$HOME", "%2e%2e", "é", "e\u0301", "𝄞/x", "\ue000", "a<b>&c",
         " tmp ", "tmp \n", ". ", " .", "/ ", "a/ /b", "C:\\x", "tmp/results/deep/er"]
NAMES = ["A", "a", "A_B", "REPORT", "A.B", "A-B", "-", ".", "_", "1A", "A1", "A=B", "=", "", " ", " A ", "A B", "é",
         "RUNX_TOKEN", "runx_token", "RUNX_SEEDLING", "RUNX_CWD", "RUNX_RECEIPT_SIGN_X", "RUNX_RECEIPT_SIGN",
         "runx_receipt_sign_", "Runx_Api_Key", "MY_RUNX_TOKEN", "RUNX_", "RUNX_ACCESSKEY", "RUNX_ACCESS_KEY",
         "RUNXTOKEN", "RUNX_PRIVATE_KEY_X", "RUNX_CREDENTIALS", "A\n", "A\u0000", "ſECRET", "RUNX_ſECRET", "A" * LONG,
         "A" * (LONG + 1), "A+B", "A,B", "A/B", "PATH"]
DIGESTS = [DIGEST, DIGEST.upper(), DIGEST[:-1], DIGEST + "0", "sha256:" + "A1" * 32, "sha512:" + "a" * 128,
           "a1" * 32, " " + DIGEST + "\n", "sha256:" + "g" * 64, "sha256: " + "a1" * 32, "SHA256:" + "a1" * 32,
           "sha256:" + "a1" * 31 + "é"]
SKILLS = ["acme/report@1.4.0", "acme/report", "acme/report@", "acme@1", "/report@1", "acme/@1", "Acme/report@1",
          "acme/Report@1", "acme/report@V1", "acme/report@-1", "acme/report@.1", "acme/report@1+b", "acme/report@1/2",
          "acme/report@1@2", "acme/x/report@1", "acme/report@" + DIGEST, "acme/report@sha256:abc",
          "acme/report@sha256:" + "A" * 64, "registry:acme/report@1", "runx://skill/acme/report@1", " acme/report@1 ",
          "a/b@c", "-a/b@c", "a-/b_@c~", "a_b/c.d@e_f", "https://u:p@h/acme/report@1", "https://u@h", "https://h/a@b",
          "https://@h", "git+ssh://g@h/x", "1://u@h", "a/b@1 2", "a/b@é", "a/b@1\u0000", "HTTPS://U@H", "://u@h",
          "x" * (LONG + 1)]
SOURCES = ["git:acme/sandbox.yaml@3f2a9c1", "https://host/x", "https://user:secret@host/x", "https://user@host",
           "https://host/x@y", "https://host?x@y", "https://host#x@y", "git@github.com:acme/x", "ssh://git@h/x", "user@x",
           "https://u%40x@h/", "https:/u@h", "h-t+t.p://u@h", "_://u@h", "mailto:a@b", "https://a:b", "file:///a@b", " ",
           " https://u@h ", "https://u\u0000@h", "é", "x" * LONG, "x" * (LONG + 1)]
MOMENTS = [BASE_MOMENT, "2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00-00:00", "2026-03-01T14:30:00+02:30",
           "2026-02-28T23:59:59.999999999Z", "2026-03-01T12:00:00.000000001Z", "2026-03-01T12:00:00.0000000001Z",
           "2026-03-01T12:00:00.Z", "2026-03-01t12:00:00Z", "2026-03-01T12:00:00z", "2026-03-01 12:00:00Z",
           "2026-03-01T12:00:00", "2026-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
           "2000-02-29T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T23:59:60Z", "0001-01-01T00:00:00Z",
           "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-23:59",
           "0001-01-01T00:00:00+23:59", "2026-03-01T12:00:00+24:00", "2026-03-01T12:00:00+23:60", "+2026-03-01T12:00:00Z",
           "12026-03-01T12:00:00Z", "2026-3-1T12:00:00Z", "2026-03-01T12:00:00+2:00", "2026-03-01T12:00:00 Z", " ", "",
           " 2026-03-01T12:00:00Z\n", "2026-03-01T12:00:00Z\u0000", "２026-03-01T12:00:00Z", "2026-03-01T12:00:00,5Z",
           "2026-13-01T12:00:00Z", "2026-00-01T12:00:00Z", "2026-04-31T12:00:00Z", "2026-03-01T12:00:00+0200"]
POLICIES = ["skill-directory", "workspace", "custom", "Workspace", " workspace ", "", "home", "skill_directory"]
AGES = [1, 30, 3650, 0, -1, 3651, 1.5, 30.0, 1e300, "30", True, None, 2**53 + 1, 3650.0000001, 0.9999, -0.0]
FIELD_NAMES = ["x", "Network", "network ", "", "a b", "a=b", "x" * 64, "x" * 65, "é", "1x", "_x", ".x", "x.y", "x-y",
               "writable_paths[0]", "workload", "requirements", "baseline", "as_of", "skill_ref", "null", "a\u0000"]


def moment_near(random, moment, days):
    """A time at or near the limit of an age, with an offset."""
    nanoseconds = read_moment(moment) - random.choice([0, 0, days]) * 86400 * SECOND
    nanoseconds += random.choice([0, 0, 1, -1, SECOND, -SECOND])
    text = write_moment(nanoseconds)[:-1]
    if fraction := nanoseconds % SECOND:
        text += f".{fraction:09}"
    return text + random.choice(["Z", "Z", "+00:00", "-00:00"])


def good_input(random):
    """An input that is ready, with more or fewer fields."""
    requirements = {"source_ref": SOURCES[0], "source_digest": DIGEST, "observed_at": BASE_MOMENT}
    if random.random() < 0.7:
        requirements["writable_paths"] = random.sample(PATHS[:8], random.randrange(3))
    if random.random() < 0.7:
        requirements["env_allowlist"] = random.sample(NAMES[:5], random.randrange(4))
    if random.random() < 0.3:
        requirements["network"] = random.random() < 0.3
    if random.random() < 0.3:
        requirements["require_enforcement"] = random.random() < 0.6
    if random.random() < 0.3:
        requirements["cwd_policy"] = random.choice(POLICIES[:3])
    identity = ("skill_ref", SKILLS[0]) if random.random() < 0.7 else ("image_digest", DIGEST)
    return {"workload": {identity[0]: identity[1], "class": "batch", "requirements": requirements},
            "as_of": BASE_MOMENT}


def a_list(random, words):
    """A list of words, sometimes with an invalid entry or with the maximum number of items."""
    if random.random() < 0.03:
        return [f"n{place}" for place in range(random.choice([99, 100, 101]))]
    items = random.choices(words, k=random.randrange(5))
    if random.random() < 0.15:
        items.insert(random.randrange(len(items) + 1), random.choice(ODD_VALUES))
    return items


def a_baseline(random):
    """A baseline with some of its fields."""
    fields = {"network_allowed": lambda: random.random() < 0.5,
              "require_enforcement": lambda: random.random() < 0.5,
              "allowed_writable_paths": lambda: a_list(random, PATHS),
              "allowed_env": lambda: a_list(random, NAMES)}
    return {name: make() for name, make in fields.items() if random.random() < 0.5}


def _objects(tree):
    """The objects of the input that the contract names."""
    found = [tree]
    for name in ("workload", "baseline"):
        if isinstance(tree.get(name), dict):
            found.append(tree[name])
            if isinstance(tree[name].get("requirements"), dict):
                found.append(tree[name]["requirements"])
    return found


def _requirements(tree):
    workload = tree.get("workload")
    requirements = workload.get("requirements") if isinstance(workload, dict) else None
    return requirements if isinstance(requirements, dict) else {}


def _set_somewhere(random, tree):
    holder = random.choice(_objects(tree))
    if holder:
        holder[random.choice(list(holder))] = random.choice(ODD_VALUES + TEXTS)


def _drop_somewhere(random, tree):
    holder = random.choice(_objects(tree))
    if holder:
        del holder[random.choice(list(holder))]


def _unknown_field(random, tree):
    random.choice(_objects(tree))[random.choice(FIELD_NAMES)] = random.choice(ODD_VALUES)


def _identity(random, tree):
    if isinstance(tree.get("workload"), dict):
        if random.random() < 0.5:
            tree["workload"].pop("skill_ref", None)
            tree["workload"]["image_digest"] = random.choice(DIGESTS)
        else:
            tree["workload"]["skill_ref"] = random.choice(SKILLS)


def _times(random, tree):
    tree["as_of"] = random.choice(MOMENTS) if random.random() < 0.3 else BASE_MOMENT
    days = random.choice([1, 30, 3650])
    if random.random() < 0.7:
        tree["max_age_days"] = days
    _requirements(tree)["observed_at"] = random.choice(MOMENTS) if random.random() < 0.5 \
        else moment_near(random, BASE_MOMENT, days)


def _control(random, tree):
    name = random.choice(["allowed_syscalls", "allowed_egress_hosts", "required_capabilities", "resource_limits"])
    _requirements(tree)[name] = random.choice(ODD_VALUES + TEXTS)


def _setter(name, values):
    def change(random, tree):
        _requirements(tree)[name] = random.choice(values)
    return change


def _both(random, tree):
    _requirements(tree)["writable_paths"] = a_list(random, PATHS)
    _requirements(tree)["env_allowlist"] = a_list(random, NAMES)


def _baseline(random, tree):
    tree["baseline"] = a_baseline(random)


def _age(random, tree):
    tree["max_age_days"] = random.choice(AGES)


CHANGES = [_set_somewhere, _drop_somewhere, _unknown_field, _identity, _times, _times, _control, _both, _both,
           _both, _baseline, _baseline, _age, _setter("source_ref", SOURCES), _setter("source_digest", DIGESTS),
           _setter("cwd_policy", POLICIES), _setter("network", [True, False, "no", 1, None]),
           _setter("require_enforcement", [True, False, "false", 0, None])]


def planner_input(random):
    """A valid input with zero to five changes."""
    tree = good_input(random)
    for _ in range(random.randrange(6)):
        random.choice(CHANGES)(random, tree)
    return tree


def _broken(random, text):
    """The text with a change that can make it unreadable."""
    place = random.randrange(len(text) + 1)
    return random.choice([
        lambda: text[:place], lambda: text + random.choice(["x", "{}", " ", "\t", ",", "\u00a0"]),
        lambda: text[:place] + random.choice('{}[]",:\\ue0') + text[place:],
        lambda: text[:place] + text[place + 1:],
        lambda: '{"as_of":"x",' + text[1:],
        lambda: '{"a":' * 63 + text + "}" * 63, lambda: '{"a":' + "[" * 62 + "]" * 62 + "," + text[1:],
        lambda: '{"a":' + "[" * 63 + "]" * 63 + "," + text[1:], lambda: '{"a":' + "[" * 64 + "]" * 64 + "," + text[1:],
        lambda: '{"a":"' + random.choice(["\\ud800", "\\udc00\\ud800", "\\ud83d\\ude00", "\\u0000", "\\\\u0000", "\\x",
                                         "\\u12", "\u0001", "\\/", "\u007f"]) + '",' + text[1:],
        lambda: '{"max_age_days":' + random.choice(["1e1", "1E+1", "01", "1.", ".5", "-0", "NaN", "Infinity", "1e999", "+1",
                                                   "0x1", "30.0", "3e-1", "1" * 400]) + "," + text[1:],
        lambda: "[" + text + "]", lambda: "null", lambda: '"x"', lambda: "",
    ])()


def planner_line(random):
    """One line of text for the batch driver: mostly JSON, sometimes broken."""
    escape = random.random() < 0.2
    text = json.dumps(planner_input(random), ensure_ascii=escape, separators=(",", ":"))
    if random.random() < 0.15:
        text = _broken(random, text)
    return text.replace("\n", " ").replace("\r", " ")


# YAML

SCALARS = ["yes", "No", "oN", "OFF", "y", "N", "True", "TRUE", "tRUE", "False", "true", "false", "null", "Null", "NULL",
           "~", "", "010", "0o10", "0O10", "08", "0", "-0", "00", "-1", "+1", "12", "1_000", "_1", "1_", "0x1f", "0X1F", "0xg", "-0x1f",
           "0b1", "0b2", "0B1", "1e3", "1E3", "1.5e+3", "1e", "e3", "1.e3", ".5", "5.", "-.5", "+.5", "1.5", "-1.5", "012.5", "1.", ".",
           "-", "--1", "1.2.3", "10.0.0.1", ".inf", "-.inf", "+.INF", ".Inf", ".iNF", "inf", ".nan", ".NaN", ".NAN", ".Nan", "nan",
           "1:30", "1:60", "0:30", "01:30", "-1:30", "12:30:45", "1:30.5", "1:3a", "190:20:30", "2026-03-01", BASE_MOMENT, "=", "<<",
           "0.0", "1.50", "-", "a b", "a#b", "1 2", "1a", "a1", "yes!", "no ", "é", "0o8", "-0o7", "0b", "0x", "0_1", "1__2", "1,000",
           "1.0e5", "1.5e3", "1.5e-3", "nUll", "none", "None", "9007199254740993", "1e999", "''", '""', "'no'", '"on"', '"\\u0041"',
           '"\\ud83d\\ude00"', '"\\0"', '"\\x41"', '"a\\\n  b"', "'it''s'", "&a x", "*a", "!x y", "!!str 1", "! x", "|\n   no\n", ">-\n   no\n",
           "[no]", "{a: on}", "[1, 2", "{a: 1, a: 2}", "? x", "@x", "`x", "%x", "a: b", "- x", "\tx", "[\tx ]", '"a\tb"',
           "1e1_0", "-_1", "0_x1", "0E9_", "._5", "1_:30", "1_2_3.4_5e+6_7", "x\u0085", "x\u2028y", "x # on", "x #on", "#x", '"\\N"', '"\\_"', "\ufeffx", "x\u0007"]
KEYS = ["class", "no", "1", "true", "~", "null", '"no"', "'1'", "<<", '"<<"', "? class\n ", "é", "a b", "on ", "1.5", "x:y", "=", "&a class", "!x class",
        "[a]", "{a: b}", "*a", "-1", "0x1", "é é", "workload", '"work\\u006coad"']


GOOD_YAML = ["workload:", "  skill_ref: acme/report@1.4.0", "  class: batch", "  requirements:", "    source_ref: git:x",
             f"    source_digest: {DIGEST}", f"    observed_at: {BASE_MOMENT}", "    env_allowlist: [A, B]",
             "    writable_paths:", "    - tmp", f"as_of: {BASE_MOMENT}", "max_age_days: 30"]


def yaml_text(random):
    """A planner input as YAML, with one scalar, key or line that readers interpret differently."""
    lines = list(GOOD_YAML)
    place = random.randrange(len(lines))
    name, colon, _ = lines[place].partition(": ")
    blanks = " " * (len(name) - len(name.lstrip(" ")))
    roll = random.random()
    if roll < 0.6 and colon:
        lines[place] = f"{name}: {random.choice(SCALARS)}"
    elif roll < 0.7:
        lines[7] = "    env_allowlist: [A, " + random.choice(SCALARS) + "]"
    elif roll < 0.9:
        lines.insert(place, f"{blanks}{random.choice(KEYS)}: x")
    else:
        lines.insert(place, random.choice(["---", "...", "%YAML 1.2", "# é", "", "  ", "\t", "\ufeff", "--- x", "- x"]))
    return random.choice(["\n", "\n", "\n", "\r\n", "\r"]).join(lines + [""])
