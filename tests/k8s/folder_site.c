/* SPDX-License-Identifier: Apache-2.0 */
/* folder_site - a directory of manifests and a keyring, for tests of k8s/folder. */
#include "tests/k8s/folder_site.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <unistd.h>

struct site site;

void site_read_keyring(void)
{
    struct str reason = {0};

    keyring_unref(site.keyring);
    cr_assert_eq(keyring_load(site.keys_path, &site.arena, &site.keyring, &reason), 0, "%s",
                 reason.ptr);
}

void site_begin(void)
{
    site.key = helper_key_new(&site.arena, GNUTLS_PK_EDDSA_ED25519, 0);
    site.keys_path = helper_new_folder(&site.arena);
    helper_write(site.keys_path, "release.pem", helper_key_pem(site.key, &site.arena));
    site.path = helper_new_folder(&site.arena);
    site.policy = policy_defaults();
    site_read_keyring();
    cr_assert_eq(folder_new(site.path, &site.folder), 0);
}

void site_done(void)
{
    folder_free(site.folder);
    keyring_unref(site.keyring);
    helper_key_free(site.key);
    helper_remove_folder(site.keys_path);
    if (access(site.path, F_OK) == 0)
        helper_remove_folder(site.path);
    arena_release(&site.arena);
}

int site_load(struct snapshot **ret_snapshot)
{
    return folder_load(site.folder, site.keyring, &site.policy, (struct snapshot_keep){0},
                       &site.arena, ret_snapshot, &site.report);
}

struct str site_shown(const struct snapshot *snapshot)
{
    static const char *const names[] = {"a", "b", "payments", "scratch"};
    struct evidence_run run = snapshot_all(snapshot);
    struct str text = STR("");

    for (size_t i = 0; i < run.count; i++)
        text = helper_text(&site.arena, "%s%s/%s %s\n", text.ptr, run.items[i]->namespace_name.ptr,
                           run.items[i]->name.ptr, evidence_state_text(run.items[i]->state));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct namespace_labels *labels = snapshot_namespace(snapshot, str_of(names[i]));

        if (labels != NULL)
            text = helper_text(&site.arena, "%s%s enforce=%s\n", text.ptr, names[i],
                               str_present(labels->labels.enforce) ? labels->labels.enforce.ptr
                                                                   : "(none)");
    }
    return text;
}

void site_expect(const char *state, size_t failed_files)
{
    struct snapshot *snapshot = NULL;
    struct str text = {0};

    cr_assert_eq(site_load(&snapshot), 0);
    text = site_shown(snapshot);
    cr_expect_str_eq(text.ptr, state, "%s", text.ptr);
    cr_expect_eq(site.report.failed_files, failed_files, "%zu failed: %s", site.report.failed_files,
                 site.report.reason_count > 0 ? site.report.reasons[0].ptr : "");
    cr_expect_eq(site.report.reason_count, failed_files);
    snapshot_unref(snapshot);
}

void site_expect_refused(const char *reason)
{
    struct snapshot *snapshot = NULL;

    cr_expect_eq(site_load(&snapshot), -EINVAL);
    cr_expect_null(snapshot);
    cr_assert_eq(site.report.reason_count, 1);
    cr_assert(str_starts_with(site.report.reasons[0], str_of(site.path)));
    cr_expect_str_eq(site.report.reasons[0].ptr + strlen(site.path), reason, "%s",
                     site.report.reasons[0].ptr);
}

struct str site_signed_map(const char *namespace_name, const char *name, const char *skill)
{
    struct str document =
        helper_text(&site.arena,
                    "{\"apiVersion\": \"sandbox.runx.dev/v1\", "
                    "\"kind\": \"SandboxRequirements\", "
                    "\"workload\": {\"skill_ref\": \"%s@1.0.0\"}, "
                    "\"requirements\": {\"observed_at\": \"2026-02-28T12:00:00Z\"}}",
                    skill);

    return helper_text(&site.arena,
                       "apiVersion: v1\nkind: ConfigMap\n"
                       "metadata:\n  name: %s\n  namespace: %s\n"
                       "  labels: {sandbox.runx.dev/evidence: \"true\"}\n"
                       "  annotations: {signature.sandbox.runx.dev/release: \"%s\"}\n"
                       "data: {sandbox.yaml: '%s'}\n",
                       name, namespace_name, helper_key_sign(site.key, &site.arena, document).ptr,
                       document.ptr);
}

struct str site_plain_map(const char *rest)
{
    return helper_text(&site.arena, "apiVersion: v1\nkind: ConfigMap\n%s", rest);
}

struct str site_joined(struct str a, struct str b)
{
    return helper_text(&site.arena, "%s---\n%s", a.ptr, b.ptr);
}
