/* SPDX-License-Identifier: Apache-2.0 */
/* sign_manifest - writes the ConfigMap of a signed document, and reads it back. */

#include "webhook/commands/sign_manifest.h"

#include <assert.h>
#include <errno.h>

#include "k8s/document/manifest.h"
#include "k8s/evidence/evidence.h"
#include "k8s/policy/names.h"
#include "k8s/util/dns_name.h"
#include "planner/base/tree.h"
#include "webhook/cli/yaml.h"
#include "webhook/commands/configmap.h"

static bool is_lower_or_digit(char c)
{
    return text_is_lower(c) || text_is_digit(c);
}

int sign_make_name(struct str text, struct arena *arena, struct str *ret_name)
{
    char *name = arena_copy(arena, text);
    size_t len = 0;

    if (name == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool upper = c >= 'A' && c <= 'Z';
        bool joins = len > 0 && is_lower_or_digit(name[len - 1]);

        if (upper || is_lower_or_digit(c))
            name[len++] = upper ? (char)(c - 'A' + 'a') : c;
        else if (joins)
            name[len++] = c == '.' ? '.' : '-';
    }
    while (len > 0 && !is_lower_or_digit(name[len - 1]))
        len--;
    name[len] = '\0';
    *ret_name = len > 0 && len <= DNS_SUBDOMAIN_MAX_BYTES ? (struct str){.ptr = name, .len = len}
                                                          : (struct str){0};
    return 0;
}

/* Whether every YAML reader returns these bytes unchanged from a literal block (`|`): plain lines,
 * a line feed at the end, and no character that editors or readers treat in more than one way. */
static bool literal_is_exact(struct str s)
{
    bool line_start = true;

    if (s.len < 2 || s.ptr[s.len - 1] != '\n' || s.ptr[s.len - 2] == '\n' || s.ptr[0] == ' ' ||
        s.ptr[0] == '\n')
        return false;
    for (size_t i = 0; i < s.len;) {
        uint32_t character = 0;
        size_t n = str_utf8_next((struct str){.ptr = s.ptr + i, .len = s.len - i}, &character);
        bool ends = s.ptr[i] == '\n';

        if (n == 0 || (!ends && (text_is_control(character) || character == 0xfeff ||
                                 character == 0x2028 || character == 0x2029)))
            return false;
        if (ends && !line_start && s.ptr[i - 1] == ' ')
            return false;
        line_start = ends;
        i += n;
    }
    return true;
}

/* A copy of an object without one member. A NULL object gives an empty copy. */
static cJSON *copy_without(const cJSON *object, const char *key, struct arena *arena)
{
    cJSON *copy = tree_make_object(arena);
    const cJSON *member = NULL;

    cJSON_ArrayForEach(member, object)
    {
        if (str_equal(tree_key(member), str_of(key)))
            continue;
        if (copy == NULL || !tree_add_member(copy, member->string, tree_borrow(arena, member)))
            return NULL;
    }
    return copy;
}

/* A copy of an object with one member set: at its old position, or at the end. */
static cJSON *copy_with(const cJSON *object, const char *key, cJSON *value, struct arena *arena)
{
    cJSON *copy = tree_make_object(arena);
    const cJSON *member = NULL;
    bool placed = false;

    cJSON_ArrayForEach(member, object)
    {
        bool same = str_equal(tree_key(member), str_of(key));

        if (copy == NULL ||
            !tree_add_member(copy, member->string, same ? value : tree_borrow(arena, member)))
            return NULL;
        placed |= same;
    }
    if (!placed && (copy == NULL || !tree_add_member(copy, key, value)))
        return NULL;
    return copy;
}

static cJSON *make_metadata(const struct sign_manifest *manifest, const cJSON *existing,
                            struct arena *arena)
{
    struct str annotation = arena_format(arena, EVIDENCE_SIGNATURE_PREFIX "%.*s",
                                         (int)manifest->key_id.len, manifest->key_id.ptr);
    cJSON *metadata = copy_without(existing, "", arena);
    cJSON *part = NULL;

    if (!str_present(annotation))
        return NULL;
    if (metadata != NULL && str_present(manifest->name))
        metadata = copy_with(metadata, "name", tree_make_text(arena, manifest->name), arena);
    if (metadata != NULL && str_present(manifest->namespace_name))
        metadata = copy_with(metadata, "namespace", tree_make_text(arena, manifest->namespace_name),
                             arena);
    part = copy_with(tree_get(existing, "labels"), NAMES_LABEL_EVIDENCE,
                     tree_make_text(arena, STR("true")), arena);
    if (metadata != NULL)
        metadata = copy_with(metadata, "labels", part, arena);
    part = copy_with(tree_get(existing, "annotations"), annotation.ptr,
                     tree_make_text(arena, manifest->signature), arena);
    return metadata != NULL ? copy_with(metadata, "annotations", part, arena) : NULL;
}

static cJSON *make_configmap(const struct sign_manifest *manifest, struct arena *arena)
{
    const cJSON *existing = manifest->existing;
    cJSON *metadata = make_metadata(manifest, tree_get(existing, "metadata"), arena);
    cJSON *data = copy_with(tree_get(existing, "data"), EVIDENCE_DATA_KEY,
                            tree_make_text(arena, manifest->document), arena);
    cJSON *root = copy_without(existing, "", arena);

    if (root != NULL && existing == NULL) {
        root = copy_with(root, "apiVersion", tree_make_text(arena, STR("v1")), arena);
        if (root != NULL)
            root = copy_with(root, "kind", tree_make_text(arena, STR("ConfigMap")), arena);
    }
    if (root != NULL)
        root = copy_with(root, "metadata", metadata, arena);
    return root != NULL ? copy_with(root, "data", data, arena) : NULL;
}

/* Whether the text is one ConfigMap with these bytes and this signature. */
static int reads_back(const struct sign_manifest *manifest, struct str text, struct arena *arena,
                      bool *ret_same)
{
    struct manifest reading = manifest_make(text, DOCUMENT_YAML, arena);
    struct manifest_object object = {0}, more = {0};
    struct document_error ignored = {0};
    struct evidence_source source = {0};
    const cJSON *annotation = NULL;
    bool labelled = false;
    bool found = false;
    int r = manifest_next(&reading, &object, &ignored);

    if (r == 0)
        r = manifest_next(&reading, &more, &ignored);
    if (r != 0 && r != -EBADMSG)
        return r;
    *ret_same = false;
    if (r != 0 || object.tree == NULL || more.tree != NULL ||
        !configmap_read(object.tree, &source, &labelled))
        return 0;
    cJSON_ArrayForEach(annotation, source.annotations)
    {
        if (str_equal(configmap_key_id(tree_key(annotation)), manifest->key_id))
            found = str_equal(tree_text(annotation), manifest->signature);
    }
    *ret_same = labelled && found && str_equal(source.document, manifest->document);
    return 0;
}

int sign_manifest_write(const struct sign_manifest *manifest, struct arena *arena,
                        struct str *ret_text)
{
    const char *const block_keys[] = {
        literal_is_exact(manifest->document) ? EVIDENCE_DATA_KEY : NULL, NULL};
    cJSON *tree = NULL;

    assert(str_present(manifest->key_id) && str_present(manifest->signature));
    assert(str_present(manifest->name) || manifest->existing != NULL);
    tree = make_configmap(manifest, arena);

    if (tree == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < sizeof(block_keys) / sizeof(block_keys[0]); i++) {
        struct str text = {0};
        bool same = false;
        int r = yaml_write(tree, block_keys[i], arena, &text);

        if (r == 0)
            r = reads_back(manifest, text, arena, &same);
        if (r != 0)
            return r;
        if (same) {
            *ret_text = text;
            return 0;
        }
    }
    return -EINVAL;
}
