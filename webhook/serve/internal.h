/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_INTERNAL_H
#define WEBHOOK_SERVE_INTERNAL_H

/*
 * internal - what serve's files share; nobody else includes it. serve.c is its life,
 * open.c its beginning, files.c what is read again while it runs.
 */

#include "webhook/util/fingerprint.h"
#include "webhook/serve/serve.h"
#include "webhook/serve/self.h"
#include "webhook/server/server.h"
#include "webhook/runtime/runtime.h"

struct serve {
    const struct serve_options *options;
    struct runtime *runtime;
    struct tls *tls;
    struct server *server;
    struct serve_self self; /* where certificates are made here */
    struct fingerprint tls_seen;
    struct metrics metrics;
    struct decision_log *decision_log;
    struct config *decision_log_config; /* that names its path */
    struct recorder recorder;
    struct log log;
    struct arena arena; /* of texts that live as long as the server */
};

static inline void serve_done_config(struct config **config)
{
    config_unref(*config);
}

#define cleanup_config __attribute__((cleanup(serve_done_config)))

/* ---- open.c ---- */

/* Everything that is read at the start. Complains about all that is wrong with it. */
int serve_read(struct serve *serve, struct config **ret_config)
    __attribute__((warn_unused_result, nonnull));
/* Opens the ports and starts all threads; with `check` it only looks at the options. Complains. */
int serve_open(struct serve *serve, const struct config *config)
    __attribute__((warn_unused_result, nonnull));

/* ---- files.c ---- */

struct tls_files serve_tls_files(const struct config *config);
struct fingerprint serve_look_at_tls(const struct config *config);
struct server_limits serve_limits(const struct config *config);
/* Tells once, in the log, what failed in a reading. */
void serve_tell_report(const struct serve *serve, const struct runtime_report *report);
void serve_note_expiry(struct serve *serve);
/* Looks at all files, and reads again what has changed; by force, everything. */
void serve_reload(struct serve *serve, bool force);

#endif
