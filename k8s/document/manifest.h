/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_MANIFEST_H
#define K8S_DOCUMENT_MANIFEST_H

/*
 * manifest - the Kubernetes objects in the text of a file, as `kubectl apply -f` reads them
 * (gate-v1, sections 9 and 11).
 *
 * The text is YAML of one or several documents, or JSON documents that follow each other. Empty
 * documents are skipped. The items of a List (kind `List`, or a kind that ends in `List` with
 * `items`) are returned in its place; Lists can be nested. The API server leaves kind and
 * apiVersion out of the items of a typed list (`PodList`): such an item gets them from the list.
 *
 * Errors     0; -EBADMSG the text cannot be read, a document or an item is not an object, or a
 *            label or annotation is not text (reterr: line, column, reason; never a value); -E2BIG
 *            more than MANIFEST_MAX_NODES in a document, or a text of 4 GiB or more; -ENOMEM; -EIO.
 * Ownership  objects live in the given arena. The text is borrowed until the last call.
 * Units      bytes; lines and columns from 1.
 */

#include <cjson/cJSON.h>
#include <stddef.h>

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define MANIFEST_MAX_NODES 2000000u /* of one document */
#define MANIFEST_MAX_LIST_DEPTH 16  /* Lists inside each other */

struct manifest_object {
    const cJSON *tree; /* an object, with all its members */
    struct str text;   /* of the document that holds it */
    size_t line;       /* where it begins */
    size_t column;
};

struct manifest_level {
    const cJSON *list; /* the open List */
    const cJSON *item; /* its next item; NULL: none */
};

/* Made by manifest_make() only. */
struct manifest {
    struct document_stream stream;
    struct arena *arena;
    struct str document;
    struct document_cursor cursor;
    size_t depth;
    struct manifest_level levels[MANIFEST_MAX_LIST_DEPTH];
};

/* syntax: DOCUMENT_EITHER where the content of the file decides. */
struct manifest manifest_make(struct str text, enum document_syntax syntax, struct arena *arena);

/* The next object; its tree is NULL after the last one. */
int manifest_next(struct manifest *manifest, struct manifest_object *ret_object,
                  struct document_error *reterr) __attribute__((warn_unused_result, nonnull));

#endif
