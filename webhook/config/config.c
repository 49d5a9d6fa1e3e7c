/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - the keys of the configuration file, with their defaults, ranges and dependencies.
 *
 * section.c reads values of one type, address.c listening addresses, self.c the mapping tls.self.
 */

#include "webhook/config/config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/cluster/cluster.h"
#include "k8s/document/document.h"
#include "k8s/keyring/keyring.h"
#include "k8s/policy/names.h"
#include "k8s/util/dns_name.h"
#include "planner/base/tree.h"
#include "planner/plan.h"
#include "webhook/config/section.h"
#include "webhook/util/input.h"

#define CONFIG_KIND "GateConfiguration"

#define DEFAULT_CERTIFICATE "/etc/sandgate/tls/tls.crt"
#define DEFAULT_KEY "/etc/sandgate/tls/tls.key"
#define DEFAULT_CA_DAYS 3650
#define DEFAULT_CERTIFICATE_DAYS 90
#define DEFAULT_KEYRING "/etc/sandgate/keys"
#define DEFAULT_MAX_STALE_SEC 180
#define DEFAULT_MAX_BODY_BYTES 20971520
#define DEFAULT_MAX_IN_FLIGHT 64
#define DEFAULT_MAX_IN_FLIGHT_BYTES 134217728
#define DEFAULT_MAX_CONNECTIONS 1024
#define DEFAULT_DEADLINE_MARGIN_MSEC 500
#define DEFAULT_DRAIN_SEC 15

/* Upper limits of values. A larger value is almost certainly a mistake. */
#define MAX_CLOCK_SKEW_SEC 86400
#define MAX_STALE_SEC 86400
#define MAX_MIN_BASELINES 1000
#define MAX_BODY_BYTES (UINT64_C(1) << 30)
#define MAX_IN_FLIGHT 65536
#define MAX_IN_FLIGHT_BYTES (UINT64_C(1) << 40)
#define MAX_CONNECTIONS 1000000
#define MAX_THREADS 1024
#define MAX_DEADLINE_MARGIN_MSEC 30000
#define MAX_DRAIN_SEC 3600
#define MAX_ENTRY_BYTES 4096

#define IN_FLIGHT_SHARE 4 /* one client address can use 1/4 of maxInFlightBytes */

static int new_config(struct config **ret_config)
{
    struct config *config = calloc(1, sizeof(*config));

    if (config == NULL)
        return -ENOMEM;
    refcount_init(&config->count);
    config->webhook = (struct config_address){.host = "::", .port = 8443};
    config->admin = (struct config_address){.host = "127.0.0.1", .port = 8080};
    config->tls_certificate = arena_copy(&config->arena, STR(DEFAULT_CERTIFICATE));
    config->tls_key = arena_copy(&config->arena, STR(DEFAULT_KEY));
    config->self.ca_days = DEFAULT_CA_DAYS;
    config->self.certificate_days = DEFAULT_CERTIFICATE_DAYS;
    config->keyring_directory = arena_copy(&config->arena, STR(DEFAULT_KEYRING));
    config->source = CONFIG_SOURCE_CLUSTER;
    config->max_stale_sec = DEFAULT_MAX_STALE_SEC;
    config->policy = policy_defaults();
    config->limits.max_body_bytes = DEFAULT_MAX_BODY_BYTES;
    config->limits.max_in_flight = DEFAULT_MAX_IN_FLIGHT;
    config->limits.max_in_flight_bytes = DEFAULT_MAX_IN_FLIGHT_BYTES;
    config->limits.max_connections = DEFAULT_MAX_CONNECTIONS;
    config->limits.deadline_margin_msec = DEFAULT_DEADLINE_MARGIN_MSEC;
    config->decision_log_path = arena_copy(&config->arena, STR("-"));
    config->drain_sec = DEFAULT_DRAIN_SEC;
    if (config->tls_certificate == NULL || config->tls_key == NULL ||
        config->keyring_directory == NULL || config->decision_log_path == NULL) {
        config_unref(config);
        return -ENOMEM;
    }
    *ret_config = config;
    return 0;
}

int config_defaults(struct config **ret_config)
{
    return new_config(ret_config);
}

struct config *config_ref(const struct config *config)
{
    /* only the count changes */
    struct config *counted = (struct config *)(uintptr_t)config;

    refcount_take(&counted->count);
    return counted;
}

void config_unref(const struct config *config)
{
    struct config *counted = (struct config *)(uintptr_t)config;

    if (counted == NULL || !refcount_drop(&counted->count))
        return;
    arena_release(&counted->arena);
    free(counted);
}

/* A rule returns NULL if the entry of a list is valid, otherwise what it must be. */
static const char *rule_entry(struct str item)
{
    return str_trim(item).len > 0 && item.len <= MAX_ENTRY_BYTES ? NULL : "text of 1 to 4096 bytes";
}

static const char *rule_digest(struct str item)
{
    return str_is_sha256(item) ? NULL : "sha256: and 64 lowercase hex digits";
}

static const char *rule_namespace(struct str item)
{
    return dns_is_label(item) ? NULL : "the exact name of a namespace";
}

static void read_address(struct config_section *section, const char *key,
                         struct config_address *ret_address)
{
    struct str text = {0};
    const char *problem = NULL;

    section_text(section, key, &text);
    if (!str_present(text))
        return;
    problem = config_read_address(text, ret_address);
    if (problem != NULL)
        section_refuse(section, tree_get(section->object, key), false, "listen.%s %s", key,
                       problem);
}

static void read_listen(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "listen");

    read_address(&section, "webhook", &config->webhook);
    read_address(&section, "admin", &config->admin);
    section_end(&section);
}

static void read_required_path(struct config_section *section, const char *key, char **ret_path)
{
    section_path(section, key, ret_path);
    if (*ret_path == NULL)
        section_refuse(section, tree_get(section->object, key), false, "%s%s must be a path",
                       section->name, key);
}

static void read_tls(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "tls");

    read_required_path(&section, "certificate", &config->tls_certificate);
    read_required_path(&section, "key", &config->tls_key);
    section_path(&section, "clientCA", &config->tls_client_ca);
    section_list(&section, "clientNames", rule_entry, &config->tls_client_names);
    if (config->tls_client_ca != NULL && config->tls_client_names.count == 0)
        section_refuse(&section, tree_get(section.object, "clientCA"), false,
                       "tls.clientCA needs tls.clientNames: without names no client is accepted");
    if (config->tls_client_ca == NULL && config->tls_client_names.count > 0)
        section_refuse(&section, tree_get(section.object, "clientNames"), false,
                       "tls.clientNames needs tls.clientCA: without it no name is checked");
    section_self(&section, &config->self);
    section_end(&section);
}

static const char *rule_key_id(struct str item)
{
    return keyring_is_id(item) ? NULL : "a key id, the name of a file in the keyring without .pem";
}

static void read_signers(struct config_section *kinds, enum evidence_kind kind, const char *name,
                         struct policy_signers *signers)
{
    struct config_section section = section_open(kinds, name);
    uint32_t threshold = signers[kind].threshold;

    section_list(&section, "keys", rule_key_id, &signers[kind].keys);
    section_number32(&section, "threshold", 1, KEYRING_MAX_KEYS, &threshold);
    signers[kind].threshold = threshold;
    /* an empty list is a setting too: then no document of this kind is valid */
    signers[kind].keys_named = section.object != NULL && tree_get(section.object, "keys") != NULL;
    section_end(&section);
}

static void read_keyring(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "keyring");
    struct config_section kinds = {0};
    struct policy_signers *signers = config->policy.signers;
    uint32_t threshold = 1;

    read_required_path(&section, "directory", &config->keyring_directory);
    section_number32(&section, "threshold", 1, KEYRING_MAX_KEYS, &threshold);
    for (unsigned kind = EVIDENCE_UNKNOWN; kind < EVIDENCE_KIND_COUNT; kind++)
        signers[kind].threshold = threshold;
    kinds = section_open(&section, "kinds");
    read_signers(&kinds, EVIDENCE_REQUIREMENTS, "SandboxRequirements", signers);
    read_signers(&kinds, EVIDENCE_BASELINE, "SandboxBaseline", signers);
    read_signers(&kinds, EVIDENCE_EXEMPTION, "SandboxExemption", signers);
    section_end(&kinds);
    section_end(&section);
}

static void read_source(struct config_section *section, struct config *config)
{
    static const char *const names[] = {"cluster", "directory", NULL};
    static const enum config_source sources[] = {CONFIG_SOURCE_CLUSTER, CONFIG_SOURCE_DIRECTORY};
    unsigned choice = 0;

    if (section_choice(section, "source", names, &choice))
        config->source = sources[choice];
    section_path(section, "directory", &config->evidence_directory);
    section_path(section, "kubeconfig", &config->kubeconfig);
    section_list(section, "namespaces", rule_namespace, &config->namespaces);
    if (config->source == CONFIG_SOURCE_DIRECTORY && config->evidence_directory == NULL)
        section_refuse(section, tree_get(section->object, "source"), false,
                       "evidence.source is directory, so evidence.directory must be set");
    if (config->source == CONFIG_SOURCE_CLUSTER && config->evidence_directory != NULL)
        section_refuse(section, tree_get(section->object, "directory"), false,
                       "evidence.directory is only read with evidence.source: directory");
    if (config->source == CONFIG_SOURCE_DIRECTORY && config->namespaces.count > 0)
        section_refuse(section, tree_get(section->object, "namespaces"), false,
                       "evidence.namespaces is only read with evidence.source: cluster");
    if (config->namespaces.count > CLUSTER_MAX_NAMESPACES)
        section_refuse(section, tree_get(section->object, "namespaces"), false,
                       "evidence.namespaces has more than %d entries", CLUSTER_MAX_NAMESPACES);
}

static void read_own_namespace(struct config_section *section, struct config *config)
{
    struct str name = {0};
    const char *problem = NULL;

    section_text(section, "namespace", &name);
    if (name.len == 0)
        return;
    problem = rule_namespace(name);
    if (problem != NULL) {
        section_refuse(section, tree_get(section->object, "namespace"), false,
                       "evidence.namespace must be %s", problem);
        return;
    }
    config->policy.own_namespace = name;
    config->own_namespace_named = true;
}

static void read_evidence(struct config_section *root, struct config *config)
{
    static const char *const unsigned_names[] = {"refuse", "accept", NULL};
    struct config_section section = section_open(root, "evidence");
    struct policy *policy = &config->policy;
    unsigned choice = 0;
    uint32_t max_age_days = PLAN_DEFAULT_AGE_DAYS;
    uint32_t min_baselines = 0;

    read_source(&section, config);
    read_own_namespace(&section, config);
    if (section_choice(&section, "unsigned", unsigned_names, &choice))
        policy->accept_unsigned = choice == 1;
    section_number32(&section, "maxAgeDays", PLAN_MIN_AGE_DAYS, PLAN_MAX_AGE_DAYS, &max_age_days);
    policy->max_age_days = (int)max_age_days;
    section_number32(&section, "clockSkewSeconds", 0, MAX_CLOCK_SKEW_SEC, &policy->clock_skew_sec);
    section_number32(&section, "maxStaleSeconds", 1, MAX_STALE_SEC, &config->max_stale_sec);
    section_list(&section, "revoked", rule_digest, &policy->revoked);
    section_text(&section, "audience", &policy->audience);
    section_number32(&section, "minBaselines", 0, MAX_MIN_BASELINES, &min_baselines);
    policy->min_baselines = min_baselines;
    section_end(&section);
}

static void read_level(struct config_section *section, const char *key, enum level *ret_level)
{
    static const char *const names[] = {"none", "annotated", "required", NULL};
    static const enum level levels[] = {LEVEL_NONE, LEVEL_ANNOTATED, LEVEL_REQUIRED};
    unsigned choice = 0;

    if (section_choice(section, key, names, &choice))
        *ret_level = levels[choice];
}

static void read_boundary_level(struct config_section *section, enum boundary_level *ret_level)
{
    static const char *const names[] = {"none", "record", "warn", "block", NULL};
    static const enum boundary_level levels[] = {BOUNDARY_LEVEL_NONE, BOUNDARY_LEVEL_RECORD,
                                                 BOUNDARY_LEVEL_WARN, BOUNDARY_LEVEL_BLOCK};
    unsigned choice = 0;

    if (section_choice(section, "boundary", names, &choice))
        *ret_level = levels[choice];
}

static void read_levels(struct config_section *section, struct levels *levels)
{
    read_level(section, "enforce", &levels->enforce);
    read_level(section, "warn", &levels->warn);
    read_level(section, "audit", &levels->audit);
    read_boundary_level(section, &levels->boundary);
}

static void read_defaults(struct config_section *root, struct config *config)
{
    static const char *const names[] = {"warn", "none", "enforce", NULL};
    static const enum controllers_mode modes[] = {CONTROLLERS_WARN, CONTROLLERS_NONE,
                                                  CONTROLLERS_ENFORCE};
    struct config_section section = section_open(root, "defaults");
    struct config_section floor = section_open(root, "floor");
    unsigned choice = 0;

    read_levels(&section, &config->policy.defaults);
    if (section_choice(&section, "controllers", names, &choice))
        config->policy.controllers = modes[choice];
    section_end(&section);
    read_levels(&floor, &config->policy.floor);
    section_end(&floor);
}

static void read_boundary(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "boundary");

    section_bool(&section, "networkPolicies", &config->policy.network_policies);
    section_end(&section);
}

static void read_exempt(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "exempt");

    section_list(&section, "namespaces", rule_namespace, &config->policy.exempt_namespaces);
    section_list(&section, "users", rule_entry, &config->policy.exempt_users);
    section_list(&section, "runtimeClasses", rule_entry, &config->policy.exempt_runtime_classes);
    section_end(&section);
}

static void read_limits(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "limits");

    section_number(&section, "maxBodyBytes", 1, MAX_BODY_BYTES, &config->limits.max_body_bytes);
    section_number32(&section, "maxInFlight", 1, MAX_IN_FLIGHT, &config->limits.max_in_flight);
    section_number(&section, "maxInFlightBytes", IN_FLIGHT_SHARE, MAX_IN_FLIGHT_BYTES,
                   &config->limits.max_in_flight_bytes);
    section_number32(&section, "maxConnections", 1, MAX_CONNECTIONS,
                     &config->limits.max_connections);
    section_number32(&section, "threads", 0, MAX_THREADS, &config->limits.threads);
    section_number32(&section, "deadlineMarginMilliseconds", 0, MAX_DEADLINE_MARGIN_MSEC,
                     &config->limits.deadline_margin_msec);
    if (config->limits.max_in_flight_bytes / IN_FLIGHT_SHARE < config->limits.max_body_bytes)
        section_refuse(&section, section.object, true,
                       "a quarter of limits.maxInFlightBytes must be at least limits.maxBodyBytes: "
                       "one client address can use no more than that quarter");
    section_end(&section);
}

static void read_decision_log(struct config_section *root, struct config *config)
{
    struct config_section section = section_open(root, "decisionLog");

    section_bool(&section, "allowed", &config->decision_log_allowed);
    if (section.object != NULL && str_equal(tree_get_text(section.object, "path"), STR("-")))
        (void)section_take(&section, "path"); /* standard output, not a file in the directory */
    else
        read_required_path(&section, "path", &config->decision_log_path);
    section_end(&section);
}

static void read_header(struct config_section *root)
{
    static const char *const versions[] = {NAMES_API_VERSION, NULL};
    static const char *const kinds[] = {CONFIG_KIND, NULL};
    unsigned ignored = 0;

    (void)section_choice(root, "apiVersion", versions, &ignored);
    (void)section_choice(root, "kind", kinds, &ignored);
}

static void read_root(struct config_reader *reader, const cJSON *tree, struct config *config)
{
    struct config_section root = {.reader = reader, .name = ""};

    if (cJSON_IsObject(tree))
        root.object = tree;
    else if (!cJSON_IsNull(tree))
        section_refuse(&root, tree, false, "the configuration must be a mapping");
    read_header(&root);
    read_listen(&root, config);
    read_tls(&root, config);
    read_keyring(&root, config);
    read_evidence(&root, config);
    read_defaults(&root, config);
    read_boundary(&root, config);
    read_exempt(&root, config);
    read_limits(&root, config);
    read_decision_log(&root, config);
    section_number32(&root, "drainSeconds", 0, MAX_DRAIN_SEC, &config->drain_sec);
    section_end(&root);
}

/* The part of a path up to its last slash; empty if it has none. */
static struct str directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (struct str){.ptr = path, .len = (size_t)(slash - path) + 1} : STR("");
}

int config_read(const char *path, struct arena *arena, struct config **ret_config,
                struct config_errors *reterr)
{
    const struct document_options options = {.syntax = DOCUMENT_YAML, .rules = DOCUMENT_OWN};
    cleanup_config struct config *config = NULL;
    struct config_errors errors = {0};
    struct document_error error = {0};
    struct config_reader reader = {
        .directory = directory_of(path), .arena = arena, .errors = &errors};
    cJSON *tree = NULL;
    int r = input_read_file(path, CONFIG_MAX_FILE_BYTES, arena, &reader.text);

    if (r == 0)
        r = new_config(&config);
    if (r == 0)
        r = document_read(reader.text, &options, arena, &tree, &error);
    if (r == -EBADMSG) {
        reterr->items[0] = (struct config_error){error.line, error.column, str_of(error.what)};
        reterr->count = 1;
        return -EINVAL;
    }
    if (r != 0)
        return r;
    assert(config != NULL);
    reader.texts = &config->arena;
    read_root(&reader, tree, config);
    if (reader.out_of_memory)
        return -ENOMEM;
    if (reader.problem_count > 0) {
        *reterr = errors;
        return -EINVAL;
    }
    *ret_config = config;
    config = NULL;
    return 0;
}
