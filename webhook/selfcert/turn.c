/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/selfcert/turn.h"

#include <errno.h>

#include "k8s/util/clock.h"
#include "k8s/util/http_status.h"
#include "webhook/selfcert/bundle.h"
#include "webhook/selfcert/secret.h"

#define NOT_READY "not ready: "
#define MAX_TRIES 4 /* in one turn, where others write at the same time */
#define HOUR_MSEC (UINT64_C(3600) * 1000)
#define DAY_SEC INT64_C(86400)

/* One turn. */
struct turn {
    struct self_replica *replica;
    const struct config *config;
    int64_t now_sec;
    uint64_t now_msec;
    struct arena arena; /* keys are in it */
    struct str detail;  /* of what failed; in the arena */
};

const char *self_why_text(enum self_why why)
{
    static const char *const texts[SELF_WHY_COUNT] = {
        [SELF_STARTING] = NOT_READY "the Secret of tls.self.secret was not read yet",
        [SELF_SECRET_UNREACHABLE] =
            NOT_READY "the API server gives no answer about the Secret of tls.self.secret",
        [SELF_SECRET_MISSING] =
            NOT_READY "the Secret of tls.self.secret does not exist: create it, empty",
        [SELF_SECRET_NO_GET] =
            NOT_READY "the right to get the Secret of tls.self.secret is missing",
        [SELF_SECRET_NO_PATCH] =
            NOT_READY "the right to patch the Secret of tls.self.secret is missing",
        [SELF_SECRET_FAILED] = NOT_READY "the Secret of tls.self.secret cannot be read or written",
        [SELF_WEBHOOKS_UNREACHABLE] = NOT_READY "the API server gives no answer about "
                                                "tls.self.webhookConfiguration",
        [SELF_WEBHOOKS_MISSING] = NOT_READY "the ValidatingWebhookConfiguration of "
                                            "tls.self.webhookConfiguration does not exist",
        [SELF_WEBHOOKS_NO_GET] = NOT_READY "the right to get the ValidatingWebhookConfiguration "
                                           "of tls.self.webhookConfiguration is missing",
        [SELF_WEBHOOKS_NO_PATCH] = NOT_READY "the right to patch the "
                                             "ValidatingWebhookConfiguration of "
                                             "tls.self.webhookConfiguration is missing",
        [SELF_WEBHOOKS_FAILED] =
            NOT_READY "the ValidatingWebhookConfiguration of "
                      "tls.self.webhookConfiguration cannot be read or written",
        [SELF_CROWDED] = NOT_READY "the certificates were made anew too often: do two gates "
                                   "share the Secret, or is a clock wrong?",
        [SELF_UNCOVERED] = NOT_READY "the CA is not in every caBundle yet",
        [SELF_ENDED] = NOT_READY "the serving certificate has ended and there is no new one",
        [SELF_MEMORY] = NOT_READY "no certificate could be made: out of memory",
    };

    return (unsigned)why < SELF_WHY_COUNT ? texts[why] : NULL;
}

static enum self_why turn_fail(struct turn *turn, enum self_why why, struct str detail)
{
    turn->detail = detail;
    return why;
}

/* The five ways in which calls about one object fail, in the order of enum self_why. */
static enum self_why turn_failed_call(struct turn *turn, enum self_why unreachable, int result,
                                      bool reading, const struct api_reply *reply)
{
    turn->detail = reply->reason;
    if (result == -ENOMEM)
        return SELF_MEMORY;
    if (result < 0)
        return unreachable;
    if (reply->status == HTTP_NOT_FOUND)
        return unreachable + 1;
    if (reply->status == HTTP_FORBIDDEN)
        return reading ? unreachable + 2 : unreachable + 3;
    return reply->status == HTTP_UNAUTHORIZED ? unreachable : unreachable + 4;
}

static int turn_ask(struct turn *turn, enum api_method method, struct str path, struct str type,
                    struct str body, struct api_reply *ret_reply)
{
    struct api_request request = {
        .method = method,
        .path = path,
        .content_type = type,
        .body = body,
        .deadline_msec = clock_msec() + SELF_CALL_MSEC,
    };

    if (!str_present(path))
        return -ENOMEM;
    return api_do(turn->replica->api, &request, &turn->arena, ret_reply);
}

static struct str turn_secret_path(struct turn *turn, const char *query)
{
    struct str space = api_encode(&turn->arena, turn->config->policy.own_namespace);
    struct str name = api_encode(&turn->arena, turn->config->self.secret);

    if (!str_present(space) || !str_present(name))
        return (struct str){0};
    return arena_format(&turn->arena, "/api/v1/namespaces/%.*s/secrets/%.*s%s", (int)space.len,
                        space.ptr, (int)name.len, name.ptr, query);
}

static struct str turn_webhooks_path(struct turn *turn, const char *query)
{
    struct str name = api_encode(&turn->arena, turn->config->self.webhook_configuration);

    if (!str_present(name))
        return (struct str){0};
    return arena_format(
        &turn->arena,
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/%.*s%s",
        (int)name.len, name.ptr, query);
}

static enum self_why turn_read_secret(struct turn *turn, struct self_secret *ret_secret)
{
    struct api_reply reply = {0};
    int r = turn_ask(turn, API_GET, turn_secret_path(turn, ""), (struct str){0}, (struct str){0},
                     &reply);

    if (r < 0 || reply.status != HTTP_OK)
        return turn_failed_call(turn, SELF_SECRET_UNREACHABLE, r, true, &reply);
    r = self_secret_read(reply.body, &turn->arena, ret_secret);
    if (r == -ENOMEM)
        return SELF_MEMORY;
    return r < 0 ? turn_fail(turn, SELF_SECRET_FAILED, STR("the answer is no Secret")) : SELF_READY;
}

static enum self_why turn_read_webhooks(struct turn *turn, struct self_webhooks *ret_webhooks)
{
    struct api_reply reply = {0};
    int r = turn_ask(turn, API_GET, turn_webhooks_path(turn, ""), (struct str){0}, (struct str){0},
                     &reply);

    if (r < 0 || reply.status != HTTP_OK)
        return turn_failed_call(turn, SELF_WEBHOOKS_UNREACHABLE, r, true, &reply);
    r = self_bundle_read(reply.body, &turn->arena, ret_webhooks);
    if (r == -ENOMEM)
        return SELF_MEMORY;
    if (r < 0)
        return turn_fail(turn, SELF_WEBHOOKS_FAILED,
                         STR("the answer is no ValidatingWebhookConfiguration, or has more than "
                             "16 webhooks"));
    return SELF_READY;
}

static void turn_note_present(struct turn *turn, const struct self_webhooks *webhooks,
                              const struct certificate_bundle *cas)
{
    struct self_replica *replica = turn->replica;
    struct certificate_id ids[CERTIFICATE_MAX_BUNDLE];
    size_t count = self_bundle_present(webhooks, cas, ids);

    self_seen_update(&replica->seen, ids, count, turn->now_msec);
    if (self_seen_is(&replica->seen, &replica->serving.ca))
        replica->covered = true;
}

/* Puts the CAs into every caBundle, and notes which are there. */
static enum self_why turn_mend_webhooks(struct turn *turn, const struct certificate_bundle *cas)
{
    struct self_webhooks *webhooks = arena_alloc(&turn->arena, 1, sizeof(*webhooks));
    enum self_why why = webhooks != NULL ? SELF_READY : SELF_MEMORY;

    for (unsigned i = 0; i < MAX_TRIES && why == SELF_READY; i++) {
        struct api_reply reply = {0};
        struct str patch = {0};
        int r = 0;

        why = turn_read_webhooks(turn, webhooks);
        if (why != SELF_READY)
            return why;
        turn_note_present(turn, webhooks, cas);
        r = self_bundle_mend(webhooks, cas, turn->now_sec, &turn->arena, &patch);
        if (r < 0)
            return SELF_MEMORY;
        if (!str_present(patch))
            return SELF_READY;
        r = turn_ask(turn, API_PATCH, turn_webhooks_path(turn, "?fieldManager=sandgate"),
                     STR("application/json-patch+json"), patch, &reply);
        if (r == 0 && reply.status == HTTP_OK)
            log_line(turn->replica->log, LOG_LEVEL_INFO, "caBundle put in place");
        else if (r < 0 || (reply.status != HTTP_CONFLICT && reply.status != HTTP_UNPROCESSABLE))
            return turn_failed_call(turn, SELF_WEBHOOKS_UNREACHABLE, r, false, &reply);
        turn->detail = reply.reason;
    }
    return why == SELF_READY ? SELF_WEBHOOKS_FAILED : why;
}

static bool turn_is_settled(const struct turn *turn, const struct certificate_id *ca)
{
    return self_seen_settled(&turn->replica->seen, ca, turn->now_msec);
}

/* Takes the Secret's certificate into use, where it may be. */
static enum self_why turn_serve(struct turn *turn, const struct self_secret *secret)
{
    struct self_replica *replica = turn->replica;
    bool watched = turn->config->self.webhook_configuration.len > 0;
    struct self_offer offer = {
        .current = replica->serving.span,
        .offered = {secret->serving.from_sec, secret->serving.to_sec},
        .same_ca = certificate_same(&secret->serving_ca, &replica->serving.ca),
        .settled = !watched || turn_is_settled(turn, &secret->serving_ca),
    };
    struct self_serving fresh = {
        .id = secret->serving.id, .ca = secret->serving_ca, .span = offer.offered};

    if (!secret->serving_trusted || certificate_same(&secret->serving.id, &replica->serving.id) ||
        !self_may_serve(&offer, turn->now_sec))
        return SELF_READY;
    fresh.pair.certificate = (struct str){.ptr = arena_copy(&fresh.arena, secret->serving.pem),
                                          .len = secret->serving.pem.len};
    fresh.pair.key = (struct str){.ptr = arena_copy(&fresh.arena, secret->serving_key),
                                  .len = secret->serving_key.len};
    if (fresh.pair.certificate.ptr == NULL || fresh.pair.key.ptr == NULL) {
        arena_wipe(&fresh.arena);
        return SELF_MEMORY;
    }
    arena_wipe(&replica->serving.arena);
    replica->serving = fresh;
    replica->generation++;
    replica->covered = !watched || self_seen_is(&replica->seen, &fresh.ca);
    replica->overdue_told_msec = 0;
    return SELF_READY;
}

static void turn_tell_steps(const struct turn *turn, const struct self_plan *plan, const char *flaw)
{
    log_line_with(turn->replica->log, LOG_LEVEL_INFO, "certificates made anew",
                  log_text("reason", str_of(plan->why)),
                  log_text("parts", (plan->steps & SELF_MAKE_CA) != 0     ? STR("CA, certificate")
                                    : (plan->steps & SELF_MAKE_NEXT) != 0 ? STR("next CA")
                                    : (plan->steps & SELF_PROMOTE) != 0
                                        ? STR("certificate of the next CA")
                                    : (plan->steps & SELF_MAKE_SERVING) != 0 ? STR("certificate")
                                                                             : STR("list of CAs")),
                  log_text("unusable", flaw != NULL ? str_of(flaw) : STR("")));
}

/* Writes what the plan asks for; *ret_again where the Secret is to be read again. */
static enum self_why turn_write_secret(struct turn *turn, const struct self_secret *secret,
                                       const struct self_plan *plan, bool *ret_again)
{
    struct api_reply reply = {0};
    struct str patch = {0};
    int r = 0;

    *ret_again = false;
    if (!self_pace_take(&turn->replica->pace, turn->now_msec))
        return turn_fail(turn, SELF_CROWDED, str_of(plan->why));
    r = self_secret_change(secret, plan->steps, &turn->config->self, turn->now_sec, &turn->arena,
                           &patch);
    if (r < 0)
        return turn_fail(turn, SELF_MEMORY, STR("no certificate could be made"));
    r = turn_ask(turn, API_PATCH, turn_secret_path(turn, "?fieldManager=sandgate"),
                 STR("application/merge-patch+json"), patch, &reply);
    if (r == 0 && reply.status == HTTP_OK)
        turn_tell_steps(turn, plan, secret->flaw);
    else if (r < 0 || reply.status != HTTP_CONFLICT)
        return turn_failed_call(turn, SELF_SECRET_UNREACHABLE, r, false, &reply);
    *ret_again = true; /* whoever won: what counts is what is there now */
    return SELF_READY;
}

/* One reading, and at most one change. */
static enum self_why turn_once(struct turn *turn, bool *ret_again)
{
    const struct config_self *settings = &turn->config->self;
    struct self_secret *secret = arena_alloc(&turn->arena, 1, sizeof(*secret));
    struct self_view view = {
        .now_sec = turn->now_sec,
        .certificate_days = settings->certificate_days,
        .jitter = turn->replica->jitter,
        .watched = settings->webhook_configuration.len > 0,
    };
    enum self_why why = secret != NULL ? turn_read_secret(turn, secret) : SELF_MEMORY;
    enum self_why mended = SELF_READY, served = SELF_READY;
    struct self_facts facts = {0};
    struct self_plan plan = {0};

    *ret_again = false;
    if (why != SELF_READY)
        return why;
    if (view.watched && secret->cas.count > 0)
        mended = turn_mend_webhooks(turn, &secret->cas);
    served = turn_serve(turn, secret);
    facts = self_secret_facts(secret, &settings->dns_names, turn->now_sec);
    /* only what was seen just now counts: an older look may be about what is wiped since */
    view.next_settled = mended == SELF_READY && turn_is_settled(turn, &secret->next.id);
    plan = self_plan(&facts, &view);
    if (plan.steps != 0)
        why = turn_write_secret(turn, secret, &plan, ret_again);
    if (why == SELF_READY)
        why = mended != SELF_READY ? mended : served;
    return why;
}

/* The same for a log line, where a replica may well be ready. */
static const char *told_text(enum self_why why)
{
    const char *text = self_why_text(why);

    return text != NULL ? text + strlen(NOT_READY) : "";
}

/* What went wrong is told when it begins, once an hour, and when it is over. */
static void turn_tell(struct turn *turn)
{
    struct self_replica *replica = turn->replica;
    const char *text = told_text(replica->failed);
    bool again = turn->now_msec - replica->told_msec >= HOUR_MSEC;

    if (replica->failed != SELF_READY && (replica->failed != replica->told || again)) {
        replica->told_msec = turn->now_msec;
        log_line_with(replica->log, LOG_LEVEL_WARN, "certificates cannot be kept",
                      log_text("what", str_of(text)), log_text("reason", turn->detail),
                      log_text("secret", turn->config->self.secret),
                      log_text("webhookConfiguration", turn->config->self.webhook_configuration));
    }
    if (replica->failed == SELF_READY && replica->told != SELF_READY)
        log_line(replica->log, LOG_LEVEL_INFO, "certificates are kept again");
    replica->told = replica->failed;
    if (replica->serving.span.to_sec == 0 ||
        !self_is_overdue(replica->serving.span, turn->now_sec) ||
        (replica->overdue_told_msec != 0 &&
         turn->now_msec - replica->overdue_told_msec < HOUR_MSEC))
        return;
    replica->overdue_told_msec = turn->now_msec;
    log_line_with(replica->log, LOG_LEVEL_ERROR,
                  "the serving certificate ends soon, or has ended, and was not renewed",
                  log_number("days", (replica->serving.span.to_sec - turn->now_sec) / DAY_SEC),
                  log_text("what", str_of(text)));
}

static enum self_why turn_readiness(const struct turn *turn)
{
    const struct self_replica *replica = turn->replica;

    if (replica->serving.span.to_sec == 0)
        return replica->failed != SELF_READY ? replica->failed : SELF_STARTING;
    if (turn->now_sec >= replica->serving.span.to_sec)
        return SELF_ENDED;
    if (replica->covered)
        return SELF_READY;
    return replica->failed != SELF_READY ? replica->failed : SELF_UNCOVERED;
}

void self_turn(struct self_replica *replica, const struct config *config, int64_t now_sec,
               uint64_t now_msec)
{
    struct turn turn = {
        .replica = replica, .config = config, .now_sec = now_sec, .now_msec = now_msec};
    bool again = true;

    for (unsigned i = 0; i < MAX_TRIES && again; i++) {
        replica->failed = turn_once(&turn, &again);
        if (again && i + 1 == MAX_TRIES)
            replica->failed = SELF_SECRET_FAILED;
    }
    replica->why = turn_readiness(&turn);
    turn_tell(&turn);
    arena_wipe(&turn.arena);
}

void self_replica_done(struct self_replica *replica)
{
    arena_wipe(&replica->serving.arena);
    replica->serving = (struct self_serving){0};
}
