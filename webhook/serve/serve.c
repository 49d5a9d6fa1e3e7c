/* SPDX-License-Identifier: Apache-2.0 */
/* serve - waits for signals, reloads, drains and stops. See serve.h; open.c starts everything,
 * files.c reloads files. */

#include "webhook/serve/serve.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "k8s/api/api.h"
#include "k8s/util/clock.h"
#include "webhook/cli/status.h"
#include "webhook/serve/internal.h"

#define SERVE_POLL_MSEC 1000   /* between two checks of the files, where a check is cheap */
#define SERVE_POLL_SHARE 20    /* checks take at most this part of the time */
#define SERVE_GRACE_MSEC 10000 /* for requests in progress when the drain ends */
#define MSEC_PER_SEC 1000
#define NSEC_PER_MSEC 1000000

/* The next signal, or 0 after so long. */
static int wait_for_signal(uint64_t msec)
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

/* Blocked before any thread starts, so all threads inherit it: signals arrive only in
 * wait_for_signal(). */
static void block_signals(void)
{
    sigset_t set;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static void run_until_signal(struct serve *serve)
{
    uint64_t pause_msec = SERVE_POLL_MSEC;

    for (;;) {
        int signal = wait_for_signal(pause_msec);
        uint64_t begun_msec = clock_msec();

        if (signal == SIGTERM || signal == SIGINT)
            return;
        serve_reload(serve, signal == SIGHUP);
        pause_msec = (clock_msec() - begun_msec) * SERVE_POLL_SHARE;
        if (pause_msec < SERVE_POLL_MSEC)
            pause_msec = SERVE_POLL_MSEC;
    }
}

/* Answers new requests for drainSeconds more: the API server can need some time to learn that this
 * replica ends. A second signal ends it at once. */
static void drain(struct serve *serve)
{
    cleanup_config struct config *config = runtime_config(serve->runtime);
    uint64_t end_msec = clock_msec() + (uint64_t)config->drain_sec * MSEC_PER_SEC;
    uint32_t grace_msec = SERVE_GRACE_MSEC;

    server_drain(serve->server);
    serve_self_end(&serve->self);
    log_line_with(&serve->log, LOG_LEVEL_INFO, "stopping: not ready, still answering requests",
                  log_number("seconds", config->drain_sec));
    for (uint64_t now_msec = 0; (now_msec = clock_msec()) < end_msec;) {
        int signal = wait_for_signal(end_msec - now_msec);

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

static void print_checked(const struct serve *serve)
{
    struct str server = runtime_api_server(serve->runtime);

    if (str_present(server))
        printf("%s: configuration, keyring and certificates can be used; evidence will come from "
               "%.*s, which was not contacted\n",
               serve->options->config_path, (int)server.len, server.ptr);
    else
        printf("%s: configuration, keyring, certificates and evidence can be used\n",
               serve->options->config_path);
}

/* To be called when no more decisions are made. */
static void close_decision_log(struct serve *serve)
{
    if (serve->decision_log == NULL)
        return;
    decision_log_close(serve->decision_log, DECISION_LOG_CLOSE_MSEC);
    recorder_done(&serve->recorder);
    config_unref(serve->decision_log_config);
}

static int run(struct serve *serve)
{
    cleanup_config struct config *config = NULL;

    if (serve_read(serve, &config) < 0 || serve_open(serve, config) < 0)
        return COMMAND_FAILED;
    if (serve->options->check) {
        print_checked(serve);
        return COMMAND_YES;
    }
    serve_note_expiry(serve);
    run_until_signal(serve);
    drain(serve);
    return COMMAND_YES;
}

int serve_run(const struct serve_options *options)
{
    static struct serve serve;
    int status = 0;

    serve = (struct serve){.options = options, .log = log_open(options->level)};
    block_signals();
    status = run(&serve);
    server_stop(serve.server, 0); /* still set after a failed start only */
    close_decision_log(&serve);
    serve_self_done(&serve.self);
    tls_free(serve.tls);
    runtime_free(serve.runtime);
    arena_release(&serve.arena);
    return status;
}
