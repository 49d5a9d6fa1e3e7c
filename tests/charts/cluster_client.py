# SPDX-License-Identifier: Apache-2.0
"""A client of an API server, and a webhook server that records its requests. For tests: not thread-safe."""
import base64
import http.client
import http.server
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading
import time

import yaml


class Refused(Exception):
    """The Status of a failed request to the API server."""

    def __init__(self, status):
        super().__init__(status.get("message", ""))
        self.code = status.get("code")


class Cluster:
    """A client of the API server in a kubeconfig with a token, as tests/e2e/cluster.sh writes it."""

    def __init__(self, kubeconfig):
        config = yaml.safe_load(pathlib.Path(kubeconfig).read_text(encoding="utf-8"))
        cluster = config["clusters"][0]["cluster"]
        self.token = config["users"][0]["user"]["token"]
        self.address = cluster["server"].removeprefix("https://")
        self.tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.connection = None

    def ask(self, method, path, body=None, content="application/json", headers=()):
        """The answer as a tree. Raises Refused if it is an error. Opens a new connection if the old one was closed."""
        text = b"" if body is None else json.dumps(body).encode()
        head = [("Authorization", f"Bearer {self.token}"), ("Content-Type", content), ("Content-Length", str(len(text))),
                *headers]
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPSConnection(self.address, context=self.tls, timeout=60)
                self.connection.putrequest(method, path)
                for name, value in head:  # not a mapping: a header can occur twice
                    self.connection.putheader(name, value)
                self.connection.endheaders(text)
                answer = self.connection.getresponse()
                tree = json.loads(answer.read())
                break
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
                if attempt == 2:
                    raise
        if answer.status >= 400:
            raise Refused(tree)
        return tree

    def patch(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def make_namespace(self, name, labels=None):
        """Makes a namespace unless it exists, and waits until pods can be created in it. labels: level names and values."""
        metadata = {"name": name}
        if labels:
            metadata["labels"] = {f"sandbox.runx.dev/{level}": value for level, value in labels.items()}
        try:
            self.ask("POST", "/api/v1/namespaces", {"metadata": metadata})
        except Refused as refused:
            if refused.code != 409:
                raise
        for _ in range(100):
            try:
                self.ask("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default")
                return
            except Refused:
                time.sleep(0.1)
        raise AssertionError(f"namespace {name} got no service account")

    def version(self, target, query=""):
        """The resourceVersion of an object; empty if it does not exist: a new one comes into the cache late."""
        try:
            return self.ask("GET", target + query)["metadata"]["resourceVersion"]
        except Refused as refused:
            if refused.code != 404:
                raise
            return ""

    def settle(self, path):
        """Waits until the API server's cache has the current state of the object. The API server applies an update to
        the cached object first and calls webhooks for it: with an old state it would call them for an earlier change."""
        parts = path.split("/")
        target = "/".join(parts[:parts.index("namespaces") + 4])  # without a subresource
        limit = time.monotonic() + 10
        while True:
            stored, cached = self.version(target), self.version(target, "?resourceVersion=0")
            if stored and stored == cached:
                return
            if time.monotonic() > limit:
                raise AssertionError(f"{target}: the cache is at {cached}, the store at {stored}")
            time.sleep(0.02)


class Recorder:
    """A webhook that allows everything and records (entry, operation, kind/subresource) of the requests of one user.

    The entry is the last part of the path, since each entry of the webhook configuration has its own path."""

    def __init__(self, user):
        self.user = user
        self.asked = []
        self.hangs_up = False  # if True, closes the connection without an answer
        self.lock = threading.Lock()
        self.folder = tempfile.TemporaryDirectory()
        key, self.certificate = (pathlib.Path(self.folder.name) / name for name in ("key.pem", "certificate.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "1", "-subj", "/CN=recorder", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if recorder.hangs_up:
                    self.close_connection = True
                    return
                recorder.record(self.path.split("?")[0].rsplit("/", 1)[1], review["request"])
                body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {
                    "uid": review["request"]["uid"], "allowed": True}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate, key)
        tls.set_alpn_protocols(["http/1.1"])
        self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_port}/validate"

    def record(self, entry, request):
        if request["userInfo"]["username"] != self.user:
            return
        what = request["kind"]["kind"] + ("/" + request["subResource"] if request.get("subResource") else "")
        with self.lock:
            self.asked.append((entry, request["operation"], what))

    def taken(self):
        """The requests recorded since the last call."""
        with self.lock:
            recorded, self.asked = self.asked, []
        return sorted(recorded)

    def ca(self):
        return base64.b64encode(self.certificate.read_bytes()).decode()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()
