/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings - the table of finding codes, and the list of findings of one evaluation.
 */
#include "planner/findings.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "planner/base/array.h"

#define MAX_FINDINGS SIZE_MAX /* bounded by the input: one or two for each of its values */

static const struct {
    enum plan_decision class;
    const char *text;
} codes[PLAN_CODE_COUNT] = {
#define X(name, class, text) [PLAN_CODE_##name] = {PLAN_##class, text},
    PLAN_CODES(X)
#undef X
};

const char *plan_code_text(enum plan_code code)
{
    return (size_t)code < PLAN_CODE_COUNT ? codes[code].text : "";
}

const char *plan_decision_text(enum plan_decision decision)
{
    switch (decision) {
    case PLAN_MORE_EVIDENCE:
        return "needs_more_evidence";
    case PLAN_REFUSED:
        return "refused";
    case PLAN_UNSUPPORTED:
        return "unsupported_runtime_shape";
    case PLAN_READY:
        return "ready";
    case PLAN_UNDECIDED:
        break;
    }
    return "";
}

enum plan_decision findings_class(enum plan_code code)
{
    return (size_t)code < PLAN_CODE_COUNT ? codes[code].class : PLAN_UNDECIDED;
}

void findings_add(struct findings *findings, enum plan_code code, struct str message)
{
    if (findings->error != 0)
        return;
    if (!str_present(message) ||
        array_grow_in(findings->arena, &findings->items, &findings->capacity, findings->count + 1,
                      sizeof(*findings->items), MAX_FINDINGS) < 0) {
        findings->error = -ENOMEM;
        return;
    }
    assert(findings->count < findings->capacity && (size_t)code < PLAN_CODE_COUNT);
    findings->items[findings->count++] = (struct plan_finding){.code = code, .message = message};
}

static int compare(const void *a, const void *b)
{
    const struct plan_finding *left = a, *right = b;

    if (left->code != right->code)
        return left->code < right->code ? -1 : 1;
    return str_compare(left->message, right->message);
}

void findings_sort_once(struct findings *findings)
{
    struct plan_finding *items = findings->items;
    size_t kept = 0;

    if (findings->count == 0)
        return;
    qsort(items, findings->count, sizeof(*items), compare);
    for (size_t i = 1; i < findings->count; i++) {
        if (compare(&items[kept], &items[i]) != 0)
            items[++kept] = items[i];
    }
    findings->count = kept + 1;
}

enum plan_decision findings_decide(const struct findings *findings, bool admitted,
                                   bool network_with_paths)
{
    bool unsupported = network_with_paths, refused = !admitted;

    if (findings->error != 0)
        return PLAN_UNDECIDED;
    if (findings->count == 0 && admitted && !network_with_paths)
        return PLAN_READY;
    for (size_t i = 0; i < findings->count; i++) {
        enum plan_decision class = findings_class(findings->items[i].code);

        unsupported = unsupported || class == PLAN_UNSUPPORTED;
        refused = refused || class == PLAN_REFUSED;
    }
    if (unsupported)
        return PLAN_UNSUPPORTED;
    return refused ? PLAN_REFUSED : PLAN_MORE_EVIDENCE;
}
