/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "webhook/runtime/runtime.h"

#define PATH_BYTES 256
#define CASES TESTS_DIR "/cases/world"

/* A folder with a copy of the cases' runtime, removed at the end. */
struct place {
    char folder[64];
};

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[4 * PATH_BYTES];
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    cr_assert(n > 0 && (size_t)n < sizeof(command));
    cr_assert_eq(system(command), 0, "%s", command); /* lint: allow fixed commands of this test */
}

static struct place make_place(void)
{
    struct place place = {.folder = "/tmp/sandgate-world-XXXXXX"};

    cr_assert_not_null(mkdtemp(place.folder));
    run("cp -R '%s'/. '%s'", CASES, place.folder);
    return place;
}

static void remove_place(const struct place *place)
{
    run("rm -rf '%s'", place->folder);
}

static struct runtime *open_place(const struct place *place)
{
    const struct runtime_overrides overrides = {0};
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    char path[PATH_BYTES];
    int r = 0;

    (void)snprintf(path, sizeof(path), "%s/gate.yaml", place->folder);
    r = runtime_open(path, &overrides, &runtime, &report);
    cr_assert_eq(r, 0, "%s", report.reason_count > 0 ? report.reasons[0].ptr : "");
    cr_assert(report.changed);
    runtime_report_done(&report);
    return runtime;
}

static size_t requirements_of_report(struct runtime *runtime)
{
    struct snapshot *snapshot = runtime_snapshot(runtime);
    size_t count = snapshot_requirements(snapshot, STR("acme/report@1.4.0"), (struct str){0}).count;

    snapshot_unref(snapshot);
    return count;
}

static struct runtime_report reload(struct runtime *runtime, bool force)
{
    struct runtime_report report = {0};

    cr_assert_eq(runtime_reload(runtime, force, &report), 0);
    return report;
}

Test(runtime, opens_on_configuration_keyring_and_folder)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct config *config = runtime_config(runtime);

    cr_assert_eq(requirements_of_report(runtime), 1);
    cr_assert_eq(config->source, CONFIG_SOURCE_DIRECTORY);
    config_unref(config);
    runtime_free(runtime);
    remove_place(&place);
}

/* The start ends with the reason, in the form FILE:LINE:COL: what. */
static void assert_start_refused(const struct place *place, struct runtime_overrides overrides,
                                 const char *file, const char *wanted)
{
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", place->folder, file);
    cr_assert_eq(runtime_open(path, &overrides, &runtime, &report), -EINVAL);
    cr_assert_null(runtime);
    cr_assert_eq(report.reason_count, 1);
    cr_assert(str_contains(report.reasons[0], str_of(wanted)), "%s", report.reasons[0].ptr);
    cr_assert(str_starts_with(report.reasons[0], str_of(place->folder)), "%s",
              report.reasons[0].ptr);
    runtime_report_done(&report);
}

Test(runtime, bad_start_ends_with_its_reason)
{
    struct place place = make_place();

    run("echo 'x: 1' > '%s/bad.yaml'", place.folder);
    assert_start_refused(&place, (struct runtime_overrides){0}, "bad.yaml",
                         "/bad.yaml:1:1: x is not a known key");
    run("printf 'evidence: {kubeconfig: nowhere}\\nkeyring: {directory: keyring}\\n' > "
        "'%s/cluster.yaml'",
        place.folder);
    assert_start_refused(&place, (struct runtime_overrides){0}, "cluster.yaml", "/nowhere");
    run("echo nonsense > '%s/keyring/third.pem'", place.folder);
    assert_start_refused(&place, (struct runtime_overrides){0}, "gate.yaml", "third.pem");
    remove_place(&place);
}

Test(runtime, broken_manifest_ends_the_start)
{
    struct place place = make_place();

    run("printf 'a: 1\\na: 2\\n' > '%s/evidence/zz.yaml'", place.folder);
    assert_start_refused(&place, (struct runtime_overrides){0}, "gate.yaml", "zz.yaml:2:1: ");
    remove_place(&place);
}

Test(runtime, overrides_replace_what_the_file_names)
{
    struct place place = make_place();
    char evidence[PATH_BYTES], keyring[PATH_BYTES];
    const struct runtime_overrides overrides = {
        .evidence_directory = evidence, .keyring_directory = keyring, .own_namespace = "elsewhere"};
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    struct snapshot *snapshot = NULL;

    (void)snprintf(evidence, sizeof(evidence), "%s/evidence", place.folder);
    (void)snprintf(keyring, sizeof(keyring), "%s/keyring", place.folder);
    cr_assert_eq(runtime_open(NULL, &overrides, &runtime, &report), 0);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1);
    snapshot = runtime_snapshot(runtime);
    cr_assert(str_equal(snapshot_policy(snapshot)->own_namespace, STR("elsewhere")));
    snapshot_unref(snapshot);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, own_namespace_of_the_file_stays)
{
    struct place place = make_place();
    const struct runtime_overrides overrides = {.own_namespace = "elsewhere"};
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    struct config *config = NULL;
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/gate.yaml", place.folder);
    cr_assert_eq(runtime_open(path, &overrides, &runtime, &report), 0);
    runtime_report_done(&report);
    config = runtime_config(runtime);
    cr_assert(str_equal(config->policy.own_namespace, STR("sandgate-system")));
    config_unref(config);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, change_is_seen_and_counts)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    run("rm '%s'/keyring/*.pem", place.folder);
    report = reload(runtime, false);
    cr_assert(report.changed);
    cr_assert(report.keyring_failed);
    cr_assert(!report.config_failed && !report.evidence_failed);
    cr_assert_eq(report.reason_count, 1);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 0, "an empty folder means no key");
    run("cp '%s'/keyring/*.pem '%s'/keyring/", CASES, place.folder);
    report = reload(runtime, false);
    cr_assert(report.changed && !report.keyring_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, broken_configuration_leaves_the_old_one_in_force)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};
    struct config *before = runtime_config(runtime);
    struct config *after = NULL;

    run("echo 'keyring: {threshold: 0}' > '%s/gate.yaml'", place.folder);
    report = reload(runtime, false);
    cr_assert(report.config_failed && report.changed);
    cr_assert_eq(report.reason_count, 1);
    cr_assert(str_contains(report.reasons[0], STR("/gate.yaml:1:22: keyring.threshold must be")));
    runtime_report_done(&report);
    after = runtime_config(runtime);
    cr_assert_eq(after, before);
    cr_assert_eq(requirements_of_report(runtime), 1);
    config_unref(before);
    config_unref(after);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, key_taken_away_counts_though_the_configuration_is_broken)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    run("echo 'x: 1' > '%s/gate.yaml' && rm '%s'/keyring/*.pem", place.folder, place.folder);
    report = reload(runtime, false);
    cr_assert(report.config_failed && report.keyring_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 0);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, new_configuration_counts_for_the_next_snapshot)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    run("cp '%s/gate-revoked.yaml' '%s/gate.yaml'", place.folder, place.folder);
    report = reload(runtime, false);
    cr_assert(report.changed && !report.config_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 0, "its document is revoked");
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, evidence_folder_that_cannot_be_read_waits)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    run("sed 's/directory: evidence/directory: nowhere/' '%s/gate-threshold-2.yaml' > "
        "'%s/gate.yaml'",
        CASES, place.folder);
    report = reload(runtime, false);
    cr_assert(report.evidence_failed && report.changed && !report.config_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1, "the old folder goes on");
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, unchanged_files_are_not_read_again_once_they_are_settled)
{
    struct place place = make_place();
    struct runtime *runtime = NULL;
    struct runtime_report report = {0};

    sleep(3); /* the files' times are far enough behind the clock */
    runtime = open_place(&place);
    report = reload(runtime, false);
    cr_assert(!report.changed);
    runtime_report_done(&report);
    report = reload(runtime, true);
    cr_assert(report.changed);
    runtime_report_done(&report);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, swap_behind_a_link_is_a_change)
{
    struct place place = make_place();
    struct runtime *runtime = NULL;
    struct runtime_report report = {0};

    /* as a mounted ConfigMap: keyring/x.pem -> ..data/x.pem, ..data -> ..one */
    run("cd '%s/keyring' && mkdir ..one ..two && mv release-2026.pem security-2026.pem ..one",
        place.folder);
    run("cd '%s/keyring' && cp ..one/security-2026.pem ..two && ln -s ..one ..data && "
        "ln -s ..data/release-2026.pem ..data/security-2026.pem .",
        place.folder);
    sleep(3);
    runtime = open_place(&place);
    cr_assert_eq(requirements_of_report(runtime), 1);
    run("cd '%s/keyring' && ln -s ..two ..data_tmp && mv -T ..data_tmp ..data && "
        "rm release-2026.pem",
        place.folder);
    report = reload(runtime, false);
    cr_assert(report.changed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1, "signed by security-2026 too");
    runtime_free(runtime);
    remove_place(&place);
}
