/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_SIPHASH_H
#define K8S_UTIL_SIPHASH_H

/*
 * siphash - SipHash-1-3 (Aumasson and Bernstein), for hash tables whose keys come from outside, and
 * its form with 128 bits (siphash_make_wide() and siphash_end_wide()), for digests that are
 * compared within one process.
 *
 * Keys that collide cannot be chosen without the seed. Bytes can be added in pieces of any size:
 * the value depends on the bytes only.
 */

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "planner/base/text.h"

struct siphash_seed {
    uint64_t k0;
    uint64_t k1;
};

/* A seed from the system's random numbers. 0; -EIO where it gives none. */
int siphash_seed_make(struct siphash_seed *ret_seed) __attribute__((warn_unused_result, nonnull));

struct siphash {
    uint64_t v0, v1, v2, v3;
    uint64_t word;  /* up to seven bytes that wait for the eighth, the first one lowest */
    uint64_t bytes; /* added so far */
};

static inline uint64_t siphash_rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void siphash_round(struct siphash *s)
{
    s->v0 += s->v1;
    s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
    s->v0 = siphash_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
    s->v2 = siphash_rotate(s->v2, 32);
}

static inline struct siphash siphash_make(struct siphash_seed seed)
{
    return (struct siphash){
        .v0 = seed.k0 ^ UINT64_C(0x736f6d6570736575),
        .v1 = seed.k1 ^ UINT64_C(0x646f72616e646f6d),
        .v2 = seed.k0 ^ UINT64_C(0x6c7967656e657261),
        .v3 = seed.k1 ^ UINT64_C(0x7465646279746573),
    };
}

static inline void siphash_word(struct siphash *s, uint64_t word)
{
    s->v3 ^= word;
    siphash_round(s);
    s->v0 ^= word;
}

static inline void siphash_byte(struct siphash *s, unsigned char byte)
{
    s->word |= (uint64_t)byte << (s->bytes % 8 * 8);
    s->bytes++;
    if (s->bytes % 8 == 0) {
        siphash_word(s, s->word);
        s->word = 0;
    }
}

static inline void siphash_add(struct siphash *s, struct str bytes)
{
    size_t i = 0;

    for (; s->bytes % 8 == 0 && bytes.len - i >= 8; i += 8, s->bytes += 8) {
        uint64_t word = 0;

        memcpy(&word, bytes.ptr + i, sizeof(word));
        siphash_word(s, le64toh(word));
    }
    for (; i < bytes.len; i++)
        siphash_byte(s, (unsigned char)bytes.ptr[i]);
}

/* Fills the last word with zeros. */
static inline void siphash_pad(struct siphash *s)
{
    while (s->bytes % 8 != 0)
        siphash_byte(s, 0);
}

static inline uint64_t siphash_finish(struct siphash *s)
{
    for (int i = 0; i < 3; i++)
        siphash_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline uint64_t siphash_end(struct siphash *s)
{
    siphash_word(s, s->word | s->bytes << 56);
    s->v2 ^= 0xFF;
    return siphash_finish(s);
}

static inline struct siphash siphash_make_wide(struct siphash_seed seed)
{
    struct siphash s = siphash_make(seed);

    s.v1 ^= 0xEE;
    return s;
}

static inline void siphash_end_wide(struct siphash *s, uint64_t ret_value[static 2])
{
    siphash_word(s, s->word | s->bytes << 56);
    s->v2 ^= 0xEE;
    ret_value[0] = siphash_finish(s);
    s->v1 ^= 0xDD;
    ret_value[1] = siphash_finish(s);
}

#endif
