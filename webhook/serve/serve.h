/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVE_SERVE_H
#define WEBHOOK_SERVE_SERVE_H

/*
 * serve - the life of the running gate: start, readings again, drain, end (gate-v1, sections 8, 9).
 *
 * SIGTERM and SIGINT end it, SIGHUP reads everything again; signals are blocked and waited for, so
 * they work for process 1 too. Files are looked at again by themselves when they change.
 *
 * Threads    to be called before any thread was started.
 */

#include <stdbool.h>

#include "webhook/util/log.h"

struct serve_options {
    const char *config_path;
    const char *listen; /* over the configuration's; NULL: its own */
    const char *admin;  /* likewise */
    enum log_level level;
    bool check; /* only read everything, and say what is wrong */
};

/* The exit status: 0, or 2 after a bad start, whose reasons are on standard error. */
int serve_run(const struct serve_options *options) __attribute__((nonnull));

#endif
