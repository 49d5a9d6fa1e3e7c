/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_policies - finds the NetworkPolicies in the files before the first decision: they count as
 * they would once applied, whatever their place.
 *
 * Only they are read here. What else is wrong with a file is reported when it is judged.
 */

#define _GNU_SOURCE /* tdestroy() */
#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "k8s/document/manifest.h"
#include "k8s/network_policy/network_policy.h"
#include "planner/base/array.h"
#include "planner/base/tree.h"
#include "webhook/cli/output.h"
#include "webhook/commands/check.h"
#include "webhook/util/input.h"

#define POLICY_KIND "NetworkPolicy"
#define POLICY_API_VERSION "networking.k8s.io/v1"

/* Standard input and pipes can be read once only: their text is kept until they are judged. */
static bool is_read_once(const char *file)
{
    struct stat facts;

    return str_equal(str_of(file), STR("-")) ||
           (stat(file, &facts) == 0 && !S_ISREG(facts.st_mode));
}

/* Most files have none. A name can be written with escapes, in JSON and in YAML. */
static bool can_have_policies(struct str text)
{
    return str_contains(text, STR(POLICY_KIND)) || str_contains(text, STR("\\"));
}

static bool is_policy(const cJSON *tree)
{
    return str_equal(tree_get_text(tree, "kind"), STR(POLICY_KIND)) &&
           str_equal(tree_get_text(tree, "apiVersion"), STR(POLICY_API_VERSION));
}

static void refuse(struct check *check, const char *file, const struct manifest_object *object,
                   struct str what)
{
    output_error_at(file, object->line, object->column, what);
    check->unreadable++;
}

static int order_policies(const void *a, const void *b)
{
    const struct network_policy *left = a;
    const struct network_policy *right = b;
    int r = str_compare(left->namespace_name, right->namespace_name);

    return r != 0 ? r : str_compare(left->name, right->name);
}

static void keep_item(void *item)
{
    (void)item; /* the tree does not own its items */
}

/* Takes over the reference if it succeeds. -EEXIST: one of this name was added before. */
static int add_policy(struct check_policies *policies, const struct network_policy *policy)
{
    int r = array_grow(&policies->items, &policies->capacity, policies->count + 1,
                       sizeof(*policies->items), SIZE_MAX);

    if (r < 0)
        return r;
    if (tfind(policy, &policies->seen, order_policies) != NULL)
        return -EEXIST;
    if (tsearch(policy, &policies->seen, order_policies) == NULL)
        return -ENOMEM;
    policies->items[policies->count++] = policy;
    return 0;
}

static int take_policy(struct check *check, const char *file, const struct manifest_object *object)
{
    const cJSON *metadata = tree_get(object->tree, "metadata");
    struct str namespace_name = tree_get_text(metadata, "namespace");
    struct str name = tree_get_text(metadata, "name");
    struct network_policy *policy = NULL;
    int r = 0;

    if (name.len == 0) {
        refuse(check, file, object, STR("metadata.name is required"));
        return 0;
    }
    if (namespace_name.len == 0)
        namespace_name = check->namespace_name;
    r = network_policy_make(namespace_name, name, tree_get(object->tree, "spec"), &policy);
    if (r < 0)
        return r;
    r = add_policy(&check->policies, policy);
    if (r < 0)
        network_policy_unref(policy);
    if (r != -EEXIST)
        return r;
    refuse(check, file, object, STR("this NetworkPolicy is given twice; remove one"));
    return 0;
}

/* Ends at the first error, which is reported when the file is judged. */
static int find_policies(struct check *check, const char *file, struct str text)
{
    struct arena cleanup_arena arena = {0};
    struct manifest manifest = manifest_make(text, DOCUMENT_EITHER, &arena);

    for (;;) {
        struct manifest_object object = {0};
        struct document_error ignored = {0};
        int r = manifest_next(&manifest, &object, &ignored);

        if (r == -EBADMSG || r == -E2BIG || (r == 0 && object.tree == NULL))
            return 0;
        if (r == 0 && is_policy(object.tree))
            r = take_policy(check, file, &object);
        if (r < 0)
            return r;
    }
}

int check_policies_find(struct check *check, struct check_source *source, struct arena *arena)
{
    struct arena cleanup_arena scratch = {0};
    struct str text = {0};
    int r = 0;

    source->kept = is_read_once(source->file);
    r = input_read_file(source->file, CHECK_MAX_FILE_BYTES, source->kept ? arena : &scratch, &text);
    if (r == -ENOMEM)
        return r;
    if (source->kept) {
        source->text = text;
        source->error = r;
    }
    /* an error is reported when the file is judged */
    return r == 0 && can_have_policies(text) ? find_policies(check, source->file, text) : 0;
}

void check_policies_done(struct check_policies *policies)
{
    tdestroy(policies->seen, keep_item);
    for (size_t i = 0; i < policies->count; i++)
        network_policy_unref(policies->items[i]);
    free(policies->items);
    *policies = (struct check_policies){0};
}
