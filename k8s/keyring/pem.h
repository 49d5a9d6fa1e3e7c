/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KEYRING_PEM_H
#define K8S_KEYRING_PEM_H

/*
 * pem - the PUBLIC KEY blocks of a key file (gate-v1, section 4).
 *
 * BEGIN and END stand on lines of their own, blanks at a line's ends apart; other lines around
 * blocks are ignored. A line that holds a marker and more, a block of another label and a block
 * without its end are problems: the scan goes on behind them, so that what else the file holds is
 * still known.
 *
 * Units      lines from 1.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

struct pem_scan {
    struct str rest; /* what was not looked at yet */
    size_t line;     /* the number of the line that was taken last */
};

enum pem_result {
    PEM_END = 0, /* no more blocks */
    PEM_BLOCK,   /* body: base64 text */
    PEM_PROBLEM, /* what: static text, and what to do */
};

struct pem_item {
    size_t line;      /* of the BEGIN line, or of the problem */
    struct str body;  /* borrowed */
    const char *what; /* never quotes the file */
};

struct pem_scan pem_scan_make(struct str text);
enum pem_result pem_next(struct pem_scan *scan, struct pem_item *ret_item);

#endif
