/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of percent-encoding (k8s/util/percent.h). */
#include <criterion/criterion.h>

#include "k8s/util/percent.h"

Test(percent, only_unreserved_characters_stay)
{
    cleanup_arena struct arena arena = {0};

    cr_expect(str_equal(percent_encode(&arena, STR("aZ09-._~")), STR("aZ09-._~")));
    cr_expect(str_equal(percent_encode(&arena, STR("a/b c=&?%\xc3\xa9")),
                        STR("a%2Fb%20c%3D%26%3F%25%C3%A9")));
    cr_expect(str_equal(percent_encode(&arena, STR("")), STR("")));
}
