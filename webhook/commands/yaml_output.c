#include "webhook/commands/yaml_output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "planner/tree.h"

#define NUMBER_TEXT_BYTES 32

static bool emit(yaml_emitter_t *emitter, yaml_event_t *event)
{
    return yaml_emitter_emit(emitter, event) == 1;
}

/* YAML_ANY_SCALAR_STYLE: plain where that can be read back as text of ours, as keys can. */
static bool emit_scalar(yaml_emitter_t *emitter, struct str text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    /* libyaml only reads it, in spite of the type */
    yaml_char_t *value = (yaml_char_t *)(uintptr_t)text.ptr;
    int plain = style != YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    int quoted = style != YAML_PLAIN_SCALAR_STYLE;

    return yaml_scalar_event_initialize(&event, NULL, NULL, value, (int)text.len, plain, quoted,
                                        style) == 1 &&
           emit(emitter, &event);
}

/* Numbers of ours are whole: counts, lines, statuses. */
static bool emit_number(yaml_emitter_t *emitter, double number)
{
    char text[NUMBER_TEXT_BYTES];

    (void)snprintf(text, sizeof(text), "%.0f", number);
    return emit_scalar(emitter, str_of(text), YAML_PLAIN_SCALAR_STYLE);
}

static bool emit_start(yaml_emitter_t *emitter, const cJSON *node)
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

    return r == 1 && emit(emitter, &event);
}

static bool emit_end(yaml_emitter_t *emitter, const cJSON *node)
{
    yaml_event_t event;
    int r = cJSON_IsObject(node) ? yaml_mapping_end_event_initialize(&event)
                                 : yaml_sequence_end_event_initialize(&event);

    return r == 1 && emit(emitter, &event);
}

static bool emit_node(yaml_emitter_t *emitter, const cJSON *node)
{
    const cJSON *child = NULL;

    if (cJSON_IsString(node))
        return emit_scalar(emitter, tree_text(node), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    if (cJSON_IsNumber(node))
        return emit_number(emitter, node->valuedouble);
    if (cJSON_IsBool(node))
        return emit_scalar(emitter, cJSON_IsTrue(node) ? STR("true") : STR("false"),
                           YAML_PLAIN_SCALAR_STYLE);
    if (!cJSON_IsObject(node) && !cJSON_IsArray(node))
        return emit_scalar(emitter, STR("null"), YAML_PLAIN_SCALAR_STYLE);
    if (!emit_start(emitter, node))
        return false;
    cJSON_ArrayForEach(child, node)
    {
        struct str key = tree_key(child);

        if (cJSON_IsObject(node) && !emit_scalar(emitter, key, YAML_ANY_SCALAR_STYLE))
            return false;
        if (!emit_node(emitter, child)) /* as deep as the reader lets a document be */
            return false;
    }
    return emit_end(emitter, node);
}

static bool emit_document(yaml_emitter_t *emitter, const cJSON *tree)
{
    yaml_event_t event;

    return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) == 1 &&
           emit(emitter, &event) &&
           yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) == 1 &&
           emit(emitter, &event) && emit_node(emitter, tree) &&
           yaml_document_end_event_initialize(&event, 1) == 1 && emit(emitter, &event) &&
           yaml_stream_end_event_initialize(&event) == 1 && emit(emitter, &event);
}

int yaml_print(const cJSON *tree, FILE *stream)
{
    yaml_emitter_t emitter;
    int r = 0;

    if (yaml_emitter_initialize(&emitter) != 1)
        return -ENOMEM;
    yaml_emitter_set_output_file(&emitter, stream);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    if (!emit_document(&emitter, tree))
        r = emitter.error == YAML_WRITER_ERROR ? -EIO : -ENOMEM;
    yaml_emitter_delete(&emitter);
    return r;
}
