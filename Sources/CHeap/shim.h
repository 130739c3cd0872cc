// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stddef.h>
#ifdef __linux__
#include <malloc.h>
#endif

struct heap_totals {
    bool known;
    size_t allocated;
    size_t free;
    size_t mapped;
};

/// What the C library's allocator holds, in bytes (mallinfo2(3)). Not known before glibc 2.33, where the figures wrap
/// at 4 GiB, nor with another C library.
static inline struct heap_totals heap_totals_now(void) {
    struct heap_totals totals = {false, 0, 0, 0};
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    totals.known = true;
    totals.allocated = info.uordblks + info.hblkhd;
    totals.free = info.fordblks;
    totals.mapped = info.arena + info.hblkhd;
#endif
#endif
    return totals;
}
