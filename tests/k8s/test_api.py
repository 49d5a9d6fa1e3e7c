# SPDX-License-Identifier: Apache-2.0
"""Calls to an API server: their results, and their errors."""

import email.utils
import errno
import json
import os
import shutil
import socket
import tempfile
import threading
import time
import unittest

from api_server import (Client, Proxy, Server, answer, certificate_file, forget_certificates, trusting)

STATUS = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no such\nthing \u202e here", "code": 404}


def tearDownModule():
    forget_certificates()


def saying(*answers):
    """A handler that sends these answers in order, and repeats the last one."""
    left = list(answers)

    def handle(_request, send):
        send(left.pop(0) if len(left) > 1 else left[0])
        return True
    return handle


def echo(request, send):
    send(answer(200, json.dumps({"method": request.method, "path": request.path, "headers": request.headers,
                                 "body": request.body.decode()})))
    return True


class Answers(unittest.TestCase):
    def test_request_line_and_headers(self):
        with Server(echo) as server, trusting(server, token="abc.def", **{"as": "someone"}) as client:
            self.assertEqual(client.first, server.url())
            reply = client.ask("do method=POST path=/api/v1/x?limit=1&y=%20 type=application/json body={}")
            self.assertEqual((reply["result"], reply["status"], reply["reason"]), (0, 200, None))
            self.assertEqual(json.loads(reply["body"]), {
                "method": "POST", "path": "/api/v1/x?limit=1&y=%20", "body": "{}",
                "headers": {"host": ["127.0.0.1:%d" % server.port], "user-agent": ["sandgate/0.1.0"],
                            "accept": ["application/json"], "content-type": ["application/json"],
                            "content-length": ["2"], "authorization": ["Bearer abc.def"],
                            "impersonate-user": ["someone"]}})
            for method in ("PUT", "PATCH", "DELETE"):
                sent = json.loads(client.ask("do method=%s path=/x" % method)["body"])
                self.assertEqual((sent["method"], sent["body"]), (method, ""))

    def test_basic_authentication(self):
        with Server(echo) as server, trusting(server, username="me", password="pass:word") as client:
            sent = json.loads(client.get("/x")["body"])
            self.assertEqual(sent["headers"]["authorization"], ["Basic bWU6cGFzczp3b3Jk"])

    def test_the_path_is_sent_unchanged(self):
        with Server(echo) as server, Client(server.url() + "/base/", ca=certificate_file("ca.crt")) as client:
            self.assertEqual(client.first, server.url() + "/base")
            self.assertEqual(json.loads(client.get("/a/../b")["body"])["path"], "/base/a/../b")

    def test_a_connection_is_reused(self):
        with Server(echo) as server, trusting(server) as client:
            for _ in range(5):
                self.assertEqual(client.get("/x")["status"], 200)
            self.assertEqual(server.connections, 1)

    def test_a_closed_kept_connection_does_not_fail_a_call(self):
        def handle(request, send):
            echo(request, send)
        with Server(handle) as server, trusting(server) as client:
            for _ in range(3):
                self.assertEqual(client.get("/x")["status"], 200)
                time.sleep(0.05)
            self.assertEqual(server.connections, 3)

    def test_the_reason_is_the_message_of_a_status(self):
        with Server(saying(answer(404, json.dumps(STATUS), ["Retry-After: 7"]))) as server, trusting(server) as client:
            reply = client.get("/api/v1/x?secret=1", "stream")
            self.assertEqual((reply["result"], reply["status"], reply["retry_after"]), (0, 404, 7))
            self.assertEqual(reply["reason"],
                             "GET %s/api/v1/x: status 404: no such thing ? here" % server.url())
            self.assertEqual(json.loads(reply["body"])["code"], 404)
            self.assertEqual(reply["pieces"], 0)

    def test_a_body_that_is_not_a_status(self):
        rows = [("upstream\r\n\tis\x1b[2J away", "upstream is [2J away"),
                ("x" * 1000, "x" * 300), ("\u00e9" * 400, "\u00e9" * 300), (b"a\xffb", "a?b"),
                ('{"message": 7}', '{"message": 7}'), ('{"message": ""}', '{"message": ""}')]
        for body, shown in rows:
            with Server(saying(answer(502, body))) as server, trusting(server) as client:
                reply = client.get("/x")
                self.assertEqual(reply["reason"], "GET %s/x: status 502: %s" % (server.url(), shown))
        with Server(saying(answer(500))) as server, trusting(server) as client:
            self.assertEqual(client.get("/x")["reason"], "GET %s/x: status 500" % server.url())

    def test_retry_after_as_a_date(self):
        date = email.utils.formatdate(time.time() + 30, usegmt=True)
        with Server(saying(answer(429, "", ["Retry-After: " + date]))) as server, trusting(server) as client:
            self.assertIn(client.get("/x")["retry_after"], (28, 29, 30))
        with Server(saying(answer(429, "", ["Retry-After: soon"]))) as server, trusting(server) as client:
            self.assertEqual(client.get("/x")["retry_after"], -1)

    def test_a_redirect_is_not_followed(self):
        with Server(echo) as other:
            redirect = answer(307, "", ["Location: %s/stolen" % other.url()])
            with Server(saying(redirect)) as server, trusting(server, token="abc") as client:
                reply = client.get("/x")
                self.assertEqual((reply["result"], reply["status"]), (0, 307))
                self.assertEqual(reply["reason"], "GET %s/x: status 307, a redirect, which is not followed"
                                 % server.url())
            self.assertEqual(other.connections, 0)

    def test_a_large_error_body_is_truncated(self):
        with Server(saying(answer(500, "e" * 70000))) as server, trusting(server) as client:
            reply = client.get("/x")
            self.assertEqual((reply["result"], reply["status"], reply["length"]), (0, 500, 65536))
            self.assertEqual(reply["reason"], "GET %s/x: status 500: %s" % (server.url(), "e" * 300))

    def test_an_endless_body_is_rejected(self):
        def handle(_request, send):
            send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                send(b"100000\r\n" + b"x" * 0x100000 + b"\r\n")
        with Server(handle) as server, trusting(server) as client:
            reply = client.get("/x")
            self.assertEqual((reply["result"], reply["reason"]),
                             (-errno.EMSGSIZE, "GET %s/x: the response is too large" % server.url()))


class Streams(unittest.TestCase):
    def test_pieces_are_passed_on_as_they_arrive(self):
        def handle(_request, send):
            send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(5):
                send(b"3\r\nabc\r\n")
                time.sleep(0.05)
            send(b"0\r\n\r\n")
            return True
        with Server(handle) as server, trusting(server) as client:
            reply = client.get("/x", "stream")
            self.assertEqual((reply["result"], reply["bytes"], reply["pieces"], reply["length"]), (0, 15, 5, 0))
            reply = client.get("/x", "stream", "stop=4")
            self.assertEqual((reply["result"], reply["bytes"]), (-errno.ECANCELED, 6))
            self.assertEqual(reply["reason"], "GET %s/x: ended, because the response cannot be used" % server.url())

    def test_a_connection_closed_in_the_middle(self):
        for cut in (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", b"HTTP/1.1 200 OK\r\nConten", b"HTTP/1.1 200 OK\r\n\r\nabc"):
            def handle(_request, send, cut=cut):
                send(cut)
            with Server(handle) as server, trusting(server) as client:
                reply = client.get("/x")
                self.assertEqual(reply["result"], -errno.ECONNRESET, cut)
                self.assertTrue(reply["reason"].startswith("GET %s/x: the connection was lost: " % server.url()), reply)

    def test_a_response_that_is_not_http(self):
        with Server(saying(b"SSH-2.0-hello\r\n")) as server, trusting(server) as client:
            self.assertEqual(client.get("/x")["result"], -errno.EPROTO)


class Times(unittest.TestCase):
    def test_idle_timeout(self):
        def handle(_request, send):
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            time.sleep(3)
            return None
        with Server(handle) as server, trusting(server) as client:
            reply = client.get("/x", "idle=1")
            self.assertEqual((reply["result"], reply["status"]), (-errno.ETIMEDOUT, 200))
            self.assertEqual(reply["reason"], "GET %s/x: no data for 1 s" % server.url())
            self.assertTrue(0.9 < client.took < 2.5, client.took)

    def test_a_slow_body_is_not_idle(self):
        def handle(_request, send):
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
            for _ in range(6):
                send(b"x")
                time.sleep(0.3)
            return True
        with Server(handle) as server, trusting(server) as client:
            self.assertEqual(client.get("/x", "idle=1")["result"], 0)

    def test_a_deadline_before_the_response(self):
        def handle(_request, _send):
            time.sleep(3)
        with Server(handle) as server, trusting(server) as client:
            reply = client.get("/x", "deadline=300")
            self.assertEqual((reply["result"], reply["status"], reply["reason"]),
                             (-errno.ETIMEDOUT, 0, "GET %s/x: no response before the deadline" % server.url()))
            self.assertTrue(0.25 < client.took < 1.5, client.took)
            self.assertEqual(client.get("/x", "deadline=0")["result"], -errno.ETIMEDOUT)

    def test_a_deadline_during_name_resolution(self):
        with Client("https://slow.test:6443") as client:
            reply = client.get("/x", "deadline=300")
            self.assertEqual(reply["result"], -errno.ETIMEDOUT)
            self.assertLess(client.took, 1.5)

    def test_connect_timeout(self):
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            others = [socket.socket() for _ in range(4)]
            for other in others:
                other.setblocking(False)
                other.connect_ex(full.getsockname())
            time.sleep(0.1)
            with Client("https://127.0.0.1:%d" % full.getsockname()[1]) as client:
                self.assertEqual(client.get("/x", "deadline=300")["result"], -errno.ETIMEDOUT)
                self.assertLess(client.took, 1.5)
                reply = client.get("/x")
                self.assertEqual(reply["result"], -errno.EHOSTUNREACH, reply)
                self.assertTrue(4.5 < client.took < 7, client.took)
            for other in others:
                other.close()

    def test_connection_refused(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        with Client("https://127.0.0.1:%d" % port) as client:
            reply = client.get("/x")
            self.assertEqual(reply["result"], -errno.ECONNREFUSED)
            self.assertTrue(reply["reason"].startswith("GET https://127.0.0.1:%d/x: cannot connect: " % port))


class Tokens(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "token")
        self.good = "first"

    def write(self, token):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            file.write(token)
        os.rename(self.path + ".new", self.path)

    def handle(self, request, send):
        sent = request.headers.get("authorization", [""])[0]
        send(answer(200, sent) if sent == "Bearer " + self.good else
             answer(401, json.dumps({"kind": "Status", "message": "who is " + sent})))
        return True

    def test_the_token_is_read_again_after_a_401(self):
        self.write(" first\n")
        with Server(self.handle) as server, trusting(server, token_file=self.path) as client:
            self.assertEqual(client.get("/x")["body"], "Bearer first")
            self.good = "second"
            self.write("second\n")
            self.assertEqual(client.get("/x")["body"], "Bearer second")
            self.assertEqual(len(server.requests), 3)
            # the token file has not changed
            self.good = "third"
            reply = client.get("/x")
            self.assertEqual((reply["result"], reply["status"], len(server.requests)), (0, 401, 4))
            self.assertEqual(reply["reason"], "GET %s/x: status 401: (the message has a credential, so it is not "
                             "shown)" % server.url())
            self.write("fourth\n")
            self.assertEqual((client.get("/x")["status"], len(server.requests)), (401, 6))

    def test_a_call_is_retried_once(self):
        def handle(_request, send):
            self.write("token-%d" % len(server.requests))
            send(answer(401))
            return True
        self.write("first")
        with Server(handle) as server, trusting(server, token_file=self.path) as client:
            self.assertEqual((client.get("/x")["status"], len(server.requests)), (401, 2))

    def test_calls_of_a_loop_are_retried_too(self):
        self.write("first")
        with Server(self.handle) as server, trusting(server, token_file=self.path) as client:
            self.assertEqual(client.get("/x")["status"], 200)
            self.good = "second"
            self.write("second")
            replies = client.ask("many 8 path=/x stream")
            self.assertEqual([(r["status"], r["bytes"]) for r in replies], [(200, 13)] * 8)

    def test_an_old_token_is_read_again(self):
        self.write("first")
        with Server(echo) as server, trusting(server, token_file=self.path) as client:
            def sent():
                return json.loads(client.get("/x")["body"])["headers"]["authorization"]
            self.assertEqual(sent(), ["Bearer first"])
            self.write("second")
            client.ask("later 40000")
            self.assertEqual(sent(), ["Bearer first"])
            client.ask("later 11000")
            self.assertEqual(sent(), ["Bearer second"])
            os.unlink(self.path)
            client.ask("later 51000")
            self.assertEqual(sent(), ["Bearer second"])
            self.write("bad token\n")
            client.ask("later 51000")
            self.assertEqual(sent(), ["Bearer second"])
            self.write("third")
            self.assertEqual(sent(), ["Bearer third"])
            self.write("fourth")
            client.ask("suspend 51000")
            self.assertEqual(sent(), ["Bearer fourth"])

    def test_no_call_without_a_readable_token(self):
        with Server(echo) as server, trusting(server, token_file=self.path) as client:
            for text in (None, "", "two words", "x\r\nEvil: 1", "x" * 65537):
                if text is not None:
                    self.write(text)
                reply = client.get("/x")
                self.assertEqual(reply["result"], -errno.EACCES)
                self.assertEqual(reply["reason"], "GET %s/x: the token file %s cannot be read, and requests need a token"
                                 % (server.url(), self.path))
            self.assertEqual(server.connections, 0)

    def test_a_token_file_has_priority_over_a_token(self):
        with Server(echo) as server, trusting(server, token_file=self.path, token="text") as client:
            self.assertEqual(json.loads(client.get("/x")["body"])["headers"]["authorization"], ["Bearer text"])
            self.write("file")
            self.assertEqual(json.loads(client.get("/x")["body"])["headers"]["authorization"], ["Bearer file"])


class Certificates(unittest.TestCase):
    def test_a_server_of_another_authority_is_rejected(self):
        with Server(echo) as server:
            for arguments in ({"ca": certificate_file("ca.crt", "other")}, {}):
                with Client(server.url(), token="abc", **arguments) as client:
                    reply = client.get("/x")
                    self.assertEqual(reply["result"], -errno.EPROTO)
                    self.assertEqual(reply["reason"], "GET %s/x: TLS or HTTP failed: server certificate verification "
                                     "failed." % server.url())
            with Client(server.url(), "insecure", ca=certificate_file("ca.crt", "other")) as client:
                self.assertEqual(client.get("/x")["status"], 200)

    def test_a_server_with_another_name_is_rejected(self):
        with Server(echo, host="127.0.0.2") as server:
            with trusting(server, host="127.0.0.2", token="abc") as client:
                reply = client.get("/x")
                self.assertEqual(reply["result"], -errno.EPROTO)
                self.assertIn("does not match target host name '127.0.0.2'", reply["reason"])
            self.assertEqual(server.requests, [])
            name = "sandgate.sandgate-system.svc"
            with trusting(server, host="127.0.0.2", name=name) as client:
                reply = client.get("/x")
                self.assertEqual(json.loads(reply["body"])["headers"]["host"], ["127.0.0.2:%d" % server.port])
                self.assertEqual(client.first, server.url("127.0.0.2"))
            with trusting(server, host="127.0.0.2", name="other.test") as client:
                reply = client.get("/x")
                self.assertIn("does not match target host name 'other.test'", reply["reason"])

    @unittest.skipUnless(socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"), "no IPv6 here")
    def test_ipv6(self):
        try:
            server = Server(echo, host="::1", family=socket.AF_INET6)
        except OSError:
            self.skipTest("no IPv6 here")
        with server:
            with trusting(server, host="[::1]") as client:
                self.assertEqual(client.get("/x")["status"], 200)
            with trusting(server, host="[::1]", name="localhost") as client:
                sent = json.loads(client.get("/x")["body"])
                self.assertEqual(sent["headers"]["host"], ["[::1]:%d" % server.port])

    def test_a_client_certificate(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        paths = {"certificate": os.path.join(folder, "crt"), "key": os.path.join(folder, "key")}

        def copy(name):
            for new, old in (("crt", "client.crt"), ("key", "client.key")):
                shutil.copy(certificate_file(old, name), os.path.join(folder, new))

        def handle(request, send):
            send(answer(200, request.peer["serialNumber"]))
        copy("first")
        with Server(handle, ask_client=True) as server, trusting(server, **paths) as client:
            first = client.get("/x")["body"]
            copy("other")
            self.assertEqual(client.get("/x")["body"], first)
            client.ask("later 1100")
            second = client.get("/x")["body"]
            self.assertNotEqual(second, first)
            # only the new certificate, then neither file
            shutil.copy(certificate_file("client.key"), paths["key"])
            client.ask("later 1100")
            self.assertEqual(client.get("/x")["body"], second)
            os.unlink(paths["key"])
            client.ask("later 1100")
            self.assertEqual(client.get("/x")["body"], second)
            copy("first")
            client.ask("later 1100")
            self.assertEqual(client.get("/x")["body"], first)
        with Server(handle, ask_client=True) as server, trusting(server) as client:
            self.assertIn(client.get("/x")["result"], (-errno.ECONNRESET, -errno.EPROTO))

    def test_a_kept_connection_is_not_used_with_a_new_certificate(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        paths = {"certificate": os.path.join(folder, "crt"), "key": os.path.join(folder, "key")}

        def handle(request, send):
            send(answer(200, request.peer["serialNumber"]))
            return True
        seen = {}
        for name in ("first", "other"):
            shutil.copy(certificate_file("client.crt", name), paths["certificate"])
            shutil.copy(certificate_file("client.key", name), paths["key"])
            with Server(handle, ask_client=True) as server, trusting(server, **paths) as client:
                seen[name] = client.get("/x")["body"]
        with Server(handle, ask_client=True) as server, trusting(server, **paths) as client:
            for name in ("first", "other", "other", "first", "first"):
                shutil.copy(certificate_file("client.crt", name), paths["certificate"])
                shutil.copy(certificate_file("client.key", name), paths["key"])
                client.ask("later 1100")
                self.assertEqual(client.get("/x")["body"], seen[name])
                self.assertEqual(client.get("/x")["body"], seen[name])

    def test_invalid_credentials_are_rejected_at_once(self):
        ca, crt, key = (certificate_file(name) for name in ("ca.crt", "client.crt", "client.key"))
        other = certificate_file("client.key", "other")
        rows = [
            ({"ca": key}, "the certificate authority is not a PEM certificate"),
            ({"certificate": crt}, "there is a client certificate but no client key"),
            ({"key": key}, "there is a client key but no client certificate"),
            ({"certificate": crt, "key": other}, "the client key does not belong to the client certificate"),
            ({"certificate": key, "key": crt}, "the client certificate or its key cannot be read; both must be PEM, the "
             "key without a password"),
            ({"token": "a b"}, "the token is empty, too long, or has a character that is not allowed in a token"),
            ({"token": "a" * 65537}, "the token is empty, too long, or has a character that is not allowed in a token"),
            ({"as": "a\nb"}, "the user, uid or group to impersonate is empty or has a control character"),
        ]
        for texts, reason in rows:
            with Client("https://x.test", **{"ca": ca, **texts}) as client:
                self.assertEqual(client.first, "refused: https://x.test:443: " + reason)
        rows = [
            ("http://x.test", {"token": "abc"}, "the API server's address begins with http://, and credentials are "
             "never sent unencrypted; use https://"),
            ("ftp://x.test", {}, "the API server's address must begin with https://"),
            ("https://me:word@x.test", {}, "the API server's address must be a URL of the form https://host:port"),
            ("https://x.test", {"name": "a/b"}, "tls-server-name must be a host name"),
            ("https://x.test", {"proxy": "::"}, "proxy-url must be a URL of the form http://host:port"),
        ]
        for server, texts, reason in rows:
            with Client(server, **texts) as client:
                self.assertEqual(client.first, "refused: " + reason)

    def test_http_without_credentials(self):
        with Server(echo, tls=False) as server, Client(server.url()) as client:
            self.assertEqual(client.get("/x")["status"], 200)


class Proxies(unittest.TestCase):
    def test_a_given_proxy(self):
        with Server(echo) as server, Proxy() as proxy:
            with trusting(server, proxy="http://me:secret@127.0.0.1:%d" % proxy.port, token="abc") as client:
                sent = json.loads(client.get("/x")["body"])
                self.assertEqual(sent["headers"]["authorization"], ["Bearer abc"])
                self.assertNotIn("proxy-authorization", sent["headers"])
            line, headers = proxy.asked[0]
            self.assertEqual(line, "CONNECT 127.0.0.1:%d HTTP/1.1" % server.port)
            self.assertEqual(headers["proxy-authorization"], ["Basic bWU6c2VjcmV0"])
            self.assertNotIn("authorization", headers)

    def test_a_refusal_of_the_proxy_prints_no_secret(self):
        with Server(echo) as server, Proxy(refuse=True) as proxy:
            with trusting(server, proxy="http://me:secret@127.0.0.1:%d" % proxy.port, token="abc") as client:
                reply = client.get("/x")
                self.assertEqual(reply["result"], -errno.ECONNRESET, reply)
                self.assertNotIn("secret", reply["reason"])

    def test_a_proxy_of_the_environment(self):
        with Server(echo) as server, Proxy() as proxy:
            environment = {"HTTPS_PROXY": "http://127.0.0.1:%d" % proxy.port}
            with trusting(server, host="api.test", name="localhost", environment=environment) as client:
                self.assertEqual(client.get("/x")["status"], 200)
            self.assertEqual(proxy.asked[0][0], "CONNECT api.test:%d HTTP/1.1" % server.port)
            with trusting(server, environment=environment) as client:  # this machine
                self.assertEqual(client.get("/x")["status"], 200)
            environment["NO_PROXY"] = "api.test"
            with trusting(server, host="api.test", environment=environment) as client:
                self.assertEqual(client.get("/x")["result"], -errno.EHOSTUNREACH)
            self.assertEqual(len(proxy.asked), 1)


class Loops(unittest.TestCase):
    def test_many_calls_at_the_same_time(self):
        together = threading.Barrier(20)

        def handle(request, send):
            together.wait(20)
            return echo(request, send)
        with Server(handle) as server, trusting(server) as client:
            replies = client.ask("many 20 path=/x")
            self.assertEqual([r["status"] for r in replies], [200] * 20)
            self.assertEqual(server.connections, 20)

    def test_each_call_has_its_own_result(self):
        def handle(_request, _send):
            time.sleep(2)
        with Server(handle) as server, trusting(server) as client:
            replies = client.ask("many 5 path=/x deadline=300")
            self.assertEqual([r["result"] for r in replies], [-errno.ETIMEDOUT] * 5)
            self.assertLess(client.took, 1.5)

    def test_a_dropped_call_reports_nothing(self):
        def handle(_request, _send):
            time.sleep(1)
        with Server(handle) as server, trusting(server) as client:
            self.assertEqual(client.ask("drop path=/x"), {})
            self.assertEqual(client.get("/x", "deadline=100")["result"], -errno.ETIMEDOUT)


if __name__ == "__main__":
    unittest.main()
