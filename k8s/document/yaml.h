/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_YAML_H
#define K8S_DOCUMENT_YAML_H

/*
 * yaml - the state that the parts of the YAML reader share: yaml.c takes libyaml's events,
 * yaml_text.c looks at the text before and finds places in it, yaml_alias.c knows what only
 * manifests may hold: aliases and merge keys.
 *
 * Errors     0; -EBADMSG with `fault` set; -E2BIG, -ENOMEM, -EIO as in document.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "k8s/document/builder.h"
#include "k8s/document/keys.h"
#include "k8s/document/reader.h"

#define cleanup_yaml_event __attribute__((cleanup(yaml_event_delete)))
#define cleanup_yaml_parser __attribute__((cleanup(yaml_parser_delete)))

#define YAML_MAX_ANCHORS 1000 /* of one document */
#define YAML_MAX_MERGED 1000  /* members that merge keys bring into one object */

/* Names of the objects that are open, as JSON strings one behind the other, so that struct keys
 * can hold them: libyaml's own copies go with their events. */
struct yaml_names {
    char *ptr; /* owned */
    size_t len, capacity;
    size_t max_bytes;
};

struct yaml_anchor {
    const char *name;
    const cJSON *node;
    size_t weight; /* nodes, itself included */
    size_t height; /* levels */
    bool open;     /* its end was not reached */
};

struct yaml_level {
    bool is_map;
    bool at_key;
    size_t names_len;           /* of struct yaml_names, before the object began */
    size_t height;              /* of what stands inside, so far */
    struct yaml_anchor *anchor; /* on this object or list; NULL: none */
    size_t nodes_left;          /* when it began */
    bool merges;                /* the next value is a merge key's */
    cJSON *merge;               /* that value */
    size_t merge_offset;
    size_t merge_members; /* that stand before it */
    size_t members;
};

struct yaml {
    struct str text;         /* the whole, places count from its beginning */
    size_t begin, end;       /* the part that is read */
    size_t character, place; /* libyaml's index of a character, and that character's offset */
    enum document_rules rules;
    struct reader_fault *fault;
    struct arena *arena; /* borrowed */
    size_t documents;
    struct yaml_names names;
    struct yaml_anchor *anchors; /* in the arena; NULL before the first one */
    size_t anchor_count;
    struct builder builder;
    struct keys keys;
    struct yaml_level levels[DOCUMENT_MAX_DEPTH];
};

int yaml_refuse(struct yaml *y, size_t offset, const char *what);

/* Characters that no text may hold, those that are a line's end for some readers only, and
 * directives. */
int yaml_check_text(struct yaml *y) __attribute__((warn_unused_result));

/* The offset of the character that libyaml counts as `character`. */
size_t yaml_offset(struct yaml *y, size_t character);

/* Why libyaml went no further. */
int yaml_explain(struct yaml *y, const yaml_parser_t *parser);

/* Where a double-quoted scalar that begins at offset holds an escape that stands for NUL. */
size_t yaml_find_nul(const struct yaml *y, size_t offset);

/* A name of the object opened last. *ret_twice: it has that name already. */
int yaml_add_name(struct yaml *y, struct str name, bool *ret_twice)
    __attribute__((warn_unused_result));

/* A new anchor; NULL: none is wanted. */
int yaml_add_anchor(struct yaml *y, const yaml_char_t *name, size_t offset,
                    struct yaml_anchor **ret_anchor) __attribute__((warn_unused_result));

/* The value that comes now is an alias. */
int yaml_take_alias(struct yaml *y, const yaml_char_t *name, size_t offset)
    __attribute__((warn_unused_result));

/* What a merge key brought goes into the object of that level, which ends. */
int yaml_merge(struct yaml *y, struct yaml_level *level, cJSON *object)
    __attribute__((warn_unused_result));

#endif
