/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_SERVER_HEAD_H
#define WEBHOOK_SERVER_HEAD_H

/*
 * head - what of a request's header fields decides how it is answered (gate-v1, section 8).
 *
 * Pure, never fails; values are borrowed from the request.
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
    unsigned lengths; /* how often Content-Length was given */
    unsigned transfers;
    unsigned types;
    bool chunked;      /* the one transfer coding is `chunked` */
    bool encoded;      /* a content encoding but `identity` */
    bool length_read;  /* length_bytes is set */
    bool accepts_json; /* by name */
    bool accepts_yaml; /* by name */
    bool malformed;    /* a field that no sender of HTTP writes, which others may read otherwise */
    struct str type;   /* Content-Type */
    uint64_t length_bytes;
};

/* One field of the head. */
void head_add(struct head *head, struct str name, struct str value);

/* Two framings, a length given twice or one that cannot be read, a coding but `chunked`, or a
 * malformed field, which may hide another. */
bool head_is_framed_twice(const struct head *head);

/* 0 where the type is neither JSON nor YAML, or not given exactly once. */
enum document_syntax head_syntax(const struct head *head);

/* YAML where it is asked for and JSON is not. */
enum answer_format head_format(const struct head *head);

/* `5s`, `1m30s`, `250ms`: durations as Go writes them. */
uint64_t head_timeout_msec(struct str value);

#endif
