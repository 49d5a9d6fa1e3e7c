/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_COST_H
#define TESTS_WEBHOOK_COST_H

/*
 * cost - counts what the decision path does, independent of the machine and of its load.
 *
 * The sources that are measured are compiled with -fsanitize-coverage=trace-pc: the compiler puts
 * a call of __sanitizer_cov_trace_pc() at the start of each basic block. The bytes that the
 * functions of COST_WRAPS in CMakeLists.txt handle count too. What happens inside other libraries,
 * such as libyaml, and inside qsort() beside its comparisons is not counted.
 *
 * One thread only.
 */

#include <stdint.h>

void cost_start(void);

/* Basic blocks since cost_start(), plus one for each COST_BYTES bytes that libc handled. */
uint64_t cost_stop(void);

#define COST_BYTES 16

#endif
