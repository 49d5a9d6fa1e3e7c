/* SPDX-License-Identifier: Apache-2.0 */
/* report - adds events to rows, totals and expiries, within limits. */

#include "webhook/report/report.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "planner/advice.h"
#include "planner/base/tree.h"
#include "webhook/report/internal.h"
#include "webhook/util/clean.h"

#define SLOTS 32768u /* of the hash table of rows: more than three for each row */

int report_init(struct report *report)
{
    int r = 0;

    *report = (struct report){0};
    report->row_arena.limit_bytes = REPORT_MAX_ROW_BYTES;
    report->detail_arena.limit_bytes = REPORT_MAX_DETAIL_BYTES;
    if (getrandom(&report->seed, sizeof(report->seed), 0) != (ssize_t)sizeof(report->seed))
        return -EIO;
    report->recent = report_recent_new();
    report->rows = calloc(REPORT_MAX_ROWS, sizeof(struct report_row *));
    report->slots = calloc(SLOTS, sizeof(*report->slots));
    report->expiries = calloc(REPORT_MAX_EXPIRIES, sizeof(*report->expiries));
    if (report->recent == NULL || report->rows == NULL || report->slots == NULL ||
        report->expiries == NULL)
        return -ENOMEM;
    r = report_boundary_init(&report->boundary);
    if (r == 0)
        r = report_sums_init(&report->namespaces, REPORT_MAX_NAMESPACES, &report->row_arena);
    return r == 0 ? report_sums_init(&report->codes, REPORT_MAX_CODES, &report->row_arena) : r;
}

void report_done(struct report *report)
{
    report_recent_free(report->recent);
    free((void *)report->rows);
    free(report->slots);
    free(report->expiries);
    free(report->changes.items);
    free(report->changes.slots);
    arena_release(&report->changes.arena);
    report_boundary_done(&report->boundary);
    arena_release(&report->row_arena);
    arena_release(&report->detail_arena);
    *report = (struct report){0};
}

/* Copies texts into one arena. After the first failure nothing more is copied. */
struct copier {
    struct arena *arena;
    size_t left_bytes; /* how much can still be copied */
    bool failed;
};

/* The texts of one row have a limit, so that the row fits into the buffers of the writers. */
static struct copier copier_make(struct arena *arena)
{
    return (struct copier){.arena = arena, .left_bytes = REPORT_MAX_ROW_TEXT_BYTES};
}

static struct str copy_text(struct copier *k, struct str s, size_t max_bytes)
{
    char *copy = NULL;

    if (!str_present(s) || k->failed)
        return (struct str){0};
    s = str_cut(s, max_bytes);
    copy = s.len <= k->left_bytes ? arena_copy(k->arena, s) : NULL;
    k->failed = copy == NULL;
    k->left_bytes -= copy != NULL ? s.len : 0;
    return copy != NULL ? (struct str){copy, s.len} : (struct str){0};
}

static struct str copy_name(struct copier *k, struct str s)
{
    return copy_text(k, s, REPORT_MAX_TEXT_BYTES);
}

static uint64_t row_key(const struct report *report, const struct event *event)
{
    struct siphash h = siphash_make(report->seed);

    siphash_byte(&h, (unsigned char)event->verdict);
    siphash_byte(&h, event->dry_run);
    report_hash(&h, event->namespace_name);
    report_hash(&h, event->object_kind);
    report_hash(&h, event->workload);
    report_hash(&h, event->outcome);
    report_hash(&h, event->packet_sha256);
    for (size_t i = 0; i < event->finding_count; i++) {
        report_hash(&h, event->findings[i].code);
        report_hash(&h, event->findings[i].place);
    }
    return siphash_end(&h);
}

/* The slot of that row, or the free slot for it. */
static uint32_t *find_slot(const struct report *report, uint64_t key)
{
    size_t slot = key % SLOTS;

    assert(report->row_count < SLOTS); /* so there is a free slot */
    while (report->slots[slot] != 0 && report->rows[report->slots[slot] - 1]->key != key)
        slot = (slot + 1) % SLOTS;
    return &report->slots[slot];
}

static void add_text(struct report_texts *texts, size_t max, struct str text, struct copier *k)
{
    if (text.len == 0 || str_list_has((struct str_list){texts->items, texts->count}, text))
        return;
    assert(texts->count <= max);
    if (texts->count == max) {
        texts->left_out++;
        return;
    }
    if (texts->items == NULL)
        texts->items = arena_alloc(k->arena, max, sizeof(*texts->items));
    text = copy_name(k, text);
    if (texts->items == NULL || !str_present(text)) {
        texts->left_out++;
        return;
    }
    texts->items[texts->count++] = text;
}

static void add_event(struct report_row *row, const struct event *event, struct copier *k)
{
    add_text(&row->users, REPORT_MAX_USERS, event->user, k);
    for (size_t i = 0; i < event->images.count; i++)
        add_text(&row->images, REPORT_MAX_IMAGES, event->images.items[i], k);
    row->count++;
}

/* The text of a time is copied into the row itself, so that updates need no memory of the arena. */
static void set_time(struct str *ret_text, char *bytes, struct str text)
{
    size_t len = text.len < REPORT_MAX_TIME_BYTES ? text.len : REPORT_MAX_TIME_BYTES;

    if (len > 0)
        memcpy(bytes, text.ptr, len);
    *ret_text = (struct str){bytes, len};
}

static void add_time(struct report_row *row, const struct event *event)
{
    if (!event->timed)
        return;
    if (row->count == 0 || moment_compare(event->time, row->first) < 0 ||
        row->first_text.len == 0) {
        row->first = event->time;
        set_time(&row->first_text, row->first_bytes, event->time_text);
    }
    if (row->count == 0 || moment_compare(event->time, row->last) >= 0 || row->last_text.len == 0) {
        row->last = event->time;
        set_time(&row->last_text, row->last_bytes, event->time_text);
    }
}

/* Codes and places get at most half of the space for names, so that the other names fit. */
static void copy_findings(struct event *copy, const struct event *event, struct copier *names,
                          struct copier *details)
{
    struct event_finding *findings = NULL;

    copy->findings = NULL;
    if (event->finding_count == 0)
        return;
    findings = arena_alloc(names->arena, event->finding_count, sizeof(*findings));
    names->failed = names->failed || findings == NULL;
    for (size_t i = 0; i < event->finding_count && !names->failed; i++) {
        if (names->left_bytes < REPORT_MAX_ROW_TEXT_BYTES / 2) {
            copy->finding_count = i;
            copy->findings_left_out += event->finding_count - i;
            break;
        }
        findings[i] = (struct event_finding){
            .code = copy_name(names, event->findings[i].code),
            .place = copy_name(names, event->findings[i].place),
            .message = copy_name(details, event->findings[i].message),
            .of_planner = event->findings[i].of_planner,
        };
    }
    copy->findings = findings;
}

/* Copies everything but lists. Large texts go to the details; if those are full, they are left out.
 */
static void copy_event(struct report_row *row, const struct event *event, struct copier *names,
                       struct copier *details)
{
    struct event *copy = &row->event;

    *copy = *event;
    copy->webhook = copy_name(names, event->webhook);
    copy->id = copy_name(names, event->id);
    copy->operation = copy_name(names, event->operation);
    copy->namespace_name = copy_name(names, event->namespace_name);
    copy->object_kind = copy_name(names, event->object_kind);
    copy->name = copy_name(names, event->name);
    copy->workload = copy_name(names, event->workload);
    copy->level = copy_name(names, event->level);
    copy->outcome = copy_name(names, event->outcome);
    copy->packet_sha256 = copy_name(names, event->packet_sha256);
    copy->evidence = copy_name(names, event->evidence);
    copy->exemption = copy_name(names, event->exemption);
    copy->violations = copy_name(names, event->violations);
    copy->error = copy_name(names, event->error);
    copy->message = copy_name(details, event->message);
    copy->packet = copy_text(details, event->packet, SIZE_MAX);
    copy->input = copy_text(details, event->input, SIZE_MAX);
    copy->boundary_json = copy_text(details, event->boundary_json, SIZE_MAX);
    copy_findings(copy, event, names, details);
    /* the row has its own users, images and times; trees live in the scratch arena only */
    copy->user = copy->time_text = (struct str){0};
    copy->images = copy->warnings = (struct str_list){0};
    copy->expiring_count = 0;
    copy->packet_tree = copy->input_tree = NULL;
}

/* Copies the advice: which requirements would be ready, or why no narrower ones would be. */
static int copy_advice(struct report_row *row, const struct event *event, struct arena *scratch,
                       struct copier *details)
{
    struct advice advice = {0};
    struct str text = {0};
    int r = tree_is(event->input_tree, cJSON_Object)
                ? advice_make(event->input_tree, scratch, &advice)
                : 0;

    if (r == 0)
        r = advice_text(&advice, scratch, &text);
    if (r < 0)
        return r;
    row->advice = copy_name(details, text);
    if (advice.state == ADVICE_NONE && advice.obstacle != NULL)
        row->obstacle = copy_name(details, advice.obstacle->message);
    return 0;
}

/* *ret_row is NULL, with result 0, if the report is full. */
static int make_row(struct report *report, const struct event *event, struct arena *scratch,
                    uint64_t key, struct report_row **ret_row)
{
    struct copier names = copier_make(&report->row_arena);
    struct copier details = copier_make(&report->detail_arena);
    struct report_row *row = NULL;
    struct replay replay = {0};

    *ret_row = NULL;
    if (report->row_count == REPORT_MAX_ROWS)
        return 0;
    row = arena_alloc(&report->row_arena, 1, sizeof(*row));
    if (row == NULL)
        return 0;
    row->key = key;
    copy_event(row, event, &names, &details);
    if (report->replay) {
        int r = replay_event(event, scratch, &replay);

        if (r == 0)
            r = copy_advice(row, event, scratch, &details);
        /* this event needs more memory than one event may have; the others must still be read */
        if (r == -ENOMEM && scratch->limit_bytes > 0)
            details.failed = true;
        else if (r < 0)
            return r;
        row->replay = replay.state;
        row->replay_where = copy_name(&names, replay.where);
    }
    if (names.failed)
        return 0;
    row->without_details = details.failed;
    report->totals.details_left_out += details.failed;
    *ret_row = row;
    return 0;
}

static void count_expiry(struct report *report, const struct event_expiry *expiry,
                         const struct event *event)
{
    struct copier k = copier_make(&report->row_arena);
    struct siphash h = siphash_make(report->seed);
    struct report_expiry *known = NULL;
    uint64_t key = 0;

    report_hash(&h, expiry->kind);
    report_hash(&h, expiry->name);
    siphash_add(&h, (struct str){(const char *)&expiry->at.sec, sizeof(expiry->at.sec)});
    key = siphash_end(&h);
    for (size_t i = 0; i < report->expiry_count && known == NULL; i++)
        known = report->expiries[i].key == key ? &report->expiries[i] : NULL;
    if (known == NULL && report->expiry_count < REPORT_MAX_EXPIRIES) {
        known = &report->expiries[report->expiry_count];
        *known = (struct report_expiry){.key = key, .at = expiry->at};
        known->kind = copy_name(&k, expiry->kind);
        known->name = copy_text(&k, expiry->name, REPORT_MAX_SUM_BYTES);
        if (k.failed)
            known = NULL;
        else
            report->expiry_count++;
    }
    if (known == NULL) {
        report->totals.expiries_left_out++;
        return;
    }
    known->count++;
    if (event->timed)
        set_time(&known->last_text, known->last_bytes, event->time_text);
}

static void count_verdict(struct report_totals *t, enum event_verdict verdict)
{
    t->denied += verdict == EVENT_DENIED;
    t->violates += verdict == EVENT_VIOLATES;
    t->unknown += verdict == EVENT_UNKNOWN;
    t->allowed += verdict == EVENT_ALLOWED;
}

/* Counts each finding code of an event once, even if the event has it several times. */
static int add_to_totals(struct report *report, const struct event *event, bool new_row)
{
    int r = report_sums_add(&report->namespaces, report->seed, event->namespace_name,
                            event->verdict, new_row, &report->row_arena);

    for (size_t i = 0; r == 0 && i < event->finding_count; i++) {
        bool repeated = false;

        for (size_t k = 0; k < i && !repeated; k++)
            repeated = str_equal(event->findings[k].code, event->findings[i].code);
        if (!repeated)
            r = report_sums_add(&report->codes, report->seed, event->findings[i].code,
                                event->verdict, new_row, &report->row_arena);
    }
    return r;
}

static int add_to_row(struct report *report, const struct event *event, struct arena *scratch,
                      const struct report_row **ret_row, bool *ret_new)
{
    struct copier names = copier_make(&report->row_arena);
    uint64_t key = row_key(report, event);
    uint32_t *slot = find_slot(report, key);
    struct report_row *row = *slot != 0 ? report->rows[*slot - 1] : NULL;

    *ret_new = row == NULL;
    if (row == NULL) {
        int r = make_row(report, event, scratch, key, &row);

        if (r < 0)
            return r;
        if (row == NULL) {
            *ret_new = false;
            report->totals.rows_left_out++;
            return 0;
        }
        report->rows[report->row_count++] = row;
        *slot = (uint32_t)report->row_count;
    }
    add_time(row, event);
    add_event(row, event, &names);
    *ret_row = row;
    return 0;
}

int report_add(struct report *report, const struct event *event, struct arena *scratch,
               const struct report_row **ret_row, bool *ret_passed)
{
    struct event_expiry expiries[EVENT_MAX_EXPIRIES];
    struct report_totals *t = &report->totals;
    size_t expiry_count = 0;
    bool is_new = false;
    int r = 0;

    assert(report->recent != NULL); /* report_init() has succeeded */
    *ret_row = NULL;
    *ret_passed = false;
    t->decisions++;
    t->log_truncated += event->log_truncated;
    t->without_bodies += event->without_bodies;
    t->untimed += !event->timed;
    if (report_recent_seen(report->recent, report->seed, event)) {
        t->repeated++;
        return 0;
    }
    /* documents that end soon, and what pods' own specs ask for: for allowed requests too */
    if (report_passes_around(&report->filter, event)) {
        report_boundary_add(&report->boundary, report->seed, event);
        expiry_count = event_expiries(event, expiries);
        for (size_t i = 0; i < expiry_count; i++)
            count_expiry(report, &expiries[i], event);
    }
    if (!report_passes(&report->filter, event)) {
        t->filtered_out++;
        return 0;
    }
    count_verdict(t, event->verdict);
    if (event->timed)
        report_times_add(&report->times, event->time, event->verdict);
    r = add_to_row(report, event, scratch, ret_row, &is_new);
    *ret_passed = r == 0;
    return r == 0 ? add_to_totals(report, event, is_new) : r;
}

void report_count_text(struct report *report, enum event_kind kind)
{
    struct report_totals *t = &report->totals;

    t->texts++;
    t->blank += kind == EVENT_BLANK;
    t->audit_events += kind == EVENT_OTHER || kind == EVENT_AUDIT;
}

static int order_of(enum event_verdict verdict)
{
    switch (verdict) {
    case EVENT_DENIED:
        return 0;
    case EVENT_VIOLATES:
        return 1;
    case EVENT_UNKNOWN:
        return 2;
    case EVENT_ALLOWED:
        break;
    }
    return 3;
}

static int compare_rows(const void *a, const void *b)
{
    const struct report_row *x = *(const struct report_row *const *)a;
    const struct report_row *y = *(const struct report_row *const *)b;
    int r = order_of(x->event.verdict) - order_of(y->event.verdict);

    if (r == 0)
        r = moment_compare(y->last, x->last);
    if (r == 0)
        r = str_compare(x->event.namespace_name, y->event.namespace_name);
    if (r == 0)
        r = str_compare(x->event.name, y->event.name);
    return r != 0 ? r : str_compare(x->event.packet_sha256, y->event.packet_sha256);
}

static int compare_expiries(const void *a, const void *b)
{
    const struct report_expiry *x = a, *y = b;
    int r = moment_compare(x->at, y->at);

    return r != 0 ? r : str_compare(x->name, y->name);
}

void report_finish(struct report *report)
{
    if (report->row_count > 0)
        qsort((void *)report->rows, report->row_count, sizeof(struct report_row *), compare_rows);
    if (report->expiry_count > 0)
        qsort(report->expiries, report->expiry_count, sizeof(*report->expiries), compare_expiries);
    report_sums_sort(&report->namespaces);
    report_sums_sort(&report->codes);
    report_boundary_finish(&report->boundary);
}
