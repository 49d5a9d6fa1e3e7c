/* SPDX-License-Identifier: Apache-2.0 */
/* replay_diff - finds the first difference of two packets, and writes a unified diff of them. */

#include "webhook/audit/replay_diff.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/audit/event_internal.h"
#include "webhook/audit/replay.h"

#define MAX_LINES ((size_t)4096) /* of one packet, one member per line */
#define MAX_TABLE ((size_t)400)  /* lines of each side that are compared with each other */

static bool is_container(const cJSON *node)
{
    return tree_is(node, cJSON_Object) || tree_is(node, cJSON_Array);
}

static bool same_scalar(const cJSON *a, const cJSON *b)
{
    if ((a->type & 0xFF) != (b->type & 0xFF))
        return false;
    if (tree_is(a, cJSON_String))
        return str_equal(tree_text(a), tree_text(b));
    return !tree_is(a, cJSON_Number) ||
           (a->valuedouble <= b->valuedouble && a->valuedouble >= b->valuedouble);
}

static struct str member_path(struct str path, const cJSON *node, size_t index, struct arena *arena)
{
    struct str key = tree_key(node);

    if (!str_present(key))
        return arena_format(arena, "%.*s[%zu]", (int)path.len, path.ptr, index);
    return arena_format(arena, "%.*s%s%.*s", (int)path.len, path.ptr, path.len > 0 ? "." : "",
                        (int)key.len, key.ptr);
}

/* 1: found. Recursion is bounded by DOCUMENT_MAX_DEPTH of the readers. */
static int find_difference(const cJSON *a, const cJSON *b, struct str path, struct arena *arena,
                           struct str *ret_path)
{
    const cJSON *x = NULL, *y = NULL;
    size_t index = 0;

    if (!is_container(a) || (a->type & 0xFF) != (b->type & 0xFF)) {
        if (same_scalar(a, b))
            return 0;
        *ret_path = path;
        return 1;
    }
    for (x = a->child, y = b->child; x != NULL && y != NULL; x = x->next, y = y->next, index++) {
        struct str below = member_path(path, x, index, arena);
        int r = 0;

        if (!str_present(below))
            return -ENOMEM;
        if (!str_equal(tree_key(x), tree_key(y))) {
            *ret_path = below;
            return 1;
        }
        r = find_difference(x, y, below, arena, ret_path);
        if (r != 0)
            return r;
    }
    if (x == NULL && y == NULL)
        return 0;
    *ret_path = member_path(path, x != NULL ? x : y, index, arena);
    return str_present(*ret_path) ? 1 : -ENOMEM;
}

int replay_first_difference(const cJSON *old, const cJSON *again, struct arena *arena,
                            struct str *ret_path)
{
    struct str path = *ret_path;
    int r = find_difference(old, again, STR(""), arena, &path);

    if (r > 0)
        *ret_path = path;
    return r < 0 ? r : 0;
}

struct text_lines {
    struct str *items;
    size_t count;
};

static int add_line(struct text_lines *lines, struct arena *arena, unsigned depth, struct str key,
                    struct str value, bool more)
{
    struct buffer b = buffer_make(arena, REPLAY_MAX_DIFF_BYTES * 4);

    if (lines->count == MAX_LINES)
        return 0;
    for (unsigned i = 0; i < depth; i++)
        buffer_add(&b, STR("  "));
    if (str_present(key)) {
        buffer_add_json(&b, key);
        buffer_add(&b, STR(": "));
    }
    buffer_add(&b, value);
    if (more)
        buffer_add_char(&b, ',');
    lines->items[lines->count] = buffer_text(&b);
    return str_present(lines->items[lines->count++]) ? 0 : -ENOMEM;
}

static int write_lines(const cJSON *node, unsigned depth, struct arena *arena,
                       struct text_lines *lines)
{
    bool is_object = tree_is(node, cJSON_Object), more = node->next != NULL;
    struct str text = {0};
    int r = 0;

    if (!is_container(node) || node->child == NULL) {
        r = event_write_tree(node, arena, &text);
        return r == 0 ? add_line(lines, arena, depth, tree_key(node), text, more) : r;
    }
    r = add_line(lines, arena, depth, tree_key(node), is_object ? STR("{") : STR("["), false);
    for (const cJSON *item = node->child; item != NULL && r == 0; item = item->next)
        r = write_lines(item, depth + 1, arena, lines);
    if (r == 0)
        r = add_line(lines, arena, depth, (struct str){0}, is_object ? STR("}") : STR("]"), more);
    return r;
}

static int make_lines(const cJSON *tree, struct arena *arena, struct text_lines *ret_lines)
{
    ret_lines->items = arena_alloc(arena, MAX_LINES, sizeof(*ret_lines->items));
    if (ret_lines->items == NULL)
        return -ENOMEM;
    return write_lines(tree, 0, arena, ret_lines);
}

/* One line of the diff. */
struct step {
    char sign; /* ' ', '-', '+' */
    struct str line;
};

struct steps {
    struct step *items;
    size_t count, capacity;
};

static void add_step(struct steps *steps, char sign, struct str line)
{
    assert(steps->count < steps->capacity);
    steps->items[steps->count++] = (struct step){sign, line};
}

/* By the longest common subsequence where both sides are small; else all `-`, then all `+`. */
static int add_middle(const struct str *a, size_t n, const struct str *b, size_t m,
                      struct arena *arena, struct steps *steps)
{
    size_t width = m + 1, i = 0, j = 0;
    unsigned short *longest = NULL;

    if (n <= MAX_TABLE && m <= MAX_TABLE) {
        longest = arena_alloc(arena, (n + 1) * width, sizeof(*longest));
        if (longest == NULL)
            return -ENOMEM;
        for (i = n; i-- > 0;) {
            for (j = m; j-- > 0;) {
                unsigned short down = longest[(i + 1) * width + j],
                               right = longest[i * width + j + 1];

                longest[i * width + j] =
                    str_equal(a[i], b[j]) ? (unsigned short)(longest[(i + 1) * width + j + 1] + 1)
                                          : (down >= right ? down : right);
            }
        }
    }
    for (i = j = 0; i < n || j < m;) {
        if (longest != NULL && i < n && j < m && str_equal(a[i], b[j])) {
            add_step(steps, ' ', a[i++]);
            j++;
        } else if (i < n && (longest == NULL || j == m ||
                             longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
            add_step(steps, '-', a[i++]);
        } else {
            add_step(steps, '+', b[j++]);
        }
    }
    return 0;
}

static int find_steps(struct text_lines a, struct text_lines b, struct arena *arena,
                      struct steps *steps)
{
    size_t head = 0, tail = 0;
    int r = 0;

    steps->capacity = a.count + b.count + 1;
    steps->items = arena_alloc(arena, steps->capacity, sizeof(*steps->items));
    if (steps->items == NULL)
        return -ENOMEM;
    while (head < a.count && head < b.count && str_equal(a.items[head], b.items[head]))
        add_step(steps, ' ', a.items[head++]);
    while (tail < a.count - head && tail < b.count - head &&
           str_equal(a.items[a.count - 1 - tail], b.items[b.count - 1 - tail]))
        tail++;
    r = add_middle(a.items + head, a.count - head - tail, b.items + head, b.count - head - tail,
                   arena, steps);
    for (size_t i = a.count - tail; r == 0 && i < a.count; i++)
        add_step(steps, ' ', a.items[i]);
    return r;
}

static bool is_near_change(const struct steps *steps, size_t i)
{
    size_t from = i > REPLAY_DIFF_CONTEXT ? i - REPLAY_DIFF_CONTEXT : 0;

    for (size_t k = from; k < steps->count && k <= i + REPLAY_DIFF_CONTEXT; k++) {
        if (steps->items[k].sign != ' ')
            return true;
    }
    return false;
}

/* The head of the hunk that begins with step i: its line numbers and lengths on both sides. */
static void add_head(const struct steps *steps, size_t i, size_t a_line, size_t b_line,
                     struct buffer *b)
{
    size_t a_count = 0, b_count = 0;

    for (; i < steps->count && is_near_change(steps, i); i++) {
        a_count += steps->items[i].sign != '+';
        b_count += steps->items[i].sign != '-';
    }
    buffer_add_format(b, "@@ -%zu,%zu +%zu,%zu @@\n", a_line, a_count, b_line, b_count);
}

int replay_diff(const cJSON *old, const cJSON *again, struct arena *arena, struct str *ret_diff)
{
    struct text_lines a = {0}, c = {0};
    struct steps steps = {0};
    struct buffer b = buffer_make(arena, REPLAY_MAX_DIFF_BYTES);
    size_t a_line = 1, c_line = 1;
    bool in_hunk = false;
    int r = make_lines(old, arena, &a);

    if (r == 0)
        r = make_lines(again, arena, &c);
    if (r == 0)
        r = find_steps(a, c, arena, &steps);
    for (size_t i = 0; r == 0 && i < steps.count; i++) {
        const struct step *step = &steps.items[i];
        bool shown = is_near_change(&steps, i);

        if (shown && step->line.len + 80 > REPLAY_MAX_DIFF_BYTES - b.len) {
            buffer_add(&b, STR("…\n"));
            break;
        }
        if (shown && !in_hunk)
            add_head(&steps, i, a_line, c_line, &b);
        in_hunk = shown;
        if (shown)
            buffer_add_format(&b, "%c%.*s\n", step->sign, (int)step->line.len, step->line.ptr);
        a_line += step->sign != '+';
        c_line += step->sign != '-';
    }
    if (r == 0 && b.len > 0) {
        *ret_diff = buffer_text(&b);
        r = str_present(*ret_diff) ? 0 : -ENOMEM;
    }
    return r;
}
