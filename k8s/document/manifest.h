/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_MANIFEST_H
#define K8S_DOCUMENT_MANIFEST_H

/*
 * manifest - the Kubernetes objects in a file's text, as `kubectl apply -f` takes them (gate-v1,
 * sections 9 and 11).
 *
 * YAML of one or several documents, or JSON documents one behind the other; empty documents are
 * skipped. A List (kind `List`, or one that ends in `List` and has `items`) is opened, lists in it
 * too; an item of a typed list (`PodList`) may leave kind and apiVersion out, as the API server
 * does: it gets them from the list.
 *
 * Errors     0; -EBADMSG the text cannot be read, a document or an item is no object, or a label
 *            or annotation is no text (reterr: line, column, what; never a value); -E2BIG more
 *            than MANIFEST_MAX_NODES in a document, or a text of 4 GiB; -ENOMEM; -EIO.
 * Ownership  objects live in the given arena. The text is borrowed until the last one is taken.
 * Units      bytes; lines and columns from 1.
 */

#include <cjson/cJSON.h>
#include <stddef.h>

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

#define MANIFEST_MAX_NODES 2000000u /* of one document */
#define MANIFEST_MAX_LIST_DEPTH 16  /* lists in lists */

struct manifest_object {
    const cJSON *tree; /* an object, with all its members */
    struct str text;   /* of the document that it stands in */
    size_t line;       /* where it begins */
    size_t column;
};

struct manifest_level {
    const cJSON *list; /* the opened List */
    const cJSON *item; /* the next of its items; NULL: none */
};

/* {.stream = ...} by manifest_make() only. */
struct manifest {
    struct document_stream stream;
    struct arena *arena;
    struct str document;
    struct document_cursor cursor;
    size_t depth;
    struct manifest_level levels[MANIFEST_MAX_LIST_DEPTH];
};

/* syntax: DOCUMENT_EITHER for files whose content decides. */
struct manifest manifest_make(struct str text, enum document_syntax syntax, struct arena *arena);

/* The next object; its tree is NULL when there is none any more. */
int manifest_next(struct manifest *manifest, struct manifest_object *ret_object,
                  struct document_error *reterr) __attribute__((warn_unused_result, nonnull));

#endif
