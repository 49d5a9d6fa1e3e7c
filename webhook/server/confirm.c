/* SPDX-License-Identifier: Apache-2.0 */
/* confirm - the order of questions, and the texts of denials without an answer. See confirm.h. */

#include "webhook/server/confirm.h"

#include <errno.h>

#include "k8s/util/http_status.h"

#define MAX_NAMESPACE_BYTES 253 /* shown; names end at 63 */
#define NO_QUESTION ((enum cluster_question)0)

/* Every pod that is judged has a level of enforce. What has none does not depend on a snapshot. */
static bool depends_on_snapshot(const struct decision *d)
{
    return d->judged || d->levels.enforce != LEVEL_UNSET;
}

/* Missing evidence that changes nothing (another reason allows the pod, and there is no warning)
 * needs no answer. */
static bool miss_counts(const struct decision *d)
{
    return d->evidence_missed &&
           (!d->allowed || d->would_deny_enforce || d->violates_warn || d->violates_audit);
}

static bool is_answered(const struct confirm_history *history, enum cluster_question question)
{
    return history->asked[question] && history->results[question] == 0;
}

/* Missing evidence must be confirmed before it denies. Where it can only warn, a question without
 * an answer leaves the warning: a rule that does not deny must not deny because an answer is
 * missing. */
static bool is_settled(const struct decision *d, const struct confirm_history *history)
{
    return is_answered(history, CLUSTER_EVIDENCE) ||
           (d->allowed && history->asked[CLUSTER_EVIDENCE]);
}

/* Freshness comes first: a fresh snapshot often answers the other questions too. */
static enum cluster_question open_question(const struct decision *d, bool stale,
                                           const struct confirm_history *history)
{
    if (stale && depends_on_snapshot(d) && !is_answered(history, CLUSTER_FRESH))
        return CLUSTER_FRESH;
    /* also where the answer was that there is no such Namespace: without its labels there is no
     * decision */
    if (d->namespace_unseen)
        return CLUSTER_NAMESPACE;
    if (miss_counts(d) && !is_settled(d, history))
        return CLUSTER_EVIDENCE;
    return NO_QUESTION;
}

struct confirm confirm_next(const struct decision *decision, bool stale,
                            const struct confirm_history *history)
{
    enum cluster_question question = open_question(decision, stale, history);

    if (question == NO_QUESTION)
        return (struct confirm){.step = CONFIRM_FINAL};
    /* for a missing answer nothing is denied that no answer could deny; what is stale stays stale
     * for long, so it is not even waited for */
    if (decision->cannot_deny && (question == CLUSTER_FRESH || history->asked[question]))
        return (struct confirm){.step = CONFIRM_LEAVE};
    if (!history->asked[question])
        return (struct confirm){.step = CONFIRM_ASK, .question = question};
    return (struct confirm){
        .step = CONFIRM_DENY, .question = question, .result = history->results[question]};
}

int confirm_code(const struct confirm *confirm)
{
    return confirm->result == -ETIMEDOUT ? HTTP_GATEWAY_TIMEOUT : HTTP_SERVICE_UNAVAILABLE;
}

static const char *why(const struct confirm *confirm)
{
    switch (confirm->result) {
    case -ETIMEDOUT:
        return "the API server did not answer before the deadline of the request";
    case -EBUSY:
        return "too many reviews wait for the API server already";
    case -ESHUTDOWN:
        return "this replica of the gate is stopping";
    case -ENOMEM:
        return "the gate is out of memory";
    default:
        return confirm->question == CLUSTER_FRESH
                   ? "the API server could not be asked (the gate's log has the reason)"
                   : "the API server could not be asked (the gate's log has the reason), or "
                     "evidence.namespaces does not include this namespace";
    }
}

struct str confirm_message(const struct confirm *confirm, struct str namespace_name,
                           struct arena *arena)
{
    static const char again[] = "try again; if this persists, ask an administrator to check the "
                                "gate's log and the metric sandgate_watch_age_seconds";
    struct str name = str_cut(namespace_name, MAX_NAMESPACE_BYTES);
    int n = (int)name.len;

    switch (confirm->question) {
    case CLUSTER_NAMESPACE:
        if (confirm->result == 0)
            return arena_format(arena,
                                "sandgate did not decide: the API server has no namespace %.*s, so "
                                "its labels are unknown; create it, or try again if it is new",
                                n, name.ptr);
        return arena_format(arena,
                            "sandgate did not decide: it waited for the labels of the namespace "
                            "%.*s, but %s; %s",
                            n, name.ptr, why(confirm), again);
    case CLUSTER_EVIDENCE:
        return arena_format(arena,
                            "sandgate did not decide: it knows no evidence for this workload, and "
                            "it waited to learn whether some was just applied in the namespace "
                            "%.*s, but %s; %s",
                            n, name.ptr, why(confirm), again);
    case CLUSTER_FRESH:
        return arena_format(arena,
                            "sandgate did not decide: this replica has received nothing from the "
                            "API server for longer than evidence.maxStaleSeconds, so the evidence "
                            "and labels that it knows can be out of date; nothing is said about "
                            "the pod itself; it waited for an update, but %s; %s",
                            why(confirm), again);
    }
    return STR("sandgate did not decide: try again");
}
