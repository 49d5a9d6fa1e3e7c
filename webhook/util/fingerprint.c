/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/util/fingerprint.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* FNV-1a, 64 bits: against accidents, not against whoever can write the folder. */
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

/* One path's own part. Entries of a folder are summed, so that their order does not matter. */
static uint64_t path_hash(struct fingerprint *fingerprint, const char *path, time_t now,
                          unsigned depth);

static uint64_t folder_hash(struct fingerprint *fingerprint, const char *path, time_t now,
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
            sum += path_hash(fingerprint, inner, now, depth + 1);
    }
    (void)closedir(dir);
    return sum;
}

static uint64_t path_hash(struct fingerprint *fingerprint, const char *path, time_t now,
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
    /* a time far ahead is a wrong clock, not a write of this moment */
    if (status.st_ctim.tv_sec >= now - FINGERPRINT_UNSETTLED_SEC &&
        status.st_ctim.tv_sec <= now + FINGERPRINT_UNSETTLED_SEC)
        fingerprint->unsettled = true;
    if (S_ISDIR(status.st_mode) && depth < FINGERPRINT_MAX_DEPTH)
        hash = hash_number(hash, folder_hash(fingerprint, path, now, depth));
    return hash;
}

void fingerprint_add(struct fingerprint *fingerprint, const char *path, time_t now)
{
    if (path != NULL)
        fingerprint->value = hash_number(fingerprint->value, path_hash(fingerprint, path, now, 0));
}

bool fingerprint_same(struct fingerprint a, struct fingerprint b)
{
    return a.value == b.value && !a.unsettled && !b.unsettled;
}
