#include <errno.h>

#include "k8s/document.h"
#include "k8s/evidence_parts.h"
#include "planner/tree.h"

static const char *const kind_texts[EVIDENCE_KIND_COUNT] = {
    [EVIDENCE_UNKNOWN] = "unknown",
    [EVIDENCE_REQUIREMENTS] = "SandboxRequirements",
    [EVIDENCE_BASELINE] = "SandboxBaseline",
    [EVIDENCE_EXEMPTION] = "SandboxExemption",
};

const char *evidence_kind_text(enum evidence_kind kind)
{
    return kind > EVIDENCE_UNKNOWN && kind < EVIDENCE_KIND_COUNT ? kind_texts[kind]
                                                                 : kind_texts[EVIDENCE_UNKNOWN];
}

enum evidence_kind evidence_kind_of(struct str kind)
{
    for (int i = EVIDENCE_REQUIREMENTS; i < EVIDENCE_KIND_COUNT; i++) {
        if (str_equal(kind, str_of(kind_texts[i])))
            return (enum evidence_kind)i;
    }
    return EVIDENCE_UNKNOWN;
}

/* Takes `prefix` off, and blanks behind it. */
static bool skip(struct str *s, struct str prefix)
{
    if (!str_starts_with(*s, prefix))
        return false;
    *s = str_trim((struct str){.ptr = s->ptr + prefix.len, .len = s->len - prefix.len});
    return true;
}

/*
 * `kind: SandboxBaseline`, at any depth, quoted or not, as YAML or JSON has it, whatever stands
 * behind it on its line: what does not parse is read in favour of the ceiling.
 */
static bool line_says_baseline(struct str line)
{
    struct str rest = str_trim(line);

    while (skip(&rest, STR("{")) || skip(&rest, STR(",")))
        ;
    if (!skip(&rest, STR("kind")) && !skip(&rest, STR("\"kind\"")) && !skip(&rest, STR("'kind'")))
        return false;
    if (!skip(&rest, STR(":")))
        return false;
    if (!skip(&rest, STR("\"")))
        (void)skip(&rest, STR("'"));
    return str_starts_with(rest, STR("SandboxBaseline"));
}

static bool any_line_says_baseline(struct str text)
{
    size_t from = 0;

    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != '\n' && text.ptr[i] != '\r')
            continue;
        if (line_says_baseline((struct str){.ptr = text.ptr + from, .len = i - from}))
            return true;
        from = i + 1;
    }
    return false;
}

int evidence_calls_itself_baseline(struct str document, bool *ret_baseline)
{
    static const struct document_shape shape[] = {{.key = "kind"}, {0}};
    const struct document_options options = {
        .syntax = DOCUMENT_EITHER, .rules = DOCUMENT_OWN, .shape = shape};
    cleanup_arena struct arena scratch = {0};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = document_read(document, &options, &scratch, &tree, &error);

    if (r == -EBADMSG || r == -E2BIG) {
        *ret_baseline = any_line_says_baseline(document);
        return 0;
    }
    if (r < 0)
        return r;
    *ret_baseline = evidence_kind_of(str_trim(tree_get_text(tree, "kind"))) == EVIDENCE_BASELINE;
    return 0;
}
