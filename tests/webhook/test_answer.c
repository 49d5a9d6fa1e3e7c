/* SPDX-License-Identifier: Apache-2.0 */
/* test_answer - section 7: the response, its limits and its two formats; section 8: bodies of kind
 * Status. */

#include <criterion/criterion.h>
#include <stdlib.h>

#include "helper.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/answer/expiry.h"
#include "webhook/answer/hint.h"

#define HEAD "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{"

static struct str write_json(struct arena *arena, const struct decision *d)
{
    struct str body = {0};

    cr_assert_eq(answer_write(d, STR("u"), ANSWER_JSON, arena, &body), 0);
    return body;
}

Test(answer, has_only_a_response)
{
    cleanup_arena struct arena arena = {0};
    struct decision d = {.allowed = true,
                         .outcome = OUTCOME_UNCHANGED,
                         .subject = STR("n/Pod/p"),
                         .error = STR("warn=x")};
    struct str body = {0};

    cr_assert_text(write_json(&arena, &d),
                   HEAD "\"uid\":\"u\",\"allowed\":true,\"auditAnnotations\":{\"outcome\":"
                        "\"unchanged\",\"subject\":\"n/Pod/p\",\"error\":\"warn=x\"}}}");
    cr_assert_eq(answer_write(&d, STR("u\"\x7f"), ANSWER_YAML, &arena, &body), 0);
    cr_assert_text(body, "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n"
                         "  uid: \"u\\\"\\u007f\"\n  allowed: true\n  auditAnnotations:\n"
                         "    outcome: \"unchanged\"\n    subject: \"n/Pod/p\"\n"
                         "    error: \"warn=x\"\n");
}

Test(answer, denies_with_a_status)
{
    static const struct gate_finding findings[] = {
        {.code = GATE_CODE_ANNOTATION_UNKNOWN,
         .message = STR_INIT("m; do"),
         .place = STR_INIT("k")},
        {.code = GATE_CODE_EVIDENCE_MISSING, .message = STR_INIT("n; do")}};
    cleanup_arena struct arena arena = {0};
    struct decision d = {.outcome = OUTCOME_UNUSABLE,
                         .judged = true,
                         .findings = findings,
                         .finding_count = 2,
                         .violates_audit = true,
                         .violates_warn = true,
                         .subject = STR("n/Pod/p-1"),
                         .title = STR("n/Pod/p-*")};

    cr_assert_text(
        write_json(&arena, &d), HEAD
        "\"uid\":\"u\",\"allowed\":false,\"status\":{\"code\":403,\"reason\":\"Forbidden\","
        "\"message\":\"n/Pod/p-* is refused: it cannot be judged\\ngate.annotation.unknown at k: "
        "m; do\\ngate.evidence.missing: n; do\"},\"auditAnnotations\":{\"outcome\":"
        "\"unusable\",\"findings\":\"[{\\\"code\\\":\\\"gate.annotation.unknown\\\","
        "\\\"message\\\":\\\"m; do\\\",\\\"place\\\":\\\"k\\\"},{\\\"code\\\":"
        "\\\"gate.evidence.missing\\\",\\\"message\\\":\\\"n; do\\\",\\\"place\\\":\\\"\\\"}]\","
        "\"violations\":\"gate.annotation.unknown,gate.evidence.missing\","
        "\"subject\":\"n/Pod/p-1\"}}}");
}

Test(answer, unavailable_has_retry_after)
{
    cleanup_arena struct arena arena = {0};
    struct str body = {0};

    cr_assert_eq(
        answer_write_unavailable(504, STR("too\nlate"), STR("u"), ANSWER_JSON, &arena, &body), 0);
    cr_assert_text(body, HEAD "\"uid\":\"u\",\"allowed\":false,\"status\":{\"code\":504,\"reason\":"
                              "\"Timeout\",\"message\":\"too?late\",\"details\":{"
                              "\"retryAfterSeconds\":1}}}}");
    cr_assert_eq(answer_write_unavailable(503, STR("m"), STR("u"), ANSWER_YAML, &arena, &body), 0);
    cr_assert_text(body, "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n"
                         "  uid: \"u\"\n  allowed: false\n  status:\n    code: 503\n"
                         "    reason: ServiceUnavailable\n    message: \"m\"\n    details:\n"
                         "      retryAfterSeconds: 1\n");
}

Test(answer, errors_are_written_as_status)
{
    static const struct {
        int code;
        const char *reason;
    } rows[] = {
        {400, "BadRequest"},
        {401, "Unauthorized"},
        {404, "NotFound"},
        {405, "MethodNotAllowed"},
        {411, "LengthRequired"},
        {413, "RequestEntityTooLarge"},
        {415, "UnsupportedMediaType"},
        {431, "RequestHeaderFieldsTooLarge"},
        {500, "InternalError"},
        {503, "ServiceUnavailable"},
        {504, "Timeout"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct str body = {0};
        struct str wanted = arena_format(
            &arena,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
            "\"message\":\"a\\\"b?\",\"reason\":\"%s\",\"code\":%d}",
            rows[i].reason, rows[i].code);

        cr_assert_eq(answer_write_status(rows[i].code, STR("a\"b\x1b"), &arena, &body), 0);
        cr_assert_text(body, wanted.ptr);
    }
}

/* A decision with this number of findings, each with this message and place. */
static struct decision many_findings(struct arena *arena, size_t count, const char *message,
                                     const char *place)
{
    struct gate_finding *findings = arena_alloc(arena, count, sizeof(*findings));

    cr_assert_not_null(findings);
    for (size_t i = 0; i < count; i++)
        findings[i] = (struct gate_finding){
            .code = GATE_CODE_IMAGE_UNLISTED, .message = str_of(message), .place = str_of(place)};
    return (struct decision){.outcome = OUTCOME_BLOCKED,
                             .judged = true,
                             .findings = findings,
                             .finding_count = count,
                             .subject = STR("n/Pod/p"),
                             .title = STR("n/Pod/p")};
}

static const char *repeat(struct arena *arena, const char *text, size_t count)
{
    struct buffer b = buffer_make(arena, (size_t)1 << 24);

    for (size_t i = 0; i < count; i++)
        buffer_add(&b, str_of(text));
    return buffer_text(&b).ptr;
}

static void check_text(struct str s, bool line_feeds)
{
    for (size_t i = 0; i < s.len;) {
        uint32_t c = 0;
        size_t n = str_utf8_next((struct str){.ptr = s.ptr + i, .len = s.len - i}, &c);

        cr_assert_gt(n, 0, "no UTF-8");
        cr_assert((line_feeds && c == '\n') || (!text_is_control(c) && !text_is_bidi_control(c)));
        i += n;
    }
}

/* 2 KiB, whole lines, the number of omitted findings, and no control characters. */
Test(answer, keeps_the_message_short)
{
    for (size_t count = 1; count < 60; count++) {
        cleanup_arena struct arena arena = {0};
        struct decision d =
            many_findings(&arena, count, "mmmm\xC3\xA4\x1b[2Jmm", "p\np\xE2\x80\xAE");
        struct str message = {0};
        size_t lines = 1;

        cr_assert_eq(answer_message(&d, &arena, &message), 0);
        cr_assert_leq(message.len, ANSWER_MAX_MESSAGE_BYTES);
        check_text(message, true);
        for (size_t i = 0; i < message.len; i++)
            lines += message.ptr[i] == '\n' ? 1 : 0;
        if (str_contains(message, STR("\n… and "))) {
            struct str more = arena_format(&arena, "\n… and %zu more", count - (lines - 2));

            cr_assert(str_contains(message, more), "%zu: %.*s", count, (int)message.len,
                      message.ptr);
        } else {
            cr_assert_eq(lines, count + 1);
        }
    }
}

/* Retries of one controller give the same message, whatever name each object gets. The audit
 * annotation has the name. */
Test(answer, message_names_the_generate_name)
{
    static const struct {
        const char *name; /* of the request */
        const char *metadata;
        const char *title;
        const char *subject;
    } rows[] = {
        {"", "\"generateName\":\"cart-\"", "payments/Pod/cart-*", "payments/Pod/cart-*"},
        {"cart-x", "\"name\":\"cart-x\",\"generateName\":\"cart-\"", "payments/Pod/cart-*",
         "payments/Pod/cart-x"},
        {"", "\"name\":\"cart-y\",\"generateName\":\"cart-\"", "payments/Pod/cart-*",
         "payments/Pod/cart-y"},
        {"cart", "\"name\":\"cart\",\"generateName\":\"\"", "payments/Pod/cart",
         "payments/Pod/cart"},
        {"", "\"labels\":{}", "payments/Pod/", "payments/Pod/"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct snapshot *world = helper_default_snapshot(&arena);
        const struct helper_review review = {
            .name = rows[i].name,
            .object = arena_format(&arena, "{\"metadata\":{%s},\"spec\":{\"containers\":[{}]}}",
                                   rows[i].metadata)
                          .ptr};
        struct exchange e = helper_exchange(&arena, world, &review);
        struct str message = e.response->message;

        cr_assert(!e.decision.allowed);
        cr_assert(str_starts_with(message, arena_format(&arena, "%s is refused: ", rows[i].title)),
                  "%zu: %.*s", i, (int)message.len, message.ptr);
        cr_assert_text(helper_annotation(&arena, &e, "subject"), rows[i].subject);
        snapshot_unref(world);
    }
}

/* The advice follows the findings. */
Test(answer, message_ends_with_the_advice)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *world = helper_default_snapshot(&arena);
    struct helper_review review = {
        .object = "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":"
                  "\"acme/app@1.0.0\",\"sandbox.runx.dev/requirements\":\"{network: true, "
                  "writable_paths: [], "
                  "env_allowlist: [HOME]}\"}},\"spec\":{\"containers\":[{\"image\":\"" HELPER_APP
                  "\"}]}}"};
    struct exchange exchange = helper_exchange(&arena, world, &review);
    struct str message = {0};

    cr_assert_eq(answer_message(&exchange.decision, &arena, &message), 0);
    cr_assert_text(
        message, "payments/Pod/p is refused: its sandbox plan asks for more than is allowed\n"
                 "sandbox.baseline.network: baseline forbids network access; run without network, "
                 "or have it allowed in a signed document\n"
                 "sandbox.baseline.env: baseline does not admit HOME; remove this name, or "
                 "have it signed\n"
                 "the plan would be ready: write network: false; take HOME out of env_allowlist");
    review.object = "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":"
                    "\"acme/app@1.0.0\"}},\"spec\":{\"containers\":[{\"image\":\"app:1\"}]}}";
    exchange = helper_exchange(&arena, world, &review);
    cr_assert_text(exchange.decision.findings[0].message,
                   "this image is not pinned; if it is the workload's own, write it as "
                   "name@sha256:" HELPER_HEX_A);
    snapshot_unref(world);
}

Test(answer, long_texts_are_cut_at_a_character)
{
    cleanup_arena struct arena arena = {0};
    struct decision d = many_findings(&arena, 2, repeat(&arena, "\xE2\x82\xAC", 3000),
                                      repeat(&arena, "\xC3\xA4", 100000));
    struct str message = {0}, warnings[ANSWER_MAX_WARNINGS] = {{0}};
    size_t count = 0;

    d.title = str_of(repeat(&arena, "\xC3\xA4", 5000));
    cr_assert_eq(answer_message(&d, &arena, &message), 0);
    cr_assert_leq(message.len, ANSWER_MAX_MESSAGE_BYTES);
    check_text(message, true);
    cr_assert(str_contains(message, STR("\ngate.image.unlisted at ")));
    d.allowed = true;
    d.violates_warn = true;
    cr_assert_eq(answer_warnings(&d, &arena, warnings, &count), 0);
    cr_assert_eq(count, 3);
    for (size_t i = 0; i < count; i++)
        check_text(warnings[i], false);
}

/* At most 8 warnings of 256 characters, only if allowed; the others are counted. */
Test(answer, warnings_are_limited)
{
    for (size_t count = 1; count < 12; count++) {
        cleanup_arena struct arena arena = {0};
        struct decision d = many_findings(&arena, count, repeat(&arena, "\xC3\xA4", 300), "p");
        struct str warnings[ANSWER_MAX_WARNINGS] = {{0}};
        size_t got = 0;

        d.violates_warn = true;
        cr_assert_eq(answer_warnings(&d, &arena, warnings, &got), 0);
        cr_assert_eq(got, 0, "denied");
        d.allowed = true;
        cr_assert_eq(answer_warnings(&d, &arena, warnings, &got), 0);
        cr_assert_eq(got, count + 1 < ANSWER_MAX_WARNINGS ? count + 1 : ANSWER_MAX_WARNINGS);
        for (size_t i = 0; i < got; i++) {
            size_t characters = 0;

            for (size_t k = 0; k < warnings[i].len; k++)
                characters += ((unsigned char)warnings[i].ptr[k] & 0xC0) != 0x80 ? 1 : 0;
            cr_assert_leq(characters, ANSWER_MAX_WARNING_CHARS);
            check_text(warnings[i], false);
        }
        if (count + 1 > ANSWER_MAX_WARNINGS)
            cr_assert(str_starts_with(warnings[7], STR("sandgate: … and ")));
        d.violates_warn = false;
        cr_assert_eq(answer_warnings(&d, &arena, warnings, &got), 0);
        cr_assert_eq(got, 0, "no level warns");
    }
}

static size_t annotation_size(const struct exchange *e, struct arena *arena, const char *key)
{
    return buffer_audit_size(helper_annotation(arena, e, key));
}

/* A pod with the largest possible annotations: each audit annotation is within its limit, all are
 * within 32 KiB, and the input is omitted first. */
Test(answer, keeps_audit_annotations_in_bounds)
{
    static const size_t sizes[] = {1, 5, 20, 60, 100};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct snapshot *snapshot = helper_default_snapshot(&arena);
        struct buffer b = buffer_make(&arena, (size_t)1 << 24);
        struct helper_review review = {0};
        struct exchange e = {0};
        const cJSON *annotation = NULL;
        size_t total = 0;

        buffer_add(&b, STR("{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":"
                           "\"acme/app@1.0.0\",\"sandbox.runx.dev/requirements\":\"{\\\"writable_"
                           "paths\\\":[\\\"z\\\""));
        for (size_t k = 0; k < sizes[i]; k++)
            buffer_add_format(&b, ",\\\"<%zu%s\\\"", k, repeat(&arena, "<&", 100));
        buffer_add(&b, STR("]}\""));
        for (size_t k = 0; k < sizes[i]; k++)
            buffer_add_format(&b, ",\"sandbox.runx.dev/<%zu\":\"\"", k);
        buffer_add(&b, STR("}},\"spec\":{\"containers\":[{\"image\":\"" HELPER_APP "\"}]}}"));
        review.object = buffer_text(&b).ptr;
        e = helper_exchange(&arena, snapshot, &review);
        cJSON_ArrayForEach(annotation, tree_get(tree_get(helper_json(&arena, e.body), "response"),
                                                "auditAnnotations"))
        {
            total += buffer_audit_size(tree_text(annotation));
        }
        cr_assert_leq(total, ANSWER_MAX_ANNOTATIONS_BYTES);
        cr_assert_leq(annotation_size(&e, &arena, "packet"), ANSWER_MAX_PACKET_BYTES);
        cr_assert_leq(annotation_size(&e, &arena, "input"), ANSWER_MAX_INPUT_BYTES);
        cr_assert_leq(annotation_size(&e, &arena, "findings"), ANSWER_MAX_FINDINGS_BYTES);
        /* a shortened packet can be read and is marked */
        (void)helper_json(&arena, helper_annotation(&arena, &e, "packet"));
        cr_assert_gt(
            cJSON_GetArraySize(helper_json(&arena, helper_annotation(&arena, &e, "findings"))), 0);
        cr_assert_eq(str_present(helper_annotation(&arena, &e, "packet-truncated")),
                     buffer_audit_size(e.decision.plan.packet) > ANSWER_MAX_PACKET_BYTES);
        cr_assert_eq(str_present(helper_annotation(&arena, &e, "input")), sizes[i] <= 5, "%zu",
                     sizes[i]);
        cr_assert_eq(helper_annotation(&arena, &e, "packet-sha256").len, 71);
        snapshot_unref(snapshot);
    }
}

/* The strict reader gets the same answer from YAML. */
Test(answer, yaml_equals_json)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    const struct helper_review review = {
        .object = "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/\\u2028\\u0085x\":\"\"}},"
                  "\"spec\":{\"containers\":[{\"image\":\"a\"}]}}"};
    const struct document_options options = {.syntax = DOCUMENT_YAML, .rules = DOCUMENT_OWN};
    struct exchange json = helper_exchange(&arena, snapshot, &review), yaml = {0};
    const cJSON *a =
        tree_get(tree_get(helper_json(&arena, json.body), "response"), "auditAnnotations");
    const cJSON *b = NULL, *entry = NULL;
    struct document_error error = {0};
    cJSON *tree = NULL;

    exchange_review(helper_review_text(&arena, &review), DOCUMENT_JSON, ANSWER_YAML, snapshot,
                    helper_moment(HELPER_NOW), &arena, &yaml);
    cr_assert_eq(yaml.status, 200);
    cr_assert_eq(document_read(yaml.body, &options, &arena, &tree, &error), 0, "%zu:%zu %s",
                 error.line, error.column, error.what);
    b = tree_get(tree_get(tree, "response"), "auditAnnotations");
    cJSON_ArrayForEach(entry, a)
    {
        cr_assert(str_equal(tree_text(entry), tree_get_text(b, entry->string)), "%s",
                  entry->string);
    }
    cr_assert_eq(cJSON_GetArraySize(a), cJSON_GetArraySize(b));
    snapshot_unref(snapshot);
}

/* A new code of the planner cannot be added without a hint. */
Test(answer, every_code_has_a_hint_of_its_own)
{
    for (int i = 0; i < PLAN_CODE_COUNT; i++) {
        const char *hint = answer_hint((enum plan_code)i);

        cr_assert(hint != NULL && hint[0] != '\0', "%s", plan_code_text((enum plan_code)i));
        for (int other = 0; other < i; other++)
            cr_assert_str_neq(hint, answer_hint((enum plan_code)other));
    }
}

/* Evidence in use that expires soon gives a warning, also for an admitted pod. */
Test(answer, warns_of_expiries)
{
    cleanup_arena struct arena arena = {0};
    struct decision d = {.allowed = true,
                         .outcome = OUTCOME_READY,
                         .subject = STR("n/Pod/p"),
                         .expiries = {{.at = helper_moment("2026-03-02T00:00:00.5Z"),
                                       .kind = "evidence",
                                       .name = STR("n/x")}},
                         .expiry_count = 1};
    struct str warnings[ANSWER_MAX_WARNINGS] = {{0}};
    size_t count = 0;

    cr_assert_eq(answer_warnings(&d, &arena, warnings, &count), 0);
    cr_assert_eq(count, 1);
    cr_assert_text(warnings[0],
                   "sandgate: expires at 2026-03-02T00:00:00Z, sign it again before then: evidence "
                   "n/x");
}

/* `review` takes the end of a document out of the warnings of earlier gates' decision logs. */
Test(answer, warning_of_an_expiry_is_read_again)
{
    cleanup_arena struct arena arena = {0};
    const struct answer_expiry written = {
        .kind = STR("exemption"), .name = STR("n/x"), .at = helper_moment("2026-03-02T00:00:00Z")};
    struct str warning = {0};
    static const char *const others[] = {
        "",
        "sandgate: ",
        "sandgate: expires at soon, sign it again before then: evidence n/x",
        "sandgate: expires at 2026-03-02T00:00:00Z, sign it again before then: evidence",
        "sandgate: expires at 2026-03-02T00:00:00Z, sign it again before then: evidence ",
        "sandgate: expires at 2026-03-02T00:00:00Z",
    };
    const char *earlier =
        "sandgate: ends at 2026-03-02T00:00:00Z, sign it anew before: exemption n/x";
    struct str forms[2];

    cr_assert_eq(answer_expiry_write(&written, &arena, &warning), 0);
    forms[0] = warning;
    forms[1] = str_of(earlier);
    for (size_t i = 0; i < 2; i++) {
        struct answer_expiry read = {0};

        cr_assert(answer_expiry_read(forms[i], &read));
        cr_assert(str_equal(read.kind, written.kind) && str_equal(read.name, written.name));
        cr_assert_eq(moment_compare(read.at, written.at), 0);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct answer_expiry read = {.kind = STR("unchanged")};

        cr_assert_not(answer_expiry_read(str_of(others[i]), &read), "%s", others[i]);
        cr_assert(str_equal(read.kind, STR("unchanged")));
    }
}
