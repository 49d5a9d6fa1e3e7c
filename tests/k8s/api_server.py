# SPDX-License-Identifier: Apache-2.0
"""An HTTP server whose answers each test chooses, an HTTP proxy, and the client program. All listen on loopback, port 0."""

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from certificates import certificate_file, certificates, forget_certificates  # noqa: E402,F401

PROGRAM = os.environ.get("API_PROGRAM", "")


class Request:
    def __init__(self, method, path, headers, body, peer, connection):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.peer, self.connection = peer, connection


def read_head(stream):
    """Start line and headers, or None if the peer has closed the connection."""
    line = stream.readline().decode("latin-1").rstrip("\r\n")
    if not line:
        return None
    headers = {}
    while True:
        header = stream.readline().decode("latin-1").rstrip("\r\n")
        if not header:
            return line, headers
        name, _, value = header.partition(":")
        headers.setdefault(name.strip().lower(), []).append(value.strip())


def answer(status, body=b"", headers=()):
    """The bytes of an HTTP answer."""
    body = body.encode() if isinstance(body, str) else body
    lines = ["HTTP/1.1 %d Said" % status, "Content-Length: %d" % len(body), *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Listener:
    """A listening socket. Each connection is passed to serve(connection, number) in its own thread."""

    def __init__(self, host="127.0.0.1", family=socket.AF_INET):
        self.connections = 0
        self.listener = socket.socket(family)
        self.listener.bind((host, 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.open.add(connection)
            threading.Thread(target=self.serve, args=(connection, self.connections), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Server(Listener):
    """Calls handle(request, send) for each request. handle can send any bytes; if it returns None, the connection ends."""

    def __init__(self, handle, host="127.0.0.1", tls=True, ask_client=False, family=socket.AF_INET):
        self.handle, self.requests = handle, []
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate_file("tls.crt"), certificate_file("tls.key"))
            if ask_client:
                self.context.verify_mode = ssl.CERT_REQUIRED
                for name in ("first", "other"):
                    self.context.load_verify_locations(certificate_file("ca.crt", name))
        super().__init__(host, family)

    def serve(self, connection, number):
        try:
            peer = None
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
                peer = connection.getpeercert()
            stream = connection.makefile("rb")
            while True:
                head = read_head(stream)
                if head is None:
                    break
                method, path, _ = head[0].split(" ")
                length = int(head[1].get("content-length", ["0"])[0])
                request = Request(method, path, head[1], stream.read(length), peer, number)
                self.requests.append(request)
                if self.handle(request, connection.sendall) is None:
                    break
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def url(self, host="127.0.0.1"):
        return "%s://%s:%d" % ("https" if self.context else "http", host, self.port)


class Proxy(Listener):
    """A proxy that supports CONNECT only, and records the requests."""

    def __init__(self, refuse=False):
        self.refuse, self.asked = refuse, []
        super().__init__()

    def serve(self, connection, _):
        stream = connection.makefile("rb", buffering=0)
        head = read_head(stream)
        if head is None:
            return
        self.asked.append(head)
        if self.refuse:
            connection.sendall(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            connection.close()
            return
        port = head[0].split(" ")[1].rpartition(":")[2]
        onward = socket.create_connection(("127.0.0.1", int(port)))  # every host name means this machine
        connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        threading.Thread(target=self.copy, args=(onward, connection), daemon=True).start()
        self.copy(connection, onward)

    @staticmethod
    def copy(source, target):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()


class Client:
    """The program of api_program.c; the arguments are documented there."""

    def __init__(self, server, *words, environment=None, **texts):
        arguments = ["%s=%s" % (name, text) for name, text in {"server": server, **texts}.items()]
        clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        clean.update(environment or {})
        self.process = subprocess.Popen([PROGRAM, *arguments, *words], text=True, bufsize=1, env=clean,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.first = self.process.stdout.readline().rstrip("\n")

    def ask(self, line):
        """Sends a command and returns the answer. took: the time that it took, in seconds."""
        begin = time.monotonic()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        self.took = time.monotonic() - begin
        return json.loads(reply)

    def get(self, path, *words):
        return self.ask(" ".join(["do", "path=" + path, *words]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        status = self.process.wait(60)
        self.process.stdout.close()
        assert status == 0, status


def trusting(server, *words, host="127.0.0.1", **texts):
    """A client that trusts the certificate authority of the server."""
    return Client(server.url(host), *words, ca=certificate_file("ca.crt"), **texts)
