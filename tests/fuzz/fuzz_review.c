/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_review - passes the bytes as a JSON or YAML body to exchange_review() with a small snapshot.
 * A response that is not 200 has a Status and no decision. A response with 200 is a review that the
 * strict reader accepts, with the uid of the request. A denial has a message without control
 * characters. In a namespace that requires evidence, a judged pod is admitted only with a packet
 * that says `ready`.
 */
#include <stdint.h>
#include <stdlib.h>

#include "k8s/evidence/internal.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/answer/exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_ARENA_BYTES ((size_t)256 << 20)
#define APP "sha256:b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206"

static const char *const documents[] = {
    "{\"apiVersion\":\"sandbox.runx.dev/v1\",\"kind\":\"SandboxRequirements\",\"workload\":{"
    "\"skill_ref\":\"acme/report@1.4.0\",\"class\":\"batch job\"},\"requirements\":{\"source_ref\":"
    "\"git:x@1\",\"source_digest\":\"" APP "\",\"observed_at\":\"2026-02-28T12:00:00Z\","
    "\"writable_paths\":[\"tmp/results\"],\"env_allowlist\":[\"REPORT_FORMAT\",\"REPORT_LOCALE\"]},"
    "\"images\":[\"" APP "\"],\"expires_at\":\"2026-03-02T12:00:00Z\"}",
    "{\"apiVersion\":\"sandbox.runx.dev/v1\",\"kind\":\"SandboxBaseline\",\"baseline\":{"
    "\"network_allowed\":false,\"allowed_writable_paths\":[\"tmp\"]},"
    "\"boundary\":{\"hold\":[\"capabilities\"],\"mounts\":[\"/var/cache\"]}}",
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

static cJSON *read_again(struct str text, enum document_syntax syntax, struct arena *arena)
{
    const struct document_options options = {.syntax = syntax, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    cJSON *tree = NULL;

    must(document_read(text, &options, arena, &tree, &error) == 0);
    return tree;
}

static void add_document(struct snapshot_builder *builder, const char *text)
{
    cleanup_arena struct arena arena = {0};
    const cJSON *tree = read_again(str_of(text), DOCUMENT_JSON, &arena);
    struct evidence facts = {.namespace_name = STR("sandgate-system"),
                             .name = tree_get_text(tree, "kind"),
                             .digest = STR(APP),
                             .state = EVIDENCE_VALID,
                             .kind = evidence_kind_of(tree_get_text(tree, "kind"))};
    struct evidence *evidence = NULL;
    struct str reason = {0};

    must(evidence_read(tree, &arena, &facts, &reason) == 0);
    must(!str_present(reason));
    must(evidence_copy(&facts, NULL, &evidence) == 0);
    must(snapshot_builder_add_evidence(builder, evidence) == 0);
    evidence_unref(evidence);
}

/* Every pod is judged at every level, and its spec is read. */
static const struct snapshot *world(void)
{
    static struct snapshot *snapshot;
    struct snapshot_builder *builder = NULL;
    struct policy policy = policy_defaults();

    if (snapshot != NULL)
        return snapshot;
    policy.defaults = (struct levels){.enforce = LEVEL_REQUIRED,
                                      .warn = LEVEL_REQUIRED,
                                      .audit = LEVEL_REQUIRED,
                                      .boundary = BOUNDARY_LEVEL_BLOCK};
    must(snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder) == 0);
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        add_document(builder, documents[i]);
    must(snapshot_builder_finish(builder, &snapshot) == 0);
    return snapshot;
}

static void check_shown(struct str s, bool line_feeds)
{
    must(s.len > 0);
    for (size_t i = 0; i < s.len;) {
        uint32_t c = 0;
        size_t n = str_utf8_next((struct str){.ptr = s.ptr + i, .len = s.len - i}, &c);

        must(n > 0);
        must((line_feeds && c == '\n') || (!text_is_control(c) && !text_is_bidi_control(c)));
        i += n;
    }
}

static void check_refusal(const struct exchange *e, struct arena *arena)
{
    const cJSON *status = NULL;

    must(e->status == 400 || e->status == 413 || e->status == 500);
    must(!e->decided && !e->decision.allowed);
    if (!str_present(e->body))
        return;
    status = read_again(e->body, DOCUMENT_JSON, arena);
    must(str_equal(tree_get_text(status, "kind"), STR("Status")));
    must((int)tree_get(status, "code")->valuedouble == e->status);
    check_shown(tree_get_text(status, "message"), false);
}

static void check_annotations(const cJSON *annotations, const struct decision *d)
{
    const cJSON *entry = NULL;
    size_t total = 0;

    cJSON_ArrayForEach(entry, annotations)
    {
        must(tree_is(entry, cJSON_String));
        total += buffer_audit_size(tree_text(entry));
    }
    must(total <= ANSWER_MAX_ANNOTATIONS_BYTES);
    must(str_equal(tree_get_text(annotations, "outcome"), str_of(gate_outcome_text(d->outcome))));
    must(d->planned == (tree_get(annotations, "packet") != NULL));
    must(d->boundary_read == (tree_get(annotations, "boundary") != NULL));
    must(buffer_audit_size(tree_get_text(annotations, "boundary")) <= BOUNDARY_MAX_AUDIT_BYTES);
}

static void check_decision(const struct decision *d)
{
    bool unjudged = d->outcome == OUTCOME_NOT_EVALUATED || d->outcome == OUTCOME_UNCHANGED;

    must(d->judged != unjudged);
    if (d->allowed && !unjudged && !d->would_deny_enforce)
        must(d->outcome == OUTCOME_READY && plan_admits(&d->plan) && d->finding_count == 0 &&
             d->evidence != NULL);
}

static void check_answer(const struct exchange *e, enum document_syntax syntax, struct arena *arena)
{
    const cJSON *response = tree_get(read_again(e->body, syntax, arena), "response");
    const cJSON *warnings = tree_get(response, "warnings"), *warning = NULL;
    bool allowed = tree_is(tree_get(response, "allowed"), cJSON_True);

    must(e->decided && allowed == e->decision.allowed);
    must(str_equal(tree_get_text(response, "uid"), e->review.uid));
    if (!allowed) {
        struct str message = tree_get_text(tree_get(response, "status"), "message");

        must(message.len <= ANSWER_MAX_MESSAGE_BYTES && warnings == NULL);
        check_shown(message, true);
    }
    cJSON_ArrayForEach(warning, warnings)
    {
        check_shown(tree_text(warning), false);
    }
    check_annotations(tree_get(response, "auditAnnotations"), &e->decision);
    check_decision(&e->decision);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str body = {.ptr = (const char *)data, .len = size};
    enum document_syntax syntax = size > 0 && data[0] == '{' ? DOCUMENT_JSON : DOCUMENT_YAML;
    struct moment now = {0};

    must(moment_read(STR("2026-03-01T12:00:00Z"), &now));
    for (int format = ANSWER_JSON; format <= ANSWER_YAML; format++) {
        cleanup_arena struct arena arena = {.limit_bytes = MAX_ARENA_BYTES};
        struct exchange e = {0};

        exchange_review(body, syntax, (enum answer_format)format, world(), now, &arena, &e);
        if (e.status != 200)
            check_refusal(&e, &arena);
        else
            check_answer(&e, format == ANSWER_YAML ? DOCUMENT_YAML : DOCUMENT_JSON, &arena);
    }
    return 0;
}
