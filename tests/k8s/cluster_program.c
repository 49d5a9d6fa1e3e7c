/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_program - a cluster source for test_cluster.py. Arguments are WORD=TEXT (server, ca, own,
 * namespaces, network_policies). Each line of standard input is a command. Each event is a line of
 * JSON on standard output.
 *
 *   rules keyring=DIR revoked=DIGEST audience=TEXT max_age=DAYS
 *   start | free | once msec=N | look | show | stale | max_stale sec=N | later msec=N | freeze |
 * suspend msec=N ask question=namespace|evidence|fresh namespace=NAME msec=N count=N tag=TEXT
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "k8s/cluster/cluster.h"
#include "k8s/util/clock.h"
#include "k8s/util/file.h"
#include "planner/base/buffer.h"

#define MAX_LINE_BYTES 65536
#define MAX_OUTPUT_BYTES ((size_t)64 * 1024 * 1024)

struct waiting {
    struct cluster_waiter waiter; /* first member: done() converts its address */
    char namespace_name[300];
    char tag[64];
    uint64_t begun_msec;
};

/* The texts of a policy, until the last snapshot releases them. */
struct texts {
    struct arena arena;
};

static struct arena site; /* until the program ends */
static struct access where;
static struct cluster_options options;
static struct cluster *cluster;
static uint64_t later_msec, suspended_msec, frozen_msec;
static unsigned puts_done, made, read_done, kept;

uint64_t __real_clock_msec(void);
uint64_t __wrap_clock_msec(void);
uint64_t __real_clock_age_msec(void);
uint64_t __wrap_clock_age_msec(void);
void __real_snapshot_store_put(struct snapshot_store *store, struct snapshot *snapshot);
void __wrap_snapshot_store_put(struct snapshot_store *store, struct snapshot *snapshot);
int __real_evidence_make(const struct evidence_source *source, const struct keyring *keyring,
                         const struct policy *policy, struct evidence **ret_evidence);
int __wrap_evidence_make(const struct evidence_source *source, const struct keyring *keyring,
                         const struct policy *policy, struct evidence **ret_evidence);
int __real_evidence_read(const cJSON *document, struct arena *arena, struct evidence *facts,
                         struct str *ret_reason);
int __wrap_evidence_read(const cJSON *document, struct arena *arena, struct evidence *facts,
                         struct str *ret_reason);

uint64_t __wrap_clock_msec(void)
{
    uint64_t frozen = __atomic_load_n(&frozen_msec, __ATOMIC_RELAXED);

    return (frozen != 0 ? frozen : __real_clock_msec()) +
           __atomic_load_n(&later_msec, __ATOMIC_RELAXED);
}

/* Suspending the machine moves only this clock. */
uint64_t __wrap_clock_age_msec(void)
{
    return __real_clock_age_msec() + __atomic_load_n(&later_msec, __ATOMIC_RELAXED) +
           __atomic_load_n(&suspended_msec, __ATOMIC_RELAXED);
}

void __wrap_snapshot_store_put(struct snapshot_store *store, struct snapshot *snapshot)
{
    (void)__atomic_add_fetch(&puts_done, 1, __ATOMIC_RELAXED);
    __real_snapshot_store_put(store, snapshot);
}

int __wrap_evidence_make(const struct evidence_source *source, const struct keyring *keyring,
                         const struct policy *policy, struct evidence **ret_evidence)
{
    (void)__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    return __real_evidence_make(source, keyring, policy, ret_evidence);
}

int __wrap_evidence_read(const cJSON *document, struct arena *arena, struct evidence *facts,
                         struct str *ret_reason)
{
    (void)__atomic_add_fetch(&read_done, 1, __ATOMIC_RELAXED);
    return __real_evidence_read(document, arena, facts, ret_reason);
}

static void give_up(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

/* Writes one line at once, because several threads write. */
static void say(struct buffer *b)
{
    struct str text = {0};

    buffer_add_char(b, '\n');
    text = buffer_text(b);
    if (!str_present(text) || fwrite(text.ptr, 1, text.len, stdout) != text.len ||
        fflush(stdout) != 0)
        give_up("cannot write");
}

static struct str word(const char *line, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = line; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, len) == 0 && at[len] == '=')
            return (struct str){.ptr = at + len + 1, .len = strcspn(at + len + 1, " \n")};
    }
    return (struct str){0};
}

static uint64_t number(const char *line, const char *name, uint64_t otherwise)
{
    uint64_t n = otherwise;
    struct str text = word(line, name);

    if (str_present(text) && !text_read_number(text, 0, UINT32_MAX, &n))
        give_up(line);
    return n;
}

static struct str kept_word(struct arena *arena, const char *line, const char *name)
{
    struct str text = word(line, name);

    if (!str_present(text))
        return text;
    return (struct str){.ptr = arena_copy(arena, text), .len = text.len};
}

static struct str_list split(struct arena *arena, struct str text)
{
    struct str *items = arena_alloc(arena, text.len + 1, sizeof(*items));
    struct str_list list = {.items = items};

    for (size_t at = 0; text.len > 0 && at <= text.len;) {
        const char *comma = memchr(text.ptr + at, ',', text.len - at);
        size_t end = comma != NULL ? (size_t)(comma - text.ptr) : text.len;

        items[list.count++] = (struct str){.ptr = text.ptr + at, .len = end - at};
        at = end + 1;
    }
    return list;
}

static void tell(void *context, const struct cluster_event *event)
{
    static const char *const kinds[] = {"", "listed", "failed", "recovered", "unreadable"};
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_OUTPUT_BYTES);

    (void)context;
    buffer_add_format(&b, "{\"event\":\"%s\",\"what\":", kinds[event->kind]);
    buffer_add_json(&b, event->what);
    buffer_add(&b, STR(",\"reason\":"));
    buffer_add_json(&b, str_present(event->reason) ? event->reason : STR(""));
    buffer_add_format(&b, ",\"since\":%llu}", (unsigned long long)event->since_sec);
    say(&b);
}

static void release(void *object)
{
    struct texts *texts = object;

    arena_release(&texts->arena);
    free(texts);
    (void)__atomic_sub_fetch(&kept, 1, __ATOMIC_RELAXED);
}

static void do_rules(const char *line)
{
    cleanup_arena struct arena arena = {0};
    struct texts *texts = calloc(1, sizeof(*texts));
    struct policy policy = policy_defaults();
    struct keyring *keyring = NULL;
    struct str reason = {0};
    struct str folder = kept_word(&arena, line, "keyring");

    if (texts == NULL || keyring_load(folder.ptr, &arena, &keyring, &reason) < 0)
        give_up("no keyring");
    policy.own_namespace = options.own_namespace;
    policy.revoked = split(&texts->arena, kept_word(&texts->arena, line, "revoked"));
    policy.audience = kept_word(&texts->arena, line, "audience");
    policy.max_age_days = (int)number(line, "max_age", 30);
    (void)__atomic_add_fetch(&kept, 1, __ATOMIC_RELAXED);
    if (cluster_set_rules(cluster, keyring, &policy,
                          (struct snapshot_keep){.object = texts, .release = release}) < 0)
        give_up("no rules");
    keyring_unref(keyring);
}

static void say_done(const char *tag, int result, uint64_t begun_msec)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_OUTPUT_BYTES);

    buffer_add_format(&b, "{\"done\":\"%s\",\"result\":%d,\"msec\":%llu,\"puts\":%u}", tag, result,
                      (unsigned long long)(clock_msec() - begun_msec),
                      __atomic_load_n(&puts_done, __ATOMIC_RELAXED));
    say(&b);
}

static void done(struct cluster_waiter *waiter, int result)
{
    struct waiting *waiting = (struct waiting *)waiter;

    say_done(waiting->tag, result, waiting->begun_msec);
    free(waiting);
}

static void do_ask(const char *line)
{
    struct str question = word(line, "question");
    struct str name = word(line, "namespace");
    struct str tag = word(line, "tag");
    enum cluster_question asked = str_equal(question, STR("namespace"))  ? CLUSTER_NAMESPACE
                                  : str_equal(question, STR("evidence")) ? CLUSTER_EVIDENCE
                                                                         : CLUSTER_FRESH;
    uint64_t count = number(line, "count", 1);

    for (uint64_t i = 0; i < count; i++) {
        struct waiting *waiting = calloc(1, sizeof(*waiting));
        int r = 0;

        if (waiting == NULL)
            give_up("no memory");
        (void)snprintf(waiting->tag, sizeof(waiting->tag), "%.*s", (int)tag.len,
                       str_present(tag) ? tag.ptr : "");
        (void)snprintf(waiting->namespace_name, sizeof(waiting->namespace_name), "%.*s",
                       (int)name.len, str_present(name) ? name.ptr : "");
        waiting->begun_msec = clock_msec();
        waiting->waiter.deadline_msec = waiting->begun_msec + number(line, "msec", 5000);
        waiting->waiter.done = done;
        r = cluster_ask(cluster, asked, str_of(waiting->namespace_name), &waiting->waiter);
        if (r < 0)
            done(&waiting->waiter, r);
    }
}

static void do_look(void)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_OUTPUT_BYTES);
    struct cluster_status status = {0};

    cluster_read_status(cluster, &status);
    buffer_add_format(&b, "{\"look\":true,\"ready\":%s,\"heard_age\":%llu,",
                      status.ready ? "true" : "false",
                      (unsigned long long)status.last_event_age_msec);
    buffer_add_format(&b, "\"relists\":%llu,\"failures\":%llu,\"confirmations\":%llu,",
                      (unsigned long long)status.relists, (unsigned long long)status.failures,
                      (unsigned long long)status.confirmations);
    buffer_add_format(&b, "\"stale\":%s,\"failed_reads\":%llu,\"failed_read_age\":%llu,",
                      status.stale ? "true" : "false", (unsigned long long)status.failed_reads,
                      (unsigned long long)status.failed_read_age_msec);
    buffer_add_format(&b, "\"network_policies\":%llu,",
                      (unsigned long long)status.network_policies);
    buffer_add_format(&b, "\"refused\":%llu,\"config_maps\":%llu,\"namespaces\":%llu,",
                      (unsigned long long)status.confirmations_refused,
                      (unsigned long long)status.config_maps,
                      (unsigned long long)status.namespaces);
    buffer_add_format(
        &b, "\"puts\":%u,\"made\":%u,\"read\":%u,\"kept\":%u}",
        __atomic_load_n(&puts_done, __ATOMIC_RELAXED), __atomic_load_n(&made, __ATOMIC_RELAXED),
        __atomic_load_n(&read_done, __ATOMIC_RELAXED), __atomic_load_n(&kept, __ATOMIC_RELAXED));
    say(&b);
}

static void add_evidence(struct buffer *b, const struct snapshot *snapshot)
{
    struct evidence_run all = snapshot_all(snapshot);

    for (size_t i = 0; i < all.count; i++) {
        const struct evidence *evidence = all.items[i];

        buffer_add_format(b, "%s\"%.*s/%.*s\":\"%s\"", i > 0 ? "," : "",
                          (int)evidence->namespace_name.len, evidence->namespace_name.ptr,
                          (int)evidence->name.len, evidence->name.ptr,
                          evidence_state_text(evidence->state));
    }
}

/* "name": what its rules admit; null: they are not read. */
static void add_network_policies(struct buffer *b, const struct snapshot *snapshot,
                                 struct str namespace_name)
{
    struct network_policy_run run = {0};

    if (!snapshot_network_policies(snapshot, namespace_name, &run)) {
        buffer_add(b, STR("null"));
        return;
    }
    buffer_add_char(b, '{');
    for (size_t i = 0; i < run.count; i++) {
        const struct network_policy *policy = run.items[i];

        buffer_add_format(b, "%s\"%.*s\":\"%s\"", i > 0 ? "," : "", (int)policy->name.len,
                          policy->name.ptr,
                          policy->egress_any     ? "any"
                          : policy->egress_rules ? "some"
                                                 : "none");
    }
    buffer_add_char(b, '}');
}

static void do_show(const char *line)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_OUTPUT_BYTES);
    struct snapshot *snapshot = snapshot_store_get(options.store);
    struct str_list names = split(&arena, word(line, "namespaces"));
    struct snapshot_rest rest = {0};

    if (snapshot == NULL) {
        buffer_add(&b, STR("{\"show\":null}"));
        say(&b);
        return;
    }
    buffer_add(&b, STR("{\"show\":{"));
    add_evidence(&b, snapshot);
    buffer_add(&b, STR("},\"namespaces\":{"));
    for (size_t i = 0; i < names.count; i++) {
        const struct namespace_labels *labels = snapshot_namespace(snapshot, names.items[i]);

        buffer_add_format(&b, "%s\"%.*s\":", i > 0 ? "," : "", (int)names.items[i].len,
                          names.items[i].ptr);
        if (labels == NULL)
            buffer_add(&b, STR("null"));
        else
            buffer_add_json(&b,
                            str_present(labels->labels.enforce) ? labels->labels.enforce : STR(""));
    }
    rest = snapshot_rest(snapshot, word(line, "more"));
    buffer_add(&b, STR("},\"policies\":"));
    add_network_policies(&b, snapshot, word(line, "policies"));
    buffer_add_format(&b, ",\"max_age\":%d,\"more\":[%zu,%zu,%zu]}",
                      snapshot_policy(snapshot)->max_age_days, rest.invalid, rest.broken,
                      rest.copies);
    say(&b);
    snapshot_unref(snapshot);
}

static void do_once(const char *line)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_OUTPUT_BYTES);
    struct str reason = {0};
    int r = cluster_read_once(cluster, clock_msec() + number(line, "msec", 5000), &arena, &reason);

    buffer_add_format(&b, "{\"once\":%d,\"reason\":", r);
    buffer_add_json(&b, str_present(reason) ? reason : STR(""));
    buffer_add_char(&b, '}');
    say(&b);
}

static void do_plain(const char *text)
{
    cleanup_arena struct arena arena = {0};
    struct buffer b = buffer_make(&arena, MAX_OUTPUT_BYTES);

    buffer_add_format(&b, "{%s}", text);
    say(&b);
}

static void do_line(const char *line)
{
    struct str command = {.ptr = line, .len = strcspn(line, " \n")};

    if (str_equal(command, STR("rules")))
        do_rules(line);
    else if (str_equal(command, STR("start")) && cluster_start(cluster) < 0)
        give_up("no start");
    else if (str_equal(command, STR("once")))
        do_once(line);
    else if (str_equal(command, STR("ask")))
        do_ask(line);
    else if (str_equal(command, STR("look")))
        do_look();
    else if (str_equal(command, STR("show")))
        do_show(line);
    else if (str_equal(command, STR("later")))
        (void)__atomic_add_fetch(&later_msec, number(line, "msec", 0), __ATOMIC_RELAXED);
    else if (str_equal(command, STR("freeze")))
        __atomic_store_n(&frozen_msec, __real_clock_msec(), __ATOMIC_RELAXED);
    else if (str_equal(command, STR("max_stale")))
        cluster_set_max_stale(cluster, (uint32_t)number(line, "sec", 180));
    else if (str_equal(command, STR("suspend")))
        (void)__atomic_add_fetch(&suspended_msec, number(line, "msec", 0), __ATOMIC_RELAXED);
    else if (str_equal(command, STR("stale")))
        do_plain(cluster_is_stale(cluster) ? "\"stale\":true" : "\"stale\":false");
    else if (str_equal(command, STR("free"))) {
        cluster_free(cluster);
        cluster = NULL;
        do_plain("\"freed\":true");
    }
}

static void take_argument(const char *argument)
{
    struct str bytes = {0};
    struct str ca = kept_word(&site, argument, "ca");

    if (str_present(word(argument, "server")))
        where.server = word(argument, "server");
    if (str_present(word(argument, "own")))
        options.own_namespace = word(argument, "own");
    if (str_present(word(argument, "namespaces")))
        options.namespaces = split(&site, word(argument, "namespaces"));
    options.network_policies |= str_present(word(argument, "network_policies"));
    if (!str_present(ca))
        return;
    if (file_read_path(ca.ptr, ACCESS_MAX_FILE_BYTES, &site, &bytes) < 0)
        give_up(ca.ptr);
    where.ca_pem = bytes;
}

int main(int argc, char **argv)
{
    char line[MAX_LINE_BYTES];
    struct str reason = {0};

    options.own_namespace = STR(POLICY_OWN_NAMESPACE);
    options.on_event = tell;
    options.max_stale_sec = 180;
    for (int i = 1; i < argc; i++)
        take_argument(argv[i]);
    if (api_new(&where, &site, &options.api, &reason) < 0)
        give_up(str_present(reason) ? reason.ptr : "no api");
    if (snapshot_store_new(&options.store) < 0 || cluster_new(&options, &cluster) < 0)
        give_up("no cluster");
    while (fgets(line, sizeof(line), stdin) != NULL)
        do_line(line);
    cluster_free(cluster);
    snapshot_store_free(options.store);
    api_free(options.api);
    arena_release(&site);
    if (kept != 0)
        give_up("rules were not let go");
    return EXIT_SUCCESS;
}
