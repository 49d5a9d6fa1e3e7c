/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder - loads a folder of manifests, file by file, and makes a snapshot.
 *
 * file.c reads one file. Here is what concerns more than one: which state of a file is in use, and
 * which file an object is taken from if two files have it.
 */
#define _GNU_SOURCE /* tdestroy() */
#include "k8s/folder/folder.h"

#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "k8s/folder/file.h"
#include "k8s/util/file.h"

#define MAX_ATTEMPTS 3 /* a mounted folder can be exchanged while it is read */

static const char *const endings[] = {".yaml", ".yml", ".json", NULL};

struct folder_files {
    struct folder_file **items; /* owned: one reference each; sorted by name */
    size_t count;
};

struct folder {
    char *path;
    bool loaded; /* one load succeeded: from then on a file that fails keeps its last state */
    struct folder_files files;
    struct keyring *keyring;           /* owned: one reference; of the last load */
    unsigned char rules[DIGEST_BYTES]; /* evidence_rules_digest() of the last load */
};

static void release_files(struct folder_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        folder_file_unref(files->items[i]);
    free(files->items);
    *files = (struct folder_files){0};
}

#define cleanup_files __attribute__((cleanup(release_files)))

int folder_new(const char *path, struct folder **ret_folder)
{
    struct folder *folder = calloc(1, sizeof(*folder));

    if (folder == NULL)
        return -ENOMEM;
    folder->path = strdup(path);
    if (folder->path == NULL) {
        free(folder);
        return -ENOMEM;
    }
    *ret_folder = folder;
    return 0;
}

void folder_free(struct folder *folder)
{
    if (folder == NULL)
        return;
    release_files(&folder->files);
    keyring_unref(folder->keyring);
    free(folder->path);
    free(folder);
}

/* One load. It only changes the folder when it has succeeded. */
struct load {
    const struct folder *folder;
    struct folder_rules rules;
    unsigned char rules_digest[DIGEST_BYTES];
    bool rules_changed;   /* signers, revoked digests or audience */
    bool keyring_changed; /* the keys changed */
    struct folder_report report;
    struct arena *arena; /* of the reasons */
    struct folder_files next;
    bool network_policies; /* at least one is in use */
    void *seen;            /* of tsearch(): the objects in use, borrowed from `next` */
};

static void release_load(struct load *load)
{
    release_files(&load->next);
}

#define cleanup_load __attribute__((cleanup(release_load)))

static void keep_item(void *item)
{
    (void)item; /* the tree does not own its items */
}

/* name NULL: the folder itself; line 0: the whole file. 0 or -ENOMEM. */
static int add_problem(struct load *load, const char *name, struct folder_error error)
{
    struct folder_report *report = &load->report;
    const char *path = load->folder->path;
    struct str shown = STR("");
    struct str text = {0};

    report->failed_files++;
    if (report->reason_count == FOLDER_MAX_REASONS)
        return 0;
    if (name != NULL)
        shown = file_shown_name(name, load->arena);
    if (!str_present(shown))
        return -ENOMEM;
    if (error.line > 0)
        text = arena_format(load->arena, "%s/%s:%zu:%zu: %s", path, shown.ptr, error.line,
                            error.column, error.what);
    else
        text = arena_format(load->arena, "%s%s%s: %s", path, name != NULL ? "/" : "", shown.ptr,
                            error.what);
    if (!str_present(text))
        return -ENOMEM;
    report->reasons[report->reason_count++] = text;
    return 0;
}

/* Errors that say nothing about the folder: a later attempt can succeed. */
static bool is_temporary(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

static int compare_file(const void *name, const void *item)
{
    const struct folder_file *const *file = item;

    return strcmp(name, (*file)->name);
}

/* The file of that name in the last load; NULL: there was none. */
static struct folder_file *find_before(const struct folder *folder, const char *name)
{
    struct folder_file **found = folder->files.count > 0
                                     ? bsearch(name, folder->files.items, folder->files.count,
                                               sizeof(struct folder_file *), compare_file)
                                     : NULL;

    return found != NULL ? *found : NULL;
}

/* Whether a file has the same content as in the last load. */
static bool is_same(const struct folder_file *before, const struct folder_file *now)
{
    return before != NULL && before->readable && now->readable &&
           memcmp(before->digest, now->digest, DIGEST_BYTES) == 0;
}

/* Whether content, keys and rules are those of the last load, so that its result can be used. */
static bool is_settled(const struct load *load, const struct folder_file *before,
                       const unsigned char digest[static DIGEST_BYTES])
{
    return before != NULL && before->readable && !load->rules_changed && !load->keyring_changed &&
           memcmp(before->digest, digest, DIGEST_BYTES) == 0;
}

/* For a file that failed: its last state, or NULL if there is none. */
static int keep_last_state(struct load *load, struct folder_file *before,
                           struct folder_file **ret_file)
{
    if (before == NULL) {
        *ret_file = NULL;
        return 0;
    }
    return folder_file_keep(before, load->rules.keyring, load->rules_changed, ret_file);
}

/* Many programs truncate a file before they write it: its baseline must not vanish for that moment.
 */
static bool is_emptied(const struct folder_file *before, struct str bytes)
{
    return before != NULL && before->object_count > 0 && str_trim(bytes).len == 0;
}

static int load_file(struct load *load, const struct file_folder *dir, const char *name,
                     struct folder_file **ret_file)
{
    cleanup_arena struct arena scratch = {0};
    struct folder_file *before = find_before(load->folder, name);
    struct folder_error error = {0};
    unsigned char digest[DIGEST_BYTES] = {0};
    struct str bytes = {0};
    int r = file_read(dir, name, FOLDER_MAX_FILE_BYTES, &scratch, &bytes);

    if (is_temporary(r))
        return r;
    if (r == 0 && is_emptied(before, bytes)) {
        error.what =
            "the file is empty, so its last content stays in use; delete the file to withdraw it";
    } else if (r == 0) {
        r = digest_make(bytes, digest);
        if (r < 0)
            return r;
        if (is_settled(load, before, digest)) {
            refcount_take(&before->count);
            *ret_file = before;
            return 0;
        }
        r = folder_file_read(name, bytes, &load->rules, ret_file, &error);
        if (r != -EBADMSG)
            return r;
    } else {
        error.what = file_error_text(r);
    }
    r = add_problem(load, name, error);
    return r < 0 ? r : keep_last_state(load, before, ret_file);
}

/* Reads all files; those that fail keep their last state. */
static int load_files(struct load *load, const struct file_folder *dir,
                      const struct file_names *names)
{
    load->next.items = calloc(names->count > 0 ? names->count : 1, sizeof(struct folder_file *));
    if (load->next.items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < names->count; i++) {
        struct folder_file *file = NULL;
        int r = 0;

        r = load_file(load, dir, names->items[i], &file);
        if (r < 0)
            return r;
        if (file != NULL)
            load->next.items[load->next.count++] = file;
    }
    return 0;
}

/* If the folder cannot be read, all its files keep their last state. */
static int keep_all_last_states(struct load *load, int error)
{
    const struct folder_files *before = &load->folder->files;
    int r = add_problem(load, NULL, (struct folder_error){.what = file_error_text(error)});

    if (r < 0)
        return r;
    load->next.items = calloc(before->count > 0 ? before->count : 1, sizeof(struct folder_file *));
    if (load->next.items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < before->count; i++) {
        r = keep_last_state(load, before->items[i], &load->next.items[i]);
        if (r < 0)
            return r;
        load->next.count++;
    }
    return 0;
}

/* *ret_exchanged: a mounted folder was exchanged during the read, which must be repeated. */
static int load_folder(struct load *load, bool *ret_exchanged)
{
    cleanup_arena struct arena scratch = {0};
    cleanup_folder struct file_folder dir = {0};
    struct file_names names = {0};
    int r = file_folder_open(load->folder->path, &dir);

    *ret_exchanged = false;
    if (r == 0)
        r = file_folder_list(&dir, endings, &scratch, &names);
    if (r < 0)
        return is_temporary(r) ? r : keep_all_last_states(load, r);
    r = load_files(load, &dir, &names);
    if (r == 0)
        *ret_exchanged = file_folder_exchanged(&dir);
    return r;
}

static int load_attempts(struct load *load)
{
    bool exchanged = true;

    /* after the last attempt a mixture of two versions is accepted: each of its files is complete,
     * and the next load reads the folder again */
    for (int i = 0; exchanged && i < MAX_ATTEMPTS; i++) {
        int r = 0;

        release_files(&load->next);
        load->report = (struct folder_report){0};
        r = load_folder(load, &exchanged);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Marks all objects of a file as in use. -EEXIST: one of them, *ret_duplicate, is in use already;
 * none is marked then. */
static int claim_objects(struct load *load, const struct folder_file *file,
                         const struct folder_object **ret_duplicate)
{
    size_t claimed = 0;
    int r = 0;

    for (; r == 0 && claimed < file->object_count; claimed += r == 0) {
        const struct folder_object *object = &file->objects[claimed];
        const struct folder_object *const *node =
            tsearch(object, &load->seen, folder_object_compare);

        if (node == NULL)
            r = -ENOMEM;
        else if (*node != object)
            r = -EEXIST;
    }
    if (r == 0)
        return 0;
    assert(claimed < file->object_count);
    if (r == -EEXIST)
        *ret_duplicate = &file->objects[claimed];
    while (claimed > 0)
        (void)tdelete(&file->objects[--claimed], &load->seen, folder_object_compare);
    return r;
}

/* A file with an object that is in use already: it keeps its last state. */
static int refuse_duplicate(struct load *load, struct folder_file **file,
                            const struct folder_object *duplicate)
{
    static const char *const what[] = {
        [FOLDER_CONFIG_MAP] = "this ConfigMap is defined twice; remove one",
        [FOLDER_NAMESPACE] = "this Namespace is defined twice; remove one",
        [FOLDER_NETWORK_POLICY] = "this NetworkPolicy is defined twice; remove one",
    };
    struct folder_file *kept = NULL;
    const struct folder_error error = {
        .line = duplicate->line,
        .column = duplicate->column,
        .what = what[duplicate->kind],
    };
    int r = add_problem(load, (*file)->name, error);

    if (r == 0)
        r = keep_last_state(load, find_before(load->folder, (*file)->name), &kept);
    if (r < 0)
        return r;
    folder_file_unref(*file);
    *file = kept;
    return 0;
}

/* Called for unchanged files first: a new file must not displace the objects of an old one. */
static int claim_readable(struct load *load, bool same)
{
    for (size_t i = 0; i < load->next.count; i++) {
        struct folder_file **file = &load->next.items[i];
        const struct folder_object *duplicate = NULL;
        int r = 0;

        if (*file == NULL || !(*file)->readable ||
            is_same(find_before(load->folder, (*file)->name), *file) != same)
            continue;
        r = claim_objects(load, *file, &duplicate);
        if (r == -EEXIST)
            r = refuse_duplicate(load, file, duplicate);
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_object(struct load *load, struct snapshot_builder *builder,
                      const struct folder_object *object)
{
    load->network_policies |= object->kind == FOLDER_NETWORK_POLICY;
    if (object->network_policy != NULL)
        return snapshot_builder_add_network_policy(builder, object->network_policy);
    if (object->labels != NULL)
        return snapshot_builder_add_namespace(builder, object->labels);
    if (object->evidence != NULL)
        return snapshot_builder_add_evidence(builder, object->evidence);
    return 0;
}

static int add_objects(struct load *load, struct snapshot_builder *builder)
{
    for (size_t i = 0; i < load->next.count; i++) {
        const struct folder_file *file = load->next.items[i];

        for (size_t j = 0; file != NULL && j < file->object_count; j++) {
            const struct folder_object *object = &file->objects[j];
            const struct folder_object *const *node =
                tsearch(object, &load->seen, folder_object_compare);
            int r = node == NULL ? -ENOMEM : 0;

            /* an object of a readable file replaces the one of a last state */
            if (r == 0 && *node == object)
                r = add_object(load, builder, object);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int load_snapshot(struct load *load, struct snapshot_builder *builder)
{
    int r = claim_readable(load, true);

    if (r == 0)
        r = claim_readable(load, false);
    if (r == 0)
        r = add_objects(load, builder);
    if (load->network_policies || load->rules.policy->network_policies)
        snapshot_builder_read_network_policies(builder);
    tdestroy(load->seen, keep_item);
    load->seen = NULL;
    return r;
}

/* Makes the load the state of the folder. */
static void accept_load(struct folder *folder, struct load *load)
{
    size_t count = 0;

    for (size_t i = 0; i < load->next.count; i++) {
        if (load->next.items[i] != NULL)
            load->next.items[count++] = load->next.items[i];
    }
    assert(count <= load->next.count);
    load->next.count = count;
    release_files(&folder->files);
    folder->files = load->next;
    load->next = (struct folder_files){0};
    keyring_unref(folder->keyring);
    folder->keyring = keyring_ref(load->rules.keyring);
    memcpy(folder->rules, load->rules_digest, sizeof(folder->rules));
    folder->loaded = true;
}

static int run_load(struct folder *folder, struct load *load, struct snapshot_builder *builder,
                    struct snapshot **ret_snapshot, struct folder_report *ret_report)
{
    struct snapshot *snapshot = NULL;
    int r = evidence_rules_digest(load->rules.policy, load->rules_digest);

    if (r < 0)
        return r;
    load->rules_changed =
        !folder->loaded || memcmp(folder->rules, load->rules_digest, DIGEST_BYTES) != 0;
    load->keyring_changed = !folder->loaded || !keyring_equal(folder->keyring, load->rules.keyring);
    r = load_attempts(load);
    if (r == 0)
        r = load_snapshot(load, builder);
    if (r < 0)
        return r;
    *ret_report = load->report;
    if (!folder->loaded && load->report.failed_files > 0)
        return -EINVAL;
    r = snapshot_builder_finish(builder, &snapshot);
    if (r < 0)
        return r;
    accept_load(folder, load);
    *ret_snapshot = snapshot;
    return 0;
}

int folder_load(struct folder *folder, const struct keyring *keyring, const struct policy *policy,
                struct snapshot_keep keep, struct arena *arena, struct snapshot **ret_snapshot,
                struct folder_report *ret_report)
{
    cleanup_load struct load load = {
        .folder = folder,
        .rules = {.keyring = keyring, .policy = policy},
        .arena = arena,
    };
    struct snapshot_builder *builder = NULL;
    int r = snapshot_builder_new(policy, keep, &builder);

    if (r < 0)
        return r;
    r = run_load(folder, &load, builder, ret_snapshot, ret_report);
    if (r < 0)
        snapshot_builder_free(builder);
    return r;
}
