/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence - makes evidence from a ConfigMap, and answers questions about it.
 *
 * Signatures are verified before anything is parsed (gate-v1, section 4): the parser only sees
 * documents of trusted signers. The exception is the search for a SandboxBaseline, because a broken
 * baseline must block.
 */
#include "k8s/evidence/evidence.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "k8s/evidence/internal.h"
#include "k8s/util/base64.h"
#include "planner/base/tree.h"

struct evidence *evidence_ref(const struct evidence *evidence)
{
    struct evidence *shared = (struct evidence *)(uintptr_t)evidence;

    refcount_take(&shared->count);
    return shared;
}

void evidence_unref(const struct evidence *evidence)
{
    struct evidence *shared = (struct evidence *)(uintptr_t)evidence;
    struct evidence *owner = NULL;
    struct arena arena = {0};

    if (shared == NULL || !refcount_drop(&shared->count))
        return;
    owner = shared->owner;
    arena.last = shared->memory; /* the evidence itself is stored there */
    arena_release(&arena);
    evidence_unref(owner); /* an owner has none itself */
}

bool evidence_expired(const struct evidence *evidence, struct moment now)
{
    return evidence->has_expires_at && moment_compare(evidence->expires_at, now) <= 0;
}

bool evidence_end(const struct evidence *evidence, int max_age_days, struct moment *ret_end)
{
    bool ages = evidence->kind == EVIDENCE_REQUIREMENTS && evidence->state != EVIDENCE_INVALID;

    if (ages)
        *ret_end = moment_add_seconds(evidence->observed_at, max_age_days * MOMENT_SECONDS_PER_DAY);
    if (evidence->has_expires_at && (!ages || moment_compare(evidence->expires_at, *ret_end) < 0))
        *ret_end = evidence->expires_at;
    return ages || evidence->has_expires_at;
}

bool evidence_in_scope(const struct evidence *evidence, struct str namespace_name)
{
    return !evidence->namespaces_named || str_list_has(evidence->namespaces, namespace_name);
}

bool evidence_pattern_matches(struct str pattern, struct str value)
{
    if (pattern.len == 0 || !str_present(value))
        return false;
    if (pattern.ptr[pattern.len - 1] != '*')
        return str_equal(pattern, value);
    /* a valid document has no `*` alone; it must not match everything here either */
    return pattern.len > 1 &&
           str_starts_with(value, (struct str){.ptr = pattern.ptr, .len = pattern.len - 1});
}

const char *evidence_state_text(enum evidence_state state)
{
    switch (state) {
    case EVIDENCE_VALID:
        return "valid";
    case EVIDENCE_REVOKED:
        return "revoked";
    case EVIDENCE_OTHER_AUDIENCE:
        return "other audience";
    case EVIDENCE_INVALID:
    default:
        return "invalid";
    }
}

bool evidence_signers_remain(const struct evidence *evidence, const struct keyring *keyring)
{
    for (size_t i = 0; i < evidence->key_ids.count; i++) {
        if (!keyring_has(keyring, evidence->key_ids.items[i], evidence->key_identities[i]))
            return false;
    }
    return true;
}

int evidence_make_distrusted(const struct evidence *before, struct str reason,
                             struct evidence **ret_evidence)
{
    const struct evidence facts = {
        .namespace_name = before->namespace_name,
        .name = before->name,
        .digest = before->digest,
        .kind = before->kind == EVIDENCE_BASELINE ? EVIDENCE_BASELINE : EVIDENCE_UNKNOWN,
        .reason = reason,
    };

    return evidence_copy(&facts, NULL, ret_evidence);
}

/* State of one evidence_make(). */
struct making {
    const struct evidence_source *source;
    const struct policy *policy;
    struct arena *arena; /* for the duration of the call */
    struct evidence_signatures signatures;
    struct evidence facts;        /* state is EVIDENCE_INVALID at first */
    const struct evidence *owner; /* of the content of facts; borrowed; NULL: read now */
};

static void set_reason(struct making *making, struct str reason)
{
    making->facts.state = EVIDENCE_INVALID;
    making->facts.reason = reason;
}

/* Of an invalid document only one thing matters: whether it was meant as a baseline, which must
 * block when it is broken. */
static int find_baseline(struct making *making, struct str document)
{
    bool baseline = false;
    int r = str_present(document) ? evidence_claims_baseline(document, &baseline) : 0;

    if (r == 0 && baseline)
        making->facts.kind = EVIDENCE_BASELINE;
    return r;
}

static int find_binary_baseline(struct making *making)
{
    struct str text = making->source->binary;
    size_t len = 0;
    unsigned char *bytes = arena_alloc(making->arena, text.len + 1, 1);

    if (bytes == NULL)
        return -ENOMEM;
    if (!str_present(text) || base64_decode(text, text.len, bytes, &len) < 0)
        return 0;
    return find_baseline(making, (struct str){.ptr = (const char *)bytes, .len = len});
}

/* Problems that do not depend on signatures. Sets the reason; false if there is none. */
static bool is_misplaced(struct making *making)
{
    const struct evidence_source *source = making->source;

    if (source->in_binary_data)
        set_reason(making, STR("sandbox.yaml is in binaryData; it must be in data only"));
    else if (!str_present(source->document))
        set_reason(making, STR("data has no sandbox.yaml"));
    else if (source->document.len > EVIDENCE_MAX_DOCUMENT_BYTES)
        set_reason(making, STR("sandbox.yaml is over 64 KiB"));
    else
        return false;
    return true;
}

static int take_key_ids(struct making *making)
{
    const struct evidence_signatures *signatures = &making->signatures;
    struct str *ids = arena_alloc(making->arena, signatures->good_count, sizeof(*ids));
    unsigned char(*identities)[KEYRING_IDENTITY_BYTES] =
        arena_alloc(making->arena, signatures->good_count, sizeof(*identities));
    size_t count = 0;

    if (ids == NULL || identities == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < signatures->count; i++) {
        if (signatures->items[i].result != SIGNATURE_GOOD)
            continue;
        ids[count] = signatures->items[i].key_id;
        memcpy(identities[count], signatures->items[i].identity, sizeof(identities[count]));
        count++;
    }
    assert(count == signatures->good_count);
    making->facts.key_ids = (struct str_list){.items = ids, .count = count};
    making->facts.key_identities = (const unsigned char(*)[KEYRING_IDENTITY_BYTES])identities;
    return 0;
}

/* Whether there are enough signatures for at least one kind: the kind is only known after parsing.
 */
static bool is_signed_for_any_kind(const struct making *making)
{
    for (size_t i = EVIDENCE_REQUIREMENTS; i < EVIDENCE_KIND_COUNT; i++) {
        if (evidence_signed_enough(&making->signatures, &making->policy->signers[i]))
            return true;
    }
    return false;
}

static int refuse_signatures(struct making *making)
{
    struct str reason = {0};
    int r = evidence_signed_reason(&making->signatures, making->policy, making->facts.kind,
                                   making->arena, &reason);

    if (r == 0)
        set_reason(making, reason);
    return r;
}

/* *ret_tree stays NULL if the document cannot be read; the reason is set then. */
static int parse_document(struct making *making, cJSON **ret_tree)
{
    const struct document_options options = {.syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    struct str reason = {0};
    int r = document_read(making->source->document, &options, making->arena, ret_tree, &error);

    if (r == -EBADMSG)
        reason = arena_format(making->arena, "line %zu, column %zu: %s", error.line, error.column,
                              error.what);
    else if (r == -E2BIG)
        reason = STR("it has too many values");
    else
        return r;
    if (!str_present(reason))
        return -ENOMEM;
    set_reason(making, reason);
    return find_baseline(making, making->source->document);
}

/* The only place that sets EVIDENCE_VALID: signatures and fields are right. */
static void judge_audience(struct making *making)
{
    struct str audience = making->policy->audience;

    if (making->facts.audiences_named &&
        (audience.len == 0 || !str_list_has(making->facts.audiences, audience))) {
        making->facts.state = EVIDENCE_OTHER_AUDIENCE;
        making->facts.reason = STR("it is meant for another audience");
    } else {
        making->facts.state = EVIDENCE_VALID;
    }
}

static int read_fields(struct making *making, const cJSON *tree)
{
    struct str reason = {0};
    int r = evidence_read(tree, making->arena, &making->facts, &reason);

    if (r < 0)
        return r;
    if (str_present(reason))
        set_reason(making, reason);
    else
        judge_audience(making);
    return 0;
}

static const struct evidence *find_known(const struct making *making)
{
    const struct evidence_known *known = making->source->known;

    return known != NULL ? known->find(known->context, making->facts.digest) : NULL;
}

/* Everything that follows from the bytes of the document. */
static void take_content(struct making *making, const struct evidence *known)
{
    struct evidence facts = *known;

    assert(str_equal(known->digest, making->facts.digest));
    facts.namespace_name = making->facts.namespace_name;
    facts.name = making->facts.name;
    facts.key_ids = making->facts.key_ids;
    facts.key_identities = making->facts.key_identities;
    facts.reason = (struct str){0};
    making->facts = facts;
    making->owner = known->owner != NULL ? known->owner : known;
    judge_audience(making);
}

/* Parses the document, and sets its kind. */
static int parse_kind(struct making *making, cJSON **ret_tree)
{
    int r = parse_document(making, ret_tree);

    if (r < 0 || *ret_tree == NULL)
        return r;
    if (tree_is(*ret_tree, cJSON_Object))
        making->facts.kind = evidence_kind_of(str_trim(tree_get_text(*ret_tree, "kind")));
    else
        set_reason(making, STR("it must be an object"));
    return 0;
}

static int read_signed(struct making *making)
{
    const struct evidence *known = find_known(making);
    cJSON *tree = NULL;
    int r = 0;

    if (known != NULL)
        making->facts.kind = known->kind;
    else
        r = parse_kind(making, &tree);
    if (r < 0)
        return r;
    assert(making->facts.kind >= EVIDENCE_UNKNOWN && making->facts.kind < EVIDENCE_KIND_COUNT);
    if (making->facts.kind != EVIDENCE_UNKNOWN &&
        !evidence_signed_enough(&making->signatures, &making->policy->signers[making->facts.kind]))
        return refuse_signatures(making);
    if (known != NULL)
        take_content(making, known);
    else if (tree_is(tree, cJSON_Object))
        r = read_fields(making, tree);
    if (r < 0)
        return r;
    /* revoking a document must work whether it can be read or not */
    if (str_list_has(making->policy->revoked, making->facts.digest)) {
        making->facts.state = EVIDENCE_REVOKED;
        making->facts.reason = STR("its digest is revoked");
    }
    return 0;
}

static int judge(struct making *making, const struct keyring *keyring)
{
    const struct evidence_source *source = making->source;
    int r = 0;

    if (str_present(source->document))
        r = digest_make_text(source->document, making->arena, &making->facts.digest);
    if (r < 0)
        return r;
    if (is_misplaced(making)) {
        r = find_baseline(making, source->document);
        return r == 0 && source->in_binary_data ? find_binary_baseline(making) : r;
    }
    r = evidence_verify(source, keyring, making->arena, &making->signatures);
    if (r == 0)
        r = take_key_ids(making);
    if (r < 0)
        return r;
    if (is_signed_for_any_kind(making))
        return read_signed(making);
    r = find_baseline(making, source->document);
    return r < 0 ? r : refuse_signatures(making);
}

int evidence_make(const struct evidence_source *source, const struct keyring *keyring,
                  const struct policy *policy, struct evidence **ret_evidence)
{
    cleanup_arena struct arena scratch = {0};
    struct making making = {
        .source = source,
        .policy = policy,
        .arena = &scratch,
        .facts = {.namespace_name = source->namespace_name, .name = source->name},
    };
    int r = judge(&making, keyring);

    /* the kind of an invalid document must not be used, except that of a broken baseline */
    if (r == 0 && making.facts.state == EVIDENCE_INVALID && making.facts.kind != EVIDENCE_BASELINE)
        making.facts.kind = EVIDENCE_UNKNOWN;
    return r < 0 ? r : evidence_copy(&making.facts, making.owner, ret_evidence);
}
