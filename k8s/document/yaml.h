/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_DOCUMENT_YAML_H
#define K8S_DOCUMENT_YAML_H

/*
 * yaml - the state that the files of the YAML reader share. yaml.c takes the events of libyaml.
 * yaml_text.c checks the text before, and finds places in it. yaml_alias.c implements what only
 * manifests may use: anchors, aliases and merge keys. Private to k8s/document.
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
#define YAML_MAX_MERGED 1000  /* members that a merge key adds to an object */

/* The keys of all open objects, one after the other as JSON strings. struct keys refers to them:
 * libyaml's own copies are deleted with their events. */
struct yaml_names {
    char *ptr; /* owned */
    size_t len, capacity;
    size_t max_bytes; /* limit of len */
};

struct yaml_anchor {
    const char *name;
    const cJSON *node;
    size_t weight; /* nodes of its value, itself included */
    size_t height; /* levels of its value */
    bool open;     /* its value is not complete */
};

struct yaml_level {
    bool is_map;
    bool at_key;
    size_t names_len;           /* length of struct yaml_names before the object */
    size_t height;              /* levels inside of it, so far */
    struct yaml_anchor *anchor; /* of this object or list; NULL: none */
    size_t nodes_left;          /* before it */
    bool merges;                /* the next value belongs to a merge key */
    cJSON *merge;               /* the value of the merge key; NULL: none */
    size_t merge_offset;
    size_t merge_members; /* number of members before the merge key */
    size_t members;
};

struct yaml {
    struct str text;          /* the whole text; offsets count from its start */
    size_t begin, end;        /* the part that is read */
    size_t character, offset; /* libyaml's index of a character, and the offset of that character */
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

/* Sets the fault. Returns -EBADMSG. */
int yaml_refuse(struct yaml *y, size_t offset, const char *what);

/* Refuses characters that are not allowed, those that only some readers take for a line end, and
 * directives. */
int yaml_check_text(struct yaml *y) __attribute__((warn_unused_result));

/* The offset of the character that libyaml counts as `character`. */
size_t yaml_offset(struct yaml *y, size_t character);

/* Sets the fault for the error of libyaml. Returns -EBADMSG or -ENOMEM. */
int yaml_explain(struct yaml *y, const yaml_parser_t *parser);

/* The offset of the first escape for NUL in the double-quoted scalar at offset. */
size_t yaml_find_nul(const struct yaml *y, size_t offset);

/* Adds a key of the object opened last. *ret_twice: the object has that key already. */
int yaml_add_name(struct yaml *y, struct str name, bool *ret_twice)
    __attribute__((warn_unused_result));

/* Adds an anchor; *ret_anchor is NULL where name is NULL. */
int yaml_add_anchor(struct yaml *y, const yaml_char_t *name, size_t offset,
                    struct yaml_anchor **ret_anchor) __attribute__((warn_unused_result));

/* The next value is an alias. */
int yaml_take_alias(struct yaml *y, const yaml_char_t *name, size_t offset)
    __attribute__((warn_unused_result));

/* Adds the members of the merge key's value to the object of that level, which is complete. */
int yaml_merge(struct yaml *y, struct yaml_level *level, cJSON *object)
    __attribute__((warn_unused_result));

#endif
