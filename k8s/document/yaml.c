/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml - the reader of YAML: takes the events of libyaml and drives the builder.
 *
 * libyaml parses; everything that it does not check is checked here and in yaml_text.c: types of
 * scalars, duplicate keys, depth, and the features that only manifests may use.
 */
#include "k8s/document/yaml.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/document/scalar.h"

#define TAG_PREFIX "tag:yaml.org,2002:"
#define NAME_GROWTH 8 /* struct yaml_names is at most that many times as long as the text */
#define NAMES_EXTRA_BYTES 65536
/* libyaml has at most that many times as much memory as the text: it doubles two buffers, and in
 * the worst case each of them takes the whole text and is twice as large. */
#define PARSER_GROWTH 4
#define MAX_WHOLE_KEY 9007199254740992.0 /* 2^53 */

/* The type and value of a scalar. */
struct scalar {
    enum scalar_kind kind;
    double number;
};

static void names_free(struct yaml_names *names)
{
    free(names->ptr);
}

/* Refuses anchors and tags, which only manifests may use. */
static int check_properties(struct yaml *y, const yaml_char_t *anchor, const yaml_char_t *tag,
                            size_t offset)
{
    /* libyaml reports no tag for a lone `!` */
    bool tagged = tag != NULL || (offset < y->end && y->text.ptr[offset] == '!');

    if (y->rules == DOCUMENT_MANIFEST)
        return 0;
    if (anchor != NULL)
        return yaml_refuse(y, offset, "an anchor: write the value out where it is used");
    if (tagged)
        return yaml_refuse(y, offset, "a tag: remove it, or quote the text");
    return 0;
}

/* The kinds of value that each tag allows; !!str makes text of any value. */
static const struct tag {
    const char *name;
    bool is_text;
    bool allows[SCALAR_NUMBER + 1];
} tags[] = {
    {.name = "str", .is_text = true},
    {.name = "null", .allows = {[SCALAR_NULL] = true}},
    {.name = "bool", .allows = {[SCALAR_TRUE] = true, [SCALAR_FALSE] = true}},
    {.name = "int", .allows = {[SCALAR_NUMBER] = true}},
    {.name = "float", .allows = {[SCALAR_NUMBER] = true}},
};

static const struct tag *find_tag(const char *name)
{
    if (strncmp(name, TAG_PREFIX, sizeof(TAG_PREFIX) - 1) == 0)
        name += sizeof(TAG_PREFIX) - 1;
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        if (strcmp(name, tags[i].name) == 0)
            return &tags[i];
    }
    return NULL;
}

static int read_tagged(struct yaml *y, const char *name, struct str value, size_t offset,
                       struct scalar *ret_scalar)
{
    const struct tag *tag = find_tag(name);
    int r = 0;

    if (tag == NULL)
        return yaml_refuse(y, offset, "a tag other than !!str, !!null, !!bool, !!int, !!float");
    if (tag->is_text)
        return 0;
    r = scalar_kubectl(value, y->arena, &ret_scalar->kind, &ret_scalar->number);
    if (r < 0)
        return r;
    if (!tag->allows[ret_scalar->kind])
        return yaml_refuse(y, offset, "a tag that does not fit its value");
    return 0;
}

static int read_plain(struct yaml *y, struct str value, size_t offset, struct scalar *ret_scalar)
{
    int r = 0;

    if (y->rules == DOCUMENT_MANIFEST)
        return scalar_kubectl(value, y->arena, &ret_scalar->kind, &ret_scalar->number);
    r = scalar_strict(value, y->arena, &ret_scalar->kind);
    if (r < 0)
        return r;
    if (ret_scalar->kind == SCALAR_UNCLEAR)
        return yaml_refuse(y, offset, "YAML 1.1 and YAML 1.2 read this differently: quote it");
    if (ret_scalar->kind == SCALAR_NUMBER)
        return json_number(value, y->arena, &ret_scalar->number);
    return 0;
}

static int read_scalar(struct yaml *y, const yaml_event_t *event, size_t offset,
                       struct scalar *ret_scalar)
{
    struct str value = {(const char *)event->data.scalar.value, event->data.scalar.length};
    const char *tag = (const char *)event->data.scalar.tag;
    int r = 0;

    *ret_scalar = (struct scalar){.kind = SCALAR_TEXT};
    if (tag != NULL)
        r = read_tagged(y, tag, value, offset, ret_scalar);
    else if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        r = read_plain(y, value, offset, ret_scalar);
    if (r == 0 && !isfinite(ret_scalar->number))
        return yaml_refuse(y, offset, "JSON has no such number: quote it");
    return r;
}

static int check_nul(struct yaml *y, struct str text, size_t offset)
{
    if (y->rules != DOCUMENT_OWN || text.len == 0 || memchr(text.ptr, '\0', text.len) == NULL)
        return 0;
    return yaml_refuse(y, yaml_find_nul(y, offset), READER_WHAT_NUL);
}

/* A copy of the text in the arena, with U+FFFD for each NUL; NULL when out of memory. */
static char *copy_text(struct yaml *y, struct str text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    const size_t bytes = sizeof(replacement) - 1;
    size_t nuls = 0, len = 0;
    char *copy = NULL;

    for (size_t i = 0; i < text.len; i++)
        nuls += text.ptr[i] == '\0' ? 1 : 0;
    if (nuls == 0)
        return arena_copy(y->arena, text);
    copy = arena_alloc(y->arena, text.len + nuls * (bytes - 1) + 1, 1);
    for (size_t i = 0; i < text.len && copy != NULL; i++) {
        if (text.ptr[i] == '\0') {
            memcpy(copy + len, replacement, bytes);
            len += bytes;
        } else {
            copy[len++] = text.ptr[i];
        }
    }
    return copy;
}

/* The name for a key that is not text: like kubectl, manifests accept whole numbers and booleans.
 */
static int name_of_other(struct yaml *y, struct scalar scalar, size_t offset, struct str *ret_name)
{
    static const char *const what = "a key must be text: quote it";
    struct str name = {0};

    if (y->rules != DOCUMENT_MANIFEST)
        return yaml_refuse(y, offset, what);
    if (scalar.kind == SCALAR_NUMBER && floor(scalar.number) == scalar.number &&
        fabs(scalar.number) < MAX_WHOLE_KEY)
        name = arena_format(y->arena, "%.0f", scalar.number + 0.0);
    else if (scalar.kind == SCALAR_TRUE || scalar.kind == SCALAR_FALSE)
        name = arena_format(y->arena, "%s", scalar.kind == SCALAR_TRUE ? "true" : "false");
    else
        return yaml_refuse(y, offset, what);
    if (!str_present(name))
        return -ENOMEM;
    *ret_name = name;
    return 0;
}

static bool is_merge_key(const yaml_event_t *event)
{
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.length == 2 &&
           memcmp(event->data.scalar.value, "<<", 2) == 0;
}

static int take_name(struct yaml *y, struct str name, size_t offset)
{
    bool twice = false;
    char *copy = NULL;
    int r = check_nul(y, name, offset);

    if (r == 0)
        r = yaml_add_name(y, name, &twice);
    if (r < 0)
        return r;
    if (twice)
        return yaml_refuse(y, offset, READER_WHAT_TWICE);
    builder_key(&y->builder, name, false, (uint32_t)offset);
    if (!builder_lacks_name(&y->builder))
        return 0;
    copy = copy_text(y, name);
    if (copy == NULL)
        return -ENOMEM;
    builder_name(&y->builder, copy);
    return 0;
}

static int take_key(struct yaml *y, const yaml_event_t *event, size_t offset)
{
    struct yaml_level *level = &y->levels[y->builder.depth - 1];
    struct scalar scalar = {0};
    struct str name = {0};
    int r = 0;

    if (event->type != YAML_SCALAR_EVENT)
        return yaml_refuse(y, offset, "a key must be text");
    level->merges = is_merge_key(event);
    if (level->merges && y->rules != DOCUMENT_MANIFEST)
        return yaml_refuse(y, offset, "a merge key: write its members out, or quote it");
    level->at_key = false;
    name = (struct str){(const char *)event->data.scalar.value, event->data.scalar.length};
    r = read_scalar(y, event, offset, &scalar);
    if (r == 0 && scalar.kind != SCALAR_TEXT)
        r = name_of_other(y, scalar, offset, &name);
    return r == 0 ? take_name(y, name, offset) : r;
}

static int take_scalar(struct yaml *y, const yaml_event_t *event, size_t offset)
{
    static const int types[] = {
        [SCALAR_TEXT] = cJSON_String, [SCALAR_NULL] = cJSON_NULL,     [SCALAR_TRUE] = cJSON_True,
        [SCALAR_FALSE] = cJSON_False, [SCALAR_NUMBER] = cJSON_Number,
    };
    struct str value = {(const char *)event->data.scalar.value, event->data.scalar.length};
    struct yaml_anchor *anchor = NULL;
    struct scalar scalar = {0};
    char *text = NULL;
    int r = read_scalar(y, event, offset, &scalar);

    if (r == 0)
        r = yaml_add_anchor(y, event->data.scalar.anchor, offset, &anchor);
    if (r == 0 && scalar.kind == SCALAR_TEXT)
        r = check_nul(y, value, offset);
    if (r == 0 && scalar.kind == SCALAR_TEXT && builder_keeps_text(&y->builder)) {
        text = copy_text(y, value);
        r = text != NULL ? 0 : -ENOMEM;
    }
    if (r == 0)
        builder_text(&y->builder, types[scalar.kind],
                     scalar.kind == SCALAR_TEXT || scalar.kind == SCALAR_NUMBER ? value : STR(""),
                     false);
    if (r == 0)
        r = builder_scalar(&y->builder, types[scalar.kind], text, scalar.number, (uint32_t)offset);
    if (r == 0 && anchor != NULL) {
        anchor->node = y->builder.added;
        anchor->weight = 1;
        anchor->open = false;
    }
    return r;
}

/* After a complete value: prepares its object for the next key. */
static void end_value(struct yaml *y)
{
    struct yaml_level *level = y->builder.depth > 0 ? &y->levels[y->builder.depth - 1] : NULL;

    if (level == NULL || !level->is_map)
        return;
    level->at_key = true;
    if (level->merges) {
        level->merge = builder_last_child(&y->builder);
        level->merge_members = level->members;
        level->merges = false;
    } else {
        level->members++;
    }
}

static int take_open(struct yaml *y, const yaml_char_t *anchor_name, bool is_map, size_t offset)
{
    struct yaml_level *level = NULL;
    size_t nodes_left = y->builder.nodes_left;
    struct yaml_anchor *anchor = NULL;
    int r = 0;

    if (y->builder.depth == DOCUMENT_MAX_DEPTH)
        return yaml_refuse(y, offset, READER_WHAT_DEPTH);
    r = yaml_add_anchor(y, anchor_name, offset, &anchor);
    if (r == 0)
        r = builder_open(&y->builder, !is_map, (uint32_t)offset);
    if (r < 0)
        return r;
    level = &y->levels[y->builder.depth - 1];
    *level = (struct yaml_level){.is_map = is_map,
                                 .at_key = is_map,
                                 .names_len = y->names.len,
                                 .anchor = anchor,
                                 .nodes_left = nodes_left};
    if (is_map)
        keys_open(&y->keys);
    return 0;
}

static int take_close(struct yaml *y)
{
    struct document_node *node = y->builder.levels[y->builder.depth - 1].node;
    struct yaml_level *level = &y->levels[y->builder.depth - 1];
    size_t height = level->height + 1;
    int r = 0;

    assert(y->builder.depth > 0 && height <= DOCUMENT_MAX_DEPTH);
    if (level->is_map) {
        r = node != NULL ? yaml_merge(y, level, &node->node) : 0;
        keys_close(&y->keys);
        y->names.len = level->names_len;
    }
    builder_close(&y->builder);
    if (level->anchor != NULL && node != NULL) {
        level->anchor->node = &node->node;
        assert(level->nodes_left > y->builder.nodes_left);
        level->anchor->weight = level->nodes_left - y->builder.nodes_left;
        level->anchor->height = height;
        level->anchor->open = false;
    }
    if (y->builder.depth > 0 && level[-1].height < height)
        level[-1].height = height;
    if (r == 0)
        end_value(y);
    return r;
}

/* An event that is a key or a value, or that begins one. */
static int take_node(struct yaml *y, const yaml_event_t *event, size_t offset,
                     const yaml_char_t *anchor, const yaml_char_t *tag)
{
    struct yaml_level *level = y->builder.depth > 0 ? &y->levels[y->builder.depth - 1] : NULL;
    bool is_open = event->type != YAML_SCALAR_EVENT && event->type != YAML_ALIAS_EVENT;
    int r = check_properties(y, anchor, tag, offset);

    if (r < 0)
        return r;
    if (level != NULL && level->is_map && level->at_key)
        return take_key(y, event, offset);
    if (level != NULL && !level->is_map)
        builder_item(&y->builder);
    if (level != NULL && level->merges)
        level->merge_offset = offset;
    if (is_open)
        return take_open(y, anchor, event->type == YAML_MAPPING_START_EVENT, offset);
    if (event->type == YAML_ALIAS_EVENT)
        r = yaml_take_alias(y, event->data.alias.anchor, offset);
    else
        r = take_scalar(y, event, offset);
    if (r == 0)
        end_value(y);
    return r;
}

static int take_event(struct yaml *y, const yaml_event_t *event)
{
    size_t offset = yaml_offset(y, event->start_mark.index);

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return y->documents++ == 0 ? 0 : yaml_refuse(y, offset, "a second document");
    case YAML_ALIAS_EVENT:
        if (y->rules != DOCUMENT_MANIFEST)
            return yaml_refuse(y, offset, "an alias: write the value out");
        return take_node(y, event, offset, NULL, NULL);
    case YAML_SCALAR_EVENT:
        return take_node(y, event, offset, event->data.scalar.anchor, event->data.scalar.tag);
    case YAML_SEQUENCE_START_EVENT:
        return take_node(y, event, offset, event->data.sequence_start.anchor,
                         event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return take_node(y, event, offset, event->data.mapping_start.anchor,
                         event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return take_close(y);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

static int take_events(struct yaml *y, yaml_parser_t *parser)
{
    for (;;) {
        cleanup_yaml_event yaml_event_t event = {0};
        int r = 0;

        if (yaml_parser_parse(parser, &event) == 0)
            return yaml_explain(y, parser);
        if (event.type == YAML_STREAM_END_EVENT)
            return 0;
        r = take_event(y, &event);
        if (r < 0)
            return r;
    }
}

static int parse(struct yaml *y)
{
    cleanup_yaml_parser yaml_parser_t parser = {0};

    if (!arena_charge(y->arena, (y->end - y->begin) * PARSER_GROWTH) ||
        yaml_parser_initialize(&parser) == 0)
        return -ENOMEM;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)y->text.ptr + y->begin,
                                 y->end - y->begin);
    return take_events(y, &parser);
}

static int read_checked(struct yaml *y)
{
    int r = yaml_check_text(y);

    return r == 0 ? parse(y) : r;
}

int yaml_read(struct str text, size_t begin, size_t end, const struct document_options *options,
              struct arena *arena, cJSON **ret_tree, struct reader_fault *reterr)
{
    struct yaml y;
    int r = 0;

    if (end - begin > (UINT32_MAX - NAMES_EXTRA_BYTES) / NAME_GROWTH)
        return -E2BIG;
    y.text = text;
    y.begin = y.offset = begin;
    y.end = end;
    y.character = 0;
    y.rules = options->rules;
    y.fault = reterr;
    y.arena = arena;
    y.documents = 0;
    y.anchors = NULL;
    y.anchor_count = 0;
    y.names = (struct yaml_names){.max_bytes = (end - begin) * NAME_GROWTH + NAMES_EXTRA_BYTES};
    builder_init(&y.builder, options, arena);
    keys_init(&y.keys, (struct str){0}, y.names.max_bytes, arena);
    r = read_checked(&y);
    names_free(&y.names);
    if (r == 0)
        *ret_tree = y.builder.root;
    return r;
}
