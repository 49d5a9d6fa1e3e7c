/* SPDX-License-Identifier: Apache-2.0 */
/* test_event - events, their replay and their rows, for what tests with files cannot show: limits,
 * shortened packets and failing allocations. */

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "k8s/util/digest.h"
#include "planner/base/buffer.h"
#include "planner/plan.h"
#include "tests/webhook/failing_arena.h"
#include "webhook/answer/answer.h"
#include "webhook/audit/event.h"
#include "webhook/audit/event_internal.h"
#include "webhook/audit/replay.h"
#include "webhook/audit/replay_diff.h"
#include "webhook/report/report.h"

#define HEAD                                                                                       \
    "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"auditID\":\"a\",\"annotations\":{"
#define OURS "\"h/outcome\":\"refused\",\"h/subject\":\"n/Pod/x\""
#define RECORD                                                                                     \
    "{\"schema\":\"sandgate.decision.v1\",\"uid\":\"u\",\"time\":\"2026-03-01T12:00:00.037Z\","    \
    "\"kind\":\"Pod\",\"namespace\":\"n\",\"name\":\"x\",\"user\":\"dev\",\"allowed\":false,"      \
    "\"outcome\":\"refused\",\"images\":[\"a\",\"b\"],\"levels\":{\"enforce\":\"required\"},"      \
    "\"findings\":[{\"code\":\"c\",\"message\":\"m\",\"place\":\"p\"}],\"packet\":{\"a\":[1,2.5]}" \
    ","                                                                                            \
    "\"packetSha256\":\"s\",\"input\":{\"workload\":{\"skill_ref\":\"acme/x@1\"}},"                \
    "\"warnings\":[\"sandgate: ends at 2026-03-02T00:00:00Z, sign it anew before: evidence "       \
    "n/e\"]}"

/* What the pod's own spec asks for, as a member of a record; with the states of two controls. */
#define OTHER_CONTROLS                                                                             \
    ",{\"control\":\"network\",\"state\":\"held\",\"findings\":[]}"                                \
    ",{\"control\":\"egress\",\"state\":\"unknown\",\"findings\":[{\"code\":"                      \
    "\"boundary.egress.unseen\",\"place\":\"\"}]}"                                                 \
    ",{\"control\":\"syscalls\",\"state\":\"held\",\"findings\":[]}"                               \
    ",{\"control\":\"capabilities\",\"state\":\"open\",\"findings\":[{\"code\":\"new\"}]}"         \
    ",{\"control\":\"resources\",\"state\":\"held\",\"findings\":[]}"                              \
    ",{\"control\":\"isolation\",\"state\":\"held\",\"findings\":[]}"
#define BOUNDARY(environment, filesystem)                                                          \
    "{\"schema\":\"sandbox.boundary.v1\",\"applied\":false,\"controls\":["                         \
    "{\"control\":\"environment\",\"state\":\"" environment                                        \
    "\",\"findings\":[{\"code\":\"boundary.env.unlisted\",\"place\":\"p\"}]},"                     \
    "{\"control\":\"filesystem\",\"state\":\"" filesystem "\",\"findings\":[]}" OTHER_CONTROLS     \
    "]}"

static enum event_kind kind_of(const char *text, size_t *ret_count)
{
    cleanup_arena struct arena arena = {0};
    enum event_kind kind = EVENT_BLANK;
    struct events events = {.count = 0};

    cr_assert_eq(event_read(str_of(text), &arena, &events, &kind), 0);
    *ret_count = events.count;
    return kind;
}

/* A line that the quick check skips has the kind that a full read would give. */
Test(event, quick_check_and_full_read_agree_on_the_kind)
{
    static const struct {
        const char *text;
        enum event_kind kind;
        bool may_matter;
    } rows[] = {
        {"", EVENT_BLANK, false},
        {" \t\r", EVENT_BLANK, false},
        {"{\"a\":1}", EVENT_FOREIGN, false},
        {"{\"a\":1", EVENT_BROKEN, false},
        {"text", EVENT_BROKEN, false},
        {HEAD "}}", EVENT_OTHER, false},
        {"{\"annotations\":{},\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}", EVENT_OTHER,
         false},
        {HEAD OURS "}}", EVENT_AUDIT, true},
        {HEAD "\"h/outcom\\u0065\":\"refused\",\"h/subject\":\"n/Pod/x\"}}", EVENT_AUDIT, true},
        {HEAD "\"h/outcome\":\"odd\",\"h/subject\":\"n/Pod/x\"}}", EVENT_OTHER, true},
        {HEAD "\"h/outcome\":\"refused\"}}", EVENT_OTHER, true},
        {HEAD "\"/outcome\":\"refused\",\"/subject\":\"n/Pod/x\"}}", EVENT_OTHER, true},
        {HEAD "\"outcome\":\"refused\"}}", EVENT_OTHER, true},
        {HEAD OURS "}", EVENT_BROKEN, true},
        {HEAD OURS "}} ", EVENT_AUDIT, true},
        {HEAD OURS "}}x", EVENT_BROKEN, true},
        {RECORD, EVENT_RECORD, true},
        {"{\"outcome\":[]}", EVENT_FOREIGN, true},
        {"[\"outcome\"]", EVENT_BROKEN, true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum event_kind kind = EVENT_BLANK;
        size_t count = 0;
        bool decides = rows[i].kind == EVENT_AUDIT || rows[i].kind == EVENT_RECORD;

        cr_assert_eq(event_may_matter(str_of(rows[i].text), &kind), rows[i].may_matter, "%s",
                     rows[i].text);
        cr_assert(rows[i].may_matter || kind == rows[i].kind, "%s: %d", rows[i].text, kind);
        kind = kind_of(rows[i].text, &count);
        cr_assert_eq(kind, rows[i].kind, "%s: %d", rows[i].text, kind);
        cr_assert_eq(count, decides ? 1 : 0, "%s", rows[i].text);
    }
}

/* What a gate allowed without a decision is an admission, in both logs. */
Test(event, undecided_is_an_admission)
{
    static const char *const texts[] = {
        HEAD "\"h/outcome\":\"undecided\",\"h/subject\":\"n/Pod/x\"},"
             "\"responseStatus\":{\"code\":201}}",
        "{\"schema\":\"sandgate.decision.v1\",\"uid\":\"u\","
        "\"time\":\"2026-03-01T12:00:00.037Z\",\"kind\":\"Pod\",\"namespace\":\"n\",\"name\":\"x\","
        "\"allowed\":true,\"outcome\":\"undecided\",\"levels\":{\"enforce\":\"none\"},"
        "\"warnings\":[\"sandgate: n/Pod/x was not evaluated\"]}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cleanup_arena struct arena arena = {0};
        enum event_kind kind = EVENT_BLANK;
        struct events events = {.count = 0};

        cr_assert_eq(event_read(str_of(texts[i]), &arena, &events, &kind), 0);
        cr_assert_eq(events.count, 1, "%zu", i);
        cr_assert_eq(events.items[0].verdict, EVENT_ALLOWED, "%zu", i);
        cr_assert(str_equal(events.items[0].outcome, STR("undecided")));
    }
}

Test(event, entries_over_the_limit_are_omitted)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, 64 * 1024);
    enum event_kind kind = EVENT_BLANK;
    struct events events = {.count = 0};

    buffer_add(&b, STR(HEAD));
    for (int i = 0; i < EVENT_MAX_HOOKS + 1; i++)
        buffer_add_format(&b, "\"h%d/outcome\":\"refused\",\"h%d/subject\":\"n/Pod/x\",", i, i);
    buffer_add(&b, STR("\"z\":\"\"}}"));
    cr_assert_eq(event_read(buffer_text(&b), &arena, &events, &kind), 0);
    cr_assert_eq(events.count, EVENT_MAX_HOOKS);
    cr_assert(str_equal(events.items[7].webhook, STR("h7")));
}

Test(event, findings_over_the_limit_are_counted)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, 64 * 1024);
    enum event_kind kind = EVENT_BLANK;
    struct events events = {.count = 0};

    buffer_add(&b, STR("{\"schema\":\"sandgate.decision.v1\",\"allowed\":false,"
                       "\"outcome\":\"refused\",\"findings\":["));
    for (int i = 0; i < EVENT_MAX_FINDINGS + 3; i++)
        buffer_add(&b, i > 0 ? STR(",{\"code\":\"x\"}") : STR("{\"code\":\"x\"}"));
    buffer_add(&b, STR("]}"));
    cr_assert_eq(event_read(buffer_text(&b), &arena, &events, &kind), 0);
    cr_assert_eq(events.items[0].finding_count, EVENT_MAX_FINDINGS);
    cr_assert_eq(events.items[0].findings_left_out, 3);
}

/* The text as a string in JSON, as an annotation has it. */
static struct str quoted(struct arena *arena, struct str text)
{
    struct buffer b = buffer_make(arena, 64 * 1024);

    buffer_add_json(&b, text);
    return buffer_text(&b);
}

/* From both logs alike. What cannot be understood is broken, so that nobody takes it for clean; a
 * state that is better than its finding is not believed. */
Test(event, has_the_reading_of_the_boundary)
{
    static const struct {
        const char *json;
        enum event_boundary_state state;
        const char *states;
    } rows[] = {
        {BOUNDARY("contradicted", "held"), EVENT_BOUNDARY_READ, "41121311"},
        {BOUNDARY("held", "open"), EVENT_BOUNDARY_READ, "43121311"},
        {BOUNDARY("held", "odd"), EVENT_BOUNDARY_BROKEN, "00000000"},
        {BOUNDARY("held", "unread"), EVENT_BOUNDARY_BROKEN, "00000000"},
        {"{\"schema\":\"sandbox.boundary.v1\",\"controls\":[]}", EVENT_BOUNDARY_BROKEN, "00000000"},
        {"{\"schema\":\"sandbox.boundary.v2\"}", EVENT_BOUNDARY_BROKEN, "00000000"},
        {"[1]", EVENT_BOUNDARY_BROKEN, "00000000"},
        {"\"x\"", EVENT_BOUNDARY_BROKEN, "00000000"},
    };

    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        const char *json = rows[i / 2].json;
        cleanup_arena struct arena arena = {0};
        struct str text =
            i % 2 == 0 ? arena_format(&arena,
                                      "{\"schema\":\"sandgate.decision.v1\",\"allowed\":true,"
                                      "\"outcome\":\"ready\",\"boundary\":%s}",
                                      json)
                       : arena_format(&arena, HEAD OURS ",\"h/boundary\":%s}}",
                                      quoted(&arena, str_of(json)).ptr);
        enum event_kind kind = EVENT_BLANK;
        struct events events = {.count = 0};
        const struct event_boundary *b = &events.items[0].boundary;
        char states[BOUNDARY_CONTROL_COUNT + 1] = "";

        cr_assert_eq(event_read(text, &arena, &events, &kind), 0);
        cr_assert_eq(events.count, 1);
        for (int k = 0; k < BOUNDARY_CONTROL_COUNT; k++)
            states[k] = (char)('0' + (int)b->states[k]);
        cr_assert_eq(b->state, rows[i / 2].state, "%s", json);
        cr_assert_str_eq(states, rows[i / 2].states, "%s", json);
        cr_assert_eq(b->codes, b->state == EVENT_BOUNDARY_READ
                                   ? event_boundary_bit(BOUNDARY_CODE_ENV_UNLISTED) |
                                         event_boundary_bit(BOUNDARY_CODE_EGRESS_UNSEEN)
                                   : 0);
        cr_assert(str_equal(events.items[0].boundary_json,
                            b->state == EVENT_BOUNDARY_READ ? str_of(json) : (struct str){0}));
    }
}

#define USED                                                                                       \
    "{\"schema\":\"sandgate.decision.v1\",\"time\":\"2026-03-01T12:00:00Z\",\"allowed\":true,"     \
    "\"outcome\":\"ready\",\"evidence\":\"n/e sha256:0 keys=k\",\"input\":{\"workload\":"          \
    "{\"requirements\":{\"observed_at\":\"2026-02-27T00:00:00Z\"}},\"max_age_days\":5},"           \
    "\"exemption\":\"g/x sha256:0 keys=k until=2026-03-03T00:00:00Z\""

/* `expiring` alone where it is there; else fields, and warnings for what they cannot show. */
Test(event, expiries_come_from_fields_before_words)
{
    static const struct {
        const char *more, *expiries;
    } rows[] = {
        {"}", "exemption g/x 2026-03-03T00:00:00Z;evidence n/e 2026-03-04T00:00:00Z;"},
        {",\"warnings\":[\"sandgate: expires at 2026-03-02T00:00:00Z, sign it again before then: "
         "evidence n/e\"]}",
         "exemption g/x 2026-03-03T00:00:00Z;evidence n/e 2026-03-02T00:00:00Z;"},
        {",\"warnings\":[\"sandgate: ends at 2026-03-02T00:00:00Z, sign it anew before: evidence "
         "n/f\",\"x\"]}",
         "exemption g/x 2026-03-03T00:00:00Z;evidence n/e 2026-03-04T00:00:00Z;"
         "evidence n/f 2026-03-02T00:00:00Z;"},
        {",\"expiring\":[{\"kind\":\"evidence\",\"name\":\"n/e\",\"endsAt\":"
         "\"2026-03-02T00:00:00Z\"},{\"kind\":\"evidence\",\"name\":\"n/g\",\"endsAt\":\"x\"}],"
         "\"warnings\":[\"sandgate: ends at 2026-03-02T00:00:00Z, sign it anew before: evidence "
         "n/f\"]}",
         "evidence n/e 2026-03-02T00:00:00Z;"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct event_expiry expiries[EVENT_MAX_EXPIRIES];
        struct buffer b = buffer_make(&arena, 4096);
        enum event_kind kind = EVENT_BLANK;
        struct events events = {.count = 0};
        struct str text = arena_format(&arena, "%s%s", USED, rows[i].more);
        size_t count = 0;

        cr_assert_eq(event_read(text, &arena, &events, &kind), 0);
        cr_assert_eq(kind, EVENT_RECORD, "%s", rows[i].more);
        count = event_expiries(&events.items[0], expiries);
        for (size_t k = 0; k < count; k++) {
            char at[MOMENT_TEXT_BYTES] = "";

            moment_write(expiries[k].at, at);
            buffer_add(&b, expiries[k].kind);
            buffer_add_char(&b, ' ');
            buffer_add(&b, expiries[k].name);
            buffer_add_format(&b, " %s;", at);
        }
        cr_assert(str_equal(buffer_text(&b), str_of(rows[i].expiries)), "%.*s", (int)b.len, b.ptr);
    }
}

/* An event of a plan whose packet does not fit the log. */
static void make_cut(struct arena *arena, struct event *event)
{
    struct buffer b = buffer_make(arena, 64 * 1024);
    struct plan plan = {0};

    buffer_add(&b, STR("{\"workload\":{\"skill_ref\":\"acme/x@1\",\"requirements\":"
                       "{\"env_allowlist\":["));
    for (int i = 0; i < 90; i++)
        buffer_add_format(&b, "%s\"NAME_%03d_%0250d\"", i > 0 ? "," : "", i, 0);
    buffer_add(&b, STR("]}},\"as_of\":\"2026-03-01T12:00:00Z\"}"));
    *event = (struct event){.input = buffer_text(&b), .packet_truncated = true};
    cr_assert_eq(event_read_inner(event->input, arena, &event->input_tree), 0);
    cr_assert_eq(plan_evaluate(event->input_tree, PLAN_CALLER_SUPPLIED, arena, &plan), 0);
    cr_assert_eq(plan_packet_fit(&plan, ANSWER_MAX_PACKET_BYTES, arena, &event->packet), 0);
    cr_assert_lt(event->packet.len, plan.packet.len);
    cr_assert_eq(digest_make_text(plan.packet, arena, &event->packet_sha256), 0);
    cr_assert_eq(event_read_inner(event->packet, arena, &event->packet_tree), 0);
}

Test(replay, a_shortened_packet_is_compared_with_its_digest)
{
    cleanup_arena struct arena arena = {0};
    struct event event = {0};
    struct replay replay = {0};

    make_cut(&arena, &event);
    cr_assert_eq(replay_event(&event, &arena, &replay), 0);
    cr_assert_eq(replay.state, REPLAY_SAME_CUT);
    event.packet_sha256 = STR("sha256:0");
    cr_assert_eq(replay_event(&event, &arena, &replay), 0);
    cr_assert_eq(replay.state, REPLAY_DIFFERS);
    cr_assert(str_equal(replay.where, STR("packet-sha256")));
    cr_assert(!str_present(replay.diff));
}

Test(replay, the_first_difference_is_named)
{
    static const struct {
        const char *old, *again, *where, *diff;
    } rows[] = {
        {"{\"a\":[1,2]}", "{\"a\":[1]}", "a[1]",
         "@@ -1,6 +1,5 @@\n {\n   \"a\": [\n-    1,\n-    2\n+    1\n   ]\n }\n"},
        {"{\"a\":1}", "{\"b\":1}", "a", "@@ -1,3 +1,3 @@\n {\n-  \"a\": 1\n+  \"b\": 1\n }\n"},
        {"{\"a\":{\"b\":[{\"c\":true}]}}", "{\"a\":{\"b\":[{\"c\":false}]}}", "a.b[0].c", NULL},
        {"{\"a\":\"1\"}", "{\"a\":1}", "a", NULL},
        {"{}", "{\"a\":{}}", "a", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        const cJSON *old = NULL, *again = NULL;
        struct str where = STR("nowhere"), diff = {0};

        cr_assert_eq(event_read_inner(str_of(rows[i].old), &arena, &old), 0);
        cr_assert_eq(event_read_inner(str_of(rows[i].again), &arena, &again), 0);
        cr_assert_eq(replay_first_difference(old, again, &arena, &where), 0);
        cr_assert(str_equal(where, str_of(rows[i].where)), "%.*s", (int)where.len, where.ptr);
        cr_assert_eq(replay_diff(old, again, &arena, &diff), 0);
        cr_assert(rows[i].diff == NULL || str_equal(diff, str_of(rows[i].diff)), "%.*s",
                  (int)diff.len, diff.ptr);
        where = STR("nowhere");
        diff = (struct str){0};
        cr_assert_eq(replay_first_difference(old, old, &arena, &where), 0);
        cr_assert_eq(replay_diff(old, old, &arena, &diff), 0);
        cr_assert(str_equal(where, STR("nowhere")) && !str_present(diff));
    }
}

/* Reads one line and reports it, with the nth allocation failing, for every n. */
static void sweep(const char *text)
{
    bool failed = false;
    size_t n = 0;

    do {
        cleanup_arena struct arena arena = {0};
        struct report cleanup_report report = {0};
        const struct report_row *row = NULL;
        enum event_kind kind = EVENT_BLANK;
        struct events events = {.count = 0};
        bool passed = false;
        FILE *sink = fopen("/dev/null", "we");
        int r = 0;

        cr_assert_not_null(sink);
        failing_arena_arm(++n);
        r = report_init(&report);
        report.replay = true;
        if (r == 0)
            r = event_read(str_of(text), &arena, &events, &kind);
        if (r == 0)
            r = report_add(&report, &events.items[0], &arena, &row, &passed);
        if (r == 0)
            report_finish(&report);
        if (r == 0)
            r = report_json(&report, sink);
        if (r == 0)
            r = report_csv(&report, sink);
        failed = failing_arena_disarm();
        cr_assert(r == 0 || (failed && r == -ENOMEM), "allocation %zu: %d", n, r);
        /* a row without memory is counted, so that no denial is lost */
        cr_assert(r != 0 ||
                  report.totals.denied + report.totals.violates + report.totals.unknown == 1);
        (void)fclose(sink);
    } while (failed);
    cr_assert_gt(n, 50, "%zu allocations", n);
}

Test(event, every_allocation_fails_once)
{
    sweep(RECORD);
    sweep("{\"schema\":\"sandgate.decision.v1\",\"allowed\":false,\"outcome\":\"refused\","
          "\"boundary\":" BOUNDARY("held", "open") "}");
    sweep(HEAD OURS ",\"h/packet\":\"{\\\"hardening_profile\\\":{}}\",\"h/packet-sha256\":\"x\","
                    "\"h/input\":\"{\\\"workload\\\":{\\\"image_digest\\\":\\\"x\\\"}}\","
                    "\"h/findings\":\"[{\\\"code\\\":\\\"c\\\"}]\"},"
                    "\"requestObject\":{\"a\":1,\"a\":2}}");
}
