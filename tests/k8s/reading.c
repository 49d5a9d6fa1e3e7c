/* SPDX-License-Identifier: Apache-2.0 */
/* reading - reads a text and returns the result as one text to compare. */
#include "reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define MAX_BYTES ((size_t)64 << 20)

static void write_node(struct buffer *out, const cJSON *node)
{
    switch (node->type & 0xFF) {
    case cJSON_NULL:
        buffer_add(out, STR("null"));
        break;
    case cJSON_True:
        buffer_add(out, STR("true"));
        break;
    case cJSON_False:
        buffer_add(out, STR("false"));
        break;
    case cJSON_Number:
        buffer_add_format(out, "%.17g", node->valuedouble);
        break;
    case cJSON_String:
        buffer_add_json(out, str_of(node->valuestring));
        break;
    default:
        buffer_add_char(out, tree_is(node, cJSON_Object) ? '{' : '[');
        for (const cJSON *child = node->child; child != NULL; child = child->next) {
            if (child->string != NULL) {
                buffer_add_json(out, str_of(child->string));
                buffer_add_char(out, ':');
            }
            write_node(out, child);
            if (child->next != NULL)
                buffer_add_char(out, ',');
        }
        buffer_add_char(out, tree_is(node, cJSON_Object) ? '}' : ']');
    }
}

struct str reading_write(struct arena *arena, const cJSON *tree)
{
    struct buffer out = buffer_make(arena, MAX_BYTES);

    write_node(&out, tree);
    return buffer_text(&out);
}

struct str reading_error(struct arena *arena, const struct document_error *error)
{
    return arena_format(arena, "%zu:%zu %s", error->line, error->column, error->what);
}

static struct str errno_name(int r)
{
    return r == -E2BIG    ? STR("-E2BIG")
           : r == -ENOMEM ? STR("-ENOMEM")
           : r == -EIO    ? STR("-EIO")
                          : STR("another error");
}

/* Memory of exactly this size, so that AddressSanitizer reports a read past its end. */
static char *exact_copy(struct str text)
{
    char *copy = malloc(text.len > 0 ? text.len : 1);

    if (copy == NULL)
        abort();
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

struct str reading_of(struct arena *arena, struct str text, const struct document_options *options)
{
    struct document_error error = {0};
    char *copy = exact_copy(text);
    struct str result = {0};
    cJSON *tree = NULL;
    int r = document_read((struct str){copy, text.len}, options, arena, &tree, &error);

    if (r == 0)
        result = reading_write(arena, tree);
    else
        result = r == -EBADMSG ? reading_error(arena, &error) : errno_name(r);
    free(copy);
    return result;
}

bool reading_is_tree(struct str result)
{
    return result.len > 0 && memchr("{[\"ntf", result.ptr[0], 6) != NULL;
}

struct str reading_of_stream(struct arena *arena, struct str text, enum document_syntax syntax)
{
    struct buffer out = buffer_make(arena, MAX_BYTES);
    char *copy = exact_copy(text);
    struct document_stream stream = document_stream_make((struct str){copy, text.len}, syntax, 0);

    for (;;) {
        struct document_error error = {0};
        struct str document = {0};
        cJSON *tree = NULL;
        int r = document_next(&stream, arena, &tree, &document, &error);

        if (r == 0 && tree == NULL)
            break;
        if (r == 0)
            write_node(&out, tree);
        else
            buffer_add(&out, r == -EBADMSG ? reading_error(arena, &error) : errno_name(r));
        buffer_add_char(&out, '\n');
        if (r != 0)
            break;
    }
    free(copy);
    return buffer_text(&out);
}

struct str reading_file(struct arena *arena, const char *path)
{
    FILE *f = fopen(path, "rbe");
    struct str text = {0};
    char *bytes = NULL;
    long size = 0;

    if (f == NULL)
        return text;
    if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
        bytes = arena_alloc(arena, (size_t)size + 1, 1);
        if (bytes != NULL && fread(bytes, 1, (size_t)size, f) == (size_t)size)
            text = (struct str){bytes, (size_t)size};
    }
    (void)fclose(f);
    return text;
}

struct str reading_repeat(struct arena *arena, const char *text, size_t count)
{
    size_t len = strlen(text);
    char *bytes = arena_alloc(arena, len * count + 1, 1);

    if (bytes == NULL)
        return (struct str){0};
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * len, text, len);
    return (struct str){bytes, len * count};
}
