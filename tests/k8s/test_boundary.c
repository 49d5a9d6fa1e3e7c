/* SPDX-License-Identifier: Apache-2.0 */
/* test_boundary - each row of the table of boundary-v1, section 3, with the nearest input without
 * it; and the limits of the annotation. The cases H03 and the reference cover combinations. */
#include "k8s/boundary/boundary.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "k8s/document/document.h"
#include "planner/base/buffer.h"
#include "planner/base/tree.h"
#include "tests/webhook/failing_arena.h"

#define MAX_TEXT_BYTES ((size_t)1 << 24)
/* A container with everything that section 3 asks for. */
#define LIMITS "\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}"
#define CONTEXT                                                                                    \
    "\"readOnlyRootFilesystem\":true,\"allowPrivilegeEscalation\":false,\"runAsNonRoot\":true,"    \
    "\"seccompProfile\":{\"type\":\"RuntimeDefault\"}"
#define DROP "\"capabilities\":{\"drop\":[\"all\"]}"
#define HELD LIMITS ",\"securityContext\":{" CONTEXT "," DROP "}"
#define POD "\"enableServiceLinks\":false,\"automountServiceAccountToken\":false"
#define CONTAINER(more) POD ",\"containers\":[{" HELD more "}]"
#define SECURITY(context) POD ",\"containers\":[{" LIMITS ",\"securityContext\":{" context "}}]"
#define MOUNTS(mounts, volumes)                                                                    \
    CONTAINER(",\"volumeMounts\":[" mounts "]") ",\"volumes\":[" volumes "]"
#define AT " spec.containers[0]"

static const struct str paths[] = {STR_INIT("data"), STR_INIT("tmp/out")};
static const struct str names[] = {STR_INIT("A"), STR_INIT("B_C")};
static const struct str mounts[] = {STR_INIT("/var/cache")};

static struct boundary_question question_of(const struct workload *pod, const bool *sidecars)
{
    return (struct boundary_question){
        .pod = pod,
        .sidecars = sidecars,
        .declared = {.env_given = true, .env_allowlist = {names, 2}, .writable_paths = {paths, 2}},
        .mounts = {mounts, 1},
        .policies_read = true,
    };
}

static struct workload read_pod(struct arena *arena, const char *spec)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
    struct str text = arena_format(
        arena, "{\"metadata\":{\"uid\":\"u\",\"labels\":{\"app\":\"a\"}},\"spec\":{%s}}", spec);
    struct document_error error = {0};
    struct workload w = {0};
    cJSON *tree = NULL;

    cr_assert_eq(document_read(text, &options, arena, &tree, &error), 0, "%s: %s", spec,
                 error.what);
    cr_assert_eq(workload_read(WORKLOAD_POD, tree, arena, &w), 0);
    return w;
}

static const bool no_sidecars[65536];

/* The findings as `code place`, one in each line. */
static const char *findings_of(struct arena *arena, const struct boundary *boundary)
{
    struct buffer b = buffer_make(arena, MAX_TEXT_BYTES);

    for (size_t i = 0; i < boundary->finding_count; i++) {
        const struct boundary_finding *f = &boundary->findings[i];

        buffer_add(&b, str_of(boundary_code_text(f->code)));
        buffer_add_char(&b, ' ');
        buffer_add(&b, f->place);
        buffer_add_char(&b, '\n');
    }
    return buffer_text(&b).ptr;
}

/* An open egress is the last one of each pod here without policies. */
#define EGRESS "boundary.egress.open \n"

static const struct {
    const char *spec;
    const char *findings; /* without EGRESS */
} rows[] = {
    {CONTAINER(""), ""},
    /* environment */
    {CONTAINER(",\"env\":[{\"name\":\"A\"},{\"name\":\"B_C\"}]"), ""},
    {CONTAINER(",\"env\":[{\"name\":\"A\"},{\"name\":\"a\"},{\"name\":\"A \"},{},7]"),
     "boundary.env.unlisted" AT ".env[1].name\nboundary.env.unlisted" AT ".env[2].name\n"
     "boundary.env.unlisted" AT ".env[3].name\nboundary.env.unlisted" AT ".env[4].name\n"},
    {CONTAINER(",\"env\":{\"name\":\"X\"}"), ""},
    {CONTAINER(",\"envFrom\":[{\"prefix\":\"A\"},7]"),
     "boundary.env.unseen" AT ".envFrom[0]\nboundary.env.unseen" AT ".envFrom[1]\n"},
    {"\"automountServiceAccountToken\":false,\"containers\":[{" HELD "}]",
     "boundary.env.service_links spec.enableServiceLinks\n"},
    /* filesystem */
    {SECURITY("\"allowPrivilegeEscalation\":false,\"runAsNonRoot\":true," DROP
              ",\"seccompProfile\":{\"type\":\"Localhost\"},\"readOnlyRootFilesystem\":\"true\""),
     "boundary.fs.root" AT "\n"},
    {MOUNTS("{\"name\":\"v\",\"mountPath\":\"/var/cache/x\"},{\"name\":\"v\",\"mountPath\":"
            "\"/var//cache/\"}",
            "{\"name\":\"v\",\"emptyDir\":{}}"),
     ""},
    {MOUNTS("{\"name\":\"v\",\"mountPath\":\"/var/cached\"},{\"mountPath\":\"/etc\"},"
            "{\"name\":\"v\",\"mountPath\":\"/var/cache/../x\"},"
            "{\"name\":\"v\",\"mountPath\":\"var/cache\"},"
            "{\"name\":\"v\",\"mountPath\":\"/etc\",\"readOnly\":true}",
            "{\"name\":\"v\",\"emptyDir\":{}}"),
     "boundary.fs.mount" AT ".volumeMounts[0]\nboundary.fs.mount" AT ".volumeMounts[1]\n"
     "boundary.fs.mount" AT ".volumeMounts[2]\nboundary.fs.mount" AT ".volumeMounts[3]\n"},
    {MOUNTS("{\"name\":\"a\",\"mountPath\":\"/etc\"},{\"name\":\"b\",\"mountPath\":\"/etc\"},"
            "{\"name\":\"c\",\"mountPath\":\"/etc\"}",
            "{\"name\":\"b\",\"csi\":{\"readOnly\":true}},{\"name\":\"a\",\"secret\":{}},"
            "{\"name\":\"c\",\"configMap\":\"text\"},{\"name\":\"c\",\"configMap\":{}}"),
     "boundary.fs.mount" AT ".volumeMounts[2]\n"},
    {MOUNTS("{\"name\":\"v\",\"mountPath\":\"/srv/tmp/out\"},{\"name\":\"v\",\"mountPath\":"
            "\"/tmp/out\"},{\"name\":\"v\",\"mountPath\":\"/a/data/b/c\"},"
            "{\"name\":\"v\",\"mountPath\":\"/a/database\"},{\"name\":\"v\",\"mountPath\":\"/\"}",
            ""),
     "boundary.fs.mount" AT ".volumeMounts[1]\nboundary.fs.mount" AT ".volumeMounts[3]\n"
     "boundary.fs.mount" AT ".volumeMounts[4]\n"
     "boundary.fs.unplaced" AT ".volumeMounts[0]\nboundary.fs.unplaced" AT ".volumeMounts[2]\n"},
    {CONTAINER(",\"workingDir\":\"/srv//w/\",\"volumeMounts\":[{\"mountPath\":\"/srv/w/data\"},"
               "{\"mountPath\":\"/srv/w/tmp/out/x\"},{\"mountPath\":\"/srv/w\"},"
               "{\"mountPath\":\"/srv/w-data\"}]"),
     "boundary.fs.mount" AT ".volumeMounts[2]\nboundary.fs.mount" AT ".volumeMounts[3]\n"},
    {CONTAINER(",\"volumeDevices\":[{}]"), "boundary.fs.device" AT ".volumeDevices[0]\n"},
    /* network */
    {POD ",\"hostNetwork\":true,\"containers\":[{" HELD "}]",
     "boundary.network.host spec.hostNetwork\n"},
    {CONTAINER(",\"ports\":[{\"hostPort\":0},{\"hostPort\":80},{\"hostPort\":\"80\"}]"),
     "boundary.network.host_port" AT ".ports[1]\nboundary.network.serves" AT ".ports[0]\n"
     "boundary.network.serves" AT ".ports[1]\nboundary.network.serves" AT ".ports[2]\n"},
    {CONTAINER(",\"lifecycle\":{\"preStop\":{\"httpGet\":{}},\"postStart\":{\"sleep\":{}}},"
               "\"startupProbe\":{\"grpc\":{}},\"livenessProbe\":{\"exec\":{},\"tcpSocket\":{}}"),
     "boundary.network.serves" AT ".livenessProbe.tcpSocket\n"
     "boundary.network.serves" AT ".startupProbe.grpc\n"
     "boundary.network.serves" AT ".lifecycle.preStop.httpGet\n"},
    /* system calls */
    {SECURITY("\"allowPrivilegeEscalation\":false,\"runAsNonRoot\":true," DROP
              ",\"seccompProfile\":{\"type\":\"\"},\"readOnlyRootFilesystem\":true"),
     "boundary.seccomp.unset" AT "\n"},
    {SECURITY("\"allowPrivilegeEscalation\":false,\"runAsNonRoot\":true," DROP
              ",\"seccompProfile\":{\"type\":\"Other\"},\"readOnlyRootFilesystem\":true"),
     "boundary.seccomp.unconfined" AT "\n"},
    /* capabilities */
    {SECURITY(CONTEXT ",\"privileged\":true"),
     "boundary.seccomp.unconfined" AT "\nboundary.capability.privileged" AT "\n"},
    {SECURITY(CONTEXT ",\"capabilities\":{\"drop\":[\"NET_RAW\"]}"),
     "boundary.capability.kept" AT "\n"},
    {SECURITY(CONTEXT ",\"capabilities\":{\"drop\":[\"ALL\"],\"add\":[\"A\",7]}"),
     "boundary.capability.added" AT ".securityContext.capabilities.add[0]\n"
     "boundary.capability.added" AT ".securityContext.capabilities.add[1]\n"},
    {SECURITY(
         "\"readOnlyRootFilesystem\":true,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}," DROP),
     "boundary.capability.escalation" AT "\nboundary.capability.root" AT "\n"},
    {SECURITY(CONTEXT "," DROP ",\"runAsUser\":0"), "boundary.capability.root" AT "\n"},
    /* resources */
    {POD ",\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"0.0\",\"memory\":0}},"
         "\"securityContext\":{" CONTEXT "," DROP "}}]",
     "boundary.resources.cpu" AT "\nboundary.resources.memory" AT "\n"},
    {POD ",\"resources\":{\"limits\":{\"cpu\":0.5,\"memory\":\"0e9\"}},\"containers\":["
         "{\"securityContext\":{" CONTEXT "," DROP "}}]",
     "boundary.resources.memory" AT "\n"},
    /* isolation */
    {POD ",\"hostIPC\":true,\"hostPID\":true,\"shareProcessNamespace\":true,\"containers\":[{" HELD
         "}]",
     "boundary.host.namespace spec.hostPID\nboundary.host.namespace spec.hostIPC\n"
     "boundary.host.namespace spec.shareProcessNamespace\n"},
    {MOUNTS("{\"name\":\"v\",\"mountPath\":\"/etc\",\"readOnly\":true}",
            "{\"name\":\"v\",\"hostPath\":{}}"),
     "boundary.host.path" AT ".volumeMounts[0]\n"},
    {SECURITY(CONTEXT "," DROP
                      ",\"procMount\":\"Unmasked\"") ",\"securityContext\":{\"windowsOptions\":{"
                                                     "\"hostProcess\":true}}",
     "boundary.host.proc spec\nboundary.host.proc" AT "\n"},
    {MOUNTS("{\"name\":\"v\",\"mountPath\":\"/etc\"},{\"name\":\"w\",\"mountPath\":\"/etc\"}",
            "{\"name\":\"v\",\"projected\":{\"sources\":[{},{\"podCertificate\":{}}]}},"
            "{\"name\":\"w\",\"projected\":{\"sources\":[{\"secret\":{}}]}}"),
     "boundary.host.token" AT ".volumeMounts[0]\n"},
};

/* Without the line of an egress without policies, which is in the middle. */
static const char *without_egress(struct arena *arena, const char *text)
{
    const char *found = strstr(text, EGRESS);

    if (found == NULL)
        return text;
    return arena_format(arena, "%.*s%s", (int)(found - text), text, found + sizeof(EGRESS) - 1).ptr;
}

Test(boundary, each_row_of_the_table)
{
    bool reached[BOUNDARY_CODE_COUNT] = {[BOUNDARY_CODE_ENV_UNDECLARED] = true,
                                         [BOUNDARY_CODE_EGRESS_UNSEEN] = true,
                                         [BOUNDARY_CODE_EGRESS_ANY] = true,
                                         [BOUNDARY_CODE_EGRESS_SOME] = true};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cleanup_arena struct arena arena = {0};
        struct workload pod = read_pod(&arena, rows[i].spec);
        struct boundary_question question = question_of(&pod, no_sidecars);
        struct boundary b = {0};

        cr_assert_eq(boundary_read(&question, &arena, &b), 0);
        cr_expect_str_eq(without_egress(&arena, findings_of(&arena, &b)), rows[i].findings, "%s",
                         rows[i].spec);
        for (size_t f = 0; f < b.finding_count; f++)
            reached[b.findings[f].code] = true;
    }
    for (int code = 0; code < BOUNDARY_CODE_COUNT; code++)
        cr_expect(reached[code], "%s", boundary_code_text((enum boundary_code)code));
}

/* The codes of egress, and an allowlist that is not given. */
Test(boundary, policies_and_an_absent_allowlist)
{
    cleanup_arena struct arena arena = {0};
    const struct network_policy *policies[3];
    struct workload pod = read_pod(&arena, CONTAINER(",\"env\":[{\"name\":\"X\"}]"));
    struct boundary_question question = question_of(&pod, no_sidecars);
    static const char *const specs[] = {
        "{\"policyTypes\":[\"Egress\"]}",
        "{\"egress\":[{\"to\":[{\"podSelector\":{}}]}]}",
        "{\"egress\":[{}]}",
    };
    struct boundary b = {0};

    for (size_t i = 0; i < 3; i++) {
        const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_REVIEW};
        struct document_error error = {0};
        struct network_policy *policy = NULL;
        cJSON *spec = NULL;

        cr_assert_eq(document_read(str_of(specs[i]), &options, &arena, &spec, &error), 0);
        cr_assert_eq(network_policy_make(STR("n"), (struct str){&"abc"[i], 1}, spec, &policy), 0);
        policies[i] = policy;
    }
    question.declared.env_given = false;
    question.policies_read = false;
    cr_assert_eq(boundary_read(&question, &arena, &b), 0);
    cr_expect_str_eq(findings_of(&arena, &b),
                     "boundary.env.undeclared \nboundary.egress.unseen \n");
    cr_expect_eq(b.states[BOUNDARY_EGRESS], BOUNDARY_UNKNOWN);
    question.policies_read = true;
    question.policies = policies;
    question.policy_count = 3;
    cr_assert_eq(boundary_read(&question, &arena, &b), 0);
    cr_expect_str_eq(findings_of(&arena, &b),
                     "boundary.env.undeclared \nboundary.egress.some networkpolicy/b\n"
                     "boundary.egress.some networkpolicy/c\n");
    question.declared.network = true;
    cr_assert_eq(boundary_read(&question, &arena, &b), 0);
    cr_expect_str_eq(findings_of(&arena, &b),
                     "boundary.env.undeclared \nboundary.egress.any networkpolicy/c\n");
    question.policy_count = 2;
    cr_assert_eq(boundary_read(&question, &arena, &b), 0);
    cr_expect_eq(b.states[BOUNDARY_EGRESS], BOUNDARY_HELD);
    for (size_t i = 0; i < 3; i++)
        network_policy_unref(policies[i]);
}

/* A sidecar's variables, mounts and ports are its own affair; its privileges are not. */
Test(boundary, sidecars_are_not_own)
{
    cleanup_arena struct arena arena = {0};
    static const bool sidecars[] = {true};
    struct workload pod =
        read_pod(&arena, POD ",\"containers\":[{\"env\":[{\"name\":\"X\"}],\"ports\":[{}],"
                             "\"volumeMounts\":[{\"mountPath\":\"/etc\"}]}]");
    struct boundary_question question = question_of(&pod, sidecars);
    struct boundary b = {0};

    cr_assert_eq(boundary_read(&question, &arena, &b), 0);
    cr_expect_str_eq(findings_of(&arena, &b),
                     EGRESS "boundary.seccomp.unset" AT "\nboundary.capability.kept" AT "\n"
                            "boundary.capability.escalation" AT "\nboundary.capability.root" AT "\n"
                            "boundary.resources.cpu" AT "\nboundary.resources.memory" AT "\n");
}

Test(boundary, every_code_has_its_texts)
{
    cleanup_arena struct arena arena = {0};

    for (int code = 0; code < BOUNDARY_CODE_COUNT; code++) {
        const struct boundary_finding finding = {.code = (enum boundary_code)code,
                                                 .place = STR("")};
        enum boundary_control control = boundary_code_control(finding.code);
        struct str message = {0};

        cr_assert_eq(boundary_message(&finding, &arena, &message), 0);
        cr_expect(str_contains(message, STR("; ")), "%s", message.ptr);
        cr_expect(str_contains(message, str_of(boundary_code_hint(finding.code))));
        cr_expect_gt(boundary_code_state(finding.code), BOUNDARY_HELD);
        /* the annotation relies on it */
        cr_expect(code == 0 || boundary_code_control((enum boundary_code)(code - 1)) <= control);
    }
}

Test(boundary, only_names_of_variables_are_shown)
{
    static const struct {
        struct str name;
        const char *message;
    } names_shown[] = {
        {STR_INIT("TOKEN"), "env_allowlist does not have the variable TOKEN; remove it, or have it "
                            "declared and signed"},
        {{0},
         "env_allowlist does not have the variable ?; remove it, or have it declared and "
         "signed"},
    };

    for (size_t i = 0; i < 2; i++) {
        cleanup_arena struct arena arena = {0};
        const struct boundary_finding finding = {.code = BOUNDARY_CODE_ENV_UNLISTED,
                                                 .name = names_shown[i].name};
        struct str message = {0};

        cr_assert_eq(boundary_message(&finding, &arena, &message), 0);
        cr_expect_str_eq(message.ptr, names_shown[i].message);
    }
}

/* `count` findings of each of two controls. */
static void make_many(struct arena *arena, size_t count, struct str place,
                      struct boundary *ret_boundary)
{
    struct boundary_finding *findings = arena_alloc(arena, 2 * count, sizeof(*findings));

    cr_assert_not_null(findings);
    for (size_t i = 0; i < 2 * count; i++)
        findings[i] = (struct boundary_finding){
            .code = i < count ? BOUNDARY_CODE_FS_ROOT : BOUNDARY_CODE_SECCOMP_UNSET,
            .place = place,
        };
    *ret_boundary = (struct boundary){.findings = findings, .finding_count = 2 * count};
    /* words of different lengths, so that the rest has different lengths too */
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++)
        ret_boundary->states[i] = (count >> i & 1) != 0 ? BOUNDARY_CONTRADICTED : BOUNDARY_HELD;
}

static size_t count_of(struct str text, const char *part)
{
    size_t count = 0;

    for (const char *p = text.ptr; (p = strstr(p, part)) != NULL; p++)
        count++;
    return count;
}

/* The last finding of the control with the most is left out; of two with the same number that of
 * the first. So the first has as many as the second, or one fewer. */
Test(boundary, a_long_annotation_loses_findings_of_the_longest_lists)
{
    for (size_t count = 40; count < 30000; count += count < 200 ? 1 : count / 2) {
        cleanup_arena struct arena arena = {0};
        struct boundary many = {0};
        struct str text = {0}, left_out = {0};
        size_t first = 0, second = 0;

        make_many(&arena, count, (struct str){"pppppppp", count % 8}, &many);
        cr_assert_eq(boundary_write(&many, &arena, &text), 0);
        first = count_of(text, "fs.root");
        second = count_of(text, "seccomp.unset");
        cr_expect_leq(buffer_audit_size(text), BOUNDARY_MAX_AUDIT_BYTES);
        cr_expect(first == second || first + 1 == second, "%zu %zu", first, second);
        left_out = arena_format(&arena, "],\"left_out\":%zu}", 2 * count - first - second);
        cr_expect(first == count ? !str_contains(text, STR("left_out"))
                                 : str_contains(text, left_out),
                  "%s", text.ptr);
        /* one more would not fit */
        cr_expect(first == count || buffer_audit_size(text) + 62 > BOUNDARY_MAX_AUDIT_BYTES);
    }
}

/* A pod can have more findings than anybody reads: the places of further ones are not made. */
Test(boundary, very_many_findings_are_counted)
{
    enum { COUNT = 20000 };
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_TEXT_BYTES);
    struct boundary_question question = {0};
    struct boundary many = {0};
    struct workload pod = {0};
    struct str text = {0};
    size_t before = 0;

    buffer_add(&b, STR(POD ",\"containers\":[{" HELD ",\"env\":["));
    for (unsigned i = 0; i < COUNT; i++)
        buffer_add(&b, i > 0 ? STR(",{\"name\":\"X\"}") : STR("{\"name\":\"X\"}"));
    buffer_add(&b, STR("],\"envFrom\":[{}]}]"));
    pod = read_pod(&arena, buffer_text(&b).ptr);
    question = question_of(&pod, no_sidecars);
    before = arena_used_bytes(&arena);
    cr_assert_eq(boundary_read(&question, &arena, &many), 0);
    cr_expect_lt(arena_used_bytes(&arena) - before, (size_t)512 * 1024);
    cr_expect_eq(many.more[BOUNDARY_CODE_ENV_UNLISTED], COUNT - BOUNDARY_MAX_FINDINGS_PER_CODE);
    cr_expect_eq(many.finding_count, BOUNDARY_MAX_FINDINGS_PER_CODE + 2, "envFrom, and egress");
    cr_expect_str_eq(many.findings[999].place.ptr, "spec.containers[0].env[999].name");
    cr_assert_eq(boundary_write(&many, &arena, &text), 0);
    cr_expect_eq(buffer_audit_size(text) <= BOUNDARY_MAX_AUDIT_BYTES, true);
    cr_expect(str_contains(text, arena_format(&arena, "],\"left_out\":%zu}",
                                              COUNT + 2 - count_of(text, "\"place\""))),
              "%s", text.ptr);
}

Test(boundary, the_annotation_of_a_held_pod)
{
    cleanup_arena struct arena arena = {0};
    struct boundary held = {0};
    struct str text = {0};

    make_many(&arena, 0, STR(""), &held);
    cr_assert_eq(boundary_write(&held, &arena, &text), 0);
    cr_expect_str_eq(
        text.ptr,
        "{\"schema\":\"sandbox.boundary.v1\",\"read\":\"pod spec at admission\",\"applied\":false,"
        "\"controls\":[{\"control\":\"environment\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"filesystem\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"network\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"egress\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"syscalls\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"capabilities\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"resources\",\"state\":\"held\",\"findings\":[]},"
        "{\"control\":\"isolation\",\"state\":\"held\",\"findings\":[]}]}");
}

/* Names of policies in a folder can have any bytes. */
Test(boundary, names_of_policies_are_escaped)
{
    cleanup_arena struct arena arena = {0};
    const struct boundary_finding findings[] = {
        {.code = BOUNDARY_CODE_EGRESS_ANY, .place = STR("networkpolicy/a\"\\\n<")}};
    const struct boundary b = {.findings = findings, .finding_count = 1};
    struct str text = {0};

    cr_assert_eq(boundary_write(&b, &arena, &text), 0);
    cr_expect(str_contains(text, STR("\"place\":\"networkpolicy/a\\\"\\\\\\n<\"}")), "%s",
              text.ptr);
}

Test(boundary, the_nth_allocation_fails)
{
    bool failed = true;

    for (size_t n = 1; failed; n++) {
        cleanup_arena struct arena arena = {0};
        struct workload pod = read_pod(
            &arena, MOUNTS("{\"name\":\"v\",\"mountPath\":\"/srv/data\"},{\"mountPath\":\"/etc\"}",
                           "{\"name\":\"v\",\"hostPath\":{}}") ",\"hostPID\":true");
        struct boundary_question question = question_of(&pod, no_sidecars);
        struct boundary b = {0};
        struct str text = {0};
        int r = 0;

        failing_arena_arm(n);
        r = boundary_read(&question, &arena, &b);
        if (r == 0)
            r = boundary_write(&b, &arena, &text);
        failed = failing_arena_disarm();
        cr_assert_eq(r, failed ? -ENOMEM : 0, "allocation %zu", n);
        cr_assert_eq(str_present(text), !failed);
        cr_assert(n < 1000);
    }
}
