/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load - reads a folder of key files into a keyring.
 *
 * All problems of the folder are counted and the first is reported, so that one bad file cannot
 * hide which other keys are readable: a refused reload keeps those (keyring_reload()).
 */
#include <errno.h>

#include "k8s/keyring/keyring.h"
#include "k8s/keyring/pem.h"
#include "k8s/keyring/set.h"
#include "k8s/util/base64.h"
#include "k8s/util/file.h"

#define MAX_KEY_BYTES (16 * 1024) /* DER of one block: larger than any RSA key in use */
#define MAX_ATTEMPTS 3            /* a mounted folder can be exchanged while it is read */

static const char *const endings[] = {".pem", NULL};

/* One reading of a folder. */
struct load {
    const char *path;
    struct arena *arena;
    const struct keyring *old; /* NULL for a first load */
    struct keyring *keyring;
    size_t blocks; /* PUBLIC KEY blocks found so far, readable or not */
    struct str problem;
    size_t problems; /* only the first is reported, the others are counted */
};

static void unref_keyring(struct keyring **keyring)
{
    keyring_unref(*keyring);
}

#define cleanup_keyring __attribute__((cleanup(unref_keyring)))

/* line 0: the whole file; name NULL: the folder. 0 or -ENOMEM. */
static int add_problem(struct load *load, const char *name, size_t line, const char *what)
{
    struct str shown = {0};
    struct str text = {0};

    if (load->problems++ > 0)
        return 0;
    if (name == NULL) {
        text = arena_format(load->arena, "%s: %s", load->path, what);
    } else {
        shown = file_shown_name(name, load->arena);
        if (!str_present(shown))
            return -ENOMEM;
        text = line > 0
                   ? arena_format(load->arena, "%s/%s:%zu: %s", load->path, shown.ptr, line, what)
                   : arena_format(load->arena, "%s/%s: %s", load->path, shown.ptr, what);
    }
    if (!str_present(text))
        return -ENOMEM;
    load->problem = text;
    return 0;
}

/* Whether the key is of use: a folder with too many keys is refused, and then only keys of the old
 * keyring are, in whichever file they are. */
static bool may_add(const struct load *load, struct str id, const struct signature_key *key)
{
    const unsigned char *identity = signature_key_identity(key);

    return load->blocks <= KEYRING_MAX_KEYS ||
           (load->old != NULL && keyring_has(load->old, id, identity));
}

static int load_block(struct load *load, const char *name, struct str id,
                      const struct pem_item *block)
{
    unsigned char der[MAX_KEY_BYTES];
    size_t len = 0;
    struct signature_key *key = NULL;
    const char *what = "a PUBLIC KEY block that is not base64; export the key again";
    int r = 0;

    if (++load->blocks == KEYRING_MAX_KEYS + 1) {
        r = add_problem(load, name, block->line, "more than 256 keys; remove some");
        if (r < 0)
            return r;
    }
    r = base64_decode(block->body, sizeof(der), der, &len);
    if (r == 0)
        r = signature_key_read((struct str){.ptr = (const char *)der, .len = len}, &key, &what);
    if (r == -EBADMSG || r == -E2BIG)
        return add_problem(load, name, block->line, what);
    if (r != 0)
        return r;
    if (may_add(load, id, key)) {
        r = keyring_add(load->keyring, id, key);
        if (r == 0)
            return 0;
    }
    signature_key_free(key);
    return r;
}

static int load_blocks(struct load *load, const char *name, struct str id, struct str text)
{
    struct pem_scan scan = pem_scan_make(text);
    struct pem_item item = {0};
    enum pem_result result = PEM_END;
    size_t items = 0;

    while ((result = pem_next(&scan, &item)) != PEM_END) {
        int r = result == PEM_BLOCK ? load_block(load, name, id, &item)
                                    : add_problem(load, name, item.line, item.what);

        if (r < 0)
            return r;
        items++;
    }
    if (items == 0)
        return add_problem(load, name, 0, "no PUBLIC KEY block; add a key or remove the file");
    return 0;
}

/* Errors that say nothing about the folder: a later attempt can succeed. */
static bool is_temporary(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

static int load_file(struct load *load, const struct file_folder *folder, const char *name)
{
    cleanup_arena struct arena scratch = {0};
    struct str file = str_of(name);
    struct str id = {.ptr = name, .len = file.len - (sizeof(".pem") - 1)};
    struct str text = {0};
    int r = 0;

    if (!keyring_is_id(id))
        return add_problem(load, name, 0,
                           "the name must be a key id and .pem: at most 63 letters, digits, '-', "
                           "'_' and '.', with a letter or digit at both ends");
    r = file_read(folder, name, KEYRING_MAX_FILE_BYTES, &scratch, &text);
    if (is_temporary(r))
        return r;
    if (r < 0)
        return add_problem(load, name, 0, file_error_text(r));
    return load_blocks(load, name, id, text);
}

static int load_files(struct load *load, const struct file_folder *folder,
                      const struct file_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        int r = load_file(load, folder, names->items[i]);

        if (r < 0)
            return r;
    }
    if (load->blocks == 0 && load->problems == 0)
        return add_problem(load, NULL, 0, "no public key in this folder; add <key-id>.pem files");
    return 0;
}

/* *ret_exchanged: a mounted folder was exchanged during the read, which must be repeated. */
static int load_folder(struct load *load, bool *ret_exchanged)
{
    cleanup_arena struct arena scratch = {0};
    cleanup_folder struct file_folder folder = {0};
    struct file_names names = {0};
    int r = file_folder_open(load->path, &folder);

    if (r == 0)
        r = file_folder_list(&folder, endings, &scratch, &names);
    if (r < 0) {
        *ret_exchanged = false;
        return is_temporary(r) ? r : add_problem(load, NULL, 0, file_error_text(r));
    }
    r = load_files(load, &folder, &names);
    if (r == 0)
        *ret_exchanged = file_folder_exchanged(&folder);
    return r;
}

static int load_attempts(struct load *load)
{
    bool exchanged = true;

    for (int i = 0; exchanged && i < MAX_ATTEMPTS; i++) {
        int r = 0;

        keyring_unref(load->keyring);
        load->keyring = keyring_new();
        if (load->keyring == NULL)
            return -ENOMEM;
        load->blocks = 0;
        load->problems = 0;
        r = load_folder(load, &exchanged);
        if (r < 0)
            return r;
    }
    if (exchanged)
        return add_problem(load, NULL, 0, "the folder changed during every attempt to read it");
    return 0;
}

static int make_reason(const struct load *load, struct str *ret_reason)
{
    struct str reason = load->problem;

    if (load->problems > 1)
        reason = arena_format(load->arena, "%.*s (and %zu more)", (int)reason.len, reason.ptr,
                              load->problems - 1);
    if (!str_present(reason))
        return -ENOMEM;
    *ret_reason = reason;
    return 0;
}

int keyring_load(const char *folder, struct arena *arena, struct keyring **ret_keyring,
                 struct str *reterr_reason)
{
    cleanup_keyring struct keyring *keyring = NULL; /* from load, to be released on failure */
    struct load load = {.path = folder, .arena = arena};
    int r = load_attempts(&load);

    keyring = load.keyring;
    if (r < 0)
        return r;
    if (load.problems > 0) {
        r = make_reason(&load, reterr_reason);
        return r < 0 ? r : -EINVAL;
    }
    *ret_keyring = keyring;
    keyring = NULL;
    return 0;
}

int keyring_reload(const struct keyring *old, const char *folder, struct arena *arena,
                   struct keyring **ret_keyring, struct keyring_report *ret_report)
{
    cleanup_keyring struct keyring *keyring = NULL;
    struct load load = {.path = folder, .arena = arena, .old = old};
    struct keyring_report report = {.whole = true};
    int r = load_attempts(&load);

    keyring = load.keyring;
    if (r < 0)
        return r;
    if (load.problems > 0) {
        report.whole = false;
        r = make_reason(&load, &report.reason);
        if (r < 0)
            return r;
        keyring_keep_common(keyring, old);
    }
    *ret_report = report;
    *ret_keyring = keyring;
    keyring = NULL;
    return 0;
}
