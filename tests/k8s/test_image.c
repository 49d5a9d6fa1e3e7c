/* SPDX-License-Identifier: Apache-2.0 */
/* test_image - which image references are pinned by a digest. */
#include "k8s/review/workload.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define HEX "b3908dcc895012047e8a0638825c6cc28ff3adad91d2f07946ec523ada257206"
#define DIGEST "sha256:" HEX

static bool pins(const char *reference)
{
    struct str digest = image_pinned_digest(str_of(reference));

    cr_assert(!str_present(digest) || str_equal(digest, STR(DIGEST)), "%s", reference);
    return str_present(digest);
}

Test(image, a_valid_name_with_a_digest_is_pinned)
{
    static const char *const good[] = {
        "app@" DIGEST,
        "a@" DIGEST,
        "team/app@" DIGEST,
        "team/app:1.2@" DIGEST,
        "a/b/c/d@" DIGEST,
        "registry.example.test/team/app@" DIGEST,
        "registry.example.test:5000/team/app:1.2@" DIGEST,
        "localhost/app@" DIGEST,
        "localhost:5000/app@" DIGEST,
        "[fd00::1]:5000/app@" DIGEST,
        "[fd00::1]/app@" DIGEST,
        "TEAM.example.test/app@" DIGEST,
        "TEAM/app@" DIGEST,
        "my-host:1/app@" DIGEST,
        "my_host.example/app@" DIGEST,
        "a.b/app@" DIGEST,
        "a_b@" DIGEST,
        "a__b@" DIGEST,
        "a---b@" DIGEST,
        "a.b-c_d@" DIGEST,
        "app:_x@" DIGEST,
        "app:A.b-c_d@" DIGEST,
        "app:5000@" DIGEST,
        HEX "@" DIGEST,
        "app:1/2@" DIGEST, /* a registry with a port */
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        cr_assert(pins(good[i]), "%s", good[i]);
}

Test(image, other_references_are_not_pinned)
{
    static const char *const bad[] = {
        "",
        "@",
        "app",
        "app:1.2",
        "@" DIGEST,
        ":1@" DIGEST,
        "/app@" DIGEST,
        "app/@" DIGEST,
        "team//app@" DIGEST,
        "team/App@" DIGEST,
        "App@" DIGEST,
        "app:@" DIGEST,
        "app:-1@" DIGEST,
        "app:.1@" DIGEST,
        "app:1:2@" DIGEST,
        "host:1x/app@" DIGEST,
        "host:/app@" DIGEST,
        ":5000/app@" DIGEST,
        "-host.x/app@" DIGEST,
        "host-.x/app@" DIGEST,
        "host..x/app@" DIGEST,
        "[fd00::1/app@" DIGEST,
        "[]/app@" DIGEST,
        "[fd00::g]/app@" DIGEST,
        "[fd00::1]x/app@" DIGEST,
        "[fd00::1]@" DIGEST,
        "a___b@" DIGEST,
        "a..b@" DIGEST,
        "a._b@" DIGEST,
        "-a@" DIGEST,
        "a-@" DIGEST,
        "_a@" DIGEST,
        " app@" DIGEST,
        "app@" DIGEST " ",
        "app @" DIGEST,
        "app@sha256:",
        "app@sha256:" HEX "0",
        "app@sha512:" HEX,
        "app@SHA256:" HEX,
        "app@" HEX,
        "app:" DIGEST,
        "app@" DIGEST "@" DIGEST,
        "https://registry.example.test/app@" DIGEST,
        "app\n@" DIGEST,
        "\xC3\xA4pp@" DIGEST,
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert(!pins(bad[i]), "%s", bad[i]);
    cr_assert(!str_present(image_pinned_digest((struct str){0})));
}

/* x, repeated `length` times, between two texts. */
static bool pins_long(const char *before, int length, const char *after)
{
    char text[1024] = "";
    int n = snprintf(text, sizeof(text), "%s%.*s%s", before, length,
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                     after);

    cr_assert(n > 0 && (size_t)n < sizeof(text));
    return pins(text);
}

Test(image, lengths_are_limited)
{
    cr_assert(pins_long("app:", 128, "@" DIGEST));
    cr_assert(!pins_long("app:", 129, "@" DIGEST));
    cr_assert(pins_long("registry.example.test/", 255, "@" DIGEST));
    cr_assert(!pins_long("registry.example.test/", 256, "@" DIGEST));
    cr_assert(pins_long("a/", 253, "@" DIGEST));
    cr_assert(!pins_long("a/", 254, "@" DIGEST));
}
