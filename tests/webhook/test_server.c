/* SPDX-License-Identifier: Apache-2.0 */
/* test_server - parts of the server that need no socket: header fields, limits, counters and lines
 * of the log. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "webhook/server/budget.h"
#include "webhook/server/head.h"
#include "webhook/server/raw_head.h"
#include "webhook/util/log.h"
#include "webhook/metrics/metrics.h"

static struct head head_of(const char *name, const char *value)
{
    struct head head = {0};

    head_add(&head, str_of(name), str_of(value));
    return head;
}

Test(head, timeouts_in_the_format_of_go_are_read)
{
    static const struct {
        const char *text;
        uint64_t msec;
    } rows[] = {
        {"5s", 5000},   {"10s", 10000}, {"1m30s", 90000}, {"250ms", 250},   {"1.5s", 1500},
        {"2000us", 2},  {"34s", 34000}, {"0.25s", 250},   {"100h", 600000}, {"0s", 10000},
        {"1ns", 10000}, {"", 10000},    {"5", 10000},     {"s", 10000},     {"-5s", 10000},
        {"5 s", 10000}, {"5x", 10000},  {"5s5", 10000},   {"1e3s", 10000},  {"99999999999s", 10000},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_eq(head_timeout_msec(str_of(rows[i].text)), rows[i].msec, "%s", rows[i].text);
}

Test(head, ambiguous_framing_is_rejected)
{
    static const struct {
        const char *length, *second, *transfer;
        bool twice;
    } rows[] = {
        {NULL, NULL, NULL, false},
        {"2", NULL, NULL, false},
        {"0", NULL, NULL, false},
        {NULL, NULL, "chunked", false},
        {NULL, NULL, " Chunked ", false},
        {"2", "2", NULL, true},
        {"2", NULL, "chunked", true},
        {NULL, NULL, "gzip", true},
        {"+2", NULL, NULL, true},
        {"02", NULL, NULL, true},
        {"", NULL, NULL, true},
        {"2,2", NULL, NULL, true},
        {NULL, NULL, "chunked, chunked", true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct head head = {0};

        if (rows[i].length != NULL)
            head_add(&head, STR("Content-Length"), str_of(rows[i].length));
        if (rows[i].second != NULL)
            head_add(&head, STR("content-length"), str_of(rows[i].second));
        if (rows[i].transfer != NULL)
            head_add(&head, STR("TRANSFER-ENCODING"), str_of(rows[i].transfer));
        cr_expect_eq(head_is_framed_twice(&head), rows[i].twice, "row %zu", i);
    }
}

Test(head, names_are_tokens_and_a_host_is_given_once)
{
    static const char *const bad[] = {"", "a b", "a:", "a(", "a\"", "a\\", "a{", "a\x7f", "a\x80"};
    struct head head = {0};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_expect(head_of(bad[i], "x").malformed, "%s", bad[i]);
    cr_expect_not(head_of("!#$%&'*+-.^_`|~09azAZ", "x").malformed);
    head_add(&head, STR("Host"), STR("a"));
    cr_expect_not(head.malformed);
    head_add(&head, STR("host"), STR("a"));
    cr_expect(head.malformed);
}

/* A head as libmicrohttpd 0.9 leaves it in its buffer; `|` stands for a NUL. Names begin with N,
 * values with V. */
static bool is_whole(const char *text)
{
    char buffer[128] = "";
    size_t bytes = strlen(text);
    struct raw_head head;

    memcpy(buffer, text, bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (buffer[i] == '|')
            buffer[i] = '\0';
    }
    head = raw_head_begin(buffer, (struct str){buffer + 5, 2}, buffer + 8);
    for (char *at = buffer + 8; at < buffer + bytes; at++) {
        char *value = *at == 'N' ? memchr(at, 'V', bytes) : NULL;

        if (value != NULL)
            raw_head_add(&head, str_of(at), str_of(value));
    }
    return raw_head_is_whole(&head, bytes);
}

Test(raw_head, every_byte_between_the_texts_is_seen)
{
    static const char *const whole[] = {"POST|/x|1.1||||", "POST|/x|1.1||N|V||||",
                                        "POST|/x|1.1||N|\t V ||Nb| V||||"};
    static const char *const broken[] = {
        "POST |/x|1.1||||",             /* the helper's places do not fit then */
        "POST|/x|1.1||||x",             /* hidden behind the head */
        "POST|/x|1.1||N|V|||:||",       /* a line that begins with a colon */
        "POST|/x|1.1||N|V|x||Nb|V||||", /* hidden behind a NUL in a value */
        "POST|/x|1.1|N|V||||",          /* LF alone */
        "POST|/x|1.1||N|V|Nb|V||||",
        "POST|/x|1.1||N|xV||||",     /* hidden before a value */
        "POST|/x|1.1||N|V||||Nb|V|", /* a field behind the head */
    };

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        cr_expect(is_whole(whole[i]), "%s", whole[i]);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        cr_expect_not(is_whole(broken[i]), "%s", broken[i]);
    cr_expect(raw_head_is_known("0.9.75"));
    cr_expect_not(raw_head_is_known("1.0.1"));
    cr_expect_not(str_present(raw_head_uri("/a b")));
    cr_expect(str_present(raw_head_uri("/a?b#c")));
}

Test(head, content_types_are_compared_without_parameters)
{
    static const struct {
        const char *type;
        int syntax;
    } rows[] = {
        {"application/json", DOCUMENT_JSON},
        {"application/json;charset=utf-8", DOCUMENT_JSON},
        {" Application/JSON ;", DOCUMENT_JSON},
        {"application/yaml", DOCUMENT_YAML},
        {"application/x-yaml", DOCUMENT_YAML},
        {"text/yaml; a=b", DOCUMENT_YAML},
        {"text/json", 0},
        {"application/json5", 0},
        {"", 0},
        {";application/json", 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct head head = head_of("Content-Type", rows[i].type);

        cr_expect_eq((int)head_syntax(&head), rows[i].syntax, "%s", rows[i].type);
    }
    struct head twice = head_of("Content-Type", "application/json");

    head_add(&twice, STR("Content-Type"), STR("application/json"));
    cr_expect_eq((int)head_syntax(&twice), 0);
}

Test(head, yaml_is_sent_if_accepted_and_json_is_not)
{
    static const struct {
        const char *accept;
        int format;
    } rows[] = {
        {"application/yaml", ANSWER_YAML},
        {"text/yaml;q=0.5, */*;q=0.1", ANSWER_YAML},
        {"application/json, */*", ANSWER_JSON},
        {"application/yaml, application/json", ANSWER_JSON},
        {"application/yaml;q=0", ANSWER_JSON},
        {"application/yaml;q=0.000", ANSWER_JSON},
        {"application/yaml;q=0.001", ANSWER_YAML},
        {"", ANSWER_JSON},
        {",,", ANSWER_JSON},
    };
    struct head two = head_of("Accept", "application/yaml");

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct head head = head_of("Accept", rows[i].accept);

        cr_expect_eq((int)head_format(&head), rows[i].format, "%s", rows[i].accept);
    }
    head_add(&two, STR("accept"), STR("application/json"));
    cr_expect_eq((int)head_format(&two), ANSWER_JSON);
}

Test(budget, slots_and_bytes_are_limited)
{
    struct budget budget = {0};

    budget_set_limits(&budget, 100, 2);
    cr_expect(budget_take_slot(&budget) && budget_take_slot(&budget));
    cr_expect_not(budget_take_slot(&budget));
    budget_return_slot(&budget);
    cr_expect(budget_take_slot(&budget));
    cr_expect(budget_take_bytes(&budget, 100));
    cr_expect_not(budget_take_bytes(&budget, 1));
    cr_expect_not(budget_take_bytes(&budget, UINT64_MAX));
    budget_return_bytes(&budget, 100);
    cr_expect_eq(atomic_load(&budget.bytes), 0);
}

Test(budget, at_most_half_of_the_slots_but_at_least_one_can_wait)
{
    struct budget budget = {0};

    budget_set_limits(&budget, 100, 5);
    cr_expect(budget_take_wait(&budget) && budget_take_wait(&budget));
    cr_expect_not(budget_take_wait(&budget));
    budget_return_wait(&budget);
    cr_expect(budget_take_wait(&budget));
    cr_expect_eq(atomic_load(&budget.in_flight), 0);
    budget_set_limits(&budget, 100, 1);
    budget_return_wait(&budget);
    budget_return_wait(&budget);
    cr_expect(budget_take_wait(&budget));
    cr_expect_not(budget_take_wait(&budget));
}

Test(budget, unfinished_bodies_of_one_address_hold_at_most_a_quarter)
{
    struct budget budget = {0};
    struct budget_share one = {0}, other = {0};

    budget_set_limits(&budget, 100, 2);
    cr_expect(budget_take_unfinished(&budget, &one, 25));
    cr_expect_not(budget_take_unfinished(&budget, &one, 1));
    cr_expect(budget_take_unfinished(&budget, &other, 25));
    budget_finish(&one, 25);
    cr_expect(budget_take_unfinished(&budget, &one, 25));
    cr_expect(budget_take_bytes(&budget, 25));
    budget_finish(&other, 25);
    /* the total is full: the share must be released */
    cr_expect_not(budget_take_unfinished(&budget, &other, 1));
    cr_expect_eq(atomic_load(&other.bytes), 0);
    cr_expect_eq(atomic_load(&budget.bytes), 100);
}

Test(budget, without_limits_nothing_is_allowed)
{
    struct budget budget = {0};

    cr_expect_not(budget_take_slot(&budget));
    cr_expect_not(budget_take_bytes(&budget, 1));
}

Test(metrics, text_is_in_the_format_of_prometheus)
{
    static struct metrics metrics;
    struct metrics_state state = {.ready = true, .connections = 3};
    struct arena cleanup_arena arena = {0};
    struct str text = {0};

    metrics_count_request(&metrics, METRICS_PATH_VALIDATE, 200);
    metrics_count_request(&metrics, METRICS_PATH_OTHER, 999);
    metrics_count_review(
        &metrics,
        &(const struct exchange){.decided = true, .decision = {.outcome = OUTCOME_REFUSED}}, 300);
    metrics_count_review(
        &metrics,
        &(const struct exchange){.decided = true,
                                 .decision = {.outcome = OUTCOME_READY, .allowed = true}},
        20000000);
    metrics_count_reload(&metrics, METRICS_PART_KEYRING, false);
    metrics_count_cut(&metrics, METRICS_CUT_SLOW);
    cr_assert_eq(metrics_write(&metrics, &state, &arena, &text), 0);
    static const char *const lines[] = {
        "\nsandgate_ready 1\n",
        "\nsandgate_connections 3\n",
        "\nsandgate_http_requests_total{path=\"/validate\",code=\"200\"} 1\n",
        "\nsandgate_http_requests_total{path=\"other\",code=\"other\"} 1\n",
        "\nsandgate_reviews_total{outcome=\"refused\",allowed=\"false\"} 1\n",
        "\nsandgate_reviews_total{outcome=\"ready\",allowed=\"true\"} 1\n",
        "\nsandgate_review_duration_seconds_bucket{le=\"0.00025\"} 0\n",
        "\nsandgate_review_duration_seconds_bucket{le=\"0.0005\"} 1\n",
        "\nsandgate_review_duration_seconds_bucket{le=\"10\"} 1\n",
        "\nsandgate_review_duration_seconds_bucket{le=\"+Inf\"} 2\n",
        "\nsandgate_review_duration_seconds_sum 20.000300\n",
        "\nsandgate_review_duration_seconds_count 2\n",
        "\nsandgate_reloads_total{part=\"keyring\",result=\"error\"} 1\n",
        "\nsandgate_reloads_total{part=\"keyring\",result=\"ok\"} 0\n",
        "\nsandgate_connections_cut_total{reason=\"slow\"} 1\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        cr_expect(str_contains(text, str_of(lines[i])), "%s", lines[i]);
}

Test(metrics, metrics_of_a_cluster_exist_only_with_a_cluster)
{
    static struct metrics metrics;
    static const char *const lines[] = {
        "\nsandgate_watch_age_seconds 61.005\n",
        "\nsandgate_watch_stale 1\n",
        "\nsandgate_watch_failed_reads 9\n",
        "\nsandgate_watch_relists_total 2\n",
        "\nsandgate_watch_failures_total 3\n",
        "\nsandgate_confirmations_total 4\n",
        "\nsandgate_confirmations_refused_total 5\n",
        "\nsandgate_evidence_objects 6\n",
        "\nsandgate_namespaces 7\n",
        "\nsandgate_network_policies 8\n",
        "\nsandgate_reviews_undecided_total{code=\"503\"} 1\n",
        "\nsandgate_reviews_undecided_total{code=\"504\"} 2\n",
    };
    const struct cluster_status watch = {.ready = true,
                                         .last_event_age_msec = 61005,
                                         .stale = true,
                                         .failed_reads = 9,
                                         .relists = 2,
                                         .failures = 3,
                                         .confirmations = 4,
                                         .confirmations_refused = 5,
                                         .config_maps = 6,
                                         .namespaces = 7,
                                         .network_policies = 8};
    struct metrics_state state = {.watch = &watch};
    struct arena cleanup_arena arena = {0};
    struct str text = {0};

    metrics_count_review(&metrics, &(const struct exchange){.undecided = 503}, 0);
    metrics_count_review(&metrics, &(const struct exchange){.undecided = 504}, 0);
    metrics_count_review(&metrics, &(const struct exchange){.undecided = 504}, 0);
    cr_assert_eq(metrics_write(&metrics, &state, &arena, &text), 0);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        cr_expect(str_contains(text, str_of(lines[i])), "%s", lines[i]);
    state.watch = NULL;
    cr_assert_eq(metrics_write(&metrics, &state, &arena, &text), 0);
    cr_expect_not(str_contains(text, STR("sandgate_watch_")));
}

/* The output of a log of that kind, without the time. */
static void read_line(bool text, char ret_line[static 512])
{
    int ends[2];
    struct log log = {.level = LOG_LEVEL_INFO, .text = text};
    ssize_t n = 0;

    cr_assert_eq(pipe(ends), 0);
    log.fd = ends[1];
    log_line(&log, LOG_LEVEL_DEBUG, "not written");
    log_line_with(&log, LOG_LEVEL_WARN, "it \"is\"",
                  log_text("what", STR("a\nb\033[1m\xff\xe2\x80\xae")), log_number("count", -3),
                  log_text("none", (struct str){0}));
    n = read(ends[0], ret_line, 511);
    cr_assert_gt(n, 0);
    ret_line[n] = '\0';
    (void)close(ends[0]);
    (void)close(ends[1]);
}

Test(log, a_line_is_json_and_cannot_be_forged)
{
    char line[512];

    read_line(false, line);
    cr_expect_eq(strncmp(line, "{\"time\":\"20", 11), 0, "%s", line);
    cr_expect_str_eq(strstr(line, ",\"level\""),
                     ",\"level\":\"warn\",\"message\":\"it \\\"is\\\"\",\"what\":\"a b?[1m??\","
                     "\"count\":-3,\"none\":\"\"}\n");
}

Test(log, a_terminal_gets_plain_text)
{
    char line[512];

    read_line(true, line);
    cr_expect_str_eq(line + strlen("2026-11-29T20:02:18.128Z"),
                     " warn  it \"is\"  what=a b?[1m??  count=-3  none=\n");
}

Test(log, levels_have_names)
{
    enum log_level level = LOG_LEVEL_UNSET;

    cr_expect(log_read_level(STR("debug"), &level));
    cr_expect_eq((int)level, LOG_LEVEL_DEBUG);
    cr_expect_not(log_read_level(STR(""), &level));
    cr_expect_not(log_read_level(STR("DEBUG"), &level));
    cr_expect_eq((int)level, LOG_LEVEL_DEBUG);
}
