/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet - writes the fields of a packet as compact JSON.
 */
#include "planner/packet.h"

#include "planner/base/buffer.h"

/* More than an input within the limits can produce. */
#define PACKET_MAX_BYTES ((size_t)1 << 30)

static const char *provenance_text(enum plan_provenance provenance)
{
    return provenance == PLAN_SIGNED_CONFIGMAP ? "signed_configmap"
                                               : "caller_supplied_source_digest";
}

/* Each of these writes `before` (punctuation and the name of a member), then the value. */
static void write_text(struct buffer *out, struct str before, struct str text)
{
    buffer_add(out, before);
    buffer_add_json(out, text);
}

static void write_bool(struct buffer *out, struct str before, bool value)
{
    buffer_add(out, before);
    buffer_add(out, value ? STR("true") : STR("false"));
}

static void write_list(struct buffer *out, struct str before, struct str_list list)
{
    buffer_add(out, before);
    buffer_add_char(out, '[');
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0)
            buffer_add_char(out, ',');
        buffer_add_json(out, list.items[i]);
    }
    buffer_add_char(out, ']');
}

static void write_workload(struct buffer *out, const struct packet *p)
{
    write_text(out, STR(",\"workload\":{\"ref_form\":"), p->ref_form);
    write_text(out, STR(",\"image_digest\":"), p->image_digest);
    write_text(out, STR(",\"skill_ref\":"), p->skill_ref);
    write_text(out, STR(",\"class\":"), p->workload_class);
    buffer_add_char(out, '}');
}

static void write_declaration(struct buffer *out, const struct packet *p)
{
    write_text(out, STR(",\"declaration\":{\"profile\":"), p->profile);
    write_text(out, STR(",\"cwd_policy\":"), p->cwd_policy);
    if (p->env_given)
        write_list(out, STR(",\"env_allowlist\":"), p->env_allowlist);
    else
        buffer_add(out, STR(",\"env_allowlist\":null"));
    write_bool(out, STR(",\"network\":"), p->network);
    write_list(out, STR(",\"writable_paths\":"), p->writable_paths);
    write_bool(out, STR(",\"require_enforcement\":"), p->require_enforcement);
    buffer_add_char(out, '}');
}

static void write_source_evidence(struct buffer *out, const struct packet *p)
{
    write_text(out, STR(",\"source_evidence\":{\"source_ref\":"), p->source_ref);
    write_text(out, STR(",\"source_digest\":"), p->source_digest);
    write_text(out, STR(",\"observed_at\":"), p->observed_at);
    write_text(out, STR(",\"provenance\":"), str_of(provenance_text(p->provenance)));
    buffer_add_char(out, '}');
}

static void write_findings(struct buffer *out, const struct packet *p)
{
    write_text(out, STR(",\"validation\":{\"status\":"),
               p->decision == PLAN_READY ? STR("pass") : STR("fail"));
    buffer_add(out, STR(",\"findings\":["));
    for (size_t i = 0; i < p->finding_count; i++) {
        write_text(out, i > 0 ? STR(",{\"code\":") : STR("{\"code\":"),
                   str_of(plan_code_text(p->findings[i].code)));
        write_text(out, STR(",\"message\":"), p->findings[i].message);
        buffer_add_char(out, '}');
    }
    buffer_add(out, STR("]}"));
}

struct str packet_write(const struct packet *packet, struct arena *arena)
{
    struct buffer out = buffer_make(arena, PACKET_MAX_BYTES);

    write_text(&out, STR("{\"hardening_profile\":{\"schema\":"), STR("runx.hardening.v1"));
    write_text(&out, STR(",\"decision\":"), str_of(plan_decision_text(packet->decision)));
    write_workload(&out, packet);
    write_declaration(&out, packet);
    write_source_evidence(&out, packet);
    write_text(&out, STR(",\"admission\":{\"status\":"),
               packet->admitted ? STR("allow") : STR("deny"));
    write_list(&out, STR(",\"reasons\":"), packet->reasons);
    write_list(&out, STR("},\"unsupported_controls\":"), packet->unsupported_controls);
    write_text(&out, STR(",\"residual_risk\":{\"level\":"),
               packet->risk_medium ? STR("medium") : STR("low"));
    write_text(&out, STR(",\"reason\":"), packet->risk_reason);
    buffer_add(&out, STR("},\"applied\":false"));
    write_findings(&out, packet);
    buffer_add(&out, STR("}}"));
    return buffer_text(&out);
}
