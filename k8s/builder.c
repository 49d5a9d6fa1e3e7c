#include "k8s/builder.h"

#include <errno.h>

void builder_init(struct builder *b, const struct document_options *options, struct arena *arena)
{
    b->arena = arena;
    b->nodes_left = options->max_nodes != 0 ? options->max_nodes : DOCUMENT_MAX_NODES;
    b->root = NULL;
    b->next = (struct build_rule){.keep = options->shape != NULL ? BUILD_MEMBERS : BUILD_WHOLE,
                                  .members = options->shape};
    b->key = NULL;
    b->key_offset = 0;
    b->depth = 0;
}

/* What the table says about a member, or about a list's items where key is NULL. */
static struct build_rule rule_find(const struct document_shape *members, const char *key)
{
    for (const struct document_shape *m = members; m->key != NULL; m++) {
        bool any = m->key[0] == '*' && m->key[1] == '\0';

        if (!any && (key == NULL || strcmp(m->key, key) != 0))
            continue;
        if (m->whole)
            return (struct build_rule){.keep = BUILD_WHOLE};
        return (struct build_rule){.keep = m->members != NULL ? BUILD_MEMBERS : BUILD_SCALAR,
                                   .members = m->members};
    }
    return (struct build_rule){0};
}

static struct build_rule rule_inside(struct build_rule rule, const char *key)
{
    if (rule.keep == BUILD_MEMBERS)
        return rule_find(rule.members, key);
    return rule.keep == BUILD_WHOLE ? rule : (struct build_rule){0};
}

void builder_key(struct builder *b, char *key, uint32_t offset)
{
    b->next =
        key != NULL ? rule_inside(b->levels[b->depth - 1].inside, key) : (struct build_rule){0};
    b->key = key;
    b->key_offset = offset;
}

void builder_item(struct builder *b)
{
    b->next = b->levels[b->depth - 1].inside;
    b->key = NULL;
    b->key_offset = 0;
}

/* A node for the value that comes now, in its place in the tree; NULL where it is left behind. */
static int node_add(struct builder *b, int type, uint32_t offset, struct document_node **ret_node)
{
    struct document_node *parent = b->depth > 0 ? b->levels[b->depth - 1].node : NULL;
    struct document_node *added = NULL;
    cJSON *first = NULL;

    *ret_node = NULL;
    if (b->next.keep == BUILD_SKIP)
        return 0;
    if (b->nodes_left == 0)
        return -E2BIG;
    added = arena_alloc(b->arena, 1, sizeof(*added));
    if (added == NULL)
        return -ENOMEM;
    b->nodes_left--;
    added->node.type = b->key != NULL ? type | cJSON_StringIsConst : type;
    added->node.string = b->key;
    added->key_offset = b->key_offset;
    added->offset = offset;
    *ret_node = added;
    if (parent == NULL) {
        b->root = &added->node;
        return 0;
    }
    /* as cJSON keeps its lists: the first child's `prev` is the last one */
    first = parent->node.child;
    if (first == NULL) {
        parent->node.child = first = &added->node;
    } else {
        added->node.prev = first->prev;
        first->prev->next = &added->node;
    }
    first->prev = &added->node;
    return 0;
}

int builder_scalar(struct builder *b, int type, char *text, double number, uint32_t offset)
{
    struct document_node *node = NULL;
    int r = node_add(b, type, offset, &node);

    if (r == 0 && node != NULL) {
        node->node.valuestring = text;
        node->node.valuedouble = number;
    }
    return r;
}

int builder_open(struct builder *b, bool is_list, uint32_t offset)
{
    struct document_node *node = NULL;
    int r = node_add(b, is_list ? cJSON_Array : cJSON_Object, offset, &node);
    struct build_level *level = &b->levels[b->depth];

    if (r < 0)
        return r;
    level->node = node;
    level->is_list = is_list;
    level->inside = is_list ? rule_inside(b->next, NULL) : b->next;
    b->depth++;
    return 0;
}

void builder_close(struct builder *b)
{
    b->depth--;
}
