/* SPDX-License-Identifier: Apache-2.0 */
/* test_value_digest - digests of two values are equal if the values are equal, and only then. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "reading.h"

#define MAX_TEXT_BYTES ((size_t)1 << 20)
#define ROUNDS 4000

static const struct document_shape nothing[] = {{.key = "kept"}, {0}};
static const struct document_shape root[] = {
    {.key = "v", .members = nothing, .digest = true}, {.key = "w"}, {0}};

struct result {
    bool given;
    unsigned char bytes[DOCUMENT_DIGEST_BYTES];
};

/* The digest of the value in {"v": [value]}; in a list, so that a scalar has one, too. */
static struct result digest_of(struct arena *arena, enum document_syntax syntax, const char *value)
{
    const struct document_options options = {
        .syntax = syntax, .rules = DOCUMENT_REVIEW, .shape = root};
    struct document_error error = {0};
    struct result result = {0};
    cJSON *tree = NULL;
    struct str text = arena_format(arena, "{\"v\": [%s]}", value);

    cr_assert_eq(document_read(text, &options, arena, &tree, &error), 0, "%s: %zu %s", text.ptr,
                 error.column, error.what);
    result.given = document_digest(tree_get(tree, "v"), result.bytes);
    return result;
}

static bool same(struct result a, struct result b)
{
    cr_assert(a.given && b.given);
    return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

static const struct {
    const char *a;
    const char *b;
    bool equal;
} pairs[] = {
    {"{}", "{ }", true},
    {"[]", "[\n]", true},
    {"[]", "{}", false},
    {"[]", "null", false},
    {"{}", "null", false},
    {"{\"a\":null}", "{}", false},
    {"{\"a\":null}", "{\"b\":null}", false},
    {"[null]", "[]", false},
    {"[null]", "[null,null]", false},
    {"1", "\"1\"", false},
    {"1", "1.0", false},
    {"-1", "1", false},
    {"1", "11", false},
    {"true", "false", false},
    {"true", "\"true\"", false},
    {"false", "null", false},
    {"\"\"", "null", false},
    {"\"\"", "[]", false},
    {"\"a\"", "\"\\u0061\"", true},
    {"\"a/b\"", "\"a\\/b\"", true},
    {"\"\\ud83d\\ude00 \"", "\"\xF0\x9F\x98\x80 \"", true},
    {"\"\\u0000\"", "\"\xEF\xBF\xBD\"", true},
    {"\"\\u0000\"", "\"\"", false},
    {"\"\\n\"", "\"n\"", false},
    {"\"abcdefgh\"", "\"abcdefgh\\t\"", false},
    {"\"abcdefg\"", "\"abcdefgh\"", false},
    {"\"x\"", "\"x\\u0001\"", false},
    {"\"1234567890123456\"", "\"123456789012345\\u0036\"", true},
    {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
    {"{\"a\":1,\"b\":2}", "{\"\\u0062\":2,\"\\u0061\":1}", true},
    {"{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}", false},
    {"{\"a\":1,\"b\":1}", "{\"a\":1}", false},
    {"{\"a\":1,\"b\":1}", "{\"c\":1,\"d\":1}", false},
    {"{\"a\":\"b\"}", "{\"b\":\"a\"}", false},
    {"{\"a\":\"b\"}", "[\"a\",\"b\"]", false},
    {"{\"ab\":\"c\"}", "{\"a\":\"bc\"}", false},
    {"{\"\":\"a\"}", "{\"a\":\"\"}", false},
    {"{\"a\":{\"b\":1}}", "{\"b\":{\"a\":1}}", false},
    {"{\"a\":{\"b\":1},\"c\":2}", "{\"a\":{\"b\":1,\"c\":2}}", false},
    {"{\"a\":{\"b\":1,\"c\":[1,{}]},\"d\":2}", "{\"d\":2,\"a\":{\"c\":[1,{}],\"b\":1}}", true},
    {"{\"a\":{\"x\":1},\"b\":{\"x\":2}}", "{\"a\":{\"x\":2},\"b\":{\"x\":1}}", false},
    {"{\"a\":{},\"b\":[]}", "{\"a\":[],\"b\":{}}", false},
    {"[1,2]", "[2,1]", false},
    {"[1,2]", "[12]", false},
    {"[\"a\",\"b\"]", "[\"ab\"]", false},
    {"[[1],2]", "[[1,2]]", false},
    {"[[],[]]", "[[[]]]", false},
    {"[[1,2],[]]", "[[1],[2]]", false},
    {"[{\"a\":1},{\"b\":2}]", "[{\"a\":1,\"b\":2}]", false},
    {"[{\"a\":1},{\"b\":2}]", "[{\"b\":2},{\"a\":1}]", false},
    {"[{},{\"a\":1}]", "[{\"a\":1},{}]", false},
    /* what becomes a node, and what does not */
    {"{\"kept\":1,\"env\":[{\"name\":\"A\",\"value\":\"x\"}]}",
     "{\"env\":[{\"value\":\"x\",\"name\":\"A\"}],\"kept\":1}", true},
    {"{\"kept\":1,\"env\":[{\"name\":\"A\",\"value\":\"x\"}]}",
     "{\"kept\":1,\"env\":[{\"name\":\"A\",\"value\":\"y\"}]}", false},
    {"{\"kept\":1}", "{\"kept\":2}", false},
    {"{\"kept\":{\"a\":[1]}}", "{\"kept\":{\"a\":[2]}}", false},
};

Test(value_digest, is_equal_for_equal_values_and_only_for_them)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct result json = digest_of(&arena, DOCUMENT_JSON, pairs[i].a);
        struct result yaml = {0};

        cr_expect_eq(same(json, digest_of(&arena, DOCUMENT_JSON, pairs[i].b)), pairs[i].equal,
                     "%s and %s", pairs[i].a, pairs[i].b);
        if (strstr(pairs[i].a, "\\ud") != NULL || strstr(pairs[i].b, "\\ud") != NULL)
            continue; /* surrogates are refused in YAML */
        yaml = digest_of(&arena, DOCUMENT_YAML, pairs[i].a);
        cr_expect_eq(same(yaml, digest_of(&arena, DOCUMENT_YAML, pairs[i].b)), pairs[i].equal,
                     "YAML: %s and %s", pairs[i].a, pairs[i].b);
        cr_expect(same(json, yaml), "%s in both", pairs[i].a);
    }
}

/* Of the row's value only, and of an object or list. */
Test(value_digest, is_made_where_a_row_asks_for_it)
{
    static const struct {
        const char *text;
        bool given;
    } rows[] = {
        {"{\"v\":{}}", true},  {"{\"v\":[]}", true},     {"{\"v\":null}", false},
        {"{\"v\":7}", false},  {"{\"v\":\"x\"}", false}, {"{\"w\":{\"v\":{}}}", false},
        {"{\"x\":{}}", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct document_options options = {
            .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = root};
        cleanup_arena struct arena arena = {0};
        struct document_error error = {0};
        unsigned char digest[DOCUMENT_DIGEST_BYTES];
        cJSON *tree = NULL;

        cr_assert_eq(document_read(str_of(rows[i].text), &options, &arena, &tree, &error), 0);
        cr_expect_eq(document_digest(tree_member(tree, "v"), digest), rows[i].given, "%s",
                     rows[i].text);
        cr_expect(!document_digest(tree_member(tree, "w"), digest), "%s", rows[i].text);
    }
}

/* Levels inside each other up to the limit, of lists and of objects. */
Test(value_digest, reaches_the_deepest_level)
{
    static const char *const begins[] = {"[", "{\"a\":"}, *const ends[] = {"]", "}"};

    for (size_t i = 0; i < 2; i++) {
        cleanup_arena struct arena arena = {0};
        struct str before = reading_repeat(&arena, begins[i], DOCUMENT_MAX_DEPTH - 2);
        struct str after = reading_repeat(&arena, ends[i], DOCUMENT_MAX_DEPTH - 2);
        struct str a = arena_format(&arena, "%s1%s", before.ptr, after.ptr);
        struct str b = arena_format(&arena, "%s2%s", before.ptr, after.ptr);

        cr_expect(
            same(digest_of(&arena, DOCUMENT_JSON, a.ptr), digest_of(&arena, DOCUMENT_JSON, a.ptr)));
        cr_expect(!same(digest_of(&arena, DOCUMENT_JSON, a.ptr),
                        digest_of(&arena, DOCUMENT_JSON, b.ptr)));
    }
}

/* Also where the reader leaves what is not kept unchecked. */
Test(value_digest, covers_parts_that_are_not_checked)
{
    struct document_options options = {
        .syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW, .shape = root, .rest_unchecked = true};
    unsigned char digests[2][DOCUMENT_DIGEST_BYTES];

    for (size_t i = 0; i < 2; i++) {
        cleanup_arena struct arena arena = {0};
        struct str text = arena_format(&arena, "{\"v\":{\"x\":{\"y\":%zu}}}", i);
        struct document_error error = {0};
        cJSON *tree = NULL;

        cr_assert_eq(document_read(text, &options, &arena, &tree, &error), 0);
        cr_assert(document_digest(tree_get(tree, "v"), digests[i]));
    }
    cr_expect_neq(memcmp(digests[0], digests[1], sizeof(digests[0])), 0);
}

static uint64_t state;

static size_t random_below(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 16) % limit;
}

static const char *const words[] = {"a", "b", "name", "value", "12345678", "\xC3\xA9/\"", "", "0"};

static const char *word(void)
{
    return words[random_below(sizeof(words) / sizeof(words[0]))];
}

static cJSON *scalar(struct arena *arena)
{
    cJSON *node = NULL;

    switch (random_below(4)) {
    case 0:
        return tree_make_text(arena, str_of(word()));
    case 1:
        return tree_make_number(arena, (double)random_below(3));
    case 2:
        return tree_make_bool(arena, random_below(2) == 0);
    default:
        node = tree_make_bool(arena, false);
        node->type = cJSON_NULL;
        return node;
    }
}

static cJSON *random_tree(struct arena *arena, size_t depth)
{
    size_t count = random_below(5), kind = random_below(3);
    cJSON *node = NULL;

    if (depth == 0 || kind == 0)
        return scalar(arena);
    node = kind == 1 ? tree_make_array(arena) : tree_make_object(arena);
    for (size_t i = 0; i < count; i++) {
        cJSON *child = random_tree(arena, depth - 1);
        const char *key = word();

        if (kind == 1)
            cr_assert(tree_add_item(node, child));
        else if (tree_member(node, key) == NULL)
            cr_assert(tree_add_member(node, key, child));
    }
    return node;
}

static size_t count_nodes(const cJSON *tree)
{
    size_t count = 1;

    for (const cJSON *child = tree->child; child != NULL; child = child->next)
        count += count_nodes(child);
    return count;
}

/* Replaces the node at that position by a scalar; it keeps its name. */
static void replace(struct arena *arena, cJSON *tree, size_t *position)
{
    if ((*position)-- == 0) {
        const cJSON *other = scalar(arena);

        tree->type = other->type;
        tree->valuestring = other->valuestring;
        tree->valuedouble = other->valuedouble;
        tree->child = NULL;
        return;
    }
    for (cJSON *child = tree->child; child != NULL; child = child->next)
        replace(arena, child, position);
}

static bool equal_trees(const cJSON *a, const cJSON *b)
{
    const cJSON *other = b->child;

    if ((a->type & 0xFF) != (b->type & 0xFF))
        return false;
    if (tree_is(a, cJSON_String))
        return strcmp(a->valuestring, b->valuestring) == 0;
    if (tree_is(a, cJSON_Number))
        return a->valuedouble == b->valuedouble;
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
        return false;
    for (const cJSON *child = a->child; child != NULL; child = child->next) {
        if (tree_is(a, cJSON_Object))
            other = tree_member(b, child->string);
        if (other == NULL || !equal_trees(child, other))
            return false;
        other = other->next;
    }
    return true;
}

/* Writes the tree; members begin at a random one, and go forward or back. */
static void write_tree(struct buffer *out, const cJSON *tree)
{
    bool is_object = tree_is(tree, cJSON_Object), back = is_object && random_below(2) == 0;
    size_t count = (size_t)cJSON_GetArraySize(tree);
    size_t first = is_object && count > 0 ? random_below(count) : 0;

    if (tree_is(tree, cJSON_String))
        buffer_add_json(out, str_of(tree->valuestring));
    else if (tree_is(tree, cJSON_Number))
        buffer_add_format(out, "%.0f", tree->valuedouble);
    else if (!is_object && !tree_is(tree, cJSON_Array))
        buffer_add(out, tree_is(tree, cJSON_NULL)   ? STR("null")
                        : tree_is(tree, cJSON_True) ? STR("true")
                                                    : STR("false"));
    if (!is_object && !tree_is(tree, cJSON_Array))
        return;
    buffer_add_char(out, is_object ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        const cJSON *child =
            cJSON_GetArrayItem(tree, (int)((first + (back ? count - i : i)) % count));

        if (i > 0)
            buffer_add_char(out, ',');
        if (is_object) {
            buffer_add_json(out, str_of(child->string));
            buffer_add_char(out, ':');
        }
        write_tree(out, child);
    }
    buffer_add_char(out, is_object ? '}' : ']');
}

static struct result digest_of_tree(struct arena *arena, const cJSON *tree)
{
    struct buffer out = buffer_make(arena, MAX_TEXT_BYTES);

    write_tree(&out, tree);
    return digest_of(arena, DOCUMENT_JSON, buffer_text(&out).ptr);
}

/* A random value, and the same with one part replaced, which can be what was there before. */
Test(value_digest, agrees_with_a_comparison_of_whole_values)
{
    size_t equal = 0;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        cleanup_arena struct arena arena = {0};
        cJSON *a = NULL, *b = NULL;
        size_t position = 0;
        bool expected = false;

        state = round * UINT64_C(0x9E3779B97F4A7C15);
        a = random_tree(&arena, 5);
        state = round * UINT64_C(0x9E3779B97F4A7C15);
        b = random_tree(&arena, 5);
        cr_assert(same(digest_of_tree(&arena, a), digest_of_tree(&arena, b)), "%zu", (size_t)round);
        position = random_below(count_nodes(b));
        replace(&arena, b, &position);
        expected = equal_trees(a, b);
        equal += expected ? 1 : 0;
        cr_assert_eq(same(digest_of_tree(&arena, a), digest_of_tree(&arena, b)), expected, "%zu",
                     (size_t)round);
    }
    cr_expect(equal > ROUNDS / 50 && equal < ROUNDS / 2, "%zu", equal);
}
