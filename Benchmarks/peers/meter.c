// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and prints what it cost: wall seconds, CPU seconds, and its most resident memory in KiB.
//
//     gcc -O2 -o meter meter.c
//     ./meter FILE PROGRAM [ARGUMENT...]
//
// The figures go to FILE. The peak that Linux tells of a child holds what its parent had when it began (getrusage(2)), so a
// large parent cannot ask for itself; this small one can.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static double of(struct timeval time) { return (double) time.tv_sec + (double) time.tv_usec / 1e6; }

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const double start = seconds();
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
        execv(argv[2], argv + 2);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) return 2;
    const double wall = seconds() - start;
    FILE *figures = fopen(argv[1], "w");
    if (!figures) return 2;
    fprintf(figures, "%.6f %.6f %ld\n", wall, of(usage.ru_utime) + of(usage.ru_stime), usage.ru_maxrss);
    if (fclose(figures)) return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
