/* SPDX-License-Identifier: Apache-2.0 */
/* verify - `sandgate verify`: checks the signatures of evidence in manifests. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "k8s/document/manifest.h"
#include "k8s/folder/folder.h"
#include "k8s/policy/names.h"
#include "k8s/util/file.h"
#include "planner/base/arena.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "webhook/cli/files.h"
#include "webhook/cli/known.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"
#include "webhook/commands/configmap.h"
#include "webhook/util/input.h"

#define VERIFY_MAX_JSON_BYTES ((size_t)64 * 1024 * 1024)

enum verify_output { VERIFY_OUTPUT_TABLE = 0, VERIFY_OUTPUT_JSON };

static const char *const verify_outputs[] = {"table", "json", NULL};

struct verify {
    const struct keyring *keyring;
    struct policy policy;
    enum verify_output output;
    struct buffer json; /* the list, without its closing bracket */
    size_t valid;
    size_t invalid;
    size_t unreadable; /* files */
};

static struct str signature_text(enum signature_result result)
{
    switch (result) {
    case SIGNATURE_GOOD:
        return STR("verifies");
    case SIGNATURE_UNKNOWN_KEY:
        return STR("the keyring has no key with this id");
    case SIGNATURE_NOT_BASE64:
        return STR("the signature is not valid base64");
    case SIGNATURE_BAD:
    default:
        return STR("the signature does not match this key and document");
    }
}

/* The result for one ConfigMap. */
struct verdict {
    struct str file;
    const struct evidence_source *source;
    const struct evidence *evidence;
    bool valid;
    struct str reason; /* absent if valid */
};

static void print_key_ids(const struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->key_ids.count; i++)
        printf("%s%.*s", i > 0 ? ", " : "", (int)evidence->key_ids.items[i].len,
               evidence->key_ids.items[i].ptr);
}

static int print_signatures(const struct verify *verify, const struct evidence_source *source,
                            struct arena *arena)
{
    const cJSON *annotation = NULL;

    cJSON_ArrayForEach(annotation, source->annotations)
    {
        unsigned char identity[KEYRING_IDENTITY_BYTES];
        enum signature_result result = SIGNATURE_BAD;
        struct str id = configmap_key_id(tree_key(annotation));
        struct str why = {0};
        int r = 0;

        if (!str_present(id) || !str_present(source->document))
            continue;
        r = keyring_verify(verify->keyring, id, source->document, tree_text(annotation), &result,
                           identity);
        if (r != 0)
            return r;
        why = signature_text(result);
        id = output_visible(arena, id);
        if (!str_present(id))
            return -ENOMEM;
        printf("  %.*s: %.*s\n", (int)id.len, id.ptr, (int)why.len, why.ptr);
    }
    return 0;
}

static int print_verdict(const struct verify *verify, const struct verdict *verdict,
                         struct arena *arena)
{
    const struct evidence_source *source = verdict->source;
    struct str name =
        arena_format(arena, "%.*s: %.*s/%.*s", (int)verdict->file.len, verdict->file.ptr,
                     (int)source->namespace_name.len, source->namespace_name.ptr,
                     (int)source->name.len, str_present(source->name) ? source->name.ptr : "");

    name = str_present(name) ? output_visible(arena, name) : name;
    if (!str_present(name))
        return -ENOMEM;
    progress_hide();
    printf("%.*s: ", (int)name.len, name.ptr);
    if (verdict->valid) {
        output_print(stdout, COLOUR_GOOD, STR("valid"));
        printf(", %s, signed by ", evidence_kind_text(verdict->evidence->kind));
        print_key_ids(verdict->evidence);
        printf("\n");
    } else {
        struct str reason = output_visible(arena, verdict->reason);

        output_print(stdout, COLOUR_BAD, STR("not valid"));
        printf(": %.*s\n", (int)reason.len, str_present(reason) ? reason.ptr : "");
    }
    return print_signatures(verify, source, arena);
}

static void add_verdict(struct buffer *b, const struct verdict *verdict, bool first)
{
    const struct str_list *ids = &verdict->evidence->key_ids;

    buffer_add(b, first ? STR("{\"file\":") : STR(",{\"file\":"));
    buffer_add_json(b, verdict->file);
    buffer_add(b, STR(",\"namespace\":"));
    buffer_add_json(b, verdict->source->namespace_name);
    buffer_add(b, STR(",\"name\":"));
    buffer_add_json(b, verdict->source->name);
    buffer_add(b, verdict->valid ? STR(",\"valid\":true,\"keys\":[")
                                 : STR(",\"valid\":false,\"keys\":["));
    for (size_t i = 0; i < ids->count; i++) {
        if (i > 0)
            buffer_add_char(b, ',');
        buffer_add_json(b, ids->items[i]);
    }
    buffer_add(b, STR("],\"reason\":"));
    buffer_add_json(b, verdict->reason);
    buffer_add_char(b, '}');
}

/* Revocations and the audience are in the configuration, which this command does not read. */
static bool is_well_signed(const struct evidence *evidence)
{
    return evidence->state == EVIDENCE_VALID || evidence->state == EVIDENCE_OTHER_AUDIENCE;
}

static int check_configmap(struct verify *verify, struct str file,
                           const struct evidence_source *source, bool labelled, struct arena *arena)
{
    cleanup_evidence_ref struct evidence *evidence = NULL;
    struct verdict verdict = {.file = file, .source = source};
    int r = evidence_make(source, verify->keyring, &verify->policy, &evidence);

    if (r != 0)
        return r;
    verdict.evidence = evidence;
    verdict.valid = labelled && is_well_signed(evidence);
    if (!labelled)
        verdict.reason = STR("the label " NAMES_LABEL_EVIDENCE ": \"true\" is missing");
    else if (!verdict.valid)
        verdict.reason = evidence->reason;
    if (verify->output == VERIFY_OUTPUT_JSON)
        add_verdict(&verify->json, &verdict, verify->valid + verify->invalid == 0);
    else
        r = print_verdict(verify, &verdict, arena);
    if (verdict.valid)
        verify->valid++;
    else
        verify->invalid++;
    return r;
}

/* 0 also for a file that cannot be read: it is reported and counted. */
static int check_file(struct verify *verify, const char *file)
{
    struct arena cleanup_arena arena = {0};
    struct document_error error = {0};
    struct manifest_object object = {0};
    struct manifest manifest;
    struct str text = {0};
    int r = input_read_file(file, FOLDER_MAX_FILE_BYTES, &arena, &text);

    if (r != 0 && r != -ENOMEM) {
        output_error("%s: %s", file, file_error_text(r));
        verify->unreadable++;
        return 0;
    }
    manifest = manifest_make(text, DOCUMENT_EITHER, &arena);
    while (r == 0) {
        struct evidence_source source = {0};
        bool labelled = false;

        r = manifest_next(&manifest, &object, &error);
        if (r != 0 || object.tree == NULL)
            break;
        if (configmap_read(object.tree, &source, &labelled))
            r = check_configmap(verify, str_of(file), &source, labelled, &arena);
    }
    if (r == -EBADMSG || r == -E2BIG) {
        if (r == -EBADMSG)
            output_error_at(file, error.line, error.column, str_of(error.what));
        else
            output_error("%s: the file has too many nodes", file);
        verify->unreadable++;
        return 0;
    }
    return r;
}

static int check_files(struct verify *verify, const struct operands *operands, bool recursive,
                       struct arena *arena)
{
    struct files files = {.arena = arena};
    struct progress progress = {.what = "files"};
    int r = 0;

    for (size_t i = 0; i < operands->count; i++) {
        if (files_add(&files, operands->items[i], recursive) != 0)
            return COMMAND_FAILED;
    }
    verify->json = buffer_make(arena, VERIFY_MAX_JSON_BYTES);
    buffer_add_char(&verify->json, '[');
    progress.total = files.count;
    for (size_t i = 0; i < files.count && r == 0; i++) {
        r = check_file(verify, files.items[i]);
        progress_step(&progress);
    }
    progress_hide();
    if (r == 0 && verify->output == VERIFY_OUTPUT_JSON) {
        struct str json = {0};

        buffer_add(&verify->json, STR("]\n"));
        json = buffer_text(&verify->json);
        r = verify->json.error;
        (void)fwrite(json.ptr, 1, json.len, stdout);
    }
    if (r != 0) {
        output_error("%s", strerror(-r));
        return COMMAND_FAILED;
    }
    if (verify->valid + verify->invalid + verify->unreadable == 0) {
        output_error("no ConfigMap in these files: nothing to verify");
        return COMMAND_FAILED;
    }
    if (verify->unreadable > 0)
        return COMMAND_FAILED;
    return verify->invalid == 0 ? COMMAND_YES : COMMAND_NO;
}

static int run(int argc, char **argv)
{
    const char *keyring_directory = NULL;
    unsigned output = VERIFY_OUTPUT_TABLE;
    bool recursive = false;
    const struct option_row rows[] = {
        option_known_text(OPTION_KEYRING, &keyring_directory),
        option_known_flag(OPTION_RECURSIVE, &recursive),
        option_output(verify_outputs, "output format (default: table)", &output),
    };
    const struct options options = {
        .arguments = "--keyring DIR FILE…",
        .about = "Checks each evidence ConfigMap in the files (or directories, - for standard "
                 "input): which\n"
                 "signatures verify, and why the others do not.",
        .statuses =
            "  0  all ConfigMaps are valid\n"
            "  1  at least one is not valid\n"
            "  2  a file or the keyring cannot be read, there is no ConfigMap, or an option is\n"
            "     wrong",
        .example = "  sandgate verify --keyring keys/ evidence/\n"
                   "  sandgate verify -k keys/ --recursive --output json evidence/",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };
    cleanup_keyring_ref struct keyring *keyring = NULL;
    struct arena cleanup_arena arena = {0};
    struct operands operands = {0};
    struct verify verify = {.policy = policy_defaults()};
    struct str reason = {0};
    enum options_result result = options_read(&options, argc, argv, &arena, &operands);
    int r = 0;

    if (result != OPTIONS_READ)
        return options_status(result);
    if (keyring_directory == NULL)
        return options_refuse(argv[0], "--keyring DIR is needed");
    if (operands.count == 0)
        return options_refuse(argv[0], "a FILE is needed, or - for standard input");
    r = keyring_load(keyring_directory, &arena, &keyring, &reason);
    if (r != 0) {
        output_error("%s", str_present(reason) ? reason.ptr : strerror(-r));
        return COMMAND_FAILED;
    }
    verify.keyring = keyring;
    verify.output = (enum verify_output)output;
    return check_files(&verify, &operands, recursive, &arena);
}

const struct command command_verify = {
    .name = "verify",
    .summary = "verify the signatures of evidence",
    .run = run,
};
