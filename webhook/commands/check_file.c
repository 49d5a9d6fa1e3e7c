/* SPDX-License-Identifier: Apache-2.0 */
/* check_file - reads the objects and reviews of one file, and decides on each. */

#include <errno.h>
#include <stdio.h>

#include "k8s/document/document.h"
#include "k8s/document/manifest.h"
#include "k8s/review/review.h"
#include "k8s/util/file.h"
#include "k8s/util/http_status.h"
#include "planner/base/tree.h"
#include "webhook/answer/answer.h"
#include "webhook/answer/exchange.h"
#include "webhook/cli/output.h"
#include "webhook/commands/check.h"
#include "webhook/util/input.h"

#define REVIEW_KIND STR("AdmissionReview")
#define REVIEW_GROUP STR("admission.k8s.io/")

/* There is no Content-Type header: a text that begins with a bracket is JSON. */
static enum document_syntax review_syntax(struct str text)
{
    struct str trimmed = str_trim(text);

    return trimmed.len > 0 && (trimmed.ptr[0] == '{' || trimmed.ptr[0] == '[') ? DOCUMENT_JSON
                                                                               : DOCUMENT_YAML;
}

static bool is_review(const cJSON *tree)
{
    return str_equal(tree_get_text(tree, "kind"), REVIEW_KIND) &&
           (tree_get(tree, "apiVersion") == NULL ||
            str_starts_with(tree_get_text(tree, "apiVersion"), REVIEW_GROUP));
}

/* Whether the text is one document with the kind of a review. -EBADMSG: it is not one document. */
static int read_kind(struct str text, struct arena *arena, bool *ret_review)
{
    static const struct document_shape shape[] = {{.key = "kind"}, {.key = "apiVersion"}, {0}};
    const struct document_options options = {
        .syntax = review_syntax(text), .rules = DOCUMENT_REVIEW, .shape = shape};
    struct document_error ignored = {0};
    cJSON *tree = NULL;
    int r = document_read(text, &options, arena, &tree, &ignored);

    if (r == 0)
        *ret_review = is_review(tree);
    return r;
}

/*
 * A guess about a text that cannot be parsed: whether it was meant to be a review, so that the
 * result is the 400 of the server. It was, if `kind` is followed by `AdmissionReview`, with only
 * quotes, blanks and a colon between them. Only used when the text cannot be read as manifests
 * either.
 */
static bool looks_like_review(struct str text)
{
    struct str name = REVIEW_KIND;

    for (size_t at = 0; at + name.len <= text.len; at++) {
        struct str before = {.ptr = text.ptr, .len = at};

        if (!str_equal((struct str){.ptr = text.ptr + at, .len = name.len}, name))
            continue;
        while (before.len > 0 &&
               (text_is_blank(before.ptr[before.len - 1]) || before.ptr[before.len - 1] == '"' ||
                before.ptr[before.len - 1] == '\'' || before.ptr[before.len - 1] == ':'))
            before.len--;
        if (before.len >= 4 &&
            str_equal((struct str){.ptr = before.ptr + before.len - 4, .len = 4}, STR("kind")))
            return true;
    }
    return false;
}

/* Prints the error response of the server: its body, or its message with line and column. */
static int show_refusal(struct check *check, const char *file, struct str text,
                        const struct exchange *exchange, struct arena *arena)
{
    struct document_error error = {0};
    struct review review = {0};
    const cJSON *message = NULL;
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    cJSON *body = NULL;

    check->unreadable++;
    if (check->output == CHECK_OUTPUT_REVIEW)
        printf("%.*s\n", (int)exchange->body.len,
               str_present(exchange->body) ? exchange->body.ptr : "");
    if (review_read(text, review_syntax(text), arena, &review, &error) == -EBADMSG) {
        output_error_at(file, error.line, error.column, str_of(error.what));
        return 0;
    }
    if (str_present(exchange->body) &&
        document_read(exchange->body, &options, arena, &body, &error) == 0)
        message = tree_get(body, "message");
    output_error_at(file, 0, 0, message != NULL ? tree_text(message) : STR("out of memory"));
    return 0;
}

static int refuse_large(struct check *check, const char *file, struct arena *arena)
{
    struct str message = arena_format(arena, "the body is over %zu bytes", check->max_body_bytes);
    struct str body = {0};
    int r =
        str_present(message) ? answer_write_status(HTTP_TOO_LARGE, message, arena, &body) : -ENOMEM;

    if (r != 0)
        return r;
    check->unreadable++;
    if (check->output == CHECK_OUTPUT_REVIEW)
        printf("%.*s\n", (int)body.len, body.ptr);
    output_error_at(file, 0, 0, message);
    return 0;
}

/* `<generateName>*` for an object without a name. */
static int shown_name(struct str name, const cJSON *object, struct arena *arena,
                      struct str *ret_name)
{
    struct str prefix = tree_get_text(tree_get(object, "metadata"), "generateName");

    if (name.len == 0 && prefix.len > 0)
        name = arena_format(arena, "%.*s*", (int)prefix.len, prefix.ptr);
    else if (!str_present(name))
        name = STR("");
    *ret_name = name;
    return str_present(name) ? 0 : -ENOMEM;
}

static struct str review_name(const struct review *review)
{
    struct str name = review->name;

    if (name.len == 0)
        name = tree_get_text(tree_get(review->object, "metadata"), "name");
    if (name.len == 0)
        name = tree_get_text(tree_get(review->old_object, "metadata"), "name");
    return name;
}

/* Decides on a review exactly as the server does with a body. */
static int judge_review(struct check *check, const char *file, size_t line, struct str text,
                        struct arena *arena)
{
    struct exchange exchange = {0};
    struct check_result result = {.source = str_of(file), .line = line};
    int r = 0;

    if (text.len > check->max_body_bytes)
        return refuse_large(check, file, arena);
    exchange_review(text, review_syntax(text), ANSWER_JSON, check->snapshot, check->now, arena,
                    &exchange);
    if (exchange.status != HTTP_OK || !exchange.decided)
        return show_refusal(check, file, text, &exchange, arena);
    result.kind = exchange.review.kind_name;
    result.namespace_name = exchange.review.namespace_name;
    result.uid = exchange.review.uid;
    result.decision = &exchange.decision;
    r = shown_name(review_name(&exchange.review), exchange.review.object, arena, &result.name);
    return r == 0 ? check_show(check, &result, arena) : r;
}

/* The group and version of an apiVersion; the core group is empty. */
static void split_api_version(struct str api_version, struct review *review)
{
    const char *slash = api_version.len > 0 ? memchr(api_version.ptr, '/', api_version.len) : NULL;
    size_t group = slash != NULL ? (size_t)(slash - api_version.ptr) : 0;
    size_t skip = slash != NULL ? group + 1 : 0;

    review->kind_group = (struct str){.ptr = slash != NULL ? api_version.ptr : "", .len = group};
    review->kind_version =
        (struct str){.ptr = api_version.ptr + skip, .len = api_version.len - skip};
}

/* The review that the API server would send if a user without a name created this object. */
static struct review make_review(const struct check *check, const cJSON *object)
{
    const cJSON *metadata = tree_get(object, "metadata");
    struct str namespace_name = tree_get_text(metadata, "namespace");
    struct review review = {
        .uid = STR(CHECK_UID),
        .kind_name = tree_get_text(object, "kind"),
        .operation = REVIEW_CREATE,
        .namespace_name = namespace_name.len > 0 ? namespace_name : check->namespace_name,
        .name = tree_get_text(metadata, "name"),
        .user = STR(""),
        .object = object,
    };

    split_api_version(tree_get_text(object, "apiVersion"), &review);
    review.kind = workload_kind_of(review.kind_group, review.kind_name);
    return review;
}

static int judge_object(struct check *check, const char *file, const struct manifest_object *object,
                        struct arena *arena)
{
    struct review review = make_review(check, object->tree);
    struct check_result result = {
        .source = str_of(file),
        .line = object->line,
        .kind = review.kind_name,
        .namespace_name = review.kind != WORKLOAD_NONE
                              ? review.namespace_name
                              : tree_get_text(tree_get(object->tree, "metadata"), "namespace"),
        .uid = review.uid,
    };
    struct decision decision = {0};
    const char *what = NULL;
    int r = 0;

    if (review.kind_name.len == 0) {
        output_error_at(file, object->line, object->column,
                        STR("the object has no kind; it is not a Kubernetes manifest"));
        check->unreadable++;
        return 0;
    }
    r = gate_decide(&review, check->snapshot, check->now, arena, &decision, &what);
    if (r == -EBADMSG) {
        output_error_at(file, object->line, object->column, str_of(what));
        check->unreadable++;
        return 0;
    }
    if (r == 0)
        r = shown_name(review.name, object->tree, arena, &result.name);
    result.decision = &decision;
    return r == 0 ? check_show(check, &result, arena) : r;
}

/* -EBADMSG: *reterr has the line and column. */
static int judge_manifests(struct check *check, const char *file, struct str text,
                           struct arena *arena, struct document_error *reterr)
{
    struct manifest manifest = manifest_make(text, DOCUMENT_EITHER, arena);
    struct manifest_object object = {0};

    for (;;) {
        int r = manifest_next(&manifest, &object, reterr);

        if (r != 0)
            return r;
        if (object.tree == NULL)
            return 0;
        r = is_review(object.tree) ? judge_review(check, file, object.line, object.text, arena)
                                   : judge_object(check, file, &object, arena);
        if (r != 0)
            return r;
    }
}

static int judge_text(struct check *check, const char *file, struct str text, struct arena *arena)
{
    struct document_error error = {0};
    bool review = false;
    int r = read_kind(text, arena, &review);

    if (r == 0 && review)
        return judge_review(check, file, 0, text, arena);
    if (r != 0 && r != -EBADMSG && r != -E2BIG)
        return r;
    r = judge_manifests(check, file, text, arena, &error);
    if (r == -EBADMSG && looks_like_review(text))
        return judge_review(check, file, 0, text, arena);
    if (r == -EBADMSG)
        output_error_at(file, error.line, error.column, str_of(error.what));
    else if (r == -E2BIG)
        output_error("%s: the file has more than %u nodes", file, MANIFEST_MAX_NODES);
    else
        return r;
    check->unreadable++;
    return 0;
}

int check_file(struct check *check, const struct check_source *source)
{
    const char *file = source->file;
    struct arena cleanup_arena arena = {0};
    struct str text = source->text;
    int r =
        source->kept ? source->error : input_read_file(file, CHECK_MAX_FILE_BYTES, &arena, &text);

    if (r == 0)
        return judge_text(check, file, text, &arena);
    if (r == -ENOMEM)
        return r;
    if (r == -EFBIG)
        output_error("%s: larger than %zu bytes, the limit of check", file, CHECK_MAX_FILE_BYTES);
    else
        output_error("%s: %s", file, file_error_text(r));
    check->unreadable++;
    return 0;
}
