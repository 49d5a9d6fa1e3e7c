/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape - the members of a review that the gate reads; the others are checked and skipped.
 *
 * The kind can come after the object, so one shape serves all kinds. Values of variables, arguments
 * and commands are in none of the tables.
 */
#include "k8s/review/shape.h"

/* Rows that only the reading of the boundary needs. Their nodes are counted apart, so that a pod
 * with many variables, ports or mounts is not refused for its size. */
#define BOUNDARY(key_)                                                                             \
    {                                                                                              \
        .key = (key_), .apart = true                                                               \
    }
#define BOUNDARY_OF(key_, members_)                                                                \
    {                                                                                              \
        .key = (key_), .members = (members_), .apart = true                                        \
    }

static const struct document_shape any_scalar[] = {{.key = "*"}, {0}};

static const struct document_shape name_only[] = {{.key = "name"}, {0}};
static const struct document_shape names[] = {{.key = "*", .members = name_only}, {0}};

static const struct document_shape port[] = {{.key = "hostPort"}, {0}};
static const struct document_shape ports[] = {{.key = "*", .members = port}, {0}};

static const struct document_shape mount[] = {
    {.key = "name"}, {.key = "mountPath"}, {.key = "readOnly"}, {0}};
static const struct document_shape mounts[] = {{.key = "*", .members = mount}, {0}};

/* A probe, or an action of the life cycle. */
static const struct document_shape handler[] = {
    {.key = "httpGet"}, {.key = "tcpSocket"}, {.key = "grpc"}, {0}};
static const struct document_shape lifecycle[] = {
    {.key = "postStart", .members = handler}, {.key = "preStop", .members = handler}, {0}};

static const struct document_shape seccomp[] = {{.key = "type"}, {0}};
static const struct document_shape capabilities[] = {
    {.key = "add", .members = any_scalar}, {.key = "drop", .members = any_scalar}, {0}};
static const struct document_shape windows[] = {{.key = "hostProcess"}, {0}};

static const struct document_shape pod_security[] = {
    {.key = "seccompProfile", .members = seccomp},
    {.key = "runAsUser"},
    {.key = "runAsNonRoot"},
    {.key = "windowsOptions", .members = windows},
    {0},
};

static const struct document_shape security[] = {
    {.key = "readOnlyRootFilesystem"},
    {.key = "privileged"},
    {.key = "allowPrivilegeEscalation"},
    {.key = "runAsUser"},
    {.key = "runAsNonRoot"},
    {.key = "procMount"},
    {.key = "seccompProfile", .members = seccomp},
    {.key = "capabilities", .members = capabilities},
    {.key = "windowsOptions", .members = windows},
    {0},
};

static const struct document_shape limits[] = {{.key = "cpu"}, {.key = "memory"}, {0}};
static const struct document_shape resources[] = {{.key = "limits", .members = limits}, {0}};

static const struct document_shape container[] = {
    {.key = "image"},
    BOUNDARY("workingDir"),
    BOUNDARY_OF("env", names),
    BOUNDARY_OF("envFrom", any_scalar),
    BOUNDARY_OF("ports", ports),
    BOUNDARY_OF("volumeMounts", mounts),
    BOUNDARY_OF("volumeDevices", any_scalar),
    BOUNDARY_OF("livenessProbe", handler),
    BOUNDARY_OF("readinessProbe", handler),
    BOUNDARY_OF("startupProbe", handler),
    BOUNDARY_OF("lifecycle", lifecycle),
    BOUNDARY_OF("securityContext", security),
    BOUNDARY_OF("resources", resources),
    {0},
};
static const struct document_shape containers[] = {{.key = "*", .members = container}, {0}};

static const struct document_shape volume_image[] = {{.key = "reference"}, {0}};
static const struct document_shape projection[] = {
    {.key = "serviceAccountToken"}, {.key = "podCertificate"}, {0}};
static const struct document_shape projections[] = {{.key = "*", .members = projection}, {0}};
static const struct document_shape projected[] = {{.key = "sources", .members = projections}, {0}};
static const struct document_shape source[] = {{.key = "readOnly"}, {0}};

/* Every member but the name is a source. */
static const struct document_shape volume[] = {
    {.key = "image", .members = volume_image},
    BOUNDARY("name"),
    BOUNDARY_OF("projected", projected),
    BOUNDARY_OF("*", source),
    {0},
};
static const struct document_shape volumes[] = {{.key = "*", .members = volume}, {0}};

#define POD_SPEC                                                                                   \
    {.key = "containers", .members = containers},                                                  \
        {.key = "initContainers", .members = containers},                                          \
        {.key = "ephemeralContainers", .members = containers},                                     \
        {.key = "volumes", .members = volumes}, {.key = "serviceAccountName"},                     \
        {.key = "runtimeClassName"}, BOUNDARY("enableServiceLinks"), BOUNDARY("hostNetwork"),      \
        BOUNDARY("hostPID"), BOUNDARY("hostIPC"), BOUNDARY("shareProcessNamespace"),               \
        BOUNDARY("hostUsers"), BOUNDARY("automountServiceAccountToken"),                           \
        BOUNDARY_OF("securityContext", pod_security), BOUNDARY_OF("resources", resources)

static const struct document_shape pod_spec[] = {POD_SPEC, {0}};

static const struct document_shape metadata[] = {
    {.key = "name"},
    {.key = "generateName"},
    {.key = "annotations", .members = any_scalar},
    BOUNDARY_OF("labels", any_scalar),
    {0},
};

static const struct document_shape owner[] = {
    {.key = "kind"}, {.key = "name"}, {.key = "controller"}, {0}};
static const struct document_shape owners[] = {{.key = "*", .members = owner}, {0}};

static const struct document_shape object_metadata[] = {
    {.key = "name"},
    {.key = "generateName"},
    {.key = "annotations", .members = any_scalar},
    {.key = "ownerReferences", .members = owners},
    BOUNDARY_OF("labels", any_scalar),
    BOUNDARY("uid"),
    {0},
};

static const struct document_shape pod_template[] = {
    {.key = "metadata", .members = metadata},
    {.key = "spec", .members = pod_spec, .digest = true},
    {0},
};

static const struct document_shape job_spec[] = {{.key = "template", .members = pod_template}, {0}};
static const struct document_shape job_template[] = {{.key = "spec", .members = job_spec}, {0}};

static const struct document_shape object_spec[] = {
    POD_SPEC,
    {.key = "template", .members = pod_template},
    {.key = "jobTemplate", .members = job_template},
    {0},
};

static const struct document_shape object[] = {
    {.key = "metadata", .members = object_metadata},
    {.key = "spec", .members = object_spec},
    {.key = "template", .members = pod_template},
    {0},
};

static const struct document_shape kind[] = {
    {.key = "group"}, {.key = "version"}, {.key = "kind"}, {0}};

static const struct document_shape user_info[] = {
    {.key = "username"}, {.key = "groups", .members = any_scalar}, {0}};

static const struct document_shape request[] = {
    {.key = "uid"},
    {.key = "kind", .members = kind},
    {.key = "subResource"},
    {.key = "name"},
    {.key = "namespace"},
    {.key = "operation"},
    {.key = "userInfo", .members = user_info},
    {.key = "object", .members = object},
    {.key = "oldObject", .members = object},
    {.key = "dryRun"},
    {0},
};

const struct document_shape shape_review[] = {
    {.key = "apiVersion"}, {.key = "kind"}, {.key = "request", .members = request}, {0}};
