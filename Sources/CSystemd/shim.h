// SPDX-License-Identifier: Apache-2.0
#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

// The C library hides memfd_create(2) and the sealing commands behind _GNU_SOURCE, which an importing module cannot
// set reliably; the values are the kernel's ABI (linux/memfd.h, linux/fcntl.h).

/// An anonymous file in memory that can be sealed; -1 and errno on failure.
static inline int csystemd_memory_file(const char *name) {
    const unsigned close_on_exec = 0x1U, allow_sealing = 0x2U;
    return (int) syscall(SYS_memfd_create, name, close_on_exec | allow_sealing);
}

/// Seals a memory file against writing, growing, shrinking and further sealing; -1 and errno on failure.
static inline int csystemd_seal_memory_file(int descriptor) {
    const int add_seals = 1033, seal = 0x1, shrink = 0x2, grow = 0x4, write = 0x8;
    return fcntl(descriptor, add_seals, seal | shrink | grow | write);
}

/// Sends a descriptor by SCM_RIGHTS with an empty payload; -1 and errno on failure.
static inline ssize_t csystemd_send_descriptor(int socket, int descriptor) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    memset(&control, 0, sizeof control);
    memset(&message, 0, sizeof message);
    message.msg_control = &control;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// A descriptor that counts wake-ups, closed on exec and not blocking; -1 and errno on failure.
static inline int csystemd_event_descriptor(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

#endif
