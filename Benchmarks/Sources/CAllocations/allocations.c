// SPDX-License-Identifier: Apache-2.0

// Stands in front of the C library's allocator, for this program and all that it links, and counts. The memory is the
// C library's.

#include "allocations.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Thread_local unsigned long calls;
static _Thread_local long held;

void allocations_begin(void) { calls = 0; }

unsigned long allocations_end(void) { return calls; }

long allocations_held(void) { return held; }

static void *counted(void *memory) {
    calls++;
    held += (long) malloc_usable_size(memory);
    return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *realloc(void *memory, size_t size) {
    const long before = (long) malloc_usable_size(memory);
    void *moved = __libc_realloc(memory, size);
    // Without room the old memory stays.
    if (moved != NULL || size == 0) held -= before;
    return counted(moved);
}

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void free(void *memory) {
    held -= (long) malloc_usable_size(memory);
    __libc_free(memory);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *found = memalign(alignment, size);
    if (found == NULL) return ENOMEM;
    *memory = found;
    return 0;
}
