/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan - plans the bytes as an input. A plan that is ready has no finding, redaction does not
 * change the packet, and a shortened packet fits. */
#include <assert.h>

#include "k8s/document/document.h"
#include "planner/base/buffer.h"
#include "planner/packet.h"
#include "planner/plan.h"

#define FIT_BYTES ((size_t)16 << 10) /* the limit of the gate */
#define ARENA_MAX_BYTES ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_text(struct str text, enum document_syntax syntax, struct arena *arena,
                      cJSON **ret_tree)
{
    const struct document_options options = {.syntax = syntax, .rules = DOCUMENT_OWN};
    struct document_error error = {0};

    return document_read(text, &options, arena, ret_tree, &error) == 0;
}

static void check_redacted(const cJSON *input, const struct plan *plan, struct arena *arena)
{
    struct str redacted = {0}, twice = {0};
    struct plan again = {0};
    cJSON *tree = NULL;

    assert(plan_input_write(input, arena, &redacted) == 0);
    assert(read_text(redacted, DOCUMENT_JSON, arena, &tree));
    assert(plan_evaluate(tree, PLAN_CALLER_SUPPLIED, arena, &again) == 0);
    assert(str_equal(again.packet, plan->packet));
    assert(plan_input_write(tree, arena, &twice) == 0);
    assert(str_equal(redacted, twice));
}

static void check_fit(const struct plan *plan, struct arena *arena)
{
    struct str packet = {0};
    cJSON *tree = NULL;

    assert(plan_packet_fit(plan, FIT_BYTES, arena, &packet) == 0);
    assert(buffer_audit_size(packet) <= FIT_BYTES);
    assert(read_text(packet, DOCUMENT_JSON, arena, &tree));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_arena struct arena arena = {.limit_bytes = ARENA_MAX_BYTES};
    struct str text = {.ptr = (const char *)data, .len = size};
    struct plan plan = {0};
    cJSON *input = NULL;
    int r = 0;

    if (!read_text(text, DOCUMENT_EITHER, &arena, &input))
        return 0;
    r = plan_evaluate(input, PLAN_CALLER_SUPPLIED, &arena, &plan);
    assert(r == 0 || !plan_admits(&plan));
    if (r != 0)
        return 0;
    assert(plan_admits(&plan) == (plan.finding_count == 0 && plan.fields->admitted));
    check_redacted(input, &plan, &arena);
    check_fit(&plan, &arena);
    return 0;
}
