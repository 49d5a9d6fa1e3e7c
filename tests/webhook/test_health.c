/* SPDX-License-Identifier: Apache-2.0 */
/* test_health - /readyz and /healthz of a gate that watches a cluster (gate-v1, section 8). */
#include <criterion/criterion.h>

#include "helper.h"
#include "k8s/util/clock.h"
#include "webhook/server/shared.h"

#define SEC 1000u
#define STALE_LINE                                                                                 \
    "ok\nthe API server has sent nothing for longer than evidence.maxStaleSeconds: requests that " \
    "can be denied wait for it, or are denied with code 503"
#define CUT_OFF                                                                                    \
    "not ready: the API server sends reviews, but this gate cannot read from it (the log has the " \
    "reason); other replicas decide until it can"

struct runtime {
    struct snapshot *snapshot;
    struct cluster_status status;
};

static struct snapshot *take_snapshot(struct runtime *runtime)
{
    return snapshot_ref(runtime->snapshot);
}

static void look(struct runtime *runtime, struct cluster_status *ret_status)
{
    *ret_status = runtime->status;
}

Test(health, a_gate_that_is_cut_off_is_not_ready)
{
    static const struct {
        const char *what;
        bool stale;
        unsigned failed_reads, failed_age_msec;
        unsigned first_age_msec, last_age_msec; /* of reviews; 0: none */
        const char *text;
    } rows[] = {
        {"all is well", false, 0, 0, 60 * SEC, 1, "ok"},
        {"reads fail, but the watch is fresh", false, 9, 1, 60 * SEC, 1, "ok"},
        {"stale, and the API server answers", true, 0, 0, 60 * SEC, 1, STALE_LINE},
        {"two reads failed", true, 2, 1, 60 * SEC, 1, STALE_LINE},
        {"three reads failed", true, 3, 1, 60 * SEC, 1, CUT_OFF},
        {"reviews until 29 s ago", true, 9, 1, 60 * SEC, 29 * SEC, CUT_OFF},
        {"no review for 31 s", true, 9, 1, 60 * SEC, 31 * SEC, STALE_LINE},
        {"no review at all", true, 9, 1, 0, 0, STALE_LINE},
        {"back with the API server: no read failed since", true, 9, 5 * SEC, SEC, 1, STALE_LINE},
        {"a read failed after the first review", true, 9, SEC, 5 * SEC, 1, CUT_OFF},
    };
    cleanup_arena struct arena arena = {0};
    struct runtime runtime = {.snapshot = helper_default_snapshot(&arena)};
    static struct server_shared shared;
    char text[HEALTH_TEXT_BYTES];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t now_msec = clock_age_msec();
        bool asked = rows[i].first_age_msec > 0;

        cr_assert_gt(now_msec, 60 * SEC, "this machine runs for a minute at least");
        runtime.status = (struct cluster_status){.ready = true,
                                                 .stale = rows[i].stale,
                                                 .failed_reads = rows[i].failed_reads,
                                                 .failed_read_age_msec = rows[i].failed_age_msec};
        shared.gate =
            (struct server_gate){.runtime = &runtime, .snapshot = take_snapshot, .look = look};
        atomic_store(&shared.reviews.first_msec, asked ? now_msec - rows[i].first_age_msec : 0);
        atomic_store(&shared.reviews.last_msec, asked ? now_msec - rows[i].last_age_msec : 0);
        cr_expect_eq(server_health(&shared, METRICS_PATH_READYZ, text),
                     strcmp(rows[i].text, CUT_OFF) == 0 ? 503 : 200, "%s", rows[i].what);
        cr_expect_str_eq(text, rows[i].text, "%s", rows[i].what);
        cr_expect_eq(server_health(&shared, METRICS_PATH_HEALTHZ, text), 200);
        cr_expect_str_eq(text, rows[i].stale ? STALE_LINE : "ok", "%s", rows[i].what);
    }
    snapshot_unref(runtime.snapshot);
}

Test(health, a_series_of_reviews_ends_after_half_a_minute)
{
    struct health_reviews reviews = {0};
    static const uint64_t at_msec[] = {1000, 31000, 61000, 91001, 91002};
    static const uint64_t first_msec[] = {1000, 1000, 1000, 91001, 91001};

    for (size_t i = 0; i < sizeof(at_msec) / sizeof(at_msec[0]); i++) {
        health_note_review(&reviews, at_msec[i]);
        cr_assert_eq(atomic_load(&reviews.first_msec), first_msec[i], "%zu", i);
        cr_assert_eq(atomic_load(&reviews.last_msec), at_msec[i]);
    }
}
