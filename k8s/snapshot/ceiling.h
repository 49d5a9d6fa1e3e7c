/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_SNAPSHOT_CEILING_H
#define K8S_SNAPSHOT_CEILING_H

/*
 * ceiling - the most that several documents allow together (gate-v1, section 5): what each of them
 * allows that says something about it.
 *
 * The cost of a meet is that of sorting both lists. A ceiling is a value: it can be copied and met
 * with others while other threads read it.
 *
 * Errors     0; -ENOMEM.
 * Ownership  documents are borrowed; new lists live in the arena of the call.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

enum ceiling_choice {
    CEILING_UNSET = 0, /* no document sets it */
    CEILING_FALSE,
    CEILING_TRUE,
};

/* A list that is not given admits everything, an empty list nothing. A list that only one document
 * gives is passed on unchanged. */
struct ceiling_list {
    bool given;
    bool met;           /* several documents give it: the list is in `items` */
    const cJSON *array; /* of the only document that gives it; NULL: empty */
    bool read;          /* items are set */
    struct str *items;  /* each once, in the order of paths; paths are normalised */
    size_t count;
};

/* {0} limits nothing. */
struct ceiling {
    enum ceiling_choice network_allowed;
    enum ceiling_choice require_enforcement;
    struct ceiling_list paths;
    struct ceiling_list env;
    struct ceiling_list mounts; /* boundary-v1, section 4; no part of the planner's object */
};

/* mounts: array of texts; NULL: the document does not give the list. */
struct ceiling ceiling_of_baseline(const cJSON *baseline, const cJSON *mounts);
/* Signed requirements are an upper limit: a field that is absent in them admits nothing. */
struct ceiling ceiling_of_signed(const cJSON *requirements);

/* Narrows *ceiling to what the other allows too. */
int ceiling_meet(struct ceiling *ceiling, struct ceiling other, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

/* Reads the lists now, so that later meets do not. */
int ceiling_prepare(struct ceiling *ceiling, struct arena *arena)
    __attribute__((warn_unused_result, nonnull));

/* The planner's object `baseline`. */
int ceiling_write(const struct ceiling *ceiling, struct arena *arena, cJSON **ret_baseline)
    __attribute__((warn_unused_result, nonnull));

#endif
