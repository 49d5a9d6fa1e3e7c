/* SPDX-License-Identifier: Apache-2.0 */
/* replay - runs a fuzz target on the files of the given directories, so that ctest replays a corpus
 * with every compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLAY_MAX_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rbe");
    uint8_t *bytes = malloc(REPLAY_MAX_BYTES);
    size_t n = 0;
    int r = -1;

    if (f != NULL && bytes != NULL) {
        n = fread(bytes, 1, REPLAY_MAX_BYTES, f);
        if (!ferror(f)) {
            /* a block of exactly this size, so that AddressSanitizer reports a read past its end */
            uint8_t *exact = malloc(n > 0 ? n : 1);

            if (exact != NULL) {
                for (size_t i = 0; i < n; i++)
                    exact[i] = bytes[i];
                (void)LLVMFuzzerTestOneInput(exact, n);
                free(exact);
                r = 0;
            }
        }
    }
    if (r != 0)
        fprintf(stderr, "%s: cannot be replayed\n", path);
    if (f != NULL)
        (void)fclose(f);
    free(bytes);
    return r;
}

int main(int argc, char **argv)
{
    size_t count = 0;

    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        struct dirent *entry = NULL;

        if (dir == NULL) {
            perror(argv[i]);
            return EXIT_FAILURE;
        }
        while ((entry = readdir(dir)) != NULL) {
            char path[4096];
            int n = snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);

            if (entry->d_name[0] == '.')
                continue;
            if (n < 0 || (size_t)n >= sizeof(path) || replay_file(path) != 0) {
                (void)closedir(dir);
                return EXIT_FAILURE;
            }
            count++;
        }
        (void)closedir(dir);
    }
    printf("%zu inputs replayed\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
