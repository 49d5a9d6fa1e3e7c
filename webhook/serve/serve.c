/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/serve/serve.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "k8s/api/api.h"
#include "k8s/util/clock.h"
#include "webhook/cli/status.h"
#include "webhook/serve/internal.h"

#define SERVE_LOOK_MSEC 1000   /* between two looks at the files, where a look is cheap */
#define SERVE_LOOK_SHARE 20    /* and at most one part in so many of the time goes into looking */
#define SERVE_GRACE_MSEC 10000 /* for requests that are begun when the drain ends */
#define MSEC_PER_SEC 1000
#define NSEC_PER_MSEC 1000000

/* The next signal of ours, or 0 after so long. */
static int serve_wait(uint64_t msec)
{
    struct timespec timeout = {.tv_sec = (time_t)(msec / MSEC_PER_SEC),
                               .tv_nsec = (long)(msec % MSEC_PER_SEC) * NSEC_PER_MSEC};
    sigset_t set;
    int signal = 0;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    signal = sigtimedwait(&set, NULL, &timeout);
    return signal > 0 ? signal : 0;
}

/* Blocked here, so that all threads inherit it: they come only where they are waited for. */
static void serve_block_signals(void)
{
    sigset_t set;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static void serve_until_signal(struct serve *serve)
{
    uint64_t pause_msec = SERVE_LOOK_MSEC;

    for (;;) {
        int signal = serve_wait(pause_msec);
        uint64_t begun_msec = clock_msec();

        if (signal == SIGTERM || signal == SIGINT)
            return;
        serve_reload(serve, signal == SIGHUP);
        pause_msec = (clock_msec() - begun_msec) * SERVE_LOOK_SHARE;
        if (pause_msec < SERVE_LOOK_MSEC)
            pause_msec = SERVE_LOOK_MSEC;
    }
}

/* The API server may not know yet that this replica ends: new requests are answered all the time.
 * A second signal ends that. */
static void serve_drain(struct serve *serve)
{
    cleanup_config struct config *config = runtime_config(serve->runtime);
    uint64_t end_msec = clock_msec() + (uint64_t)config->drain_sec * MSEC_PER_SEC;
    uint32_t grace_msec = SERVE_GRACE_MSEC;

    server_drain(serve->server);
    serve_self_end(&serve->self);
    log_line_with(&serve->log, LOG_LEVEL_INFO, "stopping: not ready any more, still answering",
                  log_number("seconds", config->drain_sec));
    for (uint64_t now_msec = 0; (now_msec = clock_msec()) < end_msec;) {
        int signal = serve_wait(end_msec - now_msec);

        if (signal == SIGTERM || signal == SIGINT) {
            log_line(&serve->log, LOG_LEVEL_INFO, "a second signal: stopping at once");
            grace_msec = 0;
            break;
        }
    }
    server_stop(serve->server, grace_msec);
    serve->server = NULL;
    log_line(&serve->log, LOG_LEVEL_INFO, "stopped");
}

static void serve_print_checked(const struct serve *serve)
{
    struct str server = runtime_api_server(serve->runtime);

    if (str_present(server))
        printf("%s: configuration, keyring and certificates can be used; evidence will come from "
               "%.*s, which was not asked\n",
               serve->options->config_path, (int)server.len, server.ptr);
    else
        printf("%s: configuration, keyring, certificates and evidence can be used\n",
               serve->options->config_path);
}

/* Nobody decides any more. */
static void serve_close_decision_log(struct serve *serve)
{
    if (serve->decision_log == NULL)
        return;
    decision_log_close(serve->decision_log, DECISION_LOG_CLOSE_MSEC);
    recorder_done(&serve->recorder);
    config_unref(serve->decision_log_config);
}

static int serve_life(struct serve *serve)
{
    cleanup_config struct config *config = NULL;

    if (serve_read(serve, &config) < 0 || serve_open(serve, config) < 0)
        return COMMAND_FAILED;
    if (serve->options->check) {
        serve_print_checked(serve);
        return COMMAND_YES;
    }
    serve_note_expiry(serve);
    serve_until_signal(serve);
    serve_drain(serve);
    return COMMAND_YES;
}

int serve_run(const struct serve_options *options)
{
    static struct serve serve;
    int status = 0;

    serve = (struct serve){.options = options, .log = log_open(options->level)};
    serve_block_signals();
    status = serve_life(&serve);
    server_stop(serve.server, 0); /* only after a bad start */
    serve_close_decision_log(&serve);
    serve_self_done(&serve.self);
    tls_free(serve.tls);
    runtime_free(serve.runtime);
    arena_release(&serve.arena);
    return status;
}
