/* SPDX-License-Identifier: Apache-2.0 */
/* test_packet_fit - a packet is shortened to fit the audit log (gate-v1, section 7,
 * `packet-truncated`). */
#include <criterion/criterion.h>
#include <errno.h>

#include "helper.h"
#include "planner/base/buffer.h"
#include "planner/packet.h"

#define REQ "workload.requirements."

static struct plan planned(struct arena *arena, const struct change *changes)
{
    struct plan plan = {0};

    cr_assert_eq(plan_evaluate(helper_input(arena, changes), PLAN_CALLER_SUPPLIED, arena, &plan),
                 0);
    return plan;
}

static const cJSON *profile_of(struct arena *arena, struct str packet)
{
    return tree_get(helper_tree(arena, packet), "hardening_profile");
}

/* "3 2 1 4 0": the number of items of each list, in packet order. */
static struct str counts(struct arena *arena, struct str packet)
{
    const cJSON *profile = profile_of(arena, packet);
    const cJSON *declaration = tree_get(profile, "declaration");
    const cJSON *lists[] = {
        tree_get(declaration, "env_allowlist"),
        tree_get(declaration, "writable_paths"),
        tree_get(tree_get(profile, "admission"), "reasons"),
        tree_get(profile, "unsupported_controls"),
        tree_get(tree_get(profile, "validation"), "findings"),
    };
    struct buffer out = buffer_make(arena, 100);

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        buffer_add_format(&out, i > 0 ? " %d" : "%d", cJSON_GetArraySize(lists[i]));
    return buffer_text(&out);
}

Test(packet_fit, a_packet_that_fits_is_not_changed)
{
    cleanup_arena struct arena arena = {0};
    struct plan plan = planned(&arena, NULL);
    size_t size = buffer_audit_size(plan.packet);
    struct str packet = {0};

    cr_assert_eq(plan_packet_fit(&plan, size, &arena, &packet), 0);
    cr_expect_eq(packet.ptr, plan.packet.ptr);
    cr_assert_eq(plan_packet_fit(&plan, size - 1, &arena, &packet), 0);
    cr_expect_neq(packet.ptr, plan.packet.ptr);
    cr_expect_leq(buffer_audit_size(packet), size - 1);
}

/*
 * Sizes of the items in the audit log, each with the comma before it, computed by hand (a quote
 * takes two bytes there):
 *   env_allowlist  "AAAA" 8, ,"BBBB" 9, ,"CCCC" 9: 26
 *   writable_paths "aaaa" 8, ,"bbbb" 9, ,"cccc" 9: 26
 *   reasons        "sandbox profile 'workspace-write' admitted": 46
 *   controls       "seccomp syscall policy" 26, ,"host egress allowlist" 26,
 *                  ,"Linux capability policy" 28, ,"CPU and memory limits" 26: 106
 *   findings       none
 */
Test(packet_fit, the_last_item_of_the_longest_list_is_removed_first)
{
    static const struct {
        size_t excess;
        const char *want;
    } rows[] = {
        {0, "3 3 1 4 0"},   {1, "3 3 1 3 0"},   /* controls have 106 bytes, the next list has 46 */
        {26, "3 3 1 3 0"},  {27, "3 3 1 2 0"},  /* 80 */
        {54, "3 3 1 2 0"},  {55, "3 3 1 1 0"},  /* 52 */
        {80, "3 3 1 1 0"},  {81, "3 3 0 1 0"},  /* the reason has 46, the others 26 each */
        {126, "3 3 0 1 0"}, {127, "2 3 0 1 0"}, /* 26 each: the first in packet order */
        {135, "2 3 0 1 0"}, {136, "2 2 0 1 0"}, /* 17, 26 and 26 */
        {144, "2 2 0 1 0"}, {145, "2 2 0 0 0"}, /* 17, 17 and 26 */
        {170, "2 2 0 0 0"}, {171, "1 2 0 0 0"}, /* 17 and 17 */
        {180, "1 1 0 0 0"}, {189, "0 1 0 0 0"}, {197, "0 0 0 0 0"},
    };
    cleanup_arena struct arena arena = {0};
    const struct change changes[] = {{REQ "env_allowlist", "[\"AAAA\",\"BBBB\",\"CCCC\"]"},
                                     {REQ "writable_paths", "[\"aaaa\",\"bbbb\",\"cccc\"]"},
                                     {NULL, NULL}};
    struct plan plan = planned(&arena, changes);
    size_t size = buffer_audit_size(plan.packet);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str packet = {0};

        cr_assert_eq(plan_packet_fit(&plan, size - rows[i].excess, &arena, &packet), 0);
        cr_expect_str_eq(counts(&arena, packet).ptr, rows[i].want, "excess %zu", rows[i].excess);
    }
}

Test(packet_fit, list_lengths_are_compared_in_bytes_of_the_audit_log)
{
    cleanup_arena struct arena arena = {0};
    /* 110 letters, and 30 times `<`, which takes 180 bytes in the audit log */
    struct str letters = helper_repeat(&arena, "A", 110);
    struct str signs = helper_repeat(&arena, "<", 30);
    const struct change changes[] = {
        {REQ "env_allowlist", arena_format(&arena, "[\"%s\"]", letters.ptr).ptr},
        {REQ "writable_paths", arena_format(&arena, "[\"%s\"]", signs.ptr).ptr},
        {NULL, NULL}};
    struct plan plan = planned(&arena, changes);
    struct str packet = {0};

    cr_assert_eq(plan_packet_fit(&plan, buffer_audit_size(plan.packet) - 1, &arena, &packet), 0);
    cr_expect_str_eq(counts(&arena, packet).ptr, "1 0 1 4 0");
}

Test(packet_fit, an_absent_list_stays_null)
{
    cleanup_arena struct arena arena = {0};
    const struct change changes[] = {{REQ "env_allowlist", NULL}, {NULL, NULL}};
    struct plan plan = planned(&arena, changes);
    struct str packet = {0};

    cr_assert_eq(plan_packet_fit(&plan, buffer_audit_size(plan.packet) - 100, &arena, &packet), 0);
    cr_expect(str_contains(packet, STR("\"env_allowlist\":null")));
}

Test(packet_fit, texts_are_cut_at_a_character_when_all_lists_are_empty)
{
    cleanup_arena struct arena arena = {0};
    /* 255 bytes, then a character of two bytes: a cut at 256 would split it */
    struct str x255 = helper_repeat(&arena, "x", 255);
    struct str text = arena_format(&arena, "\"%s\xC3\xA4%s\"", x255.ptr, x255.ptr);
    struct str y256 = helper_repeat(&arena, "y", 256);
    struct str exact = arena_format(&arena, "\"%s\"", y256.ptr);
    const struct change changes[] = {
        {"workload.class", text.ptr}, {REQ "source_ref", exact.ptr}, {NULL, NULL}};
    struct plan plan = planned(&arena, changes);
    size_t lists = 106 + 46 + STR("\\\"tmp/results\\\"\\\"REPORT_FORMAT\\\"").len;
    struct str packet = {0};
    const cJSON *profile = NULL;

    /* one more byte than the lists have */
    cr_assert_eq(
        plan_packet_fit(&plan, buffer_audit_size(plan.packet) - lists - 1, &arena, &packet), 0);
    cr_expect_str_eq(counts(&arena, packet).ptr, "0 0 0 0 0");
    profile = profile_of(&arena, packet);
    cr_expect(str_equal(tree_get_text(tree_get(profile, "workload"), "class"), x255));
    cr_expect(str_equal(tree_get_text(tree_get(profile, "source_evidence"), "source_ref"), y256));
    /* not earlier */
    cr_assert_eq(plan_packet_fit(&plan, buffer_audit_size(plan.packet) - lists, &arena, &packet),
                 0);
    cr_expect(str_contains(packet, STR("\xC3\xA4")));
}

Test(packet_fit, a_packet_that_cannot_fit_is_an_error)
{
    cleanup_arena struct arena arena = {0};
    struct plan plan = planned(&arena, NULL);
    struct str packet = {0};

    cr_expect_eq(plan_packet_fit(&plan, 100, &arena, &packet), -E2BIG);
    cr_expect(!str_present(packet));
}
