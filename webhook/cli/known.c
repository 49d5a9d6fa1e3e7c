/* SPDX-License-Identifier: Apache-2.0 */
/* known - the table of the options that several commands have. */

#include "webhook/cli/known.h"

static const struct option_row known[OPTION_KNOWN_COUNT] = {
    [OPTION_CONFIG] = {.name = "config",
                       .letter = 'c',
                       .kind = OPTION_TEXT,
                       .value = "FILE",
                       .help = "configuration file of the gate (GateConfiguration)"},
    [OPTION_EVIDENCE] = {.name = "evidence",
                         .kind = OPTION_TEXT,
                         .value = "DIR",
                         .help = "directory of signed evidence and Namespaces"},
    [OPTION_KEYRING] = {.name = "keyring",
                        .letter = 'k',
                        .kind = OPTION_TEXT,
                        .value = "DIR",
                        .help = "directory of public keys, <key-id>.pem"},
    [OPTION_KUBECONFIG] = {.name = "kubeconfig",
                           .kind = OPTION_TEXT,
                           .value = "FILE",
                           .help = "read evidence from this cluster (default: as kubectl)"},
    [OPTION_CONTEXT] = {.name = "context",
                        .kind = OPTION_TEXT,
                        .value = "NAME",
                        .help = "context in the kubeconfig (default: current-context)"},
    [OPTION_NAMESPACE] = {.name = "namespace",
                          .letter = 'n',
                          .kind = OPTION_TEXT,
                          .value = "NAME",
                          .help = "only evidence in that namespace"},
    [OPTION_AS_OF] = {.name = "as-of",
                      .kind = OPTION_TEXT,
                      .value = "TIME",
                      .help = "use this time, as 2026-03-01T12:00:00Z (default: now)"},
    [OPTION_RECURSIVE] = {.name = "recursive",
                          .letter = 'R',
                          .kind = OPTION_FLAG,
                          .help = "read subdirectories too"},
    [OPTION_OUTPUT] = {.name = "output", .letter = 'o', .kind = OPTION_CHOICE},
};

struct option_row option_known_text(enum option_known which, const char **target)
{
    struct option_row row = known[which];

    row.target.text = target;
    return row;
}

struct option_row option_known_flag(enum option_known which, bool *target)
{
    struct option_row row = known[which];

    row.target.flag = target;
    return row;
}

struct option_row option_output(const char *const *choices, const char *help, unsigned *target)
{
    struct option_row row = known[OPTION_OUTPUT];

    row.choices = choices;
    row.help = help;
    row.target.choice = target;
    return row;
}

struct option_row option_explained(struct option_row row, const char *help)
{
    row.help = help;
    return row;
}
