# SPDX-License-Identifier: Apache-2.0
"""The chapter of README.md that needs a cluster: each command does there what the page says."""
import importlib.util
import os
import re
import subprocess

from lib.api import eventually
from lib.case import Case

SIGNING = re.compile(r"^mkdir|^openssl |OBSERVED_AT|sandgate sign ")  # the chapters before, as far as this one needs them
RELEASE, NAMESPACE, TEAM = "sandgate", "sandgate-system", "payments"


def readme_of(root):
    spec = importlib.util.spec_from_file_location("readme", root / "tests" / "demo" / "readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Readme(Case):
    def test_every_command_of_the_readme_does_in_a_cluster_what_the_page_says(self):
        root = self.world.root
        readme = readme_of(root)
        text = (root / "README.md").read_text(encoding="utf-8")
        folder = self.world.folder / "readme"
        (folder / "build").mkdir(parents=True)
        (folder / "build" / "sandgate").symlink_to(self.world.sandgate)
        for name in ("tests", "charts"):
            (folder / name).symlink_to(root / name)
        environment = {**os.environ, "KUBECONFIG": str(self.control.kubeconfig), "HOME": str(folder),
                       "PATH": f"{self.control.programs}:{os.environ['PATH']}"}
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{TEAM}")
        self.addCleanup(self.control.helm, "uninstall", RELEASE, "-n", NAMESPACE, "--wait", "--ignore-not-found")
        eventually(lambda: self.api.get_or_none(f"/api/v1/namespaces/{NAMESPACE}") is None, "the end of the last release", 60)
        signing = [command for command, _output in readme.commands(text) if SIGNING.search(command)]
        for command in signing:
            subprocess.run(["bash", "-c", command], cwd=folder, env=environment, check=True, capture_output=True, timeout=60)
        pairs = list(readme.commands(text, "shell-session"))
        self.assertGreater(len(pairs), 6)
        for command, expected in pairs:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False)
            with self.subTest(command=command):
                self.assertEqual(readme.same_form(done.stdout), readme.same_form(expected), f"it printed:\n{done.stdout}")
            with open(folder / "session.log", "a", encoding="utf-8") as log:
                log.write(f"$ {command}\n{done.stdout}")
            if "helm" in command:
                # a registration works after a second; the page does not say so, whoever types takes longer
                self.world.gate.wait_until_asked()
