/* SPDX-License-Identifier: Apache-2.0 */
/* mounts - what a mounted volume is, and whether something admits a writable mount (section 3). */
#define _GNU_SOURCE /* memmem() */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/boundary/internal.h"
#include "planner/base/tree.h"

/* Sources that the kubelet mounts read-only whatever the mount says. */
static const char *const read_only_sources[] = {"configMap", "secret", "downwardAPI", "projected",
                                                "image"};

static bool is_read_only_source(const cJSON *source)
{
    for (size_t i = 0; i < sizeof(read_only_sources) / sizeof(read_only_sources[0]); i++) {
        if (strcmp(source->string, read_only_sources[i]) == 0)
            return true;
    }
    return pod_says(tree_get(source, "readOnly"), true);
}

static bool has_credential(const cJSON *projected)
{
    const cJSON *entry = NULL, *sources = tree_get(projected, "sources");

    if (!tree_is(sources, cJSON_Array))
        return false;
    cJSON_ArrayForEach(entry, sources)
    {
        if (tree_is(tree_get(entry, "serviceAccountToken"), cJSON_Object) ||
            tree_is(tree_get(entry, "podCertificate"), cJSON_Object))
            return true;
    }
    return false;
}

static struct volume read_volume(const cJSON *node, size_t index)
{
    struct volume volume = {.name = tree_get_text(node, "name"), .index = index};
    const cJSON *source = NULL;

    if (!tree_is(node, cJSON_Object))
        return volume;
    cJSON_ArrayForEach(source, node)
    {
        if (!tree_is(source, cJSON_Object))
            continue;
        volume.read_only |= is_read_only_source(source);
        volume.host_path |= strcmp(source->string, "hostPath") == 0;
        volume.credential |= strcmp(source->string, "projected") == 0 && has_credential(source);
    }
    return volume;
}

static int by_name(const void *a, const void *b)
{
    const struct volume *x = a, *y = b;
    int r = str_compare(x->name, y->name);

    return r != 0 ? r : (x->index > y->index) - (x->index < y->index);
}

int mounts_read_volumes(struct reading *reading)
{
    struct pod *pod = &reading->pod;
    const cJSON *node = NULL;
    size_t count = tree_count(pod->volume_list), kept = 0;

    pod->volumes = arena_alloc(reading->arena, count, sizeof(*pod->volumes));
    if (pod->volumes == NULL)
        return -ENOMEM;
    cJSON_ArrayForEach(node, pod->volume_list)
    {
        pod->volumes[pod->volume_count] = read_volume(node, pod->volume_count);
        pod->volume_count++;
    }
    if (pod->volume_count > 1)
        qsort(pod->volumes, pod->volume_count, sizeof(*pod->volumes), by_name);
    for (size_t i = 0; i < pod->volume_count; i++) {
        const struct volume *volume = &pod->volumes[i];

        if (volume->name.len > 0 &&
            (kept == 0 || !str_equal(pod->volumes[kept - 1].name, volume->name)))
            pod->volumes[kept++] = *volume;
    }
    pod->volume_count = kept;
    return 0;
}

static int by_name_alone(const void *a, const void *b)
{
    const struct volume *x = a, *y = b;

    return str_compare(x->name, y->name);
}

static const struct volume *find_volume(const struct pod *pod, struct str name)
{
    const struct volume sought = {.name = name};

    if (name.len == 0 || pod->volume_count == 0)
        return NULL;
    return bsearch(&sought, pod->volumes, pod->volume_count, sizeof(*pod->volumes), by_name_alone);
}

static bool is_plain_absolute(struct str path)
{
    return path.len > 0 && path.ptr[0] == '/' && !plan_path_has_parent(path);
}

/* Normalised; absent where the container has none. */
static int read_workspace(const struct container *c, struct arena *arena, struct str *ret_path)
{
    struct str path = tree_text(c->working_dir);
    int r = 0;

    *ret_path = (struct str){0};
    if (!is_plain_absolute(path))
        return 0;
    r = plan_path_normalise(path, arena, &path);
    if (r == 0 && path.len > 1)
        *ret_path = path;
    return r;
}

static bool any_admits(struct str_list bases, struct str path)
{
    for (size_t i = 0; i < bases.count; i++) {
        if (plan_path_admitted(path, bases.items[i]))
            return true;
    }
    return false;
}

/* path: normalised. */
static bool is_declared(const struct boundary_question *question, struct str workspace,
                        struct str path)
{
    struct str rest = STR(".");

    if (!str_present(workspace) || !str_starts_with(path, workspace))
        return false;
    if (path.len > workspace.len) {
        if (path.ptr[workspace.len] != '/')
            return false;
        rest = (struct str){path.ptr + workspace.len + 1, path.len - workspace.len - 1};
    }
    return any_admits(question->declared.writable_paths, rest);
}

/* `/<path>/`; absent: out of memory. */
static struct str in_slashes(struct arena *arena, struct str path)
{
    char *text = arena_alloc_text(arena, path.len + 2);

    if (text == NULL)
        return (struct str){0};
    text[0] = '/';
    memcpy(text + 1, path.ptr, path.len);
    text[path.len + 1] = '/';
    return (struct str){.ptr = text, .len = path.len + 2};
}

/* The declared paths that are relative, each as `/<path>/`, and `.` as `/`. */
static int make_needles(struct reading *reading)
{
    struct str_list declared = reading->question->declared.writable_paths;

    reading->needles = arena_alloc(reading->arena, declared.count, sizeof(*reading->needles));
    if (reading->needles == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < declared.count; i++) {
        struct str one = declared.items[i], needle = STR("/");

        if (one.ptr[0] == '/')
            continue;
        if (!str_equal(one, STR(".")))
            needle = in_slashes(reading->arena, one);
        if (!str_present(needle))
            return -ENOMEM;
        reading->needles[reading->needle_count++] = needle;
    }
    return 0;
}

/* Whether there is a workspace in which a declared path would admit the path: the path is
 * `/<workspace>/<declared>`, or beneath that. A workspace has at least one segment. */
static int could_be_declared(struct reading *reading, struct str path, bool *ret_could)
{
    struct str segments = {path.ptr + 1, path.len - 1}, rest = {0};
    const char *slash = NULL;
    int r = reading->needles == NULL ? make_needles(reading) : 0;

    *ret_could = false;
    if (r < 0 || segments.len == 0 || reading->needle_count == 0)
        return r;
    segments = in_slashes(reading->arena, segments);
    if (!str_present(segments))
        return -ENOMEM;
    slash = memchr(segments.ptr + 1, '/', segments.len - 1);
    assert(slash != NULL);
    rest = (struct str){slash, segments.len - (size_t)(slash - segments.ptr)};
    for (size_t i = 0; i < reading->needle_count && !*ret_could; i++)
        *ret_could =
            memmem(rest.ptr, rest.len, reading->needles[i].ptr, reading->needles[i].len) != NULL;
    return 0;
}

static int judge(struct reading *reading, const cJSON *node, struct str workspace,
                 enum mount_verdict *ret_verdict)
{
    const struct boundary_question *question = reading->question;
    struct str path = tree_get_text(node, "mountPath");
    bool unplaced = false;
    int r = 0;

    *ret_verdict = MOUNT_REFUSED;
    if (!is_plain_absolute(path))
        return 0;
    r = plan_path_normalise(path, reading->arena, &path);
    if (r < 0)
        return r;
    if (any_admits(question->mounts, path) || is_declared(question, workspace, path))
        *ret_verdict = MOUNT_ADMITTED;
    else if (!str_present(workspace))
        r = could_be_declared(reading, path, &unplaced);
    if (unplaced)
        *ret_verdict = MOUNT_UNPLACED;
    return r;
}

int mounts_read(struct reading *reading, struct container *container)
{
    struct str workspace = {0};
    const cJSON *node = NULL;
    size_t count = tree_count(container->mounts);
    int r = 0;

    container->mount_states = arena_alloc(reading->arena, count, sizeof(*container->mount_states));
    if (container->mount_states == NULL)
        return -ENOMEM;
    if (count > 0 && container->own)
        r = read_workspace(container, reading->arena, &workspace);
    count = 0;
    cJSON_ArrayForEach(node, container->mounts)
    {
        struct mount *mount = &container->mount_states[count++];

        mount->volume = find_volume(&reading->pod, tree_get_text(node, "name"));
        if (r == 0 && container->own && !pod_says(tree_get(node, "readOnly"), true) &&
            !(mount->volume != NULL && mount->volume->read_only))
            r = judge(reading, node, workspace, &mount->verdict);
    }
    return r;
}
