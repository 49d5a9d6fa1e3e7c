/* SPDX-License-Identifier: Apache-2.0 */
/* event_boundary - reads what a pod's own spec asked for (boundary-v1, section 4) out of a log. */

#include "planner/base/tree.h"
#include "webhook/audit/event_internal.h"

static enum boundary_state read_state(struct str text)
{
    for (int i = BOUNDARY_HELD; i <= BOUNDARY_CONTRADICTED; i++) {
        if (str_equal(text, str_of(boundary_state_text((enum boundary_state)i))))
            return (enum boundary_state)i;
    }
    return BOUNDARY_UNREAD;
}

static bool read_code(struct str text, enum boundary_code *ret_code)
{
    for (int i = 0; i < BOUNDARY_CODE_COUNT; i++) {
        if (str_equal(text, str_of(boundary_code_text((enum boundary_code)i)))) {
            *ret_code = (enum boundary_code)i;
            return true;
        }
    }
    return false;
}

/* Codes that this program does not know are ignored: the state counts them. A state that is better
 * than one of its findings is not believed. */
static bool take_control(const cJSON *item, int control, struct event_boundary *b)
{
    const cJSON *findings = tree_get(item, "findings");
    enum boundary_state state = read_state(tree_get_text(item, "state"));

    if (!str_equal(tree_get_text(item, "control"),
                   str_of(boundary_control_text((enum boundary_control)control))) ||
        state == BOUNDARY_UNREAD || !tree_is(findings, cJSON_Array))
        return false;
    for (const cJSON *f = findings->child; f != NULL; f = f->next) {
        enum boundary_code code = BOUNDARY_CODE_COUNT;

        if (!read_code(tree_get_text(f, "code"), &code) ||
            (int)boundary_code_control(code) != control)
            continue;
        b->codes |= event_boundary_bit(code);
        if (boundary_code_state(code) > state)
            state = boundary_code_state(code);
    }
    b->states[control] = state;
    return true;
}

void event_take_boundary(const cJSON *tree, struct event *event)
{
    const cJSON *controls = tree_get(tree, "controls");
    struct event_boundary b = {.state = EVENT_BOUNDARY_READ};
    const cJSON *item = tree_is(controls, cJSON_Array) ? controls->child : NULL;
    int control = 0;

    event->boundary = (struct event_boundary){.state = EVENT_BOUNDARY_BROKEN};
    if (!str_equal(tree_get_text(tree, "schema"), STR("sandbox.boundary.v1")))
        return;
    for (; item != NULL && control < BOUNDARY_CONTROL_COUNT; item = item->next, control++) {
        if (!take_control(item, control, &b))
            return;
    }
    if (item == NULL && control == BOUNDARY_CONTROL_COUNT)
        event->boundary = b;
}
