/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_API_INTERNAL_H
#define K8S_API_INTERNAL_H

/*
 * internal - shared by the files of this directory.
 *
 * api.c          the address of the server; blocking calls
 * credentials.c  tokens and client certificates, which are read again when they are rotated
 * call.c         one call by libcurl
 * loop.c         many calls by libcurl
 * reason.c       failures, in a sentence
 *
 * With GnuTLS, libcurl only takes certificate authorities and the client certificate as paths. They
 * can come from memory, so they are given as anonymous files (memfd).
 */

#include <curl/curl.h>
#include <pthread.h>

#include "k8s/api/api.h"

#define API_MAX_IDLE_LOOPS 4       /* kept, with open connections, for the next api_do() */
#define API_MAX_STATUS_BYTES 65536 /* of a body with a status that is not a success */
#define API_PATH_BYTES 160         /* path of a memfd in /proc */
#define API_CHECK_MSEC 1000        /* the files of a certificate are checked at this interval */

/* Bytes as an anonymous file. */
struct api_memory {
    int fd; /* owned; -1: none */
    char path[API_PATH_BYTES];
};

/* A client certificate with its key. Reference-counted: a call keeps the one that it began with. */
struct api_identity {
    unsigned count; /* references; guarded by the mutex of the api */
    struct api_memory certificate;
    struct api_memory key;
};

/* The state of a file, to notice that it was replaced. */
struct api_stamp {
    uint64_t device, inode, size, seconds, nanoseconds;
};

struct api {
    struct arena arena; /* for the texts below that never change */
    struct str server;
    const char *base_url;      /* has the host name that the certificate must be for */
    const char *host_header;   /* "Host: …" if base_url has another host; else NULL */
    const char *proxy;         /* NULL: from HTTPS_PROXY and NO_PROXY; "": none */
    struct str proxy_password; /* must not be shown */
    struct curl_slist *connect_to;
    bool insecure;
    bool plain;             /* http instead of https: no credentials are sent */
    struct api_memory ca;   /* fd -1: the certificate authorities of the system */
    struct str basic;       /* "Authorization: Basic …"; absent: none */
    struct str password;    /* must not be shown */
    struct str_list extra;  /* impersonation headers */
    const char *token_file; /* NULL: none */
    const char *certificate_file;
    const char *key_file;

    pthread_mutex_t mutex;         /* guards all members below */
    char *token;                   /* owned; NULL: none */
    uint64_t token_msec;           /* of clock_age_msec(): last read of its file; 0: never */
    int token_error;               /* result of the last read */
    struct api_identity *identity; /* NULL: none */
    uint64_t identity_msec;        /* of clock_age_msec(): last check of its files */
    struct api_stamp certificate_stamp, key_stamp;
    unsigned serial; /* number of memory files made */
    struct api_loop *idle[API_MAX_IDLE_LOOPS];
    size_t idle_count;
};

struct api_call {
    struct api_loop *loop;
    struct api_call *next, *previous; /* of the loop */
    bool added;                       /* to libcurl */
    bool dropped;                     /* the loop frees it in its next turn */
    bool retried;                     /* with a new token */
    struct arena own;                 /* for request and credentials */
    struct arena *arena;              /* for the reply: borrowed, or &own */
    struct api_request request;
    void (*on_done)(void *context, int result, const struct api_reply *reply);

    CURL *easy;
    struct curl_slist *headers;
    struct api_identity *identity;
    struct str token; /* as sent */
    char error_text[CURL_ERROR_SIZE];

    char *bytes; /* body so far; owned */
    size_t len, capacity;
    bool truncated;          /* the body exceeded API_MAX_STATUS_BYTES */
    int failure;             /* error of a callback; 0: none */
    uint64_t last_byte_msec; /* of clock_age_msec(): the last byte */
};

/* ---- credentials.c ---- */

/* Whether access has a secret, which must not be sent unencrypted. */
bool api_has_secret(const struct access *access);
/* Checks and copies the credentials of access; the reason is a static text. */
int api_credentials_init(struct api *api, const struct access *access, struct str *reterr_reason);
void api_credentials_done(struct api *api);
/* A copy of the token to send; absent if there is none. `refused`: the server refused the last
 * one, so its file is read again. -EACCES: it was never readable. */
int api_token_take(struct api *api, bool refused, struct arena *arena, struct str *ret_token);
/* The current client certificate, with a reference; NULL: none. */
struct api_identity *api_identity_take(struct api *api);
void api_identity_unref(struct api *api, struct api_identity *identity);

/* ---- call.c ---- */

/* arena NULL: the reply is stored in the call. */
int api_call_new(struct api *api, const struct api_request *request, struct arena *arena,
                 struct api_call **ret_call);
void api_call_free(struct api *api, struct api_call *call);
/* Prepares it for libcurl, for the first attempt or the second one. */
int api_call_prepare(struct api *api, struct api_call *call);
/* Whether to repeat the call with a new token: once, after a 401. Prepares the call for it. */
bool api_call_retry(struct api *api, struct api_call *call, CURLcode code);
int api_call_result(const struct api_call *call, CURLcode code);
int api_call_reply(struct api *api, struct api_call *call, int result, struct api_reply *ret_reply);

/* ---- loop.c ---- */

int api_loop_begin(struct api_loop *loop, const struct api_request *request, struct arena *arena,
                   void (*on_done)(void *context, int result, const struct api_reply *reply),
                   struct api_call **ret_call);

/* ---- reason.c ---- */

struct str api_reason(const struct api *api, const struct api_call *call, int result, int status);

#endif
