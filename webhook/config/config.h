/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CONFIG_CONFIG_H
#define WEBHOOK_CONFIG_CONFIG_H

/*
 * config - the GateConfiguration file (gate-v1, section 10) as one struct, const once read.
 *
 * Errors     config_read(): 0; -EINVAL with every place that the contract does not allow (unknown
 *            key, wrong type, value out of range, clash), or with the first where the file is no
 *            readable YAML; -ENOMEM; another negative errno where the file cannot be read.
 * Ownership  a config is counted and owns its texts; config_unref(NULL) is allowed.
 * Units      in the names.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/policy/policy.h"
#include "k8s/util/refcount.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define CONFIG_MAX_FILE_BYTES (256 * 1024)

enum config_source { CONFIG_SOURCE_UNSET = 0, CONFIG_SOURCE_CLUSTER, CONFIG_SOURCE_DIRECTORY };

/* A listening address that was read and is clear: host as written without brackets ("" for all). */
struct config_address {
    char host[64];
    uint16_t port; /* 0: any free one (for tests) */
};

struct config {
    struct config_address webhook;
    struct config_address admin;
    char *tls_certificate; /* paths, absolute or relative to the working folder */
    char *tls_key;
    char *tls_client_ca; /* NULL: none */
    struct str_list tls_client_names;
    struct config_self {
        struct str secret; /* in the gate's own namespace; empty: certificate files are used */
        struct str webhook_configuration; /* empty: nobody's */
        struct str_list dns_names;
        uint32_t ca_days;
        uint32_t certificate_days;
    } self; /* certificates that the gate makes */
    char *keyring_directory;
    enum config_source source;
    char *evidence_directory;   /* NULL: none */
    char *kubeconfig;           /* NULL: none */
    struct str_list namespaces; /* beside the gate's own; empty: all */
    uint32_t max_stale_sec;
    struct policy policy;
    bool own_namespace_named; /* evidence.namespace is given; else policy has the default */
    struct {
        uint64_t max_body_bytes;
        uint32_t max_in_flight;
        uint64_t max_in_flight_bytes;
        uint32_t max_connections;
        uint32_t threads; /* 0: one a core */
        uint32_t deadline_margin_msec;
    } limits;
    char *decision_log_path; /* "-": standard output */
    bool decision_log_allowed;
    uint32_t drain_sec;

    struct arena arena; /* owns all texts */
    struct refcount count;
};

struct config_error {
    size_t line; /* 0: no place */
    size_t column;
    struct str what; /* in the given arena; never a value of the file */
};

#define CONFIG_MAX_ERRORS 16 /* shown at once */

struct config_errors {
    struct config_error items[CONFIG_MAX_ERRORS]; /* in the order of the file's sections */
    size_t count;
};

int config_read(const char *path, struct arena *arena, struct config **ret_config,
                struct config_errors *reterr) __attribute__((warn_unused_result, nonnull));

/* All defaults, for `check` without a configuration. */
int config_defaults(struct config **ret_config) __attribute__((warn_unused_result, nonnull));

/* "[::]:8443", "127.0.0.1:8080", ":8443", "name:port". NULL, or what is not clear about it: a
 * static text. */
const char *config_read_address(struct str text, struct config_address *ret_address)
    __attribute__((warn_unused_result, nonnull));

struct config *config_ref(const struct config *config);
void config_unref(const struct config *config);

static inline void config_cleanup(struct config **config)
{
    config_unref(*config);
}

#define cleanup_config __attribute__((cleanup(config_cleanup)))

#endif
