/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash - a seed for hash tables whose keys are chosen by others.
 *
 * The hash itself is inline in the header: it runs once for each key of a document.
 */
#define _GNU_SOURCE /* getrandom */

#include "k8s/util/siphash.h"

#include <errno.h>
#include <sys/random.h>

int siphash_seed_make(struct siphash_seed *ret_seed)
{
    struct siphash_seed seed = {0};

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return -EIO;
    *ret_seed = seed;
    return 0;
}
