/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_DOCUMENT_H
#define K8S_DOCUMENT_DOCUMENT_H

/*
 * document - reads JSON and YAML from outside into a tree of cJSON nodes, in one strict pass
 * (gate-v1, section 11; hardening-v1, section Input).
 *
 * cJSON is used for its struct only, not for its parser or its allocator. json.c reads JSON; yaml.c
 * reads YAML from the events of libyaml; both make the same tree. Only values that a shape names
 * become nodes. The others are skipped, but are checked in the same way: syntax, UTF-8, depth and
 * duplicate keys.
 *
 * Errors     0, or negative errno; on failure no result is written. -EBADMSG the text cannot be
 *            read; reterr has the place and the reason, never a value -E2BIG more nodes than
 *            allowed, or a text of 4 GiB or more -ENOMEM out of memory, or the arena's limit was
 *            reached -EIO the system gave no random numbers (they prevent chosen hash collisions)
 *            reterr is written on -EBADMSG only.
 * Ownership  nodes and their texts live in the given arena; they do not refer to the text. A name
 *            that a shape gives is the shape's own text, which must outlive the tree.
 * Units      bytes; lines and columns from 1, columns in bytes. A byte order mark at the start of a
 *            line does not count as a column. Lines end with LF, CRLF or CR.
 * Threads    any number, each with its own arena.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

#define DOCUMENT_DIGEST_BYTES 16
#define DOCUMENT_MAX_DEPTH 64            /* objects and lists inside each other */
#define DOCUMENT_MAX_NODES 100000u       /* of one document, unless the options say otherwise */
#define DOCUMENT_MAX_APART_NODES 250000u /* of the rows of its shape with `apart`; the same */

/* The place is the first byte of the offending part: the scalar, the second of two equal keys, the
 * anchor, the bracket of level 65, the second `---`. */
struct document_error {
    size_t line;
    size_t column;
    const char *what; /* static; contains `quote it` where that solves the problem */
};

enum document_syntax {
    DOCUMENT_JSON = 1,
    DOCUMENT_YAML,
    DOCUMENT_EITHER, /* JSON if the text is strict JSON, otherwise YAML; errors are those of YAML */
};

enum document_rules {
    /* Planner input, requirements, evidence, configuration: NUL is refused. In YAML, ambiguous
     * plain scalars, anchors, aliases, merge keys, tags, directives and a second document are
     * refused. */
    DOCUMENT_OWN = 1,
    /* The same, but NUL is read as U+FFFD. Keys that become equal by that are duplicates. */
    DOCUMENT_REVIEW,
    /* As kubectl reads: several documents, a byte order mark before each of them, plain scalars by
     * YAML 1.1, anchors, aliases and merge keys within limits. NUL is read as U+FFFD. */
    DOCUMENT_MANIFEST,
};

/*
 * Which members of an object become nodes: a table that ends with {0}.
 *
 *   {.key = "spec", .members = spec}         an object or list, with the members in the table
 * `spec`
 *   {.key = "labels", .whole = true}         a value with all its content
 *   {.key = "uid"}                           a scalar; an object or list becomes an empty node, so
 *                                            that its type is known
 *   {.key = "*", ...}                        every item of a list, every other member of an object
 *   {..., .digest = true}                    an object or list of which a digest is made as well
 *
 * The first row that matches counts. A list where the table is for an object has no items, unless
 * `*` matches; an object where it is for a list has the members that `*` matches. A text where the
 * table is for an object or list is kept without its content.
 */
struct document_shape {
    const char *key;
    const struct document_shape *members;
    bool whole;
    bool apart;  /* its nodes, and all nodes inside, count against max_apart_nodes only */
    bool digest; /* document_digest(); not inside of another such value */
};

struct document_options {
    enum document_syntax syntax;
    enum document_rules rules;
    const struct document_shape *shape; /* of the root's members; NULL: everything. Ignored by
                                         * DOCUMENT_MANIFEST, which keeps everything. */
    size_t max_nodes;                   /* 0: DOCUMENT_MAX_NODES */
    size_t max_apart_nodes;             /* 0: DOCUMENT_MAX_APART_NODES */
    /* In JSON, objects and lists that the shape skips are not checked (json_skip.h). For responses
     * of the API server, in which other parties fill parts that are not used. */
    bool rest_unchecked;
};

/* Every node of a tree is one of these; the cJSON pointer points to its first member. */
struct document_node {
    cJSON node;
    uint32_t key_offset; /* of its name in the text; 0: no name */
    uint32_t offset;     /* of its first byte in the text */
};

/* Reads one document. YAML without content is a null node. */
int document_read(struct str text, const struct document_options *options, struct arena *arena,
                  cJSON **ret_tree, struct document_error *reterr)
    __attribute__((warn_unused_result, nonnull));

/*
 * The digest of a value whose row asks for one. It covers the whole value, also what does not
 * become a node. Within one process, two values have equal digests if, and but for chance only if,
 * they are equal: keys in any order, items in the same order, texts as decoded (NUL is U+FFFD),
 * numbers as written. It is keyed: equal digests cannot be chosen. False where there is none.
 */
bool document_digest(const cJSON *node, unsigned char ret_digest[static DOCUMENT_DIGEST_BYTES]);

/*
 * The documents of a text, one after the other, with the rules DOCUMENT_MANIFEST. In YAML `---`
 * separates them, in JSON they follow each other. DOCUMENT_EITHER is JSON where the first document
 * is an object or list in strict JSON.
 */
struct document_stream {
    struct str text;
    struct document_options options;
    size_t offset; /* where the search for the next document starts */
};

struct document_stream document_stream_make(struct str text, enum document_syntax syntax,
                                            size_t max_nodes);

/* The next document; *ret_tree is NULL after the last one. A YAML document without content is a
 * null node. *ret_document is its part of the text. After a failure it must not be called again. */
int document_next(struct document_stream *stream, struct arena *arena, cJSON **ret_tree,
                  struct str *ret_document, struct document_error *reterr)
    __attribute__((warn_unused_result, nonnull));

/* The place of a node that was read from text, or of its name. False where it has none. */
bool document_place(struct str text, const cJSON *node, bool of_key, size_t *ret_line,
                    size_t *ret_column) __attribute__((nonnull(4, 5)));

/* A place in a text. Later places are found from it without counting lines from the start again.
 * {.line = 1} is the start of the text. */
struct document_cursor {
    size_t offset;
    size_t line;
    size_t line_begin; /* offset */
};

/* Moves the cursor, forward or back, to the byte at offset. Returns its column. */
size_t document_advance(struct document_cursor *cursor, struct str text, size_t offset)
    __attribute__((nonnull));

/* Line and column of the byte at offset. */
void document_locate(struct str text, size_t offset, size_t *ret_line, size_t *ret_column)
    __attribute__((nonnull(3, 4)));

#endif
