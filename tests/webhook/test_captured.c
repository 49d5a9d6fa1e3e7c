/* SPDX-License-Identifier: Apache-2.0 */
/* test_captured - requests of a real API server (tests/captured), decided with the evidence of
 * tests/cases at its time, when the evidence is one day old. The expected answers were derived from
 * section 3 by hand. */

#include <criterion/criterion.h>

#include "cases_world.h"
#include "helper.h"

static const struct {
    const char *file;
    const char *wanted; /* decision, outcome, codes and their places */
    const char *subject;
} rows[] = {
    /* the image of the skill next to the listed sidecar */
    {"01-create-pod.json", "allowed ready", "payments/Pod/report"},
    {"02-create-pod-dry-run.json", "allowed ready", "payments/Pod/report-dry"},
    /* only a label changes */
    {"03-update-pod-label.json", "allowed unchanged", "payments/Pod/report"},
    /* the debug tool, which the baseline lists, replaces the image of the workload */
    {"04-update-pod-image.json", "denied blocked gate.image.unlisted|spec.containers",
     "payments/Pod/report"},
    {"05-update-pod-ephemeralcontainers.json", "denied blocked gate.image.unlisted|spec.containers",
     "payments/Pod/report"},
    {"06-create-pod-generate-name.json", "allowed ready", "payments/Pod/report-z76bx"},
    /* the first row of section 3: other kinds, subresources and operations */
    {"07-create-binding.json", "allowed not_evaluated", "payments/Binding/report"},
    {"08-update-pod-status.json", "allowed not_evaluated", "payments/Pod/report"},
    {"09-create-eviction.json", "allowed not_evaluated", "payments/Eviction/report"},
    {"10-connect-exec.json", "allowed not_evaluated", "payments/PodExecOptions/report"},
    {"11-connect-exec-spdy.json", "allowed not_evaluated", "payments/PodExecOptions/report"},
    /* a judged subresource without a change of images */
    {"12-update-pod-resize.json", "allowed unchanged", "payments/Pod/report"},
    /* controllers are judged by their pod template */
    {"13-create-deployment.json", "allowed ready", "payments/Deployment/report-deploy"},
    {"14-update-deployment-restart.json", "allowed unchanged", "payments/Deployment/report-deploy"},
    {"15-create-replicaset.json", "allowed ready", "payments/ReplicaSet/report-rs"},
    {"16-create-statefulset.json", "allowed ready", "payments/StatefulSet/report-sts"},
    {"17-create-daemonset.json", "allowed ready", "payments/DaemonSet/report-ds"},
    {"18-create-job.json", "allowed ready", "payments/Job/report-job"},
    {"19-create-cronjob.json", "allowed ready", "payments/CronJob/report-cron"},
    {"20-create-pod-image-volume.json", "allowed ready", "payments/Pod/model"},
    {"21-delete-pod-with-finalizer.json", "allowed not_evaluated", "payments/Pod/model"},
    /* removing a finalizer must be possible */
    {"22-update-pod-drop-finalizer.json", "allowed unchanged", "payments/Pod/model"},
    {"23-delete-pod.json", "allowed not_evaluated", "payments/Pod/report"},
    {"24-delete-pod-second-review.json", "allowed not_evaluated", "payments/Pod/report"},
    {"25-delete-pod-graceful-1.json", "allowed not_evaluated", "payments/Pod/report-z76bx"},
    {"26-delete-pod-graceful-2.json", "allowed not_evaluated", "payments/Pod/report-z76bx"},
    {"27-delete-pod-graceful-3.json", "allowed not_evaluated", "payments/Pod/report-z76bx"},
    /* a namespace that requires nothing */
    {"28-create-pod-unmanaged.json", "allowed unmanaged", "default/Pod/plain"},
    /* the annotation of a mirror pod from a user who is not a node: judged as any other pod */
    {"29-create-pod-mirror-annotation-by-user.json", "allowed ready", "payments/Pod/static-n1"},
};

Test(captured, every_captured_review_has_the_expected_answer)
{
    struct snapshot *snapshot = cases_world(TESTS_DIR "/cases/world/gate.yaml", NULL, NULL);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct str path = arena_format(&arena, TESTS_DIR "/captured/%s", rows[i].file);
        struct exchange e = {0};

        exchange_review(cases_file(&arena, path.ptr), DOCUMENT_JSON, ANSWER_JSON, snapshot,
                        helper_moment(HELPER_NOW), &arena, &e);
        cr_assert_eq(e.status, 200, "%s", rows[i].file);
        cr_assert_text(helper_codes(&arena, &e.decision), rows[i].wanted);
        cr_assert_text(helper_annotation(&arena, &e, "subject"), rows[i].subject);
    }
    snapshot_unref(snapshot);
}
