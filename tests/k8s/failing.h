/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_FAILING_H
#define TESTS_K8S_FAILING_H

/* failing - makes the nth allocation fail, or makes reads short. One thread only. The program must
 * be linked with FAILING_WRAPS of CMakeLists.txt. Allocations of libraries do not fail. */

#include <stdbool.h>
#include <stddef.h>

/* The nth allocation from now fails, and no other. */
void failing_alloc_arm(unsigned nth);
/* Disarms. true if an allocation has failed. */
bool failing_alloc_failed(void);

/* Reads return at most this many bytes (0: no limit), and every other read fails with EINTR. */
void failing_read_short(size_t bytes);
/* The nth read from now fails with EIO. */
void failing_read_arm(unsigned nth);

#endif
