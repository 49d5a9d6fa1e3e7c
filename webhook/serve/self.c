/* SPDX-License-Identifier: Apache-2.0 */
/* self - starts the thread that makes certificates, and hands them to the server. See self.h. */

#include "webhook/serve/self.h"

#include <errno.h>
#include <time.h>

#include "k8s/access/access.h"
#include "k8s/util/clock.h"

int serve_self_open(struct serve_self *self, const struct config *config, struct arena *arena,
                    struct str *reterr_reason)
{
    const struct access_choice choice = {.kubeconfig = config->kubeconfig};
    struct access access = {0};
    int r = 0;

    if (config->self.secret.len == 0)
        return 0;
    r = access_find(&choice, arena, &access, reterr_reason);
    if (r == 0 && access.insecure) {
        *reterr_reason = STR("tls.self.secret: private keys are not sent to an API server whose "
                             "certificate is not checked; remove insecure-skip-tls-verify from "
                             "the kubeconfig");
        r = -EINVAL;
    }
    if (r == 0)
        r = api_new(&access, arena, &self->api, reterr_reason);
    self->on = r == 0;
    return r;
}

int serve_self_start(struct serve_self *self, const struct config *config, const struct log *log)
{
    return self->on ? self_tls_start(self->api, config, log, &self->tls) : 0;
}

void serve_self_end(struct serve_self *self)
{
    if (self->tls != NULL)
        self_tls_end(self->tls);
}

void serve_self_done(struct serve_self *self)
{
    self_tls_free(self->tls);
    api_free(self->api);
    *self = (struct serve_self){0};
}

int serve_self_files(struct serve_self *self, struct arena *arena, struct tls_files *ret_files)
{
    struct certificate_pair pair = {0};
    int r = -ENOENT;

    if (!self->on)
        return 0;
    if (self->tls != NULL)
        r = self_tls_take(self->tls, arena, &pair, &self->taken);
    if (r == -ENOENT)
        r = self_tls_make_temporary(clock_unix_sec(), arena, &pair);
    if (r < 0)
        return r;
    ret_files->certificate_pem = pair.certificate;
    ret_files->key_pem = pair.key;
    return 0;
}

void serve_self_served(struct serve_self *self)
{
    if (self->tls == NULL)
        return;
    self->served = self->taken;
    self_tls_served(self->tls, self->served);
}

bool serve_self_is_fresh(const struct serve_self *self)
{
    return self->tls != NULL && self_tls_generation(self->tls) != self->served;
}

bool serve_self_is_on(const struct serve_self *self)
{
    return self->on;
}

bool serve_self_has_certificate(const struct serve_self *self)
{
    return self->served > 0;
}

const char *serve_self_why(const struct serve_self *self)
{
    return self->tls != NULL ? self_tls_why(self->tls) : NULL;
}

const char *serve_self_failure(const struct serve_self *self)
{
    return self->tls != NULL ? self_tls_failure(self->tls) : NULL;
}

void serve_self_reconcile(struct serve_self *self)
{
    if (self->tls != NULL)
        self_tls_reconcile(self->tls);
}

void serve_self_set_config(struct serve_self *self, const struct config *config,
                           const struct log *log)
{
    if ((config->self.secret.len > 0) != self->on)
        log_line(log, LOG_LEVEL_WARN,
                 "tls.self.secret was added or removed: this takes effect at the next start");
    else if (self->tls != NULL)
        self_tls_set_config(self->tls, config);
}
