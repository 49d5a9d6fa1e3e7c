/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of any kind. What is accepted is read the same by all rules that accept more, whatever is
 * kept of it, and after writing it down. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "tests/k8s/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct document_shape nothing[] = {{.key = "x"}, {0}};
    static const struct document_options own = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    static const struct document_options review = {.syntax = DOCUMENT_JSON,
                                                   .rules = DOCUMENT_REVIEW};
    static const struct document_options either = {.syntax = DOCUMENT_EITHER,
                                                   .rules = DOCUMENT_OWN};
    static const struct document_options skipping = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN, .shape = nothing};
    struct str text = {(const char *)data, size};
    cleanup_arena struct arena arena = {0};
    struct str result = reading_of(&arena, text, &own);
    struct str skipped = reading_of(&arena, text, &skipping);

    /* a number at the root is neither told from an error's place here, nor of interest */
    if (!reading_is_tree(result)) {
        assert(!reading_is_tree(skipped));
        (void)reading_of(&arena, text, &review);
        return 0;
    }
    assert(reading_is_tree(skipped));
    assert(str_equal(reading_of(&arena, text, &review), result));
    assert(str_equal(reading_of(&arena, text, &either), result));
    if (!str_contains(result, STR("inf")))
        assert(str_equal(reading_of(&arena, result, &own), result));
    return 0;
}
