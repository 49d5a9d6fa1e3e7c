#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The objects that the chart renders from its values. Needs no cluster. HELM is the path of the helm program; the default is
helm on the path."""
import base64
import json
import pathlib
import tempfile
import unittest

import yaml

from chart import CHART, KEY, NAMESPACE, VALUE_SETS, helm, render

SMALLEST = {"keyring": {"keys": {"release-2026": KEY}}}
# the first 8 characters of the SHA-256 of "sandgate-system/sandgate"
TEST = "sandgate-test-5ff5b69b"
CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def merged(base, more):
    """base with the values of more, merged as Helm merges maps."""
    result = dict(base)
    for key, value in more.items():
        result[key] = merged(base[key], value) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
    return result


def made(more=None, base=None, **where):
    """(kind, name): object"""
    items = render(values=merged(SMALLEST if base is None else base, more or {}), **where)
    return {(item["kind"], item["metadata"]["name"]): item for item in items}


def configuration(items):
    return yaml.safe_load(items["ConfigMap", "sandgate-config"]["data"]["gate.yaml"])


def entries(items):
    return {entry["name"]: entry for entry in items["ValidatingWebhookConfiguration", "sandgate"]["webhooks"]}


def pod(items):
    return items["Deployment", "sandgate"]["spec"]["template"]["spec"]


class Objects(unittest.TestCase):
    maxDiff = None

    def test_objects_of_the_smallest_installation(self):
        self.assertEqual(sorted(made()), [
            ("ClusterRole", "sandgate"), ("ClusterRoleBinding", "sandgate"), ("ConfigMap", "sandgate-config"),
            ("ConfigMap", "sandgate-keyring"), ("Deployment", "sandgate"), ("Job", TEST),
            ("Namespace", TEST), ("NetworkPolicy", "sandgate"), ("PodDisruptionBudget", "sandgate"),
            ("ResourceQuota", "sandgate"), ("Role", "sandgate-tls"), ("RoleBinding", "sandgate-tls"),
            ("Secret", "sandgate-tls"), ("Service", "sandgate"), ("ServiceAccount", "sandgate"),
            ("ValidatingWebhookConfiguration", "sandgate")])

    def test_objects_for_a_gate_outside_of_the_cluster(self):
        items = made({"webhook": {"url": "https://gate.example.com/validate", "caBundle": CA}}, base={})
        self.assertEqual(sorted(items), [
            ("ClusterRole", "sandgate"), ("ClusterRoleBinding", "sandgate"), ("Job", TEST),
            ("Namespace", TEST), ("ServiceAccount", "sandgate"),
            ("ValidatingWebhookConfiguration", "sandgate")])
        for entry in entries(items).values():
            self.assertEqual(entry["clientConfig"], {"url": "https://gate.example.com/validate",
                                                     "caBundle": base64.b64encode(CA.encode()).decode()})
        self.assertEqual(items["ClusterRole", "sandgate"]["rules"], [
            {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": ["get", "list", "watch"]}])

    CLUSTER_WIDE = ("ClusterRole", "ClusterRoleBinding", "FlowSchema", "Namespace", "ValidatingWebhookConfiguration")

    def test_every_object_names_its_namespace(self):
        everything = render("--values", CHART / "ci" / "everything-values.yaml")
        for item in [*render(values=SMALLEST), *render(values=merged(SMALLEST, {"tls": {"mode": "certManager"}})), *everything]:
            if item["metadata"]["name"] in ("as-map", "as-text"):  # extraObjects are as given
                continue
            expected = None if item["kind"] in self.CLUSTER_WIDE else TEST if item["kind"] == "Job" else NAMESPACE
            if item["kind"] in ("ServiceMonitor", "PrometheusRule") or item["metadata"]["name"].endswith("-dashboard"):
                expected = "monitoring"
            self.assertEqual(item["metadata"].get("namespace"), expected, item["kind"])

    def test_namespace_override(self):
        def look(value):
            if isinstance(value, dict):
                for key, item in value.items():
                    look(key)
                    look(item)
            elif isinstance(value, list):
                for item in value:
                    look(item)
            elif isinstance(value, str):
                self.assertNotIn("sandgate-system", value)

        more = {"namespaceOverride": "elsewhere", "metrics": {"enabled": True, "serviceMonitor": {"enabled": True},
                                                              "prometheusRule": {"enabled": True}}}
        for values in (more, {**more, "tls": {"mode": "certManager"}}, {**more, "evidence": {"namespaces": ["a"]}}):
            items = made(values)
            for item in items.values():
                look(item)
            self.assertEqual(items["Deployment", "sandgate"]["metadata"]["namespace"], "elsewhere")
            self.assertEqual(configuration(items)["evidence"]["namespace"], "elsewhere")

    def test_labels(self):
        items = made({"commonLabels": {"team": "a", "app.kubernetes.io/name": "not this"}, "commonAnnotations": {"b": "c"}})
        for (kind, name), item in items.items():
            with self.subTest(kind=kind, name=name):
                labels = item["metadata"]["labels"]
                self.assertEqual({key: labels[key] for key in (
                    "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by",
                    "app.kubernetes.io/part-of", "team")},
                    {"app.kubernetes.io/name": "sandgate", "app.kubernetes.io/instance": "sandgate",
                     "app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/part-of": "sandgate", "team": "a"})
                self.assertEqual(item["metadata"]["annotations"]["b"], "c")

    def test_names(self):
        self.assertIn(("Deployment", "x-sandgate"), made(release="x"))
        self.assertIn(("Deployment", "my-sandgate"), made(release="my-sandgate"))
        self.assertIn(("Deployment", "gate"), made({"fullnameOverride": "gate"}))
        longest = made(release="x" * 53)
        for kind, name in longest:
            self.assertLessEqual(len(name), 63, kind)

    def test_names_that_look_like_numbers_or_booleans_stay_strings(self):
        def look(where, key, value):
            if isinstance(value, dict):
                for inner, item in value.items():
                    text = key in ("labels", "annotations", "matchLabels") or inner in TEXTS
                    look(f"{where}.{inner}", inner, item)
                    if text and not isinstance(item, dict):
                        self.assertIsInstance(item, str, f"{where}.{inner}")
            elif isinstance(value, list):
                for item in value:
                    look(where, key, item)
                    if key in ("resourceNames", "matchNames", "values"):
                        self.assertIsInstance(item, str, where)

        TEXTS = ("name", "namespace", "serviceAccountName", "secretName")
        for full in ("on", "e1", "null"):
            for namespaces in ([], ["9", "0x1f"]):
                for item in render(namespace="5678", release="1234", values=merged(SMALLEST, {
                        "fullnameOverride": full, "nameOverride": "12", "evidence": {"namespaces": namespaces},
                        "tests": {"namespace": "9" if namespaces else ""},
                        "serviceAccount": {"name": "77"}, "metrics": {"enabled": True, "podMonitor": {"enabled": True}}})):
                    look(item["kind"], "", item)

    def test_kinds_of_operators_only_if_enabled(self):
        for item in made().values():
            self.assertNotIn(item["apiVersion"].split("/")[0], ("cert-manager.io", "monitoring.coreos.com"))

    def test_extra_objects(self):
        items = made({"extraObjects": ["kind: A\nmetadata: {name: '{{ .Release.Name }}'}",
                                       {"kind": "B", "metadata": {"name": "{{ .Release.Namespace }}"}}]})
        self.assertIn(("A", "sandgate"), items)
        self.assertIn(("B", NAMESPACE), items)

    def test_every_example_renders_and_lints(self):
        for values in VALUE_SETS:
            with self.subTest(values.name):
                self.assertGreater(len(render("--values", values)), 4)
                status, text, error = helm("lint", "--strict", CHART, "--namespace", NAMESPACE, "--values", values)
                self.assertEqual((status, error), (0, ""), text)

    def test_old_clusters_are_rejected(self):
        status, _, error = helm("template", "x", CHART, "--values", VALUE_SETS[0], "--kube-version", "1.29.9")
        self.assertEqual(status, 1)
        self.assertIn("chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.9", error)
        for version in ("1.30.0", "1.35.4-gke.100", "1.38.0-alpha.1"):
            self.assertEqual(helm("template", "x", CHART, "--namespace", NAMESPACE, "--values", CHART / "ci" / "default-values.yaml",
                                  "--kube-version", version)[0], 0, version)


class Configuration(unittest.TestCase):
    maxDiff = None

    def test_every_key_with_its_default(self):
        self.assertEqual(configuration(made()), {
            "apiVersion": "sandbox.runx.dev/v1", "kind": "GateConfiguration",
            "listen": {"webhook": "[::]:8443", "admin": "127.0.0.1:8080"},
            "tls": {"self": {"secret": "sandgate-tls", "webhookConfiguration": "sandgate",
                             "dnsNames": ["sandgate.sandgate-system.svc", "sandgate.sandgate-system.svc.cluster.local"],
                             "caDays": 3650, "certificateDays": 90}, "clientCA": "", "clientNames": []},
            "keyring": {"directory": "/etc/sandgate/keys", "threshold": 1, "kinds": {}},
            "evidence": {"source": "cluster", "directory": "", "namespace": NAMESPACE, "kubeconfig": "",
                         "unsigned": "refuse", "maxAgeDays": 30, "clockSkewSeconds": 60, "maxStaleSeconds": 180,
                         "revoked": [], "audience": "", "minBaselines": 0},
            "defaults": {"enforce": "annotated", "warn": "none", "audit": "none", "controllers": "warn"},
            "floor": {"enforce": "none", "warn": "none", "audit": "none"},
            "exempt": {"namespaces": [], "users": [], "runtimeClasses": []},
            "limits": {"maxBodyBytes": 20971520, "maxInFlight": 64, "maxInFlightBytes": 134217728,
                       "maxConnections": 1024, "threads": 0, "deadlineMarginMilliseconds": 500},
            "decisionLog": {"path": "-", "allowed": False}, "drainSeconds": 15})

    def test_what_becomes_of_the_spec_of_pods(self):
        found = configuration(made({"config": {"defaults": {"boundary": "warn"}, "floor": {"boundary": "record"}}}))
        self.assertEqual(found["defaults"], {"enforce": "annotated", "warn": "none", "audit": "none", "controllers": "warn",
                                             "boundary": "warn"})
        self.assertEqual(found["floor"], {"enforce": "none", "warn": "none", "audit": "none", "boundary": "record"})
        found = configuration(made({"config": {"defaults": {"boundary": "none"}, "floor": {"boundary": "block"}}}))
        self.assertEqual((found["defaults"]["boundary"], found["floor"]["boundary"]), ("none", "block"))

    def test_the_default_of_the_spec_of_pods_is_not_written_for_gates_that_do_not_know_the_key(self):
        found = configuration(made({"config": {"defaults": {"boundary": "record"}, "floor": {"boundary": "none"}}}))
        self.assertNotIn("boundary", found["defaults"])
        self.assertNotIn("boundary", found["floor"])
        self.assertNotIn("boundary", found)

    def test_values_are_written_unambiguously(self):
        text = made({"config": {"evidence": {"audience": "yes"}, "exempt": {"users": ["1e3", "a <b>", "\u2028"]}}})[
            "ConfigMap", "sandgate-config"]["data"]["gate.yaml"]
        self.assertIn('  audience: "yes"\n', text)
        self.assertIn('  users: ["1e3","a <b>","\\u2028"]\n', text)
        self.assertIn("  maxInFlightBytes: 134217728\n", text)

    def test_certificates_of_other_issuers_are_files(self):
        for tls in ({"mode": "certManager"}, {"mode": "secret", "secret": {"name": "serving"}}):
            items = made({"tls": tls, "webhook": {"caBundle": CA if tls["mode"] == "secret" else ""}})
            self.assertEqual(configuration(items)["tls"], {
                "certificate": "/etc/sandgate/tls/tls.crt", "key": "/etc/sandgate/tls/tls.key", "clientCA": "",
                "clientNames": []})
            volume = next(v for v in pod(items)["volumes"] if v["name"] == "tls")
            self.assertEqual(volume["secret"], {"secretName": tls.get("secret", {}).get("name", "sandgate-cert-manager"),
                                                "defaultMode": 0o440})

    def test_client_certificates(self):
        items = made({"tls": {"clientCA": CA, "clientNames": ["kube-apiserver"]}})
        self.assertEqual(configuration(items)["tls"]["clientCA"], "/etc/sandgate/config/client-ca.crt")
        self.assertEqual(items["ConfigMap", "sandgate-config"]["data"]["client-ca.crt"], CA)

    def test_admin_port_is_on_loopback_unless_scraped(self):
        self.assertEqual(configuration(made())["listen"]["admin"], "127.0.0.1:8080")
        self.assertEqual(configuration(made({"metrics": {"enabled": True}}))["listen"]["admin"], "[::]:8080")

    def test_without_webhook_no_webhook_configuration_is_written(self):
        items = made({"webhook": {"enabled": False}})
        self.assertNotIn(("ValidatingWebhookConfiguration", "sandgate"), items)
        self.assertEqual(configuration(items)["tls"]["self"]["webhookConfiguration"], "")
        self.assertEqual(items["ClusterRole", "sandgate"]["rules"], [
            {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": ["get", "list", "watch"]}])

    def test_keyring(self):
        self.assertEqual(made()["ConfigMap", "sandgate-keyring"]["data"], {"release-2026.pem": KEY})
        items = made({"keyring": {"existingConfigMap": "mine"}}, base={})
        self.assertNotIn(("ConfigMap", "sandgate-keyring"), items)
        self.assertIn({"name": "keys", "configMap": {"name": "mine"}}, pod(items)["volumes"])

    def test_documents_keep_their_bytes(self):
        document = 'a: "<b> & \\u00e9"\r\n# é\ttab  \n\n'
        items = made({"evidence": {"documents": {"freeze-2026": {
            "document": document, "signatures": {"a": "AAAA", "b.c": "BBBB"}}}}})
        item = items["ConfigMap", "freeze-2026"]
        self.assertEqual(item["data"], {"sandbox.yaml": document})
        self.assertEqual(item["metadata"]["labels"]["sandbox.runx.dev/evidence"], "true")
        self.assertEqual(item["metadata"]["annotations"], {"signature.sandbox.runx.dev/a": "AAAA",
                                                           "signature.sandbox.runx.dev/b.c": "BBBB"})

    def test_restart_only_for_settings_that_are_not_reloaded(self):
        def mark(more=None):
            return made(more)["Deployment", "sandgate"]["spec"]["template"]["metadata"]["annotations"][
                "sandgate.runx.dev/restart-on-change"]

        for same in ({"config": {"exempt": {"users": ["x"]}}}, {"config": {"keyring": {"kinds": {"SandboxExemption": {"keys": []}}}}},
                     {"keyring": {"keys": {"another": KEY}}}, {"config": {"limits": {"maxInFlight": 1}}},
                     {"config": {"decisionLog": {"allowed": True}}}):
            self.assertEqual(mark(same), mark(), same)
        for other in ({"config": {"limits": {"threads": 2}}}, {"webhook": {"securePort": 9443}},
                      {"metrics": {"enabled": True}}, {"evidence": {"namespaces": ["a"]}},
                      {"tls": {"self": {"certificateDays": 30}}}, {"boundary": {"networkPolicies": True}}):
            self.assertNotEqual(mark(other), mark(), other)


class Pods(unittest.TestCase):
    maxDiff = None

    def test_container(self):
        container = pod(made())["containers"][0]
        self.assertEqual(container["image"], "ghcr.io/runxhq/sandgate:0.1.0")
        self.assertEqual(container["args"], ["serve", "--config", "/etc/sandgate/config/gate.yaml", "--log-level", "info"])
        self.assertNotIn("command", container)
        self.assertEqual(container["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        self.assertEqual(container["lifecycle"], {"preStop": {"sleep": {"seconds": 5}}})
        self.assertEqual(container["ports"], [{"name": "https", "containerPort": 8443, "protocol": "TCP"}])
        for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
            self.assertEqual(container[probe]["httpGet"], {"path": path, "port": "https", "scheme": "HTTPS"})
        self.assertNotIn("cpu", container["resources"]["limits"])
        self.assertEqual([(m["name"], m["mountPath"], m["readOnly"]) for m in container["volumeMounts"]], [
            ("config", "/etc/sandgate/config", True), ("keys", "/etc/sandgate/keys", True)])
        for mount in container["volumeMounts"]:
            self.assertNotIn("subPath", mount)

    def test_memory_limit_is_what_the_limits_of_the_gate_add_up_to(self):
        for values, limits in (
                ({}, {"memory": "272Mi"}),
                ({"evidence": {"memory": "1Gi"}}, {"memory": "1264Mi"}),
                ({"config": {"limits": {"maxInFlightBytes": 268435457, "maxConnections": 1}}}, {"memory": "321Mi"}),
                ({"resources": {"limits": {"cpu": "2"}}}, {"memory": "272Mi", "cpu": "2"}),
                ({"resources": {"limits": {"memory": "272Mi"}}}, {"memory": "272Mi"}),
                ({"resources": {"limits": {"memory": "1.5Gi"}}}, {"memory": "1.5Gi"}),
                ({"resources": {"limits": {"memory": 285212672}}}, {"memory": 285212672}),
                ({"resources": {"limits": None}}, None)):
            resources = pod(made(values))["containers"][0]["resources"]
            self.assertEqual(resources.get("limits"), limits, values)
            self.assertEqual(resources["requests"], {"cpu": "50m", "memory": "64Mi"})

    def test_image(self):
        for image, expected in (
                ({"tag": "2"}, "ghcr.io/runxhq/sandgate:2"),
                ({"registry": "", "repository": "r/s"}, "r/s:0.1.0"),
                ({"digest": "sha256:" + "a" * 64}, "ghcr.io/runxhq/sandgate:0.1.0@sha256:" + "a" * 64)):
            self.assertEqual(pod(made({"image": image}))["containers"][0]["image"], expected)

    def test_what_a_parent_chart_sets_for_all(self):
        items = made({"enabled": True, "nodeSelector": {"a": "mine"}, "imagePullSecrets": [{"name": "own"}], "tests": {"namespace": "t"},
                      "global": {"imageRegistry": "mirror.example", "imagePullSecrets": ["shared", {"name": "own"}],
                                 "nodeSelector": {"a": "global", "pool": "system"}, "priorityClassName": "system-node-critical",
                                 "another": {"chart's": "value"}}})
        for spec in (pod(items), items["Job", TEST]["spec"]["template"]["spec"]):
            self.assertEqual(spec["containers"][0]["image"], "mirror.example/runxhq/sandgate:0.1.0")
            self.assertEqual(spec["imagePullSecrets"], [{"name": "own"}, {"name": "shared"}])
            self.assertEqual(spec["nodeSelector"], {"a": "mine", "pool": "system", "kubernetes.io/os": "linux"})
        self.assertEqual(items["ServiceAccount", "sandgate"]["imagePullSecrets"], [{"name": "own"}, {"name": "shared"}])
        self.assertEqual(pod(items)["priorityClassName"], "system-node-critical")
        self.assertEqual(items["ResourceQuota", "sandgate"]["spec"]["scopeSelector"]["matchExpressions"][0]["values"],
                         ["system-node-critical"])
        self.assertEqual(made({"global": None}), made({"global": {"imageRegistry": None, "imagePullSecrets": None}}))
        self.assertNotIn(("Job", TEST), made({"global": {"imagePullSecrets": ["x"]}}))

    def test_labels_that_a_parent_chart_sets_for_all(self):
        items = made({"commonLabels": {"team": "mine"}, "global": {"commonLabels": {"team": "global", "region": "eu"}}})
        for item in (*items.values(), items["Deployment", "sandgate"]["spec"]["template"]):
            self.assertEqual({key: item["metadata"]["labels"][key] for key in ("team", "region")}, {"team": "mine", "region": "eu"})

    def test_init_containers_and_user_namespaces(self):
        fetch = {"name": "fetch", "image": "x", "restartPolicy": "Always"}
        self.assertEqual(pod(made({"extraInitContainers": [fetch]}))["initContainers"], [fetch])
        for given, expected in ((None, None), (True, None), (False, False)):
            self.assertIs(pod(made({"hostUsers": given})).get("hostUsers"), expected)
        self.assertNotIn("initContainers", pod(made()))

    def test_as_a_subchart_with_a_condition(self):
        with tempfile.TemporaryDirectory() as name:
            parent = pathlib.Path(name) / "parent"
            (parent / "charts").mkdir(parents=True)
            (parent / "charts" / "sandgate").symlink_to(CHART)
            (parent / "Chart.yaml").write_text("apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n"
                                               "- {name: sandgate, version: 0.1.0, condition: sandgate.enabled}\n", encoding="utf-8")
            for enabled, expected in ((True, 1), (False, 0)):
                (parent / "values.yaml").write_text(json.dumps({
                    "global": {"imageRegistry": "r.example"}, "sandgate": {**SMALLEST, "enabled": enabled}}), encoding="utf-8")
                status, text, error = helm("template", f"x{expected}", parent, "--namespace", NAMESPACE)
                self.assertEqual(status, 0, error)
                self.assertEqual(text.count("kind: Deployment"), expected)
                self.assertEqual("image: \"r.example/runxhq/sandgate" in text, enabled)

    def test_pod(self):
        spec = pod(made())
        self.assertEqual(spec["securityContext"], {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532,
                                                   "fsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}})
        self.assertEqual(spec["priorityClassName"], "system-cluster-critical")
        self.assertEqual(spec["terminationGracePeriodSeconds"], 35)
        self.assertEqual([(c["topologyKey"], c["whenUnsatisfiable"]) for c in spec["topologySpreadConstraints"]], [
            ("topology.kubernetes.io/zone", "ScheduleAnyway"), ("kubernetes.io/hostname", "ScheduleAnyway")])

    def test_ids_of_users_can_be_left_to_openshift(self):
        spec = pod(made({"podSecurityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}}))
        self.assertEqual(spec["securityContext"], {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}})

    def test_token_only_where_needed(self):
        directory = {"evidence": {"source": "directory", "directory": "/e"}}
        secret = {"tls": {"mode": "secret", "secret": {"name": "s"}}, "webhook": {"caBundle": CA}}
        for more, expected in (({}, True), (secret, True), (directory, True), (merged(directory, secret), False)):
            items = made(more)
            self.assertIs(pod(items)["automountServiceAccountToken"], expected, more)
            self.assertIs(items["ServiceAccount", "sandgate"]["automountServiceAccountToken"], False)

    def test_rolling_update_keeps_all_replicas(self):
        spec = made()["Deployment", "sandgate"]["spec"]
        self.assertEqual(spec["replicas"], 2)
        self.assertEqual(spec["strategy"], {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}})  # type is the default
        self.assertEqual(made()["PodDisruptionBudget", "sandgate"]["spec"]["maxUnavailable"], 1)

    def test_autoscaling(self):
        items = made({"autoscaling": {"enabled": True, "targetMemoryUtilizationPercentage": 90, "behavior": {"scaleDown": {"policies": []}}}})
        self.assertNotIn("replicas", items["Deployment", "sandgate"]["spec"])
        share = {name: {"type": "Resource", "resource": {"name": name, "target": {"type": "Utilization", "averageUtilization": value}}}
                 for name, value in (("cpu", 80), ("memory", 90))}
        item = items["HorizontalPodAutoscaler", "sandgate"]
        self.assertEqual((item["apiVersion"], item["spec"]), ("autoscaling/v2", {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "sandgate"},
            "minReplicas": 2, "maxReplicas": 6, "metrics": [share["cpu"], share["memory"]],
            "behavior": {"scaleDown": {"policies": []}}}))
        self.assertNotIn(("HorizontalPodAutoscaler", "sandgate"), made())

    def test_the_number_of_replicas_can_be_left_to_others(self):
        self.assertNotIn("replicas", made({"replicaCount": None})["Deployment", "sandgate"]["spec"])

    def test_defaults_of_the_api_are_not_rendered(self):
        items = made()
        self.assertNotIn("minReadySeconds", items["Deployment", "sandgate"]["spec"])
        self.assertEqual(made({"minReadySeconds": 5})["Deployment", "sandgate"]["spec"]["minReadySeconds"], 5)
        self.assertNotIn("dnsPolicy", pod(items))
        self.assertEqual(pod(made({"dnsPolicy": "Default"}))["dnsPolicy"], "Default")
        self.assertIs(pod(items)["enableServiceLinks"], False)
        self.assertNotIn("enableServiceLinks", pod(made({"enableServiceLinks": True})))
        self.assertNotIn("type", items["Service", "sandgate"]["spec"])
        self.assertEqual(made({"service": {"type": "NodePort"}})["Service", "sandgate"]["spec"]["type"], "NodePort")
        for rolling in ({}, {"rollingUpdate": None}, {"rollingUpdate": {"maxSurge": 0}}):
            recreate = made({"updateStrategy": {"type": "Recreate", **rolling}})
            self.assertEqual(recreate["Deployment", "sandgate"]["spec"]["strategy"], {"type": "Recreate"}, rolling)
        for image, expected in (({}, None), ({"pullPolicy": "Always"}, "Always"), ({"tag": "latest"}, "IfNotPresent"),
                                ({"tag": "latest", "pullPolicy": "Always"}, None), ({"pullPolicy": "Never"}, "Never")):
            items = made({"image": image})
            for spec in (pod(items), items["Job", TEST]["spec"]["template"]["spec"]):
                self.assertEqual(spec["containers"][0].get("imagePullPolicy"), expected, image)
        self.assertNotIn("periodSeconds", pod(items)["containers"][0]["livenessProbe"])
        self.assertEqual(pod(made({"livenessProbe": {"periodSeconds": 9}}))["containers"][0]["livenessProbe"]["periodSeconds"], 9)

    def test_grace_period_covers_sleep_and_drain(self):
        self.assertEqual(pod(made({"preStopSleepSeconds": 10, "config": {"drainSeconds": 40}}))[
            "terminationGracePeriodSeconds"], 65)
        self.assertEqual(pod(made({"terminationGracePeriodSeconds": 31}))["terminationGracePeriodSeconds"], 31)
        self.assertNotIn("lifecycle", pod(made({"preStopSleepSeconds": 0}))["containers"][0])

    def test_selectors_have_no_version(self):
        items = made({"podLabels": {"a": "b"}})
        wanted = {"app.kubernetes.io/name": "sandgate", "app.kubernetes.io/instance": "sandgate",
                  "app.kubernetes.io/component": "gate"}
        for item, found in ((items["Deployment", "sandgate"], "matchLabels"), (items["PodDisruptionBudget", "sandgate"], "matchLabels")):
            self.assertEqual(item["spec"]["selector"][found], wanted)
        self.assertEqual(items["Service", "sandgate"]["spec"]["selector"], wanted)
        self.assertEqual(items["NetworkPolicy", "sandgate"]["spec"]["podSelector"]["matchLabels"], wanted)
        labels = items["Deployment", "sandgate"]["spec"]["template"]["metadata"]["labels"]
        self.assertEqual({**labels, **wanted, "a": "b"}, labels)
        # the pods of the test must not match the selectors of the gate
        self.assertNotEqual(items["Job", TEST]["spec"]["template"]["metadata"]["labels"][
            "app.kubernetes.io/component"], "gate")

    def test_network_policy(self):
        spec = made()["NetworkPolicy", "sandgate"]["spec"]
        self.assertEqual(spec["policyTypes"], ["Ingress"])
        self.assertEqual(spec["ingress"], [{"ports": [{"port": 8443, "protocol": "TCP"}]}])
        peers = [{"ipBlock": {"cidr": "192.0.2.0/24"}}]
        spec = made({"metrics": {"enabled": True}, "networkPolicy": {"from": peers, "metricsFrom": peers, "egress": peers}})[
            "NetworkPolicy", "sandgate"]["spec"]
        self.assertEqual(spec["policyTypes"], ["Ingress", "Egress"])
        self.assertEqual(spec["ingress"], [{"ports": [{"port": 8443, "protocol": "TCP"}], "from": peers},
                                           {"ports": [{"port": 8080, "protocol": "TCP"}], "from": peers}])
        self.assertEqual(spec["egress"], peers)

    def test_quota_only_for_system_classes(self):
        self.assertEqual(made()["ResourceQuota", "sandgate"]["spec"]["hard"], {"pods": "100"})
        self.assertNotIn(("ResourceQuota", "sandgate"), made({"priorityClassName": "high"}))

    def test_host_network(self):
        spec = pod(made({"hostNetwork": True}))
        self.assertEqual((spec["hostNetwork"], spec["dnsPolicy"]), (True, "ClusterFirstWithHostNet"))
        self.assertNotIn("hostNetwork", pod(made()))


class Permissions(unittest.TestCase):
    maxDiff = None
    READ = ["get", "list", "watch"]
    WRITE = ["get", "patch"]
    CONFIGURATION = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["validatingwebhookconfigurations"],
                     "resourceNames": ["sandgate"], "verbs": WRITE}

    def permissions(self, items):
        """(kind, namespace, name): rules"""
        found = {}
        for (kind, name), item in items.items():
            if kind in ("ClusterRole", "Role"):
                found[kind, item["metadata"].get("namespace"), name] = item["rules"]
        return found

    def test_whole_cluster(self):
        self.assertEqual(self.permissions(made()), {
            ("ClusterRole", None, "sandgate"): [
                {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": self.READ}, self.CONFIGURATION],
            ("Role", NAMESPACE, "sandgate-tls"): [
                {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["sandgate-tls"], "verbs": self.WRITE}]})

    def test_certificates_of_others_need_no_writing(self):
        self.assertEqual(self.permissions(made({"tls": {"mode": "certManager"}})), {("ClusterRole", None, "sandgate"): [
            {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": self.READ}]})

    def test_named_namespaces(self):
        items = render(values=merged(SMALLEST, {"evidence": {"namespaces": ["payments", "ledger"]},
                                                "tls": {"mode": "certManager"}}))
        roles = [(i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) for i in items
                 if i["kind"].endswith(("Role", "RoleBinding"))]
        self.assertEqual(sorted(roles, key=str), sorted([
            ("ClusterRole", None, "sandgate"), ("ClusterRoleBinding", None, "sandgate"),
            *[(kind, namespace, "sandgate-evidence") for kind in ("Role", "RoleBinding")
              for namespace in ("payments", "ledger", NAMESPACE)]], key=str))
        for item in items:
            if item["kind"] == "ClusterRole":
                self.assertEqual(item["rules"], [{"apiGroups": [""], "resources": ["namespaces"],
                                                  "resourceNames": ["payments", "ledger", NAMESPACE], "verbs": self.READ}])
            elif item["kind"] == "Role":
                self.assertEqual(item["rules"], [{"apiGroups": [""], "resources": ["configmaps"], "verbs": self.READ}])
            elif item["kind"] in ("RoleBinding", "ClusterRoleBinding"):
                self.assertEqual(item["subjects"], [{"kind": "ServiceAccount", "name": "sandgate", "namespace": NAMESPACE}])

    def test_network_policies_are_read_only_where_they_are_asked_for(self):
        policies = {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": self.READ}
        more = {"boundary": {"networkPolicies": True}, "tls": {"mode": "certManager"}}
        self.assertEqual(self.permissions(made(more)), {("ClusterRole", None, "sandgate"): [
            {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": self.READ}, policies]})
        self.assertEqual(configuration(made(more))["boundary"], {"networkPolicies": True})
        roles = [item for item in render(values=merged(SMALLEST, {**more, "evidence": {"namespaces": ["payments"]}}))
                 if item["kind"] in ("Role", "ClusterRole")]
        self.assertEqual([(i["kind"], i["metadata"].get("namespace"), policies in i["rules"]) for i in roles], [
            ("ClusterRole", None, False), ("Role", "payments", True), ("Role", NAMESPACE, True)])

    def test_no_permissions_if_the_api_server_is_not_used(self):
        self.assertEqual(self.permissions(made({
            "boundary": {"networkPolicies": True}, "evidence": {"source": "directory", "directory": "/e"}, "webhook": {"caBundle": CA},
            "tls": {"mode": "secret", "secret": {"name": "s"}}})), {})

    def test_flow_schema(self):
        item = made({"flowSchema": {"enabled": True}, "namespaceOverride": "gate", "serviceAccount": {"name": "own"}})["FlowSchema", "sandgate"]
        self.assertEqual(item["apiVersion"], "flowcontrol.apiserver.k8s.io/v1")
        self.assertNotIn("namespace", item["metadata"])
        self.assertEqual(item["spec"], {
            "priorityLevelConfiguration": {"name": "workload-high"}, "matchingPrecedence": 1000, "distinguisherMethod": {"type": "ByUser"},
            "rules": [{"subjects": [{"kind": "ServiceAccount", "serviceAccount": {"name": "own", "namespace": "gate"}}],
                       "resourceRules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "namespaces": ["*"], "clusterScope": True}]}]})
        for more in ({}, {"flowSchema": {"enabled": True}, "evidence": {"source": "directory", "directory": "/e"}, "webhook": {"caBundle": CA},
                          "tls": {"mode": "secret", "secret": {"name": "s"}}}):
            self.assertNotIn(("FlowSchema", "sandgate"), made(more))

    def test_no_rbac_and_no_service_account_if_switched_off(self):
        items = made({"rbac": {"create": False}, "serviceAccount": {"create": False, "name": "given"}})
        self.assertEqual(self.permissions(items), {})
        self.assertNotIn(("ServiceAccount", "sandgate"), items)
        self.assertEqual(pod(items)["serviceAccountName"], "given")


class Certificates(unittest.TestCase):
    maxDiff = None

    def test_secret_is_rendered_without_data(self):
        secret = made()["Secret", "sandgate-tls"]
        self.assertEqual(secret["type"], "Opaque")
        self.assertEqual(sorted(secret), ["apiVersion", "kind", "metadata", "type"])

    def test_no_ca_bundle_is_rendered(self):
        for more in ({}, {"tls": {"mode": "certManager"}}):
            for entry in entries(made(more)).values():
                self.assertEqual(entry["clientConfig"], {"service": {
                    "namespace": NAMESPACE, "name": "sandgate", "port": 443, "path": "/validate"}})

    def test_two_renderings_are_identical(self):
        first = render(values=SMALLEST)
        helm.cache_clear()
        self.assertEqual(render(values=SMALLEST), first)

    def test_cert_manager(self):
        items = made({"tls": {"mode": "certManager"}})
        self.assertEqual(items["ValidatingWebhookConfiguration", "sandgate"]["metadata"]["annotations"][
            "cert-manager.io/inject-ca-from"], f"{NAMESPACE}/sandgate")
        serving = items["Certificate", "sandgate"]["spec"]
        self.assertEqual(serving["secretName"], "sandgate-cert-manager")
        self.assertEqual(serving["dnsNames"][0], "sandgate.sandgate-system.svc")
        self.assertEqual(serving["issuerRef"], {"name": "sandgate", "kind": "Issuer", "group": "cert-manager.io"})
        self.assertEqual(items["Issuer", "sandgate"]["spec"], {"ca": {"secretName": "sandgate-ca"}})
        self.assertEqual(items["Issuer", "sandgate-root"]["spec"], {"selfSigned": {}})
        self.assertIs(items["Certificate", "sandgate-ca"]["spec"]["isCA"], True)
        self.assertNotIn(("Secret", "sandgate-tls"), items)

    MODES = {"self": {}, "certManager": {"tls": {"mode": "certManager"}},
             "secret": {"tls": {"mode": "secret", "secret": {"name": "mine"}}, "webhook": {"caBundle": CA}}}

    def test_each_mode_has_a_secret_of_its_own_so_that_an_upgrade_changes_no_type(self):
        used = {}
        for mode, more in self.MODES.items():
            items = made(more)
            used[mode] = {item["spec"]["secretName"] for (kind, _), item in items.items() if kind == "Certificate"}
            used[mode] |= {name for kind, name in items if kind == "Secret"}
            used[mode] |= {volume["secret"]["secretName"] for volume in pod(items)["volumes"] if "secret" in volume}
        self.assertEqual(used, {"self": {"sandgate-tls"}, "certManager": {"sandgate-cert-manager", "sandgate-ca"}, "secret": {"mine"}})
        for name in used["self"] | used["certManager"]:
            status, _, error = helm("template", "sandgate", CHART, "--namespace", NAMESPACE, "--values", "-", stdin=json.dumps(
                merged(SMALLEST, {"tls": {"mode": "secret", "secret": {"name": name}}, "webhook": {"caBundle": CA}})))
            self.assertEqual(status, 1)
            self.assertIn(f"tls.secret.name is {name}, the name of a Secret of the other modes", error)

    def test_what_cannot_change_in_an_object_is_the_same_in_all_modes(self):
        found = {mode: made(more) for mode, more in self.MODES.items()}
        for (kind, name), item in [pair for items in found.values() for pair in items.items()]:
            for items in found.values():
                other = items.get((kind, name), item)
                for fixed in (("type",), ("roleRef",), ("spec", "selector"), ("spec", "clusterIP")):
                    mine, its = item, other
                    for key in fixed:
                        mine, its = (mine or {}).get(key), (its or {}).get(key)
                    self.assertEqual(mine, its, (kind, name, fixed))

    def test_what_an_issuer_can_demand(self):
        plain = made({"tls": {"mode": "certManager"}})["Certificate", "sandgate"]["spec"]
        self.assertEqual((plain["privateKey"]["algorithm"], plain["privateKey"]["size"]), ("ECDSA", 256))
        self.assertNotIn("commonName", plain)
        items = made({"tls": {"mode": "certManager", "certManager": {"commonName": "gate", "keyAlgorithm": "RSA"}}})
        self.assertEqual(items["Certificate", "sandgate"]["spec"]["commonName"], "gate")
        for name in ("sandgate", "sandgate-ca"):
            key = items["Certificate", name]["spec"]["privateKey"]
            self.assertEqual((key["algorithm"], key["size"]), ("RSA", 3072))

    def test_existing_issuer(self):
        issuer = {"name": "x", "kind": "ClusterIssuer"}
        items = made({"tls": {"mode": "certManager", "certManager": {"issuerRef": issuer}}})
        self.assertEqual(items["Certificate", "sandgate"]["spec"]["issuerRef"], issuer)
        self.assertNotIn(("Issuer", "sandgate"), items)
        self.assertNotIn(("Certificate", "sandgate-ca"), items)


class Webhooks(unittest.TestCase):
    """The fields of the entries. test_conditions.py checks in a real API server which requests they match."""
    maxDiff = None

    def test_entries(self):
        self.assertEqual([(name, entry["failurePolicy"], [c["name"] for c in entry["matchConditions"]])
                          for name, entry in entries(made()).items()], [
            ("pods.sandbox.runx.dev", "Fail", ["changed", "no-mirror-pod", "managed"]),
            ("templates.sandbox.runx.dev", "Ignore", ["changed", "managed"]),
            ("required.pods.sandbox.runx.dev", "Fail", ["changed", "no-mirror-pod", "unmanaged"]),
            ("required.templates.sandbox.runx.dev", "Ignore", ["changed", "unmanaged"]),
            ("warn.sandbox.runx.dev", "Ignore", ["changed", "no-mirror-pod", "unmanaged"]),
            ("audit.sandbox.runx.dev", "Ignore", ["changed", "no-mirror-pod", "unmanaged"])])
        for entry in entries(made()).values():
            self.assertEqual((entry["matchPolicy"], entry["sideEffects"], entry["admissionReviewVersions"],
                              entry["timeoutSeconds"], entry["objectSelector"]), ("Equivalent", "None", ["v1"], 5, {}))
            self.assertEqual(entry["namespaceSelector"]["matchExpressions"][0], {
                "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", NAMESPACE]})
            for rule in entry["rules"]:
                self.assertEqual((rule["operations"], rule["apiVersions"], rule["scope"]),
                                 (["CREATE", "UPDATE"], ["v1"], "Namespaced"))

    def test_rules(self):
        found = {name: [(rule["apiGroups"], rule["resources"]) for rule in entry["rules"]]
                 for name, entry in entries(made()).items()}
        pods = [([""], ["pods", "pods/ephemeralcontainers"])]
        templates = [([""], ["podtemplates", "replicationcontrollers"]),
                     (["apps"], ["replicasets", "deployments", "statefulsets", "daemonsets"]),
                     (["batch"], ["jobs", "cronjobs"])]
        self.assertEqual(found["pods.sandbox.runx.dev"], pods)
        self.assertEqual(found["templates.sandbox.runx.dev"], templates)
        self.assertEqual(found["warn.sandbox.runx.dev"], pods + templates)

    def test_no_entries_for_controllers_if_they_are_not_checked(self):
        found = entries(made({"config": {"defaults": {"controllers": "none"}}}))
        self.assertEqual(list(found), ["pods.sandbox.runx.dev", "required.pods.sandbox.runx.dev",
                                       "warn.sandbox.runx.dev", "audit.sandbox.runx.dev"])
        for entry in found.values():
            self.assertEqual(len(entry["rules"]), 1)

    def test_levels_that_require_every_pod(self):
        for more in ({"defaults": {"enforce": "required"}}, {"floor": {"enforce": "required"}}):
            self.assertEqual([(name, [c["name"] for c in entry["matchConditions"]])
                              for name, entry in entries(made({"config": more})).items()], [
                ("pods.sandbox.runx.dev", ["changed", "no-mirror-pod"]), ("templates.sandbox.runx.dev", ["changed"])])
        for more in ({"defaults": {"warn": "required"}}, {"floor": {"audit": "required"}}):
            found = entries(made({"config": more}))
            self.assertEqual(list(found)[-1], "advisory.sandbox.runx.dev")
            self.assertEqual(len(found), 5)

    def test_levels_of_the_spec_of_pods_change_no_entry_and_not_the_test(self):
        for level in ("none", "record", "warn", "block"):
            items = made({"config": {"defaults": {"boundary": level}, "floor": {"boundary": level}}})
            self.assertEqual(entries(items), entries(made()), level)
            self.assertIn(("Job", TEST), items, level)

    def test_values_are_added_to_the_entries(self):
        more = {"webhook": {"failurePolicy": "Ignore", "timeoutSeconds": 7, "excludeNamespaces": ["a"],
                            "templates": {"timeoutSeconds": 3}, "advisoryFailurePolicy": "Fail",
                            "namespaceSelector": {"matchLabels": {"x": "y"},
                                                  "matchExpressions": [{"key": "z", "operator": "Exists"}]},
                            "objectSelector": {"matchLabels": {"v": "w"}},
                            "matchConditions": [{"name": "mine", "expression": "true"}], "annotations": {"c": "d"}},
                "evidence": {"namespaces": ["b"]}}
        items = made(more)
        found = entries(items)
        entry = found["pods.sandbox.runx.dev"]
        self.assertEqual(entry["namespaceSelector"], {"matchLabels": {"x": "y"}, "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["a", "kube-system", NAMESPACE]},
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["b"]},
            {"key": "z", "operator": "Exists"}]})
        self.assertEqual(entry["objectSelector"], {"matchLabels": {"v": "w"}})
        self.assertEqual(entry["matchConditions"][-1], {"name": "mine", "expression": "true"})
        self.assertEqual([(e["failurePolicy"], e["timeoutSeconds"]) for e in found.values()],
                         [("Ignore", 7), ("Ignore", 3), ("Ignore", 7), ("Ignore", 3), ("Fail", 7), ("Fail", 7)])
        self.assertEqual(items["ValidatingWebhookConfiguration", "sandgate"]["metadata"]["annotations"],
                         {"admissions.enforcer/disabled": "true", "c": "d"})


class Metrics(unittest.TestCase):
    maxDiff = None

    def test_metrics_are_off_by_default(self):
        self.assertEqual(len(made()["Service", "sandgate"]["spec"]["ports"]), 1)

    def test_monitors(self):
        items = made({"metrics": {"enabled": True, "serviceMonitor": {"enabled": True, "labels": {"release": "p"}}}})
        monitor = items["ServiceMonitor", "sandgate"]
        self.assertEqual(monitor["metadata"]["labels"]["release"], "p")
        self.assertEqual(monitor["spec"]["endpoints"], [
            {"port": "metrics", "path": "/metrics", "interval": "30s", "scrapeTimeout": "10s"}])
        self.assertEqual(items["Service", "sandgate"]["spec"]["ports"][1]["port"], 8080)
        items = made({"metrics": {"enabled": True, "podMonitor": {"enabled": True}}})
        self.assertEqual(items["PodMonitor", "sandgate"]["spec"]["podMetricsEndpoints"][0]["port"], "metrics")

    def test_alerts(self):
        rules = {"metrics": {"enabled": True, "prometheusRule": {"enabled": True, "disabled": ["SandgateSlow"],
                                                                 "alertLabels": {"team": "a"}}}}
        alerts = made(rules)["PrometheusRule", "sandgate"]["spec"]["groups"][0]["rules"]
        names = [alert["alert"] for alert in alerts]
        self.assertIn("SandgateAbsent", names)
        self.assertNotIn("SandgateSlow", names)
        for alert in alerts:
            with self.subTest(alert["alert"]):
                self.assertEqual(sorted(alert["annotations"]), ["action", "description", "summary"])
                self.assertEqual(alert["labels"]["team"], "a")
                self.assertIn(alert["labels"]["severity"], ("warning", "critical"))
                text = json.dumps(alert)
                for left in ("{JOB", "{ENTRIES", "NAMESPACE", "CONFIGURATION"):
                    self.assertNotIn(left, text)
        absent = next(alert for alert in alerts if alert["alert"] == "SandgateAbsent")
        self.assertEqual(absent["expr"],
                         f'absent(sandgate_build_info{{namespace="{NAMESPACE}",job=~"(.+/)?sandgate"}} == 1)')

    def test_the_namespace_of_what_operators_read(self):
        for kind, more in (("ServiceMonitor", {"serviceMonitor": {"enabled": True}}), ("PodMonitor", {"podMonitor": {"enabled": True}}),
                           ("PrometheusRule", {"prometheusRule": {"enabled": True}}), ("ConfigMap", {"dashboard": {"enabled": True}})):
            name = "sandgate-dashboard" if kind == "ConfigMap" else "sandgate"
            for given, expected in (("", NAMESPACE), ("monitoring", "monitoring")):
                items = made({"metrics": {"enabled": True, "namespace": given, **more}})
                self.assertEqual(items[kind, name]["metadata"]["namespace"], expected)
                if "namespaceSelector" in items[kind, name].get("spec", {}):
                    self.assertEqual(items[kind, name]["spec"]["namespaceSelector"], {"matchNames": [NAMESPACE]})
                self.assertEqual(items["Service", "sandgate"]["metadata"]["namespace"], NAMESPACE)

    def test_dashboard(self):
        item = made({"metrics": {"enabled": True, "dashboard": {"enabled": True}}})["ConfigMap", "sandgate-dashboard"]
        self.assertEqual(item["metadata"]["labels"]["grafana_dashboard"], "1")
        self.assertEqual(json.loads(item["data"]["sandgate.json"])["title"], "Sandgate")


class Test(unittest.TestCase):
    """`helm test`: a pod that the API server accepts only after the gate has answered."""

    def test_job(self):
        items = made()
        job = items["Job", TEST]
        self.assertEqual(job["metadata"]["namespace"], TEST)
        self.assertEqual(job["metadata"]["annotations"], {
            "helm.sh/hook": "test", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded"})
        self.assertEqual(job["spec"]["template"]["metadata"]["annotations"], {"sandbox.runx.dev/skill-ref": "sandgate/helm-test@0.1.0"})
        labels = items["Namespace", TEST]["metadata"]["labels"]
        for level in ("enforce", "warn", "audit"):
            self.assertEqual(labels[f"sandbox.runx.dev/{level}"], "none")

    def test_marks_of_its_pod(self):
        metadata = made({"tests": {"podLabels": {"a": "b", "app.kubernetes.io/component": "gate"}, "podAnnotations": {"c": "d"}}})[
            "Job", TEST]["spec"]["template"]["metadata"]
        self.assertEqual(metadata["labels"], {"app.kubernetes.io/name": "sandgate", "app.kubernetes.io/instance": "sandgate",
                                              "app.kubernetes.io/component": "test", "a": "b"})
        self.assertEqual(metadata["annotations"], {"sandbox.runx.dev/skill-ref": "sandgate/helm-test@0.1.0", "c": "d"})

    def test_the_namespace_is_no_hook_so_that_helm_never_deletes_one_of_the_same_name(self):
        for item in made().values():
            if "helm.sh/hook" in item["metadata"].get("annotations", {}):
                self.assertEqual(item["kind"], "Job")

    def test_names_differ_between_releases(self):
        found = {(kind, name) for more in ({"release": "a-sandgate"}, {"release": "b-sandgate"},
                                           {"release": "a-sandgate", "namespace": "other"})
                 for kind, name in made(**more) if kind in ("Job", "Namespace")}
        self.assertEqual(len(found), 6)
        shared = {"fullnameOverride": "gate", "tests": {"namespace": "smoke"}}
        self.assertEqual(len({name for namespace in ("a", "b") for kind, name in made(shared, namespace=namespace)
                              if kind == "Job"}), 2)

    def test_no_job_if_its_pod_would_not_prove_an_answer(self):
        for more in ({"tests": {"enabled": False}}, {"webhook": {"failurePolicy": "Ignore"}},
                     {"webhook": {"enabled": False}}, {"config": {"floor": {"warn": "annotated"}}},
                     {"evidence": {"namespaces": ["a"]}}, {"evidence": {"source": "directory", "directory": "/e"}},
                     {"config": {"defaults": {"enforce": "required"}}},
                     {"webhook": {"objectSelector": {"matchLabels": {"a": "b"}}}}):
            items = made(more)
            self.assertNotIn(("Job", TEST), items, more)
            self.assertNotIn(("Namespace", TEST), items, more)

    def test_existing_namespace(self):
        items = made({"tests": {"namespace": "a"}, "evidence": {"namespaces": ["a"]}})
        self.assertEqual(items["Job", TEST]["metadata"]["namespace"], "a")
        self.assertNotIn(("Namespace", TEST), items)


class Notes(unittest.TestCase):
    """The text that Helm prints after an installation."""

    def notes(self, more=None, base=None):
        values = merged(SMALLEST if base is None else base, more or {})
        status, text, error = helm("install", "sandgate", CHART, "--namespace", NAMESPACE, "--dry-run=client", "--values", "-",
                                   stdin=json.dumps(values))
        self.assertEqual(status, 0, error)
        return text.split("\nNOTES:\n")[1]

    def test_commands(self):
        notes = self.notes()
        for line in ("kubectl -n sandgate-system rollout status deployment/sandgate", f"kubectl -n {TEST} get events", "helm -n sandgate-system test sandgate",
                     "kubectl delete validatingwebhookconfiguration sandgate",
                     "helm -n sandgate-system upgrade sandgate <chart> --reset-then-reuse-values",
                     "kubectl -n sandgate-system port-forward deployment/sandgate 8080"):
            self.assertIn(f"\n  {line}\n", notes)
        self.assertNotIn("WARNING", notes)

    def test_warnings(self):
        for more, warning in (({"replicaCount": 1}, "WARNING: replicaCount is 1: "),
                              ({"replicaCount": None}, "WARNING: replicaCount is null, and a new Deployment has one gate: "),
                              ({"autoscaling": {"enabled": True, "minReplicas": 1}}, "WARNING: autoscaling.minReplicas is 1: "),
                              ({"podDisruptionBudget": {"minAvailable": 2}}, "WARNING: podDisruptionBudget allows no eviction: "),
                              ({"podDisruptionBudget": {"minAvailable": "100%"}}, "WARNING: podDisruptionBudget allows no eviction: "),
                              ({"podDisruptionBudget": {"minAvailable": "51%"}}, "WARNING: podDisruptionBudget allows no eviction: "),
                              ({"podDisruptionBudget": {"minAvailable": "76%"}, "replicaCount": 4}, "WARNING: podDisruptionBudget allows "),
                              ({"podDisruptionBudget": {"maxUnavailable": 0}}, "WARNING: podDisruptionBudget allows no eviction: "),
                              ({"hostNetwork": True}, "WARNING: with hostNetwork, a node can run one gate only: "),
                              ({"webhook": {"failurePolicy": "Ignore"}}, "WARNING: webhook.failurePolicy is Ignore: "),
                              ({"config": {"evidence": {"unsigned": "accept"}}}, "WARNING: config.evidence.unsigned is accept: ")):
            notes = self.notes(more)
            self.assertEqual(notes.count("WARNING"), 1)
            self.assertIn(warning, notes)
        for more in ({"podDisruptionBudget": {"minAvailable": 1}}, {"podDisruptionBudget": {"minAvailable": "50%"}},
                     {"podDisruptionBudget": {"minAvailable": "75%"}, "replicaCount": 4}, {"podDisruptionBudget": {"minAvailable": "0%"}},
                     {"podDisruptionBudget": {"enabled": False, "minAvailable": 2}},
                     {"hostNetwork": True, "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
                     {"hostNetwork": True, "updateStrategy": {"type": "Recreate"}}):
            self.assertNotIn("WARNING", self.notes(more))
        self.assertIn("WARNING: webhook.caBundle is empty", self.notes({"webhook": {"url": "https://g.example/v"}}, base={}))

    def test_what_else_a_cluster_needs_where_every_pod_is_judged(self):
        for more in ({"floor": {"enforce": "required"}}, {"defaults": {"enforce": "required"}}):
            notes = self.notes({"config": more, "webhook": {"excludeNamespaces": ["calico-system"]}})
            self.assertIn("\nEvery pod outside of calico-system, kube-system, sandgate-system must have signed evidence.\n", notes)
            self.assertIn("WARNING: also pods of network, DNS, storage and of another gate in this cluster", notes)
        notes = self.notes({"config": {"floor": {"enforce": "required"}}, "evidence": {"namespaces": ["a"]}})
        self.assertNotIn("WARNING", notes)
        self.assertIn("Do not label the namespace of another gate in this cluster", self.notes())

    def test_judged_pods_and_reasons_for_no_test(self):
        self.assertIn("\nOnly in a, b: pods with sandbox.runx.dev/… annotations", self.notes({"evidence": {"namespaces": ["a", "b"]}}))
        self.assertIn("\nEvery pod outside of kube-system, sandgate-system must have signed evidence.",
                      self.notes({"config": {"floor": {"enforce": "required"}}}))
        self.assertIn("webhook.enabled is false: the gate runs but receives no reviews.", self.notes({"webhook": {"enabled": False}}))
        self.assertIn("`helm test` has no test: config.floor would apply to its pod.",
                      self.notes({"config": {"floor": {"enforce": "annotated"}}}))
        self.assertIn("`helm test` has no test: tests.namespace must name one of evidence.namespaces, "
                      "with the label sandbox.runx.dev/enforce=none.", self.notes({"evidence": {"namespaces": ["a"]}}))
        private = {"imagePullSecrets": [{"name": "registry"}]}
        self.assertIn("`helm test` has no test: tests.namespace must name a namespace that has the Secrets of imagePullSecrets, "
                      "with the label sandbox.runx.dev/enforce=none.", self.notes(private))
        self.assertIn("test sandgate\n", self.notes(merged(private, {"tests": {"namespace": "smoke"}})))


class Pages(unittest.TestCase):
    """What README.template.md says of the chart's values."""

    def test_uninstalling_removes_the_label_of_every_level(self):
        schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
        commands = [line.split() for line in (CHART / "README.template.md").read_text(encoding="utf-8").split("\n")
                    if line.startswith("kubectl label namespace --all ")]
        self.assertEqual([sorted(words[4:]) for words in commands],
                         [sorted(f"sandbox.runx.dev/{level}-" for level in schema["definitions"]["levels"]["properties"])])


class Rejections(unittest.TestCase):
    """Each contradiction between values gives an error message. The schema rejects single wrong values."""

    def rejected(self, more, base=None, namespace=NAMESPACE):
        values = merged(SMALLEST if base is None else base, more)
        status, _, error = helm("template", "sandgate", CHART, "--namespace", namespace, "--values", "-",
                                stdin=json.dumps(values))
        self.assertEqual(status, 1, more)
        return error

    def test_combinations(self):
        url = {"webhook": {"url": "https://g.example/validate", "caBundle": CA}}
        for more, sentence in (
                ({"keyring": {"existingConfigMap": "x"}}, "keyring.keys and keyring.existingConfigMap are both set"),
                ({"keyring": {"keys": {"x": "-----BEGIN PRIVATE KEY-----\n"}}}, "keyring.keys.x is a private key"),
                ({"keyring": {"keys": {"x": "ssh-ed25519 AAAA"}}}, "keyring.keys.x has no PUBLIC KEY block"),
                ({"config": {"keyring": {"kinds": {"SandboxExemption": {"keys": ["nobody"]}}}}},
                 "config.keyring.kinds.SandboxExemption names the key nobody"),
                ({"evidence": {"source": "directory"}}, "evidence.directory must be the path of a directory"),
                ({"evidence": {"directory": "/x"}}, "evidence.directory is only used with evidence.source: directory"),
                ({"evidence": {"source": "directory", "directory": "/x", "namespaces": ["a"]}}, "but evidence.source is directory"),
                ({"evidence": {"namespaces": ["kube-system"]}}, "evidence.namespaces contains kube-system"),
                ({"evidence": {"namespaces": [NAMESPACE]}}, f"evidence.namespaces contains {NAMESPACE}"),
                ({"evidence": {"namespaces": ["a"]}, "webhook": {"excludeNamespaces": ["a"]}}, "a is in both evidence.namespaces and webhook.excludeNamespaces"),
                ({"tls": {"mode": "secret"}, "webhook": {"caBundle": CA}}, "tls.secret.name must name the Secret"),
                ({"tls": {"mode": "secret", "secret": {"name": "s"}}}, "the API server needs its CA"),
                ({"tls": {"secret": {"name": "s"}}}, "tls.secret.name is only used with tls.mode: secret"),
                ({"webhook": {"caBundle": CA}}, "with tls.mode self it is set automatically"),
                ({"tls": {"mode": "secret", "secret": {"name": "s"}}, "webhook": {"caBundle": "TUlJQg=="}}, "as PEM text, not base64"),
                ({"tls": {"self": {"caDays": 100}}}, "at least three times tls.self.certificateDays"),
                ({"tls": {"clientCA": CA}}, "tls.clientCA needs tls.clientNames"),
                ({"tls": {"clientNames": ["a"]}}, "tls.clientNames needs tls.clientCA"),
                ({"config": {"limits": {"deadlineMarginMilliseconds": 5000}}}, "must be less than webhook.timeoutSeconds"),
                ({"config": {"limits": {"maxBodyBytes": 134217728}}}, "a quarter of config.limits.maxInFlightBytes"),
                ({"resources": {"limits": {"memory": "256Mi"}}}, "resources.limits.memory must be at least 272Mi"),
                ({"resources": {"limits": {"memory": "285M"}}}, "resources.limits.memory must be at least 272Mi"),
                ({"resources": {"limits": {"memory": 285212671}}}, "resources.limits.memory must be at least 272Mi"),
                ({"resources": {"limits": {"memory": "272Mi"}}, "config": {"limits": {"maxConnections": 1025}}},
                 "resources.limits.memory must be at least 273Mi"),
                ({"resources": {"limits": {"memory": "1e9"}}}, "resources.limits.memory must be a quantity"),
                ({"webhook": {"matchConditions": [{"name": "managed", "expression": "true"}]}}, "which the chart uses itself"),
                ({"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}, "can have minAvailable or maxUnavailable"),
                ({"terminationGracePeriodSeconds": 29}, "terminationGracePeriodSeconds must be at least 30"),
                ({"metrics": {"port": 8443}}, "webhook.securePort and metrics.port are the same"),
                ({"metrics": {"serviceMonitor": {"enabled": True}}}, "metrics.serviceMonitor.enabled needs metrics.enabled"),
                ({"metrics": {"prometheusRule": {"enabled": True}}}, "metrics.prometheusRule.enabled needs metrics.enabled"),
                ({"metrics": {"enabled": True, "podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}}},
                 "every metric would be scraped twice"),
                ({"config": {"decisionLog": {"path": "/var/log/x"}}}, "the root file system is read-only"),
                ({"tests": {"namespace": "kube-system"}}, "a namespace whose pods are not sent to the gate"),
                ({"tests": {"namespace": "b"}, "evidence": {"namespaces": ["a"]}}, "tests.namespace must be one of evidence.namespaces"),
                (url, "configure its keys and metrics there"),
                (merged(url, {"tls": {"mode": "certManager"}}), "do not set tls.mode"),
                (merged(url, {"webhook": {"enabled": False}}), "nothing would be installed"),
        ):
            with self.subTest(sentence):
                self.assertIn(sentence, self.rejected(more))

    def test_no_key(self):
        self.assertIn("- no trusted key is set, so the gate would not start: add one with --set-file keyring.keys.<key-id>=<file.pem>, "
                      "or name a ConfigMap in keyring.existingConfigMap\n", self.rejected({}, base={}))

    def test_one_error_lists_all_contradictions(self):
        error = self.rejected({"tls": {"clientCA": CA}, "metrics": {"port": 8443}})
        self.assertIn("- tls.clientCA needs", error)
        self.assertIn("- webhook.securePort and metrics.port", error)

    def test_kube_system(self):
        self.assertIn("the gate must not be installed in kube-system", self.rejected({}, namespace="kube-system"))

    def test_schema(self):
        for more, where in (
                ({"typo": 1}, "additional properties 'typo' not allowed"),
                ({"webhook": {"timeoutSecond": 1}}, "at '/webhook': additional properties 'timeoutSecond' not allowed"),
                ({"webhook": {"timeoutSeconds": 31}}, "at '/webhook/timeoutSeconds': maximum: got 31, want 30"),
                ({"webhook": {"url": "http://x/validate"}}, "at '/webhook/url'"),
                ({"webhook": {"failurePolicy": "fail"}}, "at '/webhook/failurePolicy'"),
                ({"tls": {"mode": "helm"}}, "at '/tls/mode'"),
                ({"replicaCount": 0}, "at '/replicaCount': minimum: got 0, want 1"),
                ({"replicaCount": "2"}, "at '/replicaCount': got string, want integer"),
                ({"image": {"digest": "abc"}}, "at '/image/digest'"),
                ({"config": {"defaults": {"enforce": "always"}}}, "at '/config/defaults/enforce'"),
                ({"config": {"defaults": {"boundary": "required"}}}, "at '/config/defaults/boundary'"),
                ({"config": {"floor": {"boundary": "annotated"}}}, "at '/config/floor/boundary'"),
                ({"config": {"floor": {"boundary": None}}}, "at '/config/floor': missing property 'boundary'"),
                ({"config": {"listen": {}}}, "at '/config': additional properties 'listen' not allowed"),
                ({"config": {"keyring": {"kinds": {"Sandbox": {}}}}}, "additional properties 'Sandbox' not allowed"),
                ({"keyring": {"keys": {"-x": KEY}}}, "at '/keyring/keys'"),
                ({"evidence": {"documents": {"x": {"document": "a"}}}}, "missing property 'signatures'"),
                ({"config": {"evidence": {"revoked": ["abc"]}}}, "at '/config/evidence/revoked/0'")):
            with self.subTest(where):
                self.assertIn(where, self.rejected(more))

    def test_global_is_accepted(self):
        self.assertIn(("Deployment", "sandgate"), made({"global": {"anything": {"at": "all"}}}))


if __name__ == "__main__":
    unittest.main()
