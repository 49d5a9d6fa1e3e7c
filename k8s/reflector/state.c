/* SPDX-License-Identifier: Apache-2.0 */
/* state - answers questions about the state of a reflector. */
#include "k8s/reflector/internal.h"

bool reflector_listed(const struct reflector *reflector)
{
    return reflector->lists > 0;
}

bool reflector_listing(const struct reflector *reflector)
{
    return reflector->listing.begun;
}

uint64_t reflector_last_event_msec(const struct reflector *reflector)
{
    return reflector->last_event_msec;
}

size_t reflector_object_count(const struct reflector *reflector)
{
    return reflector->known.count;
}

uint64_t reflector_list_count(const struct reflector *reflector)
{
    return reflector->lists;
}

uint64_t reflector_failure_count(const struct reflector *reflector)
{
    return reflector->failure_count;
}

struct str reflector_reason(const struct reflector *reflector)
{
    return str_of(reflector->reason);
}

int reflector_each(struct reflector *reflector,
                   int (*visit)(void *context, struct str namespace_name, struct str name,
                                void **value),
                   void *context)
{
    struct reflector_entry *entry = reflector->known.first;

    for (size_t i = 0; i < reflector->known.count; i++, entry = entry->next) {
        int r = visit(context, entry->namespace_name, entry->name, &entry->value);

        if (r != 0)
            return r;
    }
    return 0;
}
