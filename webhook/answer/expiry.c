/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry - the warning that a document in use ends soon: its writer and its reader, from one table.
 */
#include "webhook/answer/expiry.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/buffer.h"

#define MAX_WARNING_BYTES ((size_t)4 * 1024)
#define TIME_BYTES (MOMENT_TEXT_BYTES - 1) /* as moment_write() writes it, without NUL */

/* %t: the time; %k: the kind; %n: the name, up to the end. The first form is the one written. */
static const struct str forms[] = {
    STR_INIT("sandgate: expires at %t, sign it again before then: %k %n"),
    STR_INIT("sandgate: ends at %t, sign it anew before: %k %n"), /* of earlier gates */
};

int answer_expiry_write(const struct answer_expiry *expiry, struct arena *arena,
                        struct str *ret_warning)
{
    struct buffer b = buffer_make(arena, MAX_WARNING_BYTES);
    struct str form = forms[0], text = {0};
    char at[MOMENT_TEXT_BYTES] = "";

    assert(str_present(expiry->kind) && str_present(expiry->name));
    moment_write(expiry->at, at);
    for (size_t i = 0; i < form.len; i++) {
        if (form.ptr[i] != '%') {
            buffer_add_char(&b, form.ptr[i]);
            continue;
        }
        i++;
        buffer_add(&b, form.ptr[i] == 't'   ? str_of(at)
                       : form.ptr[i] == 'k' ? expiry->kind
                                            : expiry->name);
    }
    text = buffer_text(&b);
    if (!str_present(text))
        return -ENOMEM;
    *ret_warning = text;
    return 0;
}

static struct str without_first(struct str s, size_t count)
{
    return (struct str){s.ptr + count, s.len - count};
}

/* Takes the value of a placeholder from the beginning of *rest. */
static bool take_value(char placeholder, struct str *rest, struct answer_expiry *expiry)
{
    const char *blank = NULL;

    switch (placeholder) {
    case 't':
        if (rest->len < TIME_BYTES ||
            !moment_read((struct str){rest->ptr, TIME_BYTES}, &expiry->at))
            return false;
        *rest = without_first(*rest, TIME_BYTES);
        return true;
    case 'k':
        blank = rest->len > 0 ? memchr(rest->ptr, ' ', rest->len) : NULL;
        if (blank == NULL)
            return false;
        expiry->kind = (struct str){rest->ptr, (size_t)(blank - rest->ptr)};
        *rest = without_first(*rest, expiry->kind.len);
        return true;
    default:
        expiry->name = *rest;
        *rest = without_first(*rest, rest->len);
        return expiry->name.len > 0;
    }
}

static bool read_form(struct str form, struct str warning, struct answer_expiry *ret_expiry)
{
    struct answer_expiry expiry = {0};
    struct str rest = warning;

    for (size_t i = 0; i < form.len; i++) {
        if (form.ptr[i] == '%') {
            if (!take_value(form.ptr[++i], &rest, &expiry))
                return false;
            continue;
        }
        if (rest.len == 0 || rest.ptr[0] != form.ptr[i])
            return false;
        rest = without_first(rest, 1);
    }
    *ret_expiry = expiry;
    return true;
}

bool answer_expiry_read(struct str warning, struct answer_expiry *ret_expiry)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (read_form(forms[i], warning, ret_expiry))
            return true;
    }
    return false;
}
