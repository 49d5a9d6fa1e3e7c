# SPDX-License-Identifier: Apache-2.0
"""An API server with ConfigMaps and Namespaces over TLS, with lists, pages and watches, that makes the errors which a test
chooses; and the program that follows it. Both use loopback and port 0 only."""

import base64
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

from api_server import Server, answer, certificate_file, certificates

PROGRAM = os.environ.get("CLUSTER_PROGRAM", "")
LABEL = "sandbox.runx.dev/evidence"
OWN = "sandgate-system"
DOCUMENT = """apiVersion: sandbox.runx.dev/v1
kind: SandboxRequirements
workload: {skill_ref: acme/%s@1.0.0}
requirements:
  source_ref: git:acme/report/sandbox.yaml@3f2a9c1
  source_digest: sha256:c876d880ba75a829205758fb2ac9592e79689553c60743d9fa19501c2f2749e4
  observed_at: 2026-02-28T12:00:00Z
  network: false
  writable_paths: [tmp/results]
  env_allowlist: [REPORT_FORMAT, REPORT_LOCALE]
  cwd_policy: skill-directory
  require_enforcement: true
images:
- sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206
"""
_signed = {}


def sign(document, key="release-dev"):
    """Base64 of an Ed25519 signature by a development key. Each signature is made once."""
    if (document, key) not in _signed:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(document)
            file.flush()
            done = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey",
                                   certificate_file("signing-keys/%s.pem" % key), "-in", file.name],
                                  check=True, capture_output=True)
        _signed[document, key] = base64.b64encode(done.stdout).decode()
    return _signed[document, key]


def evidence(namespace, name, document=None, keys=("release-dev",)):
    document = DOCUMENT % "report" if document is None else document
    return {"metadata": {"namespace": namespace, "name": name, "labels": {LABEL: "true"},
                         "annotations": {"signature.sandbox.runx.dev/" + key: sign(document, key) for key in keys}},
            "data": {"sandbox.yaml": document}}


def namespace(name, enforce=None):
    return {"metadata": {"name": name, "labels": {"sandbox.runx.dev/enforce": enforce} if enforce else {}}}


def network_policy(namespace, name, **spec):
    return {"metadata": {"namespace": namespace, "name": name}, "spec": {"podSelector": {}, **spec}}


def status(code, message, reason=""):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code}


def refusal(code, message, *headers):
    return answer(code, json.dumps(status(code, message)), headers)


def keyring(*names):
    """A new directory with some of the development keys."""
    folder = tempfile.mkdtemp(prefix="sandgate-keys-")
    for name in names:
        shutil.copy(certificate_file("keyring/%s.pem" % name), folder)
    return folder


class Api:
    """The API server. `hook(request)` can return bytes to send instead of the answer. Reads wait until `hold` is set."""

    def __init__(self):
        self.lock = threading.RLock()
        self.version = 100
        self.objects, self.watches, self.log = {}, [], []
        self.hook = lambda request: None
        self.hold = threading.Event()
        self.hold.set()
        self.oldest = 0
        self.page_limit = True
        self.server = Server(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cut()
        self.server.__exit__()

    def restart(self):
        """Closes the listener and all connections. Returns the port."""
        self.cut()
        self.server.__exit__()
        return self.server.port

    def put(self, kind, thing, silent=False):
        with self.lock:
            self.version += 1
            meta = thing["metadata"]
            key = (kind, meta.get("namespace", ""), meta["name"])
            event = "MODIFIED" if key in self.objects else "ADDED"
            thing = json.loads(json.dumps(thing))
            thing["metadata"]["resourceVersion"] = str(self.version)
            self.objects[key] = thing
            self.tell(kind, event, thing, silent)

    def delete(self, kind, space, name, silent=False):
        with self.lock:
            self.version += 1
            thing = self.objects.pop((kind, space, name))
            thing["metadata"]["resourceVersion"] = str(self.version)
            self.tell(kind, "DELETED", thing, silent)

    def tell(self, kind, event, thing, silent):
        if silent:  # the watch never sends it
            return
        self.log.append((self.version, kind, event, json.loads(json.dumps(thing))))
        for watch in self.watches:
            watch.put(True)

    def cut(self, last=None):
        """Ends every watch, after these bytes."""
        with self.lock:
            for watch in self.watches:
                watch.put(last if last is not None else False)

    def event(self, kind, event, thing):
        """Sends this event to every watch of that kind."""
        with self.lock:
            for watch in self.watches:
                if watch.kind == kind:
                    watch.put(json.dumps({"type": event, "object": thing}).encode() + b"\n")

    def paths(self, part=""):
        return [r.path for r in self.server.requests if part in r.path]

    def reads(self):
        """The paths of the confirming reads."""
        return [p for p in self.paths("/namespaces/") if "watch=" not in p and "limit=" not in p]

    def handle(self, request, send):
        url = urllib.parse.urlsplit(request.path)
        query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        parts = url.path.split("/")[4 if url.path.startswith("/apis/") else 3:]
        request.query, request.when = query, time.monotonic()
        request.is_read = parts[0] == "namespaces" and len(parts) > 1 and "limit" not in query
        if request.is_read:
            self.hold.wait(20)
        said = self.hook(request)
        if said is not None:
            send(said)
            return True
        if parts[0] == "namespaces" and len(parts) == 2:
            return self.get(parts[1], send)
        kind = parts[-1] if parts[-1] in ("configmaps", "networkpolicies") else "namespaces"
        space = parts[1] if len(parts) == 3 else ""
        if "watch" in query:
            return self.watch(kind, space, query, send)
        return self.list(kind, space, query, send)

    def get(self, name, send):
        with self.lock:
            thing = self.objects.get(("namespaces", "", name))
        send(answer(200, json.dumps(thing)) if thing else refusal(404, 'namespaces "%s" not found' % name))
        return True

    @staticmethod
    def fits(kind, space, query, thing):
        meta = thing["metadata"]
        if space and meta.get("namespace") != space:
            return False
        if "labelSelector" in query and meta.get("labels", {}).get(LABEL) != "true":
            return False
        return query.get("fieldSelector", "metadata.name=" + meta["name"]) == "metadata.name=" + meta["name"]

    def list(self, kind, space, query, send):
        with self.lock:
            found = [thing for key, thing in sorted(self.objects.items())
                     if key[0] == kind and self.fits(kind, space, query, thing)]
            version = self.version
        begin, token = int(query.get("continue", "0")), ""
        if self.page_limit and "limit" in query and len(found) > begin + int(query["limit"]):
            token = str(begin + int(query["limit"]))
            found = found[begin:int(token)]
        else:
            found = found[begin:]
        send(answer(200, json.dumps({"kind": "List", "metadata": {"resourceVersion": str(version), "continue": token},
                                     "items": found}), ("Content-Type: application/json",)))
        return True

    def watch(self, kind, space, query, send):
        at = int(query["resourceVersion"])
        if at < self.oldest:
            send(refusal(410, "too old resource version: %d (%d)" % (at, self.oldest)))
            return True
        pings = queue.Queue()
        pings.kind = kind
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n")
        with self.lock:
            self.watches.append(pings)
        sent = 0
        try:
            while True:
                with self.lock:
                    events, sent = self.log[sent:], len(self.log)
                for version, its_kind, event, thing in events:
                    if version > at and its_kind == kind and self.fits(kind, space, query, thing):
                        self.chunk(send, json.dumps({"type": event, "object": thing}).encode() + b"\n")
                ping = pings.get()
                if ping is False:
                    send(b"0\r\n\r\n")
                    return True
                if isinstance(ping, bytes):
                    self.chunk(send, ping)
                    if not ping.endswith(b"\n"):
                        return None
        finally:
            with self.lock:
                self.watches.remove(pings)

    @staticmethod
    def chunk(send, data):
        send(b"%x\r\n" % len(data) + data + b"\r\n")


class Gate:
    """The program, and its output."""

    def __init__(self, api, ring=None, start=True, rules="", program=None, **texts):
        texts = {"server": api.server.url(), "ca": certificate_file("ca.crt"), "own": OWN, **texts}
        clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        self.process = subprocess.Popen([program or PROGRAM, *("%s=%s" % pair for pair in texts.items())], env=clean,
                                        text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.said, self.arrived = [], threading.Condition()
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        self.tell("rules keyring=%s %s" % (ring or certificates() + "/keyring", rules))
        if start:
            self.tell("start")

    def listen(self):
        for line in self.process.stdout:
            with self.arrived:
                self.said.append(json.loads(line))
                self.arrived.notify_all()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self, fits, seconds=20, count=1):
        """The first `count` matching lines of output."""
        with self.arrived:
            if not self.arrived.wait_for(lambda: len([s for s in self.said if fits(s)]) >= count, seconds):
                raise AssertionError("not said: %r" % self.said[-20:])
            return [s for s in self.said if fits(s)][:count] if count != 1 else next(s for s in self.said if fits(s))

    def ask(self, line, member):
        """Sends a command and returns its answer."""
        with self.arrived:
            before = len(self.said)
        self.tell(line)
        with self.arrived:
            if not self.arrived.wait_for(lambda: any(member in s for s in self.said[before:]), 20):
                raise AssertionError("no %s: %r" % (member, self.said[before:]))
            return next(s for s in self.said[before:] if member in s)

    def look(self):
        return self.ask("look", "look")

    def ready(self):
        self.until(lambda: self.look()["ready"])
        return self

    def show(self, *namespaces):
        return self.ask("show namespaces=" + ",".join(namespaces), "show")

    def evidence(self):
        return self.show()["show"]

    @staticmethod
    def until(holds, seconds=15):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise AssertionError("did not come to hold")
            time.sleep(0.01)

    def policies(self, namespace):
        """What the rules of each NetworkPolicy about egress admit. None: they are not read."""
        return self.ask("show policies=" + namespace, "show")["policies"]

    def more(self, name):
        """How many documents have no record: [not valid, broken baselines, copies]."""
        return self.ask("show more=" + name, "more")["more"]

    def shows(self, wanted, seconds=15):
        end = time.monotonic() + seconds
        while self.evidence() != wanted:
            if time.monotonic() > end:
                raise AssertionError("%r, not %r" % (self.evidence(), wanted))
            time.sleep(0.01)

    def question(self, question, name, tag, msec=5000, count=1):
        self.tell("ask question=%s namespace=%s tag=%s msec=%d count=%d" % (question, name, tag, msec, count))

    def results(self, tag, count=1, seconds=20):
        said = self.wait(lambda s: s.get("done") == tag, seconds, count)
        return said if count != 1 else [said]

    def events(self, kind):
        with self.arrived:
            return [s for s in self.said if s.get("event") == kind]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.listener.join()
        self.process.stdout.close()
        if kind is None:
            assert code == 0, code
