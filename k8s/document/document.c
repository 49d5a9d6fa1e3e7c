/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/document/document.h"

#include <errno.h>

#include "k8s/document/reader.h"

static int read_json(struct str text, const struct document_options *options, struct arena *arena,
                     cJSON **ret_tree, struct reader_fault *reterr)
{
    cJSON *tree = NULL;
    size_t end = 0;
    int r = json_read(text, reader_behind_mark(text, 0), options, arena, &tree, &end, reterr);

    if (r < 0)
        return r;
    end = json_skip_blanks(text, end);
    if (end < text.len) {
        *reterr = (struct reader_fault){.offset = end, .what = "text behind the document"};
        return -EBADMSG;
    }
    *ret_tree = tree;
    return 0;
}

static int read_yaml(struct str text, const struct document_options *options, struct arena *arena,
                     cJSON **ret_tree, struct reader_fault *reterr)
{
    cJSON *tree = NULL;
    int r = yaml_read(text, reader_behind_mark(text, 0), text.len, options, arena, &tree, reterr);

    if (r < 0)
        return r;
    if (tree == NULL)
        tree = reader_null(arena);
    if (tree == NULL)
        return -ENOMEM;
    *ret_tree = tree;
    return 0;
}

int document_read(struct str text, const struct document_options *options, struct arena *arena,
                  cJSON **ret_tree, struct document_error *reterr)
{
    struct document_options own = *options;
    struct reader_fault fault = {0};
    int r = -EBADMSG;

    if (text.len > UINT32_MAX)
        return -E2BIG;
    if (reader_is_utf16(text, &fault))
        return reader_refuse(text, fault, reterr);
    if (own.rules == DOCUMENT_MANIFEST)
        own.shape = NULL;
    if (own.syntax != DOCUMENT_YAML)
        r = read_json(text, &own, arena, ret_tree, &fault);
    if (own.syntax == DOCUMENT_YAML || (own.syntax == DOCUMENT_EITHER && r == -EBADMSG))
        r = read_yaml(text, &own, arena, ret_tree, &fault);
    return r == -EBADMSG ? reader_refuse(text, fault, reterr) : r;
}

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
    cursor->offset = offset;
    begin = reader_behind_mark(text, cursor->line_begin);
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
    /* every node of a tree that was read is the first member of one */
    const struct document_node *n = (const struct document_node *)(const void *)node;

    if (n == NULL || (of_key && n->node.string == NULL))
        return false;
    document_locate(text, of_key ? n->key_offset : n->offset, ret_line, ret_column);
    return true;
}
