/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest - the edit distance of names (Levenshtein), with one row of the table in memory.
 */

#include "webhook/util/nearest.h"

#include <assert.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of bytes to change, add or remove to turn one name into the other. */
static size_t edit_distance(struct str a, struct str b)
{
    size_t row[NEAREST_MAX_BYTES + 1];

    assert(b.len <= NEAREST_MAX_BYTES);
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t changed = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);

            diagonal = row[j];
            row[j] = smaller(changed, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.len];
}

const char *nearest_within(struct str given, const char *const *names, size_t count,
                           size_t max_distance)
{
    const char *nearest = NULL;
    size_t best = max_distance + 1;

    if (given.len > NEAREST_MAX_BYTES)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        struct str name = str_of(names[i]);
        size_t distance = name.len <= NEAREST_MAX_BYTES ? edit_distance(given, name) : best;

        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

const char *nearest_name(struct str given, const char *const *names, size_t count)
{
    return nearest_within(given, names, count, NEAREST_MAX_DISTANCE);
}
