/* SPDX-License-Identifier: Apache-2.0 */
/* test_cost - one more value, in any part of the request or of the evidence, costs a decision the
 * same whether there are few values or many. Each part is tested alone and together with each
 * other part: from the body of the request to the response and the line of the decision log. */

#include <criterion/criterion.h>

#include "helper.h"
#include "planner/base/buffer.h"
#include "tests/webhook/cost.h"
#include "webhook/record/record.h"

/* The costs of few values are compared with those of four times as many. */
#define FEW_ALONE 512
#define FEW_TOGETHER 128 /* of each of two kinds; there are many pairs */
#define MANY(few) (4 * (few))
/* How much more each of the other values may cost than each of the first few. Sorting alone takes
 * 1.38, for its logarithm. It is up to 5 where every value is compared with every other. */
#define MAX_GROWTH 1.4

#define MAX_TEXT_BYTES ((size_t)1 << 24)
#define MAX_DOCUMENTS (MANY(FEW_ALONE) + 16)

/* Where a dimension puts its values. */
enum part {
    PART_CONTAINERS = 0,
    PART_INIT_CONTAINERS,
    PART_EPHEMERAL_CONTAINERS,
    PART_VOLUMES,
    PART_ANNOTATIONS,
    PART_REQUIREMENTS, /* the text of the annotation */
    PART_MANAGED_FIELDS,
    PART_OWNERS,
    PART_GROUPS,
    PART_NAME,
    PART_USER,
    PART_CLASS,
    PART_REFERENCE, /* an image reference */
    PART_IMAGES,    /* of the evidence in use, and of an expired document */
    PART_NAMESPACES,
    PART_BASELINE_IMAGES,
    PART_EXEMPTION_NAMESPACES,
    PART_EXEMPTION_USERS,
    PART_EXEMPTION_FINDINGS,
    PART_LIST_COUNT,
    PART_DOCUMENTS = PART_LIST_COUNT, /* one document each */
    PART_LABELS,                      /* one Namespace each */
};

/* In an item, `#` is replaced by the number of the value, `$` by the same with 63 digits. */
struct dimension {
    const char *name;
    enum part part;
    const char *item;
    const char *before;      /* the first one */
    const char *after;       /* the last one */
    bool text;               /* no commas between the items */
    const char *document_in; /* PART_DOCUMENTS: the namespace */
    const char *reason;      /* PART_DOCUMENTS: it is invalid */
};

#define REQUIREMENTS_OF(skill, more)                                                               \
    "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"" skill "\"},"                \
    "\"requirements\":{" HELPER_REQUIREMENTS "}," more "}"
#define EXPIRED "\"expires_at\":\"2026-02-28T13:00:00Z\""
/* Than the document that every world has for the same workload. */
#define OLDER                                                                                      \
    "{\"kind\":\"SandboxRequirements\",\"workload\":{\"skill_ref\":\"acme/app@1.0.0\"},"           \
    "\"requirements\":{\"source_ref\":\"git:acme/app@1\",\"source_digest\":\"sha256:" HELPER_HEX_C \
    "\",\"observed_at\":\"2026-02-28T11:00:00Z\"},\"images\":[\"sha256:0$\"]}"
#define APP "acme/app@1.0.0"
#define OLD "acme/old@1.0.0"

/* Rows of the table: members of a list or map, a list with what stands around it, pieces of a
 * text, documents. */
#define LIST(name_, part_, before_, item_, after_)                                                 \
    {                                                                                              \
        .name = (name_), .part = (part_), .before = (before_), .item = (item_), .after = (after_)  \
    }
#define ITEMS(name_, part_, item_) LIST(name_, part_, NULL, item_, NULL)
#define TEXT(name_, part_, before_, item_)                                                         \
    {                                                                                              \
        .name = (name_), .part = (part_), .before = (before_), .item = (item_), .text = true       \
    }
#define DOCUMENTS(name_, in_, reason_, json_)                                                      \
    {                                                                                              \
        .name = (name_), .part = PART_DOCUMENTS, .document_in = (in_), .reason = (reason_),        \
        .item = (json_)                                                                            \
    }

static const struct dimension dimensions[] = {
    ITEMS("unpinned images", PART_CONTAINERS, "{\"image\":\"registry.example.test/a#\"}"),
    ITEMS("foreign images", PART_CONTAINERS, "{\"image\":\"a#@sha256:f$\"}"),
    ITEMS("listed images", PART_CONTAINERS, "{\"image\":\"a#@sha256:0$\"}"),
    ITEMS("containers without image", PART_CONTAINERS, "{\"name\":\"c#\"}"),
    ITEMS("init containers", PART_INIT_CONTAINERS, "{\"image\":\"a#\"}"),
    ITEMS("ephemeral containers", PART_EPHEMERAL_CONTAINERS, "{\"image\":\"a#@sha256:f$\"}"),
    ITEMS("image volumes", PART_VOLUMES, "{\"image\":{\"reference\":\"a#@sha256:0$\"}}"),
    ITEMS("other volumes", PART_VOLUMES, "{\"name\":\"v#\"}"),
    ITEMS("own containers", PART_CONTAINERS,
          "{\"image\":\"a@sha256:" HELPER_HEX_A "\",\"env\":[{\"name\":\"N#\"}],"
          "\"volumeMounts\":[{\"name\":\"v#\",\"mountPath\":\"/p#\"}],"
          "\"securityContext\":{\"capabilities\":{\"add\":[\"C#\"]}}}"),
    LIST("variables", PART_CONTAINERS, "{\"image\":\"a@sha256:" HELPER_HEX_A "\",\"env\":[",
         "{\"name\":\"N#\"}", "]}"),
    LIST("mounts", PART_CONTAINERS, "{\"image\":\"a@sha256:" HELPER_HEX_A "\",\"volumeMounts\":[",
         "{\"name\":\"v#\",\"mountPath\":\"/a/p#/b\"}", "]}"),
    {.name = "mount path",
     .part = PART_CONTAINERS,
     .before = "{\"image\":\"a@sha256:" HELPER_HEX_A "\",\"volumeMounts\":[{\"mountPath\":\"",
     .item = "/a-#",
     .after = "\"}]}",
     .text = true},
    LIST("ports", PART_CONTAINERS, "{\"image\":\"a@sha256:" HELPER_HEX_A "\",\"ports\":[",
         "{\"hostPort\":#}", "]}"),
    LIST("capabilities", PART_CONTAINERS,
         "{\"image\":\"a#\",\"securityContext\":{\"capabilities\":{\"add\":[", "\"C#\"", "]}}}"),
    ITEMS("unknown annotations", PART_ANNOTATIONS, "\"sandbox.runx.dev/skill-rf#\":\"v\""),
    ITEMS("foreign annotations", PART_ANNOTATIONS, "\"example.test/key-#\":\"v\""),
    TEXT("unknown requirements", PART_REQUIREMENTS, "", "odd#: 1\\n"),
    TEXT("names", PART_REQUIREMENTS, "env_allowlist:\\n", "- N#\\n"),
    TEXT("paths", PART_REQUIREMENTS, "writable_paths:\\n", "- a/../p#\\n"),
    LIST("names in brackets", PART_REQUIREMENTS, "env_allowlist: [", "N#", "]"),
    LIST("requirements in JSON", PART_REQUIREMENTS, "{", "\\\"odd#\\\":{}", "}"),
    TEXT("source_ref", PART_REQUIREMENTS, "source_ref: ", "a://"),
    ITEMS("managed fields", PART_MANAGED_FIELDS, "{\"f:k#\":{}}"),
    ITEMS("owners", PART_OWNERS, "{\"kind\":\"Job\",\"name\":\"o#\",\"controller\":false}"),
    ITEMS("groups", PART_GROUPS, "\"group-#\""),
    TEXT("name", PART_NAME, "", "name"),
    TEXT("user", PART_USER, "", "user"),
    TEXT("class", PART_CLASS, "", "class"),
    TEXT("image reference", PART_REFERENCE, "", "a/b-c"),
    ITEMS("images of the evidence", PART_IMAGES, "\"sha256:0$\""),
    ITEMS("namespaces of the evidence", PART_NAMESPACES, "\"namespace-#\""),
    ITEMS("images of a baseline", PART_BASELINE_IMAGES, "\"sha256:1$\""),
    ITEMS("namespaces of an exemption", PART_EXEMPTION_NAMESPACES, "\"namespace-#*\""),
    ITEMS("users of an exemption", PART_EXEMPTION_USERS, "\"user-#*\""),
    ITEMS("findings of an exemption", PART_EXEMPTION_FINDINGS, "\"gate.finding.f#\""),
    DOCUMENTS("older documents", "payments", NULL, OLDER),
    DOCUMENTS("expired documents", "payments", NULL,
              REQUIREMENTS_OF(OLD, "\"images\":[\"sha256:0$\"]," EXPIRED)),
    DOCUMENTS("documents for other namespaces", "sandgate-system", NULL,
              REQUIREMENTS_OF(OLD, "\"namespaces\":[\"n#\"]")),
    DOCUMENTS("documents of other workloads", "payments", NULL,
              REQUIREMENTS_OF("acme/a#@1", "\"images\":[]")),
    DOCUMENTS("invalid documents", "payments", "no key", "{}"),
    DOCUMENTS("baselines", "payments", NULL,
              "{\"kind\":\"SandboxBaseline\",\"baseline\":{\"allowed_env\":[\"A\",\"B#\"]},"
              "\"images\":[\"sha256:2$\"],\"max_age_days\":7}"),
    DOCUMENTS("broken baselines", "payments", "no key", "{\"kind\":\"SandboxBaseline\"}"),
    DOCUMENTS("exemptions", "sandgate-system", NULL,
              "{\"kind\":\"SandboxExemption\",\"match\":{\"namespaces\":[\"pay*\"]},"
              "\"expires_at\":\"2027-01-01T00:00:00Z\",\"findings\":[\"gate.f#\"]}"),
    ITEMS("namespaces", PART_LABELS, "namespace-#"),
};

#define DIMENSION_COUNT (sizeof(dimensions) / sizeof(dimensions[0]))

/* How a world is reviewed. */
struct variant {
    const char *name;
    const char *skill;
    const char *kind;
    bool update;
    bool image_changes; /* an image of oldObject is another one */
    enum document_syntax syntax;
    enum answer_format format;
};

static const struct variant variants[] = {
    {.name = "evidence in use", .skill = APP, .kind = "Pod", .syntax = DOCUMENT_JSON},
    {.name = "expired evidence",
     .skill = OLD,
     .kind = "Pod",
     .syntax = DOCUMENT_JSON,
     .format = ANSWER_YAML},
    {.name = "unchanged", .skill = APP, .kind = "Pod", .update = true, .syntax = DOCUMENT_JSON},
    {.name = "changed",
     .skill = OLD,
     .kind = "Deployment",
     .update = true,
     .image_changes = true,
     .syntax = DOCUMENT_JSON},
    {.name = "YAML", .skill = APP, .kind = "Pod", .syntax = DOCUMENT_YAML},
};

#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))

struct world {
    struct arena arena;
    struct buffer parts[PART_LIST_COUNT];
    struct helper_document documents[MAX_DOCUMENTS];
    size_t document_count;
    struct helper_labels labels[MAX_DOCUMENTS];
    size_t label_count;
};

static void add_item(struct buffer *b, const char *item, size_t number)
{
    for (; *item != '\0'; item++) {
        if (*item == '#')
            buffer_add_format(b, "%zu", number);
        else if (*item == '$')
            buffer_add_format(b, "%063zu", number);
        else
            buffer_add_char(b, *item);
    }
}

static const char *text_of(struct buffer *b)
{
    struct str text = buffer_text(b);

    cr_assert(str_present(text));
    return text.ptr;
}

static const char *make_item(struct world *w, const char *item, size_t number)
{
    struct buffer b = buffer_make(&w->arena, MAX_TEXT_BYTES);

    add_item(&b, item, number);
    return text_of(&b);
}

/* Of `count` values. */
static void add_value(struct world *w, const struct dimension *d, size_t number, size_t count)
{
    if (d->part == PART_DOCUMENTS) {
        cr_assert_lt(w->document_count + 1, MAX_DOCUMENTS);
        w->documents[w->document_count++] = (struct helper_document){
            .namespace_name = d->document_in,
            .name = arena_format(&w->arena, "d%td-%zu", d - dimensions, number).ptr,
            .json = make_item(w, d->item, number),
            .reason = d->reason,
        };
    } else if (d->part == PART_LABELS) {
        w->labels[w->label_count++] =
            (struct helper_labels){.name = make_item(w, d->item, number), .enforce = "annotated"};
    } else {
        struct buffer *b = &w->parts[d->part];

        if (b->len > 0 && (!d->text || (number == 0 && d->part <= PART_VOLUMES)))
            buffer_add_char(b, ',');
        if (number == 0 && d->before != NULL)
            buffer_add(b, str_of(d->before));
        add_item(b, d->item, number);
        if (number + 1 == count && d->after != NULL)
            buffer_add(b, str_of(d->after));
    }
}

/* The items of a list, and the one that matches behind them: the whole list is searched. */
static const char *list_with(struct world *w, enum part part, const char *last)
{
    struct buffer *b = &w->parts[part];

    if (b->len > 0)
        buffer_add_char(b, ',');
    buffer_add(b, str_of(last));
    return text_of(b);
}

/* The documents that every world has; they hold the lists of evidence. */
static void add_fixed(struct world *w)
{
    const char *images = text_of(&w->parts[PART_IMAGES]);
    const struct helper_document fixed[] = {
        {.name = "app",
         .json =
             arena_format(&w->arena, REQUIREMENTS_OF(APP, "\"images\":[%s],\"namespaces\":[%s]"),
                          images, list_with(w, PART_NAMESPACES, "\"payments\""))
                 .ptr},
        {.name = "old",
         .json =
             arena_format(&w->arena, REQUIREMENTS_OF(OLD, "\"images\":[%s]," EXPIRED), images).ptr},
        {.name = "baseline",
         .json = arena_format(&w->arena,
                              "{\"kind\":\"SandboxBaseline\",\"baseline\":{},\"images\":[%s]}",
                              text_of(&w->parts[PART_BASELINE_IMAGES]))
                     .ptr},
        {.name = "exemption",
         .json = arena_format(&w->arena,
                              "{\"kind\":\"SandboxExemption\",\"match\":{\"namespaces\":[%s],"
                              "\"users\":[%s]},\"expires_at\":\"2027-01-01T00:00:00Z\","
                              "\"findings\":[%s]}",
                              list_with(w, PART_EXEMPTION_NAMESPACES, "\"payments\""),
                              list_with(w, PART_EXEMPTION_USERS, "\"dev*\""),
                              text_of(&w->parts[PART_EXEMPTION_FINDINGS]))
                     .ptr},
    };

    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        w->documents[w->document_count] = fixed[i];
        w->documents[w->document_count++].namespace_name = "sandgate-system";
    }
    w->labels[w->label_count++] = (struct helper_labels){.name = "payments",
                                                         .enforce = "required",
                                                         .warn = "required",
                                                         .audit = "required",
                                                         .boundary = "block"};
}

static void add_member(struct buffer *b, const char *before, struct world *w, enum part part,
                       const char *after)
{
    buffer_add(b, str_of(before));
    buffer_add(b, buffer_text(&w->parts[part]));
    buffer_add(b, str_of(after));
}

/* The object under review. image: of the last container. */
static const char *object_of(struct world *w, const struct variant *v, const char *image)
{
    bool wrapped = strcmp(v->kind, "Pod") != 0;
    struct buffer b = buffer_make(&w->arena, MAX_TEXT_BYTES);

    buffer_add(&b, wrapped ? STR("{\"spec\":{\"template\":") : STR(""));
    buffer_add_format(&b, "{\"metadata\":{\"annotations\":{\"sandbox.runx.dev/skill-ref\":\"%s\"",
                      v->skill);
    add_member(&b, ",\"sandbox.runx.dev/class\":\"", w, PART_CLASS, "\"");
    add_member(&b, ",\"sandbox.runx.dev/requirements\":\"", w, PART_REQUIREMENTS, "\"");
    add_member(&b, w->parts[PART_ANNOTATIONS].len > 0 ? "," : "", w, PART_ANNOTATIONS, "}");
    add_member(&b, ",\"managedFields\":[", w, PART_MANAGED_FIELDS, "]");
    add_member(&b, ",\"ownerReferences\":[", w, PART_OWNERS, "]}");
    add_member(&b, ",\"spec\":{\"initContainers\":[", w, PART_INIT_CONTAINERS, "]");
    add_member(&b, ",\"ephemeralContainers\":[", w, PART_EPHEMERAL_CONTAINERS, "]");
    add_member(&b, ",\"volumes\":[", w, PART_VOLUMES, "]");
    add_member(&b, ",\"containers\":[{\"image\":\"a/", w, PART_REFERENCE, "\"},");
    add_member(&b, "", w, PART_CONTAINERS, w->parts[PART_CONTAINERS].len > 0 ? "," : "");
    buffer_add_format(&b, "{\"image\":\"%s\"}]}}%s", image, wrapped ? "}}" : "");
    return text_of(&b);
}

static struct str review_of(struct world *w, const struct variant *v)
{
    struct buffer groups = buffer_make(&w->arena, MAX_TEXT_BYTES);
    struct helper_review review = {
        .kind = v->kind,
        .group = strcmp(v->kind, "Pod") == 0 ? "" : "apps",
        .name = text_of(&w->parts[PART_NAME]),
        .user = arena_format(&w->arena, "dev%s", text_of(&w->parts[PART_USER])).ptr,
        .object = object_of(w, v, "last"),
    };

    add_member(&groups, "[", w, PART_GROUPS, "]");
    review.groups = text_of(&groups);
    if (v->update)
        review.old = object_of(w, v, v->image_changes ? "other" : "last");
    return helper_review_text(&w->arena, &review);
}

static uint64_t cost_of_review(const struct snapshot *snapshot, struct str body,
                               const struct variant *v)
{
    cleanup_arena struct arena arena = {0};
    const struct moment now = helper_moment(HELPER_NOW);
    struct exchange e = {0};
    struct record_circumstances circumstances = {.now = now};
    struct str line = {0};
    uint64_t cost = 0;

    cost_start();
    exchange_review(body, v->syntax, v->format, snapshot, now, &arena, &e);
    circumstances.response = e.response;
    cr_assert_eq(e.status, 200, "%.*s", (int)e.body.len, e.body.ptr);
    cr_assert_eq(record_write(&e.decision, &e.review, &circumstances, &arena, &line), 0);
    cost = cost_stop();
    return cost;
}

/* The cost with `count` values of each of two dimensions, or of one where both are the same. */
static uint64_t cost_with(const struct dimension *a, const struct dimension *b, size_t count,
                          const struct variant *v)
{
    static struct world world;
    struct policy policy = policy_defaults();
    struct snapshot *snapshot = NULL;
    struct str body = {0};
    uint64_t cost = 0;

    memset(&world, 0, sizeof(world));
    policy.controllers = CONTROLLERS_ENFORCE;
    for (size_t i = 0; i < PART_LIST_COUNT; i++)
        world.parts[i] = buffer_make(&world.arena, MAX_TEXT_BYTES);
    for (size_t i = 0; i < count; i++)
        add_value(&world, a, i, count);
    for (size_t i = 0; a != b && i < count; i++)
        add_value(&world, b, i, count);
    add_fixed(&world);
    body = review_of(&world, v);
    snapshot = helper_snapshot(&world.arena, &policy, world.labels, world.documents);
    cost = cost_of_review(snapshot, body, v);
    snapshot_unref(snapshot);
    arena_release(&world.arena);
    return cost;
}

/* Compares the first few values with the others up to MANY(few). */
static void check_growth(const struct dimension *a, const struct dimension *b,
                         const struct variant *v, size_t few)
{
    double cost_of_none = (double)cost_with(a, b, 0, v);
    double cost_of_few = (double)cost_with(a, b, few, v);
    double cost_of_many = (double)cost_with(a, b, MANY(few), v);
    double first = (cost_of_few - cost_of_none) / (double)few;
    double others = (cost_of_many - cost_of_few) / (double)(MANY(few) - few);

    cr_expect_leq(others, first * MAX_GROWTH + 1,
                  "%s and %s, %s: %.0f for each of the first %zu, %.0f for each of the others",
                  a->name, b->name, v->name, first, few, others);
}

Test(cost, one_kind_of_value)
{
    for (size_t v = 0; v < VARIANT_COUNT; v++) {
        for (size_t i = 0; i < DIMENSION_COUNT; i++)
            check_growth(&dimensions[i], &dimensions[i], &variants[v], FEW_ALONE);
    }
}

static void check_pairs(const struct variant *v)
{
    for (size_t i = 0; i < DIMENSION_COUNT; i++) {
        for (size_t k = i + 1; k < DIMENSION_COUNT; k++)
            check_growth(&dimensions[i], &dimensions[k], v, FEW_TOGETHER);
    }
}

/* Two tests, so that they run beside each other. */
Test(cost, two_kinds_of_values_with_evidence)
{
    check_pairs(&variants[0]);
}

Test(cost, two_kinds_of_values_with_expired_evidence)
{
    check_pairs(&variants[1]);
}
