/* SPDX-License-Identifier: Apache-2.0 */
/* store - the current snapshot of a running gate, shared by its threads. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "k8s/snapshot/snapshot.h"

struct snapshot_store {
    pthread_mutex_t lock;     /* only held while the pointer is copied and its reference taken */
    struct snapshot *current; /* owned: one reference */
};

int snapshot_store_new(struct snapshot_store **ret_store)
{
    struct snapshot_store *store = calloc(1, sizeof(*store));

    if (store == NULL)
        return -ENOMEM;
    if (pthread_mutex_init(&store->lock, NULL) != 0) {
        free(store);
        return -ENOMEM;
    }
    *ret_store = store;
    return 0;
}

void snapshot_store_free(struct snapshot_store *store)
{
    if (store == NULL)
        return;
    snapshot_unref(store->current);
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

struct snapshot *snapshot_store_get(struct snapshot_store *store)
{
    struct snapshot *snapshot = NULL;

    (void)pthread_mutex_lock(&store->lock);
    if (store->current != NULL)
        snapshot = snapshot_ref(store->current);
    (void)pthread_mutex_unlock(&store->lock);
    return snapshot;
}

void snapshot_store_put(struct snapshot_store *store, struct snapshot *snapshot)
{
    struct snapshot *before = NULL;

    (void)pthread_mutex_lock(&store->lock);
    before = store->current;
    store->current = snapshot;
    (void)pthread_mutex_unlock(&store->lock);
    snapshot_unref(before); /* after unlocking: freeing a snapshot can take long */
}
