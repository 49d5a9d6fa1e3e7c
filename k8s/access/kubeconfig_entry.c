/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig_entry - a context, cluster or user: reads text members, and makes error messages. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "k8s/access/internal.h"
#include "planner/base/tree.h"

#define MAX_REFUSAL_BYTES 1024

int kubeconfig_refuse(const struct kubeconfig_entry *entry, const char *format, ...)
{
    struct arena *arena = entry->config->arena;
    char text[MAX_REFUSAL_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return access_give_reason(-EINVAL,
                              arena_format(arena, "%s: %s \"%s\": %s",
                                           access_shown_name(arena, str_of(entry->file->path)),
                                           entry->kind, access_shown_name(arena, entry->name),
                                           text),
                              entry->reterr_reason);
}

int kubeconfig_text(const struct kubeconfig_entry *entry, const char *key, struct str *ret_text)
{
    const cJSON *node = tree_get(entry->body, key);
    struct str text = tree_text(node);

    if (node != NULL && !tree_is(node, cJSON_String))
        return kubeconfig_refuse(entry, "%s must be text; quote it", key);
    *ret_text = text.len > 0 ? text : (struct str){0};
    return 0;
}
