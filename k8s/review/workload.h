/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REVIEW_WORKLOAD_H
#define K8S_REVIEW_WORKLOAD_H

/*
 * workload - the pod, or pod template, of an object, and the fields of it that the gate judges
 * (gate-v1, sections 1, 3 and 6).
 *
 * Errors     0 or -ENOMEM. A pod that cannot be judged is not an error: `usable` is false then.
 * Ownership  texts and nodes are borrowed from the object's tree, or live in the given arena.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/base/text.h"

enum workload_kind {
    WORKLOAD_NONE = 0, /* not judged */
    WORKLOAD_POD,
    WORKLOAD_POD_TEMPLATE,
    WORKLOAD_REPLICATION_CONTROLLER,
    WORKLOAD_REPLICA_SET,
    WORKLOAD_DEPLOYMENT,
    WORKLOAD_STATEFUL_SET,
    WORKLOAD_DAEMON_SET,
    WORKLOAD_JOB,
    WORKLOAD_CRON_JOB,
};

/* By group and kind; the version does not matter. */
enum workload_kind workload_kind_of(struct str group, struct str kind);

/* The four lists that hold images, in the order in which they are read. */
enum image_list {
    IMAGE_CONTAINERS = 0,
    IMAGE_INIT_CONTAINERS,
    IMAGE_EPHEMERAL_CONTAINERS,
    IMAGE_VOLUMES,
    IMAGE_LIST_COUNT
};

struct image_use {
    enum image_list list;
    size_t index;         /* in the list */
    struct str reference; /* absent: no image is given */
    struct str digest;    /* "sha256:<hex>" that the reference pins; absent: none */
};

/* One pod, or the innermost pod template of a controller. */
struct workload {
    enum workload_kind kind;
    const char *root; /* "" or "spec.template." or "spec.jobTemplate.spec.template." … */
    bool usable;      /* false: gate.review.unusable */
    const char *unusable_reason; /* static; the first reason; NULL where usable */
    const cJSON *pod; /* the object or template that holds metadata and spec; NULL: none */

    /* of controllers: what the spec of the template is, as far as it can be compared. A spec that
     * is absent, or null, has a value of its own. */
    bool spec_digest_given; /* false: there is no template, its spec has a wrong type, or the object
                             * was not read by review_read() */
    unsigned char spec_digest[DOCUMENT_DIGEST_BYTES];

    /* false: there is no pod, or a value on the way to them has a wrong type */
    bool annotations_readable;
    const cJSON *annotations; /* of the pod or template; NULL: none */
    bool carries_our_key;     /* whether one of annotations is the gate's */

    /* of controllers: the annotations of the object itself, not those of its template */
    bool own_readable;
    const cJSON *own_annotations; /* NULL for pods */
    bool own_managed;             /* one of them is the gate's, or they cannot be read */

    bool images_readable; /* the same for the four lists */
    struct image_use *images;
    size_t image_count;
    struct str service_account; /* `default` where it is not given */
    struct str runtime_class;   /* absent: none */
};

/* object: of that kind, or NULL where the request has none. */
int workload_read(enum workload_kind kind, const cJSON *object, struct arena *arena,
                  struct workload *ret_workload) __attribute__((warn_unused_result, nonnull(3, 4)));

/* Whether the specs of two templates, read by the same process, are equal as trees: keys in any
 * order, a number as it is written. False where one of them cannot be read, and for pods. */
bool workload_same_spec(const struct workload *a, const struct workload *b)
    __attribute__((nonnull));

/* Whether an annotation key has the gate's prefix; the case of ASCII letters is ignored. */
bool workload_is_our_key(struct str key);

/* The path of an image in its object, such as `spec.template.spec.initContainers[0].image`. */
int workload_image_place(const struct workload *workload, const struct image_use *use,
                         struct arena *arena, struct str *ret_place)
    __attribute__((warn_unused_result, nonnull));

/* The digest of a reference `<name>[:tag]@sha256:<64 hex>` (gate-v1, section 6). Absent where the
 * reference does not pin one. */
struct str image_pinned_digest(struct str reference);

#endif
