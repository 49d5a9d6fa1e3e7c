/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "webhook/util/clean.h"
#include "webhook/gate/internal.h"

#define FIRST_ROOM 8

const char *gate_code_text(enum gate_code code)
{
    static const char *const texts[] = {
#define X(name, text) [GATE_CODE_##name] = text,
        GATE_CODES(X)
#undef X
    };

    return (unsigned)code < GATE_CODE_COUNT ? texts[code] : "gate.unknown";
}

const char *gate_outcome_text(enum gate_outcome outcome)
{
    switch (outcome) {
    case OUTCOME_READY:
        return "ready";
    case OUTCOME_NEEDS_MORE_EVIDENCE:
        return "needs_more_evidence";
    case OUTCOME_REFUSED:
        return "refused";
    case OUTCOME_UNSUPPORTED_RUNTIME_SHAPE:
        return "unsupported_runtime_shape";
    case OUTCOME_BLOCKED:
        return "blocked";
    case OUTCOME_EXEMPT:
        return "exempt";
    case OUTCOME_UNUSABLE:
        return "unusable";
    case OUTCOME_UNMANAGED:
        return "unmanaged";
    case OUTCOME_UNCHANGED:
        return "unchanged";
    case OUTCOME_NOT_EVALUATED:
        return "not_evaluated";
    case OUTCOME_UNDECIDED:
        break;
    }
    return "undecided";
}

static int make_room(struct judgement *j)
{
    struct gate_findings *f = &j->findings;
    size_t room = f->room == 0 ? FIRST_ROOM : f->room * 2;
    struct gate_finding *items = NULL;

    if (f->count < f->room)
        return 0;
    items = arena_alloc(j->arena, room, sizeof(*items));
    if (items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < f->count; i++)
        items[i] = f->items[i];
    f->items = items;
    f->room = room;
    return 0;
}

int gate_add(struct judgement *j, enum gate_code code, struct str place, const char *format, ...)
{
    char text[GATE_MAX_MESSAGE_BYTES + 1] = "";
    struct str message = {.ptr = text};
    va_list args;
    int n = 0;
    int r = make_room(j);

    if (r < 0)
        return r;
    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < 0)
        return -ENOMEM;
    message.len = clean_text(text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
    message.ptr = arena_copy(j->arena, message);
    if (message.ptr == NULL)
        return -ENOMEM;
    j->findings.items[j->findings.count++] =
        (struct gate_finding){.code = code, .message = message, .place = place};
    return 0;
}

int gate_order_findings(struct judgement *j)
{
    struct gate_findings *f = &j->findings;
    struct gate_finding *sorted = NULL;
    size_t n = 0;

    if (f->count < 2)
        return 0;
    sorted = arena_alloc(j->arena, f->count, sizeof(*sorted));
    if (sorted == NULL)
        return -ENOMEM;
    for (int code = 0; code < GATE_CODE_COUNT; code++) {
        for (size_t i = 0; i < f->count; i++) {
            if (f->items[i].code == (enum gate_code)code)
                sorted[n++] = f->items[i];
        }
    }
    f->items = sorted;
    f->room = n;
    return 0;
}
