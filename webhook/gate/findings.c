/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings - all findings of the gate (gate-v1, section 6): code, message and what to do, each in
 * one row of a table.
 *
 * The rules in the other files only say which problem a pod has, and with which names. So a message
 * without a remedy cannot be added, and the texts can be reviewed together.
 */

#include "webhook/gate/internal.h"

#include <assert.h>
#include <errno.h>

#include "planner/base/array.h"
#include "webhook/util/clean.h"

#define IDENTITY_KEYS GATE_KEY_SKILL_REF " or " GATE_KEY_IMAGE_DIGEST

static enum boundary_code boundary_of(enum gate_code code)
{
    return (enum boundary_code)((int)code - (int)GATE_CODE_BOUNDARY);
}

const char *gate_code_text(enum gate_code code)
{
    static const char *const texts[] = {
#define X(name, text) [GATE_CODE_##name] = text,
        GATE_CODES(X)
#undef X
    };

    if (code >= GATE_CODE_BOUNDARY && code < GATE_CODE_COUNT)
        return boundary_code_text(boundary_of(code));
    return (unsigned)code < GATE_CODE_BOUNDARY ? texts[code] : "gate.unknown";
}

const char *gate_code_hint(enum gate_code code)
{
    static const char *const hints[GATE_CODE_BOUNDARY] = {
        [GATE_CODE_ANNOTATION_MISSING] =
            "annotate the pod template with skill-ref or image-digest of its signed requirements",
        [GATE_CODE_ANNOTATION_UNKNOWN] = "correct the key of the annotation, or remove it",
        [GATE_CODE_ANNOTATION_INVALID] = "correct the value of the annotation",
        [GATE_CODE_ANNOTATION_CONFLICT] = "remove what contradicts the signed requirements",
        [GATE_CODE_BASELINE_INVALID] = "sign the baseline again, or delete it",
        [GATE_CODE_BASELINE_MISSING] = "apply a signed SandboxBaseline",
        [GATE_CODE_EVIDENCE_MISSING] = "sign requirements of this workload and apply them",
        [GATE_CODE_EVIDENCE_EXPIRED] = "check the requirements and sign them again",
        [GATE_CODE_EVIDENCE_CONFLICT] = "delete all but one of the documents",
        [GATE_CODE_IMAGE_UNPINNED] = "write the image with its digest, name@sha256:…",
        [GATE_CODE_IMAGE_UNLISTED] = "run an image that the evidence lists, or sign this one",
        [GATE_CODE_REVIEW_UNUSABLE] = "correct the object as the message says",
    };

    assert((unsigned)code < GATE_CODE_COUNT);
    if (code >= GATE_CODE_BOUNDARY)
        return boundary_code_hint(boundary_of(code));
    assert(hints[code] != NULL);
    return hints[code];
}

const char *gate_outcome_text(enum gate_outcome outcome)
{
    static const char *const texts[] = {
        [OUTCOME_UNDECIDED] = "undecided",
        [OUTCOME_READY] = "ready",
        [OUTCOME_NEEDS_MORE_EVIDENCE] = "needs_more_evidence",
        [OUTCOME_REFUSED] = "refused",
        [OUTCOME_UNSUPPORTED_RUNTIME_SHAPE] = "unsupported_runtime_shape",
        [OUTCOME_BLOCKED] = "blocked",
        [OUTCOME_EXEMPT] = "exempt",
        [OUTCOME_UNUSABLE] = "unusable",
        [OUTCOME_UNMANAGED] = "unmanaged",
        [OUTCOME_UNCHANGED] = "unchanged",
        [OUTCOME_NOT_EVALUATED] = "not_evaluated",
        [OUTCOME_LEFT_UNDECIDED] = "undecided",
    };

    return (unsigned)outcome < sizeof(texts) / sizeof(texts[0]) ? texts[outcome] : "undecided";
}

static const struct gate_problem_text problems[GATE_PROBLEM_COUNT] = {
    [GATE_NO_ANNOTATION] = {GATE_CODE_ANNOTATION_MISSING, "nothing says which workload this is",
                            "add the annotation " IDENTITY_KEYS " to {}metadata.annotations"},
    [GATE_ANNOTATIONS_REMOVED] = {GATE_CODE_ANNOTATION_MISSING,
                                  "the annotations under " NAMES_PREFIX " were removed",
                                  "restore " IDENTITY_KEYS},
    [GATE_ANNOTATIONS_MISPLACED] =
        {GATE_CODE_ANNOTATION_MISSING,
         "the annotations are on the object itself, so its pods do not have them",
         "annotations belong on the template: move them to {}metadata.annotations"},
    [GATE_KEY_UNKNOWN] = {GATE_CODE_ANNOTATION_UNKNOWN, "unknown annotation",
                          "did you mean {}? Otherwise remove it"},
    [GATE_REQUIREMENTS_INVALID] = {GATE_CODE_ANNOTATION_INVALID, "invalid requirements: {}",
                                   "correct the annotation at this line and column"},
    [GATE_CLASS_INVALID] = {GATE_CODE_ANNOTATION_CONFLICT,
                            "a class is at most {} bytes of printable ASCII without <, > and &",
                            "correct the annotation, or remove it"},
    [GATE_CLASS_DIFFERS] = {GATE_CODE_ANNOTATION_CONFLICT,
                            "the annotation gives another class than the signed one",
                            "use the signed class, or remove the annotation"},
    [GATE_FIELD_DIFFERS] = {GATE_CODE_ANNOTATION_CONFLICT,
                            "the annotation can only repeat the signed value of this field",
                            "remove the field from the annotation, or have its value signed"},
    [GATE_FIELD_BROADER] = {GATE_CODE_ANNOTATION_CONFLICT,
                            "the annotation asks for a broader working directory than was signed",
                            "remove the field from the annotation, or have its value signed"},
    [GATE_BROKEN_BASELINE] = {GATE_CODE_BASELINE_INVALID,
                              "this baseline is not valid, so its ceiling is not known: {}",
                              "sign it again, or delete it"},
    [GATE_MORE_BROKEN_BASELINES] =
        {GATE_CODE_BASELINE_INVALID,
         "{} more baselines of this namespace are not valid, so their ceilings are not known",
         "sign them again, or delete them"},
    [GATE_DOCUMENTS_LEFT_OUT] =
        {GATE_CODE_BASELINE_INVALID,
         "{} signed documents of this namespace are over its limit, and a baseline can be among "
         "them",
         "delete documents that are not used any more"},
    [GATE_TOO_FEW_BASELINES] = {GATE_CODE_BASELINE_MISSING,
                                "valid baselines in the namespace {}: {} of at least {}",
                                "apply the missing baselines there, signed"},
    [GATE_NO_EVIDENCE] = {GATE_CODE_EVIDENCE_MISSING,
                          "no valid evidence for this workload is in {}{}",
                          "apply a signed SandboxRequirements for it, or correct the identity"},
    [GATE_EVIDENCE_ENDED] = {GATE_CODE_EVIDENCE_EXPIRED,
                             "the evidence for this workload, {}, has expired", "sign it again"},
    [GATE_EVIDENCE_AMBIGUOUS] =
        {GATE_CODE_EVIDENCE_CONFLICT,
         "two valid documents for this workload have the same observed_at and differ",
         "delete one of them, or sign a newer one"},
    [GATE_IMAGE_WITHOUT_DIGEST] = {GATE_CODE_IMAGE_UNPINNED, "this image is not pinned",
                                   "write it as name@sha256: and 64 lower-case hex digits"},
    [GATE_OWN_IMAGE_WITHOUT_DIGEST] = {GATE_CODE_IMAGE_UNPINNED, "this image is not pinned",
                                       "if it is the workload's own, write it as name@{}"},
    [GATE_IMAGE_NOT_LISTED] = {GATE_CODE_IMAGE_UNLISTED,
                               "neither the evidence nor a baseline lists {}",
                               "run an image that is listed, or have this one signed"},
    [GATE_OWN_IMAGE_NOT_RUN] =
        {GATE_CODE_IMAGE_UNLISTED,
         "none of the containers runs, by digest, an image of the workload itself",
         "run it, or correct the identity"},
    [GATE_POD_UNUSABLE] = {GATE_CODE_REVIEW_UNUSABLE, "the pod cannot be judged: {}",
                           "correct the manifest"},
};

const struct gate_problem_text *gate_problem_text(enum gate_problem problem)
{
    assert((unsigned)problem < GATE_PROBLEM_COUNT && problems[problem].message != NULL);
    return &problems[problem];
}

/* A message while it is written. What does not fit is left out. */
struct message {
    char bytes[GATE_MAX_MESSAGE_BYTES];
    size_t len;
};

static void append(struct message *m, struct str s)
{
    size_t left = sizeof(m->bytes) - m->len;
    size_t count = s.len < left ? s.len : left;

    if (count > 0)
        memcpy(m->bytes + m->len, s.ptr, count);
    m->len += count;
}

/* Each `{}` of the text is replaced by the next argument; *used arguments were used before. */
static void expand(struct message *m, const char *text, const struct str *arguments, size_t count,
                   size_t *used)
{
    while (*text != '\0') {
        if (text[0] == '{' && text[1] == '}') {
            assert(*used < count);
            append(m, arguments[(*used)++]);
            text += 2;
        } else {
            append(m, (struct str){.ptr = text, .len = 1});
            text++;
        }
    }
}

int gate_add_finding(struct judgement *j, struct gate_finding finding)
{
    struct gate_findings *f = &j->findings;
    /* no limit of its own: the size of a request limits the number of findings */
    int r =
        array_grow_in(j->arena, &f->items, &f->capacity, f->count + 1, sizeof(*f->items), SIZE_MAX);

    if (r == 0)
        f->items[f->count++] = finding;
    return r;
}

int gate_add_arguments(struct judgement *j, enum gate_problem problem, struct str place,
                       const struct str *arguments, size_t count)
{
    const struct gate_problem_text *text = gate_problem_text(problem);
    struct message m = {.len = 0};
    struct str message = {.ptr = m.bytes};
    size_t used = 0;

    expand(&m, text->message, arguments, count, &used);
    append(&m, STR("; "));
    expand(&m, text->remedy, arguments, count, &used);
    assert(used == count);
    message.len = clean_text(m.bytes, m.len);
    message.ptr = arena_copy(j->arena, message);
    if (message.ptr == NULL)
        return -ENOMEM;
    return gate_add_finding(
        j, (struct gate_finding){.code = text->code, .message = message, .place = place});
}

int gate_order_findings(struct judgement *j)
{
    struct gate_findings *f = &j->findings;
    struct gate_finding *sorted = NULL;
    size_t n = 0;

    if (f->count < 2)
        return 0;
    sorted = arena_alloc(j->arena, f->count, sizeof(*sorted));
    if (sorted == NULL)
        return -ENOMEM;
    for (int code = 0; code < GATE_CODE_BOUNDARY; code++) {
        for (size_t i = 0; i < f->count; i++) {
            if (f->items[i].code == (enum gate_code)code)
                sorted[n++] = f->items[i];
        }
    }
    assert(n == f->count); /* every finding has one of the codes */
    f->items = sorted;
    f->capacity = n;
    return 0;
}
