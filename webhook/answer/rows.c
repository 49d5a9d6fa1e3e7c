/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows - orders the findings of a decision, and decides which of them follow from others.
 */

#include "webhook/answer/rows.h"

#include <errno.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/answer/hint.h"

/* The codes of gate and planner in one range. */
#define GATE(name) ((int)GATE_CODE_##name)
#define PLAN(name) ((int)GATE_CODE_COUNT + (int)PLAN_CODE_##name)
#define CODE_COUNT ((size_t)GATE_CODE_COUNT + (size_t)PLAN_CODE_COUNT)
#define NO_CAUSE (-1)
#define MAX_CAUSES 5

/*
 * What follows from what. A finding follows from any one of its causes: as long as the cause is
 * there the finding is there too, and it says nothing of its own.
 *
 *   without an annotation there is no identity;
 *   a malformed identity is that of no document: the same rule is applied to what is signed;
 *   without exactly one identity no evidence is searched for, and without evidence in use there are
 *   no requirements: their time and provenance are absent then, and nothing lists an image.
 *
 * Expired evidence still lists images, so an unlisted image is a finding of its own beside it.
 */
static const struct {
    int code;
    int causes[MAX_CAUSES];
} consequences[] = {
    {GATE(EVIDENCE_MISSING), {PLAN(WORKLOAD_SKILL_REF), PLAN(WORKLOAD_DIGEST), NO_CAUSE}},
    {GATE(IMAGE_UNLISTED),
     {GATE(ANNOTATION_MISSING), PLAN(WORKLOAD_IDENTITY), GATE(EVIDENCE_MISSING),
      GATE(EVIDENCE_CONFLICT), NO_CAUSE}},
    {PLAN(WORKLOAD_IDENTITY), {GATE(ANNOTATION_MISSING), NO_CAUSE}},
    {PLAN(TIME_MISSING),
     {GATE(ANNOTATION_MISSING), PLAN(WORKLOAD_IDENTITY), GATE(EVIDENCE_MISSING),
      GATE(EVIDENCE_EXPIRED), GATE(EVIDENCE_CONFLICT)}},
    {PLAN(REQUIREMENTS_PROVENANCE),
     {GATE(ANNOTATION_MISSING), PLAN(WORKLOAD_IDENTITY), GATE(EVIDENCE_MISSING),
      GATE(EVIDENCE_EXPIRED), GATE(EVIDENCE_CONFLICT)}},
};

/* The state of one call of answer_rows_make(). */
struct rows_writer {
    const struct decision *decision;
    bool found[CODE_COUNT]; /* the codes of all findings */
    bool states_image;      /* the identity is an image, which is known without evidence */
    struct answer_row *items;
    size_t count;
};

static bool states_image(const struct decision *d)
{
    const cJSON *workload = d->planned ? tree_get(d->plan_input, "workload") : NULL;

    return !str_present(tree_get_text(workload, "skill_ref")) &&
           str_is_sha256(tree_get_text(workload, "image_digest"));
}

static bool follows(const struct rows_writer *w, int code)
{
    if (code == GATE(IMAGE_UNLISTED) && w->states_image)
        return false;
    for (size_t i = 0; i < sizeof(consequences) / sizeof(consequences[0]); i++) {
        const int *causes = consequences[i].causes;

        if (consequences[i].code != code)
            continue;
        for (size_t c = 0; c < MAX_CAUSES && causes[c] != NO_CAUSE; c++) {
            if (w->found[causes[c]])
                return true;
        }
    }
    return false;
}

/* Adds the findings that follow, or those that do not. */
static void add_rows(struct rows_writer *w, bool wanted)
{
    const struct decision *d = w->decision;

    for (size_t i = 0; i < d->finding_count; i++) {
        const struct gate_finding *f = &d->findings[i];

        if (follows(w, (int)f->code) == wanted)
            w->items[w->count++] = (struct answer_row){
                .code = str_of(gate_code_text(f->code)), .place = f->place, .message = f->message};
    }
    for (size_t i = 0; d->planned && i < d->plan.finding_count; i++) {
        const struct plan_finding *f = &d->plan.findings[i];

        if (follows(w, (int)GATE_CODE_COUNT + (int)f->code) == wanted)
            w->items[w->count++] = (struct answer_row){.code = str_of(plan_code_text(f->code)),
                                                       .message = f->message,
                                                       .hint = answer_hint(f->code)};
    }
}

int answer_rows_make(const struct decision *d, struct arena *arena, struct answer_rows *ret_rows)
{
    size_t plan_count = d->planned ? d->plan.finding_count : 0;
    struct rows_writer w = {.decision = d, .states_image = states_image(d)};
    size_t causes = 0;

    w.items = arena_alloc(arena, d->finding_count + plan_count, sizeof(*w.items));
    if (w.items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < d->finding_count; i++)
        w.found[d->findings[i].code] = true;
    for (size_t i = 0; i < plan_count; i++)
        w.found[(size_t)GATE_CODE_COUNT + d->plan.findings[i].code] = true;
    add_rows(&w, false);
    causes = w.count;
    add_rows(&w, true);
    *ret_rows = (struct answer_rows){.items = w.items, .cause_count = causes, .count = w.count};
    return 0;
}

/* Equal codes are next to each other. */
int answer_consequences(const struct answer_rows *rows, struct arena *arena, struct str *ret_text)
{
    struct buffer b = buffer_make(arena, SIZE_MAX / 2);
    struct str text = {0};

    if (rows->cause_count == rows->count) {
        *ret_text = (struct str){0};
        return 0;
    }
    for (size_t i = rows->cause_count; i < rows->count; i++) {
        struct str code = rows->items[i].code;

        if (i > rows->cause_count && str_equal(code, rows->items[i - 1].code))
            continue;
        buffer_add(&b, i == rows->cause_count ? STR("also, as a consequence: ") : STR(", "));
        buffer_add(&b, code);
    }
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}
