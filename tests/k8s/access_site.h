/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_ACCESS_SITE_H
#define TESTS_K8S_ACCESS_SITE_H

/* access_site - for tests of access: an empty environment, and a temporary home directory. */

#include "k8s/access/access.h"

struct access_site {
    struct arena arena;
    char *folder;
};

extern struct access_site home;

void access_begin(void);
void access_done(void);

/* All fields that are set, in one line. */
const char *access_shown(const struct access *access);
/* Replaces each `@` by the directory. */
const char *with_directory(const char *text);
/* Expects this result of access_from_kubeconfig(), and the fields or the reason. */
void expect_access(const struct access_choice *choice, int result, const char *text);
/* A kubeconfig with the context c, of the cluster k and the user u. */
void write_config(const char *name, const char *cluster, const char *user);

#endif
