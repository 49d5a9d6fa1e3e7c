/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_fit - shortens a packet until it fits into the audit log (plan_packet_fit() of plan.h).
 *
 * The contract fixes what is dropped, and in which order (gate-v1, section 7, `packet-truncated`).
 * All sizes are those in the audit log, which escapes more than the packet. Each item is measured
 * once, and its size is subtracted when it is dropped, so the work is linear.
 */
#include "planner/packet.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/buffer.h"

#define CUT_TEXT_BYTES 256
#define MAX_ITEM_BYTES ((size_t)1 << 30)

enum fit_list {
    /* in packet order: the first of equally long lists is shortened */
    FIT_ENV,
    FIT_PATHS,
    FIT_REASONS,
    FIT_CONTROLS,
    FIT_FINDINGS,
    FIT_LIST_COUNT
};

struct fit_items {
    size_t *item_bytes; /* of each item and the comma before it, in the audit log */
    size_t count;
    size_t bytes; /* of the items that are left */
};

static int measure_item(struct fit_items *list, struct buffer *scratch, struct str code,
                        struct str text)
{
    size_t *bytes = &list->item_bytes[list->count];
    struct str written = {0};

    scratch->len = 0;
    if (list->count > 0)
        buffer_add_char(scratch, ',');
    if (str_present(code)) {
        buffer_add(scratch, STR("{\"code\":"));
        buffer_add_json(scratch, code);
        buffer_add(scratch, STR(",\"message\":"));
    }
    buffer_add_json(scratch, text);
    if (str_present(code))
        buffer_add_char(scratch, '}');
    written = buffer_text(scratch);
    if (!str_present(written))
        return -ENOMEM;
    *bytes = buffer_audit_size(written);
    list->count++;
    list->bytes += *bytes;
    return 0;
}

static int measure_list(struct arena *arena, struct buffer *scratch, struct str_list texts,
                        struct fit_items *list)
{
    list->item_bytes = arena_alloc(arena, texts.count, sizeof(*list->item_bytes));
    if (list->item_bytes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < texts.count; i++) {
        int r = measure_item(list, scratch, (struct str){0}, texts.items[i]);

        if (r < 0)
            return r;
    }
    return 0;
}

static int measure_findings(struct arena *arena, struct buffer *scratch,
                            const struct packet *packet, struct fit_items *list)
{
    list->item_bytes = arena_alloc(arena, packet->finding_count, sizeof(*list->item_bytes));
    if (list->item_bytes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < packet->finding_count; i++) {
        const struct plan_finding *finding = &packet->findings[i];
        int r =
            measure_item(list, scratch, str_of(plan_code_text(finding->code)), finding->message);

        if (r < 0)
            return r;
    }
    return 0;
}

static int measure(const struct packet *packet, struct arena *arena,
                   struct fit_items lists[static FIT_LIST_COUNT])
{
    const struct str_list texts[] = {
        [FIT_ENV] = packet->env_allowlist,
        [FIT_PATHS] = packet->writable_paths,
        [FIT_REASONS] = packet->reasons,
        [FIT_CONTROLS] = packet->unsupported_controls,
    };
    struct buffer scratch = buffer_make(arena, MAX_ITEM_BYTES);

    for (size_t i = 0; i < FIT_FINDINGS; i++) {
        int r = measure_list(arena, &scratch, texts[i], &lists[i]);

        if (r < 0)
            return r;
    }
    return measure_findings(arena, &scratch, packet, &lists[FIT_FINDINGS]);
}

/* Drops items until the packet takes at least `excess` bytes less; false where all lists are empty
 * before that. */
static bool drop_items(struct fit_items lists[static FIT_LIST_COUNT], size_t excess)
{
    while (excess > 0) {
        struct fit_items *longest = &lists[0];
        size_t last_bytes = 0;

        for (size_t i = 1; i < FIT_LIST_COUNT; i++) {
            if (lists[i].bytes > longest->bytes)
                longest = &lists[i];
        }
        if (longest->count == 0)
            return false;
        last_bytes = longest->item_bytes[--longest->count];
        assert(last_bytes <= longest->bytes);
        longest->bytes -= last_bytes;
        excess -= last_bytes < excess ? last_bytes : excess;
    }
    return true;
}

static void cut_texts(struct packet *packet)
{
    struct str *texts[] = {
        &packet->image_digest, &packet->skill_ref,     &packet->workload_class,
        &packet->source_ref,   &packet->source_digest, &packet->observed_at,
    };

    /* the other texts are the planner's own, and shorter */
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = str_cut(*texts[i], CUT_TEXT_BYTES);
}

int plan_packet_fit(const struct plan *plan, size_t max_bytes, struct arena *arena,
                    struct str *ret_packet)
{
    struct fit_items lists[FIT_LIST_COUNT] = {0};
    struct packet packet = *plan->fields;
    struct str text = {0};
    size_t audit_bytes = 0;
    int r = 0;

    if (buffer_audit_fits(plan->packet, max_bytes)) {
        *ret_packet = plan->packet;
        return 0;
    }
    r = measure(&packet, arena, lists);
    if (r < 0)
        return r;
    audit_bytes = buffer_audit_size(plan->packet);
    assert(audit_bytes > max_bytes);
    if (!drop_items(lists, audit_bytes - max_bytes))
        cut_texts(&packet);
    packet.env_allowlist.count = lists[FIT_ENV].count;
    packet.writable_paths.count = lists[FIT_PATHS].count;
    packet.reasons.count = lists[FIT_REASONS].count;
    packet.unsupported_controls.count = lists[FIT_CONTROLS].count;
    packet.finding_count = lists[FIT_FINDINGS].count;
    text = packet_write(&packet, arena);
    if (!str_present(text))
        return -ENOMEM;
    if (!buffer_audit_fits(text, max_bytes))
        return -E2BIG;
    *ret_packet = text;
    return 0;
}
