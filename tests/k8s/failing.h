/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_FAILING_H
#define TESTS_K8S_FAILING_H

/* Makes the nth allocation of ours fail, or reads come in pieces. One thread only. Needs
 * FAILING_WRAPS of CMakeLists.txt; what libraries allocate is never touched. */

#include <stdbool.h>
#include <stddef.h>

/* The nth allocation from now fails, and only that. */
void failing_alloc_arm(unsigned nth);
/* Disarms; true if one failed. */
bool failing_alloc_failed(void);

/* Reads give at most so many bytes (0: as many as there are), and are interrupted in between. */
void failing_read_short(size_t bytes);
/* The nth read from now fails with EIO. */
void failing_read_arm(unsigned nth);

#endif
