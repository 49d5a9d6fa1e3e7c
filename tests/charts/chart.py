# SPDX-License-Identifier: Apache-2.0
"""Runs Helm on the chart, for the tests. HELM is the path of the helm program; the default is helm on the path."""
import functools
import json
import os
import pathlib
import subprocess

import yaml

CHART = pathlib.Path(__file__).resolve().parents[2] / "charts" / "sandgate"
VALUE_SETS = sorted((CHART / "ci").glob("*-values.yaml"))
NAMESPACE = "sandgate-system"
RELEASE = "sandgate"
# the same as in ci/default-values.yaml; the chart does not render without a key
KEY = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"


@functools.cache  # equal arguments give equal output
def helm(*arguments, stdin=""):
    """(exit status, standard output, standard error)"""
    done = subprocess.run([os.environ.get("HELM", "helm"), *map(str, arguments)], input=stdin, capture_output=True,
                          text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def render(*options, namespace=NAMESPACE, release=RELEASE, values=None):
    """All objects, in order. values: a tree of values, in addition to the options."""
    status, text, error = helm("template", release, CHART, "--namespace", namespace, *options, *(
        ["--values", "-"] if values is not None else []), stdin=json.dumps(values) if values is not None else "")
    if status != 0:
        raise AssertionError(error)
    return [item for item in yaml.safe_load_all(text) if item]
