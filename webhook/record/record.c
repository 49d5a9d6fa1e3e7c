/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - collects the members of a record and writes the line.
 *
 * text.c writes single members safely.
 */

#include "webhook/record/record.h"

#include <errno.h>

#include "k8s/review/workload.h"
#include "k8s/util/http_status.h"
#include "planner/base/tree.h"
#include "webhook/answer/answer.h"
#include "webhook/record/text.h"

#define NSEC_PER_MSEC 1000000

/* What is left out, in this order, until the line fits. Each includes those before it. */
enum omit { OMIT_NOTHING = 0, OMIT_INPUT, OMIT_PACKET, OMIT_LISTS, OMIT_COUNT };

/* The content of one line. */
struct record {
    const struct review *review;
    const struct record_circumstances *circumstances;
    const struct gate_expiry *expiries;
    size_t expiry_count;
    struct levels levels;
    bool allowed;
    struct str outcome;
    struct str message;
    struct answer_response parts; /* warnings and audit annotations */
    struct str images[RECORD_MAX_IMAGES];
    size_t image_count;
    bool more_images;
};

/* Audit annotations that are texts, with their names in a record. */
static const struct {
    const char *key;
    const char *name;
} text_parts[] = {
    {"packet-sha256", "packetSha256"}, {"evidence", "evidence"}, {"exemption", "exemption"},
    {"violations", "violations"},      {"error", "error"},       {"subject", "subject"},
};

static struct str annotation(const struct record *record, const char *key)
{
    for (size_t i = 0; i < record->parts.pair_count; i++) {
        if (strcmp(record->parts.pairs[i].key, key) == 0)
            return record->parts.pairs[i].value;
    }
    return (struct str){0};
}

/* Milliseconds: the Z comes after the fraction. */
static void write_time(struct record_text *line, struct moment now)
{
    char text[MOMENT_TEXT_BYTES] = "";

    moment_write(now, text);
    buffer_add(&line->b, STR(",\"time\":\""));
    buffer_add(&line->b, (struct str){.ptr = text, .len = MOMENT_TEXT_BYTES - 2});
    buffer_add_format(&line->b, ".%03dZ\"", now.nsec / NSEC_PER_MSEC);
}

static void write_request(struct record_text *line, const struct review *r)
{
    const cJSON *metadata = tree_get(r->object, "metadata");
    struct str generated = tree_get_text(metadata, "generateName");

    record_add_text(line, "uid", r->uid);
    record_add_bool(line, "dryRun", r->dry_run);
    record_add_text(line, "operation", str_of(review_operation_text(r->operation)));
    record_add_text(line, "group", r->kind_group);
    record_add_text(line, "kind", r->kind_name);
    record_add_text(line, "subResource", r->subresource);
    record_add_text(line, "namespace",
                    str_present(r->namespace_name) ? r->namespace_name : STR(""));
    record_add_text(line, "name", r->name.len > 0 ? r->name : tree_get_text(metadata, "name"));
    if (generated.len > 0)
        record_add_text(line, "generateName", generated);
    record_add_text(line, "user", str_present(r->user) ? r->user : STR(""));
}

static void write_list(struct record_text *line, const char *name, const struct str *items,
                       size_t count)
{
    size_t left = RECORD_MAX_LIST_BYTES;

    record_add_raw(line, name, STR("["));
    for (size_t i = 0; i < count; i++) {
        size_t size = items[i].len < RECORD_MAX_TEXT_BYTES ? items[i].len : RECORD_MAX_TEXT_BYTES;

        if (size > left) {
            line->shortened = true;
            break;
        }
        left -= size;
        if (i > 0)
            buffer_add_char(&line->b, ',');
        record_add_value(line, items[i]);
    }
    buffer_add_char(&line->b, ']');
}

static void write_groups(struct record_text *line, const struct review *review)
{
    struct str groups[RECORD_MAX_GROUPS];
    const cJSON *entry = NULL;
    size_t count = 0;

    cJSON_ArrayForEach(entry, review->groups)
    {
        if (count == RECORD_MAX_GROUPS) {
            line->shortened = true;
            break;
        }
        groups[count++] = tree_text(entry);
    }
    write_list(line, "groups", groups, count);
}

static void write_owner(struct record_text *line, const struct review *review)
{
    struct review_owner owner = review_owner(review);

    if (!str_present(owner.kind) || !str_present(owner.name))
        return;
    record_add_raw(line, "owner", STR("{\"kind\":"));
    record_add_value(line, owner.kind);
    record_add_text(line, "name", owner.name);
    buffer_add_char(&line->b, '}');
}

static void write_levels(struct record_text *line, struct levels levels)
{
    if (levels.enforce == LEVEL_UNSET)
        return;
    buffer_add_format(&line->b, ",\"levels\":{\"enforce\":\"%s\",\"warn\":\"%s\",\"audit\":\"%s\"}",
                      level_text(levels.enforce), level_text(levels.warn),
                      level_text(levels.audit));
}

static void write_decision(struct record_text *line, const struct record *record, enum omit omitted)
{
    record_add_bool(line, "allowed", record->allowed);
    record_add_text(line, "outcome", record->outcome);
    if (str_present(record->message)) { /* already limited to ANSWER_MAX_MESSAGE_BYTES */
        record_add_raw(line, "message", STR(""));
        buffer_add_json(&line->b, record->message);
    }
    if (record->parts.warning_count > 0)
        write_list(line, "warnings", record->parts.warnings, record->parts.warning_count);
    if (omitted < OMIT_PACKET) {
        record_add_raw(line, "findings", annotation(record, "findings"));
        record_add_raw(line, "packet", annotation(record, "packet"));
        record_add_raw(line, "packetTruncated", annotation(record, "packet-truncated"));
    }
    if (omitted < OMIT_LISTS)
        record_add_raw(line, "boundary", annotation(record, "boundary"));
    if (omitted < OMIT_INPUT)
        record_add_raw(line, "input", annotation(record, "input"));
    for (size_t i = 0; i < sizeof(text_parts) / sizeof(text_parts[0]); i++)
        record_add_text(line, text_parts[i].name, annotation(record, text_parts[i].key));
}

static void write_expiring(struct record_text *line, const struct record *record)
{
    if (record->expiry_count == 0)
        return;
    record_add_raw(line, "expiring", STR("["));
    for (size_t i = 0; i < record->expiry_count; i++) {
        const struct gate_expiry *expiry = &record->expiries[i];
        char at[MOMENT_TEXT_BYTES] = "";

        moment_write(expiry->at, at);
        buffer_add_format(&line->b, "%s{\"kind\":\"%s\",\"name\":", i > 0 ? "," : "", expiry->kind);
        record_add_value(line, expiry->name);
        record_add_text(line, "endsAt", str_of(at));
        buffer_add_char(&line->b, '}');
    }
    buffer_add_char(&line->b, ']');
}

static void write_circumstances(struct record_text *line, const struct record_circumstances *c)
{
    buffer_add_format(&line->b, ",\"durationMicroseconds\":%llu",
                      (unsigned long long)c->duration_usec);
    if (!str_present(c->peer))
        return;
    record_add_text(line, "peer", c->peer);
    record_add_text(line, "caller", c->caller_verified ? STR("verified") : STR("unverified"));
}

/* -E2BIG: the line does not fit; more must be left out. */
static int write_line(const struct record *record, enum omit omitted, struct arena *arena,
                      struct str *ret_line)
{
    struct record_text line = {.b = buffer_make(arena, RECORD_MAX_BYTES),
                               .shortened = record->more_images || omitted != OMIT_NOTHING};
    struct str text = {0}, plain = {0};
    bool too_long = false;

    buffer_add(&line.b, STR("{\"schema\":\"" RECORD_SCHEMA "\""));
    write_time(&line, record->circumstances->now);
    write_request(&line, record->review);
    if (omitted < OMIT_LISTS)
        write_groups(&line, record->review);
    write_owner(&line, record->review);
    if (omitted < OMIT_LISTS && record->image_count > 0)
        write_list(&line, "images", record->images, record->image_count);
    write_levels(&line, record->levels);
    write_decision(&line, record, omitted);
    write_expiring(&line, record);
    write_circumstances(&line, record->circumstances);
    if (line.shortened)
        record_add_bool(&line, "shortened", true);
    buffer_add(&line.b, STR("}\n"));
    text = buffer_text(&line.b);
    if (!str_present(text))
        return line.b.error;
    plain = record_make_plain(text, RECORD_MAX_BYTES, arena, &too_long);
    if (!str_present(plain))
        return too_long ? -E2BIG : -ENOMEM;
    *ret_line = plain;
    return 0;
}

/* An image reference should not contain a password, but nothing prevents it: such references are
 * replaced. */
static int add_images(struct record *record, struct arena *arena)
{
    struct workload pod = {0};
    int r = workload_read(record->review->kind, record->review->object, arena, &pod);

    for (size_t i = 0; r == 0 && i < pod.image_count; i++) {
        struct str reference = pod.images[i].reference;

        if (!str_present(reference))
            continue;
        if (record->image_count == RECORD_MAX_IMAGES) {
            record->more_images = true;
            break;
        }
        record->images[record->image_count++] =
            plan_has_credentials(reference) ? STR("redacted://x@") : reference;
    }
    return r;
}

static int write_record(struct record *record, struct arena *arena, struct str *ret_line)
{
    int r = add_images(record, arena);

    if (r < 0)
        return r;
    for (enum omit omitted = OMIT_NOTHING; omitted < OMIT_COUNT; omitted++) {
        r = write_line(record, omitted, arena, ret_line);
        if (r != -E2BIG)
            return r;
    }
    return -ENOMEM; /* not reached: the members that always stay are limited to less in sum */
}

int record_write(const struct decision *decision, const struct review *review,
                 const struct record_circumstances *circumstances, struct arena *arena,
                 struct str *ret_line)
{
    const struct answer_response *response = circumstances->response;
    struct record record = {
        .review = review,
        .circumstances = circumstances,
        .expiries = decision->expiries,
        .expiry_count = decision->expiry_count,
        .levels = decision->levels,
        .allowed = decision->allowed,
        .outcome = str_of(gate_outcome_text(decision->outcome)),
    };
    int r = response != NULL ? 0 : answer_make(decision, review->uid, arena, &response);

    if (r < 0)
        return r;
    record.message = response->message;
    record.parts = *response;
    return write_record(&record, arena, ret_line);
}

int record_write_unavailable(int code, struct str message, const struct decision *decision,
                             const struct review *review,
                             const struct record_circumstances *circumstances, struct arena *arena,
                             struct str *ret_line)
{
    struct record record = {
        .review = review,
        .circumstances = circumstances,
        .levels = decision->levels,
        .outcome = code == HTTP_SERVICE_UNAVAILABLE ? STR("unavailable") : STR("timeout"),
        .message = str_cut(message, ANSWER_MAX_MESSAGE_BYTES),
        .parts = {.pairs = {{.key = "subject", .value = decision->subject}}, .pair_count = 1},
    };

    return write_record(&record, arena, ret_line);
}
