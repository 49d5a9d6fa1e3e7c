# SPDX-License-Identifier: Apache-2.0
"""Audit events as an API server writes them, with the annotations of real answers of the gate."""
import json
import uuid

from program import IN_WORLD, run

HOOK = "pods.sandgate.example.test"
BARE = """apiVersion: v1
kind: Pod
metadata: {%s, namespace: payments}
spec: {containers: [{name: app, image: "nginx:1"}]}
"""
GOOD = """apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: payments
  annotations: {sandbox.runx.dev/skill-ref: acme/report@1.4.0}
spec:
  containers:
  - name: app
    image: registry.example/acme/report@sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206
"""


def answer(manifest):
    """The response of the gate to the object in the manifest."""
    _, out, err = run("check", "-f", "-", *IN_WORLD, "-o", "review", stdin=manifest.encode())
    assert out, err
    return json.loads(out)["response"]


def go_json(value):
    """JSON as Go writes it: in one line, with `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def event(response, *, hook=HOOK, time="2026-03-01T12:00:01.250000Z", user="dev@example.test", denied=None,
          audit_id=None, **more):
    """An audit event for that response. denied: the webhook that denied it, if it is not this one."""
    by = hook if denied is None and not response["allowed"] else denied
    status = {"metadata": {}, "code": 201}
    if by:
        message = response.get("status", {}).get("message", "no")
        status = {"metadata": {}, "status": "Failure", "reason": "Forbidden", "code": 403,
                  "message": f'admission webhook "{by}" denied the request: {message}'}
    annotations = {"authorization.k8s.io/decision": "allow"}
    annotations.update({f"{hook}/{key}": value for key, value in response["auditAnnotations"].items()})
    return {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata",
            "auditID": audit_id or str(uuid.uuid4()), "stage": "ResponseComplete",
            "requestURI": "/api/v1/namespaces/payments/pods?fieldManager=kubectl&x=1", "verb": "create",
            "user": {"username": user}, "objectRef": {"resource": "pods", "namespace": "payments"},
            "responseStatus": status, "requestReceivedTimestamp": time,
            "stageTimestamp": time, "annotations": annotations, **more}


def log(*events):
    return "".join(go_json(e) + "\n" for e in events)


def changed(response, **annotations):
    """The response with other audit annotations. None removes one; _ in a name means -."""
    values = dict(response["auditAnnotations"])
    for key, value in annotations.items():
        values[key.replace("_", "-")] = value
    return {**response, "auditAnnotations": {k: v for k, v in values.items() if v is not None}}
