/* SPDX-License-Identifier: Apache-2.0 */
/* network_policies - the NetworkPolicies of a snapshot: collected, sorted, found by namespace. */
#define _GNU_SOURCE /* tdestroy() */
#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/snapshot/index.h"
#include "planner/base/array.h"

static int order_policies(const void *a, const void *b)
{
    const struct network_policy *left = a;
    const struct network_policy *right = b;
    int r = str_compare(left->namespace_name, right->namespace_name);

    return r != 0 ? r : str_compare(left->name, right->name);
}

static int sort_policies(const void *a, const void *b)
{
    return order_policies(*(const struct network_policy *const *)a,
                          *(const struct network_policy *const *)b);
}

static void keep_item(void *item)
{
    (void)item; /* the tree does not own its items */
}

int snapshot_give_network_policy(struct snapshot_given_policies *given,
                                 const struct network_policy *policy)
{
    int r = array_grow(&given->items, &given->capacity, given->count + 1, sizeof(*given->items),
                       SIZE_MAX);

    if (r < 0)
        return r;
    if (tfind(policy, &given->tree, order_policies) != NULL)
        return -EEXIST;
    if (tsearch(policy, &given->tree, order_policies) == NULL)
        return -ENOMEM;
    given->items[given->count++] = network_policy_ref(policy);
    return 0;
}

void snapshot_free_given_policies(struct snapshot_given_policies *given)
{
    tdestroy(given->tree, keep_item);
    for (size_t i = 0; i < given->count; i++)
        network_policy_unref(given->items[i]);
    free(given->items);
    *given = (struct snapshot_given_policies){0};
}

/* Only the first policy over the limit is added: it stands for all further ones. */
static int add_policy(struct snapshot *snapshot, size_t number, const struct network_policy *policy)
{
    struct network_policy *open = NULL;
    int r = 0;

    if (number > SNAPSHOT_MAX_NETWORK_POLICIES_PER_NAMESPACE)
        return 0;
    if (number < SNAPSHOT_MAX_NETWORK_POLICIES_PER_NAMESPACE)
        open = network_policy_ref(policy);
    else
        r = network_policy_make_open(policy->namespace_name, policy->name, &open);
    if (r == 0)
        snapshot->network_policies[snapshot->network_policy_count++] = open;
    return r;
}

int snapshot_fill_network_policies(struct snapshot *snapshot, struct snapshot_given_policies *given)
{
    struct str current = {0};
    size_t number = 0;
    int r = 0;

    snapshot->network_policies =
        arena_alloc(&snapshot->arena, given->count, sizeof(*snapshot->network_policies));
    if (snapshot->network_policies == NULL)
        return -ENOMEM;
    if (given->count > 1)
        qsort(given->items, given->count, sizeof(*given->items), sort_policies);
    for (size_t i = 0; i < given->count && r == 0; i++) {
        const struct network_policy *policy = given->items[i];

        if (!policy->egress)
            continue;
        if (!str_equal(policy->namespace_name, current))
            number = 0;
        current = policy->namespace_name;
        r = add_policy(snapshot, number++, policy);
    }
    return r;
}

void snapshot_free_network_policies(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->network_policy_count; i++)
        network_policy_unref(snapshot->network_policies[i]);
}

/* The number of policies whose namespace is before the given one, or is it too. */
static size_t count_before(const struct snapshot *snapshot, struct str namespace_name, bool with)
{
    size_t low = 0, high = snapshot->network_policy_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int r = str_compare(snapshot->network_policies[middle]->namespace_name, namespace_name);

        if (r < 0 || (r == 0 && with))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool snapshot_network_policies(const struct snapshot *snapshot, struct str namespace_name,
                               struct network_policy_run *ret_run)
{
    size_t begin = 0;

    if (!snapshot->network_policies_read)
        return false;
    begin = count_before(snapshot, namespace_name, false);
    *ret_run = (struct network_policy_run){
        .items = snapshot->network_policies + begin,
        .count = count_before(snapshot, namespace_name, true) - begin,
    };
    return true;
}
