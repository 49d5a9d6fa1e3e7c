#include "k8s/document.h"

#include <errno.h>

#include "k8s/reader.h"

#define BYTE_ORDER_MARK STR("\xEF\xBB\xBF")

static int refuse(struct str text, struct reader_fault fault, struct document_error *reterr)
{
    document_locate(text, fault.offset, &reterr->line, &reterr->column);
    reterr->what = fault.what;
    return -EBADMSG;
}

/* A byte order mark of UTF-16, or a NUL where ASCII in UTF-16 has one. */
static bool is_utf16(struct str text)
{
    return str_starts_with(text, STR("\xFF\xFE")) || str_starts_with(text, STR("\xFE\xFF")) ||
           (text.len >= 2 && (text.ptr[0] == '\0') != (text.ptr[1] == '\0'));
}

static const struct reader_fault utf16_fault = {.what = "UTF-16: save the text as UTF-8"};

static cJSON *null_node(struct arena *arena)
{
    struct document_node *node = arena_alloc(arena, 1, sizeof(*node));

    if (node == NULL)
        return NULL;
    node->node.type = cJSON_NULL;
    return &node->node;
}

static size_t behind_mark(struct str text, size_t offset)
{
    struct str rest = {text.ptr + offset, text.len - offset};

    return str_starts_with(rest, BYTE_ORDER_MARK) ? offset + BYTE_ORDER_MARK.len : offset;
}

static int read_json(struct str text, const struct document_options *options, struct arena *arena,
                     cJSON **ret_tree, struct reader_fault *reterr)
{
    cJSON *tree = NULL;
    size_t end = 0;
    int r = json_read(text, behind_mark(text, 0), options, arena, &tree, &end, reterr);

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
    int r = yaml_read(text, behind_mark(text, 0), text.len, options, arena, &tree, reterr);

    if (r < 0)
        return r;
    if (tree == NULL)
        tree = null_node(arena);
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
    if (is_utf16(text))
        return refuse(text, utf16_fault, reterr);
    if (own.rules == DOCUMENT_MANIFEST)
        own.shape = NULL;
    if (own.syntax != DOCUMENT_YAML)
        r = read_json(text, &own, arena, ret_tree, &fault);
    if (own.syntax == DOCUMENT_YAML || (own.syntax == DOCUMENT_EITHER && r == -EBADMSG))
        r = read_yaml(text, &own, arena, ret_tree, &fault);
    return r == -EBADMSG ? refuse(text, fault, reterr) : r;
}

void document_locate(struct str text, size_t offset, size_t *ret_line, size_t *ret_column)
{
    size_t line = 1, begin = 0;

    for (size_t i = 0; i < offset && i < text.len; i++) {
        if (text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n')
            continue;
        if (text.ptr[i] == '\n' || text.ptr[i] == '\r') {
            line++;
            begin = i + 1;
        }
    }
    if (begin <= text.len && behind_mark(text, begin) <= offset)
        begin = behind_mark(text, begin);
    *ret_line = line;
    *ret_column = offset - begin + 1;
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
