/* SPDX-License-Identifier: Apache-2.0 */
/* verify - the signatures of a document: which verify, and whether they are enough. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/evidence/internal.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define REASON_MAX_SIGNATURES 4 /* described one by one; the others are counted */

static int signature_compare(const void *a, const void *b)
{
    const struct evidence_signature *left = a;
    const struct evidence_signature *right = b;

    return str_compare(left->key_id, right->key_id);
}

static bool is_signature(const cJSON *annotation)
{
    return str_starts_with(tree_key(annotation), STR(EVIDENCE_SIGNATURE_PREFIX));
}

static int verify_one(const cJSON *annotation, struct str document, const struct keyring *keyring,
                      struct evidence_signature *ret_signature)
{
    const size_t prefix = sizeof(EVIDENCE_SIGNATURE_PREFIX) - 1;
    struct str key = tree_key(annotation);
    struct evidence_signature signature = {
        .key_id = {.ptr = key.ptr + prefix, .len = key.len - prefix}};
    struct str text = tree_text(annotation);
    int r = 0;

    if (str_present(text))
        r = keyring_verify(keyring, signature.key_id, document, text, &signature.result,
                           signature.identity);
    else
        signature.result = SIGNATURE_NOT_BASE64;
    if (r == 0)
        *ret_signature = signature;
    return r;
}

int evidence_verify(const struct evidence_source *source, const struct keyring *keyring,
                    struct arena *arena, struct evidence_signatures *ret_signatures)
{
    struct evidence_signatures signatures = {0};
    const cJSON *annotation = NULL;
    size_t count = 0;

    cJSON_ArrayForEach(annotation, source->annotations) count += is_signature(annotation);
    signatures.items = arena_alloc(arena, count, sizeof(*signatures.items));
    if (signatures.items == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(annotation, source->annotations)
    {
        struct evidence_signature *item = &signatures.items[signatures.count];
        int r = 0;

        if (!is_signature(annotation))
            continue;
        assert(signatures.count < count);
        r = verify_one(annotation, source->document, keyring, item);
        if (r < 0)
            return r;
        signatures.good_count += item->result == SIGNATURE_GOOD;
        signatures.count++;
    }
    if (signatures.count > 1)
        qsort(signatures.items, signatures.count, sizeof(*signatures.items), signature_compare);
    *ret_signatures = signatures;
    return 0;
}

static bool counts_for(const struct evidence_signature *signature,
                       const struct policy_signers *signers)
{
    return signature->result == SIGNATURE_GOOD &&
           (!signers->keys_named || str_list_has(signers->keys, signature->key_id));
}

/* Counts different keys, by identity: the same key under two ids counts once. */
static unsigned signed_keys(const struct evidence_signatures *signatures,
                            const struct policy_signers *signers)
{
    unsigned keys = 0;

    for (size_t i = 0; i < signatures->count; i++) {
        const struct evidence_signature *signature = &signatures->items[i];
        bool seen = false;

        if (!counts_for(signature, signers))
            continue;
        for (size_t j = 0; j < i && !seen; j++)
            seen = counts_for(&signatures->items[j], signers) &&
                   memcmp(signatures->items[j].identity, signature->identity,
                          sizeof(signature->identity)) == 0;
        keys += !seen;
    }
    return keys;
}

bool evidence_signed_enough(const struct evidence_signatures *signatures,
                            const struct policy_signers *signers)
{
    unsigned keys = signed_keys(signatures, signers);

    /* a threshold of 0 was never set: it must not admit unsigned documents */
    return signers->threshold > 0 && keys >= signers->threshold;
}

static const struct policy_signers *weakest_rule(const struct policy *policy)
{
    const struct policy_signers *weakest = &policy->signers[EVIDENCE_REQUIREMENTS];

    for (size_t i = EVIDENCE_REQUIREMENTS; i < EVIDENCE_KIND_COUNT; i++) {
        if (policy->signers[i].threshold < weakest->threshold)
            weakest = &policy->signers[i];
    }
    return weakest;
}

static void reason_signature(struct buffer *b, const struct evidence_signature *signature,
                             const struct policy_signers *signers)
{
    /* the id is outside input: shown only if it is safe to print */
    struct str id = keyring_is_id(signature->key_id) ? signature->key_id : STR("?");

    buffer_add(b, STR("signature "));
    buffer_add(b, id);
    switch (signature->result) {
    case SIGNATURE_GOOD:
        buffer_add(b, counts_for(signature, signers)
                          ? STR(" verifies")
                          : STR(" is by a key that is not allowed to sign it"));
        return;
    case SIGNATURE_UNKNOWN_KEY:
        buffer_add(b, STR(" is by a key that is not in the keyring"));
        return;
    case SIGNATURE_NOT_BASE64:
        buffer_add(b, STR(" is not base64"));
        return;
    case SIGNATURE_BAD:
    default:
        buffer_add(b, STR(" does not verify"));
        return;
    }
}

int evidence_signed_reason(const struct evidence_signatures *signatures,
                           const struct policy *policy, enum evidence_kind kind,
                           struct arena *arena, struct str *ret_reason)
{
    const struct policy_signers *signers =
        kind == EVIDENCE_UNKNOWN ? weakest_rule(policy) : &policy->signers[kind];
    struct buffer b = buffer_make(arena, EVIDENCE_MAX_REASON_BYTES);
    unsigned keys = signed_keys(signatures, signers);

    assert(kind < EVIDENCE_KIND_COUNT && signatures->good_count <= signatures->count);
    if (signatures->count == 0)
        buffer_add(&b, STR("it has no signature"));
    else if (signatures->good_count > 0)
        buffer_add_format(&b, "%u of %u required keys: ", keys, signers->threshold);
    for (size_t i = 0; i < signatures->count && i < REASON_MAX_SIGNATURES; i++) {
        if (i > 0)
            buffer_add(&b, STR(", "));
        reason_signature(&b, &signatures->items[i], signers);
    }
    if (signatures->count > REASON_MAX_SIGNATURES)
        buffer_add_format(&b, ", and %zu more", signatures->count - REASON_MAX_SIGNATURES);
    if (signatures->good_count > keys && keys > 0 && !signers->keys_named)
        buffer_add(&b, STR("; one key with several ids counts once"));
    if (b.error != 0)
        return b.error;
    *ret_reason = buffer_text(&b);
    return 0;
}
