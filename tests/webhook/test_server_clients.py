# SPDX-License-Identifier: Apache-2.0
"""Slow, idle, silent and too many clients (gate-v1, section 8), with shortened times."""

import json
import resource
import socket
import ssl
import threading
import time
import unittest

from server_client import JSON, SLACK, Client, Program, context, main, seconds_until_end

SLOW = 1.0  # seconds, instead of 10
IDLE = 3  # seconds, instead of 180
CROWD_FILES = 4096  # for 2,000 clients and the server
HEAD = "POST /validate HTTP/1.1\r\nHost: x\r\n" + JSON + "Content-Length: %d\r\n\r\n"


class Fake:
    """The first bytes of a TLS client that does not continue."""

    @staticmethod
    def hello():
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context().wrap_bio(incoming, outgoing, server_hostname="localhost")
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return outgoing.read()


def trickle(send, data, pause, limit):
    """Sends byte by byte until all is sent or the peer closes the connection. Returns the seconds."""
    begun = time.monotonic()
    try:
        for at in range(len(data)):
            send(data[at:at + 1])
            time.sleep(pause)
            if time.monotonic() - begun > limit:
                break
    except OSError:
        pass
    return time.monotonic() - begun


class Slow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(slow_msec=SLOW * 1000, idle_sec=IDLE)
        cls.port = cls.program.port

    @classmethod
    def tearDownClass(cls):
        cls.program.__exit__()

    def assert_cut(self, seconds):
        self.assertGreaterEqual(seconds, SLOW * 0.9)
        self.assertLess(seconds, SLOW + 0.7 * SLACK)

    def test_connection_without_bytes(self):
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            self.assert_cut(seconds_until_end(plain, 5))

    def test_slow_client_hello(self):
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            self.assert_cut(trickle(plain.sendall, Fake.hello(), 0.05, 5))

    def test_handshake_that_stops_half_way(self):
        with socket.create_connection(("127.0.0.1", self.port)) as plain:
            plain.sendall(Fake.hello())
            begun = time.monotonic()
            self.assertTrue(plain.recv(65536))
            seconds_until_end(plain, 5)
            self.assert_cut(time.monotonic() - begun)

    def test_half_handshakes_use_no_cpu_time(self):
        stat = "/proc/%d/stat" % self.program.process.pid

        def ticks():
            with open(stat, encoding="ascii") as file:
                return sum(int(n) for n in file.read().rsplit(")", 1)[1].split()[11:13])

        held = []
        for _ in range(20):
            plain = socket.create_connection(("127.0.0.1", self.port))
            plain.sendall(Fake.hello()[:50])
            held.append(plain)
        time.sleep(0.2)
        before = ticks()
        time.sleep(0.5)
        self.assertLess(ticks() - before, 20)  # 50 for each thread
        for plain in held:
            plain.close()

    def test_slow_head_after_an_idle_time(self):
        with Client(self.port) as client:
            time.sleep(SLOW * 1.5)
            self.assert_cut(trickle(client.send, HEAD.encode() % 2, 0.2, 5))

    def test_slow_body(self):
        with Client(self.port) as client:
            client.send(HEAD % 2000)
            self.assert_cut(trickle(client.send, b" " * 2000, 0.1, 5))
            self.assertTrue(client.ends(1))
            self.assertNotIn(b"200", client.left)

    def test_slow_body_of_a_rejected_request(self):
        with Client(self.port) as client:
            client.send("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n")
            self.assert_cut(trickle(client.send, b" " * 2000, 0.1, 5))

    def test_incomplete_second_request_sent_with_the_first(self):
        with Client(self.port) as client:
            client.send(HEAD % 2 + "{}" + HEAD % 2 + "{")
            self.assertEqual(client.answer()[0], 200)
            begun = time.monotonic()
            self.assertTrue(client.ends(5))
            self.assert_cut(time.monotonic() - begun)

    def test_idle_connections_are_kept(self):
        with Client(self.port) as client:
            for _ in range(3):
                time.sleep(IDLE * 0.6)
                self.assertEqual(client.review(b"{}")[0], 200)

    def test_idle_timeout_sends_close_notify(self):
        for asked in (False, True):
            with Client(self.port) as client:
                if asked:
                    client.review(b"{}")
                begun = time.monotonic()
                client.socket.settimeout(IDLE * 3)
                # raises without close_notify
                self.assertEqual(client.socket.recv(1), b"")
                self.assertGreaterEqual(time.monotonic() - begun, IDLE - 0.01)
                self.assertLess(time.monotonic() - begun, IDLE + 1.5 * SLACK)

    def test_client_that_does_not_read_is_disconnected(self):
        with Client(self.port) as client:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            begun = time.monotonic()
            try:
                while time.monotonic() - begun < 8:
                    client.send((HEAD % 2 + "{}") * 50)
            except OSError:
                pass
            self.assertLess(time.monotonic() - begun, 8)

    def test_client_that_disconnects_at_once(self):
        for _ in range(20):
            client = Client(self.port)
            client.send(HEAD % 300000 + " " * 300000)
            client.socket.close()
        with Client(self.port) as client:
            self.assertEqual(client.review(b"{}")[0], 200)
        self.assertEqual(self.program.log(), "")


class Crowd(unittest.TestCase):
    def test_the_longest_idle_connection_is_closed_first(self):
        with Program(max_connections=20) as program:
            clients = [Client(program.port) for _ in range(20)]
            for client in clients[1:] + clients[:1]:
                self.assertEqual(client.get("/healthz")[0], 200)
                time.sleep(0.01)
            with Client(program.port) as fresh:
                self.assertEqual(fresh.review(b"{}")[0], 200)
            self.assertTrue(clients[1].ends(2))
            for client in clients[2:] + clients[:1]:
                self.assertEqual(client.get("/healthz")[0], 200)
                client.__exit__()
            clients[1].__exit__()
            self.assertEqual(program.metric('sandgate_connections_cut_total{reason="crowded"}'), 1)

    def test_without_idle_ones_the_oldest_unfinished_of_the_largest_client_is_closed(self):
        with Program(max_connections=10) as program:
            few = [Client(program.port, source="127.0.0.3") for _ in range(3)]
            many = [Client(program.port, source="127.0.0.2") for _ in range(5)]
            for client in few + many:
                client.send(HEAD % 2 + "{")
                time.sleep(0.01)
            work = [Client(program.port, source="127.0.0.4") for _ in range(2)]
            for client in work:
                client.send(HEAD % 300000 + "slow=1500" + " " * 299991)
            time.sleep(0.3)
            with Client(program.port, source="127.0.0.5") as fresh:
                self.assertEqual(fresh.review(b"{}")[0], 200)
            self.assertTrue(many[0].ends(2))
            for client in few + many[1:]:
                client.send("}")
                self.assertEqual(client.answer()[0], 200)
            for client in work:
                self.assertEqual(client.answer()[0], 200)
            for client in few + many + work:
                client.__exit__()

    def test_a_thousand_silent_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < CROWD_FILES:
            self.skipTest("no more than %d open files are allowed here" % hard)
        if soft < CROWD_FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (CROWD_FILES, hard))
        with Program(max_connections=1024) as program:
            silent = [socket.create_connection(("127.0.0.1", program.port)) for _ in range(2000)]
            begun = time.monotonic()
            with Client(program.port) as client:
                self.assertEqual(client.review(b"{}")[0], 200)
            self.assertLess(time.monotonic() - begun, 1 * SLACK)
            end = time.monotonic() + 5 * SLACK  # disconnected clients are removed after a moment
            while program.metric("sandgate_connections") > 1024:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            for plain in silent:
                plain.close()


class Budget(unittest.TestCase):
    def test_503_at_once_when_busy(self):
        with Program(max_in_flight=2, defer_bytes=0) as program:
            slow = [Client(program.port) for _ in range(2)]
            for client in slow:
                client.send(HEAD % 9 + "slow=1000")
            time.sleep(0.3)
            with Client(program.port) as client:
                begun = time.monotonic()
                status, fields, body = client.review(b"{}")
                self.assertLess(time.monotonic() - begun, 0.3 * SLACK)
                self.assertEqual((status, fields["retry-after"], json.loads(body)["kind"]),
                                 (503, "1", "Status"))
                self.assertEqual(client.get("/readyz")[0], 200)
                for other in slow:
                    self.assertEqual(other.answer()[0], 200)
                    other.__exit__()
                self.assertEqual(client.review(b"{}")[0], 200)
            self.assertEqual(program.metric("sandgate_in_flight_requests"), 0)
            self.assertEqual(program.wait_for_bytes(0), 0)

    def test_unfinished_bodies_of_one_address_do_not_block_others(self):
        with Program(max_in_flight_bytes=8 << 20) as program:
            half = [Client(program.port, source="127.0.0.2") for _ in range(8)]
            for client in half:
                client.send(HEAD % (1 << 20) + " " * ((1 << 20) - 1))
            time.sleep(0.5)
            self.assertLessEqual(program.metric("sandgate_in_flight_bytes"), 2 << 20)
            with Client(program.port, source="127.0.0.3") as other:
                self.assertEqual(other.review(b" " * (1 << 20))[0], 200)
            got = []
            for client in half:
                client.send(" ")
                got.append(client.answer()[0])
                client.__exit__()
            self.assertEqual(sorted(set(got)), [200, 503])
            self.assertLessEqual(got.count(200), 2)
            self.assertEqual(program.wait_for_bytes(0), 0)

    def test_503_if_the_memory_limit_is_reached(self):
        with Program(max_in_flight_bytes=8 << 20) as program, Client(program.port) as client:
            self.assertEqual(client.review(b"arena=1000000")[0], 200)
            status, fields, _ = client.review(b"arena=9000000")
            self.assertEqual((status, fields["retry-after"]), (503, "1"))
            self.assertEqual(program.wait_for_bytes(0), 0)

    def test_what_is_reserved_for_a_body_counts(self):
        with Program() as program:
            for length, sent, counted in ((5, 1, 5), (100000, 1, 16384), (100000, 16385, 32768),
                                          (40000, 33000, 40000), (5 << 20, 131073, 147456)):
                with Client(program.port) as client:
                    client.send(HEAD % length + " " * sent)
                    self.assertEqual(program.wait_for_bytes(counted), counted, (length, sent))
                self.assertEqual(program.wait_for_bytes(0), 0)

    def test_an_answer_counts_until_it_is_read(self):
        with Program(max_in_flight_bytes=64 << 20) as program, Client(program.port) as client:
            client.send(HEAD % 15 + "answer=30000000")
            self.assertEqual(program.wait_for_bytes(30000000), 30000000)
            with Client(program.port) as other:
                self.assertEqual(other.review(b"arena=20000000")[0], 200)
                self.assertEqual(other.review(b"arena=40000000")[0], 503)
            received = 0
            while received < 30000000:
                received += len(client.socket.recv(1 << 20))
            self.assertEqual(program.wait_for_bytes(0), 0)
            with Client(program.port) as other:
                self.assertEqual(other.review(b"arena=40000000")[0], 200)

    def test_an_aborted_body_releases_its_bytes(self):
        with Program() as program:
            for _ in range(10):
                with Client(program.port) as client:
                    client.send(HEAD % 2000000 + " " * 1000000)
            deadline = time.monotonic() + 5
            while program.metric("sandgate_connections") and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(program.wait_for_bytes(0), 0)


class Beside(unittest.TestCase):
    def latency(self, client, count):
        taken = []
        for _ in range(count):
            begun = time.monotonic()
            self.assertEqual(client.review(b"{}")[0], 200)
            taken.append(time.monotonic() - begun)
        return sorted(taken)[int(count * 0.99)]

    def test_slow_and_large_requests_do_not_delay_others(self):
        with Program(slow_msec=60000) as program, Client(program.port) as client:
            alone = self.latency(client, 1000)
            slow = []
            for i in range(200):
                other = Client(program.port)
                other.send((HEAD % 2000)[:20 if i % 2 else None])
                slow.append(other)
            stop = threading.Event()

            def trickle_all():
                while not stop.is_set():
                    for other in slow[::2]:
                        other.send(" ")
                    time.sleep(0.05)

            def large():
                with Client(program.port) as sender:
                    while not stop.is_set():
                        self.assertEqual(sender.review(b" " * (1 << 20))[0], 200)
                        time.sleep(0.05)

            threads = [threading.Thread(target=trickle_all), threading.Thread(target=large)]
            for thread in threads:
                thread.start()
            try:
                beside = self.latency(client, 1000)
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            # this client and its threads share one interpreter, so its own delays are allowed
            self.assertLess(beside, 2 * alone + 0.02 * SLACK)
            for other in slow:
                other.__exit__()


if __name__ == "__main__":
    main()
