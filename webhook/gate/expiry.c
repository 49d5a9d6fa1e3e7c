/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry - collects the documents in use that end soon (gate-v1, section 7, `warnings`).
 */

#include "webhook/gate/internal.h"

#include <assert.h>
#include <errno.h>

/* Documents that ended in the past are not noted: a warning before the end would be wrong. */
static int note(const struct judgement *j, struct decision *d, struct moment end, const char *kind,
                const struct evidence *e)
{
    struct gate_expiry expiry = {.at = end, .kind = kind};

    if (moment_compare(end, j->now) < 0 ||
        moment_compare(end, moment_add_seconds(j->now, GATE_EXPIRY_WARNING_SEC)) > 0)
        return 0;
    expiry.name = gate_document_name(e, j->arena);
    if (!str_present(expiry.name))
        return -ENOMEM;
    assert(d->expiry_count < GATE_MAX_EXPIRIES);
    d->expiries[d->expiry_count++] = expiry;
    return 0;
}

int gate_note_expiries(const struct judgement *j, struct decision *d)
{
    const struct evidence *e = d->evidence;
    struct moment end = {0};
    int r = 0;

    if (e != NULL && evidence_end(e, j->max_age_days, &end))
        r = note(j, d, end, "evidence", e);
    if (r == 0 && d->exemption != NULL)
        r = note(j, d, d->exemption->expires_at, "exemption", d->exemption);
    return r;
}
