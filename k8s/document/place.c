/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place - line and column of a byte offset in a text.
 *
 * Declared in document.h. A file of its own, because reader.c needs it, which document.c uses.
 */
#include "k8s/document/document.h"

#include <assert.h>

#include "k8s/document/reader.h"

size_t document_advance(struct document_cursor *cursor, struct str text, size_t offset)
{
    size_t begin = 0;

    if (offset < cursor->offset)
        *cursor = (struct document_cursor){.line = 1};
    for (size_t i = cursor->offset; i < offset && i < text.len; i++) {
        if (text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n')
            continue;
        if (text.ptr[i] == '\n' || text.ptr[i] == '\r') {
            cursor->line++;
            cursor->line_begin = i + 1;
        }
    }
    assert(cursor->line >= 1 && cursor->line_begin <= offset);
    cursor->offset = offset;
    begin = reader_skip_mark(text, cursor->line_begin);
    return offset - (begin <= offset ? begin : cursor->line_begin) + 1;
}

void document_locate(struct str text, size_t offset, size_t *ret_line, size_t *ret_column)
{
    struct document_cursor cursor = {.line = 1};

    *ret_column = document_advance(&cursor, text, offset);
    *ret_line = cursor.line;
}

bool document_place(struct str text, const cJSON *node, bool of_key, size_t *ret_line,
                    size_t *ret_column)
{
    /* each node of a tree that was read is the first member of a document_node */
    const struct document_node *n = (const struct document_node *)(const void *)node;

    if (n == NULL || (of_key && n->node.string == NULL))
        return false;
    document_locate(text, of_key ? n->key_offset : n->offset, ret_line, ret_column);
    return true;
}
