# SPDX-License-Identifier: Apache-2.0
"""Malformed heads (gate-v1, section 8): what proxies read in different ways is refused, and nothing behind it is a request."""

import json
import unittest

from server_client import JSON, Client, Program, main

LINE = b"POST /validate HTTP/1.1\r\n"
HOST = b"Host: x\r\n"
LENGTH = b"Content-Length: 2\r\n"
TYPE = JSON.encode()
NEXT = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"


def field(text):
    return LINE + HOST + TYPE + LENGTH + text + b"\r\n\r\n{}"


def line(text):
    return text + b"\r\n" + HOST + TYPE + LENGTH + b"\r\n{}"


def chunked(coding):
    return LINE + HOST + TYPE + b"Transfer-Encoding: " + coding + b"\r\n\r\n" + CHUNKS


MALFORMED = {
    "a field without a name": field(b": x"),
    "a field without name and value": field(b":"),
    "blanks for a name": field(b" : x"),
    "the first field has no name": LINE + b": x\r\n" + HOST + TYPE + LENGTH + b"\r\n{}",
    "NUL in a value": field(b"X: a\0b"),
    "NUL at the end of a value": field(b"X: a\0"),
    "NUL at the start of a value": field(b"X: \0a"),
    "NUL for a value": field(b"X:\0"),
    "NUL in a name": field(b"X\0Y: a"),
    "NUL before the colon": field(b"X\0: a"),
    "NUL before a name": field(b"\0X: a"),
    "NUL for a line": field(b"\0"),
    "NUL in a length": LINE + HOST + TYPE + b"Content-Length: 2\0\r\n\r\n{}",
    "NUL in Content-Type": LINE + HOST + b"Content-Type: application/json\0x\r\n" + LENGTH + b"\r\n{}",
    "NUL in Host": LINE + b"Host: x\0y\r\n" + TYPE + LENGTH + b"\r\n{}",
    "NUL in a transfer coding": chunked(b"chunked\0x"),
    "NUL in the path": line(b"POST /validate\0x HTTP/1.1"),
    "NUL in the query": line(b"POST /validate?a\0b HTTP/1.1"),
    "NUL in the method": line(b"POST\0X /validate HTTP/1.1"),
    "NUL in the version": line(b"POST /validate HTTP/1.1\0x"),
    "a continued line": field(b"X: a\r\n b"),
    "a line continued after a tab": field(b"X: a\r\n\tb"),
    "a continued length": LINE + HOST + TYPE + b"Content-Length:\r\n 2\r\n\r\n{}",
    "a blank before the first field": LINE + b" X: a\r\n" + HOST + TYPE + LENGTH + b"\r\n{}",
    "a blank before the colon": field(b"X : a"),
    "a tab before the colon": field(b"X\t: a"),
    "CR in a value": field(b"X: a\rb"),
    "CR for a line end": field(b"X: a\rTransfer-Encoding: chunked"),
    "LF for line ends": field(b"X: a").replace(b"\r\n", b"\n"),
    "LF for one line end": field(b"X: a\nY: b"),
    "a line without a colon": field(b"novalue"),
    "a control character in a value": field(b"X: a\x01b"),
    "DEL in a value": field(b"X: a\x7fb"),
    "a byte over 127 in a name": field(b"X\xff: a"),
    "a bracket in a name": field(b"X(: a"),
    "two lines Host": LINE + HOST + HOST + TYPE + LENGTH + b"\r\n{}",
    "no Host": LINE + TYPE + LENGTH + b"\r\n{}",
    "chunked twice": chunked(b"chunked, chunked"),
    "an empty coding": chunked(b",chunked"),
    "a quoted coding": chunked(b'"chunked"'),
    "a coding with a parameter": chunked(b"chunked;x=y"),
    "a coding in HTTP/1.0": chunked(b"chunked").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "two blanks in the request line": line(b"POST  /validate HTTP/1.1"),
    "a tab in the request line": line(b"POST\t/validate\tHTTP/1.1"),
    "a blank in the path": line(b"POST /validate x HTTP/1.1"),
    "a blank after the version": line(b"POST /validate HTTP/1.1 "),
    "no version": line(b"POST /validate"),
    "a version in small letters": line(b"POST /validate http/1.1"),
    "a control character in the path": line(b"POST /validate\x01 HTTP/1.1"),
    "a byte over 127 in the query": line(b"POST /validate?\xff HTTP/1.1"),
    "CR in the path": line(b"POST /validate\rx HTTP/1.1"),
}

WELL_FORMED = {
    "nothing special": field(b"X: a"),
    "no blank after the colon": field(b"X:a"),
    "many blanks after the colon": field(b"X: \t  a"),
    "blanks after the value": field(b"X: a \t "),
    "an empty value": field(b"X:"),
    "blanks for a value": field(b"X:  "),
    "a byte over 127 in a value": field(b"X: a\xff"),
    "every character of a name": field(b"!#$%&'*+-.^_`|~09azAZ: a"),
    "a cookie": field(b"Cookie: a=b; c=d"),
    "a query": line(b"POST /validate?timeout=1s&b&=c%00#d HTTP/1.1"),
    "an empty Host": LINE + b"Host:\r\n" + TYPE + LENGTH + b"\r\n{}",
    "empty lines before the request": b"\r\n\r\n" + field(b"X: a"),
    "many fields": field(b"\r\n".join(b"X-%d: %s" % (i, b"b" * 20) for i in range(400))),
}


class Head(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(threads=1)

    @classmethod
    def tearDownClass(cls):
        cls.program.__exit__()

    def test_a_malformed_head_is_refused_and_ends_the_connection(self):
        for what, head in MALFORMED.items():
            with self.subTest(what), Client(self.program.port) as client:
                client.send(head + NEXT * 2)
                self.assertTrue(client.ends(5))
                self.assertNotIn(b" 200 ", client.left)
                self.assertEqual(client.left.count(b"HTTP/1.1 "), client.left.count(b"HTTP/1.1 400 "))

    def test_well_formed_heads_are_accepted_however_they_arrive(self):
        for what, head in WELL_FORMED.items():
            with self.subTest(what), Client(self.program.port) as client:
                client.send(head + head)
                for _ in range(2):
                    status, _, body = client.answer()
                    self.assertEqual((status, json.loads(body).get("bytes")), (200, 2))
                if len(head) < 1000:
                    for i in range(len(head)):
                        client.send(head[i:i + 1])
                else:
                    client.send(head)
                self.assertEqual(client.answer()[0], 200)

    def test_nothing_after_a_chunked_body_is_a_request(self):
        """Trailing fields can be malformed too."""
        for end in (b"0\r\n\r\n", b"0\r\n: x\r\n\r\n", b"0\r\nX: a\r\n\r\n", b"0\r\n\0\r\n"):
            with Client(self.program.port) as client:
                client.send(LINE + HOST + TYPE + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n" + end + NEXT)
                status, fields, _ = client.answer()
                self.assertEqual((status, fields["connection"].lower()), (200, "close"), end)
                self.assertTrue(client.ends(5))
                self.assertEqual(client.left, b"")


if __name__ == "__main__":
    main()
