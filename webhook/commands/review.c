/* SPDX-License-Identifier: Apache-2.0 */
/* review - `sandgate review`: its options, and the order in which it reads files and prints. */

#include "webhook/commands/review.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "webhook/cli/options.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/unreadable.h"
#include "webhook/gate/gate.h"
#include "webhook/util/nearest.h"

#define MAX_EARLIER_BYTES ((size_t)256 << 20)
#define MAX_SINCE_UNITS UINT64_C(876000) /* minutes, hours or days; 100 years in hours */
#define MINUTES_PER_HOUR 60
#define SECONDS_PER_MINUTE 60

static const char *const review_outputs[] = {"table", "json", "csv", "html", NULL};

static const char review_about[] =
    "Lists who was denied what and why, from audit logs of the API server, batches of the audit\n"
    "webhook, and decision logs of the gate: plain or gzip, - for standard input. Equal denials\n"
    "of one controller are one row; a request that is in both logs counts once.";
static const char review_statuses[] =
    "  0  the files were read, with or without denials\n"
    "  1  with --fail-on-denial: there is a denial\n" UNREADABLE_STATUS ", or an option is wrong";
static const char review_example[] =
    "  sandgate review --since 24h /var/log/kubernetes/audit*.log*\n"
    "  sandgate review -n payments --finding 'gate.image.*' -o csv audit.log.gz\n"
    "  sandgate review --until 2026-03-01T12:00:00Z --user 'system:serviceaccount:ci:*' audit.log\n"
    "  sandgate review --allowed --outcome exempt --workload 'report*' audit.log\n"
    "  sandgate review --image registry.example/acme/ -o html audit.log >denials.html\n"
    "  sandgate review -o json audit.log >today.json\n"
    "  sandgate review --compare yesterday.json --fail-on-denial audit.log\n"
    "  sandgate review --follow /var/log/kubernetes/audit.log";

/* The values of the options. */
struct review_line {
    const char *since;
    const char *until;
    struct option_texts namespaces, outcomes, findings, users, workloads, images;
    bool allowed;
    unsigned output;
    const char *compare;
    bool follow;
    bool fail_on_denial;
    const char *max_unreadable;
};

#define FILTER_ROW(long_name, short_name, what, field, text)                                       \
    {                                                                                              \
        .name = (long_name), .letter = (short_name), .kind = OPTION_TEXTS, .value = (what),        \
        .help = (text), .target.texts = &line->field                                               \
    }

static enum options_result read_arguments(struct review_line *line, int argc, char **argv,
                                          struct arena *arena, struct operands *ret_operands)
{
    const struct option_row rows[] = {
        {.name = "since",
         .kind = OPTION_TEXT,
         .value = "TIME",
         .target.text = &line->since,
         .help = "from this time on: 2026-03-01T12:00:00Z, or 90m, 24h, 7d"},
        {.name = "until",
         .kind = OPTION_TEXT,
         .value = "TIME",
         .target.text = &line->until,
         .help = "before this time, in the same forms"},
        FILTER_ROW("namespace", 'n', "NAME", namespaces, "only this namespace; may be repeated"),
        FILTER_ROW("outcome", 0, "OUTCOME", outcomes,
                   "only this outcome, such as refused or exempt"),
        FILTER_ROW("finding", 0, "CODE", findings,
                   "only with this finding; gate.image.* for several"),
        FILTER_ROW("user", 0, "NAME", users, "only requests of this user; NAME* for a prefix"),
        FILTER_ROW("workload", 'w', "NAME", workloads,
                   "only this controller or object; NAME* for a prefix"),
        FILTER_ROW("image", 0, "TEXT", images, "only with an image whose reference contains TEXT"),
        {.name = "allowed",
         .kind = OPTION_FLAG,
         .target.flag = &line->allowed,
         .help = "list allowed requests too"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_CHOICE,
         .choices = review_outputs,
         .help = "output format (default: table)",
         .target.choice = &line->output},
        {.name = "compare",
         .kind = OPTION_TEXT,
         .value = "FILE",
         .target.text = &line->compare,
         .help = "changes since an earlier report (made by -o json)"},
        {.name = "follow",
         .letter = 'f',
         .kind = OPTION_FLAG,
         .target.flag = &line->follow,
         .help = "keep reading the last FILE while it grows or rotates"},
        {.name = "fail-on-denial",
         .kind = OPTION_FLAG,
         .target.flag = &line->fail_on_denial,
         .help = "exit with 1 if there is a denial"},
        UNREADABLE_ROW(&line->max_unreadable),
    };
    const struct options options = {
        .arguments = "FILE…",
        .about = review_about,
        .statuses = review_statuses,
        .example = review_example,
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };

    return options_read(&options, argc, argv, arena, ret_operands);
}

/* RFC 3339, or a whole number with m, h or d: the time that long ago. */
static bool read_time(const char *text, struct moment *ret_moment)
{
    struct str s = str_of(text);
    struct str digits = {s.ptr, s.len > 0 ? s.len - 1 : 0};
    uint64_t number = 0;
    int64_t unit = 0;

    if (moment_read(s, ret_moment))
        return true;
    switch (s.len > 0 ? s.ptr[s.len - 1] : '\0') {
    case 'm':
        unit = SECONDS_PER_MINUTE;
        break;
    case 'h':
        unit = SECONDS_PER_MINUTE * MINUTES_PER_HOUR;
        break;
    case 'd':
        unit = MOMENT_SECONDS_PER_DAY;
        break;
    default:
        return false;
    }
    if (!text_read_number(digits, 0, MAX_SINCE_UNITS, &number))
        return false;
    *ret_moment = moment_add_seconds(clock_now(), -(int64_t)number * unit);
    return true;
}

static bool take_list(const struct option_texts *texts, struct arena *arena,
                      struct str_list *ret_list)
{
    struct str *items = arena_alloc(arena, texts->count + 1, sizeof(*items));

    if (items == NULL)
        return false;
    for (size_t i = 0; i < texts->count; i++)
        items[i] = str_of(texts->items[i]);
    *ret_list = (struct str_list){items, texts->count};
    return true;
}

/* A misspelt outcome would match nothing and look like "no denials". */
static bool check_outcomes(const struct option_texts *outcomes, const char *command)
{
    const char *names[EVENT_OUTCOME_COUNT];

    event_outcome_names(names);
    for (size_t i = 0; i < outcomes->count; i++) {
        struct str given = str_of(outcomes->items[i]);
        const char *nearest = NULL;
        bool known = false;

        for (size_t k = 0; k < EVENT_OUTCOME_COUNT && !known; k++)
            known = str_equal(given, str_of(names[k]));
        if (known)
            continue;
        nearest = nearest_name(given, names, EVENT_OUTCOME_COUNT);
        (void)options_refuse(command, "unknown outcome %s%s%s%s", outcomes->items[i],
                             nearest != NULL ? "; did you mean " : "",
                             nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
        return false;
    }
    return true;
}

static bool take_filter(const struct review_line *line, const char *command, struct arena *arena,
                        struct report_filter *filter)
{
    filter->allowed = line->allowed;
    filter->has_since = line->since != NULL;
    filter->has_until = line->until != NULL;
    if (filter->has_since && !read_time(line->since, &filter->since)) {
        (void)options_refuse(command,
                             "--since must be a time such as 2026-03-01T12:00:00Z, or 24h");
        return false;
    }
    if (filter->has_until && !read_time(line->until, &filter->until)) {
        (void)options_refuse(command,
                             "--until must be a time such as 2026-03-01T12:00:00Z, or 24h");
        return false;
    }
    if (!check_outcomes(&line->outcomes, command))
        return false;
    return take_list(&line->namespaces, arena, &filter->namespaces) &&
           take_list(&line->outcomes, arena, &filter->outcomes) &&
           take_list(&line->findings, arena, &filter->findings) &&
           take_list(&line->users, arena, &filter->users) &&
           take_list(&line->workloads, arena, &filter->workloads) &&
           take_list(&line->images, arena, &filter->images);
}

/* COMMAND_FAILED if the file cannot be read; the error is reported, and the next file is read. */
static int read_file(struct log_review *review, const char *path, bool follow)
{
    struct lines cleanup_lines lines = {.fd = -1};
    int status = COMMAND_YES, r = lines_open(path, &lines);

    review->unread = (struct unread){0};
    if (r == 0) {
        review->report.totals.files++;
        lines.keep_tail = follow && lines.regular; /* a pipe cannot grow after its end */
        if (lines.keep_tail)
            review_catch_signals();
        r = log_review_read(review, &lines);
        if (r == 0 && lines.keep_tail)
            r = review_follow(review, &lines);
        unwrap_done(&review->unwrap);
        unread_take_lines(&review->unread, &lines);
        unread_add(&review->report.totals.unread, &review->unread);
    }
    if (r < 0)
        unreadable_report(&lines, path, r);
    else
        status = unreadable_judge(&review->unread, path, review->percent);
    return r < 0 ? COMMAND_FAILED : status;
}

static int compare(struct log_review *review, const char *path)
{
    struct file_folder cleanup_folder folder = {0};
    struct arena cleanup_arena arena = {0};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *what = NULL;
    struct str bytes = {0};
    char *directory = slash == NULL
                          ? arena_copy(&arena, STR("."))
                          : arena_copy(&arena, (struct str){path, (size_t)(slash - path) + 1});
    int r = directory != NULL ? file_folder_open(directory, &folder) : -ENOMEM;

    if (r == 0)
        r = file_read(&folder, name, MAX_EARLIER_BYTES, &arena, &bytes);
    if (r == 0)
        r = report_compare(&review->report, bytes, str_of(path), &arena, &what);
    if (r < 0)
        output_error("%s: %s", path, r == -EBADMSG && what != NULL ? what : file_error_text(r));
    return r < 0 ? COMMAND_FAILED : COMMAND_YES;
}

static int read_files(struct log_review *review, const struct review_line *line,
                      const struct operands *operands)
{
    int status = COMMAND_YES;
    int r = line->follow && review->output == REVIEW_OUTPUT_CSV ? report_csv_head(stdout) : 0;

    for (size_t i = 0; r == 0 && i < operands->count; i++) {
        bool last = i + 1 == operands->count;

        if (read_file(review, operands->items[i], line->follow && last) != COMMAND_YES)
            status = COMMAND_FAILED;
    }
    report_finish(&review->report);
    if (line->compare != NULL && compare(review, line->compare) != COMMAND_YES)
        status = COMMAND_FAILED;
    if (r == 0)
        r = review_print(review);
    if (r < 0) {
        output_error("the report cannot be written: %s", strerror(-r));
        return COMMAND_FAILED;
    }
    review_print_losses(&review->report);
    if (status == COMMAND_YES && line->fail_on_denial && review->report.totals.denied > 0)
        status = COMMAND_NO;
    return status;
}

static int run(int argc, char **argv)
{
    struct arena cleanup_arena arena = {0};
    struct log_review review = {.output = REVIEW_OUTPUT_TABLE};
    struct review_line line = {0};
    struct operands operands = {0};
    enum options_result result = read_arguments(&line, argc, argv, &arena, &operands);
    int status = COMMAND_FAILED;

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count == 0)
        return options_refuse(argv[0], "FILE is needed, or - for standard input");
    review.output = (enum review_output)line.output;
    review.streaming = line.follow;
    if (review.output == REVIEW_OUTPUT_HTML && line.follow)
        return options_refuse(argv[0], "--output html cannot be combined with --follow");
    if (!unreadable_read_percent(argv[0], line.max_unreadable, &review.percent))
        return COMMAND_FAILED;
    if (report_init(&review.report) < 0) {
        report_done(&review.report);
        output_error("out of memory");
        return COMMAND_FAILED;
    }
    review.report.replay = true;
    if (review.output == REVIEW_OUTPUT_HTML)
        review.report.made_at = clock_now();
    if (take_filter(&line, argv[0], &arena, &review.report.filter))
        status = read_files(&review, &line, &operands);
    report_done(&review.report);
    return status;
}

const struct command command_review = {
    .name = "review",
    .summary = "list denials and their reasons from logs",
    .run = run,
};
