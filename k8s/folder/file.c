/* SPDX-License-Identifier: Apache-2.0 */
/* file - reads the objects of one file of manifests, and keeps its last state if it cannot be read.
 */
#include "k8s/folder/file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/document/manifest.h"
#include "k8s/policy/names.h"
#include "planner/base/tree.h"

#define DEFAULT_NAMESPACE "default"
#define FILE_FIRST_BYTES 256 /* fits one document: a folder can have 100,000 such files */

int folder_object_compare(const void *a, const void *b)
{
    const struct folder_object *left = a;
    const struct folder_object *right = b;
    int r = (int)left->kind - (int)right->kind;

    if (r == 0)
        r = str_compare(left->namespace_name, right->namespace_name);
    return r != 0 ? r : str_compare(left->name, right->name);
}

static void release_object(const struct folder_object *object)
{
    evidence_unref(object->evidence);
    network_policy_unref(object->network_policy);
}

void folder_file_unref(struct folder_file *file)
{
    struct arena arena = {0};

    if (file == NULL || !refcount_drop(&file->count))
        return;
    for (size_t i = 0; i < file->object_count; i++)
        release_object(&file->objects[i]);
    folder_file_unref(file->base);
    arena = file->arena; /* the struct itself is stored in its arena */
    arena_release(&arena);
}

static void unref_file(struct folder_file **file)
{
    folder_file_unref(*file);
}

#define cleanup_file __attribute__((cleanup(unref_file)))

static struct folder_file *make_file(const char *name)
{
    struct arena arena = {0};
    struct folder_file *file = NULL;

    arena_expect(&arena, FILE_FIRST_BYTES);
    file = arena_alloc(&arena, 1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->name = arena_copy(&arena, str_of(name));
    if (file->name == NULL) {
        arena_release(&arena);
        return NULL;
    }
    refcount_init(&file->count);
    file->arena = arena;
    return file;
}

/* One reading of a file. */
struct reading {
    struct folder_file *file;
    const struct folder_rules *rules;
    size_t capacity; /* of file->objects */
};

static int refuse(const struct manifest_object *object, const char *what,
                  struct folder_error *reterr)
{
    *reterr = (struct folder_error){.line = object->line, .column = object->column, .what = what};
    return -EBADMSG;
}

static bool copy_text(struct arena *arena, struct str from, struct str *ret_text)
{
    const char *text = NULL;

    if (!str_present(from)) {
        *ret_text = from;
        return true;
    }
    text = arena_copy(arena, from);
    *ret_text = (struct str){.ptr = text, .len = from.len};
    return text != NULL;
}

/* Takes over the references of the object, on failure too. Begins with one item, which
 * array_grow_in() does not: most files have one object, and a folder can have 100,000 files. */
static int add_object(struct reading *reading, struct folder_object object)
{
    struct folder_file *file = reading->file;

    if (file->object_count == reading->capacity) {
        size_t capacity = reading->capacity > 0 ? reading->capacity * 2 : 1;
        struct folder_object *objects = arena_alloc(&file->arena, capacity, sizeof(*objects));

        if (objects == NULL) {
            release_object(&object);
            return -ENOMEM;
        }
        if (file->object_count > 0)
            memcpy(objects, file->objects, file->object_count * sizeof(*objects));
        file->objects = objects;
        reading->capacity = capacity;
    }
    assert(file->object_count < reading->capacity);
    file->objects[file->object_count++] = object;
    return 0;
}

static int read_namespace(struct reading *reading, const cJSON *metadata,
                          struct folder_object object)
{
    struct arena *arena = &reading->file->arena;
    const cJSON *labels = tree_get(metadata, "labels");
    struct namespace_labels *kept = arena_alloc(arena, 1, sizeof(*kept));

    if (kept == NULL || !copy_text(arena, object.name, &kept->name) ||
        !copy_text(arena, tree_get_text(labels, NAMES_LABEL_ENFORCE), &kept->labels.enforce) ||
        !copy_text(arena, tree_get_text(labels, NAMES_LABEL_WARN), &kept->labels.warn) ||
        !copy_text(arena, tree_get_text(labels, NAMES_LABEL_AUDIT), &kept->labels.audit) ||
        !copy_text(arena, tree_get_text(labels, NAMES_LABEL_BOUNDARY), &kept->labels.boundary))
        return -ENOMEM;
    object.name = kept->name;
    object.labels = kept;
    return add_object(reading, object);
}

/* NULL or a map of texts. */
static bool is_text_map(const cJSON *map)
{
    const cJSON *entry = NULL;

    if (map == NULL)
        return true;
    if (!tree_is(map, cJSON_Object))
        return false;
    cJSON_ArrayForEach(entry, map)
    {
        if (!tree_is(entry, cJSON_String))
            return false;
    }
    return true;
}

static int read_evidence(struct reading *reading, const cJSON *tree, const cJSON *metadata,
                         struct folder_object object)
{
    const cJSON *binary = tree_get(tree, "binaryData");
    const struct evidence_source source = {
        .namespace_name = object.namespace_name,
        .name = object.name,
        .annotations = tree_get(metadata, "annotations"),
        .document = tree_get_text(tree_get(tree, "data"), EVIDENCE_DATA_KEY),
        .in_binary_data = tree_get(binary, EVIDENCE_DATA_KEY) != NULL,
        .binary = tree_get_text(binary, EVIDENCE_DATA_KEY),
    };
    int r =
        evidence_make(&source, reading->rules->keyring, reading->rules->policy, &object.evidence);

    if (r < 0)
        return r;
    object.namespace_name = object.evidence->namespace_name;
    object.name = object.evidence->name;
    return add_object(reading, object);
}

static int read_config_map(struct reading *reading, const struct manifest_object *manifest,
                           const cJSON *metadata, struct folder_object object,
                           struct folder_error *reterr)
{
    struct arena *arena = &reading->file->arena;
    struct str label = tree_get_text(tree_get(metadata, "labels"), NAMES_LABEL_EVIDENCE);

    if (!is_text_map(tree_get(manifest->tree, "data")))
        return refuse(manifest, "data must be a map of text values; quote them", reterr);
    if (!is_text_map(tree_get(manifest->tree, "binaryData")))
        return refuse(manifest, "binaryData must be a map of text values", reterr);
    if (str_equal(label, STR("true")))
        return read_evidence(reading, manifest->tree, metadata, object);
    if (!copy_text(arena, object.namespace_name, &object.namespace_name) ||
        !copy_text(arena, object.name, &object.name))
        return -ENOMEM;
    return add_object(reading, object);
}

static int read_network_policy(struct reading *reading, const cJSON *tree,
                               struct folder_object object)
{
    int r = network_policy_make(object.namespace_name, object.name, tree_get(tree, "spec"),
                                &object.network_policy);

    if (r < 0)
        return r;
    object.namespace_name = object.network_policy->namespace_name;
    object.name = object.network_policy->name;
    return add_object(reading, object);
}

/* 0: it is of a kind that is not read. */
static enum folder_kind kind_of(const cJSON *tree)
{
    static const struct {
        struct str api_version;
        struct str kind;
    } kinds[] = {
        [FOLDER_CONFIG_MAP] = {STR_INIT("v1"), STR_INIT("ConfigMap")},
        [FOLDER_NAMESPACE] = {STR_INIT("v1"), STR_INIT("Namespace")},
        [FOLDER_NETWORK_POLICY] = {STR_INIT("networking.k8s.io/v1"), STR_INIT("NetworkPolicy")},
    };
    struct str api_version = tree_get_text(tree, "apiVersion");
    struct str kind = tree_get_text(tree, "kind");

    for (unsigned i = FOLDER_CONFIG_MAP; i <= FOLDER_NETWORK_POLICY; i++) {
        if (str_equal(kinds[i].kind, kind) && str_equal(kinds[i].api_version, api_version))
            return (enum folder_kind)i;
    }
    return 0;
}

/* False: it is not text. Absent or empty is the default. */
static bool read_namespace_name(const cJSON *metadata, struct str *ret_name)
{
    const cJSON *name = tree_get(metadata, "namespace");

    if (name != NULL && !tree_is(name, cJSON_String))
        return false;
    *ret_name = tree_text(name).len > 0 ? tree_text(name) : STR(DEFAULT_NAMESPACE);
    return true;
}

static int read_object(struct reading *reading, const struct manifest_object *manifest,
                       struct folder_error *reterr)
{
    const cJSON *metadata = tree_get(manifest->tree, "metadata");
    struct folder_object object = {
        .kind = kind_of(manifest->tree),
        .name = tree_get_text(metadata, "name"),
        .line = manifest->line,
        .column = manifest->column,
    };

    if (object.kind == 0)
        return 0;
    if (object.name.len == 0)
        return refuse(manifest, "metadata.name is required", reterr);
    if (object.kind == FOLDER_NAMESPACE)
        return read_namespace(reading, metadata, object);
    if (!read_namespace_name(metadata, &object.namespace_name))
        return refuse(manifest, "metadata.namespace must be text", reterr);
    return object.kind == FOLDER_CONFIG_MAP
               ? read_config_map(reading, manifest, metadata, object, reterr)
               : read_network_policy(reading, manifest->tree, object);
}

static int read_objects(struct reading *reading, struct str bytes, struct folder_error *reterr)
{
    cleanup_arena struct arena scratch = {0};
    struct manifest manifest = manifest_make(bytes, DOCUMENT_EITHER, &scratch);

    for (;;) {
        struct manifest_object object = {0};
        struct document_error error = {0};
        int r = manifest_next(&manifest, &object, &error);

        if (r == -EBADMSG) {
            *reterr = (struct folder_error){
                .line = error.line, .column = error.column, .what = error.what};
        } else if (r == -E2BIG) {
            *reterr =
                (struct folder_error){.line = 1, .column = 1, .what = "it has too many values"};
            return -EBADMSG;
        }
        if (r < 0 || object.tree == NULL)
            return r;
        r = read_object(reading, &object, reterr);
        if (r < 0)
            return r;
        /* the tree of a document is no longer needed; that of a List is until its last item */
        if (manifest.depth == 0)
            arena_release(&scratch);
    }
}

int folder_file_read(const char *name, struct str bytes, const struct folder_rules *rules,
                     struct folder_file **ret_file, struct folder_error *reterr)
{
    cleanup_file struct folder_file *file = make_file(name);
    struct reading reading = {.file = file, .rules = rules};
    int r = 0;

    if (file == NULL)
        return -ENOMEM;
    r = digest_make(bytes, file->digest);
    if (r == 0)
        r = read_objects(&reading, bytes, reterr);
    if (r < 0)
        return r;
    file->readable = true;
    *ret_file = file;
    file = NULL;
    return 0;
}

/* The evidence of an object in a file that cannot be read now. */
static int keep_evidence(const struct evidence *before, const struct keyring *keyring,
                         bool rules_changed, struct evidence **ret_evidence)
{
    if (before == NULL) {
        *ret_evidence = NULL;
        return 0;
    }
    if (!rules_changed && evidence_signers_remain(before, keyring)) {
        *ret_evidence = evidence_ref(before);
        return 0;
    }
    return evidence_make_distrusted(
        before, STR("its file cannot be read, and keys or rules changed since the last read"),
        ret_evidence);
}

int folder_file_keep(struct folder_file *before, const struct keyring *keyring, bool rules_changed,
                     struct folder_file **ret_file)
{
    cleanup_file struct folder_file *file = make_file(before->name);
    struct reading reading = {.file = file};

    if (file == NULL)
        return -ENOMEM;
    /* all texts but those of evidence stay in the file that was read */
    file->base = before->base != NULL ? before->base : before;
    refcount_take(&file->base->count);
    for (size_t i = 0; i < before->object_count; i++) {
        struct folder_object object = before->objects[i];
        struct evidence *evidence = NULL;
        int r = keep_evidence(object.evidence, keyring, rules_changed, &evidence);

        if (r < 0)
            return r;
        object.evidence = evidence;
        if (object.network_policy != NULL)
            object.network_policy = network_policy_ref(object.network_policy);
        if (evidence != NULL) {
            object.namespace_name = evidence->namespace_name;
            object.name = evidence->name;
        }
        r = add_object(&reading, object);
        if (r < 0)
            return r;
    }
    *ret_file = file;
    file = NULL;
    return 0;
}
