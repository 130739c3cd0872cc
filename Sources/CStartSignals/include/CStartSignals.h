// SPDX-License-Identifier: Apache-2.0
#ifndef CSTARTSIGNALS_H
#define CSTARTSIGNALS_H

/// Blocks SIGHUP, SIGTERM and SIGINT for the calling thread, and for every thread that it starts from then on.
void start_signals_block(void);

#endif
