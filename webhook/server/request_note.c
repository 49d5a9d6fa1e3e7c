/* SPDX-License-Identifier: Apache-2.0 */
/* request_note - what a request leaves besides its answer: metrics, a record, a line of the log. */

#include "webhook/server/request.h"

#include "webhook/server/connection.h"
#include "webhook/server/connection_table.h"
#include "webhook/server/shared.h"

static void log_request(const struct request *request, const struct exchange *exchange,
                        const char *peer, bool verified)
{
    log_line_with(request->shared->log, LOG_LEVEL_DEBUG, "review", log_text("peer", str_of(peer)),
                  log_text("caller", verified ? STR("verified") : STR("unverified")),
                  log_number("status", request->status),
                  log_text("outcome", exchange->decided
                                          ? str_of(gate_outcome_text(exchange->decision.outcome))
                                          : STR("")));
}

void request_note(const struct request *request, const struct exchange *exchange, struct moment now,
                  uint64_t usec, struct arena *arena)
{
    const struct connection *connection = request->connection;
    const struct server_shared *shared = request->shared;
    bool answered = request->status == MHD_HTTP_OK;
    bool recorded = answered && recorder_wants(shared->recorder, exchange);
    bool logged = log_wants(shared->log, LOG_LEVEL_DEBUG);
    bool verified = connection->client_checked && connection->client_allowed &&
                    tls_asks_clients(connection->credentials);
    struct record_circumstances circumstances = {
        .now = now,
        .duration_usec = usec,
        .caller_verified = verified,
        .response = exchange->response,
    };
    char peer[PEER_TEXT_BYTES];

    if (answered)
        metrics_count_review(shared->metrics, exchange, usec);
    if (!recorded && !logged)
        return;
    peer_write(connection->peer, peer);
    circumstances.peer = str_of(peer);
    if (recorded)
        recorder_note(shared->recorder, exchange, &circumstances, arena);
    if (logged)
        log_request(request, exchange, peer, verified);
}
