/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_REPORT_REPORT_H
#define WEBHOOK_REPORT_REPORT_H

/*
 * report - summarises the events of logs (event.h) for people: equal denials as one row, totals by
 * namespace and finding, evidence that ends soon, changes since an earlier report.
 *
 * Memory is bounded, whatever the logs hold. What is over a limit is counted and reported, never
 * dropped silently.
 *
 * Errors     0; -ENOMEM; -EIO: no random numbers, or the crypto library failed. Writers: -ENOMEM,
 *            or the errno of the stream.
 * Ownership  a report copies what it keeps. `struct report` must not be moved after the first
 *            report_add().
 * Threads    one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "k8s/boundary/boundary.h"
#include "k8s/util/siphash.h"
#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"
#include "webhook/audit/event.h"
#include "webhook/audit/unread.h"
#include "webhook/audit/replay.h"

#define REPORT_SCHEMA "sandgate.denials.v1"

#define REPORT_MAX_ROWS 10000u
#define REPORT_MAX_ROW_BYTES ((size_t)24 << 20)    /* rows with their names and finding codes */
#define REPORT_MAX_DETAIL_BYTES ((size_t)24 << 20) /* packets, inputs, messages of the rows */
#define REPORT_MAX_USERS 8                         /* of one row */
#define REPORT_MAX_IMAGES 16
#define REPORT_MAX_NAMESPACES 4096u
#define REPORT_MAX_CODES 128u
#define REPORT_MAX_EXPIRIES 1024u
#define REPORT_MAX_TIME_BYTES 40 /* of the text of a time */
#define REPORT_MAX_TEXT_BYTES                                                                      \
    ((size_t)8 * 1024) /* of one text of a row, except packet and input                            \
                        */
#define REPORT_MAX_ROW_TEXT_BYTES                                                                  \
    ((size_t)512 * 1024) /* of the names of one row; also of its details */
#define REPORT_MAX_SUM_BYTES                                                                       \
    ((size_t)512)                 /* of a name in totals and expiries; longer ones are cut */
#define REPORT_MAX_BARS 192       /* of the timeline */
#define REPORT_RECENT_IDS 131072u /* requests that are remembered, to find repeats */
#define REPORT_MAX_CHANGES 20000u /* workloads, and their findings, in both reports together */
#define REPORT_MAX_CHANGE_BYTES ((size_t)4 << 20)

#define REPORT_MAX_WORKLOADS 10000u /* whose own specs were read; namespaces as above */
#define REPORT_MAX_BOUNDARY_BYTES ((size_t)2 << 20) /* names of these workloads and namespaces */

/* Which events become rows. An empty list matches everything; of another one an entry must match.
 * In users, workloads and findings a `*` at the end of an entry matches any rest. */
struct report_filter {
    struct moment since, until; /* since <= time < until */
    bool has_since, has_until;
    struct str_list namespaces;
    struct str_list outcomes; /* if given, allowed events with that outcome match too */
    struct str_list findings;
    struct str_list users;
    struct str_list workloads; /* the workload, or the name of the object itself */
    struct str_list images;    /* a part of an image reference */
    bool allowed;              /* false: only denied, violating and unknown events */
};

/* Different values of the events of one row. */
struct report_texts {
    struct str *items; /* the capacity is the limit of its kind */
    size_t count;
    size_t left_out; /* over the limit; the same value can be counted more than once */
};

/*
 * Equal decisions about one workload: the same namespace, kind, workload, verdict, dry run or not,
 * outcome, findings (code and place) and packet. `event` is the first of them, with all its texts;
 * `users` and `images` are those of all.
 */
struct report_row {
    struct event event;
    struct str first_text,
        last_text; /* RFC 3339, as in the log; they point into the arrays below */
    char first_bytes[REPORT_MAX_TIME_BYTES], last_bytes[REPORT_MAX_TIME_BYTES];
    struct moment first, last;
    uint64_t count;
    struct report_texts users;
    struct report_texts images;
    bool without_details; /* packet, input and messages were over the memory limit */
    enum replay_state replay;
    struct str replay_where; /* the first member that differs */
    struct str advice;       /* advice.h; absent if there is none */
    struct str obstacle;     /* why no narrower requirements would be ready; else absent */
    uint64_t key;
};

struct report_expiry {
    struct str kind; /* "evidence", "exemption" */
    struct str name;
    struct moment at;
    struct str last_text; /* when it was last in use; points into the array below */
    char last_bytes[REPORT_MAX_TIME_BYTES];
    uint64_t count;
    uint64_t key;
};

/* The totals of one namespace, or of one finding. */
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
    uint64_t left_out; /* events of names over the limit */
};

/* Counts of what was read. */
struct report_totals {
    uint64_t files, bytes, texts;
    uint64_t audit_events; /* of any kind, with or without a decision */
    uint64_t blank;
    struct unread unread;
    uint64_t decisions; /* of the gate, repeats included */
    uint64_t repeated;  /* the same request again, in the same or in the other log */
    uint64_t filtered_out;
    uint64_t denied, violates, unknown, allowed; /* without repeats and filtered ones */
    uint64_t log_truncated, without_bodies;
    uint64_t untimed;          /* no valid time; with since or until these are filtered out */
    uint64_t rows_left_out;    /* events without a row, because the report is full */
    uint64_t details_left_out; /* rows without details */
    uint64_t expiries_left_out;
};

/* Counts before and now: of a workload (no code), of a finding of a workload, or of a finding in
 * all (no workload). */
struct report_change {
    struct str namespace_name, kind, workload, code;
    uint64_t before, now;
    uint64_t key;
};

struct report_changes {
    bool compared;
    struct str since;            /* name of the file of the earlier report */
    struct report_change *items; /* owned */
    uint32_t *slots;             /* owned; hash table of index + 1 */
    struct arena arena;          /* owned */
    size_t count;
    uint64_t left_out;
};

/* A timeline of denied and violating events: bars of equal width, from from_sec on. */
struct report_times {
    bool begun;
    int64_t from_sec, width_sec; /* in the units of struct moment */
    int64_t first_sec, last_sec; /* of the events counted */
    uint64_t denied[REPORT_MAX_BARS], violates[REPORT_MAX_BARS];
};

/* What the admitted pods of one workload asked for in their own specs (boundary-v1): of each
 * control the worst state of the period. */
struct report_workload {
    struct str namespace_name, kind, name;
    uint64_t count; /* admissions that were read */
    enum boundary_state states[BOUNDARY_CONTROL_COUNT];
    uint64_t codes; /* of all findings: event_boundary_bit() */
    uint64_t key;
};

/* The same of all decisions of a namespace that were read, denials too. */
struct report_boundary_namespace {
    struct str name;
    uint64_t reads;
    uint64_t broken;       /* readings that cannot be understood */
    uint64_t contradicted; /* decisions with a finding that contradicts the declaration */
    uint64_t workloads;    /* admitted ones */
    enum boundary_state states[BOUNDARY_CONTROL_COUNT];
    uint64_t key;
};

struct report_boundary {
    uint64_t reads, broken;
    struct report_workload *workloads; /* owned */
    uint32_t *workload_slots;          /* owned; hash table of index + 1 */
    size_t workload_count;
    uint64_t workloads_left_out;                  /* admissions of workloads over the limit */
    struct report_boundary_namespace *namespaces; /* owned */
    uint32_t *namespace_slots;                    /* owned; hash table of index + 1 */
    size_t namespace_count;
    uint64_t namespaces_left_out; /* readings in namespaces over the limit */
    /* workloads by state; set by report_finish() */
    uint64_t controls[BOUNDARY_CONTROL_COUNT][BOUNDARY_CONTRADICTED + 1];
    struct arena arena; /* owned */
};

struct report_recent; /* ids, recent.c */

struct report {
    struct report_filter filter;
    bool replay; /* plan each new row again */
    struct report_totals totals;
    struct report_row **rows; /* in the order of reading; report_finish() sorts them */
    size_t row_count;
    struct report_expiry *expiries;
    size_t expiry_count;
    struct report_sums namespaces;
    struct report_sums codes;
    struct report_changes changes;
    struct report_times times;
    struct report_boundary
        boundary;          /* of all events that the filter passes but for their verdict */
    struct moment made_at; /* shown on the page; 0: not shown */

    struct arena row_arena, detail_arena; /* owned */
    uint32_t *slots;                      /* hash table of row index + 1 */
    struct siphash_seed seed;
    struct report_recent *recent; /* owned */
};

int report_init(struct report *report) __attribute__((warn_unused_result, nonnull));
void report_done(struct report *report);

#define cleanup_report __attribute__((cleanup(report_done)))

/* *ret_passed: the event is neither filtered out nor a repeat. *ret_row is the row that counts it;
 * NULL if there is none, or if the report is full. scratch is for temporary data. */
int report_add(struct report *report, const struct event *event, struct arena *scratch,
               const struct report_row **ret_row, bool *ret_passed)
    __attribute__((warn_unused_result, nonnull));

/* Counts a text by its kind. What cannot be read is counted in totals.unread by the caller. */
void report_count_text(struct report *report, enum event_kind kind) __attribute__((nonnull));

/* Sorts rows by verdict (denied, violates, unknown, allowed), then latest first; totals by number
 * of events, highest first; expiries by their end. */
void report_finish(struct report *report) __attribute__((nonnull));

/* Compares with an earlier report in JSON (report_json()), made with the same filter. To be called
 * after report_finish(). -EBADMSG with *reterr_what if the text is not a report. scratch is for
 * temporary data. */
int report_compare(struct report *report, struct str earlier, struct str name,
                   struct arena *scratch, const char **reterr_what)
    __attribute__((warn_unused_result, nonnull));

/* Whether the namespace could be switched to the level `block`: admissions were read, nothing that
 * was read in the period contradicts its declaration, and all of it can be understood. A log that
 * has only denials says nothing about what runs. */
bool report_may_block(const struct report_boundary_namespace *space) __attribute__((nonnull));
/* Whether a baseline could hold the control: everything that was read holds it. */
bool report_may_hold(const struct report_boundary_namespace *space, enum boundary_control control)
    __attribute__((nonnull));
/* How many of the states of the eight controls are this one. */
size_t report_count_states(const enum boundary_state *states, enum boundary_state state)
    __attribute__((nonnull));

/* What to do about a finding of gate or planner; static; NULL for an unknown code. */
const char *report_hint(struct str code);

/*
 * {"schema":"sandgate.denials.v1","summary":{…},"namespaces":[…],"findings":[…],"lapses":[…],
 *  "madeAt":…,"timeline":{…},
 *  "changes":{…},"boundary":{…},"rows":[…]}
 *
 *   summary     the numbers of struct report_totals by name in camelCase; `rows`;
 *               `broken`, `torn`, `tooLong`, `foreign`, `withoutLabels`: what could not be read;
 *               `firstBroken`, `firstTorn`, `firstTooLong`, `firstForeign`, `firstWithoutLabels`:
 *               the place FILE:LINE of the first
 *   namespaces  {namespace, denied, violates, other, rows}; findings: {code, …, whatToDo}
 *   lapses      {kind, name, endsAt, lastSeen, count}: documents that end soon
 *   changes     only after report_compare(): {since, newFindings, goneFindings, newWorkloads,
 *               goneWorkloads: lists of {namespace, kind, workload, code, before, now}, counts:
 *               [{code, before, now}]}
 *   timeline    {from, widthSeconds, denied: [n], violates: [n]}: bars of equal width
 *   boundary    only if a pod's own spec was read: {reads, broken, workloadsLeftOut,
 *               namespacesLeftOut, controls: [{control, held, unknown, open, contradicted: numbers
 *               of admitted workloads}], namespaces: [{namespace, reads, broken, workloads,
 *               contradicted, block, hold: [control]}], workloads: [{namespace, kind, workload,
 *               count, states: {control: state}, codes}]}; dry runs are not in it
 *   rows        {verdict, allowed (absent if unknown), outcome, dryRun, namespace, kind,
 *               name, workload, count, first, last, users, images, operation, level, findings:
 *               [{code, place, message, source}], message, packet, packetSha256, packetTruncated,
 *               input, boundary, evidence, exemption, violations, error, source, webhook, id,
 * replay, replayDiffers, advice, obstacle, withoutDetails, findingsLeftOut, usersLeftOut,
 *               imagesLeftOut}; absent values are left out
 *
 * Control and bidirectional-control characters, `<`, `>` and `&` are written as \u escapes.
 */
int report_json(const struct report *report, FILE *stream)
    __attribute__((warn_unused_result, nonnull));
/* One row as one line of JSON. */
int report_json_row(const struct report_row *row, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

/* RFC 4180 with a header line, but with LF as line end. A field that a spreadsheet would run as a
 * formula (it begins with = + - @, also in full width or after blanks, or with a tab or line end)
 * gets an apostrophe before it. */
int report_csv(const struct report *report, FILE *stream)
    __attribute__((warn_unused_result, nonnull));
int report_csv_head(FILE *stream) __attribute__((warn_unused_result, nonnull));
int report_csv_row(const struct report_row *row, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

/* A self-contained page: page/report.html with report_json() in it. */
int report_html(const struct report *report, FILE *stream)
    __attribute__((warn_unused_result, nonnull));

#endif
