/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_PEM_H
#define K8S_KEYRING_PEM_H

/*
 * pem - the PUBLIC KEY blocks of a key file (gate-v1, section 4).
 *
 * BEGIN and END must be on lines of their own, except for whitespace at both ends; other lines
 * around blocks are ignored. A line with a marker and other text, a block with another label and a
 * block without END are problems: the scan continues after them, so that the other keys of the
 * file are still found.
 *
 * Units      lines are counted from 1.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

struct pem_scan {
    struct str rest; /* not read yet */
    size_t line;     /* number of the line that was read last */
};

enum pem_result {
    PEM_END = 0, /* no more blocks */
    PEM_BLOCK,   /* body: base64 text */
    PEM_PROBLEM, /* what: static text with the cause and the remedy */
};

struct pem_item {
    size_t line;      /* number of the BEGIN line, or of the problem */
    struct str body;  /* borrowed */
    const char *what; /* never quotes the file */
};

struct pem_scan pem_scan_make(struct str text);
enum pem_result pem_next(struct pem_scan *scan, struct pem_item *ret_item);

#endif
