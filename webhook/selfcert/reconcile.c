/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile - one pass: reads the Secret and the caBundles, writes what the plan asks for, and
 * starts to serve the certificate. plan.c decides, secret.c and bundle.c read and write the
 * objects, thread.c calls this again and again. */

#include "webhook/selfcert/reconcile.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "k8s/util/clock.h"
#include "k8s/util/http_status.h"
#include "k8s/util/percent.h"
#include "webhook/selfcert/bundle.h"
#include "webhook/selfcert/secret.h"

#define NOT_READY "not ready: "
#define MAX_TRIES 4 /* in one pass, where another replica writes at the same time */
#define HOUR_MSEC (UINT64_C(3600) * 1000)
#define DAY_SEC INT64_C(86400)

struct pass {
    struct self_replica *replica;
    const struct config *config;
    int64_t now_sec;
    uint64_t now_msec;
    struct arena arena; /* contains keys: wiped */
    struct str detail;  /* about the failure; in the arena */
};

const char *self_why_text(enum self_why why)
{
    static const char *const texts[SELF_WHY_COUNT] = {
        [SELF_STARTING] = NOT_READY "the Secret of tls.self.secret has not been read yet",
        [SELF_SECRET_UNREACHABLE] =
            NOT_READY "no answer from the API server about the Secret of tls.self.secret",
        [SELF_SECRET_MISSING] =
            NOT_READY "the Secret of tls.self.secret does not exist: create an empty one",
        [SELF_SECRET_NO_GET] =
            NOT_READY "the right to get the Secret of tls.self.secret is missing",
        [SELF_SECRET_NO_PATCH] =
            NOT_READY "the right to patch the Secret of tls.self.secret is missing",
        [SELF_SECRET_FAILED] = NOT_READY "the Secret of tls.self.secret cannot be read or written",
        [SELF_WEBHOOKS_UNREACHABLE] = NOT_READY "no answer from the API server about "
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
        [SELF_TOO_MANY_WRITES] = NOT_READY "the certificates were renewed too often: do two "
                                           "installations share the Secret, or is a clock wrong?",
        [SELF_CA_NOT_PUBLISHED] = NOT_READY "the CA is not in every caBundle yet",
        [SELF_EXPIRED] = NOT_READY "the serving certificate has expired and there is no new one",
        [SELF_MEMORY] = NOT_READY "no certificate could be made: out of memory",
    };

    assert(why < SELF_WHY_COUNT);
    return texts[why];
}

const char *self_why_detail(enum self_why why)
{
    const char *text = self_why_text(why);

    return text != NULL ? text + strlen(NOT_READY) : "";
}

static enum self_why fail(struct pass *pass, enum self_why why, struct str detail)
{
    pass->detail = detail;
    return why;
}

/* How calls about one object fail. */
struct call_failures {
    enum self_why unreachable;
    enum self_why missing;
    enum self_why no_get;
    enum self_why no_patch;
    enum self_why other;
};

static const struct call_failures secret_failures = {
    .unreachable = SELF_SECRET_UNREACHABLE,
    .missing = SELF_SECRET_MISSING,
    .no_get = SELF_SECRET_NO_GET,
    .no_patch = SELF_SECRET_NO_PATCH,
    .other = SELF_SECRET_FAILED,
};

static const struct call_failures webhooks_failures = {
    .unreachable = SELF_WEBHOOKS_UNREACHABLE,
    .missing = SELF_WEBHOOKS_MISSING,
    .no_get = SELF_WEBHOOKS_NO_GET,
    .no_patch = SELF_WEBHOOKS_NO_PATCH,
    .other = SELF_WEBHOOKS_FAILED,
};

static enum self_why failed_call(struct pass *pass, const struct call_failures *failures,
                                 enum api_method method, int result, const struct api_reply *reply)
{
    pass->detail = reply->reason;
    if (result < 0)
        return result == -ENOMEM ? SELF_MEMORY : failures->unreachable;
    switch (reply->status) {
    case HTTP_UNAUTHORIZED:
        return failures->unreachable;
    case HTTP_FORBIDDEN:
        return method == API_GET ? failures->no_get : failures->no_patch;
    case HTTP_NOT_FOUND:
        return failures->missing;
    default:
        return failures->other;
    }
}

static int call(struct pass *pass, enum api_method method, struct str path, struct str type,
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
    return api_do(pass->replica->api, &request, &pass->arena, ret_reply);
}

static struct str secret_path(struct pass *pass, const char *query)
{
    struct str space = percent_encode(&pass->arena, pass->config->policy.own_namespace);
    struct str name = percent_encode(&pass->arena, pass->config->self.secret);

    if (!str_present(space) || !str_present(name))
        return (struct str){0};
    return arena_format(&pass->arena, "/api/v1/namespaces/%.*s/secrets/%.*s%s", (int)space.len,
                        space.ptr, (int)name.len, name.ptr, query);
}

static struct str webhooks_path(struct pass *pass, const char *query)
{
    struct str name = percent_encode(&pass->arena, pass->config->self.webhook_configuration);

    if (!str_present(name))
        return (struct str){0};
    return arena_format(
        &pass->arena,
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/%.*s%s",
        (int)name.len, name.ptr, query);
}

static enum self_why read_secret(struct pass *pass, struct self_secret *ret_secret)
{
    struct api_reply reply = {0};
    int r = call(pass, API_GET, secret_path(pass, ""), (struct str){0}, (struct str){0}, &reply);

    if (r < 0 || reply.status != HTTP_OK)
        return failed_call(pass, &secret_failures, API_GET, r, &reply);
    r = self_secret_read(reply.body, &pass->arena, ret_secret);
    if (r == -ENOMEM)
        return SELF_MEMORY;
    return r < 0 ? fail(pass, SELF_SECRET_FAILED, STR("the answer is not a Secret")) : SELF_READY;
}

static enum self_why read_webhooks(struct pass *pass, struct self_webhooks *ret_webhooks)
{
    struct api_reply reply = {0};
    int r = call(pass, API_GET, webhooks_path(pass, ""), (struct str){0}, (struct str){0}, &reply);

    if (r < 0 || reply.status != HTTP_OK)
        return failed_call(pass, &webhooks_failures, API_GET, r, &reply);
    r = self_bundle_read(reply.body, &pass->arena, ret_webhooks);
    if (r == -ENOMEM)
        return SELF_MEMORY;
    if (r < 0)
        return fail(pass, SELF_WEBHOOKS_FAILED,
                    STR("the answer is not a ValidatingWebhookConfiguration, or has more than "
                        "16 webhooks"));
    return SELF_READY;
}

static void note_present(struct pass *pass, const struct self_webhooks *webhooks,
                         const struct certificate_bundle *cas)
{
    struct self_replica *replica = pass->replica;
    struct certificate_id ids[CERTIFICATE_MAX_BUNDLE];
    size_t count = self_bundle_present(webhooks, cas, ids);

    self_seen_update(&replica->seen, ids, count, pass->now_msec);
    if (self_seen_is(&replica->seen, &replica->serving.ca))
        replica->ca_published = true;
}

/* Puts the CAs into every caBundle, and notes which of them are in all. */
static enum self_why publish_cas(struct pass *pass, const struct certificate_bundle *cas)
{
    struct self_webhooks *webhooks = arena_alloc(&pass->arena, 1, sizeof(*webhooks));
    enum self_why why = webhooks != NULL ? SELF_READY : SELF_MEMORY;

    for (unsigned i = 0; i < MAX_TRIES && why == SELF_READY; i++) {
        struct api_reply reply = {0};
        struct str patch = {0};
        int r = 0;

        why = read_webhooks(pass, webhooks);
        if (why != SELF_READY)
            return why;
        note_present(pass, webhooks, cas);
        r = self_bundle_add(webhooks, cas, pass->now_sec, &pass->arena, &patch);
        if (r < 0)
            return SELF_MEMORY;
        if (!str_present(patch))
            return SELF_READY;
        r = call(pass, API_PATCH, webhooks_path(pass, "?fieldManager=sandgate"),
                 STR("application/json-patch+json"), patch, &reply);
        if (r == 0 && reply.status == HTTP_OK)
            log_line(pass->replica->log, LOG_LEVEL_INFO, "caBundle updated");
        else if (r < 0 || (reply.status != HTTP_CONFLICT && reply.status != HTTP_UNPROCESSABLE))
            return failed_call(pass, &webhooks_failures, API_PATCH, r, &reply);
        pass->detail = reply.reason;
    }
    return why == SELF_READY ? SELF_WEBHOOKS_FAILED : why;
}

static bool is_settled(const struct pass *pass, const struct certificate_id *ca)
{
    return self_seen_settled(&pass->replica->seen, ca, pass->now_msec);
}

/* Starts to serve the certificate of the Secret, if that is allowed now. */
static enum self_why use_certificate(struct pass *pass, const struct self_secret *secret)
{
    struct self_replica *replica = pass->replica;
    bool watched = pass->config->self.webhook_configuration.len > 0;
    struct self_offer offer = {
        .current = replica->serving.span,
        .offered = {secret->serving.from_sec, secret->serving.to_sec},
        .same_ca = certificate_same(&secret->serving_ca, &replica->serving.ca),
        .settled = !watched || is_settled(pass, &secret->serving_ca),
    };
    const struct certificate_pair pair = {secret->serving.pem, secret->serving_key};
    struct self_serving fresh = {
        .id = secret->serving.id, .ca = secret->serving_ca, .span = offer.offered};

    if (!secret->serving_trusted || certificate_same(&secret->serving.id, &replica->serving.id) ||
        !self_may_serve(&offer, pass->now_sec))
        return SELF_READY;
    if (certificate_pair_copy(&pair, &fresh.arena, &fresh.pair) < 0) {
        arena_wipe(&fresh.arena);
        return SELF_MEMORY;
    }
    arena_wipe(&replica->serving.arena);
    replica->serving = fresh;
    replica->generation++;
    replica->ca_published = !watched || self_seen_is(&replica->seen, &fresh.ca);
    replica->overdue_logged_msec = 0;
    return SELF_READY;
}

static void log_steps(const struct pass *pass, const struct self_plan *plan, const char *unusable)
{
    /* the first step that is taken names the parts; the others follow from it */
    static const struct {
        enum self_step step;
        const char *parts;
    } names[] = {
        {SELF_MAKE_CA, "CA, certificate"},
        {SELF_MAKE_NEXT, "next CA"},
        {SELF_PROMOTE, "certificate of the next CA"},
        {SELF_MAKE_SERVING, "certificate"},
        {SELF_DROP_OLD, "list of CAs"},
    };
    const char *parts = "";

    assert(plan->steps != 0 && plan->why != NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && parts[0] == '\0'; i++)
        if ((plan->steps & names[i].step) != 0)
            parts = names[i].parts;
    log_line_with(pass->replica->log, LOG_LEVEL_INFO, "certificates renewed",
                  log_text("reason", str_of(plan->why)), log_text("parts", str_of(parts)),
                  log_text("unusable", unusable != NULL ? str_of(unusable) : STR("")));
}

/* Writes what the plan asks for. *ret_again: the Secret has to be read again. */
static enum self_why write_secret(struct pass *pass, const struct self_secret *secret,
                                  const struct self_plan *plan, bool *ret_again)
{
    struct api_reply reply = {0};
    struct str patch = {0};
    int r = 0;

    *ret_again = false;
    if (!self_quota_take(&pass->replica->quota, pass->now_msec))
        return fail(pass, SELF_TOO_MANY_WRITES, str_of(plan->why));
    r = self_secret_change(secret, plan->steps, &pass->config->self, pass->now_sec, &pass->arena,
                           &patch);
    if (r < 0)
        return fail(pass, SELF_MEMORY, STR("a certificate could not be made"));
    r = call(pass, API_PATCH, secret_path(pass, "?fieldManager=sandgate"),
             STR("application/merge-patch+json"), patch, &reply);
    if (r == 0 && reply.status == HTTP_OK)
        log_steps(pass, plan, secret->unusable);
    else if (r < 0 || reply.status != HTTP_CONFLICT)
        return failed_call(pass, &secret_failures, API_PATCH, r, &reply);
    *ret_again = true; /* this write or that of another replica succeeded: read again */
    return SELF_READY;
}

/* One reading, and at most one change. */
static enum self_why run_once(struct pass *pass, bool *ret_again)
{
    const struct config_self *settings = &pass->config->self;
    struct self_secret *secret = arena_alloc(&pass->arena, 1, sizeof(*secret));
    struct self_view view = {
        .now_sec = pass->now_sec,
        .certificate_days = settings->certificate_days,
        .jitter = pass->replica->jitter,
        .watched = settings->webhook_configuration.len > 0,
    };
    enum self_why why = secret != NULL ? read_secret(pass, secret) : SELF_MEMORY;
    enum self_why publish_result = SELF_READY, serve_result = SELF_READY;
    struct self_facts facts = {0};
    struct self_plan plan = {0};

    *ret_again = false;
    if (why != SELF_READY)
        return why;
    if (view.watched && secret->cas.count > 0)
        publish_result = publish_cas(pass, &secret->cas);
    serve_result = use_certificate(pass, secret);
    facts = self_secret_facts(secret, &settings->dns_names, pass->now_sec);
    /* only what this pass has read counts: a caBundle can have been emptied before it */
    view.next_settled = publish_result == SELF_READY && is_settled(pass, &secret->next.id);
    plan = self_plan(&facts, &view);
    if (plan.steps != 0)
        why = write_secret(pass, secret, &plan, ret_again);
    if (why == SELF_READY)
        why = publish_result != SELF_READY ? publish_result : serve_result;
    return why;
}

/* A failure is logged when it begins, once an hour, and when it ends. */
static void log_state(struct pass *pass)
{
    struct self_replica *replica = pass->replica;
    const char *text = self_why_detail(replica->failed);
    bool again = pass->now_msec - replica->logged_msec >= HOUR_MSEC;

    if (replica->failed != SELF_READY && (replica->failed != replica->logged || again)) {
        replica->logged_msec = pass->now_msec;
        log_line_with(replica->log, LOG_LEVEL_WARN, "certificates cannot be kept up to date",
                      log_text("what", str_of(text)), log_text("reason", pass->detail),
                      log_text("secret", pass->config->self.secret),
                      log_text("webhookConfiguration", pass->config->self.webhook_configuration));
    }
    if (replica->failed == SELF_READY && replica->logged != SELF_READY)
        log_line(replica->log, LOG_LEVEL_INFO, "certificates are kept up to date again");
    replica->logged = replica->failed;
    if (replica->serving.span.to_sec == 0 ||
        !self_is_overdue(replica->serving.span, pass->now_sec) ||
        (replica->overdue_logged_msec != 0 &&
         pass->now_msec - replica->overdue_logged_msec < HOUR_MSEC))
        return;
    replica->overdue_logged_msec = pass->now_msec;
    log_line_with(replica->log, LOG_LEVEL_ERROR,
                  "the serving certificate expires soon, or has expired, and was not renewed",
                  log_number("days", (replica->serving.span.to_sec - pass->now_sec) / DAY_SEC),
                  log_text("what", str_of(text)));
}

static enum self_why find_readiness(const struct pass *pass)
{
    const struct self_replica *replica = pass->replica;

    if (replica->serving.span.to_sec == 0)
        return replica->failed != SELF_READY ? replica->failed : SELF_STARTING;
    if (pass->now_sec >= replica->serving.span.to_sec)
        return SELF_EXPIRED;
    if (replica->ca_published)
        return SELF_READY;
    return replica->failed != SELF_READY ? replica->failed : SELF_CA_NOT_PUBLISHED;
}

void self_reconcile(struct self_replica *replica, const struct config *config, int64_t now_sec,
                    uint64_t now_msec)
{
    struct pass pass = {
        .replica = replica, .config = config, .now_sec = now_sec, .now_msec = now_msec};
    bool again = true;

    for (unsigned i = 0; i < MAX_TRIES && again; i++) {
        replica->failed = run_once(&pass, &again);
        if (again && i + 1 == MAX_TRIES)
            replica->failed = SELF_SECRET_FAILED;
    }
    replica->why = find_readiness(&pass);
    log_state(&pass);
    arena_wipe(&pass.arena);
}

void self_replica_done(struct self_replica *replica)
{
    arena_wipe(&replica->serving.arena);
    replica->serving = (struct self_serving){0};
}
