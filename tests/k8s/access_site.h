/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_ACCESS_SITE_H
#define TESTS_K8S_ACCESS_SITE_H

/* What tests of access share: an environment without anything, and a folder that is home. */

#include "k8s/access/access.h"

struct access_site {
    struct arena arena;
    char *folder;
};

extern struct access_site site;

void access_begin(void);
void access_done(void);

/* Everything that is there, in one line. */
const char *access_shown(const struct access *access);
/* `@` stands for the folder. */
const char *in_place(const char *text);
/* What access_from_kubeconfig() gives: its result, and what is there, or the reason. */
void expect_access(const struct access_choice *choice, int result, const char *text);
/* A kubeconfig with the context c, of the cluster k and the user u. */
void write_config(const char *name, const char *cluster, const char *user);

#endif
