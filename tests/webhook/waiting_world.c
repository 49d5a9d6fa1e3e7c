/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_world - snapshots for tests of waiting requests. */
#include "waiting_world.h"

#include "k8s/document/document.h"
#include "thread_client.h"

static const cJSON *read_json(struct arena *arena, const char *json)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
    struct document_error error = {0};
    cJSON *tree = NULL;

    must(document_read(str_of(json), &options, arena, &tree, &error) == 0, "a document reads");
    return tree;
}

struct moment waiting_moment(const char *text)
{
    struct moment moment = {0};

    must(moment_read(str_of(text), &moment), text);
    return moment;
}

/* Requirements of acme/app@1.0.0 as if signed. The reference is never released. */
static const struct evidence *make_evidence(struct arena *arena)
{
    static const struct str images[] = {STR_INIT("sha256:" WAITING_HEX)}, keys[] = {STR_INIT("k1")};
    struct evidence *e = arena_alloc(arena, 1, sizeof(*e));

    must(e != NULL, "memory");
    *e = (struct evidence){.count = {1},
                           .namespace_name = STR("payments"),
                           .name = STR("app"),
                           .digest = STR("sha256:" WAITING_HEX),
                           .key_ids = {.items = keys, .count = 1},
                           .state = EVIDENCE_VALID,
                           .kind = EVIDENCE_REQUIREMENTS,
                           .images = {.items = images, .count = 1},
                           .skill_ref = STR("acme/app@1.0.0"),
                           .observed_at = waiting_moment("2026-02-28T12:00:00Z")};
    e->requirements = read_json(
        arena, "{\"source_ref\":\"git:acme/app@1\",\"source_digest\":\"sha256:" WAITING_HEX
               "\",\"observed_at\":\"2026-02-28T12:00:00Z\"}");
    return e;
}

struct snapshot *waiting_snapshot(struct arena *arena, bool with_namespace, bool with_evidence)
{
    const struct namespace_labels labels = {.name = STR("payments"),
                                            .labels = {.enforce = STR("annotated")}};
    const struct namespace_labels lenient = {
        .name = STR("trial"), .labels = {.enforce = STR("none"), .warn = STR("required")}};
    struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;

    must(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder) == 0, "a builder");
    if (with_namespace)
        must(snapshot_builder_add_namespace(builder, &labels) == 0 &&
                 snapshot_builder_add_namespace(builder, &lenient) == 0,
             "two namespaces");
    if (with_evidence)
        must(snapshot_builder_add_evidence(builder, make_evidence(arena)) == 0, "evidence");
    must(snapshot_builder_finish(builder, &snapshot) == 0, "a snapshot");
    return snapshot;
}
