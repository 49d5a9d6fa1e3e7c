/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json - reads the bytes as JSON. Accepted JSON gives the same tree with all less strict
 * rules, with any shape, and after it is written and read again. */
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

    /* a number at the root looks like the position of an error, and is not of interest */
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
