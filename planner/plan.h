/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_PLAN_H
#define PLANNER_PLAN_H

/*
 * plan - the planner: takes the sandbox requirements of one workload, returns a runx.hardening.v1
 * packet (contract hardening-v1).
 *
 * Pure: reads no clock, file, environment variable or global, writes no log. The same input gives
 * the same bytes.
 *
 * Errors     0, or negative errno; on failure no result is written.
 *              -EINVAL  the input is not an object: there is no packet, the caller must not admit
 *              -ENOMEM  out of memory, or the arena's limit was reached
 *            A bad workload is not an error. It is a finding, and the call succeeds.
 * Ownership  everything in the result lives in the given arena, or is borrowed from the input,
 *            which must live as long.
 * Units      bytes, days.
 * Threads    any number at once, each with its own arena.
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "planner/base/arena.h"
#include "planner/base/list.h"
#include "planner/base/moment.h"
#include "planner/base/text.h"

#define PLAN_MAX_ITEMS 100       /* entries of a list */
#define PLAN_MAX_TEXT_BYTES 4096 /* of a text, trimmed */
#define PLAN_MIN_AGE_DAYS 1
#define PLAN_MAX_AGE_DAYS 3650
#define PLAN_DEFAULT_AGE_DAYS 30

/* In the order of the contract's table of findings. X(name, class, text) */
#define PLAN_CODES(X)                                                                              \
    X(INPUT_INVALID, MORE_EVIDENCE, "sandbox.input.invalid")                                       \
    X(INPUT_UNKNOWN_FIELD, MORE_EVIDENCE, "sandbox.input.unknown_field")                           \
    X(WORKLOAD_IDENTITY, MORE_EVIDENCE, "sandbox.workload.identity")                               \
    X(WORKLOAD_DIGEST, MORE_EVIDENCE, "sandbox.workload.digest")                                   \
    X(WORKLOAD_SKILL_REF, MORE_EVIDENCE, "sandbox.workload.skill_ref")                             \
    X(TIME_MISSING, MORE_EVIDENCE, "sandbox.time.missing")                                         \
    X(TIME_INVALID, MORE_EVIDENCE, "sandbox.time.invalid")                                         \
    X(REQUIREMENTS_MAX_AGE, MORE_EVIDENCE, "sandbox.requirements.max_age")                         \
    X(REQUIREMENTS_PROVENANCE, MORE_EVIDENCE, "sandbox.requirements.provenance")                   \
    X(REQUIREMENTS_SECRET, REFUSED, "sandbox.requirements.secret")                                 \
    X(REQUIREMENTS_STALE, MORE_EVIDENCE, "sandbox.requirements.stale")                             \
    X(WRITABLE_PATH_ABSOLUTE, REFUSED, "sandbox.writable_path.absolute")                           \
    X(WRITABLE_PATH_UNSAFE, REFUSED, "sandbox.writable_path.unsafe")                               \
    X(WRITABLE_PATH_UNRESOLVED, MORE_EVIDENCE, "sandbox.writable_path.unresolved")                 \
    X(ENV_NAME, REFUSED, "sandbox.env.name")                                                       \
    X(CWD_POLICY_INVALID, MORE_EVIDENCE, "sandbox.cwd_policy.invalid")                             \
    X(CONTROL_UNSUPPORTED, UNSUPPORTED, "sandbox.control.unsupported")                             \
    X(BASELINE_NETWORK, REFUSED, "sandbox.baseline.network")                                       \
    X(BASELINE_ENFORCEMENT, REFUSED, "sandbox.baseline.enforcement")                               \
    X(BASELINE_WRITABLE_PATH, REFUSED, "sandbox.baseline.writable_path")                           \
    X(BASELINE_ENV, REFUSED, "sandbox.baseline.env")                                               \
    X(ADMISSION_DENIED, REFUSED, "sandbox.admission.denied")

enum plan_code {
#define X(name, class, text) PLAN_CODE_##name,
    PLAN_CODES(X)
#undef X
        PLAN_CODE_COUNT
};

/* 0 is not "ready": a decision that was not made must not admit anything. */
enum plan_decision {
    PLAN_UNDECIDED = 0,
    PLAN_MORE_EVIDENCE, /* "needs_more_evidence" */
    PLAN_REFUSED,       /* "refused" */
    PLAN_UNSUPPORTED,   /* "unsupported_runtime_shape" */
    PLAN_READY,         /* "ready" */
};

/* What the caller has verified about the source; 0 is nothing. */
enum plan_provenance {
    PLAN_CALLER_SUPPLIED = 0, /* "caller_supplied_source_digest" */
    PLAN_SIGNED_CONFIGMAP,    /* "signed_configmap": the caller verified a signature */
};

struct plan_finding {
    enum plan_code code;
    struct str message;
};

struct packet; /* the packet's fields, planner/packet.h */

struct plan {
    enum plan_decision decision;
    const struct plan_finding *findings; /* in the contract's order, equal ones once */
    size_t finding_count;
    struct str packet;           /* compact JSON, `{"hardening_profile":{…}}` */
    const struct packet *fields; /* what the packet was written from */
};

int plan_evaluate(const cJSON *input, enum plan_provenance provenance, struct arena *arena,
                  struct plan *ret_plan) __attribute__((warn_unused_result, nonnull));

/* True only for a finished plan whose decision is "ready"; false for NULL. Do not test in any other
 * way whether a plan admits a workload. */
bool plan_admits(const struct plan *plan);

/* Static texts, never NULL; "" for a value that is none of the enum's. */
const char *plan_code_text(enum plan_code code);
const char *plan_decision_text(enum plan_decision decision);

/* What the packet declares: names and paths that it left out are not declared. Paths are
 * normalised; both lists are in bytewise order. */
struct plan_declaration {
    bool env_given; /* false: `env_allowlist` is null, which differs from an empty list */
    struct str_list env_allowlist;
    bool network;
    struct str_list writable_paths;
};

/* Borrowed from the plan. */
struct plan_declaration plan_declaration(const struct plan *plan) __attribute__((nonnull));

/*
 * The packet, shortened to at most max_bytes as buffer_audit_size() counts (gate-v1, section 7,
 * `packet-truncated`). Until it fits, the last item of the list that is longest by that count is
 * dropped; of equally long lists, the first in packet order. When all lists are empty, each text is
 * cut to at most 256 bytes at the end of a character. *ret_packet is plan->packet itself where that
 * fits. -E2BIG where it cannot be made to fit: possible only for a max_bytes below 12 KiB.
 */
int plan_packet_fit(const struct plan *plan, size_t max_bytes, struct arena *arena,
                    struct str *ret_packet) __attribute__((warn_unused_result, nonnull));

/*
 * The planner's input as compact JSON (gate-v1, section 7, `input`). Values that the packet hides
 * are replaced by others for which the plan has the same packet. Fields are in the order of the
 * contract's tables. Numbers are written only where they are whole and in the field's range.
 */
int plan_input_write(const cJSON *input, struct arena *arena, struct str *ret_json)
    __attribute__((warn_unused_result, nonnull));

/*
 * Checks a `requirements` or `baseline` object, or a `max_age_days` value, for unknown fields,
 * wrong types and values over the limits (those that would be sandbox.input.* or
 * sandbox.requirements.max_age). *ret_problem is the message of the finding; absent where there is
 * none.
 */
int plan_check_requirements(const cJSON *requirements, struct arena *arena, struct str *ret_problem)
    __attribute__((warn_unused_result, nonnull));
int plan_check_baseline(const cJSON *baseline, struct arena *arena, struct str *ret_problem)
    __attribute__((warn_unused_result, nonnull));
bool plan_read_max_age(const cJSON *value, int *ret_days);

/* hardening-v1, section Identity: `owner/name@version`, and nothing else. */
bool plan_is_skill_ref(struct str s);

/* Whether a URL anywhere in s has a user part before `@`. */
bool plan_has_credentials(struct str s);

/*
 * hardening-v1, section Paths and names: normalises a path; whether `base` admits `path`, both
 * normalised; whether s is the name of an environment variable.
 */
int plan_path_normalise(struct str path, struct arena *arena, struct str *ret_path)
    __attribute__((warn_unused_result, nonnull));
bool plan_path_admitted(struct str path, struct str base);
/* Whether a segment is `..`; segments end at `/` and at `\`. */
bool plan_path_has_parent(struct str path);
bool plan_is_env_name(struct str s);

#endif
