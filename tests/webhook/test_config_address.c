/* SPDX-License-Identifier: Apache-2.0 */
/* test_config_address - listening addresses of the configuration. */
#include <criterion/criterion.h>

#include "webhook/config/config.h"

Test(config_address, valid_addresses_are_read)
{
    static const struct {
        const char *text;
        const char *host;
        uint16_t port;
    } rows[] = {
        {"[::]:8443", "::", 8443},
        {"127.0.0.1:8080", "127.0.0.1", 8080},
        {":8443", "", 8443},
        {"gate.example:1", "gate.example", 1},
        {"[fd00::10]:65535", "fd00::10", 65535},
        {"localhost:0", "localhost", 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config_address address = {0};
        const char *problem = config_read_address(str_of(rows[i].text), &address);

        cr_assert_null(problem, "%s: %s", rows[i].text, problem);
        cr_assert_str_eq(address.host, rows[i].host);
        cr_assert_eq(address.port, rows[i].port);
    }
}

Test(config_address, invalid_addresses_are_rejected_and_do_not_change_the_result)
{
    static const char *const texts[] = {
        "",          "8443",      "::1:8443",      "fd00::10", "[::1]",
        "[::1]8443", "[::1:8443", "[localhost]:1", "[]:1",     "127.0.0.1:65536",
        "a:",        "a:-1",      "a:01",          "a b:1",    "a/b:1",
        "a:1 ",      "http://a:1"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct config_address address = {.host = "untouched", .port = 7};

        cr_assert_not_null(config_read_address(str_of(texts[i]), &address), "%s", texts[i]);
        cr_assert_str_eq(address.host, "untouched");
        cr_assert_eq(address.port, 7);
    }
}
