/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_evidence - reads the bytes as a document with a valid signature, of one of the three kinds.
 * An accepted document has all fields that a decision needs. A rejected one has a reason that can
 * be shown. A document of kind baseline is recognised as one even if it is rejected.
 */
#include <stdint.h>
#include <stdlib.h>

#include "k8s/document/document.h"
#include "k8s/evidence/internal.h"
#include "planner/plan.h"
#include "planner/base/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_reason(struct str reason)
{
    must(reason.len > 0 && reason.len < EVIDENCE_MAX_REASON_BYTES);
    for (size_t i = 0; i < reason.len; i++)
        must(reason.ptr[i] >= ' ' && reason.ptr[i] <= '~');
}

static void check_list(struct str_list list)
{
    must(list.count <= PLAN_MAX_ITEMS + 1);
    for (size_t i = 0; i < list.count; i++) {
        must(list.items[i].len > 0 && list.items[i].len <= PLAN_MAX_TEXT_BYTES);
        must(str_trim(list.items[i]).len == list.items[i].len);
    }
}

static void check_accepted(const struct evidence *evidence)
{
    bool requirements = evidence->kind == EVIDENCE_REQUIREMENTS;
    bool exemption = evidence->kind == EVIDENCE_EXEMPTION;

    must(evidence->kind > EVIDENCE_UNKNOWN && evidence->kind < EVIDENCE_KIND_COUNT);
    must((evidence->requirements != NULL) == requirements);
    must((evidence->baseline != NULL) == (evidence->kind == EVIDENCE_BASELINE));
    must((str_present(evidence->skill_ref) != str_present(evidence->image_digest)) == requirements);
    must(!exemption || (evidence->has_expires_at && evidence->exemption_reason.len > 0));
    check_list(evidence->images);
    check_list(evidence->namespaces);
    check_list(evidence->findings);
    check_list(evidence->match.namespaces);
    check_list(evidence->match.users);
    for (size_t i = 0; i < evidence->images.count; i++)
        must(str_is_sha256(evidence->images.items[i]));
    for (size_t i = 0; i < evidence->match.namespaces.count; i++)
        must(!evidence_pattern_matches(evidence->match.namespaces.items[i], STR("")));
}

static void check_tree(const cJSON *tree, struct arena *arena)
{
    struct evidence facts = {
        .namespace_name = STR("a"),
        .name = STR("b"),
        .kind = evidence_kind_of(str_trim(tree_get_text(tree, "kind"))),
    };
    struct evidence *kept = NULL;
    struct str reason = {0};
    bool accepted = false;

    must(evidence_read(tree, arena, &facts, &reason) == 0);
    accepted = !str_present(reason);
    if (!accepted)
        check_reason(reason);
    must(evidence_copy(&facts, NULL, &kept) == 0);
    if (accepted)
        check_accepted(kept);
    else
        must(kept->requirements == NULL && kept->baseline == NULL && kept->images.count == 0);
    evidence_unref(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct document_options options = {.syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN};
    const struct str document = {.ptr = (const char *)data, .len = size};
    cleanup_arena struct arena arena = {0};
    struct document_error error = {0};
    cJSON *tree = NULL;
    bool baseline = false;

    if (size > EVIDENCE_MAX_DOCUMENT_BYTES)
        return 0;
    must(evidence_claims_baseline(document, &baseline) == 0);
    if (document_read(document, &options, &arena, &tree, &error) != 0)
        return 0;
    must(baseline ==
         (evidence_kind_of(str_trim(tree_get_text(tree, "kind"))) == EVIDENCE_BASELINE));
    if (tree_is(tree, cJSON_Object))
        check_tree(tree, &arena);
    return 0;
}
