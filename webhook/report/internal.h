/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_REPORT_INTERNAL_H
#define WEBHOOK_REPORT_INTERNAL_H

/*
 * internal - what the files of webhook/report/ share.
 */

#include "planner/base/buffer.h"
#include "webhook/report/report.h"

/* filter.c */
bool report_passes(const struct report_filter *filter, const struct event *event);
/* The same, but without regard to verdict, outcome and findings. */
bool report_passes_around(const struct report_filter *filter, const struct event *event);

/* recent.c: whether a decision was counted already: by its id, or, if audit log and decision log
 * are read together, by the same decision in the other log. Remembers it. */
struct report_recent *report_recent_new(void);
void report_recent_free(struct report_recent *recent);
bool report_recent_seen(struct report_recent *recent, struct siphash_seed seed,
                        const struct event *event);

/* sums.c */
int report_sums_init(struct report_sums *sums, size_t max, struct arena *arena)
    __attribute__((warn_unused_result));
/* Counts one event under that name. */
int report_sums_add(struct report_sums *sums, struct siphash_seed seed, struct str name,
                    enum event_verdict verdict, bool new_row, struct arena *arena)
    __attribute__((warn_unused_result));
void report_sums_sort(struct report_sums *sums);

/* Adds one of several texts to a hash; the length keeps their boundaries apart. */
static inline void report_hash(struct siphash *h, struct str s)
{
    uint64_t len = s.len;

    siphash_add(h, (struct str){(const char *)&len, sizeof(len)});
    if (s.len > 0)
        siphash_add(h, s);
}

/* compare.c: to which list of changes it belongs. */
bool report_change_is_new_finding(const struct report_change *change);
bool report_change_is_gone_finding(const struct report_change *change);
bool report_change_is_new_workload(const struct report_change *change);
bool report_change_is_gone_workload(const struct report_change *change);
bool report_change_is_count(const struct report_change *change);

/* boundary.c */
int report_boundary_init(struct report_boundary *boundary) __attribute__((warn_unused_result));
void report_boundary_done(struct report_boundary *boundary);
void report_boundary_add(struct report_boundary *boundary, struct siphash_seed seed,
                         const struct event *event);
void report_boundary_finish(struct report_boundary *boundary);

/* boundary_json.c: the member with the comma before it; nothing if no spec was read. */
int report_boundary_json(const struct report_boundary *boundary, FILE *stream)
    __attribute__((warn_unused_result));

/* times.c */
void report_times_add(struct report_times *times, struct moment at, enum event_verdict verdict);

#endif
