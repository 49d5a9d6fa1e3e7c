/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBHOOK_CONFIG_SECTION_H
#define WEBHOOK_CONFIG_SECTION_H

/*
 * section - reads the members of one mapping of the configuration with type and range checks; used
 * only in webhook/config/.
 *
 * Each section_* call names a key, so the calls together define the known keys; section_end()
 * refuses all others. If a member is absent or `null`, the target keeps its value.
 *
 * Errors     collected in the reader, with their places; the reader also records out of memory.
 * Ownership  values are in the arena `texts`, error messages in `arena`.
 */

#include <cjson/cJSON.h>
#include <stdint.h>

#include "planner/base/list.h"
#include "webhook/config/config.h"

#define SECTION_MAX_KEYS 16

struct config_reader {
    struct str text;      /* the whole file */
    struct str directory; /* of the file, with a slash at its end; empty: the working directory */
    struct arena *arena;  /* for errors */
    struct arena *texts;  /* of the configuration */
    struct config_errors *errors;
    size_t problem_count; /* of all; `errors` has only the first ones */
    bool out_of_memory;
};

struct config_section {
    struct config_reader *reader;
    const char *name;    /* with the names of its parents and a dot at its end; "": the root */
    const cJSON *object; /* NULL: the section is absent */
    const char *known[SECTION_MAX_KEYS];
    size_t known_count;
};

struct config_section section_open(struct config_section *parent, const char *key);
void section_end(struct config_section *section);

/* Marks the key as known and returns its value; NULL if absent or null. */
const cJSON *section_take(struct config_section *section, const char *key);

void section_text(struct config_section *section, const char *key, struct str *ret_text);
/* Relative paths are relative to the directory of the file. An empty text gives NULL. */
void section_path(struct config_section *section, const char *key, char **ret_path);
void section_bool(struct config_section *section, const char *key, bool *ret_value);
void section_number(struct config_section *section, const char *key, uint64_t min, uint64_t max,
                    uint64_t *ret_number);
void section_number32(struct config_section *section, const char *key, uint32_t min, uint32_t max,
                      uint32_t *ret_number);
/* The index in names, which ends with NULL. False if the key is absent or its value is wrong. */
bool section_choice(struct config_section *section, const char *key, const char *const *names,
                    unsigned *ret_choice);
/* rule() returns NULL if an item is valid, otherwise what it must be. */
void section_list(struct config_section *section, const char *key,
                  const char *(*rule)(struct str item), struct str_list *ret_list);

/* The mapping `self` of `tls`, in self.c. */
void section_self(struct config_section *tls, struct config_self *ret_self);

/* Adds an error at a value, or at its key if at_key is true. node NULL: without a place. */
void section_refuse(struct config_section *section, const cJSON *node, bool at_key,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
