# SPDX-License-Identifier: Apache-2.0
"""The base class of the tests, and the environment of a run."""
import re
import signal
import unittest

from .api import eventually
from .evidence import namespace, unique

TEST_SECONDS = 180
AUDIT_SECONDS = 10
DENIED = re.compile(r'admission webhook "(?:[a-z]+\.)*sandbox\.runx\.dev" denied the request: ')


def denied_by_us(text):
    """Whether kubectl reports a denial by an entry of the chart's webhook configuration."""
    return DENIED.search(text) is not None


class World:
    """One release of Kubernetes with the gate in it. tests/e2e/run makes it for all tests."""

    def __init__(self, version, control, kubelet, signer, sandgate, folder, root):
        self.version, self.control, self.kubelet, self.signer = version, control, kubelet, signer
        self.sandgate, self.folder, self.root = sandgate, folder, root
        self.gate = None  # the shared release of the chart, installed at its first use
        self.previous = None  # what tests/previous/build.sh made, or None if the history lacks that version


class Case(unittest.TestCase):
    """A test with the control plane. The words of its name are printed."""
    world = None
    seconds = TEST_SECONDS

    def run(self, result=None):
        def late(_signal, _frame):
            raise AssertionError(f"not done within {self.seconds} s")
        signal.signal(signal.SIGALRM, late)
        signal.alarm(self.seconds)
        try:
            return super().run(result)
        finally:
            signal.alarm(0)

    @property
    def control(self):
        return self.world.control

    @property
    def api(self):
        return self.world.control.api

    def team(self, prefix="team", **labels):
        """A new namespace for the test, deleted afterwards, in which pods can be created."""
        name = unique(prefix)
        self.api.post("/api/v1/namespaces", namespace(name, **labels))
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{name}")
        eventually(lambda: self.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default"), f"account in {name}")
        return name

    def publish(self, document, into, key="release", name=None):
        """Signs a document and applies it. Returns the name of its ConfigMap."""
        name = name or unique("evidence")
        signed = self.world.signer.sign(document, name, into, key)
        self.assert_allowed(self.control.apply(signed))
        self.addCleanup(self.withdraw, name, into)
        return name

    def withdraw(self, name, into):
        self.api.delete(f"/api/v1/namespaces/{into}/configmaps/{name}")

    def audited(self, team, resource="pods", verb="create", dry_run=False, code=None):
        """The audit annotations of the gate for each such request in this namespace, by key; the last request first."""
        for event in reversed(self.control.audit_events()):
            target = event.get("objectRef", {})
            if (event["verb"] == verb and target.get("resource") == resource and target.get("namespace") == team
                    and ("dryRun=All" in event["requestURI"]) == dry_run and code in (None, event["responseStatus"]["code"])):
                yield {key.split("/", 1)[1]: value for key, value in event.get("annotations", {}).items()
                       if key.split("/")[0].endswith("sandbox.runx.dev")}

    def notes(self, team, resource="pods", **request):
        """The audit annotations of the last such request that the gate answered."""
        return eventually(lambda: next(filter(None, self.audited(team, resource, **request)), None),
                          f"an audit event for {resource} in {team}", AUDIT_SECONDS)

    def assert_allowed(self, done):
        self.assertEqual(done.status, 0, done.said)

    def assert_denied(self, done, *parts):
        """Checks that kubectl reports a denial with this text."""
        self.assertEqual(done.status, 1, done.said)
        self.assertRegex(done.err, DENIED)
        for part in parts:
            self.assertIn(part, done.err)
