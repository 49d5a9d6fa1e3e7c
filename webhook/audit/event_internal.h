/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_EVENT_INTERNAL_H
#define WEBHOOK_AUDIT_EVENT_INTERNAL_H

/*
 * event_internal - what the files event*.c share.
 *
 * Errors     as in event.h; -EBADMSG: the text cannot be read.
 */

#include "k8s/document/document.h"
#include "webhook/audit/event.h"

/* event_audit.c, event_record.c: the members that are read, and the decisions in a tree of them. */
extern const struct document_shape event_audit_shape[];
extern const struct document_shape event_record_shape[];
int event_of_audit(const cJSON *tree, struct arena *arena, struct events *events,
                   enum event_kind *ret_kind) __attribute__((warn_unused_result));
int event_of_record(const cJSON *tree, struct arena *arena, struct events *events,
                    enum event_kind *ret_kind) __attribute__((warn_unused_result));

/* event_boundary.c: tree may be NULL, where a reading is there and cannot be parsed. */
void event_take_boundary(const cJSON *tree, struct event *event) __attribute__((nonnull(2)));

/* event_parts.c */
/* Whether that is an outcome of gate-v1, section 7. */
bool event_outcome_known(struct str outcome);
/* Outcomes with which a request is denied at the level enforce. */
bool event_outcome_blocks(struct str outcome);
/* Outcomes that are the decision of the packet. */
bool event_outcome_of_plan(struct str outcome);
/* Splits `<namespace>/<kind>/<name>`. */
void event_take_subject(struct str subject, struct event *event);
/* The name was made from a generateName: without the suffix it names the controller. */
void event_take_generated(struct event *event);
/* findings: list of the gate's findings; packet: has those of the planner. Both may be NULL. */
int event_take_findings(const cJSON *findings, const cJSON *packet, struct arena *arena,
                        struct event *event) __attribute__((warn_unused_result));
/* The images of a pod, or of the pod template of a controller. */
int event_take_images(const cJSON *object, struct arena *arena, struct event *event)
    __attribute__((warn_unused_result));
/* The texts of a list, at most max. */
int event_take_texts(const cJSON *list, size_t max, struct arena *arena, struct str_list *ret_list)
    __attribute__((warn_unused_result));
/* Reads JSON inside of JSON: the text of an annotation. NULL if it cannot be read. */
int event_read_inner(struct str text, struct arena *arena, const cJSON **ret_tree)
    __attribute__((warn_unused_result));
/* A tree as compact JSON, members in their order, texts as buffer_add_json() writes them: the same
 * bytes as the planner writes, so that packets can be compared. cJSON_Print() escapes differently
 * and does not allocate from an arena. */
int event_write_tree(const cJSON *tree, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result));

#endif
