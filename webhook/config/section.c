/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section - typed readers of one mapping.
 *
 * config.c and self.c say which keys there are and what they mean.
 */

#include "webhook/config/section.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "k8s/document/document.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/util/nearest.h"

#define MESSAGE_MAX_BYTES 512
#define MAX_SHOWN_KEY_BYTES 64 /* a longer key, or one with other characters, is not shown */

static void refuse(struct config_reader *reader, const cJSON *node, bool at_key, const char *what)
{
    struct config_errors *errors = reader->errors;
    struct config_error error = {0};

    reader->problem_count++;
    if (errors->count == CONFIG_MAX_ERRORS)
        return;
    error.what = arena_format(reader->arena, "%s", what);
    if (!str_present(error.what)) {
        reader->out_of_memory = true;
        return;
    }
    if (node != NULL && !document_place(reader->text, node, at_key, &error.line, &error.column))
        error.line = 0;
    errors->items[errors->count++] = error;
}

void section_refuse(struct config_section *section, const cJSON *node, bool at_key,
                    const char *format, ...)
{
    char what[MESSAGE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    refuse(section->reader, node, at_key, what);
}

/* Adds the error `keyring.threshold must be <what>` at the value. */
static void refuse_value(struct config_section *section, const char *key, const cJSON *node,
                         const char *what)
{
    section_refuse(section, node, false, "%s%s must be %s", section->name, key, what);
}

const cJSON *section_take(struct config_section *section, const char *key)
{
    assert(section->known_count < SECTION_MAX_KEYS);
    section->known[section->known_count++] = key;
    return section->object != NULL ? tree_get(section->object, key) : NULL;
}

struct config_section section_open(struct config_section *parent, const char *key)
{
    struct config_reader *reader = parent->reader;
    struct config_section section = {.reader = reader, .name = ""};
    const cJSON *node = section_take(parent, key);
    struct str name = arena_format(reader->arena, "%s%s.", parent->name, key);

    if (str_present(name))
        section.name = name.ptr;
    else
        reader->out_of_memory = true;
    if (node == NULL)
        return section;
    if (!cJSON_IsObject(node)) {
        refuse_value(parent, key, node, "a mapping");
        return section;
    }
    section.object = node;
    return section;
}

static bool key_can_be_shown(struct str key)
{
    if (key.len == 0 || key.len > MAX_SHOWN_KEY_BYTES)
        return false;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (!text_is_alnum(c) && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

void section_end(struct config_section *section)
{
    const cJSON *member = NULL;

    cJSON_ArrayForEach(member, section->object)
    {
        struct str key = tree_key(member);
        const char *nearest = NULL;
        bool known = false;

        for (size_t i = 0; i < section->known_count && !known; i++)
            known = str_equal(key, str_of(section->known[i]));
        if (known)
            continue;
        nearest = nearest_name(key, section->known, section->known_count);
        section_refuse(section, member, true, "%s%.*s is not a known key%s%s%s",
                       key_can_be_shown(key) ? "" : "this",
                       key_can_be_shown(key) ? (int)key.len : 0, key.ptr,
                       nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
                       nearest != NULL ? "?" : "");
    }
}

static struct str keep_text(struct config_reader *reader, struct str s)
{
    char *copy = arena_copy(reader->texts, s);

    if (copy == NULL) {
        reader->out_of_memory = true;
        return STR("");
    }
    return (struct str){.ptr = copy, .len = s.len};
}

void section_text(struct config_section *section, const char *key, struct str *ret_text)
{
    const cJSON *node = section_take(section, key);

    if (node == NULL)
        return;
    if (!cJSON_IsString(node)) {
        refuse_value(section, key, node,
                     cJSON_IsNumber(node) || cJSON_IsBool(node) ? "text: quote it" : "text");
        return;
    }
    *ret_text = keep_text(section->reader, tree_text(node));
}

void section_path(struct config_section *section, const char *key, char **ret_path)
{
    struct config_reader *reader = section->reader;
    struct str given = {0};
    struct str path = {0};

    section_text(section, key, &given);
    if (!str_present(given))
        return;
    if (given.len == 0) {
        *ret_path = NULL;
        return;
    }
    path = given.ptr[0] == '/' ? given
                               : arena_format(reader->texts, "%.*s%.*s", (int)reader->directory.len,
                                              reader->directory.ptr, (int)given.len, given.ptr);
    *ret_path = arena_copy(reader->texts, path);
    if (*ret_path == NULL)
        reader->out_of_memory = true;
}

void section_bool(struct config_section *section, const char *key, bool *ret_value)
{
    const cJSON *node = section_take(section, key);

    if (node == NULL)
        return;
    if (!cJSON_IsBool(node)) {
        refuse_value(section, key, node, "true or false");
        return;
    }
    *ret_value = cJSON_IsTrue(node) != 0;
}

void section_number(struct config_section *section, const char *key, uint64_t min, uint64_t max,
                    uint64_t *ret_number)
{
    const cJSON *node = section_take(section, key);
    char what[MESSAGE_MAX_BYTES];
    double value = 0;

    if (node == NULL)
        return;
    value = cJSON_IsNumber(node) ? node->valuedouble : -1;
    if (!(value >= (double)min && value <= (double)max) || (double)(uint64_t)value < value) {
        (void)snprintf(what, sizeof(what), "a whole number from %llu to %llu",
                       (unsigned long long)min, (unsigned long long)max);
        refuse_value(section, key, node, what);
        return;
    }
    *ret_number = (uint64_t)value;
}

void section_number32(struct config_section *section, const char *key, uint32_t min, uint32_t max,
                      uint32_t *ret_number)
{
    uint64_t number = *ret_number;

    section_number(section, key, min, max, &number);
    *ret_number = (uint32_t)number;
}

bool section_choice(struct config_section *section, const char *key, const char *const *names,
                    unsigned *ret_choice)
{
    const cJSON *node = section_take(section, key);
    char what[MESSAGE_MAX_BYTES] = "one of:";

    if (node == NULL)
        return false;
    for (unsigned i = 0; names[i] != NULL; i++) {
        size_t used = strlen(what);

        if (str_equal(tree_text(node), str_of(names[i]))) {
            *ret_choice = i;
            return true;
        }
        (void)snprintf(what + used, sizeof(what) - used, "%s %s", i > 0 ? "," : "", names[i]);
    }
    refuse_value(section, key, node, what);
    return false;
}

void section_list(struct config_section *section, const char *key,
                  const char *(*rule)(struct str item), struct str_list *ret_list)
{
    const cJSON *node = section_take(section, key);
    const cJSON *item = NULL;
    struct str *items = NULL;
    size_t count = 0;

    if (node == NULL)
        return;
    if (!cJSON_IsArray(node)) {
        refuse_value(section, key, node, "a list");
        return;
    }
    items = arena_alloc(section->reader->texts, (size_t)cJSON_GetArraySize(node), sizeof(*items));
    if (items == NULL) {
        section->reader->out_of_memory = true;
        return;
    }
    cJSON_ArrayForEach(item, node)
    {
        const char *problem = cJSON_IsString(item) ? rule(tree_text(item)) : "text: quote it";

        if (problem != NULL)
            section_refuse(section, item, false, "%s%s: an entry must be %s", section->name, key,
                           problem);
        else
            items[count++] = keep_text(section->reader, tree_text(item));
    }
    *ret_list = (struct str_list){.items = items, .count = count};
}
