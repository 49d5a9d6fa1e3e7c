/* SPDX-License-Identifier: Apache-2.0 */
/* reading_check - compares what the reader makes of texts with what it should. */
#include "tests/k8s/reading_check.h"

#include <criterion/criterion.h>

void reading_check(const struct reading_row *rows, size_t count,
                   const struct document_options *options)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        struct str result = reading_of(&arena, rows[i].text, options);

        cr_expect(str_equal(result, str_of(rows[i].result)),
                  "row %zu, %.*s:\n  result    %s\n  expected  %s", i, (int)rows[i].text.len,
                  rows[i].text.ptr, result.ptr, rows[i].result);
    }
}
