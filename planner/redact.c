/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact - writes the planner's input without the values that the packet hides (plan_input_write()
 * of plan.h; gate-v1, section 7, `input`).
 *
 * Planning the result must give the same packet, byte for byte. A replacement must therefore be
 * wrong, absent or over its limit in the same way as the value itself.
 */
#include "planner/plan.h"

#include <errno.h>

#include "planner/base/buffer.h"
#include "planner/input.h"
#include "planner/base/tree.h"

#define INPUT_MAX_BYTES ((size_t)1 << 30)

static void write_name(struct buffer *out, size_t *count, struct str name)
{
    if ((*count)++ > 0)
        buffer_add_char(out, ',');
    buffer_add_json(out, name);
    buffer_add_char(out, ':');
}

/* The start, and `count` times `=`. The callers' texts need no escape. */
static void write_filled(struct buffer *out, struct str start, size_t count)
{
    buffer_add_char(out, '"');
    buffer_add(out, start);
    for (size_t i = 0; i < count; i++)
        buffer_add_char(out, '=');
    buffer_add_char(out, '"');
}

static void write_text(struct buffer *out, const cJSON *node)
{
    if (tree_is(node, cJSON_String))
        buffer_add_json(out, tree_text(node));
    else
        buffer_add_char(out, '0');
}

static void write_reference(struct buffer *out, const cJSON *node)
{
    struct str text = str_trim(tree_text(node));

    if (!plan_has_credentials(text))
        write_text(out, node);
    else
        write_filled(out, STR("redacted://x@"),
                     text.len > PLAN_MAX_TEXT_BYTES ? PLAN_MAX_TEXT_BYTES : 0);
}

static void write_bool(struct buffer *out, const cJSON *node)
{
    if (tree_is(node, cJSON_True))
        buffer_add(out, STR("true"));
    else
        buffer_add(out, tree_is(node, cJSON_False) ? STR("false") : STR("0"));
}

/* A number that is out of range is written as 0, which is out of range, too: numbers of the input
 * are not formatted. */
static void write_days(struct buffer *out, const cJSON *node)
{
    int days = 0;

    if (plan_read_max_age(node, &days))
        buffer_add_format(out, "%d", days);
    else
        /* a value of another type must stay one: a text */
        buffer_add(out, tree_is(node, cJSON_Number) ? STR("0") : STR("\"0\""));
}

static void write_env_name(struct buffer *out, const cJSON *node)
{
    struct str name = str_trim(tree_text(node));

    if (name.len > PLAN_MAX_TEXT_BYTES)
        write_filled(out, STR(""), PLAN_MAX_TEXT_BYTES + 1);
    else if (name.len == 0 || plan_is_env_name(name))
        write_text(out, node);
    else
        write_filled(out, STR(""), 1);
}

static void write_list(struct buffer *out, const cJSON *node,
                       void (*write_item)(struct buffer *, const cJSON *))
{
    if (!tree_is(node, cJSON_Array)) {
        buffer_add_char(out, '0');
        return;
    }
    buffer_add_char(out, '[');
    for (const cJSON *item = node->child; item != NULL; item = item->next) {
        if (item != node->child)
            buffer_add_char(out, ',');
        write_item(out, item);
    }
    buffer_add_char(out, ']');
}

static void write_object(struct buffer *out, const struct input_object *object, const cJSON *node);

static void write_value(struct buffer *out, enum input_field field, const cJSON *node)
{
    if (tree_is(node, cJSON_NULL)) {
        buffer_add(out, STR("null"));
        return;
    }
    switch (input_kind(field)) {
    case INPUT_KIND_OBJECT:
        if (tree_is(node, cJSON_Object))
            write_object(out, input_object_of(field), node);
        else
            buffer_add_char(out, '0');
        break;
    case INPUT_KIND_TEXT:
        write_text(out, node);
        break;
    case INPUT_KIND_REFERENCE:
        write_reference(out, node);
        break;
    case INPUT_KIND_BOOL:
        write_bool(out, node);
        break;
    case INPUT_KIND_DAYS:
        write_days(out, node);
        break;
    case INPUT_KIND_LIST:
        write_list(out, node, write_text);
        break;
    case INPUT_KIND_NAMES:
        write_list(out, node, write_env_name);
        break;
    case INPUT_KIND_CONTROL: /* called only where it asks for something */
    case INPUT_KIND_NONE:
        buffer_add(out, STR("true"));
        break;
    }
}

/* As tree_get(), but a member that is `null` is found, too: it is written as given. */
static const cJSON *find_member(const cJSON *object, enum input_field field)
{
    const cJSON *member = object->child;

    while (member != NULL && !str_equal(tree_key(member), str_of(input_name(field))))
        member = member->next;
    return member;
}

/* Fields whose names are hidden become one field `?`, as they become one finding in the packet: a
 * key must not be given twice. */
static void write_unknown_fields(struct buffer *out, const struct input_object *object,
                                 const cJSON *node, size_t *count)
{
    bool hidden = false;

    for (const cJSON *member = node->child; member != NULL; member = member->next) {
        struct str name = input_shown_name(member);

        if (input_find(object, tree_key(member)) != INPUT_FIELD_COUNT)
            continue;
        if (str_equal(name, STR("?"))) {
            if (hidden)
                continue;
            hidden = true;
        }
        write_name(out, count, name);
        buffer_add(out, STR("true"));
    }
}

static void write_object(struct buffer *out, const struct input_object *object, const cJSON *node)
{
    size_t count = 0;

    buffer_add_char(out, '{');
    for (enum input_field field = object->first; field < object->end; field++) {
        const cJSON *value = find_member(node, field);

        if (value == NULL ||
            (input_kind(field) == INPUT_KIND_CONTROL && !input_control_asks(value)))
            continue;
        write_name(out, &count, str_of(input_name(field)));
        write_value(out, field, value);
    }
    write_unknown_fields(out, object, node, &count);
    buffer_add_char(out, '}');
}

int plan_input_write(const cJSON *input, struct arena *arena, struct str *ret_json)
{
    struct buffer out = buffer_make(arena, INPUT_MAX_BYTES);
    struct str json = {0};

    if (!tree_is(input, cJSON_Object))
        return -EINVAL;
    write_object(&out, &input_root, input);
    json = buffer_text(&out);
    if (!str_present(json))
        return -ENOMEM;
    *ret_json = json;
    return 0;
}
