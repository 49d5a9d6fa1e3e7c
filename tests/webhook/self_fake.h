/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SELF_FAKE_H
#define TESTS_SELF_FAKE_H

/*
 * self_fake - an API server of two objects, a Secret and a ValidatingWebhookConfiguration, in the
 * place of k8s/api: link with --wrap=api_do,--wrap=api_encode.
 */

#include <pthread.h>

#include "k8s/api/api.h"
#include "webhook/tls/certificate.h"

#define FAKE_KEYS 8
#define FAKE_WEBHOOKS 2

struct fake {
    pthread_mutex_t lock;
    struct {
        char key[32];
        char *value; /* base64; NULL: free place */
    } data[FAKE_KEYS];
    char *bundle[FAKE_WEBHOOKS]; /* base64; NULL: no caBundle */
    unsigned secret_version;
    unsigned webhooks_version;

    /* What goes wrong. */
    int away;                      /* negative errno of every call; 0: it is there */
    int status[API_DELETE + 1][2]; /* of a method, on Secret and webhooks; 0: fine */
    int lose;                      /* so many patches are done and their answers lost */
    void (*between)(struct fake *fake, bool webhooks); /* once, before a patch is looked at */
    unsigned conflicts;                                /* how many patches came too late */
    unsigned writes;                                   /* patches of the Secret that were done */
};

void fake_init(struct fake *fake);
void fake_done(struct fake *fake);
/* The text of a key, decoded, in the arena; empty where it is not there. */
struct str fake_get(const struct fake *fake, const char *key, struct arena *arena);
void fake_set(struct fake *fake, const char *key, struct str text);
void fake_empty_secret(struct fake *fake);
void fake_wipe_bundles(struct fake *fake);
struct certificate_bundle fake_bundle(const struct fake *fake, size_t index, struct arena *arena);

static inline struct api *fake_api(struct fake *fake)
{
    return (struct api *)(void *)fake;
}

#endif
