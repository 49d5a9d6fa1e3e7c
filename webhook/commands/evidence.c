/* SPDX-License-Identifier: Apache-2.0 */
/* evidence - `sandgate evidence`: lists evidence with its state, age, end and signers. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "k8s/evidence/evidence.h"
#include "k8s/policy/boundary_level.h"
#include "k8s/policy/names.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/answer/answer.h"
#include "webhook/cli/known.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/open_runtime.h"

#define EVIDENCE_OUTPUT_MAX_BYTES ((size_t)256 * 1024 * 1024)
#define EVIDENCE_OWN_ROWS 4
#define SECONDS_PER_HOUR 3600
#define SECONDS_PER_MINUTE 60

enum evidence_output { EVIDENCE_OUTPUT_TABLE = 0, EVIDENCE_OUTPUT_JSON };

static const char *const evidence_outputs[] = {"table", "json", NULL};

/* The values of the options. */
struct evidence_line {
    struct open_runtime_choice runtime;
    const char *namespace_name;
    const char *as_of;
    bool expiring;
    unsigned output;
};

static enum options_result read_arguments(struct evidence_line *line, int argc, char **argv,
                                          struct arena *arena, struct operands *ret_operands)
{
    struct option_row rows[EVIDENCE_OWN_ROWS + OPEN_RUNTIME_ROWS] = {
        option_known_text(OPTION_NAMESPACE, &line->namespace_name),
        option_known_text(OPTION_AS_OF, &line->as_of),
        {.name = "expiring",
         .kind = OPTION_FLAG,
         .help = "only valid evidence that ends within 72 hours",
         .target.flag = &line->expiring},
        option_output(evidence_outputs, "output format (default: table)", &line->output),
    };
    const struct options options = {
        .arguments = "",
        .about =
            "Lists evidence as the gate reads it: state and reason, age, end, and the keys that\n"
            "signed. Evidence comes from a directory, or from the cluster that kubectl would\n"
            "use.",
        .statuses = "  0  the evidence was listed, in whatever state it is\n"
                    "  2  evidence, keyring or configuration cannot be read, or an option is wrong",
        .example = "  sandgate evidence --evidence evidence/ --keyring keys/\n"
                   "  sandgate evidence --keyring keys/ --context prod --expiring -n payments\n"
                   "  sandgate evidence -c gate.yaml --kubeconfig prod.kubeconfig -o json\n"
                   "  sandgate evidence -c gate.yaml --as-of 2026-03-01T12:00:00Z",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };

    open_runtime_rows(&line->runtime, rows + EVIDENCE_OWN_ROWS);
    return options_read(&options, argc, argv, arena, ret_operands);
}

/* The state at a moment: valid evidence can have expired, or be too old for a plan. */
static const char *state_at(const struct evidence *evidence, const struct policy *policy,
                            struct moment now)
{
    struct moment end = {0};

    if (evidence->state != EVIDENCE_VALID)
        return evidence_state_text(evidence->state);
    if (evidence_expired(evidence, now))
        return "expired";
    return evidence_end(evidence, policy->max_age_days, &end) && moment_compare(end, now) < 0
               ? "stale"
               : evidence_state_text(evidence->state);
}

/* Only requirements that could be read have an observed_at. */
static bool has_age(const struct evidence *evidence)
{
    return evidence->kind == EVIDENCE_REQUIREMENTS && evidence->state != EVIDENCE_INVALID;
}

/* `12d`, `5h`, `3m`; negative if observed_at is in the future. */
static struct str age_text(const struct evidence *evidence, struct moment now, struct arena *arena)
{
    int64_t seconds = now.sec - evidence->observed_at.sec;
    const char *sign = seconds < 0 ? "-" : "";

    if (!has_age(evidence))
        return STR("");
    seconds = seconds < 0 ? -seconds : seconds;
    if (seconds >= MOMENT_SECONDS_PER_DAY)
        return arena_format(arena, "%s%lldd", sign, (long long)(seconds / MOMENT_SECONDS_PER_DAY));
    if (seconds >= SECONDS_PER_HOUR)
        return arena_format(arena, "%s%lldh", sign, (long long)(seconds / SECONDS_PER_HOUR));
    return arena_format(arena, "%s%lldm", sign, (long long)(seconds / SECONDS_PER_MINUTE));
}

static struct str key_ids_text(const struct evidence *evidence, struct arena *arena)
{
    struct str text = STR("");

    for (size_t i = 0; i < evidence->key_ids.count; i++) {
        struct str id = evidence->key_ids.items[i];

        text = arena_format(arena, "%.*s%s%.*s", (int)text.len, text.ptr, i > 0 ? "," : "",
                            (int)id.len, id.ptr);
        if (!str_present(text))
            return text;
    }
    return text;
}

/* The workload. Baselines and exemptions have no such short name. */
static struct str subject_of(const struct evidence *evidence)
{
    if (str_present(evidence->skill_ref))
        return evidence->skill_ref;
    return str_present(evidence->image_digest) ? evidence->image_digest : STR("");
}

/* The controls that a baseline holds, in the order of the contract. */
static struct str hold_text(const struct evidence *evidence, struct arena *arena)
{
    struct str text = STR("");

    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        enum boundary_control control = (enum boundary_control)i;

        if ((evidence->boundary_hold & boundary_control_bit(control)) == 0)
            continue;
        text = arena_format(arena, "%.*s%s%s", (int)text.len, text.ptr, text.len > 0 ? "," : "",
                            boundary_control_text(control));
        if (!str_present(text))
            return text;
    }
    return text;
}

/* Where a baseline admits writable mounts; `none` is an empty list, which admits nothing. */
static struct str mounts_text(const struct evidence *evidence, struct arena *arena)
{
    struct buffer b = buffer_make(arena, EVIDENCE_MAX_DOCUMENT_BYTES);
    const cJSON *mount = NULL;

    if (evidence->boundary_mounts == NULL)
        return STR("");
    cJSON_ArrayForEach(mount, evidence->boundary_mounts)
    {
        if (b.len > 0)
            buffer_add_char(&b, ',');
        buffer_add(&b, tree_text(mount));
    }
    return b.len > 0 || b.error != 0 ? buffer_text(&b) : STR("none");
}

/* Why it is not valid; or, for valid evidence, that it is too old for the planner. */
static struct str reason_of(const struct evidence *evidence, const struct policy *policy,
                            struct moment now, struct arena *arena)
{
    int64_t most = policy->max_age_days * MOMENT_SECONDS_PER_DAY;

    if (str_present(evidence->reason))
        return evidence->reason;
    if (has_age(evidence) &&
        moment_compare(moment_add_seconds(evidence->observed_at, most), now) < 0)
        return arena_format(arena, "observed more than %d days ago: too old for a plan",
                            policy->max_age_days);
    return STR("");
}

/* When it ends, by expires_at or by age; "" if it does not end. */
static struct str end_text(const struct evidence *evidence, const struct policy *policy,
                           char ret_text[static MOMENT_TEXT_BYTES])
{
    struct moment end = {0};

    if (evidence->state != EVIDENCE_VALID || !evidence_end(evidence, policy->max_age_days, &end))
        return STR("");
    moment_write(end, ret_text);
    return str_of(ret_text);
}

static const char *kind_or_unknown(const struct evidence *evidence)
{
    return evidence->kind != EVIDENCE_UNKNOWN ? evidence_kind_text(evidence->kind) : "?";
}

static void table_add_evidence(struct table *table, const struct evidence *evidence,
                               const struct policy *policy, struct moment now, struct arena *arena)
{
    const char *state = state_at(evidence, policy, now);
    bool counts = strcmp(state, "valid") == 0;
    char *end = arena_alloc(arena, MOMENT_TEXT_BYTES, 1);
    const struct table_cell cells[] = {
        {.text = evidence->namespace_name},
        {.text = evidence->name},
        {.text = str_of(kind_or_unknown(evidence))},
        {.text = str_of(state), .colour = counts ? COLOUR_GOOD : COLOUR_BAD},
        {.text = age_text(evidence, now, arena)},
        {.text = end != NULL ? end_text(evidence, policy, end) : (struct str){0}},
        {.text = key_ids_text(evidence, arena)},
        {.text = subject_of(evidence)},
        {.text = hold_text(evidence, arena)},
        {.text = mounts_text(evidence, arena)},
        {.text = reason_of(evidence, policy, now, arena)},
    };

    table_add(table, cells);
}

static void add_member(struct buffer *b, struct str name, struct str text)
{
    buffer_add(b, name);
    buffer_add_json(b, text);
}

static void json_add_boundary(struct buffer *b, const struct evidence *evidence)
{
    const cJSON *mount = NULL;
    bool first = true;

    buffer_add(b, STR(",\"hold\":["));
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        enum boundary_control control = (enum boundary_control)i;

        if ((evidence->boundary_hold & boundary_control_bit(control)) == 0)
            continue;
        buffer_add_format(b, "%s\"%s\"", first ? "" : ",", boundary_control_text(control));
        first = false;
    }
    buffer_add(b, STR("],\"mounts\":"));
    buffer_add(b, evidence->boundary_mounts != NULL ? STR("[") : STR("null"));
    if (evidence->boundary_mounts == NULL)
        return;
    cJSON_ArrayForEach(mount, evidence->boundary_mounts)
    {
        if (mount != evidence->boundary_mounts->child)
            buffer_add_char(b, ',');
        buffer_add_json(b, tree_text(mount));
    }
    buffer_add_char(b, ']');
}

static void json_add_evidence(struct buffer *b, const struct evidence *evidence,
                              const struct policy *policy, struct moment now)
{
    char end[MOMENT_TEXT_BYTES] = "";

    buffer_add(b, b->len > 1 ? STR(",\n") : STR(""));
    add_member(b, STR("{\"namespace\":"), evidence->namespace_name);
    add_member(b, STR(",\"name\":"), evidence->name);
    add_member(b, STR(",\"kind\":"),
               evidence->kind != EVIDENCE_UNKNOWN ? str_of(evidence_kind_text(evidence->kind))
                                                  : STR(""));
    add_member(b, STR(",\"state\":"), str_of(state_at(evidence, policy, now)));
    add_member(b, STR(",\"reason\":"), reason_of(evidence, policy, now, b->arena));
    if (has_age(evidence))
        buffer_add_format(b, ",\"ageSeconds\":%lld",
                          (long long)(now.sec - evidence->observed_at.sec));
    else
        buffer_add(b, STR(",\"ageSeconds\":null"));
    add_member(b, STR(",\"expiresAt\":"), evidence->expires_at_text);
    add_member(b, STR(",\"endsAt\":"), end_text(evidence, policy, end));
    add_member(b, STR(",\"subject\":"), subject_of(evidence));
    add_member(b, STR(",\"digest\":"), evidence->digest);
    buffer_add(b, STR(",\"keys\":["));
    for (size_t i = 0; i < evidence->key_ids.count; i++) {
        if (i > 0)
            buffer_add_char(b, ',');
        buffer_add_json(b, evidence->key_ids.items[i]);
    }
    buffer_add_char(b, ']');
    if (evidence->kind == EVIDENCE_BASELINE)
        json_add_boundary(b, evidence);
    buffer_add_char(b, '}');
}

/* Valid, and ends within the time in which the gate warns. */
static bool is_expiring(const struct evidence *evidence, const struct policy *policy,
                        struct moment now)
{
    struct moment end = {0};

    return strcmp(state_at(evidence, policy, now), "valid") == 0 &&
           evidence_end(evidence, policy->max_age_days, &end) &&
           moment_compare(end, moment_add_seconds(now, GATE_EXPIRY_WARNING_SEC)) <= 0;
}

static bool is_wanted(const struct evidence *evidence, const struct evidence_line *line,
                      const struct policy *policy, struct moment now)
{
    if (line->expiring && !is_expiring(evidence, policy, now))
        return false;
    return line->namespace_name == NULL ||
           str_equal(evidence->namespace_name, str_of(line->namespace_name));
}

static int list_json(const struct snapshot *snapshot, const struct evidence_line *line,
                     struct moment now, struct arena *arena)
{
    const struct policy *policy = snapshot_policy(snapshot);
    struct evidence_run run = snapshot_all(snapshot);
    struct buffer b = buffer_make(arena, EVIDENCE_OUTPUT_MAX_BYTES);
    struct str text = {0};

    buffer_add_char(&b, '[');
    for (size_t i = 0; i < run.count; i++) {
        if (is_wanted(run.items[i], line, policy, now))
            json_add_evidence(&b, run.items[i], policy, now);
    }
    buffer_add_char(&b, ']');
    text = buffer_text(&b);
    if (!str_present(text))
        return b.error;
    printf("%.*s\n", (int)text.len, text.ptr);
    return 0;
}

static int list_table(const struct snapshot *snapshot, const struct evidence_line *line,
                      struct moment now, struct arena *arena)
{
    const struct policy *policy = snapshot_policy(snapshot);
    struct evidence_run run = snapshot_all(snapshot);
    const struct table_cell head[] = {
        {.text = STR("NAMESPACE")}, {.text = STR("NAME")},     {.text = STR("KIND")},
        {.text = STR("STATE")},     {.text = STR("AGE")},      {.text = STR("ENDS")},
        {.text = STR("SIGNED BY")}, {.text = STR("WORKLOAD")}, {.text = STR("HOLD")},
        {.text = STR("MOUNTS")},    {.text = STR("REASON")},
    };
    struct table table = table_make(arena, sizeof(head) / sizeof(head[0]));

    table_add(&table, head);
    for (size_t i = 0; i < run.count; i++) {
        if (is_wanted(run.items[i], line, policy, now))
            table_add_evidence(&table, run.items[i], policy, now, arena);
    }
    return table_print(&table, stdout);
}

/* Says what the list leaves out. */
static void note_rests(const struct snapshot *snapshot, const struct evidence_line *line)
{
    size_t count = 0;
    const struct snapshot_rest *rests = snapshot_rests(snapshot, &count);

    for (size_t i = 0; i < count; i++) {
        struct str name = rests[i].namespace_name;

        if (line->namespace_name != NULL && !str_equal(name, str_of(line->namespace_name)))
            continue;
        if (rests[i].copies > 0)
            output_error("%.*s: %zu not listed: each has the bytes of a valid document that is",
                         (int)name.len, name.ptr, rests[i].copies);
        if (rests[i].valid > 0)
            output_error("%.*s: %zu more valid documents, over the limit; pods are denied",
                         (int)name.len, name.ptr, rests[i].valid);
        if (rests[i].invalid > 0)
            output_error("%.*s: %zu more documents that are not valid", (int)name.len, name.ptr,
                         rests[i].invalid);
        if (rests[i].broken > 0)
            output_error("%.*s: %zu more baselines that are not valid; they block too",
                         (int)name.len, name.ptr, rests[i].broken);
    }
}

static int open_and_list(const struct evidence_line *line, struct moment now, struct arena *arena)
{
    cleanup_open_runtime struct open_runtime open = {0};
    int r = open_runtime(&line->runtime, &open);

    if (r != 0)
        return COMMAND_FAILED;
    r = line->output == EVIDENCE_OUTPUT_JSON ? list_json(open.snapshot, line, now, arena)
                                             : list_table(open.snapshot, line, now, arena);
    if (r != 0) {
        output_error("%s", strerror(-r));
        return COMMAND_FAILED;
    }
    note_rests(open.snapshot, line);
    if (snapshot_all(open.snapshot).count == 0)
        output_error(
            "no evidence found: evidence is a ConfigMap with the label " NAMES_LABEL_EVIDENCE
            ": \"true\", as `sandgate sign` writes it");
    return COMMAND_YES;
}

static int run(int argc, char **argv)
{
    struct arena cleanup_arena arena = {0};
    struct evidence_line line = {.runtime.evidence_only = true};
    struct operands operands = {0};
    struct moment now = {0};
    const char *problem = NULL;
    enum options_result result = read_arguments(&line, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count > 0)
        return options_refuse(argv[0], "unexpected argument %s", operands.items[0]);
    problem = open_runtime_problem(&line.runtime);
    if (problem != NULL)
        return options_refuse(argv[0], "%s", problem);
    if (!open_runtime_moment(line.as_of, &now))
        return options_refuse(argv[0], "--as-of must be a time such as 2026-03-01T12:00:00Z");
    return open_and_list(&line, now, &arena);
}

const struct command command_evidence = {
    .name = "evidence",
    .summary = "list evidence with state, age and signers",
    .run = run,
};
