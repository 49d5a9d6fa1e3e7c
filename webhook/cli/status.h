/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CLI_STATUS_H
#define WEBHOOK_CLI_STATUS_H

/*
 * status - the exit statuses of the program (gate-v1, section 9).
 *
 * What COMMAND_NO means is defined by each command. COMMAND_FAILED always means that the command
 * could not answer.
 */
#define COMMAND_YES 0
#define COMMAND_NO 1
#define COMMAND_FAILED 2

#endif
