/* SPDX-License-Identifier: Apache-2.0 */
/* connection_table - the list of connections under one lock, and the hash table of addresses. See
 * connection_table.h for which connection is cut. */

#include "webhook/server/connection_table.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "webhook/server/connection.h"

#define MAX_TRIES 8

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

static void read_address(const struct sockaddr *address, unsigned char ret_address[static 16])
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

static struct peer **bucket_of(struct connection_table *table,
                               const unsigned char address[static 16])
{
    unsigned hash = 0;

    for (size_t i = 0; i < 16; i++)
        hash = hash * 31 + address[i];
    return &table->peers[hash % CONNECTION_TABLE_PEER_BUCKETS];
}

static struct peer *get_peer(struct connection_table *table, const struct sockaddr *address)
{
    unsigned char key[16];
    struct peer **bucket = NULL;
    struct peer *peer = NULL;

    read_address(address, key);
    bucket = bucket_of(table, key);
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

static void put_peer(struct connection_table *table, struct peer *peer)
{
    struct peer **at = bucket_of(table, peer->address);

    assert(peer->count > 0);
    if (--peer->count > 0)
        return;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    free(peer);
}

static bool is_unfinished(enum connection_phase phase)
{
    return phase == CONNECTION_HANDSHAKE || phase == CONNECTION_REQUEST;
}

static bool cut(struct connection_table *table, struct connection *connection,
                enum connection_phase seen, uint64_t since, enum metrics_cut why)
{
    if (!connection_cut(connection, seen, since))
        return false;
    table->cut++;
    metrics_count_cut(table->metrics, why);
    return true;
}

/* The connection that has been idle longest, or unfinished longest where idle is false; of one
 * address only where peer is not NULL. */
static struct connection *find_longest(struct connection_table *table, const struct peer *peer,
                                       bool idle, enum connection_phase *ret_phase,
                                       uint64_t *ret_since)
{
    struct connection *longest = NULL;

    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;
        enum connection_phase phase = connection_phase(c, &since);

        if ((idle ? phase != CONNECTION_IDLE : !is_unfinished(phase)) ||
            (peer != NULL && c->peer != peer) || (longest != NULL && since >= *ret_since))
            continue;
        longest = c;
        *ret_phase = phase;
        *ret_since = since;
    }
    return longest;
}

static const struct peer *find_busiest_peer(struct connection_table *table)
{
    const struct peer *busiest = NULL;

    for (struct connection *c = table->first; c != NULL; c = c->next)
        c->peer->unfinished = 0;
    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;

        if (!is_unfinished(connection_phase(c, &since)))
            continue;
        c->peer->unfinished++;
        if (busiest == NULL || c->peer->unfinished > busiest->unfinished)
            busiest = c->peer;
    }
    return busiest;
}

/* A connection that was seen idle can have begun a request since then: the next one is tried. */
static void cut_one(struct connection_table *table)
{
    for (size_t tries = 0; tries < MAX_TRIES; tries++) {
        enum connection_phase phase = CONNECTION_NONE;
        uint64_t since = 0;
        struct connection *found = find_longest(table, NULL, true, &phase, &since);

        if (found == NULL) {
            const struct peer *busiest = find_busiest_peer(table);

            if (busiest == NULL)
                return;
            found = find_longest(table, busiest, false, &phase, &since);
        }
        if (found == NULL || cut(table, found, phase, since, METRICS_CUT_CROWDED))
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
    connection->peer = get_peer(table, address);
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
        cut_one(table);
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
    if (connection_phase(connection, &since) == CONNECTION_CUT) {
        assert(table->cut > 0);
        table->cut--;
    }
    (void)atomic_fetch_sub(&table->count, 1);
    put_peer(table, connection->peer);
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

        if ((is_unfinished(phase) || phase == CONNECTION_ANSWER) &&
            now_msec >= since + table->slow_msec)
            (void)cut(table, c, phase, since, METRICS_CUT_SLOW);
    }
    count = atomic_load(&table->count);
    (void)pthread_mutex_unlock(&table->lock);
    return count;
}

uint64_t connection_table_cut_idle(struct connection_table *table)
{
    uint64_t active = 0;

    (void)pthread_mutex_lock(&table->lock);
    for (struct connection *c = table->first; c != NULL; c = c->next) {
        uint64_t since = 0;
        enum connection_phase phase = connection_phase(c, &since);

        if (phase == CONNECTION_CUT)
            continue;
        if ((phase != CONNECTION_IDLE && phase != CONNECTION_HANDSHAKE) ||
            !connection_cut(c, phase, since))
            active++;
        else
            table->cut++;
    }
    (void)pthread_mutex_unlock(&table->lock);
    return active;
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
