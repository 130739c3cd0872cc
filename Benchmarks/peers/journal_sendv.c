// SPDX-License-Identifier: Apache-2.0
//
// The peer of the confirmed journal writer: a loop of sd_journal_sendv with 12 fields of about 350 bytes in all.
//
//     gcc -O2 -o journal_sendv journal_sendv.c -lsystemd
//     ./journal_sendv 200000
//
// It prints entries per second as seen by the sender. journald's queue is short (net.unix.max_dgram_qlen), so that is
// the rate at which journald stores them; nothing is confirmed.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <time.h>

enum { FIELDS = 12, LENGTH = 256 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    static char text[FIELDS][LENGTH];
    struct iovec fields[FIELDS];
    uint64_t bytes = 0;

    const double start = seconds();
    for (uint64_t number = 1; number <= count; number++) {
        int field = 0;
#define FIELD(...) \
    (fields[field].iov_base = text[field], \
     fields[field].iov_len = (size_t) snprintf(text[field], LENGTH, __VA_ARGS__), field++)
        FIELD("DNP_LEDGER=00112233445566778899aabbccddeeff");
        FIELD("SYSLOG_IDENTIFIER=journal-sendv");
        FIELD("DNP_SEQ=%" PRIu64, number);
        FIELD("PRIORITY=6");
        FIELD("MESSAGE_ID=5f1c8ea1c0de4e0f9d0a6c8f2b7d4e19");
        FIELD("DNP_EVENT=prefetch_success");
        FIELD("DNP_SCHEDULE_ID=daily-%" PRIu64, number % 1000);
        FIELD("DNP_TIMESTAMP=2025-11-14T05:48:00.%06" PRIu64 "Z", number % 1000000);
        FIELD("DNP_DURATION_MS=%" PRIu64, number % 3000);
        FIELD("DNP_HTTP_STATUS=200");
        FIELD("DNP_PLATFORM=ios");
        FIELD("MESSAGE={\"event\":\"prefetch_success\",\"scheduleId\":\"daily-%" PRIu64
              "\",\"duration_ms\":%" PRIu64 ",\"status\":200,\"seq\":%" PRIu64 "}",
              number % 1000, number % 3000, number);
#undef FIELD
        for (int index = 0; index < field; index++) bytes += fields[index].iov_len + 1;
        const int result = sd_journal_sendv(fields, field);
        if (result < 0) {
            fprintf(stderr, "sd_journal_sendv: error %d at entry %" PRIu64 "\n", -result, number);
            return 1;
        }
    }
    const double elapsed = seconds() - start;
    printf("sd_journal_sendv: %" PRIu64 " entries of %.0f bytes in %.3f s, %.0f entries/s, unconfirmed\n", count,
           (double) bytes / (double) count, elapsed, (double) count / elapsed);
    return 0;
}
