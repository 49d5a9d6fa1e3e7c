/* SPDX-License-Identifier: Apache-2.0 */
/* plan_lines - reads one planner input as JSON from each line and writes its packet, or `error` if
 * there is none. tests/reference/compare_plan.py compares it with an independent planner. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "k8s/document/document.h"
#include "planner/base/arena.h"
#include "planner/plan.h"

/* 0, or the errno of the reason why there is no packet. */
static int plan_line(struct str line, struct arena *arena, struct plan *ret_plan)
{
    const struct document_options options = {.syntax = DOCUMENT_JSON, .rules = DOCUMENT_OWN};
    struct document_error error = {0};
    cJSON *tree = NULL;
    int r = document_read(line, &options, arena, &tree, &error);

    return r != 0 ? r : plan_evaluate(tree, PLAN_CALLER_SUPPLIED, arena, ret_plan);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    int status = EXIT_SUCCESS;

    for (;;) {
        struct arena cleanup_arena arena = {0};
        ssize_t n = getline(&line, &size, stdin);
        struct plan plan = {0};
        int r = 0;

        if (n < 0)
            break;
        r = plan_line((struct str){.ptr = line, .len = (size_t)n}, &arena, &plan);
        if (r == 0) {
            (void)fwrite(plan.packet.ptr, 1, plan.packet.len, stdout);
            (void)putchar('\n');
        } else if (r == -EBADMSG || r == -EINVAL || r == -E2BIG) {
            (void)puts("error");
        } else {
            fprintf(stderr, "plan_lines: error %d\n", -r);
            status = EXIT_FAILURE;
            break;
        }
    }
    free(line);
    return fflush(stdout) == 0 && ferror(stdin) == 0 ? status : EXIT_FAILURE;
}
