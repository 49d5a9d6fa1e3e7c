/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_API_INTERNAL_H
#define K8S_API_INTERNAL_H

/*
 * internal - what the files of api share, and nobody else includes.
 *
 * api.c        where the server is, blocking calls
 * proof.c  who asks: the token, the client certificate, read again as they are rotated
 * call.c   one call of libcurl
 * loop.c   many of them
 * reason.c what came, in a sentence
 *
 * The trust anchors and the client certificate are given to libcurl as paths, since with GnuTLS it
 * takes no others; to have them from memory they lie in files without a name (memfd).
 */

#include <curl/curl.h>
#include <pthread.h>

#include "k8s/api/api.h"

#define API_MAX_IDLE_LOOPS 4       /* kept with their connections for the next api_do() */
#define API_MAX_STATUS_BYTES 65536 /* of a body that is no success */
#define API_PATH_BYTES 160         /* of a memfd in /proc */
#define API_CHECK_MSEC 1000        /* a certificate's files are looked at so often */

/* Bytes as a file without a name. */
struct api_memory {
    int fd; /* owned; -1: none */
    char path[API_PATH_BYTES];
};

/* A certificate with its key; counted, since a call under way goes on with what it began with. */
struct api_identity {
    unsigned count; /* guarded by the mutex of the api */
    struct api_memory certificate;
    struct api_memory key;
};

/* When a file was last what it is: compared as a whole. */
struct api_stamp {
    uint64_t device, inode, size, seconds, nanoseconds;
};

struct api {
    struct arena arena; /* for all texts below that never change */
    struct str server;
    const char *base_url;    /* with the name that the certificate must have */
    const char *host_header; /* "Host: …", where base_url has another; else NULL */
    const char *proxy;       /* NULL: what the environment says; "": none */
    struct str proxy_secret; /* not to be shown */
    struct curl_slist *connect_to;
    bool insecure;
    bool plain;             /* http: there is nobody to prove anything to */
    struct api_memory ca;   /* fd -1: what the system trusts */
    struct str basic;       /* "Authorization: Basic …"; absent: none */
    struct str password;    /* not to be shown */
    struct str_list extra;  /* headers of impersonation */
    const char *token_file; /* NULL: none */
    const char *certificate_file;
    const char *key_file;

    pthread_mutex_t mutex;         /* for what follows */
    char *token;                   /* owned; NULL: none */
    uint64_t token_msec;           /* when its file was last read; 0: never */
    int token_error;               /* of the last reading */
    struct api_identity *identity; /* NULL: none */
    uint64_t identity_msec;
    struct api_stamp certificate_stamp, key_stamp;
    unsigned serial; /* of memory files */
    struct api_loop *idle[API_MAX_IDLE_LOOPS];
    size_t idle_count;
};

struct api_call {
    struct api_loop *loop;
    struct api_call *next, *previous; /* of the loop */
    bool added;                       /* to libcurl */
    bool dropped;
    bool retried;
    struct arena own;    /* of request and credentials */
    struct arena *arena; /* of the reply: borrowed, or &own */
    struct api_request request;
    void (*on_done)(void *context, int result, const struct api_reply *reply);

    CURL *easy;
    struct curl_slist *headers;
    struct api_identity *identity;
    struct str token; /* the one that is sent */
    char error_text[CURL_ERROR_SIZE];

    char *bytes; /* the body, on the heap while it grows */
    size_t len, room;
    bool cut;            /* there was more of it than anyone wants to see */
    int failure;         /* of our own callbacks */
    uint64_t heard_msec; /* when a byte last came */
};

/* ---- proof.c ---- */

int api_memory_make(struct api *api, struct str bytes, struct api_memory *ret_memory);
void api_memory_close(struct api_memory *memory);
/* Whether access proves something that is to be kept secret. */
bool api_has_secret(const struct access *access);
/* Copies and checks what access holds; the reason is static. */
int api_proof_init(struct api *api, const struct access *access, struct str *reterr_reason);
void api_proof_done(struct api *api);
/* The token to send, copied; absent where there is none. `refused`: the server did not like it. */
int api_token_take(struct api *api, bool refused, struct arena *arena, struct str *ret_token);
struct api_identity *api_identity_take(struct api *api);
void api_identity_drop(struct api *api, struct api_identity *identity);

/* ---- call.c ---- */

/* arena NULL: the reply lives in the call. */
int api_call_new(struct api *api, const struct api_request *request, struct arena *arena,
                 struct api_call **ret_call);
void api_call_free(struct api *api, struct api_call *call);
/* Gets it ready to be given to libcurl, for the first time or once more. */
int api_call_prepare(struct api *api, struct api_call *call);
/* Whether it should be asked again, with another token. */
bool api_call_again(struct api *api, struct api_call *call, CURLcode code);
int api_call_result(const struct api_call *call, CURLcode code);
int api_call_reply(struct api *api, struct api_call *call, int result, struct api_reply *ret_reply);

/* ---- loop.c ---- */

int api_loop_begin(struct api_loop *loop, const struct api_request *request, struct arena *arena,
                   void (*on_done)(void *context, int result, const struct api_reply *reply),
                   struct api_call **ret_call);

/* ---- reason.c ---- */

struct str api_reason(const struct api *api, const struct api_call *call, int result, int status);

#endif
