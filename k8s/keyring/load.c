/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "k8s/keyring/keyring.h"
#include "k8s/keyring/pem.h"
#include "k8s/keyring/set.h"
#include "k8s/util/base64.h"
#include "k8s/util/file.h"

#define KEYRING_MAX_KEY_BYTES (16 * 1024) /* DER of one block: RSA far beyond what anybody uses */
#define KEYRING_ATTEMPTS 3                /* where a mounted folder is exchanged while it is read */

static const char *const keyring_endings[] = {".pem", NULL};

/* One reading of a folder. */
struct load {
    const char *path;
    struct arena *arena;
    const struct keyring *old; /* NULL at the start */
    struct keyring *keyring;
    size_t blocks; /* PUBLIC KEY blocks that were met, readable or not */
    struct str problem;
    size_t problems; /* only the first is told, the rest counted */
};

static void keyring_done(struct keyring **keyring)
{
    keyring_unref(*keyring);
}

#define cleanup_keyring __attribute__((cleanup(keyring_done)))

/* line 0: the file as a whole; name NULL: the folder. */
static int load_problem(struct load *load, const char *name, size_t line, const char *what)
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

/* Whether one more key may be held: a folder with too many is refused, and then only those that
 * the old keyring has are wanted, whatever their order. */
static bool load_may_add(const struct load *load, struct str id, const struct signature_key *key)
{
    const unsigned char *identity = signature_key_identity(key);

    return load->blocks <= KEYRING_MAX_KEYS ||
           (load->old != NULL && keyring_has(load->old, id, identity));
}

static int load_block(struct load *load, const char *name, struct str id,
                      const struct pem_item *block)
{
    unsigned char der[KEYRING_MAX_KEY_BYTES];
    size_t len = 0;
    struct signature_key *key = NULL;
    const char *what = "a PUBLIC KEY block that is not base64; write the file again";
    int r = 0;

    if (++load->blocks == KEYRING_MAX_KEYS + 1) {
        r = load_problem(load, name, block->line, "more than 256 keys; take some out");
        if (r < 0)
            return r;
    }
    r = base64_decode(block->body, sizeof(der), der, &len);
    if (r == 0)
        r = signature_key_read((struct str){.ptr = (const char *)der, .len = len}, &key, &what);
    if (r == -EBADMSG || r == -E2BIG)
        return load_problem(load, name, block->line, what);
    if (r != 0)
        return r;
    if (load_may_add(load, id, key)) {
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
                                    : load_problem(load, name, item.line, item.what);

        if (r < 0)
            return r;
        items++;
    }
    if (items == 0)
        return load_problem(load, name, 0,
                            "no PUBLIC KEY block; put a key in or take the file away");
    return 0;
}

/* What says nothing about the folder: the caller may try again. */
static bool is_passing(int error)
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
        return load_problem(load, name, 0,
                            "the name is no key id; use letters, digits, '-', '_' and '.', at most "
                            "63, a letter or digit at both ends, and .pem");
    r = file_read(folder, name, KEYRING_MAX_FILE_BYTES, &scratch, &text);
    if (is_passing(r))
        return r;
    if (r < 0)
        return load_problem(load, name, 0, file_error_text(r));
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
        return load_problem(load, NULL, 0,
                            "no public key in this folder; put <key-id>.pem files in");
    return 0;
}

/* *ret_exchanged: the folder changed under the reading, which must be done again. */
static int load_folder(struct load *load, bool *ret_exchanged)
{
    cleanup_arena struct arena scratch = {0};
    cleanup_folder struct file_folder folder = {0};
    struct file_names names = {0};
    int r = file_folder_open(load->path, &folder);

    if (r == 0)
        r = file_folder_list(&folder, keyring_endings, &scratch, &names);
    if (r < 0) {
        *ret_exchanged = false;
        return is_passing(r) ? r : load_problem(load, NULL, 0, file_error_text(r));
    }
    r = load_files(load, &folder, &names);
    if (r == 0)
        *ret_exchanged = file_folder_exchanged(&folder);
    return r;
}

static int load_attempts(struct load *load)
{
    bool exchanged = true;

    for (int i = 0; exchanged && i < KEYRING_ATTEMPTS; i++) {
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
        return load_problem(load, NULL, 0, "the folder changes all the time; read it again");
    return 0;
}

static int load_reason(const struct load *load, struct str *ret_reason)
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
    cleanup_keyring struct keyring *keyring = NULL;
    struct load load = {.path = folder, .arena = arena};
    int r = load_attempts(&load);

    keyring = load.keyring;
    if (r < 0)
        return r;
    if (load.problems > 0) {
        r = load_reason(&load, reterr_reason);
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
        r = load_reason(&load, &report.reason);
        if (r < 0)
            return r;
        keyring_keep_common(keyring, old);
    }
    *ret_report = report;
    *ret_keyring = keyring;
    keyring = NULL;
    return 0;
}
