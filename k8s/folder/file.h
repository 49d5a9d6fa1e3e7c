/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_FOLDER_FILE_H
#define K8S_FOLDER_FILE_H

/*
 * file - the objects of one file of manifests; for the files of this directory only.
 *
 * Errors     0; -EBADMSG the file cannot be read as manifests (reterr: place and cause); -ENOMEM;
 *            -EIO the crypto library failed.
 */

#include "k8s/evidence/evidence.h"
#include "k8s/network_policy/network_policy.h"
#include "k8s/snapshot/snapshot.h"
#include "k8s/util/digest.h"
#include "k8s/util/refcount.h"

enum folder_kind { FOLDER_CONFIG_MAP = 1, FOLDER_NAMESPACE, FOLDER_NETWORK_POLICY };

struct folder_object {
    enum folder_kind kind;
    struct str namespace_name; /* of a Namespace: absent */
    struct str name;
    struct evidence *evidence;             /* owned: one reference; NULL if it is not evidence */
    struct namespace_labels *labels;       /* of a Namespace */
    struct network_policy *network_policy; /* owned: one reference; of a NetworkPolicy */
    size_t line;                           /* of its beginning in the file */
    size_t column;
};

/* Immutable and reference-counted: two loads can share one. */
struct folder_file {
    struct refcount count;
    char *name;
    bool readable; /* false: this is the last state of a file that cannot be read now */
    unsigned char digest[DIGEST_BYTES]; /* of its bytes, if it is readable */
    struct folder_file *base; /* owned: one reference; a kept state borrows texts from it */
    struct folder_object *objects;
    size_t object_count;
    struct arena arena; /* this struct is stored in it too */
};

/* What evidence is verified with. */
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
 * The last state of a file that cannot be read now. Its evidence is replaced by an invalid record
 * if the keyring lacks one of the keys that signed it, or if the rules changed.
 */
int folder_file_keep(struct folder_file *before, const struct keyring *keyring, bool rules_changed,
                     struct folder_file **ret_file) __attribute__((warn_unused_result));

/* Drops one reference; NULL is allowed. */
void folder_file_unref(struct folder_file *file);

/* The order of objects: by kind, namespace and name. */
int folder_object_compare(const void *a, const void *b);

#endif
