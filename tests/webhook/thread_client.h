/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_THREAD_CLIENT_H
#define TESTS_WEBHOOK_THREAD_CLIENT_H

/*
 * What plain test programs with threads share: a server's certificate, and TLS clients that ask it.
 * ThreadSanitizer does not start under criterion, so what does not hold ends the program with 1.
 */

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "webhook/tls/files.h"

#define THREAD_CLIENT_MAX_ANSWER 65536

/* Here, so that analysers see that it does not return. */
static inline void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    exit(1);
}

void nap(long msec);
/* A certificate that signs itself, and its key, in a new folder. */
struct thread_client_files {
    char folder[64];
    char certificate[128];
    char key[128];
    struct tls_files files;
};
void thread_client_make_files(struct thread_client_files *files);
void thread_client_remove_files(const struct thread_client_files *files);

/* A connection to 127.0.0.1. */
int thread_client_connect(uint16_t port);
bool thread_client_send(gnutls_session_t session, const char *data, size_t bytes);

/* A connection with its handshake done, and a review sent on it. */
struct thread_client {
    int fd;
    gnutls_certificate_credentials_t trust;
    gnutls_session_t session;
};
void thread_client_begin(struct thread_client *client, uint16_t port, const char *timeout,
                         const char *body, size_t bytes);
void thread_client_end(struct thread_client *client);

/* One review on a connection of its own; the text of the whole answer, with a NUL behind it. */
void thread_client_ask(uint16_t port, const char *timeout, const char *body, size_t bytes,
                       char ret_answer[static THREAD_CLIENT_MAX_ANSWER]);

#endif
