/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_REPORT_REPORT_H
#define WEBHOOK_REPORT_REPORT_H

/*
 * report - many events of logs (event.h) as a page for people: equal denials as one row, sums by
 * namespace and finding, evidence that ends soon, what changed since an earlier report.
 *
 * Memory is bounded, whatever the logs hold. What is beyond a limit is counted and said, never
 * dropped in silence.
 *
 * Errors     0; -ENOMEM; -EIO no random numbers, or the crypto library failed. Writers: -ENOMEM,
 *            or the errno of the stream.
 * Ownership  a report copies what it keeps. `struct report` may be moved only before the first
 *            report_add().
 * Threads    one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "k8s/util/siphash.h"
#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"
#include "webhook/audit/event.h"
#include "webhook/audit/replay.h"

#define REPORT_SCHEMA "sandgate.denials.v1"

#define REPORT_MAX_ROWS 10000u
#define REPORT_MAX_ROW_BYTES ((size_t)24 << 20)    /* rows with their names and findings' codes */
#define REPORT_MAX_DETAIL_BYTES ((size_t)24 << 20) /* packets, inputs, messages of the rows */
#define REPORT_MAX_USERS 8                         /* of one row; likewise images */
#define REPORT_MAX_IMAGES 16
#define REPORT_MAX_NAMESPACES 4096u
#define REPORT_MAX_CODES 128u
#define REPORT_MAX_EXPIRIES 1024u
#define REPORT_MAX_TIME_BYTES 40                 /* of a time's text */
#define REPORT_MAX_TEXT_BYTES ((size_t)8 * 1024) /* of one text of a row but packet and input */
#define REPORT_MAX_ROW_TEXT_BYTES ((size_t)512 * 1024) /* of one row's names; of its details */
#define REPORT_MAX_SUM_BYTES                                                                       \
    ((size_t)512)                 /* of a name in sums and expiries; longer ones are cut           \
                                   */
#define REPORT_MAX_BARS 192       /* stretches of time */
#define REPORT_RECENT_IDS 131072u /* in which a request is known again */
#define REPORT_MAX_CHANGES 20000u /* workloads, and findings of them, in two reports */
#define REPORT_MAX_CHANGE_BYTES ((size_t)4 << 20)

/* Which events become rows. Empty lists let everything pass; within a list one entry must fit. In
 * users, workloads and findings `*` at an entry's end stands for any rest. */
struct report_filter {
    struct moment since, until; /* since <= time < until */
    bool has_since, has_until;
    struct str_list namespaces;
    struct str_list outcomes; /* asked for by name, allowed ones count too */
    struct str_list findings;
    struct str_list users;
    struct str_list workloads; /* the workload, or the object's own name */
    struct str_list images;    /* a part of an image reference */
    bool allowed;              /* else denied, violating and unknown ones only */
};

/* Several values that one row has had. */
struct report_texts {
    struct str *items; /* room for the limit */
    size_t count;
    size_t left_out; /* beyond the limit; the same one may be counted again */
};

/*
 * Equal decisions about one workload: same namespace, kind, workload, verdict, dry run or not,
 * outcome, findings (code and place) and packet. `event` is the first of them, with all its texts;
 * the lists `users` and `images` are of all.
 */
struct report_row {
    struct event event;
    struct str first_text, last_text; /* RFC 3339, as the log has them; in the rooms below */
    char first_room[REPORT_MAX_TIME_BYTES], last_room[REPORT_MAX_TIME_BYTES];
    struct moment first, last;
    uint64_t count;
    struct report_texts users;
    struct report_texts images;
    bool without_details; /* no room for packet, input, messages */
    enum replay_state replay;
    struct str replay_where; /* where it differs */
    struct str advice;       /* advice.h; absent where there is none */
    struct str obstacle;     /* why narrower requirements would not be ready; else absent */
    uint64_t key;
};

struct report_expiry {
    struct str kind; /* "evidence", "exemption" */
    struct str name;
    struct moment at;
    struct str last_text; /* seen last */
    char last_room[REPORT_MAX_TIME_BYTES];
    uint64_t count;
    uint64_t key;
};

/* One namespace, or one finding. */
struct report_sum {
    struct str name;
    uint64_t denied, violates, other; /* events */
    uint64_t rows;
};

struct report_sums {
    struct report_sum *items;
    uint32_t *slots; /* hash table of index + 1 */
    size_t slot_count;
    size_t count, max;
    uint64_t left_out; /* events of what is beyond the limit */
};

/* What was read, and what became of it. */
struct report_totals {
    uint64_t files, bytes, texts;
    uint64_t audit_events; /* of any kind, ours or not */
    uint64_t blank, broken, foreign, too_long, torn;
    uint64_t decisions; /* of ours, twins and repeats included */
    uint64_t repeated;  /* the same request seen again: counted once */
    uint64_t filtered_out;
    uint64_t denied, violates, unknown, allowed; /* of those that are left */
    uint64_t log_truncated, without_bodies;
    uint64_t untimed;          /* no time that can be read; with since or until: filtered out */
    uint64_t rows_left_out;    /* events that found no room for a row */
    uint64_t details_left_out; /* rows without details */
    uint64_t expiries_left_out;
    struct str first_broken; /* FILE:LINE of the first text that could not be read */
};

/* How often, then and now: a workload (no code), a finding of it, or a finding of all (no
 * workload). */
struct report_change {
    struct str namespace_name, kind, workload, code;
    uint64_t before, now;
    uint64_t key;
};

struct report_changes {
    bool compared;
    struct str since;            /* name of the earlier file */
    struct report_change *items; /* owned */
    uint32_t *slots;             /* owned; hash table of index + 1 */
    struct arena arena;          /* owned */
    size_t count;
    uint64_t left_out;
};

/* What was denied, and what would have been, in stretches of equal width from from_sec on. */
struct report_times {
    bool begun;
    int64_t from_sec, width_sec; /* as a moment counts */
    int64_t first_sec, last_sec; /* of all that is counted */
    uint64_t denied[REPORT_MAX_BARS], violates[REPORT_MAX_BARS];
};

struct report_recent; /* ids, recent.c */

struct report {
    struct report_filter filter;
    bool replay; /* plan each new row again */
    struct report_totals totals;
    struct report_row **rows; /* as they came; report_finish() sorts them */
    size_t row_count;
    struct report_expiry *expiries;
    size_t expiry_count;
    struct report_sums namespaces;
    struct report_sums codes;
    struct report_changes changes;
    struct report_times times;
    struct moment made_at; /* for the page; 0: not told */

    struct arena row_arena, detail_arena; /* owned */
    uint32_t *slots;                      /* hash table of row index + 1 */
    struct siphash_seed seed;
    struct report_recent *recent; /* owned */
};

int report_init(struct report *report) __attribute__((warn_unused_result, nonnull));
void report_done(struct report *report);

#define cleanup_report __attribute__((cleanup(report_done)))

/* *ret_passed: it is neither filtered out nor seen before. *ret_row is the row that it went into;
 * NULL where there is none, or no room. scratch is for what is forgotten afterwards. */
int report_add(struct report *report, const struct event *event, struct arena *scratch,
               const struct report_row **ret_row, bool *ret_passed)
    __attribute__((warn_unused_result, nonnull));

/* A text that is no decision of ours; place (FILE:LINE) is copied where it is the first broken. */
void report_count_text(struct report *report, enum event_kind kind, struct str place)
    __attribute__((nonnull(1)));

/* Sorts: what is denied first, then what violates, what is unknown, what is allowed; in each the
 * latest first. Sums by events, most first; expiries by their end. */
void report_finish(struct report *report) __attribute__((nonnull));

/* An earlier report as JSON (report_json()), whose rows were filtered likewise. After
 * report_finish(). -EBADMSG with *reterr_what where it is none. scratch is for what is forgotten
 * afterwards. */
int report_compare(struct report *report, struct str earlier, struct str name,
                   struct arena *scratch, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));

/* What to do about a finding, of gate or planner; static, NULL for a code that is not known. */
const char *report_hint(struct str code);

/*
 * {"schema":"sandgate.denials.v1","summary":{…},"namespaces":[…],"findings":[…],"lapses":[…],
 *  "madeAt":…,"timeline":{…},
 *  "changes":{…},"rows":[…]}
 *
 *   summary     the numbers of struct report_totals by name in camelCase; `rows`; `firstBroken`
 *   namespaces  {namespace, denied, violates, other, rows}; findings: {code, …, whatToDo}
 *   expiries      {kind, name, endsAt, lastSeen, count}
 *   changes     only after report_compare(): {since, newFindings, goneFindings, newWorkloads,
 *               goneWorkloads: lists of {namespace, kind, workload, code, before, now}, counts:
 *               [{code, before, now}]}
 *   timeline    {from, widthSeconds, denied: [n], violates: [n]}: stretches of equal width
 *   rows        {verdict, allowed (not where that is unknown), outcome, dryRun, namespace, kind,
 *               name, workload, count, first, last, users, images, operation, level, findings:
 *               [{code, place, message, source}], message, packet, packetSha256, packetTruncated,
 *               input, evidence, exemption, violations, error, source, webhook, id, replay,
 *               replayDiffers, advice, obstacle, withoutDetails, findingsLeftOut, usersLeftOut,
 *               imagesLeftOut}; what there is not is left out
 *
 * Control and bidirectional-control characters, `<`, `>` and `&` stand as \u escapes.
 */
int report_json(const struct report *report, FILE *stream)
    __attribute__((warn_unused_result, nonnull));
/* One row as one line of JSON. */
int report_json_row(const struct report_row *row, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

/* RFC 4180 with a head; LF at line ends. A field that a spreadsheet would compute (it begins with
 * = + - @, also in full width or after blanks, or with a tab or line end) gets an apostrophe in
 * front. */
int report_csv(const struct report *report, FILE *stream)
    __attribute__((warn_unused_result, nonnull));
int report_csv_head(FILE *stream) __attribute__((warn_unused_result, nonnull));
int report_csv_row(const struct report_row *row, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

/* A page that stands alone: page/report.html with report_json() in it. */
int report_html(const struct report *report, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

#endif
