/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_digest - a keyed digest of a value, independent of the order of keys.
 *
 * No recursion: there is one hash for each object that is open, and lists need none.
 */
#include "k8s/document/value_digest.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "k8s/document/json_text.h"

#define TYPE_BITS 16 /* of a word that begins a part; a length or a number stands above them */

/* The marks of lists, objects and names; scalars are marked by their type in cJSON, a single bit.
 */
#define MARK_LIST_BEGIN UINT64_C(0x101)
#define MARK_LIST_END UINT64_C(0x102)
#define MARK_OBJECT UINT64_C(0x103)
#define MARK_NAME UINT64_C(0x104)

static struct siphash_seed process_key;
static bool has_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    has_key = siphash_seed_make(&process_key) == 0;
}

/* The hash to which the next part is added. */
static struct siphash *current(struct value_digest *digest)
{
    return &digest->levels[digest->objects].hash;
}

/* Adds the decoded text to the hash; NULL: only counts. Returns its length in bytes. */
static uint64_t add_decoded(struct siphash *hash, struct str raw, bool escaped)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    uint64_t bytes = 0;

    while (raw.len > 0) {
        const char *stop = memchr(raw.ptr, escaped ? '\\' : '\0', raw.len);
        struct str plain = {raw.ptr, stop != NULL ? (size_t)(stop - raw.ptr) : raw.len};
        char character[JSON_MAX_ESCAPE_BYTES];
        size_t count = 0, taken = plain.len;

        if (stop != NULL && escaped) {
            taken += json_text_unescape(stop, character, &count);
        } else if (stop != NULL) {
            count = sizeof(replacement) - 1;
            memcpy(character, replacement, count);
            taken++;
        }
        if (hash != NULL) {
            siphash_add(hash, plain);
            for (size_t i = 0; i < count; i++)
                siphash_byte(hash, (unsigned char)character[i]);
        }
        bytes += plain.len + count;
        raw = (struct str){raw.ptr + taken, raw.len - taken};
    }
    return bytes;
}

/* Adds the bytes as words, of which the last one is filled with zeros. Names and values are short:
 * byte by byte, their ends would take most of the time. */
static void add_words(struct siphash *hash, struct str bytes)
{
    uint64_t word = 0;
    size_t i = 0;

    for (; bytes.len - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, bytes.ptr + i, sizeof(word));
        siphash_word(hash, le64toh(word));
    }
    if (i == bytes.len)
        return;
    word = 0;
    memcpy(&word, bytes.ptr + i, bytes.len - i);
    siphash_word(hash, le64toh(word));
}

/* Its length stands before the text. The hash counts no bytes of its own. */
static void add_text(struct siphash *hash, uint64_t mark, struct str raw, bool escaped)
{
    bool as_it_is = raw.len == 0 || (!escaped && memchr(raw.ptr, '\0', raw.len) == NULL);
    uint64_t bytes = as_it_is ? raw.len : add_decoded(NULL, raw, escaped);

    assert(hash->bytes == 0);
    siphash_word(hash, mark | bytes << TYPE_BITS);
    if (as_it_is) {
        add_words(hash, raw);
        return;
    }
    (void)add_decoded(hash, raw, escaped);
    siphash_pad(hash);
    hash->bytes = 0;
}

/* The last member of the object is complete. */
static void add_member(struct value_digest_level *level)
{
    uint64_t hash[2];

    if (level->members == 0)
        return;
    siphash_end_wide(&level->hash, hash);
    level->sum[0] += hash[0];
    level->sum[1] += hash[1];
}

int value_digest_begin(struct value_digest *digest)
{
    (void)pthread_once(&key_once, make_key);
    if (!has_key)
        return -EIO;
    digest->key = process_key;
    digest->objects = 0;
    *current(digest) = siphash_make_wide(digest->key);
    return 0;
}

void value_digest_open(struct value_digest *digest, bool is_list)
{
    struct value_digest_level *level = NULL;

    if (is_list) {
        siphash_word(current(digest), MARK_LIST_BEGIN);
        return;
    }
    assert(digest->objects < DOCUMENT_MAX_DEPTH);
    level = &digest->levels[++digest->objects];
    level->sum[0] = level->sum[1] = 0;
    level->members = 0;
}

void value_digest_close(struct value_digest *digest, bool is_list)
{
    struct value_digest_level *level = &digest->levels[digest->objects];
    struct siphash *hash = NULL;

    if (is_list) {
        siphash_word(current(digest), MARK_LIST_END);
        return;
    }
    assert(digest->objects > 0);
    add_member(level);
    digest->objects--;
    hash = current(digest);
    siphash_word(hash, MARK_OBJECT | level->members << TYPE_BITS);
    siphash_word(hash, level->sum[0]);
    siphash_word(hash, level->sum[1]);
}

void value_digest_key(struct value_digest *digest, struct str raw, bool escaped)
{
    struct value_digest_level *level = &digest->levels[digest->objects];

    assert(digest->objects > 0);
    add_member(level);
    level->members++;
    level->hash = siphash_make_wide(digest->key);
    add_text(&level->hash, MARK_NAME, raw, escaped);
}

void value_digest_scalar(struct value_digest *digest, int type, struct str raw, bool escaped)
{
    add_text(current(digest), (uint64_t)type, raw, escaped);
}

void value_digest_end(struct value_digest *digest,
                      unsigned char ret_digest[static DOCUMENT_DIGEST_BYTES])
{
    uint64_t hash[2];

    assert(digest->objects == 0);
    siphash_end_wide(current(digest), hash);
    memcpy(ret_digest, hash, sizeof(hash));
}
