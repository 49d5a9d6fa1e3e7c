# SPDX-License-Identifier: Apache-2.0
"""Every row of the HTTP table (gate-v1, section 8), with a real TLS client."""

import json
import os
import socket
import ssl
import unittest

from server_client import JSON, Client, Program, certificates, context, main, plain_get

MAX_BODY = 20971520


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program()
        cls.port = cls.program.port

    @classmethod
    def tearDownClass(cls):
        cls.program.__exit__()

    def client(self, **options):
        client = Client(self.port, **options)
        self.addCleanup(client.__exit__)
        return client

    def assert_status(self, answer, code, reason):
        status, fields, body = answer
        self.assertEqual(status, code, body)
        self.assertEqual(fields["content-type"], "application/json")
        said = json.loads(body)
        self.assertEqual([said["kind"], said["apiVersion"], said["status"], said["code"],
                          said["reason"]], ["Status", "v1", "Failure", code, reason])
        self.assertTrue(said["message"])
        return fields, said

    def test_a_review_is_answered_and_the_connection_stays_open(self):
        client = self.client()
        for body in (b"{}", b"{" + b" " * 100000 + b"}"):
            status, fields, answer = client.review(body)
            self.assertEqual(status, 200)
            self.assertEqual(fields["content-type"], "application/json")
            self.assertNotIn("connection", fields)
            self.assertEqual(json.loads(answer), {
                "bytes": len(body), "sum": sum(body), "syntax": "json"})

    def test_the_query_does_not_change_the_path(self):
        client = self.client()
        for query in ("?timeout=10s", "?timeout=rubbish", "?a=b&timeout=1ms", "?"):
            self.assertEqual(client.review(b"{}", query=query)[0], 200, query)

    def test_chunked_bodies_are_read(self):
        client = self.client()
        status, _, body = client.ask(
            "POST /validate HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n"
            "2\r\n{ \r\n1;x=y\r\n}\r\n0\r\nTrailer: x\r\n\r\n" % JSON)
        self.assertEqual((status, json.loads(body)["bytes"]), (200, 3))

    def test_content_types_and_their_parameters(self):
        client = self.client()
        for given, syntax in (("application/json", "json"), ("application/json; charset=utf-8", "json"),
                              ("APPLICATION/JSON;a=b", "json"), ("application/yaml", "yaml"),
                              ("application/x-yaml ; q", "yaml"), ("text/yaml", "yaml")):
            status, _, body = client.review(b"{}", "Content-Type: %s\r\n" % given)
            self.assertEqual((status, json.loads(body)["syntax"]), (200, syntax), given)

    def test_415(self):
        client = self.client()
        for given in ("", "Content-Type: text/plain\r\n", "Content-Type: application/jsonx\r\n",
                      "Content-Type: \r\n", JSON + JSON,
                      JSON + "Content-Encoding: gzip\r\n", JSON + "Content-Encoding: br\r\n"):
            self.assert_status(client.review(b"{}", given), 415, "UnsupportedMediaType")
        self.assertEqual(client.review(b"{}", JSON + "Content-Encoding: identity\r\n")[0], 200)

    def test_yaml_is_sent_if_accepted_and_json_is_not(self):
        client = self.client()
        for accept, kind in (("application/yaml", "yaml"), ("text/yaml, */*", "yaml"),
                             ("application/json, application/yaml", "json"), ("*/*", "json"),
                             ("application/json;q=0, application/x-yaml", "yaml"),
                             ("application/yaml;q=0", "json"), ("text/html", "json")):
            _, fields, _ = client.review(b"{}", JSON + "Accept: %s\r\n" % accept)
            self.assertEqual(fields["content-type"], "application/" + kind, accept)

    def test_404_405_and_the_allow_header(self):
        client = self.client()
        for path in ("/", "/validate/", "/metrics", "/Validate", "//validate"):
            self.assert_status(client.get(path), 404, "NotFound")
        fields, _ = self.assert_status(client.get("/validate"), 405, "MethodNotAllowed")
        self.assertEqual(fields["allow"], "POST")
        for path in ("/healthz", "/readyz"):
            fields, _ = self.assert_status(
                client.ask("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}" % path),
                405, "MethodNotAllowed")
            self.assertEqual(fields["allow"], "GET, HEAD")
        self.assertEqual(client.ask("HEAD /validate HTTP/1.1\r\nHost: x\r\n\r\n")[0], 405)
        self.assertEqual(client.review(b"{}")[0], 200)

    def test_probes(self):
        client = self.client()
        for path in ("/healthz", "/readyz"):
            status, fields, body = client.get(path)
            self.assertEqual((status, body), (200, b"ok"))
            self.assertEqual(client.ask("HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n" % path)[0], 200)
            self.assertEqual(plain_get(self.program.admin, path)[::2], (200, b"ok"))
        self.assertEqual(plain_get(self.program.admin, "/validate")[0], 404)
        status, fields, _ = plain_get(self.program.admin, "/metrics", "POST")
        self.assertEqual((status, fields["allow"]), (405, "GET, HEAD"))

    def test_411(self):
        self.assert_status(self.client().ask(
            "POST /validate HTTP/1.1\r\nHost: x\r\n%s\r\n" % JSON), 411, "LengthRequired")

    def test_413_to_the_byte(self):
        client = self.client()
        status, _, body = client.review(b" " * MAX_BODY)
        self.assertEqual((status, json.loads(body)["bytes"]), (200, MAX_BODY))
        self.assert_status(client.review(b" " * (MAX_BODY + 1)), 413, "RequestEntityTooLarge")
        chunk = b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20))
        head = "POST /validate HTTP/1.1\r\nHost: x\r\n%sTransfer-Encoding: chunked\r\n\r\n" % JSON
        self.assertEqual(client.review(b"{}")[0], 200)
        self.assertEqual(client.ask(head, chunk * 20 + b"0\r\n\r\n")[0], 200)
        self.assert_status(self.client().ask(head, chunk * 20 + b"1\r\n \r\n0\r\n\r\n"), 413,
                           "RequestEntityTooLarge")

    def test_a_rejected_body_is_read_before_the_answer(self):
        client = self.client()
        body = b"x" * (5 << 20)
        self.assert_status(client.ask(
            "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body), body),
            404, "NotFound")
        self.assertEqual(client.review(b"{}")[0], 200)

    def test_a_rejected_body_over_the_limit_closes_the_connection(self):
        client = self.client()
        client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
                    % (JSON, (32 << 20) + 1))
        self.assert_status(client.answer(), 413, "RequestEntityTooLarge")
        self.assertTrue(client.ends(5))
        client = self.client()
        client.send("POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20))
        with self.assertRaises(OSError):
            for _ in range(40):
                client.send(chunk)
            client.answer()

    def test_431(self):
        client = self.client()
        pad = "X-Pad: %s\r\n"
        short = "POST /validate HTTP/1.1\r\nHost: x\r\n" + JSON + "Content-Length: 2\r\n\r\n"
        space = 16 * 1024 - len(short) - len(pad % "")
        whole = short.replace("Host: x\r\n", "Host: x\r\n" + pad % ("a" * space))
        self.assertEqual(len(whole), 16 * 1024)
        self.assertEqual(client.ask(whole + "{}")[0], 200)
        fields, _ = self.assert_status(client.ask(whole.replace("X-Pad", "X-Padd") + "{}"), 431,
                                       "RequestHeaderFieldsTooLarge")
        client = self.client()
        many = "".join("X-Field-%d: %s\r\n" % (i, "b" * 30) for i in range(300))
        self.assertEqual(client.ask(short.replace("Host: x\r\n", "Host: x\r\n" + many) + "{}")[0], 200)

    def test_404_for_a_path_with_an_encoded_nul(self):
        client = self.client()
        for path in ("/validate%00", "/validate%00/../x", "/%76alidate", "/validate/", "//validate"):
            self.assert_status(client.ask(
                "POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: 2\r\n\r\n{}" % (path, JSON)),
                404, "NotFound")
        self.assert_status(client.ask("GET /readyz%00abc HTTP/1.1\r\nHost: x\r\n\r\n"), 404, "NotFound")

    def test_400_for_framing(self):
        for fields in ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                       "Content-Length: 2\r\nContent-Length: 2\r\n",
                       "Content-Length: 2\r\nContent-Length: 3\r\n",
                       "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                       "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: xchunked\r\n",
                       "Transfer-Encoding: identity\r\n"):
            client = self.client()
            said, _ = self.assert_status(client.ask(
                "POST /validate HTTP/1.1\r\nHost: x\r\n%s%s\r\n2\r\n{}\r\n0\r\n\r\n"
                % (JSON, fields)), 400, "BadRequest")
            self.assertEqual(said["connection"].lower(), "close", fields)
            self.assertTrue(client.ends(5), fields)
        # headers that a proxy could have read differently
        for field in ("Transfer-Encoding : chunked", "Content-Length : 5", "Transfer-Encoding:\r\n chunked",
                      "Transfer-Encoding: \x0bchunked", "X: a\rTransfer-Encoding: chunked", "X Y: a"):
            client = self.client()
            client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%s%s\r\nContent-Length: 2\r\n\r\n{}"
                        % (JSON, field))
            try:
                self.assertEqual(client.answer()[0], 400, field)
            except OSError:
                pass  # the library can close the connection instead
            self.assertTrue(client.ends(5), field)
        for length in ("-1", "+2", "0x2", "2 2", "2, 2", "99999999999999999999999"):
            client = self.client()
            client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%sContent-Length: %s\r\n\r\n{}"
                        % (JSON, length))
            self.assertIn(client.answer()[0], (400, 413), length)

    def test_order_of_the_checks(self):
        """431, 400 for framing, 404, 405, 401, 411, 415, 413: each request also has all later errors."""
        pad = "X-Pad: %s\r\n" % ("a" * 16384)
        twice = "Content-Length: 2\r\nContent-Length: 2\r\n"
        for code, line, fields, body in (
                (431, "PUT /x", pad + twice, "{}"), (400, "PUT /x", twice, "{}"),
                (404, "PUT /x", "", ""), (405, "PUT /validate", "", ""),
                (411, "POST /validate", "Content-Type: a/b\r\n", ""),
                (415, "POST /validate", "Content-Length: %d\r\n" % (MAX_BODY + 1), " " * (MAX_BODY + 1))):
            client = self.client()
            answer = client.ask("%s HTTP/1.1\r\nHost: x\r\n%s\r\n" % (line, fields), body.encode())
            self.assertEqual(answer[0], code, line)

    def test_http_1_0_is_answered_and_closed(self):
        client = self.client()
        answer = client.ask("POST /validate HTTP/1.0\r\nConnection: keep-alive\r\n%s"
                            "Content-Length: 2\r\n\r\n{}" % JSON)
        self.assertEqual(answer[0], 200)
        self.assertTrue(client.ends(5))

    def test_400_without_host(self):
        self.assertEqual(self.client().ask("GET /healthz HTTP/1.1\r\n\r\n")[0], 400)

    def test_expect_continue(self):
        client = self.client()
        client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%sContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\n" % JSON)
        self.assertEqual(client.answer()[0], 100)
        client.send("{}")
        self.assertEqual(client.answer()[0], 200)

    def test_500_if_the_gate_gives_no_answer(self):
        self.assert_status(self.client().review(b"mute"), 500, "InternalError")

    def test_two_requests_in_one_tls_record(self):
        client = self.client()
        one = "POST /validate HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s"
        client.send(one % (JSON, 2, "{}") + one % (JSON, 3, "{ }") + "GET /healthz HTTP/1.1\r\n"
                    "Host: x\r\n\r\n")
        self.assertEqual(json.loads(client.answer()[2])["bytes"], 2)
        self.assertEqual(json.loads(client.answer()[2])["bytes"], 3)
        self.assertEqual(client.answer()[2], b"ok")

    def test_half_close(self):
        for text in (b"{}", b" " * 300000):  # another thread handles the longer one
            client = self.client()
            client.send("POST /validate HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
                        % (JSON, len(text)))
            client.send(text)
            client.end_writing()
            self.assertEqual(client.answer()[0], 200)

    def test_upgrade_is_ignored(self):
        status, _, body = self.client().ask(
            "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, "
            "HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
        self.assertEqual((status, body), (200, b"ok"))

    def test_http2_preface_is_closed_within_a_second(self):
        client = self.client()
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.assertTrue(client.ends(1))
        self.assertNotIn(b" 200 ", client.left)


class Tls(unittest.TestCase):
    def test_tls_versions_alpn_and_address_families(self):
        with Program() as program:
            for options, chosen in (({"alpn": ["http/1.1"]}, "http/1.1"),
                                    ({"alpn": ["h2", "http/1.1"]}, "http/1.1"), ({}, None)):
                with Client(program.port, tls=context(**options)) as client:
                    self.assertEqual(client.socket.selected_alpn_protocol(), chosen)
                    self.assertEqual(client.get("/healthz")[0], 200)
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                with Client(program.port, tls=context(versions=(version, version))) as client:
                    self.assertEqual(client.get("/healthz")[0], 200)
            with self.assertRaises(OSError):
                Client(program.port, tls=context(alpn=["h2"]))
            old = context(versions=(ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_1))
            old.set_ciphers("ALL:@SECLEVEL=0")
            with self.assertRaises(OSError):
                Client(program.port, tls=old)
            for host, name in (("::1", "localhost"), ("127.0.0.1", "localhost"), ("127.0.0.1", None)):
                with Client(program.port, host=host, name=name) as client:
                    self.assertEqual(client.get("/readyz")[0], 200)

    def test_plain_http_on_the_tls_port_logs_no_error(self):
        with Program() as program:
            with socket.create_connection(("127.0.0.1", program.port), timeout=5) as plain:
                plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertNotIn(b"200", plain.recv(1000))
            self.assertEqual(program.log(), "")

    def test_client_certificates(self):
        other = certificates("other")
        with Program(client_ca=1) as program:
            with Client(program.port) as client:
                status, fields, body = client.review(b"{}")
                self.assertEqual((status, json.loads(body)["reason"]), (401, "Unauthorized"))
                for path in ("/healthz", "/readyz"):
                    with Client(program.port) as probe:
                        self.assertEqual(probe.get(path)[0], 200)
            with Client(program.port, tls=context(certificate=program.folder)) as client:
                self.assertEqual(client.review(b"{}")[0], 200)
                self.assertEqual(client.review(b"{}")[0], 200)
            with Client(program.port, tls=context(certificate=other)) as client:
                self.assertEqual(client.review(b"{}")[0], 401)
            # signed by the CA, but the name of the serving certificate is not in the list
            named = os.path.join(program.folder, "named")
            os.mkdir(named)
            for end in ("crt", "key"):
                os.symlink("../tls." + end, os.path.join(named, "client." + end))
            with Client(program.port, tls=context(certificate=named)) as client:
                self.assertEqual(client.review(b"{}")[0], 401)


class Readiness(unittest.TestCase):
    def test_503_until_there_is_a_snapshot(self):
        with Program(unready=1) as program, Client(program.port) as client:
            status, fields, body = client.review(b"{}")
            said = json.loads(body)
            self.assertEqual((status, fields["retry-after"], said["code"], said["reason"]),
                             (503, "1", 503, "ServiceUnavailable"))
            for status, fields, body in (client.get("/readyz"), plain_get(program.admin, "/readyz")):
                self.assertEqual(status, 503)
                self.assertIn("not ready", json.loads(body)["message"])
            self.assertEqual(client.get("/healthz")[::2], (200, b"ok"))
            self.assertEqual(program.metric("sandgate_ready"), 0)
            program.say("ready")
            self.assertEqual(client.get("/readyz")[::2], (200, b"ok"))
            self.assertEqual(client.review(b"{}")[0], 200)
            self.assertEqual(program.metric("sandgate_ready"), 1)


if __name__ == "__main__":
    main()
