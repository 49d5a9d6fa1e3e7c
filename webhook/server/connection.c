/* SPDX-License-Identifier: Apache-2.0 */
/* connection - phases of a TLS connection, and the transport functions that GnuTLS calls. See
 * connection.h. */

#include "webhook/server/connection.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "k8s/util/clock.h"
#include "webhook/server/shared.h"

#define PHASE_BITS 3
#define PHASE_MASK ((UINT64_C(1) << PHASE_BITS) - 1)
#define MAX_PARTS 8 /* of one write; GnuTLS calls again with the rest */

_Static_assert(CONNECTION_CUT <= PHASE_MASK, "a phase fits into its bits");

static uint64_t phase_word(enum connection_phase phase, uint64_t since)
{
    return since << PHASE_BITS | (uint64_t)phase;
}

enum connection_phase connection_phase(const struct connection *connection, uint64_t *ret_since)
{
    uint64_t word = atomic_load(&connection->phase);

    *ret_since = word >> PHASE_BITS;
    return (enum connection_phase)(word & PHASE_MASK);
}

bool connection_step(struct connection *connection, enum connection_phase from,
                     enum connection_phase to)
{
    uint64_t seen = atomic_load(&connection->phase);

    assert(from != CONNECTION_CUT && to != CONNECTION_NONE); /* CUT is final */
    return (seen & PHASE_MASK) == (uint64_t)from &&
           atomic_compare_exchange_strong(&connection->phase, &seen, phase_word(to, clock_msec()));
}

/* FIONREAD: received but not read. TIOCOUTQ: written but not acknowledged by the peer. */
static bool has_bytes(const struct connection *connection, unsigned long which)
{
    int bytes = 0;

    return ioctl(connection->fd, which, &bytes) == 0 && bytes > 0;
}

bool connection_cut(struct connection *connection, enum connection_phase seen, uint64_t since)
{
    static const struct linger discard = {.l_onoff = 1};
    uint64_t word = phase_word(seen, since);

    assert(seen != CONNECTION_NONE && seen != CONNECTION_CUT);
    /* not idle: the next request is in the socket buffer already */
    if (seen == CONNECTION_IDLE && has_bytes(connection, FIONREAD))
        return false;
    if (!atomic_compare_exchange_strong(&connection->phase, &word,
                                        phase_word(CONNECTION_CUT, since)))
        return false;
    /* otherwise the system would keep data that the peer does not read long after the close */
    if (has_bytes(connection, TIOCOUTQ))
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &discard, sizeof(discard));
    /* its thread wakes, reads an end of file and closes; where writing stays open, it sends a close
     * notification */
    (void)shutdown(connection->fd, seen == CONNECTION_IDLE ? SHUT_RD : SHUT_RDWR);
    return true;
}

static ssize_t pull(gnutls_transport_ptr_t ptr, void *data, size_t size)
{
    struct connection *connection = ptr;
    uint64_t since = 0;
    enum connection_phase phase = connection_phase(connection, &since);
    ssize_t n = 0;

    if (phase == CONNECTION_CUT)
        return 0;
    n = recv(connection->fd, data, size, 0);
    if (n > 0 && phase == CONNECTION_IDLE)
        (void)connection_step(connection, CONNECTION_IDLE, CONNECTION_REQUEST);
    if (n < 0 && errno == EAGAIN && phase == CONNECTION_HANDSHAKE) {
        connection->park(connection->park_context, connection);
        errno = EAGAIN;
    }
    return n;
}

static ssize_t send_parts(struct connection *connection, const giovec_t *parts, int count)
{
    struct iovec all[MAX_PARTS] = {
        {.iov_base = connection->held, .iov_len = connection->held_bytes}};
    struct msghdr message = {.msg_iov = all};
    int used = connection->held_bytes > 0 ? 1 : 0;
    ssize_t n = 0;

    for (int i = 0; i < count && used < MAX_PARTS; i++)
        all[used++] = (struct iovec){.iov_base = parts[i].iov_base, .iov_len = parts[i].iov_len};
    message.msg_iovlen = (size_t)used;
    n = sendmsg(connection->fd, &message, MSG_NOSIGNAL);
    if (n < 0 || connection->held_bytes == 0)
        return n;
    if ((size_t)n >= connection->held_bytes) {
        n -= (ssize_t)connection->held_bytes;
        connection->held_bytes = 0;
    } else {
        connection->held_bytes -= (size_t)n;
        memmove(connection->held, connection->held + n, connection->held_bytes);
        n = 0;
    }
    if (n > 0)
        return n;
    errno = EAGAIN;
    return -1;
}

static ssize_t push(gnutls_transport_ptr_t ptr, const giovec_t *parts, int count)
{
    struct connection *connection = ptr;
    size_t bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    if (!connection->hold_next || bytes > sizeof(connection->held) - connection->held_bytes) {
        connection->hold_next = false;
        return send_parts(connection, parts, count);
    }
    for (int i = 0; i < count; i++) {
        memcpy(connection->held + connection->held_bytes, parts[i].iov_base, parts[i].iov_len);
        connection->held_bytes += parts[i].iov_len;
    }
    connection->hold_next = false;
    return (ssize_t)bytes;
}

/* Called for each of the two Finished messages; the handshake is complete after both. */
static int on_finished(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                       const gnutls_datum_t *message)
{
    struct connection *connection = gnutls_transport_get_ptr(session);

    (void)type;
    (void)when;
    (void)message;
    if (incoming)
        connection->finished_in = true;
    else
        connection->finished_out = true;
    if (connection->finished_in && connection->finished_out)
        (void)connection_step(connection, CONNECTION_HANDSHAKE, CONNECTION_IDLE);
    return 0;
}

void connection_init(struct connection *connection, struct server_shared *shared,
                     struct MHD_Connection *mhd, int fd)
{
    *connection = (struct connection){.shared = shared, .mhd = mhd, .fd = fd};
    atomic_store(&connection->phase, phase_word(CONNECTION_HANDSHAKE, clock_msec()));
}

int connection_begin(struct connection *connection,
                     void (*park)(void *context, struct connection *connection), void *park_context)
{
    connection->park = park;
    connection->park_context = park_context;
    connection->session =
        MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session;
    connection->credentials = tls_credentials(connection->shared->tls);
    gnutls_transport_set_ptr(connection->session, connection);
    gnutls_transport_set_pull_function(connection->session, pull);
    gnutls_transport_set_vec_push_function(connection->session, push);
    gnutls_handshake_set_hook_function(connection->session, GNUTLS_HANDSHAKE_FINISHED,
                                       GNUTLS_HOOK_POST, on_finished);
    return tls_prepare(connection->credentials, connection->session);
}

bool connection_client_allowed(struct connection *connection, struct tls *tls)
{
    uint64_t generation = tls_generation(tls);
    struct tls_credentials *newest = NULL;

    if (connection->client_checked && connection->checked_generation == generation)
        return connection->client_allowed;
    newest = tls_credentials(tls);
    connection->client_allowed = tls_client_allowed(newest, connection->session);
    connection->checked_generation = generation;
    connection->client_checked = true;
    tls_credentials_unref(newest);
    return connection->client_allowed;
}
