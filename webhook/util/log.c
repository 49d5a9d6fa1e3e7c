/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/util/log.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "planner/base/arena.h"
#include "planner/base/buffer.h"
#include "planner/base/moment.h"

#define LOG_MAX_FIELD_BYTES ((size_t)4 * 1024)
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
    for (enum log_level level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++)
        if (str_equal(text, str_of(level_names[level]))) {
            *ret_level = level;
            return true;
        }
    return false;
}

/* What moves a terminal, or is no UTF-8, becomes `?`: a peer must not forge a line. */
static struct str log_clean(struct arena *arena, struct str s)
{
    struct buffer b = buffer_make(arena, LOG_MAX_FIELD_BYTES);

    for (size_t i = 0; i < s.len && b.len < LOG_MAX_FIELD_BYTES - sizeof("????");) {
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

static void log_add_time(struct buffer *b)
{
    struct moment now = clock_now();
    char text[MOMENT_TEXT_BYTES];

    moment_write(now, text);
    /* the Z comes after the fraction */
    buffer_add(b, (struct str){.ptr = text, .len = MOMENT_TEXT_BYTES - 2});
    buffer_add_format(b, ".%03dZ", now.nsec / NSEC_PER_MSEC);
}

static void log_add_json_line(struct buffer *b, struct arena *arena, enum log_level level,
                              const char *message, const struct log_field *fields, size_t count)
{
    buffer_add(b, STR("{\"time\":\""));
    log_add_time(b);
    buffer_add_format(b, "\",\"level\":\"%s\",\"message\":", level_names[level]);
    buffer_add_json(b, log_clean(arena, str_of(message)));
    for (size_t i = 0; i < count; i++) {
        buffer_add_char(b, ',');
        buffer_add_json(b, str_of(fields[i].name));
        buffer_add_char(b, ':');
        if (str_present(fields[i].text))
            buffer_add_json(b, log_clean(arena, fields[i].text));
        else
            buffer_add_format(b, "%lld", (long long)fields[i].number);
    }
    buffer_add(b, STR("}\n"));
}

static void log_add_text_line(struct buffer *b, struct arena *arena, enum log_level level,
                              const char *message, const struct log_field *fields, size_t count)
{
    log_add_time(b);
    buffer_add_format(b, " %-5s ", level_names[level]);
    buffer_add(b, log_clean(arena, str_of(message)));
    for (size_t i = 0; i < count; i++) {
        buffer_add_format(b, "  %s=", fields[i].name);
        if (str_present(fields[i].text))
            buffer_add(b, log_clean(arena, fields[i].text));
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

    if (!log_wants(log, level))
        return;
    if (log->text)
        log_add_text_line(&b, &arena, level, message, fields, count);
    else
        log_add_json_line(&b, &arena, level, message, fields, count);
    line = buffer_text(&b);
    if (!str_present(line))
        line = STR("{\"level\":\"error\",\"message\":\"a line of the log was too long, or there "
                   "was no memory for it\"}\n");
    while (write(log->fd, line.ptr, line.len) < 0 && errno == EINTR)
        ;
}
