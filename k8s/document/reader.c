/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader - what the JSON and the YAML reader share.
 */
#include "k8s/document/reader.h"

#include <errno.h>

int reader_refuse(struct str text, struct reader_fault fault, struct document_error *reterr)
{
    document_locate(text, fault.offset, &reterr->line, &reterr->column);
    reterr->what = fault.what;
    return -EBADMSG;
}

bool reader_is_utf16(struct str text, struct reader_fault *reterr)
{
    if (!str_starts_with(text, STR("\xFF\xFE")) && !str_starts_with(text, STR("\xFE\xFF")) &&
        (text.len < 2 || (text.ptr[0] == '\0') == (text.ptr[1] == '\0')))
        return false;
    *reterr = (struct reader_fault){.what = "UTF-16: save the text as UTF-8"};
    return true;
}

cJSON *reader_null(struct arena *arena)
{
    struct document_node *node = arena_alloc(arena, 1, sizeof(*node));

    if (node == NULL)
        return NULL;
    node->node.type = cJSON_NULL;
    return &node->node;
}
