/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_INTERNAL_H
#define WEBHOOK_SERVE_INTERNAL_H

/*
 * internal - shared by the files of serve/. serve.c waits for signals, open.c starts everything,
 * files.c reloads files, attention.c says what needs attention though the gate serves.
 */

#include "planner/base/buffer.h"
#include "webhook/runtime/runtime.h"
#include "webhook/serve/self.h"
#include "webhook/serve/serve.h"
#include "webhook/server/server.h"
#include "webhook/util/fingerprint.h"

#define SERVE_EXPIRY_WARNING_SEC (7 * 24 * 3600)

struct serve {
    const struct serve_options *options;
    struct runtime *runtime;
    struct tls *tls;
    struct server *server;
    struct serve_self self; /* for certificates that the gate makes itself */
    struct fingerprint tls_seen;
    struct metrics metrics;
    struct decision_log *decision_log;
    struct config *decision_log_config; /* owns the path; one reference */
    struct recorder recorder;
    struct log log;
    struct arena arena; /* of texts that are used until the server ends */
};

/* ---- open.c ---- */

/* Reads everything that is needed at the start. Prints all that is wrong with it. 0 or negative
 * errno. */
int serve_read(struct serve *serve, struct config **ret_config)
    __attribute__((warn_unused_result, nonnull));
/* Opens the ports and starts all threads; with `check` it only checks the options. Prints what is
 * wrong. 0 or negative errno. */
int serve_open(struct serve *serve, const struct config *config)
    __attribute__((warn_unused_result, nonnull));

/* ---- attention.c ---- */

/* Sets the metrics of the keyring. What it can never be enough for is logged; with `print` it is
 * printed instead, for --check. False: there is such a thing. */
bool serve_note_trust(struct serve *serve, bool print);
/* attend() of struct server_gate. The context is a struct serve. */
void serve_attend(void *serve, struct buffer *b);

/* ---- files.c ---- */

struct tls_files serve_tls_files(const struct config *config);
struct fingerprint serve_tls_fingerprint(const struct config *config);
struct server_limits serve_limits(const struct config *config);
/* Logs what failed in a reading, and its warnings. */
void serve_log_report(const struct serve *serve, const struct runtime_report *report);
/* Sets the metric of the certificate's expiry, and warns where it is near. */
void serve_note_expiry(struct serve *serve);
/* Checks all files, and reloads what has changed; everything where force is true. */
void serve_reload(struct serve *serve, bool force);

#endif
