/* SPDX-License-Identifier: Apache-2.0 */
/* plan - the rules of when a CA and a certificate are made, exchanged and served. See plan.h. */

#include "webhook/selfcert/plan.h"

#include <assert.h>

#define DAY_SEC INT64_C(86400)
#define HOUR_SEC INT64_C(3600)
/* Replicas spread their renewals over this part of a life, at most over an hour. */
#define JITTER_SHARE 20

bool self_is_valid(struct self_validity span, int64_t now_sec)
{
    return span.from_sec <= now_sec && now_sec < span.to_sec;
}

static int64_t life_sec(struct self_validity span)
{
    return span.to_sec - span.from_sec;
}

/* Two thirds of its life are over, plus the replica's part of the jitter. */
static bool is_due(struct self_validity span, const struct self_view *view)
{
    int64_t spread_sec = life_sec(span) / JITTER_SHARE;

    if (spread_sec > HOUR_SEC)
        spread_sec = HOUR_SEC;
    return view->now_sec >= span.from_sec + life_sec(span) / 3 * 2 +
                                spread_sec * (int64_t)view->jitter / SELF_FULL_JITTER;
}

bool self_is_overdue(struct self_validity span, int64_t now_sec)
{
    return now_sec >= span.from_sec + life_sec(span) / 6 * 5;
}

/* Why there is no CA to sign with. */
static const char *ca_why(struct self_validity ca, int64_t now_sec)
{
    if (ca.to_sec == 0)
        return "the Secret has no CA with its key";
    return now_sec < ca.from_sec ? "the CA is not valid yet: is a clock wrong?"
                                 : "the CA has expired";
}

/* Adds the steps for the CA. Returns the CA that signs after them. */
static struct self_validity plan_ca(const struct self_facts *facts, const struct self_view *view,
                                    struct self_plan *plan)
{
    bool next_valid = self_is_valid(facts->next, view->now_sec);
    /* where the gate maintains no caBundles, an operator has had a sixth of the CA's life to copy
     * ca.crt */
    bool settled = view->watched ? view->next_settled : self_is_overdue(facts->ca, view->now_sec);

    if (!self_is_valid(facts->ca, view->now_sec)) {
        plan->steps |= next_valid ? SELF_PROMOTE : SELF_MAKE_CA;
        plan->why = ca_why(facts->ca, view->now_sec);
        if (next_valid)
            return facts->next;
        return (struct self_validity){.from_sec = view->now_sec, .to_sec = INT64_MAX};
    }
    if (next_valid && settled) {
        plan->steps |= SELF_PROMOTE;
        plan->why = "the next CA is in place everywhere";
        return facts->next;
    }
    if (!next_valid && is_due(facts->ca, view)) {
        plan->steps |= SELF_MAKE_NEXT;
        plan->why = "two thirds of the CA's life are over";
    }
    return facts->ca;
}

/* Why a serving certificate has to be made; NULL: it does not. */
static const char *serving_why(const struct self_facts *facts, const struct self_view *view,
                               struct self_validity ca)
{
    struct self_validity serving = facts->serving;
    int64_t end_sec = view->now_sec + view->certificate_days * DAY_SEC;

    if (serving.to_sec == 0)
        return "the Secret has no certificate with its key";
    if (!facts->serving_named)
        return "the certificate lacks a name of tls.self.dnsNames";
    if (view->now_sec < serving.from_sec)
        return "the certificate is not valid yet: is a clock wrong?";
    if (view->now_sec >= serving.to_sec)
        return "the certificate has expired";
    if (!facts->serving_by_ca)
        return "the certificate was not signed by the CA";
    /* near the expiry of a CA that cannot be exchanged, a new certificate would expire no later */
    if (is_due(serving, view) &&
        (end_sec < ca.to_sec ? end_sec : ca.to_sec) > serving.to_sec + HOUR_SEC)
        return "two thirds of the certificate's life are over";
    return NULL;
}

struct self_plan self_plan(const struct self_facts *facts, const struct self_view *view)
{
    struct self_plan plan = {0};
    struct self_validity ca = plan_ca(facts, view, &plan);
    const char *why = serving_why(facts, view, ca);

    if ((plan.steps & (SELF_MAKE_CA | SELF_PROMOTE)) != 0) {
        plan.steps |= SELF_MAKE_SERVING;
    } else if (why != NULL) {
        plan.steps |= SELF_MAKE_SERVING;
        plan.why = why;
    }
    if (facts->old_ended) {
        plan.steps |= SELF_DROP_OLD;
        if (plan.why == NULL)
            plan.why = "a former CA has expired";
    }
    assert((plan.steps != 0) == (plan.why != NULL));
    return plan;
}

bool self_may_serve(const struct self_offer *offer, int64_t now_sec)
{
    if (!self_is_valid(offer->offered, now_sec))
        return false;
    return !self_is_valid(offer->current, now_sec) || offer->same_ca || offer->settled;
}

static const uint64_t *seen_since(const struct self_seen *seen, const struct certificate_id *id)
{
    for (size_t i = 0; i < seen->count; i++)
        if (certificate_same(&seen->items[i].id, id))
            return &seen->items[i].since_msec;
    return NULL;
}

void self_seen_update(struct self_seen *seen, const struct certificate_id *ids, size_t count,
                      uint64_t now_msec)
{
    struct self_seen now = {0};

    for (size_t i = 0; i < count && now.count < CERTIFICATE_MAX_BUNDLE; i++) {
        const uint64_t *since_msec = seen_since(seen, &ids[i]);

        now.items[now.count].id = ids[i];
        now.items[now.count++].since_msec = since_msec != NULL ? *since_msec : now_msec;
    }
    *seen = now;
}

bool self_seen_is(const struct self_seen *seen, const struct certificate_id *id)
{
    return seen_since(seen, id) != NULL;
}

bool self_seen_settled(const struct self_seen *seen, const struct certificate_id *id,
                       uint64_t now_msec)
{
    const uint64_t *since_msec = seen_since(seen, id);

    return since_msec != NULL && now_msec - *since_msec >= SELF_SETTLE_MSEC;
}

bool self_quota_take(struct self_quota *quota, uint64_t now_msec)
{
    for (size_t i = 0; i < SELF_MAX_WRITES; i++) {
        if (quota->at_msec[i] != 0 && now_msec - quota->at_msec[i] < SELF_WRITES_MSEC)
            continue;
        quota->at_msec[i] = now_msec > 0 ? now_msec : 1;
        return true;
    }
    return false;
}
