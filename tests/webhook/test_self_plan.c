/* SPDX-License-Identifier: Apache-2.0 */
/* test_self_plan - what a replica does next with its certificates, as a pure function. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "webhook/selfcert/plan.h"

#define DAY INT64_C(86400)
#define HOUR INT64_C(3600)
#define NOW (20000 * DAY)
#define NEVER                                                                                      \
    {                                                                                              \
        0, 0                                                                                       \
    }

/* Days before or after now. */
#define SPAN(from, to)                                                                             \
    {                                                                                              \
        NOW + (from)*DAY, NOW + (to)*DAY                                                           \
    }

struct row {
    const char *name;
    struct self_facts facts;
    bool watched;
    bool settled;
    unsigned steps;
    const char *why;
};

/* A CA for 90 days, certificates for 9. */
static const struct row rows[] = {
    {.name = "an empty Secret",
     .watched = true,
     .steps = SELF_MAKE_CA | SELF_MAKE_SERVING,
     .why = "the Secret has no CA with its key"},
    {.name = "all is well",
     .facts = {SPAN(-10, 80), NEVER, SPAN(-1, 8), true, true, false},
     .watched = true},
    {.name = "a certificate just before two thirds of its life",
     .facts = {SPAN(-10, 80), NEVER, {NOW - 6 * DAY + 1, NOW + 3 * DAY + 1}, true, true, false},
     .watched = true},
    {.name = "a certificate at two thirds of its life",
     .facts = {SPAN(-10, 80), NEVER, SPAN(-6, 3), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "two thirds of the certificate's life are over"},
    {.name = "a certificate that has ended",
     .facts = {SPAN(-20, 70), NEVER, SPAN(-9, 0), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "the certificate has expired"},
    {.name = "a certificate of the future",
     .facts = {SPAN(-20, 70), NEVER, SPAN(1, 10), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "the certificate is not valid yet: is a clock wrong?"},
    {.name = "a certificate of other names",
     .facts = {SPAN(-20, 70), NEVER, SPAN(-1, 8), true, false, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "the certificate lacks a name of tls.self.dnsNames"},
    {.name = "a certificate of another CA",
     .facts = {SPAN(-20, 70), NEVER, SPAN(-1, 8), false, true, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "the certificate was not signed by the CA"},
    {.name = "no certificate that can be read",
     .facts = {SPAN(-20, 70), NEVER, NEVER, false, false, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "the Secret has no certificate with its key"},
    {.name = "a CA at two thirds of its life",
     .facts = {SPAN(-60, 30), NEVER, SPAN(-1, 8), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_NEXT,
     .why = "two thirds of the CA's life are over"},
    {.name = "CA and certificate at two thirds of their lives",
     .facts = {SPAN(-60, 30), NEVER, SPAN(-6, 3), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_NEXT | SELF_MAKE_SERVING,
     .why = "two thirds of the certificate's life are over"},
    {.name = "the next CA is not in place yet",
     .facts = {SPAN(-60, 30), SPAN(0, 90), SPAN(-1, 8), true, true, false},
     .watched = true},
    {.name = "the next CA is not in place, a certificate is due: the old CA signs",
     .facts = {SPAN(-60, 30), SPAN(0, 90), SPAN(-6, 3), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_SERVING,
     .why = "two thirds of the certificate's life are over"},
    {.name = "the next CA is in place",
     .facts = {SPAN(-60, 30), SPAN(0, 90), SPAN(-1, 8), true, true, false},
     .watched = true,
     .settled = true,
     .steps = SELF_PROMOTE | SELF_MAKE_SERVING,
     .why = "the next CA is in place everywhere"},
    {.name = "without webhook configuration, and early",
     .facts = {SPAN(-74, 16), SPAN(-14, 76), SPAN(-1, 8), true, true, false}},
    {.name = "without webhook configuration, after five sixths of the CA's lifetime",
     .facts = {SPAN(-75, 15), SPAN(-15, 75), SPAN(-1, 8), true, true, false},
     .steps = SELF_PROMOTE | SELF_MAKE_SERVING,
     .why = "the next CA is in place everywhere"},
    {.name = "the CA ended while the next one never came into place",
     .facts = {SPAN(-90, 0), SPAN(-30, 60), SPAN(-3, 0), true, true, false},
     .watched = true,
     .steps = SELF_PROMOTE | SELF_MAKE_SERVING,
     .why = "the CA has expired"},
    {.name = "all have ended",
     .facts = {SPAN(-200, -110), SPAN(-150, -60), SPAN(-119, -110), true, true, true},
     .watched = true,
     .steps = SELF_MAKE_CA | SELF_MAKE_SERVING | SELF_DROP_OLD,
     .why = "the CA has expired"},
    {.name = "an expired next CA is made again",
     .facts = {SPAN(-80, 10), SPAN(-91, -1), SPAN(-1, 8), true, true, false},
     .watched = true,
     .settled = true,
     .steps = SELF_MAKE_NEXT,
     .why = "two thirds of the CA's life are over"},
    {.name = "a CA of the future: a clock went back",
     .facts = {SPAN(100, 190), NEVER, SPAN(100, 109), true, true, false},
     .watched = true,
     .steps = SELF_MAKE_CA | SELF_MAKE_SERVING,
     .why = "the CA is not valid yet: is a clock wrong?"},
    {.name = "a CA without its key, and a certificate that is good",
     .facts = {NEVER, NEVER, SPAN(-1, 8), false, true, false},
     .watched = true,
     .steps = SELF_MAKE_CA | SELF_MAKE_SERVING,
     .why = "the Secret has no CA with its key"},
    {.name = "near the end of a CA that stays, a new certificate would end no later",
     .facts = {SPAN(-88, 2), SPAN(-28, 62), SPAN(-7, 2), true, true, false},
     .watched = true},
    {.name = "a former CA has expired",
     .facts = {SPAN(-10, 80), NEVER, SPAN(-1, 8), true, true, true},
     .watched = true,
     .steps = SELF_DROP_OLD,
     .why = "a former CA has expired"},
};

Test(self_plan, every_row_has_the_expected_plan)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct self_view view = {.now_sec = NOW,
                                 .certificate_days = 9,
                                 .watched = rows[i].watched,
                                 .next_settled = rows[i].settled};
        struct self_plan plan = self_plan(&rows[i].facts, &view);

        cr_expect_eq(plan.steps, rows[i].steps, "%s: %#x", rows[i].name, plan.steps);
        cr_expect_str_eq(plan.why != NULL ? plan.why : "-", rows[i].why != NULL ? rows[i].why : "-",
                         "%s: %s", rows[i].name, plan.why);
    }
}

Test(self_plan, jitter_is_up_to_an_hour_or_a_twentieth_of_the_lifetime)
{
    struct self_facts facts = {SPAN(-10, 80), NEVER, SPAN(-6, 3), true, true, false};
    struct self_view view = {.now_sec = NOW, .certificate_days = 9, .jitter = SELF_FULL_JITTER};

    cr_assert_eq(self_plan(&facts, &view).steps, 0);
    view.now_sec = NOW + HOUR - 1;
    cr_assert_eq(self_plan(&facts, &view).steps, 0);
    view.now_sec = NOW + HOUR;
    cr_assert_eq(self_plan(&facts, &view).steps, SELF_MAKE_SERVING);
    facts.serving = (struct self_validity){NOW - 4 * HOUR, NOW + 2 * HOUR};
    view.now_sec = NOW + 6 * HOUR / 20 - 1;
    cr_assert_eq(self_plan(&facts, &view).steps, 0);
    view.now_sec = NOW + 6 * HOUR / 20;
    cr_assert_eq(self_plan(&facts, &view).steps, SELF_MAKE_SERVING);
}

Test(self_plan, certificates_that_can_be_served)
{
    const struct self_validity good = SPAN(-1, 8), ended = SPAN(-9, 0), future = SPAN(1, 2);
    const struct {
        const char *name;
        struct self_offer offer;
        bool may;
    } offers[] = {
        {"the first", {NEVER, good, false, false}, true},
        {"one of an unknown CA in the place of a good one", {good, good, false, false}, false},
        {"one of the same CA", {good, good, true, false}, true},
        {"one of a CA in place", {good, good, false, true}, true},
        {"one of an unknown CA in the place of one that ended", {ended, good, false, false}, true},
        {"one of an unknown CA in the place of one of the future", {future, good, 0, 0}, true},
        {"one that ended", {NEVER, ended, true, true}, false},
        {"one of the future", {NEVER, future, true, true}, false},
    };

    for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++)
        cr_expect_eq(self_may_serve(&offers[i].offer, NOW), offers[i].may, "%s", offers[i].name);
}

Test(self_plan, a_certificate_seen_continuously_becomes_settled)
{
    const struct certificate_id a = {{1}}, b = {{2}};
    const struct certificate_id both[] = {a, b};
    struct self_seen seen = {0};

    cr_assert(!self_seen_is(&seen, &a));
    self_seen_update(&seen, both, 1, 1000);
    self_seen_update(&seen, both, 2, 61000);
    cr_assert(self_seen_is(&seen, &a) && self_seen_is(&seen, &b));
    cr_assert(!self_seen_settled(&seen, &a, 120999));
    cr_assert(self_seen_settled(&seen, &a, 121000));
    cr_assert(!self_seen_settled(&seen, &b, 121000));
    self_seen_update(&seen, &b, 1, 130000); /* it was removed */
    cr_assert(!self_seen_is(&seen, &a));
    self_seen_update(&seen, both, 2, 150000);
    cr_assert(!self_seen_settled(&seen, &a, 269999));
    cr_assert(self_seen_settled(&seen, &a, 270000));
    cr_assert(self_seen_settled(&seen, &b, 181000));
}

Test(self_plan, one_replica_writes_at_most_four_times_an_hour)
{
    struct self_quota quota = {0};

    for (unsigned i = 0; i < SELF_MAX_WRITES; i++)
        cr_assert(self_quota_take(&quota, i * 1000));
    cr_assert(!self_quota_take(&quota, 3000));
    cr_assert(!self_quota_take(&quota, SELF_WRITES_MSEC));
    cr_assert(self_quota_take(&quota, SELF_WRITES_MSEC + 1)); /* 0 counts as 1 */
    cr_assert(!self_quota_take(&quota, SELF_WRITES_MSEC + 2));
}
