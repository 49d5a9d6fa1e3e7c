# SPDX-License-Identifier: Apache-2.0
"""The pages' commands that need a cluster: each does there what the page says."""
import importlib.util
import os
import subprocess

from lib.api import eventually
from lib.case import Case

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
        folder = self.world.folder / "readme"
        folder.mkdir(parents=True)
        readme.make_folder(folder, self.world.sandgate)
        environment = {**os.environ, "KUBECONFIG": str(self.control.kubeconfig), "HOME": str(folder),
                       "PATH": f"{self.control.programs}:{os.environ['PATH']}"}
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{TEAM}")
        self.addCleanup(self.control.helm, "uninstall", RELEASE, "-n", NAMESPACE, "--wait", "--ignore-not-found")
        eventually(lambda: self.api.get_or_none(f"/api/v1/namespaces/{NAMESPACE}") is None, "the end of the last release", 60)
        pages = readme.cluster_pages()
        for page in readme.prerequisites(pages):  # keys and a signed document; ctest compares what these print
            for command, _expected in readme.commands(readme.page_text(page)):
                readme.run(command, folder)
        pairs = [(page, *pair) for page in pages for pair in readme.commands(readme.page_text(page), "shell-session")]
        self.assertGreater(len(pairs), 6)
        for page, command, expected in pairs:
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180, check=False)
            with self.subTest(page=page, command=command):
                self.assertEqual(readme.same_form(done.stdout), readme.same_form(expected), f"it printed:\n{done.stdout}")
            with open(folder / "session.log", "a", encoding="utf-8") as log:
                log.write(f"$ {command}\n{done.stdout}")
            if "helm" in command:
                # a registration works after a second; the page does not say so, a person who types takes longer
                self.world.gate.wait_until_asked()
