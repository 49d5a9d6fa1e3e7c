/* SPDX-License-Identifier: Apache-2.0 */
/* test_recorder - which decisions are recorded, metrics of the evidence, and addresses of this
 * host. */

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "helper.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/server/loopback.h"
#include "webhook/metrics/evidence.h"
#include "webhook/record/recorder.h"

Test(recorder, denials_are_always_recorded_and_others_if_configured)
{
    static const struct {
        struct exchange exchange;
        bool always, asked;
    } rows[] = {
        {{.status = 200, .decided = true}, true, true},
        {{.status = 200, .decided = true, .decision = {.allowed = true}}, false, true},
        {{.status = 200, .undecided = 503}, true, true},
        {{.status = 200, .undecided = 504}, true, true},
        {{.status = 400}, false, false},
        {{.status = 500}, false, false},
    };
    static struct recorder recorder;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        atomic_store(&recorder.allowed, false);
        cr_assert_eq(recorder_wants(&recorder, &rows[i].exchange), rows[i].always, "%zu", i);
        atomic_store(&recorder.allowed, true);
        cr_assert_eq(recorder_wants(&recorder, &rows[i].exchange), rows[i].asked, "%zu", i);
        cr_assert_not(recorder_wants(NULL, &rows[i].exchange));
    }
}

/* The outcomes of the kept denials, oldest first. */
static struct str kept_outcomes(struct arena *arena, struct recorder *recorder)
{
    static struct denials_view view;
    struct buffer b = buffer_make(arena, 1024);

    denials_look(&recorder->denials, &view);
    for (size_t i = 0; i < view.count; i++) {
        const cJSON *record = helper_json(arena, record_line_text(view.lines[i]));

        buffer_add(&b, tree_get_text(record, "outcome"));
        buffer_add_char(&b, ' ');
    }
    denials_view_done(&view);
    return buffer_text(&b);
}

Test(recorder, decisions_are_logged_and_denials_kept)
{
    static struct recorder recorder;
    char path[] = "/tmp/sandgate-recorder-XXXXXX";
    const struct log quiet = {.fd = STDERR_FILENO};
    const struct record_circumstances circumstances = {.now = helper_moment(HELPER_NOW)};
    const struct helper_review good = {.object = HELPER_GOOD_POD};
    const struct helper_review bad = {.object = "{\"spec\":{\"containers\":[{\"image\":\"a\"}]}}"};
    cleanup_arena struct arena arena = {0};
    struct arena poor = {.limit_bytes = 16};
    struct snapshot *snapshot = helper_default_snapshot(&arena);
    struct exchange allowed = helper_exchange(&arena, snapshot, &good);
    struct exchange denied = helper_exchange(&arena, snapshot, &bad);
    struct exchange unknown = helper_exchange(&arena, snapshot, &good);
    struct decision_log *log = NULL;
    struct decision_log_counts counts = {0};

    cr_assert_geq(close(mkstemp(path)), 0);
    cr_assert_eq(decision_log_open(path, &quiet, &log), 0);
    cr_assert_eq(recorder_init(&recorder, log), 0);
    exchange_deny(504, STR("try again"), &arena, &unknown);
    cr_assert(!unknown.decided && unknown.undecided == 504);
    recorder_note(&recorder, &denied, &circumstances, &arena);
    recorder_note(&recorder, &allowed, &circumstances, &arena);
    recorder_note(&recorder, &unknown, &circumstances, &arena);
    recorder_note(&recorder, &denied, &circumstances, &poor);
    arena_release(&poor);
    cr_assert_text(kept_outcomes(&arena, &recorder), "needs_more_evidence timeout ");
    counts = decision_log_counts(log);
    cr_assert_eq(counts.lost_memory, 1);
    decision_log_close(log, DECISION_LOG_CLOSE_MSEC);
    {
        char text[64 * 1024];
        FILE *file = fopen(path, "re");
        size_t n = file != NULL ? fread(text, 1, sizeof(text), file) : 0, lines = 0;

        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
        cr_assert_eq(lines, 3);
        cr_assert(str_contains((struct str){.ptr = text, .len = n},
                               STR("\"outcome\":\"timeout\",\"message\":\"try again\"")));
        (void)fclose(file);
    }
    (void)unlink(path);
    recorder_done(&recorder);
    snapshot_unref(snapshot);
}

#define REQUIREMENTS_OF(skill, observed, more)                                                     \
    "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"" skill                       \
    "\"},\"requirements\":{\"observed_at\":\"" observed "\"}" more "}"

/* HELPER_NOW is 2026-03-01T12:00:00Z, and maxAgeDays 30. */
static const struct helper_document documents[] = {
    {"a", "fresh", REQUIREMENTS_OF("o/a@1", "2026-02-20T00:00:00Z", ""), 0, NULL},
    {"a", "ends",
     REQUIREMENTS_OF("o/b@1", "2026-02-28T00:00:00Z", ",\"expires_at\":\"2026-03-05T00:00:00Z\""),
     0, NULL},
    {"a", "over",
     REQUIREMENTS_OF("o/c@1", "2026-02-28T00:00:00Z", ",\"expires_at\":\"2026-03-01T12:00:00Z\""),
     0, NULL},
    {"a", "stale", REQUIREMENTS_OF("o/d@1", "2026-01-01T00:00:00Z", ""), 0, NULL},
    {"b", "bad", "{}", 0, "it is signed by nobody"},
    {"b", "revoked", REQUIREMENTS_OF("o/e@1", "2025-01-01T00:00:00Z", ""), EVIDENCE_REVOKED, NULL},
    {"b", "theirs", "{\"kind\":\"SandboxBaseline\"}", EVIDENCE_OTHER_AUDIENCE, NULL},
    {"sandgate-system", "ceiling", "{\"kind\":\"SandboxBaseline\"}", 0, NULL},
    {"sandgate-system", "waiver",
     "{\"kind\":\"SandboxExemption\",\"match\":{\"namespaces\":[\"a\"]},"
     "\"expires_at\":\"2026-03-04T00:00:00Z\"}",
     0, NULL},
    {0}};

static int64_t unix_sec(const char *text)
{
    return helper_moment(text).sec - MOMENT_UNIX_EPOCH_SEC;
}

Test(metrics_evidence, counts_kinds_and_states)
{
    static const uint64_t wanted[EVIDENCE_KIND_COUNT][METRICS_EVIDENCE_STATE_COUNT] = {
        [EVIDENCE_UNKNOWN] = {[METRICS_EVIDENCE_INVALID] = 1},
        [EVIDENCE_REQUIREMENTS] = {[METRICS_EVIDENCE_VALID] = 2,
                                   [METRICS_EVIDENCE_EXPIRED] = 1,
                                   [METRICS_EVIDENCE_STALE] = 1,
                                   [METRICS_EVIDENCE_REVOKED] = 1},
        [EVIDENCE_BASELINE] = {[METRICS_EVIDENCE_VALID] = 1, [METRICS_EVIDENCE_OTHER_AUDIENCE] = 1},
        [EVIDENCE_EXEMPTION] = {[METRICS_EVIDENCE_VALID] = 1},
    };
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = helper_snapshot(&arena, &policy, NULL, documents);
    struct metrics_evidence evidence = {0};

    metrics_evidence_look(&evidence, snapshot, helper_moment(HELPER_NOW));
    for (int kind = 0; kind < EVIDENCE_KIND_COUNT; kind++)
        for (int state = 0; state < METRICS_EVIDENCE_STATE_COUNT; state++)
            cr_assert_eq(evidence.documents[kind][state], wanted[kind][state], "%d %d", kind,
                         state);
    cr_assert(evidence.has_oldest && evidence.oldest_sec == unix_sec("2026-02-20T00:00:00Z"));
    cr_assert(evidence.has_next &&
              moment_compare(evidence.next, helper_moment("2026-03-04T00:00:00Z")) == 0);
    metrics_evidence_done(&evidence);
    snapshot_unref(snapshot);
}

/* Counted again for another snapshot and after an expiry, but not at every scrape. */
Test(metrics_evidence, is_counted_once_for_each_snapshot)
{
    static const struct helper_document none[] = {{0}};
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = helper_snapshot(&arena, &policy, NULL, documents);
    struct snapshot *other = helper_snapshot(&arena, &policy, NULL, none);
    struct metrics_evidence evidence = {0};
    const char *const moments[][2] = {
        {"2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"}, /* asked at, counted at */
        {"2026-03-03T12:00:00Z", "2026-03-01T12:00:00Z"},
        {"2026-03-04T00:00:00Z", "2026-03-01T12:00:00Z"},
        {"2026-03-04T00:00:01Z", "2026-03-04T00:00:01Z"}, /* the exemption has expired */
        {"2026-03-04T23:00:00Z", "2026-03-04T00:00:01Z"},
        {"2026-03-05T00:00:05Z", "2026-03-05T00:00:05Z"}, /* and the next one */
        {"2026-03-05T00:00:06Z", "2026-03-05T00:00:05Z"},
    };

    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        metrics_evidence_look(&evidence, snapshot, helper_moment(moments[i][0]));
        cr_assert_eq(moment_compare(evidence.counted, helper_moment(moments[i][1])), 0, "%s",
                     moments[i][0]);
    }
    cr_assert_eq(evidence.documents[EVIDENCE_EXEMPTION][METRICS_EVIDENCE_EXPIRED], 1);
    cr_assert_eq(moment_compare(evidence.next, helper_moment("2026-03-22T00:00:00Z")), 0);
    metrics_evidence_look(&evidence, other, helper_moment(HELPER_NOW));
    cr_assert_eq(evidence.snapshot, other);
    cr_assert(!evidence.has_next && !evidence.has_oldest);
    cr_assert_eq(evidence.documents[EVIDENCE_BASELINE][METRICS_EVIDENCE_VALID], 0);
    snapshot_unref(other);
    metrics_evidence_done(&evidence);
    snapshot_unref(snapshot);
}

/* Even if several documents expire within a minute, not every scrape counts again. */
Test(metrics_evidence, pauses_between_counts)
{
    static const struct helper_document expiring[] = {
        {"a", "one",
         REQUIREMENTS_OF("o/a@1", "2026-02-28T00:00:00Z",
                         ",\"expires_at\":\"2026-03-01T12:00:01Z\""),
         0, NULL},
        {"a", "two",
         REQUIREMENTS_OF("o/b@1", "2026-02-28T00:00:00Z",
                         ",\"expires_at\":\"2026-03-01T12:00:03Z\""),
         0, NULL},
        {0}};
    cleanup_arena struct arena arena = {0};
    const struct policy policy = policy_defaults();
    struct snapshot *snapshot = helper_snapshot(&arena, &policy, NULL, expiring);
    struct metrics_evidence evidence = {0};

    metrics_evidence_look(&evidence, snapshot, helper_moment("2026-03-01T12:00:00Z"));
    metrics_evidence_look(&evidence, snapshot, helper_moment("2026-03-01T12:00:09Z"));
    cr_assert_eq(evidence.documents[EVIDENCE_REQUIREMENTS][METRICS_EVIDENCE_VALID], 2);
    metrics_evidence_look(&evidence, snapshot, helper_moment("2026-03-01T12:00:10Z"));
    cr_assert_eq(evidence.documents[EVIDENCE_REQUIREMENTS][METRICS_EVIDENCE_EXPIRED], 2);
    metrics_evidence_done(&evidence);
    snapshot_unref(snapshot);
}

Test(loopback, addresses_of_this_host)
{
    static const struct {
        const char *text;
        bool loopback;
    } rows[] = {
        {"127.0.0.1", true},
        {"127.0.0.2", false},
        {"127.0.0.6", false}, /* the sidecar of a service mesh forwards what others sent */
        {"127.0.1.1", false},
        {"127.255.255.254", false},
        {"126.255.255.255", false},
        {"128.0.0.0", false},
        {"0.0.0.0", false},
        {"10.0.0.127", false},
        {"::1", true},
        {"::", false},
        {"::2", false},
        {"fe80::1", false},
        {"::ffff:127.0.0.1", true},
        {"::ffff:127.0.0.6", false},
        {"::ffff:10.0.0.1", false},
        {"::127.0.0.1", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        union {
            struct sockaddr any;
            struct sockaddr_in ipv4;
            struct sockaddr_in6 ipv6;
        } address = {.ipv6 = {.sin6_family = AF_INET6}};

        if (inet_pton(AF_INET6, rows[i].text, &address.ipv6.sin6_addr) != 1) {
            address.ipv4 = (struct sockaddr_in){.sin_family = AF_INET};
            cr_assert_eq(inet_pton(AF_INET, rows[i].text, &address.ipv4.sin_addr), 1);
        }
        cr_assert_eq(loopback_is_address(&address.any), rows[i].loopback, "%s", rows[i].text);
    }
    cr_assert_not(loopback_is_address(NULL));
    cr_assert_not(loopback_is_address(&(struct sockaddr){.sa_family = AF_UNIX}));
}

Test(loopback, names_of_this_host)
{
    static const char *const ours[] = {"localhost",   "LocalHost:1", "localhost:", "127.0.0.1",
                                       "127.1.2.3:8", "[::1]",       "[::1]:8080", "[0:0::1]:1"};
    static const char *const theirs[] = {"",
                                         ":80",
                                         "localhost.",
                                         "localhost.x",
                                         "127.0.0.1.x",
                                         "127.1",
                                         "0x7f.0.0.1",
                                         "[::1",
                                         "[]",
                                         "::1",
                                         "[::1]x",
                                         "localhost:8x",
                                         "[127.0.0.1]",
                                         "[::1%lo]",
                                         "1.127.0.0",
                                         "localhost:1:2",
                                         "[1111:1111:1111:1111:1111:1111:1111:1111:1111:1111]"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        cr_assert(loopback_is_host(str_of(ours[i])), "%s", ours[i]);
    for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
        cr_assert_not(loopback_is_host(str_of(theirs[i])), "%s", theirs[i]);
}

Test(loopback, fields_that_a_proxy_adds)
{
    static const char *const proxies[] = {"Forwarded",
                                          "via",
                                          "X-Forwarded-For",
                                          "x-forwarded-proto",
                                          "X-FORWARDED",
                                          "X-Real-IP",
                                          "X-Client-IP",
                                          "X-Cluster-Client-IP",
                                          "X-Original-Forwarded-For",
                                          "True-Client-IP",
                                          "CF-Connecting-IP",
                                          "Fastly-Client-IP",
                                          "X-Envoy-External-Address",
                                          "x-envoy-attempt-count",
                                          "l5d-client-id"};
    static const char *const others[] = {"",        "Host",       "Accept", "X-Real",
                                         "Viaduct", "User-Agent", "X-For",  "Referer"};

    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
        cr_expect(loopback_is_proxy_field(str_of(proxies[i])), "%s", proxies[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect_not(loopback_is_proxy_field(str_of(others[i])), "%s", others[i]);
}
