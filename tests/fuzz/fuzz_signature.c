/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_signature - reads the bytes as a signature annotation. An accepted text is, except for
 * blanks, the base64 of its bytes. No signature is valid for the document.
 */
#include <stdint.h>
#include <stdlib.h>

#include "k8s/util/base64.h"
#include "k8s/keyring/signature.h"

#define P256_KEY                                                                                   \
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYf8/v9yjfzJx/+BvBaiypMiIFdyU"                             \
    "mu29j+OMTgeoMeS9FMXbjjbjn/xBD/zwihLjG/JQ4u5S2bXmch4CPpj2yg=="
#define ED25519_KEY "MCowBQYDK2VwAyEAif5P/GClWICj/qRCxlYx2I/WSS4M+zlf7a49+vPHD6Y="

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_key(struct str key_text, struct str signature)
{
    unsigned char der[256];
    size_t len = 0;
    struct signature_key *key = NULL;
    const char *what = NULL;
    bool good = true;

    must(base64_decode(key_text, sizeof(der), der, &len) == 0);
    must(signature_key_read((struct str){(const char *)der, len}, &key, &what) == 0);
    must(signature_verify(key, STR("not signed"), signature, &good) == 0);
    must(!good);
    signature_key_free(key);
}

static void check_one_text(struct str text, struct str bytes)
{
    cleanup_arena struct arena arena = {0};
    struct str again = {0};
    size_t at = 0;

    must(base64_encode(bytes, &arena, &again) == 0);
    for (size_t i = 0; i < text.len; i++) {
        if (!text_is_blank(text.ptr[i]))
            must(at < again.len && again.ptr[at++] == text.ptr[i]);
    }
    must(at == again.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {.ptr = (const char *)data, .len = size};
    unsigned char bytes[SIGNATURE_MAX_BYTES];
    struct signature_key *key = NULL;
    const char *what = NULL;
    struct str raw = {0};
    size_t len = 0;

    if (base64_decode(text, sizeof(bytes), bytes, &len) != 0)
        return 0;
    raw = (struct str){.ptr = (const char *)bytes, .len = len};
    check_one_text(text, raw);
    check_key(STR(P256_KEY), raw);
    check_key(STR(ED25519_KEY), raw);
    if (signature_key_read(raw, &key, &what) == 0)
        signature_key_free(key);
    else
        must(what != NULL);
    return 0;
}
