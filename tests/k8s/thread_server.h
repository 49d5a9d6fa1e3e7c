/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_K8S_THREAD_SERVER_H
#define TESTS_K8S_THREAD_SERVER_H

/*
 * thread_server - an HTTP server without TLS, with a thread for each connection.
 *
 * For programs that run with ThreadSanitizer: it would report GnuTLS, which is not instrumented.
 * Any failure ends the program with status 1, because these programs do not use criterion.
 */

#include <pthread.h>
#include <stdbool.h>

/* Ends the program with status 1 unless `holds`. */
void check(bool holds, const char *what);

struct thread_server {
    int listener;
    pthread_t thread;
    char url[40];
    /* Answers the request whose head is given, on the socket. false: the connection is closed. */
    bool (*respond)(int fd, const char *head);
};

/* Listens on a free port of 127.0.0.1. The server must stay valid until thread_server_stop(). */
void thread_server_start(struct thread_server *server, bool (*respond)(int fd, const char *head));

/* Stops listening. Connections end when their clients close them. */
void thread_server_stop(struct thread_server *server);

#endif
