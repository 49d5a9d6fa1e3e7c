/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CONFIG_SECTION_H
#define WEBHOOK_CONFIG_SECTION_H

/*
 * section - typed reading of one mapping of the configuration, private to config.c.
 *
 * Each section_* call names a key, so the calls together say which keys are known;
 * section_end() complains about all others. What is absent or `null` leaves the target alone.
 *
 * Errors     collected in the reader, with their places; out of memory is remembered there too.
 */

#include <cjson/cJSON.h>
#include <stdint.h>

#include "planner/base/list.h"
#include "webhook/config/config.h"

#define SECTION_MAX_KEYS 16

struct config_reader {
    struct str text;     /* the whole file */
    struct str folder;   /* of the file, with its slash; empty: the working folder */
    struct arena *arena; /* for errors */
    struct arena *texts; /* the configuration's own */
    struct config_errors *errors;
    size_t problem_count; /* all of them; errors holds the first */
    bool out_of_memory;
};

struct config_section {
    struct config_reader *reader;
    const char *name;    /* with its parents' and a dot behind; "" for the root */
    const cJSON *object; /* NULL where it is absent */
    const char *known[SECTION_MAX_KEYS];
    size_t known_count;
};

struct config_section section_open(struct config_section *parent, const char *key);
void section_end(struct config_section *section);

/* The member, noted as known; NULL where absent or null. */
const cJSON *section_take(struct config_section *section, const char *key);

void section_text(struct config_section *section, const char *key, struct str *ret_text);
/* Relative ones from the file's own folder; an empty text gives NULL. */
void section_path(struct config_section *section, const char *key, char **ret_path);
void section_bool(struct config_section *section, const char *key, bool *ret_value);
void section_number(struct config_section *section, const char *key, uint64_t min, uint64_t max,
                    uint64_t *ret_number);
void section_number32(struct config_section *section, const char *key, uint32_t min, uint32_t max,
                      uint32_t *ret_number);
/* Index into names, which ends with NULL. False where the key is absent or wrong. */
bool section_choice(struct config_section *section, const char *key, const char *const *names,
                    unsigned *ret_choice);
/* rule: NULL where an item is right, else what it must be. */
void section_list(struct config_section *section, const char *key,
                  const char *(*rule)(struct str item), struct str_list *ret_list);

/* The mapping `self` of `tls`, in self.c. */
void section_self(struct config_section *tls, struct config_self *ret_self);

/* A problem at a node, or at its name; node NULL: at no place. */
void section_refuse(struct config_section *section, const cJSON *node, bool at_key,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
