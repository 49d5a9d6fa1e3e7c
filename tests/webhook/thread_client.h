/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBHOOK_THREAD_CLIENT_H
#define TESTS_WEBHOOK_THREAD_CLIENT_H

/*
 * thread_client - for programs that run with ThreadSanitizer: a certificate for a server, and TLS
 * clients. These programs do not use criterion, so an error ends them with status 1.
 */

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "webhook/tls/files.h"

#define THREAD_CLIENT_MAX_ANSWER 65536

/* Inline, so that static analysis sees that it does not return. */
static inline void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

void nap(long msec);
/* A self-signed certificate and its key, in a new directory. */
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

/* A connection after the handshake, on which a review was sent. */
struct thread_client {
    int fd;
    gnutls_certificate_credentials_t trust;
    gnutls_session_t session;
};
void thread_client_begin(struct thread_client *client, uint16_t port, const char *timeout,
                         const char *body, size_t bytes);
void thread_client_end(struct thread_client *client);

/* Sends one review on a new connection. ret_answer is the whole response, ending with NUL. */
void thread_client_ask(uint16_t port, const char *timeout, const char *body, size_t bytes,
                       char ret_answer[static THREAD_CLIENT_MAX_ANSWER]);

#endif
