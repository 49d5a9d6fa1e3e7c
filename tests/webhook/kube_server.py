# SPDX-License-Identifier: Apache-2.0
"""The part of an API server that a gate uses: lists and watches of ConfigMaps, Namespaces and NetworkPolicies, and reads of
one Namespace.

Objects, versions and events are kept as in a real API server. A test can switch on errors: `silent` (watches send nothing),
`held` (reads other than watches wait), `refused` (a status for every call), `forbidden` (a kind that the account may not
read). The server can be stopped and started again.
"""

import http.server
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.parse

from server_client import certificates

TOKEN = "token-of-the-test"
LABEL = "sandbox.runx.dev/evidence"
KINDS = {"configmaps": "ConfigMap", "namespaces": "Namespace", "networkpolicies": "NetworkPolicy"}
BOOKMARK_SEC = 1


def free_port():
    with socket.socket() as plain:
        plain.bind(("127.0.0.1", 0))
        return plain.getsockname()[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def say(self, status, tree):
        body = json.dumps(tree).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, reason, message):
        self.say(status, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                          "message": message, "reason": reason, "code": status})

    def do_GET(self):
        kube = self.server.kube
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        found = re.fullmatch(r"/api/v1/(?:namespaces/([^/]+)/)?(configmaps|namespaces)(?:/([^/]+))?"
                             r"|/apis/networking[.]k8s[.]io/v1/(?:namespaces/([^/]+)/)?(networkpolicies)()", url.path)
        with kube.changed:
            kube.asked.append(self.path)
        if self.headers.get("Authorization") != "Bearer " + TOKEN:
            self.refuse(401, "Unauthorized", "Unauthorized")
        elif kube.refused:
            self.refuse(kube.refused, "Forbidden", "configmaps is forbidden: the test chose this")
        elif not found:
            self.refuse(404, "NotFound", "the server could not find the requested resource")
        else:
            namespace, kind, name = found.groups()[:3] if found.group(2) else found.groups()[3:]
            self.serve(kube, kind, namespace, name, query)

    def serve(self, kube, kind, namespace, name, query):
        if kind == kube.forbidden:
            self.refuse(403, "Forbidden", kind + " is forbidden: the test chose this")
        elif query.get("watch") in ("1", "true"):
            self.watch(kube, kind, namespace, query)
        else:
            self.read(kube, kind, namespace, name, query)

    def read(self, kube, kind, namespace, name, query):
        with kube.changed:
            while kube.held and kube.up:
                kube.changed.wait(0.1)
            if not kube.up:  # the server was stopped during the read
                self.close_connection = True
                return
            if name:
                tree = kube.objects[kind].get((namespace or "", name))
            else:
                items = [o for key, o in sorted(kube.objects[kind].items()) if kube.wanted(o, namespace, query)]
                tree = {"kind": KINDS[kind] + "List", "apiVersion": "v1",
                        "metadata": {"resourceVersion": str(kube.version)}, "items": items}
        if tree is None:
            self.refuse(404, "NotFound", '%s "%s" not found' % (kind, name))
        elif name:
            self.say(200, dict(tree, kind=KINDS[kind], apiVersion="v1"))
        else:
            self.say(200, tree)

    def event(self, what, tree):
        line = json.dumps({"type": what, "object": tree}).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))

    def watch(self, kube, kind, namespace, query):
        if query.get("sendInitialEvents") == "true":
            self.refuse(422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless "
                        "the WatchList feature gate is enabled")
            return
        seen = int(query.get("resourceVersion") or 0)
        end = time.monotonic() + float(query.get("timeoutSeconds", "300"))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        marked = time.monotonic()
        while time.monotonic() < end:
            with kube.changed:
                kube.changed.wait(0.05)
                if not kube.up:
                    self.close_connection = True
                    return
                if kube.silent:
                    continue
                events = [e for e in kube.events if e[0] > seen and e[1] == kind and kube.wanted(e[3], namespace, query)]
                version = kube.version
            for number, _, what, tree in events:
                self.event(what, dict(tree, kind=KINDS[kind], apiVersion="v1"))
                seen = number
            if time.monotonic() > marked + BOOKMARK_SEC:
                marked, seen = time.monotonic(), version
                self.event("BOOKMARK", {"kind": KINDS[kind], "apiVersion": "v1",
                                        "metadata": {"resourceVersion": str(version), "creationTimestamp": None}})
        self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
    request_queue_size = 64

    def get_request(self):
        plain, peer = super().get_request()
        plain.settimeout(30)
        wrapped = self.kube.tls.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        with self.kube.changed:
            self.kube.sockets.append(wrapped)
        return wrapped, peer

    def handle_error(self, *_):
        pass  # a gate that closes the connection is not an error


class Kube:
    def __init__(self, port=None):
        self.port = port or free_port()
        self.changed = threading.Condition()
        self.objects = {kind: {} for kind in KINDS}
        self.events, self.version = [], 1
        self.asked, self.sockets = [], []
        self.up = self.silent = self.held = False
        self.refused, self.forbidden = 0, None
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(os.path.join(certificates(), "tls.crt"), os.path.join(certificates(), "tls.key"))
        self.put("namespaces", "", "payments", {"sandbox.runx.dev/enforce": "annotated"})

    @staticmethod
    def wanted(tree, namespace, query):
        labels, name = tree["metadata"].get("labels", {}), query.get("fieldSelector", "").partition("=")[2]
        if namespace and tree["metadata"].get("namespace") != namespace:
            return False
        if name and tree["metadata"]["name"] != name:
            return False
        return "labelSelector" not in query or labels.get(LABEL) == "true"

    def put(self, kind, namespace, name, labels=None, **members):
        with self.changed:
            self.version += 1
            old = self.objects[kind].get((namespace, name))
            metadata = {"name": name, "labels": labels or {}, "resourceVersion": str(self.version),
                        "annotations": members.pop("annotations", {})}
            if namespace:
                metadata["namespace"] = namespace
            self.objects[kind][(namespace, name)] = dict(members, metadata=metadata)
            self.events.append((self.version, kind, "MODIFIED" if old else "ADDED",
                                self.objects[kind][(namespace, name)]))
            self.changed.notify_all()

    def drop(self, kind, namespace, name):
        with self.changed:
            self.version += 1
            gone = self.objects[kind].pop((namespace, name))
            gone = dict(gone, metadata=dict(gone["metadata"], resourceVersion=str(self.version)))
            self.events.append((self.version, kind, "DELETED", gone))
            self.changed.notify_all()

    def put_evidence(self, manifest, document):
        """A manifest with a signed document, as `sandgate sign` writes it."""
        found = re.search(r'signature\.sandbox\.runx\.dev/([\w.-]+): "?([A-Za-z0-9+/=]+)', manifest)
        name = re.search(r"^  name: \"?([\w.-]+)", manifest, re.M).group(1)
        namespace = re.search(r"^  namespace: \"?([\w.-]+)", manifest, re.M).group(1)
        self.put("configmaps", namespace, name, {LABEL: "true"}, data={"sandbox.yaml": document},
                 annotations={"signature.sandbox.runx.dev/" + found.group(1): found.group(2)})

    def asked_for(self, start):
        with self.changed:
            return [path for path in self.asked if path.startswith(start) and "watch=" not in path]

    def start(self):
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.kube = self
        self.up = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def stop(self):
        with self.changed:
            if not self.up:
                return
            self.up = False
            self.changed.notify_all()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        with self.changed:
            sockets, self.sockets = self.sockets, []
        for wrapped in sockets:
            try:
                socket.socket.shutdown(wrapped, socket.SHUT_RDWR)  # below TLS, without close_notify
            except OSError:
                pass

    def kubeconfig(self, path, insecure=False, namespace=None):
        """Writes a kubeconfig for this server."""
        trust = "insecure-skip-tls-verify: true" if insecure else \
            "certificate-authority: " + os.path.join(certificates(), "ca.crt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("apiVersion: v1\nkind: Config\ncurrent-context: here\n"
                       "clusters:\n- name: one\n  cluster:\n    server: https://127.0.0.1:%d\n    %s\n"
                       "users:\n- name: gate\n  user:\n    token: %s\n"
                       "contexts:\n- name: here\n  context:\n    cluster: one\n    user: gate\n%s"
                       "- name: other\n  context:\n    cluster: one\n    user: gate\n    namespace: elsewhere\n"
                       % (self.port, trust, TOKEN, "    namespace: %s\n" % namespace if namespace else ""))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
