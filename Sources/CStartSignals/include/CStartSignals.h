// SPDX-License-Identifier: Apache-2.0
#ifndef CSTARTSIGNALS_H
#define CSTARTSIGNALS_H

/// Blocks SIGHUP, SIGTERM and SIGINT for the calling thread, and for every thread that it starts from then on.
void start_signals_block(void);

/// Forwards SIGHUP, SIGTERM and SIGINT to the calling thread, which blocks them and waits for them, from threads that do
/// not block them.
///
/// libdispatch's `dispatch_main`, in which the main thread of an asynchronous Swift program ends, waits with an empty
/// signal mask.
void start_signals_forward_to_me(void);

#endif
