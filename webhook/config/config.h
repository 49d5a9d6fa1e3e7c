/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CONFIG_CONFIG_H
#define WEBHOOK_CONFIG_CONFIG_H

/*
 * config - reads the GateConfiguration file (gate-v1, section 10) into one struct.
 *
 * Errors     config_read(): 0; -EINVAL with every violation of the contract (unknown key, wrong
 *            type, value out of range, contradiction), or with the first error if the file is not
 *            valid YAML; -ENOMEM; another negative errno if the file cannot be read.
 * Ownership  counted references; a config owns its texts. config_unref(NULL) is allowed.
 * Threads    any: a config does not change after it was read, and the count is atomic.
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

/* A listening address. host is as written, without brackets; "": all addresses. */
struct config_address {
    char host[64];
    uint16_t port; /* 0: any free port, for tests */
};

struct config {
    struct config_address webhook;
    struct config_address admin;
    char *tls_certificate; /* paths, absolute or relative to the working directory */
    char *tls_key;
    char *tls_client_ca; /* NULL: none */
    struct str_list tls_client_names;
    struct config_self {
        struct str secret; /* in the gate's own namespace; empty: certificate files are used */
        struct str webhook_configuration; /* empty: none is updated */
        struct str_list dns_names;
        uint32_t ca_days;
        uint32_t certificate_days;
    } self; /* certificates that the gate makes itself */
    char *keyring_directory;
    enum config_source source;
    char *evidence_directory;   /* NULL: none */
    char *kubeconfig;           /* NULL: none */
    struct str_list namespaces; /* in addition to the gate's own; empty: all */
    uint32_t max_stale_sec;
    struct policy policy;
    bool own_namespace_named; /* evidence.namespace is set; otherwise policy has the default */
    struct {
        uint64_t max_body_bytes;
        uint32_t max_in_flight;
        uint64_t max_in_flight_bytes;
        uint32_t max_connections;
        uint32_t threads; /* 0: one per core */
        uint32_t deadline_margin_msec;
    } limits;
    char *decision_log_path; /* "-": standard output */
    bool decision_log_allowed;
    uint32_t drain_sec;

    struct arena arena; /* owns all texts */
    struct refcount count;
};

struct config_error {
    size_t line;     /* from 1; 0: the error has no place */
    size_t column;   /* from 1, in bytes */
    struct str what; /* in the given arena; contains no value of the file */
};

#define CONFIG_MAX_ERRORS 16 /* reported at once */

struct config_errors {
    struct config_error items[CONFIG_MAX_ERRORS]; /* in the order of the file's sections */
    size_t count;
};

int config_read(const char *path, struct arena *arena, struct config **ret_config,
                struct config_errors *reterr) __attribute__((warn_unused_result, nonnull));

/* All defaults, for `check` without a configuration. */
int config_defaults(struct config **ret_config) __attribute__((warn_unused_result, nonnull));

/* Reads "[::]:8443", "127.0.0.1:8080", ":8443" or "name:port". NULL on success, otherwise the
 * problem as a static text. */
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
