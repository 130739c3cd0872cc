// SPDX-License-Identifier: Apache-2.0
#ifndef CSTARTSIGNALS_H
#define CSTARTSIGNALS_H

/// Keeps SIGHUP, SIGTERM and SIGINT from now on for ``start_signals_wait``; they no longer end the process,
/// and are no longer blocked where the parent has blocked them.
void start_signals_keep(void);

/// Waits until one of the kept signals has arrived and returns its number; SIGTERM comes before SIGINT and SIGHUP.
int start_signals_wait(void);

#endif
