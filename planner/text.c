#include "planner/text.h"

int str_compare(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int r = n > 0 ? memcmp(a.ptr, b.ptr, n) : 0;

    if (r != 0)
        return r;
    return (a.len > b.len) - (a.len < b.len);
}
