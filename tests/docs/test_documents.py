#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents say what the code has, and each check of documents.py and examples.py finds a planted fault.

Usage: tests/docs/test_documents.py [SANDGATE [unittest options]]; without the program, no example is run.
"""
import os
import subprocess
import sys
import tempfile
import unittest

import documents
import examples

ROOT = examples.ROOT
PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isfile(sys.argv[1]) else None

# A tree in which all agree. G and P: the names are put together so that this file cites nothing itself.
G, P = "gate-" + "v1", "hardening-" + "v1"
AUDIT = ["outcome", "packet", "input", "findings", "evidence", "exemption", "subject", "error"]
METRICS = [f"sandgate_{name}_total" for name in "abcdefgh"]
CONFIGURATION = [f"key{i}" for i in range(20)]
KEYS = [f"key-{i}" for i in range(7)]


def table(first, names, *more):
    head = [first] + ["x"] * len(more)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join([f"`{name}`", *more]) + " |" for name in names]) + "\n\n"


CLEAN = {
    "planner/plan.h": "/* plan - cites " + P + ", section Findings,\n * and " + G + ", sections 6 to 7 and 10. */\n"
                      "#define PLAN_CODES(X)   \\\n    X(A, REFUSED, \"sandbox.a.one\") \\\n"
                      "    X(B, MORE_EVIDENCE, \"sandbox.b.two\")\n",
    "planner/rules.c": 'void a(void) { add("baseline does not admit %.*s", "it is " "stale"); }\n',
    "k8s/key.h": '#define PREFIX "sandbox.runx.dev/"\n#define SIGNATURE "signature.sandbox.runx.dev/"\n',
    "k8s/key.c": "".join(f'a(PREFIX "{key}"); /* PREFIX "not-this" */\n' for key in KEYS),
    "webhook/gate.h": '#define GATE_CODES(X) \\\n    X(ONE, "gate.a.one") \\\n    X(TWO, "gate.b.two")\n',
    "k8s/boundary.h": '#define BOUNDARY_CODES(X) \\\n    X(ENV, "boundary.env.one", ENVIRONMENT, OPEN) \\\n'
                      '    X(FS, "boundary.fs.two", FILESYSTEM, UNKNOWN)\n',
    "webhook/deep/answer.c": "".join(f'add_pair(response, "{key}", text);\n' for key in AUDIT),
    "webhook/deep/metrics.c": "".join(f'head(b, "{name}", "counter", "Help.");\nprint("{name}{{code=\\"%s\\"}} 1\\n");\n'
                                      for name in METRICS),
    "webhook/deep/config.c": "".join(f'section_text(&section, "{key}", &text);\n' for key in CONFIGURATION) +
                             "section_end(&section);\n",
    documents.PLANNER: "# Planner\n\n## 5. Findings\n\n| code | class | message |\n|---|---|---|\n"
                       "| `sandbox.a.one` | R | `baseline does not admit <path>` |\n| `sandbox.b.two` | E | `it is stale` |\n",
    documents.BOUNDARY: "# Boundary\n\n## 3. Findings\n\n| code | state | when |\n|---|---|---|\n"
                        "| `boundary.env.one` | open | |\n| `boundary.fs.two` | unknown | |\n",
    documents.GATE: "# Gate\n\n" + table("label", [f"sandbox.runx.dev/{key}" for key in KEYS]) +
                    "`signature.sandbox.runx.dev/<key-id>`\n\n## 6. Findings\n\n" +
                    table("code", ["gate.a.one", "gate.b.two"]) + "## 7. Response\n\n" + table("key", AUDIT, "value") +
                    "## 10. Configuration\n\n```yaml\n# kind: GateConfiguration\n" +
                    "\n".join(f"{key}: 1" for key in CONFIGURATION) + "\n```\n",
    documents.FINDINGS: "# Findings\n\n### gate.a.one\n\n### gate.b.two\n\n### boundary.env.one\n\nState: open.\n\n"
                        "### boundary.fs.two\n\nState: unknown.\n\n### sandbox.a.one\n\nClass: refused.\n\n"
                        f"### sandbox.b.two\n\nClass: more evidence. See [{G}, section 6]({G}.md#6-findings).\n",
    documents.METRICS: table("metric", METRICS, "counter", "`code`"),
}


def problems(*changes, **replaced):
    """What is found in the clean tree after changes (path, old, new), or with files (__ for /) added."""
    tree = dict(CLEAN)
    for path, old, new in changes:
        if tree[path].count(old) == 0:
            raise ValueError(f"{path}: nothing to change: {old}")
        tree[path] = tree[path].replace(old, new)
    tree.update({name.replace("__", "/").replace("_dot_", "."): text for name, text in replaced.items()})
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        return list(documents.check(root))


class Tree(unittest.TestCase):
    def test_documents_and_code_agree(self):
        self.assertEqual(list(documents.check(ROOT)), [])

    @unittest.skipIf(PROGRAM is None, "no program was given")
    def test_examples_give_what_the_page_says(self):
        with open(os.path.join(ROOT, examples.PAGE), encoding="utf-8") as stream:
            page = stream.read()
        self.assertEqual(examples.check(page, PROGRAM)[1], [])

    @unittest.skipIf(PROGRAM is None, "no program was given")
    def test_configurations_of_the_documents_are_read(self):
        for path in (documents.GATE, "README.md"):
            block = documents.configuration_block(documents.read(ROOT, path))
            if not block and path != documents.GATE:
                continue
            with tempfile.TemporaryDirectory() as folder, self.subTest(path):
                workspace = examples.Workspace(PROGRAM, folder)
                os.mkdir(workspace.path("evidence"))
                pod = workspace.write("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "pod.yaml")
                done = subprocess.run([PROGRAM, "check", "-f", pod, "--config", workspace.write(block, "gate.yaml"),
                                       "--evidence", workspace.path("evidence"), "--keyring", workspace.path("keyring")],
                                      capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.stderr, done.returncode), ("", 0))


class Faults(unittest.TestCase):
    def only(self, found, expected):
        self.assertEqual(found, [expected])

    def test_clean_tree_has_none(self):
        self.assertEqual(problems(), [])

    def test_document_that_is_gone(self):
        self.assertEqual(documents_without(documents.METRICS), [f"{documents.METRICS}: is not in the tree"])

    def test_finding_that_only_the_code_has(self):
        found = problems(("webhook/gate.h", 'X(TWO, "gate.b.two")', 'X(TWO, "gate.b.two") X(NEW, "gate.c.new")'))
        self.assertEqual(found, [f"{documents.GATE}: finding gate.c.new is in the code and not here",
                                 f"{documents.FINDINGS}: finding gate.c.new is in the code and not here"])

    def test_finding_that_only_a_document_has(self):
        self.only(problems((documents.GATE, "| `gate.b.two` |", "| `gate.b.two` |\n| `gate.c.old` |")),
                  f"{documents.GATE}: finding gate.c.old is not in the code")

    def test_findings_in_another_order(self):
        swapped = CLEAN[documents.GATE].replace("gate.a.one", "X").replace("gate.b.two", "gate.a.one").replace("X", "gate.b.two")
        self.only(problems((documents.GATE, CLEAN[documents.GATE], swapped)),
                  f"{documents.GATE}: findings are not in the order of the code")

    def test_finding_of_another_class(self):
        self.only(problems((documents.PLANNER, "| R |", "| E |")),
                  f"{documents.PLANNER}: finding sandbox.a.one is of the class R")
        self.only(problems((documents.FINDINGS, "Class: refused", "Class: unsupported")),
                  f"{documents.FINDINGS}: finding sandbox.a.one is of the class: refused")

    def test_finding_of_another_state(self):
        self.only(problems((documents.BOUNDARY, "| unknown |", "| open |")),
                  f"{documents.BOUNDARY}: finding boundary.fs.two is of the state unknown")
        self.only(problems((documents.FINDINGS, "State: open", "State: contradicted")),
                  f"{documents.FINDINGS}: finding boundary.env.one is of the state: open")

    def test_finding_of_the_boundary_that_only_a_document_has(self):
        self.only(problems((documents.BOUNDARY, "| `boundary.fs.two` |", "| `boundary.env.old` | open | |\n| `boundary.fs.two` |")),
                  f"{documents.BOUNDARY}: finding boundary.env.old is not in the code")

    def test_message_that_the_code_does_not_have(self):
        self.only(problems((documents.PLANNER, "it is stale", "it is old")),
                  f"{documents.PLANNER}: no message of the code reads: it is old")

    def test_tables_of_findings_that_are_not_found(self):
        self.assertEqual(problems(("webhook/gate.h", "GATE_CODES", "GATE_LIST"))[0],
                         "the tables PLAN_CODES, GATE_CODES and BOUNDARY_CODES were not found in the code")

    def test_key_that_only_the_code_has(self):
        self.only(problems(("k8s/key.c", 'PREFIX "key-3"', 'PREFIX "key-3", PREFIX "new"')),
                  f"{documents.GATE}: the key sandbox.runx.dev/new is in the code and not here")

    def test_key_that_only_a_document_has(self):
        self.only(problems(README_dot_md="`sandbox.runx.dev/old`\n"),
                  "README.md: the key sandbox.runx.dev/old is not in the code")

    def test_audit_annotation_on_one_side_only(self):
        self.only(problems(("webhook/deep/answer.c", '"error"', '"mistake"'))[:1],
                  f"{documents.GATE}: audit annotation mistake is in the code and not here")
        self.only(problems((documents.GATE, "| `error` |", "| `mistake` |"))[1:],
                  f"{documents.GATE}: audit annotation mistake is not in the code")

    def test_metric_on_one_side_only(self):
        self.assertIn(f"{documents.METRICS}: metric sandgate_new_total is in the code and not here",
                      problems(("webhook/deep/metrics.c", "sandgate_a_total", "sandgate_new_total")))
        self.assertIn(f"{documents.METRICS}: metric sandgate_old_total is not in the code",
                      problems((documents.METRICS, "`sandgate_a_total`", "`sandgate_old_total`")))
        self.only(problems(README_dot_md="See `sandgate_old_total`.\n"),
                  "README.md: metric sandgate_old_total is not in the code")

    def test_metric_of_another_type_or_with_another_label(self):
        self.only(problems((documents.METRICS, "| `sandgate_a_total` | counter |", "| `sandgate_a_total` | gauge |")),
                  f"{documents.METRICS}: metric sandgate_a_total is a counter")
        self.only(problems((documents.METRICS, "| `sandgate_a_total` | counter | `code` |",
                            "| `sandgate_a_total` | counter | `path` |")),
                  f"{documents.METRICS}: metric sandgate_a_total has the labels ['code']")

    def test_configuration_key_on_one_side_only(self):
        self.only(problems(("webhook/deep/config.c", '"key3"', '"key3", "x"); section_number(root, "new"')),
                  f"{documents.GATE}: configuration key new is in the code and not here")
        self.only(problems((documents.GATE, "key3: 1", "key3: 1\nold: 1")),
                  f"{documents.GATE}: configuration key old is not in the code")

    def test_extraction_that_finds_too_little(self):
        self.assertIn("only 0 audit annotations were found in the code",
                      problems(("webhook/deep/answer.c", "add_pair(", "put_pair(")))

    def test_citation_of_a_section_that_does_not_exist(self):
        self.only(problems(k8s__a_dot_c="/* a (" + G + ",\n * sections 6, 7 and 99). */\n"),
                  f"k8s/a.c: cites {G}, section 99, which does not exist")
        self.only(problems(k8s__a_dot_c="/* a (" + G + ", section 6), and section 99. */\n"),
                  "k8s/a.c: cites section 99, which the gate contract does not have")
        self.only(problems(k8s__a_dot_c="/* a - " + P + ", section Nothing. */\n"),
                  f"k8s/a.c: cites a section of {P} that does not exist: Nothing. */ ")

    def test_citation_of_a_section_of_the_boundary_that_does_not_exist(self):
        self.only(problems(tests__a_dot_py='"""After boundary-' + 'v1, section 2."""\n'),
                  "tests/a.py: cites boundary-" + "v1, section 2, which does not exist")

    def test_citation_in_another_form(self):
        self.only(problems(tests__a_dot_py="# the gate " + "contract, section 6\n"),
                  "tests/a.py: cite as gate-v1 or hardening-v1: gate " + "contract, section 6")

    def test_citation_in_markdown_that_is_not_a_link(self):
        self.only(problems(README_dot_md=f"See {G}, section 6.\n"), f"README.md: the citation is not a link: {G}, section 6.")

    def test_link_without_target(self):
        self.only(problems(README_dot_md="[a](webhook/none.md)\n"), "README.md: the link to webhook/none.md has no target")
        self.only(problems(README_dot_md=f"[a]({documents.GATE}#9-none)\n"),
                  f"README.md: the link to {documents.GATE}#9-none has no such anchor")

    def test_link_to_another_section_than_it_says(self):
        self.only(problems(README_dot_md=f"[{G}, section 6]({documents.GATE}#7-response)\n"),
                  f"README.md: the link [{G}, section 6] leads to {documents.GATE}#7-response")

    def test_file_that_does_not_exist(self):
        page = "`webhook/deep/answer.c` and `old.c`, `deep/`, `build/x.c`, `webhook/NAME.c`\n\n- `answer.c`\n"
        self.assertEqual(problems(README_dot_md=page),
                         ["README.md: there is no old.c", "README.md: there is no answer.c"])
        self.assertEqual(problems(k8s__README_dot_md="`key.c`, `gate.h`, `../k8s/key.h`, `webhook/old/`\n\n```\n`no.c`\n```\n"),
                         ["k8s/README.md: there is no webhook/old/"])

    def test_file_of_the_directory_in_another_table_row(self):
        self.only(problems(README_dot_md="| a | b |\n|---|---|\n| `deep/` | `answer.c` |\n| `k8s/` | `answer.c` |\n"),
                  "README.md: there is no answer.c")

    def test_function_that_does_not_exist(self):
        self.only(problems(README_dot_md="`section_end()`, `a()`, `x_free()`, `old()`\n"),
                  "README.md: there is no function old()")

    def test_function_that_only_a_comment_names(self):
        self.only(problems(k8s__b_dot_c="/* old() is gone */\n", README_dot_md="`old()`\n"),
                  "README.md: there is no function old()")

    def test_tests_that_do_not_exist(self):
        page = ("| attack | prevented by | test |\n|---|---|---|\n"
                "| `a.b` | `keyring.kinds` | `suite.is_there`, `suite.old`, `gone.test`, `test_a.c`, `test_old.c`, `test_it` |\n\n"
                "`other.text`\n")
        found = problems(tests__test_a_dot_c="Test(suite, is_there)\n{\n}\n", tests__b_dot_py="def test_it():\n    pass\n",
                         **{"_dot_github__SECURITY_dot_md": page})
        self.assertEqual(found, [f"{documents.SECURITY}: there is no {name}" for name in ("test_old.c",)] +
                         [f"{documents.SECURITY}: there is no test {name}" for name in ("suite.old", "gone.test", "test_old.c")])

    @unittest.skipIf(PROGRAM is None, "no program was given")
    def test_example_with_another_output(self):
        with open(os.path.join(ROOT, examples.PAGE), encoding="utf-8") as stream:
            page = stream.read()
        wrong = page.replace("```text\nsandbox.env.name: ", "```text\nsandbox.env.name: not ")
        found = examples.check(wrong, PROGRAM)[1]
        self.assertEqual(len(found), 1)
        self.assertIn("sandbox.env.name: the program prints", found[0])


def documents_without(path):
    kept = CLEAN.pop(path)
    try:
        return problems()
    finally:
        CLEAN[path] = kept


if __name__ == "__main__":
    unittest.main()
