/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials - tokens, client certificates and impersonation, from a struct access.
 *
 * Tokens and certificates from files are read again, because Kubernetes rotates them. If the new
 * ones cannot be read, the old ones stay in use.
 */
#define _GNU_SOURCE /* memfd_create */

#include <assert.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/api/internal.h"
#include "k8s/util/base64.h"
#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "k8s/util/gnutls_handles.h"
#include "k8s/util/wipe.h"

#define MAX_SLASHES 100 /* different paths for one descriptor */

/* ---- anonymous files ---- */

static void memory_close(struct api_memory *memory)
{
    if (memory->fd >= 0)
        (void)close(memory->fd);
    memory->fd = -1;
}

static bool write_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return true;
}

/* libcurl reuses a connection if the path of the certificate is equal, and the system reuses the
 * numbers of descriptors. A different number of slashes makes the paths differ. */
static int memory_make(struct api *api, struct str bytes, struct api_memory *ret_memory)
{
    struct api_memory memory = {.fd = memfd_create("sandgate", MFD_CLOEXEC)};
    unsigned slashes = api->serial++ % MAX_SLASHES + 1;

    if (memory.fd < 0)
        return -errno;
    if (!write_all(memory.fd, bytes)) {
        memory_close(&memory);
        return -ENOMEM;
    }
    (void)snprintf(memory.path, sizeof(memory.path), "/proc/self/fd%.*s%d", (int)slashes,
                   "////////////////////////////////////////////////////////////////////////////"
                   "////////////////////////",
                   memory.fd);
    *ret_memory = memory;
    return 0;
}

/* ---- certificates ---- */

static bool is_authority(struct str pem)
{
    cleanup_credentials gnutls_certificate_credentials_t credentials = NULL;
    const gnutls_datum_t text = datum_of(pem);

    return pem.len > 0 && pem.len <= ACCESS_MAX_FILE_BYTES &&
           gnutls_certificate_allocate_credentials(&credentials) == 0 &&
           gnutls_certificate_set_x509_trust_mem(credentials, &text, GNUTLS_X509_FMT_PEM) > 0;
}

/* Why certificate and key cannot be used together; NULL: they can. */
static const char *pair_problem(struct str certificate, struct str key)
{
    cleanup_credentials gnutls_certificate_credentials_t credentials = NULL;
    const gnutls_datum_t certificate_text = datum_of(certificate);
    const gnutls_datum_t key_text = datum_of(key);
    int r = 0;

    if (certificate.len > ACCESS_MAX_FILE_BYTES || key.len > ACCESS_MAX_FILE_BYTES)
        return "the client certificate or its key is too large";
    if (certificate.len == 0)
        return "there is a client key but no client certificate";
    if (key.len == 0)
        return "there is a client certificate but no client key";
    r = gnutls_certificate_allocate_credentials(&credentials);
    if (r == 0)
        r = gnutls_certificate_set_x509_key_mem2(credentials, &certificate_text, &key_text,
                                                 GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return "the client key does not belong to the client certificate";
    return r < 0 ? "the client certificate or its key cannot be read; both must be PEM, the key "
                   "without a password"
                 : NULL;
}

static void free_identity(struct api_identity *identity)
{
    if (identity == NULL)
        return;
    memory_close(&identity->certificate);
    memory_close(&identity->key);
    free(identity);
}

static int make_identity(struct api *api, struct str certificate, struct str key,
                         struct api_identity **ret_identity)
{
    struct api_identity *identity = calloc(1, sizeof(*identity));
    int r = 0;

    if (identity == NULL)
        return -ENOMEM;
    identity->count = 1;
    identity->certificate.fd = -1;
    identity->key.fd = -1;
    r = memory_make(api, certificate, &identity->certificate);
    if (r == 0)
        r = memory_make(api, key, &identity->key);
    if (r < 0) {
        free_identity(identity);
        return r;
    }
    *ret_identity = identity;
    return 0;
}

static struct api_stamp read_stamp(const char *path)
{
    struct stat state = {0};

    if (path == NULL || stat(path, &state) < 0)
        return (struct api_stamp){0};
    return (struct api_stamp){.device = state.st_dev,
                              .inode = state.st_ino,
                              .size = (uint64_t)state.st_size,
                              .seconds = (uint64_t)state.st_mtim.tv_sec,
                              .nanoseconds = (uint64_t)state.st_mtim.tv_nsec};
}

static bool is_same_stamp(struct api_stamp a, struct api_stamp b)
{
    return a.device == b.device && a.inode == b.inode && a.size == b.size &&
           a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

/* If the files cannot be read, or only one of the two was replaced so far, the old certificate
 * stays in use, and the next check tries again. */
static void refresh_identity(struct api *api)
{
    cleanup_arena_wiped struct arena scratch = {0};
    struct api_stamp certificate_stamp = read_stamp(api->certificate_file);
    struct api_stamp key_stamp = read_stamp(api->key_file);
    struct api_identity *fresh = NULL;
    struct str certificate = {0};
    struct str key = {0};

    if (is_same_stamp(certificate_stamp, api->certificate_stamp) &&
        is_same_stamp(key_stamp, api->key_stamp))
        return;
    if (file_read_path(api->certificate_file, ACCESS_MAX_FILE_BYTES, &scratch, &certificate) < 0 ||
        file_read_path(api->key_file, ACCESS_MAX_FILE_BYTES, &scratch, &key) < 0 ||
        pair_problem(certificate, key) != NULL || make_identity(api, certificate, key, &fresh) < 0)
        return;
    assert(api->identity->count > 0);
    if (--api->identity->count == 0)
        free_identity(api->identity);
    api->identity = fresh;
    api->certificate_stamp = certificate_stamp;
    api->key_stamp = key_stamp;
}

struct api_identity *api_identity_take(struct api *api)
{
    struct api_identity *identity = NULL;
    uint64_t now_msec = clock_age_msec();

    (void)pthread_mutex_lock(&api->mutex);
    if (api->identity != NULL) {
        if (api->certificate_file != NULL && api->key_file != NULL &&
            now_msec - api->identity_msec >= API_CHECK_MSEC) {
            api->identity_msec = now_msec;
            refresh_identity(api);
        }
        identity = api->identity;
        identity->count++;
    }
    (void)pthread_mutex_unlock(&api->mutex);
    return identity;
}

void api_identity_unref(struct api *api, struct api_identity *identity)
{
    if (identity == NULL)
        return;
    (void)pthread_mutex_lock(&api->mutex);
    assert(identity->count > 0);
    if (--identity->count == 0)
        free_identity(identity);
    (void)pthread_mutex_unlock(&api->mutex);
}

/* ---- tokens ---- */

/* Whether it has only printable ASCII: a line end would end the header that it is sent in. */
static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 0x7f)
            return false;
    }
    return text.len > 0 && text.len <= ACCESS_MAX_TOKEN_BYTES;
}

static int read_token(struct api *api)
{
    cleanup_arena_wiped struct arena scratch = {0};
    struct str text = {0};
    char *token = NULL;
    int r = file_read_path(api->token_file, ACCESS_MAX_TOKEN_BYTES, &scratch, &text);

    if (r < 0)
        return r;
    text = str_trim(text);
    if (!is_token(text))
        return -EBADMSG;
    token = strndup(text.ptr, text.len);
    if (token == NULL)
        return -ENOMEM;
    wipe_text(api->token);
    api->token = token;
    return 0;
}

int api_token_take(struct api *api, bool refused, struct arena *arena, struct str *ret_token)
{
    uint64_t now_msec = clock_age_msec();
    struct str token = {0};
    int r = 0;

    (void)pthread_mutex_lock(&api->mutex);
    if (api->token_file != NULL &&
        (refused || api->token_msec == 0 || api->token_error < 0 ||
         now_msec - api->token_msec >= (uint64_t)API_TOKEN_AGE_SEC * 1000)) {
        api->token_msec = now_msec;
        api->token_error = read_token(api); /* on failure the old one stays */
    }
    if (api->token != NULL) {
        token = str_of(arena_copy(arena, str_of(api->token)));
        r = str_present(token) ? 0 : -ENOMEM;
    } else if (api->token_file != NULL) {
        r = -EACCES;
    }
    (void)pthread_mutex_unlock(&api->mutex);
    if (r == 0)
        *ret_token = token;
    return r;
}

/* ---- setting up ---- */

bool api_has_secret(const struct access *access)
{
    return str_present(access->token) || access->token_file != NULL ||
           str_present(access->password) || str_present(access->username) ||
           str_present(access->key_pem);
}

static int init_basic(struct api *api, const struct access *access)
{
    struct str pair = {0};
    struct str text = {0};
    int r = 0;

    if (!str_present(access->username) && !str_present(access->password))
        return 0;
    pair = arena_format(&api->arena, "%.*s:%.*s", (int)access->username.len,
                        str_present(access->username) ? access->username.ptr : "",
                        (int)access->password.len,
                        str_present(access->password) ? access->password.ptr : "");
    if (!str_present(pair))
        return -ENOMEM;
    r = base64_encode(pair, &api->arena, &text);
    if (r < 0)
        return r;
    api->password = (struct str){.ptr = pair.ptr + access->username.len + 1,
                                 .len = pair.len - access->username.len - 1};
    api->basic = arena_format(&api->arena, "Authorization: Basic %s", text.ptr);
    return str_present(api->basic) ? 0 : -ENOMEM;
}

static bool is_header_value(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
            return false;
    }
    return text.len > 0;
}

static int add_extra(struct api *api, struct str *items, const char *name, struct str value,
                     struct str *reterr_reason)
{
    struct str line = {0};

    if (!str_present(value))
        return 0;
    if (!is_header_value(value)) {
        *reterr_reason =
            STR("the user, uid or group to impersonate is empty or has a control character");
        return -EINVAL;
    }
    line = arena_format(&api->arena, "Impersonate-%s: %.*s", name, (int)value.len, value.ptr);
    if (!str_present(line))
        return -ENOMEM;
    items[api->extra.count++] = line;
    return 0;
}

static int init_extra(struct api *api, const struct access *access, struct str *reterr_reason)
{
    struct str *items = arena_alloc(&api->arena, access->as_groups.count + 2, sizeof(*items));
    int r = 0;

    if (items == NULL)
        return -ENOMEM;
    api->extra.items = items;
    r = add_extra(api, items, "User", access->as, reterr_reason);
    if (r == 0)
        r = add_extra(api, items, "Uid", access->as_uid, reterr_reason);
    for (size_t i = 0; r == 0 && i < access->as_groups.count; i++)
        r = add_extra(api, items, "Group", access->as_groups.items[i], reterr_reason);
    return r;
}

static int init_token(struct api *api, const struct access *access, struct str *reterr_reason)
{
    if (access->token_file != NULL) {
        api->token_file = arena_copy(&api->arena, str_of(access->token_file));
        if (api->token_file == NULL)
            return -ENOMEM;
    }
    if (!str_present(access->token))
        return 0;
    if (!is_token(access->token)) {
        *reterr_reason =
            STR("the token is empty, too long, or has a character that is not allowed in a token");
        return -EINVAL;
    }
    api->token = strndup(access->token.ptr, access->token.len);
    return api->token != NULL ? 0 : -ENOMEM;
}

static int init_identity(struct api *api, const struct access *access, struct str *reterr_reason)
{
    const char *problem = NULL;

    if (!str_present(access->certificate_pem) && !str_present(access->key_pem))
        return 0;
    problem = pair_problem(access->certificate_pem, access->key_pem);
    if (problem != NULL) {
        *reterr_reason = str_of(problem);
        return -EINVAL;
    }
    if (access->certificate_file != NULL && access->key_file != NULL) {
        api->certificate_file = arena_copy(&api->arena, str_of(access->certificate_file));
        api->key_file = arena_copy(&api->arena, str_of(access->key_file));
        if (api->certificate_file == NULL || api->key_file == NULL)
            return -ENOMEM;
        api->certificate_stamp = read_stamp(api->certificate_file);
        api->key_stamp = read_stamp(api->key_file);
        api->identity_msec = clock_age_msec();
    }
    return make_identity(api, access->certificate_pem, access->key_pem, &api->identity);
}

int api_credentials_init(struct api *api, const struct access *access, struct str *reterr_reason)
{
    int r = 0;

    if (str_present(access->ca_pem) && !access->insecure) {
        if (!is_authority(access->ca_pem)) {
            *reterr_reason = STR("the certificate authority is not a PEM certificate");
            return -EINVAL;
        }
        r = memory_make(api, access->ca_pem, &api->ca);
    }
    if (r == 0)
        r = init_token(api, access, reterr_reason);
    if (r == 0)
        r = init_basic(api, access);
    if (r == 0)
        r = init_extra(api, access, reterr_reason);
    if (r == 0)
        r = init_identity(api, access, reterr_reason);
    return r;
}

void api_credentials_done(struct api *api)
{
    memory_close(&api->ca);
    free_identity(api->identity);
    wipe_text(api->token);
}
