/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint - hashes the file status of directory trees.
 */

#include "webhook/util/fingerprint.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* FNV-1a, 64 bits. Not collision-resistant: anyone who can write the files can change them anyway.
 */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ p[i]) * HASH_PRIME;
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return hash_bytes(hash, &number, sizeof(number));
}

static uint64_t path_hash(struct fingerprint *fingerprint, const char *path, time_t now_sec,
                          unsigned depth);

/* The hashes of the entries are added up, so that the order of readdir() does not matter. */
static uint64_t directory_hash(struct fingerprint *fingerprint, const char *path, time_t now_sec,
                               unsigned depth)
{
    DIR *dir = opendir(path);
    struct dirent *entry = NULL;
    uint64_t sum = 0;

    if (dir == NULL)
        return (uint64_t)errno;
    while ((entry = readdir(dir)) != NULL) {
        char inner[PATH_MAX];
        int n = 0;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        n = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        if (n > 0 && (size_t)n < sizeof(inner))
            sum += path_hash(fingerprint, inner, now_sec, depth + 1);
    }
    (void)closedir(dir);
    return sum;
}

static uint64_t path_hash(struct fingerprint *fingerprint, const char *path, time_t now_sec,
                          unsigned depth)
{
    uint64_t hash = hash_bytes(HASH_START, path, strlen(path));
    struct stat status;

    if (stat(path, &status) != 0)
        return hash_number(hash, (uint64_t)errno);
    hash = hash_number(hash, (uint64_t)status.st_dev);
    hash = hash_number(hash, (uint64_t)status.st_ino);
    hash = hash_number(hash, (uint64_t)status.st_size);
    hash = hash_number(hash, (uint64_t)status.st_mode);
    hash = hash_number(hash, (uint64_t)status.st_mtim.tv_sec);
    hash = hash_number(hash, (uint64_t)status.st_mtim.tv_nsec);
    hash = hash_number(hash, (uint64_t)status.st_ctim.tv_sec);
    hash = hash_number(hash, (uint64_t)status.st_ctim.tv_nsec);
    /* a time far in the future means a wrong clock, not a write just now */
    if (status.st_ctim.tv_sec >= now_sec - FINGERPRINT_UNSETTLED_SEC &&
        status.st_ctim.tv_sec <= now_sec + FINGERPRINT_UNSETTLED_SEC)
        fingerprint->unsettled = true;
    if (S_ISDIR(status.st_mode) && depth < FINGERPRINT_MAX_DEPTH)
        hash = hash_number(hash, directory_hash(fingerprint, path, now_sec, depth));
    return hash;
}

void fingerprint_add(struct fingerprint *fingerprint, const char *path, time_t now_sec)
{
    if (path != NULL)
        fingerprint->value =
            hash_number(fingerprint->value, path_hash(fingerprint, path, now_sec, 0));
}

bool fingerprint_same(struct fingerprint a, struct fingerprint b)
{
    return a.value == b.value && !a.unsettled && !b.unsettled;
}
