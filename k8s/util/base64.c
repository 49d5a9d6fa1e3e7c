/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64 - decodes and encodes base64.
 *
 * The decoder is our own because the contract allows blanks anywhere and nothing else, while GnuTLS
 * ignores up to three characters after the last complete group of four.
 */
#include "k8s/util/base64.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>

#include "k8s/util/gnutls_handles.h"

/* The value of a character of the alphabet, 0 to 63; -1 for any other. */
static int value_of(char c)
{
    if (text_is_upper(c))
        return c - 'A';
    if (text_is_lower(c))
        return c - 'a' + 26;
    if (text_is_digit(c))
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* Adds the bytes of one group of four characters, of which the last `padding` are `=`. */
static int add_group(uint32_t bits, unsigned padding, size_t max_bytes, unsigned char *ret_bytes,
                     size_t *len)
{
    unsigned count = 3 - padding;

    assert(padding <= 2 && *len <= max_bytes);
    if (padding > 0 && (bits & (UINT32_MAX >> (8 + 8 * count))) != 0)
        return -EBADMSG;
    if (max_bytes - *len < count)
        return -E2BIG;
    for (unsigned i = 0; i < count; i++)
        ret_bytes[(*len)++] = (unsigned char)(bits >> (16 - 8 * i) & 0xff);
    return 0;
}

int base64_decode(struct str text, size_t max_bytes, unsigned char *ret_bytes, size_t *ret_len)
{
    uint32_t bits = 0;
    unsigned count = 0;   /* characters of the current group so far */
    unsigned padding = 0; /* how many of them are `=`; no group can follow a padded one */
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int value = value_of(c);
        int r = 0;

        if (text_is_blank(c))
            continue;
        if (c == '=' && count >= 2)
            padding++;
        else if (value < 0 || padding > 0)
            return -EBADMSG;
        bits = bits << 6 | (c == '=' ? 0 : (uint32_t)value);
        if (++count < 4)
            continue;
        r = add_group(bits, padding, max_bytes, ret_bytes, &len);
        if (r < 0)
            return r;
        count = 0;
        bits = 0;
    }
    if (count != 0)
        return -EBADMSG;
    *ret_len = len;
    return 0;
}

int base64_encode(struct str bytes, struct arena *arena, struct str *ret_text)
{
    const gnutls_datum_t data = datum_of(bytes);
    cleanup_datum gnutls_datum_t encoded = {0};
    char *text = NULL;

    if (bytes.len > UINT_MAX || gnutls_base64_encode2(&data, &encoded) < 0)
        return -ENOMEM;
    text = arena_copy(arena, (struct str){(const char *)encoded.data, encoded.size});
    if (text == NULL)
        return -ENOMEM;
    *ret_text = (struct str){.ptr = text, .len = encoded.size};
    return 0;
}
