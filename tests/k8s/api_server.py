# SPDX-License-Identifier: Apache-2.0
"""A TLS server that answers as told, a proxy, and the program that asks. Loopback only, port 0 only."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time

PROGRAM = os.environ.get("API_PROGRAM", "")
MAKE_CERTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../certs-dev/make-certs")

_made = {}


def certificates(name="first"):
    """A folder of certs-dev/make-certs, made once a name; another name is another authority."""
    if name not in _made:
        folder = tempfile.mkdtemp(prefix="sandgate-certs-")
        subprocess.run([MAKE_CERTS, "--out", folder], check=True, stdout=subprocess.DEVNULL)
        _made[name] = folder
    return _made[name]


def certificate_file(name, folder="first"):
    return os.path.join(certificates(folder), name)


def forget_certificates():
    while _made:
        shutil.rmtree(_made.popitem()[1], ignore_errors=True)


class Request:
    def __init__(self, method, path, headers, body, peer, connection):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.peer, self.connection = peer, connection


def read_head(stream):
    """Start line and headers, or None where the peer went."""
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


class Server:
    """Each request is given to handle(request, send), which may send raw bytes; None ends the connection."""

    def __init__(self, handle, host="127.0.0.1", tls=True, ask_client=False, family=socket.AF_INET):
        self.handle, self.requests, self.connections = handle, [], 0
        self.context = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate_file("tls.crt"), certificate_file("tls.key"))
            if ask_client:
                self.context.verify_mode = ssl.CERT_REQUIRED
                for name in ("first", "other"):
                    self.context.load_verify_locations(certificate_file("ca.crt", name))
        self.listener = socket.socket(family)
        self.listener.bind((host, 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.open = set()
        self.closing = False
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closing = True
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def url(self, host="127.0.0.1"):
        return "%s://%s:%d" % ("https" if self.context else "http", host, self.port)


class Proxy:
    """Only CONNECT. What was asked is kept."""

    def __init__(self, refuse=False):
        self.refuse, self.asked = refuse, []
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
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
        onward = socket.create_connection(("127.0.0.1", int(port)))  # every name is this machine
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Client:
    """The program; arguments as api_program.c says."""

    def __init__(self, server, *words, environment=None, **texts):
        arguments = ["%s=%s" % (name, text) for name, text in {"server": server, **texts}.items()]
        clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        clean.update(environment or {})
        self.process = subprocess.Popen([PROGRAM, *arguments, *words], text=True, bufsize=1, env=clean,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.first = self.process.stdout.readline().rstrip("\n")

    def ask(self, line):
        """The answer, and how long it took."""
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
    """A client that trusts the server's authority."""
    return Client(server.url(host), *words, ca=certificate_file("ca.crt"), **texts)
