/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_waiting - requests that wait for the cluster, over real TLS, with the real gate and a
 * cluster that answers as each scene chooses. A program without criterion, for ThreadSanitizer.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cluster.h"
#include "k8s/util/clock.h"
#include "thread_client.h"
#include "waiting_world.h"

#define CROWD 64
#define SLOTS 128                /* half of them can wait */
#define SLOW_MACHINE_MSEC 600000 /* longer than any step takes on a busy machine */
#define NOW "2026-03-01T12:00:00Z"

/* Replaces the runtime of a running gate. */
struct runtime {
    struct snapshot_store *store;
    struct fake_cluster fake;
};

struct scene {
    struct runtime runtime;
    struct server *server;
    struct arena arena;        /* for the texts of snapshots */
    struct snapshot *empty;    /* without namespace and evidence */
    struct snapshot *bare;     /* with the namespace, without evidence */
    struct snapshot *complete; /* with both */
    struct tls *tls;
    struct metrics metrics;
    uint16_t port;
    char answer[THREAD_CLIENT_MAX_ANSWER];
};

static struct snapshot *scene_snapshot(struct runtime *runtime)
{
    return snapshot_store_get(runtime->store);
}

static struct moment scene_now(void)
{
    return waiting_moment(NOW);
}

static int scene_ask(struct runtime *runtime, enum cluster_question question,
                     struct str namespace_name, struct cluster_waiter *waiter)
{
    return fake_cluster_ask(&runtime->fake, question, namespace_name, waiter);
}

static bool scene_is_stale(struct runtime *runtime)
{
    return fake_cluster_is_stale(&runtime->fake);
}

static void scene_look(struct runtime *runtime, struct cluster_status *ret_status)
{
    (void)runtime;
    *ret_status = (struct cluster_status){.ready = true};
}

static void scene_dismiss(struct runtime *runtime)
{
    fake_cluster_dismiss(&runtime->fake);
}

/* ---- reviews ---- */

static const char managed[] = "\"annotations\":{\"sandbox.runx.dev/skill-ref\":\"acme/app@1.0.0\"}";

/* Padded with blanks to this number of bytes. */
static char *make_review(const char *namespace_name, const char *metadata, const char *more,
                         size_t bytes)
{
    char *text = malloc(bytes + 2048);
    size_t length = 0;

    must(text != NULL, "memory");
    length = (size_t)snprintf(
        text, 2048,
        "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
        "\"uid\":\"u-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},%s"
        "\"namespace\":\"%s\",\"operation\":\"CREATE\",\"object\":{\"metadata\":{%s},\"spec\":{"
        "\"containers\":[{\"image\":\"registry.example.test/app@sha256:" WAITING_HEX "\"}]}}}}",
        more, namespace_name, metadata);
    must(length < 2048, "a review fits");
    if (bytes > length)
        memset(text + length, ' ', bytes - length);
    text[bytes > length ? bytes : length] = '\0';
    return text;
}

/* Stores the answer in scene->answer. The timeout is long: no scene depends on the speed of the
 * machine. */
static void ask_with(struct scene *scene, char *review, const char *timeout)
{
    thread_client_ask(scene->port, timeout, review, strlen(review), scene->answer);
    free(review);
}

static void ask(struct scene *scene)
{
    ask_with(scene, make_review("payments", managed, "", 0), "30s");
}

static void must_say(const struct scene *scene, const char *part)
{
    if (strstr(scene->answer, part) != NULL)
        return;
    fprintf(stderr, "wanted: %s\ngiven: %s\n", part, scene->answer);
    exit(1);
}

static void must_be_allowed(const struct scene *scene)
{
    must_say(scene, "HTTP/1.1 200");
    must_say(scene, "\"uid\":\"u-1\",\"allowed\":true");
}

static void must_be_denied(const struct scene *scene, int code, const char *reason,
                           const char *message)
{
    char status[160];

    (void)snprintf(status, sizeof(status),
                   "\"uid\":\"u-1\",\"allowed\":false,\"status\":{\"code\":%d,\"reason\":\"%s\","
                   "\"message\":\"",
                   code, reason);
    must_say(scene, "HTTP/1.1 200");
    must_say(scene, status);
    must_say(scene, message);
    if (code != 403)
        must_say(scene, "\",\"details\":{\"retryAfterSeconds\":1}}}}");
}

static void must_have_asked(struct scene *scene, unsigned namespaces, unsigned evidence,
                            unsigned fresh)
{
    must(fake_cluster_asked(&scene->runtime.fake, CLUSTER_NAMESPACE) == namespaces,
         "namespaces asked");
    must(fake_cluster_asked(&scene->runtime.fake, CLUSTER_EVIDENCE) == evidence, "evidence asked");
    must(fake_cluster_asked(&scene->runtime.fake, CLUSTER_FRESH) == fresh, "freshness asked");
}

static void scene_know(struct scene *scene, struct snapshot *snapshot)
{
    snapshot_store_put(scene->runtime.store, snapshot_ref(snapshot));
}

/* ---- scenes ---- */

static void play_evidence(struct scene *scene)
{
    /* found after the confirmation */
    scene_know(scene, scene->bare);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.late_msec = 50, .then = scene->complete});
    ask(scene);
    must_be_allowed(scene);
    must_say(scene, "\"outcome\":\"ready\"");
    must_have_asked(scene, 0, 1, 0);
    must(strcmp(scene->runtime.fake.last_namespace, "payments") == 0,
         "asked for the pod's namespace");

    /* already known: no question */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.refused = -EBUSY});
    ask(scene);
    must_be_allowed(scene);
    must_have_asked(scene, 0, 0, 0);

    /* a confirmed miss is final, and not asked again */
    scene_know(scene, scene->bare);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE, (struct fake_answer){0});
    ask(scene);
    must_be_denied(scene, 403, "Forbidden", "gate.evidence.missing");
    must_have_asked(scene, 0, 1, 0);

    /* the same for a dry run, and for a large body that another thread handles */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.then = scene->complete});
    ask_with(scene, make_review("payments", managed, "\"dryRun\":true,", 300 * 1024), "30s");
    must_be_allowed(scene);
    must_have_asked(scene, 0, 1, 0);
}

static void play_failures(struct scene *scene)
{
    uint64_t begun_msec = clock_msec();

    scene_know(scene, scene->bare);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE, (struct fake_answer){.never = true});
    ask_with(scene, make_review("payments", managed, "", 0), "1s");
    must_be_denied(scene, 504, "Timeout",
                   "the API server did not answer before the deadline of the request");
    must(clock_msec() - begun_msec >= 900, "it waited");
    must_have_asked(scene, 0, 1, 0);

    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.refused = -EBUSY});
    ask(scene);
    must_be_denied(scene, 503, "ServiceUnavailable", "too many reviews wait for the API server");
    must_have_asked(scene, 0, 1, 0);

    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE, (struct fake_answer){.result = -EIO});
    ask(scene);
    must_be_denied(scene, 503, "ServiceUnavailable", "the API server could not be asked");

    /* evidence from the watch is used although the question was not answered */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.result = -EIO, .then = scene->complete});
    ask(scene);
    must_be_allowed(scene);
}

static void play_namespace(struct scene *scene)
{
    /* first the namespace, then its evidence */
    scene_know(scene, scene->empty);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.then = scene->complete});
    fake_cluster_play(&scene->runtime.fake, CLUSTER_NAMESPACE,
                      (struct fake_answer){.late_msec = 20, .then = scene->bare});
    ask_with(scene, make_review("payments", managed, "", 0), "100s");
    must_be_allowed(scene);
    must_have_asked(scene, 1, 1, 0);
    must(scene->runtime.fake.deadline_msec[CLUSTER_NAMESPACE] ==
             scene->runtime.fake.deadline_msec[CLUSTER_EVIDENCE],
         "all waits of a request end at one time");

    /* without the labels of the namespace, not even an unmanaged pod has an answer */
    scene_know(scene, scene->empty);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_NAMESPACE, (struct fake_answer){0});
    ask_with(scene, make_review("payments", "", "", 0), "30s");
    must_be_denied(scene, 503, "ServiceUnavailable", "the API server has no namespace payments");
    must_have_asked(scene, 1, 0, 0);

    /* an invalid name is not asked for */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_NAMESPACE, (struct fake_answer){0});
    ask_with(scene, make_review("../secrets", managed, "", 0), "30s");
    must_be_denied(scene, 503, "ServiceUnavailable", "the API server has no namespace ../secrets");
    must_have_asked(scene, 0, 0, 0);
}

/* Nothing could deny: allowed at once, also where no answer would come. */
static void play_stale_and_lenient(struct scene *scene)
{
    static const char *const metadata[] = {managed, ""};

    scene_know(scene, scene->complete);
    fake_cluster_be_stale(&scene->runtime.fake);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE, (struct fake_answer){.never = true});
    fake_cluster_play(&scene->runtime.fake, CLUSTER_FRESH, (struct fake_answer){.never = true});
    for (size_t i = 0; i < 2; i++) {
        ask_with(scene, make_review("trial", metadata[i], "", 0), "30s");
        must_be_allowed(scene);
        must_say(scene, "\"warnings\":[\"sandgate: trial/Pod/ was not evaluated: ");
        must_say(scene, "\"outcome\":\"undecided\"");
    }
    must_have_asked(scene, 0, 0, 0);

    /* a namespace that was never seen is not taken for a lenient one */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_FRESH, (struct fake_answer){.result = -EIO});
    ask_with(scene, make_review("unseen", "", "", 0), "5s");
    must_be_denied(scene, 503, "ServiceUnavailable", "evidence.maxStaleSeconds");
    must_have_asked(scene, 0, 0, 1);
}

static void play_stale(struct scene *scene)
{
    scene_know(scene, scene->complete);
    fake_cluster_be_stale(&scene->runtime.fake);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_FRESH, (struct fake_answer){.result = -EIO});
    ask(scene);
    must_be_denied(scene, 503, "ServiceUnavailable", "evidence.maxStaleSeconds");
    must_have_asked(scene, 0, 0, 1);

    /* a request that does not depend on the cluster is answered */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_FRESH, (struct fake_answer){.result = -EIO});
    ask_with(scene, make_review("payments", managed, "\"subResource\":\"status\",", 0), "30s");
    must_be_allowed(scene);
    must_have_asked(scene, 0, 0, 0);

    /* evidence that was removed meanwhile is not used */
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE, (struct fake_answer){0});
    fake_cluster_play(&scene->runtime.fake, CLUSTER_FRESH,
                      (struct fake_answer){.then = scene->bare});
    ask(scene);
    must_be_denied(scene, 403, "Forbidden", "gate.evidence.missing");
    must_have_asked(scene, 0, 1, 1);
    must(!fake_cluster_is_stale(&scene->runtime.fake), "the cluster was fresh");
}

/* ---- many at once ---- */

struct one {
    struct scene *scene;
    pthread_t thread;
    char answer[THREAD_CLIENT_MAX_ANSWER];
};

static void *run_one(void *argument)
{
    struct one *one = argument;
    char *review = make_review("payments", managed, "", 0);

    thread_client_ask(one->scene->port, "100s", review, strlen(review), one->answer);
    free(review);
    return NULL;
}

/* Clients that all wait. Each begins when the one before it waits: handshakes at once would take
 * longer the slower the machine is. */
static struct one *begin_crowd(struct scene *scene, struct fake_answer answer)
{
    struct one *crowd = calloc(CROWD, sizeof(*crowd));

    must(crowd != NULL, "memory");
    scene_know(scene, scene->bare);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE, answer);
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i].scene = scene;
        must(pthread_create(&crowd[i].thread, NULL, run_one, &crowd[i]) == 0, "a thread");
        while (fake_cluster_asked(&scene->runtime.fake, CLUSTER_EVIDENCE) <= i)
            nap(1);
    }
    return crowd;
}

/* Stores each answer in scene->answer, for `check`. */
static void end_crowd(struct scene *scene, struct one *crowd, void (*check)(const struct scene *))
{
    for (size_t i = 0; i < CROWD; i++) {
        (void)pthread_join(crowd[i].thread, NULL);
        memcpy(scene->answer, crowd[i].answer, sizeof(scene->answer));
        check(scene);
    }
    free(crowd);
}

/* The server has two threads: 64 waiting requests block neither of them. */
static void play_crowd(struct scene *scene)
{
    struct one *crowd =
        begin_crowd(scene, (struct fake_answer){.held = true, .then = scene->complete});

    for (int i = 0; i < 5; i++) {
        ask_with(scene, make_review("payments", "", "", 0), "30s");
        must_be_allowed(scene);
        must_say(scene, "\"outcome\":\"unmanaged\"");
        ask(scene);
        must_be_denied(scene, 503, "ServiceUnavailable",
                       "too many reviews wait for the API server");
    }
    must(fake_cluster_unanswered(&scene->runtime.fake) == CROWD, "answered while all others wait");
    must(scene->runtime.fake.deadline_msec[CLUSTER_EVIDENCE] < clock_msec() + 30000,
         "no wait of 100 s");
    fake_cluster_release(&scene->runtime.fake);
    end_crowd(scene, crowd, must_be_allowed);
}

/* Disconnected clients leave no state. */
static void play_leaver(struct scene *scene)
{
    char *review = make_review("payments", managed, "", 0);
    struct thread_client client = {0};

    scene_know(scene, scene->bare);
    fake_cluster_play(&scene->runtime.fake, CLUSTER_EVIDENCE,
                      (struct fake_answer){.late_msec = 200});
    thread_client_begin(&client, scene->port, "30s", review, strlen(review));
    while (fake_cluster_asked(&scene->runtime.fake, CLUSTER_EVIDENCE) == 0)
        nap(2);
    thread_client_end(&client);
    free(review);
    /* each uses a waiting slot until its answer, and the crowd needs all slots */
    while (fake_cluster_unanswered(&scene->runtime.fake) > 0)
        nap(2);
}

static void must_be_stopping(const struct scene *scene)
{
    must_be_denied(scene, 503, "ServiceUnavailable", "this replica of the gate is stopping");
}

/* The server stops while no question is answered: that ends all waiting requests. */
static void play_stop(struct scene *scene)
{
    struct one *crowd = begin_crowd(scene, (struct fake_answer){.held = true});

    server_stop(scene->server, SLOW_MACHINE_MSEC + 1000);
    end_crowd(scene, crowd, must_be_stopping);
}

static struct server_times patient_times(void)
{
    struct server_times times = server_default_times();

    times.slow_msec = SLOW_MACHINE_MSEC;
    times.last_msec = SLOW_MACHINE_MSEC;
    return times;
}

static void scene_open(struct scene *scene)
{
    static const struct log log = {.fd = STDERR_FILENO, .level = LOG_LEVEL_ERROR};
    struct str reason = {0};
    const struct server_options options = {
        .webhook = {.host = "127.0.0.1"},
        .admin = {.host = "127.0.0.1"},
        .threads = 2,
        .limits = {.max_body_bytes = 1 << 20,
                   .max_in_flight = SLOTS,
                   .max_in_flight_bytes = 64 << 20,
                   .max_connections = 256},
        .times = patient_times(),
        .gate = {.runtime = &scene->runtime,
                 .snapshot = scene_snapshot,
                 .now = scene_now,
                 .review = exchange_review,
                 .ask = scene_ask,
                 .is_stale = scene_is_stale,
                 .look = scene_look,
                 .dismiss = scene_dismiss},
        .tls = scene->tls,
        .metrics = &scene->metrics,
        .log = &log,
    };

    must(server_start(&options, &scene->arena, &scene->server, &reason) == 0, "the server starts");
    scene->port = server_webhook_port(scene->server);
}

int main(void)
{
    static struct scene scene;
    struct thread_client_files files;
    struct str reason = {0};

    (void)signal(SIGPIPE, SIG_IGN);
    thread_client_make_files(&files);
    must(snapshot_store_new(&scene.runtime.store) == 0, "a store");
    must(tls_new(&files.files, &scene.arena, &scene.tls, &reason) == 0, "credentials");
    scene.empty = waiting_snapshot(&scene.arena, false, false);
    scene.bare = waiting_snapshot(&scene.arena, true, false);
    scene.complete = waiting_snapshot(&scene.arena, true, true);
    fake_cluster_start(&scene.runtime.fake, scene.runtime.store);
    scene_open(&scene);
    play_evidence(&scene);
    play_failures(&scene);
    play_namespace(&scene);
    play_stale_and_lenient(&scene);
    play_stale(&scene);
    play_leaver(&scene);
    play_crowd(&scene);
    play_stop(&scene);
    fake_cluster_end(&scene.runtime.fake);
    tls_free(scene.tls);
    snapshot_unref(scene.empty);
    snapshot_unref(scene.bare);
    snapshot_unref(scene.complete);
    snapshot_store_free(scene.runtime.store);
    arena_release(&scene.arena);
    thread_client_remove_files(&files);
    return 0;
}
