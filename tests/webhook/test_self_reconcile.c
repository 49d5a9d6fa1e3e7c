/* SPDX-License-Identifier: Apache-2.0 */
/* test_self_reconcile - turns of replicas: first start, renewal, errors and conflicts. */
#include <criterion/criterion.h>
#include <errno.h>

#include "self_site.h"
#include "webhook/selfcert/secret.h"

static struct site site;

static void open_site(void)
{
    site_open(&site);
}

static void close_site(void)
{
    site_done(&site);
}

TestSuite(self_reconcile, .init = open_site, .fini = close_site);

static const struct self_replica *first(void)
{
    return &site.replicas[0];
}

static const struct self_replica *second(void)
{
    return &site.replicas[1];
}

static void assert_same_certificate(void)
{
    cr_assert(certificate_same(&first()->serving.id, &second()->serving.id));
    cr_assert(str_equal(first()->serving.pair.key, second()->serving.pair.key));
}

static void assert_logged(const char *text)
{
    struct arena cleanup_arena arena = {0};

    cr_assert(str_contains(site_log(&site, &arena), str_of(text)), "%s in %s", text,
              site_log(&site, &arena).ptr);
}

static size_t count_cas(void)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_bundle cas = {0};

    cr_assert_eq(certificate_read_bundle(fake_get(&site.fake, "ca.crt", &arena), &arena, &cas), 0);
    return cas.count;
}

Test(self_reconcile, first_start_fills_the_secret_and_the_bundles)
{
    struct arena cleanup_arena arena = {0};

    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_READY, "%s", self_why_text(first()->why));
    cr_assert_eq(site.fake.writes, 1);
    cr_assert(site_covers(&site, &first()->serving.ca));
    cr_assert(certificate_has_key(fake_get(&site.fake, "tls.crt", &arena),
                                  fake_get(&site.fake, "tls.key", &arena)));
    cr_assert(certificate_has_key(fake_get(&site.fake, "ca.crt", &arena),
                                  fake_get(&site.fake, "ca.key", &arena)));
    cr_assert_eq(fake_get(&site.fake, "next-ca.key", &arena).len, 0);
    site_reconcile(&site, 1);
    cr_assert_eq(second()->why, SELF_READY);
    assert_same_certificate();
    cr_assert_eq(site.fake.writes, 1);
}

static void other_reconciles(struct fake *fake, bool webhooks)
{
    (void)fake;
    (void)webhooks;
    site_reconcile(&site, 1);
}

Test(self_reconcile, two_that_start_at_once_agree)
{
    site.fake.between = other_reconciles;
    site_reconcile(&site, 0);
    cr_assert_geq(site.fake.conflicts, 1);
    cr_assert_eq(site.fake.writes, 1);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert_eq(second()->why, SELF_READY);
    assert_same_certificate();
    cr_assert_eq(count_cas(), 1);
}

static void other_mends(struct fake *fake, bool webhooks)
{
    if (webhooks)
        site_reconcile(&site, 1);
    else
        fake->between = other_mends;
}

Test(self_reconcile, two_replicas_that_write_the_bundles_together_agree)
{
    site.fake.between = other_mends;
    site_reconcile(&site, 0);
    cr_assert_eq(site.fake.conflicts, 1);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert_eq(second()->why, SELF_READY);
}

Test(self_reconcile, a_lost_answer_changes_nothing)
{
    site.fake.lose = 1;
    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_SECRET_UNREACHABLE);
    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert_eq(site.fake.writes, 1);
}

Test(self_reconcile, renews_the_certificate_with_the_same_ca)
{
    struct certificate_id before = {0}, ca = {0};

    site_live(&site, 60, 30);
    before = first()->serving.id;
    ca = first()->serving.ca;
    site_live(&site, 23 * SITE_DAY_SEC / 4, SITE_DAY_SEC / 4);
    cr_assert(certificate_same(&first()->serving.id, &before));
    site_live(&site, SITE_DAY_SEC, SITE_DAY_SEC / 4);
    cr_assert(!certificate_same(&first()->serving.id, &before));
    cr_assert(certificate_same(&first()->serving.ca, &ca));
    assert_same_certificate();
    cr_assert_eq(site.fake.writes, 2);
}

Test(self_reconcile, a_ca_is_exchanged_in_steps)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_id old = {0};
    struct certificate_bundle cas = {0};

    site_live(&site, 60, 30);
    old = first()->serving.ca;
    site.now_sec += 60 * SITE_DAY_SEC - 7200;
    site.now_msec += 3600000;
    site_live(&site, 3600, 600);
    cr_assert_eq(count_cas(), 1, "not before two thirds of its life");
    site.now_sec += SITE_DAY_SEC;
    site_reconcile(&site, 0);
    cr_assert_eq(count_cas(), 2);
    cr_assert_eq(certificate_read_bundle(fake_get(&site.fake, "ca.crt", &arena), &arena, &cas), 0);
    cr_assert(certificate_same(&cas.items[0].id, &old), "the old one goes on signing");
    site_live(&site, 60, 20);
    cr_assert(site_covers(&site, &cas.items[0].id) && site_covers(&site, &cas.items[1].id));
    cr_assert(certificate_same(&first()->serving.ca, &old));
    site_live(&site, 120, 20);
    cr_assert(certificate_same(&first()->serving.ca, &cas.items[1].id));
    assert_same_certificate();
    cr_assert(site_covers(&site, &old), "others may serve by it still");
    cr_assert_eq(fake_get(&site.fake, "next-ca.key", &arena).len, 0);
    site.now_sec += 31 * SITE_DAY_SEC;
    site_live(&site, 60, 20);
    cr_assert_eq(count_cas(), 1, "the old one has ended");
    cr_assert(!site_covers(&site, &old));
}

Test(self_reconcile, the_next_ca_waits_until_bundles_can_be_written)
{
    struct certificate_id old = {0};

    site_live(&site, 60, 30);
    old = first()->serving.ca;
    site.fake.status[API_PATCH][1] = 403;
    site.now_sec += 70 * SITE_DAY_SEC;
    site_live(&site, 10 * SITE_DAY_SEC, SITE_DAY_SEC / 2);
    cr_assert(certificate_same(&first()->serving.ca, &old));
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert_eq(first()->failed, SELF_WEBHOOKS_NO_PATCH);
    assert_logged("\"what\":\"the right to patch the ValidatingWebhookConfiguration of "
                  "tls.self.webhookConfiguration is missing\"");
    site.fake.status[API_PATCH][1] = 0;
    site_live(&site, 240, 60);
    cr_assert(!certificate_same(&first()->serving.ca, &old));
    assert_logged("certificates are kept up to date again");
}

Test(self_reconcile, a_restarted_replica_is_ready_while_the_next_ca_waits)
{
    site_live(&site, 60, 30);
    site.fake.status[API_PATCH][1] = 403;
    site.now_sec += 70 * SITE_DAY_SEC;
    site_live(&site, 60, 20);
    site_restart(&site, 0);
    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_READY);
}

Test(self_reconcile, an_emptied_secret_is_filled_without_a_gap)
{
    struct certificate_id old = {0};

    site_live(&site, 60, 30);
    old = first()->serving.ca;
    fake_empty_secret(&site.fake);
    site_live(&site, 60, 20);
    cr_assert(certificate_same(&first()->serving.ca, &old), "the API server may not know it yet");
    cr_assert(site_covers(&site, &old));
    site_live(&site, 120, 20);
    cr_assert(!certificate_same(&first()->serving.ca, &old));
    assert_same_certificate();
    cr_assert(site_covers(&site, &first()->serving.ca));
    cr_assert_eq(site.fake.writes, 2);
}

Test(self_reconcile, invalid_data_is_replaced_and_the_reason_logged)
{
    const char *const keys[] = {"tls.crt", "tls.key", "ca.crt", "ca.key"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        site_live(&site, 300, 60);
        fake_set(&site.fake, keys[i], STR("-----BEGIN CERTIFICATE-----\nno\n"));
        site.now_msec += SELF_WRITES_MSEC;
        site_live(&site, 240, 60);
        cr_assert_eq(first()->why, SELF_READY, "%s", keys[i]);
        cr_assert(site_covers(&site, &first()->serving.ca), "%s", keys[i]);
        assert_same_certificate();
    }
    cr_assert_eq(site.fake.writes, 5);
    assert_logged("tls.crt is not a certificate, or tls.key is not its key");
    assert_logged("ca.crt contains something other than certificates, or a duplicate");
    assert_logged("the key of a CA belongs to no certificate in ca.crt");
}

Test(self_reconcile, new_names_make_a_certificate_for_old_and_new_names)
{
    static const struct str name = STR_INIT("other.sandgate-system.svc");
    const struct str_list names = {.items = &name, .count = 1};
    struct str_list before = site.config->self.dns_names;
    struct arena cleanup_arena arena = {0};
    struct certificate_bundle served = {0};
    struct certificate_id ca = {0};

    site_live(&site, 60, 30);
    ca = first()->serving.ca;
    for (size_t i = 0; i < 10; i++) { /* during an update, one replica wants each list of names */
        site_set_names(&site, &names);
        site_reconcile(&site, 0);
        site_set_names(&site, &before);
        site_reconcile(&site, 1);
    }
    cr_assert_eq(site.fake.writes, 2);
    assert_same_certificate();
    cr_assert(certificate_same(&first()->serving.ca, &ca));
    cr_assert_eq(certificate_read_bundle(first()->serving.pair.certificate, &arena, &served), 0);
    cr_assert_eq(served.items[0].names.count, 2);
    cr_assert(str_equal(served.items[0].names.items[0], name));
    cr_assert(str_equal(served.items[0].names.items[1], before.items[0]));
    site_set_names(&site, &names);
    site_live(&site, 8 * SITE_DAY_SEC, SITE_DAY_SEC / 4);
    cr_assert_eq(certificate_read_bundle(first()->serving.pair.certificate, &arena, &served), 0);
    cr_assert_eq(served.items[0].names.count, 1,
                 "names that no replica wants end with the certificate");
}

Test(self_reconcile, missing_objects_and_permissions_are_reported)
{
    const struct {
        enum api_method method;
        bool webhooks;
        int status;
        enum self_why why;
    } rows[] = {
        {API_GET, false, 404, SELF_SECRET_MISSING},
        {API_GET, false, 403, SELF_SECRET_NO_GET},
        {API_GET, false, 401, SELF_SECRET_UNREACHABLE},
        {API_GET, false, 500, SELF_SECRET_FAILED},
        {API_PATCH, false, 403, SELF_SECRET_NO_PATCH},
        {API_PATCH, false, 422, SELF_SECRET_FAILED},
        {API_GET, true, 404, SELF_WEBHOOKS_MISSING},
        {API_GET, true, 403, SELF_WEBHOOKS_NO_GET},
        {API_PATCH, true, 403, SELF_WEBHOOKS_NO_PATCH},
        {API_PATCH, true, 500, SELF_WEBHOOKS_FAILED},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        site_restart(&site, 0);
        site.fake.status[rows[i].method][rows[i].webhooks] = rows[i].status;
        site_reconcile(&site, 0);
        cr_assert_eq(first()->why, rows[i].why, "row %zu: %s", i, self_why_text(first()->why));
        site.fake.status[rows[i].method][rows[i].webhooks] = 0;
    }
    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_READY);
}

Test(self_reconcile, serves_while_the_api_server_is_unreachable_and_renews_later)
{
    struct certificate_id before = {0};

    site_live(&site, 60, 30);
    before = first()->serving.id;
    site.fake.away = -ECONNREFUSED;
    site_live(&site, 8 * SITE_DAY_SEC, SITE_DAY_SEC / 4);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert(certificate_same(&first()->serving.id, &before));
    assert_logged("the serving certificate expires soon, or has expired, and was not renewed");
    site_live(&site, SITE_DAY_SEC, SITE_DAY_SEC / 4);
    cr_assert_eq(first()->why, SELF_EXPIRED);
    site.fake.away = 0;
    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert(!certificate_same(&first()->serving.id, &before));
}

Test(self_reconcile, a_removed_bundle_is_restored)
{
    site_live(&site, 60, 30);
    fake_wipe_bundles(&site.fake);
    site_reconcile(&site, 1);
    cr_assert(site_covers(&site, &first()->serving.ca));
    cr_assert_eq(site.fake.writes, 1);
}

Test(self_reconcile, keeps_other_certificates_of_a_bundle_until_they_expire)
{
    struct arena cleanup_arena arena = {0};
    struct certificate_pair other = {0};
    struct certificate_bundle bundle = {0};

    site_reconcile(&site, 0);
    cr_assert_eq(certificate_make_ca(site.now_sec, 1, &arena, &other), 0);
    fake_wipe_bundles(&site.fake);
    site.fake.bundle[0] = NULL;
    cr_assert_eq(certificate_read_bundle(other.certificate, &arena, &bundle), 0);
    {
        struct self_replica *replica = &site.replicas[0];
        struct str saved = fake_get(&site.fake, "ca.crt", &arena);
        struct str both = arena_format(&arena, "%.*s%.*s", (int)saved.len, saved.ptr,
                                       (int)other.certificate.len, other.certificate.ptr);

        fake_set(&site.fake, "ca.crt", both);
        site_reconcile(&site, 0);
        cr_assert(site_covers(&site, &bundle.items[0].id));
        fake_set(&site.fake, "ca.crt", saved);
        site_reconcile(&site, 0);
        cr_assert_eq(replica->why, SELF_READY);
    }
    cr_assert(site_covers(&site, &bundle.items[0].id));
    site.now_sec += SITE_DAY_SEC + 1;
    site_reconcile(&site, 0);
    cr_assert(!site_covers(&site, &bundle.items[0].id));
}

Test(self_reconcile, serves_at_once_without_webhook_configuration)
{
    site.config->self.webhook_configuration = STR("");
    site_reconcile(&site, 0);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert_eq(site.fake.webhooks_version, 0);
}

Test(self_reconcile, different_clocks_do_not_cause_endless_writes)
{
    site.skew_sec[1] = 365 * SITE_DAY_SEC;
    site_live(&site, 24 * 3600, 1200);
    cr_assert_leq(site.fake.writes, 2 * 24 * SELF_MAX_WRITES);
    cr_assert_eq(first()->why, SELF_READY);
    site.skew_sec[1] = 0;
    site_live(&site, 2 * 3600, 120);
    cr_assert_eq(first()->why, SELF_READY);
    cr_assert_eq(second()->why, SELF_READY);
    assert_same_certificate();
}

Test(self_reconcile, a_clock_that_jumps_back_and_forth_recovers)
{
    unsigned before = 0;

    site_live(&site, 600, 20);
    site.now_sec += 3650 * SITE_DAY_SEC;
    site_live(&site, 7200, 300);
    cr_assert_eq(first()->why, SELF_READY);
    site.now_sec -= 3650 * SITE_DAY_SEC;
    site_live(&site, 7200, 300);
    cr_assert_eq(first()->why, SELF_READY);
    assert_same_certificate();
    before = site.fake.writes;
    cr_assert_leq(before, 4);
    site_live(&site, 7200, 300);
    site.now_sec -= 240; /* a small step, as made by a time server */
    site_live(&site, 600, 20);
    cr_assert_eq(site.fake.writes, before);
}
