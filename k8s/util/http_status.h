/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_UTIL_HTTP_STATUS_H
#define K8S_UTIL_HTTP_STATUS_H

/*
 * http_status - the HTTP statuses that the gate sends or has a rule for. webhook/server/ uses the
 * names of libmicrohttpd instead, beside its other constants.
 */
enum http_status {
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_UNAUTHORIZED = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_NOT_FOUND = 404,
    HTTP_CONFLICT = 409,
    HTTP_GONE = 410,
    HTTP_TOO_LARGE = 413,
    HTTP_UNPROCESSABLE = 422, /* a test in a JSON patch failed */
    HTTP_TOO_MANY_REQUESTS = 429,
    HTTP_INTERNAL_ERROR = 500,
    HTTP_SERVICE_UNAVAILABLE = 503,
    HTTP_GATEWAY_TIMEOUT = 504,
};

#endif
