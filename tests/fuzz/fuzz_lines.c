/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lines - reads the bytes as a file of lines. No line is longer than the limit, the lines are
 * together not longer than the file, and the loop ends. What is around a line is taken off; the
 * texts in it are not longer than what was read, and what is written around an entry of Google
 * Cloud.
 */
#define _GNU_SOURCE /* for memfd_create() */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "webhook/audit/lines.h"
#include "webhook/audit/unwrap.h"

#define WRITTEN_BYTES                                                                              \
    ((size_t)512) /* that are written around the parts of an entry of Google Cloud */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static int take(void *context, struct str text)
{
    const uint64_t *read = context;

    must(text.len <= *read + WRITTEN_BYTES);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64] = "";
    int fd = memfd_create("fuzz_lines", MFD_CLOEXEC);
    struct lines cleanup_lines lines = {.fd = -1};
    struct unwrap unwrap = {0};
    struct str text = {0};
    uint64_t read = 0;
    size_t texts = 0;
    int r = 0;

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    must(snprintf(path, sizeof(path), "/proc/self/fd/%d", fd) > 0);
    must(lines_open(path, &lines) == 0);
    while ((r = lines_next(&lines, &text)) == 1) {
        must(text.len <= LINES_MAX_BYTES);
        read += text.len;
        must(unwrap_text(&unwrap, text, take, &read) == 0);
        texts++;
        if (texts > (size_t)1 << 20)
            break; /* a small gzip file can decompress to a very large one */
    }
    must(r == 0 || r == 1 || r == -EBADMSG || r == -ENOTSUP);
    must(lines.next_line >= 1);
    must(unwrap_end(&unwrap, take, &read) == 0);
    unwrap_done(&unwrap);
    (void)close(fd);
    return 0;
}
