/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level - reads levels and resolves those of a namespace.
 */
#include "k8s/policy/level.h"

#include <assert.h>

static const struct {
    struct str text;
    enum level level;
} levels[] = {
    {STR_INIT("none"), LEVEL_NONE},
    {STR_INIT("annotated"), LEVEL_ANNOTATED},
    {STR_INIT("required"), LEVEL_REQUIRED},
};

#define LEVEL_COUNT (sizeof(levels) / sizeof(levels[0]))

bool level_read(struct str s, enum level *ret_level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (str_equal(s, levels[i].text)) {
            *ret_level = levels[i].level;
            return true;
        }
    }
    return false;
}

const char *level_text(enum level level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (levels[i].level == level)
            return levels[i].text.ptr;
    }
    return "unset";
}

static enum level resolve(struct str label, enum level unreadable, enum level standard,
                          enum level floor)
{
    enum level level = standard;

    assert(standard != LEVEL_UNSET && floor != LEVEL_UNSET);
    if (str_present(label) && !level_read(label, &level))
        level = unreadable;
    return level > floor ? level : floor;
}

struct levels levels_resolve(const struct level_labels *labels, struct levels defaults,
                             struct levels floor)
{
    return (struct levels){
        .enforce = resolve(labels->enforce, LEVEL_REQUIRED, defaults.enforce, floor.enforce),
        .warn = resolve(labels->warn, LEVEL_NONE, defaults.warn, floor.warn),
        .audit = resolve(labels->audit, LEVEL_NONE, defaults.audit, floor.audit),
        .boundary = boundary_level_resolve(labels->boundary, defaults.boundary, floor.boundary),
    };
}
