/* SPDX-License-Identifier: Apache-2.0 */
/* reason - messages to the caller, and names in them that are safe to print. */
#include <errno.h>

#include "k8s/access/internal.h"
#include "k8s/util/file.h"

#define MAX_SHOWN_BYTES 253 /* of a name */

int access_give_reason(int error, struct str reason, struct str *reterr_reason)
{
    if (!str_present(reason))
        return -ENOMEM;
    *reterr_reason = reason;
    return error;
}

const char *access_shown_name(struct arena *arena, struct str name)
{
    struct str text = {0};

    if (name.len > MAX_SHOWN_BYTES)
        name.len = MAX_SHOWN_BYTES;
    text = arena_format(arena, "%.*s", (int)name.len, name.len > 0 ? name.ptr : "");
    if (str_present(text))
        text = file_shown_name(text.ptr, arena);
    return str_present(text) ? text.ptr : "?";
}
