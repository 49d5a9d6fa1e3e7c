/* SPDX-License-Identifier: Apache-2.0 */
/* test_cases - every row of tests/cases/index.json that is a review and needs no connection,
 * through exchange_review(), which the server and the commands use. Checks the row, and properties
 * that hold for every answer. */

#include <criterion/criterion.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases_world.h"
#include "helper.h"
#include "planner/base/tree.h"

#define CASES TESTS_DIR "/cases/"
#define MAX_ARGUMENTS 16
#define MAX_FAILURES 40

extern char **environ;

struct run {
    struct arena *arena;
    const cJSON *expect;
    const cJSON *response; /* for status 200 */
    const cJSON *annotations;
    const cJSON *findings;        /* findings of the gate */
    const cJSON *packet_findings; /* findings of the packet */
    const char *input;            /* name of the row, for messages */
    const char *config;
    size_t failures;
};

static void fail(struct run *run, const char *what, struct str more)
{
    fprintf(stderr, "%s (%s): %s %.*s\n", run->input, run->config, what, (int)more.len,
            str_present(more) ? more.ptr : "");
    run->failures++;
}

static const char *path_of(struct arena *arena, struct str relative)
{
    struct str path = arena_format(arena, CASES "%.*s", (int)relative.len, relative.ptr);

    cr_assert(str_present(path));
    return path.ptr;
}

/* Runs a program that generates the input. The argument OUT is replaced by the file to write. */
static struct str run_program(struct arena *arena, const char *program, const cJSON *arguments)
{
    char folder[] = "/tmp/sandgate-cases-XXXXXX";
    const char *out = NULL;
    char *argv[MAX_ARGUMENTS + 1] = {arena_copy(arena, STR("python3")),
                                     arena_copy(arena, str_of(program))};
    const cJSON *argument = NULL;
    struct str text = {0};
    size_t n = 2;
    pid_t pid = 0;
    int status = 0;

    cr_assert_not_null(mkdtemp(folder));
    out = arena_format(arena, "%s/review.json", folder).ptr;
    cJSON_ArrayForEach(argument, arguments)
    {
        struct str given = tree_text(argument);

        cr_assert(n < MAX_ARGUMENTS);
        argv[n++] = arena_copy(arena, str_equal(given, STR("OUT")) ? str_of(out) : given);
    }
    cr_assert_eq(posix_spawnp(&pid, "python3", NULL, NULL, argv, environ), 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", program);
    text = cases_file(arena, out);
    (void)unlink(out);
    (void)rmdir(folder);
    return text;
}

static bool has_code(const cJSON *findings, struct str code)
{
    const cJSON *finding = NULL;

    cJSON_ArrayForEach(finding, findings)
    {
        if (str_equal(tree_get_text(finding, "code"), code))
            return true;
    }
    return false;
}

static void check_codes(struct run *run)
{
    const cJSON *code = NULL;

    cJSON_ArrayForEach(code, tree_get(run->expect, "codes"))
    {
        if (!has_code(run->findings, tree_text(code)) &&
            !has_code(run->packet_findings, tree_text(code)))
            fail(run, "lacks", tree_text(code));
    }
    cJSON_ArrayForEach(code, tree_get(run->expect, "not_codes"))
    {
        if (has_code(run->findings, tree_text(code)) ||
            has_code(run->packet_findings, tree_text(code)))
            fail(run, "must not have", tree_text(code));
    }
}

static bool has_place(const struct run *run, const cJSON *wanted)
{
    const cJSON *line = tree_get(wanted, "line");
    const cJSON *finding = NULL;
    struct str start = {0};

    if (line != NULL)
        start =
            arena_format(run->arena, "sandbox.runx.dev/requirements:%d:", (int)line->valuedouble);
    cJSON_ArrayForEach(finding, run->findings)
    {
        struct str place = tree_get_text(finding, "place");

        if (str_equal(tree_get_text(finding, "code"), tree_get_text(wanted, "code")) &&
            (line != NULL ? str_starts_with(place, start)
                          : str_equal(place, tree_get_text(wanted, "place"))))
            return true;
    }
    return false;
}

static void check_annotations(struct run *run)
{
    const cJSON *wanted = NULL, *part = NULL;

    cJSON_ArrayForEach(wanted, tree_get(run->expect, "places"))
    {
        if (!has_place(run, wanted))
            fail(run, "lacks a place", tree_get_text(wanted, "place"));
    }
    cJSON_ArrayForEach(wanted, tree_get(run->expect, "audit"))
    {
        if (!str_equal(tree_get_text(run->annotations, wanted->string), tree_text(wanted)))
            fail(run, wanted->string, tree_get_text(run->annotations, wanted->string));
    }
    cJSON_ArrayForEach(wanted, tree_get(run->expect, "audit_has"))
    {
        struct str text = tree_get_text(run->annotations, wanted->string);

        cJSON_ArrayForEach(part, wanted)
        {
            if (!str_contains(text, tree_text(part)))
                fail(run, wanted->string, text);
        }
    }
}

/* Planning the recorded input gives the recorded packet, byte for byte. */
static void check_replay(struct run *run)
{
    struct str packet = tree_get_text(run->annotations, "packet");
    struct str input = tree_get_text(run->annotations, "input");
    bool is_signed = str_contains(packet, STR("\"provenance\":\"signed_configmap\""));
    struct plan plan = {0};
    int r = 0;

    if (!str_present(packet) || !str_present(input) ||
        tree_get(run->annotations, "packet-truncated") != NULL)
        return;
    r = plan_evaluate(helper_json(run->arena, input),
                      is_signed ? PLAN_SIGNED_CONFIGMAP : PLAN_CALLER_SUPPLIED, run->arena, &plan);
    if (r != 0 || !str_equal(plan.packet, packet))
        fail(run, "replays to", plan.packet);
}

static void check_message(struct run *run, const cJSON *status)
{
    struct str message = tree_get_text(status, "message");
    const cJSON *part = NULL;

    if (!str_present(message) || message.len > ANSWER_MAX_MESSAGE_BYTES)
        fail(run, "message", message);
    for (size_t i = 0; i < message.len; i++) {
        if ((unsigned char)message.ptr[i] < ' ' && message.ptr[i] != '\n')
            fail(run, "control character in", message);
    }
    cJSON_ArrayForEach(part, tree_get(run->expect, "message_absent"))
    {
        if (str_contains(message, tree_text(part)))
            fail(run, "message holds", tree_text(part));
    }
}

static void check_allowed(struct run *run)
{
    const cJSON *expect = run->expect;
    const cJSON *code = tree_get(expect, "code");
    const cJSON *status = tree_get(run->response, "status");
    bool allowed = tree_is(tree_get(run->response, "allowed"), cJSON_True);

    if (allowed != tree_is(tree_get(expect, "allowed"), cJSON_True))
        fail(run, allowed ? "allowed" : "denied", tree_get_text(status, "message"));
    if (allowed != (status == NULL))
        fail(run, "status", tree_get_text(status, "message"));
    if (code != NULL && (tree_get(status, "code") == NULL ||
                         tree_get(status, "code")->valuedouble != code->valuedouble))
        fail(run, "another code", tree_get_text(status, "reason"));
    if (tree_get(expect, "outcome") != NULL &&
        !str_equal(tree_get_text(run->annotations, "outcome"), tree_get_text(expect, "outcome")))
        fail(run, "outcome", tree_get_text(run->annotations, "outcome"));
    if (tree_is(tree_get(expect, "warnings"), cJSON_True) &&
        tree_get(run->response, "warnings") == NULL)
        fail(run, "no warning", (struct str){0});
    if (!allowed)
        check_message(run, status);
}

/* The annotation `boundary`, byte for byte. null: it must not be there. */
static void check_boundary(struct run *run)
{
    const cJSON *wanted = tree_member(run->expect, "boundary");
    struct str given = tree_get_text(run->annotations, "boundary");
    char *text = NULL;

    if (wanted == NULL)
        return;
    if (!tree_is(wanted, cJSON_NULL)) {
        text = cJSON_PrintUnformatted(wanted);
        cr_assert_not_null(text);
    }
    if (text == NULL ? str_present(given) : !str_equal(given, str_of(text)))
        fail(run, "boundary", given);
    cJSON_free(text);
}

/* Texts that must not occur in the whole answer. */
static void check_absent(struct run *run, struct str body)
{
    const cJSON *part = NULL;

    cJSON_ArrayForEach(part, tree_get(run->expect, "absent"))
    {
        if (str_contains(body, tree_text(part)))
            fail(run, "the answer holds", tree_text(part));
    }
}

/* All findings of the gate in their order, and how many warnings there are. */
static void check_counted(struct run *run, struct str findings)
{
    const cJSON *wanted = tree_get(run->expect, "gate_findings");
    const cJSON *count = tree_get(run->expect, "warning_count");
    const cJSON *given = run->findings != NULL ? run->findings->child : NULL;
    const cJSON *finding = NULL;

    cJSON_ArrayForEach(finding, wanted)
    {
        if (!str_equal(tree_get_text(given, "code"), tree_get_text(finding, "code")) ||
            !str_equal(tree_get_text(given, "place"), tree_get_text(finding, "place")))
            fail(run, "another finding than", tree_get_text(finding, "code"));
        given = given != NULL ? given->next : NULL;
    }
    if (wanted != NULL && given != NULL)
        fail(run, "more findings", findings);
    if (count != NULL &&
        cJSON_GetArraySize(tree_get(run->response, "warnings")) != (int)count->valuedouble)
        fail(run, "another number of warnings", (struct str){0});
}

static void check_answer(struct run *run, const struct exchange *exchange)
{
    const cJSON *root = helper_json(run->arena, exchange->body);
    struct str findings = {0}, packet = {0};

    if (exchange->status != 200) {
        if (!str_equal(tree_get_text(root, "kind"), STR("Status")) ||
            (int)tree_get(root, "code")->valuedouble != exchange->status)
            fail(run, "no Status", exchange->body);
        return;
    }
    run->response = tree_get(root, "response");
    run->annotations = tree_get(run->response, "auditAnnotations");
    findings = tree_get_text(run->annotations, "findings");
    packet = tree_get_text(run->annotations, "packet");
    if (str_present(findings))
        run->findings = helper_json(run->arena, findings);
    if (str_present(packet))
        run->packet_findings = tree_get(
            tree_get(tree_get(helper_json(run->arena, packet), "hardening_profile"), "validation"),
            "findings");
    if (!str_equal(tree_get_text(run->response, "uid"), exchange->review.uid))
        fail(run, "uid", tree_get_text(run->response, "uid"));
    check_allowed(run);
    check_codes(run);
    check_annotations(run);
    check_boundary(run);
    check_counted(run, findings);
    check_absent(run, exchange->body);
    check_replay(run);
}

static size_t run_row(const cJSON *row)
{
    cleanup_arena struct arena arena = {0};
    const cJSON *evidence = tree_get(row, "evidence"), *keyring = tree_get(row, "keyring");
    const cJSON *arguments = tree_get(row, "arguments");
    const char *input = path_of(&arena, tree_get_text(row, "input"));
    struct run run = {.arena = &arena,
                      .expect = tree_get(row, "expect"),
                      .input = input,
                      .config = path_of(&arena, tree_get_text(row, "config"))};
    struct snapshot *snapshot =
        cases_world(run.config, evidence != NULL ? path_of(&arena, tree_text(evidence)) : NULL,
                    keyring != NULL ? path_of(&arena, tree_text(keyring)) : NULL);
    struct str body =
        arguments != NULL ? run_program(&arena, input, arguments) : cases_file(&arena, input);
    bool is_yaml = str_contains(str_of(input), STR(".yaml"));
    struct exchange exchange = {0};

    exchange_review(body, is_yaml ? DOCUMENT_YAML : DOCUMENT_JSON, ANSWER_JSON, snapshot,
                    helper_moment(tree_get_text(row, "as_of").ptr), &arena, &exchange);
    if (exchange.status != (int)tree_get(run.expect, "status")->valuedouble)
        fail(&run, "another HTTP status", exchange.body);
    else
        check_answer(&run, &exchange);
    snapshot_unref(snapshot);
    return run.failures;
}

/* Rows with `via: http` test the HTTP server, for example the size of bodies. */
static void run_case(const char *name, size_t wanted_rows)
{
    cleanup_arena struct arena arena = {0};
    const cJSON *rows = helper_json(&arena, cases_file(&arena, CASES "index.json"));
    const cJSON *row = NULL;
    size_t count = 0, failures = 0;

    cJSON_ArrayForEach(row, rows)
    {
        if (!str_equal(tree_get_text(row, "case"), str_of(name)) ||
            !str_equal(tree_get_text(row, "how"), STR("review")) || tree_get(row, "via") != NULL)
            continue;
        failures += run_row(row);
        count++;
    }
    cr_assert_eq(failures, 0);
    cr_assert_eq(count, wanted_rows, "%zu rows", count);
}

#define CASE(name, rows)                                                                           \
    Test(cases, name)                                                                              \
    {                                                                                              \
        run_case(#name, rows);                                                                     \
    }

CASE(A01, 9)
CASE(A03, 6)
CASE(A05, 7)
CASE(A07, 6)
CASE(B01, 10)
CASE(B04, 13)
CASE(B05, 6)
CASE(B07, 17)
CASE(C01, 30)
CASE(C04, 10)
CASE(D03, 21)
CASE(E05, 14)
CASE(F02, 1)
CASE(G01, 6)
CASE(H01, 61)
CASE(H03, 137)
