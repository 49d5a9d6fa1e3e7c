/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REVIEW_WORKLOAD_H
#define K8S_REVIEW_WORKLOAD_H

/*
 * workload - where a pod stands inside an object, and what of it the gate reads
 * (gate-v1, sections 1, 3 and 6).
 *
 * Ownership  borrowed from the object's tree, or in the given arena.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"

enum workload_kind {
    WORKLOAD_NONE = 0, /* a kind that is not judged */
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

/* By group and kind, whatever the version. */
enum workload_kind workload_kind_of(struct str group, struct str kind);

/* The four lists that hold images; in this order they are walked. */
enum image_list {
    IMAGE_CONTAINERS = 0,
    IMAGE_INIT_CONTAINERS,
    IMAGE_EPHEMERAL_CONTAINERS,
    IMAGE_VOLUMES,
    IMAGE_LIST_COUNT
};

struct image_use {
    enum image_list list;
    size_t index;         /* in its list */
    struct str reference; /* absent where no image is given */
    struct str digest;    /* "sha256:<hex>" where the reference pins, else absent */
};

/* One pod, or the innermost pod template of a controller. */
struct workload {
    enum workload_kind kind;
    const char *root; /* "" or "spec.template." or "spec.jobTemplate.spec.template." … */
    bool usable;      /* false: gate.review.unusable; unusable_reason says why */
    const char *unusable_reason; /* static, the first one */

    /* false where there is no pod at all, or a wrong type stands in the way */
    bool annotations_readable;
    const cJSON *annotations; /* of the pod or template; NULL where there are none */
    bool carries_our_key;     /* among annotations */

    /* controllers: what stands on the object itself and not on its template */
    bool own_readable;
    const cJSON *own_annotations; /* NULL for pods */
    bool own_managed;             /* a key of ours is among them, or they cannot be read */

    bool images_readable; /* as annotations_readable, for the four lists */
    struct image_use *images;
    size_t image_count;
    struct str service_account; /* `default` where none is given */
    struct str runtime_class;   /* absent where none */
};

/* 0 or -ENOMEM. A pod that cannot be used is no error: usable is false. object may be NULL. */
int workload_read(enum workload_kind kind, const cJSON *object, struct arena *arena,
                  struct workload *ret_workload) __attribute__((warn_unused_result, nonnull(3, 4)));

/* An annotation key under our prefix, compared without regard to ASCII case. */
bool workload_is_our_key(struct str key);

/* `spec.initContainers[0].image`, with the root in front. */
int workload_image_place(const struct workload *workload, const struct image_use *use,
                         struct arena *arena, struct str *ret_place)
    __attribute__((warn_unused_result, nonnull));

/* Section 6: `<name>[:tag]@sha256:<64 hex>` by the registries' grammar. Absent if it does not pin.
 */
struct str image_pinned_digest(struct str reference);

#endif
