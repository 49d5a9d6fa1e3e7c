/* SPDX-License-Identifier: Apache-2.0 */
/*
 * images - checks that every image of the pod is pinned and listed (gate-v1, section 6).
 */

#include "webhook/gate/internal.h"

#include <errno.h>

/* The identity of the pod, if it is an image digest and the only one; otherwise absent. */
static struct str identity_digest(const struct judgement *j)
{
    return j->found.looked && str_is_sha256(j->claims.image_digest) ? j->claims.image_digest
                                                                    : (struct str){0};
}

/* Whether the digest is an image of the workload itself: listed by the evidence in use, or, without
 * such evidence, by an expired document, or equal to the identity. */
static bool is_own(const struct judgement *j, struct str digest)
{
    const struct gate_found *found = &j->found;
    struct str identity = identity_digest(j);

    if (str_present(identity) && str_equal(digest, identity))
        return true;
    if (found->in_use != NULL)
        return str_list_has(found->in_use->images, digest);
    for (size_t i = 0; i < found->expired_count; i++) {
        if (str_list_has(found->expired[i]->images, digest))
            return true;
    }
    return false;
}

static bool is_listed(const struct judgement *j, struct str digest)
{
    if (is_own(j, digest))
        return true;
    for (size_t i = 0; i < j->found.baseline_count; i++) {
        if (str_list_has(j->found.baselines[i]->images, digest))
            return true;
    }
    return false;
}

/* Without this knowledge, "none of its own images runs" cannot be a finding. */
static bool knows_own(const struct judgement *j)
{
    return j->found.in_use != NULL || j->found.expired_count > 0 || str_present(identity_digest(j));
}

/* Whether one of `containers` runs, by digest, an image of the workload itself. */
static bool own_runs(const struct judgement *j)
{
    for (size_t i = 0; i < j->pod.image_count; i++) {
        const struct image_use *use = &j->pod.images[i];

        if (use->list == IMAGE_CONTAINERS && str_present(use->digest) && is_own(j, use->digest))
            return true;
    }
    return false;
}

/* A guess for an unpinned image of `containers`: if no image of the workload itself runs, and only
 * one can be meant, it is that one. Otherwise absent. */
static struct str digest_to_pin(const struct judgement *j, const struct image_use *use)
{
    struct str none = {0};

    if (use->list != IMAGE_CONTAINERS || own_runs(j))
        return none;
    if (str_present(identity_digest(j)))
        return identity_digest(j);
    if (j->found.in_use == NULL || j->found.in_use->images.count != 1)
        return none;
    return j->found.in_use->images.items[0];
}

static int add_unpinned(struct judgement *j, const struct image_use *use, struct str place)
{
    struct str digest = digest_to_pin(j, use);

    return str_present(digest) ? gate_add_with(j, GATE_OWN_IMAGE_WITHOUT_DIGEST, place, digest)
                               : gate_add(j, GATE_IMAGE_WITHOUT_DIGEST, place);
}

static int check_image(struct judgement *j, const struct image_use *use, bool lists_count)
{
    struct str place = {0};
    int r = 0;

    if (str_present(use->digest) && (!lists_count || is_listed(j, use->digest)))
        return 0;
    r = workload_image_place(&j->pod, use, j->arena, &place);
    if (r < 0)
        return r;
    if (!str_present(use->digest))
        return add_unpinned(j, use, place);
    return gate_add_with(j, GATE_IMAGE_NOT_LISTED, place, use->digest);
}

static int check_own_runs(struct judgement *j)
{
    struct str place = {0};

    if (!knows_own(j) || own_runs(j))
        return 0;
    place = arena_format(j->arena, "%sspec.containers", j->pod.root);
    if (!str_present(place))
        return -ENOMEM;
    return gate_add(j, GATE_OWN_IMAGE_NOT_RUN, place);
}

int gate_check_images(struct judgement *j)
{
    /* unsigned requirements of a skill list no images, so images cannot be compared with a list */
    bool lists_count = !j->found.unsigned_accepted || str_present(j->claims.image_digest);

    for (size_t i = 0; i < j->pod.image_count; i++) {
        int r = check_image(j, &j->pod.images[i], lists_count);

        if (r < 0)
            return r;
    }
    return lists_count ? check_own_runs(j) : 0;
}
