/* SPDX-License-Identifier: Apache-2.0 */
/*
 * images - checks that every image of the pod is pinned and listed (gate-v1, section 6).
 *
 * The pod and the evidence both have as many digests as their authors like. So the digests of the
 * pod are sorted once, and each digest of the evidence is searched in them once.
 */

#include "webhook/gate/internal.h"

#include <errno.h>
#include <stdlib.h>

/* A digest that the pod pins, and what is known about it. */
struct pinned {
    struct str digest;
    bool own;    /* an image of the workload itself */
    bool listed; /* the same, or one that a baseline lists */
};

struct pinned_set {
    struct pinned *items; /* sorted by digest, each once */
    size_t count;
    struct str identity; /* of the pod, if it is an image digest and the only one; or absent */
    bool own_runs;       /* one of `containers` runs, by digest, an image of the workload itself */
};

static int by_digest(const void *a, const void *b)
{
    const struct pinned *x = a, *y = b;

    return str_compare(x->digest, y->digest);
}

/* NULL: the pod does not pin this digest. */
static struct pinned *find(const struct pinned_set *set, struct str digest)
{
    const struct pinned sought = {.digest = digest};

    if (set->count == 0)
        return NULL;
    return bsearch(&sought, set->items, set->count, sizeof(*set->items), by_digest);
}

static int collect(const struct judgement *j, struct pinned_set *set)
{
    size_t kept = 0;

    set->items = arena_alloc(j->arena, j->pod.image_count, sizeof(*set->items));
    if (set->items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < j->pod.image_count; i++) {
        if (str_present(j->pod.images[i].digest))
            set->items[set->count++].digest = j->pod.images[i].digest;
    }
    if (set->count > 1)
        qsort(set->items, set->count, sizeof(*set->items), by_digest);
    for (size_t i = 0; i < set->count; i++) {
        if (kept == 0 || !str_equal(set->items[kept - 1].digest, set->items[i].digest))
            set->items[kept++] = set->items[i];
    }
    set->count = kept;
    return 0;
}

static void mark(struct pinned_set *set, struct str digest, bool own)
{
    struct pinned *found = find(set, digest);

    if (found == NULL)
        return;
    found->own |= own;
    found->listed = true;
}

static void mark_list(struct pinned_set *set, struct str_list digests, bool own)
{
    for (size_t i = 0; i < digests.count; i++)
        mark(set, digests.items[i], own);
}

/* The workload's own images are those that the evidence in use lists, or, without such evidence,
 * the expired documents; and the identity. */
static void mark_known(const struct judgement *j, struct pinned_set *set)
{
    const struct gate_found *found = &j->found;

    if (str_present(set->identity))
        mark(set, set->identity, true);
    if (found->in_use != NULL)
        mark_list(set, found->in_use->images, true);
    for (size_t i = 0; found->in_use == NULL && i < found->expired_count; i++)
        mark_list(set, found->expired[i]->images, true);
    for (size_t i = 0; i < found->baseline_count; i++)
        mark_list(set, found->baselines[i]->images, false);
}

static bool runs_own(const struct judgement *j, const struct pinned_set *set)
{
    for (size_t i = 0; i < j->pod.image_count; i++) {
        const struct image_use *use = &j->pod.images[i];

        if (use->list == IMAGE_CONTAINERS && str_present(use->digest) &&
            find(set, use->digest)->own)
            return true;
    }
    return false;
}

/* Without this knowledge, "none of its own images runs" cannot be a finding. */
static bool knows_own(const struct judgement *j, const struct pinned_set *set)
{
    return j->found.in_use != NULL || j->found.expired_count > 0 || str_present(set->identity);
}

/* A guess for an unpinned image of `containers`: if no image of the workload itself runs, and only
 * one can be meant, it is that one. Otherwise absent. */
static struct str digest_to_pin(const struct judgement *j, const struct pinned_set *set,
                                const struct image_use *use)
{
    struct str none = {0};

    if (use->list != IMAGE_CONTAINERS || set->own_runs)
        return none;
    if (str_present(set->identity))
        return set->identity;
    if (j->found.in_use == NULL || j->found.in_use->images.count != 1)
        return none;
    return j->found.in_use->images.items[0];
}

static int add_unpinned(struct judgement *j, struct str digest, struct str place)
{
    return str_present(digest) ? gate_add_with(j, GATE_OWN_IMAGE_WITHOUT_DIGEST, place, digest)
                               : gate_add(j, GATE_IMAGE_WITHOUT_DIGEST, place);
}

static int check_image(struct judgement *j, const struct pinned_set *set,
                       const struct image_use *use, bool lists_count)
{
    struct str place = {0};
    int r = 0;

    if (str_present(use->digest) && (!lists_count || find(set, use->digest)->listed))
        return 0;
    r = workload_image_place(&j->pod, use, j->arena, &place);
    if (r < 0)
        return r;
    if (!str_present(use->digest))
        return add_unpinned(j, digest_to_pin(j, set, use), place);
    return gate_add_with(j, GATE_IMAGE_NOT_LISTED, place, use->digest);
}

static int check_own_runs(struct judgement *j, const struct pinned_set *set)
{
    struct str place = {0};

    if (!knows_own(j, set) || set->own_runs)
        return 0;
    place = arena_format(j->arena, "%sspec.containers", j->pod.root);
    if (!str_present(place))
        return -ENOMEM;
    return gate_add(j, GATE_OWN_IMAGE_NOT_RUN, place);
}

/* An image is a sidecar's where a baseline lists it and the workload does not. */
static int mark_sidecars(struct judgement *j, const struct pinned_set *set)
{
    bool *sidecars = arena_alloc(j->arena, j->pod.image_count, sizeof(*sidecars));

    if (sidecars == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < j->pod.image_count; i++) {
        const struct pinned *pinned =
            str_present(j->pod.images[i].digest) ? find(set, j->pod.images[i].digest) : NULL;

        sidecars[i] = pinned != NULL && pinned->listed && !pinned->own;
    }
    j->sidecars = sidecars;
    return 0;
}

int gate_check_images(struct judgement *j)
{
    /* unsigned requirements of a skill list no images, so images cannot be compared with a list */
    bool lists_count = !j->found.unsigned_accepted || str_present(j->claims.image_digest);
    struct pinned_set set = {0};
    int r = collect(j, &set);

    if (r < 0)
        return r;
    if (j->found.looked && str_is_sha256(j->claims.image_digest))
        set.identity = j->claims.image_digest;
    mark_known(j, &set);
    set.own_runs = runs_own(j, &set);
    r = mark_sidecars(j, &set);
    for (size_t i = 0; r == 0 && i < j->pod.image_count; i++)
        r = check_image(j, &set, &j->pod.images[i], lists_count);
    if (r < 0 || !lists_count)
        return r;
    return check_own_runs(j, &set);
}
