/* SPDX-License-Identifier: Apache-2.0 */
/* test_network_policy - what a NetworkPolicy says about egress, and which pods it selects
 * (boundary-v1, section 3). */
#include "k8s/network_policy/network_policy.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "planner/base/tree.h"
#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

static struct arena arena;

static void done(void)
{
    arena_release(&arena);
}

TestSuite(network_policy, .fini = done);

static struct network_policy *make(struct str spec)
{
    struct network_policy *policy = NULL;
    const cJSON *tree = helper_document(&arena, spec);

    cr_assert_eq(network_policy_make(STR("payments"), STR("deny"), tree, &policy), 0);
    return policy;
}

static bool selects(const struct network_policy *policy, const char *labels)
{
    struct network_policy_labels made = {0};
    const cJSON *tree = labels != NULL ? helper_document(&arena, str_of(labels)) : NULL;

    cr_assert_eq(network_policy_labels_make(tree, &arena, &made), 0);
    return network_policy_selects(policy, &made);
}

/* "-": not among its types; "none": no egress rule; "some", "any": what its rules admit. */
static const char *egress_of(struct str spec)
{
    struct network_policy *policy = make(spec);
    const char *text = !policy->egress        ? "-"
                       : policy->egress_any   ? "any"
                       : policy->egress_rules ? "some"
                                              : "none";

    cr_expect(policy->egress_rules || !policy->egress_any, "%.*s", (int)spec.len, spec.ptr);
    network_policy_unref(policy);
    return text;
}

Test(network_policy, its_names_are_copied)
{
    char text[] = "payments deny";
    struct network_policy *policy = NULL;
    struct network_policy *other = NULL;

    cr_assert_eq(
        network_policy_make((struct str){text, 8}, (struct str){text + 9, 4}, NULL, &policy), 0);
    memset(text, 'x', sizeof(text));
    cr_expect(str_equal(policy->namespace_name, STR("payments")));
    cr_expect(str_equal(policy->name, STR("deny")));
    cr_expect_not(policy->egress || policy->egress_rules || policy->egress_any);
    other = network_policy_ref(policy);
    network_policy_unref(policy);
    cr_expect(str_equal(other->name, STR("deny")));
    network_policy_unref(other);
    network_policy_unref(NULL);
}

/* policyTypes, or where that is absent or empty Ingress, and Egress too if it has egress rules. A
 * field of a wrong type is absent; the words are compared exactly. */
Test(network_policy, its_types_say_whether_it_is_about_egress)
{
    static const char *const rows[][2] = {
        {"{}", "-"},
        {"null", "-"},
        {"[]", "-"},
        {"\"Egress\"", "-"},
        {"{\"policyTypes\":[\"Egress\"]}", "none"},
        {"{\"policyTypes\":[\"Ingress\",\"Egress\"]}", "none"},
        {"{\"policyTypes\":[\"Ingress\"]}", "-"},
        {"{\"policyTypes\":[\"Ingress\"],\"egress\":[{}]}", "-"},
        {"{\"policyTypes\":[\"egress\"],\"egress\":[{}]}", "-"},
        {"{\"policyTypes\":[\" Egress\"],\"egress\":[{}]}", "-"},
        {"{\"policyTypes\":[\"Egress2\",\"\",7,null,{},[\"Egress\"]],\"egress\":[{}]}", "-"},
        {"{\"policyTypes\":[7,\"Egress\"],\"egress\":[{}]}", "any"},
        {"{\"egress\":[{}]}", "any"},
        {"{\"egress\":[]}", "-"},
        {"{\"egress\":{}}", "-"},
        {"{\"egress\":null}", "-"},
        {"{\"egress\":\"x\"}", "-"},
        {"{\"policyTypes\":[],\"egress\":[{}]}", "any"},
        {"{\"policyTypes\":null,\"egress\":[{}]}", "any"},
        {"{\"policyTypes\":\"Ingress\",\"egress\":[{}]}", "any"},
        {"{\"policyTypes\":{\"a\":\"Ingress\"},\"egress\":[{}]}", "any"},
        {"{\"policyTypes\":[],\"egress\":[]}", "-"},
        {"{\"policyTypes\":[],\"ingress\":[{}]}", "-"},
        {"{\"policyTypes\":[\"Egress\"],\"egress\":[]}", "none"},
        {"{\"policyTypes\":[\"Egress\"],\"egress\":{\"a\":{}}}", "none"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_str_eq(egress_of(str_of(rows[i][0])), rows[i][1], "%s", rows[i][0]);
}

/* Of one rule, written behind `"egress":[`. */
Test(network_policy, a_rule_admits_every_destination)
{
    static const char *const rows[][2] = {
        {"{}", "any"},
        {"null", "any"},
        {"7", "any"},
        {"[{\"to\":[{\"podSelector\":{}}]}]", "any"},
        {"{\"to\":null}", "any"},
        {"{\"to\":[]}", "any"},
        {"{\"to\":{}}", "any"},
        {"{\"to\":{\"a\":{\"podSelector\":{}}}}", "any"},
        {"{\"to\":\"x\"}", "any"},
        {"{\"ports\":[{\"port\":53}]}", "any"},
        {"{\"ports\":[{\"port\":53}],\"to\":[]}", "any"},
        {"{\"to\":[{}]}", "some"},
        {"{\"to\":[null]}", "some"},
        {"{\"to\":[5]}", "some"},
        {"{\"to\":[{\"podSelector\":{}}]}", "some"},
        {"{\"to\":[{\"namespaceSelector\":{}}]}", "some"},
        {"{\"to\":[{\"podSelector\":{}}],\"ports\":[{\"port\":53}]}", "some"},
        {"{\"to\":[{\"podSelector\":{}}]},{\"to\":[{\"namespaceSelector\":{}}]}", "some"},
        {"{\"to\":[{\"podSelector\":{}}]},{}", "any"},
        {"{},{\"to\":[{\"podSelector\":{}}]}", "any"},
        {"{\"to\":[{\"podSelector\":{}},{\"ipBlock\":{\"cidr\":\"0.0.0.0/0\"}}]}", "any"},
        {"{\"to\":[{\"ipBlock\":{\"cidr\":\"0.0.0.0/0\"}}],\"ports\":[{\"port\":443}]}", "any"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_str_eq(egress_of(helper_text(&arena, "{\"egress\":[%s]}", rows[i][0])),
                         rows[i][1], "%s", rows[i][0]);
}

/* Of one ipBlock. */
Test(network_policy, a_block_of_addresses_admits_every_destination)
{
    static const char *const rows[][2] = {
        {"{\"cidr\":\"0.0.0.0/0\"}", "any"},
        {"{\"cidr\":\"::/0\"}", "any"},
        {"{\"cidr\":\"10.1.2.3/0\"}", "any"},
        {"{\"cidr\":\"0.0.0.0/00\"}", "any"},
        {"{\"cidr\":\"/0\"}", "any"},
        {"{\"cidr\":\"1/8/0\"}", "any"},
        {"{\"cidr\":\"0.0.0.0/0\",\"except\":[]}", "any"},
        {"{\"cidr\":\"0.0.0.0/0\",\"except\":null}", "any"},
        {"{\"cidr\":\"0.0.0.0/0\",\"except\":\"10.0.0.0/8\"}", "any"},
        {"{\"cidr\":\"0.0.0.0/0\",\"except\":{\"a\":\"10.0.0.0/8\"}}", "any"},
        {"{\"cidr\":\"0.0.0.0/0\",\"except\":[\"10.0.0.0/8\"]}", "some"},
        {"{\"cidr\":\"0.0.0.0/0\",\"except\":[null]}", "some"},
        {"{\"cidr\":\"10.0.0.0/8\"}", "some"},
        {"{\"cidr\":\"0.0.0.0/10\"}", "some"},
        {"{\"cidr\":\"0.0.0.0/01\"}", "some"},
        {"{\"cidr\":\"0.0.0.0/1\"}", "some"},
        {"{\"cidr\":\"0.0.0.0/\"}", "some"},
        {"{\"cidr\":\"0.0.0.0/0 \"}", "some"},
        {"{\"cidr\":\"0.0.0.0/ 0\"}", "some"},
        {"{\"cidr\":\"0/8\"}", "some"},
        {"{\"cidr\":\"0\"}", "some"},
        {"{\"cidr\":\"0.0.0.0\"}", "some"},
        {"{\"cidr\":\"000\"}", "some"},
        {"{\"cidr\":\"\"}", "some"},
        {"{\"cidr\":0}", "some"},
        {"{\"cidr\":[\"0.0.0.0/0\"]}", "some"},
        {"{}", "some"},
        {"null", "some"},
        {"\"0.0.0.0/0\"", "some"},
        {"[{\"cidr\":\"0.0.0.0/0\"}]", "some"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str spec =
            helper_text(&arena, "{\"egress\":[{\"to\":[{\"ipBlock\":%s}]}]}", rows[i][0]);

        cr_expect_str_eq(egress_of(spec), rows[i][1], "%s", rows[i][0]);
    }
}

/* podSelector, labels of the pod (NULL: none), whether it is selected. */
Test(network_policy, a_selector_matches_labels)
{
    static const struct {
        const char *selector;
        const char *labels;
        bool selected;
    } rows[] = {
        {"{}", NULL, true},
        {"{}", "{\"app\":\"web\"}", true},
        {"null", NULL, true},
        {"{\"matchLabels\":{}}", NULL, true},
        {"{\"matchLabels\":null,\"matchExpressions\":null}", NULL, true},
        {"{\"matchExpressions\":[]}", NULL, true},
        {"{\"other\":5}", NULL, true},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{\"app\":\"web\"}", true},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{\"z\":\"\",\"app\":\"web\",\"a\":\"1\"}", true},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{\"app\":\"Web\"}", false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{\"App\":\"web\"}", false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{\"app\":\"web2\"}", false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{\"app\":\"\"}", false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "{}", false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", NULL, false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "[\"app\"]", false},
        {"{\"matchLabels\":{\"app\":\"web\"}}", "\"app\"", false},
        {"{\"matchLabels\":{\"app\":\"\"}}", "{\"app\":\"\"}", true},
        {"{\"matchLabels\":{\"app\":\"\"}}", "{}", false},
        {"{\"matchLabels\":{\"app\":\"web\",\"tier\":\"1\"}}", "{\"app\":\"web\"}", false},
        {"{\"matchLabels\":{\"app\":\"web\",\"tier\":\"1\"}}", "{\"tier\":\"1\",\"app\":\"web\"}",
         true},
        {"{\"matchLabels\":{\"\":\"x\"}}", "{\"\":\"x\"}", true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct network_policy *policy = make(helper_text(
            &arena, "{\"policyTypes\":[\"Egress\"],\"podSelector\":%s}", rows[i].selector));

        cr_expect_eq(selects(policy, rows[i].labels), rows[i].selected, "%s %s", rows[i].selector,
                     rows[i].labels != NULL ? rows[i].labels : "-");
        cr_expect_not(policy->egress_any, "%s", rows[i].selector);
        network_policy_unref(policy);
    }
}

/* Of matchExpressions. */
Test(network_policy, expressions_match_labels)
{
    static const struct {
        const char *expressions;
        const char *labels;
        bool selected;
    } rows[] = {
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\",\"2\"]}", "{\"a\":\"1\"}", true},
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\",\"2\"]}", "{\"a\":\"2\"}", true},
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\",\"2\"]}", "{\"a\":\"3\"}", false},
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\",\"2\"]}", "{\"b\":\"1\"}", false},
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"\"]}", "{\"a\":\"\"}", true},
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"\"]}", "{}", false},
        {"{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"1\"]}", "{\"a\":1}", false},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\",\"2\"]}", "{\"a\":\"1\"}", false},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\",\"2\"]}", "{\"a\":\"2\"}", false},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\",\"2\"]}", "{\"a\":\"3\"}", true},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\",\"2\"]}", "{\"b\":\"1\"}", true},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"\"]}", "{\"a\":\"\"}", false},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\"]}", NULL, true},
        {"{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\"]}", "{\"a\":[\"1\"]}", true},
        {"{\"key\":\"a\",\"operator\":\"Exists\"}", "{\"a\":\"\"}", true},
        {"{\"key\":\"a\",\"operator\":\"Exists\"}", "{\"b\":\"\"}", false},
        {"{\"key\":\"a\",\"operator\":\"Exists\"}", "{\"a\":null}", false},
        {"{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[]}", "{\"a\":\"x\"}", true},
        {"{\"key\":\"a\",\"operator\":\"Exists\",\"values\":null}", "{\"a\":\"x\"}", true},
        {"{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"1\"]}", "{\"a\":\"x\"}", true},
        {"{\"key\":\"a\",\"operator\":\"DoesNotExist\"}", "{\"a\":\"\"}", false},
        {"{\"key\":\"a\",\"operator\":\"DoesNotExist\"}", "{\"b\":\"\"}", true},
        {"{\"key\":\"a\",\"operator\":\"DoesNotExist\"}", NULL, true},
        {"{\"key\":\"a\",\"operator\":\"DoesNotExist\",\"values\":[\"1\"]}", "{\"a\":\"x\"}",
         false},
        {"{\"key\":\"a\",\"operator\":\"Exists\"},{\"key\":\"b\",\"operator\":\"Exists\"}",
         "{\"a\":\"1\"}", false},
        {"{\"key\":\"a\",\"operator\":\"Exists\"},{\"key\":\"b\",\"operator\":\"Exists\"}",
         "{\"b\":\"1\",\"a\":\"1\"}", true},
        {"{\"key\":\"a\",\"operator\":\"Exists\"},"
         "{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":[\"1\"]}",
         "{\"a\":\"1\"}", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct network_policy *policy = make(helper_text(
            &arena, "{\"policyTypes\":[\"Egress\"],\"podSelector\":{\"matchExpressions\":[%s]}}",
            rows[i].expressions));

        cr_expect_eq(selects(policy, rows[i].labels), rows[i].selected, "%s %s",
                     rows[i].expressions, rows[i].labels != NULL ? rows[i].labels : "-");
        cr_expect_not(policy->egress_any, "%s", rows[i].expressions);
        network_policy_unref(policy);
    }
}

Test(network_policy, labels_and_expressions_must_all_match)
{
    struct network_policy *policy =
        make(STR("{\"policyTypes\":[\"Egress\"],\"podSelector\":{\"matchLabels\":{\"app\":\"web\"},"
                 "\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Exists\"},"
                 "{\"key\":\"canary\",\"operator\":\"DoesNotExist\"}]}}"));

    cr_expect(selects(policy, "{\"app\":\"web\"}"));
    cr_expect_not(selects(policy, "{\"app\":\"web\",\"canary\":\"\"}"));
    cr_expect_not(selects(policy, "{\"app\":\"db\"}"));
    network_policy_unref(policy);
}

static void expect_unread(const char *selector, struct str types, bool egress)
{
    struct network_policy *policy =
        make(helper_text(&arena, "{%.*s\"podSelector\":%s}", (int)types.len, types.ptr, selector));

    cr_expect_eq(policy->egress, egress, "%s", selector);
    cr_expect_eq(policy->egress_rules, egress, "%s", selector);
    cr_expect_eq(policy->egress_any, egress, "%s", selector);
    cr_expect_eq(selects(policy, NULL), egress, "%s", selector);
    cr_expect_eq(selects(policy, "{\"a\":\"1\"}"), egress, "%s", selector);
    network_policy_unref(policy);
}

Test(network_policy, one_whose_selector_cannot_be_read_selects_all_and_admits_all)
{
    static const char *const rows[] = {
        "5",
        "\"\"",
        "[]",
        "false",
        "{\"matchLabels\":[]}",
        "{\"matchLabels\":\"x\"}",
        "{\"matchLabels\":{\"a\":1}}",
        "{\"matchLabels\":{\"a\":null}}",
        "{\"matchLabels\":{\"b\":\"2\",\"a\":true}}",
        "{\"matchLabels\":{\"b\":\"2\"},\"matchExpressions\":{}}",
        "{\"matchExpressions\":\"x\"}",
        "{\"matchExpressions\":[5]}",
        "{\"matchExpressions\":[null]}",
        "{\"matchExpressions\":[{}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"},[]]}",
        "{\"matchExpressions\":[{\"key\":\"b\"}]}",
        "{\"matchExpressions\":[{\"operator\":\"Exists\"}]}",
        "{\"matchExpressions\":[{\"key\":\"\",\"operator\":\"Exists\"}]}",
        "{\"matchExpressions\":[{\"key\":5,\"operator\":\"Exists\"}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"exists\"}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exist\"}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":[\"Exists\"]}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\"}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\",\"values\":[]}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\",\"values\":null}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\",\"values\":\"1\"}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\",\"values\":{\"a\":\"1\"}}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"In\",\"values\":[\"1\",2]}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"NotIn\"}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[]}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[null]}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\",\"values\":5}]}",
        "{\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"DoesNotExist\",\"values\":[5]}]}",
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect_unread(rows[i], STR("\"policyTypes\":[\"Egress\"],"), true);
        expect_unread(rows[i], STR("\"policyTypes\":[\"Ingress\"],"), false);
        expect_unread(rows[i], STR(""), false);
    }
}

/* One requirement takes 8 bytes beside its texts: 2 for each number. */
Test(network_policy, a_selector_over_the_limit_counts_as_one_that_cannot_be_read)
{
    const size_t value_bytes[] = {NETWORK_POLICY_MAX_SELECTOR_BYTES - 9,
                                  NETWORK_POLICY_MAX_SELECTOR_BYTES - 8};

    for (size_t i = 0; i < 2; i++) {
        char *value = arena_alloc_text(&arena, value_bytes[i] + 1);
        struct network_policy *policy = NULL;

        cr_assert_not_null(value);
        memset(value, 'v', value_bytes[i]);
        policy = make(arena_format(
            &arena,
            "{\"policyTypes\":[\"Egress\"],\"podSelector\":{\"matchLabels\":{\"k\":\"%s\"}}}",
            value));
        cr_expect_eq(policy->egress_any, i == 1);
        cr_expect_eq(selects(policy, "{\"k\":\"w\"}"), i == 1);
        cr_expect_eq(selects(policy, arena_format(&arena, "{\"k\":\"%s\"}", value).ptr), true);
        network_policy_unref(policy);
    }
}

Test(network_policy, an_open_one_selects_all_and_admits_all)
{
    struct network_policy *policy = NULL;

    cr_assert_eq(network_policy_make_open(STR("n"), STR("p"), &policy), 0);
    cr_expect(policy->egress && policy->egress_rules && policy->egress_any);
    cr_expect(selects(policy, NULL));
    cr_expect(str_equal(policy->namespace_name, STR("n")) && str_equal(policy->name, STR("p")));
    network_policy_unref(policy);
}

/* What is about ingress only makes no difference. */
Test(network_policy, two_policies_are_the_same)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"{}", "{\"ingress\":[{}],\"podSelector\":{\"matchLabels\":{\"a\":\"1\"}}}", true},
        {"{}", "{\"policyTypes\":[\"Egress\"]}", false},
        {"{\"policyTypes\":[\"Egress\"]}", "{\"egress\":[{\"to\":[{}]}]}", false},
        {"{\"egress\":[{\"to\":[{}]}]}", "{\"egress\":[{}]}", false},
        {"{\"egress\":[{}],\"podSelector\":{\"matchLabels\":{\"a\":\"1\"}}}",
         "{\"egress\":[{}],\"podSelector\":{\"matchLabels\":{\"a\":\"2\"}}}", false},
        {"{\"egress\":[{}],\"podSelector\":{\"matchLabels\":{\"a\":\"1\"}}}",
         "{\"egress\":[{},{}],\"podSelector\":{\"matchLabels\":{\"a\":\"1\"}}}", true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct network_policy *a = make(str_of(rows[i].a));
        struct network_policy *b = make(str_of(rows[i].b));

        cr_expect_eq(network_policy_same(a, b), rows[i].same, "%s %s", rows[i].a, rows[i].b);
        network_policy_unref(a);
        network_policy_unref(b);
    }
}

Test(network_policy, no_memory_is_an_error)
{
    const cJSON *labels = helper_document(&arena, STR("{\"a\":\"1\"}"));
    struct network_policy_labels made = {.count = 7};
    struct network_policy *policy = NULL;
    cleanup_arena struct arena empty = {0};

    failing_alloc_arm(1);
    cr_expect_eq(network_policy_make(STR("n"), STR("p"), NULL, &policy), -ENOMEM);
    failing_alloc_arm(1);
    cr_expect_eq(network_policy_make_open(STR("n"), STR("p"), &policy), -ENOMEM);
    failing_alloc_arm(1);
    cr_expect_eq(network_policy_labels_make(labels, &empty, &made), -ENOMEM);
    cr_expect(failing_alloc_failed());
    cr_expect_null(policy);
    cr_expect_eq(made.count, 7);
}
