/* SPDX-License-Identifier: Apache-2.0 */
/* recent - remembers which decisions were counted already, in bounded memory. */

#include <stdlib.h>

#include "planner/base/tree.h"
#include "webhook/report/internal.h"

#define WAYS 4u /* ids in one set */
#define SETS (REPORT_RECENT_IDS / WAYS)
#define PAIRS 65536u

/* How often the same decision was in each of the two logs. */
struct pair {
    uint64_t key;
    uint32_t audit, record;
};

struct report_recent {
    uint64_t ids[SETS][WAYS]; /* each set has its newest first; 0: empty */
    struct pair pairs[PAIRS];
};

struct report_recent *report_recent_new(void)
{
    return calloc(1, sizeof(struct report_recent));
}

void report_recent_free(struct report_recent *recent)
{
    free(recent);
}

/* Whether the id is remembered; afterwards it is. */
static bool id_seen(struct report_recent *recent, uint64_t id)
{
    uint64_t *set = recent->ids[id % SETS];
    size_t i = 0;
    bool seen = false;

    id |= 1; /* never 0 */
    while (i < WAYS - 1 && set[i] != id)
        i++;
    seen = set[i] == id;
    for (; i > 0; i--)
        set[i] = set[i - 1];
    set[0] = id;
    return seen;
}

static bool id_known(const struct report_recent *recent, uint64_t id)
{
    const uint64_t *set = recent->ids[id % SETS];

    id |= 1;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i] == id)
            return true;
    }
    return false;
}

static void hash_decision(struct siphash *h, const struct event *event)
{
    report_hash(h, event->namespace_name);
    report_hash(h, event->object_kind);
    report_hash(h, event->name);
    report_hash(h, event->outcome);
    report_hash(h, event->user);
    report_hash(h, event->packet_sha256);
}

/* A client of the API server can choose the id (header Audit-ID), so an equal id alone is not
 * enough: a harmless request could hide another one. Within one log the time is equal too, in every
 * stage. */
static uint64_t id_key(struct siphash_seed seed, const struct event *event, char source)
{
    struct siphash h = siphash_make(seed);

    siphash_byte(&h, (unsigned char)source);
    report_hash(&h, event->id);
    report_hash(&h, event->webhook);
    report_hash(&h, event->time_text);
    hash_decision(&h, event);
    return siphash_end(&h);
}

/* The same for the other log, which has another time, and possibly no name of a webhook. */
static uint64_t cross_key(struct siphash_seed seed, const struct event *event, char source)
{
    struct siphash h = siphash_make(seed);

    siphash_byte(&h, (unsigned char)source);
    report_hash(&h, event->id);
    hash_decision(&h, event);
    return siphash_end(&h);
}

/*
 * The uid of a review is not the id of its audit event. But both logs have the input, which holds
 * the time of the decision. Of decisions that are equal in time, object, packet and outcome, as
 * many are counted as are in the log that has more of them.
 */
static bool seen_in_other_log(struct report_recent *recent, struct siphash_seed seed,
                              const struct event *event)
{
    struct str as_of = tree_get_text(event->input_tree, "as_of");
    struct siphash h = siphash_make(seed);
    struct pair *pair = NULL;
    uint64_t key = 0;
    uint32_t *mine = NULL, *other = NULL;

    if (as_of.len == 0)
        return false;
    report_hash(&h, as_of);
    hash_decision(&h, event);
    key = siphash_end(&h);
    pair = &recent->pairs[key % PAIRS];
    if (pair->key != key)
        *pair = (struct pair){.key = key};
    mine = event->kind == EVENT_AUDIT ? &pair->audit : &pair->record;
    other = event->kind == EVENT_AUDIT ? &pair->record : &pair->audit;
    *mine += *mine < UINT32_MAX;
    return *mine <= *other;
}

bool report_recent_seen(struct report_recent *recent, struct siphash_seed seed,
                        const struct event *event)
{
    /* lower case: keys of one log; upper case: keys that the other log looks up */
    char source = event->kind == EVENT_AUDIT ? 'a' : 'r';
    char here = source == 'a' ? 'A' : 'R', there = source == 'a' ? 'R' : 'A';
    bool seen = false;

    if (event->id.len > 0) {
        seen = id_seen(recent, id_key(seed, event, source)) ||
               id_known(recent, cross_key(seed, event, there));
        (void)id_seen(recent, cross_key(seed, event, here));
    }
    return seen || seen_in_other_log(recent, seed, event);
}
