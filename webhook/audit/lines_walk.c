/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_walk - splits a list into its events, and finds the end of an event that is spread over
 * several lines. Only quotes and brackets are followed; event.c reads the JSON.
 */

#include <errno.h>

#include "webhook/audit/lines_internal.h"

#define MAX_DEPTH 4096u /* no audit log or decision log is nested so deeply */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_blanks(struct str s, size_t i)
{
    while (i < s.len && is_blank(s.ptr[i]))
        i++;
    return i;
}

/* Behind the string whose quote stands at i; s.len where it does not end. */
static size_t skip_string(struct str s, size_t i)
{
    for (i++; i < s.len && s.ptr[i] != '"'; i++) {
        if (s.ptr[i] == '\\')
            i++;
    }
    return i < s.len ? i + 1 : s.len;
}

/* Behind the value at i, of whatever kind. */
static size_t skip_value(struct str s, size_t i)
{
    unsigned depth = 0;

    while (i < s.len) {
        char c = s.ptr[i];

        if (c == '"') {
            i = skip_string(s, i);
            if (depth == 0)
                return i;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return i;
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        i++;
        if (depth == 0 && (c == '}' || c == ']'))
            return i;
    }
    return s.len;
}

/* Whether the object at the start of s has a list `items`, with only list metadata before it. */
static bool has_items(struct str s)
{
    size_t i = skip_blanks(s, 1);

    while (i < s.len && s.ptr[i] == '"') {
        size_t end = skip_string(s, i);
        struct str key = {s.ptr + i, end - i};

        i = skip_blanks(s, end);
        if (i >= s.len || s.ptr[i] != ':')
            return false;
        i = skip_blanks(s, i + 1);
        if (str_equal(key, STR("\"items\"")))
            return i < s.len && s.ptr[i] == '[';
        if (!str_equal(key, STR("\"kind\"")) && !str_equal(key, STR("\"apiVersion\"")) &&
            !str_equal(key, STR("\"metadata\"")))
            return false;
        i = skip_blanks(s, skip_value(s, i));
        if (i >= s.len || s.ptr[i] != ',')
            return false;
        i = skip_blanks(s, i + 1);
    }
    return false;
}

/* Whether only blanks are between offset i and the end of the line. */
static bool ends_line(struct str s, size_t i)
{
    while (i < s.len && is_blank(s.ptr[i]) && s.ptr[i] != '\n')
        i++;
    return i < s.len && s.ptr[i] == '\n';
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
        if (r == 0)
            break;
        s = sniffed(lines);
    }
    next = skip_blanks(s, 1);
    spread = ends_line(s, 1);
    if (s.ptr[0] == '[') {
        if (next >= s.len || s.ptr[next] != '{')
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

/* Takes a bracket; true if it ends an event. */
static bool step_bracket(struct lines *lines, char c)
{
    struct lines_walk *w = &lines->walk;
    bool opens = c == '{' || c == '[';

    if (opens) {
        if (w->depth + 1 == w->at_depth)
            w->in_items = c == '[';
        if (w->depth == w->at_depth && c == '{' && !w->in_text &&
            (w->at_depth == 0 || w->in_items)) {
            w->in_text = true;
            lines->begin = w->next;
            lines->line = lines->next_line;
        }
        w->depth++;
        return false;
    }
    w->depth -= w->depth > 0;
    if (w->depth < w->at_depth)
        w->in_items = false;
    return w->in_text && w->depth == w->at_depth;
}

/* Takes one byte. 1: it ends an event; 0: it does not; -EBADMSG: the list is broken off here. */
static int step(struct lines *lines, char c)
{
    struct lines_walk *w = &lines->walk;

    if (c == '\n') {
        lines->next_line++;
        if (w->in_string || w->compact)
            return -EBADMSG;
    }
    if (w->in_string) {
        if (w->escaped)
            w->escaped = false;
        else if (c == '\\')
            w->escaped = true;
        else if (c == '"')
            w->in_string = false;
        return 0;
    }
    if (c == '"')
        w->in_string = true;
    else if (c == '{' || c == '}' || c == '[' || c == ']')
        return step_bracket(lines, c) ? 1 : 0;
    return w->depth > MAX_DEPTH ? -EBADMSG : 0;
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
        lines->too_long++;
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
                lines->torn++;
                w->next = lines->end;
                end_walk(lines);
            }
            if (r <= 0)
                return r;
        }
        r = step(lines, lines->bytes[w->next]);
        w->next++;
        if (r < 0) {
            lines->torn++;
            end_walk(lines);
            return 0;
        }
        if (r == 1 && !w->skipping) {
            *ret_text = (struct str){lines->bytes + lines->begin, w->next - lines->begin};
            w->in_text = false;
            if (w->depth == 0)
                end_walk(lines);
            lines->begin = lines->walk.on ? w->next : lines->begin;
            return 1;
        }
        if (r == 1)
            w->in_text = w->skipping = false;
        if (w->depth == 0) {
            end_walk(lines);
            return 0;
        }
    }
}
