/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REFLECTOR_INTERNAL_H
#define K8S_REFLECTOR_INTERNAL_H

/* internal - what a reflector is made of; private to reflector*.c. */

#include "k8s/reflector/list.h"
#include "k8s/reflector/reflector.h"

#define REFLECTOR_MAX_TOMBS 4096 /* drops that are remembered while a merge is open */

/* What is known of one object. Made in one piece with its texts. */
struct reflector_entry {
    struct str namespace_name;
    struct str name;
    struct reflector_entry *before, *after; /* in a ring */
    void *value;                            /* the sink's */
    uint64_t changed;                       /* the reflector's count of changes, then */
    uint64_t round;                         /* of the last list that had it */
    bool ahead; /* a merge brought it: the watch has not come so far yet */
    unsigned char version_len;
    char version[REFLECTOR_MAX_VERSION_BYTES];
    char texts[];
};

/* The objects themselves: a tree to find them, a ring to visit them. */
struct reflector_known {
    void *tree; /* of tsearch(): struct reflector_entry, borrowed from the ring */
    struct reflector_entry *first;
    size_t count;
    uint64_t changes; /* so far */
    void *tomb_tree;  /* of objects that were dropped while a merge is open; owned */
    struct reflector_entry *first_tomb;
    size_t tomb_count;
    uint64_t tombs_lost; /* the change whose drop could not be remembered; 0: none */
    size_t merge_count;
};

/* Who says so. */
enum reflector_source { REFLECTOR_BY_LIST = 1, REFLECTOR_BY_WATCH, REFLECTOR_BY_MERGE };

struct reflector_change {
    enum reflector_source source;
    uint64_t since; /* changes when the list or the merge began */
    uint64_t round; /* of the list */
    bool again;     /* a list: put what is known with its version too */
};

int reflector_known_put(struct reflector_known *known, const struct reflector_sink *sink,
                        const struct reflector_object *object, struct reflector_change change)
    __attribute__((warn_unused_result));
void reflector_known_drop(struct reflector_known *known, const struct reflector_sink *sink,
                          const struct reflector_object *object);
/* Drops what a whole list has not had. */
void reflector_known_sweep(struct reflector_known *known, const struct reflector_sink *sink,
                           struct reflector_change list);
void reflector_known_done(struct reflector_known *known, const struct reflector_sink *sink);
/* A merge begins, or ends. */
void reflector_known_open(struct reflector_known *known);
void reflector_known_close(struct reflector_known *known);

/* A watch or list that is under way. */
struct reflector_call {
    enum reflector_step step; /* 0: none */
    bool initial_events;      /* a watch that begins with a list */
    uint64_t begun_msec;
    size_t events;
    int error_code;             /* of an ERROR event; 0: none came */
    struct reflector_text line; /* of a watch */
    struct reflector_list page; /* of a list */
};

/* A list of one or more pages, or the beginning of a watch. */
struct reflector_listing {
    bool begun;
    struct reflector_change change; /* of what it has */
    bool whole;                     /* without pages */
    bool again;
    char *token; /* `continue`, percent-encoded; owned; NULL: the first page */
    char version[REFLECTOR_MAX_VERSION_BYTES + 1];
};

struct reflector {
    struct reflector_options options; /* path and selector lie in `texts` */
    struct document_shape *event;     /* what of an event, or item, becomes a tree; in `texts` */
    struct document_shape *object;
    struct arena texts;
    struct arena task; /* the path of the current task */

    struct reflector_known known;
    struct reflector_call call;
    struct reflector_listing listing;
    char version[REFLECTOR_MAX_VERSION_BYTES + 1]; /* of the watch; empty: none */
    bool must_list;
    bool latest;         /* the list is to be asked without version */
    bool again;          /* and to put everything */
    bool initial_events; /* not refused so far */
    uint64_t rounds;     /* lists begun */
    uint64_t lists;      /* lists that came whole */
    uint64_t heard_msec;

    unsigned failures;      /* in a row: how long to pause */
    unsigned refused;       /* watches in a row that were answered with an error */
    unsigned expired;       /* 410s in a row */
    unsigned short_watches; /* in a row */
    uint64_t failure_count;
    uint64_t failed_msec; /* the last one */
    uint64_t pause_until_msec;
    uint32_t random;
    char reason[REFLECTOR_MAX_REASON_BYTES + 1];
};

/* read.c */

/* What a line of a watch was. */
struct reflector_line {
    bool is_event;  /* false: an empty line */
    bool ends_list; /* the bookmark after the initial events: the list is complete at `version` */
    char version[REFLECTOR_MAX_VERSION_BYTES + 1];
};

/* One line of a watch; one item of a list; the rest of a list. */
int reflector_read_line(struct reflector *reflector, struct str line,
                        struct reflector_line *ret_line) __attribute__((warn_unused_result));
int reflector_read_item(struct reflector *reflector, struct str item,
                        struct reflector_change change) __attribute__((warn_unused_result));

struct reflector_head {
    bool has_items;
    char version[REFLECTOR_MAX_VERSION_BYTES + 1];
    struct str token; /* `continue`; empty: the last page */
};
int reflector_read_head(struct reflector *reflector, struct str head, struct arena *arena,
                        struct reflector_head *ret_head) __attribute__((warn_unused_result));

/* Of a Status: whether it says that the version asked for is not reached yet. Its message becomes
 * the reason. */
bool reflector_read_status(struct reflector *reflector, struct str body);

void reflector_set_reason(struct reflector *reflector, struct str reason);

#endif
