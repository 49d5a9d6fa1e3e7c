/* SPDX-License-Identifier: Apache-2.0 */
/* output - messages, tables, colours and progress for people. */

#include "webhook/cli/output.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "k8s/util/clock.h"
#include "planner/base/array.h"
#include "planner/base/buffer.h"

#define MESSAGE_MAX_BYTES ((size_t)8 * 1024)
#define VISIBLE_MAX_BYTES ((size_t)1024 * 1024)
#define TABLE_GAP 2 /* blanks between columns */
#define PROGRESS_INTERVAL_MSEC 200

static const char *const colour_codes[] = {
    [COLOUR_PLAIN] = "",        [COLOUR_GOOD] = "\033[32m", [COLOUR_BAD] = "\033[31m",
    [COLOUR_WARN] = "\033[33m", [COLOUR_FAINT] = "\033[2m",
};

/* Whether a progress line is on the terminal. */
static bool progress_shown;

static bool is_unsafe(uint32_t character)
{
    return text_is_control(character) || text_is_bidi_control(character);
}

struct str output_visible(struct arena *arena, struct str s)
{
    struct buffer b = buffer_make(arena, VISIBLE_MAX_BYTES);

    buffer_add(&b, STR(""));
    for (size_t i = 0; i < s.len;) {
        struct str rest = {.ptr = s.ptr + i, .len = s.len - i};
        uint32_t character = 0;
        size_t n = str_utf8_next(rest, &character);

        if (n == 0) {
            buffer_add_format(&b, "\\x{%02x}", (unsigned)(unsigned char)s.ptr[i]);
            n = 1;
        } else if (is_unsafe(character)) {
            buffer_add_format(&b, "\\u{%x}", (unsigned)character);
        } else {
            buffer_add(&b, (struct str){.ptr = rest.ptr, .len = n});
        }
        i += n;
    }
    return s.len == 0 ? STR("") : buffer_text(&b);
}

void output_error(const char *format, ...)
{
    char message[MESSAGE_MAX_BYTES];
    struct arena cleanup_arena arena = {0};
    struct str shown = {0};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    shown = output_visible(&arena, str_of(message));
    (void)fflush(stdout);
    progress_hide();
    if (str_present(shown))
        fprintf(stderr, "sandgate: %.*s\n", (int)shown.len, shown.ptr);
    else
        fputs("sandgate: out of memory\n", stderr);
}

void output_error_at(const char *file, size_t line, size_t column, struct str what)
{
    if (line > 0)
        output_error("%s:%zu:%zu: %.*s", file, line, column, (int)what.len, what.ptr);
    else
        output_error("%s: %.*s", file, (int)what.len, what.ptr);
}

static bool has_colours(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (no_color != NULL && no_color[0] != '\0')
        return false;
    if (term == NULL || strcmp(term, "dumb") == 0)
        return false;
    return isatty(fileno(stream)) == 1;
}

void output_print(FILE *stream, enum output_colour colour, struct str s)
{
    bool coloured = colour != COLOUR_PLAIN && s.len > 0 && has_colours(stream);

    if (coloured)
        fputs(colour_codes[colour], stream);
    if (s.len > 0)
        (void)fwrite(s.ptr, 1, s.len, stream);
    if (coloured)
        fputs("\033[0m", stream);
}

int output_line(struct arena *arena, struct str s)
{
    struct str shown = str_present(s) ? output_visible(arena, s) : s;

    if (!str_present(shown))
        return -ENOMEM;
    printf("%.*s\n", (int)shown.len, shown.ptr);
    return 0;
}

struct table table_make(struct arena *arena, size_t columns)
{
    assert(columns > 0 && columns <= TABLE_MAX_COLUMNS);
    return (struct table){.arena = arena, .columns = columns};
}

void table_add(struct table *table, const struct table_cell *cells)
{
    if (table->error != 0)
        return;
    table->error =
        array_grow_in(table->arena, &table->cells, &table->capacity,
                      (table->rows + 1) * table->columns, sizeof(*table->cells), TABLE_MAX_CELLS);
    if (table->error != 0)
        return;
    for (size_t i = 0; i < table->columns; i++) {
        struct table_cell *cell = &table->cells[table->rows * table->columns + i];

        *cell = cells[i];
        cell->text = output_visible(table->arena, cells[i].text);
        if (!str_present(cell->text))
            table->error = -ENOMEM;
    }
    table->rows++;
}

/* Characters, which is the width in columns for names and codes: they are ASCII. */
static size_t text_width(struct str s)
{
    size_t width = 0;

    for (size_t i = 0; i < s.len; i++)
        width += ((unsigned char)s.ptr[i] & 0xc0U) != 0x80;
    return width;
}

/* No blanks are printed after the last cell that has a text. */
static void print_row(const struct table *table, size_t row, const size_t *widths, FILE *stream)
{
    const struct table_cell *cells = &table->cells[row * table->columns];
    size_t used = table->columns;

    while (used > 0 && cells[used - 1].text.len == 0)
        used--;
    for (size_t i = 0; i < used; i++) {
        output_print(stream, cells[i].colour, cells[i].text);
        if (i + 1 < used)
            fprintf(stream, "%*s", (int)(widths[i] - text_width(cells[i].text) + TABLE_GAP), "");
    }
    fputc('\n', stream);
}

int table_print(struct table *table, FILE *stream)
{
    size_t widths[TABLE_MAX_COLUMNS] = {0};

    if (table->error != 0)
        return table->error;
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        size_t width = text_width(table->cells[i].text);
        size_t *widest = &widths[i % table->columns];

        *widest = width > *widest ? width : *widest;
    }
    for (size_t row = 0; row < table->rows; row++)
        print_row(table, row, widths, stream);
    return 0;
}

void progress_step(struct progress *progress)
{
    uint64_t now = clock_msec();

    progress->done++;
    if (isatty(fileno(stderr)) != 1)
        return;
    if (progress->next_msec == 0)
        progress->next_msec = now + PROGRESS_INTERVAL_MSEC;
    if (now < progress->next_msec)
        return;
    fprintf(stderr, "\r%zu of %zu %s\033[K", progress->done, progress->total, progress->what);
    progress_shown = true;
    progress->next_msec = now + PROGRESS_INTERVAL_MSEC;
}

void progress_hide(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}
