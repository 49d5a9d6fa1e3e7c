/* SPDX-License-Identifier: Apache-2.0 */
/* evidence - which signed documents count for this pod (gate-v1, section 4). */

#include <errno.h>

#include "planner/base/buffer.h"
#include "webhook/gate/internal.h"

#define MAX_NAMED_CANDIDATES 3
#define MAX_CANDIDATES_BYTES 600

/* The pod's namespace and the gate's own; one where they are the same. */
struct places {
    struct str names[2];
    size_t count;
};

static struct places places_of(const struct judgement *j)
{
    struct places places = {.names = {j->review->namespace_name, j->policy->own_namespace},
                            .count = 2};

    if (str_equal(places.names[0], places.names[1]))
        places.count = 1;
    return places;
}

static bool lies_in(const struct evidence *e, const struct places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        if (str_equal(e->namespace_name, places->names[i]))
            return true;
    }
    return false;
}

static struct evidence_run run_of_identity(const struct judgement *j)
{
    return snapshot_requirements(j->snapshot, j->claims.skill_ref, j->claims.image_digest);
}

/* The newest that has not expired; two of the same moment with different bytes are none. */
static int choose(struct judgement *j, const struct places *places)
{
    struct evidence_run run = run_of_identity(j);
    struct gate_found *found = &j->found;
    const struct evidence *newest = NULL;

    found->expired = arena_alloc(j->arena, run.count, sizeof(const struct evidence *));
    if (found->expired == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < run.count; i++) {
        const struct evidence *e = run.items[i];

        if (!lies_in(e, places) || !evidence_in_scope(e, j->review->namespace_name))
            continue;
        if (evidence_expired(e, j->now)) {
            found->expired[found->expired_count++] = e;
            continue;
        }
        if (newest == NULL)
            newest = e;
        else if (moment_compare(e->observed_at, newest->observed_at) == 0 &&
                 !str_equal(e->digest, newest->digest))
            found->conflict = true;
    }
    found->in_use = found->conflict ? NULL : newest;
    return 0;
}

static int add_broken_baseline(struct judgement *j, const struct evidence *e)
{
    struct str place = arena_format(j->arena, "%.*s/%.*s", (int)e->namespace_name.len,
                                    e->namespace_name.ptr, (int)e->name.len, e->name.ptr);

    if (!str_present(place))
        return -ENOMEM;
    return gate_add(j, GATE_CODE_BASELINE_INVALID, place,
                    "this baseline is not valid, so its ceiling is not known: %.*s; sign it "
                    "anew or take it away",
                    (int)e->reason.len, str_present(e->reason) ? e->reason.ptr : "");
}

/* All of both namespaces that are valid and in scope; each broken one is a finding. */
static int find_baselines(struct judgement *j, const struct places *places)
{
    struct evidence_run runs[2] = {{0}};
    size_t count = 0, in_own = 0;

    for (size_t p = 0; p < places->count; p++) {
        runs[p] = snapshot_baselines(j->snapshot, places->names[p]);
        count += runs[p].count;
    }
    j->found.baselines = arena_alloc(j->arena, count, sizeof(const struct evidence *));
    if (j->found.baselines == NULL)
        return -ENOMEM;
    for (size_t p = 0; p < places->count; p++) {
        for (size_t i = 0; i < runs[p].count; i++) {
            const struct evidence *e = runs[p].items[i];
            int r = 0;

            if (e->state == EVIDENCE_INVALID)
                r = add_broken_baseline(j, e);
            if (r < 0)
                return r;
            if (e->state != EVIDENCE_VALID)
                continue;
            in_own += str_equal(e->namespace_name, j->policy->own_namespace) ? 1 : 0;
            if (evidence_in_scope(e, j->review->namespace_name))
                j->found.baselines[j->found.baseline_count++] = e;
        }
    }
    if (in_own >= j->policy->min_baselines)
        return 0;
    return gate_add(j, GATE_CODE_BASELINE_MISSING, (struct str){0},
                    "%zu of at least %u valid baselines are in the namespace %.*s; apply the "
                    "missing ones there, signed",
                    in_own, j->policy->min_baselines, (int)j->policy->own_namespace.len,
                    j->policy->own_namespace.ptr);
}

static void name_candidate(struct buffer *b, size_t named, const struct evidence *e,
                           struct str reason)
{
    buffer_add(b, named == 0 ? STR(" (") : STR("; "));
    buffer_add(b, e->namespace_name);
    buffer_add_char(b, '/');
    buffer_add(b, e->name);
    buffer_add(b, STR(": "));
    buffer_add(b, reason);
}

static struct str reason_of(const struct evidence *e)
{
    return str_present(e->reason) ? e->reason : str_of(evidence_state_text(e->state));
}

/* ` (payments/x: why; …)` for what was found and does not count; empty where nothing was. */
static struct str name_candidates(struct judgement *j, const struct places *places)
{
    struct buffer b = buffer_make(j->arena, MAX_CANDIDATES_BYTES);
    struct evidence_run run = run_of_identity(j);
    size_t named = 0, more = 0;

    for (size_t i = 0; i < run.count; i++) {
        const struct evidence *e = run.items[i];

        if (!lies_in(e, places) || evidence_in_scope(e, j->review->namespace_name))
            continue;
        if (named < MAX_NAMED_CANDIDATES)
            name_candidate(&b, named++, e, STR("is for other namespaces"));
        else
            more++;
    }
    for (size_t p = 0; p < places->count; p++) {
        size_t not_kept = 0;

        run = snapshot_invalid(j->snapshot, places->names[p], &not_kept);
        more += not_kept;
        for (size_t i = 0; i < run.count; i++) {
            if (run.items[i]->kind == EVIDENCE_BASELINE)
                continue;
            if (named < MAX_NAMED_CANDIDATES)
                name_candidate(&b, named++, run.items[i], reason_of(run.items[i]));
            else
                more++;
        }
    }
    if (more > 0)
        buffer_add_format(&b, "%sand %zu more", named == 0 ? " (" : "; ", more);
    if (named > 0 || more > 0)
        buffer_add_char(&b, ')');
    if (b.error == -E2BIG)
        return STR(" (the candidates' reasons are too long; see `sandgate evidence`)");
    return buffer_text(&b);
}

static int add_missing(struct judgement *j, const struct places *places)
{
    struct str candidates = name_candidates(j, places);
    const struct str *names = places->names;

    if (!str_present(candidates))
        return -ENOMEM;
    return gate_add(j, GATE_CODE_EVIDENCE_MISSING, (struct str){0},
                    "no valid evidence for this workload is in %s %.*s%s%.*s%.*s; apply a signed "
                    "SandboxRequirements for it, or correct the identity",
                    places->count == 1 ? "the namespace" : "the namespaces", (int)names[0].len,
                    names[0].ptr, places->count == 1 ? "" : " and ",
                    places->count == 1 ? 0 : (int)names[1].len, names[1].ptr, (int)candidates.len,
                    candidates.ptr);
}

static int add_missed(struct judgement *j, const struct places *places)
{
    const struct gate_found *found = &j->found;

    if (found->conflict)
        return gate_add(j, GATE_CODE_EVIDENCE_CONFLICT, (struct str){0},
                        "two documents of the same moment vouch for this workload and differ; "
                        "take one away, or sign a newer one");
    if (found->expired_count > 0)
        return gate_add(j, GATE_CODE_EVIDENCE_EXPIRED, (struct str){0},
                        "the evidence for this workload, %.*s/%.*s, has expired; sign it anew",
                        (int)found->expired[0]->namespace_name.len,
                        found->expired[0]->namespace_name.ptr, (int)found->expired[0]->name.len,
                        found->expired[0]->name.ptr);
    return add_missing(j, places);
}

int gate_find_evidence(struct judgement *j)
{
    struct places places = places_of(j);
    struct gate_found *found = &j->found;
    int r = find_baselines(j, &places);

    if (r < 0)
        return r;
    found->looked = str_present(j->claims.skill_ref) != str_present(j->claims.image_digest);
    if (!found->looked)
        return 0;
    r = choose(j, &places);
    if (r < 0 || found->in_use != NULL)
        return r;
    found->unsigned_accepted =
        j->policy->accept_unsigned && !found->conflict && j->claims.requirements != NULL;
    return found->unsigned_accepted ? 0 : add_missed(j, &places);
}
