/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - checks paths, environment names and references. The functions that start with plan_ are
 * declared in plan.h.
 */
#include "planner/names.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/list.h"

#define FIELD_NAME_MAX_BYTES 64

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* s without its first `bytes`. */
static struct str without_first(struct str s, size_t bytes)
{
    assert(bytes <= s.len);
    return (struct str){.ptr = s.ptr + bytes, .len = s.len - bytes};
}

static struct str first_bytes(struct str s, size_t bytes)
{
    assert(bytes <= s.len);
    return (struct str){.ptr = s.ptr, .len = bytes};
}

/* The index of the first byte that is in the set; s.len where there is none. */
static size_t find(struct str s, const char *set)
{
    size_t i = 0;

    while (i < s.len && !is_one_of(s.ptr[i], set))
        i++;
    return i;
}

/* The owner or the name of a skill. */
static bool is_skill_part(struct str s)
{
    if (s.len == 0 || !(text_is_lower(s.ptr[0]) || text_is_digit(s.ptr[0])))
        return false;
    for (size_t i = 1; i < s.len; i++) {
        if (!(text_is_lower(s.ptr[i]) || text_is_digit(s.ptr[i]) || is_one_of(s.ptr[i], "._-")))
            return false;
    }
    return true;
}

static bool is_skill_version(struct str s)
{
    if (str_is_sha256(s))
        return true;
    if (s.len == 0 || !text_is_alnum(s.ptr[0]))
        return false;
    for (size_t i = 1; i < s.len; i++) {
        if (!(text_is_alnum(s.ptr[i]) || is_one_of(s.ptr[i], "._-+")))
            return false;
    }
    return true;
}

bool plan_is_skill_ref(struct str s)
{
    size_t slash = find(s, "/");
    size_t at = find(s, "@");

    /* neither is allowed inside a part, so the first ones must be the only ones */
    return slash < at && at < s.len && is_skill_part(first_bytes(s, slash)) &&
           is_skill_part(first_bytes(without_first(s, slash + 1), at - slash - 1)) &&
           is_skill_version(without_first(s, at + 1));
}

/* The offset after the first `://` that has a scheme before it; 0 where there is none. */
static size_t url_head_length(struct str s)
{
    for (size_t i = 1; i + 3 <= s.len; i++) {
        if (text_is_alnum(s.ptr[i - 1]) && str_starts_with(without_first(s, i), STR("://")))
            return i + 3;
    }
    return 0;
}

bool plan_has_credentials(struct str s)
{
    size_t head = 0;

    /* any URL in the text, not only at its start: `git:https://user:password@host` */
    while ((head = url_head_length(s)) > 0) {
        struct str authority = without_first(s, head);

        authority = first_bytes(authority, find(authority, "/?#"));
        /* from the second byte: an empty user part holds no credentials */
        if (authority.len > 0 && memchr(authority.ptr + 1, '@', authority.len - 1) != NULL)
            return true;
        s = without_first(s, head);
    }
    return false;
}

bool plan_is_env_name(struct str s)
{
    if (s.len == 0 || text_is_digit(s.ptr[0]))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (!(text_is_alnum(s.ptr[i]) || is_one_of(s.ptr[i], "-._")))
            return false;
    }
    return true;
}

bool names_env_is_reserved(struct str name)
{
    static const struct str words[] = {
        STR_INIT("SECRET"),      STR_INIT("TOKEN"),       STR_INIT("PASSWORD"),
        STR_INIT("API_KEY"),     STR_INIT("PRIVATE_KEY"), STR_INIT("ACCESS_KEY"),
        STR_INIT("SIGNING_KEY"), STR_INIT("CREDENTIAL"),  STR_INIT("SEED"),
    };
    char upper[PLAN_MAX_TEXT_BYTES];
    struct str upper_name = {.ptr = upper, .len = name.len};

    if (!str_starts_with_ascii_nocase(name, STR("RUNX_")))
        return false;
    /* longer than input.c accepts: a name that cannot be checked counts as reserved */
    if (name.len > sizeof(upper))
        return true;
    for (size_t i = 0; i < name.len; i++)
        upper[i] = text_upper(name.ptr[i]);
    if (str_starts_with(upper_name, STR("RUNX_RECEIPT_SIGN_")))
        return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (str_contains(upper_name, words[i]))
            return true;
    }
    return false;
}

bool names_field_is_plain(struct str name)
{
    if (name.len == 0 || name.len > FIELD_NAME_MAX_BYTES)
        return false;
    if (!text_is_letter(name.ptr[0]) && name.ptr[0] != '_')
        return false;
    for (size_t i = 1; i < name.len; i++) {
        if (!(text_is_alnum(name.ptr[i]) || is_one_of(name.ptr[i], "_.-")))
            return false;
    }
    return true;
}

int plan_path_normalise(struct str path, struct arena *arena, struct str *ret_path)
{
    bool absolute = path.len > 0 && path.ptr[0] == '/';
    char *clean = arena_alloc(arena, path.len + 2, 1);
    size_t len = 0;

    if (clean == NULL)
        return -ENOMEM;
    if (absolute)
        clean[len++] = '/';
    while (path.len > 0) {
        size_t end = find(path, "/");
        struct str segment = first_bytes(path, end);

        path = without_first(path, end < path.len ? end + 1 : end);
        if (segment.len == 0 || str_equal(segment, STR(".")))
            continue;
        if (len > (absolute ? 1 : 0))
            clean[len++] = '/';
        memcpy(clean + len, segment.ptr, segment.len);
        len += segment.len;
    }
    if (len == 0)
        clean[len++] = '.';
    *ret_path = (struct str){.ptr = clean, .len = len};
    return 0;
}

bool plan_path_has_parent(struct str path)
{
    for (;;) {
        size_t end = find(path, "/\\");

        if (str_equal(first_bytes(path, end), STR("..")))
            return true;
        if (end == path.len)
            return false;
        path = without_first(path, end + 1);
    }
}

bool names_path_is_below(struct str path, struct str base)
{
    bool absolute = path.len > 0 && path.ptr[0] == '/';

    if (str_equal(base, STR("/")))
        return absolute;
    if (str_equal(base, STR(".")))
        return !absolute;
    return path.len > base.len && str_starts_with(path, base) && path.ptr[base.len] == '/';
}

bool plan_path_admitted(struct str path, struct str base)
{
    return str_equal(path, base) ||
           (names_path_is_below(path, base) && !plan_path_has_parent(path));
}

bool names_path_is_unsafe(struct str path)
{
    while (path.len > 0) {
        uint32_t character = 0;
        size_t n = str_utf8_next(path, &character);

        if (n == 0 || text_is_control(character) || text_is_bidi_control(character) ||
            (n == 1 && is_one_of(path.ptr[0], "()\"\\;")))
            return true;
        path = without_first(path, n);
    }
    return false;
}
