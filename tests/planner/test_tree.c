/* SPDX-License-Identifier: Apache-2.0 */
/* test_tree - members and values of JSON trees. */
#include <criterion/criterion.h>

#include "planner/base/tree.h"

Test(tree, members_are_found_by_their_exact_name)
{
    cleanup_arena struct arena arena = {0};
    cJSON *object = tree_make_object(&arena);
    cJSON nothing = {.type = cJSON_NULL};

    cr_assert(tree_add_member(object, "name", tree_make_text(&arena, STR("x"))));
    cr_assert(tree_add_member(object, "nothing", &nothing));
    cr_expect(str_equal(tree_get_text(object, "name"), STR("x")));
    cr_expect_null(tree_get(object, "Name"));
    cr_expect_null(tree_get(object, "nam"));
    cr_expect_null(tree_get(object, "nothing"), "null counts as absent");
    cr_expect_null(tree_get(NULL, "name"));
    cr_expect_null(tree_get(tree_get(object, "name"), "name"), "a text has no members");
}

Test(tree, only_strings_have_text)
{
    cleanup_arena struct arena arena = {0};

    cr_expect(str_equal(tree_text(tree_make_text(&arena, STR("ab"))), STR("ab")));
    cr_expect(str_equal(tree_text(tree_make_text(&arena, (struct str){0})), STR("")));
    cr_expect(!str_present(tree_text(tree_make_bool(&arena, true))));
    cr_expect(!str_present(tree_text(tree_make_number(&arena, 1))));
    cr_expect(!str_present(tree_text(tree_make_array(&arena))));
    cr_expect(!str_present(tree_text(NULL)));
    cr_expect(!str_present(tree_key(NULL)));
    cr_expect(!str_present(tree_key(tree_make_array(&arena))));
}

Test(tree, made_trees_equal_those_that_cjson_reads)
{
    cleanup_arena struct arena arena = {0};
    cJSON *object = tree_make_object(&arena), *list = tree_make_array(&arena);
    char *json = NULL;

    cr_assert(tree_add_item(list, tree_make_number(&arena, 1)));
    cr_assert(tree_add_item(list, tree_make_number(&arena, 2)));
    cr_assert(tree_add_item(list, tree_make_bool(&arena, false)));
    cr_assert(tree_add_member(object, "b", list));
    cr_assert(tree_add_member(object, "a", tree_make_text(&arena, STR("x"))));
    cr_expect(str_equal(tree_key(object->child->next), STR("a")));
    json = cJSON_PrintUnformatted(object);
    cr_expect_str_eq(json, "{\"b\":[1,2,false],\"a\":\"x\"}");
    cJSON_free(json);
}

Test(tree, a_borrowed_copy_has_neither_siblings_nor_name)
{
    cleanup_arena struct arena arena = {0};
    cJSON *object = tree_make_object(&arena), *other = tree_make_object(&arena);
    cJSON *list = tree_make_array(&arena);

    cr_assert(tree_add_item(list, tree_make_text(&arena, STR("x"))));
    cr_assert(tree_add_member(object, "list", list));
    cr_assert(tree_add_member(object, "next", tree_make_bool(&arena, true)));
    cr_assert(tree_add_member(other, "mine", tree_borrow(&arena, list)));
    cr_expect_null(other->child->next);
    cr_expect_eq(other->child->child, list->child, "children are shared");
    cr_expect(str_equal(tree_key(object->child), STR("list")), "the original is as it was");
    cr_expect_not_null(tree_get(object, "next"));
    cr_expect_null(tree_borrow(&arena, NULL));
}

Test(tree, a_failed_allocation_ends_the_chain)
{
    cleanup_arena struct arena arena = {.limit_bytes = 1};
    cJSON object = {.type = cJSON_Object};

    cr_expect_null(tree_make_object(&arena));
    cr_expect_null(tree_make_text(&arena, STR("x")));
    cr_expect(!tree_add_member(&object, "x", tree_make_bool(&arena, true)));
    cr_expect(!tree_add_item(NULL, &object));
    cr_expect_null(object.child);
}
