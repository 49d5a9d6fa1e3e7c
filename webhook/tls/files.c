/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/tls/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/util/gnutls_handles.h"

/* One reading of the files: where reasons go. */
struct reading {
    struct arena *arena;
    struct str reason;
};

static int refuse(struct reading *reading, const char *path, const char *what, const char *detail)
{
    reading->reason = arena_format(reading->arena, "%s: %s%s%s", path, what,
                                   detail != NULL ? ": " : "", detail != NULL ? detail : "");
    return str_present(reading->reason) ? -EINVAL : -ENOMEM;
}

static void done_fd(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

static int read_file(struct reading *reading, const char *path, gnutls_datum_t *ret_text)
{
    __attribute__((cleanup(done_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    cleanup_datum gnutls_datum_t text = {0};
    struct stat status = {0};

    if (fd < 0 || fstat(fd, &status) < 0)
        return refuse(reading, path, "cannot be read", strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (size_t)status.st_size > TLS_MAX_FILE_BYTES)
        return refuse(reading, path, "is no file of 1 byte to 1 MiB", NULL);
    text.data = malloc((size_t)status.st_size);
    if (text.data == NULL)
        return -ENOMEM;
    while (text.size < (size_t)status.st_size) {
        ssize_t n = read(fd, text.data + text.size, (size_t)status.st_size - text.size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refuse(reading, path, "cannot be read", strerror(errno));
        if (n == 0)
            break;
        text.size += (unsigned)n;
    }
    *ret_text = text;
    text = (gnutls_datum_t){0};
    return 0;
}

static int copy_text(struct str from, gnutls_datum_t *ret_text)
{
    gnutls_datum_t text = {.data = malloc(from.len + 1), .size = (unsigned)from.len};

    if (text.data == NULL)
        return -ENOMEM;
    memcpy(text.data, from.ptr, from.len);
    *ret_text = text;
    return 0;
}

/* Certificate and key, wherever they come from. */
static int read_texts(struct reading *reading, const struct tls_files *files,
                      gnutls_datum_t *ret_certificate, gnutls_datum_t *ret_key)
{
    int r = 0;

    if (str_present(files->certificate_pem)) {
        r = copy_text(files->certificate_pem, ret_certificate);
        return r == 0 ? copy_text(files->key_pem, ret_key) : r;
    }
    r = read_file(reading, files->certificate, ret_certificate);
    return r == 0 ? read_file(reading, files->key, ret_key) : r;
}

static int read_expiry(struct reading *reading, const char *path, const gnutls_datum_t *text,
                       int64_t *ret_expires_sec)
{
    gnutls_x509_crt_t *certificates = NULL;
    unsigned count = 0;
    int r = gnutls_x509_crt_list_import2(&certificates, &count, text, GNUTLS_X509_FMT_PEM, 0);

    if (r < 0)
        return refuse(reading, path, "holds no certificate in PEM form", gnutls_strerror(r));
    *ret_expires_sec = gnutls_x509_crt_get_expiration_time(certificates[0]);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(certificates[i]);
    gnutls_free(certificates);
    return 0;
}

static int read_serving(struct reading *reading, const struct tls_files *files,
                        struct tls_credentials *credentials)
{
    cleanup_datum gnutls_datum_t certificate = {0};
    cleanup_datum gnutls_datum_t key = {0};
    bool made = str_present(files->certificate_pem);
    const char *certificate_place = made ? "tls.self" : files->certificate;
    const char *key_place = made ? "tls.self" : files->key;
    int r = read_texts(reading, files, &certificate, &key);

    if (r == 0)
        r = read_expiry(reading, certificate_place, &certificate, &credentials->expires_sec);
    if (r < 0)
        return r;
    r = gnutls_certificate_set_x509_key_mem2(credentials->serving, &certificate, &key,
                                             GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return refuse(reading, key_place, "is not the key of the certificate", certificate_place);
    if (r < 0)
        return refuse(reading, key_place, "cannot be used as an unencrypted key in PEM form",
                      gnutls_strerror(r));
    return 0;
}

static int copy_names(const struct str_list *names, struct tls_credentials *credentials)
{
    struct str *items = arena_alloc(&credentials->arena, names->count, sizeof(*items));

    if (items == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < names->count; i++) {
        items[i].ptr = arena_copy(&credentials->arena, names->items[i]);
        items[i].len = names->items[i].len;
        if (items[i].ptr == NULL)
            return -ENOMEM;
    }
    credentials->names = (struct str_list){.items = items, .count = names->count};
    return 0;
}

static int read_clients(struct reading *reading, const struct tls_files *files,
                        struct tls_credentials *credentials)
{
    cleanup_datum gnutls_datum_t text = {0};
    int r = read_file(reading, files->client_ca, &text);

    if (r < 0)
        return r;
    if (gnutls_x509_trust_list_init(&credentials->clients, 0) < 0)
        return -ENOMEM;
    r = gnutls_x509_trust_list_add_trust_mem(credentials->clients, &text, NULL, GNUTLS_X509_FMT_PEM,
                                             0, 0);
    if (r <= 0)
        return refuse(reading, files->client_ca, "holds no certificate in PEM form",
                      r < 0 ? gnutls_strerror(r) : NULL);
    /* the names of the CAs go into the wish for a certificate, so that clients pick the right one
     */
    r = gnutls_certificate_set_x509_trust_mem(credentials->serving, &text, GNUTLS_X509_FMT_PEM);
    if (r < 0)
        return refuse(reading, files->client_ca, "cannot be used", gnutls_strerror(r));
    return copy_names(&files->client_names, credentials);
}

void tls_credentials_free(struct tls_credentials *credentials)
{
    if (credentials->serving != NULL)
        gnutls_certificate_free_credentials(credentials->serving);
    if (credentials->clients != NULL)
        gnutls_x509_trust_list_deinit(credentials->clients, 1);
    arena_release(&credentials->arena);
    free(credentials);
}

int tls_credentials_read(const struct tls_files *files, struct arena *arena,
                         struct tls_credentials **ret_credentials, struct str *reterr_reason)
{
    struct reading reading = {.arena = arena};
    struct tls_credentials *credentials = calloc(1, sizeof(*credentials));
    int r = 0;

    if (credentials == NULL)
        return -ENOMEM;
    refcount_init(&credentials->count);
    if (gnutls_certificate_allocate_credentials(&credentials->serving) < 0)
        r = -ENOMEM;
    if (r == 0)
        r = read_serving(&reading, files, credentials);
    if (r == 0 && files->client_ca != NULL)
        r = read_clients(&reading, files, credentials);
    if (r < 0) {
        tls_credentials_free(credentials);
        *reterr_reason = reading.reason;
        return r;
    }
    *ret_credentials = credentials;
    return 0;
}
