// SPDX-License-Identifier: Apache-2.0

// Preloaded into the service: the time of day stands still at the seconds since 1970 in the file that PICTURES_CLOCK
// names, and moves when another is written there. The clocks that measure durations are the machine's own.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *now;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PICTURES_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) abort();
    void *mapped = mmap(NULL, sizeof *now, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) abort();
    now = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_REALTIME || !now) return (int)syscall(SYS_clock_gettime, clock, time);
    *time = (struct timespec){.tv_sec = *now};
    return 0;
}
