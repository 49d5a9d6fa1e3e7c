/* SPDX-License-Identifier: Apache-2.0 */
/* replay - `sandgate replay`: plans recorded decisions again and compares the packets. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "planner/base/buffer.h"
#include "webhook/audit/lines.h"
#include "webhook/audit/replay.h"
#include "webhook/audit/unwrap.h"
#include "webhook/cli/options.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/unreadable.h"
#include "webhook/report/json.h"

#define REPLAY_SCHEMA "sandgate.replay.v1"
#define REPLAY_MAX_EVENT_BYTES ((size_t)32 << 20)
#define REPLAY_MAX_JSON_BYTES ((size_t)8 << 20)

enum replay_output { REPLAY_OUTPUT_TABLE = 0, REPLAY_OUTPUT_JSON };

static const char *const replay_outputs[] = {"table", "json", NULL};

/* The options and counts of one run. */
struct replays {
    enum replay_output output;
    uint64_t same, same_cut, differs, no_input, no_plan;
    unsigned percent;           /* --max-unreadable */
    struct unread unread, file; /* of all files; of the one that is read now */
};

static int print_text(struct arena *arena, struct str text, enum output_colour colour)
{
    struct str shown = output_visible(arena, text);

    if (!str_present(shown))
        return -ENOMEM;
    output_print(stdout, colour, shown);
    return 0;
}

/* Prints a diff; each line goes through output_visible(). */
static int print_diff(struct arena *arena, struct str diff)
{
    while (diff.len > 0) {
        const char *end = memchr(diff.ptr, '\n', diff.len);
        size_t len = end != NULL ? (size_t)(end - diff.ptr) : diff.len;
        char sign = len > 0 ? diff.ptr[0] : ' ';
        int r = 0;

        fputs("  ", stdout);
        r = print_text(arena, (struct str){diff.ptr, len},
                       sign == '-'   ? COLOUR_BAD
                       : sign == '+' ? COLOUR_GOOD
                       : sign == '@' ? COLOUR_FAINT
                                     : COLOUR_PLAIN);
        if (r < 0)
            return r;
        fputc('\n', stdout);
        diff.ptr += end != NULL ? len + 1 : len;
        diff.len -= end != NULL ? len + 1 : len;
    }
    return 0;
}

static struct str object_text(const struct event *e, struct arena *arena)
{
    return arena_format(arena, "%.*s/%.*s/%.*s", (int)e->namespace_name.len,
                        str_present(e->namespace_name) ? e->namespace_name.ptr : "",
                        (int)e->object_kind.len,
                        str_present(e->object_kind) ? e->object_kind.ptr : "", (int)e->name.len,
                        str_present(e->name) ? e->name.ptr : "");
}

static int print_table(const struct event *event, const struct replay *replay, struct str source,
                       struct arena *arena)
{
    struct str head = arena_format(arena, "%.*s: ", (int)source.len, source.ptr);
    struct str object = object_text(event, arena);
    struct str tail = arena_format(arena, " at %.*s  %.*s", (int)replay->where.len,
                                   replay->where.ptr, (int)event->time_text.len,
                                   str_present(event->time_text) ? event->time_text.ptr : "");
    int r = 0;

    if (!str_present(head) || !str_present(object) || !str_present(tail))
        return -ENOMEM;
    progress_hide();
    r = print_text(arena, head, COLOUR_PLAIN);
    if (r == 0)
        r = print_text(arena, object, COLOUR_PLAIN);
    fputs(": ", stdout);
    output_print(stdout, COLOUR_BAD, STR("differs"));
    if (r == 0)
        r = print_text(arena, tail, COLOUR_PLAIN);
    fputc('\n', stdout);
    if (r == 0 && str_present(replay->diff))
        return print_diff(arena, replay->diff);
    printf("  recorded %.*s\n", (int)event->packet_sha256.len,
           str_is_sha256(event->packet_sha256) ? event->packet_sha256.ptr : "");
    printf("  replayed %.*s\n", (int)replay->sha256.len, replay->sha256.ptr);
    return r;
}

static int print_json(const struct event *event, const struct replay *replay, struct str source,
                      bool first, struct arena *arena)
{
    struct buffer b = buffer_make(arena, REPLAY_MAX_JSON_BYTES);
    const struct {
        const char *name;
        struct str text;
    } members[] = {
        {"source", source},
        {"object", object_text(event, arena)},
        {"time", event->time_text},
        {"id", event->id},
        {"where", replay->where},
        {"recordedSha256", event->packet_sha256},
        {"againSha256", replay->sha256},
        {"diff", replay->diff},
    };
    struct str text = {0};

    buffer_add(&b, first ? STR("\n{") : STR(",\n{"));
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        buffer_add_format(&b, "%s\"%s\":", i > 0 ? "," : "", members[i].name);
        report_add_safe(&b, str_present(members[i].text) ? members[i].text : STR(""));
    }
    buffer_add_char(&b, '}');
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    (void)fwrite(text.ptr, 1, text.len, stdout);
    return 0;
}

/* One file of a run. */
struct replay_reading {
    struct replays *run;
    const struct lines *lines;
};

static int count_event(struct replays *run, const struct event *event, struct str source,
                       struct arena *arena)
{
    struct replay replay = {0};
    int r = replay_event(event, arena, &replay);

    if (r < 0)
        return r;
    run->no_plan += replay.state == REPLAY_NO_PLAN;
    run->no_input += replay.state == REPLAY_NO_INPUT;
    run->same += replay.state == REPLAY_SAME;
    run->same_cut += replay.state == REPLAY_SAME_CUT;
    if (replay.state != REPLAY_DIFFERS)
        return 0;
    run->differs++;
    return run->output == REPLAY_OUTPUT_TABLE
               ? print_table(event, &replay, source, arena)
               : print_json(event, &replay, source, run->differs == 1, arena);
}

static int take_text(void *context, struct str text)
{
    const struct replay_reading *reading = context;
    struct replays *run = reading->run;
    const struct lines *lines = reading->lines;
    struct arena cleanup_arena arena = {.limit_bytes = REPLAY_MAX_EVENT_BYTES};
    enum event_kind kind = EVENT_BLANK;
    struct events events = {.count = 0};
    struct str source = {0};
    int r = 0;

    if (event_may_matter(text, &kind))
        r = event_read(text, &arena, &events, &kind);
    source = arena_format(&arena, "%s:%llu", lines->path, (unsigned long long)lines->line);
    for (size_t i = 0; r == 0 && i < events.count; i++)
        r = str_present(source) ? count_event(run, &events.items[i], source, &arena) : -ENOMEM;
    if (r == -ENOMEM)
        kind = EVENT_BROKEN; /* it needs more memory than the limit allows */
    unread_count(&run->file, kind, lines->path, lines->line);
    return r == -ENOMEM ? 0 : r;
}

static int read_file(struct replays *run, const char *path)
{
    struct lines cleanup_lines lines = {.fd = -1};
    struct replay_reading reading = {run, &lines};
    struct progress progress = {.what = "MiB read"};
    struct unwrap unwrap = {0};
    struct str text = {0};
    int status = COMMAND_YES, r = lines_open(path, &lines);

    run->file = (struct unread){0};
    progress.total = r == 0 ? (size_t)(lines.size >> 20) : 0;
    while (r == 0 && (r = lines_next(&lines, &text)) == 1) {
        r = unwrap_text(&unwrap, text, take_text, &reading);
        while (progress.total > 0 && (lines.bytes_read >> 20) > progress.done)
            progress_step(&progress);
    }
    if (r == 0)
        r = unwrap_end(&unwrap, take_text, &reading);
    unwrap_done(&unwrap);
    progress_hide();
    unread_take_lines(&run->file, &lines);
    unread_add(&run->unread, &run->file);
    if (r < 0)
        unreadable_report(&lines, path, r);
    else
        status = unreadable_judge(&run->file, path, run->percent);
    return r < 0 ? COMMAND_FAILED : status;
}

static void print_end(const struct replays *run)
{
    const struct unread_part *parts = run->unread.parts;

    if (run->output == REPLAY_OUTPUT_JSON) {
        printf(
            "\n],\"summary\":{\"same\":%llu,\"sameCut\":%llu,\"differs\":%llu,\"noInput\":%llu,"
            "\"noPlan\":%llu,\"broken\":%llu,\"torn\":%llu,\"tooLong\":%llu,\"foreign\":%llu}}\n",
            (unsigned long long)run->same, (unsigned long long)run->same_cut,
            (unsigned long long)run->differs, (unsigned long long)run->no_input,
            (unsigned long long)run->no_plan, (unsigned long long)parts[UNREAD_BROKEN].number,
            (unsigned long long)parts[UNREAD_TORN].number,
            (unsigned long long)parts[UNREAD_TOO_LONG].number,
            (unsigned long long)parts[UNREAD_FOREIGN].number);
        unreadable_print(&run->unread);
        return;
    }
    printf("%llu same", (unsigned long long)(run->same + run->same_cut));
    if (run->same_cut > 0)
        printf(" (%llu with a packet that is cut in the log, compared by digest)",
               (unsigned long long)run->same_cut);
    printf(", %llu differ", (unsigned long long)run->differs);
    if (run->no_input > 0)
        printf(", %llu without input: not compared", (unsigned long long)run->no_input);
    if (run->no_plan > 0)
        printf(", %llu without a plan", (unsigned long long)run->no_plan);
    fputc('\n', stdout);
    unreadable_print(&run->unread);
}

static int read_files(struct replays *run, const struct operands *operands)
{
    int status = COMMAND_YES;

    if (run->output == REPLAY_OUTPUT_JSON)
        printf("{\"schema\":\"" REPLAY_SCHEMA "\",\"differences\":[");
    for (size_t i = 0; i < operands->count; i++) {
        if (read_file(run, operands->items[i]) != COMMAND_YES)
            status = COMMAND_FAILED;
    }
    print_end(run);
    if (status == COMMAND_YES && run->same + run->same_cut + run->differs == 0) {
        output_error("nothing to replay: no decision has an input");
        return COMMAND_FAILED;
    }
    return status == COMMAND_YES && run->differs > 0 ? COMMAND_NO : status;
}

static int run(int argc, char **argv)
{
    unsigned output = REPLAY_OUTPUT_TABLE;
    const char *max_unreadable = NULL;
    const struct option_row rows[] = {
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_CHOICE,
         .choices = replay_outputs,
         .help = "output format (default: table)",
         .target.choice = &output},
        UNREADABLE_ROW(&max_unreadable),
    };
    const struct options options = {
        .arguments = "FILE…",
        .about =
            "Plans every recorded decision again from its recorded input, and compares packet and\n"
            "digest with the recorded ones, byte for byte. FILE is an audit log or a decision\n"
            "log, plain or gzip, - for standard input.",
        .statuses = "  0  all plans are the same\n"
                    "  1  at least one differs: this planner decides differently, or the log was\n"
                    "     changed\n" UNREADABLE_STATUS ",\n"
                    "     there is nothing to replay, or an option is wrong",
        .example = "  sandgate replay /var/log/kubernetes/audit*.log*\n"
                   "  sandgate replay -o json decisions.jsonl | jq .summary",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };
    struct arena cleanup_arena arena = {0};
    struct operands operands = {0};
    struct replays run = {0};
    enum options_result result = options_read(&options, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count == 0)
        return options_refuse(argv[0], "FILE is needed, or - for standard input");
    run.output = (enum replay_output)output;
    if (!unreadable_read_percent(argv[0], max_unreadable, &run.percent))
        return COMMAND_FAILED;
    return read_files(&run, &operands);
}

const struct command command_replay = {
    .name = "replay",
    .summary = "plan recorded decisions again and compare",
    .run = run,
};
