/* SPDX-License-Identifier: Apache-2.0 */
/* test_folder - the first read of a directory of manifests (gate-v1, section 9). */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/k8s/folder_site.h"

TestSuite(folder, .init = site_begin, .fini = site_done);

Test(folder, the_directory_of_the_cases_is_read)
{
    struct keyring *world = helper_keyring(&site.arena, "world/keyring");
    struct folder *manifests = NULL;
    struct snapshot *snapshot = NULL;
    struct str text = {0};
    const struct evidence *evidence = NULL;
    struct evidence_run run = {0};

    cr_assert_eq(
        folder_new(helper_text(&site.arena, "%s/cases/world/evidence", TESTS_DIR).ptr, &manifests),
        0);
    cr_assert_eq(folder_load(manifests, world, &site.policy, (struct snapshot_keep){0}, &site.arena,
                             &snapshot, &site.report),
                 0);
    text = site_shown(snapshot);
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
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml",
                 site_plain_map("metadata: {name: no-label}\ndata: {sandbox.yaml: x}\n"));
    helper_write(
        site.path, "c.yaml",
        site_plain_map("metadata: {name: upper, labels: {sandbox.runx.dev/evidence: 'True'}}\n"));
    helper_write(
        site.path, "d.yaml",
        site_plain_map("metadata: {name: no-data, labels: {sandbox.runx.dev/evidence: 'true'}}\n"));
    helper_write(site.path, "e.json",
                 STR("{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {}}"));
    helper_write(site.path, "f.yml", STR("apiVersion: example.com/v1\nkind: ConfigMap\n"));
    site_expect("a/one valid\ndefault/no-data invalid\n", 0);
}

Test(folder, subdirectories_are_not_read)
{
    char deeper[4096];

    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yml", site_signed_map("a", "two", "acme/two"));
    helper_write(site.path, "notes.txt", STR("{"));
    helper_write(site.path, "c.yaml~", STR("{"));
    (void)snprintf(deeper, sizeof(deeper), "%s/deeper", site.path);
    cr_assert_eq(mkdir(deeper, 0700), 0);
    site_expect("a/one valid\na/two valid\n", 0);
}

/* As kubectl takes them: otherwise a baseline could be in the cluster and not in the folder. */
Test(folder, files_are_chosen_by_extension_alone)
{
    helper_write(site.path, ".a.json",
                 STR("{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", "
                     "\"metadata\": {\"name\": \"a\"}}"));
    helper_write(site.path, "..b.yml", site_signed_map("a", "two", "acme/two"));
    helper_write(site.path, ".yaml", site_signed_map("a", "three", "acme/three"));
    site_expect("a/three valid\na/two valid\na enforce=(none)\n", 0);
}

Test(folder, an_empty_directory_has_no_evidence)
{
    site_expect("", 0);
}

Test(folder, labels_of_namespaces_are_read)
{
    helper_write(site.path, "a.yaml",
                 STR("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n"
                     "    sandbox.runx.dev/enforce: required\n    kubernetes.io/metadata.name: a\n"
                     "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"));
    site_expect("a enforce=required\nb enforce=(none)\n", 0);
}

Test(folder, items_of_lists_are_read)
{
    helper_write(
        site.path, "a.json",
        STR("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
            "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"a\"}},"
            "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": "
            "\"b\"}}]}"));
    site_expect("a enforce=(none)\nb enforce=(none)\n", 0);
}

Test(folder, an_error_fails_the_first_load_with_its_place)
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
         "/a.yaml:1:1: data must be a map of text values; quote them"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: text\n",
         "/a.yaml:1:1: data must be a map of text values; quote them"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nbinaryData: {a: [1]}\n",
         "/a.yaml:1:1: binaryData must be a map of text values"},
        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n",
         "/a.yaml:5:1: this ConfigMap is defined twice; remove one"},
        {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\n"
         "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n",
         "/a.yaml:5:1: this Namespace is defined twice; remove one"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        helper_write(site.path, "a.yaml", str_of(rows[i].text));
        if (rows[i].reason != NULL) {
            site_expect_refused(rows[i].reason);
        } else {
            struct snapshot *snapshot = NULL;

            cr_expect_eq(site_load(&snapshot), -EINVAL);
            cr_expect_eq(site.report.reason_count, 1);
        }
    }
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    site_expect("a/one valid\n", 0);
}

Test(folder, an_object_in_two_files_fails_the_first_load)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml",
                 site_joined(site_signed_map("a", "two", "acme/two"),
                             site_signed_map("a", "one", "acme/one")));
    site_expect_refused("/b.yaml:10:1: this ConfigMap is defined twice; remove one");
}

Test(folder, a_file_that_is_not_regular_fails_the_first_load_at_once)
{
    char fifo[4096];
    char target[4096];

    (void)snprintf(fifo, sizeof(fifo), "%s/a.yaml", site.path);
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    site_expect_refused("/a.yaml: it is not a regular file");
    helper_remove(site.path, "a.yaml");
    cr_assert_eq(mkdir(fifo, 0700), 0);
    site_expect_refused("/a.yaml: it is not a regular file");
    helper_remove(site.path, "a.yaml");
    (void)snprintf(target, sizeof(target), "%s/nowhere", site.path);
    cr_assert_eq(symlink(target, fifo), 0);
    site_expect_refused("/a.yaml: No such file or directory");
}

Test(folder, a_huge_file_is_not_read)
{
    char huge[4096];

    (void)snprintf(huge, sizeof(huge), "%s/a.yaml", site.path);
    helper_write(site.path, "a.yaml", STR("x"));
    cr_assert_eq(truncate(huge, FOLDER_MAX_FILE_BYTES + 1), 0);
    site_expect_refused("/a.yaml: the file is too large");
}

Test(folder, a_file_name_with_control_characters_is_not_printed)
{
    helper_write(site.path, "a\033[2J.yaml", STR("{"));
    {
        struct snapshot *snapshot = NULL;

        cr_expect_eq(site_load(&snapshot), -EINVAL);
        cr_assert_eq(site.report.reason_count, 1);
        cr_expect(str_contains(site.report.reasons[0], STR("/a?[2J.yaml:")), "%s",
                  site.report.reasons[0].ptr);
    }
    helper_remove(site.path, "a\033[2J.yaml");
}

Test(folder, all_reasons_are_reported_up_to_the_limit)
{
    struct snapshot *snapshot = NULL;

    for (int i = 0; i < FOLDER_MAX_REASONS + 4; i++)
        helper_write(site.path, helper_text(&site.arena, "%02d.yaml", i).ptr, STR("["));
    cr_expect_eq(site_load(&snapshot), -EINVAL);
    cr_expect_eq(site.report.failed_files, FOLDER_MAX_REASONS + 4);
    cr_expect_eq(site.report.reason_count, FOLDER_MAX_REASONS);
}

Test(folder, a_missing_directory_fails_the_first_load)
{
    helper_remove_folder(site.path);
    site_expect_refused(": No such file or directory");
}

Test(folder, a_mounted_config_map_is_read_through_its_links)
{
    struct str text = site_signed_map("a", "one", "acme/one");
    char data[4096], link[4096], version[4096];

    (void)snprintf(version, sizeof(version), "%s/..2026_03_01", site.path);
    (void)snprintf(data, sizeof(data), "%s/..data", site.path);
    (void)snprintf(link, sizeof(link), "%s/a.yaml", site.path);
    cr_assert_eq(mkdir(version, 0700), 0);
    helper_write(version, "a.yaml", text);
    cr_assert_eq(symlink("..2026_03_01", data), 0);
    cr_assert_eq(symlink("..data/a.yaml", link), 0);
    site_expect("a/one valid\n", 0);
    helper_remove(version, "a.yaml");
}

static unsigned releases;

static void count_release(void *object)
{
    releases += object == &releases;
}

Test(folder, a_kept_object_is_released_exactly_once)
{
    struct snapshot_keep keep = {.object = &releases, .release = count_release};
    struct snapshot *snapshot = NULL;

    helper_write(site.path, "a.yaml", STR("["));
    cr_assert_eq(folder_load(site.folder, site.keyring, &site.policy, keep, &site.arena, &snapshot,
                             &site.report),
                 -EINVAL);
    cr_expect_eq(releases, 1);
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    cr_assert_eq(folder_load(site.folder, site.keyring, &site.policy, keep, &site.arena, &snapshot,
                             &site.report),
                 0);
    cr_expect_eq(releases, 1);
    snapshot_unref(snapshot);
    cr_expect_eq(releases, 2);
}
