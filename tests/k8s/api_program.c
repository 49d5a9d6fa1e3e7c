/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_program - makes calls for test_api.py. The fields of struct access are arguments. Each line
 * of standard input is a command; each answer is a line of JSON.
 *
 *   do WORD=TEXT…        one call; waits for its end
 *   many COUNT WORD=…    COUNT calls at the same time in a loop
 *   drop WORD=…          a call in a loop, dropped after 100 ms
 *   later MSEC           moves the clocks of the library forward
 *   suspend MSEC         moves only the clock of ages, as a suspended machine does
 * Words: method path type body deadline (ms from now) idle stream stop (after this many bytes)
 */
#define _GNU_SOURCE /* for RTLD_NEXT */

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "k8s/api/api.h"
#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "planner/base/buffer.h"

#define MAX_LINE_BYTES 65536
#define MAX_OUTPUT_BYTES ((size_t)400 * 1024 * 1024)
#define DROP_MSEC 100
#define SLOW_NAME_SEC 4

struct stream {
    size_t pieces, bytes, stop;
};

/* One call of `many`. */
struct call {
    struct buffer *out;
    struct stream stream;
    size_t *left;
};

static uint64_t later_msec, suspended_msec;

uint64_t __real_clock_msec(void);
uint64_t __wrap_clock_msec(void);
uint64_t __real_clock_age_msec(void);
uint64_t __wrap_clock_age_msec(void);

/* The clock that the library uses. */
uint64_t __wrap_clock_msec(void)
{
    return __real_clock_msec() + __atomic_load_n(&later_msec, __ATOMIC_RELAXED);
}

/* Suspending the machine moves only this clock. */
uint64_t __wrap_clock_age_msec(void)
{
    return __real_clock_age_msec() + __atomic_load_n(&later_msec, __ATOMIC_RELAXED) +
           __atomic_load_n(&suspended_msec, __ATOMIC_RELAXED);
}

/* Replaces the function of the C library: one name has a DNS server that does not answer. */
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_list)
{
    int (*system_own)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&system_own = dlsym(RTLD_NEXT, "getaddrinfo");
    if (name != NULL && strcmp(name, "slow.test") == 0) {
        (void)sleep(SLOW_NAME_SEC);
        return EAI_AGAIN;
    }
    return system_own(name, service, hints, ret_list);
}

static void give_up(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

static struct str file_text(struct arena *arena, const char *path)
{
    struct str bytes = {0};

    if (file_read_path(path, ACCESS_MAX_FILE_BYTES, arena, &bytes) < 0)
        give_up(path);
    return bytes;
}

static const char *value_of(const char *word, const char *name)
{
    size_t len = strlen(name);

    return strncmp(word, name, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

static void take_argument(const char *word, struct arena *arena, struct access *access)
{
    const struct {
        const char *name;
        struct str *text;
        const char **path;
        bool is_file;
    } rows[] = {
        {"server", &access->server, NULL, false},
        {"name", &access->tls_server_name, NULL, false},
        {"ca", &access->ca_pem, NULL, true},
        {"certificate", &access->certificate_pem, &access->certificate_file, true},
        {"key", &access->key_pem, &access->key_file, true},
        {"token", &access->token, NULL, false},
        {"token_file", NULL, &access->token_file, false},
        {"username", &access->username, NULL, false},
        {"password", &access->password, NULL, false},
        {"as", &access->as, NULL, false},
        {"proxy", &access->proxy_url, NULL, false},
    };

    access->insecure = access->insecure || strcmp(word, "insecure") == 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *value = value_of(word, rows[i].name);

        if (value == NULL)
            continue;
        if (rows[i].text != NULL)
            *rows[i].text = rows[i].is_file ? file_text(arena, value) : str_of(value);
        if (rows[i].path != NULL)
            *rows[i].path = value;
    }
}

static int count_bytes(struct stream *stream, size_t count)
{
    stream->pieces++;
    stream->bytes += count;
    return stream->stop > 0 && stream->bytes >= stream->stop;
}

static int take_bytes(void *context, const char *bytes, size_t count)
{
    (void)bytes;
    return count_bytes(context, count);
}

static int take_told_bytes(void *context, const char *bytes, size_t count)
{
    struct call *call = context;

    (void)bytes;
    return count_bytes(&call->stream, count);
}

static uint64_t number_of(const char *text)
{
    uint64_t number = 0;

    if (!text_read_number(str_of(text), 0, UINT32_MAX, &number))
        give_up(text);
    return number;
}

/* Splits the line into words. */
static struct api_request read_words(char *line, struct stream *stream)
{
    static const struct {
        const char *name;
        enum api_method method;
    } methods[] = {
        {"POST", API_POST}, {"PUT", API_PUT}, {"PATCH", API_PATCH}, {"DELETE", API_DELETE}};
    struct api_request request = {.method = API_GET};
    char *word = NULL;

    while ((word = strsep(&line, " ")) != NULL) {
        const char *value = NULL;

        if ((value = value_of(word, "method")) != NULL) {
            for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
                if (strcmp(value, methods[i].name) == 0)
                    request.method = methods[i].method;
            }
        } else if ((value = value_of(word, "path")) != NULL) {
            request.path = str_of(value);
        } else if ((value = value_of(word, "type")) != NULL) {
            request.content_type = str_of(value);
        } else if ((value = value_of(word, "body")) != NULL) {
            request.body = str_of(value);
        } else if ((value = value_of(word, "deadline")) != NULL) {
            request.deadline_msec = clock_msec() + number_of(value);
        } else if ((value = value_of(word, "idle")) != NULL) {
            request.idle_sec = (uint32_t)number_of(value);
        } else if ((value = value_of(word, "stop")) != NULL) {
            stream->stop = number_of(value);
        } else if (strcmp(word, "stream") == 0) {
            request.on_bytes = take_bytes;
        }
    }
    return request;
}

static bool is_utf8(struct str text)
{
    uint32_t character = 0;

    while (text.len > 0) {
        size_t len = str_utf8_next(text, &character);

        if (len == 0)
            return false;
        text.ptr += len;
        text.len -= len;
    }
    return true;
}

static void add_reply(struct buffer *out, int result, const struct api_reply *reply,
                      const struct stream *stream)
{
    buffer_add_format(out, "{\"result\":%d,\"status\":%d,\"length\":%zu,\"body\":", result,
                      reply->status, reply->body.len);
    buffer_add_json(out, reply->body.len <= MAX_LINE_BYTES && is_utf8(reply->body) ? reply->body
                                                                                   : STR(""));
    buffer_add_format(out, ",\"retry_after\":%d,\"pieces\":%zu,\"bytes\":%zu,\"reason\":",
                      reply->has_retry_after ? (int)reply->retry_after_sec : -1, stream->pieces,
                      stream->bytes);
    if (str_present(reply->reason))
        buffer_add_json(out, reply->reason);
    else
        buffer_add(out, STR("null"));
    buffer_add_char(out, '}');
}

static void call_ended(void *context, int result, const struct api_reply *reply)
{
    struct call *call = context;

    add_reply(call->out, result, reply, &call->stream);
    --*call->left;
    if (*call->left > 0)
        buffer_add_char(call->out, ',');
}

static void run_many(struct api *api, char *line, struct arena *arena, struct buffer *out)
{
    size_t count = number_of(strsep(&line, " "));
    struct stream stream = {0};
    struct api_request request = read_words(line, &stream);
    struct api_loop *loop = NULL;
    size_t left = count;
    struct call *calls = arena_alloc(arena, count, sizeof(*calls));

    if (calls == NULL || api_loop_new(api, &loop) < 0)
        give_up("no loop");
    request.on_bytes = request.on_bytes != NULL ? take_told_bytes : NULL;
    buffer_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct call){.out = out, .left = &left, .stream = stream};
        request.context = &calls[i];
        if (api_loop_start(loop, &request, call_ended, NULL) < 0)
            give_up("no call");
    }
    while (left > 0) {
        if (api_loop_turn(loop, 1000) < 0)
            give_up("no turn");
    }
    buffer_add_char(out, ']');
    api_loop_free(loop);
}

static void must_not_end(void *context, int result, const struct api_reply *reply)
{
    (void)context;
    (void)result;
    (void)reply;
    give_up("a call that was dropped has ended");
}

static void run_drop(struct api *api, char *line, struct buffer *out)
{
    struct stream stream = {0};
    struct api_request request = read_words(line, &stream);
    struct api_loop *loop = NULL;
    struct api_call *call = NULL;
    uint64_t end_msec = clock_msec() + DROP_MSEC;

    request.context = NULL;
    if (api_loop_new(api, &loop) < 0 || api_loop_start(loop, &request, must_not_end, &call) < 0)
        give_up("no call");
    while (clock_msec() < end_msec) {
        if (api_loop_turn(loop, 10) < 0)
            give_up("no turn");
    }
    api_loop_drop(loop, call);
    if (api_loop_turn(loop, 10) < 0)
        give_up("no turn");
    api_loop_free(loop);
    buffer_add(out, STR("{}"));
}

static void run_do(struct api *api, char *line, struct arena *arena, struct buffer *out)
{
    struct stream stream = {0};
    struct api_request request = read_words(line, &stream);
    struct api_reply reply = {0};
    int result = 0;

    request.context = &stream;
    result = api_do(api, &request, arena, &reply);
    add_reply(out, result, &reply, &stream);
}

static void run_line(struct api *api, char *line)
{
    cleanup_arena struct arena arena = {0};
    struct buffer out = buffer_make(&arena, MAX_OUTPUT_BYTES);
    const char *word = strsep(&line, " ");
    struct str text = {0};

    if (strcmp(word, "later") == 0 || strcmp(word, "suspend") == 0) {
        __atomic_fetch_add(strcmp(word, "later") == 0 ? &later_msec : &suspended_msec,
                           number_of(strsep(&line, " ")), __ATOMIC_RELAXED);
        buffer_add(&out, STR("{}"));
    } else if (strcmp(word, "many") == 0)
        run_many(api, line, &arena, &out);
    else if (strcmp(word, "drop") == 0)
        run_drop(api, line, &out);
    else
        run_do(api, line, &arena, &out);
    text = buffer_text(&out);
    if (!str_present(text))
        give_up("no memory");
    printf("%s\n", text.ptr);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    cleanup_arena struct arena arena = {0};
    struct access access = {0};
    struct api *api = NULL;
    struct str reason = {0};
    char line[MAX_LINE_BYTES];

    for (int i = 1; i < argc; i++)
        take_argument(argv[i], &arena, &access);
    if (api_new(&access, &arena, &api, &reason) < 0) {
        printf("refused: %.*s\n", (int)reason.len, reason.ptr);
        return EXIT_SUCCESS;
    }
    printf("%.*s\n", (int)api_server(api).len, api_server(api).ptr);
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        run_line(api, line);
    }
    api_free(api);
    return EXIT_SUCCESS;
}
