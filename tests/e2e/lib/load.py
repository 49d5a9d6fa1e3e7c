# SPDX-License-Identifier: Apache-2.0
"""Many concurrent requests, with counts of their results."""
import collections
import http.client
import json
import ssl
import threading
import time

from .evidence import SKILL, pod

DENIED = 'admission webhook "'
OWNED = "failed calling webhook"  # the error of failurePolicy Fail if the gate cannot be reached
UNDECIDED = "sandgate did not decide"
WIDER = "network: true"  # than is signed: denied without a read of the cluster


class Load:
    """Threads that create pods by server-side dry run until they are stopped, each on its own connection.

    Every second pod has signed evidence. The others request more than is signed or, with misses, have no evidence. Each
    answer is compared with the expected one. `counts` has "admitted" and "denied" (both as expected), "undecided" (a 503 of
    the gate), "unreachable" (an error by failurePolicy), "away" (the API server was unreachable), and every other answer
    under its own text.
    """

    def __init__(self, api, namespace, threads=4, pause=0.0, misses=False):
        self.api, self.namespace, self.pause, self.misses = api, namespace, pause, misses
        self.counts, self.slowest, self.lock = collections.Counter(), 0.0, threading.Lock()
        self.times = []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(n,), daemon=True) for n in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_error):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)

    def work(self, number):
        trust = ssl.create_default_context(cafile=self.api.authority)
        connection, count = None, number
        while not self.stopping.is_set():
            count += 1
            signed = count % 2 == 0
            skill = "acme/unsigned@1.0.0" if self.misses and not signed else SKILL
            body = json.dumps(pod(f"load-{number}-{count}", self.namespace, skill=skill,
                                  requirements=None if signed or self.misses else WIDER))
            begin = time.monotonic()
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection(self.api.host, self.api.port, timeout=40, context=trust)
                connection.request("POST", f"/api/v1/namespaces/{self.namespace}/pods?dryRun=All", body, {
                    "Authorization": f"Bearer {self.api.token}", "Content-Type": "application/json"})
                reply = connection.getresponse()
                verdict = self.verdict(signed, reply.status, json.loads(reply.read()))
            except (OSError, ValueError, http.client.HTTPException) as error:
                verdict, connection = f"away: {type(error).__name__}", None
                time.sleep(0.1)
            self.note(verdict, begin)
            if self.pause:
                time.sleep(self.pause)

    def verdict(self, signed, status, answer):
        message = answer.get("message", "")
        if status == 201:
            return "admitted" if signed else "admitted without evidence"
        if status == 403 and DENIED in message and "denied the request" in message:
            return f"denied although signed for: {message}" if signed else "denied"
        if status == 503 and UNDECIDED in message:
            return "undecided"
        if status == 500 and OWNED in message:
            return "unreachable: " + message.rsplit(": ", 1)[1]
        return f"{status}: {message}"

    def note(self, verdict, begin):
        end = time.monotonic()
        with self.lock:
            self.counts[verdict] += 1
            self.slowest = max(self.slowest, end - begin)
            self.times.append((end, verdict))

    def total(self, *verdicts):
        return sum(count for verdict, count in self.counts.items() if verdict.split(":")[0] in verdicts)

    def others(self, *expected):
        """The answers that are neither right nor in this list."""
        return {verdict: count for verdict, count in self.counts.items()
                if verdict.split(":")[0] not in ("admitted", "denied", *expected)}

    def said(self):
        return f"{dict(self.counts)}, slowest {self.slowest * 1000:.0f} ms"
