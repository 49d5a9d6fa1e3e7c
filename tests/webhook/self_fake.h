/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SELF_FAKE_H
#define TESTS_SELF_FAKE_H

/*
 * self_fake - an API server with two objects, a Secret and a ValidatingWebhookConfiguration. It
 * replaces k8s/api if the program is linked with --wrap=api_do.
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
        char *value; /* base64; NULL: unused entry */
    } data[FAKE_KEYS];
    char *bundle[FAKE_WEBHOOKS]; /* base64; NULL: no caBundle */
    unsigned secret_version;
    unsigned webhooks_version;

    /* Errors, chosen by the test. */
    int away; /* negative errno of every call; 0: reachable */
    int status[API_DELETE + 1]
              [2]; /* status of a method on the Secret and on the webhooks; 0: no error */
    int lose;      /* number of patches that are applied but whose answers are lost */
    void (*between)(struct fake *fake, bool webhooks); /* called once before a patch is handled */
    unsigned conflicts; /* number of patches with an outdated version */
    unsigned writes;    /* number of applied patches of the Secret */
};

void fake_init(struct fake *fake);
void fake_done(struct fake *fake);
/* The decoded text of a key of the Secret, in the arena. Empty if the key is missing. */
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
