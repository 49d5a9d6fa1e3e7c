/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/cli/known.h"

static const struct option_row known[OPTION_KNOWN_COUNT] = {
    [OPTION_CONFIG] = {.name = "config",
                       .letter = 'c',
                       .kind = OPTION_TEXT,
                       .value = "FILE",
                       .help = "configuration of the gate"},
    [OPTION_EVIDENCE] = {.name = "evidence",
                         .kind = OPTION_TEXT,
                         .value = "DIR",
                         .help = "folder of signed evidence and namespaces"},
    [OPTION_KEYRING] = {.name = "keyring",
                        .letter = 'k',
                        .kind = OPTION_TEXT,
                        .value = "DIR",
                        .help = "folder of <key-id>.pem public keys"},
    [OPTION_KUBECONFIG] = {.name = "kubeconfig",
                           .kind = OPTION_TEXT,
                           .value = "FILE",
                           .help = "evidence from this cluster (as kubectl finds it)"},
    [OPTION_CONTEXT] = {.name = "context",
                        .kind = OPTION_TEXT,
                        .value = "NAME",
                        .help = "of the kubeconfig (its current-context)"},
    [OPTION_NAMESPACE] = {.name = "namespace",
                          .letter = 'n',
                          .kind = OPTION_TEXT,
                          .value = "NAME",
                          .help = "only what lies in that namespace"},
    [OPTION_AS_OF] = {.name = "as-of",
                      .kind = OPTION_TEXT,
                      .value = "TIME",
                      .help = "as at this moment, as 2026-03-01T12:00:00Z (now)"},
    [OPTION_RECURSIVE] = {.name = "recursive",
                          .letter = 'R',
                          .kind = OPTION_FLAG,
                          .help = "folders in folders too"},
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
