/* SPDX-License-Identifier: Apache-2.0 */
/* thread_client - TLS clients and a certificate, for programs that run with ThreadSanitizer. */
#include "thread_client.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void nap(long msec)
{
    struct timespec pause = {.tv_nsec = msec * 1000000};

    (void)nanosleep(&pause, NULL);
}

static void write_pem(const char *path, const gnutls_datum_t *pem)
{
    FILE *file = fopen(path, "w");

    must(file != NULL && fwrite(pem->data, 1, pem->size, file) == pem->size && fclose(file) == 0,
         path);
    gnutls_free(pem->data);
}

static void make_certificate(const struct tls_files *files)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t certificate = NULL;
    gnutls_datum_t pem = {0};
    time_t now = time(NULL);
    bool made =
        gnutls_x509_privkey_init(&key) == 0 && gnutls_x509_crt_init(&certificate) == 0 &&
        gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) == 0 &&
        gnutls_x509_crt_set_version(certificate, 3) == 0 &&
        gnutls_x509_crt_set_serial(certificate, "\1", 1) == 0 &&
        gnutls_x509_crt_set_activation_time(certificate, now - 3600) == 0 &&
        gnutls_x509_crt_set_expiration_time(certificate, now + 3600) == 0 &&
        gnutls_x509_crt_set_key(certificate, key) == 0 &&
        gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0) == 0;

    must(made, "a certificate can be made");
    must(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem) == 0, "export");
    write_pem(files->certificate, &pem);
    must(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem) == 0, "export of the key");
    write_pem(files->key, &pem);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

void thread_client_make_files(struct thread_client_files *files)
{
    *files = (struct thread_client_files){.folder = "/tmp/sandgate-tsan-XXXXXX"};
    must(mkdtemp(files->folder) != NULL, "a folder");
    (void)snprintf(files->certificate, sizeof(files->certificate), "%s/tls.crt", files->folder);
    (void)snprintf(files->key, sizeof(files->key), "%s/tls.key", files->folder);
    files->files = (struct tls_files){.certificate = files->certificate, .key = files->key};
    make_certificate(&files->files);
}

void thread_client_remove_files(const struct thread_client_files *files)
{
    (void)unlink(files->certificate);
    (void)unlink(files->key);
    (void)rmdir(files->folder);
}

int thread_client_connect(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0,
         "a connection");
    return fd;
}

bool thread_client_send(gnutls_session_t session, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = gnutls_record_send(session, data, bytes);

        if (n < 0 && gnutls_error_is_fatal((int)n))
            return false;
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        }
    }
    return true;
}

static void receive_all(gnutls_session_t session, char ret_answer[static THREAD_CLIENT_MAX_ANSWER])
{
    size_t got = 0;

    while (got < THREAD_CLIENT_MAX_ANSWER - 1) {
        ssize_t n =
            gnutls_record_recv(session, ret_answer + got, THREAD_CLIENT_MAX_ANSWER - 1 - got);

        if (n == 0 || (n < 0 && gnutls_error_is_fatal((int)n)))
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    ret_answer[got] = '\0';
}

void thread_client_begin(struct thread_client *client, uint16_t port, const char *timeout,
                         const char *body, size_t bytes)
{
    char head[200];

    *client = (struct thread_client){.fd = thread_client_connect(port)};
    must(gnutls_certificate_allocate_credentials(&client->trust) == 0 &&
             gnutls_init(&client->session, GNUTLS_CLIENT) == 0 &&
             gnutls_set_default_priority(client->session) == 0 &&
             gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->trust) == 0,
         "a session");
    gnutls_transport_set_int(client->session, client->fd);
    must(gnutls_handshake(client->session) == 0, "a handshake");
    (void)snprintf(head, sizeof(head),
                   "POST /validate?timeout=%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                   timeout, bytes);
    must(thread_client_send(client->session, head, strlen(head)) &&
             thread_client_send(client->session, body, bytes),
         "a review is sent");
}

void thread_client_end(struct thread_client *client)
{
    gnutls_deinit(client->session);
    (void)close(client->fd);
    gnutls_certificate_free_credentials(client->trust);
}

void thread_client_ask(uint16_t port, const char *timeout, const char *body, size_t bytes,
                       char ret_answer[static THREAD_CLIENT_MAX_ANSWER])
{
    struct thread_client client = {0};

    thread_client_begin(&client, port, timeout, body, bytes);
    receive_all(client.session, ret_answer);
    thread_client_end(&client);
}
