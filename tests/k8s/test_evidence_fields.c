/* SPDX-License-Identifier: Apache-2.0 */
/* test_evidence_fields - each field of the three kinds of documents (gate-v1, section 4). */
#include <criterion/criterion.h>

#include "planner/base/tree.h"
#include "tests/k8s/evidence_maker.h"

TestSuite(evidence_fields, .init = maker_begin, .fini = maker_done);

Test(evidence_fields, fields_of_requirements_are_read)
{
    maker_expect_valid(STR(REQUIREMENTS
                           "workload: {skill_ref: ' acme/report@1.4.0 ', class: ' batch job '}\n"
                           "requirements:\n  observed_at: 2026-02-28T12:00:00Z\n"
                           "  network: true\n  writable_paths: [tmp/a, tmp/b]\n"
                           "images: [" DIGEST_A ", ' " DIGEST_B "']\n"
                           "namespaces: [payments, scratch]\n" UNTIL));
    cr_expect_eq(maker.evidence->kind, EVIDENCE_REQUIREMENTS);
    cr_expect_str_eq(maker.evidence->namespace_name.ptr, "payments");
    cr_expect_str_eq(maker.evidence->name.ptr, "doc");
    cr_expect_str_eq(maker.evidence->skill_ref.ptr, "acme/report@1.4.0");
    cr_expect_not(str_present(maker.evidence->image_digest));
    cr_expect_str_eq(maker.evidence->class_text.ptr, "batch job");
    cr_expect_str_eq(maker_words(maker.evidence->images), DIGEST_A " " DIGEST_B);
    cr_expect(maker.evidence->namespaces_named);
    cr_expect_str_eq(maker_words(maker.evidence->namespaces), "payments scratch");
    cr_expect_str_eq(maker_words(maker.evidence->key_ids), "release");
    cr_expect_str_eq(maker.evidence->expires_at_text.ptr, "2026-06-01T00:00:00Z");
    cr_expect(tree_get(maker.evidence->requirements, "network")->type == cJSON_True);
    cr_expect_str_eq(
        tree_get(maker.evidence->requirements, "writable_paths")->child->next->valuestring,
        "tmp/b");
    cr_expect_eq(moment_compare(maker.evidence->observed_at, helper_now()), -1);
    cr_expect_not(evidence_expired(maker.evidence, helper_now()));
    cr_expect(evidence_expired(maker.evidence, maker.evidence->expires_at));
    cr_expect(evidence_in_scope(maker.evidence, STR("scratch")));
    cr_expect_not(evidence_in_scope(maker.evidence, STR("staging")));
}

Test(evidence_fields, the_boundary_of_a_baseline_is_read)
{
    maker_expect_valid(STR(BASELINE
                           "baseline: {}\nboundary: {hold: [egress, ' environment ', egress],\n"
                           "  mounts: ['/tmp ', /var/cache]}\n"));
    cr_expect_eq(maker.evidence->boundary_hold, boundary_control_bit(BOUNDARY_EGRESS) |
                                                    boundary_control_bit(BOUNDARY_ENVIRONMENT));
    cr_expect_str_eq(maker.evidence->boundary_mounts->child->next->valuestring, "/var/cache");
    maker_expect_valid(STR(BASELINE "baseline: {}\nboundary: {hold: []}\n"));
    cr_expect_eq(maker.evidence->boundary_hold, 0);
    cr_expect_null(maker.evidence->boundary_mounts);
    maker_expect_valid(STR(BASELINE "baseline: {}\nboundary: {mounts: []}\n"));
    cr_expect_not_null(maker.evidence->boundary_mounts);
    maker_expect_valid(STR(BASELINE "baseline: {}\nboundary: null\n"));
}

Test(evidence_fields, an_image_digest_workload_is_in_its_own_images)
{
    maker_expect_valid(STR(REQUIREMENTS "workload: {image_digest: " DIGEST_A "}\n" OBSERVED));
    cr_expect_str_eq(maker.evidence->image_digest.ptr, DIGEST_A);
    cr_expect_str_eq(maker_words(maker.evidence->images), DIGEST_A);
    cr_expect_not(str_present(maker.evidence->class_text));
    maker_expect_valid(STR(REQUIREMENTS "workload: {image_digest: " DIGEST_A "}\n" OBSERVED
                                        "images: [" DIGEST_B "]\n"));
    cr_expect_str_eq(maker_words(maker.evidence->images), DIGEST_B " " DIGEST_A);
    maker_expect_valid(STR(REQUIREMENTS "workload: {image_digest: " DIGEST_A "}\n" OBSERVED
                                        "images: [" DIGEST_A "]\n"));
    cr_expect_str_eq(maker_words(maker.evidence->images), DIGEST_A);
}

Test(evidence_fields, absent_namespaces_mean_all_and_an_empty_list_none)
{
    maker_expect_valid(STR(REQUIREMENTS SKILL OBSERVED));
    cr_expect(evidence_in_scope(maker.evidence, STR("anything")));
    cr_expect_not(maker.evidence->has_expires_at);
    cr_expect_not(evidence_expired(maker.evidence, helper_now()));
    maker_expect_valid(
        STR(REQUIREMENTS SKILL OBSERVED "namespaces: null\nimages: ~\nexpires_at: ''\n"));
    cr_expect(evidence_in_scope(maker.evidence, STR("anything")));
    maker_expect_valid(STR(REQUIREMENTS SKILL OBSERVED "namespaces: []\n"));
    cr_expect_not(evidence_in_scope(maker.evidence, STR("payments")));
    maker_expect_valid(STR(BASELINE "baseline: {}\nnamespaces: []\n"));
    cr_expect_not(evidence_in_scope(maker.evidence, STR("payments")));
}

Test(evidence_fields, fields_of_a_baseline_are_read)
{
    maker_expect_valid(STR(BASELINE "baseline: {network_allowed: false, allowed_env: [A]}\n"
                                    "max_age_days: 7\nimages: [" DIGEST_A
                                    "]\nnamespaces: [payments]\n"));
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE);
    cr_expect_eq(maker.evidence->max_age_days, 7);
    cr_expect_str_eq(maker_words(maker.evidence->images), DIGEST_A);
    cr_expect(tree_get(maker.evidence->baseline, "network_allowed")->type == cJSON_False);
    maker_expect_valid(STR(BASELINE "baseline: {}\n"));
    cr_expect_eq(maker.evidence->max_age_days, 0);
}

Test(evidence_fields, fields_of_an_exemption_are_read)
{
    maker_expect_valid(STR(EXEMPTION
                           "match:\n  namespaces: [pay*]\n  skill_refs: [acme/*, acme/x@1]\n"
                           "  image_digests: ['sha256:*']\n  users: []\n"
                           "  service_accounts: [builder]\n"
                           "reason: ' moving '\n" UNTIL "ticket: OPS-7\n"
                           "findings: [sandbox.requirements.stale, some.code]\n"));
    cr_expect_eq(maker.evidence->kind, EVIDENCE_EXEMPTION);
    cr_expect_str_eq(maker_words(maker.evidence->match.namespaces), "pay*");
    cr_expect_str_eq(maker_words(maker.evidence->match.skill_refs), "acme/* acme/x@1");
    cr_expect_str_eq(maker_words(maker.evidence->match.image_digests), "sha256:*");
    cr_expect_str_eq(maker_words(maker.evidence->match.service_accounts), "builder");
    cr_expect(maker.evidence->match.skill_refs_named && maker.evidence->match.image_digests_named &&
              maker.evidence->match.users_named && maker.evidence->match.service_accounts_named);
    cr_expect_str_eq(maker.evidence->exemption_reason.ptr, "moving");
    cr_expect(maker.evidence->findings_named);
    cr_expect_str_eq(maker_words(maker.evidence->findings), "sandbox.requirements.stale some.code");
    maker_expect_valid(STR(EXEMPTION MATCH "reason: x\n" UNTIL));
    cr_expect_not(maker.evidence->match.skill_refs_named ||
                  maker.evidence->match.image_digests_named || maker.evidence->match.users_named ||
                  maker.evidence->match.service_accounts_named || maker.evidence->findings_named);
}

Test(evidence_fields, json_and_yaml_give_the_same_document)
{
    maker_expect_valid(
        STR("{\"apiVersion\": \"sandbox.runx.dev/v1\", \"kind\": \"SandboxBaseline\", "
            "\"baseline\": {\"network_allowed\": true}}"));
    cr_expect_eq(maker.evidence->kind, EVIDENCE_BASELINE);
}

static const struct {
    struct str document;
    const char *reason;
} unreadable[] = {
#define ROW(text, why)                                                                             \
    {                                                                                              \
        STR_INIT(text), why                                                                        \
    }
    ROW("", "it must be an object"),
    ROW("[]", "it must be an object"),
    ROW("kind: SandboxRequirements\n", "apiVersion must be sandbox.runx.dev/v1"),
    ROW("apiVersion: sandbox.runx.dev/v2\nkind: SandboxRequirements\n",
        "apiVersion must be sandbox.runx.dev/v1"),
    ROW("apiVersion: sandbox.runx.dev/v1\n",
        "kind must be SandboxRequirements, SandboxBaseline or SandboxExemption"),
    ROW(HEAD("sandboxbaseline"),
        "kind must be SandboxRequirements, SandboxBaseline or SandboxExemption"),
    ROW(REQUIREMENTS SKILL OBSERVED "extra: null\n", "extra is not a known field"),
    ROW(REQUIREMENTS SKILL OBSERVED "\"a b\": 1\n", "? is not a known field"),
    ROW(REQUIREMENTS SKILL OBSERVED "baseline: {}\n", "baseline is not a known field"),
    ROW(REQUIREMENTS OBSERVED, "workload is required"),
    ROW(REQUIREMENTS "workload: text\n" OBSERVED, "workload must be an object"),
    ROW(REQUIREMENTS "workload: {skill_ref: a/b@1, name: x}\n" OBSERVED,
        "workload.name is not a known field"),
    ROW(REQUIREMENTS "workload: {skill_ref: [a/b@1]}\n" OBSERVED,
        "workload.skill_ref must be text"),
    ROW(REQUIREMENTS "workload: {}\n" OBSERVED,
        "workload requires exactly one image_digest or skill_ref"),
    ROW(REQUIREMENTS "workload: {skill_ref: ' '}\n" OBSERVED,
        "workload requires exactly one image_digest or skill_ref"),
    ROW(REQUIREMENTS "workload: {skill_ref: a/b@1, image_digest: " DIGEST_A "}\n" OBSERVED,
        "workload requires exactly one image_digest or skill_ref"),
    ROW(REQUIREMENTS "workload: {skill_ref: a/b}\n" OBSERVED,
        "workload.skill_ref must be pinned as owner/name@version"),
    ROW(REQUIREMENTS "workload: {image_digest: 'sha256:AA'}\n" OBSERVED,
        "workload.image_digest must be a lowercase sha256 digest"),
    ROW(REQUIREMENTS "workload: {skill_ref: a/b@1, class: 7}\n" OBSERVED,
        "workload.class must be text"),
    ROW(REQUIREMENTS SKILL, "requirements is required"),
    ROW(REQUIREMENTS SKILL "requirements: []\n", "requirements must be an object"),
    ROW(REQUIREMENTS SKILL "requirements: {}\n", "observed_at is required"),
    ROW(REQUIREMENTS SKILL "requirements: {observed_at: 2026-02-30T00:00:00Z}\n",
        "observed_at must be RFC3339"),
    ROW(REQUIREMENTS SKILL "requirements: {observed_at: 2026-02-28T12:00:00Z, network: 'true'}\n",
        "network must be boolean"),
    ROW(REQUIREMENTS SKILL "requirements: {observed_at: 2026-02-28T12:00:00Z, netwrok: true}\n",
        "netwrok is not a known field"),
    ROW(REQUIREMENTS SKILL
        "requirements: {observed_at: 2026-02-28T12:00:00Z, env_allowlist: ['']}\n",
        "env_allowlist[0] must be non-empty text"),
    ROW(REQUIREMENTS SKILL OBSERVED "images: " DIGEST_A "\n", "images must be a list of text"),
    ROW(REQUIREMENTS SKILL OBSERVED "images: [" DIGEST_A ", app:1.0]\n",
        "images[1] must be a lowercase sha256 digest"),
    ROW(REQUIREMENTS SKILL OBSERVED "namespaces: [a, 7]\n", "namespaces must be a list of text"),
    ROW(REQUIREMENTS SKILL OBSERVED "namespaces: [a, ' ']\n",
        "namespaces[1] must be non-empty text"),
    ROW(REQUIREMENTS SKILL OBSERVED "audiences: x\n", "audiences must be a list of text"),
    ROW(REQUIREMENTS SKILL OBSERVED "expires_at: tomorrow\n", "expires_at must be RFC3339"),
    ROW(REQUIREMENTS SKILL OBSERVED "expires_at: 7\n", "expires_at must be text"),
    ROW(BASELINE, "baseline is required"),
    ROW(BASELINE "baseline: {allowed_env: x}\n", "baseline.allowed_env must be a list of text"),
    ROW(BASELINE "baseline: {x: 1}\n", "baseline.x is not a known field"),
    ROW(BASELINE "baseline: {}\nmax_age_days: 0\n",
        "max_age_days must be a whole number from 1 to 3650"),
    ROW(BASELINE "baseline: {}\nmax_age_days: 3651\n",
        "max_age_days must be a whole number from 1 to 3650"),
    ROW(BASELINE "baseline: {}\nmax_age_days: '7'\n",
        "max_age_days must be a whole number from 1 to 3650"),
    ROW(BASELINE "baseline: {}\n" UNTIL, "expires_at is not a known field"),
    ROW(BASELINE "baseline: {}\nboundary: [egress]\n", "boundary must be an object"),
    ROW(BASELINE "baseline: {}\nboundary: {level: block}\n", "boundary.level is not a known field"),
    ROW(BASELINE "baseline: {}\nboundary: {hold: egress}\n",
        "boundary.hold must be a list of text"),
    ROW(BASELINE "baseline: {}\nboundary: {hold: [egress, Network]}\n",
        "boundary.hold[1] must be one of environment, filesystem, network, egress, syscalls, "
        "capabilities, resources and isolation"),
    ROW(BASELINE "baseline: {}\nboundary: {mounts: [/tmp, tmp]}\n",
        "boundary.mounts[1] must be an absolute path without .."),
    ROW(BASELINE "baseline: {}\nboundary: {mounts: ['/a/..']}\n",
        "boundary.mounts[0] must be an absolute path without .."),
    ROW(BASELINE "baseline: {}\nboundary: {mounts: ['/a\\..\\b']}\n",
        "boundary.mounts[0] must be an absolute path without .."),
    ROW(REQUIREMENTS SKILL OBSERVED "boundary: {}\n", "boundary is not a known field"),
    ROW(BASELINE "baseline: {}\nimages: [x]\n", "images[0] must be a lowercase sha256 digest"),
    ROW(EXEMPTION "reason: x\n" UNTIL, "match is required"),
    ROW(EXEMPTION "match: {}\nreason: x\n" UNTIL, "match.namespaces is required"),
    ROW(EXEMPTION "match: {namespaces: null}\nreason: x\n" UNTIL, "match.namespaces is required"),
    ROW(EXEMPTION "match: {namespaces: ['*']}\nreason: x\n" UNTIL,
        "match.namespaces[0] must not be * alone"),
    ROW(EXEMPTION "match: {namespaces: [a], users: [b, ' * ']}\nreason: x\n" UNTIL,
        "match.users[1] must not be * alone"),
    ROW(EXEMPTION "match: {namespaces: [a], images: [b]}\nreason: x\n" UNTIL,
        "match.images is not a known field"),
    ROW(EXEMPTION MATCH UNTIL, "reason is required"),
    ROW(EXEMPTION MATCH "reason: ' '\n" UNTIL, "reason is required"),
    ROW(EXEMPTION MATCH "reason: x\n", "expires_at is required"),
    ROW(EXEMPTION MATCH "reason: x\n" UNTIL "findings: x\n", "findings must be a list of text"),
    ROW(EXEMPTION MATCH "reason: x\n" UNTIL "ticket: 7\n", "ticket must be text"),
    ROW(EXEMPTION MATCH "reason: x\n" UNTIL "namespaces: [a]\n", "namespaces is not a known field"),
#undef ROW
};

Test(evidence_fields, what_does_not_read_is_not_valid)
{
    for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++)
        maker_expect_invalid(unreadable[i].document, unreadable[i].reason);
}

Test(evidence_fields, a_syntax_error_has_its_line)
{
    maker_make("release", STR(REQUIREMENTS "workload: {skill_ref: yes}\n"));
    cr_expect_eq(maker.evidence->state, EVIDENCE_INVALID);
    cr_expect(str_starts_with(maker.evidence->reason, STR("line 3, column 23: ")), "%s",
              maker.evidence->reason.ptr);
    cr_expect(str_contains(maker.evidence->reason, STR("quote it")), "%s",
              maker.evidence->reason.ptr);
}

Test(evidence_fields, limits_are_those_of_the_planner)
{
    struct str list = STR("a");
    struct str at_most = helper_text(&maker.arena, "%04096d", 0);

    for (int i = 1; i < 100; i++)
        list = helper_text(&maker.arena, "%s,a", list.ptr);
    maker_expect_valid(
        helper_text(&maker.arena, REQUIREMENTS SKILL OBSERVED "namespaces: [%s]\n", list.ptr));
    maker_expect_invalid(
        helper_text(&maker.arena, REQUIREMENTS SKILL OBSERVED "namespaces: [%s,a]\n", list.ptr),
        "namespaces must be at most 100 items");
    maker_expect_valid(
        helper_text(&maker.arena, EXEMPTION MATCH "reason: 'x%s'\n" UNTIL, at_most.ptr + 1));
    maker_expect_invalid(
        helper_text(&maker.arena, EXEMPTION MATCH "reason: 'x%s'\n" UNTIL, at_most.ptr),
        "reason must be at most 4096 bytes");
    maker_expect_invalid(
        helper_text(&maker.arena, REQUIREMENTS SKILL OBSERVED "namespaces: ['x%s']\n", at_most.ptr),
        "namespaces[0] must be at most 4096 bytes");
}

Test(evidence_fields, patterns_match_as_the_contract_says)
{
    static const struct {
        const char *pattern;
        const char *value;
        bool matches;
    } rows[] = {
        {"pay*", "payments", true},   {"pay*", "pay", true},      {"pay*", "pa", false},
        {"pay", "pay", true},         {"pay", "payments", false}, {"pa*ents", "payments", false},
        {"pa*ents", "pa*ents", true}, {"*", "payments", false},   {"", "", false},
        {"pay*", "Payments", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_eq(evidence_pattern_matches(str_of(rows[i].pattern), str_of(rows[i].value)),
                     rows[i].matches, "%s %s", rows[i].pattern, rows[i].value);
    cr_expect_not(evidence_pattern_matches(STR("pay*"), (struct str){0}));
}
