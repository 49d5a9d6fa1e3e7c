/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/util/base64.h"

#include <errno.h>
#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The six bits that c stands for, or -1. */
static int base64_bits(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* The bytes of one group of four characters, of which the last `padding` are `=`. */
static int base64_group(uint32_t bits, unsigned padding, size_t max_bytes, unsigned char *ret_bytes,
                        size_t *len)
{
    unsigned count = 3 - padding;

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
    unsigned have = 0;    /* characters of the current group */
    unsigned padding = 0; /* how many of them are `=`; after a padded group nothing may follow */
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        int value = base64_bits(c);
        int r = 0;

        if (text_is_blank(c))
            continue;
        if (c == '=' && have >= 2)
            padding++;
        else if (value < 0 || padding > 0)
            return -EBADMSG;
        bits = bits << 6 | (c == '=' ? 0 : (uint32_t)value);
        if (++have < 4)
            continue;
        r = base64_group(bits, padding, max_bytes, ret_bytes, &len);
        if (r < 0)
            return r;
        have = 0;
        bits = 0;
    }
    if (have != 0)
        return -EBADMSG;
    *ret_len = len;
    return 0;
}

int base64_encode(struct str bytes, struct arena *arena, struct str *ret_text)
{
    size_t room = 0;
    size_t len = 0;
    char *text = NULL;

    if (__builtin_mul_overflow(bytes.len / 3 + 1, (size_t)4, &room))
        return -ENOMEM;
    text = arena_alloc(arena, room + 1, 1);
    if (text == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t count = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = 0;

        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < count ? (unsigned char)bytes.ptr[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            text[len++] = j <= count ? alphabet[bits >> (18 - 6 * j) & 0x3f] : '=';
    }
    *ret_text = (struct str){.ptr = text, .len = len};
    return 0;
}
