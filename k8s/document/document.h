/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_DOCUMENT_H
#define K8S_DOCUMENT_DOCUMENT_H

/*
 * document - text from outside to a tree of cJSON nodes, in one strict pass (gate-v1, section 11;
 * hardening-v1, section Input).
 *
 * cJSON serves as plain structs: neither its parser nor its allocator is used. JSON is scanned by
 * json.c, YAML by yaml.c out of libyaml's events; both give the same tree. Only what a shape names
 * becomes nodes. The rest is checked just the same (syntax, UTF-8, depth, keys given twice) and
 * left behind.
 *
 * Errors     0, or negative errno; on failure no result is written.
 *              -EBADMSG  the text cannot be read; reterr says where and what, never a value
 *              -E2BIG    more nodes than asked for, or a text of 4 GiB or more
 *              -ENOMEM   out of memory, or the arena's limit
 *              -EIO      the system gave no random numbers (they guard against hash collisions)
 *            reterr is written on -EBADMSG only.
 * Ownership  nodes and their texts live in the given arena; the text may go.
 * Units      bytes; lines and columns from 1, columns in bytes. A byte order mark at a line's
 *            start is no column. Lines end with LF, CRLF or CR.
 * Threads    any number, each with its own arena.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

#define DOCUMENT_MAX_DEPTH 64      /* objects and lists inside each other, all together */
#define DOCUMENT_MAX_NODES 100000u /* of one document, where no other number is asked for */

/* The place is the first byte of what offends: the scalar, the second of two equal keys, the
 * anchor, the bracket of level 65, the second `---`. */
struct document_error {
    size_t line;
    size_t column;
    const char *what; /* static; holds `quote it` where that is the remedy */
};

enum document_syntax {
    DOCUMENT_JSON = 1,
    DOCUMENT_YAML,
    DOCUMENT_EITHER, /* JSON if it reads as strict JSON, else YAML, and then with YAML's error */
};

enum document_rules {
    /* Planner input, requirements, evidence, configuration: NUL is refused. In YAML a plain scalar
     * with two readings, anchors, aliases, merge keys, tags, directives and a second document
     * are refused. */
    DOCUMENT_OWN = 1,
    /* The same, but NUL reads as U+FFFD; keys that become equal by that are given twice. */
    DOCUMENT_REVIEW,
    /* As kubectl reads: several documents, a byte order mark before any of them, plain scalars by
     * YAML 1.1, anchors, aliases and merge keys within the limits. NUL reads as U+FFFD. */
    DOCUMENT_MANIFEST,
};

/*
 * Which members become nodes: a table for the members of an object, ended by {0}.
 *
 *   {.key = "spec", .members = spec}         an object, or list, that the table `spec` is for
 *   {.key = "labels", .whole = true}         with all that is in it
 *   {.key = "uid"}                           a scalar; an object or list becomes an empty one, so
 *                                            that its type is known
 *   {.key = "*", ...}                        every item of a list, every other member of an object
 *
 * The first row that fits counts. A list in the place of an object has no items then, and an object
 * in the place of a list the members that `*` fits.
 */
struct document_shape {
    const char *key;
    const struct document_shape *members;
    bool whole;
};

struct document_options {
    enum document_syntax syntax;
    enum document_rules rules;
    const struct document_shape *shape; /* of the root's members; NULL: everything. Not for
                                         * DOCUMENT_MANIFEST, where everything is kept. */
    size_t max_nodes;                   /* 0: DOCUMENT_MAX_NODES */
    /* Objects and lists that the shape leaves behind are not checked: only their quotes and
     * brackets are followed. For what a server wrote and others fill, in JSON. */
    bool rest_unchecked;
};

/* Every node of a tree is one of these; the cJSON pointer is its first member's. */
struct document_node {
    cJSON node;
    uint32_t key_offset; /* of its name in the text; 0 where it has none */
    uint32_t offset;     /* of its first byte in the text */
};

/* One document. In YAML a text without any is a null node. */
int document_read(struct str text, const struct document_options *options, struct arena *arena,
                  cJSON **ret_tree, struct document_error *reterr)
    __attribute__((warn_unused_result, nonnull));

/*
 * The documents of a text one after the other, with the rules DOCUMENT_MANIFEST: in YAML divided
 * by `---`, in JSON standing one behind the other. DOCUMENT_EITHER is JSON where the first
 * document is an object or list in strict JSON.
 */
struct document_stream {
    struct str text;
    struct document_options options;
    size_t offset; /* where the next document is looked for */
};

struct document_stream document_stream_make(struct str text, enum document_syntax syntax,
                                            size_t max_nodes);

/* *ret_tree is NULL when there is none any more; a YAML document without content is a null node.
 * *ret_document is its part of the text. After a failure the stream must not be asked again. */
int document_next(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                  struct str *ret_document, struct document_error *reterr)
    __attribute__((warn_unused_result, nonnull));

/* Where a node that was read from text stands, or its name. False for what has no such place. */
bool document_place(struct str text, const cJSON *node, bool of_key, size_t *ret_line,
                    size_t *ret_column) __attribute__((nonnull(4, 5)));

/* A place in a text, to find others behind it without counting from the start. {.line = 1} is the
 * beginning. */
struct document_cursor {
    size_t offset;
    size_t line;
    size_t line_begin; /* offset */
};

/* On, or back, to the byte at offset. Returns its column. */
size_t document_advance(struct document_cursor *cursor, struct str text, size_t offset)
    __attribute__((nonnull));

/* Line and column of the byte at offset. */
void document_locate(struct str text, size_t offset, size_t *ret_line, size_t *ret_column)
    __attribute__((nonnull(3, 4)));

#endif
