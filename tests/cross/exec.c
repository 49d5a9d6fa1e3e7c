/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec - starts the program itself again under the emulator that runs it.
 *
 * criterion starts its program again for each test. Linux cannot start a program of another
 * architecture, and qemu-aarch64 does not add itself. Linked into each criterion program that is
 * cross-compiled; other programs are started as before.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* EMULATOR is a list of texts: the emulator and its options. */
__attribute__((visibility("default"))) /* libcriterion calls it */
int execve(const char *path, char *const argv[], char *const envp[])
{
    static const char *const emulator[] = {EMULATOR, "-0"};
    enum { OWN = sizeof(emulator) / sizeof(emulator[0]), MORE = 16 };
    const char *words[OWN + 2 + MORE] = {NULL};
    char self[PATH_MAX] = "";
    size_t n = 0;

    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || strcmp(path, self) != 0)
        return (int)syscall(SYS_execve, path, argv, envp);
    for (n = 0; n < OWN; n++)
        words[n] = emulator[n];
    words[n++] = argv[0];
    words[n++] = path;
    for (size_t i = 1; argv[i] != NULL; i++) {
        if (i == MORE) {
            errno = E2BIG;
            return -1;
        }
        words[n++] = argv[i];
    }
    return (int)syscall(SYS_execve, words[0], words, envp);
}
