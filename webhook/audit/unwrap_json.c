/* SPDX-License-Identifier: Apache-2.0 */
/* unwrap_json - finds the lines of a log in the JSON of platforms and exports. */
#define _GNU_SOURCE /* for memrchr() */

#include <errno.h>
#include <string.h>

#include "k8s/document/json_skip.h"
#include "k8s/document/json_text.h"
#include "planner/base/buffer.h"
#include "webhook/audit/unwrap_internal.h"

#define MAX_STEPS 6
#define MAX_EVENT_BYTES ((size_t)17 << 20) /* a text, and what is written around its parts */
#define ESCAPE_BYTES 6                     /* \u0061 */

/* A step of a path: the key of an object; "[]": each item of a list; "[1]": the second item. */
struct path {
    const char *of;
    const char *steps[MAX_STEPS];
};

/* The first row in which a text is found decides. A text begins with a bracket, or is an object;
 * the line of a container file may be any text. */
static const struct path paths[] = {
    {"list of any of these", {"[]"}},
    {"batch of the audit webhook", {"items", "[]"}},
    {"aws logs filter-log-events", {"events", "[]", "message"}},
    {"CloudWatch subscription", {"logEvents", "[]", "message"}},
    {"CloudWatch Logs Insights", {"results", "[]", "[]", "value"}},
    {"CloudWatch Logs Insights, exported", {"@message"}},
    {"Azure diagnostic setting", {"properties", "log"}},
    {"Azure Event Hub", {"records", "[]", "properties", "log"}},
    {"Azure Log Analytics", {"log_s"}},
    {"Loki, query_range", {"data", "result", "[]", "values", "[]", "[1]"}},
    {"logcli --output jsonl", {"line"}},
    {"Elasticsearch, search", {"hits", "hits", "[]", "_source", "message"}},
    {"Elasticsearch, search, field log", {"hits", "hits", "[]", "_source", "log"}},
    {"Elasticsearch, search, read event", {"hits", "hits", "[]", "_source"}},
    {"Elasticsearch, one document a line", {"_source", "message"}},
    {"Elasticsearch, one document a line, field log", {"_source", "log"}},
    {"Elasticsearch, one document a line, read event", {"_source"}},
    {"Docker json-file, Fluent Bit", {"log"}},
    {"message of a shipper", {"message"}},
};

struct search {
    struct arena *arena;
    unwrap_found *found;
    void *context;
    bool docker;
    bool of_stderr;
    size_t count;
};

/* The value of the member at *offset, which is moved behind it. False at the end of the object. */
static bool next_member(struct str s, size_t *offset, struct str *ret_key, struct str *ret_value)
{
    size_t i = json_skip_blanks(s, *offset), begin = i;

    if (i >= s.len || s.ptr[i] != '"' || !json_skip_string(s, &i) || i - begin < 2)
        return false;
    *ret_key = (struct str){s.ptr + begin + 1, i - begin - 2};
    i = json_skip_blanks(s, i);
    if (i >= s.len || s.ptr[i] != ':')
        return false;
    begin = i = json_skip_blanks(s, i + 1);
    if (!json_skip_value(s, &i) || i == begin)
        return false;
    *ret_value = str_trim((struct str){s.ptr + begin, i - begin});
    i = json_skip_blanks(s, i);
    *offset = i < s.len && s.ptr[i] == ',' ? i + 1 : s.len;
    return true;
}

static bool get(struct str object, const char *key, struct str *ret_value)
{
    struct str name = {0}, value = {0};
    size_t offset = 1;

    if (object.len == 0 || object.ptr[0] != '{')
        return false;
    while (next_member(object, &offset, &name, &value)) {
        if (str_equal(name, str_of(key))) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

static bool next_item(struct str list, size_t *offset, struct str *ret_item)
{
    size_t i = json_skip_blanks(list, *offset), begin = i;

    if (i >= list.len || list.ptr[i] == ']' || !json_skip_value(list, &i) || i == begin)
        return false;
    *ret_item = str_trim((struct str){list.ptr + begin, i - begin});
    i = json_skip_blanks(list, i);
    *offset = i < list.len && list.ptr[i] == ',' ? i + 1 : list.len;
    return true;
}

/* Whether json_text_unescape() can decode the escape at the start of s, in which a quote follows.
 */
static bool is_escape(struct str s)
{
    uint32_t high = 0, low = 0;

    if (s.len < 3 || s.ptr[1] != 'u')
        return s.len >= 3 && strchr("\"\\/bfnrt", s.ptr[1]) != NULL && s.ptr[1] != '\0';
    if (s.len <= ESCAPE_BYTES || !json_text_hex4(s.ptr + 2, &high))
        return false;
    if (high < 0xD800 || high > 0xDFFF)
        return true;
    return high <= 0xDBFF && s.len > (size_t)2 * ESCAPE_BYTES && s.ptr[ESCAPE_BYTES] == '\\' &&
           s.ptr[ESCAPE_BYTES + 1] == 'u' && json_text_hex4(s.ptr + ESCAPE_BYTES + 2, &low) &&
           low >= 0xDC00 && low <= 0xDFFF;
}

/* The text of a JSON string with its quotes. An escape that is not valid stays as it is: then the
 * text cannot be read. Absent if out of memory. */
static struct str unescape(struct str string, struct arena *arena)
{
    char *out = arena_alloc(arena, string.len + JSON_MAX_ESCAPE_BYTES, 1);
    size_t n = 0;

    if (out == NULL)
        return (struct str){0};
    for (size_t i = 1; i + 1 < string.len;) {
        if (string.ptr[i] == '\\' && is_escape((struct str){string.ptr + i, string.len - i})) {
            size_t count = 0;

            i += json_text_unescape(string.ptr + i, out + n, &count);
            n += count;
        } else {
            out[n++] = string.ptr[i++];
        }
    }
    return (struct str){out, n};
}

static int deliver(struct search *search, struct str value)
{
    struct unwrap_field field = {.piece = search->docker, .of_stderr = search->of_stderr};
    struct str s = {0};

    if (value.len >= 2 && value.ptr[0] == '"') {
        field.text = unescape(value, search->arena);
        if (!str_present(field.text))
            return -ENOMEM;
    } else if (value.len > 0 && value.ptr[0] == '{') {
        field.text = value;
    } else {
        return 0;
    }
    s = str_trim(field.text);
    if (!search->docker && (s.len == 0 || memchr(s.ptr, '{', s.len) == NULL))
        return 0;
    search->count++;
    return search->found(search->context, &field);
}

/* Recursion is bounded by MAX_STEPS. */
static int follow(struct search *search, struct str value, const char *const *steps, size_t count)
{
    bool every = count > 0 && steps[0] != NULL && strcmp(steps[0], "[]") == 0;
    struct str inner = {0};
    size_t offset = 1, i = 0;
    int r = 0;

    if (count == 0 || steps[0] == NULL)
        return deliver(search, value);
    if (!every && strcmp(steps[0], "[1]") != 0)
        return get(value, steps[0], &inner) ? follow(search, inner, steps + 1, count - 1) : 0;
    if (value.len == 0 || value.ptr[0] != '[')
        return 0;
    for (i = 0; r == 0 && next_item(value, &offset, &inner); i++) {
        if (every || i == 1)
            r = follow(search, inner, steps + 1, count - 1);
    }
    return r;
}

static struct str member_or(struct str object, const char *key, struct str otherwise)
{
    struct str value = {0};

    return get(object, key, &value) ? value : otherwise;
}

/* The answer of the API server: its Status, or a code for the status of the entry. */
static void add_google_status(struct buffer *b, struct str payload)
{
    struct str response = {0}, status = {0}, code = {0};

    buffer_add(b, STR(",\"responseStatus\":"));
    if (get(payload, "response", &response) && get(response, "code", &code)) {
        buffer_add(b, response);
    } else if (get(payload, "status", &status) && get(status, "code", &code) &&
               !str_equal(code, STR("0"))) {
        buffer_add(b, STR("{\"code\":403,\"message\":"));
        buffer_add(b, member_or(status, "message", STR("\"\"")));
        buffer_add_char(b, '}');
    } else {
        buffer_add(b, STR("{\"code\":200}"));
    }
}

/* An entry of Cloud Logging holds the annotations of the audit event in its labels. It is written
 * as an event again. Without labels it is not known what the gate decided. */
static int deliver_google(struct search *search, struct str entry, struct str payload)
{
    struct buffer b = buffer_make(search->arena, MAX_EVENT_BYTES);
    struct str none = STR("\"\""), labels = {0}, value = {0};
    struct str user = member_or(payload, "authenticationInfo", none);
    struct str method = member_or(payload, "methodName", none);
    const char *dot = memrchr(method.ptr, '.', method.len);
    struct unwrap_field field = {0};

    if (!get(entry, "labels", &labels) || !get(labels, "authorization.k8s.io/decision", &value))
        return 0;
    buffer_add(&b, STR("{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"auditID\":"));
    buffer_add(&b, member_or(member_or(entry, "operation", none), "id",
                             member_or(entry, "insertId", none)));
    buffer_add(&b, STR(",\"verb\":\""));
    buffer_add(&b, dot == NULL
                       ? STR("\"")
                       : (struct str){dot + 1, (size_t)(method.ptr + method.len - dot - 1)});
    buffer_add(&b, STR(",\"user\":{\"username\":"));
    buffer_add(&b, member_or(user, "principalEmail", none));
    buffer_add(&b, STR("},\"requestReceivedTimestamp\":"));
    buffer_add(&b, member_or(entry, "timestamp", none));
    add_google_status(&b, payload);
    buffer_add(&b, STR(",\"requestObject\":"));
    buffer_add(&b, member_or(payload, "request", STR("null")));
    buffer_add(&b, STR(",\"annotations\":"));
    buffer_add(&b, labels);
    buffer_add_char(&b, '}');
    field.text = buffer_text(&b);
    if (!str_present(field.text))
        return -ENOMEM;
    search->count++;
    return search->found(search->context, &field);
}

/* An event or a decision has members with the same names as the fields of the table. */
static bool is_event(struct str s)
{
    struct str value = {0};

    return get(s, "schema", &value) ||
           (get(s, "kind", &value) && str_equal(value, STR("\"Event\""))) ||
           (get(s, "level", &value) && get(s, "message", &value) && get(s, "time", &value));
}

int unwrap_json(struct str text, struct arena *arena, unwrap_found *found, void *context,
                bool *ret_found)
{
    struct search search = {.arena = arena, .found = found, .context = context};
    struct str value = {0};
    int r = 0;

    *ret_found = false;
    if (is_event(text))
        return 0;
    if (get(text, "protoPayload", &value)) {
        r = deliver_google(&search, text, value);
        *ret_found = search.count > 0;
        return r;
    }
    search.docker = get(text, "log", &value) && get(text, "stream", &value);
    search.of_stderr = search.docker && str_equal(value, STR("\"stderr\""));
    for (size_t i = 0; r == 0 && search.count == 0 && i < sizeof(paths) / sizeof(paths[0]); i++)
        r = follow(&search, text, paths[i].steps, MAX_STEPS);
    *ret_found = search.count > 0;
    return r;
}
