/* SPDX-License-Identifier: Apache-2.0 */
/*
 * denials - the ring of the latest denials.
 */

#include "webhook/record/denials.h"

#include <assert.h>

int denials_init(struct denials *denials)
{
    *denials = (struct denials){0};
    return -pthread_mutex_init(&denials->lock, NULL);
}

static void drop_oldest(struct denials *denials)
{
    struct record_line *line = denials->lines[denials->first];

    assert(denials->count > 0 && denials->bytes >= line->len);
    denials->first = (denials->first + 1) % DENIALS_MAX_LINES;
    denials->count--;
    denials->bytes -= line->len;
    record_line_unref(line);
}

void denials_done(struct denials *denials)
{
    while (denials->count > 0)
        drop_oldest(denials);
    (void)pthread_mutex_destroy(&denials->lock);
}

void denials_put(struct denials *denials, struct record_line *line)
{
    (void)pthread_mutex_lock(&denials->lock);
    denials->total++;
    while (denials->count > 0 &&
           (denials->count == DENIALS_MAX_LINES || denials->bytes + line->len > DENIALS_MAX_BYTES))
        drop_oldest(denials);
    assert(denials->count < DENIALS_MAX_LINES);
    denials->lines[(denials->first + denials->count) % DENIALS_MAX_LINES] = record_line_ref(line);
    denials->count++;
    denials->bytes += line->len;
    (void)pthread_mutex_unlock(&denials->lock);
}

size_t denials_kept(struct denials *denials)
{
    size_t kept = 0;

    (void)pthread_mutex_lock(&denials->lock);
    kept = denials->count;
    (void)pthread_mutex_unlock(&denials->lock);
    return kept;
}

void denials_look(struct denials *denials, struct denials_view *ret_view)
{
    (void)pthread_mutex_lock(&denials->lock);
    ret_view->count = denials->count;
    ret_view->bytes = denials->bytes;
    ret_view->total = denials->total;
    for (size_t i = 0; i < denials->count; i++)
        ret_view->lines[i] =
            record_line_ref(denials->lines[(denials->first + i) % DENIALS_MAX_LINES]);
    (void)pthread_mutex_unlock(&denials->lock);
}

void denials_view_done(struct denials_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        record_line_unref(view->lines[i]);
    view->count = 0;
}
