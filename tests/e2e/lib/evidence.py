# SPDX-License-Identifier: Apache-2.0
"""Keys, signed documents and pods for the tests, made when they are needed."""
import datetime
import itertools
import pathlib
import subprocess

import yaml

SKILL = "acme/report@1.4.0"
DIGEST = "sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206"
OTHER_DIGEST = "sha256:" + "d" * 64
IMAGE = f"registry.example.test/acme/report:1.4.0@{DIGEST}"
PREFIX = "sandbox.runx.dev/"
NUMBERS = itertools.count(1)


def unique(prefix):
    return f"{prefix}-{next(NUMBERS)}"


def moment(seconds=0):
    """The time now, or this number of seconds later, in the format of documents."""
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def namespace(name, **labels):
    return {"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {PREFIX + key: value for key, value in labels.items()}}}


def pod(name, into, image=IMAGE, skill=SKILL, requirements=None, generate=False, **spec):
    annotations = {} if skill is None else {PREFIX + "skill-ref": skill}
    if requirements is not None:
        annotations[PREFIX + "requirements"] = requirements
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"generateName" if generate else "name": name, "namespace": into, "annotations": annotations},
            "spec": {"containers": [{"name": "app", "image": image}], **spec}}


def deployment(name, into, replicas=1, **given):
    template = pod(name, into, **given)
    metadata = {"annotations": template["metadata"]["annotations"], "labels": {"app": name}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": into},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": metadata, "spec": template["spec"]}}}


def requirements(skill=SKILL, images=(DIGEST,), observed=0, **fields):
    return {"apiVersion": "sandbox.runx.dev/v1", "kind": "SandboxRequirements", "workload": {"skill_ref": skill},
            "requirements": {"source_ref": "git:acme/report/sandbox.yaml@3f2a9c1",
                             "source_digest": "sha256:" + "c" * 64, "observed_at": moment(observed), "network": False,
                             "writable_paths": ["tmp/results"], "env_allowlist": ["REPORT_FORMAT"],
                             "cwd_policy": "skill-directory", "require_enforcement": True},
            "images": list(images), **fields}


def exemption(namespaces, seconds, **match):
    return {"apiVersion": "sandbox.runx.dev/v1", "kind": "SandboxExemption",
            "match": {"namespaces": namespaces, **match}, "reason": "a test of the tests", "expires_at": moment(seconds)}


class Signer:
    """Keys in a directory, and `sandgate sign` with them."""

    def __init__(self, sandgate, folder):
        self.sandgate, self.folder = sandgate, pathlib.Path(folder)
        (self.folder / "keys").mkdir(parents=True, exist_ok=True)

    def key(self, key_id):
        path = self.folder / "keys" / f"{key_id}.pem"
        if not path.exists():
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
        return path

    def public(self, key_id):
        done = subprocess.run(["openssl", "pkey", "-in", self.key(key_id), "-pubout"], check=True, capture_output=True,
                              text=True)
        return done.stdout

    def sign(self, document, name, into, key_id="release"):
        """The ConfigMap, as an object."""
        path = self.folder / f"{name}.document.yaml"
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        done = subprocess.run([self.sandgate, "sign", "--key", self.key(key_id), "--name", name, "--namespace", into, path],
                              check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"sandgate sign: {done.stderr}")
        return yaml.safe_load(done.stdout)
