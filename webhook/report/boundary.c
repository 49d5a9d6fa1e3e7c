/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary - sums up what pods' own specs asked for beside their declarations (boundary-v1): by
 * namespace over all decisions that were read, by workload over the admitted ones. Dry runs create
 * nothing and are not counted.
 */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "webhook/report/internal.h"

/* Of the hash tables: at least three for each entry. */
#define WORKLOAD_SLOTS 32768u
#define NAMESPACE_SLOTS 16384u

_Static_assert(REPORT_MAX_WORKLOADS * 3 <= WORKLOAD_SLOTS &&
                   REPORT_MAX_NAMESPACES * 3 <= NAMESPACE_SLOTS,
               "there is always a free slot");

int report_boundary_init(struct report_boundary *b)
{
    b->arena.limit_bytes = REPORT_MAX_BOUNDARY_BYTES;
    b->workloads = calloc(REPORT_MAX_WORKLOADS, sizeof(*b->workloads));
    b->workload_slots = calloc(WORKLOAD_SLOTS, sizeof(*b->workload_slots));
    b->namespaces = calloc(REPORT_MAX_NAMESPACES, sizeof(*b->namespaces));
    b->namespace_slots = calloc(NAMESPACE_SLOTS, sizeof(*b->namespace_slots));
    return b->workloads != NULL && b->workload_slots != NULL && b->namespaces != NULL &&
                   b->namespace_slots != NULL
               ? 0
               : -ENOMEM;
}

void report_boundary_done(struct report_boundary *b)
{
    free(b->workloads);
    free(b->workload_slots);
    free(b->namespaces);
    free(b->namespace_slots);
    arena_release(&b->arena);
}

static bool copy_name(struct report_boundary *b, struct str name, struct str *ret_copy)
{
    struct str cut = str_present(name) ? str_cut(name, REPORT_MAX_SUM_BYTES) : STR("");
    char *copy = arena_copy(&b->arena, cut);

    *ret_copy = (struct str){copy, cut.len};
    return copy != NULL;
}

/* NULL: over the limit. */
static struct report_boundary_namespace *
find_namespace(struct report_boundary *b, struct siphash_seed seed, const struct event *event)
{
    struct siphash h = siphash_make(seed);
    struct report_boundary_namespace *found = NULL;
    size_t slot = 0;
    uint64_t key = 0;

    report_hash(&h, event->namespace_name);
    key = siphash_end(&h);
    for (slot = key % NAMESPACE_SLOTS; b->namespace_slots[slot] != 0;
         slot = (slot + 1) % NAMESPACE_SLOTS) {
        found = &b->namespaces[b->namespace_slots[slot] - 1];
        if (found->key == key)
            return found;
    }
    assert(b->namespace_count <= REPORT_MAX_NAMESPACES);
    if (b->namespace_count == REPORT_MAX_NAMESPACES)
        return NULL;
    found = &b->namespaces[b->namespace_count];
    found->key = key;
    if (!copy_name(b, event->namespace_name, &found->name))
        return NULL;
    b->namespace_slots[slot] = (uint32_t)++b->namespace_count;
    return found;
}

/* NULL: over the limit. A new one counts in its namespace. */
static struct report_workload *find_workload(struct report_boundary *b, struct siphash_seed seed,
                                             const struct event *event,
                                             struct report_boundary_namespace *space)
{
    struct siphash h = siphash_make(seed);
    struct report_workload *found = NULL;
    size_t slot = 0;
    uint64_t key = 0;

    report_hash(&h, event->namespace_name);
    report_hash(&h, event->object_kind);
    report_hash(&h, event->workload);
    key = siphash_end(&h);
    for (slot = key % WORKLOAD_SLOTS; b->workload_slots[slot] != 0;
         slot = (slot + 1) % WORKLOAD_SLOTS) {
        found = &b->workloads[b->workload_slots[slot] - 1];
        if (found->key == key)
            return found;
    }
    assert(b->workload_count <= REPORT_MAX_WORKLOADS);
    if (b->workload_count == REPORT_MAX_WORKLOADS)
        return NULL;
    found = &b->workloads[b->workload_count];
    *found = (struct report_workload){.key = key, .namespace_name = space->name};
    if (!copy_name(b, event->object_kind, &found->kind) ||
        !copy_name(b, event->workload, &found->name))
        return NULL;
    b->workload_slots[slot] = (uint32_t)++b->workload_count;
    space->workloads++;
    return found;
}

/* The worst states of the period, whatever the order of the events. */
static void merge_states(enum boundary_state *states, const struct event_boundary *read)
{
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        if (read->states[i] > states[i])
            states[i] = read->states[i];
    }
}

size_t report_count_states(const enum boundary_state *states, enum boundary_state state)
{
    size_t count = 0;

    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++)
        count += states[i] == state;
    return count;
}

void report_boundary_add(struct report_boundary *b, struct siphash_seed seed,
                         const struct event *event)
{
    const struct event_boundary *read = &event->boundary;
    bool admitted = event->verdict == EVENT_ALLOWED || event->verdict == EVENT_VIOLATES;
    struct report_boundary_namespace *space = NULL;
    struct report_workload *workload = NULL;

    if (read->state == EVENT_BOUNDARY_NONE || event->dry_run)
        return;
    b->reads += read->state == EVENT_BOUNDARY_READ;
    b->broken += read->state == EVENT_BOUNDARY_BROKEN;
    space = find_namespace(b, seed, event);
    if (space == NULL) {
        b->namespaces_left_out++;
        return;
    }
    space->reads += read->state == EVENT_BOUNDARY_READ;
    space->broken += read->state == EVENT_BOUNDARY_BROKEN;
    space->contradicted += report_count_states(read->states, BOUNDARY_CONTRADICTED) > 0;
    merge_states(space->states, read);
    if (!admitted || read->state != EVENT_BOUNDARY_READ)
        return;
    workload = find_workload(b, seed, event, space);
    if (workload == NULL) {
        b->workloads_left_out++;
        return;
    }
    workload->count++;
    workload->codes |= read->codes;
    merge_states(workload->states, read);
}

bool report_may_block(const struct report_boundary_namespace *space)
{
    return space->workloads > 0 && space->broken == 0 && space->contradicted == 0;
}

bool report_may_hold(const struct report_boundary_namespace *space, enum boundary_control control)
{
    return space->workloads > 0 && space->broken == 0 && space->states[control] == BOUNDARY_HELD;
}

/* What contradicts its declaration most, then what is open most, then by name. */
static int compare_workloads(const void *a, const void *b)
{
    static const enum boundary_state order[] = {BOUNDARY_CONTRADICTED, BOUNDARY_OPEN,
                                                BOUNDARY_UNKNOWN};
    const struct report_workload *x = a, *y = b;
    int r = 0;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        size_t n = report_count_states(x->states, order[i]);
        size_t m = report_count_states(y->states, order[i]);

        if (n != m)
            return n > m ? -1 : 1;
    }
    r = str_compare(x->namespace_name, y->namespace_name);
    if (r == 0)
        r = str_compare(x->kind, y->kind);
    return r != 0 ? r : str_compare(x->name, y->name);
}

static int compare_namespaces(const void *a, const void *b)
{
    const struct report_boundary_namespace *x = a, *y = b;

    return str_compare(x->name, y->name);
}

/* The hash tables are invalid afterwards. */
void report_boundary_finish(struct report_boundary *b)
{
    if (b->workload_count > 0)
        qsort(b->workloads, b->workload_count, sizeof(*b->workloads), compare_workloads);
    if (b->namespace_count > 0)
        qsort(b->namespaces, b->namespace_count, sizeof(*b->namespaces), compare_namespaces);
    for (size_t i = 0; i < b->workload_count; i++)
        for (int k = 0; k < BOUNDARY_CONTROL_COUNT; k++)
            b->controls[k][b->workloads[i].states[k]]++;
}
