/* SPDX-License-Identifier: Apache-2.0 */
/* test_runtime - a runtime starts from files, and reloads those that have changed. */
#include <criterion/criterion.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "webhook/runtime/runtime.h"

extern char **environ;

#define PATH_BYTES 256
#define CASES TESTS_DIR "/cases/world"

/* A directory with a copy of the files of tests/cases/world, removed by remove_place(). */
struct place {
    char folder[64];
};

/* Runs a program without a shell. The arguments end with NULL. */
static void run(const char *program, ...) __attribute__((sentinel));

static void run(const char *program, ...)
{
    char *arguments[8] = {(char *)(uintptr_t)program};
    size_t count = 1;
    va_list args;
    pid_t pid = 0;
    int status = 0;

    va_start(args, program);
    while ((arguments[count] = va_arg(args, char *)) != NULL)
        cr_assert_lt(++count, 8);
    va_end(args);
    cr_assert_eq(posix_spawnp(&pid, program, NULL, NULL, arguments, environ), 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: %d", program, status);
}

static struct place make_place(void)
{
    struct place place = {.folder = "/tmp/sandgate-world-XXXXXX"};

    cr_assert_not_null(mkdtemp(place.folder));
    run("cp", "-R", CASES "/.", place.folder, NULL);
    return place;
}

static void remove_place(const struct place *place)
{
    run("rm", "-rf", place->folder, NULL);
}

/* The path of a file of the place. */
struct path {
    char text[PATH_BYTES];
};

static struct path path_of(const struct place *place, const char *name)
{
    struct path path;
    int n = snprintf(path.text, sizeof(path.text), "%s/%s", place->folder, name);

    cr_assert(n > 0 && (size_t)n < sizeof(path.text));
    return path;
}

static void write_file(const struct place *place, const char *name, const char *text)
{
    FILE *file = fopen(path_of(place, name).text, "we");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
}

static void remove_keys(const struct place *place)
{
    cr_assert_eq(unlink(path_of(place, "keyring/release-2026.pem").text), 0);
    cr_assert_eq(unlink(path_of(place, "keyring/security-2026.pem").text), 0);
}

static void make_link(const struct place *place, const char *target, const char *name)
{
    cr_assert_eq(symlink(target, path_of(place, name).text), 0);
}

static void move(const struct place *place, const char *from, const char *to)
{
    cr_assert_eq(rename(path_of(place, from).text, path_of(place, to).text), 0);
}

static struct runtime *open_place(const struct place *place)
{
    const struct runtime_overrides overrides = {0};
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    int r = runtime_open(path_of(place, "gate.yaml").text, &overrides, &runtime, &report);

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

Test(runtime, opens_with_configuration_keyring_and_evidence)
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

/* The start fails with one reason, in the form FILE:LINE:COLUMN: text. */
static void assert_start_refused(const struct place *place, struct runtime_overrides overrides,
                                 const char *file, const char *wanted)
{
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;

    cr_assert_eq(runtime_open(path_of(place, file).text, &overrides, &runtime, &report), -EINVAL);
    cr_assert_null(runtime);
    cr_assert_eq(report.reason_count, 1);
    cr_assert(str_contains(report.reasons[0], str_of(wanted)), "%s", report.reasons[0].ptr);
    cr_assert(str_starts_with(report.reasons[0], str_of(place->folder)), "%s",
              report.reasons[0].ptr);
    runtime_report_done(&report);
}

Test(runtime, start_with_an_invalid_file_fails_with_a_reason)
{
    struct place place = make_place();

    write_file(&place, "bad.yaml", "x: 1\n");
    assert_start_refused(&place, (struct runtime_overrides){0}, "bad.yaml",
                         "/bad.yaml:1:1: x is not a known key");
    write_file(&place, "cluster.yaml",
               "evidence: {kubeconfig: nowhere}\nkeyring: {directory: keyring}\n");
    assert_start_refused(&place, (struct runtime_overrides){0}, "cluster.yaml", "/nowhere");
    write_file(&place, "keyring/third.pem", "nonsense\n");
    assert_start_refused(&place, (struct runtime_overrides){0}, "gate.yaml", "third.pem");
    remove_place(&place);
}

Test(runtime, start_with_an_invalid_manifest_fails)
{
    struct place place = make_place();

    write_file(&place, "evidence/zz.yaml", "a: 1\na: 2\n");
    assert_start_refused(&place, (struct runtime_overrides){0}, "gate.yaml", "zz.yaml:2:1: ");
    remove_place(&place);
}

Test(runtime, overrides_replace_the_configured_directories)
{
    struct place place = make_place();
    const struct path evidence = path_of(&place, "evidence"), keyring = path_of(&place, "keyring");
    const struct runtime_overrides overrides = {.evidence_directory = evidence.text,
                                                .keyring_directory = keyring.text,
                                                .own_namespace = "elsewhere"};
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    struct snapshot *snapshot = NULL;

    cr_assert_eq(runtime_open(NULL, &overrides, &runtime, &report), 0);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1);
    snapshot = runtime_snapshot(runtime);
    cr_assert(str_equal(snapshot_policy(snapshot)->own_namespace, STR("elsewhere")));
    snapshot_unref(snapshot);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, configured_own_namespace_is_not_overridden)
{
    struct place place = make_place();
    const struct runtime_overrides overrides = {.own_namespace = "elsewhere"};
    struct runtime_report report = {0};
    struct runtime *runtime = NULL;
    struct config *config = NULL;

    cr_assert_eq(runtime_open(path_of(&place, "gate.yaml").text, &overrides, &runtime, &report), 0);
    runtime_report_done(&report);
    config = runtime_config(runtime);
    cr_assert(str_equal(config->policy.own_namespace, STR("sandgate-system")));
    config_unref(config);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, changed_keyring_takes_effect)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    remove_keys(&place);
    report = reload(runtime, false);
    cr_assert(report.changed);
    cr_assert(report.keyring_failed);
    cr_assert(!report.config_failed && !report.evidence_failed);
    cr_assert_eq(report.reason_count, 1);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 0, "an empty directory means no key");
    run("cp", "-R", CASES "/keyring", place.folder, NULL);
    report = reload(runtime, false);
    cr_assert(report.changed && !report.keyring_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, old_configuration_stays_if_the_new_one_is_invalid)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};
    struct config *before = runtime_config(runtime);
    struct config *after = NULL;

    write_file(&place, "gate.yaml", "keyring: {threshold: 0}\n");
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

    write_file(&place, "gate.yaml", "x: 1\n");
    remove_keys(&place);
    report = reload(runtime, false);
    cr_assert(report.config_failed && report.keyring_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 0);
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, new_configuration_applies_to_the_next_snapshot)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    move(&place, "gate-revoked.yaml", "gate.yaml");
    report = reload(runtime, false);
    cr_assert(report.changed && !report.config_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 0, "its document is revoked");
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, old_directory_stays_if_the_new_one_cannot_be_read)
{
    struct place place = make_place();
    struct runtime *runtime = open_place(&place);
    struct runtime_report report = {0};

    move(&place, "gate-threshold-2.yaml", "gate.yaml");
    run("sed", "-i", "s/directory: evidence/directory: nowhere/", path_of(&place, "gate.yaml").text,
        NULL);
    report = reload(runtime, false);
    cr_assert(report.evidence_failed && report.changed && !report.config_failed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1,
                 "the evidence of the old directory is still used");
    runtime_free(runtime);
    remove_place(&place);
}

Test(runtime, unchanged_files_are_not_read_again)
{
    struct place place = make_place();
    struct runtime *runtime = NULL;
    struct runtime_report report = {0};

    sleep(3); /* files are read again until their last change is some seconds ago */
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

Test(runtime, replaced_target_of_a_link_is_a_change)
{
    struct place place = make_place();
    struct runtime *runtime = NULL;
    struct runtime_report report = {0};

    /* as in a mounted ConfigMap: keyring/x.pem -> ..data/x.pem, ..data -> ..one */
    cr_assert_eq(mkdir(path_of(&place, "keyring/..one").text, 0700), 0);
    cr_assert_eq(mkdir(path_of(&place, "keyring/..two").text, 0700), 0);
    move(&place, "keyring/release-2026.pem", "keyring/..one/release-2026.pem");
    move(&place, "keyring/security-2026.pem", "keyring/..one/security-2026.pem");
    run("cp", CASES "/keyring/security-2026.pem", path_of(&place, "keyring/..two").text, NULL);
    make_link(&place, "..one", "keyring/..data");
    make_link(&place, "..data/release-2026.pem", "keyring/release-2026.pem");
    make_link(&place, "..data/security-2026.pem", "keyring/security-2026.pem");
    sleep(3);
    runtime = open_place(&place);
    cr_assert_eq(requirements_of_report(runtime), 1);
    make_link(&place, "..two", "keyring/..data_tmp");
    move(&place, "keyring/..data_tmp", "keyring/..data");
    cr_assert_eq(unlink(path_of(&place, "keyring/release-2026.pem").text), 0);
    report = reload(runtime, false);
    cr_assert(report.changed);
    runtime_report_done(&report);
    cr_assert_eq(requirements_of_report(runtime), 1, "signed by security-2026 too");
    runtime_free(runtime);
    remove_place(&place);
}
