#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Values with which the gate could never admit anything are refused by a sentence. Needs no cluster; HELM as in chart.py."""
import json
import unittest

from chart import CHART, KEY, NAMESPACE, helm
from test_templates import CA, SMALLEST, entries, made, merged

OTHER = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"
TWO = {"keyring": {"keys": {"release-2026": KEY, "second": OTHER}}}
NO_DOCUMENT = "no document of the kind could be valid; two ids with the same key count once; add keys or lower the threshold"

PRIVATE = ("{} has a private key, which everyone could read who can read the objects of the chart: remove its block, and make a new key "
           "if this one was in use")


def refusal(more, base=None, namespace=NAMESPACE):
    """The sentences of the chart, or an empty list if it accepts the values."""
    values = merged(SMALLEST if base is None else base, more)
    status, _, error = helm("template", "sandgate", CHART, "--namespace", namespace, "--values", "-", stdin=json.dumps(values))
    if status == 0:
        return []
    lines = [line[2:] for line in error.split("\n") if line.startswith("- ")]
    return lines or [error]


class Case(unittest.TestCase):
    maxDiff = None

    def assert_refused(self, more, *sentences, base=None):
        with self.subTest(more=more):
            self.assertEqual(refusal(more, base), list(sentences))


class Thresholds(Case):
    def test_more_than_the_number_of_keys(self):
        too_few = ("config.keyring.threshold is {}, but keyring.keys has only {}: no document could be valid, and every judged pod "
                   "would be denied; two ids with the same key count once; add keys or lower the threshold")
        two = {"config": {"keyring": {"threshold": 2}}}
        self.assert_refused(two, too_few.format(2, 1))
        self.assert_refused(merged(two, TWO))
        self.assert_refused(merged(TWO, {"config": {"keyring": {"threshold": 3}}}), too_few.format(3, 2))
        # the same key under two ids, once with other line ends
        self.assert_refused(merged(two, {"keyring": {"keys": {"again": KEY.replace("\n", "\r\n")}}}), too_few.format(2, 1))
        # the keys in a ConfigMap are not known
        self.assert_refused(merged(two, {"keyring": {"existingConfigMap": "mine"}}), base={})

    def test_more_than_the_keys_of_a_kind(self):
        def kinds(**signers):
            return {"config": {"keyring": {"kinds": signers}}}

        for kind in ("SandboxRequirements", "SandboxBaseline", "SandboxExemption"):
            self.assert_refused(kinds(**{kind: {"threshold": 2}}),
                                f"config.keyring.kinds.{kind}.threshold is 2, but keyring.keys has only 1: {NO_DOCUMENT}")
            self.assert_refused(merged(TWO, kinds(**{kind: {"threshold": 2, "keys": ["second"]}})),
                                f"config.keyring.kinds.{kind} needs 2 signatures, but has only 1 keys: {NO_DOCUMENT}")
            # also with keys that the chart does not know, and with one id twice
            self.assert_refused(merged(kinds(**{kind: {"threshold": 2, "keys": ["a", "a"]}}), {"keyring": {"existingConfigMap": "x"}}),
                                f"config.keyring.kinds.{kind} needs 2 signatures, but has only 1 keys: {NO_DOCUMENT}", base={})
            self.assert_refused(merged(TWO, kinds(**{kind: {"threshold": 2}})))
            self.assert_refused(kinds(**{kind: {"keys": ["release-2026"]}}))
        inherited = merged(TWO, {"config": {"keyring": {"threshold": 2, "kinds": {"SandboxBaseline": {"keys": ["second"]}}}}})
        self.assert_refused(inherited, f"config.keyring.kinds.SandboxBaseline needs 2 signatures, but has only 1 keys: {NO_DOCUMENT}")

    def test_no_key_for_a_kind(self):
        none = f"config.keyring.kinds.{{}} needs 1 signatures, but has only 0 keys: {NO_DOCUMENT}"

        def kinds(kind, **more):
            return {"config": {"keyring": {"kinds": {kind: {"keys": []}}}, **more}}

        self.assert_refused(kinds("SandboxRequirements"), none.format("SandboxRequirements"))
        self.assert_refused(kinds("SandboxBaseline", evidence={"minBaselines": 1}), none.format("SandboxBaseline"))
        self.assert_refused(kinds("SandboxBaseline"))
        self.assert_refused(kinds("SandboxExemption"))

    def test_a_document_without_enough_signatures(self):
        def values(*ids, kind="SandboxBaseline", **keyring):
            return {"evidence": {"documents": {"x": {"document": f"kind: {kind}\n", "signatures": {id: "AAAA" for id in ids}}}},
                    "config": {"keyring": keyring}}

        text = ("evidence.documents.x has signatures of {} different keys that count for a SandboxBaseline, but {} are needed: it would "
                "never be valid; add signatures, or their keys to keyring.keys")
        self.assert_refused(values("release-2026"))
        self.assert_refused(values("unknown"), text.format(0, 1))
        self.assert_refused(merged(TWO, values("second", threshold=2)), text.format(1, 2))
        self.assert_refused(merged(TWO, values("second", "release-2026", threshold=2)))
        self.assert_refused(merged(TWO, values("second", kinds={"SandboxBaseline": {"keys": ["release-2026"]}})), text.format(0, 1))
        self.assert_refused(merged(values("unknown"), {"keyring": {"existingConfigMap": "mine"}}), base={})


class Reach(Case):
    SECRET = {"tls": {"mode": "secret", "secret": {"name": "s"}}, "webhook": {"caBundle": CA}}

    def test_no_way_to_the_api_server(self):
        sentence = ("networkPolicy.egress is an empty list, so the gate could not reach the API server and would never be ready: "
                    "allow the API server, or set null for no limit")
        closed = {"networkPolicy": {"egress": []}}
        self.assert_refused(closed, sentence)
        directory = {"evidence": {"source": "directory", "directory": "/e"}}
        self.assert_refused(merged(closed, directory), sentence)
        for more in (merged(directory, self.SECRET), {"hostNetwork": True}, {"networkPolicy": {"enabled": False}},
                     {"networkPolicy": {"egress": [{}]}}):
            self.assert_refused(merged(closed, more))

    def test_a_user_namespace_in_the_network_of_the_node(self):
        self.assert_refused({"hostNetwork": True, "hostUsers": False}, "hostUsers is false and hostNetwork is true: the API server "
                            "refuses such pods; set one of them otherwise")

    def test_a_file_that_could_not_be_written(self):
        sentence = ("config.decisionLog.path is a file, and the root file system is read-only: mount a volume for it with extraVolumes and "
                    "extraVolumeMounts")
        self.assert_refused({"config": {"decisionLog": {"path": "/var/log/x"}}}, sentence)
        self.assert_refused({"config": {"decisionLog": {"path": "/dev/null"}}})
        for mount, path, *sentences in (("/var//log/", "/var/log/x"), ("/var/log", "/var/log/../x", sentence), ("/", "/x")):
            self.assert_refused({"config": {"decisionLog": {"path": path}}, "extraVolumes": [{"name": "x", "emptyDir": {}}],
                                 "extraVolumeMounts": [{"name": "x", "mountPath": mount}]}, *sentences)

    def test_a_body_smaller_than_any_review(self):
        sentence = "config.limits.maxBodyBytes is less than 16384: reviews of ordinary pods are larger, and all of them would be refused"
        self.assert_refused({"config": {"limits": {"maxBodyBytes": 16383}}}, sentence)
        self.assert_refused({"config": {"limits": {"maxBodyBytes": 16384}}})

    def test_a_quota_without_room_for_an_update(self):
        sentence = ("resourceQuota.pods must be more than the number of gates (replicaCount or autoscaling.maxReplicas): an update "
                    "starts a new gate before it stops an old one")
        self.assert_refused({"resourceQuota": {"pods": 2}}, sentence)
        self.assert_refused({"resourceQuota": {"pods": 3}})
        self.assert_refused({"resourceQuota": {"pods": 6}, "autoscaling": {"enabled": True}}, sentence)
        self.assert_refused({"resourceQuota": {"pods": 7}, "autoscaling": {"enabled": True}})
        self.assert_refused({"resourceQuota": {"pods": 1}, "priorityClassName": "high"})

    def test_a_gate_outside_of_the_cluster_has_its_own_configuration(self):
        made({"webhook": {"url": "https://g.example/v", "caBundle": CA}, "config": {"keyring": {"threshold": 9}}}, base={})


class Texts(Case):
    def test_pem_in_one_line(self):
        def sentence(path, kind, file):
            return (f"{path} has no complete {kind} block with line breaks: give the file with --set-file {path}=<{file}>, "
                    "or write the value as a block (|)")

        for bad in (KEY.replace("\n", ""), KEY.replace("\n", " "), KEY.replace("\n", "\\n"), KEY.split("-----END")[0]):
            self.assert_refused({"keyring": {"keys": {"x": bad}}}, sentence("keyring.keys.x", "PUBLIC KEY", "file.pem"))
        for good in (KEY.strip(), "a comment\n" + KEY, KEY.replace("\n", "\r\n")):
            self.assert_refused({"keyring": {"keys": {"x": good}}})
        line = CA.replace("\n", " ")
        self.assert_refused({"tls": {"clientCA": line, "clientNames": ["a"]}}, sentence("tls.clientCA", "CERTIFICATE", "ca.pem"))
        self.assert_refused({"tls": {"mode": "secret", "secret": {"name": "s"}}, "webhook": {"caBundle": line}},
                            sentence("webhook.caBundle", "CERTIFICATE", "ca.pem"))
        self.assert_refused({"webhook": {"url": "https://g.example/v", "caBundle": line}},
                            sentence("webhook.caBundle", "CERTIFICATE", "ca.pem"), base={})

    def test_a_private_key_in_a_text_that_is_published(self):
        secret = {"tls": {"mode": "secret", "secret": {"name": "s"}}}
        clients = {"clientNames": ["a"]}

        def block(kind):
            return f"-----BEGIN {kind}-----\nMIIB\n-----END {kind}-----\n"

        for kind in ("PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
            self.assert_refused({"tls": {"clientCA": CA + block(kind), **clients}}, PRIVATE.format("tls.clientCA"))
        key = block("PRIVATE KEY")
        for text in (CA + key, key + CA, "a comment\n" + key + CA, CA + key.split("MIIB")[1], CA + key.replace("\n", " ")):
            self.assert_refused(merged(secret, {"webhook": {"caBundle": text}}), PRIVATE.format("webhook.caBundle"))
        self.assert_refused({"webhook": {"url": "https://g.example/v", "caBundle": CA + key}}, PRIVATE.format("webhook.caBundle"), base={})
        for more, path in (({"webhook": {"annotations": {"x/y": key}}}, "webhook.annotations.x/y"),
                           ({"tls": {"clientCA": CA, "clientNames": ["a", key]}}, "tls.clientNames[1]"),
                           ({"extraEnv": [{"name": "X", "value": key}]}, "extraEnv[0].value"),
                           ({"evidence": {"documents": {"x": {"document": key, "signatures": {"release-2026": "AA"}}}}},
                            "evidence.documents.x.document"),
                           ({"commonAnnotations": {"a": key}}, "commonAnnotations.a")):
            self.assert_refused(more, PRIVATE.format(path))
        for more in (merged(secret, {"webhook": {"caBundle": "a comment\n" + CA + CA}}), {"extraObjects": [{"kind": "Secret", "metadata": {
                "name": "s"}, "stringData": {"tls.key": key}}]}, {"global": {"other": key}},
                {"commonAnnotations": {"a": "no PRIVATE KEY is here"}}):
            self.assert_refused(more)

    def test_names_of_images(self):
        sentence = "{} is {}: write it without https:// or another scheme, and without a slash at its beginning or end"
        apart = "image.repository has a tag or a digest: write it in image.tag or image.digest"
        for name in ("a/b:1", "b:1", "a/b@sha256:" + "a" * 64, "a/b:", "r.example:5000/b:1"):
            self.assert_refused({"image": {"repository": name}}, apart)
        for name in ("ghcr.io/", "https://ghcr.io", "oci://ghcr.io/a", "/ghcr.io"):
            self.assert_refused({"image": {"registry": name}}, sentence.format("image.registry", name))
            self.assert_refused({"global": {"imageRegistry": name}}, sentence.format("global.imageRegistry", name))
        for name in ("a/b/", "/b", "https://r.example/b"):
            self.assert_refused({"image": {"repository": name}}, sentence.format("image.repository", name))
        for image in ({"registry": "r.example:5000/mirror"}, {"registry": "", "repository": "r.example:5000/b"}):
            self.assert_refused({"image": image})

    def test_listen_host(self):
        wrong = "listenHost must be an IPv4 address, a host name, or an IPv6 address in brackets, as in [::]"
        loopback = "listenHost is a loopback address, which neither the API server nor the kubelet can reach: use [::] or 0.0.0.0"
        for host in ("::", "::1", "fd00::1", "[::", "a b", "0.0.0.0:80"):
            self.assert_refused({"listenHost": host}, wrong)
        for host in ("127.0.0.1", "localhost", "[::1]", "[0:0:0:0:0:0:0:1]"):
            self.assert_refused({"listenHost": host}, loopback)
        for host in ("[::]", "0.0.0.0", "[fd00::1]", "192.0.2.1", "gate.example"):
            self.assert_refused({"listenHost": host})

    def test_kube_system_by_an_override(self):
        self.assert_refused({"namespaceOverride": "kube-system"}, "the gate must not be installed in kube-system: exemptions and "
                            "baselines are valid in the gate's namespace, so anyone who can write there could make them; install it "
                            "in a separate namespace")

    def test_namespaces_in_which_others_work(self):
        sentence = ("the gate must not be installed in {}: its pods would not be judged, and exemptions and baselines of anyone who can "
                    "write there would be valid in the whole cluster; name a separate namespace with -n (--namespace), and with "
                    "--create-namespace if it does not exist")
        url = {"webhook": {"url": "https://g.example/v", "caBundle": CA}}
        for namespace in ("default", "kube-public", "kube-node-lease"):
            self.assertEqual(refusal({}, namespace=namespace), [sentence.format(namespace)])
            self.assertEqual(refusal(url, {}, namespace=namespace), [sentence.format(namespace)])
            self.assert_refused({"namespaceOverride": namespace}, sentence.format(namespace))
        self.assertEqual(refusal({"namespaceOverride": "sandgate-system"}, namespace="default"), [])

    def test_more_namespaces_than_the_gate_reads(self):
        error = refusal({"evidence": {"namespaces": [f"n{i}" for i in range(65)]}})
        self.assertIn("at '/evidence/namespaces': maxItems: got 65, want 64", error[0])


class Certificates(Case):
    def test_cert_manager(self):
        hour = "tls.certManager.duration must be at least 1h: cert-manager refuses less"
        minutes = "tls.certManager.renewBefore must be at least 5m: cert-manager refuses less"
        before = ("tls.certManager.renewBefore must be less than tls.certManager.duration: otherwise a certificate is to be renewed "
                  "before it is made")
        ca = "tls.certManager.caDuration must be at least tls.certManager.duration: a certificate cannot outlive its CA"
        name = "tls.certManager.issuerRef has no name: name the issuer, or leave issuerRef empty so that the chart makes one"
        for values, *sentences in (({"issuerRef": {"kind": "ClusterIssuer"}}, name), ({"renewBefore": "2160h"}, before),
                                   ({"renewBefore": "2159h59m59s"},), ({"duration": "59m59s", "renewBefore": "5m"}, hour),
                                   ({"renewBefore": "4m59s"}, minutes), ({"caDuration": "2159h"}, ca),
                                   ({"caDuration": "1h", "issuerRef": {"name": "x"}},)):
            self.assert_refused({"tls": {"mode": "certManager", "certManager": values}}, *sentences)
        self.assertIn("minLength", refusal({"tls": {"mode": "certManager", "certManager": {"duration": ""}}})[0])


class Scaling(Case):
    def test_autoscaling(self):
        for values, *sentences in (
                ({"maxReplicas": 1}, "autoscaling.maxReplicas is less than autoscaling.minReplicas"),
                ({"targetCPUUtilizationPercentage": None}, "autoscaling has no metric: set autoscaling.targetCPUUtilizationPercentage, "
                                                           "targetMemoryUtilizationPercentage or metrics"),
                ({"targetCPUUtilizationPercentage": None, "metrics": [{"type": "Pods"}]},)):
            self.assert_refused({"autoscaling": {"enabled": True, **values}}, *sentences)
        self.assert_refused({"autoscaling": {"enabled": True}, "resources": {"requests": {"cpu": None}}},
                            "autoscaling by cpu needs resources.requests.cpu: the target is a share of it")


class Pods(Case):
    """What the API server would refuse after the webhook configuration has been made."""

    def test_an_update_that_could_not_begin(self):
        sentence = ("updateStrategy.rollingUpdate has maxSurge 0 and maxUnavailable 0, with which no update could begin: set one of them "
                    "to more")
        for surge in (0, "0%"):
            for unavailable in (0, "0%"):
                self.assert_refused({"updateStrategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}, sentence)
        for rolling in ({"maxSurge": 0, "maxUnavailable": "1%"}, {"maxSurge": None}, {"maxSurge": 0, "maxUnavailable": None}):
            self.assert_refused({"updateStrategy": {"rollingUpdate": rolling}})
        self.assert_refused({"updateStrategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 0}}})


    def test_requests_above_limits(self):
        default = ("resources.requests.memory is more than the limit, which is {} as long as resources.limits.memory is not set: set it, "
                   "or request less")
        less = "resources.limits.{0} is less than resources.requests.{0}: the API server refuses such pods"
        unreadable = "resources.{} must be a quantity such as {}"
        for requests, limits, *sentences in (
                ({"memory": "273Mi"}, {}, default.format("272Mi")), ({"memory": "272Mi"}, {}), ({"memory": 285212673}, {}, default.format("272Mi")),
                ({"memory": "513Mi"}, {"memory": "512Mi"}, less.format("memory")), ({"memory": "1Ti"}, {"memory": "1T"}, less.format("memory")),
                ({"memory": "0.5Gi"}, {"memory": "512Mi"}), ({"memory": "9Ti"}, None),
                ({}, {"cpu": "49m"}, less.format("cpu")), ({}, {"cpu": "50m"}), ({"cpu": 1}, {"cpu": "999m"}, less.format("cpu")),
                ({"cpu": "0.07"}, {"cpu": "70m"}), ({"cpu": 0.5}, {"cpu": 0.4}, less.format("cpu")), ({"cpu": None}, {"cpu": "1m"}),
                ({"ephemeral-storage": "2Mi"}, {"ephemeral-storage": "1M"}, less.format("ephemeral-storage")),
                ({"cpu": "50 m"}, {}, unreadable.format("requests.cpu", "500m")), ({}, {"cpu": "x"}, unreadable.format("limits.cpu", "500m")),
                ({"cpu": {"a": 1}}, {}, unreadable.format("requests.cpu", "500m")), ({"cpu": "-1"}, {}, unreadable.format("requests.cpu", "500m")),
                ({"memory": "64MB"}, {}, unreadable.format("requests.memory", "64Mi"))):
            self.assert_refused({"resources": {"requests": requests, "limits": limits}}, *sentences)


    def test_a_time_to_be_ready_longer_than_the_progress_deadline(self):
        self.assert_refused({"minReadySeconds": 600}, "minReadySeconds must be less than 600: the API server refuses a Deployment that "
                            "must not be ready before its progress deadline, 600 s")
        self.assert_refused({"minReadySeconds": 599})

    def test_no_name_server(self):
        sentence = "dnsPolicy is None, so dnsConfig.nameservers must name a server: the API server refuses pods without one"
        for config in ({}, {"searches": ["a"]}, {"nameservers": []}):
            self.assert_refused({"dnsPolicy": "None", "dnsConfig": config}, sentence)
        self.assert_refused({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["192.0.2.1"]}})

    def test_numbers_that_the_api_server_keeps_for_itself(self):
        self.assert_refused({"flowSchema": {"matchingPrecedence": 1}}, "at '/flowSchema/matchingPrecedence': minimum: got 1, want 2")
        conditions = [{"name": f"c{i}", "expression": "true"} for i in range(62)]
        self.assert_refused({"webhook": {"matchConditions": conditions}}, "at '/webhook/matchConditions': maxItems: got 62, want 61")
        most = entries(made({"webhook": {"matchConditions": conditions[1:]}}))
        self.assertEqual(max(len(entry["matchConditions"]) for entry in most.values()), 64)


class Lists(Case):
    """Members of free lists and maps that templates read."""

    def test_members_that_templates_read(self):
        log = {"config": {"decisionLog": {"path": "/x/y"}}}
        for more, where in (({"extraVolumes": [{}]}, "at '/extraVolumes/0': missing property 'name'"),
                            ({"extraContainers": [{"name": 7}]}, "at '/extraContainers/0/name': got number, want string"),
                            (merged(log, {"extraVolumeMounts": [{"name": "a"}]}), "at '/extraVolumeMounts/0': missing property 'mountPath'"),
                            (merged(log, {"extraVolumeMounts": [{"name": "a", "mountPath": 7}]}),
                             "at '/extraVolumeMounts/0/mountPath': got number, want string"),
                            ({"updateStrategy": {"rollingUpdate": "x"}, "hostNetwork": True},
                             "at '/updateStrategy/rollingUpdate': got string, want null or object"),
                            ({"updateStrategy": {"rollingUpdate": {"maxSurge": -1}}},
                             "at '/updateStrategy/rollingUpdate/maxSurge': 'oneOf' failed, none matched"),
                            ({"resources": {"limits": "x"}}, "at '/resources/limits': got string, want null or object")):
            with self.subTest(where):
                self.assertEqual(refusal(more), [where])


class Names(Case):
    def test_what_would_be_rendered_twice(self):
        mark = "sandgate.runx.dev/restart-on-change"
        volume, mount = {"name": "keys", "emptyDir": {}}, {"name": "x", "mountPath": "/etc/sandgate/keys/"}
        twice = {"name": "a", "image": "x"}
        document = {"document": "a: b", "signatures": {"x": "y"}}
        condition = {"name": "mine", "expression": "true"}
        for more, sentence in (
                ({"podAnnotations": {mark: "x"}}, f"podAnnotations has {mark}, which the chart sets itself: remove it"),
                ({"commonAnnotations": {mark: "x"}}, f"commonAnnotations has {mark}, which the chart sets itself: remove it"),
                ({"extraVolumes": [volume]}, "extraVolumes contains the name keys, which the chart uses itself: choose another name"),
                ({"extraVolumeMounts": [mount]}, "extraVolumeMounts has the mountPath /etc/sandgate/keys, which the chart uses itself: "
                                                 "choose another path"),
                ({"extraContainers": [{"name": "sandgate", "image": "x"}]},
                 "extraContainers contains the name sandgate, which the chart uses itself: choose another name"),
                ({"extraContainers": [twice, twice]}, "extraContainers contains the name a twice"),
                ({"extraInitContainers": [{"name": "sandgate", "image": "x"}]},
                 "extraInitContainers contains the name sandgate, which the chart uses itself: choose another name"),
                ({"extraContainers": [twice], "extraInitContainers": [twice]},
                 "extraInitContainers and extraContainers both contain the name a: choose another name"),
                ({"tests": {"podAnnotations": {"sandbox.runx.dev/image-digest": "x"}}}, "tests.podAnnotations has "
                 "sandbox.runx.dev/image-digest: with another annotation of the gate the test would test something else; remove it"),
                ({"webhook": {"matchConditions": [condition, condition]}}, "webhook.matchConditions contains the name mine twice"),
                ({"evidence": {"documents": {"sandgate-config": document}}}, "evidence.documents has the name sandgate-config, which is "
                                                                             "the name of another ConfigMap of the gate: choose another name")):
            self.assert_refused(more, sentence)

    def test_mount_paths_written_in_another_way(self):
        for written, path in (("/etc/sandgate//config", "/etc/sandgate/config"), ("/etc/./sandgate/keys/", "/etc/sandgate/keys"),
                              ("/etc/x/../sandgate/tls", "/etc/sandgate/tls"), ("//etc/sandgate", "/etc/sandgate")):
            self.assert_refused({"extraVolumeMounts": [{"name": "x", "mountPath": written}]},
                                f"extraVolumeMounts has the mountPath {path}, which the chart uses itself: choose another path")
        self.assert_refused({"extraVolumeMounts": [{"name": "x", "mountPath": "/etc/sandgate/evidence/"}]})

    def test_names_that_the_gate_reads(self):
        text = "{} has {}, which the gate reads: it would take objects of the chart for evidence, or change the test; remove it"
        for key in ("sandbox.runx.dev/evidence", "signature.sandbox.runx.dev/a"):
            for path in ("commonLabels", "commonAnnotations", "global.commonLabels", "metrics.dashboard.labels"):
                more = {key: "true"}
                for part in reversed(path.split(".")):
                    more = {part: more}
                self.assert_refused(more, text.format(path, key))
        self.assert_refused({"commonAnnotations": {"Sandbox.Runx.dev/x": "y"}}, text.format("commonAnnotations", "Sandbox.Runx.dev/x"))
        self.assert_refused({"commonLabels": {"sandgate.runx.dev/x": "y", "mysandbox.runx.dev/x": "y"}})


if __name__ == "__main__":
    unittest.main()
