/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/answer/hint.h"

const char *answer_hint(enum plan_code code)
{
    static const char *const hints[PLAN_CODE_COUNT] = {
        [PLAN_CODE_INPUT_INVALID] = "correct this field of the requirements",
        [PLAN_CODE_INPUT_UNKNOWN_FIELD] = "correct the field's name or take it out",
        [PLAN_CODE_WORKLOAD_IDENTITY] = "give one annotation, skill-ref or image-digest",
        [PLAN_CODE_WORKLOAD_DIGEST] = "write it as sha256: and 64 lower-case hex digits",
        [PLAN_CODE_WORKLOAD_SKILL_REF] = "write it with its version, as acme/report@1.4.0",
        [PLAN_CODE_TIME_MISSING] = "sign requirements that give it",
        [PLAN_CODE_TIME_INVALID] = "write it as 2026-03-01T12:00:00Z",
        [PLAN_CODE_REQUIREMENTS_MAX_AGE] = "give whole days within these bounds",
        [PLAN_CODE_REQUIREMENTS_PROVENANCE] = "sign requirements that give both",
        [PLAN_CODE_REQUIREMENTS_SECRET] = "take the user part out and sign anew",
        [PLAN_CODE_REQUIREMENTS_STALE] = "observe and sign the requirements anew",
        [PLAN_CODE_WRITABLE_PATH_ABSOLUTE] = "write paths relative to the workspace",
        [PLAN_CODE_WRITABLE_PATH_UNSAFE] = "use a path without it",
        [PLAN_CODE_WRITABLE_PATH_UNRESOLVED] = "fill the template in before it is applied",
        [PLAN_CODE_ENV_NAME] = "list names only, never values",
        [PLAN_CODE_CWD_POLICY_INVALID] = "use skill-directory, workspace or custom",
        [PLAN_CODE_CONTROL_UNSUPPORTED] = "take these fields out; the runtime has to enforce them",
        [PLAN_CODE_BASELINE_NETWORK] = "go without network, or ask for another baseline",
        [PLAN_CODE_BASELINE_ENFORCEMENT] = "leave require_enforcement true",
        [PLAN_CODE_BASELINE_WRITABLE_PATH] = "use an admitted path, or have this one signed",
        [PLAN_CODE_BASELINE_ENV] = "do without this name, or have it signed",
        [PLAN_CODE_ADMISSION_DENIED] = "take out what the reason names",
    };

    return (unsigned)code < PLAN_CODE_COUNT && hints[code] != NULL ? hints[code] : "correct it";
}
