/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self - reads the mapping tls.self: certificates that the gate makes itself.
 */

#include "k8s/util/dns_name.h"
#include "planner/base/tree.h"
#include "webhook/config/section.h"
#include "webhook/tls/certificate.h"

#define MAX_CA_DAYS 36500
#define MAX_CERTIFICATE_DAYS 3650
#define CA_SHARE                                                                                   \
    3 /* a certificate authority must be valid three times as long as a certificate                \
       */

static const char *rule_dns_name(struct str item)
{
    return dns_is_host_name(item) ? NULL
                                  : "a DNS name in lower case, as in sandgate.sandgate-system.svc";
}

static void read_object_name(struct config_section *section, const char *key, struct str *ret_name)
{
    section_text(section, key, ret_name);
    if (ret_name->len > 0 && !dns_is_host_name(*ret_name))
        section_refuse(section, tree_get(section->object, key), false,
                       "%s%s must be the exact name of an object", section->name, key);
}

/* Members that are valid alone, but contradict each other. */
static void refuse_contradictions(struct config_section *tls, struct config_section *section,
                                  const struct config_self *self)
{
    const cJSON *files = tree_get(tls->object, "certificate");

    if (self->secret.len == 0) {
        if (self->webhook_configuration.len > 0)
            section_refuse(section, tree_get(section->object, "webhookConfiguration"), false,
                           "tls.self.webhookConfiguration needs tls.self.secret: without it no "
                           "certificate is made");
        return;
    }
    if (files == NULL)
        files = tree_get(tls->object, "key");
    if (files != NULL)
        section_refuse(section, files, false,
                       "tls.certificate and tls.key are not read if tls.self.secret is set: remove "
                       "them or tls.self.secret");
    if (self->dns_names.count == 0)
        section_refuse(
            section, section->object, true,
            "tls.self.secret needs tls.self.dnsNames: the names by which clients connect");
    if (self->dns_names.count > CERTIFICATE_MAX_NAMES)
        section_refuse(section, tree_get(section->object, "dnsNames"), false,
                       "tls.self.dnsNames must have at most %d names", CERTIFICATE_MAX_NAMES);
    if (self->ca_days / CA_SHARE < self->certificate_days)
        section_refuse(section, section->object, true,
                       "tls.self.caDays must be at least three times tls.self.certificateDays");
}

void section_self(struct config_section *tls, struct config_self *ret_self)
{
    struct config_section section = section_open(tls, "self");

    read_object_name(&section, "secret", &ret_self->secret);
    read_object_name(&section, "webhookConfiguration", &ret_self->webhook_configuration);
    section_list(&section, "dnsNames", rule_dns_name, &ret_self->dns_names);
    section_number32(&section, "caDays", CA_SHARE, MAX_CA_DAYS, &ret_self->ca_days);
    section_number32(&section, "certificateDays", 1, MAX_CERTIFICATE_DAYS,
                     &ret_self->certificate_days);
    refuse_contradictions(tls, &section, ret_self);
    section_end(&section);
}
