# SPDX-License-Identifier: Apache-2.0
"""The real times of the contract (section 8 and case F02). They take four minutes, so this file is not part of ctest.

    SANDGATE=build/sandgate python3 -B tests/webhook/long_times.py
"""

import socket
import threading
import time
import unittest

from server_client import JSON, Client, main, seconds_until_end
from test_serve import GOOD, Gate

HEAD = "POST /validate HTTP/1.1\r\nHost: x\r\n" + JSON + "Content-Length: 2000\r\n\r\n"


class Times(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gate = Gate()

    @classmethod
    def tearDownClass(cls):
        cls.gate.__exit__()

    def test_ten_seconds_for_a_handshake_and_for_a_request(self):
        with socket.create_connection(("127.0.0.1", self.gate.port)) as plain:
            self.assertAlmostEqual(seconds_until_end(plain, 15), 10, delta=1)
        for text, pause in ((HEAD, 2), (HEAD + " " * 2000, 1)):
            with Client(self.gate.port) as client:
                head = text[:len(HEAD)] if len(text) > len(HEAD) else text[:1]
                client.send(head)
                begun = time.monotonic()
                try:
                    for at in range(len(head), len(text)):
                        time.sleep(pause)
                        client.send(text[at])
                        if time.monotonic() - begun > 15:
                            break
                except OSError:
                    pass
                self.assertLess(time.monotonic() - begun, 10 + 2 * pause + 1)
                self.assertTrue(client.ends(1))
                self.assertNotIn(b"200", client.left)

    def test_a_connection_is_kept_for_170_idle_seconds_and_closed_after_180(self):
        failures = []

        def idle(first, silence, ended):
            with Client(self.gate.port, timeout=300) as client:
                if first and client.review(GOOD)[0] != 200:
                    failures.append("first")
                begun = time.monotonic()
                if ended:
                    client.socket.settimeout(240)
                    if client.socket.recv(1) != b"" or not 180 <= time.monotonic() - begun < 183:
                        failures.append("ended after %.2f" % (time.monotonic() - begun))
                    return
                time.sleep(silence)
                if client.review(GOOD)[0] != 200:
                    failures.append("after %d" % silence)

        threads = [threading.Thread(target=idle, args=row) for row in (
            (False, 170, False), (True, 85, False), (True, 170, False), (True, 179, False),
            (True, 0, True), (False, 0, True))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    main()
