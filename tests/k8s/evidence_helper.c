/* SPDX-License-Identifier: Apache-2.0 */
/* evidence_helper - keys, files and cases, for tests of keys and evidence. */
#include "tests/k8s/evidence_helper.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/document/document.h"
#include "k8s/util/base64.h"
#include "planner/base/tree.h"

#define HELPER_MAX_FILE_BYTES (1 << 20)

struct moment helper_now(void)
{
    struct moment now = {0};

    cr_assert(moment_read(STR("2026-03-01T12:00:00Z"), &now));
    return now;
}

struct str helper_text(struct arena *arena, const char *format, ...)
{
    char text[8192];
    va_list args;
    char *copy = NULL;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cr_assert(n >= 0 && (size_t)n < sizeof(text));
    copy = arena_copy(arena, (struct str){.ptr = text, .len = (size_t)n});
    cr_assert_not_null(copy);
    return (struct str){.ptr = copy, .len = (size_t)n};
}

struct str helper_bytes(struct arena *arena, const char *path)
{
    char *bytes = arena_alloc(arena, HELPER_MAX_FILE_BYTES, 1);
    FILE *file = fopen(path, "rbe");
    size_t len = 0;

    cr_assert_not_null(bytes);
    cr_assert_not_null(file, "%s", path);
    len = fread(bytes, 1, HELPER_MAX_FILE_BYTES, file);
    cr_assert(len < HELPER_MAX_FILE_BYTES && !ferror(file));
    cr_assert_eq(fclose(file), 0);
    return (struct str){.ptr = bytes, .len = len};
}

cJSON *helper_document(struct arena *arena, struct str text)
{
    const struct document_options options = {.syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = document_read(text, &options, arena, &tree, &error);

    cr_assert_eq(r, 0, "%d: line %zu, column %zu: %s", r, error.line, error.column, error.what);
    return tree;
}

struct keyring *helper_keyring(struct arena *arena, const char *folder)
{
    struct str path = helper_text(arena, "%s/cases/%s", TESTS_DIR, folder);
    struct keyring *keyring = NULL;
    struct str reason = {0};

    cr_assert_eq(keyring_load(path.ptr, arena, &keyring, &reason), 0, "%s", reason.ptr);
    return keyring;
}

struct evidence_source helper_source(struct arena *arena, struct str manifest)
{
    const cJSON *root = helper_document(arena, manifest);
    const cJSON *metadata = tree_get(root, "metadata");
    const cJSON *data = tree_get(root, "data");

    cr_assert_not_null(metadata);
    return (struct evidence_source){
        .namespace_name = tree_get_text(metadata, "namespace"),
        .name = tree_get_text(metadata, "name"),
        .annotations = tree_get(metadata, "annotations"),
        .document = tree_get_text(data, EVIDENCE_DATA_KEY),
    };
}

char *helper_new_folder(struct arena *arena)
{
    struct str path = helper_text(arena, "/tmp/sandgate-test-XXXXXX");
    char *writable = arena_copy(arena, path);

    cr_assert_not_null(writable);
    cr_assert_not_null(mkdtemp(writable));
    return writable;
}

void helper_write(const char *folder, const char *name, struct str text)
{
    char path[4096];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wbe");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(text.ptr, 1, text.len, file), text.len);
    cr_assert_eq(fclose(file), 0);
}

void helper_remove(const char *folder, const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    cr_assert(unlink(path) == 0 || rmdir(path) == 0, "%s", path);
}

void helper_remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry = NULL;

    cr_assert_not_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            helper_remove(folder, entry->d_name);
    }
    cr_assert_eq(closedir(dir), 0);
    cr_assert_eq(rmdir(folder), 0);
}

struct helper_key {
    gnutls_privkey_t privkey;
    gnutls_pubkey_t pubkey;
};

struct helper_key *helper_key_new(struct arena *arena, int algorithm, unsigned bits)
{
    struct helper_key *key = arena_alloc(arena, 1, sizeof(*key));

    cr_assert_not_null(key);
    cr_assert_eq(gnutls_privkey_init(&key->privkey), 0);
    cr_assert_eq(gnutls_privkey_generate(key->privkey, (gnutls_pk_algorithm_t)algorithm, bits, 0),
                 0);
    cr_assert_eq(gnutls_pubkey_init(&key->pubkey), 0);
    cr_assert_eq(gnutls_pubkey_import_privkey(key->pubkey, key->privkey, 0, 0), 0);
    return key;
}

void helper_key_free(struct helper_key *key)
{
    gnutls_privkey_deinit(key->privkey);
    gnutls_pubkey_deinit(key->pubkey);
}

struct str helper_key_pem(struct helper_key *key, struct arena *arena)
{
    gnutls_datum_t pem = {0};
    struct str text = {0};

    cr_assert_eq(gnutls_pubkey_export2(key->pubkey, GNUTLS_X509_FMT_PEM, &pem), 0);
    text = helper_text(arena, "%.*s", (int)pem.size, (const char *)pem.data);
    gnutls_free(pem.data);
    return text;
}

struct str helper_key_sign(struct helper_key *key, struct arena *arena, struct str document)
{
    gnutls_datum_t data = {.data = (unsigned char *)arena_copy(arena, document),
                           .size = (unsigned)document.len};
    gnutls_datum_t signature = {0};
    struct str text = {0};

    cr_assert_eq(
        gnutls_privkey_sign_data2(key->privkey, GNUTLS_SIGN_EDDSA_ED25519, 0, &data, &signature),
        0);
    cr_assert_eq(
        base64_encode((struct str){(const char *)signature.data, signature.size}, arena, &text), 0);
    gnutls_free(signature.data);
    return text;
}
