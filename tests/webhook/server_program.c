/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_program - the real server with a test gate, for the tests in Python.
 *
 *   server_program CERTIFICATES [KEY=VALUE…]
 *
 * Prints `webhook PORT` and `admin PORT`, then reads commands from standard input: reload, ready,
 * drain, stop MSEC. The text of a review controls the answer: `slow=MSEC`, `arena=BYTES`,
 * `answer=BYTES`, `mute`.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "k8s/util/clock.h"
#include "webhook/server/server.h"

#define PATH_BYTES 4096

/* Replaces the runtime of a running gate. */
struct runtime {
    struct snapshot_store *store;
};

struct program {
    struct runtime runtime;
    char certificate[PATH_BYTES];
    char key[PATH_BYTES];
    char ca[PATH_BYTES];
    struct tls_files files;
    struct metrics metrics;
    struct log log;
    struct server_options options;
    bool unready;
};

static uint64_t number(const char *text)
{
    uint64_t n = 0;

    if (!text_read_number(str_of(text), 0, UINT64_MAX / 2, &n)) {
        fprintf(stderr, "no number: %s\n", text);
        exit(2);
    }
    return n;
}

static struct snapshot *program_snapshot(struct runtime *runtime)
{
    return snapshot_store_get(runtime->store);
}

/* The number after `name=` in the text, or 0. */
static uint64_t asked(struct str text, const char *name)
{
    size_t name_bytes = strlen(name);
    uint64_t n = 0;

    for (size_t i = 0; i + name_bytes <= text.len && i < 256; i++) {
        if (memcmp(text.ptr + i, name, name_bytes) != 0)
            continue;
        for (i += name_bytes; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
            n = n * 10 + (uint64_t)(text.ptr[i] - '0');
        return n;
    }
    return 0;
}

static void program_review(struct str body, enum document_syntax syntax, enum answer_format format,
                           const struct snapshot *snapshot, struct moment now, struct arena *arena,
                           struct exchange *ret_exchange)
{
    uint64_t slow_msec = asked(body, "slow=");
    uint64_t arena_bytes = asked(body, "arena=");
    uint64_t answer_bytes = asked(body, "answer=");
    struct timespec nap = {.tv_sec = (time_t)(slow_msec / 1000),
                           .tv_nsec = (long)(slow_msec % 1000) * 1000000};
    uint64_t sum = 0;

    (void)snapshot;
    (void)now;
    *ret_exchange = (struct exchange){.status = 500, .format = format};
    if (slow_msec > 0)
        (void)nanosleep(&nap, NULL);
    if (str_contains(body, STR("mute")) && body.len < 256)
        return;
    if (arena_bytes > 0 && arena_alloc(arena, 1, arena_bytes) == NULL)
        return;
    for (size_t i = 0; i < body.len; i++)
        sum += (unsigned char)body.ptr[i];
    if (answer_bytes > 0) {
        ret_exchange->body.ptr = arena_alloc(arena, 1, answer_bytes);
        ret_exchange->body.len = answer_bytes;
        ret_exchange->status = 200;
        return;
    }
    ret_exchange->body =
        arena_format(arena, "{\"bytes\":%zu,\"sum\":%llu,\"syntax\":\"%s\"}", body.len,
                     (unsigned long long)sum, syntax == DOCUMENT_YAML ? "yaml" : "json");
    ret_exchange->status = 200;
}

static void program_set(struct program *program, const char *name, const char *value)
{
    struct server_options *o = &program->options;
    uint64_t n = number(value);

    if (strcmp(name, "threads") == 0)
        o->threads = (uint32_t)n;
    else if (strcmp(name, "idle_sec") == 0)
        o->times.idle_sec = (uint32_t)n;
    else if (strcmp(name, "slow_msec") == 0)
        o->times.slow_msec = (uint32_t)n;
    else if (strcmp(name, "defer_bytes") == 0)
        o->times.defer_bytes = n;
    else if (strcmp(name, "max_connections") == 0)
        o->limits.max_connections = n;
    else if (strcmp(name, "max_in_flight") == 0)
        o->limits.max_in_flight = n;
    else if (strcmp(name, "max_in_flight_bytes") == 0)
        o->limits.max_in_flight_bytes = n;
    else if (strcmp(name, "client_ca") == 0)
        program->files.client_ca = n != 0 ? program->ca : NULL;
    else if (strcmp(name, "debug") == 0)
        program->log.level = n != 0 ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN;
    else if (strcmp(name, "unready") == 0)
        program->unready = n != 0;
    else {
        fprintf(stderr, "unknown: %s\n", name);
        exit(2);
    }
}

static void program_become_ready(struct program *program)
{
    struct policy policy = policy_defaults();
    struct snapshot_builder *builder = NULL;
    struct snapshot *snapshot = NULL;

    if (snapshot_builder_new(&policy, (struct snapshot_keep){0}, &builder) < 0 ||
        snapshot_builder_finish(builder, &snapshot) < 0)
        exit(2);
    snapshot_store_put(program->runtime.store, snapshot);
}

static void program_reload(struct program *program)
{
    struct arena cleanup_arena arena = {0};
    struct str reason = {0};
    int r = tls_reload(program->options.tls, &program->files, &arena, &reason);

    if (r < 0)
        printf("refused %.*s\n", (int)reason.len, reason.ptr);
    else
        printf("reloaded\n");
}

static void program_obey(struct program *program, struct server *server)
{
    char line[128];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        if (strcmp(line, "reload\n") == 0)
            program_reload(program);
        else if (strcmp(line, "ready\n") == 0)
            program_become_ready(program);
        else if (strcmp(line, "drain\n") == 0)
            server_drain(server);
        else
            break;
        printf("done\n");
        (void)fflush(stdout);
    }
    line[strcspn(line, "\n")] = '\0';
    server_stop(server, strncmp(line, "stop ", 5) == 0 ? (uint32_t)number(line + 5) : 0);
    printf("stopped\n");
}

int main(int argc, char **argv)
{
    static const struct str names[] = {{"sandgate-dev-client", 19}};
    static struct program program;
    struct arena cleanup_arena arena = {0};
    struct str reason = {0};
    struct server *server = NULL;

    if (argc < 2 || snapshot_store_new(&program.runtime.store) < 0)
        return 2;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)snprintf(program.certificate, PATH_BYTES, "%s/tls.crt", argv[1]);
    (void)snprintf(program.key, PATH_BYTES, "%s/tls.key", argv[1]);
    (void)snprintf(program.ca, PATH_BYTES, "%s/ca.crt", argv[1]);
    program.files = (struct tls_files){.certificate = program.certificate,
                                       .key = program.key,
                                       .client_names = {.items = names, .count = 1}};
    program.log = (struct log){.fd = 2, .level = LOG_LEVEL_WARN};
    program.options = (struct server_options){
        .webhook = {.host = "::"},
        .admin = {.host = "127.0.0.1"},
        .threads = 2,
        .limits = {.max_body_bytes = 20971520,
                   .max_in_flight = 64,
                   .max_in_flight_bytes = 134217728,
                   .max_connections = 1024,
                   .deadline_margin_msec = 500},
        .times = server_default_times(),
        .gate = {.runtime = &program.runtime,
                 .snapshot = program_snapshot,
                 .now = clock_now,
                 .review = program_review},
        .metrics = &program.metrics,
        .log = &program.log,
    };
    for (int i = 2; i < argc; i++) {
        char *value = strchr(argv[i], '=');

        if (value == NULL)
            return 2;
        *value = '\0';
        program_set(&program, argv[i], value + 1);
    }
    if (!program.unready)
        program_become_ready(&program);
    if (tls_new(&program.files, &arena, &program.options.tls, &reason) < 0 ||
        server_start(&program.options, &arena, &server, &reason) < 0) {
        fprintf(stderr, "%.*s\n", (int)reason.len, reason.ptr);
        return 2;
    }
    printf("webhook %u\nadmin %u\n", (unsigned)server_webhook_port(server),
           (unsigned)server_admin_port(server));
    (void)fflush(stdout);
    program_obey(&program, server);
    tls_free(program.options.tls);
    snapshot_store_free(program.runtime.store);
    return 0;
}
