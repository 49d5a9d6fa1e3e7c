/* SPDX-License-Identifier: Apache-2.0 */
/* helper - snapshots, reviews and decisions as text, for tests of the gate. */
#include "helper.h"

#include <criterion/criterion.h>

#include "planner/base/buffer.h"
#include "planner/base/tree.h"

#define MAX_TEXT_BYTES ((size_t)1 << 20)

const cJSON *helper_json(struct arena *arena, struct str json)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = document_read(json, &options, arena, &tree, &error);

    cr_assert_eq(r, 0, "%zu:%zu: %s in %.*s", error.line, error.column, error.what, (int)json.len,
                 json.ptr);
    return tree;
}

static struct str_list list_of(struct arena *arena, const cJSON *node, bool *ret_named)
{
    struct str *items = arena_alloc(arena, (size_t)cJSON_GetArraySize(node) + 1, sizeof(*items));
    struct str_list list = {.items = items};
    const cJSON *entry = NULL;

    cr_assert_not_null(items);
    cJSON_ArrayForEach(entry, node)
    {
        items[list.count++] = tree_text(entry);
    }
    if (ret_named != NULL)
        *ret_named = node != NULL;
    return list;
}

static void read_requirements(struct arena *arena, const cJSON *document, struct evidence *e)
{
    const cJSON *workload = tree_get(document, "workload");

    (void)arena;
    e->skill_ref = tree_get_text(workload, "skill_ref");
    e->image_digest = tree_get_text(workload, "image_digest");
    e->class_text = tree_get_text(workload, "class");
    e->requirements = tree_get(document, "requirements");
    cr_assert(moment_read(tree_get_text(e->requirements, "observed_at"), &e->observed_at));
}

static void read_exemption(struct arena *arena, const cJSON *document, struct evidence *e)
{
    const cJSON *match = tree_get(document, "match");

    e->match.namespaces = list_of(arena, tree_get(match, "namespaces"), NULL);
    e->match.skill_refs = list_of(arena, tree_get(match, "skill_refs"), &e->match.skill_refs_named);
    e->match.image_digests =
        list_of(arena, tree_get(match, "image_digests"), &e->match.image_digests_named);
    e->match.users = list_of(arena, tree_get(match, "users"), &e->match.users_named);
    e->match.service_accounts =
        list_of(arena, tree_get(match, "service_accounts"), &e->match.service_accounts_named);
    e->findings = list_of(arena, tree_get(document, "findings"), &e->findings_named);
}

static enum evidence_kind kind_of(struct str text)
{
    for (int k = EVIDENCE_REQUIREMENTS; k < EVIDENCE_KIND_COUNT; k++) {
        if (str_equal(text, str_of(evidence_kind_text((enum evidence_kind)k))))
            return (enum evidence_kind)k;
    }
    return EVIDENCE_UNKNOWN;
}

static struct str digest_of(struct arena *arena, const char *json)
{
    uint64_t hash = 0;

    for (const char *c = json; *c != '\0'; c++)
        hash = hash * 31 + (unsigned char)*c;
    return arena_format(arena, "sha256:%064llx", (unsigned long long)hash);
}

/* As evidence_make() makes it, without a signature. The reference count of 1 is never released. */
static struct evidence *make_evidence(struct arena *arena, const struct helper_document *given)
{
    struct evidence *e = arena_alloc(arena, 1, sizeof(*e));
    const cJSON *document = helper_json(arena, str_of(given->json));
    static const struct str key_ids[] = {STR_INIT("k1"), STR_INIT("k2")};
    int days = 0;

    cr_assert_not_null(e);
    refcount_init(&e->count);
    e->namespace_name = str_of(given->namespace_name);
    e->name = str_of(given->name);
    e->kind = kind_of(tree_get_text(document, "kind"));
    e->reason = str_of(given->reason);
    e->state = given->reason != NULL ? EVIDENCE_INVALID
               : given->state != 0   ? given->state
                                     : EVIDENCE_VALID;
    if (e->state == EVIDENCE_INVALID)
        return e;
    e->digest = digest_of(arena, given->json);
    e->key_ids = (struct str_list){.items = key_ids, .count = 2};
    e->namespaces = list_of(arena, tree_get(document, "namespaces"), &e->namespaces_named);
    e->images = list_of(arena, tree_get(document, "images"), NULL);
    e->expires_at_text = tree_get_text(document, "expires_at");
    e->has_expires_at = moment_read(e->expires_at_text, &e->expires_at);
    e->baseline = tree_get(document, "baseline");
    if (plan_read_max_age(tree_get(document, "max_age_days"), &days))
        e->max_age_days = days;
    if (e->kind == EVIDENCE_REQUIREMENTS)
        read_requirements(arena, document, e);
    if (e->kind == EVIDENCE_EXEMPTION)
        read_exemption(arena, document, e);
    return e;
}

struct snapshot *helper_snapshot(struct arena *arena, const struct policy *policy,
                                 const struct helper_labels *namespaces,
                                 const struct helper_document *documents)
{
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;

    cr_assert_eq(snapshot_builder_new(policy, (struct snapshot_keep){0}, &builder), 0);
    for (; namespaces != NULL && namespaces->name != NULL; namespaces++) {
        const struct namespace_labels labels = {
            .name = str_of(namespaces->name),
            .labels = {.enforce = str_of(namespaces->enforce),
                       .warn = str_of(namespaces->warn),
                       .audit = str_of(namespaces->audit),
                       .boundary = str_of(namespaces->boundary)},
        };

        cr_assert_eq(snapshot_builder_add_namespace(builder, &labels), 0);
    }
    for (; documents != NULL && documents->name != NULL; documents++)
        cr_assert_eq(snapshot_builder_add_evidence(builder, make_evidence(arena, documents)), 0);
    cr_assert_eq(snapshot_builder_finish(builder, &snapshot), 0);
    return snapshot;
}

struct snapshot *helper_default_snapshot(struct arena *arena)
{
    static const struct helper_labels namespaces[] = {
        {.name = "payments", .enforce = "required"},
        {.name = "scratch", .enforce = "annotated"},
        {0},
    };
    static const struct helper_document documents[] = {
        {.namespace_name = "sandgate-system",
         .name = "app",
         .json = "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"acme/app@1.0.0\","
                 "\"class\":\"batch\"},\"requirements\":{" HELPER_REQUIREMENTS
                 ",\"writable_paths\":[\"tmp\"],\"env_allowlist\":[\"A\",\"B\"]},"
                 "\"images\":[\"sha256:" HELPER_HEX_A "\"]}"},
        {.namespace_name = "sandgate-system",
         .name = "baseline",
         .json = "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"network_allowed\":false},"
                 "\"images\":[\"sha256:" HELPER_HEX_B "\"]}"},
        {0},
    };
    const struct policy policy = policy_defaults();

    return helper_snapshot(arena, &policy, namespaces, documents);
}

static const char *or_else(const char *given, const char *standard)
{
    return given != NULL ? given : standard;
}

struct str helper_review_text(struct arena *arena, const struct helper_review *r)
{
    struct str text = arena_format(
        arena,
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
        "\"uid\":\"u-1\",\"kind\":{\"group\":\"%s\",\"version\":\"v1\",\"kind\":\"%s\"},"
        "\"subResource\":\"%s\",\"name\":\"%s\",\"namespace\":\"%s\",\"operation\":\"%s\","
        "\"userInfo\":{\"username\":\"%s\",\"groups\":%s},\"object\":%s,\"oldObject\":%s}}",
        or_else(r->group, ""), or_else(r->kind, "Pod"), or_else(r->subresource, ""),
        or_else(r->name, "p"), or_else(r->namespace_name, "payments"),
        or_else(r->operation, r->old != NULL ? "UPDATE" : "CREATE"), or_else(r->user, "dev"),
        or_else(r->groups, "[]"), or_else(r->object, "null"), or_else(r->old, "null"));

    cr_assert(str_present(text));
    return text;
}

struct moment helper_moment(const char *text)
{
    struct moment moment = {0};

    cr_assert(moment_read(str_of(text), &moment));
    return moment;
}

struct exchange helper_exchange(struct arena *arena, const struct snapshot *snapshot,
                                const struct helper_review *review)
{
    struct exchange exchange = {0};

    exchange_review(helper_review_text(arena, review), DOCUMENT_JSON, ANSWER_JSON, snapshot,
                    helper_moment(HELPER_NOW), arena, &exchange);
    cr_assert_eq(exchange.status, 200, "%.*s", (int)exchange.body.len, exchange.body.ptr);
    cr_assert(exchange.decided);
    return exchange;
}

static void add_head(struct buffer *out, const struct decision *decision)
{
    buffer_add(out, decision->allowed ? STR("allowed ") : STR("denied "));
    buffer_add(out, str_of(gate_outcome_text(decision->outcome)));
}

struct str helper_summary(struct arena *arena, const struct decision *decision)
{
    struct buffer out = buffer_make(arena, MAX_TEXT_BYTES);

    add_head(&out, decision);
    for (size_t i = 0; i < decision->finding_count; i++) {
        const struct gate_finding *f = &decision->findings[i];

        buffer_add_format(&out, "\n%s|", gate_code_text(f->code));
        buffer_add(&out, f->place);
        buffer_add_char(&out, '|');
        buffer_add(&out, f->message);
    }
    return buffer_text(&out);
}

struct str helper_codes(struct arena *arena, const struct decision *decision)
{
    struct buffer out = buffer_make(arena, MAX_TEXT_BYTES);

    add_head(&out, decision);
    for (size_t i = 0; i < decision->finding_count; i++) {
        buffer_add_format(&out, " %s", gate_code_text(decision->findings[i].code));
        if (str_present(decision->findings[i].place)) {
            buffer_add_char(&out, '|');
            buffer_add(&out, decision->findings[i].place);
        }
    }
    for (size_t i = 0; i < decision->plan.finding_count; i++)
        buffer_add_format(&out, " %s", plan_code_text(decision->plan.findings[i].code));
    return buffer_text(&out);
}

struct str helper_annotation(struct arena *arena, const struct exchange *exchange, const char *key)
{
    const cJSON *response = tree_get(helper_json(arena, exchange->body), "response");

    return tree_get_text(tree_get(response, "auditAnnotations"), key);
}
