/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_READING_CHECK_H
#define TESTS_K8S_READING_CHECK_H

/* reading_check - compares what the reader makes of texts with what it should, for criterion tests.
 */

#include "tests/k8s/reading.h"

struct reading_row {
    struct str text;
    const char *result; /* the tree or the error, as reading_of() writes it */
};

/* Reads the text of each row with these options. Reports each row whose result differs. */
void reading_check(const struct reading_row *rows, size_t count,
                   const struct document_options *options);

#endif
