/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image - finds the digest that an image reference pins (image_pinned_digest() of workload.h).
 *
 * The grammar is that of container registries (distribution/reference). Only
 * `name[:tag]@sha256:<hex>` pins a digest:
 *
 *   name       [domain "/"] path {"/" path}
 *   domain     host [":" digits]; a host has dots, upper-case letters or brackets, or is localhost
 *   path       [a-z0-9]+ ((\.|_|__|-+) [a-z0-9]+)*
 *   tag        [A-Za-z0-9_] [A-Za-z0-9_.-]{0,127}
 */

#include "k8s/review/workload.h"

#include <assert.h>

#define IMAGE_MAX_REPOSITORY_BYTES 255 /* without the registry */
#define IMAGE_MAX_TAG_BYTES 128

/* The index of the first c; s.len where there is none. */
static size_t find(struct str s, char c)
{
    const char *at = s.len > 0 ? memchr(s.ptr, c, s.len) : NULL;

    return at == NULL ? s.len : (size_t)(at - s.ptr);
}

/* The bytes of s from `from` to the one before `to`. */
static struct str part(struct str s, size_t from, size_t to)
{
    assert(from <= to && to <= s.len);
    return (struct str){.ptr = s.ptr + from, .len = to - from};
}

/* One component of a path, between slashes. */
static bool is_path(struct str s)
{
    size_t i = 0;

    while (true) {
        size_t start = i;

        while (i < s.len && (text_is_lower(s.ptr[i]) || text_is_digit(s.ptr[i])))
            i++;
        if (i == start)
            return false;
        if (i == s.len)
            return true;
        if (s.ptr[i] == '.') {
            i++;
        } else if (s.ptr[i] == '_') {
            i++;
            if (i < s.len && s.ptr[i] == '_')
                i++;
        } else if (s.ptr[i] == '-') {
            while (i < s.len && s.ptr[i] == '-')
                i++;
        } else {
            return false;
        }
    }
}

/* Labels of letters, digits and inner hyphens, joined by dots. */
static bool is_host_name(struct str s)
{
    size_t i = 0;

    while (true) {
        size_t start = i;

        while (i < s.len && (text_is_alnum(s.ptr[i]) || s.ptr[i] == '-'))
            i++;
        if (i == start || s.ptr[start] == '-' || s.ptr[i - 1] == '-')
            return false;
        if (i == s.len)
            return true;
        if (s.ptr[i] != '.')
            return false;
        i++;
    }
}

static bool is_bracketed_address(struct str s)
{
    if (s.len < 3 || s.ptr[0] != '[' || s.ptr[s.len - 1] != ']')
        return false;
    for (size_t i = 1; i + 1 < s.len; i++) {
        if (text_hex_value(s.ptr[i]) < 0 && s.ptr[i] != ':')
            return false;
    }
    return true;
}

static bool is_port(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!text_is_digit(s.ptr[i]))
            return false;
    }
    return s.len > 0;
}

static bool is_domain(struct str s)
{
    size_t end = 0;

    if (s.len > 0 && s.ptr[0] == '[') {
        end = find(s, ']');
        end += end < s.len ? 1 : 0;
        if (!is_bracketed_address(part(s, 0, end)))
            return false;
    } else {
        end = find(s, ':');
        if (!is_host_name(part(s, 0, end)))
            return false;
    }
    return end == s.len || (s.ptr[end] == ':' && is_port(part(s, end + 1, s.len)));
}

/* Whether the first component is a registry; otherwise it belongs to the path. */
static bool names_registry(struct str first)
{
    if (str_equal(first, STR("localhost")))
        return true;
    for (size_t i = 0; i < first.len; i++) {
        if (first.ptr[i] == '.' || first.ptr[i] == ':' || text_is_upper(first.ptr[i]))
            return true;
    }
    return false;
}

static bool is_name(struct str s)
{
    size_t slash = find(s, '/');

    if (slash < s.len && names_registry(part(s, 0, slash))) {
        struct str first = part(s, 0, slash);

        /* `my_host.example/app`: by the grammar not a domain, but valid as a path */
        if (!is_domain(first) && !is_path(first))
            return false;
        s = part(s, slash + 1, s.len);
        slash = find(s, '/');
    }
    if (s.len > IMAGE_MAX_REPOSITORY_BYTES)
        return false;
    while (slash < s.len) {
        if (!is_path(part(s, 0, slash)))
            return false;
        s = part(s, slash + 1, s.len);
        slash = find(s, '/');
    }
    return is_path(s);
}

static bool is_tag(struct str s)
{
    if (s.len == 0 || s.len > IMAGE_MAX_TAG_BYTES || s.ptr[0] == '.' || s.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (!text_is_alnum(c) && c != '_' && c != '.' && c != '-')
            return false;
    }
    return true;
}

/* The index of the colon between name and tag, which is after the last slash; s.len: no tag. */
static size_t find_tag(struct str s)
{
    for (size_t i = s.len; i > 0 && s.ptr[i - 1] != '/'; i--) {
        if (s.ptr[i - 1] == ':')
            return i - 1;
    }
    return s.len;
}

struct str image_pinned_digest(struct str reference)
{
    size_t at = find(reference, '@');
    struct str digest = {0};
    struct str name = {0};
    size_t colon = 0;

    if (at == reference.len)
        return (struct str){0};
    digest = part(reference, at + 1, reference.len);
    if (!str_is_sha256(digest))
        return (struct str){0};
    name = part(reference, 0, at);
    colon = find_tag(name);
    if (colon < name.len && !is_tag(part(name, colon + 1, name.len)))
        return (struct str){0};
    name = part(name, 0, colon);
    return is_name(name) ? digest : (struct str){0};
}
