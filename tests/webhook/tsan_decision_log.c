/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_decision_log - the writer of the decision log and the list of denials, with several threads
 * that add decisions. Every line is complete or counted as lost, with any error of the file, and no
 * thread waits for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "webhook/record/decision_log.h"
#include "webhook/record/denials.h"

#define THREADS 4
#define LINES 400 /* lines of each thread */
#define LINE_BYTES 300
#define PATH_BYTES 128
#define READ_BYTES ((size_t)16 * 1024 * 1024)
#define PATIENCE_MSEC 600000 /* longer than any step takes on a busy machine */
#define TORN_BYTES 100       /* for a line that did not fit */

static char folder[] = "/tmp/sandgate-log-XXXXXX";
static char path[PATH_BYTES];
static char text[READ_BYTES];
static const struct log quiet = {.fd = STDERR_FILENO, .level = LOG_LEVEL_UNSET};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    exit(1);
}

static void nap(void)
{
    static const struct timespec pause = {.tv_nsec = 5000000};

    (void)nanosleep(&pause, NULL);
}

/* `{number xxx…}` and a line feed, with this number of bytes in total. */
static struct record_line *make_line(unsigned number, size_t bytes)
{
    char *made = malloc(bytes + 1);
    struct record_line *line = NULL;

    must(made != NULL && bytes > 16, "memory");
    memset(made, 'x', bytes);
    made[snprintf(made, bytes, "{%u", number)] = ' ';
    made[bytes - 2] = '}';
    made[bytes - 1] = '\n';
    line = record_line_new((struct str){.ptr = made, .len = bytes});
    must(line != NULL, "a line");
    free(made);
    return line;
}

static void put(struct decision_log *log, unsigned number, size_t bytes)
{
    struct record_line *line = make_line(number, bytes);

    decision_log_put(log, line);
    record_line_unref(line);
}

static struct decision_log *open_log(const char *name)
{
    struct decision_log *log = NULL;

    must(decision_log_open(name, &quiet, &log) == 0, "the log opens");
    return log;
}

static uint64_t settled(struct decision_log *log)
{
    struct decision_log_counts counts = decision_log_counts(log);

    return counts.written + counts.lost_full + counts.lost_failed + counts.lost_memory;
}

static void wait_until(struct decision_log *log, uint64_t lines)
{
    uint64_t end_msec = clock_msec() + PATIENCE_MSEC;

    while (settled(log) < lines) {
        must(clock_msec() < end_msec, "every line is written or counted");
        nap();
    }
}

static size_t read_file(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    must(n >= 0, "the file can be read");
    text[n] = '\0';
    (void)close(fd);
    return (size_t)n;
}

/* The number of complete lines. Any other content is an error. */
static size_t count_whole(size_t bytes, size_t *ret_others)
{
    size_t whole = 0;

    *ret_others = 0;
    for (char *line = text; line < text + bytes;) {
        char *end = memchr(line, '\n', (size_t)(text + bytes - line));
        size_t len = (size_t)((end != NULL ? end : text + bytes) - line);

        if (end != NULL && len > 2 && line[0] == '{' && line[len - 1] == '}' &&
            memchr(line + 1, '{', len - 1) == NULL)
            whole++;
        else
            ++*ret_others;
        line += len + 1;
    }
    return whole;
}

static void must_hold(const char *name, size_t wanted, size_t wanted_others)
{
    size_t others = 0, whole = count_whole(read_file(name), &others);

    if (whole != wanted || others != wanted_others)
        fprintf(stderr, "%zu lines and %zu pieces\n", whole, others);
    must(whole == wanted && others == wanted_others, "so many whole lines, and so many pieces");
}

struct crowd {
    struct decision_log *log;
    struct denials denials;
};

static void *decide(void *argument)
{
    struct crowd *crowd = argument;

    for (unsigned i = 0; i < LINES; i++) {
        struct record_line *line = make_line(i, LINE_BYTES);

        decision_log_put(crowd->log, line);
        denials_put(&crowd->denials, line);
        record_line_unref(line);
    }
    return NULL;
}

static void test_crowd(void)
{
    static struct denials_view view;
    struct crowd crowd = {.log = NULL};
    struct stat status = {0};
    pthread_t threads[THREADS];
    mode_t before = umask(0);

    crowd.log = open_log(path);
    (void)umask(before);
    must(denials_init(&crowd.denials) == 0, "a list");
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, decide, &crowd) == 0, "a thread");
    for (int i = 0; i < 20; i++) {
        must(decision_log_reopen(crowd.log, path) == 0, "opened again");
        denials_look(&crowd.denials, &view);
        must(view.count <= DENIALS_MAX_LINES && view.total >= view.count, "bounds");
        denials_view_done(&view);
        nap();
    }
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    wait_until(crowd.log, THREADS * LINES);
    must(decision_log_counts(crowd.log).written == THREADS * LINES, "all are written");
    decision_log_close(crowd.log, PATIENCE_MSEC);
    must_hold(path, THREADS * LINES, 0);
    must(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600, "for its owner alone");
    denials_look(&crowd.denials, &view);
    must(view.count == DENIALS_MAX_LINES && view.total == THREADS * LINES, "the last ones");
    must(view.bytes == (size_t)DENIALS_MAX_LINES * LINE_BYTES, "their bytes");
    denials_view_done(&view);
    denials_done(&crowd.denials);
    (void)unlink(path);
}

static void test_bytes_of_denials(void)
{
    static struct denials denials;
    static struct denials_view view;

    must(denials_init(&denials) == 0, "a list");
    for (unsigned i = 0; i < 80; i++) {
        struct record_line *line = make_line(i, (size_t)100 * 1024);

        denials_put(&denials, line);
        record_line_unref(line);
    }
    denials_look(&denials, &view);
    must(view.count == 40 && view.bytes <= DENIALS_MAX_BYTES && view.total == 80, "bytes bound it");
    must(str_starts_with(record_line_text(view.lines[0]), STR("{40 ")), "the oldest first");
    must(str_starts_with(record_line_text(view.lines[39]), STR("{79 ")), "the newest last");
    denials_view_done(&view);
    denials_done(&denials);
}

static void test_rotation(void)
{
    char moved[PATH_BYTES + 8] = "";
    struct decision_log *log = open_log(path);

    (void)snprintf(moved, sizeof(moved), "%s.1", path);
    put(log, 1, LINE_BYTES);
    wait_until(log, 1);
    must(rename(path, moved) == 0, "moved away");
    put(log, 2, LINE_BYTES); /* still written to the old file */
    wait_until(log, 2);
    must(decision_log_reopen(log, path) == 0, "opened again");
    put(log, 3, LINE_BYTES);
    wait_until(log, 3);
    must(decision_log_reopen(log, "/nonexistent/log") == 0, "asked for");
    put(log, 4, LINE_BYTES);                /* the file is not moved */
    decision_log_close(log, PATIENCE_MSEC); /* writes what is queued */
    must_hold(moved, 2, 0);
    must_hold(path, 2, 0);
    (void)unlink(moved);
    (void)unlink(path);
}

static void test_full_device(void)
{
    struct decision_log *log = open_log("/dev/full");

    for (unsigned i = 0; i < 10; i++)
        put(log, i, LINE_BYTES);
    wait_until(log, 10);
    must(decision_log_counts(log).lost_failed == 10, "all are counted as lost");
    must(decision_log_reopen(log, path) == 0, "another file");
    put(log, 1, LINE_BYTES);
    decision_log_close(log, PATIENCE_MSEC);
    must_hold(path, 1, 0);
    (void)unlink(path);
}

/* A disk with space for a part of a line, and later with more. */
static void test_part_of_a_line(void)
{
    struct rlimit before = {0}, small = {0};
    struct decision_log *log = open_log(path);

    must(getrlimit(RLIMIT_FSIZE, &before) == 0, "the limit");
    small = before;
    small.rlim_cur = 3 * LINE_BYTES + TORN_BYTES;
    must(setrlimit(RLIMIT_FSIZE, &small) == 0, "a lower one");
    for (unsigned i = 0; i < 6; i++)
        put(log, i, LINE_BYTES);
    wait_until(log, 6);
    must(setrlimit(RLIMIT_FSIZE, &before) == 0, "as before");
    must(decision_log_counts(log).written == 3, "three fit");
    must(decision_log_counts(log).lost_failed == 3, "three do not");
    must(read_file(path) == 3 * LINE_BYTES + TORN_BYTES, "one is torn");
    put(log, 7, LINE_BYTES);
    put(log, 8, LINE_BYTES);
    decision_log_close(log, PATIENCE_MSEC);
    must_hold(path, 5, 1);
    must(truncate(path, 3 * LINE_BYTES + TORN_BYTES) == 0, "as after a crash");
    log = open_log(path);
    put(log, 9, LINE_BYTES);
    decision_log_close(log, PATIENCE_MSEC);
    must_hold(path, 4, 1);
    (void)unlink(path);
}

/* Reads until this number of bytes has arrived. */
static size_t read_pipe(int fd, size_t wanted)
{
    uint64_t end_msec = clock_msec() + PATIENCE_MSEC;
    size_t bytes = 0;

    while (bytes < wanted) {
        ssize_t n = read(fd, text + bytes, sizeof(text) - bytes);

        must(n > 0 || clock_msec() < end_msec, "the pipe gives what was written");
        if (n <= 0)
            nap();
        else
            bytes += (size_t)n;
    }
    return bytes;
}

static int open_reader(void)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    must(fd >= 0, "a reader");
    return fd;
}

/* The reader pauses: the queue fills, lines are lost, and no thread waits. */
static void test_slow_reader(void)
{
    const size_t bytes = (size_t)6 * 1024; /* more than the capacity of a pipe */
    unsigned asked = DECISION_LOG_MAX_LINES;
    struct decision_log *log = NULL;
    struct decision_log_counts counts = {0};
    size_t others = 0, whole = 0;
    int reader = -1;

    must(mkfifo(path, 0600) == 0, "a pipe");
    must(decision_log_open(path, &quiet, &log) == -ENXIO, "none without a reader");
    reader = open_reader();
    log = open_log(path);
    for (unsigned i = 0; i < asked; i++)
        put(log, i, bytes); /* would not return if it waited for the reader */
    counts = decision_log_counts(log);
    must(counts.lost_full > 0 && counts.lost_failed == 0, "the queue is bounded");
    must(counts.lost_full < asked - DECISION_LOG_MAX_QUEUED_BYTES / bytes + 1, "and was used");
    whole = count_whole(read_pipe(reader, (asked - counts.lost_full) * bytes), &others);
    must(whole == asked - counts.lost_full && others == 0, "what comes is whole");
    wait_until(log, asked);

    (void)close(reader); /* a closed reader, then a new one */
    put(log, 1, LINE_BYTES);
    wait_until(log, asked + 1);
    must(decision_log_counts(log).lost_failed == 1, "there is no reader");
    reader = open_reader();
    put(log, 2, LINE_BYTES);
    must(count_whole(read_pipe(reader, LINE_BYTES), &others) == 1, "it goes on");
    wait_until(log, asked + 2);
    decision_log_close(log, PATIENCE_MSEC);
    (void)close(reader);
}

/* A reader that does not read must not prevent the exit of the program. */
static void test_hanging_reader(void)
{
    int reader = open_reader();
    struct decision_log *log = open_log(path);

    for (unsigned i = 0; i < 100; i++)
        put(log, i, (size_t)6 * 1024);
    decision_log_close(log, 200); /* would not return if it waited for the reader */
    (void)close(reader);          /* its thread ends without a join */
    for (int i = 0; i < 40; i++)
        nap();
    (void)unlink(path);
}

int main(void)
{
    struct decision_log *log = NULL;

    must(mkdtemp(folder) != NULL, "a folder");
    (void)snprintf(path, sizeof(path), "%s/log", folder);
    must(decision_log_open(folder, &quiet, &log) == -EISDIR, "a directory is not a log");
    must(decision_log_open("/nonexistent/log", &quiet, &log) == -ENOENT, "nor is nothing");
    decision_log_close(NULL, 0);
    test_crowd();
    test_bytes_of_denials();
    test_rotation();
    test_full_device();
    test_part_of_a_line();
    test_slow_reader();
    test_hanging_reader();
    must(rmdir(folder) == 0, "nothing is left");
    return 0;
}
