#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "k8s/evidence.h"

/* A hash that remembers its first failure. */
struct hashing {
    gnutls_hash_hd_t hash;
    bool failed;
};

static void hash_bytes(struct hashing *hashing, const void *bytes, size_t len)
{
    if (!hashing->failed && len > 0)
        hashing->failed = gnutls_hash(hashing->hash, bytes, len) < 0;
}

/* With its length in front, so that two lists cannot read as one another. */
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
