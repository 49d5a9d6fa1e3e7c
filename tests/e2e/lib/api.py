# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes API over HTTPS, for the support code of the tests. Actions of users go through kubectl."""
import http.client
import json
import ssl
import time

import yaml

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
SECONDS = 30


class ApiError(Exception):
    """An answer that is not a success. .status is its code, .body its content."""

    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body.get('message', body) if isinstance(body, dict) else body}")
        self.status, self.body = status, body


class Api:
    """Access as one user. Each request has its own connection, so threads can share it and the server can be restarted."""

    def __init__(self, kubeconfig):
        with open(kubeconfig, encoding="utf-8") as stream:
            config = yaml.safe_load(stream)
        cluster = config["clusters"][0]["cluster"]
        self.host, port = cluster["server"].removeprefix("https://").split(":")
        self.port = int(port)
        self.authority = cluster["certificate-authority"]
        self.token = config["users"][0]["user"]["token"]

    def ask(self, method, path, body=None, kind=JSON):
        """(status, answer): the answer is a tree if it is JSON."""
        trust = ssl.create_default_context(cafile=self.authority)
        connection = http.client.HTTPSConnection(self.host, self.port, timeout=SECONDS, context=trust)
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Accept": JSON, "Content-Type": kind}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read()
        finally:
            connection.close()
        try:
            return reply.status, json.loads(text)
        except ValueError:
            return reply.status, text.decode("utf-8", "replace")

    def must(self, method, path, body=None, kind=JSON):
        status, answer = self.ask(method, path, body, kind)
        if status >= 300:
            raise ApiError(method, path, status, answer)
        return answer

    def get(self, path):
        return self.must("GET", path)

    def get_or_none(self, path):
        status, answer = self.ask("GET", path)
        if status == 404:
            return None
        if status >= 300:
            raise ApiError("GET", path, status, answer)
        return answer

    def post(self, path, body):
        return self.must("POST", path, body)

    def patch(self, path, body, kind=MERGE):
        return self.must("PATCH", path, body, kind)

    def delete(self, path, seconds=None):
        body = None if seconds is None else {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": seconds}
        status, answer = self.ask("DELETE", path, body)
        if status >= 300 and status != 404:
            raise ApiError("DELETE", path, status, answer)


def eventually(check, what, seconds=30, every=0.1):
    """Calls `check` until its result is true, and returns it. An exception counts as false."""
    limit, last = time.monotonic() + seconds, None
    while True:
        try:
            found = check()
            if found:
                return found
            last = f"the last look gave {found!r}"
        except (ApiError, OSError, AssertionError, http.client.HTTPException) as error:
            last = error
        if time.monotonic() > limit:
            raise AssertionError(f"not within {seconds} s: {what}" + (f" ({last})" if last else ""))
        time.sleep(every)
