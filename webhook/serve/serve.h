/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_SERVE_H
#define WEBHOOK_SERVE_SERVE_H

/*
 * serve - the running gate: start, reloads, drain and end (gate-v1, sections 8 and 9).
 *
 * SIGTERM and SIGINT end it, SIGHUP reloads everything. The signals are blocked and waited for, so
 * they also work in process 1 of a container. Files that change are reloaded without a signal.
 *
 * Threads    to be called before any thread is started.
 */

#include <stdbool.h>

#include "webhook/util/log.h"

struct serve_options {
    const char *config_path;
    const char *listen; /* instead of listen.webhook of the configuration; NULL: not given */
    const char *admin;  /* instead of listen.admin; NULL: not given */
    enum log_level level;
    bool check; /* only read everything, and report what is wrong */
};

/* Returns the exit status: 0, or 2 after a failed start, whose reasons are on standard error. */
int serve_run(const struct serve_options *options) __attribute__((nonnull));

#endif
