/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review - reads an AdmissionReview.
 *
 * Its shape (shape.c) keeps only the members that the gate reads: most of a review is never stored.
 */
#include "k8s/review/review.h"

#include <assert.h>
#include <errno.h>

#include "k8s/review/shape.h"
#include "planner/base/tree.h"

#define REVIEW_API_VERSION "admission.k8s.io/v1"
#define REVIEW_KIND "AdmissionReview"

static const struct {
    struct str text;
    enum review_operation operation;
} operations[] = {
    {STR_INIT("CREATE"), REVIEW_CREATE},
    {STR_INIT("UPDATE"), REVIEW_UPDATE},
    {STR_INIT("DELETE"), REVIEW_DELETE},
    {STR_INIT("CONNECT"), REVIEW_CONNECT},
};

/* The state of one call of review_read(). Only the first error is kept. */
struct reading {
    struct str text;
    bool failed;
    struct document_error error; /* where failed */
};

/* Notes an error at the node: the wrong value, or the object that lacks one. */
static void note_error(struct reading *reading, const cJSON *node, const char *what)
{
    if (reading->failed)
        return;
    reading->failed = true;
    reading->error = (struct document_error){.line = 1, .column = 1, .what = what};
    if (node != NULL)
        (void)document_place(reading->text, node, false, &reading->error.line,
                             &reading->error.column);
}

static struct str optional_text(struct reading *reading, const cJSON *parent, const char *key,
                                const char *what)
{
    const cJSON *node = tree_get(parent, key);

    if (node != NULL && !tree_is(node, cJSON_String))
        note_error(reading, node, what);
    return tree_text(node);
}

/* Text that must not be absent or empty. */
static struct str required_text(struct reading *reading, const cJSON *parent, const char *key,
                                const char *what)
{
    struct str s = optional_text(reading, parent, key, what);

    if (s.len == 0)
        note_error(reading, tree_get(parent, key) != NULL ? tree_get(parent, key) : parent, what);
    return s;
}

static const cJSON *optional_map(struct reading *reading, const cJSON *parent, const char *key,
                                 const char *what)
{
    const cJSON *node = tree_get(parent, key);

    if (node != NULL && !tree_is(node, cJSON_Object)) {
        note_error(reading, node, what);
        return NULL;
    }
    return node;
}

static void read_kind(struct reading *reading, const cJSON *node, struct review *ret_review)
{
    const cJSON *map = optional_map(reading, node, "kind", "request.kind must be an object");

    if (map == NULL) {
        note_error(reading, node, "request.kind is missing");
        return;
    }
    ret_review->kind_group =
        optional_text(reading, map, "group", "request.kind.group must be text");
    if (!str_present(ret_review->kind_group))
        ret_review->kind_group = STR("");
    ret_review->kind_version =
        optional_text(reading, map, "version", "request.kind.version must be text");
    ret_review->kind_name = required_text(reading, map, "kind", "request.kind.kind must be text");
    ret_review->kind = workload_kind_of(ret_review->kind_group, ret_review->kind_name);
}

static void read_operation(struct reading *reading, const cJSON *node, struct review *ret_review)
{
    const char *what = "request.operation must be CREATE, UPDATE, DELETE or CONNECT";
    struct str s = required_text(reading, node, "operation", what);

    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (str_equal(s, operations[i].text))
            ret_review->operation = operations[i].operation;
    }
    if (ret_review->operation == REVIEW_NO_OPERATION)
        note_error(reading, tree_get(node, "operation"), what);
}

static void read_user(struct reading *reading, const cJSON *node, struct review *ret_review)
{
    const cJSON *user =
        optional_map(reading, node, "userInfo", "request.userInfo must be an object");
    const cJSON *groups = tree_get(user, "groups");
    const cJSON *group = NULL;

    ret_review->user =
        optional_text(reading, user, "username", "request.userInfo.username must be text");
    if (groups != NULL && !tree_is(groups, cJSON_Array))
        note_error(reading, groups, "request.userInfo.groups must be a list of text");
    cJSON_ArrayForEach(group, groups)
    {
        if (!tree_is(group, cJSON_String))
            note_error(reading, group, "request.userInfo.groups must be a list of text");
    }
    ret_review->groups = groups;
}

static void read_request(struct reading *reading, const cJSON *node, struct review *ret_review)
{
    const cJSON *dry_run = tree_get(node, "dryRun");

    ret_review->uid = required_text(reading, node, "uid", "request.uid must be text");
    read_kind(reading, node, ret_review);
    read_operation(reading, node, ret_review);
    ret_review->subresource =
        optional_text(reading, node, "subResource", "request.subResource must be text");
    if (ret_review->subresource.len == 0)
        ret_review->subresource = (struct str){0};
    ret_review->namespace_name =
        optional_text(reading, node, "namespace", "request.namespace must be text");
    if (ret_review->kind != WORKLOAD_NONE && ret_review->namespace_name.len == 0)
        note_error(reading,
                   tree_get(node, "namespace") != NULL ? tree_get(node, "namespace") : node,
                   "request.namespace must not be empty for this kind");
    ret_review->name = optional_text(reading, node, "name", "request.name must be text");
    read_user(reading, node, ret_review);
    if (dry_run != NULL && !tree_is(dry_run, cJSON_True) && !tree_is(dry_run, cJSON_False))
        note_error(reading, dry_run, "request.dryRun must be true or false");
    ret_review->dry_run = tree_is(dry_run, cJSON_True);
    ret_review->object = tree_get(node, "object");
    ret_review->old_object = tree_get(node, "oldObject");
}

static void read_root(struct reading *reading, const cJSON *root, struct review *ret_review)
{
    const cJSON *node = NULL;

    if (!tree_is(root, cJSON_Object)) {
        note_error(reading, root, "a review must be an object");
        return;
    }
    if (!str_equal(
            required_text(reading, root, "apiVersion", "apiVersion must be " REVIEW_API_VERSION),
            STR(REVIEW_API_VERSION)))
        note_error(reading, tree_get(root, "apiVersion"), "apiVersion must be " REVIEW_API_VERSION);
    if (!str_equal(required_text(reading, root, "kind", "kind must be " REVIEW_KIND),
                   STR(REVIEW_KIND)))
        note_error(reading, tree_get(root, "kind"), "kind must be " REVIEW_KIND);
    node = optional_map(reading, root, "request", "request must be an object");
    if (node == NULL)
        note_error(reading, root, "request is missing");
    else
        read_request(reading, node, ret_review);
}

int review_read(struct str text, enum document_syntax syntax, struct arena *arena,
                struct review *ret_review, struct document_error *reterr)
{
    const struct document_options options = {
        .syntax = syntax, .rules = DOCUMENT_REVIEW, .shape = shape_review};
    struct reading reading = {.text = text};
    struct review result = {0};
    cJSON *root = NULL;
    int r = document_read(text, &options, arena, &root, reterr);

    if (r < 0)
        return r;
    read_root(&reading, root, &result);
    assert(reading.failed || result.operation != REVIEW_NO_OPERATION);
    if (reading.failed) {
        *reterr = reading.error;
        return -EBADMSG;
    }
    *ret_review = result;
    return 0;
}

bool review_has_group(const struct review *r, struct str group)
{
    const cJSON *entry = NULL;

    cJSON_ArrayForEach(entry, r->groups)
    {
        if (str_equal(tree_text(entry), group))
            return true;
    }
    return false;
}

const char *review_operation_text(enum review_operation operation)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (operations[i].operation == operation)
            return operations[i].text.ptr;
    }
    return "";
}

static const cJSON *controller_of(const cJSON *owned)
{
    const cJSON *references = tree_get(tree_get(owned, "metadata"), "ownerReferences");
    const cJSON *entry = NULL;

    if (!tree_is(references, cJSON_Array))
        return NULL;
    cJSON_ArrayForEach(entry, references)
    {
        if (tree_is(tree_get(entry, "controller"), cJSON_True))
            return entry;
    }
    return NULL;
}

struct review_owner review_owner(const struct review *r)
{
    const cJSON *controller = controller_of(r->object != NULL ? r->object : r->old_object);

    return (struct review_owner){.kind = tree_get_text(controller, "kind"),
                                 .name = tree_get_text(controller, "name")};
}
