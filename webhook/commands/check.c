/* SPDX-License-Identifier: Apache-2.0 */
/* check - the options of `sandgate check`, and the order in which it reads files. */

#include "webhook/commands/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "webhook/cli/files.h"
#include "webhook/cli/known.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/open_runtime.h"

static const char *const check_outputs[] = {"table", "json", "yaml", "review", NULL};

#define CHECK_OWN_ROWS 5

static const char check_about[] =
    "Decides on manifests and AdmissionReviews as the gate would; nothing is changed. Manifests\n"
    "(several documents, Lists, all kinds that the gate judges) are decided as if they were\n"
    "created now, AdmissionReviews as they are. Evidence and Namespaces come from a directory,\n"
    "or from the cluster that kubectl would use.";

static const char check_examples[] =
    "  sandgate check -f deployment.yaml --evidence evidence/ --keyring keys/\n"
    "  sandgate check -R -f manifests/ --config gate.yaml --as-of 2026-03-01T12:00:00Z\n"
    "  sandgate check -f - -n payments --keyring keys/ --context prod <all.yaml\n"
    "  sandgate check -f review.json -c gate.yaml --kubeconfig prod.kubeconfig -o review";

/* The values of the options. */
struct check_line {
    struct option_texts files;
    struct open_runtime_choice runtime;
    const char *namespace_name;
    const char *as_of;
    unsigned output;
    bool recursive;
};

static enum options_result read_arguments(struct check_line *line, int argc, char **argv,
                                          struct arena *arena, struct operands *ret_operands)
{
    struct option_row rows[CHECK_OWN_ROWS + OPEN_RUNTIME_ROWS] = {
        {.name = "filename",
         .letter = 'f',
         .kind = OPTION_TEXTS,
         .value = "FILE",
         .help = "file, directory, or - for standard input; may be repeated",
         .target.texts = &line->files},
        option_known_flag(OPTION_RECURSIVE, &line->recursive),
        option_explained(option_known_text(OPTION_NAMESPACE, &line->namespace_name),
                         "namespace of manifests without one (default: context's)"),
        option_known_text(OPTION_AS_OF, &line->as_of),
        option_output(check_outputs, "output format (default: table)", &line->output),
    };
    const struct options options = {
        .arguments = "-f FILE…",
        .about = check_about,
        .statuses = "  0  all objects are admitted (the pods of a controller may still be denied)\n"
                    "  1  at least one object is denied\n"
                    "  2  a file cannot be read, there is nothing to check, or an option is wrong",
        .example = check_examples,
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };

    open_runtime_rows(&line->runtime, rows + CHECK_OWN_ROWS);
    return options_read(&options, argc, argv, arena, ret_operands);
}

static int add_files(const struct check_line *line, const struct operands *operands,
                     struct files *files)
{
    int r = 0;

    for (size_t i = 0; i < line->files.count && r == 0; i++)
        r = files_add(files, line->files.items[i], line->recursive);
    for (size_t i = 0; i < operands->count && r == 0; i++)
        r = files_add(files, operands->items[i], line->recursive);
    return r;
}

/* Makes the policies of the input part of the snapshot, which is replaced. From a folder they count
 * as read then; a gate that does not read those of the cluster does not know these either. */
static int add_policies(struct check *check, struct open_runtime *open)
{
    bool from_folder = open->config->source == CONFIG_SOURCE_DIRECTORY;
    struct snapshot *snapshot = NULL;
    int r = 0;

    if (check->policies.count > 0) {
        r = snapshot_overlay(open->snapshot, check->policies.items, check->policies.count,
                             from_folder, &snapshot);
        if (r < 0)
            return r;
        snapshot_unref(open->snapshot);
        open->snapshot = snapshot;
    }
    check->snapshot = open->snapshot;
    return 0;
}

static int find_policies(struct check *check, const struct files *files, struct arena *arena,
                         struct check_source **ret_sources)
{
    struct check_source *sources = arena_alloc(arena, files->count, sizeof(*sources));
    struct progress progress = {.what = "files read", .total = files->count};
    int r = sources != NULL ? 0 : -ENOMEM;

    for (size_t i = 0; i < files->count && r == 0; i++) {
        sources[i].file = files->items[i];
        r = check_policies_find(check, &sources[i], arena);
        progress_step(&progress);
    }
    progress_hide();
    if (r == 0)
        *ret_sources = sources;
    return r;
}

static int check_files(struct check *check, const struct files *files,
                       const struct check_source *sources, struct arena *arena)
{
    struct progress progress = {.what = "files checked", .total = files->count};
    int r = 0;

    check->list = buffer_make(arena, CHECK_MAX_OUTPUT_BYTES);
    for (size_t i = 0; i < files->count && r == 0; i++) {
        r = check_file(check, &sources[i]);
        progress_step(&progress);
    }
    progress_hide();
    return r == 0 ? check_show_end(check, arena) : r;
}

static int exit_status(const struct check *check)
{
    if (check->unreadable > 0)
        return COMMAND_FAILED;
    if (check->admitted + check->denied == 0) {
        output_error("nothing to check: no object in these files");
        return COMMAND_FAILED;
    }
    return check->denied > 0 ? COMMAND_NO : COMMAND_YES;
}

static struct str default_namespace(const struct check_line *line, const struct runtime *runtime)
{
    struct str name = runtime_context_namespace(runtime);

    if (line->namespace_name != NULL)
        return str_of(line->namespace_name);
    return name.len > 0 ? name : STR("default");
}

static int open_and_check(const struct check_line *line, const struct files *files,
                          struct moment now, struct arena *arena)
{
    cleanup_open_runtime struct open_runtime open = {0};
    struct check check = {
        .now = now,
        .output = (enum check_output)line->output,
    };
    struct check_source *sources = NULL;
    int r = open_runtime(&line->runtime, &open);

    if (r != 0)
        return COMMAND_FAILED;
    check.namespace_name = default_namespace(line, open.runtime);
    check.max_body_bytes = (size_t)open.config->limits.max_body_bytes;
    r = find_policies(&check, files, arena, &sources);
    if (r == 0)
        r = add_policies(&check, &open);
    if (r == 0)
        r = check_files(&check, files, sources, arena);
    check_policies_done(&check.policies);
    if (r != 0) {
        output_error("%s", strerror(-r));
        return COMMAND_FAILED;
    }
    return exit_status(&check);
}

static int run(int argc, char **argv)
{
    struct arena cleanup_arena arena = {0};
    struct check_line line = {0};
    struct operands operands = {0};
    struct files files = {.arena = &arena};
    struct moment now = {0};
    const char *problem = NULL;
    enum options_result result = read_arguments(&line, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (line.files.count + operands.count == 0)
        return options_refuse(argv[0], "-f FILE is needed, or -f - for standard input");
    problem = open_runtime_problem(&line.runtime);
    if (problem != NULL)
        return options_refuse(argv[0], "%s", problem);
    if (!open_runtime_moment(line.as_of, &now))
        return options_refuse(argv[0], "--as-of must be a time such as 2026-03-01T12:00:00Z");
    if (add_files(&line, &operands, &files) != 0)
        return COMMAND_FAILED;
    return open_and_check(&line, &files, now, &arena);
}

const struct command command_check = {
    .name = "check",
    .summary = "check manifests and AdmissionReviews as the gate would",
    .run = run,
};
