/* SPDX-License-Identifier: Apache-2.0 */
/* yaml - writes a tree with the emitter of libyaml. */

#include "webhook/cli/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <yaml.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define NUMBER_TEXT_BYTES 32
#define OUTPUT_MAX_BYTES ((size_t)1024 * 1024 * 1024)

struct writer {
    yaml_emitter_t emitter;
    struct buffer out;
    const char *block_key;
};

static int append(void *context, unsigned char *bytes, size_t count)
{
    struct buffer *out = context;

    buffer_add(out, (struct str){.ptr = (const char *)bytes, .len = count});
    return out->error == 0;
}

static bool emit(struct writer *writer, yaml_event_t *event)
{
    return yaml_emitter_emit(&writer->emitter, event) == 1;
}

/* Begins with a letter, has no character with a meaning, and is not a word of YAML 1.1. */
static bool is_plain_word(struct str s)
{
    static const char *const words[] = {"y",  "yes", "n",    "no",   "true",
                                        "on", "off", "null", "false"};

    if (s.len == 0 || s.len > 64)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool inner = (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';

        if (!letter && !(inner && i > 0))
            return false;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_equal_ascii_nocase(s, str_of(words[i])))
            return false;
    }
    return true;
}

static bool emit_scalar(struct writer *writer, struct str text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    /* libyaml only reads it, although the parameter is not const */
    yaml_char_t *value = (yaml_char_t *)(uintptr_t)(text.len > 0 ? text.ptr : "");
    int plain = style == YAML_PLAIN_SCALAR_STYLE;

    return yaml_scalar_event_initialize(&event, NULL, NULL, value, (int)text.len, plain, !plain,
                                        style) == 1 &&
           emit(writer, &event);
}

static bool emit_text(struct writer *writer, struct str text)
{
    return emit_scalar(writer, text,
                       is_plain_word(text) ? YAML_PLAIN_SCALAR_STYLE
                                           : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
}

static bool emit_number(struct writer *writer, double number)
{
    char text[NUMBER_TEXT_BYTES];

    (void)snprintf(text, sizeof(text), floor(number) == number ? "%.0f" : "%.17g", number);
    return emit_scalar(writer, str_of(text), YAML_PLAIN_SCALAR_STYLE);
}

static bool emit_start(struct writer *writer, const cJSON *node)
{
    bool empty = node->child == NULL;
    yaml_event_t event;
    int r =
        cJSON_IsObject(node)
            ? yaml_mapping_start_event_initialize(
                  &event, NULL, NULL, 1, empty ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE)
            : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                   empty ? YAML_FLOW_SEQUENCE_STYLE
                                                         : YAML_BLOCK_SEQUENCE_STYLE);

    return r == 1 && emit(writer, &event);
}

static bool emit_end(struct writer *writer, const cJSON *node)
{
    yaml_event_t event;
    int r = cJSON_IsObject(node) ? yaml_mapping_end_event_initialize(&event)
                                 : yaml_sequence_end_event_initialize(&event);

    return r == 1 && emit(writer, &event);
}

/* Recursion is bounded: readers refuse documents deeper than DOCUMENT_MAX_DEPTH. */
static bool emit_node(struct writer *writer, const cJSON *node)
{
    const cJSON *child = NULL;

    if (cJSON_IsString(node))
        return emit_text(writer, tree_text(node));
    if (cJSON_IsNumber(node))
        return emit_number(writer, node->valuedouble);
    if (cJSON_IsBool(node))
        return emit_scalar(writer, cJSON_IsTrue(node) ? STR("true") : STR("false"),
                           YAML_PLAIN_SCALAR_STYLE);
    if (!cJSON_IsObject(node) && !cJSON_IsArray(node))
        return emit_scalar(writer, STR("null"), YAML_PLAIN_SCALAR_STYLE);
    if (!emit_start(writer, node))
        return false;
    cJSON_ArrayForEach(child, node)
    {
        struct str key = cJSON_IsObject(node) ? tree_key(child) : (struct str){0};
        bool block = writer->block_key != NULL && str_equal(key, str_of(writer->block_key)) &&
                     cJSON_IsString(child);

        if (str_present(key) && !emit_text(writer, key))
            return false;
        if (block ? !emit_scalar(writer, tree_text(child), YAML_LITERAL_SCALAR_STYLE)
                  : !emit_node(writer, child))
            return false;
    }
    return emit_end(writer, node);
}

static bool emit_document(struct writer *writer, const cJSON *tree)
{
    yaml_event_t event;

    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) == 1 &&
           emit(writer, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) == 1 &&
           emit(writer, &event) && emit_node(writer, tree) &&
           yaml_document_end_event_initialize(&event, 1) == 1 && emit(writer, &event) &&
           yaml_stream_end_event_initialize(&event) == 1 && emit(writer, &event);
}

int yaml_write(const cJSON *tree, const char *block_key, struct arena *arena, struct str *ret_text)
{
    struct writer writer = {.out = buffer_make(arena, OUTPUT_MAX_BYTES), .block_key = block_key};
    struct str text = {0};
    bool done = false;

    if (yaml_emitter_initialize(&writer.emitter) != 1)
        return -ENOMEM;
    yaml_emitter_set_output(&writer.emitter, append, &writer.out);
    yaml_emitter_set_unicode(&writer.emitter, 1);
    yaml_emitter_set_width(&writer.emitter, -1);
    done = emit_document(&writer, tree);
    yaml_emitter_delete(&writer.emitter);
    text = buffer_text(&writer.out);
    if (!done || !str_present(text))
        return -ENOMEM;
    *ret_text = text;
    return 0;
}

int yaml_print(const cJSON *tree, struct arena *arena, FILE *stream)
{
    struct str text = {0};
    int r = yaml_write(tree, NULL, arena, &text);

    if (r == 0)
        (void)fwrite(text.ptr, 1, text.len, stream);
    return r;
}
