/* SPDX-License-Identifier: Apache-2.0 */
/* kind - the kinds of documents: by name, and of documents that cannot be parsed. */
#include <errno.h>

#include "k8s/document/document.h"
#include "k8s/evidence/internal.h"
#include "planner/base/tree.h"

static const char *const kind_texts[EVIDENCE_KIND_COUNT] = {
    [EVIDENCE_UNKNOWN] = "unknown",
    [EVIDENCE_REQUIREMENTS] = "SandboxRequirements",
    [EVIDENCE_BASELINE] = "SandboxBaseline",
    [EVIDENCE_EXEMPTION] = "SandboxExemption",
};

const char *evidence_kind_text(enum evidence_kind kind)
{
    return kind > EVIDENCE_UNKNOWN && kind < EVIDENCE_KIND_COUNT ? kind_texts[kind]
                                                                 : kind_texts[EVIDENCE_UNKNOWN];
}

enum evidence_kind evidence_kind_of(struct str kind)
{
    for (int i = EVIDENCE_REQUIREMENTS; i < EVIDENCE_KIND_COUNT; i++) {
        if (str_equal(kind, str_of(kind_texts[i])))
            return (enum evidence_kind)i;
    }
    return EVIDENCE_UNKNOWN;
}

int evidence_claims_baseline(struct str document, bool *ret_baseline)
{
    static const struct document_shape shape[] = {{.key = "kind"}, {0}};
    const struct document_options options = {
        .syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN, .shape = shape};
    cleanup_arena struct arena scratch = {0};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = document_read(document, &options, &scratch, &tree, &error);

    if (r == -EBADMSG || r == -E2BIG) {
        /* `kind: SandboxBaseline` has many spellings in YAML and JSON, and what a broken text was
         * meant to say is unknown. The word alone decides, so that a broken baseline blocks. */
        *ret_baseline = str_contains(document, str_of(kind_texts[EVIDENCE_BASELINE]));
        return 0;
    }
    if (r < 0)
        return r;
    *ret_baseline = evidence_kind_of(str_trim(tree_get_text(tree, "kind"))) == EVIDENCE_BASELINE;
    return 0;
}
