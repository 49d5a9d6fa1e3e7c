/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/serve/serve.h"
#include "planner/base/arena.h"
#include "webhook/commands/commands.h"
#include "webhook/cli/known.h"

/* In the order of enum log_level, from LOG_LEVEL_ERROR on. */
static const char *const serve_levels[] = {"error", "warn", "info", "debug", NULL};

static int run(int argc, char **argv)
{
    struct serve_options serve = {0};
    unsigned level = LOG_LEVEL_INFO - LOG_LEVEL_ERROR;
    const struct option_row rows[] = {
        option_explained(option_known_text(OPTION_CONFIG, &serve.config_path),
                         "the GateConfiguration to serve by (required)"),
        {.name = "check",
         .kind = OPTION_FLAG,
         .help = "only read configuration, keyring, certificates and folder",
         .target.flag = &serve.check},
        {.name = "listen",
         .kind = OPTION_TEXT,
         .value = "ADDRESS",
         .help = "port of the webhook, over listen.webhook",
         .target.text = &serve.listen},
        {.name = "admin",
         .kind = OPTION_TEXT,
         .value = "ADDRESS",
         .help = "port of metrics and probes, over listen.admin",
         .target.text = &serve.admin},
        {.name = "log-level",
         .kind = OPTION_CHOICE,
         .choices = serve_levels,
         .help = "how much is told on standard error (info)",
         .target.choice = &level},
    };
    const struct options options = {
        .arguments = "",
        .about =
            "Answers the admission reviews of an API server over TLS. SIGHUP reads everything\n"
            "again, SIGTERM answers for drainSeconds more and ends.",
        .statuses = "  0  it was ended, or --check found nothing wrong\n"
                    "  2  a bad start: the reasons are on standard error",
        .example = "  sandgate serve --config gate.yaml --check",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };
    struct arena cleanup_arena arena = {0};
    struct operands operands = {0};
    enum options_result result = options_read(&options, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count != 0)
        return options_refuse(argv[0], "%s is no option", operands.items[0]);
    if (serve.config_path == NULL)
        return options_refuse(argv[0], "--config FILE is needed");
    serve.level = (enum log_level)(LOG_LEVEL_ERROR + level);
    return serve_run(&serve);
}

const struct command command_serve = {
    .name = "serve",
    .summary = "the webhook",
    .run = run,
};
