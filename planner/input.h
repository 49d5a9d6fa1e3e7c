/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLANNER_INPUT_H
#define PLANNER_INPUT_H

/*
 * input - the planner's input, read from a tree (hardening-v1, section Input).
 *
 * No content of the input makes reading fail. A wrong value becomes a finding (sandbox.input.*,
 * sandbox.requirements.max_age) and counts as absent afterwards.
 *
 * Ownership  texts are borrowed from the tree, lists live in the arena.
 */

#include <cjson/cJSON.h>

#include "planner/findings.h"

/* Every field that the contract names, in the order of its tables. X(name, kind, text) */
#define INPUT_FIELDS(X)                                                                            \
    X(WORKLOAD, OBJECT, "workload")                                                                \
    X(AS_OF, TEXT, "as_of")                                                                        \
    X(MAX_AGE_DAYS, DAYS, "max_age_days")                                                          \
    X(BASELINE, OBJECT, "baseline")                                                                \
                                                                                                   \
    X(IMAGE_DIGEST, TEXT, "image_digest")                                                          \
    X(SKILL_REF, REFERENCE, "skill_ref")                                                           \
    X(CLASS, TEXT, "class")                                                                        \
    X(REQUIREMENTS, OBJECT, "requirements")                                                        \
                                                                                                   \
    X(SOURCE_REF, REFERENCE, "source_ref")                                                         \
    X(SOURCE_DIGEST, TEXT, "source_digest")                                                        \
    X(OBSERVED_AT, TEXT, "observed_at")                                                            \
    X(NETWORK, BOOL, "network")                                                                    \
    X(WRITABLE_PATHS, LIST, "writable_paths")                                                      \
    X(ENV_ALLOWLIST, NAMES, "env_allowlist")                                                       \
    X(CWD_POLICY, TEXT, "cwd_policy")                                                              \
    X(REQUIRE_ENFORCEMENT, BOOL, "require_enforcement")                                            \
    X(ALLOWED_SYSCALLS, CONTROL, "allowed_syscalls")                                               \
    X(ALLOWED_EGRESS_HOSTS, CONTROL, "allowed_egress_hosts")                                       \
    X(REQUIRED_CAPABILITIES, CONTROL, "required_capabilities")                                     \
    X(RESOURCE_LIMITS, CONTROL, "resource_limits")                                                 \
                                                                                                   \
    X(BASELINE_NETWORK_ALLOWED, BOOL, "network_allowed")                                           \
    X(BASELINE_REQUIRE_ENFORCEMENT, BOOL, "require_enforcement")                                   \
    X(BASELINE_ALLOWED_WRITABLE_PATHS, LIST, "allowed_writable_paths")                             \
    X(BASELINE_ALLOWED_ENV, NAMES, "allowed_env")

enum input_field {
#define X(name, kind, text) INPUT_##name,
    INPUT_FIELDS(X)
#undef X
        INPUT_FIELD_COUNT
};

enum input_kind {
    INPUT_KIND_NONE = 0,
    INPUT_KIND_OBJECT,
    INPUT_KIND_TEXT,
    INPUT_KIND_REFERENCE, /* text that may be a URL with credentials */
    INPUT_KIND_BOOL,
    INPUT_KIND_DAYS,
    INPUT_KIND_LIST,    /* of text */
    INPUT_KIND_NAMES,   /* a list of environment names; other texts in it can be secrets */
    INPUT_KIND_CONTROL, /* any value */
};

/* An object of the input. Its fields are those from `first` to the one before `end`. */
struct input_object {
    const char *prefix; /* of the names of its fields in messages */
    enum input_field first, end;
};

extern const struct input_object input_root;

enum input_state {
    INPUT_ABSENT = 0,
    INPUT_GIVEN,
    INPUT_WRONG, /* of a wrong type or over a limit: absent for every check except that of identity
                  */
};

struct input_entry {
    struct str text;
    size_t place; /* index in the given list, from 0 */
};

/* Only the members for the field's kind are set, and only where state is INPUT_GIVEN. */
struct input_value {
    enum input_state state;
    bool flag;                         /* BOOL; CONTROL: whether a control is asked for */
    int days;                          /* DAYS */
    struct str text;                   /* TEXT, REFERENCE: trimmed, never empty */
    const struct input_entry *entries; /* LIST, NAMES: trimmed, never empty */
    size_t entry_count;
};

struct input {
    struct input_value values[INPUT_FIELD_COUNT];
};

/* Reads one object, and the objects in it, into their fields of *input. A failed allocation sets
 * findings->error. */
void input_read(const cJSON *node, const struct input_object *object, struct arena *arena,
                struct input *input, struct findings *findings) __attribute__((nonnull));

/* Static text, never NULL. */
const char *input_name(enum input_field field);
enum input_kind input_kind(enum input_field field);

/* The fields that an OBJECT has; NULL for a field of another kind. */
const struct input_object *input_object_of(enum input_field field);

/* The field of that name in the object; INPUT_FIELD_COUNT where it has none. */
enum input_field input_find(const struct input_object *object, struct str name);

/* The name of a field as messages show it: `?` where the name itself can be a secret. */
struct str input_shown_name(const cJSON *member);

/* Whether the value of an unsupported control asks for something: it is not empty (hardening-v1,
 * section Input). */
bool input_control_asks(const cJSON *node);

#endif
