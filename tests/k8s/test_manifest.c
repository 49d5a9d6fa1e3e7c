/* SPDX-License-Identifier: Apache-2.0 */
/* test_manifest - the objects of manifests, and their places. */
#include <criterion/criterion.h>
#include <errno.h>

#include "k8s/document/manifest.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "reading.h"

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

#define CASES TESTS_DIR "/cases/"

/* "LINE:COLUMN apiVersion kind name" of each object. The last line is the error, if there is one.
 */
static struct str objects_of(struct arena *arena, struct str text)
{
    struct manifest manifest = manifest_make(text, DOCUMENT_EITHER, arena);
    struct buffer out = buffer_make(arena, 1 << 20);

    for (;;) {
        struct manifest_object object = {0};
        struct document_error error = {0};
        int r = manifest_next(&manifest, &object, &error);

        if (r == -EBADMSG)
            buffer_add(&out, reading_error(arena, &error));
        else
            cr_assert_eq(r, 0);
        if (r != 0 || object.tree == NULL)
            break;
        buffer_add_format(
            &out, "%zu:%zu %s %s %s\n", object.line, object.column,
            arena_copy(arena, tree_get_text(object.tree, "apiVersion")),
            arena_copy(arena, tree_get_text(object.tree, "kind")),
            arena_copy(arena, tree_get_text(tree_get(object.tree, "metadata"), "name")));
    }
    return buffer_text(&out);
}

struct row {
    struct str text;
    const char *result;
};

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup_arena struct arena arena = {0};
        struct str result = objects_of(&arena, rows[i].text);

        cr_expect(str_equal(result, str_of(rows[i].result)), "row %zu, %s:\n  is   %s\n  not  %s",
                  i, rows[i].text.ptr, result.ptr, rows[i].result);
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

Test(manifest, objects_of_all_documents_are_read_and_empty_documents_skipped)
{
    static const struct row rows[] = {
        {T("kind: A\nmetadata: {name: a}\n---\n# nothing\n---\nkind: B\n"), "1:1  A a\n6:1  B \n"},
        {T("---\nnull\n---\n"), ""},
        {T(""), ""},
        {T("{\"kind\": \"A\"}\n  {\"kind\": \"B\"}"), "1:1  A \n2:3  B \n"},
        {T("{}"), "1:1   \n"},
        {T("kind: A\n---\n- x\n"), "1:1  A \n3:1 not a Kubernetes object"},
        {T("kind: A\n---\n  text\n"), "1:1  A \n3:3 not a Kubernetes object"},
        {T("[{\"kind\": \"A\"}]"), "1:1 not a Kubernetes object"},
        {T("kind: A\nkind: B\n"), "2:1 a key is given twice in one object"},
    };

    CHECK(rows);
}

Test(manifest, items_of_lists_are_read)
{
    static const struct row rows[] = {
        {T("kind: List\napiVersion: v1\nitems:\n- kind: A\n- kind: B\n---\nkind: C\n"),
         "4:3  A \n5:3  B \n7:1  C \n"},
        {T("kind: List\nitems:\n- kind: List\n  items: [{kind: A}, {kind: List, items: []}]\n"
           "- kind: B\n"),
         "4:11  A \n5:3  B \n"},
        {T("kind: List\n"), ""},
        {T("kind: List\nitems:\n"), ""},
        {T("kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n- {apiVersion: v2, "
           "metadata: {name: b}}\n- {kind: Other, metadata: {name: c}}\n"),
         "4:3 v1 Pod a\n5:3 v2 Pod b\n6:3  Other c\n"},
        {T("kind: PodList\nitems: [{kind: null, apiVersion: null, metadata: {name: a}}]"),
         "2:9  Pod a\n"},
        {T("kind: AllowList\nspec: {items: [1]}\n"), "1:1  AllowList \n"},
        {T("kind: Blacklist\nitems: [1]\n"), "1:1  Blacklist \n"},
        {T("kind: List\nitems: {a: 1}\n"), "2:8 items must be a list"},
        {T("kind: List\nitems: [{kind: A}, 7]\n"), "2:9  A \n2:20 not a Kubernetes object"},
        {T("kind: List\nitems: [null]\n"), "2:9 not a Kubernetes object"},
    };

    CHECK(rows);
}

Test(manifest, nested_lists_are_limited)
{
    cleanup_arena struct arena arena = {0};
    struct str open = reading_repeat(&arena, "{kind: List, items: [", 16);
    struct str close = reading_repeat(&arena, "]}", 16);
    struct str deep = arena_format(&arena, "%s{kind: A}%s", open.ptr, close.ptr), result = {0};

    result = objects_of(&arena, deep);
    cr_expect(str_equal(result, STR("1:337  A \n")), "%s", result.ptr);
    result = objects_of(&arena, arena_format(&arena, "{kind: List, items: [%s]}", deep.ptr));
    cr_expect(str_equal(result, STR("1:337 Lists nested deeper than 16 levels")), "%s", result.ptr);
}

Test(manifest, annotations_and_labels_must_be_strings)
{
    static const struct row rows[] = {
        {T("metadata: {annotations: {a: on}}"), "1:29 an annotation must be text: quote it"},
        {T("metadata:\n  labels:\n    a: 010\n"), "3:8 a label must be text: quote it"},
        {T("metadata: {labels: {a: 'on', b: 1.5}}"), "1:33 a label must be text: quote it"},
        {T("metadata: {labels: {a: }}"), "1:24 a label must be text"},
        {T("metadata: {labels: {a: [x]}}"), "1:24 a label must be text"},
        {T("metadata: {annotations: [x]}"), "1:25 annotations must be an object"},
        {T("metadata: {labels: x}"), "1:20 labels must be an object"},
        {T("metadata: {labels: null, annotations: {}}"), "1:1   \n"},
        {T("metadata: x"), "1:1   \n"},
        {T("kind: Deployment\nspec: {template: {metadata: {annotations: {a: 1}}}}"),
         "2:47 an annotation must be text: quote it"},
        {T("kind: PodTemplate\ntemplate: {metadata: {labels: {a: 1}}}"),
         "2:35 a label must be text: quote it"},
        {T("kind: CronJob\nspec: {jobTemplate: {metadata: {labels: {a: 1}}}}"),
         "2:45 a label must be text: quote it"},
        {T("kind: CronJob\nspec: {jobTemplate: {spec: {template: {metadata: {labels: {a: 1}}}}}}"),
         "2:63 a label must be text: quote it"},
        {T("kind: List\nitems:\n- metadata: {labels: {a: off}}\n"),
         "3:26 a label must be text: quote it"},
        {T("{\"metadata\": {\"annotations\": {\"a\": true}}}"),
         "1:36 an annotation must be text: quote it"},
    };

    CHECK(rows);
}

Test(manifest, an_object_has_the_text_of_its_document)
{
    const struct str text = STR("kind: A\n---\nkind: List\nitems: [{kind: B}]\n");
    cleanup_arena struct arena arena = {0};
    struct manifest manifest = manifest_make(text, DOCUMENT_YAML, &arena);
    struct manifest_object object = {0};
    struct document_error error = {0};

    cr_assert_eq(manifest_next(&manifest, &object, &error), 0);
    cr_expect(str_equal(object.text, STR("kind: A\n")));
    cr_assert_eq(manifest_next(&manifest, &object, &error), 0);
    cr_expect(str_equal(object.text, STR("kind: List\nitems: [{kind: B}]\n")));
}

Test(manifest, time_for_many_objects_on_one_line_is_linear)
{
    cleanup_arena struct arena arena = {0};
    struct str items =
        reading_repeat(&arena, "{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}},", 50000);
    struct str text = arena_format(&arena, "{\"kind\":\"List\",\"items\":[%s{}]}", items.ptr);
    struct manifest manifest = manifest_make(text, DOCUMENT_EITHER, &arena);
    struct manifest_object object = {0};
    struct document_error error = {0};
    size_t count = 0, column = 0;

    for (; manifest_next(&manifest, &object, &error) == 0 && object.tree != NULL; count++)
        column = object.column;
    cr_expect_eq(count, 50001);
    cr_expect_eq(column, 25 + items.len);
}

Test(manifest, cases)
{
    static const struct {
        const char *file, *result;
    } rows[] = {
        {"B01-yaml-booleans-norway/d-pod-env.yaml", "1:1 v1 Pod report-0\n"},
        {"B05-bom-crlf-tabs-utf16/a-plain.yaml", "1:1 v1 Pod report-0\n"},
        {"B05-bom-crlf-tabs-utf16/b-bom.yaml", "1:1 v1 Pod report-0\n"},
        {"B05-bom-crlf-tabs-utf16/c-crlf.yaml", "1:1 v1 Pod report-0\n"},
        {"B05-bom-crlf-tabs-utf16/d-tab-indent.yaml", "7:1 a tab in the indentation: use spaces"},
        {"B05-bom-crlf-tabs-utf16/e-utf16le.yaml", "1:1 UTF-16: save the text as UTF-8"},
        {"B05-bom-crlf-tabs-utf16/f-latin1-byte.yaml", "4:23 not valid UTF-8"},
        {"B05-bom-crlf-tabs-utf16/g-bom-before-second-document.yaml",
         "1:1 v1 Pod report-0\n18:1 v1 Pod report-1\n"},
        {"B05-bom-crlf-tabs-utf16/i-latin1-in-value.yaml", "7:50 not valid UTF-8"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct str path = arena_format(&arena, CASES "%s", rows[i].file);
        struct str text = reading_file(&arena, path.ptr), result = {0};

        cr_assert(str_present(text), "%s", rows[i].file);
        result = objects_of(&arena, text);
        cr_expect(str_equal(result, str_of(rows[i].result)), "%s:\n  is   %s\n  not  %s",
                  rows[i].file, result.ptr, rows[i].result);
    }
}
