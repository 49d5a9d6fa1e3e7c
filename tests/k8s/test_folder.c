/* A folder of manifests, read and read again (gate-v1, section 9). */
#include <criterion/criterion.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/folder.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

static struct arena arena;
static struct helper_key *key;
static char *keys_path; /* a keyring with `release`, the public half of key */
static struct keyring *keyring;
static char *path; /* the folder of manifests */
static struct folder *folder;
static struct policy policy;
static struct folder_report report;

static void read_keyring(void)
{
    struct str reason = {0};

    keyring_unref(keyring);
    cr_assert_eq(keyring_load(keys_path, &arena, &keyring, &reason), 0, "%s", reason.ptr);
}

static void begin(void)
{
    key = helper_key_new(&arena, GNUTLS_PK_EDDSA_ED25519, 0);
    keys_path = helper_new_folder(&arena);
    helper_write(keys_path, "release.pem", helper_key_pem(key, &arena));
    path = helper_new_folder(&arena);
    policy = policy_defaults();
    read_keyring();
    cr_assert_eq(folder_new(path, &folder), 0);
}

static void done(void)
{
    folder_free(folder);
    keyring_unref(keyring);
    helper_key_free(key);
    helper_remove_folder(keys_path);
    if (access(path, F_OK) == 0)
        helper_remove_folder(path);
    arena_release(&arena);
}

TestSuite(folder, .init = begin, .fini = done);

static int load(struct snapshot **ret_snapshot)
{
    return folder_load(folder, keyring, &policy, (struct snapshot_keep){0}, &arena, ret_snapshot,
                       &report);
}

/* What counts, as one text: `namespace/name state`, by namespace and name, then the namespaces
 * that are asked for. */
static struct str shown(const struct snapshot *snapshot)
{
    static const char *const names[] = {"a", "b", "payments", "scratch"};
    struct evidence_run run = snapshot_all(snapshot);
    struct str text = STR("");

    for (size_t i = 0; i < run.count; i++)
        text = helper_text(&arena, "%s%s/%s %s\n", text.ptr, run.items[i]->namespace_name.ptr,
                           run.items[i]->name.ptr, evidence_state_text(run.items[i]->state));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct namespace_labels *labels = snapshot_namespace(snapshot, str_of(names[i]));

        if (labels != NULL)
            text = helper_text(&arena, "%s%s enforce=%s\n", text.ptr, names[i],
                               str_present(labels->enforce) ? labels->enforce.ptr : "(none)");
    }
    return text;
}

static void expect(const char *state, size_t failed_files)
{
    struct snapshot *snapshot = NULL;
    struct str text = {0};

    cr_assert_eq(load(&snapshot), 0);
    text = shown(snapshot);
    cr_expect_str_eq(text.ptr, state, "%s", text.ptr);
    cr_expect_eq(report.failed_files, failed_files, "%zu failed: %s", report.failed_files,
                 report.reason_count > 0 ? report.reasons[0].ptr : "");
    cr_expect_eq(report.reason_count, failed_files);
    snapshot_unref(snapshot);
}

/* A first load that fails for this reason, which begins with the folder's path. */
static void expect_refused(const char *reason)
{
    struct snapshot *snapshot = NULL;

    cr_expect_eq(load(&snapshot), -EINVAL);
    cr_expect_null(snapshot);
    cr_assert_eq(report.reason_count, 1);
    cr_assert(str_starts_with(report.reasons[0], str_of(path)));
    cr_expect_str_eq(report.reasons[0].ptr + strlen(path), reason, "%s", report.reasons[0].ptr);
}

/* A manifest with a document that our key signed. */
static struct str signed_map(const char *namespace_name, const char *name, const char *skill)
{
    struct str document =
        helper_text(&arena,
                    "{\"apiVersion\": \"sandbox.runx.dev/v1\", "
                    "\"kind\": \"SandboxRequirements\", "
                    "\"workload\": {\"skill_ref\": \"%s@1.0.0\"}, "
                    "\"requirements\": {\"observed_at\": \"2026-02-28T12:00:00Z\"}}",
                    skill);

    return helper_text(&arena,
                       "apiVersion: v1\nkind: ConfigMap\n"
                       "metadata:\n  name: %s\n  namespace: %s\n"
                       "  labels: {sandbox.runx.dev/evidence: \"true\"}\n"
                       "  annotations: {signature.sandbox.runx.dev/release: \"%s\"}\n"
                       "data: {sandbox.yaml: '%s'}\n",
                       name, namespace_name, helper_key_sign(key, &arena, document).ptr,
                       document.ptr);
}

static struct str plain_map(const char *rest)
{
    return helper_text(&arena, "apiVersion: v1\nkind: ConfigMap\n%s", rest);
}

static struct str joined(struct str a, struct str b)
{
    return helper_text(&arena, "%s---\n%s", a.ptr, b.ptr);
}

Test(folder, the_world_is_read)
{
    struct keyring *world = helper_keyring(&arena, "world/keyring");
    struct folder *manifests = NULL;
    struct snapshot *snapshot = NULL;
    struct str text = {0};
    const struct evidence *evidence = NULL;
    struct evidence_run run = {0};

    cr_assert_eq(
        folder_new(helper_text(&arena, "%s/cases/world/evidence", TESTS_DIR).ptr, &manifests), 0);
    cr_assert_eq(folder_load(manifests, world, &policy, (struct snapshot_keep){0}, &arena,
                             &snapshot, &report),
                 0);
    text = shown(snapshot);
    cr_expect_str_eq(text.ptr, "payments/acme-nordic-1.0.0 valid\npayments/acme-old-1.0.0 valid\n"
                               "sandgate-system/acme-report-1.4.0 valid\n"
                               "sandgate-system/acme-report-image valid\n"
                               "sandgate-system/baseline valid\n"
                               "payments enforce=required\nscratch enforce=annotated\n");
    run = snapshot_requirements(snapshot, STR("acme/report@1.4.0"), (struct str){0});
    cr_assert_eq(run.count, 1);
    evidence = run.items[0];
    cr_expect_str_eq(evidence->digest.ptr,
                     "sha256:c97581d48f2ce11a7a9a0160c6f63b01010a6d90c222fb79b811b96564d39264");
    cr_assert_eq(evidence->key_ids.count, 2);
    cr_expect_str_eq(evidence->key_ids.items[0].ptr, "release-2026");
    cr_expect_str_eq(evidence->key_ids.items[1].ptr, "security-2026");
    cr_expect_str_eq(evidence->class_text.ptr, "batch job");
    snapshot_unref(snapshot);
    folder_free(manifests);
    keyring_unref(world);
}

Test(folder, only_labelled_config_maps_are_evidence)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml",
                 plain_map("metadata: {name: no-label}\ndata: {sandbox.yaml: x}\n"));
    helper_write(
        path, "c.yaml",
        plain_map("metadata: {name: upper, labels: {sandbox.runx.dev/evidence: 'True'}}\n"));
    helper_write(
        path, "d.yaml",
        plain_map("metadata: {name: no-data, labels: {sandbox.runx.dev/evidence: 'true'}}\n"));
    helper_write(path, "e.json",
                 STR("{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {}}"));
    helper_write(path, "f.yml", STR("apiVersion: example.com/v1\nkind: ConfigMap\n"));
    expect("a/one valid\ndefault/no-data invalid\n", 0);
}

Test(folder, only_manifests_of_the_folder_itself_are_read)
{
    char deeper[4096];

    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yml", signed_map("a", "two", "acme/two"));
    helper_write(path, ".hidden.yaml", STR("{"));
    helper_write(path, "..old.yaml", STR("{"));
    helper_write(path, "notes.txt", STR("{"));
    helper_write(path, "c.yaml~", STR("{"));
    (void)snprintf(deeper, sizeof(deeper), "%s/deeper", path);
    cr_assert_eq(mkdir(deeper, 0700), 0);
    expect("a/one valid\na/two valid\n", 0);
}

Test(folder, an_empty_folder_has_nothing)
{
    expect("", 0);
}

Test(folder, namespaces_carry_their_labels)
{
    helper_write(path, "a.yaml",
                 STR("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n"
                     "    sandbox.runx.dev/enforce: required\n    kubernetes.io/metadata.name: a\n"
                     "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"));
    expect("a enforce=required\nb enforce=(none)\n", 0);
}

Test(folder, lists_are_opened)
{
    helper_write(
        path, "a.json",
        STR("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
            "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"a\"}},"
            "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": "
            "\"b\"}}]}"));
    expect("a enforce=(none)\nb enforce=(none)\n", 0);
}

Test(folder, what_is_wrong_ends_the_first_load_with_its_place)
{
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"apiVersion: v1\nkind: [\n", NULL},
        {"apiVersion: v1\nkind: ConfigMap\n", "/a.yaml:1:1: metadata.name is required"},
        {"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ''}\n",
         "/a.yaml:2:1: metadata.name is required"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [x]}\n",
         "/a.yaml:1:1: metadata.name is required"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: 7}\n",
         "/a.yaml:1:1: metadata.namespace must be text"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {count: 7}\n",
         "/a.yaml:1:1: data must be a map of texts; quote its values"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: text\n",
         "/a.yaml:1:1: data must be a map of texts; quote its values"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nbinaryData: {a: [1]}\n",
         "/a.yaml:1:1: binaryData must be a map of texts"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n",
         "/a.yaml:5:1: this ConfigMap is given twice; take one out"},
        {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\n"
         "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n",
         "/a.yaml:5:1: this Namespace is given twice; take one out"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        helper_write(path, "a.yaml", str_of(rows[i].text));
        if (rows[i].reason != NULL) {
            expect_refused(rows[i].reason);
        } else {
            struct snapshot *snapshot = NULL;

            cr_expect_eq(load(&snapshot), -EINVAL);
            cr_expect_eq(report.reason_count, 1);
        }
    }
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    expect("a/one valid\n", 0);
}

Test(folder, an_object_of_two_files_ends_the_first_load)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml",
                 joined(signed_map("a", "two", "acme/two"), signed_map("a", "one", "acme/one")));
    expect_refused("/b.yaml:10:1: this ConfigMap is given twice; take one out");
}

Test(folder, what_is_no_regular_file_ends_the_first_load_without_waiting)
{
    char fifo[4096];
    char target[4096];

    (void)snprintf(fifo, sizeof(fifo), "%s/a.yaml", path);
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    expect_refused("/a.yaml: it is no regular file");
    helper_remove(path, "a.yaml");
    cr_assert_eq(mkdir(fifo, 0700), 0);
    expect_refused("/a.yaml: it is no regular file");
    helper_remove(path, "a.yaml");
    (void)snprintf(target, sizeof(target), "%s/nowhere", path);
    cr_assert_eq(symlink(target, fifo), 0);
    expect_refused("/a.yaml: No such file or directory");
}

Test(folder, a_huge_file_is_not_read)
{
    char huge[4096];

    (void)snprintf(huge, sizeof(huge), "%s/a.yaml", path);
    helper_write(path, "a.yaml", STR("x"));
    cr_assert_eq(truncate(huge, FOLDER_MAX_FILE_BYTES + 1), 0);
    expect_refused("/a.yaml: the file is too large");
}

Test(folder, a_name_that_could_drive_a_terminal_is_not_shown)
{
    helper_write(path, "a\033[2J.yaml", STR("{"));
    {
        struct snapshot *snapshot = NULL;

        cr_expect_eq(load(&snapshot), -EINVAL);
        cr_assert_eq(report.reason_count, 1);
        cr_expect(str_contains(report.reasons[0], STR("/a?[2J.yaml:")), "%s",
                  report.reasons[0].ptr);
    }
    helper_remove(path, "a\033[2J.yaml");
}

Test(folder, all_reasons_are_told_up_to_the_bound)
{
    struct snapshot *snapshot = NULL;

    for (int i = 0; i < FOLDER_MAX_REASONS + 4; i++)
        helper_write(path, helper_text(&arena, "%02d.yaml", i).ptr, STR("["));
    cr_expect_eq(load(&snapshot), -EINVAL);
    cr_expect_eq(report.failed_files, FOLDER_MAX_REASONS + 4);
    cr_expect_eq(report.reason_count, FOLDER_MAX_REASONS);
}

Test(folder, a_missing_folder_ends_the_first_load)
{
    helper_remove_folder(path);
    expect_refused(": No such file or directory");
}

Test(folder, what_is_gone_stops_counting)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/two"));
    expect("a/one valid\na/two valid\n", 0);
    helper_remove(path, "a.yaml");
    expect("a/two valid\n", 0);
}

Test(folder, a_file_that_cannot_be_read_keeps_its_last_state)
{
    helper_write(path, "a.yaml",
                 joined(signed_map("a", "one", "acme/one"),
                        STR("apiVersion: v1\nkind: Namespace\nmetadata: {name: a, "
                            "labels: {sandbox.runx.dev/enforce: required}}\n")));
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/two"));
    expect("a/one valid\na/two valid\na enforce=required\n", 0);
    helper_write(path, "a.yaml", STR("[nonsense"));
    helper_remove(path, "b.yaml");
    helper_write(path, "c.yaml", signed_map("a", "three", "acme/three"));
    expect("a/one valid\na/three valid\na enforce=required\n", 1);
    expect("a/one valid\na/three valid\na enforce=required\n", 1);
    helper_write(path, "a.yaml", signed_map("a", "four", "acme/four"));
    expect("a/four valid\na/three valid\n", 0);
}

Test(folder, a_file_that_was_never_read_has_no_last_state)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    expect("a/one valid\n", 0);
    helper_write(path, "b.yaml", STR("[nonsense"));
    expect("a/one valid\n", 1);
}

Test(folder, a_folder_that_vanishes_keeps_its_last_state)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    expect("a/one valid\n", 0);
    helper_remove_folder(path);
    expect("a/one valid\n", 1);
    cr_assert_eq(mkdir(path, 0700), 0);
    expect("", 0);
}

Test(folder, a_reload_judges_again_when_a_key_is_taken_away)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/two"));
    expect("a/one valid\na/two valid\n", 0);
    helper_write(keys_path, "other.pem",
                 helper_bytes(&arena, TESTS_DIR "/cases/world/keyring/release-2026.pem"));
    helper_remove(keys_path, "release.pem");
    read_keyring();
    /* one file is whole and judged again, one keeps its last state without the key's help */
    helper_write(path, "b.yaml", STR("[nonsense"));
    expect("a/one invalid\na/two invalid\n", 1);
    helper_write(keys_path, "release.pem", helper_key_pem(key, &arena));
    read_keyring();
    expect("a/one valid\na/two invalid\n", 1);
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/two"));
    expect("a/one valid\na/two valid\n", 0);
}

Test(folder, a_key_that_comes_back_while_a_file_is_broken_is_looked_at_when_it_is_whole)
{
    struct str two = signed_map("a", "two", "acme/two");

    helper_write(path, "b.yaml", two);
    helper_write(keys_path, "other.pem",
                 helper_bytes(&arena, TESTS_DIR "/cases/world/keyring/release-2026.pem"));
    helper_remove(keys_path, "release.pem");
    read_keyring();
    expect("a/two invalid\n", 0);
    helper_write(path, "b.yaml", STR("[nonsense"));
    helper_write(keys_path, "release.pem", helper_key_pem(key, &arena));
    read_keyring();
    expect("a/two invalid\n", 1);
    /* the same bytes as at first, and the keys as at the last load */
    helper_write(path, "b.yaml", two);
    expect("a/two valid\n", 0);
}

Test(folder, a_reload_judges_again_when_the_rules_change)
{
    struct str revoked[1];

    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/two"));
    expect("a/one valid\na/two valid\n", 0);
    {
        struct snapshot *snapshot = NULL;

        cr_assert_eq(load(&snapshot), 0);
        revoked[0] = helper_text(&arena, "%s", snapshot_all(snapshot).items[0]->digest.ptr);
        snapshot_unref(snapshot);
    }
    policy.revoked = (struct str_list){.items = revoked, .count = 1};
    expect("a/one revoked\na/two valid\n", 0);
    helper_write(path, "b.yaml", STR("[nonsense"));
    policy.signers[EVIDENCE_REQUIREMENTS].threshold = 2;
    expect("a/one invalid\na/two invalid\n", 1);
}

Test(folder, what_did_not_change_is_not_judged_again)
{
    struct snapshot *before = NULL;
    struct snapshot *after = NULL;

    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/two"));
    cr_assert_eq(load(&before), 0);
    helper_write(path, "b.yaml", signed_map("a", "two", "acme/second"));
    read_keyring();
    policy.max_age_days = 7;
    cr_assert_eq(load(&after), 0);
    cr_expect_eq(snapshot_all(before).items[0], snapshot_all(after).items[0]);
    cr_expect_neq(snapshot_all(before).items[1], snapshot_all(after).items[1]);
    snapshot_unref(before);
    snapshot_unref(after);
}

Test(folder, at_a_reload_what_counts_already_is_not_pushed_out)
{
    helper_write(path, "b.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "c.yaml", signed_map("a", "three", "acme/three"));
    expect("a/one valid\na/three valid\n", 0);
    /* sorted before b, and new */
    helper_write(path, "a.yaml",
                 joined(signed_map("a", "two", "acme/two"), signed_map("a", "one", "acme/other")));
    expect("a/one valid\na/three valid\n", 1);
    cr_expect(str_contains(report.reasons[0], STR("/a.yaml:10:1: this ConfigMap is given twice")),
              "%s", report.reasons[0].ptr);
    helper_remove(path, "b.yaml");
    expect("a/one valid\na/three valid\na/two valid\n", 0);
}

Test(folder, two_files_may_exchange_their_objects)
{
    struct str one = signed_map("a", "one", "acme/one");
    struct str two = signed_map("a", "two", "acme/two");

    helper_write(path, "a.yaml", one);
    helper_write(path, "b.yaml", two);
    expect("a/one valid\na/two valid\n", 0);
    helper_write(path, "a.yaml", two);
    helper_write(path, "b.yaml", one);
    expect("a/one valid\na/two valid\n", 0);
}

Test(folder, what_a_file_says_now_goes_before_a_last_state)
{
    helper_write(path, "a.yaml",
                 joined(signed_map("a", "one", "acme/one"), signed_map("a", "two", "acme/two")));
    expect("a/one valid\na/two valid\n", 0);
    helper_write(path, "a.yaml", STR("[nonsense"));
    helper_write(path, "b.yaml", signed_map("a", "one", "acme/newer"));
    {
        struct snapshot *snapshot = NULL;

        cr_assert_eq(load(&snapshot), 0);
        cr_expect_eq(snapshot_all(snapshot).count, 2);
        cr_expect_str_eq(snapshot_all(snapshot).items[0]->skill_ref.ptr, "acme/newer@1.0.0");
        cr_expect_str_eq(snapshot_all(snapshot).items[1]->skill_ref.ptr, "acme/two@1.0.0");
        snapshot_unref(snapshot);
    }
}

Test(folder, a_mounted_config_map_is_read_by_way_of_its_links)
{
    struct str text = signed_map("a", "one", "acme/one");
    char data[4096], link[4096], version[4096];

    (void)snprintf(version, sizeof(version), "%s/..2026_03_01", path);
    (void)snprintf(data, sizeof(data), "%s/..data", path);
    (void)snprintf(link, sizeof(link), "%s/a.yaml", path);
    cr_assert_eq(mkdir(version, 0700), 0);
    helper_write(version, "a.yaml", text);
    cr_assert_eq(symlink("..2026_03_01", data), 0);
    cr_assert_eq(symlink("..data/a.yaml", link), 0);
    expect("a/one valid\n", 0);
    helper_remove(version, "a.yaml");
}

static unsigned releases;

static void count_release(void *object)
{
    releases += object == &releases;
}

Test(folder, a_keep_is_released_once_whatever_happens)
{
    struct snapshot_keep keep = {.object = &releases, .release = count_release};
    struct snapshot *snapshot = NULL;

    helper_write(path, "a.yaml", STR("["));
    cr_assert_eq(folder_load(folder, keyring, &policy, keep, &arena, &snapshot, &report), -EINVAL);
    cr_expect_eq(releases, 1);
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    cr_assert_eq(folder_load(folder, keyring, &policy, keep, &arena, &snapshot, &report), 0);
    cr_expect_eq(releases, 1);
    snapshot_unref(snapshot);
    cr_expect_eq(releases, 2);
}

Test(folder, a_file_that_cannot_be_read_through_keeps_its_last_state)
{
    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    failing_read_short(11);
    expect("a/one valid\n", 0);
    failing_read_short(0);
    failing_read_arm(1);
    expect("a/one valid\n", 1);
}

Test(folder, every_failing_allocation_is_an_error_and_changes_nothing)
{
    unsigned n = 1;

    helper_write(path, "a.yaml", signed_map("a", "one", "acme/one"));
    helper_write(path, "b.yaml",
                 joined(signed_map("a", "two", "acme/two"),
                        STR("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")));
    helper_write(path, "c.yaml", signed_map("a", "three", "acme/three"));
    expect("a/one valid\na/three valid\na/two valid\na enforce=(none)\n", 0);
    helper_write(path, "a.yaml", STR("[nonsense"));
    helper_write(path, "c.yaml", signed_map("a", "two", "acme/two"));
    policy.signers[EVIDENCE_REQUIREMENTS].keys = (struct str_list){0};
    for (;; n++) {
        struct arena scratch = {0};
        struct snapshot *snapshot = NULL;
        int r = 0;

        /* so that each attempt has to judge again */
        policy.audience = n % 2 == 0 ? STR("x") : STR("y");
        failing_alloc_arm(n);
        r = folder_load(folder, keyring, &policy, (struct snapshot_keep){0}, &scratch, &snapshot,
                        &report);
        if (!failing_alloc_failed()) {
            cr_expect_eq(r, 0);
            snapshot_unref(snapshot);
            arena_release(&scratch);
            break;
        }
        cr_expect_eq(r, -ENOMEM, "allocation %u", n);
        cr_expect_null(snapshot);
        arena_release(&scratch);
    }
    cr_expect_gt(n, 20);
    expect("a/one invalid\na/three invalid\na/two valid\na enforce=(none)\n", 2);
}
