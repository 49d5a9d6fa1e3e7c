/* SPDX-License-Identifier: Apache-2.0 */
/* files - reads certificate, key and client CA into credentials, at each reload. See files.h. */

#include "webhook/tls/files.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "k8s/util/file.h"
#include "k8s/util/gnutls_handles.h"

/* One reading of the files. */
struct reading {
    struct arena *arena; /* of the reason */
    struct str reason;
    struct arena texts; /* of the files; wiped, because it contains the private key */
};

static int refuse(struct reading *reading, const char *path, const char *what, const char *detail)
{
    reading->reason = arena_format(reading->arena, "%s: %s%s%s", path, what,
                                   detail != NULL ? ": " : "", detail != NULL ? detail : "");
    return str_present(reading->reason) ? -EINVAL : -ENOMEM;
}

static int read_file(struct reading *reading, const char *path, gnutls_datum_t *ret_text)
{
    struct str text = {0};
    int r = file_read_path(path, TLS_MAX_FILE_BYTES, &reading->texts, &text);

    if (r == -ENOMEM)
        return r;
    if (r == -ENODATA || r == -EFBIG || (r == 0 && text.len == 0))
        return refuse(reading, path, "is not a regular file of 1 byte to 1 MiB", NULL);
    if (r < 0)
        return refuse(reading, path, "cannot be read", file_error_text(r));
    *ret_text = datum_of(text);
    return 0;
}

/* Certificate and key, from texts or from files. Borrowed from files or from reading->texts. */
static int read_texts(struct reading *reading, const struct tls_files *files,
                      gnutls_datum_t *ret_certificate, gnutls_datum_t *ret_key)
{
    int r = 0;

    if (str_present(files->certificate_pem)) {
        *ret_certificate = datum_of(files->certificate_pem);
        *ret_key = datum_of(files->key_pem);
        return 0;
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
    assert(count > 0);
    *ret_expires_sec = gnutls_x509_crt_get_expiration_time(certificates[0]);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(certificates[i]);
    gnutls_free(certificates);
    return 0;
}

static int read_serving(struct reading *reading, const struct tls_files *files,
                        struct tls_credentials *credentials)
{
    gnutls_datum_t certificate = {0};
    gnutls_datum_t key = {0};
    bool made = str_present(files->certificate_pem);
    const char *certificate_name = made ? "tls.self" : files->certificate;
    const char *key_name = made ? "tls.self" : files->key;
    int r = read_texts(reading, files, &certificate, &key);

    if (r == 0)
        r = read_expiry(reading, certificate_name, &certificate, &credentials->expires_sec);
    if (r < 0)
        return r;
    r = gnutls_certificate_set_x509_key_mem2(credentials->serving, &certificate, &key,
                                             GNUTLS_X509_FMT_PEM, NULL, 0);
    if (r == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return refuse(reading, key_name, "is not the key of the certificate", certificate_name);
    if (r < 0)
        return refuse(reading, key_name, "cannot be used as an unencrypted key in PEM form",
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
    gnutls_datum_t text = {0};
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
    /* the request for a certificate names these CAs, so clients choose the right certificate */
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
    arena_wipe(&reading.texts);
    if (r < 0) {
        tls_credentials_free(credentials);
        *reterr_reason = reading.reason;
        return r;
    }
    *ret_credentials = credentials;
    return 0;
}
