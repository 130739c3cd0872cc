// SPDX-License-Identifier: Apache-2.0
#include "CStartSignals.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const int kept[] = {SIGTERM, SIGINT, SIGHUP};
static const size_t kept_count = sizeof kept / sizeof kept[0];

// A bit for each kept signal that has arrived, and a semaphore that wakes the waiting thread. Both may be used in a handler
// (signal-safety(7)). Blocking the signals instead would not do: the main thread of a program with an asynchronous main
// waits in sigsuspend(2) of libdispatch, which unblocks every signal.
static atomic_uint arrived;
static sem_t arrivals;
static bool is_keeping;

static void arrive(int number) {
    int error = errno;
    for (size_t index = 0; index < kept_count; index++) {
        if (kept[index] == number) atomic_fetch_or(&arrived, 1U << index);
    }
    sem_post(&arrivals);
    errno = error;
}

void start_signals_keep(void) {
    if (is_keeping) return;
    is_keeping = true;
    sem_init(&arrivals, 0, 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = arrive;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t index = 0; index < kept_count; index++) {
        sigaction(kept[index], &action, NULL);
        sigaddset(&signals, kept[index]);
    }
    // Whoever starts the process may block them until here, so that none has its default effect while the program is
    // loaded. Those that have come meanwhile arrive now.
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

int start_signals_wait(void) {
    for (;;) {
        unsigned now = atomic_load(&arrived);
        for (size_t index = 0; index < kept_count; index++) {
            if ((now & 1U << index) == 0) continue;
            atomic_fetch_and(&arrived, ~(1U << index));
            return kept[index];
        }
        sem_wait(&arrivals);
    }
}

#ifdef __ELF__
// The dynamic loader calls what is in this section of an executable before the initialisers of any shared library
// (System V ABI, "Initialization and Termination Functions"). Only the loader's own code runs before the signals are kept:
// it has mapped and relocated the program and its libraries by then (docs/listeners.md, Stopping). In other commands than
// `serve` they have their default effect.
static void start_signals_keep_in_service(int count, char **arguments, char **environment) {
    (void) environment;
    if (count > 1 && strcmp(arguments[1], "serve") == 0) start_signals_keep();
}

__attribute__((section(".preinit_array"), used)) static void (*start_signals_first)(int, char **, char **) =
    start_signals_keep_in_service;
#endif
