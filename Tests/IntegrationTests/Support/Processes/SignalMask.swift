// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The signals that the calling thread holds back, which a new process inherits.
enum SignalMask {
    /// Runs the body with no signal blocked. The runtime's worker threads block SIGTERM, and a service that was
    /// started from one of them would never see it.
    static func withNothingBlocked<Value>(_ body: () throws -> Value) rethrows -> Value {
        var none = sigset_t()
        var before = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }
}
