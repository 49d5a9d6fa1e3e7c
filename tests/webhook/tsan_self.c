/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsan_self - self_tls with many threads that use it while certificates and the configuration
 * change, and while it is freed. For ThreadSanitizer.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "self_fake.h"
#include "webhook/selfcert/thread.h"

#define CALLERS 4
#define ROUNDS 40

static const struct str name = STR_INIT("gate.svc"), other = STR_INIT("other.svc");
static _Atomic bool stop;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "tsan_self: %s\n", what);
    abort();
}

static void pause_msec(long msec)
{
    const struct timespec time = {.tv_nsec = msec * 1000000};

    (void)nanosleep(&time, NULL);
}

static void *call(void *self)
{
    while (!atomic_load(&stop)) {
        struct arena cleanup_arena_wiped arena = {0};
        struct certificate_pair pair = {0};
        uint64_t generation = 0;
        int r = self_tls_take(self, &arena, &pair, &generation);

        must(r == 0 || r == -ENOENT, "no certificate");
        must(r != 0 || certificate_has_key(pair.certificate, pair.key), "halves of two");
        if (r == 0)
            self_tls_served(self, generation);
        (void)self_tls_why(self);
        (void)self_tls_generation(self);
        pause_msec(1);
    }
    return NULL;
}

static struct config *make_config(const struct str *dns_name)
{
    struct config *config = NULL;

    must(config_defaults(&config) == 0, "no configuration");
    config->self.secret = STR("gate-tls");
    config->self.webhook_configuration = STR("gate");
    config->self.dns_names = (struct str_list){.items = dns_name, .count = 1};
    return config;
}

int main(void)
{
    struct log log = {.fd = STDERR_FILENO, .level = LOG_LEVEL_ERROR};
    struct config *configs[] = {make_config(&name), make_config(&other)};
    pthread_t callers[CALLERS];
    struct self_tls *self = NULL;
    struct fake fake;

    fake_init(&fake);
    must(self_tls_start(fake_api(&fake), configs[0], &log, &self) == 0, "no thread");
    for (size_t i = 0; i < CALLERS; i++)
        must(pthread_create(&callers[i], NULL, call, self) == 0, "no caller");
    for (size_t i = 0; i < ROUNDS; i++) {
        self_tls_set_config(self, configs[i % 2]);
        self_tls_reconcile(self);
        pause_msec(20);
    }
    while (self_tls_why(self) != NULL)
        pause_msec(10);
    self_tls_end(self);
    atomic_store(&stop, true);
    for (size_t i = 0; i < CALLERS; i++)
        (void)pthread_join(callers[i], NULL);
    must(self_tls_generation(self) >= 2, "nothing changed");
    self_tls_free(self);
    self_tls_free(NULL);
    for (size_t i = 0; i < 2; i++)
        config_unref(configs[i]);
    fake_done(&fake);
    return 0;
}
