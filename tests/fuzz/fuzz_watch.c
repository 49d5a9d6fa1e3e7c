/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_watch - reads the bytes as an answer of an API server. The first byte selects the kind of
 * the answer and the size of its pieces. The pieces do not change which objects are read, and only
 * existing objects are dropped. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "k8s/reflector/reflector.h"

#define MODE_WATCH 1
#define MODE_INITIAL 2
#define MODE_MERGE 4
#define MAX_PIECE 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    size_t objects;
    uint64_t sum; /* a digest of the names and versions that were put, in their order */
};

static int put(void *context, const struct reflector_object *object, void **value)
{
    struct seen *seen = context;

    assert(object->name.len > 0 && object->resource_version.len > 0);
    assert(object->resource_version.len <= REFLECTOR_MAX_VERSION_BYTES);
    seen->objects += *value == NULL;
    *value = seen;
    for (size_t i = 0; i < object->name.len; i++)
        seen->sum = seen->sum * 31 + (unsigned char)object->name.ptr[i];
    for (size_t i = 0; i < object->resource_version.len; i++)
        seen->sum = seen->sum * 31 + (unsigned char)object->resource_version.ptr[i];
    return 0;
}

static void drop(void *context, void *value)
{
    struct seen *seen = context;

    assert(value == seen && seen->objects > 0);
    seen->objects--;
}

static struct reflector *make(struct seen *seen, unsigned mode)
{
    static const struct document_shape metadata[] = {{.key = "name"},
                                                     {.key = "namespace"},
                                                     {.key = "resourceVersion"},
                                                     {.key = "annotations", .whole = true},
                                                     {0}};
    static const struct document_shape members[] = {{.key = "metadata", .members = metadata}, {0}};
    const struct reflector_options options = {
        .path = STR("/api/v1/configmaps"),
        .selector = STR(""),
        .members = members,
        .sink = {.context = seen, .put = put, .drop = drop},
        .seed = 1,
        .initial_events = (mode & MODE_INITIAL) != 0,
    };
    struct reflector *reflector = NULL;
    int r = reflector_new(&options, &reflector);

    assert(r == 0);
    return reflector;
}

static void answer(struct reflector *reflector, struct str bytes, size_t piece)
{
    struct reflector_task task = {0};
    int r = reflector_next(reflector, 0, &task);

    assert(r == 0);
    for (size_t at = 0; r == 0 && at < bytes.len; at += piece) {
        size_t len = bytes.len - at < piece ? bytes.len - at : piece;

        r = reflector_bytes(reflector, (struct str){bytes.ptr + at, len}, 1);
    }
    if (r == 0)
        r = reflector_ended(reflector, 1);
    if (r < 0)
        reflector_failed(reflector, 0, bytes, 0, 1);
}

static void merge_all(struct reflector *reflector, struct str bytes, size_t piece)
{
    struct reflector_merge *merge = NULL;
    int r = reflector_merge_new(reflector, &merge);

    assert(r == 0);
    for (size_t at = 0; r == 0 && at < bytes.len; at += piece) {
        size_t len = bytes.len - at < piece ? bytes.len - at : piece;

        r = reflector_merge_bytes(merge, (struct str){bytes.ptr + at, len});
    }
    if (r == 0)
        r = reflector_merge_end(merge);
    assert(r == 0 || r == -EBADMSG || r == -EMSGSIZE);
    reflector_merge_free(merge);
}

static struct seen run(struct str bytes, unsigned mode, size_t piece)
{
    struct seen seen = {0};
    struct reflector *reflector = make(&seen, mode);
    struct seen result = {0};

    if ((mode & MODE_WATCH) != 0)
        answer(reflector,
               STR("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"metadata\":{"
                   "\"name\":\"a\",\"resourceVersion\":\"1\"}}]}"),
               MAX_PIECE);
    if ((mode & MODE_MERGE) != 0)
        merge_all(reflector, bytes, piece);
    else
        answer(reflector, bytes, piece);
    assert(reflector_object_count(reflector) == seen.objects);
    result = seen;
    reflector_free(reflector);
    assert(seen.objects == 0);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {0};
    struct seen whole = {0};
    struct seen cut = {0};
    unsigned mode = 0;

    if (size < 2)
        return 0;
    mode = data[0];
    bytes = (struct str){(const char *)data + 1, size - 1};
    whole = run(bytes, mode, bytes.len);
    cut = run(bytes, mode, 1 + mode / 8 % MAX_PIECE);
    assert(whole.objects == cut.objects && whole.sum == cut.sum);
    return 0;
}
