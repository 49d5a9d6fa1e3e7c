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

struct str gate_document_name(const struct evidence *e, struct arena *arena)
{
    return arena_format(arena, "%.*s/%.*s", (int)e->namespace_name.len, e->namespace_name.ptr,
                        (int)e->name.len, e->name.ptr);
}

static int add_broken_baseline(struct judgement *j, const struct evidence *e)
{
    struct str place = gate_document_name(e, j->arena);

    if (!str_present(place))
        return -ENOMEM;
    return gate_add_with(j, GATE_BROKEN_BASELINE, place, e->reason);
}

static int add_too_few_baselines(struct judgement *j, size_t valid_count)
{
    struct str valid = arena_format(j->arena, "%zu", valid_count);
    struct str needed = arena_format(j->arena, "%u", j->policy->min_baselines);

    if (!str_present(valid) || !str_present(needed))
        return -ENOMEM;
    return gate_add_with(j, GATE_TOO_FEW_BASELINES, (struct str){0}, j->policy->own_namespace,
                         valid, needed);
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
    return in_own < j->policy->min_baselines ? add_too_few_baselines(j, in_own) : 0;
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
            name_candidate(&b, named++, e, STR("does not apply to this namespace"));
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
        return STR(" (the reasons of the candidates are too long; see `sandgate evidence`)");
    return buffer_text(&b);
}

static int add_missing(struct judgement *j, const struct places *places)
{
    struct str candidates = name_candidates(j, places);
    const struct str *names = places->names;
    struct str where =
        places->count == 1
            ? arena_format(j->arena, "the namespace %.*s", (int)names[0].len, names[0].ptr)
            : arena_format(j->arena, "the namespaces %.*s and %.*s", (int)names[0].len,
                           names[0].ptr, (int)names[1].len, names[1].ptr);

    if (!str_present(candidates) || !str_present(where))
        return -ENOMEM;
    return gate_add_with(j, GATE_NO_EVIDENCE, (struct str){0}, where, candidates);
}

static int add_missed(struct judgement *j, const struct places *places)
{
    const struct gate_found *found = &j->found;
    struct str name = {0};

    if (found->conflict)
        return gate_add(j, GATE_EVIDENCE_AMBIGUOUS, (struct str){0});
    if (found->expired_count == 0)
        return add_missing(j, places);
    name = gate_document_name(found->expired[0], j->arena);
    return str_present(name) ? gate_add_with(j, GATE_EVIDENCE_ENDED, (struct str){0}, name)
                             : -ENOMEM;
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
