/* SPDX-License-Identifier: Apache-2.0 */
/* test_wiping - keys and passphrases are overwritten before their memory is freed. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/util/gnutls_handles.h"
#include "tests/freed.h"
#include "webhook/commands/commands.h"
#include "webhook/tls/credentials.h"
#include "webhook/tls/certificate.h"

#define LINE_BYTES 48
#define COMMENT_LINES 2000 /* the key is more than one reading of a pipe has */

static const char document[] = "apiVersion: sandbox.runx.dev/v1\n"
                               "kind: SandboxBaseline\n"
                               "baseline: {network_allowed: false}\n";
static const char passphrase[] = "secret-passphrase-of-the-key";

static char folder[] = "/tmp/sandgate-wiping-XXXXXX";
static char key_line[LINE_BYTES + 1]; /* the first bytes of the key in PEM */
static const char *const secrets[] = {key_line, passphrase, NULL};

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *to = path[next++ % 4];

    (void)snprintf(to, sizeof(path[0]), "%s/%s", folder, name);
    return to;
}

static void write_file(const char *name, const char *text, size_t bytes)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    cr_assert_eq(write(fd, text, bytes), (ssize_t)bytes);
    (void)close(fd);
}

/* An encrypted key, and the line that is looked for. */
static gnutls_datum_t make_key(void)
{
    cleanup_x509_key gnutls_x509_privkey_t key = NULL;
    gnutls_datum_t pem = {0};
    const char *line = NULL;

    cr_assert_eq(gnutls_x509_privkey_init(&key), 0);
    cr_assert_eq(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                              GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                 0);
    cr_assert_eq(gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, passphrase,
                                                   GNUTLS_PKCS_PBES2_AES_256, &pem),
                 0);
    line = strchr((const char *)pem.data, '\n') + 1;
    memcpy(key_line, line, LINE_BYTES);
    return pem;
}

static int sign_with(const char *key, const char *option, const char *value)
{
    char name[] = "sandgate sign";
    const char *given[] = {name,       "--key",    key,
                           "--key-id", "x",        "--name",
                           "base",     "--output", path_of("signed.yaml"),
                           option,     value,      path_of("document.yaml"),
                           NULL};
    char *arguments[sizeof(given) / sizeof(given[0])];

    memcpy(arguments, given, sizeof(given));
    return command_sign.run((int)(sizeof(given) / sizeof(given[0])) - 1, arguments);
}

Test(wiping, sign)
{
    gnutls_datum_t pem = {0};

    cr_assert(mkdtemp(folder) != NULL);
    pem = make_key();
    write_file("key.pem", (const char *)pem.data, pem.size);
    write_file("passphrase", passphrase, sizeof(passphrase) - 1);
    write_file("document.yaml", document, sizeof(document) - 1);
    freed_watch(secrets);
    cr_expect_eq(sign_with(path_of("key.pem"), "--passphrase-file", path_of("passphrase")), 0);
    cr_expect(freed_found() == NULL, "%s", freed_found());
    cr_assert_eq(setenv("SIGN_PASSPHRASE", passphrase, 1), 0);
    cr_expect_eq(sign_with(path_of("key.pem"), "--passphrase-env", "SIGN_PASSPHRASE"), 0);
    cr_expect(freed_found() == NULL, "%s", freed_found());
    cr_expect_str_eq(getenv("SIGN_PASSPHRASE"), "", "the environment has no copy of it");
    freed_watch(NULL);
    datum_done(&pem);
}

/* A pipe gives no size, so that the text grows while it is read. */
Test(wiping, sign_with_a_key_from_a_pipe)
{
    gnutls_datum_t pem = {0};
    int ends[2];
    char path[32];

    cr_assert(mkdtemp(folder) != NULL);
    pem = make_key();
    write_file("passphrase", passphrase, sizeof(passphrase) - 1);
    write_file("document.yaml", document, sizeof(document) - 1);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], pem.data, pem.size), (ssize_t)pem.size);
    for (int i = 0; i < COMMENT_LINES; i++)
        cr_assert_eq(write(ends[1], "a comment\n", 10), 10);
    (void)close(ends[1]);
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    freed_watch(secrets);
    cr_expect_eq(sign_with(path, "--passphrase-file", path_of("passphrase")), 0);
    cr_expect(freed_found() == NULL, "%s", freed_found());
    freed_watch(NULL);
    datum_done(&pem);
}

Test(wiping, serving_key)
{
    struct arena cleanup_arena_wiped arena = {0};
    struct certificate_pair ca = {0};
    struct tls_files files = {0};
    struct tls *tls = NULL;
    struct str reason = {0};

    cr_assert(mkdtemp(folder) != NULL);
    cr_assert_eq(certificate_make_ca(time(NULL), 1, &arena, &ca), 0);
    memcpy(key_line, strchr(ca.key.ptr, '\n') + 1, LINE_BYTES);
    write_file("tls.crt", ca.certificate.ptr, ca.certificate.len);
    write_file("tls.key", ca.key.ptr, ca.key.len);
    files = (struct tls_files){.certificate = path_of("tls.crt"), .key = path_of("tls.key")};
    freed_watch(secrets);
    cr_assert_eq(tls_new(&files, &arena, &tls, &reason), 0);
    cr_expect(freed_found() == NULL, "files");
    files = (struct tls_files){.certificate_pem = ca.certificate, .key_pem = ca.key};
    cr_assert_eq(tls_reload(tls, &files, &arena, &reason), 0);
    tls_free(tls);
    arena_wipe(&arena);
    cr_expect(freed_found() == NULL, "texts");
    freed_watch(NULL);
}
