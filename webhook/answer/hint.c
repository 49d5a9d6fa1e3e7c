/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint - what a user should do about each finding of the planner.
 *
 * Apart from the planner, because its messages are fixed by the planner contract, and some hints
 * are about annotations and signatures, which only the gate knows.
 */

#include "webhook/answer/hint.h"

#include <assert.h>
#include <stddef.h>

const char *answer_hint(enum plan_code code)
{
    /* one row per code; a unit test fails if a new code has none */
    static const char *const hints[PLAN_CODE_COUNT] = {
        [PLAN_CODE_INPUT_INVALID] = "correct this field of the requirements",
        [PLAN_CODE_INPUT_UNKNOWN_FIELD] = "correct the name of the field, or remove it",
        [PLAN_CODE_WORKLOAD_IDENTITY] = "give one annotation, skill-ref or image-digest",
        [PLAN_CODE_WORKLOAD_DIGEST] = "write it as sha256: and 64 lower-case hex digits",
        [PLAN_CODE_WORKLOAD_SKILL_REF] = "write it with its version, as acme/report@1.4.0",
        [PLAN_CODE_TIME_MISSING] = "sign requirements that give it",
        [PLAN_CODE_TIME_INVALID] = "write it as 2026-03-01T12:00:00Z",
        [PLAN_CODE_REQUIREMENTS_MAX_AGE] = "use a whole number of days in this range",
        [PLAN_CODE_REQUIREMENTS_PROVENANCE] = "sign requirements that give both",
        [PLAN_CODE_REQUIREMENTS_SECRET] = "remove the user part and sign again",
        [PLAN_CODE_REQUIREMENTS_STALE] = "check the requirements and sign them again",
        [PLAN_CODE_WRITABLE_PATH_ABSOLUTE] = "write paths relative to the workspace",
        [PLAN_CODE_WRITABLE_PATH_UNSAFE] = "use a path without this character",
        [PLAN_CODE_WRITABLE_PATH_UNRESOLVED] = "fill in the template before you apply it",
        [PLAN_CODE_ENV_NAME] = "list names only, never values",
        [PLAN_CODE_CWD_POLICY_INVALID] = "use skill-directory, workspace or custom",
        [PLAN_CODE_CONTROL_UNSUPPORTED] =
            "remove these fields, and let the container runtime enforce them",
        [PLAN_CODE_BASELINE_NETWORK] =
            "run without network, or have it allowed in a signed document",
        [PLAN_CODE_BASELINE_ENFORCEMENT] = "leave require_enforcement true",
        [PLAN_CODE_BASELINE_WRITABLE_PATH] = "use an admitted path, or have this one signed",
        [PLAN_CODE_BASELINE_ENV] = "remove this name, or have it signed",
        [PLAN_CODE_ADMISSION_DENIED] = "remove what this reason names",
    };

    assert((unsigned)code < PLAN_CODE_COUNT && hints[code] != NULL);
    return hints[code];
}
