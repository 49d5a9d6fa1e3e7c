/* SPDX-License-Identifier: Apache-2.0 */
/* sign - `sandgate sign`: signs an evidence document and writes the ConfigMap. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "k8s/document/manifest.h"
#include "k8s/evidence/evidence.h"
#include "k8s/folder/folder.h"
#include "k8s/util/base64.h"
#include "k8s/util/dns_name.h"
#include "k8s/util/file.h"
#include "planner/base/tree.h"
#include "webhook/cli/options.h"
#include "webhook/cli/output.h"
#include "webhook/cli/passphrase.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/configmap.h"
#include "webhook/commands/sign_manifest.h"
#include "webhook/commands/sign_target.h"
#include "webhook/commands/signer.h"
#include "webhook/util/input.h"

/* The values of the options. */
struct sign_line {
    const char *file;
    const char *key;
    const char *key_id;
    const char *name;
    const char *namespace_name;
    const char *output;
    const char *passphrase_file;
    const char *passphrase_environment;
};

static const char sign_about[] =
    "Signs one evidence document, or the document in a ConfigMap, and writes the ConfigMap with\n"
    "its signatures. The document must be valid evidence; its bytes are not changed.";

static const char sign_examples[] =
    "  sandgate sign --key release-2026.pem sandbox.yaml >evidence/report.yaml\n"
    "  sandgate sign -k key.pem --key-id release-2026 --name report -n payments sandbox.yaml\n"
    "  sandgate sign -k ci.pem --passphrase-env SIGN_PASSPHRASE -o report.yaml report.yaml\n"
    "  sandgate sign -k security-2026.pem --passphrase-file passphrase exemption.yaml";

static enum options_result read_arguments(struct sign_line *line, int argc, char **argv,
                                          struct arena *arena, struct operands *ret_operands)
{
    const struct option_row rows[] = {
        {.name = "key",
         .letter = 'k',
         .kind = OPTION_TEXT,
         .value = "FILE",
         .help = "private key, PKCS#8 PEM, encrypted or not",
         .target.text = &line->key},
        {.name = "key-id",
         .kind = OPTION_TEXT,
         .value = "ID",
         .help = "id of the public key in the keyring (default: from KEY)",
         .target.text = &line->key_id},
        {.name = "name",
         .kind = OPTION_TEXT,
         .value = "NAME",
         .help = "name of the ConfigMap (default: from the workload)",
         .target.text = &line->name},
        {.name = "namespace",
         .letter = 'n',
         .kind = OPTION_TEXT,
         .value = "NAME",
         .help = "namespace of the ConfigMap (default: none)",
         .target.text = &line->namespace_name},
        {.name = "passphrase-file",
         .kind = OPTION_TEXT,
         .value = "FILE",
         .help = "file whose first line is the passphrase of the key",
         .target.text = &line->passphrase_file},
        {.name = "passphrase-env",
         .kind = OPTION_TEXT,
         .value = "NAME",
         .help = "environment variable with the passphrase of the key",
         .target.text = &line->passphrase_environment},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = "FILE",
         .help = "write to this file, atomically (default: stdout)",
         .target.text = &line->output},
    };
    const struct options options = {
        .arguments = "--key KEY.pem FILE",
        .about = sign_about,
        .statuses = "  0  the document is signed\n"
                    "  2  the key or the document cannot be read or is not valid, or an option is\n"
                    "     wrong",
        .example = sign_examples,
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };

    return options_read(&options, argc, argv, arena, ret_operands);
}

static int get_passphrase(const struct sign_line *line, struct passphrase *passphrase)
{
    if (line->passphrase_file != NULL)
        return passphrase_read_file(line->passphrase_file, passphrase);
    if (line->passphrase_environment != NULL)
        return passphrase_read_environment(line->passphrase_environment, passphrase);
    return passphrase_ask(line->key, passphrase);
}

/* Reads the key. Its text and the passphrase are wiped from memory afterwards. */
static int read_key(const struct sign_line *line, struct signer **ret_signer)
{
    cleanup_passphrase struct passphrase passphrase = {0};
    struct arena cleanup_arena_wiped arena = {0};
    const char *what = "the crypto library failed";
    struct str pem = {0};
    bool encrypted = false;
    int r = input_read_file(line->key, SIGNER_MAX_KEY_BYTES, &arena, &pem);

    if (r != 0) {
        output_error("%s: %s", line->key, file_error_text(r));
        return r;
    }
    encrypted = signer_needs_passphrase(pem);
    if (encrypted)
        r = get_passphrase(line, &passphrase);
    if (r == 0) {
        r = signer_read(pem, encrypted ? passphrase.text : NULL, ret_signer, &what);
        if (r != 0)
            output_error("%s: %s", line->key, r == -ENOMEM ? "out of memory" : what);
    }
    return r;
}

/* `keys/release-2026.pem` gives `release-2026`. */
static struct str id_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct str id = str_of(slash != NULL ? slash + 1 : path);
    static const char *const endings[] = {".pem", ".key"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t n = strlen(endings[i]);

        if (id.len > n && strcmp(id.ptr + id.len - n, endings[i]) == 0)
            return (struct str){.ptr = id.ptr, .len = id.len - n};
    }
    return id;
}

static int write_output(const char *path, struct str text, struct arena *arena)
{
    struct str temporary = {0};
    int fd = -1;
    FILE *stream = NULL;
    bool written = false;

    if (path == NULL || strcmp(path, "-") == 0) {
        (void)fwrite(text.ptr, 1, text.len, stdout);
        return COMMAND_YES; /* main() looks at standard output */
    }
    /* rename() makes the whole file appear at once: a gate that reads the directory at this moment
     * must not see a part of it */
    temporary = arena_format(arena, "%s.%ld.tmp", path, (long)getpid());
    if (str_present(temporary))
        fd = open(temporary.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (stream != NULL) {
        written = fwrite(text.ptr, 1, text.len, stream) == text.len;
        written &= fclose(stream) == 0;
        written = written && rename(temporary.ptr, path) == 0;
    }
    if (written)
        return COMMAND_YES;
    output_error("%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)unlink(temporary.ptr);
    return COMMAND_FAILED;
}

static int sign_document(const struct sign_line *line, const struct sign_target *target,
                         const struct signer *signer, struct arena *arena)
{
    struct sign_manifest manifest = {
        .existing = target->configmap,
        .name = target->name,
        .namespace_name = str_of(line->namespace_name),
        .key_id = line->key_id != NULL ? str_of(line->key_id) : id_of_file(line->key),
        .document = target->document,
    };
    const char *what = "the crypto library failed";
    struct str signature = {0};
    struct str text = {0};
    int r = signer_sign(signer, target->document, arena, &signature, &what);

    if (r != 0) {
        output_error("%s: %s", line->key, what);
        return COMMAND_FAILED;
    }
    r = base64_encode(signature, arena, &manifest.signature);
    if (r == 0)
        r = sign_target_judge(target, signer, &manifest, arena);
    if (r == -EINVAL)
        return COMMAND_FAILED; /* the reason is reported */
    if (r == 0)
        r = sign_manifest_write(&manifest, arena, &text);
    if (r != 0) {
        output_error("%s: %s", line->file,
                     r == -EINVAL ? "no manifest can hold these bytes unchanged" : strerror(-r));
        return COMMAND_FAILED;
    }
    return write_output(line->output, text, arena);
}

/* Errors that can be found before any file is opened. */
static int check_arguments(const struct sign_line *line, const char *command)
{
    struct str id = {0};

    if (line->passphrase_file != NULL && line->passphrase_environment != NULL)
        return options_refuse(command,
                              "--passphrase-file cannot be combined with --passphrase-env");
    id = line->key_id != NULL ? str_of(line->key_id) : id_of_file(line->key);
    if (!keyring_is_id(id))
        return options_refuse(command, "the key id must be 1 to 63 letters, digits, `-`, `_` or "
                                       "`.`, with a letter or digit at both ends; use --key-id");
    if (line->name != NULL && !dns_is_subdomain(str_of(line->name), DNS_SUBDOMAIN_MAX_BYTES))
        return options_refuse(command, "--name must be lower-case letters, digits, `-` and `.`");
    if (line->namespace_name != NULL && !dns_is_label(str_of(line->namespace_name)))
        return options_refuse(command, "--namespace must be lower-case letters, digits and `-`");
    return COMMAND_YES;
}

static int run(int argc, char **argv)
{
    cleanup_signer struct signer *signer = NULL;
    struct arena cleanup_arena arena = {0};
    struct sign_line line = {0};
    struct operands operands = {0};
    struct sign_target target = {0};
    enum options_result result = read_arguments(&line, argc, argv, &arena, &operands);

    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count != 1)
        return options_refuse(argv[0], "one FILE is needed, or - for standard input");
    if (line.key == NULL)
        return options_refuse(argv[0], "--key FILE is needed");
    line.file = operands.items[0];
    if (check_arguments(&line, argv[0]) != COMMAND_YES)
        return COMMAND_FAILED;
    /* the document first, so that the passphrase is not asked for in vain */
    if (sign_target_read(line.file, line.name, &arena, &target) != 0 ||
        read_key(&line, &signer) != 0)
        return COMMAND_FAILED;
    return sign_document(&line, &target, signer, &arena);
}

const struct command command_sign = {
    .name = "sign",
    .summary = "sign an evidence document",
    .run = run,
};
