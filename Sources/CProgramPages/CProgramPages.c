// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CProgramPages.h"

#ifdef __linux__

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

// The loader holds its lock meanwhile, so that no library is unloaded and its place taken by other memory.
static int release_parts(struct dl_phdr_info *object, size_t size, void *total) {
    (void)size;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0) continue;
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        uintptr_t end = (start + part->p_filesz) & ~(page - 1);
        start = (start + page - 1) & ~(page - 1);
        if (start < end && madvise((void *)start, end - start, MADV_DONTNEED) == 0) *(size_t *)total += end - start;
    }
    return 0;
}

size_t program_pages_release(void) {
    size_t total = 0;
    dl_iterate_phdr(release_parts, &total);
    return total;
}

#else

size_t program_pages_release(void) { return 0; }

#endif
