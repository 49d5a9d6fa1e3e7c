/* SPDX-License-Identifier: Apache-2.0 */
/* attention - what someone should repair though the gate serves: lines of /readyz and /healthz,
 * metrics, and errors of --check. */

#include <time.h>

#include "k8s/evidence/evidence.h"
#include "k8s/util/clock.h"
#include "webhook/cli/output.h"
#include "webhook/serve/internal.h"

#define NO_KEY                                                                                     \
    "the keyring has no key, so no evidence is valid: add public keys to keyring.directory"

static void add_shortfall(struct buffer *b, enum evidence_kind kind, unsigned missing)
{
    buffer_add_format(b,
                      "no %s can be valid: its threshold needs %u more different %s than the "
                      "keyring has for it; add keys, or correct keyring.threshold or keyring.kinds",
                      evidence_kind_text(kind), missing, missing == 1 ? "key" : "keys");
}

static void report(const struct serve *serve, struct str what, bool print)
{
    if (print)
        output_error("%s: %.*s", serve->options->config_path, (int)what.len, what.ptr);
    else
        log_line_with(&serve->log, LOG_LEVEL_ERROR, "evidence cannot be valid",
                      log_text("reason", what));
}

bool serve_note_trust(struct serve *serve, bool print)
{
    struct runtime_trust trust = {0};
    bool is_enough = true;

    runtime_read_trust(serve->runtime, &trust);
    atomic_store(&serve->metrics.keyring_keys, trust.keys);
    for (int kind = EVIDENCE_REQUIREMENTS; kind < EVIDENCE_KIND_COUNT; kind++) {
        struct arena cleanup_arena arena = {0};
        struct buffer b = buffer_make(&arena, 1024);
        struct str what = {0};

        atomic_store(&serve->metrics.signers_missing[kind], trust.missing[kind]);
        if (trust.missing[kind] == 0)
            continue;
        is_enough = false;
        add_shortfall(&b, (enum evidence_kind)kind, trust.missing[kind]);
        what = buffer_text(&b);
        report(serve, str_present(what) ? what : STR("out of memory"), print);
    }
    return is_enough;
}

static void add_keyring(const struct metrics *metrics, struct buffer *b)
{
    if (atomic_load(&metrics->keyring_keys) == 0) {
        buffer_add(b, STR("\n" NO_KEY));
        return;
    }
    for (int kind = EVIDENCE_REQUIREMENTS; kind < EVIDENCE_KIND_COUNT; kind++) {
        uint64_t missing = atomic_load(&metrics->signers_missing[kind]);

        if (missing == 0)
            continue;
        buffer_add_char(b, '\n');
        add_shortfall(b, (enum evidence_kind)kind, (unsigned)missing);
    }
}

static void add_certificate(const struct serve *serve, struct buffer *b)
{
    int64_t expires_sec = atomic_load(&serve->metrics.certificate_expires_sec);
    int64_t now_sec = clock_unix_sec();
    const char *failure = serve_self_failure(&serve->self);

    if (failure != NULL)
        buffer_add_format(b, "\nthe certificates cannot be kept up to date: %s", failure);
    if (expires_sec != 0 && expires_sec <= now_sec)
        buffer_add(b, STR("\nthe serving certificate has expired: renew it"));
    else if (expires_sec != 0 && expires_sec < now_sec + SERVE_EXPIRY_WARNING_SEC)
        buffer_add(b, STR("\nthe serving certificate expires within a week: renew it"));
}

void serve_attend(void *context, struct buffer *b)
{
    const struct serve *serve = context;

    add_keyring(&serve->metrics, b);
    for (int part = 0; part < METRICS_PART_COUNT; part++) {
        bool is_self = part == METRICS_PART_CERTIFICATE && serve_self_is_on(&serve->self);

        if (atomic_load(&serve->metrics.failing[part]) && !is_self)
            buffer_add_format(b, "\nthe last reading of the %s failed: the log has the reason",
                              metrics_part_text((enum metrics_part)part));
    }
    add_certificate(serve, b);
}
