# SPDX-License-Identifier: Apache-2.0
"""Installs the gate in the cluster by its chart, as a user does."""
import json
import os
import pathlib
import unittest

import yaml

from .api import eventually
from .case import denied_by_us
from .evidence import namespace, pod

NAMESPACE = "sandgate-system"
NAME = "sandgate"
CHART = pathlib.Path(os.environ.get("E2E_CHART", pathlib.Path(__file__).resolve().parents[3] / "charts" / "sandgate"))


def merged(below, above):
    """Merges values as Helm does: maps are merged, other values are replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}


class Gate:
    """One release of the chart. The tests share one; the tests of the chart make their own."""

    def __init__(self, world, name=NAME, into=NAMESPACE):
        self.world, self.name, self.namespace = world, name, into
        self.installed, self.failed, self.given = False, None, {}
        self.chart = CHART

    @property
    def control(self):
        return self.world.control

    def values(self):
        """Values other than the defaults: the key, and shorter waiting times."""
        return {"keyring": {"keys": {"release": self.world.signer.public("release")}},
                "config": {"drainSeconds": 2}, "preStopSleepSeconds": 2, "metrics": {"enabled": True}}

    def write(self, more):
        self.given = merged(self.given, more)
        path = self.world.folder / f"{self.name}.values.yaml"
        path.write_text(yaml.safe_dump(merged(self.values(), self.given)))
        return path

    def helm(self, *words, **more):
        """Installs or upgrades with these values, merged with the earlier ones."""
        done = self.control.helm(*words, self.name, self.chart, "--namespace", self.namespace, "--values", self.write(more),
                                 "--wait", "--timeout", "120s", seconds=180)
        return done

    def ensure(self):
        if self.failed:
            raise unittest.SkipTest("the gate could not be installed")
        if self.installed:
            return
        done = self.helm("install", "--create-namespace") if self.world.control.api.get_or_none(
            f"/api/v1/namespaces/{self.namespace}") is None else self.helm("install")
        if done.status:
            self.failed = done.said
            raise AssertionError(f"helm install: {done.said}\n{self.log_ends()}")
        self.installed = True
        self.wait_until_asked()

    def uninstall(self):
        """The next ensure() installs it again, without values that tests have given."""
        done = self.control.helm("uninstall", self.name, "--namespace", self.namespace, "--wait", "--timeout", "60s")
        if done.status:
            raise AssertionError(f"helm uninstall: {done.said}")
        self.installed, self.given, self.chart = False, {}, CHART

    def upgrade(self, *options, **more):
        done = self.helm("upgrade", *options, **more)
        if done.status:
            raise AssertionError(f"helm upgrade: {done.said}\n{self.log_ends()}")

    def remove(self):
        done = self.control.helm("-n", self.namespace, "uninstall", self.name, "--wait", "--timeout", "60s")
        if done.status:
            raise AssertionError(f"helm uninstall: {done.said}")
        self.installed = False

    def wait_until_asked(self):
        """Waits until the API server uses the webhook configuration, and the gate has written its CA into it."""
        probe = "e2e-probe"
        if self.world.control.api.get_or_none(f"/api/v1/namespaces/{probe}") is None:
            self.world.control.api.post("/api/v1/namespaces", namespace(probe))
            eventually(lambda: self.world.control.api.get(f"/api/v1/namespaces/{probe}/serviceaccounts/default"), "account")
        eventually(lambda: denied_by_us(self.control.apply(pod("probe", probe), dry_run=True).err), "a first denial", 30)

    def keys(self, *names):
        """Changes the keyring by an upgrade of the release, without a restart of the gates."""
        path = f"/api/v1/namespaces/{self.namespace}/configmaps/{self.name}-keyring"
        have = self.world.control.api.get(path)["data"]
        data = {f"{each}.pem": self.world.signer.public(each) for each in names}
        self.world.control.api.patch(path, {"data": {**{key: None for key in have if key not in data}, **data}})

    def pods(self):
        return self.world.kubelet.of(self.namespace)

    def log_ends(self):
        """The last lines of every gate's log."""
        return "\n".join(f"{name}:\n" + "".join(each.log.read_text().splitlines(True)[-15:])
                         for name, each in self.pods().items() if each.log.exists())

    def records(self):
        """The log lines of the running gates, as objects."""
        for each in self.pods().values():
            for line in each.log.read_text().splitlines():
                try:
                    yield json.loads(line)
                except ValueError:
                    yield {"message": line}
