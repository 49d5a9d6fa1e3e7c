/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_self_life - two replicas over months of short-lived certificates, with an unreachable API
 * server, conflicts, lost answers, restarts, an emptied Secret and different clocks. At every time
 * the certificate of a ready replica is valid and trusted by the API server, whose knowledge can be
 * one turn old.
 */
#include <criterion/criterion.h>
#include <errno.h>

#include "self_site.h"

#define LIFE_SEC (90 * SITE_DAY_SEC)

static uint64_t chance_state = 88172645463325252U;

static uint64_t chance(uint64_t below)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state % below;
}

struct life {
    struct site site;
    struct certificate_id served[SITE_REPLICAS]; /* at the turn before */
    bool trusted_before[SITE_REPLICAS];
    struct certificate_bundle before; /* of the first webhook, at the turn before */
    struct arena arena;               /* of `before` */
    unsigned changes;
};

static void other_reconciles(struct fake *fake, bool webhooks);

static struct life life;

static void other_reconciles(struct fake *fake, bool webhooks)
{
    (void)fake;
    (void)webhooks;
    site_reconcile(&life.site, 1);
}

static void disturb(void)
{
    struct fake *fake = &life.site.fake;

    fake->away = chance(20) == 0 ? -ECONNREFUSED : 0;
    fake->lose = chance(40) == 0;
    fake->between = chance(10) == 0 ? other_reconciles : NULL;
    fake->status[API_PATCH][1] = chance(30) == 0 ? 403 : 0;
    fake->status[API_PATCH][0] = chance(30) == 0 ? 500 : 0;
    if (chance(100) == 0)
        fake_empty_secret(fake);
    if (chance(300) == 0)
        site_restart(&life.site, chance(SITE_REPLICAS));
    if (chance(500) == 0)
        life.site.skew_sec[1] = (int64_t)chance(480) - 240;
}

static void check(size_t index)
{
    const struct self_replica *replica = &life.site.replicas[index];
    const struct self_serving *serving = &replica->serving;

    if (replica->why != SELF_READY)
        return;
    cr_assert(serving->span.from_sec <= life.site.now_sec, "not valid yet");
    cr_assert(life.site.now_sec < serving->span.to_sec, "ended");
    cr_assert(site_covers(&life.site, &serving->ca), "not trusted");
    if (!certificate_same(&serving->id, &life.served[index])) {
        life.changes++;
        /* a change of the served certificate: clients had one turn to get its CA */
        cr_assert(!life.trusted_before[index] ||
                      certificate_find(&life.before, &serving->ca) != NULL,
                  "trusted too late");
    }
    life.served[index] = serving->id;
}

static void note(void)
{
    arena_release(&life.arena);
    life.before = fake_bundle(&life.site.fake, 0, &life.arena);
    for (size_t i = 0; i < SITE_REPLICAS; i++)
        life.trusted_before[i] = life.site.replicas[i].why == SELF_READY;
}

Test(self_life, no_certificate_is_served_that_is_not_trusted)
{
    struct arena cleanup_arena arena = {0};
    struct site *site = &life.site;
    struct str log = {0};

    site_open(site);
    site->config->self.ca_days = 30;
    site->config->self.certificate_days = 10;
    while (site->now_sec < SITE_START_SEC + LIFE_SEC) {
        int64_t step_sec = chance(4) == 0 ? 20 + (int64_t)chance(100) : (int64_t)chance(8 * 3600);

        note();
        site->now_sec += step_sec;
        site->now_msec += (uint64_t)step_sec * 1000;
        disturb();
        for (size_t i = 0; i < SITE_REPLICAS; i++) {
            site_reconcile(site, i);
            check(i);
        }
    }
    site->fake.away = 0;
    site->fake.lose = 0;
    site->fake.between = NULL;
    site->fake.status[API_PATCH][0] = site->fake.status[API_PATCH][1] = 0;
    site_live(site, 600, 20);
    cr_assert_eq(site->replicas[0].why, SELF_READY);
    cr_assert(certificate_same(&site->replicas[0].serving.id, &site->replicas[1].serving.id));
    /* each certificate is used for two thirds of 10 days, each CA is valid for 20 */
    cr_assert_geq(life.changes, 2 * 90 / 10);
    cr_assert_leq(site->fake.writes, 150, "%u", site->fake.writes);
    log = site_log(site, &arena);
    cr_assert(log.len > 0 && !str_contains(log, STR("PRIVATE")));
    cr_assert(!str_contains(log, STR("LS0tLS1CRUdJTiBQUklW")), "the same in base64");
    arena_release(&life.arena);
    site_done(site);
}
