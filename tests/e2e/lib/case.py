# SPDX-License-Identifier: Apache-2.0
"""What every test has: the world of its run, and the words for looking at it."""
import re
import signal
import unittest

from .api import eventually
from .evidence import namespace, unique

TEST_SECONDS = 180
DENIED = re.compile(r'admission webhook "(?:[a-z]+\.)*sandbox\.runx\.dev" denied the request: ')


def denied_by_us(text):
    """Whether kubectl tells of a denial by one of the chart's registrations."""
    return DENIED.search(text) is not None


class World:
    """One release of Kubernetes with the gate in it. The driver makes it and gives it to every Case."""

    def __init__(self, version, control, kubelet, signer, sandgate, folder, root):
        self.version, self.control, self.kubelet, self.signer = version, control, kubelet, signer
        self.sandgate, self.folder, self.root = sandgate, folder, root
        self.gate = None  # the shared release, installed for the first test that asks


class Case(unittest.TestCase):
    """A test against the control plane. Its name says what must hold; its words are printed."""
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
        """A namespace of the test's own, taken away afterwards; pods can be made in it."""
        name = unique(prefix)
        self.api.post("/api/v1/namespaces", namespace(name, **labels))
        self.addCleanup(self.api.delete, f"/api/v1/namespaces/{name}")
        eventually(lambda: self.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default"), f"account in {name}")
        return name

    def publish(self, document, into, key="release", name=None):
        """Signs a document and applies it; the name of its ConfigMap."""
        name = name or unique("evidence")
        signed = self.world.signer.sign(document, name, into, key)
        self.assert_allowed(self.control.apply(signed))
        self.addCleanup(self.withdraw, name, into)
        return name

    def withdraw(self, name, into):
        self.api.delete(f"/api/v1/namespaces/{into}/configmaps/{name}")

    def assert_allowed(self, done):
        self.assertEqual(done.status, 0, done.said)

    def assert_denied(self, done, *parts):
        """kubectl's own words about a denial, and what the message must say."""
        self.assertEqual(done.status, 1, done.said)
        self.assertRegex(done.err, DENIED)
        for part in parts:
            self.assertIn(part, done.err)
