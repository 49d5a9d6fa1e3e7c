/* SPDX-License-Identifier: Apache-2.0 */
/* test_exchange - the HTTP statuses of section 8 that depend on the body of a request. */

#include <criterion/criterion.h>

#include "helper.h"
#include "planner/base/tree.h"

static struct exchange ask(struct arena *arena, const struct snapshot *snapshot, struct str body)
{
    struct exchange e = {0};

    exchange_review(body, DOCUMENT_JSON, ANSWER_JSON, snapshot, helper_moment(HELPER_NOW), arena,
                    &e);
    return e;
}

Test(exchange, refuses_a_body_that_is_not_a_review)
{
#define HEAD "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
    static const struct {
        const char *body;
        const char *message;
    } rows[] = {
        {"{}", "the body is not a readable review: line 1, column 1: apiVersion must be "
               "admission.k8s.io/v1"},
        {HEAD "\"uid\":\"u\",\n\"uid\":\"v\"}}",
         "the body is not a readable review: line 2, column 1: "},
        {HEAD "\"uid\":\"u\"}} x", "the body is not a readable review: line 1, column "},
        {"", "the body is not a readable review: line 1, column 1: "},
        {HEAD "\"uid\":\"u\",\"operation\":\"CREATE\",\"kind\":{\"kind\":\"Pod\"}}}",
         "the body is not a readable review: line 1, column 72: request.namespace must not be "
         "empty "
         "for this kind"},
    };
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct exchange e = ask(&arena, snapshot, str_of(rows[i].body));
        const cJSON *status = helper_json(&arena, e.body);

        cr_assert_eq(e.status, 400);
        cr_assert(!e.decided && !e.decision.allowed);
        cr_assert(str_equal(tree_get_text(status, "kind"), STR("Status")));
        cr_assert_eq((int)tree_get(status, "code")->valuedouble, 400);
        cr_assert(str_starts_with(tree_get_text(status, "message"), str_of(rows[i].message)),
                  "%.*s", (int)e.body.len, e.body.ptr);
    }
    snapshot_unref(snapshot);
}

Test(exchange, answers_in_yaml_if_requested)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    const struct helper_review review = {.object = HELPER_GOOD_POD};
    struct exchange e = {0};

    exchange_review(helper_review_text(&arena, &review), DOCUMENT_JSON, ANSWER_YAML, snapshot,
                    helper_moment(HELPER_NOW), &arena, &e);
    cr_assert_eq(e.status, 200);
    cr_assert_eq(e.format, ANSWER_YAML);
    cr_assert(str_starts_with(e.body, STR("apiVersion: admission.k8s.io/v1\n")));
    /* an error is always JSON */
    exchange_review(STR("{}"), DOCUMENT_JSON, ANSWER_YAML, snapshot, helper_moment(HELPER_NOW),
                    &arena, &e);
    cr_assert_eq(e.format, ANSWER_JSON);
    cr_assert(str_starts_with(e.body, STR("{\"kind\":\"Status\"")));
    snapshot_unref(snapshot);
}

/* An arena that cannot grow gives 500 at every limit that is too small, without a body if there is
 * no memory for it. */
Test(exchange, never_allows_without_memory)
{
    cleanup_arena struct arena world = {0};
    struct snapshot *snapshot = helper_default_snapshot(&world);
    const struct helper_review review = {.object = HELPER_GOOD_POD};
    struct str text = helper_review_text(&world, &review);
    bool allowed = false;

    for (size_t limit = 1; !allowed && limit < ((size_t)1 << 20); limit += 512) {
        cleanup_arena struct arena arena = {.limit_bytes = limit};
        struct exchange e = ask(&arena, snapshot, text);

        allowed = e.decided && e.decision.allowed;
        cr_assert(allowed ? e.status == 200 : e.status == 500, "%zu: %d", limit, e.status);
    }
    cr_assert(allowed);
    snapshot_unref(snapshot);
}
