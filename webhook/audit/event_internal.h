/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_AUDIT_EVENT_INTERNAL_H
#define WEBHOOK_AUDIT_EVENT_INTERNAL_H

/*
 * event_internal - what the files event*.c share.
 *
 * Errors     as in event.h; -EBADMSG what cannot be read.
 */

#include "k8s/document/document.h"
#include "webhook/audit/event.h"

/* event_audit.c, event_record.c: the tree that they ask for, and what they make of it. */
extern const struct document_shape event_audit_shape[];
extern const struct document_shape event_record_shape[];
int event_of_audit(const cJSON *tree, struct arena *arena, struct events *events,
                   enum event_kind *ret_kind) __attribute__((warn_unused_result));
int event_of_record(const cJSON *tree, struct arena *arena, struct events *events,
                    enum event_kind *ret_kind) __attribute__((warn_unused_result));

/* event_parts.c */
/* Whether that is an outcome of gate-v1, section 7. */
bool event_outcome_known(struct str outcome);
/* Outcomes with which a request is denied where its level is enforced. */
bool event_outcome_blocks(struct str outcome);
/* `<namespace>/<kind>/<name>` into its parts. */
void event_take_subject(struct str subject, struct event *event);
/* The name was made out of a generateName: without what was added, it tells whose pod it is. */
void event_take_generated(struct event *event);
/* findings: the gate's, as a list; packet: the plan's. Both may be NULL. */
int event_take_findings(const cJSON *findings, const cJSON *packet, struct arena *arena,
                        struct event *event) __attribute__((warn_unused_result));
/* The images that a pod, or a controller's template, names. */
int event_take_images(const cJSON *object, struct arena *arena, struct event *event)
    __attribute__((warn_unused_result));
/* Texts of a list, at most so many. */
int event_take_texts(const cJSON *list, size_t max, struct arena *arena, struct str_list *ret_list)
    __attribute__((warn_unused_result));
/* Reads JSON within JSON: an annotation's text. NULL where it cannot be read. */
int event_read_inner(struct str text, struct arena *arena, const cJSON **ret_tree)
    __attribute__((warn_unused_result));
/* A tree as compact JSON, its members in their order: what buffer_add_json() writes. */
int event_write_tree(const cJSON *tree, struct arena *arena, struct str *ret_text)
    __attribute__((warn_unused_result));

#endif
