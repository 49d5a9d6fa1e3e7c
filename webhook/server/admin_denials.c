/* SPDX-License-Identifier: Apache-2.0 */
/* admin_denials - the last denials of this replica, on the admin port, for clients on this host
 * only. `kubectl port-forward` makes a client such a one, so the cluster's own access rules decide.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "planner/base/buffer.h"
#include "webhook/server/internal.h"
#include "webhook/server/loopback.h"
#include "webhook/server/request.h"

/* What making a page takes at once: rows, text, and its copies; so many times the records. */
#define ADMIN_MAKING_GROWTH 4
#define ADMIN_MAKING_BYTES ((uint64_t)512 * 1024) /* and this much without any record */
#define ADMIN_MAX_HEAD_BYTES ((size_t)4 * 1024)
#define ADMIN_HOST_NAME_BYTES 256

/* The page loads nothing. It has a stricter policy of its own, which names its style and its script
 * by their hashes; a browser applies both. */
static const char page_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static struct answer_text refuse(int status, const char *why, int *ret_status)
{
    *ret_status = status;
    return request_status_text(status, why);
}

static enum MHD_Result find_proxy(void *found, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    (void)value;
    *(bool *)found |= loopback_is_proxy_field(str_of(name));
    return MHD_YES;
}

/* Why the client cannot see denials; NULL where it can. The header Host is checked too: a browser
 * on this host can be sent here by a page of another site whose own name resolves to a loopback
 * address (DNS rebinding). */
static const char *why_not_local(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct str host =
        str_of(MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST));
    bool proxied = false;

    if (info == NULL || !loopback_is_address(info->client_addr))
        return "denials are shown only to clients whose address is 127.0.0.1 or ::1: use kubectl "
               "port-forward, and keep the admin port out of the service mesh";
    (void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, find_proxy, &proxied);
    if (proxied)
        return "denials are not shown through a proxy, and a header field of this request (such as "
               "Forwarded, X-Forwarded-For or Via) names one: use kubectl port-forward";
    if (!str_present(host) || !loopback_is_host(host))
        return "denials are shown only under the name localhost or a loopback address: use kubectl "
               "port-forward, and open http://localhost";
    return NULL;
}

/* Everything before the first record. */
static struct str write_head(const struct denials_view *view, struct moment now,
                             struct arena *arena)
{
    struct buffer b = buffer_make(arena, ADMIN_MAX_HEAD_BYTES);
    char time[MOMENT_TEXT_BYTES] = "", host[ADMIN_HOST_NAME_BYTES] = "";

    if (gethostname(host, sizeof(host) - 1) < 0)
        host[0] = '\0';
    moment_write(now, time);
    buffer_add(&b, STR("{\"schema\":\"" DENIALS_SCHEMA "\",\"replica\":"));
    buffer_add_json(&b, str_of(host));
    buffer_add_format(&b, ",\"time\":\"%s\",\"total\":%llu,\"records\":[\n", time,
                      (unsigned long long)view->total);
    return buffer_text(&b);
}

static struct answer_text write_json(const struct denials_view *view, struct moment now,
                                     struct arena *arena)
{
    static const char end[] = "]}\n";
    struct str head = write_head(view, now, arena);
    struct answer_text answer = {.type = "application/json"};

    if (!str_present(head))
        return answer;
    answer.ptr = malloc(head.len + view->bytes + view->count + sizeof(end));
    if (answer.ptr == NULL)
        return answer;
    memcpy(answer.ptr, head.ptr, head.len);
    answer.len = head.len;
    for (size_t i = 0; i < view->count; i++) {
        struct str line = record_line_text(view->lines[i]);

        if (i > 0)
            answer.ptr[answer.len++] = ',';
        memcpy(answer.ptr + answer.len, line.ptr, line.len);
        answer.len += line.len;
    }
    memcpy(answer.ptr + answer.len, end, sizeof(end) - 1);
    answer.len += sizeof(end) - 1;
    return answer;
}

static struct answer_text write_page(const struct server *server, const struct denials_view *view,
                                     struct moment now, struct arena *arena)
{
    struct answer_text answer = {.type = "text/html; charset=utf-8", .policy = page_policy};
    struct str html = {0};

    if (server->options.denials_page(view, now, arena, &html) == 0)
        answer.ptr = malloc(html.len);
    if (answer.ptr != NULL) {
        memcpy(answer.ptr, html.ptr, html.len);
        answer.len = html.len;
    }
    return answer;
}

static struct admin_page *find_free(struct server *server)
{
    for (size_t i = 0; i < ADMIN_MAX_PAGES; i++) {
        if (server->admin_pages[i].charged_bytes == 0)
            return &server->admin_pages[i];
    }
    return NULL;
}

void admin_page_done(struct server *server, struct admin_page *page)
{
    budget_return_bytes(&server->shared.budget, page->charged_bytes);
    page->charged_bytes = 0;
}

static bool charge(struct server *server, struct admin_page *page, uint64_t bytes)
{
    struct budget *budget = &server->shared.budget;

    if (bytes <= page->charged_bytes)
        budget_return_bytes(budget, page->charged_bytes - bytes);
    else if (!budget_take_bytes(budget, bytes - page->charged_bytes))
        return false;
    page->charged_bytes = bytes;
    return true;
}

static struct answer_text refuse_for_memory(int *ret_status)
{
    return refuse(MHD_HTTP_SERVICE_UNAVAILABLE,
                  "reviews and other pages take the memory that this page needs: try again",
                  ret_status);
}

/* What making the page takes is charged first, then the page itself until it is sent. */
static struct answer_text write_view(struct server *server, const struct denials_view *view,
                                     bool as_page, struct admin_page *page, int *ret_status)
{
    struct arena cleanup_arena arena = {0};
    struct moment now = server->shared.gate.now();
    struct answer_text answer = {0};

    if (!charge(server, page, ADMIN_MAKING_BYTES + ADMIN_MAKING_GROWTH * (uint64_t)view->bytes))
        return refuse_for_memory(ret_status);
    answer = as_page ? write_page(server, view, now, &arena) : write_json(view, now, &arena);
    if (answer.ptr == NULL)
        return refuse(MHD_HTTP_INTERNAL_SERVER_ERROR, "the gate is out of memory", ret_status);
    if (!charge(server, page, answer.len)) {
        free(answer.ptr);
        return refuse_for_memory(ret_status);
    }
    answer.confidential = true;
    *ret_status = MHD_HTTP_OK;
    return answer;
}

static struct answer_text look(struct server *server, bool as_page, struct admin_page *page,
                               int *ret_status)
{
    struct denials_view *view = malloc(sizeof(*view));
    struct answer_text answer = {0};

    if (view == NULL)
        return refuse(MHD_HTTP_INTERNAL_SERVER_ERROR, "the gate is out of memory", ret_status);
    denials_look(&server->shared.recorder->denials, view);
    answer = write_view(server, view, as_page, page, ret_status);
    denials_view_done(view);
    free(view);
    if (!answer.confidential)
        admin_page_done(server, page);
    return answer;
}

struct answer_text admin_denials(struct server *server, struct MHD_Connection *mhd, const char *url,
                                 int *ret_status, struct admin_page **ret_page)
{
    bool as_page = strcmp(url, "/denials") == 0;
    const char *why = why_not_local(mhd);
    struct admin_page *page = find_free(server);
    struct answer_text answer = {0};

    if (why != NULL)
        return refuse(MHD_HTTP_FORBIDDEN, why, ret_status);
    if (server->shared.recorder == NULL)
        return refuse(MHD_HTTP_NOT_FOUND, "denials are not recorded", ret_status);
    if (as_page && server->options.denials_page == NULL)
        return refuse(MHD_HTTP_NOT_FOUND, "no such path: see /denials.json", ret_status);
    if (page == NULL)
        return refuse(MHD_HTTP_SERVICE_UNAVAILABLE,
                      "too many pages of denials are being sent already: try again", ret_status);
    answer = look(server, as_page, page, ret_status);
    if (answer.confidential)
        *ret_page = page;
    return answer;
}
