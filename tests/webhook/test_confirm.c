/* SPDX-License-Identifier: Apache-2.0 */
/* test_confirm - the questions before a decision is final, and the error if there is no answer. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "webhook/server/confirm.h"
#include "webhook/answer/exchange.h"

#define LOOKED .levels = {LEVEL_ANNOTATED, LEVEL_NONE, LEVEL_NONE, BOUNDARY_LEVEL_NONE}

/* The letters of the open questions in their order, while the snapshot is not stale. A question in
 * lower case does not deny. */
static const struct row {
    struct decision decision;
    const char *open;
    bool depends; /* whether the decision depends on the snapshot */
} rows[] = {
    {{.allowed = true, .outcome = OUTCOME_UNMANAGED, LOOKED, .cannot_deny = true}, "", true},
    {{.allowed = true,
      .outcome = OUTCOME_NEEDS_MORE_EVIDENCE,
      LOOKED,
      .judged = true,
      .evidence_missed = true,
      .violates_warn = true,
      .cannot_deny = true},
     "e",
     true},
    {{.allowed = true, .outcome = OUTCOME_NOT_EVALUATED}, "", false},
    {{.allowed = true, .outcome = OUTCOME_UNCHANGED}, "", false},
    {{.allowed = true, .outcome = OUTCOME_EXEMPT, .exempt_by_configuration = true}, "", false},
    {{.allowed = true, .outcome = OUTCOME_NOT_EVALUATED, LOOKED}, "", true},
    {{.allowed = true, .outcome = OUTCOME_UNMANAGED, LOOKED}, "", true},
    {{.allowed = true, .outcome = OUTCOME_UNMANAGED, LOOKED, .namespace_unseen = true}, "N", true},
    {{.allowed = true, .outcome = OUTCOME_READY, LOOKED, .judged = true}, "", true},
    {{.outcome = OUTCOME_REFUSED, LOOKED, .judged = true}, "", true},
    {{.outcome = OUTCOME_UNUSABLE, LOOKED, .judged = true}, "", true},
    {{.outcome = OUTCOME_REFUSED, LOOKED, .judged = true, .namespace_unseen = true}, "N", true},
    {{.allowed = true,
      .outcome = OUTCOME_REFUSED,
      LOOKED,
      .judged = true,
      .would_deny_enforce = true,
      .namespace_unseen = true,
      .cannot_deny = true},
     "N",
     true},
    /* missing evidence that does not matter: an exemption, or an accepted unsigned annotation */
    {{.allowed = true, .outcome = OUTCOME_EXEMPT, LOOKED, .judged = true, .evidence_missed = true},
     "",
     true},
    {{.allowed = true, .outcome = OUTCOME_READY, LOOKED, .judged = true, .evidence_missed = true},
     "",
     true},
    {{.outcome = OUTCOME_NEEDS_MORE_EVIDENCE, LOOKED, .judged = true, .evidence_missed = true},
     "E",
     true},
    {{.allowed = true,
      .outcome = OUTCOME_NEEDS_MORE_EVIDENCE,
      LOOKED,
      .judged = true,
      .evidence_missed = true,
      .would_deny_enforce = true},
     "e",
     true},
    {{.allowed = true,
      .outcome = OUTCOME_NEEDS_MORE_EVIDENCE,
      LOOKED,
      .judged = true,
      .evidence_missed = true,
      .violates_warn = true},
     "e",
     true},
    {{.allowed = true,
      .outcome = OUTCOME_NEEDS_MORE_EVIDENCE,
      LOOKED,
      .judged = true,
      .evidence_missed = true,
      .violates_audit = true},
     "e",
     true},
    {{.outcome = OUTCOME_NEEDS_MORE_EVIDENCE,
      LOOKED,
      .judged = true,
      .evidence_missed = true,
      .namespace_unseen = true},
     "NE",
     true},
};

static enum cluster_question question_of(char letter)
{
    return letter == 'N'                    ? CLUSTER_NAMESPACE
           : letter == 'E' || letter == 'e' ? CLUSTER_EVIDENCE
                                            : CLUSTER_FRESH;
}

/* Expects these questions, letter by letter. `leave`: nothing could deny, so that freshness is not
 * asked for, and a question without an answer denies nothing. */
static struct confirm wanted_of(const char *open, bool leave, const struct confirm_history *history)
{
    if (leave && *open == 'F' &&
        !(history->asked[CLUSTER_FRESH] && history->results[CLUSTER_FRESH] == 0))
        return (struct confirm){.step = CONFIRM_LEAVE};
    for (; *open != '\0'; open++) {
        enum cluster_question q = question_of(*open);

        if (!history->asked[q])
            return (struct confirm){.step = CONFIRM_ASK, .question = q};
        if (*open == 'e')
            continue; /* it would only warn, and does so without an answer too */
        /* the answer that the namespace does not exist leaves the question open */
        if (history->results[q] == 0 && q != CLUSTER_NAMESPACE)
            continue;
        if (leave)
            return (struct confirm){.step = CONFIRM_LEAVE};
        return (struct confirm){.step = CONFIRM_DENY, .question = q, .result = history->results[q]};
    }
    return (struct confirm){.step = CONFIRM_FINAL};
}

/* The nth of all histories: each question not asked, answered, or failed in one of four ways. */
static struct confirm_history history_of(unsigned n)
{
    static const int results[] = {0, 0, -ETIMEDOUT, -EBUSY, -EIO, -ESHUTDOWN};
    struct confirm_history history = {0};

    for (int q = CLUSTER_NAMESPACE; q < CONFIRM_QUESTIONS; q++) {
        history.asked[q] = n % 6 != 0;
        history.results[q] = results[n % 6];
        n /= 6;
    }
    return history;
}

Test(confirm, asks_what_is_open_and_each_question_once)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (unsigned n = 0; n < 2 * 6 * 6 * 6; n++) {
            bool stale = n % 2 == 1;
            struct confirm_history history = history_of(n / 2);
            char open[8];
            struct confirm wanted = {0}, got = confirm_next(&rows[i].decision, stale, &history);

            (void)snprintf(open, sizeof(open), "%s%s", stale && rows[i].depends ? "F" : "",
                           rows[i].open);
            wanted = wanted_of(open, rows[i].decision.cannot_deny, &history);
            cr_assert_eq(got.step, wanted.step, "row %zu, history %u", i, n);
            cr_assert_eq(got.question, wanted.question, "row %zu, history %u", i, n);
            cr_assert_eq(got.result, wanted.result, "row %zu, history %u", i, n);
        }
    }
}

/* A request ends after at most three questions, with any answers. */
Test(confirm, ends_for_every_decision)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct confirm_history history = {0};
        unsigned asked = 0;

        for (;;) {
            struct confirm next = confirm_next(&rows[i].decision, true, &history);

            if (next.step != CONFIRM_ASK)
                break;
            cr_assert(!history.asked[next.question]);
            history.asked[next.question] = true;
            cr_assert_leq(++asked, 3);
        }
    }
}

Test(confirm, error_names_the_question_and_the_reason)
{
#define DO                                                                                         \
    "; try again; if this persists, ask an administrator to check the gate's log and the metric "  \
    "sandgate_watch_age_seconds"
#define STALE                                                                                      \
    "sandgate did not decide: this replica has received nothing from the API server for longer "   \
    "than evidence.maxStaleSeconds, so the evidence and labels that it knows can be out of date; " \
    "nothing is said about the pod itself; it waited for an update, but "
    static const struct {
        enum cluster_question question;
        int result;
        int code;
        const char *message;
    } table[] = {
        {CLUSTER_NAMESPACE, 0, 503,
         "sandgate did not decide: the API server has no namespace payments, so its labels are "
         "unknown; create it, or try again if it is new"},
        {CLUSTER_NAMESPACE, -ETIMEDOUT, 504,
         "sandgate did not decide: it waited for the labels of the namespace payments, but the API "
         "server did not answer before the deadline of the request" DO},
        {CLUSTER_NAMESPACE, -ESHUTDOWN, 503,
         "sandgate did not decide: it waited for the labels of the namespace payments, but this "
         "replica of the gate is stopping" DO},
        {CLUSTER_EVIDENCE, -EBUSY, 503,
         "sandgate did not decide: it knows no evidence for this workload, and it waited to learn "
         "whether some was just applied in the namespace payments, but too many reviews wait for "
         "the API server already" DO},
        {CLUSTER_NAMESPACE, -EIO, 503,
         "sandgate did not decide: it waited for the labels of the namespace payments, but the API "
         "server could not be asked (the gate's log has the reason), or evidence.namespaces does "
         "not include this namespace" DO},
        {CLUSTER_FRESH, -EIO, 503,
         STALE "the API server could not be asked (the gate's log has the reason)" DO},
        {CLUSTER_FRESH, -ENOMEM, 503, STALE "the gate is out of memory" DO},
    };
    cleanup_arena struct arena arena = {0};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct confirm deny = {.question = table[i].question, .result = table[i].result};
        struct str message = confirm_message(&deny, STR("payments"), &arena);

        cr_assert_eq(confirm_code(&deny), table[i].code);
        cr_assert(str_equal(message, str_of(table[i].message)), "%.*s", (int)message.len,
                  message.ptr);
    }
}

/* An allowed decision becomes a denial, and never anything else at any limit of memory. */
Test(confirm, a_denial_takes_the_place_of_an_admission)
{
    static const char body[] =
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{"
        "\"uid\":\"u-7\",\"allowed\":false,\"status\":{\"code\":504,\"reason\":\"Timeout\","
        "\"message\":\"why\",\"details\":{\"retryAfterSeconds\":1}}}}";
    bool whole = false;

    for (size_t limit = 1; !whole && limit < ((size_t)1 << 22); limit += 4096) {
        cleanup_arena struct arena arena = {.limit_bytes = limit};
        struct exchange e = {.status = 200,
                             .decided = true,
                             .body = STR("allowed"),
                             .decision = {.allowed = true, .subject = STR("a/Pod/b")},
                             .review = {.uid = STR("u-7")}};

        exchange_deny(504, STR("why"), &arena, &e);
        cr_assert(!e.decided && !e.decision.allowed);
        cr_assert_eq(e.decision.outcome, OUTCOME_UNDECIDED);
        whole = e.status == 200;
        if (!whole) {
            cr_assert_eq(e.status, 500);
            cr_assert_eq(e.undecided, 0);
            continue;
        }
        cr_assert_eq(e.undecided, 504);
        cr_assert(str_equal(e.body, str_of(body)), "%.*s", (int)e.body.len, e.body.ptr);
        cr_assert(str_equal(e.decision.subject, STR("a/Pod/b")));
    }
    cr_assert(whole);
}
