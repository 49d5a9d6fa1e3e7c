/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_REFLECTOR_SITE_H
#define TESTS_K8S_REFLECTOR_SITE_H

/* What tests of the reflector share: one reflector, whose sink keeps `data.v` of every object, and
 * a clock that only moves when it is told to. */

#include "k8s/reflector/reflector.h"

struct reflector_site {
    struct arena arena;
    struct reflector *reflector;
    struct reflector_task task; /* the last that was asked for */
    uint64_t now_msec;
    size_t puts;
    size_t drops;
    int put_result; /* what the sink says */
};

extern struct reflector_site rsite;

void rsite_begin(void);
/* Other options than the usual ones. */
void rsite_begin_with(const struct reflector_options *options);
void rsite_done(void);

/* The members of a ConfigMap that the tests read. */
extern const struct document_shape rsite_shape[];

/* "a=1 b=1", sorted by name; by namespace where there are two: "x/a=1 y/a=2". */
const char *rsite_store(void);

/* What is asked next, in short: `list`, `list 0`, `list 120`, `list token`, `watch 100`,
 * `watch initial`, with ` whole` for a list without pages, and ` paused` behind it. */
const char *rsite_next(void);

/* Bytes, all at once, and the end of the answer. Asks for the next task first. */
void rsite_answer(struct str bytes);
/* The same, but in pieces of so many bytes. */
void rsite_answer_pieces(struct str bytes, size_t piece);
/* Bytes, and no end yet; the result is reflector_bytes()'s. */
int rsite_bytes(struct str bytes);
void rsite_fail(int status, const char *body, uint32_t retry_after_sec);

/* A list and an event in our words: items are `name=version:v`, with blanks between. */
struct str rsite_list(const char *version, const char *token, const char *items);
struct str rsite_event(const char *type, const char *item);

/* An ERROR event that says the version is gone. */
#define RSITE_GONE "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}\n"

/* A first list has come: "a=1 b=1" at version 100. */
void rsite_listed(void);
/* Behind it a watch that is open, and old enough to end without a pause. */
void rsite_watching(void);
/* One event, which must be taken; the end of the answer; a failure without a body. */
void rsite_send(const char *type, const char *item);
void rsite_end(void);
void rsite_fail_with(int status);

#endif
