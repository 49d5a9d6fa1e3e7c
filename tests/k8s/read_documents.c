/* SPDX-License-Identifier: Apache-2.0 */
/* read_documents - reads documents from standard input and prints the result of each, for
 * compare_readers.py. A record is a line "SYNTAX RULES BYTES" (numbers), followed by BYTES bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "reading.h"

#define MAX_TEXT_BYTES (1 << 20)

/* A number and the character after it. */
static int read_number(char end, unsigned *ret_number)
{
    unsigned number = 0;
    int c = getchar();

    for (; c >= '0' && c <= '9'; c = getchar()) {
        number = number * 10 + (unsigned)(c - '0');
        if (number > MAX_TEXT_BYTES)
            return -1;
    }
    *ret_number = number;
    return c == end ? 0 : -1;
}

int main(void)
{
    static char text[MAX_TEXT_BYTES];
    unsigned syntax = 0, rules = 0, bytes = 0;

    while (read_number(' ', &syntax) == 0) {
        cleanup_arena struct arena arena = {0};
        struct document_options options = {0};
        struct str result = {0};

        if (read_number(' ', &rules) != 0 || read_number('\n', &bytes) != 0 ||
            fread(text, 1, bytes, stdin) != bytes)
            return EXIT_FAILURE;
        options.syntax = (enum document_syntax)syntax;
        options.rules = (enum document_rules)rules;
        result = reading_of(&arena, (struct str){text, bytes}, &options);
        (void)fwrite(result.ptr, 1, result.len, stdout);
        (void)putchar('\n');
    }
    return feof(stdin) && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
