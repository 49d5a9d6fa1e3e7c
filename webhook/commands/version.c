/* SPDX-License-Identifier: Apache-2.0 */
/* version - `sandgate version`: prints version, contracts, libraries and features. */

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdio.h>
#include <yaml.h>

#include "planner/base/arena.h"
#include "planner/base/text.h"
#include "webhook/cli/known.h"
#include "webhook/cli/output.h"
#include "webhook/commands/commands.h"

static const char *const version_contracts[] = {
    "runx.hardening.v1",
    "sandbox.runx.dev/v1",
    "admission.k8s.io/v1",
};

static const char *const version_features[] = {
    "source-cluster", "source-directory", "ed25519", "ecdsa-p256",
    "ecdsa-p384",     "rsa-pkcs1",        "rsa-pss",
};

struct version_library {
    const char *name;
    const char *version;
};

enum { LIBRARY_COUNT = 5 };

static void get_libraries(struct version_library ret_libraries[static LIBRARY_COUNT])
{
    ret_libraries[0] = (struct version_library){"cJSON", cJSON_Version()};
    ret_libraries[1] = (struct version_library){"GnuTLS", gnutls_check_version(NULL)};
    ret_libraries[2] =
        (struct version_library){"libcurl", curl_version_info(CURLVERSION_NOW)->version};
    ret_libraries[3] = (struct version_library){"libmicrohttpd", MHD_get_version()};
    ret_libraries[4] = (struct version_library){"libyaml", yaml_get_version_string()};
}

static void print_list(const char *const *items, size_t count, const char *before,
                       const char *between, const char *after)
{
    for (size_t i = 0; i < count; i++)
        printf("%s%s%s%s", i > 0 ? between : "", before, items[i], after);
}

static void print_table(const struct version_library *libraries)
{
    printf("sandgate   %s\ncontracts  ", SANDGATE_VERSION);
    print_list(version_contracts, sizeof(version_contracts) / sizeof(version_contracts[0]), "",
               ", ", "");
    printf("\nlibraries  ");
    for (size_t i = 0; i < LIBRARY_COUNT; i++)
        printf("%s%s %s", i > 0 ? ", " : "", libraries[i].name, libraries[i].version);
    printf("\nfeatures   ");
    print_list(version_features, sizeof(version_features) / sizeof(version_features[0]), "", ", ",
               "");
    printf("\n");
}

/* No escapes are needed: every text is ASCII without quotes (our constants, and version numbers).
 */
static void print_json(const struct version_library *libraries)
{
    printf("{\"version\":\"%s\",\"contracts\":[", SANDGATE_VERSION);
    print_list(version_contracts, sizeof(version_contracts) / sizeof(version_contracts[0]), "\"",
               ",", "\"");
    printf("],\"libraries\":{");
    for (size_t i = 0; i < LIBRARY_COUNT; i++)
        printf("%s\"%s\":\"%s\"", i > 0 ? "," : "", libraries[i].name, libraries[i].version);
    printf("},\"features\":[");
    print_list(version_features, sizeof(version_features) / sizeof(version_features[0]), "\"", ",",
               "\"");
    printf("]}\n");
}

static int run(int argc, char **argv)
{
    static const char *const outputs[] = {"table", "json", NULL};
    unsigned output = 0;
    const struct option_row rows[] = {
        option_output(outputs, "output format (default: table)", &output),
    };
    const struct options options = {
        .arguments = "",
        .about = "Prints the version of this program, the contracts that it implements, the "
                 "libraries that it\n"
                 "uses, and its features.",
        .statuses = "  0  printed\n"
                    "  2  an option is wrong",
        .example = "  sandgate version\n"
                   "  sandgate version --output json",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
    };
    struct arena cleanup_arena arena = {0};
    struct version_library libraries[LIBRARY_COUNT];
    struct operands operands = {0};
    enum options_result result = OPTIONS_WRONG;

    result = options_read(&options, argc, argv, &arena, &operands);
    if (result != OPTIONS_READ)
        return options_status(result);
    if (operands.count > 0)
        return options_refuse(argv[0], "unexpected argument %s", operands.items[0]);
    get_libraries(libraries);
    if (output == 1)
        print_json(libraries);
    else
        print_table(libraries);
    return COMMAND_YES;
}

const struct command command_version = {
    .name = "version",
    .summary = "print version, contracts, libraries and features",
    .run = run,
};
