/* SPDX-License-Identifier: Apache-2.0 */
/* self_site - replicas of a gate with one fake API server, and clocks that tests set. */
#include "self_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct str site_name = STR_INIT("gate.sandgate-system.svc");

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "self_site: %s\n", what);
    abort();
}

void site_restart(struct site *site, size_t replica)
{
    self_replica_done(&site->replicas[replica]);
    site->replicas[replica] = (struct self_replica){
        .api = fake_api(&site->fake),
        .log = &site->log,
        .jitter = (unsigned)replica * SELF_FULL_JITTER / SITE_REPLICAS,
        .why = SELF_STARTING,
    };
}

void site_open(struct site *site)
{
    char path[] = "/tmp/sandgate-self-XXXXXX";
    int fd = mkstemp(path);

    must(fd >= 0 && unlink(path) == 0, "no log");
    *site = (struct site){
        .log = {.fd = fd, .level = LOG_LEVEL_DEBUG}, .now_sec = SITE_START_SEC, .now_msec = 1000};
    fake_init(&site->fake);
    must(config_defaults(&site->config) == 0, "no configuration");
    site->config->self = (struct config_self){
        .secret = STR("gate-tls"),
        .webhook_configuration = STR("gate"),
        .dns_names = {.items = &site_name, .count = 1},
        .ca_days = 90,
        .certificate_days = 9,
    };
    for (size_t i = 0; i < SITE_REPLICAS; i++)
        site_restart(site, i);
}

void site_done(struct site *site)
{
    for (size_t i = 0; i < SITE_REPLICAS; i++)
        self_replica_done(&site->replicas[i]);
    config_unref(site->config);
    fake_done(&site->fake);
    (void)close(site->log.fd);
}

void site_reconcile(struct site *site, size_t replica)
{
    self_reconcile(&site->replicas[replica], site->config, site->now_sec + site->skew_sec[replica],
                   site->now_msec);
}

void site_live(struct site *site, int64_t seconds, int64_t step_sec)
{
    for (int64_t end_sec = site->now_sec + seconds; site->now_sec < end_sec;) {
        site->now_sec += step_sec;
        site->now_msec += (uint64_t)step_sec * 1000;
        for (size_t i = 0; i < SITE_REPLICAS; i++)
            site_reconcile(site, i);
    }
}

void site_set_names(struct site *site, const struct str_list *names)
{
    site->config->self.dns_names = *names;
}

struct str site_log(const struct site *site, struct arena *arena)
{
    struct stat status = {0};
    char *text = NULL;
    ssize_t got = 0;

    must(fstat(site->log.fd, &status) == 0, "no log");
    text = arena_alloc(arena, (size_t)status.st_size + 1, 1);
    must(text != NULL, "out of memory");
    got = pread(site->log.fd, text, (size_t)status.st_size, 0);
    must(got == status.st_size, "the log cannot be read");
    return (struct str){.ptr = text, .len = (size_t)got};
}

bool site_covers(const struct site *site, const struct certificate_id *ca)
{
    struct arena cleanup_arena arena = {0};
    bool covers = true;

    for (size_t i = 0; i < FAKE_WEBHOOKS && covers; i++) {
        struct certificate_bundle bundle = fake_bundle(&site->fake, i, &arena);

        covers = certificate_find(&bundle, ca) != NULL;
    }
    return covers;
}
