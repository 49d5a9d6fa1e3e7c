/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_REFLECTOR_INTERNAL_H
#define K8S_REFLECTOR_INTERNAL_H

/*
 * internal - the members of a reflector; for the files of this directory only.
 *
 * reflector.c  the next request, pauses, ends of calls
 * read.c       lines, items and lists: from JSON to objects
 * list.c       cuts a list into its items
 * known.c      the known objects
 * merge.c      reads beside the watch
 * state.c      questions about a reflector
 */

#include "k8s/reflector/list.h"
#include "k8s/reflector/reflector.h"

#define REFLECTOR_MAX_TOMBSTONES                                                                   \
    4096 /* dropped objects that are remembered while a merge is open */

/* A known object, allocated together with its texts. */
struct reflector_entry {
    struct str namespace_name;
    struct str name;
    struct reflector_entry *previous, *next; /* in a ring */
    void *value;                             /* of the sink */
    uint64_t changed; /* value of reflector_known.changes at its last change */
    uint64_t round;   /* number of the last list that had it */
    bool ahead;       /* its version is from a merge, and the watch has not reached it yet */
    unsigned char version_len;
    char version[REFLECTOR_MAX_VERSION_BYTES];
    char texts[];
};

/* All known objects: a tree to find them, a ring to visit them. */
struct reflector_known {
    void *tree; /* of tsearch(): entries, owned by the ring */
    struct reflector_entry *first;
    size_t count;
    uint64_t changes;     /* number of changes so far */
    void *tombstone_tree; /* of tsearch(): dropped while a merge is open; owned by the ring */
    struct reflector_entry *first_tombstone;
    size_t tombstone_count;
    uint64_t tombstones_lost; /* the last change whose drop was not remembered; 0: none */
    size_t merge_count;       /* open merges */
};

/* The origin of a change. */
enum reflector_source { REFLECTOR_BY_LIST = 1, REFLECTOR_BY_WATCH, REFLECTOR_BY_MERGE };

struct reflector_change {
    enum reflector_source source;
    uint64_t since; /* a merge: reflector_known.changes when it began */
    uint64_t round; /* a list: its number; a merge: the number of lists begun before it */
    bool again;     /* a list: put objects of a known version too */
};

int reflector_known_put(struct reflector_known *known, const struct reflector_sink *sink,
                        const struct reflector_object *object, struct reflector_change change)
    __attribute__((warn_unused_result));
void reflector_known_drop(struct reflector_known *known, const struct reflector_sink *sink,
                          const struct reflector_object *object);
/* Drops the objects that a complete list did not have. */
void reflector_known_sweep(struct reflector_known *known, const struct reflector_sink *sink,
                           struct reflector_change list);
void reflector_known_done(struct reflector_known *known, const struct reflector_sink *sink);
/* A merge begins or ends. */
void reflector_known_open(struct reflector_known *known);
void reflector_known_close(struct reflector_known *known);

/* A watch or list in progress. */
struct reflector_call {
    enum reflector_step step; /* 0: none */
    bool initial_events;      /* a watch that begins with a list */
    uint64_t begun_msec;
    size_t events;
    int error_code;             /* of an ERROR event; 0: none */
    struct reflector_text line; /* of a watch: the incomplete last line */
    struct reflector_list page; /* of a list */
};

/* A list in progress: one or more pages, or the initial events of a watch. */
struct reflector_listing {
    bool begun;                     /* its first request was sent */
    struct reflector_change change; /* for its objects */
    bool whole;                     /* without pages */
    char *token; /* `continue` of the last page; owned; NULL: before the first page */
    char version[REFLECTOR_MAX_VERSION_BYTES + 1];
};

struct reflector {
    struct reflector_options options; /* path and selector are stored in `texts` */
    struct document_shape *event;     /* the members of an event that become a tree; in `texts` */
    struct document_shape *object;    /* the same for an item of a list */
    struct arena texts;
    struct arena task; /* the path of the current task */

    struct reflector_known known;
    struct reflector_call call;
    struct reflector_listing listing;
    char version[REFLECTOR_MAX_VERSION_BYTES + 1]; /* of the watch; empty: none */
    bool must_list;
    bool latest;         /* the next list is requested without a version */
    bool again;          /* the next list puts objects of a known version too */
    bool initial_events; /* requested, and not refused so far */
    uint64_t rounds;     /* number of lists begun */
    uint64_t lists;      /* number of complete lists */
    uint64_t last_event_msec;

    unsigned failures;      /* in a row; decides the length of the pause */
    unsigned refused;       /* watches in a row with an error status */
    unsigned expired;       /* 410s in a row */
    unsigned short_watches; /* in a row */
    uint64_t failure_count;
    uint64_t failed_msec; /* time of the last failure */
    uint64_t pause_until_msec;
    uint32_t random;
    char reason[REFLECTOR_MAX_REASON_BYTES + 1];
};

/* ---- read.c ---- */

/* What a line of a watch was. */
struct reflector_line {
    bool is_event;  /* false: an empty line */
    bool ends_list; /* the bookmark after the initial events: the list is complete at `version` */
    char version[REFLECTOR_MAX_VERSION_BYTES + 1];
};

/* Read a line of a watch; an item of a list; the rest of a list. */
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

/* Reads a Status: its message becomes the reason. True if the server has not reached the requested
 * version yet. */
bool reflector_read_status(struct reflector *reflector, struct str body);

/* Shortened to REFLECTOR_MAX_REASON_BYTES. */
void reflector_set_reason(struct reflector *reflector, struct str reason);

#endif
