/* SPDX-License-Identifier: Apache-2.0 */
/* compare - finds the changes since an earlier report in JSON. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/document/document.h"
#include "planner/base/tree.h"
#include "webhook/report/internal.h"

#define SLOTS (REPORT_MAX_CHANGES * 2)
#define MAX_EARLIER_NODES 4000000u

static const struct document_shape finding_shape[] = {{.key = "code"}, {0}};
static const struct document_shape findings_shape[] = {{.key = "*", .members = finding_shape}, {0}};
static const struct document_shape row_shape[] = {{.key = "namespace"},
                                                  {.key = "kind"},
                                                  {.key = "workload"},
                                                  {.key = "count"},
                                                  {.key = "findings", .members = findings_shape},
                                                  {0}};
static const struct document_shape rows_shape[] = {{.key = "*", .members = row_shape}, {0}};
static const struct document_shape report_shape[] = {
    {.key = "schema"}, {.key = "rows", .members = rows_shape}, {0}};

bool report_change_is_new_finding(const struct report_change *c)
{
    return c->code.len > 0 && str_present(c->workload) && c->before == 0;
}

bool report_change_is_gone_finding(const struct report_change *c)
{
    return c->code.len > 0 && str_present(c->workload) && c->now == 0;
}

bool report_change_is_new_workload(const struct report_change *c)
{
    return c->code.len == 0 && c->before == 0;
}

bool report_change_is_gone_workload(const struct report_change *c)
{
    return c->code.len == 0 && c->now == 0;
}

bool report_change_is_count(const struct report_change *c)
{
    return !str_present(c->workload);
}

static uint64_t change_key(struct siphash_seed seed, const struct report_change *c)
{
    struct siphash h = siphash_make(seed);

    siphash_byte(&h, str_present(c->workload));
    report_hash(&h, c->namespace_name);
    report_hash(&h, c->kind);
    report_hash(&h, c->workload);
    report_hash(&h, c->code);
    return siphash_end(&h);
}

static struct str copy_of(struct arena *arena, struct str s, bool *failed)
{
    char *copy = str_present(s) ? arena_copy(arena, s) : NULL;

    *failed = *failed || (str_present(s) && copy == NULL);
    return copy != NULL ? (struct str){copy, s.len} : (struct str){0};
}

static void add_change(struct report *report, struct report_change change)
{
    struct report_changes *cs = &report->changes;
    uint64_t key = change_key(report->seed, &change);
    size_t slot = key % SLOTS;
    struct report_change *c = NULL;
    bool failed = false;

    for (; cs->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        c = &cs->items[cs->slots[slot] - 1];
        if (c->key == key) {
            c->before += change.before;
            c->now += change.now;
            return;
        }
    }
    change.key = key;
    change.namespace_name = copy_of(&cs->arena, change.namespace_name, &failed);
    change.kind = copy_of(&cs->arena, change.kind, &failed);
    change.workload = copy_of(&cs->arena, change.workload, &failed);
    change.code = copy_of(&cs->arena, change.code, &failed);
    if (failed || cs->count == REPORT_MAX_CHANGES) {
        cs->left_out++;
        return;
    }
    assert(cs->count < REPORT_MAX_CHANGES);
    cs->items[cs->count++] = change;
    cs->slots[slot] = (uint32_t)cs->count;
}

/* Counts a finding code of a row, or the workload itself if the code is absent. */
static void count_code(struct report *report, struct report_change what, struct str code)
{
    what.code = code;
    add_change(report, what);
    if (code.len > 0)
        add_change(report,
                   (struct report_change){.code = code, .before = what.before, .now = what.now});
}

static void count_now(struct report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct report_row *row = report->rows[i];
        const struct event *e = &row->event;
        struct report_change what = {.namespace_name = e->namespace_name,
                                     .kind = e->object_kind,
                                     .workload = str_present(e->workload) ? e->workload : STR(""),
                                     .now = row->count};

        count_code(report, what, (struct str){0});
        for (size_t k = 0; k < e->finding_count; k++) {
            if (k == 0 || !str_equal(e->findings[k].code, e->findings[k - 1].code))
                count_code(report, what, e->findings[k].code);
        }
    }
}

static void count_earlier_row(struct report *report, const cJSON *row)
{
    const cJSON *number = tree_get(row, "count"), *findings = tree_get(row, "findings");
    struct str workload = tree_get_text(row, "workload"), code = {0}, last = {0};
    struct report_change what = {.namespace_name = tree_get_text(row, "namespace"),
                                 .kind = tree_get_text(row, "kind"),
                                 .workload = str_present(workload) ? workload : STR("")};

    what.before = tree_is(number, cJSON_Number) && number->valuedouble >= 1 &&
                          number->valuedouble < 9007199254740992.0
                      ? (uint64_t)number->valuedouble
                      : 1;
    count_code(report, what, (struct str){0});
    for (const cJSON *f = findings != NULL ? findings->child : NULL; f != NULL; f = f->next) {
        code = tree_get_text(f, "code");
        if (code.len > 0 && !str_equal(code, last))
            count_code(report, what, code);
        last = code;
    }
}

static int compare_changes(const void *a, const void *b)
{
    const struct report_change *x = a, *y = b;
    int r = str_compare(x->namespace_name, y->namespace_name);

    if (r == 0)
        r = str_compare(x->kind, y->kind);
    if (r == 0)
        r = str_compare(x->workload, y->workload);
    return r != 0 ? r : str_compare(x->code, y->code);
}

static int alloc_tables(struct report_changes *cs)
{
    cs->arena.limit_bytes = REPORT_MAX_CHANGE_BYTES;
    cs->items = calloc(REPORT_MAX_CHANGES, sizeof(*cs->items));
    cs->slots = calloc(SLOTS, sizeof(*cs->slots));
    return cs->items != NULL && cs->slots != NULL ? 0 : -ENOMEM;
}

int report_compare(struct report *report, struct str earlier, struct str name,
                   struct arena *scratch, const char **reterr_what)
{
    const struct document_options options = {
        .syntax = DOCUMENT_JSON,
        .rules = DOCUMENT_REVIEW,
        .shape = report_shape,
        .max_nodes = MAX_EARLIER_NODES,
    };
    struct document_error error = {0};
    const cJSON *rows = NULL;
    cJSON *tree = NULL;
    bool failed = false;
    int r = document_read(earlier, &options, scratch, &tree, &error);

    *reterr_what = r == -E2BIG ? "too large" : error.what;
    if (r == -E2BIG || r == -EBADMSG)
        return -EBADMSG;
    if (r < 0)
        return r;
    assert(!report->changes.compared);
    rows = tree_get(tree, "rows");
    if (!str_equal(tree_get_text(tree, "schema"), STR(REPORT_SCHEMA)) ||
        !tree_is(rows, cJSON_Array)) {
        *reterr_what = "not a report of `review --output json` (schema " REPORT_SCHEMA ")";
        return -EBADMSG;
    }
    r = alloc_tables(&report->changes);
    if (r < 0)
        return r;
    count_now(report);
    for (const cJSON *row = rows->child; row != NULL; row = row->next)
        count_earlier_row(report, row);
    if (report->changes.count > 0)
        qsort(report->changes.items, report->changes.count, sizeof(*report->changes.items),
              compare_changes);
    report->changes.since = copy_of(&report->changes.arena, name, &failed);
    report->changes.compared = true;
    return failed ? -ENOMEM : 0;
}
