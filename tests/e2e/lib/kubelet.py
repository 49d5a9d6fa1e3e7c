# SPDX-License-Identifier: Apache-2.0
"""A kubelet for the pods of the gate, which runs them as processes instead of containers.

kwok simulates all other pods. Each pod of the gate is one process in the file tree of the image, with the volumes, arguments,
environment and service account of its manifest, and its own address. Readiness probes, preStop and the grace period are
implemented. Only the ports are set by this kubelet (--listen, --admin), because all addresses are in one network namespace.
Not implemented: limits of memory and CPU, liveness probes, seccomp.
"""
import http.client
import itertools
import pathlib
import signal
import ssl
import subprocess
import sys
import threading
import time

from .api import STRATEGIC, ApiError
from .volumes import Missing, Volumes, field

CONTAINER = pathlib.Path(__file__).resolve().parents[2] / "container.py"
LABEL = "app.kubernetes.io/name=sandgate"
EVERY = 0.2  # seconds between two polls
PROBE_SECONDS = 1.0  # the longest interval of a probe, so that tests do not wait for the intervals of the chart
TROUBLE = (ApiError, OSError, http.client.HTTPException)


def moment():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Pod(threading.Thread):
    """One pod, from its binding to its deletion."""

    def __init__(self, kubelet, pod, address):
        super().__init__(daemon=True, name=pod["metadata"]["name"])
        self.kubelet, self.api, self.pod, self.address = kubelet, kubelet.api, pod, address
        metadata = pod["metadata"]
        self.path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        self.folder = kubelet.folder / metadata["uid"]
        self.volumes = Volumes(self.api, pod, self.folder / "volumes", time.time)
        self.container = pod["spec"]["containers"][0]
        self.log = kubelet.folder / f"{metadata['namespace']}.{metadata['name']}.log"
        self.process, self.restarts, self.ready, self.failures, self.ended = None, 0, None, 0, None
        self.deleted = threading.Event()
        self.hold = False  # set by a test: the process is not started again

    def arguments(self):
        words = list(self.container.get("command") or ["/usr/bin/sandgate"]) + list(self.container.get("args") or [])
        environment = {each["name"]: each["value"] if "value" in each else self.from_field(each["valueFrom"])
                       for each in self.container.get("env", [])}
        for name, value in environment.items():
            words = [word.replace(f"$({name})", value) for word in words]
        if "serve" in words and "--check" not in words:
            # all pods share one loopback, so the port of another pod must not be used
            words += ["--listen", f"{self.address}:{self.port()}", "--admin", f"{self.address}:{self.kubelet.admin_port}"]
        options = []
        kinds = {each["name"]: each for each in self.pod["spec"].get("volumes", [])}
        for mount in self.container.get("volumeMounts", []):
            source = self.volumes.path(mount["name"])
            if mount.get("subPath"):
                source = source / mount["subPath"]
            writable = ":rw" if "emptyDir" in kinds[mount["name"]] and not mount.get("readOnly") else ""
            options += ["--mount", f"{source}:{mount['mountPath']}{writable}"]
        for name, value in environment.items():
            options += ["--env", f"{name}={value}"]
        root = self.kubelet.images.get(self.container["image"].rsplit(":", 1)[-1], self.kubelet.image)
        return [sys.executable, "-B", str(CONTAINER), str(root), *options, "--", *words]

    def from_field(self, source):
        path = source["fieldRef"]["fieldPath"]
        return self.address if path in ("status.podIP", "status.hostIP") else field(self.pod, path)

    def port(self):
        ports = self.container.get("ports", [])
        named = [each["containerPort"] for each in ports if each.get("name") == "https"]
        return (named or [each["containerPort"] for each in ports] or [8443])[0]

    def start_process(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.arguments(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            env=self.kubelet.environment)

    def run(self):
        try:
            self.live()
        except Exception as error:  # written to the log of the pod, which is read first when a test fails
            with open(self.log, "a", encoding="utf-8") as log:
                log.write(f"kubelet: {type(error).__name__}: {error}\n")
            raise
        finally:
            self.kill()

    def live(self):
        while not self.mounted():
            if self.deleted.wait(EVERY):
                return self.finish()
        self.start_process()
        self.say_status(False)
        next_volumes = next_probe = 0.0
        while not self.deleted.wait(EVERY):
            if self.process.poll() is not None and not self.again():
                continue
            now = time.monotonic()
            if now >= next_volumes:
                self.mounted()
                next_volumes = now + PROBE_SECONDS
            if now >= next_probe:
                self.probe()
                next_probe = now + min(PROBE_SECONDS, self.readiness().get("periodSeconds", 10))
        return self.terminate()

    def mounted(self):
        try:
            self.volumes.write()
            return True
        except (Missing, *TROUBLE) as error:
            self.kubelet.note(self.pod, str(error))
            return False

    def again(self):
        """Handles the end of the process. Returns whether it was started again."""
        if self.pod["spec"].get("restartPolicy", "Always") == "Never":
            if self.ended is None:
                self.ended = self.process.returncode
                self.say_status(False)
            return False
        self.say_status(False)
        if self.hold:
            return False
        self.restarts += 1
        if self.deleted.wait(1):
            return False
        self.start_process()
        return True

    def readiness(self):
        return self.container.get("readinessProbe") or {}

    def probe(self):
        question = self.readiness().get("httpGet")
        good = question is None or self.probe_once(question)
        self.failures = 0 if good else self.failures + 1
        if good and self.ready is not True:
            self.say_status(True)
        elif not good and self.ready is not False and self.failures >= self.readiness().get("failureThreshold", 3):
            self.say_status(False)

    def probe_once(self, question):
        port = question["port"]
        if isinstance(port, str):
            port = next(each["containerPort"] for each in self.container["ports"] if each["name"] == port)
        if question.get("scheme", "HTTP") == "HTTPS":
            trust = ssl._create_unverified_context()  # by address, as the kubelet does
            connection = http.client.HTTPSConnection(self.address, port, timeout=2, context=trust)
        else:
            connection = http.client.HTTPConnection(self.address, port, timeout=2)
        try:
            connection.request("GET", question.get("path", "/"))
            return 200 <= connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def text(self, path):
        """(status, body) of a page of the admin port. (0, "") if there is no answer."""
        connection = http.client.HTTPConnection(self.address, self.kubelet.admin_port, timeout=5)
        try:
            connection.request("GET", path)
            reply = connection.getresponse()
            return reply.status, reply.read().decode().rstrip("\n")
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def metric(self, name):
        """The value of a metric without labels. -1 if the gate does not have it."""
        text = self.text("/metrics")[1]
        found = [line.split()[-1] for line in text.splitlines() if line.startswith(f"{name} ")]
        return float(found[0]) if found else -1.0

    def memory(self, name):
        """VmRSS or VmHWM of the process, in KiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as stream:
            return next(int(line.split()[1]) for line in stream if line.startswith(f"{name}:"))

    def say_status(self, ready):
        running = self.process is not None and self.process.poll() is None
        state = {"running": {"startedAt": moment()}} if running else {
            "terminated": {"exitCode": self.process.returncode & 255, "finishedAt": moment(), "startedAt": moment()}}
        phase = "Running" if self.ended is None else "Failed" if self.ended else "Succeeded"
        word = "True" if ready else "False"
        conditions = [{"type": name, "status": value, "lastTransitionTime": moment()} for name, value in
                      (("Initialized", "True"), ("PodScheduled", "True"), ("ContainersReady", word), ("Ready", word))]
        status = {"phase": phase, "podIP": self.address, "podIPs": [{"ip": self.address}], "startTime": moment(),
                  "conditions": conditions, "containerStatuses": [{
                      "name": self.container["name"], "image": self.container["image"], "imageID": "", "ready": ready,
                      "started": running, "restartCount": self.restarts, "state": state}]}
        try:
            self.api.patch(self.path + "/status", {"status": status}, STRATEGIC)
            self.ready = ready
        except TROUBLE as error:
            self.kubelet.note(self.pod, str(error))

    def terminate(self):
        hook = (self.container.get("lifecycle") or {}).get("preStop") or {}
        grace = self.pod["metadata"].get("deletionGracePeriodSeconds")
        if grace is None:
            grace = self.pod["spec"].get("terminationGracePeriodSeconds", 30)
        limit = time.monotonic() + grace
        if "sleep" in hook and grace:
            time.sleep(min(hook["sleep"]["seconds"], grace))
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(max(limit - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self.kubelet.note(self.pod, "did not end within its grace period")
        self.kill()
        self.finish()

    def finish(self):
        while not self.kubelet.stopping.is_set():
            try:
                return self.api.delete(self.path, 0)
            except TROUBLE as error:
                self.kubelet.note(self.pod, str(error))
                time.sleep(EVERY)
        return None

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Kubelet(threading.Thread):
    """Polls for pods of the gate and makes a Pod for each."""

    def __init__(self, api, folder, image, network, admin_port, server):
        super().__init__(daemon=True, name="kubelet")
        self.api, self.folder, self.image, self.admin_port = api, pathlib.Path(folder), image, admin_port
        self.images = {}  # tag of an image: another file tree for it
        self.addresses = (f"{network}.{n // 250}.{n % 250 + 1}" for n in itertools.count())
        self.environment = {"PATH": "/usr/bin:/bin", "KUBERNETES_SERVICE_HOST": server[0],
                            "KUBERNETES_SERVICE_PORT": str(server[1])}
        self.pods, self.notes, self.stopping = {}, [], threading.Event()
        self.folder.mkdir(parents=True, exist_ok=True)

    def note(self, pod, text):
        line = f"{moment()} {pod['metadata']['name']}: {text}"
        if not self.notes or self.notes[-1][21:] != line[21:]:
            self.notes.append(line)
            with open(self.folder / "kubelet.log", "a", encoding="utf-8") as log:
                log.write(line + "\n")

    def run(self):
        while not self.stopping.wait(EVERY):
            try:
                found = self.api.get(f"/api/v1/pods?labelSelector={LABEL}")["items"]
            except TROUBLE:
                continue  # the server is unreachable; the pods keep running
            self.look(found)

    def look(self, found):
        for pod in found:
            uid = pod["metadata"]["uid"]
            if uid not in self.pods and pod["spec"].get("nodeName"):
                self.pods[uid] = Pod(self, pod, next(self.addresses))
                self.pods[uid].start()
            if uid in self.pods and pod["metadata"].get("deletionTimestamp"):
                self.pods[uid].pod = pod
                self.pods[uid].deleted.set()
        there = {pod["metadata"]["uid"] for pod in found}
        for uid in [uid for uid in self.pods if uid not in there]:
            gone = self.pods.pop(uid)  # deleted by force
            gone.deleted.set()

    def of(self, namespace):
        """The existing Pods of a namespace, by name."""
        return {each.pod["metadata"]["name"]: each for each in list(self.pods.values())
                if each.pod["metadata"]["namespace"] == namespace and not each.deleted.is_set()}

    def stop(self):
        self.stopping.set()
        self.join(10)
        for pod in list(self.pods.values()):
            pod.deleted.set()
            pod.kill()
        for pod in list(self.pods.values()):
            pod.join(10)
