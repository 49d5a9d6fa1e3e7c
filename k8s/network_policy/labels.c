/* SPDX-License-Identifier: Apache-2.0 */
/* labels - the labels of a pod, in an order in which they are found quickly. */
#include <errno.h>
#include <stdlib.h>

#include "k8s/network_policy/internal.h"
#include "planner/base/tree.h"

static int order_labels(const void *a, const void *b)
{
    const struct network_policy_label *left = a;
    const struct network_policy_label *right = b;

    return str_compare(left->key, right->key);
}

int network_policy_labels_make(const cJSON *labels, struct arena *arena,
                               struct network_policy_labels *ret_labels)
{
    struct network_policy_labels made = {0};
    const cJSON *label = NULL;
    size_t count = tree_is(labels, cJSON_Object) ? tree_count(labels) : 0;

    made.items = arena_alloc(arena, count, sizeof(*made.items));
    if (made.items == NULL)
        return -ENOMEM;
    if (count > 0) {
        cJSON_ArrayForEach(label, labels)
        {
            if (tree_is(label, cJSON_String))
                made.items[made.count++] = (struct network_policy_label){.key = tree_key(label),
                                                                         .value = tree_text(label)};
        }
    }
    if (made.count > 1)
        qsort(made.items, made.count, sizeof(*made.items), order_labels);
    *ret_labels = made;
    return 0;
}

const struct str *labels_find(const struct network_policy_labels *labels, struct str key)
{
    const struct network_policy_label sought = {.key = key};
    const struct network_policy_label *found =
        labels->count > 0
            ? bsearch(&sought, labels->items, labels->count, sizeof(*labels->items), order_labels)
            : NULL;

    return found != NULL ? &found->value : NULL;
}
