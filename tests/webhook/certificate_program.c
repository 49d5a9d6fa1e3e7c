/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate_program FOLDER NAME… - writes two CAs, and a certificate of the first CA for these
 * names, into a directory.
 */
#include <stdio.h>
#include <time.h>

#include "webhook/tls/certificate.h"

#define DAYS 30

static bool save(const char *folder, const char *name, struct str text)
{
    char path[512];
    FILE *file = NULL;
    bool done = false;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "we");
    if (file == NULL)
        return false;
    done = fwrite(text.ptr, 1, text.len, file) == text.len;
    return fclose(file) == 0 && done;
}

int main(int argc, char **argv)
{
    struct arena cleanup_arena_wiped arena = {0};
    struct str names[CERTIFICATE_MAX_NAMES];
    struct str_list list = {.items = names, .count = 0};
    struct certificate_pair ca = {0}, other = {0}, serving = {0};
    int64_t now_sec = time(NULL);

    for (int i = 2; i < argc && list.count < CERTIFICATE_MAX_NAMES; i++)
        names[list.count++] = str_of(argv[i]);
    if (argc < 3 || certificate_make_ca(now_sec, 3 * DAYS, &arena, &ca) < 0 ||
        certificate_make_ca(now_sec, 3 * DAYS, &arena, &other) < 0 ||
        certificate_make_serving(&ca, &list, now_sec, DAYS, &arena, &serving) < 0)
        return 1;
    return save(argv[1], "ca.crt", ca.certificate) && save(argv[1], "ca.key", ca.key) &&
                   save(argv[1], "other.crt", other.certificate) &&
                   save(argv[1], "tls.crt", serving.certificate) &&
                   save(argv[1], "tls.key", serving.key)
               ? 0
               : 1;
}
