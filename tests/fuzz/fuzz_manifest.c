/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manifest - reads the bytes as manifests. Each object is an object with a position inside the
 * text, and the loop ends. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "k8s/document/manifest.h"
#include "planner/base/tree.h"

#define LIMIT_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_arena struct arena arena = {.limit_bytes = LIMIT_BYTES};
    struct str text = {(const char *)data, size};
    struct manifest manifest = manifest_make(text, DOCUMENT_EITHER, &arena);

    for (;;) {
        struct document_error error = {0};
        struct manifest_object object = {0};
        int r = manifest_next(&manifest, &object, &error);

        if (r != 0) {
            assert(r != -EBADMSG || (error.what != NULL && error.line >= 1 && error.column >= 1 &&
                                     error.line <= size + 1 && error.column <= size + 1));
            return 0;
        }
        if (object.tree == NULL)
            return 0;
        assert(tree_is(object.tree, cJSON_Object));
        assert(object.line >= 1 && object.line <= size && object.column >= 1);
        assert(object.text.ptr >= text.ptr &&
               object.text.ptr + object.text.len <= text.ptr + text.len);
    }
}
