/* SPDX-License-Identifier: Apache-2.0 */
/* sums - totals of events by namespace or finding code, and the hints about findings. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "webhook/answer/hint.h"
#include "webhook/gate/gate.h"
#include "webhook/report/internal.h"
#include "webhook/util/clean.h"

int report_sums_init(struct report_sums *sums, size_t max, struct arena *arena)
{
    *sums = (struct report_sums){.max = max, .slot_count = max * 2};
    sums->items = arena_alloc(arena, max, sizeof(*sums->items));
    sums->slots = arena_alloc(arena, sums->slot_count, sizeof(*sums->slots));
    return sums->items != NULL && sums->slots != NULL ? 0 : -ENOMEM;
}

/* The entry of that name, a new one if necessary; NULL if the table is full. */
static struct report_sum *find_sum(struct report_sums *sums, struct siphash_seed seed,
                                   struct str name, struct arena *arena)
{
    struct siphash h = siphash_make(seed);
    struct report_sum *sum = NULL;
    size_t slot = 0;
    char *copy = NULL;

    name = str_cut(name, REPORT_MAX_SUM_BYTES);
    report_hash(&h, name);
    slot = siphash_end(&h) % sums->slot_count;
    for (; sums->slots[slot] != 0; slot = (slot + 1) % sums->slot_count) {
        sum = &sums->items[sums->slots[slot] - 1];
        if (str_equal(sum->name, name))
            return sum;
    }
    assert(sums->count <= sums->max && sums->max < sums->slot_count);
    copy = sums->count < sums->max ? arena_copy(arena, name) : NULL;
    if (copy == NULL)
        return NULL;
    sum = &sums->items[sums->count++];
    *sum = (struct report_sum){.name = {copy, name.len}};
    sums->slots[slot] = (uint32_t)sums->count;
    return sum;
}

int report_sums_add(struct report_sums *sums, struct siphash_seed seed, struct str name,
                    enum event_verdict verdict, bool new_row, struct arena *arena)
{
    struct report_sum *sum = find_sum(sums, seed, name, arena);

    if (sum == NULL) {
        sums->left_out++;
        return 0;
    }
    sum->denied += verdict == EVENT_DENIED;
    sum->violates += verdict == EVENT_VIOLATES;
    sum->other += verdict == EVENT_ALLOWED || verdict == EVENT_UNKNOWN;
    sum->rows += new_row;
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct report_sum *x = a, *y = b;
    uint64_t n = x->denied + x->violates + x->other, m = y->denied + y->violates + y->other;

    if (x->denied != y->denied)
        return x->denied > y->denied ? -1 : 1;
    if (n != m)
        return n > m ? -1 : 1;
    return str_compare(x->name, y->name);
}

/* The hash table is invalid afterwards. */
void report_sums_sort(struct report_sums *sums)
{
    if (sums->count > 0)
        qsort(sums->items, sums->count, sizeof(*sums->items), most_first);
}

const char *report_hint(struct str code)
{
    for (int i = 0; i < GATE_CODE_COUNT; i++) {
        if (str_equal(code, str_of(gate_code_text((enum gate_code)i))))
            return gate_code_hint((enum gate_code)i);
    }
    for (int i = 0; i < PLAN_CODE_COUNT; i++) {
        if (str_equal(code, str_of(plan_code_text((enum plan_code)i))))
            return answer_hint((enum plan_code)i);
    }
    return NULL;
}
