/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_FOLDER_FILE_H
#define K8S_FOLDER_FILE_H

/*
 * file - what one file of manifests gave; private to folder*.c.
 *
 * Errors     0; -EBADMSG the file is not readable as manifests (reterr: place and what); -ENOMEM;
 *            -EIO.
 */

#include "k8s/evidence/evidence.h"
#include "k8s/snapshot/snapshot.h"
#include "k8s/util/digest.h"
#include "k8s/util/refcount.h"

struct folder_object {
    bool is_namespace;         /* else a ConfigMap */
    struct str namespace_name; /* of a ConfigMap */
    struct str name;
    struct evidence *evidence;       /* owned: one count; NULL for what is no evidence */
    struct namespace_labels *labels; /* of a Namespace */
    size_t line;                     /* where it begins */
    size_t column;
};

/* Made once, then only counted and dropped: two loads may share one. */
struct folder_file {
    struct refcount count;
    char *name;
    bool readable;                      /* false: a last state that is kept */
    unsigned char digest[DIGEST_BYTES]; /* of its bytes, where it is readable */
    struct folder_file *base;           /* owned: one count; what a kept state borrows from */
    struct folder_object *objects;
    size_t object_count;
    struct arena arena; /* the file itself lies in it */
};

/* What evidence is judged by. */
struct folder_rules {
    const struct keyring *keyring;
    const struct policy *policy;
};

struct folder_error {
    size_t line;
    size_t column;
    const char *what; /* static */
};

int folder_file_read(const char *name, struct str bytes, const struct folder_rules *rules,
                     struct folder_file **ret_file, struct folder_error *reterr)
    __attribute__((warn_unused_result));

/*
 * The last state of a file that cannot be read now: as it was, without evidence that is signed by
 * a key that is no more; or without all that was evidence, where the rules changed.
 */
int folder_file_keep(struct folder_file *before, const struct keyring *keyring, bool rules_changed,
                     struct folder_file **ret_file) __attribute__((warn_unused_result));

void folder_file_unref(struct folder_file *file);

/* The order of objects: by kind, namespace and name. */
int folder_object_compare(const void *a, const void *b);

#endif
