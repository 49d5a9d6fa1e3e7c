/* SPDX-License-Identifier: Apache-2.0 */
/* test_reader_failing - every allocation of the readers fails once, and so does every call of
 * another library: the result is then an error, never another tree. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <yaml.h>

#include "k8s/document/manifest.h"
#include "planner/base/tree.h"
#include "reading.h"

void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);
char *__wrap_arena_alloc_text(struct arena *arena, size_t count);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __real_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser);
ssize_t __real_getrandom(void *bytes, size_t count, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags);

static size_t countdown; /* 0: no call fails */
static bool failed, no_random;

static bool fails_now(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size)
{
    return fails_now() ? NULL : __real_arena_alloc(arena, count, size);
}

char *__wrap_arena_alloc_text(struct arena *arena, size_t count)
{
    return __wrap_arena_alloc(arena, count, 1);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
    if (!fails_now())
        return __real_yaml_parser_parse(parser, event);
    parser->error = YAML_MEMORY_ERROR;
    return 0;
}

int __wrap_yaml_parser_initialize(yaml_parser_t *parser)
{
    return fails_now() ? 0 : __real_yaml_parser_initialize(parser);
}

ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags)
{
    return no_random ? -1 : __real_getrandom(bytes, count, flags);
}

#define KEYS                                                                                       \
    "\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"             \
    "\"k\":1,\"l\":1,\"m\":1,\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"s\":1"

static const char json_text[] =
    "{\"x\": [\"\\u0041\", 1.5e300, "
    "0.100000000000000000000000000000000000000000000000000000000000000000000000001, true], " KEYS
    "}";
static const char yaml_text[] = "{x: [\"\\0 a\", 'b', 12345678901234567890, null], " KEYS "}";
static const char manifest_text[] =
    "kind: PodList\napiVersion: v1\nitems:\n- &a {metadata: {name: a, 1: x}}\n- <<: *a\n  b: "
    "&c 0x10\n---\n# nothing\n---\nkind: List\nitems: [{kind: C, c: !!str 7}]\n";

/* Reads with the nth call failing, for every n. Expects the right error and an unchanged reterr.
 * The first read in which no call fails must give the normal result. */
static void sweep(struct str text, const struct document_options *options)
{
    cleanup_arena struct arena whole = {0};
    struct str expected = reading_of(&whole, text, options);

    cr_assert_eq(expected.ptr[0], '{', "%s", expected.ptr);
    for (size_t n = 1;; n++) {
        cleanup_arena struct arena arena = {0};
        struct document_error error = {.what = "untouched"};
        cJSON *tree = NULL;
        int r = 0;

        countdown = n;
        failed = false;
        r = document_read(text, options, &arena, &tree, &error);
        countdown = 0;
        cr_expect_str_eq(error.what, "untouched");
        if (!failed) {
            cr_assert_eq(r, 0);
            cr_expect(str_equal(reading_write(&arena, tree), expected));
            cr_expect_gt(n, 20);
            return;
        }
        cr_expect_eq(r, -ENOMEM, "%zu: %d", n, r);
        cr_expect_null(tree);
    }
}

Test(reader_failing, json)
{
    static const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    static const struct document_options either = {.syntax = DOCUMENT_EITHER,
                                                   .rules = DOCUMENT_REVIEW};

    sweep(str_of(json_text), &options);
    sweep(str_of(json_text), &either);
}

Test(reader_failing, yaml)
{
    static const struct document_options options = {.syntax = DOCUMENT_YAML,
                                                    .rules = DOCUMENT_REVIEW};
    static const struct document_options either = {.syntax = DOCUMENT_EITHER,
                                                   .rules = DOCUMENT_REVIEW};

    sweep(str_of(yaml_text), &options);
    sweep(str_of(yaml_text), &either);
}

static const struct document_shape digested[] = {{.key = "x", .members = digested, .digest = true},
                                                 {0}};

/* Without a digest, nothing that is compared by it is read. */
Test(reader_failing, digest)
{
    static const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = digested};
    struct str text = STR("{\"x\":{\"\\u0078\":[1],\"a\":\"b\"}}");
    size_t failures = 0;

    for (size_t n = 1;; n++) {
        cleanup_arena struct arena arena = {0};
        struct document_error error = {0};
        unsigned char digest[DOCUMENT_DIGEST_BYTES];
        cJSON *tree = NULL;
        int r = 0;

        countdown = n;
        failed = false;
        r = document_read(text, &options, &arena, &tree, &error);
        countdown = 0;
        if (!failed) {
            cr_assert_eq(r, 0);
            cr_expect(document_digest(tree_get(tree, "x"), digest));
            break;
        }
        cr_expect_eq(r, -ENOMEM, "%zu: %d", n, r);
        cr_expect_null(tree);
        failures++;
    }
    /* three nodes, the state of the digest, and the digest */
    cr_expect_eq(failures, 5);
}

Test(reader_failing, no_random_numbers_no_digest)
{
    static const struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = digested};
    cleanup_arena struct arena arena = {0};
    struct document_error error = {0};
    cJSON *tree = NULL;

    no_random = true;
    cr_expect_eq(document_read(STR("{\"x\":[]}"), &options, &arena, &tree, &error), -EIO);
    cr_expect_null(tree);
    cr_expect_eq(document_read(STR("{\"y\":[]}"), &options, &arena, &tree, &error), 0);
}

/* The number of objects, or the first error. */
static int count_objects(struct arena *arena, struct document_error *reterr)
{
    struct manifest manifest = manifest_make(str_of(manifest_text), DOCUMENT_EITHER, arena);
    int count = 0;

    for (;;) {
        struct manifest_object object = {0};
        int r = manifest_next(&manifest, &object, reterr);

        if (r < 0)
            return r;
        if (object.tree == NULL)
            return count;
        count++;
    }
}

Test(reader_failing, manifests)
{
    for (size_t n = 1;; n++) {
        cleanup_arena struct arena arena = {0};
        struct document_error error = {.what = "untouched"};
        int r = 0;

        countdown = n;
        failed = false;
        r = count_objects(&arena, &error);
        countdown = 0;
        cr_expect_str_eq(error.what, "untouched");
        if (!failed) {
            cr_expect_eq(r, 3);
            cr_expect_gt(n, 50);
            return;
        }
        cr_expect_eq(r, -ENOMEM, "%zu: %d", n, r);
    }
}

Test(reader_failing, the_limit_of_an_arena_gives_out_of_memory)
{
    static const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    struct arena arena = {.limit_bytes = 64};
    struct document_error error = {0};
    cJSON *tree = NULL;

    cr_expect_eq(document_read(str_of(json_text), &options, &arena, &tree, &error), -ENOMEM);
    arena_release(&arena);
}

Test(reader_failing, memory_of_libyaml_and_of_open_keys_counts_for_the_arena)
{
    static const struct document_options options = {.syntax = DOCUMENT_YAML, .rules = DOCUMENT_OWN};
    cleanup_arena struct arena arena = {0};
    cleanup_arena struct arena tight = {.limit_bytes = (size_t)4 * 1005 + 2 * 6002};
    struct document_error error = {0};
    cJSON *tree = NULL;
    char text[1006];

    /* each tab of the key is six bytes as JSON, and twice that is reserved */
    (void)snprintf(text, sizeof(text), "\"%1000s\": 1", "");
    memset(text + 1, '\t', 1000);
    cr_assert_eq(document_read(str_of(text), &options, &arena, &tree, &error), 0);
    cr_expect_geq(arena.held_bytes, tight.limit_bytes);
    cr_expect_eq(document_read(str_of(text), &options, &tight, &tree, &error), -ENOMEM);
}

Test(reader_failing, a_long_object_is_rejected_without_random_numbers)
{
    static const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    cleanup_arena struct arena arena = {0};

    no_random = true;
    cr_expect(str_equal(reading_of(&arena, str_of(json_text), &options), STR("-EIO")));
    cr_expect(str_equal(reading_of(&arena, STR("{\"a\":1}"), &options), STR("{\"a\":1}")));
}
