#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The gate accepts the configuration that the chart renders from each of its example values.

SANDGATE is the program, HELM a helm program. Errors of `serve --check` about files that exist only in a pod are ignored."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from chart import KEY, VALUE_SETS, render


class Read(unittest.TestCase):
    def test_every_example(self):
        program = os.path.abspath(os.environ["SANDGATE"])
        for values in VALUE_SETS:
            made = [item for item in render("--values", values) if "gate.yaml" in item.get("data", {})]
            if not made:
                continue  # a gate outside of the cluster
            with self.subTest(values.name), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "config").mkdir()
                (folder / "keys").mkdir()
                (folder / "keys" / "release-2026.pem").write_text(KEY, encoding="utf-8")
                text = made[0]["data"]["gate.yaml"].replace("/etc/sandgate/", f"{folder}/")
                (folder / "config" / "gate.yaml").write_text(text, encoding="utf-8")
                done = subprocess.run([program, "serve", "--check", "--config", folder / "config" / "gate.yaml"],
                                      capture_output=True, text=True, timeout=60, check=False)
                self.assertNotRegex(done.stderr, re.escape("gate.yaml") + r":\d+:\d+: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
