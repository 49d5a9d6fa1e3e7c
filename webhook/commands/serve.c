/* SPDX-License-Identifier: Apache-2.0 */
/* serve - `sandgate serve`: the options of the webhook server. webhook/serve/ runs it. */

#include "planner/base/arena.h"
#include "webhook/cli/known.h"
#include "webhook/commands/commands.h"
#include "webhook/serve/serve.h"
#include "webhook/util/heap.h"

static const char *const level_names[] = {"error", "warn", "info", "debug", NULL};
static const enum log_level levels[] = {LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO,
                                        LOG_LEVEL_DEBUG};
#define DEFAULT_LEVEL 2 /* index into both: info */
_Static_assert(sizeof(levels) / sizeof(levels[0]) + 1 ==
                   sizeof(level_names) / sizeof(level_names[0]),
               "each name of a log level has a level");

static int run(int argc, char **argv)
{
    struct serve_options serve = {0};
    unsigned level = DEFAULT_LEVEL;
    const struct option_row rows[] = {
        option_explained(option_known_text(OPTION_CONFIG, &serve.config_path),
                         "configuration file, a GateConfiguration (required)"),
        {.name = "check",
         .kind = OPTION_FLAG,
         .help = "check the configuration and its files, then exit",
         .target.flag = &serve.check},
        {.name = "listen",
         .kind = OPTION_TEXT,
         .value = "ADDRESS",
         .help = "address of the webhook (default: listen.webhook)",
         .target.text = &serve.listen},
        {.name = "admin",
         .kind = OPTION_TEXT,
         .value = "ADDRESS",
         .help = "address of metrics and probes (default: listen.admin)",
         .target.text = &serve.admin},
        {.name = "log-level",
         .kind = OPTION_CHOICE,
         .choices = level_names,
         .help = "level of the log on standard error (default: info)",
         .target.choice = &level},
    };
    const struct options options = {
        .arguments = "",
        .about = "Answers the AdmissionReviews of an API server over TLS. SIGHUP reads "
                 "configuration, keys,\n"
                 "certificates and evidence again. After SIGTERM requests are answered for "
                 "drainSeconds\n"
                 "more, then the program exits.",
        .statuses = "  0  stopped by a signal, or --check found no error\n"
                    "  2  not started, or an option is wrong: the reasons are on standard error",
        .example = "  sandgate serve --config gate.yaml --check\n"
                   "  sandgate serve -c gate.yaml --log-level debug --listen '[::]:9443' \\\n"
                   "    --admin 127.0.0.1:9080",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };
    struct arena cleanup_arena arena = {0};
    struct operands operands = {0};
    enum options_result result = options_read(&options, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count != 0)
        return options_refuse(argv[0], "unexpected argument %s", operands.items[0]);
    if (serve.config_path == NULL)
        return options_refuse(argv[0], "--config FILE is needed");
    serve.level = levels[level];
    heap_limit();
    return serve_run(&serve);
}

const struct command command_serve = {
    .name = "serve",
    .summary = "run the admission webhook",
    .run = run,
};
