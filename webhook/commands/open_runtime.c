/* SPDX-License-Identifier: Apache-2.0 */
/* open_runtime - reads configuration, keyring and evidence once, for a command. */

#include "webhook/commands/open_runtime.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "webhook/cli/known.h"
#include "webhook/cli/output.h"

void open_runtime_rows(struct open_runtime_choice *choice,
                       struct option_row ret_rows[static OPEN_RUNTIME_ROWS])
{
    const struct option_row rows[OPEN_RUNTIME_ROWS] = {
        option_known_text(OPTION_EVIDENCE, &choice->evidence),
        option_known_text(OPTION_KUBECONFIG, &choice->kubeconfig),
        option_known_text(OPTION_CONTEXT, &choice->context),
        option_known_text(OPTION_KEYRING, &choice->keyring),
        option_known_text(OPTION_CONFIG, &choice->config),
    };

    memcpy(ret_rows, rows, sizeof(rows));
}

const char *open_runtime_problem(const struct open_runtime_choice *choice)
{
    if (choice->evidence != NULL && (choice->kubeconfig != NULL || choice->context != NULL))
        return "--evidence cannot be combined with --kubeconfig or --context";
    if (choice->config == NULL && choice->keyring == NULL)
        return "--keyring DIR is needed, or --config FILE with a keyring: evidence does not say "
               "which keys to trust";
    return NULL;
}

static void complain_report(const struct runtime_report *report, int r)
{
    if (r != 0 && report->reason_count == 0)
        output_error("%s", strerror(-r));
    for (size_t i = 0; r != 0 && i < report->reason_count; i++)
        output_error("%.*s", (int)report->reasons[i].len, report->reasons[i].ptr);
    for (size_t i = 0; i < report->warning_count; i++)
        output_error("warning: %.*s", (int)report->warnings[i].reason.len,
                     report->warnings[i].reason.ptr);
}

static int read_cluster(struct runtime *runtime)
{
    struct arena cleanup_arena arena = {0};
    struct str reason = {0};
    uint64_t deadline_msec = clock_msec() + OPEN_RUNTIME_READ_MSEC;
    int r = runtime_read_once(runtime, deadline_msec, &arena, &reason);

    if (r != 0)
        output_error("%s", str_present(reason) ? reason.ptr : strerror(-r));
    return r;
}

int open_runtime(const struct open_runtime_choice *choice, struct open_runtime *ret_open)
{
    const struct runtime_overrides overrides = {
        .evidence_directory = choice->evidence,
        .keyring_directory = choice->keyring,
        .kubeconfig = choice->kubeconfig,
        .context = choice->context,
        .evidence_only = choice->evidence_only,
    };
    struct runtime_report report = {0};
    int r = 0;

    assert(ret_open->runtime == NULL);
    r = runtime_open(choice->config, &overrides, &ret_open->runtime, &report);

    complain_report(&report, r);
    runtime_report_done(&report);
    if (r == 0)
        r = read_cluster(ret_open->runtime);
    if (r != 0)
        return r;
    ret_open->snapshot = runtime_snapshot(ret_open->runtime);
    ret_open->config = runtime_config(ret_open->runtime);
    return 0;
}

void open_runtime_done(struct open_runtime *open)
{
    snapshot_unref(open->snapshot);
    config_unref(open->config);
    runtime_free(open->runtime);
    *open = (struct open_runtime){0};
}

bool open_runtime_moment(const char *text, struct moment *ret_moment)
{
    if (text != NULL)
        return moment_read(str_of(text), ret_moment);
    *ret_moment = clock_now();
    return true;
}
