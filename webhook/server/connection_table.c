/* SPDX-License-Identifier: Apache-2.0 */
#include "webhook/server/connection_table.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "webhook/server/connection.h"

int connection_table_init(struct connection_table *table, struct metrics *metrics,
                          uint64_t max_connections, uint64_t slow_msec)
{
    *table = (struct connection_table){.metrics = metrics, .slow_msec = slow_msec};
    atomic_store(&table->max_connections, max_connections);
    return pthread_mutex_init(&table->lock, NULL) == 0 ? 0 : -ENOMEM;
}

void connection_table_done(struct connection_table *table)
{
    (void)pthread_mutex_destroy(&table->lock);
}

static void peer_read_address(const struct sockaddr *address, unsigned char ret_address[static 16])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct sockaddr_in6 six = {0};
    struct sockaddr_in four = {0};

    memset(ret_address, 0, 16);
    if (address->sa_family == AF_INET6) {
        memcpy(&six, address, sizeof(six));
        memcpy(ret_address, &six.sin6_addr, 16);
    } else if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof(four));
        memcpy(ret_address, mapped, sizeof(mapped));
        memcpy(ret_address + sizeof(mapped), &four.sin_addr, 4);
    }
}

void peer_write(const struct peer *peer, char ret_text[static PEER_TEXT_BYTES])
{
    struct in6_addr six = {0};
    struct in_addr four = {0};

    memcpy(&six, peer->address, sizeof(six));
    memcpy(&four, peer->address + 12, sizeof(four));
    ret_text[0] = '\0';
    if (IN6_IS_ADDR_V4MAPPED(&six))
        (void)inet_ntop(AF_INET, &four, ret_text, PEER_TEXT_BYTES);
    else
        (void)inet_ntop(AF_INET6, &six, ret_text, PEER_TEXT_BYTES);
}

static struct peer **peer_bucket(struct connection_table *table,
                                 const unsigned char address[static 16])
{
    unsigned hash = 0;

    for (size_t i = 0; i < 16; i++)
        hash = hash * 31 + address[i];
    return &table->peers[hash % CONNECTION_TABLE_PEER_BUCKETS];
}

static struct peer *peer_get(struct connection_table *table, const struct sockaddr *address)
{
    unsigned char key[16];
    struct peer **bucket = NULL;
    struct peer *peer = NULL;

    peer_read_address(address, key);
    bucket = peer_bucket(table, key);
    for (peer = *bucket; peer != NULL; peer = peer->next)
        if (memcmp(peer->address, key, sizeof(key)) == 0)
            break;
    if (peer == NULL) {
        peer = calloc(1, sizeof(*peer));
        if (peer == NULL)
            return NULL;
        memcpy(peer->address, key, sizeof(key));
        peer->next = *bucket;
        *bucket = peer;
    }
    peer->count++;
    return peer;
}

static void peer_put(struct connection_table *table, struct peer *peer)
{
    struct peer **at = peer_bucket(table, peer->address);

    if (--peer->count > 0)
        return;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    free(peer);
}

static bool connection_table_is_unfinished(enum connection_phase phase)
{
    return phase == CONNECTION_HANDSHAKE || phase == CONNECTION_REQUEST;
}

static bool connection_table_cut(struct connection_table *table, struct connection *connection,
                                 enum connection_phase seen, uint64_t since, enum metrics_cut why)
{
    if (!connection_cut(connection, seen, since))
        return false;
    table->cut++;
    metrics_count_cut(table->metrics, why);
    return true;
}

/* The one that is longest in such a phase; of one address only, where peer is given. */
static struct connection *connection_table_longest(struct connection_table *table,
                                                   const struct peer *peer, bool idle,
                                                   enum connection_phase *ret_phase,
                                                   uint64_t *ret_since)
{
    struct connection *longest = NULL;

    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;
        enum connection_phase phase = connection_phase(c, &since);

        if ((idle ? phase != CONNECTION_IDLE : !connection_table_is_unfinished(phase)) ||
            (peer != NULL && c->peer != peer) || (longest != NULL && since >= *ret_since))
            continue;
        longest = c;
        *ret_phase = phase;
        *ret_since = since;
    }
    return longest;
}

static const struct peer *connection_table_fullest_peer(struct connection_table *table)
{
    const struct peer *fullest = NULL;

    for (struct connection *c = table->first; c != NULL; c = c->next)
        c->peer->tally = 0;
    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;

        if (!connection_table_is_unfinished(connection_phase(c, &since)))
            continue;
        c->peer->tally++;
        if (fullest == NULL || c->peer->tally > fullest->tally)
            fullest = c->peer;
    }
    return fullest;
}

/* Who was seen idle may have begun a request since: then the next one is looked for. */
static void connection_table_cut_one(struct connection_table *table)
{
    for (size_t tries = 0; tries < 8; tries++) {
        enum connection_phase phase = CONNECTION_NONE;
        uint64_t since = 0;
        struct connection *who = connection_table_longest(table, NULL, true, &phase, &since);

        if (who == NULL) {
            const struct peer *fullest = connection_table_fullest_peer(table);

            if (fullest == NULL)
                return;
            who = connection_table_longest(table, fullest, false, &phase, &since);
        }
        if (who == NULL || connection_table_cut(table, who, phase, since, METRICS_CUT_CROWDED))
            return;
    }
}

struct connection *connection_table_open(struct connection_table *table,
                                         struct server_shared *shared, struct MHD_Connection *mhd,
                                         int fd, const struct sockaddr *address)
{
    struct connection *connection = calloc(1, sizeof(*connection));

    if (connection == NULL)
        return NULL;
    connection_init(connection, shared, mhd, fd);
    (void)pthread_mutex_lock(&table->lock);
    connection->peer = peer_get(table, address);
    if (connection->peer == NULL) {
        (void)pthread_mutex_unlock(&table->lock);
        free(connection);
        return NULL;
    }
    connection->next = table->first;
    if (table->first != NULL)
        table->first->before = connection;
    table->first = connection;
    if (atomic_fetch_add(&table->count, 1) + 1 - table->cut > atomic_load(&table->max_connections))
        connection_table_cut_one(table);
    (void)pthread_mutex_unlock(&table->lock);
    return connection;
}

void connection_table_close(struct connection_table *table, struct connection *connection)
{
    uint64_t since = 0;

    (void)pthread_mutex_lock(&table->lock);
    if (connection->next != NULL)
        connection->next->before = connection->before;
    if (connection->before != NULL)
        connection->before->next = connection->next;
    else
        table->first = connection->next;
    if (connection_phase(connection, &since) == CONNECTION_CUT)
        table->cut--;
    (void)atomic_fetch_sub(&table->count, 1);
    peer_put(table, connection->peer);
    (void)pthread_mutex_unlock(&table->lock);
    tls_credentials_unref(connection->credentials);
    free(connection);
}

uint64_t connection_table_sweep(struct connection_table *table, uint64_t now_msec)
{
    uint64_t count = 0;

    (void)pthread_mutex_lock(&table->lock);
    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;
        enum connection_phase phase = connection_phase(c, &since);

        if ((connection_table_is_unfinished(phase) || phase == CONNECTION_ANSWER) &&
            now_msec >= since + table->slow_msec)
            (void)connection_table_cut(table, c, phase, since, METRICS_CUT_SLOW);
    }
    count = atomic_load(&table->count);
    (void)pthread_mutex_unlock(&table->lock);
    return count;
}

uint64_t connection_table_cut_idle(struct connection_table *table)
{
    uint64_t begun = 0;

    (void)pthread_mutex_lock(&table->lock);
    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;
        enum connection_phase phase = connection_phase(c, &since);

        if (phase == CONNECTION_CUT)
            continue;
        if ((phase != CONNECTION_IDLE && phase != CONNECTION_HANDSHAKE) ||
            !connection_cut(c, phase, since))
            begun++;
        else
            table->cut++;
    }
    (void)pthread_mutex_unlock(&table->lock);
    return begun;
}

void connection_table_cut_all(struct connection_table *table)
{
    (void)pthread_mutex_lock(&table->lock);
    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;
        enum connection_phase phase = connection_phase(c, &since);

        if (phase != CONNECTION_CUT && connection_cut(c, phase, since))
            table->cut++;
    }
    (void)pthread_mutex_unlock(&table->lock);
}
