/* Signed documents: who signed, what they say, and what counts (gate-v1, section 4). */
#include <criterion/criterion.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdio.h>

#include "k8s/base64.h"
#include "planner/tree.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

#define DIGEST_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

#define HEAD(kind) "apiVersion: sandbox.runx.dev/v1\nkind: " kind "\n"
#define REQUIREMENTS HEAD("SandboxRequirements")
#define BASELINE HEAD("SandboxBaseline")
#define EXEMPTION HEAD("SandboxExemption")
#define SKILL "workload: {skill_ref: acme/report@1.4.0}\n"
#define OBSERVED "requirements: {observed_at: 2026-02-28T12:00:00Z}\n"
#define MATCH "match: {namespaces: [payments]}\n"
#define UNTIL "expires_at: 2026-06-01T00:00:00Z\n"

static struct arena arena;
static char *path;
static struct keyring *ring;
static struct helper_key *release;
static struct helper_key *security;
static struct policy policy;
static struct evidence *evidence; /* the last that was made */

static void begin(void)
{
    struct str reason = {0};

    release = helper_key_new(&arena, GNUTLS_PK_EDDSA_ED25519, 0);
    security = helper_key_new(&arena, GNUTLS_PK_EDDSA_ED25519, 0);
    path = helper_new_folder(&arena);
    helper_write(path, "release.pem", helper_key_pem(release, &arena));
    helper_write(path, "release-copy.pem", helper_key_pem(release, &arena));
    helper_write(path, "security.pem", helper_key_pem(security, &arena));
    cr_assert_eq(keyring_load(path, &arena, &ring, &reason), 0, "%s", reason.ptr);
    policy = policy_defaults();
}

static void done(void)
{
    evidence_unref(evidence);
    keyring_unref(ring);
    helper_key_free(release);
    helper_key_free(security);
    helper_remove_folder(path);
    arena_release(&arena);
}

TestSuite(evidence, .init = begin, .fini = done);

/* Annotations that hold these signatures; `by` names them with blanks between: release,
 * release-copy, security; `x=` in front makes a bad one, `!=` no base64, `?=` an unknown key. */
static cJSON *signed_by(const char *by, struct str document)
{
    cJSON *annotations = tree_make_object(&arena);
    struct str rest = str_of(by);

    while (rest.len > 0) {
        size_t len = 0;
        struct str id = {0}, text = {0};
        char kind = 0;

        while (len < rest.len && rest.ptr[len] != ' ')
            len++;
        id = (struct str){rest.ptr, len};
        rest = str_trim((struct str){rest.ptr + len, rest.len - len});
        if (id.len > 2 && id.ptr[1] == '=') {
            kind = id.ptr[0];
            id = (struct str){id.ptr + 2, id.len - 2};
        }
        text = helper_key_sign(str_starts_with(id, STR("release")) ? release : security, &arena,
                               kind == 'x' ? STR("another") : document);
        if (kind == '!')
            text = STR("~");
        cr_assert(tree_add_member(
            annotations,
            helper_text(&arena, "%s%.*s", EVIDENCE_SIGNATURE_PREFIX, (int)id.len, id.ptr).ptr,
            tree_make_text(&arena, text)));
    }
    return annotations;
}

static void make_source(const struct evidence_source *source)
{
    evidence_unref(evidence);
    evidence = NULL;
    cr_assert_eq(evidence_make(source, ring, &policy, &evidence), 0);
    cr_expect_eq(str_present(evidence->reason), evidence->state != EVIDENCE_VALID);
}

static void make(const char *by, struct str document)
{
    const struct evidence_source source = {
        .namespace_name = STR("payments"),
        .name = STR("doc"),
        .annotations = signed_by(by, document),
        .document = document,
    };

    make_source(&source);
}

static void expect_valid(struct str document)
{
    make("release", document);
    cr_expect_eq(evidence->state, EVIDENCE_VALID, "%s\n%s", evidence->reason.ptr, document.ptr);
}

static void expect_invalid(struct str document, const char *reason)
{
    make("release", document);
    cr_expect_eq(evidence->state, EVIDENCE_INVALID, "%s", document.ptr);
    cr_expect_str_eq(evidence->reason.ptr, reason, "%s: %s", document.ptr, evidence->reason.ptr);
    cr_expect_null(evidence->requirements);
    cr_expect_null(evidence->baseline);
    cr_expect_eq(evidence->images.count, 0);
    cr_expect_not(str_present(evidence->skill_ref));
}

/* The words of a list with blanks between. */
static const char *words(struct str_list list)
{
    struct str text = STR("");

    for (size_t i = 0; i < list.count; i++)
        text = helper_text(&arena, "%s%s%s", text.ptr, i > 0 ? " " : "", list.items[i].ptr);
    return text.ptr;
}

Test(evidence, requirements_show_what_they_say)
{
    expect_valid(STR(REQUIREMENTS
                     "workload: {skill_ref: ' acme/report@1.4.0 ', class: ' batch job '}\n"
                     "requirements:\n  observed_at: 2026-02-28T12:00:00Z\n"
                     "  network: true\n  writable_paths: [tmp/a, tmp/b]\n"
                     "images: [" DIGEST_A ", ' " DIGEST_B "']\n"
                     "namespaces: [payments, scratch]\n" UNTIL));
    cr_expect_eq(evidence->kind, EVIDENCE_REQUIREMENTS);
    cr_expect_str_eq(evidence->namespace_name.ptr, "payments");
    cr_expect_str_eq(evidence->name.ptr, "doc");
    cr_expect_str_eq(evidence->skill_ref.ptr, "acme/report@1.4.0");
    cr_expect_not(str_present(evidence->image_digest));
    cr_expect_str_eq(evidence->class_text.ptr, "batch job");
    cr_expect_str_eq(words(evidence->images), DIGEST_A " " DIGEST_B);
    cr_expect(evidence->namespaces_named);
    cr_expect_str_eq(words(evidence->namespaces), "payments scratch");
    cr_expect_str_eq(words(evidence->key_ids), "release");
    cr_expect_str_eq(evidence->expires_at_text.ptr, "2026-06-01T00:00:00Z");
    cr_expect(tree_get(evidence->requirements, "network")->type == cJSON_True);
    cr_expect_str_eq(tree_get(evidence->requirements, "writable_paths")->child->next->valuestring,
                     "tmp/b");
    cr_expect_eq(moment_compare(evidence->observed_at, helper_now()), -1);
    cr_expect_not(evidence_expired(evidence, helper_now()));
    cr_expect(evidence_expired(evidence, evidence->expires_at));
    cr_expect(evidence_in_scope(evidence, STR("scratch")));
    cr_expect_not(evidence_in_scope(evidence, STR("staging")));
}

Test(evidence, an_image_digest_workload_lists_itself)
{
    expect_valid(STR(REQUIREMENTS "workload: {image_digest: " DIGEST_A "}\n" OBSERVED));
    cr_expect_str_eq(evidence->image_digest.ptr, DIGEST_A);
    cr_expect_str_eq(words(evidence->images), DIGEST_A);
    cr_expect_not(str_present(evidence->class_text));
    expect_valid(STR(REQUIREMENTS "workload: {image_digest: " DIGEST_A "}\n" OBSERVED
                                  "images: [" DIGEST_B "]\n"));
    cr_expect_str_eq(words(evidence->images), DIGEST_B " " DIGEST_A);
    expect_valid(STR(REQUIREMENTS "workload: {image_digest: " DIGEST_A "}\n" OBSERVED
                                  "images: [" DIGEST_A "]\n"));
    cr_expect_str_eq(words(evidence->images), DIGEST_A);
}

Test(evidence, without_namespaces_any_with_an_empty_list_none)
{
    expect_valid(STR(REQUIREMENTS SKILL OBSERVED));
    cr_expect(evidence_in_scope(evidence, STR("anything")));
    cr_expect_not(evidence->has_expires_at);
    cr_expect_not(evidence_expired(evidence, helper_now()));
    expect_valid(STR(REQUIREMENTS SKILL OBSERVED "namespaces: null\nimages: ~\nexpires_at: ''\n"));
    cr_expect(evidence_in_scope(evidence, STR("anything")));
    expect_valid(STR(REQUIREMENTS SKILL OBSERVED "namespaces: []\n"));
    cr_expect_not(evidence_in_scope(evidence, STR("payments")));
    expect_valid(STR(BASELINE "baseline: {}\nnamespaces: []\n"));
    cr_expect_not(evidence_in_scope(evidence, STR("payments")));
}

Test(evidence, a_baseline_shows_what_it_says)
{
    expect_valid(STR(BASELINE "baseline: {network_allowed: false, allowed_env: [A]}\n"
                              "max_age_days: 7\nimages: [" DIGEST_A "]\nnamespaces: [payments]\n"));
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE);
    cr_expect_eq(evidence->max_age_days, 7);
    cr_expect_str_eq(words(evidence->images), DIGEST_A);
    cr_expect(tree_get(evidence->baseline, "network_allowed")->type == cJSON_False);
    expect_valid(STR(BASELINE "baseline: {}\n"));
    cr_expect_eq(evidence->max_age_days, 0);
}

Test(evidence, an_exemption_shows_what_it_says)
{
    expect_valid(STR(EXEMPTION "match:\n  namespaces: [pay*]\n  skill_refs: [acme/*, acme/x@1]\n"
                               "  image_digests: ['sha256:*']\n  users: []\n"
                               "  service_accounts: [builder]\n"
                               "reason: ' moving '\n" UNTIL "ticket: OPS-7\n"
                               "findings: [sandbox.requirements.stale, some.code]\n"));
    cr_expect_eq(evidence->kind, EVIDENCE_EXEMPTION);
    cr_expect_str_eq(words(evidence->match.namespaces), "pay*");
    cr_expect_str_eq(words(evidence->match.skill_refs), "acme/* acme/x@1");
    cr_expect_str_eq(words(evidence->match.image_digests), "sha256:*");
    cr_expect_str_eq(words(evidence->match.service_accounts), "builder");
    cr_expect(evidence->match.skill_refs_named && evidence->match.image_digests_named &&
              evidence->match.users_named && evidence->match.service_accounts_named);
    cr_expect_str_eq(evidence->exemption_reason.ptr, "moving");
    cr_expect(evidence->findings_named);
    cr_expect_str_eq(words(evidence->findings), "sandbox.requirements.stale some.code");
    expect_valid(STR(EXEMPTION MATCH "reason: x\n" UNTIL));
    cr_expect_not(evidence->match.skill_refs_named || evidence->match.image_digests_named ||
                  evidence->match.users_named || evidence->match.service_accounts_named ||
                  evidence->findings_named);
}

Test(evidence, json_reads_as_yaml_does)
{
    expect_valid(STR("{\"apiVersion\": \"sandbox.runx.dev/v1\", \"kind\": \"SandboxBaseline\", "
                     "\"baseline\": {\"network_allowed\": true}}"));
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE);
}

Test(evidence, what_does_not_read_is_not_valid)
{
    static const struct {
        struct str document;
        const char *reason;
    } rows[] = {
#define ROW(text, why) {STR_INIT(text), why}
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
        ROW(REQUIREMENTS SKILL
            "requirements: {observed_at: 2026-02-28T12:00:00Z, network: 'true'}\n",
            "network must be boolean"),
        ROW(REQUIREMENTS SKILL "requirements: {observed_at: 2026-02-28T12:00:00Z, netwrok: true}\n",
            "netwrok is not a known field"),
        ROW(REQUIREMENTS SKILL
            "requirements: {observed_at: 2026-02-28T12:00:00Z, env_allowlist: ['']}\n",
            "env_allowlist[0] must be non-empty text"),
        ROW(REQUIREMENTS SKILL OBSERVED "images: " DIGEST_A "\n", "images must be a list of text"),
        ROW(REQUIREMENTS SKILL OBSERVED "images: [" DIGEST_A ", app:1.0]\n",
            "images[1] must be a lowercase sha256 digest"),
        ROW(REQUIREMENTS SKILL OBSERVED "namespaces: [a, 7]\n",
            "namespaces must be a list of text"),
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
        ROW(BASELINE "baseline: {}\nimages: [x]\n", "images[0] must be a lowercase sha256 digest"),
        ROW(EXEMPTION "reason: x\n" UNTIL, "match is required"),
        ROW(EXEMPTION "match: {}\nreason: x\n" UNTIL, "match.namespaces is required"),
        ROW(EXEMPTION "match: {namespaces: null}\nreason: x\n" UNTIL,
            "match.namespaces is required"),
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
        ROW(EXEMPTION MATCH "reason: x\n" UNTIL "namespaces: [a]\n",
            "namespaces is not a known field"),
#undef ROW
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect_invalid(rows[i].document, rows[i].reason);
}

Test(evidence, a_broken_text_is_told_with_its_line)
{
    make("release", STR(REQUIREMENTS "workload: {skill_ref: yes}\n"));
    cr_expect_eq(evidence->state, EVIDENCE_INVALID);
    cr_expect(str_starts_with(evidence->reason, STR("line 3, column 23: ")), "%s",
              evidence->reason.ptr);
    cr_expect(str_contains(evidence->reason, STR("quote it")), "%s", evidence->reason.ptr);
}

Test(evidence, limits_are_the_planners)
{
    struct str list = STR("a");
    struct str at_most = helper_text(&arena, "%04096d", 0);

    for (int i = 1; i < 100; i++)
        list = helper_text(&arena, "%s,a", list.ptr);
    expect_valid(helper_text(&arena, REQUIREMENTS SKILL OBSERVED "namespaces: [%s]\n", list.ptr));
    expect_invalid(
        helper_text(&arena, REQUIREMENTS SKILL OBSERVED "namespaces: [%s,a]\n", list.ptr),
        "namespaces must be at most 100 items");
    expect_valid(helper_text(&arena, EXEMPTION MATCH "reason: 'x%s'\n" UNTIL, at_most.ptr + 1));
    expect_invalid(helper_text(&arena, EXEMPTION MATCH "reason: 'x%s'\n" UNTIL, at_most.ptr),
                   "reason must be at most 4096 bytes");
    expect_invalid(
        helper_text(&arena, REQUIREMENTS SKILL OBSERVED "namespaces: ['x%s']\n", at_most.ptr),
        "namespaces[0] must be at most 4096 bytes");
}

static struct str padded(const char *text, size_t bytes)
{
    char *ptr = arena_alloc(&arena, bytes + 1, 1);

    cr_assert_not_null(ptr);
    memset(ptr, '\n', bytes);
    memcpy(ptr, text, strlen(text));
    return (struct str){ptr, bytes};
}

Test(evidence, a_document_has_at_most_64_kib)
{
    expect_valid(padded(REQUIREMENTS SKILL OBSERVED, 65536));
    expect_invalid(padded(REQUIREMENTS SKILL OBSERVED, 65537), "sandbox.yaml is over 64 KiB");
    cr_expect_eq(evidence->kind, EVIDENCE_UNKNOWN);
    expect_invalid(padded(BASELINE "baseline: {}\n", 65537), "sandbox.yaml is over 64 KiB");
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE);
}

Test(evidence, a_document_stands_in_data_alone)
{
    struct str document = STR(REQUIREMENTS SKILL OBSERVED);
    struct evidence_source source = {
        .namespace_name = STR("payments"),
        .name = STR("doc"),
        .annotations = signed_by("release", document),
        .document = document,
        .in_binary_data = true,
    };
    struct str binary = {0};

    make_source(&source);
    cr_expect_eq(evidence->state, EVIDENCE_INVALID);
    cr_expect_str_eq(evidence->reason.ptr,
                     "sandbox.yaml stands in binaryData; it must stand in data alone");
    cr_expect_eq(evidence->kind, EVIDENCE_UNKNOWN);
    source.document = (struct str){0};
    cr_assert_eq(base64_encode(STR(BASELINE "\xff"), &arena, &binary), 0);
    source.binary = binary;
    make_source(&source);
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE, "a ceiling that was moved");
    source.in_binary_data = false;
    source.binary = (struct str){0};
    make_source(&source);
    cr_expect_str_eq(evidence->reason.ptr, "data has no sandbox.yaml");
    cr_expect_not(str_present(evidence->digest));
}

Test(evidence, signatures_are_told_one_by_one)
{
    static const struct {
        const char *by;
        unsigned threshold;
        const char *reason; /* NULL: valid */
        const char *ids;
    } rows[] = {
        {"", 1, "it has no signature", ""},
        {"release", 1, NULL, "release"},
        {"x=release", 1, "signature release does not verify", ""},
        {"!=release", 1, "signature release is not base64", ""},
        {"other", 1, "signature other is of a key that the keyring does not have", ""},
        {"a/b", 1, "signature ? is of a key that the keyring does not have", ""},
        {"x=security other release", 1, NULL, "release"},
        {"security release", 2, NULL, "release security"},
        {"release", 2, "1 of 2 keys needed: signature release verifies", "release"},
        {"release release-copy", 2,
         "1 of 2 keys needed: signature release verifies, signature release-copy verifies; one key "
         "under several names counts once",
         "release release-copy"},
        {"release x=security", 2,
         "1 of 2 keys needed: signature release verifies, signature security does not verify",
         "release"},
        {"a b c d e", 1,
         "signature a is of a key that the keyring does not have, signature b is of a key that the "
         "keyring does not have, signature c is of a key that the keyring does not have, signature "
         "d "
         "is of a key that the keyring does not have, and 1 more",
         ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t kind = 0; kind < EVIDENCE_KIND_COUNT; kind++)
            policy.signers[kind].threshold = rows[i].threshold;
        make(rows[i].by, STR(REQUIREMENTS SKILL OBSERVED));
        cr_expect_eq(evidence->state == EVIDENCE_VALID, rows[i].reason == NULL, "%s", rows[i].by);
        if (rows[i].reason != NULL)
            cr_expect_str_eq(evidence->reason.ptr, rows[i].reason, "%s", evidence->reason.ptr);
        cr_expect_str_eq(words(evidence->key_ids), rows[i].ids, "%s", rows[i].by);
    }
}

Test(evidence, each_kind_has_its_signers)
{
    const struct str named[] = {STR("security")};
    struct str requirements = STR(REQUIREMENTS SKILL OBSERVED);
    struct str baseline = STR(BASELINE "baseline: {}\n");

    policy.signers[EVIDENCE_BASELINE] =
        (struct policy_signers){.keys_named = true, .keys = {named, 1}, .threshold = 1};
    make("release", requirements);
    cr_expect_eq(evidence->state, EVIDENCE_VALID);
    make("release", baseline);
    cr_expect_eq(evidence->state, EVIDENCE_INVALID);
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE);
    cr_expect_str_eq(evidence->reason.ptr,
                     "0 of 1 keys needed: signature release is of a key that is not named for it");
    make("security release", baseline);
    cr_expect_eq(evidence->state, EVIDENCE_VALID);
    cr_expect_str_eq(words(evidence->key_ids), "release security");
    policy.signers[EVIDENCE_BASELINE].keys.count = 0;
    make("security release", baseline);
    cr_expect_eq(evidence->state, EVIDENCE_INVALID, "an empty list names nobody");
}

Test(evidence, a_threshold_that_nobody_set_admits_nothing)
{
    policy = (struct policy){0};
    make("release security", STR(REQUIREMENTS SKILL OBSERVED));
    cr_expect_eq(evidence->state, EVIDENCE_INVALID);
}

Test(evidence, a_baseline_is_known_though_nothing_else_is)
{
    static const struct {
        struct str document;
        bool baseline;
    } rows[] = {
        {STR_INIT(BASELINE "baseline: {}\n"), true},
        {STR_INIT("kind: ' SandboxBaseline '\n"), true},
        {STR_INIT("{\"kind\":\"SandboxBaseline\"}"), true},
        {STR_INIT("a: [\nkind: SandboxBaseline\n"), true},
        {STR_INIT("a: [\r\nkind:   SandboxBaseline   \r\n"), true},
        {STR_INIT("a: [\nkind: SandboxBaseline # ours\n"), true},
        {STR_INIT("a: [\nkind: \"SandboxBaseline\"\n"), true},
        {STR_INIT("{\n  \"kind\": \"SandboxBaseline\",\n"), true},
        {STR_INIT("{\"kind\":\"SandboxBaseline\","), true},
        {STR_INIT("a: 1\na: 2\nkind: SandboxBaseline"), true},
        {STR_INIT("\xff\nkind: SandboxBaseline\n"), true},
        {STR_INIT("a: [\n# kind: SandboxBaseline\n"), false},
        {STR_INIT("a: [\nmankind: SandboxBaseline\n"), false},
        {STR_INIT("a: [\nkind: SandboxRequirements\n"), false},
        {STR_INIT("a: [\nSandboxBaseline\n"), false},
        {STR_INIT(REQUIREMENTS SKILL OBSERVED), false},
        {STR_INIT("spec: |\n  kind: SandboxBaseline\n"), false},
        {STR_INIT("kind: [SandboxBaseline]\n"), false},
        {STR_INIT("- kind: SandboxBaseline\n"), false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        make("x=release", rows[i].document);
        cr_expect_eq(evidence->state, EVIDENCE_INVALID);
        cr_expect_str_eq(evidence->reason.ptr, "signature release does not verify");
        cr_expect_eq(evidence->kind, rows[i].baseline ? EVIDENCE_BASELINE : EVIDENCE_UNKNOWN,
                     "row %zu", i);
        make("", rows[i].document);
        cr_expect_eq(evidence->kind, rows[i].baseline ? EVIDENCE_BASELINE : EVIDENCE_UNKNOWN,
                     "row %zu", i);
    }
}

Test(evidence, a_signed_baseline_that_does_not_read_is_one)
{
    expect_invalid(STR(BASELINE "baseline: {}\nextra: 1\n"), "extra is not a known field");
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE);
    make("release", STR(BASELINE "baseline: [\n"));
    cr_expect_eq(evidence->state, EVIDENCE_INVALID);
    cr_expect_eq(evidence->kind, EVIDENCE_BASELINE);
}

Test(evidence, what_is_revoked_is_absent_whether_it_reads_or_not)
{
    static const struct {
        struct str document;
        const char *by;
        enum evidence_state state;
    } rows[] = {
        {STR_INIT(BASELINE "baseline: {}\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(BASELINE "baseline: {}\nextra: 1\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(BASELINE "baseline: [\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(REQUIREMENTS SKILL OBSERVED "audiences: []\n"), "release", EVIDENCE_REVOKED},
        {STR_INIT(BASELINE "baseline: {}\n"), "x=release", EVIDENCE_INVALID},
        {STR_INIT(BASELINE "baseline: {}\n"), "", EVIDENCE_INVALID},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str digest = {0};

        cr_assert_eq(digest_make_text(rows[i].document, &arena, &digest), 0);
        policy.revoked = (struct str_list){.items = &digest, .count = 1};
        make(rows[i].by, rows[i].document);
        cr_expect_eq(evidence->state, rows[i].state, "row %zu", i);
        cr_expect(str_equal(evidence->digest, digest));
    }
}

Test(evidence, an_audience_must_be_ours)
{
    static const struct {
        const char *audiences;
        const char *ours;
        enum evidence_state state;
    } rows[] = {
        {"", "", EVIDENCE_VALID},
        {"", "prod", EVIDENCE_VALID},
        {"audiences: null\n", "", EVIDENCE_VALID},
        {"audiences: []\n", "", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: []\n", "prod", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: [prod]\n", "", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: [test, prod]\n", "prod", EVIDENCE_VALID},
        {"audiences: [test]\n", "prod", EVIDENCE_OTHER_AUDIENCE},
        {"audiences: ['']\n", "", EVIDENCE_INVALID},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        policy.audience = str_of(rows[i].ours);
        make("release", helper_text(&arena, REQUIREMENTS SKILL OBSERVED "%s", rows[i].audiences));
        cr_expect_eq(evidence->state, rows[i].state, "row %zu", i);
    }
}

Test(evidence, patterns_match_as_the_contract_says)
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

Test(evidence, signers_are_remembered)
{
    struct keyring *fewer = NULL;
    struct str reason = {0};
    struct evidence *distrusted = NULL;

    make("release security", STR(BASELINE "baseline: {}\n"));
    cr_expect(evidence_signers_remain(evidence, ring));
    helper_remove(path, "security.pem");
    cr_assert_eq(keyring_load(path, &arena, &fewer, &reason), 0);
    cr_expect_not(evidence_signers_remain(evidence, fewer));
    cr_assert_eq(evidence_make_distrusted(evidence, STR("why"), &distrusted), 0);
    cr_expect_eq(distrusted->state, EVIDENCE_INVALID);
    cr_expect_eq(distrusted->kind, EVIDENCE_BASELINE);
    cr_expect_str_eq(distrusted->reason.ptr, "why");
    cr_expect_null(distrusted->baseline);
    cr_expect_eq(distrusted->key_ids.count, 0);
    evidence_unref(distrusted);
    keyring_unref(fewer);
}

Test(evidence, the_rules_have_one_digest_for_one_meaning)
{
    const struct str names[] = {STR("a"), STR("b")};
    unsigned char first[DIGEST_BYTES], again[DIGEST_BYTES];
    struct policy other = policy;

    cr_assert_eq(evidence_rules_digest(&policy, first), 0);
    other.max_age_days = 1;
    cr_assert_eq(evidence_rules_digest(&other, again), 0);
    cr_expect_arr_eq(first, again, DIGEST_BYTES);
    for (int change = 0; change < 5; change++) {
        other = policy;
        if (change == 0)
            other.audience = STR("x");
        else if (change == 1)
            other.revoked = (struct str_list){names, 2};
        else if (change == 2)
            other.signers[EVIDENCE_BASELINE].threshold = 2;
        else if (change == 3)
            other.signers[EVIDENCE_EXEMPTION].keys_named = true;
        else
            other.signers[EVIDENCE_EXEMPTION].keys = (struct str_list){names, 1};
        cr_assert_eq(evidence_rules_digest(&other, again), 0);
        cr_expect(memcmp(first, again, DIGEST_BYTES) != 0, "change %d", change);
    }
}

Test(evidence, a_typical_document_takes_little_memory)
{
    struct keyring *world = helper_keyring(&arena, "world/keyring");
    struct evidence_source source = helper_source(
        &arena, helper_bytes(&arena, TESTS_DIR "/cases/world/evidence/acme-report-1.4.0.yaml"));
    struct evidence *made = NULL;

    cr_assert_eq(evidence_make(&source, world, &policy, &made), 0);
    cr_expect_eq(made->state, EVIDENCE_VALID);
#ifndef __SANITIZE_ADDRESS__
    cr_expect_leq(made->arena.held_bytes, 2560, "%zu bytes", made->arena.held_bytes);
#endif
    evidence_unref(made);
    keyring_unref(world);
}

Test(evidence, every_failing_allocation_is_an_error)
{
    static const struct str documents[] = {
        STR_INIT(REQUIREMENTS "workload: {image_digest: " DIGEST_A ", class: c}\n"
                              "requirements: {observed_at: 2026-02-28T12:00:00Z, "
                              "writable_paths: [a, b]}\n"
                              "images: [" DIGEST_B "]\nnamespaces: [payments]\naudiences: [x]\n"),
        STR_INIT(BASELINE "baseline: {network_allowed: false}\nextra: 1\n"),
        STR_INIT(EXEMPTION MATCH "reason: x\nfindings: [a]\n" UNTIL),
        STR_INIT("kind: [\nkind: SandboxBaseline\n"),
    };

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        const struct evidence_source source = {
            .namespace_name = STR("payments"),
            .name = STR("doc"),
            .annotations = signed_by(i == 3 ? "x=release" : "release", documents[i]),
            .document = documents[i],
        };
        unsigned n = 1;

        for (;; n++) {
            struct evidence *made = NULL;
            int r = 0;

            failing_alloc_arm(n);
            r = evidence_make(&source, ring, &policy, &made);
            if (!failing_alloc_failed()) {
                cr_expect_eq(r, 0);
                evidence_unref(made);
                break;
            }
            cr_expect_eq(r, -ENOMEM, "document %zu, allocation %u", i, n);
            cr_expect_null(made);
        }
        cr_expect_gt(n, 2);
    }
}
