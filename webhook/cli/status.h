/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_STATUS_H
#define WEBHOOK_CLI_STATUS_H

/*
 * status - the exit statuses of the program (gate-v1, section 9).
 *
 * Each command defines what COMMAND_NO means. COMMAND_FAILED always means that the command could
 * not do its work, a wrong option included.
 */
#define COMMAND_YES 0
#define COMMAND_NO 1
#define COMMAND_FAILED 2

#endif
