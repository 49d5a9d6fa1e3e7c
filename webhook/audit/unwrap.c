/* SPDX-License-Identifier: Apache-2.0 */
/* unwrap - takes prefixes off a line, and puts together lines that were split. unwrap_json.c takes
 * lines out of JSON. */

#include "webhook/audit/unwrap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "k8s/document/json_skip.h"
#include "webhook/audit/unwrap_internal.h"

#define UNWRAP_ARENA_BYTES ((size_t)80 << 20) /* UNWRAP_MAX_DEPTH texts of 16 MiB */
#define FIRST_PART_BYTES ((size_t)64 * 1024)

/* The words of a prefix. */
enum word {
    WORD_NONE = 0,
    WORD_TIME,   /* 2026-03-01T12:00:02.123456789Z */
    WORD_NAME,   /* of a node, pod or container */
    WORD_SOURCE, /* [pod/NAME/CONTAINER] */
    WORD_LABELS, /* {app="sandgate"} */
    WORD_STREAM, /* stdout or stderr */
    WORD_TAG,    /* F: the line is whole, or its last piece; P: more of it follows */
};

#define MAX_WORDS 3

struct unwrap_run {
    struct unwrap *unwrap;
    struct arena *arena; /* of the texts that are taken out of JSON strings */
    unwrap_take *take;
    void *context;
    unsigned depth; /* wrappings that were taken off */
};

struct prefix {
    const char *of;
    enum word words[MAX_WORDS];
};

/* The first row that fits decides: only what is before the JSON is taken off. */
static const struct prefix prefixes[] = {
    {"file of a container (CRI)", {WORD_TIME, WORD_STREAM, WORD_TAG}},
    {"logcli", {WORD_TIME, WORD_LABELS}},
    {"kubectl logs --timestamps", {WORD_TIME}},
    {"kubectl logs --prefix --timestamps", {WORD_SOURCE, WORD_TIME}},
    {"kubectl logs --prefix", {WORD_SOURCE}},
    {"stern --timestamps", {WORD_NAME, WORD_NAME, WORD_TIME}},
    {"stern", {WORD_NAME, WORD_NAME}},
    {"oc adm node-logs", {WORD_NAME}},
};

static bool is_time(struct str s)
{
    if (s.len < sizeof("2026-03-01T12:00:02Z") - 1 || !text_is_digit(s.ptr[0]) || s.ptr[4] != '-' ||
        s.ptr[10] != 'T')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!text_is_digit(s.ptr[i]) && strchr("-:.+TZ", s.ptr[i]) == NULL)
            return false;
    }
    return true;
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (!text_is_alnum(c) && c != '-' && c != '.' && c != '_')
            return false;
    }
    return s.len > 0;
}

static bool is_word(enum word word, struct str s)
{
    switch (word) {
    case WORD_TIME:
        return is_time(s);
    case WORD_NAME:
        return is_name(s);
    case WORD_SOURCE:
        return str_starts_with(s, STR("[pod/")) && s.ptr[s.len - 1] == ']';
    case WORD_STREAM:
        return str_equal(s, STR("stdout")) || str_equal(s, STR("stderr"));
    case WORD_TAG:
        return s.len > 0 && (s.ptr[0] == 'P' || s.ptr[0] == 'F') && (s.len == 1 || s.ptr[1] == ':');
    case WORD_LABELS:
    case WORD_NONE:
        break;
    }
    return false;
}

/* The word at the start of *rest, which is moved behind it and the blank after it. */
static bool take_word(enum word word, struct str *rest, struct str *ret_word)
{
    size_t end = 0;

    if (word == WORD_LABELS) {
        if (rest->len == 0 || rest->ptr[0] != '{' || !json_skip_value(*rest, &end))
            return false;
    } else {
        while (end < rest->len && rest->ptr[end] != ' ')
            end++;
    }
    if (end >= rest->len || rest->ptr[end] != ' ')
        return false;
    *ret_word = (struct str){rest->ptr, end};
    *rest = (struct str){rest->ptr + end + 1, rest->len - end - 1};
    return word == WORD_LABELS || is_word(word, *ret_word);
}

static bool is_json(struct str s)
{
    return s.len > 0 && (s.ptr[0] == '{' || s.ptr[0] == '[');
}

static bool match(const struct prefix *prefix, struct str *rest,
                  struct str ret_words[static MAX_WORDS])
{
    size_t i = 0;

    for (i = 0; i < MAX_WORDS && prefix->words[i] != WORD_NONE; i++) {
        if (!take_word(prefix->words[i], rest, &ret_words[i]))
            return false;
        while (prefix->words[i] != WORD_TAG && rest->len > 0 && rest->ptr[0] == ' ')
            *rest = (struct str){rest->ptr + 1, rest->len - 1};
    }
    return i == MAX_WORDS && prefix->words[MAX_WORDS - 1] == WORD_TAG ? true : is_json(*rest);
}

/* Adds a piece of a line. last: the line ends here, and is handed on. A line that was put together
 * is an event or a decision: no further wrapping is looked for. */
static int join(const struct unwrap_run *run, size_t stream, struct str piece, bool last)
{
    struct unwrap_part *part = &run->unwrap->parts[stream];
    size_t len = part->len + piece.len;
    int r = 0;

    if (len > UNWRAP_MAX_BYTES) {
        part->len = 0; /* what follows cannot be read without its beginning */
        return run->take(run->context, piece);
    }
    if (len > part->capacity) {
        size_t capacity = len < FIRST_PART_BYTES ? FIRST_PART_BYTES : len * 2;
        char *bytes = realloc(part->bytes, capacity);

        if (bytes == NULL)
            return -ENOMEM;
        part->bytes = bytes;
        part->capacity = capacity;
    }
    if (piece.len > 0)
        memcpy(part->bytes + part->len, piece.ptr, piece.len);
    part->len = len;
    if (last) {
        part->len = 0;
        r = run->take(run->context, (struct str){part->bytes, len});
    }
    return r;
}

static int open_field(void *context, const struct unwrap_field *field);

/* Takes off what is around the text, and hands it on. Recursion is bounded by UNWRAP_MAX_DEPTH. */
static int open_text(const struct unwrap_run *run, struct str text)
{
    struct unwrap_run inner = {run->unwrap, run->arena, run->take, run->context, run->depth + 1};
    struct str s = str_trim(text);
    bool found = false;
    int r = 0;

    if (run->depth >= UNWRAP_MAX_DEPTH)
        return run->take(run->context, text);
    if (is_json(s)) {
        r = unwrap_json(s, run->arena, open_field, &inner, &found);
        if (r < 0 || found)
            return r;
    }
    /* blanks at its end may belong to a piece of a line */
    s.len = s.len > 0 ? (size_t)(text.ptr + text.len - s.ptr) : 0;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        struct str words[MAX_WORDS] = {{0}}, rest = s;
        size_t stream = 0;
        bool last = true;

        if (!match(&prefixes[i], &rest, words))
            continue;
        if (prefixes[i].words[2] == WORD_TAG) {
            assert(str_present(words[2])); /* match() has set all words */
            stream = str_equal(words[1], STR("stderr"));
            last = words[2].ptr[0] == 'F';
        }
        return last && run->unwrap->parts[stream].len == 0 ? open_text(&inner, rest)
                                                           : join(run, stream, rest, last);
    }
    return run->take(run->context, text);
}

static bool is_whole(struct str s)
{
    size_t end = 0;

    s = str_trim(s);
    return !is_json(s) || json_skip_value(s, &end);
}

static int open_field(void *context, const struct unwrap_field *field)
{
    const struct unwrap_run *run = context;
    size_t stream = field->of_stderr;
    bool begun = run->unwrap->parts[stream].len > 0, last = false;

    if (!field->piece)
        return open_text(run, field->text);
    last = field->text.len > 0 && field->text.ptr[field->text.len - 1] == '\n';
    if (!begun && (last || is_whole(field->text)))
        return open_text(run, field->text);
    return join(run, stream, field->text, last);
}

int unwrap_text(struct unwrap *unwrap, struct str text, unwrap_take *take, void *context)
{
    struct arena cleanup_arena arena = {.limit_bytes = UNWRAP_ARENA_BYTES};
    const struct unwrap_run run = {unwrap, &arena, take, context, 0};

    /* how most lines begin */
    if (str_starts_with(text, STR("{\"kind\":\"Event\",")) ||
        str_starts_with(text, STR("{\"schema\":")))
        return take(context, text);
    return open_text(&run, text);
}

int unwrap_end(struct unwrap *unwrap, unwrap_take *take, void *context)
{
    for (size_t i = 0; i < UNWRAP_STREAM_COUNT; i++) {
        struct unwrap_part *part = &unwrap->parts[i];
        size_t len = part->len;
        int r = 0;

        part->len = 0;
        r = len > 0 ? take(context, (struct str){part->bytes, len}) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

void unwrap_done(struct unwrap *unwrap)
{
    for (size_t i = 0; i < UNWRAP_STREAM_COUNT; i++)
        free(unwrap->parts[i].bytes);
    *unwrap = (struct unwrap){0};
}
