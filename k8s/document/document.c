/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document - reads one document in either syntax.
 *
 * The readers themselves are json.c and yaml.c. This file chooses the syntax and turns a fault's
 * offset into line and column.
 */
#include "k8s/document/document.h"

#include <errno.h>

#include "k8s/document/json_skip.h"
#include "k8s/document/reader.h"

static int read_json(struct str text, const struct document_options *options, struct arena *arena,
                     cJSON **ret_tree, struct reader_fault *reterr)
{
    cJSON *tree = NULL;
    size_t end = 0;
    int r = json_read(text, reader_skip_mark(text, 0), options, arena, &tree, &end, reterr);

    if (r < 0)
        return r;
    end = json_skip_blanks(text, end);
    if (end < text.len) {
        *reterr =
            (struct reader_fault){.offset = end, .what = "trailing content after the document"};
        return -EBADMSG;
    }
    *ret_tree = tree;
    return 0;
}

static int read_yaml(struct str text, const struct document_options *options, struct arena *arena,
                     cJSON **ret_tree, struct reader_fault *reterr)
{
    cJSON *tree = NULL;
    int r = yaml_read(text, reader_skip_mark(text, 0), text.len, options, arena, &tree, reterr);

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
