/* SPDX-License-Identifier: Apache-2.0 */
/* evidence_maker - signs documents and makes evidence from them, for tests of evidence. */
#include "tests/k8s/evidence_maker.h"

#include <criterion/criterion.h>
#include <gnutls/abstract.h>

#include "planner/base/tree.h"

struct maker maker;

void maker_begin(void)
{
    struct str reason = {0};

    maker.release = helper_key_new(&maker.arena, GNUTLS_PK_EDDSA_ED25519, 0);
    maker.security = helper_key_new(&maker.arena, GNUTLS_PK_EDDSA_ED25519, 0);
    maker.path = helper_new_folder(&maker.arena);
    helper_write(maker.path, "release.pem", helper_key_pem(maker.release, &maker.arena));
    helper_write(maker.path, "release-copy.pem", helper_key_pem(maker.release, &maker.arena));
    helper_write(maker.path, "security.pem", helper_key_pem(maker.security, &maker.arena));
    cr_assert_eq(keyring_load(maker.path, &maker.arena, &maker.ring, &reason), 0, "%s", reason.ptr);
    maker.policy = policy_defaults();
}

void maker_done(void)
{
    evidence_unref(maker.evidence);
    keyring_unref(maker.ring);
    helper_key_free(maker.release);
    helper_key_free(maker.security);
    helper_remove_folder(maker.path);
    arena_release(&maker.arena);
}

cJSON *maker_sign(const char *by, struct str document)
{
    cJSON *annotations = tree_make_object(&maker.arena);
    struct str rest = str_of(by);

    while (rest.len > 0) {
        size_t len = 0;
        struct str id = {0}, text = {0};
        char kind = 0;

        while (len < rest.len && rest.ptr[len] != ' ')
            len++;
        id = (struct str){rest.ptr, len};
        rest = str_trim((struct str){rest.ptr + len, rest.len - len});
        if (id.len > 2 && id.ptr[1] == '=') {
            kind = id.ptr[0];
            id = (struct str){id.ptr + 2, id.len - 2};
        }
        text = helper_key_sign(str_starts_with(id, STR("release")) ? maker.release : maker.security,
                               &maker.arena, kind == 'x' ? STR("another") : document);
        if (kind == '!')
            text = STR("~");
        cr_assert(tree_add_member(
            annotations,
            helper_text(&maker.arena, "%s%.*s", EVIDENCE_SIGNATURE_PREFIX, (int)id.len, id.ptr).ptr,
            tree_make_text(&maker.arena, text)));
    }
    return annotations;
}

void maker_make_source(const struct evidence_source *source)
{
    evidence_unref(maker.evidence);
    maker.evidence = NULL;
    cr_assert_eq(evidence_make(source, maker.ring, &maker.policy, &maker.evidence), 0);
    cr_expect_eq(str_present(maker.evidence->reason), maker.evidence->state != EVIDENCE_VALID);
}

void maker_make(const char *by, struct str document)
{
    const struct evidence_source source = {
        .namespace_name = STR("payments"),
        .name = STR("doc"),
        .annotations = maker_sign(by, document),
        .document = document,
    };

    maker_make_source(&source);
}

void maker_expect_valid(struct str document)
{
    maker_make("release", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_VALID, "%s\n%s", maker.evidence->reason.ptr,
                 document.ptr);
}

void maker_expect_invalid(struct str document, const char *reason)
{
    maker_make("release", document);
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID, "%s", document.ptr);
    cr_expect_str_eq(maker.evidence->reason.ptr, reason, "%s: %s", document.ptr,
                     maker.evidence->reason.ptr);
    cr_expect_null(maker.evidence->requirements);
    cr_expect_null(maker.evidence->baseline);
    cr_expect_eq(maker.evidence->images.count, 0);
    cr_expect_not(str_present(maker.evidence->skill_ref));
}

const char *maker_words(struct str_list list)
{
    struct str text = STR("");

    for (size_t i = 0; i < list.count; i++)
        text = helper_text(&maker.arena, "%s%s%s", text.ptr, i > 0 ? " " : "", list.items[i].ptr);
    return text.ptr;
}
