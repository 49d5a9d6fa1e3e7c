/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream - reads the documents of a text one after the other (struct document_stream of
 * document.h).
 */
#include <assert.h>
#include <errno.h>

#include "k8s/document/document.h"
#include "k8s/document/json_skip.h"
#include "k8s/document/reader.h"

#define MARKER STR("---")

struct document_stream document_stream_make(struct str text, enum document_syntax syntax,
                                            size_t max_nodes)
{
    return (struct document_stream){
        .text = text,
        .options = {.syntax = syntax, .rules = DOCUMENT_MANIFEST, .max_nodes = max_nodes},
    };
}

/* The offset after the line that contains offset. */
static size_t after_line(struct str text, size_t offset)
{
    while (offset < text.len && !text_is_line_end(text.ptr[offset]))
        offset++;
    if (offset + 1 < text.len && text.ptr[offset] == '\r' && text.ptr[offset + 1] == '\n')
        offset++;
    return offset < text.len ? offset + 1 : offset;
}

/* Whether the line at offset begins with `---`, followed by a blank or the end. */
static bool is_marker(struct str text, size_t offset)
{
    struct str rest = {text.ptr + offset, text.len - offset};

    if (!str_starts_with(rest, MARKER))
        return false;
    return rest.len == MARKER.len || text_is_blank(rest.ptr[MARKER.len]);
}

/* Whether nothing but a comment follows the marker at offset in its line. */
static bool is_bare_marker(struct str text, size_t offset)
{
    size_t i = offset + MARKER.len, marker_end = i;

    while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t'))
        i++;
    return i == text.len || text_is_line_end(text.ptr[i]) || (text.ptr[i] == '#' && i > marker_end);
}

/* The offset of the next line `---`, or of the end. */
static size_t find_marker(struct str text, size_t offset)
{
    while (offset < text.len && !is_marker(text, reader_skip_mark(text, offset)))
        offset = after_line(text, offset);
    return offset;
}

/*
 * libyaml accepts a byte order mark only at the start of its input. So it gets each document alone,
 * and without the line `---` where that holds nothing else.
 */
static int next_yaml(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                     struct str *ret_document, struct reader_fault *reterr)
{
    size_t begin = reader_skip_mark(stream->text, stream->offset), end = 0;
    cJSON *tree = NULL;
    int r = 0;

    if (is_marker(stream->text, begin) && is_bare_marker(stream->text, begin)) {
        begin = after_line(stream->text, begin);
        end = find_marker(stream->text, begin);
        begin = end > begin ? reader_skip_mark(stream->text, begin) : begin;
    } else {
        end = find_marker(stream->text, after_line(stream->text, begin));
    }
    r = yaml_read(stream->text, begin, end, &stream->options, arena, &tree, reterr);
    if (r < 0)
        return r;
    if (tree == NULL)
        tree = reader_null(arena);
    if (tree == NULL)
        return -ENOMEM;
    assert(end > stream->offset || end == stream->text.len);
    stream->offset = end;
    *ret_tree = tree;
    *ret_document = (struct str){stream->text.ptr + begin, end - begin};
    return 0;
}

static int next_json(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                     struct str *ret_document, struct reader_fault *reterr)
{
    size_t begin = json_skip_blanks(stream->text, stream->offset), end = 0;
    cJSON *tree = NULL;
    int r = json_read(stream->text, begin, &stream->options, arena, &tree, &end, reterr);

    if (r < 0)
        return r;
    stream->offset = json_skip_blanks(stream->text, end);
    *ret_tree = tree;
    *ret_document = (struct str){stream->text.ptr + begin, end - begin};
    return 0;
}

static bool opens_json(struct str text, size_t offset)
{
    return offset < text.len && (text.ptr[offset] == '{' || text.ptr[offset] == '[');
}

/*
 * The first document of a text in either syntax. It is JSON where the text starts with a valid
 * object or list that is followed by the end or by another object or list.
 */
static int first_of_either(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                           struct str *ret_document, struct reader_fault *reterr)
{
    struct document_stream json = *stream;
    int r = -EBADMSG;

    json.options.syntax = DOCUMENT_JSON;
    if (opens_json(json.text, json_skip_blanks(json.text, json.offset)))
        r = next_json(&json, arena, ret_tree, ret_document, reterr);
    if (r == 0 && (json.offset == json.text.len || opens_json(json.text, json.offset))) {
        *stream = json;
        return 0;
    }
    if (r != 0 && r != -EBADMSG)
        return r;
    stream->options.syntax = DOCUMENT_YAML;
    return next_yaml(stream, arena, ret_tree, ret_document, reterr);
}

static int next_document(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                         struct str *ret_document, struct reader_fault *reterr)
{
    if (stream->offset == 0) {
        if (reader_is_utf16(stream->text, reterr))
            return -EBADMSG;
        stream->offset = reader_skip_mark(stream->text, 0);
    }
    if (stream->options.syntax == DOCUMENT_JSON)
        stream->offset = json_skip_blanks(stream->text, stream->offset);
    if (stream->offset == stream->text.len) {
        *ret_tree = NULL;
        *ret_document = (struct str){stream->text.ptr + stream->text.len, 0};
        return 0;
    }
    switch (stream->options.syntax) {
    case DOCUMENT_JSON:
        return next_json(stream, arena, ret_tree, ret_document, reterr);
    case DOCUMENT_YAML:
        return next_yaml(stream, arena, ret_tree, ret_document, reterr);
    case DOCUMENT_EITHER:
        break;
    }
    return first_of_either(stream, arena, ret_tree, ret_document, reterr);
}

int document_next(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                  struct str *ret_document, struct document_error *reterr)
{
    struct reader_fault fault = {0};
    int r = 0;

    if (stream->text.len > UINT32_MAX)
        return -E2BIG;
    r = next_document(stream, arena, ret_tree, ret_document, &fault);
    return r == -EBADMSG ? reader_refuse(stream->text, fault, reterr) : r;
}
