/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_EVENT_H
#define WEBHOOK_AUDIT_EVENT_H

/*
 * event - reads one decision of the gate out of a log: an event of the API server's audit log with
 * our annotations (gate-v1, section 7), or a line of the decision log (record.h). The content of a
 * text shows which of the two it is.
 *
 * Nothing here is trusted: anyone who can write to a log, or ask for a pod with a strange name, can
 * put any text here. Texts are UTF-8 without NUL; the caller escapes them before it shows them.
 *
 * Errors     0; -ENOMEM, also where the limit of the arena is reached; -EIO: no random numbers.
 *            A text that is not a decision is not an error: enum event_kind says what it is.
 * Ownership  everything is in the arena.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "k8s/boundary/boundary.h"
#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"

#define EVENT_MAX_HOOKS 8      /* gates that annotated one audit event */
#define EVENT_MAX_FINDINGS 256 /* of one decision; more are counted */
#define EVENT_MAX_IMAGES 64
#define EVENT_MAX_WARNINGS 8

/* What a text is. */
enum event_kind {
    EVENT_BLANK = 0,
    EVENT_BROKEN,     /* cannot be read: truncated, not JSON, not UTF-8, a wrong type */
    EVENT_FOREIGN,    /* JSON of something else */
    EVENT_LOG_LINE,   /* a line of the gate's own log (log.h), which holds no decision */
    EVENT_BARE_ENTRY, /* an audit entry of Google Cloud without labels, which hold annotations */
    EVENT_OTHER,      /* an audit event without a decision of the gate */
    EVENT_AUDIT,
    EVENT_RECORD,
};

enum event_verdict {
    EVENT_UNKNOWN = 0, /* the request failed; the log does not say which component denied it */
    EVENT_DENIED,
    EVENT_VIOLATES, /* allowed; a finding would deny it at the level enforce */
    EVENT_ALLOWED,
};

struct event_finding {
    struct str code;
    struct str place; /* absent for findings of the planner */
    struct str message;
    bool of_planner;
};

/* A document in use that ends within 72 hours of the decision. */
struct event_expiry {
    struct str kind; /* "evidence" or "exemption" */
    struct str name; /* `<namespace>/<name>` */
    struct moment at;
};

#define EVENT_MAX_EXPIRIES 4

enum event_boundary_state {
    EVENT_BOUNDARY_NONE = 0, /* the pod's own spec was not read */
    EVENT_BOUNDARY_READ,
    EVENT_BOUNDARY_BROKEN, /* the log has a reading that cannot be understood */
};

/* What the pod's own spec asked for beside its declaration (boundary-v1). */
struct event_boundary {
    enum event_boundary_state state;
    enum boundary_state states[BOUNDARY_CONTROL_COUNT]; /* BOUNDARY_UNREAD unless it was read */
    uint64_t codes;                                     /* a set: event_boundary_bit() */
};

static inline uint64_t event_boundary_bit(enum boundary_code code)
{
    return UINT64_C(1) << code;
}

_Static_assert(BOUNDARY_CODE_COUNT <= 64, "event_boundary.codes has a bit for each code");

struct event {
    enum event_kind kind; /* EVENT_AUDIT or EVENT_RECORD */
    struct str webhook;   /* its name in the audit log; absent in a record */
    struct str id;        /* auditID, or uid of the review */
    struct str time_text;
    struct moment time;
    bool timed;
    enum event_verdict verdict;
    bool dry_run;
    struct str operation; /* as in the log: "create", or "CREATE" */
    struct str namespace_name;
    struct str object_kind;
    struct str name;     /* "" or `<generateName>*` where the API server had made none yet */
    struct str workload; /* name of the controller if known, else name without `-*` */
    struct str user;
    struct str_list images;
    struct str
        level; /* "enforce=required warn=none audit=none"; of an audit event: what it implies */
    struct str outcome;
    const struct event_finding *findings;
    size_t finding_count;
    size_t findings_left_out;
    struct str packet; /* compact JSON; absent without a plan */
    const cJSON *packet_tree;
    struct str packet_sha256;
    bool packet_truncated;
    struct str input; /* compact JSON; absent without a plan, or where it was too large */
    const cJSON *input_tree;
    struct event_boundary boundary;
    struct str boundary_json; /* compact JSON; absent unless it was read */
    struct str evidence;
    struct str exemption;
    struct str violations;
    struct str error;
    struct str message; /* of a denial */
    struct str_list warnings;
    struct event_expiry expiring[EVENT_MAX_EXPIRIES]; /* from `expiring` of a record */
    size_t expiring_count;
    bool log_truncated;  /* the API server removed a part of the event */
    bool without_bodies; /* its objects could not be read and were ignored */
};

struct events {
    struct event items[EVENT_MAX_HOOKS];
    size_t count;
};

/*
 * A fast test, without parsing. False: the text holds no decision of the gate, and *ret_kind says
 * what it is. True: event_read() must look at it. Never false for a text in which event_read()
 * finds a decision.
 */
bool event_may_matter(struct str text, enum event_kind *ret_kind) __attribute__((nonnull));

int event_read(struct str text, struct arena *arena, struct events *ret_events,
               enum event_kind *ret_kind) __attribute__((warn_unused_result, nonnull));

/* Outcomes of records without a decision (record.h). */
#define EVENT_UNAVAILABLE "unavailable"
#define EVENT_TIMEOUT "timeout"

/* All outcomes that an event can have; static texts. */
#define EVENT_OUTCOME_COUNT 13
void event_outcome_names(const char *ret_names[static EVENT_OUTCOME_COUNT]);

/* Static texts: "denied", "violates", "allowed", "unknown". */
const char *event_verdict_text(enum event_verdict verdict);

/* Returns how many documents in use end within 72 hours of the decision. Of evidence in an audit
 * log only the end of its age is known: its own expires_at is not in the annotations. */
size_t event_expiries(const struct event *event,
                      struct event_expiry ret_expiries[static EVENT_MAX_EXPIRIES]);

#endif
