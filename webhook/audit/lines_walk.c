/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_walk - splits a list into its events, and finds the end of an event that is spread over
 * several lines. Only quotes and brackets are followed; event.c reads the JSON.
 */

#include <assert.h>
#include <errno.h>

#include "webhook/audit/lines_internal.h"

#define MAX_DEPTH ((size_t)4096) /* no audit log or decision log is nested so deeply */

/* Whether the object at the start of s has a list `items`, with only list metadata before it. */
static bool has_items(struct str s)
{
    size_t i = json_skip_blanks(s, 1);

    while (i < s.len && s.ptr[i] == '"') {
        size_t begin = i;
        struct str key = {0};

        (void)json_skip_string(s, &i);
        key = (struct str){s.ptr + begin, i - begin};
        i = json_skip_blanks(s, i);
        if (i >= s.len || s.ptr[i] != ':')
            return false;
        i = json_skip_blanks(s, i + 1);
        if (str_equal(key, STR("\"items\"")))
            return i < s.len && s.ptr[i] == '[';
        if (!str_equal(key, STR("\"kind\"")) && !str_equal(key, STR("\"apiVersion\"")) &&
            !str_equal(key, STR("\"metadata\"")))
            return false;
        if (!json_skip_value(s, &i))
            return false;
        i = json_skip_blanks(s, i);
        if (i >= s.len || s.ptr[i] != ',')
            return false;
        i = json_skip_blanks(s, i + 1);
    }
    return false;
}

/* Whether only blanks are between offset i and the end of the line. */
static bool ends_line(struct str s, size_t i)
{
    size_t end = json_skip_blanks(s, i);

    return end > i && memchr(s.ptr + i, '\n', end - i) != NULL;
}

/* How most lines begin. Recognising them here saves a second look at their bytes. */
static bool is_plain_line(struct str s)
{
    return str_starts_with(s, STR("{\"kind\":\"Event\",")) ||
           str_starts_with(s, STR("{\"schema\":"));
}

static struct str sniffed(const struct lines *lines)
{
    size_t have = lines->end - lines->begin;

    return (struct str){lines->bytes + lines->begin,
                        have < LINES_SNIFF_BYTES ? have : LINES_SNIFF_BYTES};
}

int lines_walk_begins(struct lines *lines)
{
    struct str s = sniffed(lines);
    size_t next = 0;
    bool spread = false;

    if (s.len == 0 || (s.ptr[0] != '{' && s.ptr[0] != '[') || is_plain_line(s))
        return 0;
    while (s.len < LINES_SNIFF_BYTES) {
        int r = lines_fill(lines);

        if (r < 0)
            return r;
        s = sniffed(lines); /* the bytes may have moved, also at the end of the file */
        if (r == 0)
            break;
    }
    next = json_skip_blanks(s, 1);
    spread = ends_line(s, 1);
    if (s.ptr[0] == '[') {
        if (next >= s.len || (s.ptr[next] != '{' && s.ptr[next] != ']'))
            return 0;
        lines->walk = (struct lines_walk){.on = true, .compact = !spread, .at_depth = 1};
    } else if (has_items(s)) {
        lines->walk = (struct lines_walk){.on = true, .compact = !spread, .at_depth = 2};
    } else if (spread && next < s.len && s.ptr[next] == '"') {
        lines->walk = (struct lines_walk){.on = true};
    }
    lines->walk.next = lines->begin;
    return 0;
}

/* An opening bracket, by which the depth has grown. It can begin the list of events, or an event.
 */
static void take_open(struct lines *lines, char c)
{
    struct lines_walk *w = &lines->walk;
    size_t around = w->skip.depth - 1;

    assert(w->skip.depth > 0);
    if (w->skip.depth == w->at_depth)
        w->in_items = c == '[';
    if (around == w->at_depth && c == '{' && !w->in_text && (w->at_depth == 0 || w->in_items)) {
        w->in_text = true;
        lines->begin = w->next;
        lines->line = lines->next_line;
    }
}

/* Takes one byte. 1: it ends an event; 0: it does not; -EBADMSG: the list is broken off here. */
static int step(struct lines *lines, char c)
{
    struct lines_walk *w = &lines->walk;

    if (c == '\n') {
        lines->next_line++;
        if (w->skip.in_string || w->compact)
            return -EBADMSG;
    }
    switch (json_skip_byte(&w->skip, c)) {
    case JSON_SKIP_OPEN:
        take_open(lines, c);
        return w->skip.depth > MAX_DEPTH ? -EBADMSG : 0;
    case JSON_SKIP_CLOSE:
        if (w->skip.depth < w->at_depth)
            w->in_items = false;
        return w->in_text && w->skip.depth == w->at_depth ? 1 : 0;
    case JSON_SKIP_OTHER:
    case JSON_SKIP_QUOTE:
    case JSON_SKIP_STRING:
        break;
    }
    return 0;
}

/* Reads more bytes; skips an event that is over the limit. */
static int fill(struct lines *lines)
{
    struct lines_walk *w = &lines->walk;
    int r = 0;

    if (!w->in_text || w->skipping)
        lines->begin = w->next;
    r = lines_fill(lines);
    if (r == -ENOBUFS) {
        w->skipping = true;
        lines_count_too_long(lines);
        lines->begin = w->next;
        r = lines_fill(lines);
    }
    return r;
}

static void end_walk(struct lines *lines)
{
    lines->begin = lines->walk.next;
    lines->walk = (struct lines_walk){0};
}

int lines_walk_next(struct lines *lines, struct str *ret_text)
{
    struct lines_walk *w = &lines->walk;

    for (;;) {
        int r = 0;

        if (w->next == lines->end) {
            r = fill(lines);
            if (r == 0 && !lines->keep_tail) {
                lines_count_torn(lines);
                w->next = lines->end;
                end_walk(lines);
            }
            if (r <= 0)
                return r;
        }
        r = step(lines, lines->bytes[w->next]);
        w->next++;
        if (r < 0) {
            lines_count_torn(lines);
            end_walk(lines);
            return 0;
        }
        if (r == 1 && !w->skipping) {
            *ret_text = (struct str){lines->bytes + lines->begin, w->next - lines->begin};
            w->in_text = false;
            if (w->skip.depth == 0)
                end_walk(lines);
            lines->begin = lines->walk.on ? w->next : lines->begin;
            return 1;
        }
        if (r == 1)
            w->in_text = w->skipping = false;
        if (w->skip.depth == 0) {
            end_walk(lines);
            return 0;
        }
    }
}
