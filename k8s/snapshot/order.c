/* SPDX-License-Identifier: Apache-2.0 */
/* order - the orders of the lists of a snapshot. */
#include "k8s/snapshot/index.h"

/* The byte of `<namespace>/` at a place that is not behind its end. */
static unsigned char byte_at(struct str namespace_name, size_t place)
{
    return (unsigned char)(place < namespace_name.len ? namespace_name.ptr[place] : '/');
}

int snapshot_compare_namespaces(struct str a, struct str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int r = common > 0 ? memcmp(a.ptr, b.ptr, common) : 0;

    if (r == 0)
        r = byte_at(a, common) - byte_at(b, common);
    return r != 0 ? r : (a.len > b.len) - (a.len < b.len);
}

int snapshot_compare_names(const struct evidence *a, const struct evidence *b)
{
    int r = snapshot_compare_namespaces(a->namespace_name, b->namespace_name);

    return r != 0 ? r : str_compare(a->name, b->name);
}

int snapshot_compare_identity(const struct evidence *evidence, struct str skill_ref,
                              struct str image_digest)
{
    bool by_skill = str_present(evidence->skill_ref);

    if (by_skill != str_present(skill_ref))
        return by_skill ? -1 : 1;
    return by_skill ? str_compare(evidence->skill_ref, skill_ref)
                    : str_compare(evidence->image_digest, image_digest);
}

bool snapshot_same_bytes(const struct evidence *a, const struct evidence *b)
{
    return a->state == EVIDENCE_VALID && b->state == EVIDENCE_VALID && str_present(a->digest) &&
           str_present(b->digest) && str_equal(a->digest, b->digest);
}
