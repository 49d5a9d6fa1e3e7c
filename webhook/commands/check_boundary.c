/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_boundary - prints what the pod's own spec asks for beside its declaration (boundary-v1): of
 * each pod a state for each control, and each contradiction with its place. What to do about what
 * is only open or unknown is the same for most pods: it is printed once, behind all of them.
 */

#include <errno.h>
#include <stdio.h>

#include "k8s/boundary/boundary.h"
#include "webhook/cli/output.h"
#include "webhook/commands/check.h"

#define CONTROL_WIDTH 14 /* the longest name of a control, and the gap behind it */
#define STATE_WIDTH 14   /* the same of a state */
#define TABLE_LINES (BOUNDARY_CONTROL_COUNT / 2)

_Static_assert(BOUNDARY_CONTROL_COUNT % 2 == 0, "each line of the table has two controls");

/* A word, not only a colour, makes it stand out. */
static struct str state_word(enum boundary_state state)
{
    return state == BOUNDARY_CONTRADICTED ? STR("CONTRADICTED")
                                          : str_of(boundary_state_text(state));
}

static enum output_colour state_colour(enum boundary_state state)
{
    if (state == BOUNDARY_CONTRADICTED)
        return COLOUR_BAD;
    return state == BOUNDARY_HELD ? COLOUR_GOOD : COLOUR_WARN;
}

/* Without blanks behind the last column. */
static void print_control(const struct boundary *boundary, int control, bool last)
{
    enum boundary_state state = boundary->states[control];
    struct str word = state_word(state);

    printf("%-*s", CONTROL_WIDTH, boundary_control_text((enum boundary_control)control));
    output_print(stdout, state_colour(state), word);
    if (last)
        printf("\n");
    else
        printf("%*s", STATE_WIDTH - (int)word.len, "");
}

/* A finding that denies the request is printed with the other findings of the denial. */
static bool is_shown_above(const struct decision *d, const struct boundary_finding *f)
{
    return !d->allowed && gate_boundary_blocks(d, f);
}

static int print_contradiction(const struct boundary_finding *f, struct arena *arena)
{
    struct str message = {0};
    int r = boundary_message(f, arena, &message);

    if (r != 0)
        return r;
    printf("    ");
    output_print(stdout, state_colour(BOUNDARY_CONTRADICTED), state_word(BOUNDARY_CONTRADICTED));
    return output_line(arena, arena_format(arena, " %s%s%.*s: %.*s", boundary_code_text(f->code),
                                           f->place.len > 0 ? " " : "", (int)f->place.len,
                                           f->place.ptr, (int)message.len, message.ptr));
}

int check_show_boundary(struct check *check, const struct decision *d, struct arena *arena)
{
    const struct boundary *boundary = &d->boundary;
    int r = 0;

    printf("  what the pod's own spec asks for, beside its declaration:\n");
    for (int i = 0; i < TABLE_LINES; i++) {
        printf("    ");
        print_control(boundary, i, false);
        print_control(boundary, i + TABLE_LINES, true);
    }
    for (size_t i = 0; r == 0 && i < boundary->finding_count; i++) {
        const struct boundary_finding *f = &boundary->findings[i];

        if (is_shown_above(d, f))
            continue;
        if (boundary_code_state(f->code) == BOUNDARY_CONTRADICTED)
            r = print_contradiction(f, arena);
        else
            check->boundary_places[f->code]++;
    }
    return r;
}

int check_show_remedies(const struct check *check, struct arena *arena)
{
    bool begun = false;
    int r = 0;

    for (int i = 0; r == 0 && i < BOUNDARY_CODE_COUNT; i++) {
        const char *text = boundary_code_text((enum boundary_code)i);
        const char *hint = boundary_code_hint((enum boundary_code)i);
        size_t places = check->boundary_places[i];

        if (places == 0)
            continue;
        if (!begun)
            printf("to hold what is open or unknown:\n");
        begun = true;
        r = output_line(
            arena, places > 1 ? arena_format(arena, "  %s (%zu places): %s", text, places, hint)
                              : arena_format(arena, "  %s: %s", text, hint));
    }
    return r;
}
