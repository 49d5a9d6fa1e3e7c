/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision_log - the queue of the decision log and the thread that writes it.
 */

#include "webhook/record/decision_log.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "webhook/record/decision_file.h"

#define REPORT_INTERVAL_MSEC 60000 /* between two lines of the program's log of one kind */

struct decision_log {
    const struct log *log;
    pthread_t thread;

    pthread_mutex_t lock; /* held only to move pointers, never during file operations */
    pthread_cond_t work;  /* a line, `reopen` or `stop` is there */
    pthread_cond_t done;  /* `ended` is set */
    struct record_line *lines[DECISION_LOG_MAX_LINES]; /* a ring */
    size_t first;
    size_t count;
    size_t bytes;
    char *reopen; /* a path to be opened; owned; NULL: none */
    bool stop;
    bool abandoned; /* the thread owns the log and releases it at its end */
    bool ended;     /* the thread does not use the log any more */

    _Atomic uint64_t written;
    _Atomic uint64_t lost_full;
    _Atomic uint64_t lost_failed;
    _Atomic uint64_t lost_memory;

    /* only used by the thread */
    struct decision_file file;
    uint64_t reported_full;       /* lost_full when it was reported last */
    uint64_t full_reported_msec;  /* of clock_msec(); 0: never */
    uint64_t write_reported_msec; /* the same */
};

static void count(_Atomic uint64_t *counter)
{
    (void)atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Limits the rate of reports: false if the last one was less than REPORT_INTERVAL_MSEC ago. */
static bool may_report(uint64_t *reported_msec)
{
    uint64_t now_msec = clock_msec();

    if (*reported_msec != 0 && now_msec - *reported_msec < REPORT_INTERVAL_MSEC)
        return false;
    *reported_msec = now_msec;
    return true;
}

static void report_error(const struct decision_log *log, const char *message, int error)
{
    log_line_with(log->log, LOG_LEVEL_ERROR, message,
                  log_text("reason", str_of(file_error_text(error))));
}

static void report_full_queue(struct decision_log *log)
{
    uint64_t lost = atomic_load_explicit(&log->lost_full, memory_order_relaxed);

    if (lost == log->reported_full || !may_report(&log->full_reported_msec))
        return;
    log_line_with(log->log, LOG_LEVEL_ERROR, "decision log lines lost: the reader is too slow",
                  log_number("lost", (int64_t)(lost - log->reported_full)));
    log->reported_full = lost;
}

static void write_one(struct decision_log *log, struct record_line *line)
{
    int r = decision_file_write(&log->file, line);

    record_line_unref(line);
    if (r == 0) {
        count(&log->written);
    } else {
        count(&log->lost_failed);
        if (may_report(&log->write_reported_msec))
            report_error(log, "decision log line lost: it cannot be written", r);
    }
    report_full_queue(log);
}

static void open_again(struct decision_log *log, const char *path)
{
    struct decision_file file = {0};
    int r = decision_file_open(path, &file);

    if (r < 0) {
        report_error(log, "cannot reopen decisionLog.path: the old file stays in use", r);
        return;
    }
    decision_file_close(&log->file);
    log->file = file;
    log_line(log->log, LOG_LEVEL_INFO, "decision log reopened");
}

static struct record_line *take_first(struct decision_log *log)
{
    struct record_line *line = log->lines[log->first];

    assert(log->count > 0 && log->bytes >= line->len);
    log->first = (log->first + 1) % DECISION_LOG_MAX_LINES;
    log->count--;
    log->bytes -= line->len;
    return line;
}

/* Called with the lock held; releases it while it works. False: there is nothing to do. */
static bool work_once(struct decision_log *log)
{
    if (log->reopen != NULL) {
        char *path = log->reopen;

        log->reopen = NULL;
        (void)pthread_mutex_unlock(&log->lock);
        open_again(log, path);
        free(path);
    } else if (log->count > 0) {
        struct record_line *line = take_first(log);

        (void)pthread_mutex_unlock(&log->lock);
        write_one(log, line);
    } else {
        return false;
    }
    (void)pthread_mutex_lock(&log->lock);
    return true;
}

static void release(struct decision_log *log)
{
    while (log->count > 0)
        record_line_unref(take_first(log));
    decision_file_close(&log->file);
    (void)pthread_cond_destroy(&log->done);
    (void)pthread_cond_destroy(&log->work);
    (void)pthread_mutex_destroy(&log->lock);
    free(log->reopen);
    free(log);
}

static void *run(void *argument)
{
    struct decision_log *log = argument;
    bool abandoned = false;

    (void)pthread_mutex_lock(&log->lock);
    while (!log->abandoned) {
        if (work_once(log))
            continue;
        if (log->stop)
            break;
        (void)pthread_cond_wait(&log->work, &log->lock);
    }
    log->ended = true;
    abandoned = log->abandoned;
    (void)pthread_cond_signal(&log->done);
    (void)pthread_mutex_unlock(&log->lock);
    if (abandoned)
        release(log);
    return NULL;
}

static int init_locks(struct decision_log *log)
{
    int r = pthread_mutex_init(&log->lock, NULL);

    if (r == 0)
        r = pthread_cond_init(&log->work, NULL);
    return r != 0 ? -r : clock_condition_init(&log->done);
}

/* The thread has all signals blocked: SIGPIPE and SIGXFSZ of a failed write(2) go to the thread
 * that writes, and would end the program. */
static int start(struct decision_log *log)
{
    sigset_t all, before;
    int r = 0;

    (void)sigfillset(&all);
    r = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (r != 0)
        return -r;
    r = pthread_create(&log->thread, NULL, run, log);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -r;
}

int decision_log_open(const char *path, const struct log *program_log,
                      struct decision_log **ret_log)
{
    struct decision_log *log = calloc(1, sizeof(*log));
    int r = 0;

    if (log == NULL)
        return -ENOMEM;
    log->log = program_log;
    r = decision_file_open(path, &log->file);
    if (r < 0) {
        free(log);
        return r;
    }
    r = init_locks(log);
    if (r == 0)
        r = start(log);
    if (r < 0) {
        decision_file_close(&log->file);
        free(log);
        return r;
    }
    *ret_log = log;
    return 0;
}

void decision_log_put(struct decision_log *log, struct record_line *line)
{
    bool fits = false;

    (void)pthread_mutex_lock(&log->lock);
    fits = log->count < DECISION_LOG_MAX_LINES &&
           log->bytes + line->len <= DECISION_LOG_MAX_QUEUED_BYTES;
    if (fits) {
        log->lines[(log->first + log->count) % DECISION_LOG_MAX_LINES] = record_line_ref(line);
        log->count++;
        log->bytes += line->len;
        (void)pthread_cond_signal(&log->work);
    }
    (void)pthread_mutex_unlock(&log->lock);
    if (!fits)
        count(&log->lost_full);
}

void decision_log_lose(struct decision_log *log)
{
    count(&log->lost_memory);
}

int decision_log_reopen(struct decision_log *log, const char *path)
{
    char *copy = strdup(path);
    char *before = NULL;

    if (copy == NULL)
        return -ENOMEM;
    (void)pthread_mutex_lock(&log->lock);
    before = log->reopen;
    log->reopen = copy;
    (void)pthread_cond_signal(&log->work);
    (void)pthread_mutex_unlock(&log->lock);
    free(before);
    return 0;
}

struct decision_log_counts decision_log_counts(struct decision_log *log)
{
    return (struct decision_log_counts){
        .written = atomic_load_explicit(&log->written, memory_order_relaxed),
        .lost_full = atomic_load_explicit(&log->lost_full, memory_order_relaxed),
        .lost_failed = atomic_load_explicit(&log->lost_failed, memory_order_relaxed),
        .lost_memory = atomic_load_explicit(&log->lost_memory, memory_order_relaxed),
    };
}

/* Whether the thread ended in time. If not, the thread owns the log from now on, and *ret_left is
 * the number of lines that were not written. */
static bool wait_for_end(struct decision_log *log, uint32_t msec, size_t *ret_left)
{
    struct timespec end = clock_timespec(clock_msec() + msec);
    bool ended = false;

    (void)pthread_mutex_lock(&log->lock);
    log->stop = true;
    (void)pthread_cond_signal(&log->work);
    while (!log->ended && pthread_cond_timedwait(&log->done, &log->lock, &end) == 0)
        ;
    ended = log->ended;
    if (!ended) {
        log->abandoned = true;
        *ret_left = log->count + 1; /* and the one that hangs in write(2) */
        (void)pthread_detach(log->thread);
    }
    (void)pthread_mutex_unlock(&log->lock);
    return ended;
}

void decision_log_close(struct decision_log *log, uint32_t msec)
{
    const struct log *program_log = NULL;
    size_t left = 0;

    if (log == NULL)
        return;
    program_log = log->log;
    if (wait_for_end(log, msec, &left)) {
        (void)pthread_join(log->thread, NULL);
        release(log);
    } else {
        log_line_with(program_log, LOG_LEVEL_ERROR,
                      "decision log write hangs: queued lines are lost",
                      log_number("lost", (int64_t)left));
    }
}
