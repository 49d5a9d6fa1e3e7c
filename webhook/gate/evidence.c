/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence - finds the signed documents that apply to a pod (gate-v1, section 4).
 */

#include "webhook/gate/internal.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/buffer.h"

#define MAX_NAMED_CANDIDATES 3
#define MAX_CANDIDATES_BYTES 600

/* The namespaces that are searched: that of the pod and the gate's own, which can be the same. */
struct search_namespaces {
    struct str names[2];
    size_t count;
};

static struct search_namespaces namespaces_of(const struct judgement *j)
{
    struct search_namespaces searched = {
        .names = {j->review->namespace_name, j->policy->own_namespace}, .count = 2};

    if (str_equal(searched.names[0], searched.names[1]))
        searched.count = 1;
    return searched;
}

static bool is_in(const struct evidence *e, const struct search_namespaces *searched)
{
    for (size_t i = 0; i < searched->count; i++) {
        if (str_equal(e->namespace_name, searched->names[i]))
            return true;
    }
    return false;
}

static struct evidence_run run_of_identity(const struct judgement *j)
{
    return snapshot_requirements(j->snapshot, j->claims.skill_ref, j->claims.image_digest);
}

/* Chooses the newest document that has not expired. Two with the same observed_at and different
 * bytes are a conflict, and none is used. */
static int choose(struct judgement *j, const struct search_namespaces *searched)
{
    struct evidence_run run = run_of_identity(j);
    struct gate_found *found = &j->found;
    const struct evidence *newest = NULL;

    found->expired = arena_alloc(j->arena, run.count, sizeof(const struct evidence *));
    if (found->expired == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < run.count; i++) {
        const struct evidence *e = run.items[i];

        if (!is_in(e, searched) || !evidence_in_scope(e, j->review->namespace_name))
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
    assert(found->expired_count <= run.count);
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

/* A finding about documents of a namespace that are only counted. */
static int add_counted(struct judgement *j, enum gate_problem problem, struct str namespace_name,
                       size_t count)
{
    struct str place =
        arena_format(j->arena, "%.*s/*", (int)namespace_name.len, namespace_name.ptr);
    struct str number = arena_format(j->arena, "%zu", count);

    if (!str_present(place) || !str_present(number))
        return -ENOMEM;
    return gate_add_with(j, problem, place, number);
}

/* Each invalid baseline of a namespace is a finding. One finding counts those without a record, and
 * one the valid documents without: a ceiling must not fall because there are many documents. */
static int add_broken_baselines(struct judgement *j, struct str namespace_name)
{
    struct evidence_run run = snapshot_broken_baselines(j->snapshot, namespace_name);
    struct snapshot_rest rest = snapshot_rest(j->snapshot, namespace_name);
    int r = 0;

    for (size_t i = 0; i < run.count && r == 0; i++)
        r = add_broken_baseline(j, run.items[i]);
    if (r == 0 && rest.broken > 0)
        r = add_counted(j, GATE_MORE_BROKEN_BASELINES, namespace_name, rest.broken);
    if (r == 0 && rest.valid > 0)
        r = add_counted(j, GATE_DOCUMENTS_LEFT_OUT, namespace_name, rest.valid);
    return r;
}

/* Finds the baselines of both namespaces that are valid and in scope. Each invalid one is a
 * finding. */
static int find_baselines(struct judgement *j, const struct search_namespaces *searched)
{
    struct gate_found *found = &j->found;
    size_t in_own = snapshot_own_baseline_objects(j->snapshot);
    int r = snapshot_baselines(j->snapshot, j->review->namespace_name, &found->limits);

    for (size_t p = 0; p < searched->count && r == 0; p++)
        r = add_broken_baselines(j, searched->names[p]);
    if (r < 0)
        return r;
    found->baselines = found->limits->items;
    found->baseline_count = found->limits->count;
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

/* ` (payments/x: why; …)` of documents that were found and do not count; empty if there are none.
 */
static struct str name_candidates(struct judgement *j, const struct search_namespaces *searched)
{
    struct buffer b = buffer_make(j->arena, MAX_CANDIDATES_BYTES);
    struct evidence_run run = run_of_identity(j);
    size_t named = 0, more = 0;

    for (size_t i = 0; i < run.count; i++) {
        const struct evidence *e = run.items[i];

        if (!is_in(e, searched) || evidence_in_scope(e, j->review->namespace_name))
            continue;
        if (named < MAX_NAMED_CANDIDATES)
            name_candidate(&b, named++, e, STR("does not apply to this namespace"));
        else
            more++;
    }
    for (size_t p = 0; p < searched->count; p++) {
        size_t not_kept = 0;

        run = snapshot_invalid(j->snapshot, searched->names[p], &not_kept);
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

static int add_missing(struct judgement *j, const struct search_namespaces *searched)
{
    struct str candidates = name_candidates(j, searched);
    const struct str *names = searched->names;
    struct str where =
        searched->count == 1
            ? arena_format(j->arena, "the namespace %.*s", (int)names[0].len, names[0].ptr)
            : arena_format(j->arena, "the namespaces %.*s and %.*s", (int)names[0].len,
                           names[0].ptr, (int)names[1].len, names[1].ptr);

    if (!str_present(candidates) || !str_present(where))
        return -ENOMEM;
    return gate_add_with(j, GATE_NO_EVIDENCE, (struct str){0}, where, candidates);
}

static int add_missed(struct judgement *j, const struct search_namespaces *searched)
{
    const struct gate_found *found = &j->found;
    struct str name = {0};

    if (found->conflict)
        return gate_add(j, GATE_EVIDENCE_AMBIGUOUS, (struct str){0});
    if (found->expired_count == 0)
        return add_missing(j, searched);
    name = gate_document_name(found->expired[0], j->arena);
    return str_present(name) ? gate_add_with(j, GATE_EVIDENCE_ENDED, (struct str){0}, name)
                             : -ENOMEM;
}

int gate_find_evidence(struct judgement *j)
{
    struct search_namespaces searched = namespaces_of(j);
    struct gate_found *found = &j->found;
    int r = find_baselines(j, &searched);

    if (r < 0)
        return r;
    found->looked = str_present(j->claims.skill_ref) != str_present(j->claims.image_digest);
    if (!found->looked)
        return 0;
    r = choose(j, &searched);
    if (r < 0 || found->in_use != NULL)
        return r;
    found->unsigned_accepted =
        j->policy->accept_unsigned && !found->conflict && j->claims.requirements != NULL;
    return found->unsigned_accepted ? 0 : add_missed(j, &searched);
}
