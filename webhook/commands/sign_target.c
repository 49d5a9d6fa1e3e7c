/* SPDX-License-Identifier: Apache-2.0 */
/* sign_target - reads the document to be signed, and checks that it is valid evidence. */

#include "webhook/commands/sign_target.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "k8s/document/document.h"
#include "k8s/document/manifest.h"
#include "k8s/evidence/evidence.h"
#include "k8s/folder/folder.h"
#include "k8s/util/file.h"
#include "planner/base/tree.h"
#include "webhook/cli/output.h"
#include "webhook/commands/configmap.h"
#include "webhook/commands/open_runtime.h"
#include "webhook/util/input.h"

#define FIELD_MAX_BYTES 128 /* of a field's dotted name in a reason */

/* Reports an error at a place in the document. In a manifest the place is relative to the document,
 * and the message says so. */
static int refuse_at(const struct sign_target *target, size_t line, size_t column, struct str what)
{
    if (target->configmap == NULL)
        output_error_at(target->file, line, column, what);
    else
        output_error("%s:%zu:%zu: in " EVIDENCE_DATA_KEY ", line %zu, column %zu: %.*s",
                     target->file, target->line, target->column, line, column, (int)what.len,
                     what.ptr);
    return -EINVAL;
}

/* Finds the ConfigMap, if the file is a manifest of one; else target->configmap stays NULL. */
static int find_configmap(struct str text, struct arena *arena, struct sign_target *target)
{
    struct manifest manifest = manifest_make(text, DOCUMENT_EITHER, arena);
    struct manifest_object first = {0}, second = {0};
    struct document_error ignored = {0};
    struct evidence_source source = {0};
    bool labelled = false;
    int r = manifest_next(&manifest, &first, &ignored);

    if (r == -ENOMEM || r == -EIO)
        return r;
    if (r != 0 || first.tree == NULL || !configmap_read(first.tree, &source, &labelled))
        return 0; /* a document; its own reader reports errors */
    target->configmap = first.tree;
    target->line = first.line;
    target->column = first.column;
    target->document = source.document;
    r = manifest_next(&manifest, &second, &ignored);
    if (r == -ENOMEM || r == -EIO)
        return r;
    if (r != 0 || second.tree != NULL) {
        output_error_at(target->file, r != 0 ? 0 : second.line, second.column,
                        STR("the file must hold one ConfigMap only"));
        return -EINVAL;
    }
    if (!str_present(source.document) || source.in_binary_data) {
        output_error_at(target->file, first.line, first.column,
                        STR("this ConfigMap must have the document in data[\"" EVIDENCE_DATA_KEY
                            "\"], and not in binaryData"));
        return -EINVAL;
    }
    return 0;
}

static int read_document(struct arena *arena, struct sign_target *target)
{
    const struct document_options options = {.syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = 0;

    if (target->document.len > EVIDENCE_MAX_DOCUMENT_BYTES)
        return refuse_at(target, 1, 1,
                         STR("the document is larger than 64 KiB, the limit of the gate"));
    r = document_read(target->document, &options, arena, &tree, &error);
    if (r == -EBADMSG)
        return refuse_at(target, error.line, error.column, str_of(error.what));
    if (r == -E2BIG)
        return refuse_at(target, 1, 1, STR("the document has too many nodes"));
    target->tree = tree;
    return r;
}

/* `policies/baseline.yaml` gives `baseline`. */
static struct str stem_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct str stem = str_of(slash != NULL ? slash + 1 : path);
    const char *dot = stem.len > 0 ? strrchr(stem.ptr, '.') : NULL;

    if (dot != NULL && dot != stem.ptr)
        stem.len = (size_t)(dot - stem.ptr);
    return stem;
}

/* From --name, else from the workload; for a document without a workload, from the file name. */
static int choose_name(const char *given, struct arena *arena, struct sign_target *target)
{
    const cJSON *workload = tree_get(target->tree, "workload");
    struct str from = str_trim(tree_get_text(workload, "skill_ref"));
    int r = 0;

    if (given != NULL) {
        target->name = str_of(given);
        return 0;
    }
    if (target->configmap != NULL &&
        tree_get_text(tree_get(target->configmap, "metadata"), "name").len > 0)
        return 0;
    if (from.len == 0)
        from = str_trim(tree_get_text(workload, "image_digest"));
    if (from.len == 0 && strcmp(target->file, "-") != 0)
        from = stem_of(target->file);
    r = sign_make_name(from, arena, &target->name);
    if (r != 0)
        return r;
    if (!str_present(target->name)) {
        output_error("%s: cannot derive a name for the ConfigMap; use --name", target->file);
        return -EINVAL;
    }
    return 0;
}

int sign_target_read(const char *file, const char *name, struct arena *arena,
                     struct sign_target *ret_target)
{
    struct sign_target target = {.file = file};
    struct str text = {0};
    int r = input_read_file(file, FOLDER_MAX_FILE_BYTES, arena, &text);

    if (r != 0) {
        output_error("%s: %s", file, file_error_text(r));
        return r;
    }
    target.document = text;
    r = find_configmap(text, arena, &target);
    if (r == 0)
        r = read_document(arena, &target);
    if (r == 0)
        r = choose_name(name, arena, &target);
    if (r == 0)
        *ret_target = target;
    else if (r != -EINVAL)
        output_error("%s: %s", file, strerror(-r));
    return r;
}

/* The node of a path such as `requirements.network` or `images[2]`, or its deepest node that
 * exists.
 */
static const cJSON *find_field(const cJSON *object, struct str field)
{
    const cJSON *found = NULL;

    while (field.len > 0 && object != NULL) {
        char name[FIELD_MAX_BYTES];
        size_t n = 0;

        while (n < field.len && field.ptr[n] != '.' && field.ptr[n] != '[')
            n++;
        if (n == 0 || n >= sizeof(name))
            break;
        memcpy(name, field.ptr, n);
        name[n] = '\0';
        object = tree_get(object, name);
        if (object != NULL)
            found = object;
        while (n < field.len && field.ptr[n] != '.')
            n++;
        n += n < field.len;
        field = (struct str){.ptr = field.ptr + n, .len = field.len - n};
    }
    return found;
}

/* The place of the field that the reason begins with; if there is none, the start of the document.
 */
static void place_of_reason(const struct sign_target *target, struct str reason, size_t *ret_line,
                            size_t *ret_column)
{
    static const char *const parts[] = {"requirements", "baseline", "workload", "match"};
    struct str field = reason;
    const cJSON *node = NULL;

    for (field.len = 0; field.len < reason.len && reason.ptr[field.len] != ' '; field.len++) {
    }
    node = find_field(target->tree, field);
    for (size_t i = 0; node == NULL && i < sizeof(parts) / sizeof(parts[0]); i++)
        node = find_field(tree_get(target->tree, parts[i]), field);
    *ret_line = 1;
    *ret_column = 1;
    (void)document_place(target->document, node != NULL ? node : target->tree, node != NULL,
                         ret_line, ret_column);
}

static int make_source(const struct sign_manifest *signed_as, struct arena *arena,
                       struct evidence_source *ret_source)
{
    cJSON *annotations = tree_make_object(arena);
    struct str key = arena_format(arena, EVIDENCE_SIGNATURE_PREFIX "%.*s",
                                  (int)signed_as->key_id.len, signed_as->key_id.ptr);

    if (annotations == NULL || !str_present(key) ||
        !tree_add_member(annotations, key.ptr, tree_make_text(arena, signed_as->signature)))
        return -ENOMEM;
    *ret_source = (struct evidence_source){
        .namespace_name = STR("default"),
        .name = str_present(signed_as->name) ? signed_as->name : STR("evidence"),
        .annotations = annotations,
        .document = signed_as->document,
    };
    return 0;
}

int sign_target_judge(const struct sign_target *target, const struct signer *signer,
                      const struct sign_manifest *signed_as, struct arena *arena)
{
    cleanup_keyring_ref struct keyring *keyring = NULL;
    cleanup_evidence_ref struct evidence *evidence = NULL;
    const struct policy policy = policy_defaults();
    struct evidence_source source = {0};
    struct moment now = {0};
    size_t line = 0, column = 0;
    int r = make_source(signed_as, arena, &source);

    if (r == 0)
        r = keyring_of_key(signed_as->key_id, signer_public_der(signer), &keyring);
    if (r == 0)
        r = evidence_make(&source, keyring, &policy, &evidence);
    if (r != 0)
        return r;
    if (evidence->state != EVIDENCE_VALID && evidence->state != EVIDENCE_OTHER_AUDIENCE) {
        place_of_reason(target, evidence->reason, &line, &column);
        return refuse_at(target, line, column, evidence->reason);
    }
    if (open_runtime_moment(NULL, &now) && evidence_expired(evidence, now))
        output_error("%s: signed, but expires_at is in the past", target->file);
    return 0;
}
