/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_REFLECTOR_SITE_H
#define TESTS_K8S_REFLECTOR_SITE_H

/* reflector_site - for tests of the reflector: one reflector, whose sink keeps `data.v` of every
 * object, and a clock that moves only when a test moves it. */

#include "k8s/reflector/reflector.h"

struct reflector_site {
    struct arena arena;
    struct reflector *reflector;
    struct reflector_task task; /* the last task of the reflector */
    uint64_t now_msec;
    size_t puts;
    size_t drops;
    int put_result; /* the result of the sink */
};

extern struct reflector_site rsite;

void rsite_begin(void);
/* Starts with other options. */
void rsite_begin_with(const struct reflector_options *options);
void rsite_done(void);

/* The members of a ConfigMap that the tests read. */
extern const struct document_shape rsite_shape[];

/* "a=1 b=1", sorted by name. With two namespaces, sorted by namespace: "x/a=1 y/a=2". */
const char *rsite_store(void);

/* The next task in short: `list`, `list 0`, `list 120`, `list token`, `watch 100` or
 * `watch initial`, then ` whole` for a list without pages, then ` paused` if it must wait. */
const char *rsite_next(void);

/* Gets the next task, passes these bytes at once, and ends the answer. */
void rsite_answer(struct str bytes);
/* The same, in pieces of this many bytes. */
void rsite_answer_pieces(struct str bytes, size_t piece);
/* Passes bytes and does not end the answer. Returns the result of reflector_bytes(). */
int rsite_bytes(struct str bytes);
void rsite_fail(int status, const char *body, uint32_t retry_after_sec);

/* The JSON of a list and of an event. Items are `name=version:v`, separated by blanks. */
struct str rsite_list(const char *version, const char *token, const char *items);
struct str rsite_event(const char *type, const char *item);

/* An ERROR event for a version that is too old (410 Gone). */
#define RSITE_GONE "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}\n"

/* Passes the first list: "a=1 b=1" at version 100. */
void rsite_listed(void);
/* After that, opens a watch that is old enough to end without a pause. */
void rsite_watching(void);
/* Passes one event, which must be accepted; ends the answer; fails without a body. */
void rsite_send(const char *type, const char *item);
void rsite_end(void);
void rsite_fail_with(int status);

#endif
