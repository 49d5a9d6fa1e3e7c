/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate - decides: the rows of gate-v1, section 3, in their order, and the one function that sets
 * "allowed".
 */

#include "webhook/gate/gate.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/gate/internal.h"

#define MIRROR_ANNOTATION "kubernetes.io/config.mirror"
#define NODE_USER_PREFIX "system:node:"
#define NODE_GROUP "system:nodes"
#define MAX_SUBJECT_PART_BYTES 1024 /* the API server allows names of up to 253 bytes */
#define MAX_ERROR_VALUE_BYTES 256   /* the API server allows label values of up to 63 bytes */

/* Which of the three levels judge this pod. */
struct judging {
    bool enforce;
    bool warn;
    bool audit;
};

static bool is_controller(const struct review *review)
{
    return review->kind != WORKLOAD_POD;
}

/* The only function that allows anything. It decides by the outcome: a missing finding alone never
 * allows. */
static bool allows(const struct decision *d, bool enforced)
{
    switch (d->outcome) {
    case OUTCOME_NOT_EVALUATED:
    case OUTCOME_UNCHANGED:
    case OUTCOME_UNMANAGED:
        return !d->judged;
    case OUTCOME_EXEMPT:
        return d->exempt_by_configuration || d->exemption != NULL;
    case OUTCOME_READY:
        return d->judged && d->planned && plan_admits(&d->plan) && d->finding_count == 0;
    case OUTCOME_NEEDS_MORE_EVIDENCE:
    case OUTCOME_REFUSED:
    case OUTCOME_UNSUPPORTED_RUNTIME_SHAPE:
    case OUTCOME_BLOCKED:
    case OUTCOME_UNUSABLE:
        return d->judged && !enforced;
    case OUTCOME_LEFT_UNDECIDED:
        return d->cannot_deny && !d->judged && !enforced;
    case OUTCOME_UNDECIDED:
        break;
    }
    return false;
}

/* `<namespace>/<kind>/<name>`; star: "*" after a generateName, otherwise "". */
static struct str write_subject(const struct review *review, struct str name, const char *star,
                                struct arena *arena)
{
    struct str kind = str_cut(review->kind_name, MAX_SUBJECT_PART_BYTES);
    struct str where = str_cut(review->namespace_name, MAX_SUBJECT_PART_BYTES);

    name = str_cut(name, MAX_SUBJECT_PART_BYTES);
    return arena_format(arena, "%.*s/%.*s/%.*s%s", (int)where.len, where.len > 0 ? where.ptr : "",
                        (int)kind.len, kind.ptr, (int)name.len, name.len > 0 ? name.ptr : "", star);
}

/* Each retry of a controller makes another name from the same generateName. A message with the name
 * would be a new event each time, so the title has none. */
static int make_subject(const struct review *review, struct arena *arena, struct decision *d)
{
    const cJSON *object = review->operation == REVIEW_DELETE ? review->old_object : review->object;
    const cJSON *metadata = tree_get(object, "metadata");
    struct str base = tree_get_text(metadata, "generateName");
    struct str name = review->name.len > 0 ? review->name : tree_get_text(metadata, "name");

    d->title = base.len > 0 ? write_subject(review, base, "*", arena)
                            : write_subject(review, name, "", arena);
    d->subject = name.len > 0 ? write_subject(review, name, "", arena) : d->title;
    return str_present(d->title) && str_present(d->subject) ? 0 : -ENOMEM;
}

/* Section 3, first row: the gate does not judge this kind, operation or subresource. */
static bool is_other_request(const struct review *review)
{
    static const struct str subresources[] = {
        STR_INIT("status"), STR_INIT("binding"),     STR_INIT("eviction"), STR_INIT("exec"),
        STR_INIT("attach"), STR_INIT("portforward"), STR_INIT("proxy"),    STR_INIT("log"),
    };

    if (review->kind == WORKLOAD_NONE || review->operation == REVIEW_DELETE ||
        review->operation == REVIEW_CONNECT)
        return true;
    for (size_t i = 0; i < sizeof(subresources) / sizeof(subresources[0]); i++) {
        if (str_equal(review->subresource, subresources[i]))
            return true;
    }
    return false;
}

/* Second row. All three conditions are needed: anyone can set the annotation. */
static bool is_mirror_pod(const struct review *review, const struct workload *pod)
{
    const cJSON *entry = NULL;

    if (review->kind != WORKLOAD_POD || review->operation != REVIEW_CREATE ||
        !str_starts_with(review->user, STR(NODE_USER_PREFIX)) ||
        !review_has_group(review, STR(NODE_GROUP)))
        return false;
    cJSON_ArrayForEach(entry, pod->annotations)
    {
        if (str_equal(tree_key(entry), STR(MIRROR_ANNOTATION)))
            return true;
    }
    return false;
}

/* Fourth row. Exact comparison; an absent user or runtime class never matches an empty entry. */
static bool is_exempt(const struct judgement *j)
{
    const struct policy *p = j->policy;
    struct str runtime_class = j->pod.runtime_class;

    return str_list_has(p->exempt_namespaces, j->review->namespace_name) ||
           (j->review->user.len > 0 && str_list_has(p->exempt_users, j->review->user)) ||
           (runtime_class.len > 0 && str_list_has(p->exempt_runtime_classes, runtime_class));
}

static bool is_managed(const struct workload *w)
{
    return !w->annotations_readable || w->carries_our_key || w->own_managed;
}

static void note_error(struct buffer *b, const char *name, struct str label, bool readable)
{
    if (!str_present(label) || readable)
        return;
    buffer_add_format(b, "%s%s=", b->len > 0 ? "," : "", name);
    buffer_add(b, str_cut(label, MAX_ERROR_VALUE_BYTES));
}

/* The labels that have no valid value; an absent text where there is none. */
static int write_error(const struct level_labels *labels, struct arena *arena, struct str *ret_text)
{
    struct buffer b = buffer_make(arena, 5 * MAX_ERROR_VALUE_BYTES);
    enum level level = LEVEL_UNSET;
    enum boundary_level boundary = BOUNDARY_LEVEL_UNSET;

    note_error(&b, "enforce", labels->enforce, level_read(labels->enforce, &level));
    note_error(&b, "warn", labels->warn, level_read(labels->warn, &level));
    note_error(&b, "audit", labels->audit, level_read(labels->audit, &level));
    note_error(&b, "boundary", labels->boundary, boundary_level_read(labels->boundary, &boundary));
    if (b.len == 0 && b.error == 0)
        return 0;
    *ret_text = buffer_text(&b);
    return str_present(*ret_text) ? 0 : -ENOMEM;
}

static int read_levels(const struct judgement *j, struct decision *d)
{
    const struct namespace_labels *found =
        snapshot_namespace(j->snapshot, j->review->namespace_name);
    const struct namespace_labels none = {0};
    const struct level_labels *labels = found != NULL ? &found->labels : &none.labels;

    d->namespace_unseen = found == NULL;
    d->levels = levels_resolve(labels, j->policy->defaults, j->policy->floor);
    return write_error(labels, j->arena, &d->error);
}

static bool any_level_is(const struct levels *levels, enum level level)
{
    return levels->enforce == level || levels->warn == level || levels->audit == level;
}

static bool all_levels_are(const struct levels *levels, enum level level)
{
    return levels->enforce == level && levels->warn == level && levels->audit == level;
}

static bool judges(enum level level, bool managed)
{
    return level == LEVEL_REQUIRED || (level == LEVEL_ANNOTATED && managed);
}

static enum gate_outcome outcome_of(const struct plan *plan, size_t finding_count)
{
    switch (plan->decision) {
    case PLAN_READY:
        return finding_count == 0 ? OUTCOME_READY : OUTCOME_BLOCKED;
    case PLAN_MORE_EVIDENCE:
        return OUTCOME_NEEDS_MORE_EVIDENCE;
    case PLAN_REFUSED:
        return OUTCOME_REFUSED;
    case PLAN_UNSUPPORTED:
        return OUTCOME_UNSUPPORTED_RUNTIME_SHAPE;
    case PLAN_UNDECIDED:
        break;
    }
    return OUTCOME_UNDECIDED;
}

static int make_plan(struct judgement *j, struct decision *d)
{
    enum plan_provenance provenance = PLAN_CALLER_SUPPLIED;
    const cJSON *input = NULL;
    int r = gate_read_claims(j);

    if (r == 0)
        r = gate_check_presence(j);
    if (r == 0)
        r = gate_find_evidence(j);
    if (r == 0)
        r = gate_make_input(j, &input);
    if (r == 0)
        r = gate_check_images(j);
    if (r != 0)
        return r;
    if (j->found.in_use != NULL)
        provenance = PLAN_SIGNED_CONFIGMAP;
    r = plan_evaluate(input, provenance, j->arena, &d->plan);
    if (r < 0)
        return r;
    d->planned = true;
    d->plan_input = input;
    d->provenance = provenance;
    d->evidence = j->found.in_use;
    d->evidence_missed = j->found.looked && j->found.in_use == NULL;
    return 0;
}

/* The plan, and the pod's own spec beside it. */
static int plan_and_read(struct judgement *j, struct decision *d)
{
    int r = make_plan(j, d);

    if (r == 0)
        r = gate_order_findings(j);
    if (r == 0)
        r = gate_read_boundary(j, d);
    if (r < 0)
        return r;
    d->outcome = outcome_of(&d->plan, j->findings.count);
    return d->outcome != OUTCOME_UNDECIDED ? 0 : -EINVAL;
}

static int judge(struct judgement *j, struct decision *d)
{
    int r = 0;

    d->judged = true;
    if (!j->pod.usable) {
        d->outcome = OUTCOME_UNUSABLE;
        r = gate_add_with(j, GATE_POD_UNUSABLE, (struct str){0}, str_of(j->pod.unusable_reason));
    } else {
        r = plan_and_read(j, d);
    }
    if (r < 0)
        return r;
    d->findings = j->findings.items;
    d->finding_count = j->findings.count;
    if (d->planned && (d->finding_count > 0 || d->plan.finding_count > 0))
        d->exemption = gate_find_exemption(j, &d->plan);
    if (d->exemption != NULL)
        d->outcome = OUTCOME_EXEMPT;
    return gate_note_expiries(j, d);
}

/* Whether the level `enforce` denies objects of this kind: pods always, controllers only with
 * `controllers: enforce`. */
static bool enforces_kind(const struct review *review, const struct policy *policy)
{
    return !is_controller(review) || policy->controllers == CONTROLLERS_ENFORCE;
}

/* Whether the boundary of the pods of this namespace is read at all (boundary-v1, section 5). What
 * cannot be read in its labels is said where they decide. */
static int reads_boundary(struct judgement *j, struct decision *d, bool *ret_reads)
{
    const struct snapshot_baselines *limits = NULL;
    int r = read_levels(j, d);

    if (r == 0)
        r = snapshot_baselines(j->snapshot, j->review->namespace_name, &limits);
    if (r < 0)
        return r;
    assert(limits != NULL);
    d->error = (struct str){0};
    d->cannot_deny = !enforces_kind(j->review, j->policy);
    *ret_reads = d->levels.boundary != BOUNDARY_LEVEL_NONE || limits->hold != 0;
    return 0;
}

/* The third row. Of controllers the whole spec of the template counts where the boundary is read:
 * it is what their pods will ask for. */
static int is_unchanged(struct judgement *j, struct decision *d, bool *ret_unchanged)
{
    bool unchanged = false, reads = false;
    int r = gate_is_unchanged(&j->pod, &j->old, j->arena, &unchanged);

    if (r == 0 && unchanged && is_controller(j->review) && !workload_same_spec(&j->pod, &j->old))
        r = reads_boundary(j, d, &reads);
    if (r == 0)
        *ret_unchanged = unchanged && !reads;
    return r;
}

/* Rows two to six. A request that none of them answers is judged. */
static int decide_row(struct judgement *j, struct decision *d, struct judging *ret_judging)
{
    const struct review *review = j->review;
    bool update = review->operation == REVIEW_UPDATE;
    bool unchanged = false, managed = false;
    int r = workload_read(review->kind, review->object, j->arena, &j->pod);

    if (r == 0 && update)
        r = workload_read(review->kind, review->old_object, j->arena, &j->old);
    if (r == 0 && update)
        r = is_unchanged(j, d, &unchanged);
    if (r < 0)
        return r;
    if (is_mirror_pod(review, &j->pod)) {
        d->outcome = OUTCOME_NOT_EVALUATED;
        return 0;
    }
    if (unchanged) {
        d->outcome = OUTCOME_UNCHANGED;
        return 0;
    }
    if (is_exempt(j)) {
        d->exempt_by_configuration = true;
        d->outcome = OUTCOME_EXEMPT;
        return 0;
    }
    r = read_levels(j, d);
    if (r < 0)
        return r;
    managed = is_managed(&j->pod) || (update && is_managed(&j->old));
    *ret_judging = (struct judging){
        .enforce = judges(d->levels.enforce, managed),
        .warn = judges(d->levels.warn, managed),
        .audit = judges(d->levels.audit, managed),
    };
    d->cannot_deny =
        !enforces_kind(review, j->policy) || (!d->namespace_unseen && !ret_judging->enforce);
    if (all_levels_are(&d->levels, LEVEL_NONE) ||
        (is_controller(review) && j->policy->controllers == CONTROLLERS_NONE)) {
        d->outcome = OUTCOME_NOT_EVALUATED;
        return 0;
    }
    if (!managed && !any_level_is(&d->levels, LEVEL_REQUIRED)) {
        d->outcome = OUTCOME_UNMANAGED;
        return 0;
    }
    return judge(j, d);
}

/* The effect of a violation at each level (sections 2 and 3). */
static void apply_levels(const struct review *review, const struct policy *policy,
                         const struct judging *judging, struct decision *d)
{
    bool enforced = judging->enforce && enforces_kind(review, policy);
    bool violates = d->judged && !allows(d, true);

    d->allowed = allows(d, enforced);
    d->would_deny_enforce = violates && judging->enforce && !enforced;
    d->violates_warn = violates && judging->warn;
    d->violates_audit = violates && judging->audit;
}

/* Section 3: reviews that are answered with 400 before any row. NULL: none of these reasons. */
static const char *why_bad(const struct review *review)
{
    if (review->operation == REVIEW_NO_OPERATION)
        return "request.operation must be CREATE, UPDATE, DELETE or CONNECT";
    if (review->kind_name.len == 0)
        return "request.kind is missing";
    if (review->kind != WORKLOAD_NONE && review->namespace_name.len == 0)
        return "request.namespace must not be empty for this kind";
    return NULL;
}

int gate_undecided(const struct decision *seen, struct decision *ret_decision)
{
    struct decision d = {
        .outcome = OUTCOME_LEFT_UNDECIDED,
        .cannot_deny = seen->cannot_deny,
        .levels = seen->levels,
        .error = seen->error,
        .subject = seen->subject,
    };

    d.allowed = allows(&d, false);
    if (!d.allowed)
        return -EINVAL;
    *ret_decision = d;
    return 0;
}

int gate_decide(const struct review *review, const struct snapshot *snapshot, struct moment now,
                struct arena *arena, struct decision *ret_decision, const char **reterr_what)
{
    struct judgement j = {.review = review,
                          .snapshot = snapshot,
                          .policy = snapshot_policy(snapshot),
                          .now = now,
                          .arena = arena};
    struct decision d = {0};
    struct judging judging = {.enforce = true};
    const char *bad = why_bad(review);
    int r = 0;

    if (bad != NULL) {
        *reterr_what = bad;
        return -EBADMSG;
    }
    r = make_subject(review, arena, &d);
    if (r < 0)
        return r;
    if (is_other_request(review))
        d.outcome = OUTCOME_NOT_EVALUATED;
    else
        r = decide_row(&j, &d, &judging);
    if (r < 0)
        return r;
    apply_levels(review, j.policy, &judging, &d);
    *ret_decision = d;
    return 0;
}
