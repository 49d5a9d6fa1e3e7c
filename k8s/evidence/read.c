/* SPDX-License-Identifier: Apache-2.0 */
/* read - reads the fields of a document, and gives the first problem as the reason. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "k8s/evidence/internal.h"
#include "k8s/policy/boundary_level.h"
#include "k8s/policy/names.h"
#include "planner/base/tree.h"
#include "planner/plan.h"

#define MAX_SHOWN_NAME_BYTES 64

/* One reading. The first problem ends it: it sets reason, or error. */
struct reader {
    struct arena *arena;
    struct evidence *facts;
    struct str reason;
    int error;
};

/* An object of the document, and the prefix of its fields in a reason. */
struct part {
    const cJSON *object;
    const char *prefix; /* "", "match." */
};

static bool refuse(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the reason. Always false, so that callers can return it. */
static bool refuse(struct reader *reader, const char *format, ...)
{
    char text[EVIDENCE_MAX_REASON_BYTES];
    char *copy = NULL;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    copy = arena_copy(reader->arena, str_of(text));
    if (copy == NULL)
        reader->error = -ENOMEM;
    reader->reason = str_of(copy);
    return false;
}

/* The name of a field if it is [A-Za-z_][A-Za-z0-9_.-]{0,63}, else `?`: outside input is shown only
 * if it is safe to print. */
static const char *shown_name(struct str name)
{
    if (name.len == 0 || name.len > MAX_SHOWN_NAME_BYTES)
        return "?";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = text_is_letter(c) || c == '_';
        bool inner = text_is_digit(c) || c == '.' || c == '-';

        if (!letter && !(inner && i > 0))
            return "?";
    }
    return name.ptr;
}

static bool check_fields(struct reader *reader, struct part part, const char *const *known)
{
    const cJSON *member = NULL;

    cJSON_ArrayForEach(member, part.object)
    {
        struct str name = tree_key(member);
        bool found = false;

        for (const char *const *k = known; *k != NULL && !found; k++)
            found = str_equal(name, str_of(*k));
        if (!found)
            return refuse(reader, "%s%s is not a known field", part.prefix, shown_name(name));
    }
    return true;
}

/* Trimmed; absent if the field is missing, null or blank. */
static bool read_text(struct reader *reader, struct part part, const char *key,
                      struct str *ret_text)
{
    const cJSON *node = tree_get(part.object, key);
    struct str text = {0};

    if (node == NULL) {
        *ret_text = text;
        return true;
    }
    text = str_trim(tree_text(node));
    if (!str_present(text))
        return refuse(reader, "%s%s must be text", part.prefix, key);
    if (text.len > PLAN_MAX_TEXT_BYTES)
        return refuse(reader, "%s%s must be at most 4096 bytes", part.prefix, key);
    *ret_text = text.len > 0 ? text : (struct str){0};
    return true;
}

static bool read_entry(struct reader *reader, struct part part, const char *key, size_t index,
                       const cJSON *node, struct str *ret_text)
{
    struct str text = str_trim(tree_text(node));

    if (!str_present(text))
        return refuse(reader, "%s%s must be a list of text", part.prefix, key);
    if (text.len == 0)
        return refuse(reader, "%s%s[%zu] must be non-empty text", part.prefix, key, index);
    if (text.len > PLAN_MAX_TEXT_BYTES)
        return refuse(reader, "%s%s[%zu] must be at most 4096 bytes", part.prefix, key, index);
    *ret_text = text;
    return true;
}

/* Trimmed entries; *ret_named says whether the field is given. */
static bool read_list(struct reader *reader, struct part part, const char *key, bool *ret_named,
                      struct str_list *ret_list)
{
    const cJSON *list = tree_get(part.object, key);
    const cJSON *node = NULL;
    struct str *items = NULL;
    size_t count = 0;

    *ret_named = list != NULL;
    if (list == NULL)
        return true;
    if (!tree_is(list, cJSON_Array))
        return refuse(reader, "%s%s must be a list of text", part.prefix, key);
    count = tree_count(list);
    if (count > PLAN_MAX_ITEMS)
        return refuse(reader, "%s%s must be at most 100 items", part.prefix, key);
    items = arena_alloc(reader->arena, count, sizeof(*items));
    if (items == NULL) {
        reader->error = -ENOMEM;
        return false;
    }
    count = 0;
    cJSON_ArrayForEach(node, list)
    {
        if (!read_entry(reader, part, key, count, node, &items[count]))
            return false;
        count++;
    }
    *ret_list = (struct str_list){.items = items, .count = count};
    return true;
}

/* *ret_text is absent if the field is missing and not required. */
static bool read_moment(struct reader *reader, struct part part, const char *key, bool required,
                        struct str *ret_text, struct moment *ret_moment)
{
    struct str text = {0};

    if (!read_text(reader, part, key, &text))
        return false;
    if (!str_present(text))
        return !required || refuse(reader, "%s%s is required", part.prefix, key);
    if (!moment_read(text, ret_moment))
        return refuse(reader, "%s%s must be RFC3339", part.prefix, key);
    *ret_text = text;
    return true;
}

static bool read_expiry(struct reader *reader, struct part root, bool required)
{
    struct evidence *facts = reader->facts;

    if (!read_moment(reader, root, "expires_at", required, &facts->expires_at_text,
                     &facts->expires_at))
        return false;
    facts->has_expires_at = str_present(facts->expires_at_text);
    return true;
}

static bool read_images(struct reader *reader, struct part root)
{
    struct evidence *facts = reader->facts;
    bool named = false;

    if (!read_list(reader, root, "images", &named, &facts->images))
        return false;
    for (size_t i = 0; i < facts->images.count; i++) {
        if (!str_is_sha256(facts->images.items[i]))
            return refuse(reader, "images[%zu] must be a lowercase sha256 digest", i);
    }
    return true;
}

/* A required object. */
static bool read_part(struct reader *reader, struct part root, const char *key, const cJSON **ret)
{
    const cJSON *node = tree_get(root.object, key);

    if (node == NULL) {
        (void)refuse(reader, "%s is required", key);
        return false;
    }
    if (!tree_is(node, cJSON_Object)) {
        (void)refuse(reader, "%s must be an object", key);
        return false;
    }
    *ret = node;
    return true;
}

/* Takes the result of a check by the planner. */
static bool take_problem(struct reader *reader, int r, struct str problem)
{
    if (r < 0) {
        reader->error = r;
        return false;
    }
    return !str_present(problem) || refuse(reader, "%.*s", (int)problem.len, problem.ptr);
}

static bool read_workload(struct reader *reader, struct part root)
{
    static const char *const known[] = {"skill_ref", "image_digest", "class", NULL};
    struct evidence *facts = reader->facts;
    struct part part = {.prefix = "workload."};

    if (!read_part(reader, root, "workload", &part.object) || !check_fields(reader, part, known) ||
        !read_text(reader, part, "skill_ref", &facts->skill_ref) ||
        !read_text(reader, part, "image_digest", &facts->image_digest) ||
        !read_text(reader, part, "class", &facts->class_text))
        return false;
    if (str_present(facts->skill_ref) == str_present(facts->image_digest))
        return refuse(reader, "workload requires exactly one image_digest or skill_ref");
    if (str_present(facts->skill_ref) && !plan_is_skill_ref(facts->skill_ref))
        return refuse(reader, "workload.skill_ref must be pinned as owner/name@version");
    if (str_present(facts->image_digest) && !str_is_sha256(facts->image_digest))
        return refuse(reader, "workload.image_digest must be a lowercase sha256 digest");
    return true;
}

/* The digest of an image_digest workload counts as one of its images. */
static bool add_own_image(struct reader *reader)
{
    struct evidence *facts = reader->facts;
    struct str *items = NULL;

    if (!str_present(facts->image_digest) || str_list_has(facts->images, facts->image_digest))
        return true;
    items = arena_alloc(reader->arena, facts->images.count + 1, sizeof(*items));
    if (items == NULL) {
        reader->error = -ENOMEM;
        return false;
    }
    for (size_t i = 0; i < facts->images.count; i++)
        items[i] = facts->images.items[i];
    items[facts->images.count] = facts->image_digest;
    facts->images = (struct str_list){.items = items, .count = facts->images.count + 1};
    return true;
}

static bool read_requirements(struct reader *reader, struct part root)
{
    static const char *const known[] = {"apiVersion",   "kind",       "workload",
                                        "requirements", "images",     "namespaces",
                                        "audiences",    "expires_at", NULL};
    struct evidence *facts = reader->facts;
    struct part part = {.prefix = ""};
    struct str problem = {0};
    struct str observed_at = {0};

    if (!check_fields(reader, root, known) || !read_workload(reader, root) ||
        !read_part(reader, root, "requirements", &part.object) ||
        !take_problem(reader, plan_check_requirements(part.object, reader->arena, &problem),
                      problem) ||
        !read_moment(reader, part, "observed_at", true, &observed_at, &facts->observed_at))
        return false;
    facts->requirements = part.object;
    return read_images(reader, root) && add_own_image(reader) &&
           read_list(reader, root, "namespaces", &facts->namespaces_named, &facts->namespaces) &&
           read_expiry(reader, root, false);
}

static bool read_hold(struct reader *reader, struct part part)
{
    struct str_list names = {0};
    bool named = false;

    if (!read_list(reader, part, "hold", &named, &names))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        enum boundary_control control = BOUNDARY_ENVIRONMENT;

        if (!boundary_control_read(names.items[i], &control))
            return refuse(reader,
                          "boundary.hold[%zu] must be one of environment, filesystem, network, "
                          "egress, syscalls, capabilities, resources and isolation",
                          i);
        reader->facts->boundary_hold |= boundary_control_bit(control);
    }
    return true;
}

static bool read_mounts(struct reader *reader, struct part part)
{
    struct str_list paths = {0};
    bool named = false;

    if (!read_list(reader, part, "mounts", &named, &paths))
        return false;
    for (size_t i = 0; i < paths.count; i++) {
        if (paths.items[i].ptr[0] != '/' || plan_path_has_parent(paths.items[i]))
            return refuse(reader, "boundary.mounts[%zu] must be an absolute path without ..", i);
    }
    if (named)
        reader->facts->boundary_mounts = tree_get(part.object, "mounts");
    return true;
}

/* boundary-v1, section 4. */
static bool read_boundary(struct reader *reader, struct part root)
{
    static const char *const known[] = {"hold", "mounts", NULL};
    struct part part = {.prefix = "boundary."};

    if (tree_get(root.object, "boundary") == NULL)
        return true;
    return read_part(reader, root, "boundary", &part.object) && check_fields(reader, part, known) &&
           read_hold(reader, part) && read_mounts(reader, part);
}

static bool read_baseline(struct reader *reader, struct part root)
{
    static const char *const known[] = {"apiVersion", "kind",      "baseline",
                                        "boundary",   "images",    "max_age_days",
                                        "namespaces", "audiences", NULL};
    struct evidence *facts = reader->facts;
    const cJSON *max_age = tree_get(root.object, "max_age_days");
    struct str problem = {0};

    if (!check_fields(reader, root, known) ||
        !read_part(reader, root, "baseline", &facts->baseline) ||
        !take_problem(reader, plan_check_baseline(facts->baseline, reader->arena, &problem),
                      problem))
        return false;
    if (max_age != NULL && !plan_read_max_age(max_age, &facts->max_age_days))
        return refuse(reader, "max_age_days must be a whole number from 1 to 3650");
    return read_boundary(reader, root) && read_images(reader, root) &&
           read_list(reader, root, "namespaces", &facts->namespaces_named, &facts->namespaces);
}

static bool check_patterns(struct reader *reader, const char *key, struct str_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        if (str_equal(list.items[i], STR("*")))
            return refuse(reader, "match.%s[%zu] must not be * alone", key, i);
    }
    return true;
}

static bool read_match(struct reader *reader, struct part root)
{
    struct evidence *facts = reader->facts;
    struct part part = {.prefix = "match."};
    bool namespaces_named = false;
    const struct {
        const char *key;
        bool *named;
        struct str_list *list;
    } lists[] = {
        {"namespaces", &namespaces_named, &facts->match.namespaces},
        {"skill_refs", &facts->match.skill_refs_named, &facts->match.skill_refs},
        {"image_digests", &facts->match.image_digests_named, &facts->match.image_digests},
        {"users", &facts->match.users_named, &facts->match.users},
        {"service_accounts", &facts->match.service_accounts_named, &facts->match.service_accounts},
    };
    static const char *const known[] = {"namespaces", "skill_refs",       "image_digests",
                                        "users",      "service_accounts", NULL};

    if (!read_part(reader, root, "match", &part.object) || !check_fields(reader, part, known))
        return false;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (!read_list(reader, part, lists[i].key, lists[i].named, lists[i].list) ||
            !check_patterns(reader, lists[i].key, *lists[i].list))
            return false;
    }
    return namespaces_named || refuse(reader, "match.namespaces is required");
}

static bool read_exemption(struct reader *reader, struct part root)
{
    static const char *const known[] = {"apiVersion", "kind",   "match",     "reason", "expires_at",
                                        "findings",   "ticket", "audiences", NULL};
    struct evidence *facts = reader->facts;
    struct str ticket = {0};

    if (!check_fields(reader, root, known) || !read_match(reader, root) ||
        !read_text(reader, root, "reason", &facts->exemption_reason))
        return false;
    if (!str_present(facts->exemption_reason))
        return refuse(reader, "reason is required");
    return read_expiry(reader, root, true) &&
           read_list(reader, root, "findings", &facts->findings_named, &facts->findings) &&
           read_text(reader, root, "ticket", &ticket);
}

static bool read_document(struct reader *reader, const cJSON *document)
{
    struct part root = {.object = document, .prefix = ""};
    struct str api_version = {0};

    if (!read_text(reader, root, "apiVersion", &api_version))
        return false;
    if (!str_equal(api_version, STR(NAMES_API_VERSION)))
        return refuse(reader, "apiVersion must be " NAMES_API_VERSION);
    switch (reader->facts->kind) {
    case EVIDENCE_REQUIREMENTS:
        return read_requirements(reader, root);
    case EVIDENCE_BASELINE:
        return read_baseline(reader, root);
    case EVIDENCE_EXEMPTION:
        return read_exemption(reader, root);
    case EVIDENCE_UNKNOWN:
    case EVIDENCE_KIND_COUNT:
    default:
        return refuse(reader,
                      "kind must be SandboxRequirements, SandboxBaseline or SandboxExemption");
    }
}

int evidence_read(const cJSON *document, struct arena *arena, struct evidence *facts,
                  struct str *ret_reason)
{
    struct evidence read = *facts;
    struct reader reader = {.arena = arena, .facts = &read};

    if (!read_document(&reader, document) ||
        !read_list(&reader, (struct part){.object = document, .prefix = ""}, "audiences",
                   &read.audiences_named, &read.audiences)) {
        if (reader.error < 0)
            return reader.error;
        assert(str_present(reader.reason)); /* an absent one would mean "no problem" */
        *ret_reason = reader.reason;
        return 0;
    }
    *facts = read; /* only now: on failure facts stays unchanged */
    *ret_reason = (struct str){0};
    return 0;
}
