/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary_level - reads the levels and controls of a boundary, and resolves the level of a
 * namespace.
 */
#include "k8s/policy/boundary_level.h"

#include <assert.h>

static const struct {
    struct str text;
    enum boundary_level level;
} levels[] = {
    {STR_INIT("none"), BOUNDARY_LEVEL_NONE},
    {STR_INIT("record"), BOUNDARY_LEVEL_RECORD},
    {STR_INIT("warn"), BOUNDARY_LEVEL_WARN},
    {STR_INIT("block"), BOUNDARY_LEVEL_BLOCK},
};

#define LEVEL_COUNT (sizeof(levels) / sizeof(levels[0]))

static const struct str controls[BOUNDARY_CONTROL_COUNT] = {
#define X(name, text) [BOUNDARY_##name] = STR_INIT(text),
    BOUNDARY_CONTROLS(X)
#undef X
};

bool boundary_level_read(struct str s, enum boundary_level *ret_level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (str_equal(s, levels[i].text)) {
            *ret_level = levels[i].level;
            return true;
        }
    }
    return false;
}

const char *boundary_level_text(enum boundary_level level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (levels[i].level == level)
            return levels[i].text.ptr;
    }
    return "unset";
}

enum boundary_level boundary_level_resolve(struct str label, enum boundary_level standard,
                                           enum boundary_level floor)
{
    enum boundary_level level = standard;

    assert(standard != BOUNDARY_LEVEL_UNSET && floor != BOUNDARY_LEVEL_UNSET);
    if (str_present(label) && !boundary_level_read(label, &level))
        level = BOUNDARY_LEVEL_BLOCK;
    return level > floor ? level : floor;
}

bool boundary_control_read(struct str s, enum boundary_control *ret_control)
{
    for (int i = 0; i < BOUNDARY_CONTROL_COUNT; i++) {
        if (str_equal(s, controls[i])) {
            *ret_control = (enum boundary_control)i;
            return true;
        }
    }
    return false;
}

const char *boundary_control_text(enum boundary_control control)
{
    return (unsigned)control < BOUNDARY_CONTROL_COUNT ? controls[control].ptr : "";
}
