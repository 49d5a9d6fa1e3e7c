/* SPDX-License-Identifier: Apache-2.0 */
/* test_folder_network_policies - NetworkPolicies in a directory of manifests (boundary-v1, section
 * 6). */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/k8s/failing.h"
#include "tests/k8s/folder_site.h"

#define POLICY "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
#define DENY "spec: {podSelector: {}, policyTypes: [Egress]}\n"

TestSuite(folder_network_policies, .init = site_begin, .fini = site_done);

static const char *shown(const struct snapshot *snapshot, const char *namespace_name)
{
    struct network_policy_run run = {0};
    struct str text = STR("");

    if (!snapshot_network_policies(snapshot, str_of(namespace_name), &run))
        return "not read";
    for (size_t i = 0; i < run.count; i++)
        text = helper_text(&site.arena, "%s%s%.*s%s", text.ptr, i > 0 ? " " : "",
                           (int)run.items[i]->name.len, run.items[i]->name.ptr,
                           run.items[i]->egress_any ? "=any" : "");
    return text.ptr;
}

/* Loads, and compares the policies of the namespaces `default` and `payments`. */
static void expect(const char *in_default, const char *in_payments, size_t failed_files)
{
    struct snapshot *snapshot = NULL;

    cr_assert_eq(site_load(&snapshot), 0, "%s",
                 site.report.reason_count > 0 ? site.report.reasons[0].ptr : "");
    cr_expect_str_eq(shown(snapshot, "default"), in_default);
    cr_expect_str_eq(shown(snapshot, "payments"), in_payments);
    cr_expect_eq(site.report.failed_files, failed_files);
    snapshot_unref(snapshot);
}

Test(folder_network_policies, without_any_they_are_read_only_if_the_policy_asks_for_them)
{
    helper_write(site.path, "a.yaml", site_signed_map("payments", "one", "acme/one"));
    expect("not read", "not read", 0);
    site.policy.network_policies = true;
    expect("", "", 0);
    site.policy.network_policies = false;
    expect("not read", "not read", 0);
}

Test(folder_network_policies, one_of_any_namespace_makes_them_read)
{
    helper_write(site.path, "a.yaml", STR(POLICY "metadata: {name: p, namespace: other}\n" DENY));
    expect("", "", 0);
    helper_remove(site.path, "a.yaml");
    expect("not read", "not read", 0);
}

/* One that is about ingress shows too that they are in this folder. */
Test(folder_network_policies, one_about_ingress_makes_them_read)
{
    helper_write(site.path, "a.yaml", STR(POLICY "metadata: {name: p}\nspec: {podSelector: {}}\n"));
    expect("", "", 0);
}

Test(folder_network_policies, without_a_namespace_they_are_in_default)
{
    helper_write(site.path, "a.yaml",
                 STR(POLICY "metadata: {name: b}\n" DENY "---\n" POLICY
                            "metadata: {name: a, namespace: ''}\nspec: {egress: [{}]}\n---\n" POLICY
                            "metadata: {name: c, namespace: payments}\n" DENY));
    expect("a=any b", "c", 0);
}

Test(folder_network_policies, other_kinds_and_versions_are_not_read)
{
    helper_write(site.path, "a.yaml",
                 STR("apiVersion: extensions/v1beta1\nkind: NetworkPolicy\nmetadata: {name: a}\n"
                     "---\napiVersion: v1\nkind: NetworkPolicy\nmetadata: {name: b}\n"
                     "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: c}\n"
                     "---\napiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\n"));
    expect("not read", "not read", 0);
}

Test(folder_network_policies, items_of_lists_are_read)
{
    helper_write(site.path, "a.json",
                 STR("{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"NetworkPolicyList\","
                     "\"items\":[{\"metadata\":{\"name\":\"p\",\"namespace\":\"payments\"},"
                     "\"spec\":{\"policyTypes\":[\"Egress\"]}}]}"));
    expect("", "p", 0);
}

/* A spec that cannot be read is a policy all the same. */
Test(folder_network_policies, a_spec_of_a_wrong_type_is_no_error)
{
    helper_write(site.path, "a.yaml",
                 STR(POLICY "metadata: {name: a}\nspec: {egress: [5]}\n---\n" POLICY
                            "metadata: {name: b}\nspec: {policyTypes: [Egress], podSelector: 5}\n"
                            "---\n" POLICY "metadata: {name: c}\nspec: 5\n---\n" POLICY
                            "metadata: {name: d}\n"));
    expect("a=any b=any", "", 0);
}

Test(folder_network_policies, an_error_fails_the_first_load_with_its_place)
{
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {POLICY DENY, "/a.yaml:1:1: metadata.name is required"},
        {POLICY "metadata: {name: ''}\n", "/a.yaml:1:1: metadata.name is required"},
        {POLICY "metadata: {name: x, namespace: 7}\n",
         "/a.yaml:1:1: metadata.namespace must be text"},
        {POLICY "metadata: {name: x}\n---\n" POLICY "metadata: {name: x, namespace: default}\n",
         "/a.yaml:5:1: this NetworkPolicy is defined twice; remove one"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        helper_write(site.path, "a.yaml", str_of(rows[i].text));
        site_expect_refused(rows[i].reason);
    }
    /* the same name in another namespace, or of another kind */
    helper_write(site.path, "a.yaml",
                 STR(POLICY "metadata: {name: x}\n" DENY "---\n" POLICY
                            "metadata: {name: x, namespace: payments}\n" DENY
                            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"));
    expect("x", "x", 0);
}

Test(folder_network_policies, an_unreadable_file_keeps_its_last_state)
{
    helper_write(site.path, "a.yaml", STR(POLICY "metadata: {name: p}\n" DENY));
    expect("p", "", 0);
    helper_write(site.path, "a.yaml", STR("[nonsense"));
    expect("p", "", 1);
    expect("p", "", 1);
    helper_write(site.path, "b.yaml", STR(POLICY "metadata: {name: p}\nspec: {egress: [{}]}\n"));
    expect("p=any", "", 1);
}

Test(folder_network_policies, a_second_definition_does_not_displace_the_first)
{
    helper_write(site.path, "b.yaml", STR(POLICY "metadata: {name: p}\nspec: {egress: [{}]}\n"));
    expect("p=any", "", 0);
    helper_write(site.path, "a.yaml", STR(POLICY "metadata: {name: p}\n" DENY));
    expect("p=any", "", 1);
}

Test(folder_network_policies, every_failing_allocation_is_an_error_and_changes_nothing)
{
    unsigned n = 1;

    helper_write(site.path, "a.yaml", STR(POLICY "metadata: {name: p}\n" DENY));
    expect("p", "", 0);
    helper_write(site.path, "a.yaml", STR("[nonsense"));
    helper_write(site.path, "b.yaml", STR(POLICY "metadata: {name: q}\nspec: {egress: [{}]}\n"));
    for (bool failed = true; failed; n++) {
        struct arena scratch = {0};
        struct snapshot *snapshot = NULL;
        int r = 0;

        failing_alloc_arm(n);
        r = folder_load(site.folder, site.keyring, &site.policy, (struct snapshot_keep){0},
                        &scratch, &snapshot, &site.report);
        failed = failing_alloc_failed();
        cr_assert_eq(r, failed ? -ENOMEM : 0, "allocation %u", n);
        snapshot_unref(snapshot);
        arena_release(&scratch);
    }
    cr_expect_gt(n, 10);
    expect("p q=any", "", 1);
}
