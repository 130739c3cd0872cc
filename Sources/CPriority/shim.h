// SPDX-License-Identifier: Apache-2.0

#ifndef DNP_PRIORITY_H
#define DNP_PRIORITY_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Gives the calling thread a nice value; 0, or -1 with errno (sched_setattr(2), which older C libraries do not have).
///
/// It also gets the shortest slice of time that Linux 6.12 and later know: until its end a thread that wakes up waits.
/// setpriority(2) would set the nice value, too, but the Swift runtime calls it for threads of its own, and the packaged
/// unit answers those calls without doing anything.
static inline int dnp_set_niceness(int32_t niceness) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes, .nice = niceness, .runtime = 100000};
    return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

#endif
