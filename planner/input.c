/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input - reads the planner's input from a tree, by the table of fields in the header.
 */
#include "planner/input.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/tree.h"
#include "planner/names.h"

#define AS_TEXT(number) AS_TEXT_OF(number)
#define AS_TEXT_OF(number) #number

static const struct {
    struct str name;
    enum input_kind kind;
} fields[INPUT_FIELD_COUNT] = {
#define X(name, kind, text) [INPUT_##name] = {STR_INIT(text), INPUT_KIND_##kind},
    INPUT_FIELDS(X)
#undef X
};

const struct input_object input_root = {"", INPUT_WORKLOAD, INPUT_IMAGE_DIGEST};
static const struct input_object workload = {"", INPUT_IMAGE_DIGEST, INPUT_SOURCE_REF};
static const struct input_object requirements = {"", INPUT_SOURCE_REF,
                                                 INPUT_BASELINE_NETWORK_ALLOWED};
static const struct input_object baseline = {"baseline.", INPUT_BASELINE_NETWORK_ALLOWED,
                                             INPUT_FIELD_COUNT};

/* The state of one call of input_read(). */
struct reader {
    struct arena *arena;
    struct input *input;
    struct findings *findings;
};

/* The position of a value, for messages. */
struct place {
    const char *prefix; /* of the object that holds it */
    enum input_field field;
};

const char *input_name(enum input_field field)
{
    assert(field < INPUT_FIELD_COUNT);
    return fields[field].name.ptr;
}

enum input_kind input_kind(enum input_field field)
{
    assert(field < INPUT_FIELD_COUNT);
    return fields[field].kind;
}

const struct input_object *input_object_of(enum input_field field)
{
    if (field == INPUT_WORKLOAD)
        return &workload;
    if (field == INPUT_REQUIREMENTS)
        return &requirements;
    return field == INPUT_BASELINE ? &baseline : NULL;
}

enum input_field input_find(const struct input_object *object, struct str name)
{
    for (enum input_field field = object->first; field < object->end; field++) {
        if (str_equal(fields[field].name, name))
            return field;
    }
    return INPUT_FIELD_COUNT;
}

struct str input_shown_name(const cJSON *member)
{
    struct str name = tree_key(member);

    return names_field_is_plain(name) ? name : STR("?");
}

bool input_control_asks(const cJSON *node)
{
    if (node == NULL || tree_is(node, cJSON_NULL) || tree_is(node, cJSON_False))
        return false;
    if (tree_is(node, cJSON_Array) || tree_is(node, cJSON_Object))
        return node->child != NULL;
    return !tree_is(node, cJSON_String) || str_trim(tree_text(node)).len > 0;
}

static void mark_wrong(struct reader *reader, struct place place, const char *what)
{
    reader->input->values[place.field].state = INPUT_WRONG;
    findings_add(reader->findings, PLAN_CODE_INPUT_INVALID,
                 arena_format(reader->arena, "%s%s must be %s", place.prefix,
                              input_name(place.field), what));
}

static void read_text(struct reader *reader, struct place place, const cJSON *node)
{
    struct str text = str_trim(tree_text(node));

    if (!str_present(text))
        mark_wrong(reader, place, "text");
    else if (text.len > PLAN_MAX_TEXT_BYTES)
        mark_wrong(reader, place, "at most " AS_TEXT(PLAN_MAX_TEXT_BYTES) " bytes");
    else if (text.len > 0)
        reader->input->values[place.field] =
            (struct input_value){.state = INPUT_GIVEN, .text = text};
}

static void read_bool(struct reader *reader, struct place place, const cJSON *node)
{
    bool flag = tree_is(node, cJSON_True);

    if (!flag && !tree_is(node, cJSON_False))
        mark_wrong(reader, place, "boolean");
    else
        reader->input->values[place.field] =
            (struct input_value){.state = INPUT_GIVEN, .flag = flag};
}

bool plan_read_max_age(const cJSON *value, int *ret_days)
{
    double days = tree_is(value, cJSON_Number) ? value->valuedouble : 0;

    /* written so that NaN fails */
    if (!(days >= PLAN_MIN_AGE_DAYS && days <= PLAN_MAX_AGE_DAYS) || (double)(int)days != days)
        return false;
    *ret_days = (int)days;
    return true;
}

static void read_days(struct reader *reader, struct place place, const cJSON *node)
{
    struct input_value *value = &reader->input->values[place.field];

    if (!tree_is(node, cJSON_Number)) {
        mark_wrong(reader, place, "a whole number");
    } else if (plan_read_max_age(node, &value->days)) {
        value->state = INPUT_GIVEN;
    } else {
        value->state = INPUT_WRONG;
        findings_add(
            reader->findings, PLAN_CODE_REQUIREMENTS_MAX_AGE,
            STR("max_age_days must be greater than zero and at most " AS_TEXT(PLAN_MAX_AGE_DAYS)));
    }
}

/* What the entry of a list must be; NULL where it is valid. */
static const char *entry_problem(struct str text)
{
    if (!str_present(text))
        return "text";
    if (text.len == 0)
        return "non-empty text";
    if (text.len > PLAN_MAX_TEXT_BYTES)
        return "at most " AS_TEXT(PLAN_MAX_TEXT_BYTES) " bytes";
    return NULL;
}

/* The number of entries, at most PLAN_MAX_ITEMS + 1. */
static size_t list_length(const cJSON *list)
{
    size_t count = 0;

    for (const cJSON *item = list->child; item != NULL && count <= PLAN_MAX_ITEMS;
         item = item->next)
        count++;
    return count;
}

static void read_entries(struct reader *reader, struct place place, const cJSON *list,
                         struct input_entry *entries)
{
    struct input_value *value = &reader->input->values[place.field];
    size_t index = 0;

    value->entries = entries;
    for (const cJSON *item = list->child; item != NULL; item = item->next, index++) {
        struct str text = str_trim(tree_text(item));
        const char *problem = entry_problem(text);

        if (problem == NULL)
            entries[value->entry_count++] = (struct input_entry){.text = text, .place = index};
        else
            findings_add(reader->findings, PLAN_CODE_INPUT_INVALID,
                         arena_format(reader->arena, "%s%s[%zu] must be %s", place.prefix,
                                      input_name(place.field), index, problem));
    }
}

static void read_list(struct reader *reader, struct place place, const cJSON *node)
{
    size_t count = tree_is(node, cJSON_Array) ? list_length(node) : 0;
    struct input_entry *entries = NULL;

    if (!tree_is(node, cJSON_Array)) {
        mark_wrong(reader, place, "a list of text");
        return;
    }
    if (count > PLAN_MAX_ITEMS) {
        mark_wrong(reader, place, "at most " AS_TEXT(PLAN_MAX_ITEMS) " items");
        return;
    }
    entries = arena_alloc(reader->arena, count, sizeof(*entries));
    if (entries == NULL) {
        reader->findings->error = -ENOMEM;
        return;
    }
    reader->input->values[place.field].state = INPUT_GIVEN;
    read_entries(reader, place, node, entries);
}

static void read_object(struct reader *reader, const struct input_object *object,
                        const cJSON *node);

static void read_field(struct reader *reader, struct place place, const cJSON *node)
{
    struct input_value *value = &reader->input->values[place.field];
    const struct input_object *object = input_object_of(place.field);

    switch (input_kind(place.field)) {
    case INPUT_KIND_OBJECT:
        value->state = INPUT_GIVEN;
        if (object != NULL && tree_is(node, cJSON_Object))
            read_object(reader, object, node);
        else
            mark_wrong(reader, place, "an object");
        break;
    case INPUT_KIND_TEXT:
    case INPUT_KIND_REFERENCE:
        read_text(reader, place, node);
        break;
    case INPUT_KIND_BOOL:
        read_bool(reader, place, node);
        break;
    case INPUT_KIND_DAYS:
        read_days(reader, place, node);
        break;
    case INPUT_KIND_LIST:
    case INPUT_KIND_NAMES:
        read_list(reader, place, node);
        break;
    case INPUT_KIND_CONTROL:
        *value = (struct input_value){.state = INPUT_GIVEN, .flag = input_control_asks(node)};
        break;
    case INPUT_KIND_NONE:
        break;
    }
}

static void read_object(struct reader *reader, const struct input_object *object, const cJSON *node)
{
    for (const cJSON *member = node->child; member != NULL; member = member->next) {
        enum input_field field = input_find(object, tree_key(member));
        struct str shown = {0};

        if (field != INPUT_FIELD_COUNT) {
            if (!tree_is(member, cJSON_NULL))
                read_field(reader, (struct place){object->prefix, field}, member);
            continue;
        }
        shown = input_shown_name(member);
        findings_add(reader->findings, PLAN_CODE_INPUT_UNKNOWN_FIELD,
                     arena_format(reader->arena, "%s%.*s is not a known field", object->prefix,
                                  (int)shown.len, shown.ptr));
    }
}

void input_read(const cJSON *node, const struct input_object *object, struct arena *arena,
                struct input *input, struct findings *findings)
{
    struct reader reader = {.arena = arena, .input = input, .findings = findings};

    read_object(&reader, object, node);
}
