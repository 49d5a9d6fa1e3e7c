/* SPDX-License-Identifier: Apache-2.0 */
/* test_record - a decision as one line of the decision log. */

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases_world.h"
#include "helper.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/record/record.h"

#define RECORDS TESTS_DIR "/webhook/records.jsonl"

static struct record_circumstances circumstances(void)
{
    struct record_circumstances c = {.now = helper_moment("2026-03-01T12:00:00.0379Z"),
                                     .duration_usec = 412,
                                     .peer = STR("10.0.0.7"),
                                     .caller_verified = true};

    return c;
}

static struct str line_of(struct arena *arena, const struct exchange *e)
{
    struct record_circumstances c = circumstances();
    struct str line = {0}, again = {0};

    cr_assert_eq(record_write(&e->decision, &e->review, &c, arena, &line), 0);
    c.response = e->response; /* the same value in the answer */
    cr_assert_eq(record_write(&e->decision, &e->review, &c, arena, &again), 0);
    cr_assert(str_present(again) && str_equal(line, again));
    cr_assert(line.len > 0 && line.len <= RECORD_MAX_BYTES);
    cr_assert_eq(line.ptr[line.len - 1], '\n');
    for (size_t i = 0; i + 1 < line.len; i++)
        cr_assert((unsigned char)line.ptr[i] >= 0x20 && line.ptr[i] != 0x7f);
    return line;
}

/* The record, read again. */
static const cJSON *record_of(struct arena *arena, const struct exchange *e)
{
    return helper_json(arena, line_of(arena, e));
}

static struct exchange captured(struct arena *arena, const struct snapshot *snapshot,
                                const char *file)
{
    struct exchange e = {0};

    exchange_review(cases_file(arena, arena_format(arena, TESTS_DIR "/captured/%s", file).ptr),
                    DOCUMENT_JSON, ANSWER_JSON, snapshot, helper_moment(HELPER_NOW), arena, &e);
    cr_assert_eq(e.status, 200, "%s", file);
    return e;
}

/* The expected lines were reviewed by hand. A change of them is a change for everyone who reads
 * logs. With RECORDS=FILE in the environment, the test writes the current lines to FILE. */
Test(record, every_captured_review_has_the_expected_line)
{
    static const char *const files[] = {
        "01-create-pod.json",
        "02-create-pod-dry-run.json",
        "03-update-pod-label.json",
        "04-update-pod-image.json",
        "05-update-pod-ephemeralcontainers.json",
        "06-create-pod-generate-name.json",
        "08-update-pod-status.json",
        "10-connect-exec.json",
        "13-create-deployment.json",
        "15-create-replicaset.json",
        "19-create-cronjob.json",
        "20-create-pod-image-volume.json",
        "23-delete-pod.json",
        "28-create-pod-unmanaged.json",
    };
    struct snapshot *snapshot = cases_world(TESTS_DIR "/cases/world/gate.yaml", NULL, NULL);
    cleanup_arena struct arena whole = {0};
    struct str wanted = cases_file(&whole, RECORDS);
    const char *out_path = getenv("RECORDS");
    FILE *out = out_path != NULL ? fopen(out_path, "we") : NULL;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct exchange e = captured(&arena, snapshot, files[i]);
        struct str line = line_of(&arena, &e);

        if (out != NULL) {
            cr_assert_eq(fwrite(line.ptr, 1, line.len, out), line.len);
            continue;
        }
        cr_assert(str_starts_with(wanted, line), "%s: %.*s", files[i], (int)line.len, line.ptr);
        wanted = (struct str){.ptr = wanted.ptr + line.len, .len = wanted.len - line.len};
    }
    if (out != NULL)
        cr_assert_eq(fclose(out), 0);
    else
        cr_assert_eq(wanted.len, 0);
    snapshot_unref(snapshot);
}

/* Values that are text in the audit log are JSON in the line; what was not read is in neither. */
Test(record, has_the_values_of_the_audit_annotations)
{
    static const struct {
        const char *key;
        const char *name;
        bool json;
    } rows[] = {
        {"outcome", "outcome", false},     {"packet", "packet", true},
        {"input", "input", true},          {"packet-sha256", "packetSha256", false},
        {"findings", "findings", true},    {"evidence", "evidence", false},
        {"exemption", "exemption", false}, {"violations", "violations", false},
        {"subject", "subject", false},     {"error", "error", false},
        {"boundary", "boundary", true},
    };
    struct snapshot *snapshot = cases_world(TESTS_DIR "/cases/world/gate.yaml", NULL, NULL);
    cleanup_arena struct arena arena = {0};
    struct exchange e = captured(&arena, snapshot, "04-update-pod-image.json");
    const cJSON *record = record_of(&arena, &e);
    const cJSON *response = tree_get(helper_json(&arena, e.body), "response");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str text = helper_annotation(&arena, &e, rows[i].key);
        const cJSON *member = tree_get(record, rows[i].name);

        cr_assert_eq(member != NULL, str_present(text), "%s", rows[i].name);
        if (member != NULL && rows[i].json)
            cr_assert(cJSON_Compare(member, helper_json(&arena, text), true), "%s", rows[i].name);
        else
            cr_assert(str_equal(tree_text(member), text), "%s", rows[i].name);
    }
    cr_assert(str_equal(tree_get_text(record, "message"),
                        tree_get_text(tree_get(response, "status"), "message")));
    cr_assert(tree_is(tree_get(record, "allowed"), cJSON_False));
    cr_assert_null(tree_get(record, "shortened"));
    snapshot_unref(snapshot);
}

/* So that readers need not take the end of evidence out of the text of a warning. */
Test(record, says_what_ends_soon)
{
    struct snapshot *snapshot = cases_world(TESTS_DIR "/cases/world/gate.yaml", NULL, NULL);
    cleanup_arena struct arena arena = {0};
    struct exchange e = captured(&arena, snapshot, "04-update-pod-image.json");
    const cJSON *wanted = helper_json(
        &arena,
        STR("[{\"kind\":\"evidence\",\"name\":\"n/x\",\"endsAt\":\"2026-03-02T00:00:00Z\"},"
            "{\"kind\":\"exemption\",\"name\":\"n/\\\"y\",\"endsAt\":\"2026-03-03T00:00:00Z\"}]"));

    cr_assert_null(tree_get(record_of(&arena, &e), "expiring"));
    e.decision.expiries[0] = (struct gate_expiry){
        .at = helper_moment("2026-03-02T00:00:00.5Z"), .kind = "evidence", .name = STR("n/x")};
    e.decision.expiries[1] = (struct gate_expiry){
        .at = helper_moment("2026-03-03T00:00:00Z"), .kind = "exemption", .name = STR("n/\"y")};
    e.decision.expiry_count = 2;
    cr_assert(cJSON_Compare(tree_get(record_of(&arena, &e), "expiring"), wanted, true));
    snapshot_unref(snapshot);
}

/* Names of pods, users and images must not forge a line or control a terminal. */
Test(record, escapes_what_comes_from_outside)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    const struct helper_review review = {
        .name = "a\\n{\\\"schema\\\":\\\"x\\\"}\\u001b]0;t\\u0007",
        .user = "\xc2\x9b"
                "31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\xa9\x7f\xc2\x85",
        .groups = "[\"g\\r\\nx\",\"caf\xc3\xa9\"]",
        .object = "{\"metadata\":{\"generateName\":\"\xe2\x80\xae\",\"annotations\":{"
                  "\"sandbox.runx.dev/skill-ref\":\"acme/app@1.0.0\"},\"ownerReferences\":["
                  "{\"kind\":\"A\",\"name\":\"a\"},"
                  "{\"kind\":\"ReplicaSet\",\"name\":\"r\xc2\x9b\",\"controller\":true}]},"
                  "\"spec\":{\"containers\":[{\"image\":\"x\\ny\",\"env\":[{\"name\":\"TOKEN\","
                  "\"value\":\"hunter2\"}]},{\"image\":\"https://u:hunter2@r.test/x\"}]}}",
    };
    struct exchange e = helper_exchange(&arena, snapshot, &review);
    struct str line = line_of(&arena, &e);
    const cJSON *record = helper_json(&arena, line);

    for (size_t i = 0; i < line.len; i++)
        cr_assert((unsigned char)line.ptr[i] < 0x7f || line.ptr[i] == '\xc3' ||
                      line.ptr[i] == '\xa9',
                  "byte %zu of %.*s", i, (int)line.len, line.ptr);
    cr_assert(
        str_contains(line, STR("\"name\":\"a\\n{\\\"schema\\\":\\\"x\\\"}\\u001b]0;t\\u0007\"")));
    cr_assert(str_contains(
        line, STR("\"user\":\"\\u009b31m\\u202e\\u2066\\u2028\\u2029\\u007f\\u0085\"")));
    cr_assert(str_contains(line, STR("\"groups\":[\"g\\r\\nx\",\"caf\xc3\xa9\"]")));
    cr_assert(str_contains(line, STR("\"owner\":{\"kind\":\"ReplicaSet\",\"name\":\"r\\u009b\"}")));
    cr_assert(str_contains(line, STR("\"images\":[\"x\\ny\",\"redacted://x@\"]")));
    cr_assert(str_equal(tree_get_text(record, "user"), str_of(review.user)));
    cr_assert(!str_contains(line, STR("TOKEN")));
    cr_assert(!str_contains(line, STR("hunter2")));
    snapshot_unref(snapshot);
}

Test(record, is_within_its_limits)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    struct buffer groups = buffer_make(&arena, 1 << 20), containers = buffer_make(&arena, 1 << 20);
    struct helper_review review = {.user = NULL};
    char *long_name = arena_alloc(&arena, 5001, 1);
    struct exchange e = {0};
    const cJSON *record = NULL;

    memset(long_name, 'u', 5000);
    review.user = long_name;
    for (int i = 0; i < 100; i++) {
        buffer_add_format(&groups, "%s\"group-%d\"", i > 0 ? "," : "[", i);
        buffer_add_format(&containers, "%s{\"image\":\"image-%d\"}", i > 0 ? "," : "", i);
    }
    buffer_add_char(&groups, ']');
    review.groups = buffer_text(&groups).ptr;
    review.object =
        arena_format(&arena, "{\"spec\":{\"containers\":[%s]}}", buffer_text(&containers).ptr).ptr;
    e = helper_exchange(&arena, snapshot, &review);
    record = record_of(&arena, &e);
    cr_assert_eq(cJSON_GetArraySize(tree_get(record, "groups")), RECORD_MAX_GROUPS);
    cr_assert_eq(cJSON_GetArraySize(tree_get(record, "images")), RECORD_MAX_IMAGES);
    cr_assert_eq(tree_get_text(record, "user").len, RECORD_MAX_TEXT_BYTES);
    cr_assert(tree_is(tree_get(record, "shortened"), cJSON_True));
    snapshot_unref(snapshot);
}

/* `count` characters that take six bytes each in the line. */
/* The object follows `findings`; a pod that was not read has none. */
Test(record, has_the_reading_of_the_boundary)
{
    static const struct {
        const char *file, *begin;
    } rows[] = {
        {"01-create-pod.json",
         ",\"boundary\":{\"schema\":\"sandbox.boundary.v1\",\"read\":\"pod spec at admission\","
         "\"applied\":false,\"controls\":[{\"control\":\"environment\",\"state\":\"open\","
         "\"findings\":[{\"code\":\"boundary.env.service_links\","
         "\"place\":\"spec.enableServiceLinks\"}]},"},
        {"28-create-pod-unmanaged.json", NULL},
    };
    struct snapshot *snapshot = cases_world(TESTS_DIR "/cases/world/gate.yaml", NULL, NULL);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct exchange e = captured(&arena, snapshot, rows[i].file);
        struct str line = line_of(&arena, &e);

        cr_assert_eq(str_contains(line, STR("\"boundary\":")), rows[i].begin != NULL, "%s",
                     rows[i].file);
        cr_assert(rows[i].begin == NULL || str_contains(line, str_of(rows[i].begin)), "%.*s",
                  (int)line.len, line.ptr);
    }
    snapshot_unref(snapshot);
}

static struct str odd_text(struct arena *arena, size_t count)
{
    char *text = arena_alloc(arena, count + 1, 1);

    memset(text, 0x7f, count);
    return (struct str){.ptr = text, .len = count};
}

Test(record, omits_members_that_do_not_fit)
{
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    struct str odd = odd_text(&arena, 4000);
    struct buffer paths = buffer_make(&arena, 1 << 20), groups = buffer_make(&arena, 1 << 20);
    struct helper_review review = {.user = odd.ptr, .name = odd.ptr};
    struct exchange e = {0};
    const cJSON *record = NULL;

    for (int i = 0; i < 3; i++)
        buffer_add_format(&paths, "%s\\\"%s\\\"", i > 0 ? "," : "", odd_text(&arena, 3000).ptr);
    for (int i = 0; i < 16; i++)
        buffer_add_format(&groups, "%s\"%s\"", i > 0 ? "," : "[", odd.ptr);
    buffer_add_char(&groups, ']');
    review.object =
        arena_format(
            &arena,
            "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":"
            "\"acme/app@1.0.0\",\"sandbox.runx.dev/requirements\":"
            "\"{\\\"writable_paths\\\":[%s]}\"}},\"spec\":{\"containers\":[{\"image\":\"x\"}]}}",
            buffer_text(&paths).ptr)
            .ptr;
    review.groups = buffer_text(&groups).ptr;
    e = helper_exchange(&arena, snapshot, &review);
    record = record_of(&arena, &e);
    cr_assert(tree_is(tree_get(record, "shortened"), cJSON_True));
    cr_assert_null(tree_get(record, "input"));
    cr_assert_not_null(tree_get(record, "groups"));
    cr_assert_not_null(tree_get(record, "message"));
    cr_assert_not_null(tree_get(record, "packetSha256"));
    snapshot_unref(snapshot);
}

#define UNAVAILABLE_LINE                                                                           \
    "{\"schema\":\"sandgate.decision.v1\",\"time\":\"2026-03-01T12:00:00.037Z\",\"uid\":\"u-"      \
    "1\","                                                                                         \
    "\"dryRun\":false,\"operation\":\"CREATE\",\"group\":\"\",\"kind\":\"Pod\","                   \
    "\"namespace\":\"payments\",\"name\":\"p\",\"user\":\"dev\",\"groups\":[],"                    \
    "\"images\":[\"" HELPER_APP "\"],"                                                             \
    "\"levels\":{\"enforce\":\"required\",\"warn\":\"none\",\"audit\":\"none\"},"                  \
    "\"allowed\":false,\"outcome\":\"%s\",\"message\":\"try again\","                              \
    "\"subject\":\"payments/Pod/p\",\"durationMicroseconds\":412}\n"

Test(record, has_the_error_of_a_failed_question)
{
    static const struct {
        int code;
        const char *outcome;
    } rows[] = {{503, "unavailable"}, {504, "timeout"}};
    cleanup_arena struct arena arena = {0};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    const struct helper_review review = {.object = HELPER_GOOD_POD};
    struct exchange e = helper_exchange(&arena, snapshot, &review);
    struct record_circumstances c = circumstances();

    c.peer = (struct str){0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str line = {0};
        struct str expected = {0};

        cr_assert_eq(record_write_unavailable(rows[i].code, STR("try again"), &e.decision,
                                              &e.review, &c, &arena, &line),
                     0);
        expected = arena_format(&arena, UNAVAILABLE_LINE, rows[i].outcome);
        cr_assert_text(line, expected.ptr);
    }
    snapshot_unref(snapshot);
}
