# SPDX-License-Identifier: Apache-2.0
"""The control plane of one release, and the programs of its users: kubectl and helm."""
import dataclasses
import json
import os
import pathlib
import subprocess

import yaml

from .api import Api

HERE = pathlib.Path(__file__).resolve().parents[1]
PODS = "10.244"  # the addresses of kwok's pods and of the gate's pods; tests/e2e/run routes both to this machine
GATES = "10.245"
GATE_SELECTOR = {"key": '.metadata.labels["app.kubernetes.io/name"]', "operator": "NotIn", "values": ["sandgate"]}
COMMAND_SECONDS = 120


@dataclasses.dataclass
class Done:
    """The result of a command."""
    status: int
    out: str
    err: str

    @property
    def said(self):
        return self.out + self.err


class ControlPlane:
    """etcd, API server, controllers, scheduler and kwok, as cluster.sh starts them in a directory."""

    def __init__(self, programs, folder):
        self.programs, self.folder = pathlib.Path(programs), pathlib.Path(folder)
        self.kubeconfig = self.folder / "kubeconfig"
        self.api = None
        self.helm_program = "helm"

    def script(self, *words, **environment):
        done = subprocess.run([HERE / "cluster.sh", *words], capture_output=True, text=True, timeout=COMMAND_SECONDS * 2,
                              check=False, env={**os.environ, "CLUSTER_BIN": str(self.programs), **environment})
        if done.returncode:
            raise RuntimeError(f"cluster.sh {' '.join(map(str, words))}: {done.stderr}")

    def up(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        stages = self.folder / "kwok-stages.yaml"
        stages.write_text(yaml.safe_dump_all(self.stages()))
        # Endpoints instead of cluster addresses, so that the API server chooses between two replicas.
        self.script("up", self.folder, KWOK_STAGES=str(stages), KWOK_FLAGS=f"--cidr={PODS}.0.0/16",
                    APISERVER_FLAGS="--enable-aggregator-routing")
        self.api = Api(self.kubeconfig)

    def stages(self):
        """kwok's, but for the gate's own pods, which are more than pretence."""
        for stage in yaml.safe_load_all((self.programs / "kwok-stages.yaml").read_text()):
            if stage and stage["spec"]["resourceRef"]["kind"] == "Pod":
                stage["spec"]["selector"]["matchExpressions"].append(GATE_SELECTOR)
            if stage:
                yield stage

    def down(self):
        self.script("down", self.folder)

    def kill(self, program):
        self.script("kill", self.folder, program)

    def start(self, program):
        self.script("start", self.folder, program)

    def port(self):
        return int((self.folder / "port").read_text())

    def run(self, program, *words, stdin=None, seconds=COMMAND_SECONDS):
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder),
                       "PATH": f"{self.programs}:{os.environ['PATH']}"}
        done = subprocess.run([program, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=seconds,
                              check=False, env=environment)
        return Done(done.returncode, done.stdout, done.stderr)

    def kubectl(self, *words, stdin=None, seconds=COMMAND_SECONDS):
        return self.run(self.programs / "kubectl", *words, stdin=stdin, seconds=seconds)

    def helm(self, *words, seconds=COMMAND_SECONDS):
        return self.run(self.programs / self.helm_program, *words, seconds=seconds)

    def must(self, *words, stdin=None):
        """Standard output of kubectl, which must succeed."""
        done = self.kubectl(*words, stdin=stdin)
        if done.status:
            raise AssertionError(f"kubectl {' '.join(map(str, words))}: {done.said}")
        return done.out

    def define_cert_manager(self):
        """The kinds of cert-manager."""
        definitions = self.programs / "cert-manager-crds.yaml"
        self.must("apply", "--server-side", "-f", definitions)  # they are too large for the annotation of a plain apply
        self.must("wait", "--for=condition=Established", "--timeout=60s", "-f", definitions)

    def apply(self, *objects, dry_run=False):
        """kubectl apply of these objects in one command."""
        words = ["--dry-run=server"] if dry_run else []
        return self.kubectl("apply", "-f", "-", *words, stdin=yaml.safe_dump_all(objects))

    def create(self, *objects, dry_run=False):
        words = ["--dry-run=server"] if dry_run else []
        return self.kubectl("create", "-f", "-", *words, stdin=yaml.safe_dump_all(objects))

    def audit_events(self):
        """The events in the audit log. An incomplete last line is ignored."""
        events = []
        with open(self.folder / "audit.log", encoding="utf-8") as stream:
            for line in stream:
                if line.endswith("\n"):
                    events.append(json.loads(line))
        return events
