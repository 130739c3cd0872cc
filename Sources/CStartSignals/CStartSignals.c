// SPDX-License-Identifier: Apache-2.0
#include "CStartSignals.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

void start_signals_block(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

static pthread_t waiter;

static void forward(int number) {
    pthread_kill(waiter, number);
}

void start_signals_forward_to_me(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = forward;
    action.sa_flags = SA_RESTART;
    waiter = pthread_self();
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

#ifdef __ELF__
// The dynamic loader calls what is in this section of an executable before the initialisers of any shared library
// (System V ABI, "Initialization and Termination Functions"), so no code of the process runs with the signals unblocked.
// Other commands than `serve` keep the signals' default effect.
static void start_signals_block_in_service(int count, char **arguments, char **environment) {
    (void) environment;
    if (count > 1 && strcmp(arguments[1], "serve") == 0) start_signals_block();
}

__attribute__((section(".preinit_array"), used)) static void (*start_signals_first)(int, char **, char **) =
    start_signals_block_in_service;
#endif
