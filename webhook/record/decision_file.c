/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision_file - opens the output of the decision log and writes complete lines to it.
 */

#include "webhook/record/decision_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "webhook/record/decision_log.h"

#define FIRST_FREE_DESCRIPTOR 3 /* after standard input, output and error */

/* Whether the last byte of a file is not a line feed; true if it cannot be read. */
static bool ends_torn(const char *path, int fd)
{
    struct stat status = {0};
    char last = '\0';
    int reader = -1;
    bool torn = true;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return false;
    reader = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (reader < 0)
        return true;
    torn = pread(reader, &last, 1, status.st_size - 1) != 1 || last != '\n';
    (void)close(reader);
    return torn;
}

/* O_NONBLOCK only while opening: a named pipe without a reader must not block the start. */
static int open_path(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                  DECISION_LOG_FILE_MODE);
    int flags = 0;

    if (fd < 0)
        return -errno;
    flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return fd;
    flags = -errno;
    (void)close(fd);
    return flags;
}

int decision_file_open(const char *path, struct decision_file *ret_file)
{
    bool standard = strcmp(path, "-") == 0;
    int fd =
        standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FIRST_FREE_DESCRIPTOR) : open_path(path);

    if (fd < 0)
        return standard ? -errno : fd;
    *ret_file = (struct decision_file){.fd = fd, .torn = !standard && ends_torn(path, fd)};
    return 0;
}

void decision_file_close(struct decision_file *file)
{
    (void)close(file->fd);
    file->fd = -1;
}

/* Needed because another process that shares standard output can have made it non-blocking. */
static void wait_until_writable(int fd)
{
    struct pollfd descriptor = {.fd = fd, .events = POLLOUT};

    (void)poll(&descriptor, 1, -1);
}

int decision_file_write(struct decision_file *file, const struct record_line *line)
{
    struct str text = record_line_text(line);
    const char *ptr = file->torn ? line->bytes : text.ptr;
    size_t left = file->torn ? text.len + 1 : text.len;

    while (left > 0) {
        ssize_t n = write(file->fd, ptr, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            wait_until_writable(file->fd);
            continue;
        }
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        file->torn = true;
        ptr += n;
        left -= (size_t)n;
    }
    file->torn = false;
    return 0;
}
