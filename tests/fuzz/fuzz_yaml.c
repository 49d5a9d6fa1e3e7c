/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_yaml - reads the bytes as YAML. A text that the strictest rules accept gives the same tree
 * as a review and as a manifest, and after it is written as JSON. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "tests/k8s/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct document_options own = {.syntax = DOCUMENT_YAML, .rules = DOCUMENT_OWN};
    static const struct document_options review = {.syntax = DOCUMENT_YAML,
                                                   .rules = DOCUMENT_REVIEW};
    static const struct document_options manifest = {.syntax = DOCUMENT_YAML,
                                                     .rules = DOCUMENT_MANIFEST};
    static const struct document_options json = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    struct str text = {(const char *)data, size};
    cleanup_arena struct arena arena = {0};
    struct str result = reading_of(&arena, text, &own);
    struct str as_manifest = reading_of(&arena, text, &manifest);

    if (!reading_is_tree(result)) {
        (void)reading_of(&arena, text, &review);
        return 0;
    }
    assert(str_equal(reading_of(&arena, text, &review), result));
    assert(str_equal(as_manifest, result));
    if (!str_contains(result, STR("inf")))
        assert(str_equal(reading_of(&arena, result, &json), result));
    return 0;
}
