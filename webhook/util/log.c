/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log - writes lines of the log as JSON or plain text.
 */

#include "webhook/util/log.h"

#include <assert.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "planner/base/arena.h"
#include "planner/base/buffer.h"
#include "planner/base/moment.h"

#define MAX_FIELD_BYTES ((size_t)4 * 1024)
#define NSEC_PER_MSEC 1000000

static const char *const level_names[] = {
    [LOG_LEVEL_UNSET] = "",    [LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARN] = "warn",
    [LOG_LEVEL_INFO] = "info", [LOG_LEVEL_DEBUG] = "debug",
};

struct log log_open(enum log_level level)
{
    return (struct log){.fd = STDERR_FILENO, .level = level, .text = isatty(STDERR_FILENO) == 1};
}

bool log_read_level(struct str text, enum log_level *ret_level)
{
    for (enum log_level level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
        if (str_equal(text, str_of(level_names[level]))) {
            *ret_level = level;
            return true;
        }
    }
    return false;
}

/* Replaces control characters and invalid UTF-8 with `?`, and a line feed with a blank: text of a
 * peer must not forge a line. */
static struct str clean_field(struct arena *arena, struct str s)
{
    struct buffer b = buffer_make(arena, MAX_FIELD_BYTES);

    for (size_t i = 0; i < s.len && b.len < MAX_FIELD_BYTES - sizeof("????");) {
        struct str rest = {.ptr = s.ptr + i, .len = s.len - i};
        uint32_t character = 0;
        size_t n = str_utf8_next(rest, &character);

        if (n == 0 || text_is_control(character) || text_is_bidi_control(character)) {
            buffer_add_char(&b, character == '\n' ? ' ' : '?');
            n = n == 0 ? 1 : n;
        } else {
            buffer_add(&b, (struct str){.ptr = rest.ptr, .len = n});
        }
        i += n;
    }
    return b.len > 0 ? buffer_text(&b) : STR("");
}

static void add_time(struct buffer *b)
{
    struct moment now = clock_now();
    char text[MOMENT_TEXT_BYTES];

    moment_write(now, text);
    /* the Z comes after the fraction */
    buffer_add(b, (struct str){.ptr = text, .len = MOMENT_TEXT_BYTES - 2});
    buffer_add_format(b, ".%03dZ", now.nsec / NSEC_PER_MSEC);
}

static void add_json_line(struct buffer *b, struct arena *arena, enum log_level level,
                          const char *message, const struct log_field *fields, size_t count)
{
    buffer_add(b, STR("{\"time\":\""));
    add_time(b);
    buffer_add_format(b, "\",\"level\":\"%s\",\"message\":", level_names[level]);
    buffer_add_json(b, clean_field(arena, str_of(message)));
    for (size_t i = 0; i < count; i++) {
        buffer_add_char(b, ',');
        buffer_add_json(b, str_of(fields[i].name));
        buffer_add_char(b, ':');
        if (str_present(fields[i].text))
            buffer_add_json(b, clean_field(arena, fields[i].text));
        else
            buffer_add_format(b, "%lld", (long long)fields[i].number);
    }
    buffer_add(b, STR("}\n"));
}

static void add_text_line(struct buffer *b, struct arena *arena, enum log_level level,
                          const char *message, const struct log_field *fields, size_t count)
{
    add_time(b);
    buffer_add_format(b, " %-5s ", level_names[level]);
    buffer_add(b, clean_field(arena, str_of(message)));
    for (size_t i = 0; i < count; i++) {
        buffer_add_format(b, "  %s=", fields[i].name);
        if (str_present(fields[i].text))
            buffer_add(b, clean_field(arena, fields[i].text));
        else
            buffer_add_format(b, "%lld", (long long)fields[i].number);
    }
    buffer_add_char(b, '\n');
}

void log_write(const struct log *log, enum log_level level, const char *message,
               const struct log_field *fields, size_t count)
{
    struct arena cleanup_arena arena = {0};
    struct buffer b = buffer_make(&arena, LOG_MAX_LINE_BYTES);
    struct str line = {0};

    assert(level > LOG_LEVEL_UNSET && level <= LOG_LEVEL_DEBUG);
    if (!log_wants(log, level))
        return;
    if (log->text)
        add_text_line(&b, &arena, level, message, fields, count);
    else
        add_json_line(&b, &arena, level, message, fields, count);
    line = buffer_text(&b);
    if (!str_present(line))
        line = STR("{\"level\":\"error\",\"message\":\"log line lost: it is too long, or out of "
                   "memory\"}\n");
    while (write(log->fd, line.ptr, line.len) < 0 && errno == EINTR)
        ;
}
