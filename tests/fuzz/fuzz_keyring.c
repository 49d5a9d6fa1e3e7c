/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_keyring - reads the bytes as a key file. If there is no problem, each BEGIN line has given a
 * block. Line numbers increase, and each block is within the text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "k8s/util/base64.h"
#include "k8s/keyring/pem.h"
#include "k8s/keyring/signature.h"

#define MAX_KEY_BYTES 16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_block(struct str text, struct str body)
{
    unsigned char der[MAX_KEY_BYTES];
    size_t len = 0;
    struct signature_key *key = NULL;
    const char *what = NULL;

    must(body.ptr >= text.ptr && body.ptr + body.len <= text.ptr + text.len);
    must(!str_contains(body, STR("-----BEGIN ")) && !str_contains(body, STR("-----END ")));
    if (base64_decode(body, sizeof(der), der, &len) != 0)
        return;
    if (signature_key_read((struct str){(const char *)der, len}, &key, &what) == 0)
        signature_key_free(key);
    else
        must(what != NULL);
}

static size_t count_of(struct str text, struct str part)
{
    size_t count = 0;

    for (size_t i = 0; i + part.len <= text.len; i++)
        count += memcmp(text.ptr + i, part.ptr, part.len) == 0;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {.ptr = (const char *)data, .len = size};
    struct pem_scan scan = pem_scan_make(text);
    struct pem_item item = {0};
    enum pem_result result = PEM_END;
    size_t blocks = 0;
    size_t problems = 0;
    size_t line = 0;

    while ((result = pem_next(&scan, &item)) != PEM_END) {
        must(item.line > line);
        line = item.line;
        problems += result == PEM_PROBLEM;
        blocks += result == PEM_BLOCK;
        if (result == PEM_BLOCK)
            check_block(text, item.body);
    }
    must(problems > 0 || (blocks == count_of(text, STR("-----BEGIN ")) &&
                          blocks == count_of(text, STR("-----END "))));
    return 0;
}
