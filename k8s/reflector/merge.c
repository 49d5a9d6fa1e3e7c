/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge - merges a read beside the watch into the known objects.
 *
 * Not while a list is in progress, and nothing that was requested before the end of a list: neither
 * of the two could be known to be newer.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/reflector/internal.h"

struct reflector_merge {
    struct reflector *reflector;
    bool in_list; /* it began while a list was in progress */
    struct reflector_change change;
    struct reflector_list list;
};

int reflector_merge_new(struct reflector *reflector, struct reflector_merge **ret_merge)
{
    struct reflector_merge *merge = calloc(1, sizeof(*merge));

    if (merge == NULL)
        return -ENOMEM;
    merge->reflector = reflector;
    merge->in_list = reflector->listing.begun;
    merge->change = (struct reflector_change){
        .source = REFLECTOR_BY_MERGE,
        .since = reflector->known.changes,
        .round = reflector->rounds,
    };
    reflector_known_open(&reflector->known);
    *ret_merge = merge;
    return 0;
}

static bool overlaps_list(const struct reflector_merge *merge)
{
    const struct reflector *reflector = merge->reflector;

    return merge->in_list || reflector->listing.begun || reflector->rounds != merge->change.round;
}

static int take_item(void *context, struct str item)
{
    struct reflector_merge *merge = context;

    if (overlaps_list(merge))
        return -EAGAIN;
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
    int r =
        overlaps_list(merge) ? -EAGAIN : reflector_read_head(merge->reflector, text, &arena, &head);

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
