/* SPDX-License-Identifier: Apache-2.0 */
/* selector - a label selector: packed when its policy arrives, compared with the labels of pods. */
#include <assert.h>
#include <stdint.h>

#include "k8s/network_policy/internal.h"
#include "planner/base/tree.h"

#define MAX_NUMBER UINT16_MAX /* a packed number has two bytes */

_Static_assert(NETWORK_POLICY_MAX_SELECTOR_BYTES <= MAX_NUMBER, "lengths fit two bytes");

enum operator_code { OPERATOR_IN = 1, OPERATOR_NOT_IN, OPERATOR_EXISTS, OPERATOR_DOES_NOT_EXIST };

static const struct {
    struct str name;
    enum operator_code code;
    bool has_values;
} operators[] = {
    {STR_INIT("In"), OPERATOR_IN, true},
    {STR_INIT("NotIn"), OPERATOR_NOT_IN, true},
    {STR_INIT("Exists"), OPERATOR_EXISTS, false},
    {STR_INIT("DoesNotExist"), OPERATOR_DOES_NOT_EXIST, false},
};

/* ---- packing ---- */

struct packing {
    char *out;
    size_t bytes;
    bool failed; /* it is over the limit */
};

static void put_bytes(struct packing *packing, const void *bytes, size_t count)
{
    if (packing->failed || count > NETWORK_POLICY_MAX_SELECTOR_BYTES - packing->bytes) {
        packing->failed = true;
        return;
    }
    if (count > 0)
        memcpy(packing->out + packing->bytes, bytes, count);
    packing->bytes += count;
}

static void put_number(struct packing *packing, size_t number)
{
    const uint16_t small = (uint16_t)number;

    packing->failed |= number > MAX_NUMBER;
    put_bytes(packing, &small, sizeof(small));
}

static void put_text(struct packing *packing, struct str text)
{
    put_number(packing, text.len);
    put_bytes(packing, text.ptr, text.len);
}

static void put_head(struct packing *packing, enum operator_code code, struct str key,
                     size_t value_count)
{
    put_number(packing, code);
    put_text(packing, key);
    put_number(packing, value_count);
}

/* False: it cannot be read. */
static bool pack_labels(struct packing *packing, const cJSON *labels)
{
    const cJSON *label = NULL;

    if (labels == NULL)
        return true;
    if (!tree_is(labels, cJSON_Object))
        return false;
    cJSON_ArrayForEach(label, labels)
    {
        if (!tree_is(label, cJSON_String))
            return false;
        put_head(packing, OPERATOR_IN, tree_key(label), 1);
        put_text(packing, tree_text(label));
    }
    return true;
}

/* The number of values; false where one is not text. Absent is an empty list. */
static bool count_values(const cJSON *values, size_t *ret_count)
{
    const cJSON *value = NULL;
    size_t count = 0;

    if (values != NULL && !tree_is(values, cJSON_Array))
        return false;
    if (values != NULL) {
        cJSON_ArrayForEach(value, values)
        {
            if (!tree_is(value, cJSON_String))
                return false;
            count++;
        }
    }
    *ret_count = count;
    return true;
}

static bool pack_expression(struct packing *packing, const cJSON *expression)
{
    struct str key = tree_get_text(expression, "key");
    struct str name = tree_get_text(expression, "operator");
    const cJSON *values = tree_get(expression, "values");
    const cJSON *value = NULL;
    size_t count = 0, i = 0;

    while (i < sizeof(operators) / sizeof(operators[0]) && !str_equal(operators[i].name, name))
        i++;
    if (i == sizeof(operators) / sizeof(operators[0]) || key.len == 0 ||
        !count_values(values, &count) || (operators[i].has_values && count == 0))
        return false;
    if (!operators[i].has_values)
        count = 0;
    put_head(packing, operators[i].code, key, count);
    if (count > 0) {
        cJSON_ArrayForEach(value, values)
        {
            put_text(packing, tree_text(value));
        }
    }
    return true;
}

static bool pack_expressions(struct packing *packing, const cJSON *expressions)
{
    const cJSON *expression = NULL;

    if (expressions == NULL)
        return true;
    if (!tree_is(expressions, cJSON_Array))
        return false;
    cJSON_ArrayForEach(expression, expressions)
    {
        if (!pack_expression(packing, expression))
            return false;
    }
    return true;
}

bool selector_pack(const cJSON *selector, char *out, size_t *ret_bytes)
{
    struct packing packing = {.out = out};

    if (selector != NULL && !tree_is(selector, cJSON_Object))
        return false;
    if (!pack_labels(&packing, tree_get(selector, "matchLabels")) ||
        !pack_expressions(&packing, tree_get(selector, "matchExpressions")) || packing.failed)
        return false;
    *ret_bytes = packing.bytes;
    return true;
}

/* ---- matching ---- */

static size_t take_number(struct str *rest)
{
    uint16_t number = 0;

    assert(rest->len >= sizeof(number));
    memcpy(&number, rest->ptr, sizeof(number));
    *rest = (struct str){.ptr = rest->ptr + sizeof(number), .len = rest->len - sizeof(number)};
    return number;
}

static struct str take_text(struct str *rest)
{
    size_t len = take_number(rest);
    struct str text = {.ptr = rest->ptr, .len = len};

    assert(len <= rest->len);
    *rest = (struct str){.ptr = rest->ptr + len, .len = rest->len - len};
    return text;
}

/* Takes one requirement. Whether the labels meet it. */
static bool meets(struct str *rest, const struct network_policy_labels *labels)
{
    size_t code = take_number(rest);
    const struct str *label = labels_find(labels, take_text(rest));
    size_t count = take_number(rest);
    bool is_listed = false;

    for (size_t i = 0; i < count; i++) {
        struct str value = take_text(rest);

        is_listed |= label != NULL && str_equal(value, *label);
    }
    switch (code) {
    case OPERATOR_IN:
        return is_listed;
    case OPERATOR_NOT_IN:
        return !is_listed;
    case OPERATOR_EXISTS:
        return label != NULL;
    default:
        assert(code == OPERATOR_DOES_NOT_EXIST);
        return label == NULL;
    }
}

bool selector_matches(struct str packed, const struct network_policy_labels *labels)
{
    while (packed.len > 0) {
        if (!meets(&packed, labels))
            return false;
    }
    return true;
}
