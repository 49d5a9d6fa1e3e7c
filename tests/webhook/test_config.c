/* SPDX-License-Identifier: Apache-2.0 */
/* test_config - every key of the configuration, its default and its errors. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "webhook/config/config.h"

#define PATH_BYTES 64

/* A new directory with a gate.yaml. */
struct place {
    char folder[PATH_BYTES];
    char file[PATH_BYTES + sizeof("/gate.yaml")];
};

static struct place write_config(const char *text)
{
    struct place place = {.folder = "/tmp/sandgate-test-XXXXXX"};
    FILE *f = NULL;

    cr_assert_not_null(mkdtemp(place.folder));
    (void)snprintf(place.file, sizeof(place.file), "%s/gate.yaml", place.folder);
    f = fopen(place.file, "we");
    cr_assert_not_null(f);
    cr_assert_geq(fputs(text, f), 0);
    cr_assert_eq(fclose(f), 0);
    return place;
}

static void remove_config(const struct place *place)
{
    cr_assert_eq(unlink(place->file), 0);
    cr_assert_eq(rmdir(place->folder), 0);
}

/* The configuration of a valid text. */
static struct config *read_right(const char *text)
{
    struct place place = write_config(text);
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};
    int r = config_read(place.file, &arena, &config, &errors);

    if (r == -EINVAL)
        cr_assert_fail("%zu:%zu: %s", errors.items[0].line, errors.items[0].column,
                       errors.items[0].what.ptr);
    cr_assert_eq(r, 0);
    arena_release(&arena);
    remove_config(&place);
    return config;
}

/* All errors of a text, as lines `LINE:COL: TEXT`. */
static void assert_wrong(const char *text, const char *wanted)
{
    struct place place = write_config(text);
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};
    char got[4096] = "";
    size_t used = 0;

    cr_assert_eq(config_read(place.file, &arena, &config, &errors), -EINVAL, "%s", text);
    cr_assert_null(config);
    for (size_t i = 0; i < errors.count; i++)
        used +=
            (size_t)snprintf(got + used, sizeof(got) - used, "%zu:%zu: %s\n", errors.items[i].line,
                             errors.items[i].column, errors.items[i].what.ptr);
    cr_assert_str_eq(got, wanted, "%s\n%s", text, got);
    arena_release(&arena);
    remove_config(&place);
}

static void assert_text(struct str got, const char *wanted)
{
    cr_assert(str_equal(got, str_of(wanted)), "%.*s", (int)got.len, got.ptr);
}

static void assert_defaults(const struct config *c)
{
    cr_assert_str_eq(c->webhook.host, "::");
    cr_assert_eq(c->webhook.port, 8443);
    cr_assert_str_eq(c->admin.host, "127.0.0.1");
    cr_assert_eq(c->admin.port, 8080);
    cr_assert_str_eq(c->tls_certificate, "/etc/sandgate/tls/tls.crt");
    cr_assert_str_eq(c->tls_key, "/etc/sandgate/tls/tls.key");
    cr_assert_null(c->tls_client_ca);
    cr_assert_eq(c->tls_client_names.count, 0);
    cr_assert_eq(c->self.secret.len, 0);
    cr_assert_eq(c->self.webhook_configuration.len, 0);
    cr_assert_eq(c->self.dns_names.count, 0);
    cr_assert_eq(c->self.ca_days, 3650);
    cr_assert_eq(c->self.certificate_days, 90);
    cr_assert_str_eq(c->keyring_directory, "/etc/sandgate/keys");
    cr_assert_eq(c->source, CONFIG_SOURCE_CLUSTER);
    cr_assert_null(c->evidence_directory);
    cr_assert_null(c->kubeconfig);
    cr_assert_eq(c->namespaces.count, 0);
    cr_assert_eq(c->max_stale_sec, 180);
    cr_assert_eq(c->limits.max_body_bytes, 20971520);
    cr_assert_eq(c->limits.max_in_flight, 64);
    cr_assert_eq(c->limits.max_in_flight_bytes, 134217728);
    cr_assert_eq(c->limits.max_connections, 1024);
    cr_assert_eq(c->limits.threads, 0);
    cr_assert_eq(c->limits.deadline_margin_msec, 500);
    cr_assert_str_eq(c->decision_log_path, "-");
    cr_assert(!c->decision_log_allowed);
    cr_assert_eq(c->drain_sec, 15);
}

static void assert_default_policy(const struct policy *p)
{
    for (unsigned kind = 0; kind < EVIDENCE_KIND_COUNT; kind++) {
        cr_assert_eq(p->signers[kind].threshold, 1);
        cr_assert(!p->signers[kind].keys_named);
    }
    cr_assert_eq(p->revoked.count, 0);
    cr_assert_eq(p->audience.len, 0);
    assert_text(p->own_namespace, "sandgate-system");
    cr_assert_eq(p->min_baselines, 0);
    cr_assert_eq(p->defaults.enforce, LEVEL_ANNOTATED);
    cr_assert_eq(p->defaults.warn, LEVEL_NONE);
    cr_assert_eq(p->defaults.audit, LEVEL_NONE);
    cr_assert_eq(p->defaults.boundary, BOUNDARY_LEVEL_RECORD);
    cr_assert_eq(p->floor.enforce, LEVEL_NONE);
    cr_assert_eq(p->floor.warn, LEVEL_NONE);
    cr_assert_eq(p->floor.audit, LEVEL_NONE);
    cr_assert_eq(p->floor.boundary, BOUNDARY_LEVEL_NONE);
    cr_assert_eq(p->controllers, CONTROLLERS_WARN);
    cr_assert_eq(p->exempt_namespaces.count, 0);
    cr_assert_eq(p->exempt_users.count, 0);
    cr_assert_eq(p->exempt_runtime_classes.count, 0);
    cr_assert(!p->network_policies);
    cr_assert(!p->accept_unsigned);
    cr_assert_eq(p->max_age_days, 30);
    cr_assert_eq(p->clock_skew_sec, 60);
}

Test(config, every_key_is_optional)
{
    const char *const texts[] = {"",
                                 "# nothing\n",
                                 "{}\n",
                                 "null\n",
                                 "apiVersion: sandbox.runx.dev/v1\nkind: GateConfiguration\n",
                                 "listen:\ntls:\nkeyring: {threshold: ~}\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct config *config = read_right(texts[i]);

        assert_defaults(config);
        assert_default_policy(&config->policy);
        config_unref(config);
    }
}

Test(config, defaults_without_a_file_are_the_same)
{
    struct config *config = NULL;

    cr_assert_eq(config_defaults(&config), 0);
    assert_defaults(config);
    assert_default_policy(&config->policy);
    config_unref(config);
}

static const char everything[] =
    "apiVersion: sandbox.runx.dev/v1\n"
    "kind: GateConfiguration\n"
    "listen: {webhook: \"[fd00::10]:9443\", admin: \":0\"}\n"
    "tls: {certificate: /a/tls.crt, key: /a/tls.key, clientCA: /a/ca.crt, clientNames: [kube, b]}\n"
    "keyring:\n"
    "  directory: /a/keys\n"
    "  threshold: 2\n"
    "  kinds:\n"
    "    SandboxExemption: {keys: [security, second, third], threshold: 3}\n"
    "    SandboxBaseline: {keys: [security, second]}\n"
    "evidence: {source: directory, directory: /a/evidence, namespace: gate, kubeconfig: /a/kube,\n"
    "  unsigned: accept, maxAgeDays: 3650, clockSkewSeconds: 0, maxStaleSeconds: 60,\n"
    "  revoked: [\"sha256:c97581d48f2ce11a7a9a0160c6f63b01010a6d90c222fb79b811b96564d39264\"],\n"
    "  audience: prod, minBaselines: 1}\n"
    "defaults: {enforce: required, warn: annotated, audit: required, boundary: warn,\n"
    "  controllers: enforce}\n"
    "floor: {enforce: annotated, warn: none, audit: annotated, boundary: record}\n"
    "boundary: {networkPolicies: true}\n"
    "exempt: {namespaces: [kube-system], users: [\"system:node:a\"], runtimeClasses: [gvisor]}\n"
    "limits: {maxBodyBytes: 1024, maxInFlight: 1, maxInFlightBytes: 4096, maxConnections: 2,\n"
    "  threads: 3, deadlineMarginMilliseconds: 4}\n"
    "decisionLog: {path: /a/log, allowed: true}\n"
    "drainSeconds: 0\n";

Test(config, named_namespaces_limit_a_cluster)
{
    struct config *c = read_right("evidence: {namespaces: [payments, scratch]}\n");

    cr_assert_eq(c->source, CONFIG_SOURCE_CLUSTER);
    cr_assert_eq(c->namespaces.count, 2);
    assert_text(c->namespaces.items[0], "payments");
    assert_text(c->namespaces.items[1], "scratch");
    config_unref(c);
}

Test(config, self_made_certificates_are_configured)
{
    struct config *c = read_right("tls:\n"
                                  "  self:\n"
                                  "    secret: gate-tls\n"
                                  "    webhookConfiguration: gate.example\n"
                                  "    dnsNames: [gate.a.svc, 1.gate-2]\n"
                                  "    caDays: 30\n"
                                  "    certificateDays: 10\n");

    assert_text(c->self.secret, "gate-tls");
    assert_text(c->self.webhook_configuration, "gate.example");
    cr_assert_eq(c->self.dns_names.count, 2);
    assert_text(c->self.dns_names.items[1], "1.gate-2");
    cr_assert_eq(c->self.ca_days, 30);
    cr_assert_eq(c->self.certificate_days, 10);
    config_unref(c);
}

Test(config, every_key_is_read)
{
    struct config *c = read_right(everything);

    cr_assert_str_eq(c->webhook.host, "fd00::10");
    cr_assert_eq(c->webhook.port, 9443);
    cr_assert_str_eq(c->admin.host, "");
    cr_assert_eq(c->admin.port, 0);
    cr_assert_str_eq(c->tls_certificate, "/a/tls.crt");
    cr_assert_str_eq(c->tls_key, "/a/tls.key");
    cr_assert_str_eq(c->tls_client_ca, "/a/ca.crt");
    cr_assert_eq(c->tls_client_names.count, 2);
    assert_text(c->tls_client_names.items[1], "b");
    cr_assert_str_eq(c->keyring_directory, "/a/keys");
    cr_assert_eq(c->source, CONFIG_SOURCE_DIRECTORY);
    cr_assert_str_eq(c->evidence_directory, "/a/evidence");
    cr_assert_str_eq(c->kubeconfig, "/a/kube");
    cr_assert_eq(c->max_stale_sec, 60);
    cr_assert_eq(c->limits.max_body_bytes, 1024);
    cr_assert_eq(c->limits.max_in_flight, 1);
    cr_assert_eq(c->limits.max_in_flight_bytes, 4096);
    cr_assert_eq(c->limits.max_connections, 2);
    cr_assert_eq(c->limits.threads, 3);
    cr_assert_eq(c->limits.deadline_margin_msec, 4);
    cr_assert_str_eq(c->decision_log_path, "/a/log");
    cr_assert(c->decision_log_allowed);
    cr_assert_eq(c->drain_sec, 0);
    config_unref(c);
}

Test(config, a_kind_can_have_no_signers)
{
    struct config *c = read_right("keyring: {kinds: {SandboxExemption: {keys: []}}}\n"
                                  "evidence: {source: cluster}\n");

    cr_assert(c->policy.signers[EVIDENCE_EXEMPTION].keys_named);
    cr_assert_eq(c->policy.signers[EVIDENCE_EXEMPTION].keys.count, 0);
    cr_assert_eq(c->policy.signers[EVIDENCE_EXEMPTION].threshold, 1);
    config_unref(c);
}

Test(config, every_key_of_the_policy_is_read)
{
    struct config *c = read_right(everything);
    const struct policy *p = &c->policy;

    cr_assert_eq(p->signers[EVIDENCE_REQUIREMENTS].threshold, 2);
    cr_assert(!p->signers[EVIDENCE_REQUIREMENTS].keys_named);
    cr_assert_eq(p->signers[EVIDENCE_EXEMPTION].threshold, 3);
    cr_assert_eq(p->signers[EVIDENCE_EXEMPTION].keys.count, 3);
    cr_assert_eq(p->signers[EVIDENCE_BASELINE].threshold, 2, "the general one");
    cr_assert(p->signers[EVIDENCE_BASELINE].keys_named);
    assert_text(p->signers[EVIDENCE_BASELINE].keys.items[0], "security");
    cr_assert_eq(p->revoked.count, 1);
    assert_text(p->audience, "prod");
    assert_text(p->own_namespace, "gate");
    cr_assert(c->own_namespace_named);
    cr_assert_eq(p->min_baselines, 1);
    cr_assert(p->accept_unsigned);
    cr_assert_eq(p->max_age_days, 3650);
    cr_assert_eq(p->clock_skew_sec, 0);
    cr_assert_eq(p->defaults.enforce, LEVEL_REQUIRED);
    cr_assert_eq(p->defaults.warn, LEVEL_ANNOTATED);
    cr_assert_eq(p->defaults.audit, LEVEL_REQUIRED);
    cr_assert_eq(p->defaults.boundary, BOUNDARY_LEVEL_WARN);
    cr_assert_eq(p->controllers, CONTROLLERS_ENFORCE);
    cr_assert_eq(p->floor.enforce, LEVEL_ANNOTATED);
    cr_assert_eq(p->floor.warn, LEVEL_NONE);
    cr_assert_eq(p->floor.audit, LEVEL_ANNOTATED);
    cr_assert_eq(p->floor.boundary, BOUNDARY_LEVEL_RECORD);
    cr_assert(p->network_policies);
    assert_text(p->exempt_namespaces.items[0], "kube-system");
    assert_text(p->exempt_users.items[0], "system:node:a");
    assert_text(p->exempt_runtime_classes.items[0], "gvisor");
    config_unref(c);
}

Test(config, relative_paths_begin_at_the_directory_of_the_file)
{
    struct place place = write_config("tls: {certificate: tls/a.crt, key: /abs/a.key}\n"
                                      "decisionLog: {path: log}\n");
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};
    char wanted[2 * PATH_BYTES];

    cr_assert_eq(config_read(place.file, &arena, &config, &errors), 0);
    (void)snprintf(wanted, sizeof(wanted), "%s/tls/a.crt", place.folder);
    cr_assert_str_eq(config->tls_certificate, wanted);
    cr_assert_str_eq(config->tls_key, "/abs/a.key");
    (void)snprintf(wanted, sizeof(wanted), "%s/log", place.folder);
    cr_assert_str_eq(config->decision_log_path, wanted);
    config_unref(config);
    arena_release(&arena);
    remove_config(&place);
}

static const struct {
    const char *text;
    const char *wanted;
} refused[] = {
    {"lisen: {}\n", "1:1: lisen is not a known key; did you mean listen?\n"},
    {"tls:\n  cert: a\n", "2:3: cert is not a known key\n"},
    {"\"a b\": 1\n", "1:1: this is not a known key\n"},
    {"- a\n", "1:1: the configuration must be a mapping\n"},
    {"apiVersion: sandbox.runx.dev/v2\n", "1:13: apiVersion must be one of: sandbox.runx.dev/v1\n"},
    {"kind: Gate\n", "1:7: kind must be one of: GateConfiguration\n"},
    {"boundary: {networkpolicies: true}\n",
     "1:12: networkpolicies is not a known key; did you mean networkPolicies?\n"},
    {"boundary: {networkPolicies: \"true\"}\n",
     "1:29: boundary.networkPolicies must be true or false\n"},
    {"boundary: true\n", "1:11: boundary must be a mapping\n"},
    {"tls: [a]\n", "1:6: tls must be a mapping\n"},
    {"tls: {certificate: 5}\n", "1:20: tls.certificate must be text: quote it\n"},
    {"tls: {key: \"\"}\n", "1:12: tls.key must be a path\n"},
    {"tls: {clientCA: a}\n",
     "1:17: tls.clientCA needs tls.clientNames: without names no client is accepted\n"},
    {"tls: {clientNames: [a]}\n",
     "1:20: tls.clientNames needs tls.clientCA: without it no name is checked\n"},
    {"tls: {clientCA: a, clientNames: [\" \"]}\n",
     "1:34: tls.clientNames: an entry must be text of 1 to 4096 bytes\n"
     "1:17: tls.clientCA needs tls.clientNames: without names no client is accepted\n"},
    {"tls: {self: {webhookConfiguration: a}}\n",
     "1:36: tls.self.webhookConfiguration needs tls.self.secret: without it no certificate is "
     "made\n"},
    {"tls: {self: {secret: a}}\n",
     "1:7: tls.self.secret needs tls.self.dnsNames: the names by which clients connect\n"},
    {"tls: {key: b, self: {secret: a, dnsNames: [c]}}\n",
     "1:12: tls.certificate and tls.key are not read if tls.self.secret is set: remove them or "
     "tls.self.secret\n"},
    {"tls: {self: {secret: A, dnsNames: [c]}}\n",
     "1:22: tls.self.secret must be the exact name of an object\n"},
    {"tls: {self: {secret: a, webhookConfiguration: a..b, dnsNames: [c]}}\n",
     "1:47: tls.self.webhookConfiguration must be the exact name of an object\n"},
    {"tls: {self: {secret: a, dnsNames: [c, \"*.d\"]}}\n",
     "1:39: tls.self.dnsNames: an entry must be a DNS name in lower case, as in "
     "sandgate.sandgate-system.svc\n"},
    {"tls: {self: {secret: a, dnsNames: [a, b, c, d, e, f, g, h, i, j, k, l, m, q, o, p, r]}}\n",
     "1:35: tls.self.dnsNames must have at most 16 names\n"},
    {"tls: {self: {secret: a, dnsNames: [c], caDays: 269}}\n",
     "1:7: tls.self.caDays must be at least three times tls.self.certificateDays\n"},
    {"tls: {self: {caDays: 2}}\n",
     "1:22: tls.self.caDays must be a whole number from 3 to 36500\n"},
    {"tls: {self: {certificateDays: 3651}}\n",
     "1:31: tls.self.certificateDays must be a whole number from 1 to 3650\n"},
    {"listen: {webhook: \"::1:8443\"}\n",
     "1:19: listen.webhook has an IPv6 address without brackets; write it as in "
     "\"[::1]:8443\"\n"},
    {"listen: {webhook: \"fd00::10\"}\n",
     "1:19: listen.webhook has an IPv6 address without brackets; write it as in "
     "\"[::1]:8443\"\n"},
    {"listen: {admin: localhost}\n", "1:17: listen.admin has no port, as in \"[::]:8443\"\n"},
    {"keyring: {threshold: 0}\n", "1:22: keyring.threshold must be a whole number from 1 to 256\n"},
    {"keyring: {threshold: \"1\"}\n",
     "1:22: keyring.threshold must be a whole number from 1 to 256\n"},
    {"keyring: {kinds: {SandboxThing: {}}}\n", "1:19: SandboxThing is not a known key\n"},
    {"evidence: {source: directory}\n",
     "1:20: evidence.source is directory, so evidence.directory must be set\n"},
    {"evidence: {directory: a}\n",
     "1:23: evidence.directory is only read with evidence.source: directory\n"},
    {"evidence: {source: directory, directory: a, namespaces: [b]}\n",
     "1:57: evidence.namespaces is only read with evidence.source: cluster\n"},
    {"evidence: {namespaces: payments}\n", "1:24: evidence.namespaces must be a list\n"},
    {"evidence: {namespaces: [payments, \"pay*\"]}\n",
     "1:35: evidence.namespaces: an entry must be the exact name of a namespace\n"},
    {"evidence: {source: folder}\n", "1:20: evidence.source must be one of: cluster, directory\n"},
    {"evidence: {namespace: \"a*\"}\n",
     "1:23: evidence.namespace must be the exact name of a namespace\n"},
    {"evidence: {unsigned: true}\n", "1:22: evidence.unsigned must be one of: refuse, accept\n"},
    {"evidence: {maxAgeDays: 0}\n",
     "1:24: evidence.maxAgeDays must be a whole number from 1 to 3650\n"},
    {"evidence: {maxAgeDays: 3651}\n",
     "1:24: evidence.maxAgeDays must be a whole number from 1 to 3650\n"},
    {"evidence: {maxAgeDays: 1.5}\n",
     "1:24: evidence.maxAgeDays must be a whole number from 1 to 3650\n"},
    {"evidence: {clockSkewSeconds: -1}\n",
     "1:30: evidence.clockSkewSeconds must be a whole number from 0 to 86400\n"},
    {"evidence: {revoked: [sha256:abc]}\n",
     "1:22: evidence.revoked: an entry must be sha256: and 64 lowercase hex digits\n"},
    {"evidence: {revoked: sha256}\n", "1:21: evidence.revoked must be a list\n"},
    {"evidence: {audience: 5}\n", "1:22: evidence.audience must be text: quote it\n"},
    {"defaults: {enforce: all}\n",
     "1:21: defaults.enforce must be one of: none, annotated, required\n"},
    {"defaults: {boundary: held}\n",
     "1:22: defaults.boundary must be one of: none, record, warn, block\n"},
    {"floor: {boundary: true}\n",
     "1:19: floor.boundary must be one of: none, record, warn, block\n"},
    {"defaults: {controllers: required}\n",
     "1:25: defaults.controllers must be one of: warn, none, enforce\n"},
    {"floor: {controllers: warn}\n", "1:9: controllers is not a known key\n"},
    {"exempt: {namespaces: [\"kube-*\"]}\n",
     "1:23: exempt.namespaces: an entry must be the exact name of a namespace\n"},
    {"exempt: {users: [7]}\n", "1:18: exempt.users: an entry must be text: quote it\n"},
    {"limits: {maxBodyBytes: 33554433}\n",
     "1:1: a quarter of limits.maxInFlightBytes must be at least limits.maxBodyBytes: one "
     "client address can use no more than that quarter\n"},
    {"limits: {maxInFlight: 0}\n",
     "1:23: limits.maxInFlight must be a whole number from 1 to 65536\n"},
    {"decisionLog: {allowed: \"true\"}\n", "1:24: decisionLog.allowed must be true or false\n"},
    {"decisionLog: {path: \"\"}\n", "1:21: decisionLog.path must be a path\n"},
    {"drainSeconds: 3601\n", "1:15: drainSeconds must be a whole number from 0 to 3600\n"},
};

Test(config, invalid_values_are_rejected_with_their_place)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_wrong(refused[i].text, refused[i].wanted);
}

Test(config, all_problems_are_reported_at_once)
{
    assert_wrong("listen: {webhook: a}\nkeyring: {threshold: 0}\ndrain: 5\n",
                 "1:19: listen.webhook has no port, as in \"[::]:8443\"\n"
                 "2:22: keyring.threshold must be a whole number from 1 to 256\n"
                 "3:1: drain is not a known key\n");
}

Test(config, plain_scalars_with_two_readings_are_refused)
{
    struct place place = write_config("decisionLog: {allowed: yes}\n");
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};

    cr_assert_eq(config_read(place.file, &arena, &config, &errors), -EINVAL);
    cr_assert_eq(errors.count, 1);
    cr_assert_eq(errors.items[0].line, 1);
    cr_assert_eq(errors.items[0].column, 24);
    cr_assert(str_contains(errors.items[0].what, STR("quote it")));
    arena_release(&arena);
    remove_config(&place);
}

Test(config, a_missing_file_is_an_error)
{
    struct arena arena = {0};
    struct config *config = NULL;
    struct config_errors errors = {0};

    cr_assert_eq(config_read("/nonexistent/gate.yaml", &arena, &config, &errors), -ENOENT);
    arena_release(&arena);
}
