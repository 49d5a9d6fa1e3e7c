/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_skip - finds the end of strings, objects and lists in JSON without reading what is in them.
 *
 * The strict reader uses it for the parts that its caller leaves unchecked, and the readers of
 * lists and logs to find the end of each item.
 */
#include "k8s/document/json_skip.h"

#include <assert.h>

bool json_skip_string(struct str text, size_t *offset)
{
    size_t i = *offset;

    assert(i < text.len && text.ptr[i] == '"');
    for (i++; i < text.len && text.ptr[i] != '"'; i++) {
        if (text.ptr[i] == '\\')
            i++;
    }
    *offset = i < text.len ? i + 1 : text.len;
    return i < text.len;
}

bool json_skip_value(struct str text, size_t *offset)
{
    size_t depth = 0, i = *offset;

    while (i < text.len) {
        char c = text.ptr[i];
        bool closes = c == '}' || c == ']';
        bool is_last = false; /* byte of the value */

        if (depth == 0 && (closes || c == ',')) {
            *offset = i;
            return true;
        }
        if (c == '"') {
            if (!json_skip_string(text, &i))
                break;
            is_last = depth == 0;
        } else {
            depth += c == '{' || c == '[' ? 1 : 0;
            depth -= closes ? 1 : 0;
            is_last = depth == 0 && closes;
            i++;
        }
        if (is_last) {
            *offset = i;
            return true;
        }
    }
    *offset = text.len;
    return false;
}
