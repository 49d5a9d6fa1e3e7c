/* SPDX-License-Identifier: Apache-2.0 */
/* rules - what a change of keys or policy means for evidence that was verified before. */
#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "k8s/evidence/evidence.h"
#include "k8s/evidence/internal.h"

/* A hash that remembers that a step failed, so that a series of steps is checked once. */
struct hashing {
    gnutls_hash_hd_t hash;
    bool failed;
};

static void hash_bytes(struct hashing *hashing, const void *bytes, size_t len)
{
    if (!hashing->failed && len > 0)
        hashing->failed = gnutls_hash(hashing->hash, bytes, len) < 0;
}

/* With the length first, so that no two lists give the same bytes. */
static void hash_text(struct hashing *hashing, struct str s)
{
    const uint64_t len = s.len;

    hash_bytes(hashing, &len, sizeof(len));
    hash_bytes(hashing, s.ptr, s.len);
}

static void hash_list(struct hashing *hashing, struct str_list list)
{
    const uint64_t count = list.count;

    hash_bytes(hashing, &count, sizeof(count));
    for (size_t i = 0; i < list.count; i++)
        hash_text(hashing, list.items[i]);
}

int evidence_rules_digest(const struct policy *policy,
                          unsigned char ret_digest[static DIGEST_BYTES])
{
    struct hashing hashing = {0};

    if (gnutls_hash_init(&hashing.hash, GNUTLS_DIG_SHA256) < 0)
        return -EIO;
    for (size_t i = EVIDENCE_REQUIREMENTS; i < EVIDENCE_KIND_COUNT; i++) {
        const struct policy_signers *signers = &policy->signers[i];
        const uint64_t numbers[] = {signers->keys_named, signers->threshold};

        hash_bytes(&hashing, numbers, sizeof(numbers));
        hash_list(&hashing, signers->keys);
    }
    hash_list(&hashing, policy->revoked);
    hash_text(&hashing, policy->audience);
    gnutls_hash_deinit(hashing.hash, ret_digest);
    return hashing.failed ? -EIO : 0;
}

/* The signatures whose keys are still in the keyring, in the form of evidence_verify(). */
static int remaining_signatures(const struct evidence *evidence, const struct keyring *keyring,
                                struct arena *arena, struct evidence_signatures *ret_signatures)
{
    size_t count = evidence->key_ids.count;
    struct evidence_signature *items = arena_alloc(arena, count, sizeof(*items));
    size_t left = 0;

    if (items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct evidence_signature *item = &items[left];

        if (!keyring_has(keyring, evidence->key_ids.items[i], evidence->key_identities[i]))
            continue;
        item->key_id = evidence->key_ids.items[i];
        item->result = SIGNATURE_GOOD;
        memcpy(item->identity, evidence->key_identities[i], sizeof(item->identity));
        left++;
    }
    *ret_signatures =
        (struct evidence_signatures){.items = items, .count = left, .good_count = left};
    return 0;
}

int evidence_withdraw(const struct evidence *before, const struct keyring *keyring,
                      const struct policy *policy, struct evidence **ret_evidence)
{
    cleanup_arena struct arena scratch = {0};
    struct evidence_signatures signatures = {0};
    const struct evidence revoked = {
        .namespace_name = before->namespace_name,
        .name = before->name,
        .digest = before->digest,
        .kind = before->kind,
        .state = EVIDENCE_REVOKED,
        .reason = STR("its digest is revoked"),
    };
    int r = 0;

    *ret_evidence = NULL;
    if (before->state != EVIDENCE_VALID)
        return 0;
    assert(before->kind > EVIDENCE_UNKNOWN && before->kind < EVIDENCE_KIND_COUNT);
    r = remaining_signatures(before, keyring, &scratch, &signatures);
    if (r < 0)
        return r;
    if (!evidence_signed_enough(&signatures, &policy->signers[before->kind]))
        return evidence_make_distrusted(
            before, STR("keys or rules changed, and too few of its signers are left"),
            ret_evidence);
    if (str_list_has(policy->revoked, before->digest))
        return evidence_copy(&revoked, NULL, ret_evidence);
    return 0;
}

static bool same_text(struct str a, struct str b)
{
    return str_present(a) == str_present(b) && str_equal(a, b);
}

bool evidence_same(const struct evidence *a, const struct evidence *b)
{
    if (!same_text(a->digest, b->digest) || a->state != b->state || a->kind != b->kind ||
        !same_text(a->reason, b->reason) || a->key_ids.count != b->key_ids.count)
        return false;
    for (size_t i = 0; i < a->key_ids.count; i++) {
        if (!str_equal(a->key_ids.items[i], b->key_ids.items[i]) ||
            memcmp(a->key_identities[i], b->key_identities[i], KEYRING_IDENTITY_BYTES) != 0)
            return false;
    }
    return true;
}
