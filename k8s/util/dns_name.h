/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_DNS_NAME_H
#define K8S_UTIL_DNS_NAME_H

/*
 * dns_name - names as Kubernetes takes them (RFC 1123, lower case): labels of namespaces, and
 * subdomains of most other objects and of hosts.
 */

#include <stdbool.h>
#include <stddef.h>

#include "planner/base/text.h"

#define DNS_LABEL_MAX_BYTES 63
#define DNS_SUBDOMAIN_MAX_BYTES 253

/* Lower-case letters, digits and `-`, the first and last of them no `-`; 1 to 63 bytes. */
bool dns_is_label(struct str s);

/* Such labels with dots between them, of any length each; 1 to max_bytes in all. */
bool dns_is_subdomain(struct str s, size_t max_bytes);

/* The same where each label is a host's, so at most 63 bytes; 1 to 253 in all. */
bool dns_is_host_name(struct str s);

#endif
