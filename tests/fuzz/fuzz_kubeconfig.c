/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_kubeconfig - reads the bytes as a kubeconfig. An accepted one is complete; a rejected one
 * has a reason that names the file. All files that it names are replaced by the same text, so that
 * no file of this machine is opened.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "k8s/access/internal.h"

#define LIMIT_BYTES ((size_t)64 << 20)
#define PATH "/folder/config"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_any(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_bytes)
{
    (void)arena;
    (void)max_bytes;
    assert(path[0] == '/');
    if (strstr(path, "missing") != NULL)
        return -ENOENT;
    *ret_bytes = STR("bytes");
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cleanup_arena struct arena arena = {.limit_bytes = LIMIT_BYTES};
    struct kubeconfig config = {.arena = &arena, .read_file = read_any};
    struct access access = {0};
    struct str reason = {0};
    int r = kubeconfig_add(&config, PATH, (struct str){(const char *)data, size}, &reason);

    if (r == 0)
        r = kubeconfig_resolve(&config, NULL, &access, &reason);
    if (r < 0) {
        assert(r != -EINVAL || str_starts_with(reason, STR(PATH ":")));
        return 0;
    }
    assert(access_address_problem(access.server) == NULL && access.context_name.len > 0);
    assert(access.server.ptr[access.server.len - 1] != '/');
    assert(str_present(access.certificate_pem) == str_present(access.key_pem));
    assert(!access.insecure || !str_present(access.ca_pem));
    assert(str_starts_with_ascii_nocase(access.server, STR("https://")) ||
           (!str_present(access.token) && access.token_file == NULL &&
            !str_present(access.password) && !str_present(access.key_pem)));
    return 0;
}
