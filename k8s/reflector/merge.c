/* SPDX-License-Identifier: Apache-2.0 */
/* merge - merges a read beside the watch into the known objects. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/reflector/internal.h"

struct reflector_merge {
    struct reflector *reflector;
    struct reflector_change change;
    struct reflector_list list;
};

int reflector_merge_new(struct reflector *reflector, struct reflector_merge **ret_merge)
{
    struct reflector_merge *merge = calloc(1, sizeof(*merge));

    if (merge == NULL)
        return -ENOMEM;
    merge->reflector = reflector;
    merge->change = (struct reflector_change){
        .source = REFLECTOR_BY_MERGE,
        .since = reflector->known.changes,
    };
    reflector_known_open(&reflector->known);
    *ret_merge = merge;
    return 0;
}

static int take_item(void *context, struct str item)
{
    struct reflector_merge *merge = context;

    return reflector_read_item(merge->reflector, item, merge->change);
}

int reflector_merge_bytes(struct reflector_merge *merge, struct str bytes)
{
    return reflector_list_bytes(&merge->list, bytes, take_item, merge);
}

int reflector_merge_end(struct reflector_merge *merge)
{
    cleanup_arena struct arena arena = {0};
    struct str text = reflector_text_str(&merge->list.head);
    struct reflector_head head = {0};
    int r = reflector_read_head(merge->reflector, text, &arena, &head);

    if (r == 0 && !head.has_items) /* one object */
        r = reflector_read_item(merge->reflector, text, merge->change);
    if (r == 0 && merge->reflector->known.tombstones_lost > merge->change.since)
        r = -EAGAIN;
    return r;
}

void reflector_merge_free(struct reflector_merge *merge)
{
    if (merge == NULL)
        return;
    assert(merge->reflector->known.merge_count > 0);
    reflector_known_close(&merge->reflector->known);
    reflector_list_done(&merge->list);
    free(merge);
}
