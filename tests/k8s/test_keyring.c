/* SPDX-License-Identifier: Apache-2.0 */
/* test_keyring - keys in a directory, read and reloaded (gate-v1, section 4; case E05). */
#include <criterion/criterion.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/k8s/evidence_helper.h"
#include "tests/k8s/failing.h"

#define DOCUMENT STR("kind: SandboxBaseline\n")

static struct arena arena;
static char *path;
static struct keyring *ring;
static struct helper_key *old_key;
static struct helper_key *new_key;

static void begin(void)
{
    path = helper_new_folder(&arena);
    old_key = helper_key_new(&arena, GNUTLS_PK_EDDSA_ED25519, 0);
    new_key = helper_key_new(&arena, GNUTLS_PK_EDDSA_ED25519, 0);
}

static void done(void)
{
    keyring_unref(ring);
    helper_key_free(old_key);
    helper_key_free(new_key);
    if (access(path, F_OK) == 0)
        helper_remove_folder(path);
    arena_release(&arena);
}

TestSuite(keyring, .init = begin, .fini = done);

static void put(const char *name, struct helper_key *key)
{
    helper_write(path, name, helper_key_pem(key, &arena));
}

static void read_whole(void)
{
    struct str reason = {0};

    keyring_unref(ring);
    ring = NULL;
    cr_assert_eq(keyring_load(path, &arena, &ring, &reason), 0, "%s", reason.ptr);
}

/* Expects that the first read fails with the path of the directory followed by this reason. */
static void expect_refused(const char *expected)
{
    struct keyring *keyring = NULL;
    struct str reason = {0};

    cr_expect_eq(keyring_load(path, &arena, &keyring, &reason), -EINVAL, "%s", expected);
    cr_expect_null(keyring);
    cr_assert(str_starts_with(reason, str_of(path)));
    cr_expect_str_eq(reason.ptr + strlen(path), expected, "%s", reason.ptr);
}

/* Reloads. Expects an error and a reason unless `whole`. */
static void reload(bool whole)
{
    struct keyring *next = NULL;
    struct keyring_report report = {0};

    cr_assert_eq(keyring_reload(ring, path, &arena, &next, &report), 0);
    cr_expect_eq(report.whole, whole, "%s", report.reason.ptr);
    cr_expect_eq(str_present(report.reason), !whole);
    keyring_unref(ring);
    ring = next;
}

static enum signature_result result_of(const char *id, struct str signature)
{
    enum signature_result result = SIGNATURE_BAD;
    unsigned char identity[KEYRING_IDENTITY_BYTES] = {0};

    cr_assert_eq(keyring_verify(ring, str_of(id), DOCUMENT, signature, &result, identity), 0);
    cr_expect_eq(keyring_has(ring, str_of(id), identity), result == SIGNATURE_GOOD);
    return result;
}

static bool counts(const char *id, struct helper_key *key)
{
    return result_of(id, helper_key_sign(key, &arena, DOCUMENT)) == SIGNATURE_GOOD;
}

Test(keyring, each_result_has_its_name)
{
    put("old.pem", old_key);
    put("new.pem", new_key);
    read_whole();
    cr_expect_eq(keyring_key_count(ring), 2);
    cr_expect_eq(result_of("old", helper_key_sign(old_key, &arena, DOCUMENT)), SIGNATURE_GOOD);
    cr_expect_eq(result_of("new", helper_key_sign(old_key, &arena, DOCUMENT)), SIGNATURE_BAD);
    cr_expect_eq(result_of("old", helper_key_sign(old_key, &arena, STR("another"))), SIGNATURE_BAD);
    cr_expect_eq(result_of("ol", helper_key_sign(old_key, &arena, DOCUMENT)),
                 SIGNATURE_UNKNOWN_KEY);
    cr_expect_eq(result_of("", STR("AAAA")), SIGNATURE_UNKNOWN_KEY);
    cr_expect_eq(result_of("none", STR("!")), SIGNATURE_UNKNOWN_KEY);
    cr_expect_eq(result_of("old", STR("!")), SIGNATURE_NOT_BASE64);
    cr_expect_eq(result_of("old", STR("")), SIGNATURE_NOT_BASE64);
    cr_expect_eq(result_of("old", STR(" \r\n")), SIGNATURE_NOT_BASE64);
    cr_expect_eq(result_of("old", STR("AAAA")), SIGNATURE_BAD);
    cr_expect_eq(result_of("old", helper_text(&arena, "%08000d", 0)), SIGNATURE_BAD);
}

Test(keyring, key_ids_must_be_annotation_names)
{
    static const char *const good[] = {
        "a", "A9", "release-2026", "a_b.c-d",
        "a23456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {
        "",         "-a",
        "a-",       "_a",
        "a.",       ".a",
        "a b",      "a/b",
        "\xc3\xa4", "a234567890123456789012345678901234567890123456789012345678901234"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        cr_expect(keyring_is_id(str_of(good[i])), "%s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_expect_not(keyring_is_id(str_of(bad[i])), "%s", bad[i]);
    put("-a.pem", old_key);
    expect_refused(
        "/-a.pem: the name must be a key id and .pem: at most 63 letters, digits, '-', '_' "
        "and '.', with a letter or digit at both ends");
}

Test(keyring, files_with_other_names_are_ignored)
{
    put("old.pem", old_key);
    helper_write(path, "old.pem.bak", STR("nonsense"));
    helper_write(path, "NEW.PEM", STR("nonsense"));
    helper_write(path, "pem", STR("nonsense"));
    read_whole();
    cr_expect_eq(keyring_key_count(ring), 1);
}

#define BLOCK                                                                                      \
    "-----BEGIN PUBLIC KEY-----\n"                                                                 \
    "MCowBQYDK2VwAyEAif5P/GClWICj/qRCxlYx2I/WSS4M+zlf7a49+vPHD6Y=\n"                               \
    "-----END PUBLIC KEY-----\n"
#define OTHER_BLOCK                                                                                \
    "-----BEGIN PUBLIC KEY-----\n"                                                                 \
    "MCowBQYDK2VwAyEAHGJT806X7oc1WRbRKqgD0tLPtFrMm2Eg0Ub8zbMt87U=\n"                               \
    "-----END PUBLIC KEY-----\n"

Test(keyring, an_invalid_block_is_rejected_with_its_line)
{
    static const char *const rows[][2] = {
        {"", "/k.pem: no PUBLIC KEY block; add a key or remove the file"},
        {"# none yet\n", "/k.pem: no PUBLIC KEY block; add a key or remove the file"},
        {"\n-----BEGIN PUBLIC KEY-----\nMCow!\n-----END PUBLIC KEY-----\n",
         "/k.pem:2: a PUBLIC KEY block that is not base64; export the key again"},
        {"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
         "/k.pem:1: the public key cannot be read; export the key again"},
        {"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n",
         "/k.pem:1: the public key cannot be read; export the key again"},
        {BLOCK "-----BEGIN PUBLIC KEY-----\nMCow\n",
         "/k.pem:4: a PUBLIC KEY block without an END line; export the key again"},
        {"-----BEGIN PUBLIC KEY-----\n" BLOCK,
         "/k.pem:1: a PUBLIC KEY block without an END line; export the key again"},
        {BLOCK "-----END PUBLIC KEY-----\n",
         "/k.pem:4: an END line without a BEGIN line; export the key again"},
        {BLOCK "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n",
         "/k.pem:4: a private key; remove it and treat that key as compromised"},
        {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nx\n",
         "/k.pem:1: a private key; remove it and treat that key as compromised"},
        {"-----BEGIN EC PRIVATE KEY-----\nx\n",
         "/k.pem:1: a private key; remove it and treat that key as compromised"},
        {"-----BEGIN CERTIFICATE-----\nx\n",
         "/k.pem:1: a certificate; replace it by its public key"},
        {"-----BEGIN RSA PUBLIC KEY-----\nx\n", "/k.pem:1: not a PUBLIC KEY block with its BEGIN "
                                                "and END on lines of their own; remove it"},
        {"-----BEGIN PRIVATE KEY-----\nx\n" BLOCK "-----BEGIN CERTIFICATE-----\n",
         "/k.pem:1: a private key; remove it and treat that key as compromised (and 1 more)"},
        {BLOCK "# -----BEGIN PUBLIC KEY-----\n", "/k.pem:4: not a PUBLIC KEY block with its BEGIN "
                                                 "and END on lines of their own; remove it"},
        {"-----BEGIN PUBLIC KEY-----MCow-----END PUBLIC KEY-----\n",
         "/k.pem:1: not a PUBLIC KEY block with its BEGIN and END on lines of their own; remove "
         "it"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        helper_write(path, "k.pem", str_of(rows[i][0]));
        expect_refused(rows[i][1]);
    }
}

Test(keyring, blocks_are_found_between_other_lines)
{
    static const struct {
        struct str text;
        size_t keys;
    } rows[] = {
        {STR_INIT(BLOCK), 1},
        {STR_INIT("\xef\xbb\xbf" BLOCK), 1},
        {STR_INIT("# one\n\n" BLOCK "# two\n" OTHER_BLOCK "# end"), 2},
        {STR_INIT(OTHER_BLOCK BLOCK), 2},
        {STR_INIT(BLOCK BLOCK), 1},
        {STR_INIT("  -----BEGIN PUBLIC KEY-----  \r\n"
                  "MCowBQYDK2VwAyEA if5P/GClWICj/qRCxlYx\r2I/WSS4M+zlf7a49+vPHD6Y=\r\n"
                  "-----END PUBLIC KEY-----"),
         1},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        helper_write(path, "k.pem", rows[i].text);
        read_whole();
        cr_expect_eq(keyring_key_count(ring), rows[i].keys, "row %zu", i);
    }
}

Test(keyring, a_file_that_is_not_regular_is_rejected_at_once)
{
    char file[4096];

    (void)snprintf(file, sizeof(file), "%s/k.pem", path);
    cr_assert_eq(mkfifo(file, 0600), 0);
    expect_refused("/k.pem: it is not a regular file");
    helper_remove(path, "k.pem");
    cr_assert_eq(mkdir(file, 0700), 0);
    expect_refused("/k.pem: it is not a regular file");
    helper_remove(path, "k.pem");
    cr_assert_eq(symlink("nowhere", file), 0);
    expect_refused("/k.pem: No such file or directory");
    helper_remove(path, "k.pem");
    helper_write(path, "k.pem", STR("x"));
    cr_assert_eq(truncate(file, KEYRING_MAX_FILE_BYTES + 1), 0);
    expect_refused("/k.pem: the file is too large");
    helper_remove(path, "k.pem");
    expect_refused(": no public key in this folder; add <key-id>.pem files");
    helper_remove_folder(path);
    expect_refused(": No such file or directory");
}

Test(keyring, a_mounted_secret_is_read_through_its_links)
{
    char version[4096], data[4096], link[4096];

    (void)snprintf(version, sizeof(version), "%s/..2026_03_01", path);
    (void)snprintf(data, sizeof(data), "%s/..data", path);
    (void)snprintf(link, sizeof(link), "%s/old.pem", path);
    cr_assert_eq(mkdir(version, 0700), 0);
    helper_write(version, "old.pem", helper_key_pem(old_key, &arena));
    cr_assert_eq(symlink("..2026_03_01", data), 0);
    cr_assert_eq(symlink("..data/old.pem", link), 0);
    read_whole();
    cr_expect(counts("old", old_key));
    helper_remove(version, "old.pem");
}

Test(keyring, too_many_keys_are_rejected_and_a_reload_keeps_the_old_ones)
{
    char text[KEYRING_MAX_KEYS * sizeof(BLOCK)] = "";
    struct keyring *keyring = NULL;
    struct keyring_report report = {0};

    for (size_t i = 0; i < KEYRING_MAX_KEYS; i++)
        memcpy(text + i * (sizeof(BLOCK) - 1), BLOCK, sizeof(BLOCK));
    put("z.pem", old_key);
    read_whole();
    helper_write(path, "a.pem", str_of(text));
    expect_refused("/z.pem:1: more than 256 keys; remove some");
    cr_assert_eq(keyring_reload(ring, path, &arena, &keyring, &report), 0);
    cr_expect_not(report.whole);
    cr_expect(keyring_equal(keyring, ring));
    keyring_unref(keyring);
}

Test(keyring, keyrings_are_compared_by_ids_and_key_values)
{
    struct keyring *first = NULL;

    put("a.pem", old_key);
    read_whole();
    first = keyring_ref(ring);
    read_whole();
    cr_expect(keyring_equal(first, ring));
    helper_remove(path, "a.pem");
    put("b.pem", old_key);
    read_whole();
    cr_expect_not(keyring_equal(first, ring));
    helper_remove(path, "b.pem");
    put("a.pem", new_key);
    read_whole();
    cr_expect_not(keyring_equal(first, ring));
    keyring_unref(first);
}

/* As many different keys as ids, where each id can be given one of its keys: a key with two ids
 * signs once, and so does an id with two keys. */
Test(keyring, most_signers_are_ids_with_different_keys)
{
    static const struct {
        const char *old_in, *new_in; /* files; several letters: several files */
        unsigned most;
    } rows[] = {
        {"a", "", 1},   {"ab", "", 1},  {"a", "b", 2},   {"a", "a", 1},   {"ab", "a", 2},
        {"ab", "b", 2}, {"a", "ab", 2}, {"ab", "ab", 2}, {"abc", "c", 2}, {"a", "abc", 2},
    };
    static const struct str c = STR_INIT("c");
    const struct str_list only_c = {.items = &c, .count = 1};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned counted =
            strchr(rows[i].old_in, 'c') != NULL || strchr(rows[i].new_in, 'c') != NULL;

        for (char id = 'a'; id <= 'c'; id++) {
            bool old_here = strchr(rows[i].old_in, id) != NULL;
            bool new_here = strchr(rows[i].new_in, id) != NULL;
            const char name[] = {id, '.', 'p', 'e', 'm', '\0'};
            struct str old_pem = old_here ? helper_key_pem(old_key, &arena) : STR("");
            struct str new_pem = new_here ? helper_key_pem(new_key, &arena) : STR("");
            struct str pem = arena_format(&arena, "%.*s%.*s", (int)old_pem.len, old_pem.ptr,
                                          (int)new_pem.len, new_pem.ptr);

            if (old_here || new_here)
                helper_write(path, name, pem);
        }
        read_whole();
        cr_expect_eq(keyring_most_signers(ring, NULL), rows[i].most, "%zu", i);
        cr_expect_eq(keyring_most_signers(ring, &only_c), counted, "%zu", i);
        for (char id = 'a'; id <= 'c'; id++) {
            const char name[] = {id, '.', 'p', 'e', 'm', '\0'};

            if (strchr(rows[i].old_in, id) != NULL || strchr(rows[i].new_in, id) != NULL)
                helper_remove(path, name);
        }
    }
}

Test(keyring, reload_key_removed)
{
    put("old.pem", old_key);
    put("new.pem", new_key);
    read_whole();
    helper_remove(path, "old.pem");
    reload(true);
    cr_expect_not(counts("old", old_key));
    cr_expect(counts("new", new_key));
}

Test(keyring, reload_key_added)
{
    put("old.pem", old_key);
    read_whole();
    put("new.pem", new_key);
    reload(true);
    cr_expect(counts("old", old_key));
    cr_expect(counts("new", new_key));
}

Test(keyring, reload_key_broken)
{
    put("old.pem", old_key);
    put("new.pem", new_key);
    read_whole();
    helper_write(path, "old.pem", STR("nonsense"));
    reload(false);
    cr_expect_not(counts("old", old_key));
    cr_expect(counts("new", new_key));
}

Test(keyring, reload_removed_and_broken)
{
    put("old.pem", old_key);
    put("new.pem", new_key);
    read_whole();
    helper_remove(path, "old.pem");
    helper_write(path, "third.pem", STR("nonsense"));
    reload(false);
    cr_expect_not(counts("old", old_key));
    cr_expect(counts("new", new_key));
}

Test(keyring, reload_added_and_broken_then_repaired)
{
    put("old.pem", old_key);
    read_whole();
    put("new.pem", new_key);
    helper_write(path, "third.pem", STR("nonsense"));
    reload(false);
    cr_expect(counts("old", old_key));
    cr_expect_not(counts("new", new_key));
    reload(false);
    cr_expect_not(counts("new", new_key), "it waits for as long as the folder is not whole");
    put("third.pem", old_key);
    reload(true);
    cr_expect(counts("new", new_key));
    cr_expect(counts("third", old_key));
}

Test(keyring, reload_block_removed)
{
    helper_write(path, "k.pem",
                 helper_text(&arena, "%s%s", helper_key_pem(old_key, &arena).ptr,
                             helper_key_pem(new_key, &arena).ptr));
    read_whole();
    cr_expect(counts("k", old_key));
    cr_expect(counts("k", new_key));
    put("k.pem", new_key);
    reload(true);
    cr_expect_not(counts("k", old_key));
    cr_expect(counts("k", new_key));
}

Test(keyring, reload_block_removed_and_broken)
{
    helper_write(path, "k.pem",
                 helper_text(&arena, "%s%s", helper_key_pem(old_key, &arena).ptr,
                             helper_key_pem(new_key, &arena).ptr));
    read_whole();
    put("k.pem", new_key);
    helper_write(path, "z.pem", STR("nonsense"));
    reload(false);
    cr_expect_not(counts("k", old_key));
    cr_expect(counts("k", new_key));
}

Test(keyring, reload_key_moved_to_another_id_and_broken)
{
    put("old.pem", old_key);
    read_whole();
    helper_remove(path, "old.pem");
    put("new.pem", old_key);
    helper_write(path, "z.pem", STR("nonsense"));
    reload(false);
    cr_expect_not(counts("old", old_key));
    cr_expect_not(counts("new", old_key), "an addition, which waits");
}

Test(keyring, reload_emptied)
{
    put("old.pem", old_key);
    read_whole();
    helper_remove(path, "old.pem");
    reload(false);
    cr_expect_eq(keyring_key_count(ring), 0);
    cr_expect_not(counts("old", old_key));
    helper_remove_folder(path);
    reload(false);
    cr_expect_eq(keyring_key_count(ring), 0);
}

Test(keyring, short_reads_are_continued)
{
    put("old.pem", old_key);
    failing_read_short(7);
    read_whole();
    failing_read_short(0);
    cr_expect(counts("old", old_key));
    failing_read_arm(1);
    expect_refused("/old.pem: Input/output error");
}

Test(keyring, every_failing_allocation_is_an_error)
{
    unsigned n = 1;

    put("old.pem", old_key);
    put("new.pem", new_key);
    helper_write(path, "third.pem", STR("nonsense"));
    cr_assert_eq(unlink(helper_text(&arena, "%s/third.pem", path).ptr), 0);
    read_whole();
    helper_write(path, "third.pem", STR("nonsense"));
    for (;; n++) {
        struct arena scratch = {0};
        struct keyring *next = NULL;
        struct keyring_report report = {0};
        int r = 0;

        failing_alloc_arm(n);
        r = keyring_reload(ring, path, &scratch, &next, &report);
        if (!failing_alloc_failed()) {
            cr_expect_eq(r, 0);
            keyring_unref(next);
            arena_release(&scratch);
            break;
        }
        cr_expect_eq(r, -ENOMEM, "allocation %u", n);
        cr_expect_null(next);
        arena_release(&scratch);
    }
    cr_expect_gt(n, 8);
}
