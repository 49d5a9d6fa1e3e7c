/* SPDX-License-Identifier: Apache-2.0 */
/* test_names - skills, paths and environment names, and texts with credentials. */
#include <criterion/criterion.h>

#include "planner/names.h"

struct row {
    struct str text;
    bool want;
};

static void check(const char *what, bool (*f)(struct str), const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(f(rows[i].text), rows[i].want, "%s, row %zu: %.*s", what, i,
                     (int)rows[i].text.len, rows[i].text.ptr);
}

#define CHECK(f, rows) check(#f, f, rows, sizeof(rows) / sizeof((rows)[0]))

Test(names, a_skill_is_owner_name_and_version)
{
    static const struct row rows[] = {
        {STR_INIT("acme/report@1.4.0"), true},
        {STR_INIT("0a.b_c-d/9@V1.0+build_2-x"), true},
        {STR_INIT("a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
         true},
        {STR_INIT("a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
         false},
        {STR_INIT("a/b@sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
         false},
        {STR_INIT("a/b@sha256"), true}, /* a version like any other */
        {STR_INIT(""), false},
        {STR_INIT("acme/report"), false},
        {STR_INIT("acme/report@"), false},
        {STR_INIT("/report@1"), false},
        {STR_INIT("acme/@1"), false},
        {STR_INIT("report@1"), false},
        {STR_INIT("acme@1/report"), false},
        {STR_INIT("Acme/report@1"), false},
        {STR_INIT("acme/Report@1"), false},
        {STR_INIT("acme/re/port@1"), false},
        {STR_INIT("acme/report@1@2"), false},
        {STR_INIT("acme/report@1/2"), false},
        {STR_INIT(".acme/report@1"), false},
        {STR_INIT("acme/-report@1"), false},
        {STR_INIT("acme/report@.1"), false},
        {STR_INIT("acme/report@+1"), false},
        {STR_INIT("acme/report@1 "), false},
        {STR_INIT(" acme/report@1"), false},
        {STR_INIT("acme/re port@1"), false},
        {STR_INIT("registry:acme/report@1"), false},
        {STR_INIT("runx-registry:acme/report@1"), false},
        {STR_INIT("runx://skill/acme/report@1"), false},
        {STR_INIT("acme/repo\xC3\xA4rt@1"), false},
    };

    CHECK(plan_is_skill_ref, rows);
}

Test(names, credentials_are_a_user_part_of_a_url)
{
    static const struct row rows[] = {
        {STR_INIT("https://bob:hunter2@git.example/acme.git"), true},
        {STR_INIT("https://bob@git.example"), true},
        {STR_INIT("https://:hunter2@git.example"), true},
        {STR_INIT("git+ssh://git@host/x"), true},
        {STR_INIT("HTTPS://U@H"), true},
        {STR_INIT("redacted://x@"), true},
        {STR_INIT("https://a@b@c"), true},
        {STR_INIT("https://git.example/acme@1"), false},
        {STR_INIT("https://git.example?q=a@b"), false},
        {STR_INIT("https://git.example#a@b"), false},
        {STR_INIT("https://@git.example"), false}, /* an empty user part is not a credential */
        {STR_INIT("https://"), false},
        {STR_INIT("git:acme/report@3f2a9c1"), false},
        {STR_INIT("git@github.com:acme/report"), false}, /* not a URL */
        {STR_INIT("1a://u@h"), true},
        {STR_INIT("://u@h"), false},
        {STR_INIT("a b://u@h"), true},
        {STR_INIT("//u@h"), false},
        {STR_INIT(""), false},
        {STR_INIT("git:https://u:p@h/x"), true},
        {STR_INIT("ext::https://u@h/"), true},
        {STR_INIT("https://a/b https://u:p@h"), true},
        {STR_INIT("git:https://h/x@1"), false},
    };

    CHECK(plan_has_credentials, rows);
}

Test(names, environment_names)
{
    static const struct row rows[] = {
        {STR_INIT("PATH"), true},         {STR_INIT("_"), true},
        {STR_INIT(".hidden-name"), true}, {STR_INIT("-x"), true},
        {STR_INIT("a1.B-2"), true},       {STR_INIT(""), false},
        {STR_INIT("1ST"), false},         {STR_INIT("A=B"), false},
        {STR_INIT("A B"), false},         {STR_INIT("$A"), false},
        {STR_INIT("A*"), false},          {STR_INIT("A\n"), false},
        {STR_INIT("R\xD0\x95P"), false},
    };

    CHECK(plan_is_env_name, rows);
}

Test(names, reserved_names_of_runx_are_known)
{
    static const struct row rows[] = {
        {STR_INIT("RUNX_RECEIPT_SIGN_KEY_ID"), true},
        {STR_INIT("runx_receipt_sign_x"), true},
        {STR_INIT("RUNX_MY_SECRET"), true},
        {STR_INIT("RUNX_TOKEN"), true},
        {STR_INIT("Runx_Password"), true},
        {STR_INIT("RUNX_API_KEY"), true},
        {STR_INIT("RUNX_PRIVATE_KEY_2"), true},
        {STR_INIT("RUNX_ACCESS_KEY"), true},
        {STR_INIT("RUNX_SIGNING_KEY"), true},
        {STR_INIT("RUNX_CREDENTIALS"), true},
        {STR_INIT("RUNX_SEEDLING"), true},
        {STR_INIT("RUNX_CWD"), false},
        {STR_INIT("RUNX_APIKEY"), false},
        {STR_INIT("RUNX_RECEIPT_SIGN"), false},
        {STR_INIT("RUNX_"), false},
        {STR_INIT("RUNXTOKEN"), false},
        {STR_INIT("MY_RUNX_TOKEN"), false},
        {STR_INIT("TOKEN"), false},
    };

    CHECK(names_env_is_reserved, rows);
}

#define NAME63 "a23456789_123456789_123456789_123456789_123456789_123456789_123"

Test(names, field_names_that_a_message_can_show)
{
    static const struct row rows[] = {
        {STR_INIT("writeable_paths"), true},
        {STR_INIT("_"), true},
        {STR_INIT("A.b-c_1"), true},
        {STR_INIT(NAME63 "4"), true},
        {STR_INIT(NAME63 "45"), false},
        {STR_INIT(""), false},
        {STR_INIT("1a"), false},
        {STR_INIT("-a"), false},
        {STR_INIT("a=b"), false},
        {STR_INIT("a b"), false},
        {STR_INIT("\xC3\xA4"), false},
        {STR_INIT("?"), false},
    };

    CHECK(names_field_is_plain, rows);
}

Test(names, a_path_is_normalised_and_never_resolved)
{
    static const struct {
        struct str given, clean;
    } rows[] = {
        {STR_INIT("data/in"), STR_INIT("data/in")},
        {STR_INIT("data/in/"), STR_INIT("data/in")},
        {STR_INIT("data//in"), STR_INIT("data/in")},
        {STR_INIT("./data/./in/."), STR_INIT("data/in")},
        {STR_INIT("data/in/../x"), STR_INIT("data/in/../x")},
        {STR_INIT("./../x"), STR_INIT("../x")},
        {STR_INIT("..."), STR_INIT("...")},
        {STR_INIT("."), STR_INIT(".")},
        {STR_INIT("./"), STR_INIT(".")},
        {STR_INIT(".//."), STR_INIT(".")},
        {STR_INIT("/"), STR_INIT("/")},
        {STR_INIT("//./"), STR_INIT("/")},
        {STR_INIT("//data//in/"), STR_INIT("/data/in")},
        {STR_INIT("./~/x"), STR_INIT("~/x")},
        {STR_INIT("a\\.\\b"), STR_INIT("a\\.\\b")},
        {STR_INIT("a/ /b"), STR_INIT("a/ /b")},
        {STR_INIT("file:///data"), STR_INIT("file:/data")},
    };
    cleanup_arena struct arena arena = {0};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str clean = {0}, again = {0};

        cr_assert_eq(plan_path_normalise(rows[i].given, &arena, &clean), 0);
        cr_expect(str_equal(clean, rows[i].clean), "%s gives %s", rows[i].given.ptr, clean.ptr);
        cr_assert_eq(plan_path_normalise(clean, &arena, &again), 0);
        cr_expect(str_equal(again, clean), "%s: cleaning twice changes it", clean.ptr);
    }
}

Test(names, a_base_admits_itself_and_paths_below_it)
{
    static const struct {
        struct str path, base;
        bool want;
    } rows[] = {
        {STR_INIT("data/in"), STR_INIT("data/in"), true},
        {STR_INIT("data/in/a/b"), STR_INIT("data/in"), true},
        {STR_INIT("data/inx"), STR_INIT("data/in"), false},
        {STR_INIT("data/in-private"), STR_INIT("data/in"), false},
        {STR_INIT("data"), STR_INIT("data/in"), false},
        {STR_INIT("DATA/in"), STR_INIT("data/in"), false},
        {STR_INIT("data/in/../x"), STR_INIT("data/in"), false},
        {STR_INIT("data/in/a\\..\\x"), STR_INIT("data/in"), false},
        {STR_INIT("data/in/..x"), STR_INIT("data/in"), true},
        {STR_INIT("data/.."), STR_INIT("data/.."), true},
        {STR_INIT("data/../x"), STR_INIT("data/.."), false},
        {STR_INIT("."), STR_INIT("."), true},
        {STR_INIT("any/thing"), STR_INIT("."), true},
        {STR_INIT("../x"), STR_INIT("."), false},
        {STR_INIT("/x"), STR_INIT("."), false},
        {STR_INIT("."), STR_INIT("data"), false},
        {STR_INIT("/x"), STR_INIT("/"), true},
        {STR_INIT("/"), STR_INIT("/"), true},
        {STR_INIT("x"), STR_INIT("/"), false},
        {STR_INIT("/../x"), STR_INIT("/"), false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_expect_eq(plan_path_admitted(rows[i].path, rows[i].base), rows[i].want, "%s by %s",
                     rows[i].path.ptr, rows[i].base.ptr);
}

Test(names, parent_segments_are_split_at_both_slashes)
{
    static const struct row rows[] = {
        {STR_INIT(".."), true},       {STR_INIT("../x"), true},    {STR_INIT("x/.."), true},
        {STR_INIT("x\\..\\y"), true}, {STR_INIT("x/..\\y"), true}, {STR_INIT("..."), false},
        {STR_INIT("..x"), false},     {STR_INIT("x.."), false},    {STR_INIT("x/. ./y"), false},
        {STR_INIT(""), false},        {STR_INIT("%2e%2e"), false},
    };

    CHECK(plan_path_has_parent, rows);
}

Test(names, characters_that_a_profile_cannot_contain)
{
    static const struct row rows[] = {
        {STR_INIT("a("), true},
        {STR_INIT("a)"), true},
        {STR_INIT("a\"b"), true},
        {STR_INIT("a\\b"), true},
        {STR_INIT("a;b"), true},
        {STR_INIT("a\nb"), true},
        {STR_INIT("a\x7F"), true},
        {STR_INIT("a\xC2\x80"), true},
        {STR_INIT("a\xC2\x9F"), true},
        {STR_INIT("a\xC2\xA0"), false},
        {STR_INIT("a\xE2\x80\xAA"), true},
        {STR_INIT("a\xE2\x80\xAE"), true},
        {STR_INIT("a\xE2\x80\xAF"), false},
        {STR_INIT("a\xE2\x81\xA5"), false},
        {STR_INIT("a\xE2\x81\xA6"), true},
        {STR_INIT("a\xE2\x81\xA9"), true},
        {STR_INIT("a\xE2\x81\xAA"), false},
        {STR_INIT("a\xFF"), true}, /* not UTF-8: its meaning is unknown */
        {STR_INIT("a b/$HOME/*{}[]'<>&|"), false},
        {STR_INIT("\xC3\xA4\xF0\x9F\x98\x80"), false},
    };

    CHECK(names_path_is_unsafe, rows);
}
