/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_HEAD_H
#define WEBHOOK_SERVER_HEAD_H

/*
 * head - the header fields of a request that decide how it is answered (gate-v1, section 8).
 *
 * Pure, never fails. Values are borrowed from the request.
 */

#include <stdbool.h>
#include <stdint.h>

#include "k8s/document/document.h"
#include "planner/base/text.h"
#include "webhook/answer/answer.h"

#define HEAD_MAX_BYTES (16 * 1024)
#define HEAD_DEFAULT_TIMEOUT_MSEC 10000 /* where `timeout` is not given or cannot be read */
#define HEAD_MAX_TIMEOUT_MSEC 600000

struct head {
    unsigned lengths;   /* how many fields Content-Length there are */
    unsigned transfers; /* Transfer-Encoding */
    unsigned types;     /* Content-Type */
    unsigned hosts;     /* Host */
    bool old;           /* HTTP/1.0, which has no Transfer-Encoding */
    bool chunked;       /* the transfer coding is `chunked` and nothing else */
    bool encoded;       /* a content encoding other than `identity` */
    bool length_read;   /* length_bytes is set */
    bool accepts_json;  /* named in Accept */
    bool accepts_yaml;  /* named in Accept */
    bool malformed; /* a field that HTTP does not allow, and that a proxy can read in another way */
    struct str type; /* Content-Type */
    uint64_t length_bytes;
};

/* Adds one field. */
void head_add(struct head *head, struct str name, struct str value);

/* Whether the length of the body is ambiguous: two framings, a length given twice, a length that
 * cannot be read, a transfer coding other than `chunked` or one in HTTP/1.0, or a malformed field,
 * which can hide another. */
bool head_is_framed_twice(const struct head *head);

/* 0 where the type is neither JSON nor YAML, or not given exactly once. */
enum document_syntax head_syntax(const struct head *head);

/* YAML where Accept names it and does not name JSON. */
enum answer_format head_format(const struct head *head);

/* Reads a duration as Go writes them: `5s`, `1m30s`, `250ms`. HEAD_DEFAULT_TIMEOUT_MSEC for
 * anything else; at most HEAD_MAX_TIMEOUT_MSEC. */
uint64_t head_timeout_msec(struct str value);

#endif
