/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_UTIL_CORE_DUMP_H
#define WEBHOOK_UTIL_CORE_DUMP_H

/*
 * core_dump - keeps private keys, passphrases and tokens in memory out of files.
 *
 * Threads    called before the program starts any.
 */

/* From now on the process leaves no core dump, also none to a program that the system has for them.
 * Only root can attach a debugger to it, unless one is attached already. */
void core_dump_disable(void);

#endif
