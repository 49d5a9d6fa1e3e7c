/* SPDX-License-Identifier: Apache-2.0 */
/* network_policy - reads the types and egress rules of a NetworkPolicy. */
#include "k8s/network_policy/network_policy.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/network_policy/internal.h"
#include "planner/base/tree.h"

/* Whether the list has at least one entry. */
static bool has_entries(const cJSON *list)
{
    return tree_is(list, cJSON_Array) && list->child != NULL;
}

/* `0.0.0.0/0`, `::/0`: only zeros, and at least one, behind the last slash. */
static bool is_every_address(struct str cidr)
{
    size_t zeros = 0;

    while (zeros < cidr.len && cidr.ptr[cidr.len - 1 - zeros] == '0')
        zeros++;
    return zeros > 0 && zeros < cidr.len && cidr.ptr[cidr.len - 1 - zeros] == '/';
}

static bool is_every_destination(const cJSON *peer)
{
    const cJSON *block = tree_get(peer, "ipBlock");

    return !has_entries(tree_get(block, "except")) &&
           is_every_address(tree_get_text(block, "cidr"));
}

/* `ports` change nothing. */
static bool admits_any(const cJSON *rule)
{
    const cJSON *peers = tree_get(rule, "to");
    const cJSON *peer = NULL;

    if (!has_entries(peers))
        return true;
    cJSON_ArrayForEach(peer, peers)
    {
        if (is_every_destination(peer))
            return true;
    }
    return false;
}

static void read_spec(const cJSON *spec, struct network_policy *facts)
{
    const cJSON *rules = tree_get(spec, "egress");
    const cJSON *types = tree_get(spec, "policyTypes");
    const cJSON *item = NULL;

    facts->egress_rules = has_entries(rules);
    if (facts->egress_rules) {
        cJSON_ArrayForEach(item, rules)
        {
            facts->egress_any |= admits_any(item);
        }
    }
    if (!has_entries(types)) {
        facts->egress = facts->egress_rules;
        return;
    }
    cJSON_ArrayForEach(item, types)
    {
        facts->egress |= str_equal(tree_text(item), STR("Egress"));
    }
}

static struct str put_text(char **free, struct str text)
{
    struct str copy = {.ptr = *free, .len = text.len};

    if (text.len > 0)
        memcpy(*free, text.ptr, text.len);
    *free += text.len;
    return copy;
}

static int copy_policy(const struct network_policy *facts, struct network_policy **ret_policy)
{
    struct network_policy *copy = calloc(1, sizeof(*copy) + facts->namespace_name.len +
                                                facts->name.len + facts->selector.len);
    char *free = NULL;

    if (copy == NULL)
        return -ENOMEM;
    free = copy->texts;
    copy->namespace_name = put_text(&free, facts->namespace_name);
    copy->name = put_text(&free, facts->name);
    copy->selector = put_text(&free, facts->selector);
    copy->egress = facts->egress;
    copy->egress_rules = facts->egress_rules;
    copy->egress_any = facts->egress_any;
    refcount_init(&copy->count);
    *ret_policy = copy;
    return 0;
}

int network_policy_make(struct str namespace_name, struct str name, const cJSON *spec,
                        struct network_policy **ret_policy)
{
    char selector[NETWORK_POLICY_MAX_SELECTOR_BYTES];
    struct network_policy facts = {
        .namespace_name = namespace_name,
        .name = name,
        .selector = {.ptr = selector},
    };

    read_spec(spec, &facts);
    /* without egress nobody asks whom it selects */
    if (facts.egress &&
        !selector_pack(tree_get(spec, "podSelector"), selector, &facts.selector.len))
        facts.egress_rules = facts.egress_any = true;
    return copy_policy(&facts, ret_policy);
}

int network_policy_make_open(struct str namespace_name, struct str name,
                             struct network_policy **ret_policy)
{
    const struct network_policy facts = {
        .namespace_name = namespace_name,
        .name = name,
        .egress = true,
        .egress_rules = true,
        .egress_any = true,
    };

    return copy_policy(&facts, ret_policy);
}

struct network_policy *network_policy_ref(const struct network_policy *policy)
{
    struct network_policy *shared = (struct network_policy *)(uintptr_t)policy;

    refcount_take(&shared->count);
    return shared;
}

void network_policy_unref(const struct network_policy *policy)
{
    struct network_policy *shared = (struct network_policy *)(uintptr_t)policy;

    if (shared != NULL && refcount_drop(&shared->count))
        free(shared);
}

bool network_policy_same(const struct network_policy *a, const struct network_policy *b)
{
    return a->egress == b->egress && a->egress_rules == b->egress_rules &&
           a->egress_any == b->egress_any && str_equal(a->selector, b->selector);
}

bool network_policy_selects(const struct network_policy *policy,
                            const struct network_policy_labels *labels)
{
    return policy->egress && selector_matches(policy->selector, labels);
}
