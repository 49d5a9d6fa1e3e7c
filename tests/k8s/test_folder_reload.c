/* SPDX-License-Identifier: Apache-2.0 */
/* test_folder_reload - later reads of a directory of manifests (gate-v1, section 9). */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/stat.h>

#include "tests/k8s/failing.h"
#include "tests/k8s/folder_site.h"

TestSuite(folder_reload, .init = site_begin, .fini = site_done);

Test(folder_reload, removed_objects_are_no_longer_valid)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/two"));
    site_expect("a/one valid\na/two valid\n", 0);
    helper_remove(site.path, "a.yaml");
    site_expect("a/two valid\n", 0);
}

Test(folder_reload, an_unreadable_file_keeps_its_last_state)
{
    helper_write(site.path, "a.yaml",
                 site_joined(site_signed_map("a", "one", "acme/one"),
                             STR("apiVersion: v1\nkind: Namespace\nmetadata: {name: a, "
                                 "labels: {sandbox.runx.dev/enforce: required}}\n")));
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/two"));
    site_expect("a/one valid\na/two valid\na enforce=required\n", 0);
    helper_write(site.path, "a.yaml", STR("[nonsense"));
    helper_remove(site.path, "b.yaml");
    helper_write(site.path, "c.yaml", site_signed_map("a", "three", "acme/three"));
    site_expect("a/one valid\na/three valid\na enforce=required\n", 1);
    site_expect("a/one valid\na/three valid\na enforce=required\n", 1);
    helper_write(site.path, "a.yaml", site_signed_map("a", "four", "acme/four"));
    site_expect("a/four valid\na/three valid\n", 0);
}

Test(folder_reload, a_half_written_file_keeps_its_last_state)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    site_expect("a/one valid\n", 0);
    helper_write(site.path, "a.yaml", STR(""));
    site_expect("a/one valid\n", 1);
    helper_write(site.path, "a.yaml", STR("\n"));
    site_expect("a/one valid\n", 1);
    helper_write(site.path, "a.yaml", STR("# withdrawn\n"));
    site_expect("", 0);
    helper_write(site.path, "a.yaml", STR(""));
    site_expect("", 0);
}

Test(folder_reload, an_unreadable_new_file_has_no_state)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    site_expect("a/one valid\n", 0);
    helper_write(site.path, "b.yaml", STR("[nonsense"));
    site_expect("a/one valid\n", 1);
}

Test(folder_reload, a_removed_directory_keeps_its_last_state)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    site_expect("a/one valid\n", 0);
    helper_remove_folder(site.path);
    site_expect("a/one valid\n", 1);
    cr_assert_eq(mkdir(site.path, 0700), 0);
    site_expect("", 0);
}

Test(folder_reload, evidence_is_verified_again_after_a_key_is_removed)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/two"));
    site_expect("a/one valid\na/two valid\n", 0);
    helper_write(site.keys_path, "other.pem",
                 helper_bytes(&site.arena, TESTS_DIR "/cases/world/keyring/release-2026.pem"));
    helper_remove(site.keys_path, "release.pem");
    site_read_keyring();
    /* one file is readable and verified again, the other keeps its last state without that key */
    helper_write(site.path, "b.yaml", STR("[nonsense"));
    site_expect("a/one invalid\na/two invalid\n", 1);
    helper_write(site.keys_path, "release.pem", helper_key_pem(site.key, &site.arena));
    site_read_keyring();
    site_expect("a/one valid\na/two invalid\n", 1);
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/two"));
    site_expect("a/one valid\na/two valid\n", 0);
}

Test(folder_reload, a_restored_key_is_used_when_the_broken_file_is_repaired)
{
    struct str two = site_signed_map("a", "two", "acme/two");

    helper_write(site.path, "b.yaml", two);
    helper_write(site.keys_path, "other.pem",
                 helper_bytes(&site.arena, TESTS_DIR "/cases/world/keyring/release-2026.pem"));
    helper_remove(site.keys_path, "release.pem");
    site_read_keyring();
    site_expect("a/two invalid\n", 0);
    helper_write(site.path, "b.yaml", STR("[nonsense"));
    helper_write(site.keys_path, "release.pem", helper_key_pem(site.key, &site.arena));
    site_read_keyring();
    site_expect("a/two invalid\n", 1);
    /* the bytes of the first load, and the keys of the last one */
    helper_write(site.path, "b.yaml", two);
    site_expect("a/two valid\n", 0);
}

Test(folder_reload, evidence_is_verified_again_after_a_change_of_rules)
{
    struct str revoked[1];

    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/two"));
    site_expect("a/one valid\na/two valid\n", 0);
    {
        struct snapshot *snapshot = NULL;

        cr_assert_eq(site_load(&snapshot), 0);
        revoked[0] = helper_text(&site.arena, "%s", snapshot_all(snapshot).items[0]->digest.ptr);
        snapshot_unref(snapshot);
    }
    site.policy.revoked = (struct str_list){.items = revoked, .count = 1};
    site_expect("a/one revoked\na/two valid\n", 0);
    helper_write(site.path, "b.yaml", STR("[nonsense"));
    site.policy.signers[EVIDENCE_REQUIREMENTS].threshold = 2;
    site_expect("a/one invalid\na/two invalid\n", 1);
}

Test(folder_reload, unchanged_evidence_is_not_verified_again)
{
    struct snapshot *before = NULL;
    struct snapshot *after = NULL;

    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/two"));
    cr_assert_eq(site_load(&before), 0);
    helper_write(site.path, "b.yaml", site_signed_map("a", "two", "acme/second"));
    site_read_keyring();
    site.policy.max_age_days = 7;
    cr_assert_eq(site_load(&after), 0);
    cr_expect_eq(snapshot_all(before).items[0], snapshot_all(after).items[0]);
    cr_expect_neq(snapshot_all(before).items[1], snapshot_all(after).items[1]);
    snapshot_unref(before);
    snapshot_unref(after);
}

Test(folder_reload, new_documents_do_not_displace_valid_ones_at_the_limit)
{
    helper_write(site.path, "b.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "c.yaml", site_signed_map("a", "three", "acme/three"));
    site_expect("a/one valid\na/three valid\n", 0);
    /* new, and sorted before b */
    helper_write(site.path, "a.yaml",
                 site_joined(site_signed_map("a", "two", "acme/two"),
                             site_signed_map("a", "one", "acme/other")));
    site_expect("a/one valid\na/three valid\n", 1);
    cr_expect(
        str_contains(site.report.reasons[0], STR("/a.yaml:10:1: this ConfigMap is defined twice")),
        "%s", site.report.reasons[0].ptr);
    helper_remove(site.path, "b.yaml");
    site_expect("a/one valid\na/three valid\na/two valid\n", 0);
}

Test(folder_reload, two_files_can_exchange_their_objects)
{
    struct str one = site_signed_map("a", "one", "acme/one");
    struct str two = site_signed_map("a", "two", "acme/two");

    helper_write(site.path, "a.yaml", one);
    helper_write(site.path, "b.yaml", two);
    site_expect("a/one valid\na/two valid\n", 0);
    helper_write(site.path, "a.yaml", two);
    helper_write(site.path, "b.yaml", one);
    site_expect("a/one valid\na/two valid\n", 0);
}

Test(folder_reload, a_current_file_has_priority_over_a_last_state)
{
    helper_write(site.path, "a.yaml",
                 site_joined(site_signed_map("a", "one", "acme/one"),
                             site_signed_map("a", "two", "acme/two")));
    site_expect("a/one valid\na/two valid\n", 0);
    helper_write(site.path, "a.yaml", STR("[nonsense"));
    helper_write(site.path, "b.yaml", site_signed_map("a", "one", "acme/newer"));
    {
        struct snapshot *snapshot = NULL;

        cr_assert_eq(site_load(&snapshot), 0);
        cr_expect_eq(snapshot_all(snapshot).count, 2);
        cr_expect_str_eq(snapshot_all(snapshot).items[0]->skill_ref.ptr, "acme/newer@1.0.0");
        cr_expect_str_eq(snapshot_all(snapshot).items[1]->skill_ref.ptr, "acme/two@1.0.0");
        snapshot_unref(snapshot);
    }
}

Test(folder_reload, a_read_error_in_a_file_keeps_its_last_state)
{
    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    failing_read_short(11);
    site_expect("a/one valid\n", 0);
    failing_read_short(0);
    failing_read_arm(1);
    site_expect("a/one valid\n", 1);
}

Test(folder_reload, every_failing_allocation_is_an_error_and_changes_nothing)
{
    unsigned n = 1;

    helper_write(site.path, "a.yaml", site_signed_map("a", "one", "acme/one"));
    helper_write(site.path, "b.yaml",
                 site_joined(site_signed_map("a", "two", "acme/two"),
                             STR("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")));
    helper_write(site.path, "c.yaml", site_signed_map("a", "three", "acme/three"));
    site_expect("a/one valid\na/three valid\na/two valid\na enforce=(none)\n", 0);
    helper_write(site.path, "a.yaml", STR("[nonsense"));
    helper_write(site.path, "c.yaml", site_signed_map("a", "two", "acme/two"));
    site.policy.signers[EVIDENCE_REQUIREMENTS].keys = (struct str_list){0};
    for (;; n++) {
        struct arena scratch = {0};
        struct snapshot *snapshot = NULL;
        int r = 0;

        /* so that each attempt verifies again */
        site.policy.audience = n % 2 == 0 ? STR("x") : STR("y");
        failing_alloc_arm(n);
        r = folder_load(site.folder, site.keyring, &site.policy, (struct snapshot_keep){0},
                        &scratch, &snapshot, &site.report);
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
    site_expect("a/one invalid\na/three invalid\na/two valid\na enforce=(none)\n", 2);
}
